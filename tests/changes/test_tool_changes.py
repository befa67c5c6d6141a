"""Differences of tools, arguments and settings, each with the judgement that docs/diff.md gives it."""

from __future__ import annotations

from pathlib import Path

import pytest

from handler.commands.changes.endpoint_changes import compare
from handler.commands.changes.endpoint_version import Published, version_of
from handler.compiler.codes.change_codes import CHANGE_CODES
from tests.changes.kinds import FILES, KINDS, NAMES, Kind
from tests.support.endpoints import READABLE, compiled


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Published:
    return version_of(compiled(tmp_path_factory.mktemp("before"), FILES))


def changed(folder: Path, kind: Kind) -> Published:
    """The endpoint with one edit."""
    text = FILES[NAMES[kind.file]]
    assert kind.old in text
    return version_of(compiled(folder, {**FILES, NAMES[kind.file]: text.replace(kind.old, kind.new)}))


def test_there_are_kinds_enough() -> None:
    assert len(KINDS) >= 40
    assert {kind.code for kind in KINDS} <= set(CHANGE_CODES)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.what)
def test_each_kind_of_edit_is_told_and_judged(kind: Kind, before: Published, tmp_path: Path) -> None:
    made = compare(before, changed(tmp_path, kind))

    assert kind.code in {change.code for change in made.changes}, made.lines()
    assert CHANGE_CODES[kind.code].breaking == kind.breaks
    assert made.breaking == kind.breaks, made.lines()


def test_equal_files_have_no_differences(before: Published, tmp_path: Path) -> None:
    made = compare(before, version_of(compiled(tmp_path, FILES)))

    assert made.is_empty
    assert made.lines() == []


def test_comments_in_files_are_no_differences(before: Published, tmp_path: Path) -> None:
    files = {**FILES, "config.yaml": "# a comment\n" + FILES["config.yaml"]}

    assert compare(before, version_of(compiled(tmp_path, files))).is_empty


def test_endpoint_that_is_gone_is_breaking_and_one_that_is_new_is_not(before: Published) -> None:
    assert compare(before, None).breaking
    assert not compare(None, before).breaking
    assert [change.code for change in compare(None, before).changes] == ["endpoint-added"]


def test_tool_with_hidden_arguments_is_compared_as_it_is_listed_to_those_who_see_them(tmp_path: Path) -> None:
    wide = " ".join(f'"the part {number} of a thing" f{number}: Int' for number in range(100))
    rule = "{type: Thing, policyDefault: {condition: true}, rules: [{condition: '?$jwt', fields: [price]}]}"
    files = {
        "index.graphql": "type Query { a(f: Filter): [Thing] } type Thing { name: String price: Int } "
        f"input Filter {{ name: String price: Int wide: Wide }} input Wide {{ {wide} }}",
        "operations/o.graphql": "query O($f: Filter) @mcpTool { a(f: $f) { name } }",
    }
    limits = "limits: {max_schema_bytes: 1000}\n"
    guarded = READABLE.replace("]}", f", {rule}]}}")

    made = compare(
        version_of(compiled(tmp_path / "before", {**files, "config.yaml": READABLE + limits})),
        version_of(compiled(tmp_path / "after", {**files, "config.yaml": guarded + limits})),
    )

    assert not {"size-changed", "text-changed"} & {change.code for change in made.changes}, made.lines()
