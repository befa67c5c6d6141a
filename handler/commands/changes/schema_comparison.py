"""The differences of two JSON Schemas, part by part, and those of the arguments and results of tools and prompts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from handler.bundle.listed_entry import listed_entry
from handler.bundle.tools import PrescribedTool, Tool
from handler.commands.changes.change import Change
from handler.compiler.schema.name_graph import closure
from handler.json_schema.fast_path import TYPES
from handler.policy.guarded_schema import GUARDS
from handler.strict_json import JSONObject
from handler.text.sentences import some

MOST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
LEAST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")

ANY = "any"
"""The type of a schema that takes values of every type."""

NULL = {"type": "null"}

REFERENCE = re.compile(r'"#/\$defs/([^"]*)"')

BY_MEANING = (
    *(*MOST, *LEAST, GUARDS, "type", "enum", "const", "properties", "required", "items", "additionalProperties"),
    *("anyOf", "oneOf", "$ref", "$defs"),
)
OF_NO_VALUE = ("$schema", "$comment", "default", "title", "description", "examples", "deprecated")
"""Keywords that are compared by their meaning, and those that mean nothing for values. Any other is a rule."""

ARGUMENT_CODES: Mapping[str, tuple[str, str]] = {
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

RESULT_CODES: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("added", "added-required"), ("output-added", "has {path}")),
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
    **dict.fromkeys(("raised", "lowered", "rule"), ("output-type", "has other values as {path}: {words}")),
}
"""Kind of a difference of schemas -> its code for results, and the sentence behind ``the result of``."""

AS_LISTED = ("default", "text")
"""Kinds that only the listed schema shows, as it does patterns of scalars; the enforced schema has all others."""

MOST_TEXTS = 3
"""Arguments that a sentence names of those with other texts: one long schema more may shorten many texts."""

Branches = Mapping[str, Sequence[Mapping[str, Any]]]
"""JSON type -> the alternatives of a schema that take values of the type."""


class Difference(NamedTuple):
    """A difference of one part. ``path`` joins the names that lead there; empty string for the schema itself.

    ``kind``: open | added | added-required | removed | required | optional | wider | narrower | nullable | not-null |
    type | value-added | value-removed | raised | lowered | rule | default | text.
    """

    kind: str
    path: str
    words: str


def schema_differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Difference]:
    """Yield the differences. Guards are ignored: the schemas are those of a caller who meets all conditions."""
    differences = _Walk(before, after).of(before, after, "")
    yield from dict.fromkeys(differences)  # a part of several types is met once for each


class _Walk:
    """The walk through both schemas. Each pair of definitions is compared where it is met first."""

    def __init__(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        self._roots = (before, after)
        self._met: set[tuple[str, str]] = set()

    def of(self, before: Any, after: Any, path: str) -> Iterator[Difference]:
        """Yield the differences of two schemas at one path."""
        texts = canonical(before), canonical(after)
        has_references = any("$ref" in text for text in texts)
        if texts[0] == texts[1] and not has_references:
            return
        yield from _annotations(before, after, path)
        old, new = (self._branches(each, side) for side, each in enumerate((before, after)))
        yield from _types(list(old), list(new), path)
        if has_references:  # below these the definitions are the same for each part that refers to them
            references = _reference_of(before) or texts[0], _reference_of(after) or texts[1]
            if references in self._met:
                return
            self._met.add(references)
        differences = [
            difference
            for name in [name for name in old if name != "null"]
            for difference in self._of_branches(old[name], _taking(name, new), path)
        ]
        # If an item may stand for a list, the differences of items come once.
        of_items = [each for each in differences if each.path.startswith(f"{path}[]")]
        yield from of_items if of_items and _is_coerced_list(before) and _is_coerced_list(after) else differences

    def _branches(self, schema: Any, side: int, deep: int = 0) -> dict[str, list[Mapping[str, Any]]]:
        """Return JSON type -> the alternatives of a schema that take values of the type."""
        branches: dict[str, list[Mapping[str, Any]]] = {}
        if not isinstance(schema, dict) or deep > 32:
            return {ANY: [{}]} if schema is True or schema is None or deep > 32 else {}
        reference = schema.get("$ref")
        if isinstance(reference, str):
            target = self._roots[side].get("$defs", {}).get(reference.rpartition("/")[2], {})
            return self._branches(target, side, deep + 1)
        for keyword in ("anyOf", "oneOf", "allOf"):
            parts = schema.get(keyword)
            if isinstance(parts, list) and (keyword != "allOf" or len(parts) == 1):
                rest = {key: value for key, value in schema.items() if key != keyword}
                for part in parts:
                    for name, alternatives in self._branches(part, side, deep + 1).items():
                        branches.setdefault(name, []).extend({**rest, **each} for each in alternatives)
                return branches
        if schema.get("if") == {"not": NULL} and "then" in schema:  # the compiler's reference that may be null
            return {**self._branches(schema["then"], side, deep + 1), "null": [{}]}
        if _is_coerced_list(schema):
            return {"array": [{"type": "array", **schema["then"]}], **self._branches(schema["else"], side, deep + 1)}
        types, values = schema.get("type", ANY), _enum_of(schema)
        if types == ANY and values:
            types = dict.fromkeys(TYPES[type(each)][0] for each in values)
        return {name: [schema] for name in ([types] if isinstance(types, str) else types)}

    def _of_branches(
        self, old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]], path: str
    ) -> Iterator[Difference]:
        if not new:
            return
        if len(old) != len(new):
            kind = "wider" if len(new) > len(old) else "narrower"
            yield Difference(kind, path, f"{len(new)} alternatives, before {len(old)}")
        for before, after in zip(old, new, strict=False):
            yield from _values(before, after, path)
            yield from _bounds(before, after, path)
            for name in sorted({*before, *after} - {*BY_MEANING, *OF_NO_VALUE}):
                if self._meaning(before.get(name), 0) != self._meaning(after.get(name), 1):
                    yield Difference("rule" if name in after else "raised", path, name)
            yield from self._properties(before, after, path)
            if "items" in before or "items" in after:
                yield from self.of(before.get("items", {}), after.get("items", {}), f"{path}[]")
            others = [each.get("additionalProperties", True) for each in (before, after)]
            if all(isinstance(each, dict) for each in others):
                yield from self.of(others[0], others[1], _joined(path, "*"))
            elif others[0] != others[1]:
                kind = "narrower" if others[1] is False or isinstance(others[1], dict) else "wider"
                yield Difference(kind, path, "other names are taken otherwise")

    def _meaning(self, rule: Any, side: int) -> str:
        """Return a rule with all definitions behind it, in one text."""
        definitions = self._roots[side].get("$defs", {})
        text = canonical(rule)
        names = closure(REFERENCE.findall(text), lambda name: REFERENCE.findall(canonical(definitions.get(name))))
        return text + canonical({name: canonical(definitions.get(name)) for name in names})

    def _properties(self, before: Mapping[str, Any], after: Mapping[str, Any], path: str) -> Iterator[Difference]:
        old, new = before.get("properties", {}), after.get("properties", {})
        needed, needs = before.get("required", ()), after.get("required", ())
        if old and "properties" not in after and after.get("additionalProperties", True) is not False:
            yield Difference("open", path, "any members")
            return
        for name in {**old, **new}:
            here = _joined(path, name)
            if name not in old:
                yield Difference("added-required" if name in needs else "added", here, "new")
            elif name not in new:
                yield Difference("removed", here, "gone")
            else:
                if (name in needs) != (name in needed):
                    yield Difference("required" if name in needs else "optional", here, "")
                differences = self.of(old[name], new[name], here)
                # Nobody left out a required argument, so its default says nothing of calls that were sent.
                unsent = ("default", here) if name in needed else None
                yield from (each for each in differences if (each.kind, each.path) != unsent)


def _taking(name: str, branches: Branches) -> Sequence[Mapping[str, Any]]:
    """Return the alternatives that take values of a type."""
    alternatives = branches.get(name) or (branches.get("number") if name == "integer" else None)
    return alternatives or branches.get(ANY, ())


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _annotations(before: Any, after: Any, path: str) -> Iterator[Difference]:
    old, new = (each if isinstance(each, dict) else {} for each in (before, after))
    if path and canonical(old.get("default")) != canonical(new.get("default")):
        was, now = (
            json.dumps(each["default"], ensure_ascii=False) if "default" in each else "none" for each in (old, new)
        )
        yield Difference("default", path, f"{now}, before {was}")
    if path and any(old.get(each) != new.get(each) for each in ("title", "description", "examples")):
        yield Difference("text", path, "")


def _types(old: list[str], new: list[str], path: str) -> Iterator[Difference]:
    lost = [each for each in old if each not in new and ANY not in new]
    won = [each for each in new if each not in old and ANY not in old]
    if "number" in new and "integer" in lost:
        lost.remove("integer")
    if "number" in old and "integer" in won:
        won.remove("integer")
    if ANY in old and ANY not in new:
        lost = [ANY]
    if ANY in new and ANY not in old:
        won = [ANY]
    words = f"{' or '.join(new)}, before {' or '.join(old)}"
    if lost and won:
        yield Difference("type", path, words)
    elif lost:
        yield Difference("not-null" if lost == ["null"] else "narrower", path, words)
    elif won:
        yield Difference("nullable" if won == ["null"] else "wider", path, words)


def _values(before: Mapping[str, Any], after: Mapping[str, Any], path: str) -> Iterator[Difference]:
    old, new = _enum_of(before), _enum_of(after)
    if old is not None and new is not None:
        for kind, values, others in (("value-added", new, old), ("value-removed", old, new)):
            yield from (Difference(kind, path, str(each)) for each in values if each not in others and each is not None)
    elif old is not None or new is not None:
        yield Difference("wider" if new is None else "narrower", path, "any value" if new is None else "some values")


def _bounds(before: Mapping[str, Any], after: Mapping[str, Any], path: str) -> Iterator[Difference]:
    for names, sign in ((MOST, 1), (LEAST, -1)):
        for name in names:
            old, new = (sign * each.get(name, sign * float("inf")) for each in (before, after))
            if old != new:
                words = f"{name} {after.get(name, 'none')}, before {before.get(name, 'none')}"
                yield Difference("raised" if new > old else "lowered", path, words)


def _enum_of(schema: Mapping[str, Any]) -> Sequence[Any] | None:
    """Return the values that a schema takes, of which ``const`` has one; ``None`` if it has no list of them."""
    return [schema["const"]] if "const" in schema else schema.get("enum")


def _is_coerced_list(schema: Any) -> bool:
    """Return whether a schema is the compiler's form of a list, for which an item of the list may stand."""
    match schema:
        case {"if": {"type": "array", **rest}, "then": dict(), "else": _}:
            return not rest
        case _:
            return False


def _reference_of(schema: Any) -> str:
    """Return the definitions that a schema refers to, in each form that the compiler writes; empty for others."""
    match schema:
        case {"$ref": str() as reference} | {"then": {"$ref": str() as reference}}:
            return reference
        case {"anyOf": [*branches]}:
            references = [_reference_of(branch) for branch in branches if branch != NULL]
            return " ".join(references) if all(references) else ""
        case _:
            return ""


def canonical(schema: Any) -> str:
    """Return a text that equal schemas share."""
    return json.dumps(schema, sort_keys=True, default=str)


def entry_of(tool: Tool) -> JSONObject:
    """Return the entry of a tool for callers from whom no argument is hidden."""
    return listed_entry(tool, tool.conditions) if isinstance(tool, PrescribedTool) else tool.entry


def argument_changes(before: Tool, after: Tool) -> Iterator[Change]:
    """Yield the differences of a tool's arguments, as enforced and as listed."""
    enforced = schema_differences(before.arguments, after.arguments)
    listed = schema_differences(entry_of(before)["inputSchema"], entry_of(after)["inputSchema"])
    differences = dict.fromkeys(
        [
            *(each for each in enforced if each.kind not in AS_LISTED),
            *(each for each in listed if each.kind in AS_LISTED or each.words == "pattern"),
        ]
    )
    texts = [f'"{each.path}"' for each in differences if each.kind == "text"]
    yield from (_change(each, after.name, owner=f"tool {after.name}") for each in differences if each.kind != "text")
    if texts:
        words = some(texts, most=MOST_TEXTS)
        yield Change("text-changed", after.name, f"tool {after.name}: lists have other texts of {words}")


def _change(difference: Difference, about: str, *, owner: str) -> Change:
    code, sentence = ARGUMENT_CODES[difference.kind]
    path = f'"{difference.path}"' if difference.path else "its arguments"
    words = sentence.format(path=path, words=difference.words)
    return Change(code, about, f"{owner}: {words}" if words[0] == '"' else f"{owner} {words}")


def variable_changes(before: Mapping[str, Any], after: Mapping[str, Any], *, about: str) -> Iterator[Change]:
    """Yield the differences of the variables of an operation, or the arguments of a prompt. ``about`` names it."""
    differences = schema_differences(before, after)
    yield from (_change(each, about, owner=about) for each in differences if each.kind in ARGUMENT_CODES)


def output_changes(before: Any, after: Any, *, tool: str) -> Iterator[Change]:
    """Yield the differences of an output schema; ``None`` for a tool without one."""
    if before is None or after is None:
        if before is not after:
            code, verb = ("output-removed", "does not have") if after is None else ("output-added", "has")
            yield Change(code, tool, f"tool {tool} {verb} an output schema")
        return
    for each in schema_differences(before, after):
        if each.kind in RESULT_CODES:
            code, sentence = RESULT_CODES[each.kind]
            words = sentence.format(path=f'"{each.path}"' if each.path else "a whole", words=each.words)
            yield Change(code, tool, f"the result of tool {tool} {words}")
