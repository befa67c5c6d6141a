"""The differences of the arguments of tools and prompts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from handler.bundle.listed_entry import listed_entry
from handler.bundle.tools import PrescribedTool, Tool
from handler.commands.changes.change import Change
from handler.commands.changes.schema_comparison import Difference, schema_differences
from handler.strict_json import JSONObject

CODES: Mapping[str, tuple[str, str]] = {
    "added": ("argument-added", "takes {path}, which may be left out"),
    "added-required": ("argument-required-added", "needs {path}"),
    "open": ("argument-widened", "{path} takes {words}"),
    "removed": ("argument-removed", "does not take {path}"),
    "required": ("argument-required", "needs {path}, which could be left out"),
    "optional": ("argument-optional", "does not need {path}"),
    "wider": ("argument-widened", "{path} takes more values: {words}"),
    "nullable": ("argument-widened", "{path} may be null"),
    "narrower": ("argument-narrowed", "{path} takes fewer values: {words}"),
    "not-null": ("argument-narrowed", "{path} may not be null"),
    "type": ("argument-type", "{path} takes values of other types: {words}"),
    "value-added": ("argument-value-added", "{path} takes the value {words}"),
    "value-removed": ("argument-value-removed", "{path} does not take the value {words}"),
    "raised": ("argument-limit-raised", "{path} takes more values: {words}"),
    "lowered": ("argument-limit-lowered", "{path} takes fewer values: {words}"),
    "rule": ("argument-rule", "{path} has another rule: {words}"),
    "default": ("argument-default", "{path} has another default: {words}"),
}
"""Kind of a difference of schemas -> its code for arguments, and the sentence behind the tool's name."""

AS_LISTED = ("default", "text")
"""Kinds that only the listed schema shows, as it does patterns of scalars; the enforced schema has all others."""

MOST_TEXTS = 3
"""Arguments that a sentence names of those with other texts: one long schema more may shorten many texts."""


def entry_of(tool: Tool) -> JSONObject:
    """Return the entry of a tool for callers from whom no argument is hidden."""
    return listed_entry(tool, tool.conditions) if isinstance(tool, PrescribedTool) else tool.entry


def argument_changes(before: Tool, after: Tool) -> Iterator[Change]:
    """Yield the differences of a tool's arguments, as enforced and as listed."""
    enforced = schema_differences(before.arguments, after.arguments)
    listed = schema_differences(entry_of(before)["inputSchema"], entry_of(after)["inputSchema"])
    found = dict.fromkeys(
        [
            *(each for each in enforced if each.kind not in AS_LISTED),
            *(each for each in listed if each.kind in AS_LISTED or each.words == "pattern"),
        ]
    )
    texts = [f'"{each.path}"' for each in found if each.kind == "text"]
    yield from (_change(each, after.name, what=f"tool {after.name}") for each in found if each.kind != "text")
    if texts:
        more = f" and {len(texts) - MOST_TEXTS:,} more" if len(texts) > MOST_TEXTS else ""
        words = ", ".join(texts[:MOST_TEXTS]) + more
        yield Change(
            code="text-changed", about=after.name, sentence=f"tool {after.name}: lists have other texts of {words}"
        )


def _change(difference: Difference, about: str, *, what: str) -> Change:
    code, sentence = CODES[difference.kind]
    path = f'"{difference.path}"' if difference.path else "its arguments"
    words = sentence.format(path=path, words=difference.words)
    return Change(code=code, about=about, sentence=f"{what}: {words}" if words[0] == '"' else f"{what} {words}")


def variable_changes(before: Mapping[str, Any], after: Mapping[str, Any], *, about: str) -> Iterator[Change]:
    """Yield the differences of the variables that an operation takes. ``about`` names it."""
    yield from (_change(each, about, what=about) for each in schema_differences(before, after) if each.kind in CODES)


def prompt_argument_changes(before: Any, after: Any, *, about: str) -> Iterator[Change]:
    """Yield the differences of a prompt's arguments, which are lists of names."""
    old, new = ({str(each["name"]): each.get("required") is True for each in of or ()} for of in (before, after))
    for name in {**old, **new}:
        if name not in old:
            code, what = ("argument-required-added", "needs") if new[name] else ("argument-added", "takes")
            yield Change(code=code, about=about, sentence=f'{about} {what} "{name}"')
        elif name not in new:
            yield Change(code="argument-removed", about=about, sentence=f'{about} does not take "{name}"')
        elif old[name] != new[name]:
            code, what = ("argument-required", "needs") if new[name] else ("argument-optional", "does not need")
            yield Change(code=code, about=about, sentence=f'{about} {what} "{name}"')


def prompt_value_changes(
    before: Mapping[str, Sequence[str]], after: Mapping[str, Sequence[str]], *, about: str
) -> Iterator[Change]:
    """Yield the differences of the values that a prompt's arguments take. An argument that is not there takes all."""
    for name in {**before, **after}:
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            code, what = ("argument-narrowed", "some values") if old is None else ("argument-widened", "any value")
            yield Change(code=code, about=about, sentence=f'{about} takes {what} of "{name}"')
            continue
        for each in [each for each in new if each not in old]:
            yield Change(code="argument-value-added", about=about, sentence=f'{about}: "{name}" takes the value {each}')
        for each in [each for each in old if each not in new]:
            sentence = f'{about}: "{name}" does not take the value {each}'
            yield Change(code="argument-value-removed", about=about, sentence=sentence)
