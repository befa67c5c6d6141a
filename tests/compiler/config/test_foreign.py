"""Settings of Apollo MCP Server and Cosmo in ``config.yaml``: warnings with what to write instead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from handler.compiler.config.foreign import APOLLO, COSMO
from tests.support.diagnostics import Reported
from tests.support.endpoints import compiled, reported

FILES = {"index.graphql": "type Query { a: Int }", "operations/a.graphql": "query A { a }"}


def warned(folder: Path, config: str) -> list[Reported]:
    made = compiled(folder, FILES | {"config.yaml": config})
    return [Reported(warning) for warning in made.warnings if warning.code == "foreign-setting"]


def tree_of(table: Any) -> dict[str, Any]:
    """A configuration with every key of a table."""
    tree: dict[str, Any] = {}
    for name in table:
        *above, last = name.split(".")
        within = tree
        for part in above:
            within = within.setdefault(part, {})
        within[last] = {"secret": "literal-0815"}
    return tree


@pytest.mark.parametrize("table", [APOLLO, COSMO])
def test_each_documented_key_gets_one_warning_with_what_to_do_instead(tmp_path: Path, table: dict[str, str]) -> None:
    found = warned(tmp_path, json.dumps(tree_of(table)))

    assert [each.split('"')[1] for each in found] == list(table)
    assert all(remedy in each for each, remedy in zip(found, table.values(), strict=True))
    assert not any("0815" in each for each in found)


def test_warning_has_the_place_of_its_key(tmp_path: Path) -> None:
    config = "schema: {source: local}\ntransport:\n  type: streamable_http\n"

    assert warned(tmp_path, config) == [
        'config.yaml:1:1 foreign-setting: "schema" & @sdl(files:)',
        'config.yaml:3:3 foreign-setting: "transport.type" & stile serve',
    ]


def test_keys_that_the_table_does_not_have_get_one_sentence_together(tmp_path: Path) -> None:
    config = "endpoint: a\nschema: b\none: 1\noverrides: {two: 2}\nthree: 3\ntransport: stdio\n"

    assert warned(tmp_path, config)[2:] == [
        'config.yaml:3:1 foreign-setting: "one", "overrides.two", "three" and 1 more & docs/reference/config.md'
    ]


def test_own_settings_in_such_a_file_are_read(tmp_path: Path) -> None:
    made = compiled(tmp_path, FILES | {"config.yaml": "endpoint: a\nschema: b\ntools: operations\n"})

    assert [each.tool.name for each in made.made] == ["A"]


def test_instructions_of_apollo_are_those_of_stile(tmp_path: Path) -> None:
    config = "endpoint: a\nschema: b\ninstructions: Be brief.\none: 1\n"
    made = compiled(tmp_path, FILES | {"config.yaml": config})

    assert made.bundle.instructions == "Be brief."
    assert [warning.about for warning in made.warnings if warning.code == "foreign-setting"] == [
        ("endpoint",),
        ("schema",),
        ("one",),
    ]


def test_unknown_key_beside_own_settings_remains_an_error(tmp_path: Path) -> None:
    files = FILES | {"config.yaml": "endpoint: a\nschema: b\ntools: operations\nacess: {hide: [Query.a]}\n"}

    assert reported(tmp_path, files) == ["config.yaml:4:1 unknown-key: acess & did you mean access"]


def test_a_single_key_of_apollo_remains_an_error(tmp_path: Path) -> None:
    assert reported(tmp_path, FILES | {"config.yaml": "headers: {a: b}\n"}) == ["config.yaml:1:1 unknown-key: headers"]


@pytest.mark.parametrize("config", ["mcp: true\n", "mcp: [enabled]\n"])
def test_mcp_that_is_not_a_section_is_an_error(tmp_path: Path, config: str) -> None:
    assert reported(tmp_path, FILES | {"config.yaml": config}) == ["config.yaml:1:1 unknown-key: mcp"]


def test_settings_of_another_server_open_nothing(tmp_path: Path) -> None:
    config = "endpoint: https://api.example.com\nheaders: {authorization: x}\noverrides: {mutation_mode: all}\n"

    bundle = compiled(tmp_path, FILES | {"config.yaml": config}).bundle

    assert (bundle.upstream.url, bundle.upstream.headers) == ("", {})
    assert bundle.access == compiled(tmp_path / "without", FILES).bundle.access
