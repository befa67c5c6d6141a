"""A catalog over the operations of a shop's own pages: a short list, and searches that find each operation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from handler.compiler.compile import compile_endpoint
from handler.search.words import split
from tests.corpora.attempts import Tried, copy_without
from tests.corpora.fetch import folder_of
from tests.support.function import Function, running_function

CORPUS = "vendure-admin"

MAX_LIST_TOKENS = 2_000
LEAST_FOUND = 0.9


@pytest.fixture(scope="module")
def function(tried: Tried, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Function]:
    folder = copy_without(tried(CORPUS).refused, folder_of(CORPUS), tmp_path_factory.mktemp("catalog"))
    config = folder / "config.yaml"
    config.write_text(f"{config.read_text('utf-8')}catalog: {{list: pinned}}\n", "utf-8")
    compiled = compile_endpoint(folder)
    with running_function(compiled) as running:
        yield running


def test_list_with_a_catalog_is_short(function: Function, tried: Tried) -> None:
    answer = function.request("tools/list", modern=True)

    assert len(tried(CORPUS).tools) > 200
    assert [each["name"] for each in answer.result["tools"]] == ["catalog", "catalog-call", "catalog-call-mutation"]
    assert len(answer.body) / 4 < MAX_LIST_TOKENS


def test_words_of_an_operation_find_it(function: Function, tried: Tried) -> None:
    names = [tool.name for tool in tried(CORPUS).tools]
    found = 0
    for name in names:
        arguments = {"query": " ".join(split(name)), "type": "tools"}
        answer = function.request("tools/call", {"name": "catalog", "arguments": arguments}, modern=True)
        found += name in [each["name"] for each in answer.result["structuredContent"]["tools"]]

    assert found >= LEAST_FOUND * len(names)
