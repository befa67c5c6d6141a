from __future__ import annotations

from enum import Enum
from typing import Annotated

from stile import Field, Toolkit
from stile.testing import TestClient


class Mode(Enum):
    PLAIN = "plain"
    LOUD = "loud"


def echo(
    message: Annotated[str, Field(description="Message to echo")],
    repeat: Annotated[int, Field(ge=1, le=10)] = 1,
    mode: Mode = Mode.PLAIN,
) -> str:
    text = message * repeat
    return text.upper() if mode is Mode.LOUD else text


ECHO_SCHEMA = {
    "type": "object",
    "properties": {
        "message": {"type": "string", "description": "Message to echo"},
        "repeat": {"type": "integer", "minimum": 1, "maximum": 10, "default": 1},
        "mode": {"type": "string", "enum": ["plain", "loud"], "default": "plain"},
    },
    "required": ["message"],
}


def client_of(*targets: object, **options: object) -> TestClient:
    """A client of a toolkit of these functions."""
    kit = Toolkit()
    for target in targets:
        kit.add(target)
    return TestClient(kit, **options)  # type: ignore[arg-type]
