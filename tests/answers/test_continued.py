"""Answers that are continued: whoever follows all notes reads each row once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.answers.fit import CallForm, ResultLimit, fit
from handler.answers.plan import Argument, CutPlace, Member, Members, Start, read_plan, write_plan
from handler.errors.upstream import ResultTooLarge
from tests.support.examples import examples

Path = tuple[str | int, ...]


class Made:
    """A random answer, and its plan. Each row of a list has a number of its own."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._numbers = count(1)
        self.plan = self._members(2)
        self.data = self._object(self.plan)

    def _members(self, depth: int, *, row: bool = False) -> Members:
        fields = {"name": Member(string=True)} | ({"id": Member()} if row else {})
        for number in range(self._random.randint(2, 4)):
            fields[f"f{number}"] = self._member(depth)
        return Members(fields=fields)

    def _member(self, depth: int) -> Member:
        kind = self._random.choice(["leaves", "leaves", "rows", "rows", "matrix", "object", "connection", "scalar"])
        if depth == 0 or kind == "leaves":
            return Member(depth=1)
        match kind:
            case "rows":
                return Member(depth=1, below=self._members(depth - 1, row=True))
            case "matrix":
                return Member(
                    depth=2, below=self._members(depth - 1, row=True) if self._random.random() < 0.5 else None
                )
            case "object":
                return Member(below=self._members(depth - 1))
            case "connection":
                return Member(below=self._connection(depth - 1), paging=self._paging())
        return Member(string=True)

    def _connection(self, depth: int) -> Members:
        node = self._members(depth, row=True)
        edge = Members(fields={"cursor": Member(), "node": Member(below=node)}, cursors=("cursor",))
        info = Members(fields={"end": Member()}, info={"end": "endCursor", "more": "hasNextPage"})
        rows = self._random.choice([("edges",), ("nodes",), ("edges", "nodes"), ("nodes", "edges")])
        lists = {"edges": Member(depth=1, below=edge), "nodes": Member(depth=1, below=node)}
        fields = {key: lists[key] for key in rows} | {"pageInfo": Member(below=info)}
        return Members(fields=fields, rows=rows, page_info=("pageInfo",))

    def _paging(self) -> dict[str, Argument]:
        return {"last": Argument("last", value=50)} if self._random.random() < 0.3 else {}

    def _object(self, plan: Members) -> dict[str, Any]:
        value: dict[str, Any] = {}
        size = self._size()
        for key, member in plan.fields.items():
            if key == "id":
                value[key] = next(self._numbers)
            elif key in plan.rows:
                value[key] = [self._object(member.below) for _ in range(size)] if member.below else []
            elif plan.info:
                value |= {"end": f"end-{next(self._numbers)}", "more": False}
            elif key == "cursor" and plan.cursors:
                value[key] = f"cursor-{next(self._numbers)}"
            else:
                value[key] = self._value(member)
        return value

    def _value(self, member: Member) -> Any:
        if self._random.random() < 0.05:
            return None
        if member.depth:
            return [self._value(member.item) for _ in range(self._size())]
        if member.below:
            return self._object(member.below)
        return "a text " * self._random.randint(0, 6) if member.string else next(self._numbers)

    def _size(self) -> int:
        return self._random.choice([0, 1, 2, 4, 7, 12])


def rows_in(value: Any, member: Member) -> Iterator[int]:
    """The numbers of all rows in a value: items of lists, by their own number."""
    if isinstance(value, list):
        for item in value:
            if isinstance(item, int):
                yield item
            elif isinstance(item, dict) and "id" in item:
                yield item["id"]
            elif isinstance(item, dict) and "cursor" in item:
                yield int(item["cursor"].removeprefix("cursor-"))
            yield from rows_in(item, member.item)
    elif isinstance(value, dict) and member.below:
        for key, each in value.items():
            yield from rows_in(each, member.below.fields.get(key, Member()))


def at(value: Any, member: Member, path: Path) -> tuple[Any, Member]:
    for key in path:
        member = member.item if isinstance(key, int) else member.below.fields[key]  # type: ignore[union-attr]
        value = value[key]
    return value, member


def new_rows(data: Any, plan: Members, told: dict[str, Any] | None) -> Iterator[int]:
    """The rows that an answer tells for the first time: all, or those of the list that it continues."""
    whole = Member(below=plan)
    if told is None:
        yield from rows_in(data, whole)
        return
    *around, key = told["path"]
    holder, member = at(data, whole, tuple(around))
    keys = [key]
    if member.below and key in member.below.rows:
        keys = [*member.below.rows]
    for each in keys:
        yield from rows_in(*at(holder, member, (each,)))


def followed(made: Made, *, max_bytes: int) -> Counter[int]:
    """The rows of an answer and of all that continue it."""
    found: Counter[int] = Counter()
    waiting: list[Start | None] = [None]
    form = CallForm(variables={})
    calls = 0
    while waiting:
        calls += 1
        assert calls < 2_000, "the notes never end"
        start = waiting.pop()

        def continue_at(place: CutPlace) -> dict[str, Any]:
            return {"next": {"stileCursor": json.dumps([place.origin, place.seen, place.backward]).ljust(160)}}

        limit = ResultLimit(max_bytes=max_bytes, form=form, start=start, continue_at=continue_at)
        fitted = fit({"data": made.data}, made.plan, limit)
        assert len(fitted.text) <= max_bytes
        assert json.loads(fitted.text) == fitted.answer
        notes = fitted.answer.get("extensions", {}).get("stile", {})
        found.update(new_rows(fitted.answer["data"], made.plan, notes.get("continued")))
        for note in notes.get("truncated", []):
            if "next" in note:
                path, offset, backward = json.loads(note["next"]["stileCursor"])
                waiting.append(Start(path=tuple(path), offset=offset, backward=backward))
    return found


@settings(max_examples=examples(800, share=20), deadline=None)
@given(seed=st.integers(0, 2**32), max_bytes=st.integers(3_000, 9_000))
def test_whoever_follows_all_notes_reads_each_row_once(seed: int, max_bytes: int) -> None:
    made = Made(seed)
    before = json.dumps(made.data)

    try:
        found = followed(made, max_bytes=max_bytes)
    except ResultTooLarge:
        return

    assert json.dumps(made.data) == before
    assert found == Counter(rows_in(made.data, Member(below=made.plan)))


def test_random_answers_are_cut_and_continued() -> None:
    """The search above finds something: few answers are small, or too large to be cut."""
    small = large = 0
    for seed in range(60):
        made = Made(seed)
        small += len(json.dumps(made.data)) < 3_000
        try:
            followed(made, max_bytes=3_000)
        except ResultTooLarge:
            large += 1

    assert small < 36
    assert large < 24


LINES = Members(fields={"id": Member(), "tags": Member(depth=1)})
ORDERS = Members(
    fields={"orders": Member(depth=1, below=Members(fields={"id": Member(), "lines": Member(depth=1, below=LINES)}))}
)


@pytest.mark.parametrize("plan", [ORDERS, read_plan(write_plan(ORDERS))])
def test_continued_answer_has_the_objects_around_its_list_and_other_lists_are_empty(plan: Members) -> None:
    lines = [{"id": number, "tags": ["a"]} for number in range(5)]
    data = {"orders": [{"id": 10 * number, "lines": lines} for number in range(3)]}
    limit = ResultLimit(
        max_bytes=5_000, form=CallForm(variables={}), start=Start(path=("orders", 1, "lines", 2, "tags"), offset=0)
    )

    answer = fit({"data": data}, plan, limit).answer

    assert answer == {
        "data": {"orders": [{"id": 10, "lines": [{"id": 2, "tags": ["a"]}]}]},
        "extensions": {"stile": {"continued": {"path": ["orders", 0, "lines", 0, "tags"], "from": 0}}},
    }
