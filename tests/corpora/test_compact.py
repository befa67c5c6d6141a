from __future__ import annotations

from typing import Any

import pytest

from tests.corpora.compact import compact


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"rows": [{"a": 1, "b": None}, {"a": 2, "b": "x"}]}, {"rows": [["a", "b"], [1, None], [2, "x"]]}),
        ([{"a": 1}], [{"a": 1}]),
        ([{"a": 1}, {"b": 1}], [{"a": 1}, {"b": 1}]),
        ([{"a": {"b": 1}}] * 2, [{"a": {"b": 1}}] * 2),
        ({"a": [[1, 2], "x"]}, {"a": [[1, 2], "x"]}),
    ],
)
def test_lists_of_flat_objects_alone_have_the_compact_form(value: Any, expected: Any) -> None:
    assert compact(value) == expected
