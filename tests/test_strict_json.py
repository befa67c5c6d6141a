"""JSON that is joined from parts that were written before."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.strict_json import Entries, Entry, parse_json, spliced, to_json_bytes, to_well_formed_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=4)


@settings(deadline=None)
@given(OBJECTS, st.lists(OBJECTS.map(Entry) | JSON, max_size=4), st.text())
def test_spliced_json_reads_as_the_whole_does(around: dict[str, Any], entries: list[Any], name: str) -> None:
    message = {"id": 1, "result": {**around, name: Entries(entries)}}

    assert json.loads(spliced(message)) == json.loads(to_json_bytes(message))


@settings(deadline=None)
@given(OBJECTS)
def test_object_without_entries_is_written_as_ever(message: dict[str, Any]) -> None:
    assert spliced(message) == to_json_bytes(message)


def test_entry_is_written_once() -> None:
    entry = Entry(name="ü")

    assert entry.json == '{"name":"ü"}'.encode()
    assert entry.json is entry.json


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\ud83c", "a\ufffd"),
        ("\udf89", "\ufffd"),
        ("\udf89\ud83c", "\ufffd\ufffd"),
        ("\ud83c\ud83cx", "\ufffd\ufffdx"),
        ("\ud83c\udf89", "\U0001f389"),
        ("\U0001f389\ud83c", "\U0001f389\ufffd"),
        ("\\ud83c", "\\ud83c"),
        ("\x00\u2028\ufeff", "\x00\u2028\ufeff"),
    ],
)
def test_half_a_surrogate_pair_is_replaced_in_what_is_answered(text: str, written: str) -> None:
    message = {"a": [text], text: 1, "tools": Entries([Entry(name=text)])}

    answered = to_well_formed_json(message)

    assert json.loads(answered.decode()) == {"a": [written], written: 1, "tools": [{"name": written}]}
    assert spliced(message) == answered


def test_half_a_surrogate_pair_is_kept_in_what_is_sent_on() -> None:
    assert to_json_bytes({"a": "\ud83c"}) == rb'{"a":"\ud83c"}'


def test_number_of_too_many_digits_is_refused_without_a_word_of_python() -> None:
    with pytest.raises(ValueError, match=r"^a number has too many digits$"):
        parse_json(b'{"n": ' + b"9" * 5_000 + b"}")
