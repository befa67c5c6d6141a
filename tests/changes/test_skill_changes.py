"""Differences of skills, and of the hints and examples of tools, as `stile diff` tells them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from handler.audience.ways import version_of
from handler.commands.changes.endpoint_changes import compare
from tests.support.endpoints import READABLE, compiled

TEXT = "---\nname: NAME\ndescription: Describe it\n---\nDo it.\n"
REFUNDS, RULES = "skills/refunds/SKILL.md", "skills/refunds/rules.md"
TOOL = 'query A($x: Int) @mcpTool(name: "a", title: "A") { a(x: $x) }'
FILES = {
    "index.graphql": "type Query { a(x: Int): Int }\n",
    "config.yaml": READABLE,
    "operations/o.graphql": TOOL,
    REFUNDS: TEXT.replace("NAME", "refunds"),
    RULES: "Within 30 days.",
}


def told(folder: Path, before: Mapping[str, str], after: Mapping[str, str]) -> list[tuple[str, str]]:
    versions = (version_of(compiled(folder / name, files)) for name, files in (("a", before), ("b", after)))
    return [(each.code, each.about) for each in compare(*versions).changes]


@pytest.mark.parametrize(
    ("files", "changes"),
    [
        ({}, []),
        ({"skills/daily/SKILL.md": TEXT.replace("NAME", "daily")}, [("content-added", "skill daily")]),
        ({REFUNDS: FILES[REFUNDS] + "More."}, [("content-changed", "skill refunds")]),
        ({RULES: "Within 60 days."}, [("content-changed", "skill refunds")]),
        ({"skills/refunds/new.md": "New."}, [("content-changed", "skill refunds")]),
        ({"config.yaml": READABLE + "skills: {condition: '?$jwt'}\n"}, [("content-opened", "skill refunds")]),
    ],
)
def test_skill_is_one_thing_with_all_of_its_files(
    tmp_path: Path, files: dict[str, str], changes: list[tuple[str, str]]
) -> None:
    assert told(tmp_path, FILES, {**FILES, **files}) == changes


def test_skill_that_is_gone_is_told(tmp_path: Path) -> None:
    without = {name: text for name, text in FILES.items() if not name.startswith("skills/")}

    assert told(tmp_path, FILES, without) == [("content-removed", "skill refunds")]


@pytest.mark.parametrize(
    ("option", "code"), [('searchHint: "orders"', "meta-changed"), ("examples: {x: 5}", "text-changed")]
)
def test_hints_and_examples_are_told_of_the_tool(tmp_path: Path, option: str, code: str) -> None:
    after = {**FILES, "operations/o.graphql": TOOL.replace('title: "A"', f'title: "A", {option}')}
    found = told(tmp_path, FILES, after)

    assert (code, "a") in found


def test_view_of_a_tool_and_its_page_are_told(tmp_path: Path) -> None:
    page = {"ui/orders.html": "<!doctype html>"}
    shown = {**FILES, **page, "operations/o.graphql": TOOL.replace('title: "A"', 'title: "A", view: "orders"')}
    other = {**shown, "ui/orders.html": "<!doctype html><p>"}

    page_of = "resource ui://api/things/orders.html"
    for before, after, changes in (
        (FILES, shown, [("view-changed", "a"), ("content-added", page_of)]),
        (shown, other, [("content-changed", page_of)]),
        (shown, FILES, [("view-changed", "a"), ("content-removed", page_of)]),
    ):
        found = told(tmp_path / str(len(changes)) / str(before is shown), before, after)
        assert {each for each in found if each[0] != "document-replaced"} == set(changes)
