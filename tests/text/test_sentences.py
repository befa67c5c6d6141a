"""Parts of sentences."""

from __future__ import annotations

import pytest

from handler.text.sentences import MAX_SHOWN_CHARS, counted, cut_text, did_you_mean, nearest, pointer_of, some


def test_names_above_the_number_are_counted() -> None:
    assert (some(["a", "b"], most=2), some(["a", "b", "c", "d"], most=2)) == ("a, b", "a, b and 2 more")


def test_one_thing_has_no_plural() -> None:
    assert [counted(number, "tool") for number in (0, 1, 2)] == ["0 tools", "1 tool", "2 tools"]


@pytest.mark.parametrize(
    ("name", "question"), [("titel", "; did you mean title?"), ("HID_DEN", "; did you mean hidden?"), ("x", "")]
)
def test_near_name_is_asked_for(name: str, question: str) -> None:
    assert did_you_mean(name, {"title", "hidden"}) == question


def test_pointer_escapes_and_shortens_names() -> None:
    assert (pointer_of([]), pointer_of(["a/b", 0, "~"])) == ("/", "/a~1b/0/~0")
    assert pointer_of(["x" * 100]) == "/" + "x" * (MAX_SHOWN_CHARS - 1) + "…"
    assert cut_text("x" * MAX_SHOWN_CHARS) == "x" * MAX_SHOWN_CHARS
    assert (cut_text("abcde", 5), cut_text("abcdef", 5)) == ("abcde", "abcd…")


def test_nearest_name_is_searched_within_bounds() -> None:
    assert nearest("titel", ["title"]) == "title"
    assert nearest("titel", ["title"], most_chars=4) is None
    assert nearest("TITLE", ["title"], most_chars=4) == "title"
