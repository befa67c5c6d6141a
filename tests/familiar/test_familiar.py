"""Functions written for FastMCP or the official SDK are listed as by them, but for what is named here."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.familiar import calling
from tests.familiar.differences import OURS, THEIRS, Rule
from tests.familiar.listing import official_sdk, ours
from tests.support.require import requires

PYTHON = ROOT / ".stile" / "familiar" / "bin" / "python"

JSONObject = dict[str, Any]


@pytest.fixture(params=["official-sdk", "fastmcp"])
def package(request: pytest.FixtureRequest) -> str:
    """A package's name; FastMCP lives in an environment of its own."""
    name: str = request.param
    if name == "fastmcp":
        requires("fastmcp", PYTHON.exists(), "`make familiar` installs it")
    return name


@cache
def entries_of(package: str) -> dict[str, JSONObject]:
    if package == "official-sdk":
        return _by_name(official_sdk())
    return _by_name(elsewhere("listing", package))


def elsewhere(module: str, package: str) -> Any:
    """What a module of this folder prints in the environment that has FastMCP."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(PYTHON), "-m", f"tests.familiar.{module}", package]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def _by_name(entries: Sequence[JSONObject]) -> dict[str, JSONObject]:
    return {entry["name"]: entry for entry in entries}


def applied(rules: Sequence[Rule], entries: dict[str, JSONObject]) -> dict[str, JSONObject]:
    made = entries
    for rule in rules:
        made = {name: rule(entry) for name, entry in made.items()}
    return made


def test_entries_differ_only_in_what_is_named(package: str) -> None:
    theirs = applied(THEIRS[package], entries_of(package))
    mine = applied(OURS[package], _by_name(ours()))

    assert mine == theirs
    assert len(mine) >= 15


def test_every_difference_that_is_named_is_one(package: str) -> None:
    mine = applied(OURS[package], _by_name(ours()))
    for rule in THEIRS[package]:
        others = [each for each in THEIRS[package] if each is not rule]
        assert applied(others, entries_of(package)) != mine, rule.__name__
    for rule in OURS[package]:
        others = [each for each in OURS[package] if each is not rule]
        theirs = applied(THEIRS[package], entries_of(package))
        assert applied(others, _by_name(ours())) != theirs, rule.__name__


def test_entries_are_those_of_every_function(package: str) -> None:
    assert list(entries_of(package)) == list(_by_name(ours()))


ALIKE: dict[str, JSONObject] = {"a number as text": {"texts": ["4"], "structured": {"result": 4}}}

ANSWERS: dict[str, dict[str, JSONObject]] = {
    "ours": {
        "a text": {"texts": ["a"]},
        "nothing": {"texts": []},
        "a list": {"texts": ["[1,2]"], "structured": {"result": [1, 2]}},
        "an object without a type": {"texts": ['{"a":1}'], "structured": {"a": 1}},
        "an undeclared argument": {"texts": ["4"], "structured": {"result": 4}},
        "an unknown tool": {"code": -32602},
        "an exception": {"texts": ["Tool execution failed"], "error": True},
        "a tool error": {"texts": ["try again"], "error": True},
        "an error with a code": {"code": 1001},
        "a result against its schema": {
            "texts": ["Tool mismatch returned a result that does not match its output schema"],
            "error": True,
        },
    },
    "official-sdk": {
        "a text": {"texts": ["a"], "structured": {"result": "a"}},
        "nothing": {"texts": [], "structured": {"result": None}},
        "a list": {"texts": ["1", "2"], "structured": {"result": [1, 2]}},
        "an object without a type": {"texts": ['{\n  "a": 1\n}']},
        "an undeclared argument": {"texts": ["4"], "structured": {"result": 4}},
        "an unknown tool": {"texts": ["Unknown tool: nope"], "error": True},
        "an exception": {"texts": ["Error executing tool crash"], "error": True},
        "a tool error": {"texts": ["Error executing tool fail: try again"], "error": True},
        "an error with a code": {"code": 1001},
        "a result against its schema": {"texts": ["Error executing tool mismatch"], "error": True},
    },
    "fastmcp": {
        "a text": {"texts": ["a"], "structured": {"result": "a"}},
        "nothing": {"texts": []},
        "a list": {"texts": ["[1,2]"], "structured": {"result": [1, 2]}},
        "an object without a type": {"texts": ['{"a":1}'], "structured": {"a": 1}},
        "an undeclared argument": {"texts": ["1 validation error for call[double]"], "error": True},
        "an unknown tool": {"texts": ["Unknown tool: 'nope'"], "error": True},
        "an exception": {"texts": ["Error calling tool 'crash': boom"], "error": True},
        "a tool error": {"texts": ["try again"], "error": True},
        "an error with a code": {"texts": ["Error calling tool 'refuse': custom"], "error": True},
        "a result against its schema": {"client": "RuntimeError"},
    },
}
"""What docs/code-tools.md says of each package; of texts their first line, where that is an error."""


def test_answers_of_ours_are_as_documented() -> None:
    assert calling.ours() == {**ANSWERS["ours"], **ALIKE}


def test_answers_of_a_package_are_as_documented(package: str) -> None:
    answers = calling.official_sdk() if package == "official-sdk" else elsewhere("calling", package)
    for answer in answers.values():
        if answer.get("error"):
            answer["texts"] = [answer["texts"][0].partition("\n")[0]]

    assert answers == {**ANSWERS[package], **ALIKE}
