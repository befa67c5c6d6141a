"""Callers choose the texts that patterns of tools in Python are tried on, and never the time that this takes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.acme_patterns import SLOW
from tests.support.endpoints import READABLE, compiled
from tests.support.function import Function, running_function
from tests.support.kits import with_kit

MODULE = "tests.support.acme_patterns"
TEXT = "a" * 999 + "!"


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Function]:
    files = {"index.graphql": "type Query { a: Int }", "config.yaml": READABLE + "default_tool: false\n"}
    endpoint = with_kit(compiled(tmp_path_factory.mktemp("patterns"), files), f"{MODULE}:kit")
    with running_function(endpoint, code_modules=[MODULE]) as running:
        running.call("rows", {"rows": [1]})  # loads pydantic
        yield running


@pytest.mark.parametrize("name", SLOW)
@pytest.mark.parametrize("tool", ["plain", "rows", "written", "back", "by_hand"])
def test_call_takes_no_time_that_a_caller_can_choose(function: Function, tool: str, name: str) -> None:
    sent: dict[str, Any] = {"rows": [{name: TEXT}]} if tool == "rows" else {name: TEXT}
    if tool == "back":
        sent = {"arguments": sent}
    started = time.process_time()

    answer = function.call(tool, sent)

    assert time.process_time() - started < 1
    assert answer.result["isError"] is True
    assert "taken" not in answer.text


@pytest.mark.parametrize("tool", ["written", "by_hand"])
def test_name_of_a_member_takes_no_time_that_a_caller_can_choose(function: Function, tool: str) -> None:
    started = time.process_time()

    answer = function.call(tool, {TEXT: 1, TEXT.replace("a", "b"): 1})

    assert time.process_time() - started < 1
    assert answer.result["isError"] is True


@pytest.mark.parametrize("tool", ["plain", "rows", "written", "by_hand"])
def test_text_that_matches_is_taken(function: Function, tool: str) -> None:
    sent: dict[str, Any] = {"nested": "a" * 1_000, "spaced": "a " * 500, "groups": "=" * 1_000}

    answer = function.call(tool, {"rows": [sent, "any text"]} if tool == "rows" else sent)

    assert answer.text == "taken"
