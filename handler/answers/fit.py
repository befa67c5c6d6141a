"""Fit an answer into a limit of bytes, and say in the answer how much was dropped and how to go on with the tool."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from handler.answers.cut import SAMPLE, CutForm, Kept, cut, json_size
from handler.answers.plan import CHARACTERS, FILTER, ITEMS, Argument, CutPlace, Member, Members, Start
from handler.cold.records import record
from handler.errors.upstream import ResultTooLarge
from handler.list_entries import BYTES_PER_TOKEN
from handler.strict_json import JSONObject, to_well_formed_json
from handler.text.sentences import counted

ENVELOPE_BYTES = 150
"""The room for ``extensions``, and for the bytes that the first note has more than the least."""

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


def fit(answer: JSONObject, plan: Members | None, limit: ResultLimit) -> Fitted:
    """Return a GraphQL response cut to a limit, with ``extensions.stile.truncated``.

    ``plan`` is that of ``data``; ``None`` if nothing is known of it. Errors beside data stay as they are: their paths
    count from the API's first item.

    Raises:
        ResultTooLarge: the answer cannot be cut to the limit.
    """
    members = Members(fields={"data": Member(below=plan)}) if plan else Members(fields={})
    if limit.start and plan and answer["data"]:
        answer = {**answer, "data": limit.start.rest_of(answer["data"], plan, limit.start.path)}
    best = _fitted(answer, members, limit, strings=False)
    if best is None or best[1].emptied:
        shorter = _fitted(answer, members, limit, strings=True)
        if shorter and (best is None or shorter[1].emptied < best[1].emptied):
            best = shorter
    if best:
        fitted, rest = best
        is_stuck = limit.start is not None and limit.start.is_stuck(fitted.places)
        if (rest.rows or not rest.emptied) and not is_stuck:
            return fitted
    size = limit.size or len(to_well_formed_json(answer))
    sentence = limit.form.too_large(answer, members, size=size, max_bytes=limit.max_bytes)
    raise ResultTooLarge(sentence, size=size, max_bytes=limit.max_bytes)


def cut_value(value: Any, member: Member, *, max_bytes: int) -> tuple[Any, tuple[CutPlace, ...]] | None:
    """Return any JSON value cut to a limit, and the places that were cut; ``None`` if it cannot be cut to that size."""
    forms = (CutForm(variables={}, strings=strings, continues=True) for strings in (False, True))
    room = max_bytes + len('{"":}')
    cuts = (cut({"": value}, Members(fields={"": member}), room=room, form=form) for form in forms)
    useful = [each for each in cuts if each and (each[1].rows or not each[1].emptied)]
    best = min(useful, key=lambda each: each[1].emptied, default=None)
    return (best[0][""], best[1].places) if best else None


def _fitted(answer: JSONObject, members: Members, limit: ResultLimit, *, strings: bool) -> tuple[Fitted, Kept] | None:
    """Return the answer with its notes within the limit; ``strings``: long strings may be cut, too."""
    size = 0 if limit.start else limit.size  # of the rest, the size is not known
    continues = limit.continue_at is not None
    form = CutForm(variables=limit.form.variables, strings=strings, continues=continues, size=size)
    room = limit.max_bytes - ENVELOPE_BYTES
    for number in range(TRIES):
        part = cut(answer, members, room=room, form=form)
        if part is None:
            return None
        value, rest = part
        in_data = (replace(place, path=place.path[1:], origin=place.origin[1:]) for place in rest.places)
        places = tuple(limit.start.placed(place) if limit.start else place for place in in_data)
        whole = _with_notes(value, places, limit)
        text = to_well_formed_json(whole)
        if len(text) <= limit.max_bytes:
            return Fitted(answer=whole, text=text, places=places), rest
        room = max(room + limit.max_bytes - len(text), room * limit.max_bytes // len(text)) - number * room // TRIES
    return None


def _with_notes(answer: JSONObject, places: Sequence[CutPlace], limit: ResultLimit) -> JSONObject:
    """Add the list that an answer continues, with the number of rows that earlier answers had, and all cut places."""
    notes: JSONObject = {}
    if limit.start:
        notes["continued"] = {"path": list(limit.start.shown_path), "from": limit.start.offset}
    if places:
        notes["truncated"] = [_note(place, limit, answer.get("errors") or ()) for place in places]
    return {**answer, "extensions": {**(answer.get("extensions") or {}), "stile": notes}} if notes else answer


def _note(place: CutPlace, limit: ResultLimit, errors: Sequence[Any]) -> JSONObject:
    note = limit.form.note(place)
    lost = sum(place.lost(error.get("path")) for error in errors if isinstance(error, dict))
    if lost:
        note["errors"] = lost
    # Arguments of the API beside a cursor would be other arguments than those that the cursor is for.
    if limit.continue_at and place.of == ITEMS and (limit.start or not limit.form.find_next(place)):
        note |= limit.continue_at(place)
    return limit.form.priced(note, place)


MAX_FIELDS = 3
"""Large fields that a sentence names."""

SMALL = 50
"""Fields with a smaller part of the bytes than one of so many are not named."""

MAX_FILTERS = 5
"""Arguments that a note names."""

MAX_NOTE_BYTES = 400
"""The longest note with the filters and counts of a field, without ``next``."""

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
        note: JSONObject = {"path": list(place.path), "kept": place.kept, "dropped": place.dropped}
        if place.of == CHARACTERS:
            return {**note, "of": CHARACTERS, "how": "The rest of this text cannot be read by this tool."}
        if place.backward or place.before:
            note["from"] = place.dropped if place.backward else place.before
        if self.mutates:
            return {**note, "how": "The mutation was sent: do not repeat it to read the rest."}
        following = self.find_next(place)
        if following is None:
            return {**note, "how": self._narrow(place)}
        argument, value = following
        setting = f"{_name_of(argument)}: {json.dumps(value, ensure_ascii=False)}"
        if not argument.variable:
            return {**note, "how": f"Ask again for this field with {setting}."}
        first, *inner = argument.variable
        again: Any = {**(self.given if self.below else {}), first: _replaced(self.variables.get(first), inner, value)}
        for name in reversed(self.below):
            again = {name: again}
        if json_size(again) <= MAX_NEXT_BYTES:
            note["next"] = again
        return {**note, "how": f"Call again with the same arguments, and {setting}."}

    def find_next(self, place: CutPlace) -> tuple[Argument, Any] | None:
        """Return the argument of the field, and its value, that go on behind the kept rows; ``None`` without one."""
        if place.nested or not place.seen:
            return None
        cursor = self._usable(place, "before" if place.backward else "after")
        if cursor and place.cursor is not None:
            return cursor, place.cursor
        offset = self._usable(place, "offset")
        if offset and not place.backward:
            before = offset.value_in(self.variables)
            return offset, (before if type(before) is int else 0) + place.seen
        return None

    def _usable(self, place: CutPlace, role: str) -> Argument | None:
        argument = place.paging.get(role)
        return argument if argument and (argument.variable or self.writes_text) else None

    def priced(self, note: JSONObject, place: CutPlace) -> JSONObject:
        """Return a note with the size of the rest, and the filters and counts of the field, if it stays short."""
        size = sum(json_size(each) for items in place.sample.values() for each in items)
        if place.of == ITEMS:
            size = size * place.dropped // len(next(iter(place.sample.values())))
        tokens = max(1, size // BYTES_PER_TOKEN)
        note = {**note, "tokens": tokens}
        if self.mutates or place.nested or place.of == CHARACTERS:
            return note
        roles = sorted(role for role in place.paging if role.startswith(FILTER))
        filters = [_name_of(each) for role in roles if (each := self._usable(place, role))][:MAX_FILTERS]
        counts = list(place.counts[:1] if self.writes_text and place.total is None else ())
        members = {"total": place.total, "filters": filters, "counts": counts}
        how = f"{note['how']} Left: {counted(place.dropped, 'item')}, about {tokens:,} tokens."
        how += f" To narrow it: {', '.join(filters)}." if filters else ""
        how += f" To count it: {', '.join(counts)}." if counts else ""
        longer = {**note, **{name: value for name, value in members.items() if value not in (None, [])}, "how": how}
        return longer if json_size({**longer, "next": None}) <= MAX_NOTE_BYTES else note

    def _narrow(self, place: CutPlace) -> str:
        size = self._usable(place, "size") if place.pages else None
        if size:
            page = ", from the first page on" if "page" in place.paging else ""
            return f"No other page has the rest: call again with a smaller {_name_of(size)}{page}."
        names = {key: key if len(place.sample) > 1 else "" for key in place.sample}
        rows = {names[key]: list(items) for key, items in place.sample.items()}
        fields = _largest_fields(rows, Members(fields={names[key]: plan for key, plan in place.plans.items()}))
        if self.writes_text:
            return f"Ask for fewer fields{f', of which the largest are {fields}' if fields else ''}."
        largest = f" The largest fields are {fields}." if fields else ""
        return f"This tool cannot go on here: narrow the call by its arguments.{largest}"

    def too_large(self, value: JSONObject, members: Members, *, size: int, max_bytes: int) -> str:
        """Return the sentence about an answer that cannot be cut to the limit."""
        fields = _largest_fields(value, members)
        largest = f" The largest fields are {fields}." if fields else ""
        sizes = ", ".join(dict.fromkeys(self._sizes(members)))
        fewer = f" Ask for fewer items, with a smaller {sizes}." if sizes else ""
        advice = f"Ask for fewer fields.{fewer}" if self.writes_text else fewer.strip()
        advice = "" if self.mutates else f" {advice or 'Narrow the call by its arguments.'}"
        return (
            f"The answer has {size:,} bytes, and a result of this tool may have {max_bytes:,}. It cannot be shortened "
            f"to that without losing what it means.{largest}{advice}"
        )

    def _sizes(self, members: Members) -> Iterator[str]:
        """Yield the arguments that set the number of items, outside of lists."""
        for member in members.fields.values():
            size = member.paging.get("size")
            if size and (size.variable or self.writes_text):
                yield _name_of(size)
            if member.below and not member.depth:
                yield from self._sizes(member.below)


def _name_of(argument: Argument) -> str:
    return ".".join(argument.variable) or argument.name


def _largest_fields(value: JSONObject, members: Members) -> str:
    """Return the names of the leaf fields with the most bytes, by a sample of each list's items."""
    sizes: dict[tuple[str, ...], float] = {}
    _weigh(value, Member(below=members), (), 1.0, sizes)
    by_size = sorted(sizes, key=lambda path: (-sizes[path], path))
    large = [path for path in by_size if sizes[path] * SMALL > sum(sizes.values()) and path != ("data",)]
    names = (".".join(path).strip(".").removeprefix("data.") for path in large[:MAX_FIELDS])
    return ", ".join(filter(None, names))


def _weigh(
    value: Any, member: Member, path: tuple[str, ...], scale: float, sizes: dict[tuple[str, ...], float]
) -> None:
    if type(value) is list and value and (member.depth or member.any):
        items = value[:: max(1, len(value) // SAMPLE)]
        for item in items:
            _weigh(item, member.item, path, scale * len(value) / len(items), sizes)
    elif type(value) is dict and member.below:
        fields = member.below.of(value)
        for key, each in value.items():
            _weigh(each, fields.get(key, Member()), (*path, key), scale, sizes)
    else:
        sizes[path] = sizes.get(path, 0.0) + scale * json_size(value)


def _replaced(whole: Any, path: Sequence[str], value: Any) -> Any:
    if not path:
        return value
    members = whole if isinstance(whole, dict) else {}
    return {**members, path[0]: _replaced(members.get(path[0]), path[1:], value)}
