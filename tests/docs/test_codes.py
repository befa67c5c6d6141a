"""The page of codes has every code of the compiler with its meaning and its remedy, and no other."""

from __future__ import annotations

from tests.docs.codes_tables import PAGE, with_tables


def test_codes_of_the_page_are_those_of_the_compiler() -> None:
    text = PAGE.read_text(encoding="utf-8")

    assert text == with_tables(text)


def test_rows_of_other_codes_are_left_out() -> None:
    text = PAGE.read_text(encoding="utf-8")
    row = "| `weak-secret` |"

    assert with_tables(text.replace(row, f"| `old` | Old. | Old. |\n{row}")) == text
