"""Further clients and frameworks, each by its own objects: they list the tools, and call some of every kind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.clients import ENVIRONMENTS, REQUIREMENTS, Program
from tests.clients.kitchen import served_kitchen
from tests.clients.node import node_of
from tests.conftest import ROOT
from tests.support.require import requires

MODULES = ENVIRONMENTS / "node-packages" / "node_modules"
NPM_LOCK = Path(__file__).parent / "packages" / "package-lock.json"
BIG = 9_007_199_254_740_993
"""An integer that no double holds, so that JavaScript reads another one."""


def _python(environment: str, **packages: str) -> list[Program]:
    return [
        Program(
            name=package,
            mode=mode,
            program="packages.py",
            runtime=ENVIRONMENTS / environment / "bin" / "python",
            package=package,
            lock=REQUIREMENTS / f"{environment}.txt",
            needs="packages",
        )
        for mode, package in packages.items()
    ]


def _javascript(**packages: str) -> list[Program]:
    return [
        Program(
            name=package,
            mode=mode,
            program="packages.mjs",
            runtime=node_of(MODULES),
            package=package,
            lock=NPM_LOCK,
            needs="node",
            packages=MODULES,
        )
        for mode, package in packages.items()
    ]


PACKAGES = [
    *_python(
        "packages-mcp2",
        agno="agno",
        strands="strands-agents",
        dspy="dspy",
        haystack="mcp-haystack",
        litellm="litellm",
    ),
    *_python(
        "packages-mcp1",
        autogen="autogen-ext",
        beeai="beeai-framework",
        crewai="crewai-tools",
        mcp_agent="mcp-agent",
        mcp_proxy="mcp-proxy",
        semantic_kernel="semantic-kernel",
    ),
    *_python("packages-camel", camel="camel-ai"),
    *_javascript(genkit="@genkit-ai/mcp", supergateway="supergateway", mcporter="mcporter", mcpc="@apify/mcpc"),
]

PAINT: dict[str, Any] = {"color": "RED", "shades": ["BLUE"], "coats": 2, "matt": True}
BOX: dict[str, Any] = {"label": "a", "size": {"width": 2.5, "height": 4}, "tags": ["oak"], "fragile": True}
CALLS: list[tuple[str, dict[str, Any], Any]] = [
    ("paint", PAINT, {"paint": PAINT}),
    ("paint", {"color": "RED"}, {"paint": {"color": "RED", "shades": [], "coats": 2, "matt": False}}),
    (
        "arrange",
        {"grid": [[1, 2], []], "boxes": [BOX]},
        {"arrange": [{"label": "a", "area": 10, "cells": 2, "tags": ["oak"], "fragile": True}]},
    ),
    ("find_person", {"by": {"badge": {"site": "x", "number": 7}}}, {"person": {"foundBy": "badge", "value": "x 7"}}),
    *(
        ("remember", {"facts": facts}, {"remember": {"facts": facts, "price": None}})
        for facts in (BIG, [1, "x"], {"n": BIG, "list": [1, "x", None]}, "9007199254740993", 1.5, True)
    ),
]
"""Tool, arguments, and the data of the answer."""

ERROR = ("explore", {"query": "{ nope }"}, None)

TREE: dict[str, Any] = {
    "name": {"is": "a"},
    "both": [{"name": {"among": ["b", "c"]}, "other": {"both": [{"place": {"of": {"name": {"is": "d"}}}}]}}],
}
EMPTY = {"tree": TREE, "facts": None, "number": None}
TREES: list[tuple[str, dict[str, Any], Any]] = [
    ("remember", {"tree": TREE}, {"remember": EMPTY}),
    ("remember", {"tree": TREE, "facts": {"n": BIG}}, {"remember": {**EMPTY, "facts": {"n": BIG}}}),
    ("remember", {"tree": TREE, "facts": None}, {"remember": EMPTY}),
    ("remember", {"tree": TREE, "number": BIG}, {"remember": {**EMPTY, "number": BIG}}),
    ("remember", {"tree": TREE, "number": str(BIG)}, {"remember": {**EMPTY, "number": str(BIG)}}),
]

KITCHENS = {"sink": ([*CALLS, ERROR], 8), "trees": (TREES, 1)}
"""The calls of an endpoint, and the number of its tools."""


MIXED = {"facts": [1, "x"]}
REFUSES_MIXED_LISTS = {"autogen"}
"""Packages that let a list of values of several types through for no JSON scalar."""

SENDS_NULLS = {"crewai"}
"""Packages that send null for each member that is left out, at any depth."""


@pytest.fixture(params=PACKAGES, ids=lambda package: package.mode)
def package(request: pytest.FixtureRequest) -> Program:
    """Each package that is installed."""
    found: Program = request.param
    requires(found.needs, found.installed, f"`make clients` installs {found.name}")
    return found


@pytest.fixture(scope="module", params=KITCHENS)
def kitchen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The name of an endpoint, and its URL."""
    with served_kitchen(request.param, tmp_path_factory.mktemp(request.param)) as url:
        yield request.param, url


def test_package_lists_the_tools_and_calls_them(package: Program, kitchen: tuple[str, str], tmp_path: Path) -> None:
    name, url = kitchen
    calls, count = KITCHENS[name]

    done = package.run(url, [(tool, arguments) for tool, arguments, _ in calls], home=tmp_path)

    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout.splitlines()[-1])
    tools = {tool.replace("_", "-") for tool in printed["tools"]}  # names of functions in Python have no hyphen
    assert len(tools) == len(printed["tools"]) == count
    assert {tool.replace("_", "-") for tool, _, _ in calls} <= tools
    for (tool, arguments, expected), answer in zip(calls, printed["answers"], strict=True):
        if expected is None:
            assert "Cannot query field 'nope' on type 'Query'" in answer
            continue
        if package.mode in REFUSES_MIXED_LISTS and arguments == MIXED:
            assert "Input should be a valid" in answer
            continue
        found, expected_data = _data_of(answer), _as_read(expected, package)
        if package.mode in SENDS_NULLS:
            found, expected_data = _without_nulls(found), _without_nulls(expected_data)
        assert found == expected_data, (tool, arguments)


def test_page_of_proofs_tells_all_of_them() -> None:
    page = (ROOT / "docs" / "proofs.md").read_text("utf-8")
    section = page.partition("| package | version | known failures |")[2].partition("\n\n")[0]

    failures = {"a list of several types for a JSON scalar": REFUSES_MIXED_LISTS, "sends nulls": SENDS_NULLS}
    told = {each.mode: "; ".join(words for words, names in failures.items() if each.mode in names) for each in PACKAGES}

    assert section.splitlines()[2:] == [
        f"| {each.name} | {each.version} | {told[each.mode] or 'none'} |" for each in PACKAGES
    ]


def _data_of(answer: str) -> Any:
    """Return the data in an answer; the answer itself if it is not JSON."""
    try:
        found = json.loads(answer)
    except ValueError:
        return answer
    return found.get("data", found)  # mcporter prints the data alone


def _as_read(value: Any, package: Program) -> Any:
    """Return a value as the package's language reads it and sends it on: all numbers of JavaScript are doubles."""
    return json.loads(json.dumps(value), parse_int=(lambda digits: int(float(digits))) if package.packages else int)


def _without_nulls(value: Any) -> Any:
    match value:
        case dict():
            return {name: _without_nulls(each) for name, each in value.items() if each is not None}
        case list():
            return [_without_nulls(each) for each in value]
    return value
