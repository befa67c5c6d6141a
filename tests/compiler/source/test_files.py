from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from handler.compiler.compile import compile_endpoint
from handler.compiler.source.files import MAX_FILE_BYTES
from handler.errors.authoring import CompileError, Problem
from tests.support.endpoints import compiled, doubted, problems_of, reported, write_endpoint

NO_NAME = "is no endpoint name: expected folder/name, each a letter and then letters, digits, _ or -"
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

    assert str(caught.value) == f'index.graphql: "api/2things" {NO_NAME}; --endpoint gives the folder another one'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            '{"endpoint": "customers"}',
            f'stepzen.config.json:1:2: "customers" {NO_NAME}',
        ),
        ('{\n  "endpoint": 5}', 'stepzen.config.json:2:3: expected {"endpoint": "folder/name"}'),
        ("[]", 'stepzen.config.json: expected {"endpoint": "folder/name"}'),
        ("[" * 100_000, 'stepzen.config.json: expected {"endpoint": "folder/name"}'),
        ("9" * 5_000, 'stepzen.config.json: expected {"endpoint": "folder/name"}'),
        ('{\n  "endpoint": x}', "stepzen.config.json:2:15: this is no JSON: Expecting value"),
        (
            '{"endpoint": "\\ud800\\u001b[2J"}',
            f'stepzen.config.json:1:2: "\\ud800\\x1b[2J" {NO_NAME}',
        ),
    ],
)
def test_stepzen_config_json_that_names_no_endpoint_is_reported(tmp_path: Path, text: str, problem: str) -> None:
    assert reported(tmp_path, {"index.graphql": QUERY, "stepzen.config.json": text}) == [problem]


def test_folder_without_an_index_is_reported(tmp_path: Path) -> None:
    assert problems_of(tmp_path, {"config.yaml": ""}) == (
        Problem(file="index.graphql", sentence="it does not exist", code="unreadable-file"),
    )


def test_missing_file_is_reported_where_it_is_named(tmp_path: Path) -> None:
    index = QUERY + including("missing.graphql")

    (problem,) = problems_of(tmp_path, {"index.graphql": index})

    assert problem == Problem(
        file="index.graphql", line=2, column=15, sentence='"missing.graphql" does not exist', code="unreadable-file"
    )
    assert str(problem) == 'index.graphql:2:15: "missing.graphql" does not exist'


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
        f'index.graphql:2:15: "{shown}" lies outside the endpoint folder'
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

    assert str(caught.value) == (
        'index.graphql:2:15: "loop/a.graphql" cannot be read: Too many levels of symbolic links'
    )


def test_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    assert reported(tmp_path, {"index.graphql": "\ufefftype Query { a: Foo }"}) == [
        "index.graphql:1:17: Unknown type 'Foo'."
    ]


def test_file_of_more_than_8_mb_is_refused_unread(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, {"index.graphql": QUERY + including("huge.graphql")})
    with (folder / "huge.graphql").open("wb") as huge:
        huge.truncate(MAX_FILE_BYTES + 1)

    with pytest.raises(CompileError) as caught:
        compile_endpoint(folder)

    assert str(caught.value) == 'index.graphql:2:15: "huge.graphql" has 8000001 bytes; a file may have 8000000'


def test_name_that_no_file_can_have_is_reported(tmp_path: Path) -> None:
    index = QUERY + 'extend schema @sdl(files: ["\\u0000", "", "%s"])' % ("x" * 300)

    assert reported(tmp_path, {"index.graphql": index}) == [
        'index.graphql:2:15: "." is no file',
        'index.graphql:2:15: "\\x00" has a character that no file\'s name can have',
        'index.graphql:2:15: "' + "x" * 300 + '" cannot be read: File name too long',
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
NAMED = {"types.graphql": 'index.graphql:2:3: "types.graphql"', "ops.graphql": 'index.graphql:3:3: "ops.graphql"'}
"""Where an author names a file is where it is reported."""


def subject(name: str) -> str:
    """How the problem of a file begins."""
    return NAMED.get(name, f"{name}: it")


def folder_without(tmp_path: Path, name: str) -> Path:
    folder = write_endpoint(tmp_path, WHOLE)
    (folder / name).unlink()
    return folder


def lines_of(folder: Path) -> list[str]:
    with pytest.raises(CompileError) as caught:
        compile_endpoint(folder)
    return str(caught.value).split("\n")


def test_folder_of_all_kinds_of_files_compiles(tmp_path: Path) -> None:
    assert compiled(tmp_path, WHOLE).bundle.limits.max_depth == 3


@pytest.mark.parametrize("name", ["index.graphql", *NAMED])
def test_missing_file_is_reported(tmp_path: Path, name: str) -> None:
    assert lines_of(folder_without(tmp_path, name)) == [f"{subject(name)} does not exist"]


@pytest.mark.parametrize("name", WHOLE)
def test_link_to_nothing_in_the_place_of_a_file_is_reported(tmp_path: Path, name: str) -> None:
    folder = folder_without(tmp_path, name)
    (folder / name).symlink_to("gone")

    assert lines_of(folder) == [f"{subject(name)} does not exist"]


@pytest.mark.parametrize("name", WHOLE)
def test_folder_in_the_place_of_a_file_is_reported(tmp_path: Path, name: str) -> None:
    folder = folder_without(tmp_path, name)
    (folder / name).mkdir()

    assert lines_of(folder) == [f"{subject(name)} is no file"]


@pytest.mark.parametrize("name", WHOLE)
def test_file_that_waits_for_a_writer_is_reported_at_once(tmp_path: Path, name: str) -> None:
    folder = folder_without(tmp_path, name)
    os.mkfifo(folder / name)

    assert lines_of(folder) == [f"{subject(name)} is no file"]


@pytest.mark.parametrize("name", WHOLE)
def test_file_that_the_system_does_not_open_is_reported_with_its_reason(tmp_path: Path, name: str) -> None:
    folder = folder_without(tmp_path, name)
    (folder / name).symlink_to((folder / name).name)  # a circle: no right of any user opens it

    assert lines_of(folder) == [f"{subject(name)} cannot be read: Too many levels of symbolic links"]


@pytest.mark.parametrize("name", WHOLE)
def test_file_that_its_owner_may_not_read_is_reported(tmp_path: Path, name: str) -> None:
    folder = write_endpoint(tmp_path, WHOLE)
    (folder / name).chmod(0)
    if os.access(folder / name, os.R_OK):
        pytest.skip("this user may read any file")

    assert lines_of(folder) == [f"{subject(name)} cannot be read: Permission denied"]


@pytest.mark.parametrize("name", WHOLE)
def test_file_that_is_not_utf8_is_reported(tmp_path: Path, name: str) -> None:
    folder = write_endpoint(tmp_path, WHOLE)
    (folder / name).write_bytes("# Köln\n# Würzburg\n".encode().replace("ü".encode(), b"\xfc"))

    assert lines_of(folder) == [f"{subject(name)} is not UTF-8: line 2 has a byte that cannot be read"]


@pytest.mark.parametrize("name", WHOLE)
def test_file_of_20_mb_is_reported(tmp_path: Path, name: str) -> None:
    folder = write_endpoint(tmp_path, WHOLE)
    os.truncate(folder / name, 20_000_000)

    assert lines_of(folder) == [f"{subject(name)} has 20000000 bytes; a file may have 8000000"]


@pytest.mark.parametrize("name", WHOLE)
def test_link_to_a_file_outside_is_refused(tmp_path: Path, name: str) -> None:
    folder = folder_without(tmp_path, name)
    (tmp_path / "outside").write_text(WHOLE[name], encoding="utf-8")
    (folder / name).symlink_to(tmp_path / "outside")

    assert lines_of(folder) == [f"{subject(name)} lies outside the endpoint folder"]


@pytest.mark.parametrize("name", NAMED)
def test_name_that_leads_outside_is_refused(tmp_path: Path, name: str) -> None:
    files = {**WHOLE, "index.graphql": INDEX.replace(name, f"../{name}")}
    folder = write_endpoint(tmp_path, files)
    (folder / name).rename(folder.parent / name)

    assert lines_of(folder) == [f"{NAMED[name].replace(name, f'../{name}')} lies outside the endpoint folder"]


def test_folder_of_operations_that_links_outside_is_refused(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, WHOLE)
    (folder / "operations").rename(tmp_path / "outside")
    (folder / "operations").symlink_to(tmp_path / "outside")

    assert lines_of(folder) == ["operations/found.graphql: it lies outside the endpoint folder"]


def test_files_that_include_each_other_are_reported_with_the_whole_chain(tmp_path: Path) -> None:
    files = {
        "index.graphql": including("a/one.graphql") + QUERY,
        "a/one.graphql": including("b/two.graphql"),
        "a/b/two.graphql": "\n" + including("../one.graphql"),
    }

    chain = "index.graphql -> a/one.graphql -> a/b/two.graphql -> a/one.graphql"
    assert reported(tmp_path, files) == [f"a/b/two.graphql:2:15: files include each other: {chain}"]


def test_file_that_includes_itself_is_reported(tmp_path: Path) -> None:
    assert reported(tmp_path, {"index.graphql": QUERY + including("sub/../index.graphql")}) == [
        "index.graphql:2:15: files include each other: index.graphql -> index.graphql"
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

    assert reported(tmp_path, files) == [
        "one/o.graphql:1:11: Cannot query field 'b' on type 'Query'. Did you mean 'a'?"
    ]


def test_sources_digest_tells_the_authors_files_apart(tmp_path: Path) -> None:
    one = compiled(tmp_path / "1", {"index.graphql": QUERY}).bundle
    same = compiled(tmp_path / "2", {"index.graphql": QUERY, "notes.txt": "not read"}).bundle
    other = compiled(tmp_path / "3", {"index.graphql": QUERY + "# a comment"}).bundle

    assert one.sources == same.sources
    assert one.sources != other.sources
    assert one.index == other.index
