"""The words of a cut: where it was made, how much is left, and how to go on in the terms of one tool."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from handler.answers.places import CHARACTERS, CutPlace
from handler.answers.plan import Argument, Member, Members
from handler.answers.sizes import size_of
from handler.cold.records import record
from handler.strict_json import JSONObject

SAMPLE = 10
"""Items of a list whose fields are measured, to name the largest."""

NAMED = 3
"""Large fields that are named."""

SMALL = 50
"""Fields with a smaller part of the bytes than one of so many are not named."""

MAX_NEXT_BYTES = 4_000
"""The longest ``next`` of a note. It repeats the values that stand beside the one to give."""


@record(frozen=True, slots=True, kw_only=True)
class CallForm:
    """How one tool takes values. ``below``: the argument that holds the variables; none if they are the arguments.

    ``writes_text``: a model writes the document, so it can give each argument of a field. ``mutates``: a second call
    would change data once more. ``given``: the variables that the caller gave.
    """

    below: tuple[str, ...] = ()
    writes_text: bool = False
    mutates: bool = False
    variables: Mapping[str, Any]
    given: Mapping[str, Any] = field(default_factory=dict)

    def note(self, place: CutPlace) -> JSONObject:
        """Return the entry of a place in ``extensions.stile.truncated``."""
        told: JSONObject = {"path": list(place.path), "kept": place.kept, "dropped": place.dropped}
        if place.of == CHARACTERS:
            return {**told, "of": CHARACTERS, "how": "The rest of this text cannot be read by this tool."}
        if place.backward:
            told["from"] = place.dropped
        elif place.before:
            told["from"] = place.before
        if self.mutates:
            return {**told, "how": "The mutation was sent: do not repeat it to read the rest."}
        arguments = self.next_arguments(place)
        if not arguments:
            return {**told, "how": self._narrow(place)}
        given = ", ".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
        by_variable = self._by_variable(place)
        nested = self._nested(by_variable) if by_variable else {}
        again = {"next": nested} if nested and size_of(nested) <= MAX_NEXT_BYTES else {}
        way = "Call again with the same arguments, and" if by_variable else "Ask again for this field with"
        return {**told, **again, "how": f"{way} {given}."}

    def next_arguments(self, place: CutPlace) -> JSONObject:
        """Return the argument of the field that goes on behind the kept rows; empty if there is none."""
        argument, value = self._next(place)
        return {".".join(argument.variable) or argument.name: value} if argument else {}

    def _next(self, place: CutPlace) -> tuple[Argument | None, Any]:
        if place.nested or not place.seen:
            return None, None
        by_cursor = self._usable(place, "before" if place.backward else "after")
        if by_cursor and place.cursor is not None:
            return by_cursor, place.cursor
        offset = self._usable(place, "offset")
        if offset and not place.backward:
            before = offset.value_in(self.variables)
            return offset, (before if type(before) is int else 0) + place.seen
        return None, None

    def _usable(self, place: CutPlace, role: str) -> Argument | None:
        argument = place.paging.get(role)
        return argument if argument and (argument.variable or self.writes_text) else None

    def _by_variable(self, place: CutPlace) -> JSONObject:
        """Return the variable to give, with its other members if the value is inside of it."""
        argument, value = self._next(place)
        if not argument or not argument.variable:
            return {}
        first, *inner = argument.variable
        whole = self.variables.get(first)
        return {first: _replaced(whole, inner, value)}

    def _nested(self, variables: JSONObject) -> JSONObject:
        nested: Any = {**self.given, **variables} if self.below else variables
        for name in reversed(self.below):
            nested = {name: nested}
        return dict(nested)

    def _narrow(self, place: CutPlace) -> str:
        largest = largest_fields({"": list(place.rows)}, Members(fields={"": place.plan})) if place.plan else []
        size = self._usable(place, "size") if place.pages else None
        if size:
            page = ", from the first page on" if "page" in place.paging else ""
            return (
                f"No other page has the rest: call again with a smaller {'.'.join(size.variable) or size.name}{page}."
            )
        if self.writes_text:
            named = f", of which the largest are {_listed(largest)}" if largest else ""
            return f"Ask for fewer fields{named}."
        named = f" The largest fields are {_listed(largest)}." if largest else ""
        return f"This tool cannot go on here: narrow the call by its arguments.{named}"

    def _sizes(self, members: Members) -> Iterator[str]:
        """Yield the arguments that set the number of items, outside of lists."""
        for member in members.fields.values():
            size = member.paging.get("size")
            if size and (size.variable or self.writes_text):
                yield ".".join(size.variable) or size.name
            if member.below and not member.depth:
                yield from self._sizes(member.below)

    def too_large(self, value: JSONObject, members: Members, *, size: int, max_bytes: int) -> str:
        """Return the sentence about an answer that cannot be cut to the limit."""
        largest = largest_fields(value, members)
        named = f" The largest fields are {_listed(largest)}." if largest else ""
        sizes = ", ".join(dict.fromkeys(self._sizes(members)))
        fewer = f" Ask for fewer items, with a smaller {sizes}." if sizes else ""
        advice = f"Ask for fewer fields.{fewer}" if self.writes_text else fewer.strip()
        advice = "" if self.mutates else f" {advice or 'Narrow the call by its arguments.'}"
        return (
            f"The answer has {size:,} bytes, and a result of this tool may have {max_bytes:,}. It cannot be shortened "
            f"to that without losing what it means.{named}{advice}"
        )


def largest_fields(value: JSONObject, members: Members) -> list[str]:
    """Return the names of the leaf fields with the most bytes, by a sample of each list's items."""
    found: dict[tuple[str, ...], float] = {}
    _weigh(value, Member(below=members), (), 1.0, found)
    by_size = sorted(found, key=lambda path: (-found[path], path))
    large = [path for path in by_size if found[path] * SMALL > sum(found.values()) and path != ("data",)]
    named = (".".join(path).strip(".").removeprefix("data.") for path in large[:NAMED])
    return [name for name in named if name]


def _weigh(
    value: Any, member: Member, path: tuple[str, ...], scale: float, found: dict[tuple[str, ...], float]
) -> None:
    if type(value) is list and value and (member.depth or member.any):
        items = value[:: max(1, len(value) // SAMPLE)]
        for item in items:
            _weigh(item, member.item, path, scale * len(value) / len(items), found)
    elif type(value) is dict and member.below:
        fields = member.below.of(value)
        for key, each in value.items():
            _weigh(each, fields.get(key, Member()), (*path, key), scale, found)
    else:
        found[path] = found.get(path, 0.0) + scale * size_of(value)


def _replaced(whole: Any, path: Sequence[str], value: Any) -> Any:
    if not path:
        return value
    members = whole if isinstance(whole, dict) else {}
    return {**members, path[0]: _replaced(members.get(path[0]), path[1:], value)}


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
