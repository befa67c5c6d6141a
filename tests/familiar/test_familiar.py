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
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(PYTHON), "-m", "tests.familiar.listing", package]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=True)
    return _by_name(json.loads(done.stdout))


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
