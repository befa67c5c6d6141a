"""The sources of operations, in their order of precedence."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from handler.compiler.compile_context import read_context
from handler.compiler.operations.author_operations import OperationText
from handler.compiler.operations.sources import operation_texts
from handler.compiler.schema.schema import read_schema
from tests.support.endpoints import write_endpoint

QUERY = "type Query { a: Int }\n"


def texts(folder: Path, files: dict[str, str]) -> list[OperationText]:
    context = read_context(write_endpoint(folder, files), stage=None, endpoint=None, environ={})
    author = read_schema(context.files, context.project, problems=context.problems)
    return operation_texts(context, author)


def test_texts_of_the_schema_come_before_those_of_the_folder(tmp_path: Path) -> None:
    files = {
        "index.graphql": 'extend schema @sdl(executables: [{document: "z.graphql"}])' + QUERY,
        "z.graphql": "query Z { a }",
        "operations/b.graphql": "query B { a }",
        "operations/a.gql": "query A { a }",
    }

    found = [(each.file, each.persisted, each.called_by_id) for each in texts(tmp_path, files)]

    assert found == [
        ("z.graphql", False, True),
        ("operations/a.gql", True, False),
        ("operations/b.graphql", True, False),
    ]


def test_text_of_two_sources_is_that_of_the_first(tmp_path: Path) -> None:
    files = {
        "index.graphql": 'extend schema @sdl(executables: [{document: "operations/a.graphql"}])' + QUERY,
        "operations/a.graphql": "query A { a }",
    }

    (found,) = texts(tmp_path, files)

    assert (found.file, found.persisted, found.called_by_id) == ("operations/a.graphql", False, True)
    assert found.id == f"sha256:{sha256(b'query A { a }').hexdigest()}"
    assert found.source is not None
    assert found.source.body == "query A { a }"


def test_unreadable_text_has_neither_source_nor_id(tmp_path: Path) -> None:
    files = {"index.graphql": 'extend schema @sdl(executables: [{document: "gone.graphql", persist: true}])' + QUERY}

    (found,) = texts(tmp_path, files)

    assert (found.file, found.source, found.id) == ("gone.graphql", None, "")
