"""The entries of ``tools/list`` that callers get of a prescribed tool."""

from __future__ import annotations

from collections.abc import Callable

from handler.bundle.tools import PrescribedTool
from handler.json_schema.shortening import shortened
from handler.policy.evaluation import Mask
from handler.policy.guarded_schema import seen_by
from handler.strict_json import JSONObject

SeenBy = Callable[[JSONObject, Mask], JSONObject]

MAX_WHOLE_BYTES = 24_000
"""The size of an input schema that a caller asks for by the name of its tool."""


def listed_entry(tool: PrescribedTool, outcome: Mask, *, seen_by: SeenBy = seen_by) -> JSONObject:
    """Return the entry for callers with an outcome of the tool's conditions. ``seen_by`` may remember definitions."""
    if tool.shortening is None:
        return tool.entry if not tool.conditions else _with_schema(tool, seen_by(tool.entry["inputSchema"], outcome))
    rules = tool.shortening
    schema = shortened(
        seen_by(tool.entry["inputSchema"], outcome),
        max_bytes=rules.max_bytes,
        recursive=rules.recursive,
        shown_by={name: way for way, names in rules.shown_by.items() for name in names},
    )
    return _with_schema(tool, schema)


def whole_entry(tool: PrescribedTool, outcome: Mask, *, seen_by: SeenBy = seen_by) -> JSONObject:
    """Return the entry with an input schema of ``MAX_WHOLE_BYTES`` or less, for a caller who asks for this tool."""
    if tool.shortening is None:
        return _with_schema(tool, tool.whole) if tool.whole else listed_entry(tool, outcome, seen_by=seen_by)
    schema = seen_by(tool.entry["inputSchema"], outcome)
    return _with_schema(tool, shortened(schema, max_bytes=MAX_WHOLE_BYTES, recursive=tool.shortening.recursive))


def _with_schema(tool: PrescribedTool, schema: JSONObject) -> JSONObject:
    return {**tool.entry, "inputSchema": schema}
