"""Frameworks that hand tools to a model: each lists every tool and calls it, without a model, as one would."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.clients.cases import Case, fits, highest_months, read_cases
from tests.clients.frameworks import FRAMEWORKS, Framework, ProgramFailed, Told, Use
from tests.clients.kitchen import served_kitchen
from tests.conftest import ROOT
from tests.support.require import requires

DEMO, SINK, RECURSIVE = (read_cases(name) for name in ("demo", "sink", "recursive"))

LOSES_ALL_TOOLS = {"LlamaIndex", "mcp-use"}
"""Frameworks that break off where a schema refers to itself."""

REFUSES_UNDERSCORES = {"mcp-use"}
"""Frameworks that break off where the name of an input begins with ``_``."""

LOSES_THE_TOOL = {"Mastra before 1.0"}
"""Frameworks that leave out a tool whose schema refers to itself."""

EMPTIES_OBJECTS = {"Mastra before 1.0"}
"""Frameworks that take every member out of an object whose members have any names.

Such are a GraphQL tool's variables, and an object that is the value of a JSON scalar.
"""

TAKES_OBJECTS_ALONE = {"LangChain, JavaScript"}
"""Frameworks that let nothing but an object through where an object is among the choices, as for a JSON scalar."""

GRAPHQL_TOOLS = {"customer-lookup", "employee-lookup", "explore"}

EMPTIED = {"data": {"remember": {"facts": {}, "price": "12.50"}}}


def _names(framework: Framework) -> str:
    return f"{framework.name}, {framework.mode}"


@pytest.fixture(scope="module", params=FRAMEWORKS, ids=_names)
def framework(request: pytest.FixtureRequest) -> Framework:
    """Each framework that is installed."""
    found: Framework = request.param
    requires(found.needs, found.installed, f"`make clients` installs {found.name}")
    return found


@pytest.fixture(scope="module")
def sink(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served_kitchen("sink", tmp_path_factory.mktemp("sink")) as running:
        yield running


@pytest.fixture(scope="module")
def unrolled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served_kitchen("recursive", tmp_path_factory.mktemp("unrolled")) as running:
        yield running


@pytest.fixture(scope="module")
def recursive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    config = "limits: {recursion: ref}\n"
    with served_kitchen("recursive", tmp_path_factory.mktemp("recursive"), config=config) as running:
        yield running


@pytest.fixture(scope="module")
def used(framework: Framework, sink: str, tmp_path_factory: pytest.TempPathFactory) -> Use:
    """The framework's run over arguments of every kind."""
    return framework.use(sink, _calls(SINK), home=tmp_path_factory.mktemp("home"))


def test_framework_lists_and_calls_every_tool_of_the_demo(framework: Framework, url: str, tmp_path: Path) -> None:
    used = framework.use(url, _calls(DEMO), home=tmp_path)

    _expect_all(DEMO, used, framework)


def test_framework_takes_arguments_of_every_kind(framework: Framework, used: Use) -> None:
    _expect_all(SINK, used, framework)


def test_model_is_shown_schemas_that_allow_these_calls(framework: Framework, used: Use) -> None:
    refused = ["remember: ['only', 'a', 'list'] is not of type 'object'"]

    assert _not_allowed(SINK, used) == (refused if framework.name in TAKES_OBJECTS_ALONE else [])


def test_strict_conversion_leaves_out_only_tools_with_values_of_any_kind(framework: Framework, used: Use) -> None:
    if framework.mode == "strict":
        assert {"arrange", "find_person", "meet", "paint", "paint-by-variables"} <= set(used.strict)
        assert "explore" not in used.strict  # its variables have any names
    else:
        assert used.strict == []


def test_filter_that_holds_filters_is_taken_by_all_frameworks_but_those_named_here(
    framework: Framework, unrolled: str, tmp_path: Path
) -> None:
    if framework.name in REFUSES_UNDERSCORES:
        with pytest.raises(ProgramFailed, match="leading underscores"):
            framework.use(unrolled, _calls(RECURSIVE), home=tmp_path)
        return

    _expect_all(RECURSIVE, framework.use(unrolled, _calls(RECURSIVE), home=tmp_path), framework)


def test_filter_that_refers_to_itself_is_taken_by_all_frameworks_but_those_named_here(
    framework: Framework, recursive: str, tmp_path: Path
) -> None:
    if framework.name in LOSES_ALL_TOOLS:
        with pytest.raises(ProgramFailed, match="RecursionError"):
            framework.use(recursive, _calls(RECURSIVE), home=tmp_path)
        return

    used = framework.use(recursive, _calls(RECURSIVE), home=tmp_path)

    if framework.name in LOSES_THE_TOOL:
        assert used.tools == ["all_things"]
        assert used.answers[1] is None
        _expect(RECURSIVE[0], used.answers[0])
    else:
        _expect_all(RECURSIVE, used, framework)


def test_frameworks_with_known_failures_are_among_those_that_are_used() -> None:
    assert {
        each.name for each in FRAMEWORKS
    } >= LOSES_ALL_TOOLS | REFUSES_UNDERSCORES | LOSES_THE_TOOL | EMPTIES_OBJECTS | TAKES_OBJECTS_ALONE


def test_page_of_proofs_tells_all_of_them() -> None:
    section = (
        (ROOT / "docs" / "proofs.md").read_text("utf-8").partition("| framework | version |")[2].partition("\n\n")[0]
    )
    told = re.findall(r"^\| (.+) \| ([\d.]+) \| `(.+)` \| (.+) \|$", section, re.MULTILINE)

    assert told == [(each.name, each.version, each.mode, _known_failures(each)) for each in FRAMEWORKS]


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1}, {"a": True}),
        (["a"], ["a", "b"]),
        ({"a": [{"b": None}]}, {"a": [{}]}),
        ({"matches": r"\d"}, "12"),
        ({"matches": r"\d"}, None),
    ],
)
def test_answer_that_is_another_one_does_not_fit(expected: Any, found: Any) -> None:
    assert not fits(expected, found)


def _known_failures(framework: Framework) -> str:
    told = {
        "no tools where a schema refers to itself": LOSES_ALL_TOOLS,
        "no tools where the name of an input begins with `_`": REFUSES_UNDERSCORES,
        "no tool with a schema that refers to itself": LOSES_THE_TOOL,
        "members of `variables`, and of JSON objects, get lost": EMPTIES_OBJECTS,
        "objects alone for a JSON scalar": TAKES_OBJECTS_ALONE,
    }
    return "; ".join(failure for failure, names in told.items() if framework.name in names) or "none"


def _calls(cases: Sequence[Case]) -> list[tuple[str, Mapping[str, Any]]]:
    return [(case.tool, case.arguments) for case in cases]


def _expect_all(cases: Sequence[Case], used: Use, framework: Framework) -> None:
    assert sorted(used.tools) == sorted({case.tool for case in cases})
    for case, told in zip(cases, used.answers, strict=True):
        if framework.name in EMPTIES_OBJECTS and case.tool in GRAPHQL_TOOLS and case.arguments.get("variables"):
            assert told is not None
            assert "has invalid value: Expected a value of non-null type" in (told.text or "")
        elif framework.name in EMPTIES_OBJECTS and isinstance(case.arguments.get("facts"), dict):
            assert told is not None
            assert told.structured == EMPTIED
        elif framework.name in TAKES_OBJECTS_ALONE and isinstance(case.arguments.get("facts"), list):
            assert told is not None
            assert told.text == "Received tool input did not match expected schema"
        else:
            _expect(case, told)


def _expect(case: Case, told: Told | None) -> None:
    """Hold what the model reads, and what comes as structured content, against what was written down."""
    assert told is not None
    assert not told.failed, (case, told)
    if case.image:
        assert told.text == case.answer
        assert [highest_months(image) for image in told.images] == [[1, 8]]
        return
    found = [json.loads(told.text)] if told.text is not None else []
    if told.structured is not None:
        found.append(told.structured["result"] if _is_wrapped(case, told.structured) else told.structured)
    assert found
    assert all(fits(case.answer, each) for each in found), (case, told)


def _is_wrapped(case: Case, structured: Any) -> bool:
    """Tell whether an answer that is a list stands in an object, which some frameworks take it out of."""
    return isinstance(case.answer, list) and isinstance(structured, dict)


def _not_allowed(cases: Sequence[Case], shown: Use) -> list[str]:
    """Name the calls that a model would not make by what it is shown. Strict conversion asks for complete arguments."""
    return [
        f"{case.tool}: {error.message}"
        for case in cases
        if case.tool not in shown.strict and (schema := shown.schemas[case.tool]) is not None
        for error in Draft202012Validator(schema).iter_errors(case.arguments)
    ]
