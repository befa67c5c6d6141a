"""Tables and lines fit the terminal, and words stay whole."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from handler.commands.console import Row, aligned, wrapped

HEADINGS: Row = ("tool", "runs", "bytes")


def test_columns_are_aligned_where_there_is_room() -> None:
    rows: list[Row] = [HEADINGS, ("a", "query one, two", 1), ("bcd", "query", 1000)]

    assert aligned(rows, None) == [
        ["tool  runs            bytes"],
        ["a     query one, two      1"],
        ["bcd   query            1000"],
    ]


def test_widest_column_of_words_is_cut_first() -> None:
    rows: list[Row] = [HEADINGS, ("a-name-of-some-length", "query one, two, three, four", 1)]

    assert aligned(rows, 50) == [
        ["tool                   runs                  bytes"],
        ["a-name-of-some-length  query one, two, thr…      1"],
    ]


def test_row_takes_several_lines_where_a_cut_would_leave_too_little() -> None:
    rows: list[Row] = [HEADINGS, ("a-name-of-some-length", "query one, two, three", 1)]

    assert aligned(rows, 25) == [
        [],
        ["a-name-of-some-length", "  runs query one, two,", "  three  bytes 1"],
    ]


def test_cell_with_a_place_in_a_file_is_not_cut() -> None:
    rows = [("coordinate", "because"), ("Order.margin", "endpoints/shop/orders/config.yaml:11: ?$jwt")]

    assert aligned(rows, 40) == [
        [],
        ["Order.margin", "  because", "  endpoints/shop/orders/config.yaml:11:", "  ?$jwt"],
    ]


@pytest.mark.parametrize("width", [20, 60, 80])
@given(text=st.text(st.characters(blacklist_categories=["C", "Z"]) | st.just(" "), max_size=200))
@settings(deadline=None)
def test_lines_fit_unless_a_word_does_not(width: int, text: str) -> None:
    lines = wrapped(text, width)

    assert " ".join(lines).split() == text.split()
    assert all(cell_len(line) <= width or len(line.split()) == 1 for line in lines)
