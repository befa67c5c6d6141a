"""The judge of cut answers: by the marks of ``mocks.py`` alone, without a plan and without types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

ELLIPSIS = "…"

Event = tuple[str, tuple[str | int, ...], int, int]
"""Kind (``list``, ``start`` of a list, ``text``, ``fault``), path, and what was kept and dropped."""


def faults_of(answer: Any, cut: Any, *, backward: bool = False) -> list[str]:
    """Everything that is wrong with a cut answer."""
    events = list(_compare(answer["data"], cut["data"], (), backward))
    found = [f"{'.'.join(map(str, path))}: changed" for kind, path, _, _ in events if kind == "fault"]
    if answer.get("errors") != cut.get("errors"):
        found.append("errors changed")
    notes = cut.get("extensions", {}).get("stile", {}).get("truncated", [])
    told = {(tuple(note["path"]), note["kept"], note["dropped"]) for note in notes}
    made = {(path, kept, dropped) for kind, path, kept, dropped in events if kind != "fault"}
    parallel = {(path[:-1], kept, dropped) for path, kept, dropped in told}
    found += [f"{each} is not told" for each in made if each not in told and (each[0][:-1], *each[1:]) not in parallel]
    found += [f"{each} is told and was not done" for each in told - made]
    found += [f"{note} does not say how to go on" for note in notes if not note.get("how")]
    return found + [f"{note} does not say the size of the rest" for note in notes if note.get("tokens", 0) < 1]


def _compare(whole: Any, cut: Any, path: tuple[str | int, ...], backward: bool) -> Iterator[Event]:
    match whole, cut:
        case dict(), dict() if "scalar" not in whole:
            if whole.keys() != cut.keys() or [*whole] != [*cut]:
                yield "fault", path, 0, 0
                return
            yield from _object(whole, cut, path, backward)
        case list(), list() if whole[:1] != ["scalar"]:
            yield from _list(whole, cut, path, backward)
        case str(), str() if whole != cut:
            kept = cut.removesuffix(ELLIPSIS)
            fits = whole.startswith("s:") and cut.endswith(ELLIPSIS) and whole.startswith(kept)
            yield "text" if fits else "fault", path, len(kept), len(whole) - len(kept)
        case _ if whole != cut or type(whole) is not type(cut):
            yield "fault", path, 0, 0


def _object(whole: Any, cut: Any, path: tuple[str | int, ...], backward: bool) -> Iterator[Event]:
    lists = {key: rows for key, rows in cut.items() if _is_shorter(rows, whole[key])}
    for key, each in cut.items():
        if lists and whole[key] is False and each is True:
            continue  # the flag of more rows, in the object that has them
        if _is_page(whole[key]):
            count = _rows_of(whole[key])
            cut_rows = {name: rows for name, rows in lists.items() if count in (None, len(whole[name]))}
            yield from _page(whole[key], each, cut_rows, (*path, key), backward)
        else:
            yield from _compare(whole[key], each, (*path, key), backward)


def _is_page(value: Any) -> bool:
    """An object of nothing but cursors and flags is a PageInfo."""
    members = [each for each in value.values() if each not in (None, "PageInfo")] if isinstance(value, dict) else []
    return bool(members) and all(type(each) is bool or str(each).startswith("cur:") for each in members)


def _page(whole: Any, cut: Any, lists: dict[str, Any], path: tuple[str | int, ...], backward: bool) -> Iterator[Event]:
    """A PageInfo stays as it is if no rows of its page are cut; else it names the row at the cut."""
    if not lists:
        if whole != cut:
            yield "fault", path, 0, 0
        return
    at = 0 if backward else -1
    cursors = {each for rows in lists.values() if rows for each in _cursors(rows[at])}
    for key, value in whole.items():
        new = cut.get(key)
        ends = isinstance(value, str) and value.startswith("cur:") and (value == "cur:0") == backward
        # A page of one row has one cursor for both ends, and is never cut.
        if (ends and new not in cursors) or (not ends and new != value and not (value is False and new is True)):
            yield "fault", (*path, key), 0, 0


def _rows_of(page: Any) -> int | None:
    """Return the number of a page's rows, of which the last cursor has the last; ``None`` if that is not selected."""
    last = max((int(each[4:]) for each in page.values() if str(each).startswith("cur:")), default=0)
    return last + 1 if last else None


def _cursors(row: Any) -> Iterator[str]:
    if isinstance(row, dict):
        yield from (each for each in row.values() if isinstance(each, str) and each.startswith("cur:"))


def _list(whole: Sequence[Any], cut: Sequence[Any], path: tuple[str | int, ...], backward: bool) -> Iterator[Event]:
    if len(cut) > len(whole):
        yield "fault", path, 0, 0
        return
    ways: list[list[Event]] = []
    for kind, kept in (("list", whole[: len(cut)]), ("start", whole[len(whole) - len(cut) :])):
        found = [
            event
            for number, (one, other) in enumerate(zip(kept, cut, strict=True))
            for event in _compare(one, other, (*path, number), backward)
        ]
        if len(cut) < len(whole):
            found.append((kind, path, len(cut), len(whole) - len(cut)))
        ways.append(found)
    # Rows without marks look alike from both ends: the way with the fewest cuts in them is meant.
    yield from min(ways, key=lambda found: (any(event[0] == "fault" for event in found), len(found)))


def _is_shorter(rows: Any, whole: Any) -> bool:
    return isinstance(rows, list) and isinstance(whole, list) and len(rows) < len(whole)
