"""Differences of tools and arguments, each with the judgement that docs/diff.md gives it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from handler.commands.changes.endpoint_changes import compare
from handler.commands.changes.endpoint_version import version_of
from tests.support.endpoints import PUBLIC, compiled

SCHEMA = """\
type Query { order(id: ID!, first: Int = 10, state: State): Order }
type Mutation { pay(id: ID!): Order }
type Order { id: ID! total: Float! state: State note: String }
enum State { OPEN PAID }
"""
ORDER = 'query Order($id: ID!, $first: Int = 10, $state: State) @mcpTool(name: "order") '
ORDER += "{ order(id: $id, first: $first, state: $state) { id total state } }\n"
FILES: Mapping[str, str] = {"index.graphql": SCHEMA, "config.yaml": PUBLIC, "operations/order.graphql": ORDER}


def codes(folder: Path, **changed: str) -> list[tuple[str, bool]]:
    """The differences that other texts of files make, by code, and whether they break."""
    names = {"schema": "index.graphql", "config": "config.yaml", "order": "operations/order.graphql"}
    files = {**FILES, **{names.get(name, f"operations/{name}.graphql"): text for name, text in changed.items()}}
    made = compare(version_of(compiled(folder / "a", FILES)), version_of(compiled(folder / "b", files)))
    assert made.breaking == any(each.breaking for each in made.changes)
    return [(each.code, each.breaking) for each in made.changes]


def test_equal_files_have_no_differences(tmp_path: Path) -> None:
    assert codes(tmp_path) == []


def test_a_renamed_tool_breaks_nothing_while_its_old_name_is_an_alias(tmp_path: Path) -> None:
    kept = codes(tmp_path, order=ORDER.replace('name: "order"', 'name: "find_order", aliases: ["order"]'))
    lost = codes(tmp_path / "lost", order=ORDER.replace('name: "order"', 'name: "find_order"'))

    assert ("tool-renamed", False) in kept
    assert not any(breaking for _, breaking in kept)
    assert ("tool-removed", True) in lost


def test_an_endpoint_that_is_gone_is_breaking(tmp_path: Path) -> None:
    version = version_of(compiled(tmp_path, FILES))

    assert compare(version, None).breaking
    assert not compare(None, version).breaking
    assert compare(None, version).lines()
