"""Tools whose names, arguments and answers are as odd as JSON allows."""

from __future__ import annotations

import json
from typing import Any

from stile import Context, Elicit, InputRequired, Text, Toolkit, ToolResult

kit = Toolkit(category="Odd")

ODD_NAMES = (
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "then",
    "length",
    "a/b",
    "a~b",
    "with space",
    "0",
)
OPEN = {"type": "object", "properties": {}, "additionalProperties": True}
ODD_ANSWER = """{"__proto__": {"taken": 1}, "constructor": {"prototype": {"taken": 2}}, "toString": "a text",
"rows": [{"__proto__": "p", "id": 9007199254740993}, {"id": 2, "hasOwnProperty": 3}]}"""


def repeat(name: str, schema: dict[str, Any]) -> None:
    """Add a tool that repeats its arguments. All of these tools have one place in this file."""

    @kit.tool(name=name, title=name, description="Repeats.", input_schema=schema, annotations={"read_only_hint": True})
    def run(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"got": arguments}


repeat("constructor", {"type": "object", "properties": {each: {"type": "string"} for each in ODD_NAMES}})
repeat("open", OPEN)
NULLABLE = {"type": "array", "items": {"type": ["integer", "null"]}}
repeat("nullable", {"type": "object", "properties": {"all": NULLABLE}})
repeat("untyped", {"type": "object", "properties": {"one": {"enum": [1, "1"]}}})


@kit.tool(title="Answer", annotations={"read_only_hint": True})
def odd_answer() -> ToolResult:
    """Answer with members that objects of JavaScript have."""
    return ToolResult([Text("odd")], data=json.loads(ODD_ANSWER))


@kit.tool(title="Members", annotations={"read_only_hint": True})
def members() -> dict[str, Any]:
    """Answer with a connection, of which one edge has no node."""
    edges = [{"role": "owner", "id": 1, "node": {"id": 5}}, {"role": "guest", "id": 2, "node": None}]
    return {"members": {"edges": edges}}


@kit.tool(title="Wide", annotations={"read_only_hint": True})
def wide() -> dict[str, Any]:
    """Answer with a table of many columns."""
    return {"page": {"rows": [{f"a_long_name_{number}": "text" * 5 for number in range(12)}]}}


@kit.tool(title="Long", annotations={"read_only_hint": True})
def megabytes() -> str:
    """Answer with 5 MB."""
    return "word " * 1_000_000


@kit.tool(title="Nothing", annotations={"read_only_hint": True})
def nothing() -> None:
    """Answer nothing."""


@kit.tool(title="Asks", annotations={"destructive_hint": True})
async def asks(ctx: Context) -> str | InputRequired:
    """Ask twice: with members, and without."""
    state = ctx.request_state or {}
    if not state:
        name = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        return InputRequired({"first": Elicit("Your name?", name)}, state={"step": 1})
    if state["step"] == 1:
        first = ctx.input_responses["first"]
        return InputRequired({"second": Elicit("Are you sure?")}, state={"step": 2, "first": first})
    return json.dumps([state["first"], ctx.input_responses["second"]])
