"""The differences of a tool's output schema, for readers of its results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from handler.commands.changes.change import Change
from handler.commands.changes.schema_comparison import Difference, schema_differences

CODES: Mapping[str, tuple[str, str]] = {
    "added": ("output-added", "has {path}"),
    "added-required": ("output-added", "has {path}"),
    "removed": ("output-removed", "does not have {path}"),
    "open": ("output-removed", "may have any members in {path}: its schema is open there"),
    "required": ("output-required", "always has {path}"),
    "optional": ("output-nullable", "may lack {path}"),
    "nullable": ("output-nullable", "may have null as {path}"),
    "not-null": ("output-required", "never has null as {path}"),
    "wider": ("output-type", "has values of further types as {path}: {words}"),
    "narrower": ("output-type", "has values of fewer types as {path}: {words}"),
    "type": ("output-type", "has values of other types as {path}: {words}"),
    "value-added": ("output-value-added", "may have {words} as {path}"),
    "value-removed": ("output-value-removed", "does not have {words} as {path}"),
    "raised": ("output-type", "has other values as {path}: {words}"),
    "lowered": ("output-type", "has other values as {path}: {words}"),
    "rule": ("output-type", "has other values as {path}: {words}"),
}
"""Kind of a difference of schemas -> its code for results, and the sentence behind ``the result of``."""


def output_changes(before: Any, after: Any, *, tool: str) -> Iterator[Change]:
    """Yield the differences of an output schema; ``None`` for a tool without one."""
    if before is None or after is None:
        if before is not after:
            code, what = ("output-removed", "does not have") if after is None else ("output-added", "has")
            yield Change(code=code, about=tool, sentence=f"tool {tool} {what} an output schema")
        return
    for each in schema_differences(before, after):
        if each.kind in CODES:
            yield _change(each, tool)


def _change(difference: Difference, tool: str) -> Change:
    code, sentence = CODES[difference.kind]
    path = f'"{difference.path}"' if difference.path else "a whole"
    words = sentence.format(path=path, words=difference.words)
    return Change(code=code, about=tool, sentence=f"the result of tool {tool} {words}")
