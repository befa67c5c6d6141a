from __future__ import annotations

import shutil
from typing import Any

import pytest

from tests.corpora.compact import TIKTOKEN, compact, tokens
from tests.support.require import requires


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


def test_tokens_are_counted_by_a_real_tokenizer() -> None:
    requires("node", shutil.which("node") and TIKTOKEN.is_dir(), "`make clients` installs js-tiktoken")

    assert tokens(["", "hello", "hello world", '{"a":1}']) == [0, 1, 2, 5]
