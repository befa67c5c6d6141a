"""Parts of the sentences that callers and authors read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

MAX_SHOWN_CHARS = 80


def pointer_of(path: Iterable[Any]) -> str:
    """Return a JSON pointer (RFC 6901); the whole value is shown as ``/``, which reads better than nothing."""
    pointer = ""
    for part in path:
        pointer = below(pointer, str(part))
    return pointer or "/"


def below(pointer: str, name: str) -> str:
    """Return the JSON pointer to a member of what a pointer names."""
    return f"{pointer.rstrip('/')}/{cut(name).replace('~', '~0').replace('/', '~1')}"


def cut(text: str) -> str:
    """Shorten a text to ``MAX_SHOWN_CHARS``."""
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[: MAX_SHOWN_CHARS - 1]}…"
