"""The entries of ``tools/list`` that callers get of a prescribed tool."""

from __future__ import annotations

from handler.bundle.tools import PrescribedTool, Shortening
from handler.json_schema.input_types import SharedTypes
from handler.json_schema.shortening import shorten_schema
from handler.lru import Lru
from handler.policy.evaluation import Mask
from handler.policy.guarded_schema import GuardedSchemas
from handler.strict_json import JSONObject

MAX_WHOLE_BYTES = 24_000
"""The size of an input schema that a caller asks for by the name of its tool."""

_Rules = tuple[int, bool, bool, tuple[tuple[str, str], ...]]


def listed_entry(tool: PrescribedTool, outcome: Mask) -> JSONObject:
    """Return the entry for callers with an outcome of the tool's conditions."""
    return ListedEntries(GuardedSchemas()).listed(tool, outcome)


class ListedEntries:
    """The entries of tools that share schemas: each schema is shortened once, and each definition is read once.

    The tools must live as long as this object.
    """

    def __init__(self, guarded: GuardedSchemas) -> None:
        self._guarded = guarded
        self._types = SharedTypes()
        self._shortened: Lru[tuple[int, Mask, _Rules], JSONObject] = Lru(most=256)

    def listed(self, tool: PrescribedTool, outcome: Mask) -> JSONObject:
        """Return the entry as the function ``listed_entry`` does."""
        rules, schema = tool.shortening, tool.entry["inputSchema"]
        if rules:
            return _with_schema(tool, self._short(schema, outcome, rules, inline=True))
        return _with_schema(tool, self._guarded.seen_by(schema, outcome)) if tool.conditions else tool.entry

    def whole(self, tool: PrescribedTool, outcome: Mask) -> JSONObject:
        """Return the entry with an input schema of ``MAX_WHOLE_BYTES`` or less, for a call about this tool."""
        rules, schema = tool.shortening, tool.entry["inputSchema"]
        if rules is None:
            return _with_schema(tool, tool.whole) if tool.whole else self.listed(tool, outcome)
        rules = Shortening(max_bytes=MAX_WHOLE_BYTES, recursive=rules.recursive, shown_by={})
        return _with_schema(tool, self._short(schema, outcome, rules, inline=False))

    def _short(self, schema: JSONObject, outcome: Mask, rules: Shortening, *, inline: bool) -> JSONObject:
        ways = {name: way for way, names in rules.shown_by.items() for name in names}

        def shorten() -> JSONObject:
            return shorten_schema(
                self._guarded.seen_by(schema, outcome),
                max_bytes=rules.max_bytes,
                recursive=rules.recursive,
                inline=inline,
                shown_by=ways,
                shared=self._types,
            )

        key = id(schema), outcome, (rules.max_bytes, rules.recursive, inline, tuple(sorted(ways.items())))
        return self._shortened.use_or_make(key, shorten)


def _with_schema(tool: PrescribedTool, schema: JSONObject) -> JSONObject:
    return {**tool.entry, "inputSchema": schema}
