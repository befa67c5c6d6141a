"""``ctx.fit``: values of tools in Python, cut to the size that a result may have."""

from __future__ import annotations

import inspect
import json
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.json_schema.json_bounds import MAX_RESULT_BYTES
from stile import Context, ToolError, Toolkit
from stile.testing import TestClient
from tests.support.examples import examples

ROWS = [{"number": place, "text": "x" * 80} for place in range(1_000)]


def size(*values: Any) -> int:
    return sum(len(json.dumps(each, ensure_ascii=False, separators=(",", ":")).encode()) for each in values)


def at(value: Any, path: list[str | int]) -> Any:
    for key in path:
        value = value[key]
    return value


def test_value_that_fits_is_returned_as_it_is_with_an_empty_note() -> None:
    value = {"rows": ROWS[:3]}

    fitted = Context().fit(value)

    assert fitted.value is value
    assert fitted.note == {}


def test_rows_that_do_not_fit_are_dropped_from_the_end_and_counted_in_the_note() -> None:
    value, note = Context().fit({"rows": ROWS, "total": 1_000})

    (place,) = note["truncated"]
    assert value == {"rows": ROWS[: place["kept"]], "total": 1_000}
    assert place == {"path": ["rows"], "kept": len(value["rows"]), "dropped": 1_000 - len(value["rows"])}
    assert 47_000 < size(value, note) <= 48_000


@pytest.mark.parametrize("value", [ROWS, [[row] for row in ROWS], [["y" * 50] * 300] * 3])
def test_list_itself_is_cut(value: list[Any]) -> None:
    kept, note = Context(max_result_bytes=5_000).fit(value)

    assert size(kept, note) <= 5_000
    assert kept
    assert note["truncated"]


class Name(str):
    """A text of a class of its own, as those of enums."""

    __slots__ = ()


@pytest.mark.parametrize(
    "value", [tuple(ROWS), OrderedDict(rows=tuple(ROWS)), {1: Name("x" * 9_000)}, [(1, 2)] * 9_000]
)
def test_values_that_json_writes_as_lists_objects_and_texts_are_cut_like_these(value: Any) -> None:
    kept, note = Context(max_result_bytes=5_000).fit(value)

    assert (kept, note) == Context(max_result_bytes=5_000).fit(json.loads(json.dumps(value)))
    assert note["truncated"]


def test_lists_are_cut_before_texts_and_a_text_when_nothing_else_is_left() -> None:
    context = Context(max_result_bytes=2_000)

    value, note = context.fit({"text": "é" * 700, "rows": ROWS})
    assert value["text"] == "é" * 700
    assert [place["path"] for place in note["truncated"]] == [["rows"]]

    value, note = context.fit({"text": "é" * 7_000})
    (place,) = note["truncated"]
    assert place == {"path": ["text"], "kept": place["kept"], "dropped": 7_000 - place["kept"], "of": "characters"}
    assert value["text"] == "é" * place["kept"] + "…"


def test_value_that_cannot_be_cut_is_an_error_that_the_model_reads() -> None:
    kit = Toolkit()

    @kit.tool
    def numbers(ctx: Context) -> dict[str, Any]:
        return dict(ctx.fit({f"number_{place}": place for place in range(5_000)}).value)

    answer = TestClient(kit).call("numbers")

    assert answer.is_error
    assert answer.text == (
        "The result has 92,781 bytes, and a result of this tool may have 48,000. It cannot be shortened to that. "
        "Ask for less."
    )


def test_limit_of_a_call_wins_and_0_is_no_limit() -> None:
    value, note = Context().fit(ROWS, max_bytes=1_000)
    assert size(value, note) <= 1_000
    assert Context().fit(ROWS, max_bytes=0) == (ROWS, {})
    assert Context(max_result_bytes=0).fit(ROWS) == (ROWS, {})


def test_value_that_is_not_json_and_a_negative_limit_are_the_authors_mistake() -> None:
    with pytest.raises(TypeError, match="set"):
        Context().fit({"rows": {1}})
    with pytest.raises(ValueError, match=r"max_bytes: expected 0 or more, got -1"):
        Context().fit(ROWS, max_bytes=-1)


def test_values_own_lists_stay_whole() -> None:
    value = {"rows": [*ROWS], "inner": {"rows": [*ROWS]}}
    before = json.dumps(value)

    Context().fit(value)

    assert json.dumps(value) == before


def test_api_is_pinned() -> None:
    assert str(inspect.signature(Context.fit)) == (
        "(self, value: 'Any', *, max_bytes: 'int | None' = None) -> 'FittedValue'"
    )
    assert Context().max_result_bytes == MAX_RESULT_BYTES == 48_000
    assert Context().fit(ROWS)._fields == ("value", "note")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=400),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text(max_size=8), inner, max_size=6),
    max_leaves=60,
)


@settings(max_examples=examples(500), deadline=None)
@given(value=JSON, limit=st.integers(150, 4_000))
def test_cut_value_fits_and_differs_from_the_value_only_where_the_note_says(value: Any, limit: int) -> None:
    try:
        kept, note = Context(max_result_bytes=limit).fit(value)
    except ToolError:
        assert size(value) > limit
        return

    assert size(kept, note if note else "") - (0 if note else 2) <= limit
    for place in note.get("truncated", []):
        assert len(at(kept, place["path"])) == place["kept"] + ("of" in place)
    places = {json.dumps(place["path"]): place for place in note.get("truncated", [])}
    assert_same(kept, value, [], places)


def assert_same(kept: Any, value: Any, path: list[str | int], places: dict[str, Any]) -> None:
    """Two values are equal, but for the ends of those at ``places``."""
    place = places.get(json.dumps(path))
    assert type(kept) is type(value)
    if isinstance(value, str) and place:
        assert kept == value[: place["kept"]] + "…"
    elif isinstance(value, list):
        assert len(kept) == (place["kept"] if place else len(value))
        for number, each in enumerate(kept):
            assert_same(each, value[number], [*path, number], places)
    elif isinstance(value, dict):
        assert list(kept) == list(value)
        for key, each in kept.items():
            assert_same(each, value[key], [*path, key], places)
    else:
        assert kept == value
