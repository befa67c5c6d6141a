"""The differences of two JSON Schemas: what values fit, part by part."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from handler.commands.changes.schema_forms import (
    ANY,
    IS_LIST,
    NOT_NULL,
    canonical,
    enum_of,
    is_coerced_list,
    joined_by,
    reference_of,
    types_of,
)
from handler.policy.guarded_schema import GUARDS

MOST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
LEAST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")


REFERENCE = re.compile(r'"#/\$defs/([^"]*)"')

BY_THEMSELVES = frozenset(
    {
        *MOST,
        *LEAST,
        GUARDS,
        "type",
        "enum",
        "const",
        "properties",
        "required",
        "items",
        "additionalProperties",
        "anyOf",
        "oneOf",
        "$ref",
        "$defs",
        "$schema",
        "$comment",
        "default",
        "title",
        "description",
        "examples",
        "deprecated",
    }
)
"""Keywords that are compared by their meaning, or mean nothing for values. Any other is a rule."""


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
    found = _Walk(before, after).of(before, after, "")
    yield from dict.fromkeys(found)  # a part of several types is met once for each


class _Walk:
    """The walk through both schemas. Each pair of definitions is compared where it is met first."""

    def __init__(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        self._roots = (before, after)
        self._seen: set[tuple[str, str]] = set()

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
            references = reference_of(before) or texts[0], reference_of(after) or texts[1]
            if references in self._seen:
                return
            self._seen.add(references)
        yield from self._of_types(old, new, path, is_coerced=is_coerced_list(before) and is_coerced_list(after))

    def _of_types(self, old: Branches, new: Branches, path: str, *, is_coerced: bool) -> Iterator[Difference]:
        """Yield the differences of each type. If an item may stand for a list, those of items are told once."""
        found = [
            difference
            for name in [name for name in old if name != "null"]
            for difference in self._of_branches(old[name], _taking(name, new), path)
        ]
        of_items = [each for each in found if each.path.startswith(f"{path}[]")]
        yield from of_items if is_coerced and of_items else found

    def _branches(self, schema: Any, side: int, deep: int = 0) -> dict[str, list[Mapping[str, Any]]]:
        """Return JSON type -> the alternatives of a schema that take values of the type."""
        found: dict[str, list[Mapping[str, Any]]] = {}
        if not isinstance(schema, dict) or deep > 32:
            return {ANY: [{}]} if schema is True or schema is None or deep > 32 else {}
        reference = schema.get("$ref")
        if isinstance(reference, str):
            target = self._roots[side].get("$defs", {}).get(reference.rpartition("/")[2], {})
            return self._branches(target, side, deep + 1)
        joined = joined_by(schema)
        if joined:
            rest = {key: value for key, value in schema.items() if key != joined}
            for each in schema[joined]:
                for name, branches in self._branches(each, side, deep + 1).items():
                    found.setdefault(name, []).extend({**rest, **branch} for branch in branches)
            return found
        if schema.get("if") == NOT_NULL and "then" in schema:  # the compiler's form of a reference that may be null
            return {**self._branches(schema["then"], side, deep + 1), "null": [{}]}
        if is_coerced_list(schema):
            return {"array": [{**IS_LIST, **schema["then"]}], **self._branches(schema["else"], side, deep + 1)}
        return {name: [schema] for name in types_of(schema)}

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
            yield from self._rules(before, after, path)
            yield from self._properties(before, after, path)
            if "items" in before or "items" in after:
                yield from self.of(before.get("items", {}), after.get("items", {}), f"{path}[]")
            yield from self._others(before.get("additionalProperties", True), after, path)

    def _rules(self, before: Mapping[str, Any], after: Mapping[str, Any], path: str) -> Iterator[Difference]:
        for name in sorted({*before, *after} - BY_THEMSELVES):
            old, new = (self._meaning(each.get(name), side) for side, each in enumerate((before, after)))
            if old != new:
                yield Difference("rule" if name in after else "raised", path, name)

    def _meaning(self, rule: Any, side: int) -> str:
        """Return a rule with all definitions behind it, in one text."""
        definitions = self._roots[side].get("$defs", {})
        text, found = canonical(rule), {}
        waiting = [text]
        while waiting:
            for name in REFERENCE.findall(waiting.pop()):
                if name not in found:
                    found[name] = canonical(definitions.get(name))
                    waiting.append(found[name])
        return text + canonical(found)

    def _others(self, old: Any, after: Mapping[str, Any], path: str) -> Iterator[Difference]:
        new = after.get("additionalProperties", True)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from self.of(old, new, _joined(path, "*"))
        elif old != new:
            kind = "narrower" if new is False or isinstance(new, dict) else "wider"
            yield Difference(kind, path, "other names are taken otherwise")

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
                found = self.of(old[name], new[name], here)
                # Nobody left out a required argument, so its default says nothing of calls that were sent.
                yield from (each for each in found if (each.kind, each.path) != ("default", here) or name not in needed)


def _taking(name: str, branches: Branches) -> Sequence[Mapping[str, Any]]:
    """Return the alternatives that take values of a type."""
    found = branches.get(name) or (branches.get("number") if name == "integer" else None)
    return found or branches.get(ANY, ())


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _annotations(before: Any, after: Any, path: str) -> Iterator[Difference]:
    old, new = (each if isinstance(each, dict) else {} for each in (before, after))
    if path and canonical(old.get("default")) != canonical(new.get("default")):
        words = f"{_shown(new)}, before {_shown(old)}"
        yield Difference("default", path, words)
    if path and any(old.get(each) != new.get(each) for each in ("title", "description", "examples")):
        yield Difference("text", path, "")


def _shown(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema["default"], ensure_ascii=False) if "default" in schema else "none"


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
    old, new = enum_of(before), enum_of(after)
    if old is None and new is None:
        return
    if old is None or new is None:
        yield Difference("wider" if new is None else "narrower", path, "any value" if new is None else "some values")
        return
    for each in new:
        if each not in old and each is not None:
            yield Difference("value-added", path, str(each))
    for each in old:
        if each not in new and each is not None:
            yield Difference("value-removed", path, str(each))


def _bounds(before: Mapping[str, Any], after: Mapping[str, Any], path: str) -> Iterator[Difference]:
    for names, sign in ((MOST, 1), (LEAST, -1)):
        for name in names:
            old, new = (sign * each.get(name, sign * float("inf")) for each in (before, after))
            if old != new:
                words = f"{name} {after.get(name, 'none')}, before {before.get(name, 'none')}"
                yield Difference("raised" if new > old else "lowered", path, words)
