from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from handler.compiler.compile import compile_endpoint
from handler.compiler.source.files import MAX_FILE_BYTES
from handler.errors.authoring import CompileError
from tests.support.diagnostics import Reported, reported_by
from tests.support.endpoints import compiled, doubted, reported, write_endpoint

QUERY = "type Query { a: Int }\n"


def including(*names: str) -> str:
    return f"extend schema @sdl(files: {json.dumps(names)})\n"


def test_endpoint_is_named_by_the_last_two_parts_of_its_path(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, {"index.graphql": QUERY}, name="shop/customers")

    assert compile_endpoint(folder).bundle.endpoint == "shop/customers"


def test_endpoint_is_named_by_stepzen_config_json(tmp_path: Path) -> None:
    files = {"index.graphql": QUERY, "stepzen.config.json": '{"endpoint": "shop/customers"}'}

    assert compiled(tmp_path, files).bundle.endpoint == "shop/customers"


def test_path_that_makes_no_endpoint_name_is_reported(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, {"index.graphql": QUERY}, name="api/2things")

    with pytest.raises(CompileError) as caught:
        compile_endpoint(folder)

    assert reported_by(caught.value) == ['index.graphql invalid-endpoint-name: "api/2things"']


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            '{"endpoint": "customers"}',
            'stepzen.config.json:1:2 invalid-endpoint-name: "customers"',
        ),
        ('{\n  "endpoint": 5}', "stepzen.config.json:2:3 invalid-project-file"),
        ("[]", "stepzen.config.json invalid-project-file"),
        ("[" * 100_000, "stepzen.config.json invalid-project-file"),
        ("9" * 5_000, "stepzen.config.json invalid-project-file"),
        ('{\n  "endpoint": x}', "stepzen.config.json:2:15 invalid-project-file"),
        (
            '{"endpoint": "\\ud800\\u001b[2J"}',
            'stepzen.config.json:1:2 invalid-endpoint-name: "\\ud800\\x1b[2J"',
        ),
    ],
)
def test_stepzen_config_json_that_names_no_endpoint_is_reported(tmp_path: Path, text: str, problem: str) -> None:
    assert reported(tmp_path, {"index.graphql": QUERY, "stepzen.config.json": text}) == [problem]


def test_folder_without_an_index_is_reported(tmp_path: Path) -> None:
    assert reported(tmp_path, {"config.yaml": ""}) == ["index.graphql unreadable-file: exist"]


def test_missing_file_is_reported_where_it_is_named(tmp_path: Path) -> None:
    index = QUERY + including("missing.graphql")

    (problem,) = reported(tmp_path, {"index.graphql": index})

    assert problem == 'index.graphql:2:28 unreadable-file: "missing.graphql"'


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../secret.graphql", "../secret.graphql"),
        ("sub/../../secret.graphql", "../secret.graphql"),
        ("/etc/hostname", "/etc/hostname"),
        ("..", ".."),
    ],
)
def test_file_outside_the_folder_is_refused(tmp_path: Path, name: str, shown: str) -> None:
    (tmp_path / "api").mkdir()
    (tmp_path / "api" / "secret.graphql").write_text("type Secret { a: Int }", encoding="utf-8")

    assert reported(tmp_path, {"index.graphql": QUERY + including(name)}) == [
        f'index.graphql:2:28 unreadable-file: "{shown}" & outside'
    ]


def test_link_inside_the_folder_is_followed(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, {"index.graphql": including("link.graphql"), "real.graphql": QUERY})
    (folder / "link.graphql").symlink_to("real.graphql")

    assert compile_endpoint(folder).bundle.endpoint == "api/things"


def test_links_in_a_circle_are_reported(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, {"index.graphql": QUERY + including("loop/a.graphql")})
    (folder / "loop").symlink_to("loop")

    with pytest.raises(CompileError) as caught:
        compile_endpoint(folder)

    assert reported_by(caught.value) == ['index.graphql:2:28 unreadable-file: "loop/a.graphql" & Too many levels']


def test_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    assert reported(tmp_path, {"index.graphql": "\ufefftype Query { a: Foo }"}) == [
        "index.graphql:1:17 unknown-type: 'Foo'"
    ]


def test_file_of_more_than_8_mb_is_refused_unread(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, {"index.graphql": QUERY + including("huge.graphql")})
    with (folder / "huge.graphql").open("wb") as huge:
        huge.truncate(MAX_FILE_BYTES + 1)

    with pytest.raises(CompileError) as caught:
        compile_endpoint(folder)

    assert reported_by(caught.value) == ['index.graphql:2:28 unreadable-file: "huge.graphql" & 8000001 & 8000000']


def test_name_that_no_file_can_have_is_reported(tmp_path: Path) -> None:
    index = QUERY + 'extend schema @sdl(files: ["\\u0000", "", "%s"])' % ("x" * 300)

    assert reported(tmp_path, {"index.graphql": index}) == [
        'index.graphql:2:28 unreadable-file: "\\x00"',
        'index.graphql:2:38 unreadable-file: "."',
        f'index.graphql:2:42 unreadable-file: "{"x" * 300}" & File name too long',
    ]


INDEX = """\
extend schema
  @sdl(files: ["types.graphql"])
  @sdl(executables: [{document: "ops.graphql", persist: true}])
type Query { a: Int }
"""
WHOLE = {
    "index.graphql": INDEX,
    "types.graphql": "type Thing { b: Int }",
    "ops.graphql": "query Named { a }",
    "operations/found.graphql": "query Found { a }",
    "config.yaml": "limits: {max_depth: 3}",
}
NAMED = {"types.graphql": "index.graphql:2:16", "ops.graphql": "index.graphql:3:22"}
"""Where an author names a file is where it is reported."""


def unreadable(name: str, reason: str) -> str:
    """The problem of a file that cannot be read."""
    return f"{NAMED.get(name, name)} unreadable-file: {name if name in NAMED else 'it'} & {reason}"


def folder_without(tmp_path: Path, name: str) -> Path:
    folder = write_endpoint(tmp_path, WHOLE)
    (folder / name).unlink()
    return folder


def lines_of(folder: Path) -> list[Reported]:
    with pytest.raises(CompileError) as caught:
        compile_endpoint(folder)
    return reported_by(caught.value)


def test_folder_of_all_kinds_of_files_compiles(tmp_path: Path) -> None:
    assert compiled(tmp_path, WHOLE).bundle.limits.max_depth == 3


@pytest.mark.parametrize("name", ["index.graphql", *NAMED])
def test_missing_file_is_reported(tmp_path: Path, name: str) -> None:
    assert lines_of(folder_without(tmp_path, name)) == [unreadable(name, "does not exist")]


@pytest.mark.parametrize("name", WHOLE)
def test_link_to_nothing_in_the_place_of_a_file_is_reported(tmp_path: Path, name: str) -> None:
    folder = folder_without(tmp_path, name)
    (folder / name).symlink_to("gone")

    assert lines_of(folder) == [unreadable(name, "does not exist")]


@pytest.mark.parametrize("name", WHOLE)
def test_folder_in_the_place_of_a_file_is_reported(tmp_path: Path, name: str) -> None:
    folder = folder_without(tmp_path, name)
    (folder / name).mkdir()

    assert lines_of(folder) == [unreadable(name, "file")]


@pytest.mark.parametrize("name", WHOLE)
def test_file_that_waits_for_a_writer_is_reported_at_once(tmp_path: Path, name: str) -> None:
    folder = folder_without(tmp_path, name)
    os.mkfifo(folder / name)

    assert lines_of(folder) == [unreadable(name, "file")]


@pytest.mark.parametrize("name", WHOLE)
def test_file_that_the_system_does_not_open_is_reported_with_its_reason(tmp_path: Path, name: str) -> None:
    folder = folder_without(tmp_path, name)
    (folder / name).symlink_to((folder / name).name)  # a circle: no right of any user opens it

    assert lines_of(folder) == [unreadable(name, "Too many levels of symbolic links")]


@pytest.mark.parametrize("name", WHOLE)
def test_file_that_its_owner_may_not_read_is_reported(tmp_path: Path, name: str) -> None:
    folder = write_endpoint(tmp_path, WHOLE)
    (folder / name).chmod(0)
    if os.access(folder / name, os.R_OK):
        pytest.skip("this user may read any file")

    assert lines_of(folder) == [unreadable(name, "Permission denied")]


@pytest.mark.parametrize("name", WHOLE)
def test_file_that_is_not_utf8_is_reported(tmp_path: Path, name: str) -> None:
    folder = write_endpoint(tmp_path, WHOLE)
    (folder / name).write_bytes("# Köln\n# Würzburg\n".encode().replace("ü".encode(), b"\xfc"))

    assert lines_of(folder) == [unreadable(name, "UTF-8 & line 2")]


@pytest.mark.parametrize("name", WHOLE)
def test_file_of_20_mb_is_reported(tmp_path: Path, name: str) -> None:
    folder = write_endpoint(tmp_path, WHOLE)
    os.truncate(folder / name, 20_000_000)

    assert lines_of(folder) == [unreadable(name, "20000000 & 8000000")]


@pytest.mark.parametrize("name", WHOLE)
def test_link_to_a_file_outside_is_refused(tmp_path: Path, name: str) -> None:
    folder = folder_without(tmp_path, name)
    (tmp_path / "outside").write_text(WHOLE[name], encoding="utf-8")
    (folder / name).symlink_to(tmp_path / "outside")

    assert lines_of(folder) == [unreadable(name, "outside")]


@pytest.mark.parametrize("name", NAMED)
def test_name_that_leads_outside_is_refused(tmp_path: Path, name: str) -> None:
    files = {**WHOLE, "index.graphql": INDEX.replace(name, f"../{name}")}
    folder = write_endpoint(tmp_path, files)
    (folder / name).rename(folder.parent / name)

    assert lines_of(folder) == [unreadable(name, f"../{name} & outside")]


def test_folder_of_operations_that_links_outside_is_refused(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, WHOLE)
    (folder / "operations").rename(tmp_path / "outside")
    (folder / "operations").symlink_to(tmp_path / "outside")

    assert lines_of(folder) == ["operations/found.graphql unreadable-file: outside"]


def test_files_that_include_each_other_are_reported_with_the_whole_chain(tmp_path: Path) -> None:
    files = {
        "index.graphql": including("a/one.graphql") + QUERY,
        "a/one.graphql": including("b/two.graphql"),
        "a/b/two.graphql": "\n" + including("../one.graphql"),
    }

    assert reported(tmp_path, files) == [
        "a/b/two.graphql:2:28 include-cycle: index.graphql -> a/one.graphql -> a/b/two.graphql -> a/one.graphql"
    ]


def test_file_that_includes_itself_is_reported(tmp_path: Path) -> None:
    assert reported(tmp_path, {"index.graphql": QUERY + including("sub/../index.graphql")}) == [
        "index.graphql:2:28 include-cycle: index.graphql -> index.graphql"
    ]


def test_file_that_is_included_twice_is_read_once_however_it_is_spelt(tmp_path: Path) -> None:
    files = {
        "index.graphql": including("a.graphql", "./a.graphql", "b/../a.graphql", "b/c.graphql"),
        "a.graphql": QUERY,
        "b/c.graphql": including("../a.graphql"),
    }

    assert len(doubted(tmp_path, files)) == 1  # the default tool's


def test_names_are_relative_to_the_file_that_gives_them(tmp_path: Path) -> None:
    files = {
        "index.graphql": including("one/index.graphql"),
        "one/index.graphql": including("two/query.graphql")
        + 'extend schema @sdl(executables: {document: "o.graphql"})',
        "one/two/query.graphql": QUERY,
        "one/o.graphql": "query O { b }",
    }

    assert reported(tmp_path, files) == ["one/o.graphql:1:11 unknown-field: 'b' & 'Query' & Did you mean 'a'?"]


def test_sources_digest_tells_the_authors_files_apart(tmp_path: Path) -> None:
    one = compiled(tmp_path / "1", {"index.graphql": QUERY}).bundle
    same = compiled(tmp_path / "2", {"index.graphql": QUERY, "notes.txt": "not read"}).bundle
    other = compiled(tmp_path / "3", {"index.graphql": QUERY + "# a comment"}).bundle

    assert one.sources == same.sources
    assert one.sources != other.sources
    assert one.index == other.index


MERGED = "<<<<<<< HEAD\n{}=======\n{}>>>>>>> main\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config.yaml", "limits: {max_depth: 4}\n"),
        ("index.graphql", QUERY),
        ("operations/o.graphql", "query O { a }\n"),
        ("operations/persisted-query-manifest.json", "{}\n"),
        ("stepzen.config.json", "{}\n"),
    ],
)
def test_mark_of_a_merge_is_reported_before_what_it_makes_of_the_text(tmp_path: Path, name: str, text: str) -> None:
    files = {"index.graphql": QUERY, name: text + MERGED.format(text, text)}

    assert reported(tmp_path, files) == [f"{name}:2:1 unreadable-file: merge & keep one version & remove the marks"]


def test_mark_of_a_merge_in_prose_is_doubted(tmp_path: Path) -> None:
    files = {"index.graphql": QUERY, "resources/a.md": "# A\n" + MERGED.format("one\n", "two\n")}

    assert "resources/a.md:2:1 merge-mark: remove the marks" in doubted(tmp_path, files)


def test_indented_marks_are_a_text_about_merges(tmp_path: Path) -> None:
    files = {"index.graphql": QUERY, "config.yaml": "instructions: |\n  <<<<<<< HEAD\n  =======\n  >>>>>>> main\n"}

    assert "<<<<<<<" in compiled(tmp_path, files).bundle.instructions


@pytest.mark.parametrize("name", ["operations", "operations/o.graphql", "resources/a.md", "config.yaml"])
def test_link_without_a_target_is_reported_with_the_target(tmp_path: Path, name: str) -> None:
    folder = write_endpoint(tmp_path, {"index.graphql": QUERY})
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).symlink_to("gone")

    with pytest.raises(CompileError) as caught:
        compile_endpoint(folder)

    assert reported_by(caught.value) == [f"{name} unreadable-file: it is a link to gone, which"]


def test_link_out_of_the_folder_is_reported_with_the_target(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, {"index.graphql": QUERY})
    (folder / "config.yaml").symlink_to("../elsewhere.yaml")

    with pytest.raises(CompileError) as caught:
        compile_endpoint(folder)

    assert reported_by(caught.value) == ["config.yaml unreadable-file: a link to ../elsewhere.yaml, which lies outside"]
