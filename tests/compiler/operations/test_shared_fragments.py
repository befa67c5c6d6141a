"""Fragments in other files than the operations that use them."""

from __future__ import annotations

from pathlib import Path

from handler.bundle.tools import PrescribedTool
from tests.support.endpoints import compiled, reported

FILES = {
    "index.graphql": "type Query { a: A } type A { id: ID name: String next: A }",
    "config.yaml": "tools: operations\n",
    "operations/one.graphql": "query One { a { ...Short } }",
    "operations/two.graphql": "query Two { a { ...Long } }",
    "operations/fragments/long.gql": "fragment Long on A { ...Short next { ...Short } }",
    "operations/fragments/short.graphql": "fragment Short on A { id name }",
}


def sent_by(folder: Path, files: dict[str, str]) -> dict[str, str]:
    tools = [each.tool for each in compiled(folder, files).made]
    return {tool.name: " ".join(tool.operation.text.split()) for tool in tools if isinstance(tool, PrescribedTool)}


def test_operations_take_fragments_of_other_files(tmp_path: Path) -> None:
    short = "fragment Short on A { id name }"

    assert sent_by(tmp_path, FILES) == {
        "One": f"query One {{ a {{ ...Short }} }} {short}",
        "Two": f"query Two {{ a {{ ...Long }} }} fragment Long on A {{ ...Short next {{ ...Short }} }} {short}",
    }


def test_file_of_fragments_alone_is_no_persisted_document(tmp_path: Path) -> None:
    documents = compiled(tmp_path, FILES).documents

    assert [each.file for each in documents] == ["operations/one.graphql", "operations/two.graphql"]


def test_fragment_that_only_another_file_uses_may_be_beside_an_operation(tmp_path: Path) -> None:
    files = {
        **{name: FILES[name] for name in ("index.graphql", "config.yaml", "operations/one.graphql")},
        "operations/three.graphql": "query Three { a { id } } fragment Short on A { name }",
    }

    assert sent_by(tmp_path, files) == {
        "One": "query One { a { ...Short } } fragment Short on A { name }",
        "Three": "query Three { a { id } }",
    }


def test_own_fragment_comes_before_that_of_another_file(tmp_path: Path) -> None:
    files = {
        **{name: FILES[name] for name in ("index.graphql", "config.yaml")},
        "operations/one.graphql": "query One { a { ...Short } } fragment Short on A { next { id } }",
        "operations/two.graphql": "query Two { a { ...Short } } fragment Short on A { id name }",
    }

    assert sent_by(tmp_path, files)["One"] == "query One { a { ...Short } } fragment Short on A { next { id } }"


def test_two_fragments_of_one_name_that_an_operation_reaches_are_refused(tmp_path: Path) -> None:
    files = {**FILES, "operations/z.graphql": "fragment Short on A { next { id } }"}

    assert "operations/z.graphql:1:1 duplicate-definition: Short & operations/fragments/short.graphql:1:1" in reported(
        tmp_path, files
    )


def test_own_fragment_does_not_replace_the_one_that_a_taken_fragment_means(tmp_path: Path) -> None:
    files = {
        "index.graphql": FILES["index.graphql"],
        "operations/a.graphql": "query A { a { ...Long ...Short } } fragment Short on A { id }",
        "operations/b.graphql": "query B { a { ...Long } } fragment Long on A { ...Short }"
        " fragment Short on A { name }",
    }

    assert [each.partition(":")[0] for each in reported(tmp_path, files)] == ["operations/b.graphql"]


def test_equal_fragments_of_several_files_are_one(tmp_path: Path) -> None:
    files = {**FILES, "operations/z.graphql": "query Z { a { ...Short } } fragment Short on A { id, name }"}

    assert sent_by(tmp_path, files)["One"] == "query One { a { ...Short } } fragment Short on A { id name }"


def test_fragment_that_no_operation_uses_is_refused_at_its_place(tmp_path: Path) -> None:
    files = {**FILES, "operations/fragments/unused.graphql": "fragment Unused on A { id }"}

    assert {each.split(" ")[0].rsplit(":", 2)[0] for each in reported(tmp_path, files)} == {
        "operations/fragments/unused.graphql"
    }


def test_mistake_in_a_taken_fragment_is_reported_once_in_its_own_file(tmp_path: Path) -> None:
    files = {**FILES, "operations/fragments/short.graphql": "fragment Short on A { id nam }"}

    assert reported(tmp_path, files) == ["operations/fragments/short.graphql:1:26 unknown-field"]


def test_fragments_in_a_circle_over_files_are_refused(tmp_path: Path) -> None:
    files = {**FILES, "operations/fragments/short.graphql": "fragment Short on A { ...Long }"}

    assert "fragment-cycle" in {each.partition(": ")[0].split(" ")[1] for each in reported(tmp_path, files)}
