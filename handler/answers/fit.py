"""Fit an answer into a limit of bytes, and say in the answer what was dropped and how to go on with the tool."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from handler.answers.cut import CutForm, Kept, cut, size_of
from handler.answers.places import CHARACTERS, ITEMS, CutPlace, Start
from handler.answers.plan import Argument, Member, Members
from handler.cold.records import record
from handler.errors.upstream import ResultTooLarge
from handler.strict_json import JSONObject, to_well_formed_json

ENVELOPE_BYTES = 100
"""The room for ``extensions``, and for what the first note has more than the least."""

TRIES = 4
"""Cuts of one answer, each with more room for the notes; from the third on with much more."""

Continue = Callable[[CutPlace], Mapping[str, Any]]
"""Returns further members of the note of a list: a cursor with which the same call continues. Empty: there is none."""


@record(frozen=True, slots=True, kw_only=True)
class Fitted:
    """An answer within its limit. ``text`` is its JSON."""

    answer: JSONObject
    text: bytes
    places: tuple[CutPlace, ...]


@record(frozen=True, slots=True, kw_only=True)
class ResultLimit:
    """The limit of one result. With ``start``, the answer has the rows of one list from an offset on.

    With ``continue_at``, lists are cut even if their API has no way to go on.
    """

    max_bytes: int
    form: CallForm
    size: int = 0  # of the answer's JSON, if it is known
    start: Start | None = None
    continue_at: Continue | None = None

    def way(self, *, strings: bool) -> CutForm:
        """Return how an answer is cut; ``strings``: long strings, too."""
        size = 0 if self.start else self.size  # of the rest, the size is not known
        return CutForm(
            variables=self.form.variables, strings=strings, continues=self.continue_at is not None, size=size
        )


def fit(answer: JSONObject, plan: Members | None, limit: ResultLimit) -> Fitted:
    """Return a GraphQL response cut to a limit, with ``extensions.stile.truncated``.

    ``plan`` is that of ``data``; ``None`` if nothing is known of it. Errors beside data stay as they are: their paths
    count from the API's first item.

    Raises:
        ResultTooLarge: the answer cannot be cut to the limit.
    """
    members = Members(fields={"data": Member(below=plan)}) if plan else Members(fields={})
    if limit.start and plan and answer["data"]:
        answer = {**answer, "data": limit.start.rest_of(answer["data"], plan)}
    found = _fitted(answer, members, limit.way(strings=False), limit)
    if found is None or found[1].emptied:
        shorter = _fitted(answer, members, limit.way(strings=True), limit)
        if shorter and (found is None or shorter[1].emptied < found[1].emptied):
            found = shorter
    if found and (found[1].rows or not found[1].emptied) and not _is_stuck(found[0], limit):
        return found[0]
    size = limit.size or len(to_well_formed_json(answer))
    sentence = limit.form.too_large(answer, members, size=size, max_bytes=limit.max_bytes)
    raise ResultTooLarge(sentence, size=size, max_bytes=limit.max_bytes)


def cut_value(value: Any, member: Member, *, max_bytes: int) -> tuple[Any, tuple[CutPlace, ...]] | None:
    """Return any JSON value cut to a limit, and the places that were cut; ``None`` if it cannot be cut to that size."""
    ways = (CutForm(variables={}, strings=strings, continues=True) for strings in (False, True))
    members = Members(fields={"": member})
    tried = (cut({"": value}, members, room=max_bytes + WRAPPED, way=way) for way in ways)
    found = [each for each in tried if each and (each.kept.rows or not each.kept.emptied)]
    best = min(found, key=lambda each: each.kept.emptied, default=None)
    return (best.value[""], best.places) if best else None


WRAPPED = 5
"""The bytes of an object with one member without a name."""


def _fitted(answer: JSONObject, members: Members, way: CutForm, limit: ResultLimit) -> tuple[Fitted, Kept] | None:
    room = limit.max_bytes - ENVELOPE_BYTES
    for number in range(TRIES):
        found = cut(answer, members, room=room, way=way)
        if found is None:
            return None
        places = tuple(_of_data(place, limit.start) for place in found.places)
        whole = _with_notes(found.value, places, limit)
        text = to_well_formed_json(whole)
        if len(text) <= limit.max_bytes:
            return Fitted(answer=whole, text=text, places=places), found.kept
        room = max(room + limit.max_bytes - len(text), room * limit.max_bytes // len(text)) - number * room // TRIES
    return None


def _is_stuck(found: Fitted, limit: ResultLimit) -> bool:
    return limit.start is not None and limit.start.is_stuck(found.places)


def _of_data(place: CutPlace, start: Start | None) -> CutPlace:
    found = replace(place, path=place.path[1:], origin=place.origin[1:])
    return start.placed(found) if start else found


def _with_notes(answer: JSONObject, places: tuple[CutPlace, ...], limit: ResultLimit) -> JSONObject:
    notes = [_note(place, limit, answer.get("errors") or ()) for place in places]
    told: JSONObject = _told(limit.start) if limit.start else {}
    told |= {"truncated": notes} if notes else {}
    return {**answer, "extensions": {**(answer.get("extensions") or {}), "stile": told}} if told else answer


def _told(start: Start) -> JSONObject:
    """Return the list that an answer continues, and the number of its rows that earlier answers had."""
    return {"continued": {"path": list(start.shown_path), "from": start.offset}}


def _note(place: CutPlace, limit: ResultLimit, errors: Sequence[Any]) -> JSONObject:
    note = limit.form.note(place)
    lost = sum(place.lost(error.get("path")) for error in errors if isinstance(error, dict))
    if lost:
        note["errors"] = lost
    # Arguments of the API beside a cursor would be other arguments than those that the cursor is for.
    if limit.continue_at and place.of == ITEMS and (limit.start or not limit.form.next_arguments(place)):
        note |= limit.continue_at(place)
    return note


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
