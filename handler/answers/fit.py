"""Fit an answer into a limit of bytes, and say in the answer what was dropped and how to go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from handler.answers.advice import CallForm
from handler.answers.continued import Start
from handler.answers.cut import cut
from handler.answers.outline import CutForm
from handler.answers.places import ITEMS, CutPlace
from handler.answers.plan import Member, Members
from handler.answers.units import Kept
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
