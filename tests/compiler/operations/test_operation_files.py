"""Files of operations that are read without being named, and files that look as if they were.

Source: Cosmo router, MCP: all folders below the one of operations are searched, for ``.graphql`` and ``.gql``.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from handler.compiler.compile import compile_endpoint
from handler.compiler.source.files import MAX_FOLDERS_DEEP
from handler.errors.authoring import CompileError
from tests.support.diagnostics import Reported, reported_by
from tests.support.endpoints import READABLE, compiled, doubted, reported, write_endpoint

INDEX = "type Query { x: Int y: Int }\n"
TOOL = 'query Q @mcpTool(name: "q", title: "Q") {\n  x\n}\n'
BASE = {"index.graphql": INDEX, "config.yaml": READABLE}
NO_TOOL = "index.graphql no-tool: {}. "
ENDING = ".graphql or .gql"


def tool(name: str) -> str:
    return TOOL.replace("Q", name.upper()).replace('"q"', f'"{name}"')


def told(tmp_path: Path, files: dict[str, str]) -> list[Reported]:
    """The warnings about files that are not read."""
    found = doubted(tmp_path, {**BASE, **files})
    return [each for each in found if each.partition(": ")[0].endswith((" unread-file", " no-tool"))]


@pytest.mark.parametrize("name", ["q.graphql", "sub/q.graphql", "a/b/c/q.gql", "q.gql", "q.GraphQL", "sub/q.GQL"])
def test_operations_are_read_at_any_depth_and_by_both_endings(tmp_path: Path, name: str) -> None:
    made = compiled(tmp_path, {**BASE, f"operations/{name}": TOOL})

    assert [each.name for each in made.bundle.tools] == ["q"]
    assert [document.file for document in made.documents] == [f"operations/{name}"]
    assert made.bundle.graphql.mode == "persisted"


def test_files_are_read_in_the_order_of_their_paths(tmp_path: Path) -> None:
    names = ["z.graphql", "a/b.gql", "a/a/c.graphql", "b.gql", "a.graphql"]
    files = {f"operations/{name}": tool(f"t{place}") for place, name in enumerate(names)}

    made = compiled(tmp_path, {**BASE, **files})

    assert [document.file for document in made.documents] == [f"operations/{name}" for name in sorted(names)]
    assert [each.name for each in made.bundle.tools] == ["t4", "t2", "t1", "t3", "t0"]


def test_mistakes_are_reported_at_the_path_below_the_folder(tmp_path: Path) -> None:
    files = {
        "operations/a/deep/one.gql": "query One @mcpTool {\n  z\n}",
        "operations/two.graphql": tool("q"),
        "operations/a/two.gql": tool("q"),
    }

    assert reported(tmp_path, {**BASE, **files}) == [
        "operations/a/deep/one.gql:2:3 unknown-field: 'z' & 'Query' & Did you mean 'x' or 'y'?",
        'operations/two.graphql:1:1 duplicate-operation: "Q" & operations/a/two.gql:1:1',
    ]


def test_a_file_that_an_sdl_names_is_read_once(tmp_path: Path) -> None:
    sdl = 'extend schema @sdl(executables: [{document: "operations/sub/q.gql", persist: true}])'

    made = compiled(tmp_path, {**BASE, "index.graphql": INDEX + sdl, "operations/sub/q.gql": TOOL})

    assert [document.file for document in made.documents] == ["operations/sub/q.gql"]


@pytest.mark.parametrize(
    "name", [".q.graphql", "#q.graphql#", "q.graphql~", ".drafts/q.graphql", "node_modules/a/q.gql", ".q.gql.swp"]
)
def test_hidden_files_and_copies_of_editors_are_neither_read_nor_told(tmp_path: Path, name: str) -> None:
    files = {"operations/a.graphql": tool("a"), f"operations/{name}": "no GraphQL: query Q @mcpTool { x }"}

    assert told(tmp_path, files) == []
    assert [each.name for each in compiled(tmp_path, {**BASE, **files}).bundle.tools] == ["a"]


def test_links_to_files_are_followed_inside_the_endpoint_folder_alone(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, {**BASE, "shared/q.txt": TOOL, "operations/sub/a.gql": tool("a")})
    (folder / "operations/sub/link.gql").symlink_to("../../shared/q.txt")
    assert [each.name for each in compile_endpoint(folder).bundle.tools] == ["a", "q"]

    (tmp_path / "outside.gql").write_text(tool("b"), encoding="utf-8")
    (folder / "operations/sub/other.gql").symlink_to(tmp_path / "outside.gql")
    assert problems(folder) == ["operations/sub/other.gql unreadable-file: outside"]


@pytest.mark.parametrize("target", ["..", "../..", "../shared", "/"])
def test_links_to_folders_are_not_followed_and_open_no_default_tool(tmp_path: Path, target: str) -> None:
    folder = write_endpoint(tmp_path, {**BASE, "shared/q.graphql": TOOL, "operations/notes.txt": ""})
    (folder / "operations/more").symlink_to(target)

    made = compile_endpoint(folder)

    assert "operations/more unread-file: link" in list(map(Reported, made.warnings))
    assert (made.bundle.tools, made.bundle.graphql.mode) == ((), "persisted")


def test_what_a_folder_of_operations_links_to_outside_is_not_searched(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, BASE)
    (tmp_path / "outside/below").mkdir(parents=True)
    for name in ("outside/q.gql", "outside/below/r.gql"):
        (tmp_path / name).write_text(TOOL, encoding="utf-8")
    (folder / "operations").symlink_to(tmp_path / "outside")

    assert problems(folder) == ["operations/q.gql unreadable-file: outside"]


def test_folders_may_not_stand_in_each_other_without_end(tmp_path: Path) -> None:
    deepest = "operations" + "/a" * MAX_FOLDERS_DEEP
    assert [each.name for each in compiled(tmp_path, {**BASE, f"{deepest}/q.gql": TOOL}).bundle.tools] == ["q"]

    assert reported(tmp_path, {f"{deepest}/b/r.gql": tool("r")}) == [
        "operations/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a unreadable-file: 16"
    ]


def test_a_folder_of_too_many_files_is_reported_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handler.compiler.source.files.MAX_FILES_FOUND", 5)
    files = {f"operations/{place}/t.gql": tool(f"t{place}") for place in range(9)}

    assert "operations unreadable-file: more than 5 files" in reported(tmp_path, {**BASE, **files})


def test_name_that_is_not_utf8_is_reported(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, {**BASE, "operations/a.gql": tool("a")})
    (folder / "operations" / os.fsdecode(b"\xfc.gql")).write_text(TOOL, encoding="utf-8")

    assert problems(folder) == ["operations/\\udcfc.gql invalid-file-name"]


def test_a_file_in_the_place_of_the_folder_is_reported(tmp_path: Path) -> None:
    assert reported(tmp_path, {**BASE, "operations": TOOL}) == ["operations unreadable-file: folder"]


@pytest.mark.parametrize(
    ("name", "text", "place", "remedy"),
    [
        ("q.graphql.bak", TOOL, "1:9", ENDING),
        ("sub/q.txt", TOOL, "1:9", ENDING),
        ("q", TOOL, "1:9", ENDING),
        ("q.ts", f"\nexport const q = gql`{TOOL}`", "2:30", ENDING),
        ("manifest.json", '{"body": "query Q($a: Int) @mcpTool { x }"}', "1:28", "persisted_queries.json"),
        ("q.graphqls", TOOL, "1:9", f".graphqls & {ENDING}"),
    ],
)
def test_a_tool_in_a_file_of_another_ending_is_told_and_opens_no_default_tool(
    tmp_path: Path, name: str, text: str, place: str, remedy: str
) -> None:
    files = {f"operations/{name}": text}

    assert sorted(told(tmp_path, files)) == sorted(
        [NO_TOOL.format(f"operations/{name}"), f"operations/{name}:{place} unread-file: {remedy}"]
    )
    made = compiled(tmp_path, {**BASE, **files})
    assert (made.bundle.tools, made.bundle.graphql.mode) == ((), "persisted")


@pytest.mark.parametrize(
    "text", ["query Q { x }", "query Q($a: Int) {x}", "{a: gql`mutation {x}`}", "query Q\n(\n$a: I)"]
)
def test_an_operation_without_a_tool_in_a_file_of_another_ending_is_told(tmp_path: Path, text: str) -> None:
    assert told(tmp_path, {"operations/q.txt": text}) == [f"operations/q.txt unread-file: {ENDING}"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("README.md", TOOL),
        ("notes.txt", "Each query stands alone. The query (see below) is slow."),
        ("client.ts", "await client.query({variables})"),
        ("types.graphqls", "type Query { query(a: Int): Int }"),
        ("schema.graphqls", "schema { query: Query }"),
        ("notes.txt", "# query Q @mcpTool { x }"),
        ("codegen.yml", "schema: ../index.graphql"),
        ("empty", ""),
        ("picture.png", "\x89PNG\x00"),
    ],
)
def test_other_files_beside_operations_are_not_told(tmp_path: Path, name: str, text: str) -> None:
    assert told(tmp_path, {f"operations/{name}": text, "operations/a.gql": tool("a")}) == []


@pytest.mark.parametrize("folder", ["Operations", "OPERATIONS", "operation", "opertions"])
def test_a_folder_whose_name_is_a_slip_is_told_and_opens_no_default_tool(tmp_path: Path, folder: str) -> None:
    files = {f"{folder}/sub/q.graphql": TOOL}

    assert sorted(told(tmp_path, files)) == sorted(
        [
            NO_TOOL.format(f"{folder}/sub/q.graphql"),
            f"{folder}/sub/q.graphql:1:9 unread-file: operations/",
        ]
    )
    assert compiled(tmp_path, {**BASE, **files}).bundle.tools == ()


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("q.graphql", TOOL, "1:9 unread-file: @mcpTool & operations/"),
        ("queries/deep/q.gql", TOOL, "1:9 unread-file: @mcpTool & operations/"),
        (
            "tools.graphql",
            'extend schema\n  @tool(name: "t", prescribed: "T")',
            "2:3 unread-file: @tool & @sdl(files:)",
        ),
    ],
)
def test_a_tool_in_a_file_that_nobody_names_opens_no_default_tool(
    tmp_path: Path, name: str, text: str, sentence: str
) -> None:
    assert sorted(told(tmp_path, {name: text})) == sorted([NO_TOOL.format(name), f"{name}:{sentence}"])
    assert compiled(tmp_path, {**BASE, name: text}).bundle.tools == ()


def test_files_elsewhere_are_not_told_beside_a_declared_tool(tmp_path: Path) -> None:
    files = {"drafts/q.graphql": TOOL, "operations/a.gql": tool("a"), "resources/q.graphql": TOOL}

    assert told(tmp_path, files) == []


def test_examples_among_resources_are_no_slips(tmp_path: Path) -> None:
    files = {**BASE, "resources/q.graphql": TOOL}

    assert told(tmp_path, files) == []
    assert [each.name for each in compiled(tmp_path, files).bundle.tools] == ["api-things"]


def test_definition_of_a_directive_is_no_slip(tmp_path: Path) -> None:
    assert told(tmp_path, {"editor/stepzen.graphql": "directive @tool(name: String!) repeatable on SCHEMA"}) == []


def test_folder_of_operations_may_be_a_link_inside_the_endpoint_folder(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, {**BASE, "shared/v1/sub/q.gql": TOOL})
    (folder / "operations").symlink_to("shared/v1")

    made = compile_endpoint(folder)

    assert [document.file for document in made.documents] == ["operations/sub/q.gql"]


def test_operations_of_any_depth_are_refused_where_there_is_no_schema(tmp_path: Path) -> None:
    files = {"config.yaml": "code: [shop_tools:kit]\n", "operations/sub/q.gql": TOOL}

    assert "operations/sub/q.gql needs-schema: index.graphql" in reported(tmp_path, files)


def test_graphql_that_is_asked_for_stays_open_beside_a_slip(tmp_path: Path) -> None:
    files = {**BASE, "Operations/q.graphql": TOOL, "config.yaml": f"{READABLE}graphql: on\n"}

    made = compiled(tmp_path, files)

    assert (made.bundle.tools, made.bundle.graphql.mode) == ((), "on")


def test_root_of_a_stepzen_project_has_the_folder_and_one_beside_it_is_told(tmp_path: Path) -> None:
    files = {
        "stepzen.config.json": '{"endpoint": "api/things", "root": "src"}',
        "src/index.graphql": INDEX,
        "operations/q.graphql": TOOL,
    }

    warnings = doubted(tmp_path, files)

    assert "operations/q.graphql:1:9 unread-file: @mcpTool & src/operations/" in warnings
    assert compiled(tmp_path, {**files, "src/operations/b/q.gql": TOOL}).documents[0].file == "src/operations/b/q.gql"


@pytest.mark.parametrize(("said", "tools"), [("true", ["api-things"]), ("false", [])])
def test_who_says_what_becomes_of_the_default_tool_has_the_last_word(
    tmp_path: Path, said: str, tools: list[str]
) -> None:
    files = {"Operations/q.graphql": TOOL, "config.yaml": f"{READABLE}default_tool: {said}\n"}

    assert [each.name for each in compiled(tmp_path, {**BASE, **files}).bundle.tools] == tools
    assert told(tmp_path, files) == ["Operations/q.graphql:1:9 unread-file: operations/"]


def test_operations_that_are_no_tools_are_named_beside_the_default_tool(tmp_path: Path) -> None:
    warnings = doubted(tmp_path, {**BASE, "operations/sub/q.gql": "query Q { x }"})

    assert 'index.graphql default-tool: @mcpTool & "api-things"' in warnings


def test_of_many_files_ten_are_told_and_the_rest_together(tmp_path: Path) -> None:
    warnings = told(tmp_path, {f"operations/{place:02}.txt": "query Q { x }" for place in range(14)})

    assert len(warnings) == 11
    assert warnings[0] == "operations unread-file: operations/10.txt, operations/11.txt, operations/12.txt and 1 more"


def test_files_that_are_not_read_are_no_part_of_the_sources(tmp_path: Path) -> None:
    one = compiled(tmp_path / "1", {**BASE, "operations/a.gql": tool("a")}).bundle
    other = compiled(tmp_path / "2", {**BASE, "operations/a.gql": tool("a"), "operations/q.txt": TOOL}).bundle

    assert one.sources == other.sources


def test_file_that_waits_for_a_writer_is_not_looked_into(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, {**BASE, "operations/a.gql": tool("a")})
    os.mkfifo(folder / "operations/q.txt")

    assert [each.name for each in compile_endpoint(folder).bundle.tools] == ["a"]


def problems(folder: Path) -> list[Reported]:
    with pytest.raises(CompileError) as caught:
        compile_endpoint(folder)
    return reported_by(caught.value)


DECLARED = {"operations/a.gql": tool("a")}


def test_tool_beside_the_folder_of_operations_is_told_beside_declared_tools(tmp_path: Path) -> None:
    assert told(tmp_path, {**DECLARED, "q.graphql": TOOL, "plain.graphql": "query P { x }"}) == [
        "q.graphql:1:9 unread-file: @mcpTool & operations/"
    ]


def test_folder_in_place_of_operations_is_told_with_its_right_name(tmp_path: Path) -> None:
    index = INDEX + 'extend schema @tool(name: "t", prescribed: "Q")\n'

    assert reported(tmp_path, {**BASE, "index.graphql": index, "queries/q.graphql": "query Q { x }"}) == [
        'queries/q.graphql unknown-operation: not read & @tool "t" & rename the folder queries to operations'
    ]


def test_unread_file_with_the_operation_of_a_tool_is_told(tmp_path: Path) -> None:
    index = INDEX + 'extend schema @tool(name: "t", prescribed: "Q")\n'

    assert reported(tmp_path, {**BASE, **DECLARED, "index.graphql": index, "drafts/q.graphql": "query Q { x }"}) == [
        "drafts/q.graphql unknown-operation: operations belong in operations/"
    ]


@pytest.mark.parametrize("name", ["operations/o.graphql", "index.graphql"])
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("query Q($a: String = \u201cb\u201d) { x }", '1:22 syntax-error: U+201C & a straight "'),
        ("query\u00a0Q { x }", "1:6 syntax-error: U+00A0 & a plain space"),
        ('import { gql } from "a";\nexport const Q = gql`query Q { x }`', "1:1 syntax-error: JavaScript & backticks"),
        ("// queries\nconst Q = gql`query Q { x }`", "1:1 syntax-error: JavaScript"),
        ("<!DOCTYPE html>\n<html></html>", "1:1 syntax-error: HTML"),
    ],
)
def test_file_in_another_language_is_reported_as_such(tmp_path: Path, name: str, text: str, line: str) -> None:
    assert reported(tmp_path, {**BASE, name: text}) == [f"{name}:{line}"]


def test_field_with_a_word_of_javascript_is_an_ordinary_syntax_error(tmp_path: Path) -> None:
    text = '"Not `this`."\nquery Q { import: x ) }'

    assert reported(tmp_path, {**BASE, "operations/o.graphql": text}) == [
        "operations/o.graphql:2:21 syntax-error: Syntax Error"
    ]


@pytest.mark.parametrize("value", ["true", '"required"', "yes"])
def test_value_that_an_option_does_not_have_is_reported_with_its_values(tmp_path: Path, value: str) -> None:
    text = f'query Q @mcpTool(name: "q", title: "Q", confirm: {value}) {{ x }}'

    assert reported(tmp_path, {**BASE, "operations/o.graphql": text}) == [
        "operations/o.graphql:1:50 wrong-value: Expected advisory or required"
    ]
