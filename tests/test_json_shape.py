"""JSON that is joined from parts that were written before."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from handler.json_shape import Entries, Entry, spliced, to_json_bytes

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=4)


@given(OBJECTS, st.lists(OBJECTS.map(Entry) | JSON, max_size=4), st.text())
def test_spliced_json_reads_as_the_whole_does(around: dict[str, Any], entries: list[Any], name: str) -> None:
    message = {"id": 1, "result": {**around, name: Entries(entries)}}

    assert json.loads(spliced(message)) == json.loads(to_json_bytes(message))


@given(OBJECTS)
def test_object_without_entries_is_written_as_ever(message: dict[str, Any]) -> None:
    assert spliced(message) == to_json_bytes(message)


def test_entry_is_written_once() -> None:
    entry = Entry(name="a\ud800")

    assert entry.json == b'{"name":"a\\ud800"}'
    assert entry.json is entry.json
