"""``find`` of ``config.yaml``: words that an author gives to search."""

from __future__ import annotations

from pathlib import Path

import pytest

from handler.graph.index import read_index
from handler.graph.view import build_view
from handler.search.schema_search import SchemaSearch
from tests.support.endpoints import compiled, reported

SDL = "type Query { sales: Sales } type Sales { revenue: Int }"


def test_an_authors_words_find_what_they_stand_for(tmp_path: Path) -> None:
    made = compiled(tmp_path, {"index.graphql": SDL, "config.yaml": "find: {words: {turnover: [revenue]}}"})
    search = SchemaSearch(build_view(read_index(made.index, sha256=made.bundle.index), ()))

    assert [match.coordinate for match in search.search("turnover", 1)] == ["Sales.revenue"]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("find: {word: {}}", 'config.yaml:1:8 unknown-key: "find.word": expected one of words'),
        ("find: {words: {who: [c]}}", 'config.yaml:1:21 invalid-value: "find.words.who": expected a word about'),
        ("find: {words: {a b: [c]}}", 'config.yaml:1:21 invalid-value: "find.words.a b": expected one word'),
        (
            "find: {words: {turnover: []}}",
            'config.yaml:1:26 invalid-value: "find.words.turnover": expected a list of words',
        ),
        ("find: {words: {turnover: ['?']}}", "config.yaml:1:26 invalid-value: expected a list of words"),
        (
            "find: {words: {turnover: [[x]]}}",
            'config.yaml:1:27 invalid-value: "find.words.turnover[0]": expected a text',
        ),
        ("find: {words: 5}", "config.yaml:1:15 invalid-value"),
    ],
)
def test_words_that_are_not_valid_are_refused_at_their_place(tmp_path: Path, config: str, expected: str) -> None:
    assert expected in reported(tmp_path, {"index.graphql": SDL, "config.yaml": config})
