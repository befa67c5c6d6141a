"""The differences of tools: their names, texts, arguments, results, consent, scopes, limits and sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from handler.bundle.model import Bundle
from handler.bundle.tools import (
    CONFIRM_LEVELS,
    CatalogTool,
    CodeTool,
    GraphQLTool,
    PrescribedTool,
    Tool,
)
from handler.commands.changes.change import Change
from handler.commands.changes.schema_comparison import argument_changes, entry_of, schema_differences
from handler.commands.changes.settings_changes import limit_changes, result_size_change
from handler.list_entries import BYTES_PER_TOKEN
from handler.strict_json import JSONObject, to_json_bytes

MIN_TOKENS = 50
"""Tokens by which an entry has to grow or shrink for a difference: shorter texts are differences by themselves."""

FORMS: Mapping[str, frozenset[str]] = {
    "both": frozenset({"text", "structured"}),
    "text": frozenset({"text"}),
    "structured": frozenset({"structured"}),
}


def tool_changes(before: Bundle, after: Bundle) -> Iterator[Change]:
    """Yield the differences of tools. A tool with a new name is the same tool if the old name is its alias."""
    old, new = ({tool.name: tool for tool in bundle.tools} for bundle in (before, after))
    renamed = renamed_tools(before, after)
    for name in new:
        if name not in old and name not in renamed.values():
            yield Change(code="tool-added", about=name, sentence=f"tool {name} is new")
    for name, tool in old.items():
        if name in renamed:
            sentence = f"tool {name} is now {renamed[name]}, and may be called by its old name"
            yield Change(code="tool-renamed", about=name, sentence=sentence)
        successor = new.get(renamed.get(name, name))
        if successor:
            yield from _of_tool(tool, successor)
            yield from _result_size(tool, successor, before, after)
        elif other := next((each.name for each in new.values() if name in each.options.aliases), ""):
            sentence = f"tool {name} is gone, and calls of it call {other}"
            yield Change(code="tool-replaced", about=name, sentence=sentence)
        else:
            yield Change(code="tool-removed", about=name, sentence=f"tool {name} is gone")


def renamed_tools(before: Bundle, after: Bundle) -> dict[str, str]:
    """Return old name -> new name of the tools whose old name is an alias of a new one."""
    old, new = {tool.name for tool in before.tools}, {tool.name: tool for tool in after.tools}
    found = {}
    for name in old - new.keys():
        successor = next((each.name for each in new.values() if name in each.options.aliases), "")
        if successor and successor not in old:
            found[name] = successor
    return found


def _of_tool(before: Tool, after: Tool) -> Iterator[Change]:
    name = after.name
    if before.KIND != after.KIND:
        sentence = f"tool {name} is a {after.KIND} tool, and was a {before.KIND} tool"
        yield Change(code="tool-replaced", about=name, sentence=sentence)
    yield from _options(before, after)
    yield from _texts(before, after)
    yield from argument_changes(before, after)
    yield from output_changes(before.entry.get("outputSchema"), after.entry.get("outputSchema"), tool=name)
    old, new = _tokens(before), _tokens(after)
    if abs(new - old) >= MIN_TOKENS:
        sentence = f"tool {name} takes about {new:,} tokens of a list, and took {old:,}"
        yield Change(code="size-changed", about=name, sentence=sentence)
    match before, after:
        case PrescribedTool(), PrescribedTool():
            yield from _operation(before, after)
        case GraphQLTool(), GraphQLTool():
            yield from limit_changes(before.limits, after.limits, about=name, where=f"tool {name}")
        case CodeTool(), CodeTool() if (before.kit, before.digest) != (after.kit, after.digest):
            yield Change(code="code-changed", about=name, sentence=f"tool {name} has another definition in Python")
        case CatalogTool(), CatalogTool() if _budget(before) != _budget(after):
            yield Change(code="catalog-changed", about=name, sentence=f"tool {name}: the catalog is set otherwise")


def _result_size(old: Tool, new: Tool, before: Bundle, after: Bundle) -> Iterator[Change]:
    """Yield the difference of a limit of its own; the endpoint's comes once for all tools."""
    of_graphql = isinstance(old, GraphQLTool) and isinstance(new, GraphQLTool)  # it comes with its other limits
    if not of_graphql and old.options.max_result_bytes != new.options.max_result_bytes:
        sizes = before.max_result_bytes(old), after.max_result_bytes(new)
        yield from result_size_change(*sizes, about=new.name, where=f"tool {new.name}")


def _budget(tool: CatalogTool) -> tuple[str, str, int]:
    return tool.role, tool.unlisted, tool.list_budget


def _options(before: Tool, after: Tool) -> Iterator[Change]:
    old, new, name = before.options, after.options, after.name
    for alias in new.aliases:
        if alias not in (*old.aliases, before.name):
            yield Change(code="alias-added", about=name, sentence=f"tool {name} may be called as {alias}, too")
    for alias in old.aliases:
        if alias not in (*new.aliases, name):
            yield Change(code="alias-removed", about=name, sentence=f"tool {name} may not be called as {alias}")
    if old.hidden != new.hidden:
        code, what = ("tool-unlisted", "lists do not have") if new.hidden else ("tool-listed", "lists have")
        yield Change(code=code, about=name, sentence=f"{what} tool {name}")
    if old.pinned != new.pinned:
        what = "stays" if new.pinned else "does not stay"
        yield Change(code="catalog-changed", about=name, sentence=f"tool {name} {what} in a short list")
    added = [each for each in new.scopes if each not in old.scopes]
    removed = [each for each in old.scopes if each not in new.scopes]
    if added:
        yield Change(code="scopes-added", about=name, sentence=f"tool {name} needs the scopes {', '.join(added)}")
    if removed:
        sentence = f"tool {name} does not need the scopes {', '.join(removed)}"
        yield Change(code="scopes-removed", about=name, sentence=sentence)
    if old.confirm != new.confirm:
        raised = CONFIRM_LEVELS.index(new.confirm) > CONFIRM_LEVELS.index(old.confirm)
        yield Change(
            code="confirm-raised" if raised else "confirm-lowered",
            about=name,
            sentence=f"tool {name}: confirm is {new.confirm or 'none'}, and was {old.confirm or 'none'}",
        )
    if old.output != new.output:
        lost = FORMS[old.output] - FORMS[new.output]
        yield Change(
            code="output-form" if lost else "output-added",
            about=name,
            sentence=f"tool {name}: results come as {new.output}, and came as {old.output}",
        )
    if old.meta != new.meta:
        yield Change(code="meta-changed", about=name, sentence=f"tool {name}: results have another _meta")


def _view(tool: Tool) -> tuple[str, JSONObject]:
    """Return the URI of the page that shows a tool's results, and the rest of the entry's ``_meta``."""
    meta = tool.entry.get("_meta") or {}
    ui = meta.get("ui")
    if not isinstance(ui, dict):
        return "", meta
    rest = {key: each for key, each in ui.items() if key != "resourceUri"}
    others = {key: each for key, each in meta.items() if key != "ui"}
    return str(ui.get("resourceUri") or ""), {**others, **({"ui": rest} if rest else {})}


def _texts(before: Tool, after: Tool) -> Iterator[Change]:
    name = after.name
    for part, what in (("title", "another title"), ("description", "another description"), ("icons", "other icons")):
        if before.entry.get(part) != after.entry.get(part):
            yield Change(code="text-changed", about=name, sentence=f"tool {name} has {what}")
    (was, old), (now, new) = _view(before), _view(after)
    if was != now:
        sentence = f"tool {name}: hosts show results with {now or 'no page'}, and showed them with {was or 'no page'}"
        yield Change(code="view-changed", about=name, sentence=sentence)
    if old != new:
        yield Change(code="meta-changed", about=name, sentence=f"tool {name}: lists have another _meta")
    if before.entry.get("annotations") != after.entry.get("annotations"):
        hints, others = (tool.entry.get("annotations") or {} for tool in (before, after))
        other = [hint for hint in {**hints, **others} if hints.get(hint) != others.get(hint)]
        yield Change(code="annotations-changed", about=name, sentence=f"tool {name}: other hints: {', '.join(other)}")


def _tokens(tool: Tool) -> int:
    if isinstance(tool, GraphQLTool):
        return max((_size(each.entry) for each in tool.listings if each.entry), default=_size(tool.entry))
    return _size(entry_of(tool))


def _size(entry: Mapping[str, object]) -> int:
    return len(to_json_bytes(dict(entry))) // BYTES_PER_TOKEN


def _operation(before: PrescribedTool, after: PrescribedTool) -> Iterator[Change]:
    old, new, name = before.operation, after.operation, after.name
    if old.kind != new.kind:
        code = "operation-writes" if new.kind == "mutation" else "operation-reads"
        yield Change(code=code, about=name, sentence=f"tool {name} sends a {new.kind}, and sent a {old.kind}")
    elif old.text != new.text:
        yield Change(code="operation-changed", about=name, sentence=f"tool {name} sends another operation")
    if before.flat != after.flat:
        how = "stand by themselves" if after.flat else 'are inside of "variables"'
        yield Change(code="argument-type", about=name, sentence=f"tool {name}: the variables {how}")
    if before.bindings != after.bindings:
        bound = {each.variable: each for each in before.bindings}
        now = {each.variable: each for each in after.bindings}
        others = [f"${each}" for each in {**bound, **now} if bound.get(each) != now.get(each)]
        yield Change(code="binding-changed", about=name, sentence=f"tool {name}: otherwise bound: {', '.join(others)}")


RESULT_CODES: Mapping[str, tuple[str, str]] = {
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
        if each.kind in RESULT_CODES:
            code, sentence = RESULT_CODES[each.kind]
            words = sentence.format(path=f'"{each.path}"' if each.path else "a whole", words=each.words)
            yield Change(code=code, about=tool, sentence=f"the result of tool {tool} {words}")
