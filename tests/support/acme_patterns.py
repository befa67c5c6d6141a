"""Tools in Python with patterns that take a backtracking engine very long."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel

from stile import Field, SchemaValidator, Toolkit

kit = Toolkit()

SLOW = {
    "nested": "^(a+)+$",
    "either": "^(a|a|aa)+$",
    "spaced": r"^(\w+\s?)*$",
    "polynomial": "a*a*a*a*a*b$",
    "groups": "(.*)(.*)(.*)(.*)(.*)=",
}
SCHEMA = {
    "type": "object",
    "properties": {name: {"type": "string", "pattern": pattern} for name, pattern in SLOW.items()},
    "patternProperties": {f"(?:{pattern})x": {} for pattern in SLOW.values()},
    "propertyNames": {"pattern": "^[a-z]+$|^(b+)+$"},
}


class Row(BaseModel):
    nested: Annotated[str, Field(pattern=SLOW["nested"])] | None = None
    either: Annotated[str, Field(pattern=SLOW["either"])] | None = None
    spaced: Annotated[str, Field(pattern=SLOW["spaced"])] | None = None
    polynomial: Annotated[str, Field(pattern=SLOW["polynomial"])] | None = None
    groups: Annotated[str, Field(pattern=SLOW["groups"])] | None = None


@kit.tool
def plain(
    nested: Annotated[str, Field(pattern=SLOW["nested"])] = "a",
    either: Annotated[str, Field(pattern=SLOW["either"])] = "a",
    spaced: Annotated[str, Field(pattern=SLOW["spaced"])] = "a",
    polynomial: Annotated[str, Field(pattern=SLOW["polynomial"])] = "b",
    groups: Annotated[str, Field(pattern=SLOW["groups"])] = "=",
) -> str:
    """Take texts."""
    return "taken"


@kit.tool
def rows(rows: list[Row | str]) -> str:
    """Take rows, of which any text is one."""
    return "taken"


@kit.tool(input_schema=SCHEMA)
def written(arguments: dict[str, Any]) -> str:
    """Take what the schema takes."""
    return "taken"


@kit.tool(output_schema=SCHEMA)
def back(arguments: dict[str, Any]) -> dict[str, Any]:
    """Give back what was sent."""
    return arguments


@kit.tool(input_schema={"type": "object"})
def by_hand(arguments: dict[str, Any]) -> str:
    """Check the arguments by hand."""
    SchemaValidator(SCHEMA).validate(arguments, tool="by_hand")
    return "taken"
