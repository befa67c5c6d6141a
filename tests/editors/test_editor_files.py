"""`stile editor`, `init` and `new` write files for editors, and leave those of an author alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from graphql import build_schema, parse, print_ast, print_schema

from handler.commands.editor import config_schema
from handler.compiler.schema.directives import DEFINITIONS
from handler.compiler.schema.editor_definitions import definitions_for_editors
from tests.commands.running import FILES, Stile
from tests.conftest import ROOT
from tests.support.endpoints import write_endpoint

WRITTEN = [".editor/config.schema.json", ".editor/directives.graphql", "graphql.config.yml"]
COMMENT = "# yaml-language-server: $schema=.editor/config.schema.json"


def _files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_command_writes_three_files_and_names_the_line_for_config_yaml(workplace: Path, stile: Stile) -> None:
    folder = write_endpoint(workplace, FILES)

    done = stile("editor", ".")

    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        *(f"api/things/{name}" for name in WRITTEN),
        "api/things/config.yaml: write this as the first line:",
        COMMENT,
    ]
    assert _files(folder) == sorted([*FILES, *WRITTEN])
    assert json.loads((folder / WRITTEN[0]).read_text(encoding="utf-8")) == config_schema()


def test_endpoint_compiles_to_the_same_bundle_with_the_files(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, FILES)
    stile("build", ".", "--out", "before")
    before = {name: (workplace / "before" / name).read_bytes() for name in _files(workplace / "before")}
    stile("editor", ".")
    stile("build", "api", "--out", "after")

    assert {name: (workplace / "after" / name).read_bytes() for name in _files(workplace / "after")} == before
    assert "warning" not in stile("check", "api").out


@pytest.mark.parametrize("name", ["graphql.config.yml", ".graphqlrc", "graphql.config.ts", ".graphqlrc.json"])
def test_settings_of_an_author_stay(workplace: Path, stile: Stile, name: str) -> None:
    folder = write_endpoint(workplace, {**FILES, name: "schema: mine.graphql\n"})

    done = stile("editor", "api/things")

    assert (folder / name).read_text(encoding="utf-8") == "schema: mine.graphql\n"
    assert _files(folder) == sorted([*FILES, name, *WRITTEN[:2]])
    assert "api/things: its settings of GraphQL editors stay as they are" in done.out


def test_own_files_are_renewed(workplace: Path, stile: Stile) -> None:
    folder = write_endpoint(workplace, {**FILES, WRITTEN[0]: "{}", WRITTEN[1]: "old"})

    assert stile("editor", "api/things").code == 0
    assert json.loads((folder / WRITTEN[0]).read_text(encoding="utf-8")) == config_schema()
    assert "@mcpTool" in (folder / WRITTEN[1]).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [".editor", ".editor/config.schema.json", "graphql.config.yml"])
def test_link_out_of_the_folder_is_not_followed(workplace: Path, stile: Stile, name: str) -> None:
    folder = write_endpoint(workplace, FILES)
    outside = workplace / "outside"
    outside.mkdir()
    (outside / "secret").write_text("mine", encoding="utf-8")
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).symlink_to(outside if name == ".editor" else outside / "secret")

    done = stile("editor", "api/things")

    assert _files(outside) == ["secret"]
    assert (outside / "secret").read_text(encoding="utf-8") == "mine"
    if name != "graphql.config.yml":  # which counts as the author's
        assert (done.code, done.out) == (1, "")
        assert "is a link, or in one" in done.err


def test_config_that_names_a_schema_gets_no_advice(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, {**FILES, "config.yaml": f"{COMMENT}\n{FILES['config.yaml']}"})

    assert "first line" not in stile("editor", ".").out


def test_settings_name_files_that_are_there(workplace: Path, stile: Stile) -> None:
    index = 'extend schema @sdl(files: ["api/schema.graphql"], executables: [{document: "more.graphql"}])\n'
    more = {"api/schema.graphql": FILES["index.graphql"], "more.graphql": "query More { b }", "notes.graphql": "no SDL"}
    folder = write_endpoint(workplace, {**FILES, "index.graphql": index, **more})
    stile("editor", ".")
    settings = yaml.safe_load((folder / "graphql.config.yml").read_text(encoding="utf-8"))

    assert settings["schema"] == ["api/schema.graphql", "index.graphql", ".editor/directives.graphql"]
    assert settings["documents"] == ["more.graphql", "operations/**/*.{graphql,gql}"]
    assert all((folder / name).is_file() for name in settings["schema"])


def test_definitions_are_those_of_the_compiler() -> None:
    written = build_schema(definitions_for_editors([]) + "type Query { unused: Int }")
    own = {print_ast(node) for node in parse(print_schema(DEFINITIONS)).definitions}

    assert own - {print_ast(node) for node in parse(print_schema(written)).definitions} == set()
    assert written.get_directive("cached") is not None


def test_definitions_that_the_endpoint_has_are_left_out() -> None:
    schemas = ["directive @cached on QUERY scalar Stile_JSON type Query { a: Int }", "not SDL"]

    left = definitions_for_editors(schemas)
    whole = definitions_for_editors([])

    assert "@cached" in whole
    assert "@cached" not in left
    assert "scalar Stile_JSON" not in left
    assert build_schema(left + schemas[0]).get_directive("tool") is not None


def test_template_of_new_repositories_names_the_schema() -> None:
    for config in (ROOT / "infra" / "new" / "endpoints").rglob("config.yaml"):
        assert config.read_text(encoding="utf-8").startswith(f"{COMMENT}\n")


FOREIGN = """
extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])
type Query { me: User @rest(endpoint: "https://x.example") born: AWSDate }
type User @key(fields: "id") @key(fields: "name", resolvable: false) { id: ID! @aws_auth(cognito_groups: ["a"]) }
enum Kind { A @inaccessible }
input Filter { a: Int @tag(name: "x") }
"""


def test_directives_and_scalars_of_other_systems_are_defined_as_they_are_used() -> None:
    written = definitions_for_editors([FOREIGN])

    schema = build_schema(FOREIGN + written)

    assert "directive @key(fields: Stile_JSON, resolvable: Stile_JSON) repeatable on OBJECT\n" in written
    assert "directive @tag(name: Stile_JSON) repeatable on ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION" in written
    assert "scalar AWSDate" in written
    assert schema.get_type("AWSDate") is not None


def test_schema_with_a_syntax_error_counts_as_empty() -> None:
    assert definitions_for_editors(["type no-name { a: Int @key }"]) == definitions_for_editors([])
