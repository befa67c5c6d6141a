from __future__ import annotations

import json
from pathlib import Path

import pytest

from handler.compiler.compile import compile_endpoint
from tests.support.endpoints import compiled, doubted, reported, write_endpoint

QUERY = "type Query { a: Int }\n"


def below(root: object, files: dict[str, str]) -> dict[str, str]:
    return {"stepzen.config.json": json.dumps({"endpoint": "shop/orders", "root": root}), **files}


@pytest.mark.parametrize("root", ["src", "./src/", "x/../src"])
def test_files_stand_below_the_root(tmp_path: Path, root: str) -> None:
    files = {
        "src/index.graphql": QUERY,
        "src/config.yaml": "limits: {max_depth: 3}",
        "src/config.prod.yaml": "limits: {max_fields: 4}",
        "src/operations/o.graphql": "query O @mcpTool { a }",
        "config.yaml": "this is not read",
    }

    bundle = compile_endpoint(write_endpoint(tmp_path, below(root, files)), stage="prod").bundle

    assert bundle.endpoint == "shop/orders"
    assert (bundle.limits.max_depth, bundle.limits.max_fields) == (3, 4)
    assert [tool.name for tool in bundle.tools] == ["O"]


def test_problems_below_the_root_are_located_from_the_folder(tmp_path: Path) -> None:
    files = {
        "src/index.graphql": 'extend schema @sdl(files: "gone.graphql")',
        "src/config.yaml": "speed: 1",
        "src/operations/o.graphql": "query",
    }

    assert reported(tmp_path, below("src", files)) == [
        'src/config.yaml:1:1 unknown-key: "speed"',
        'src/index.graphql:1:27 unreadable-file: "src/gone.graphql"',
        "src/operations/o.graphql:1:6 syntax-error: '{'",
    ]


def test_what_concerns_the_whole_endpoint_is_located_below_the_root(tmp_path: Path) -> None:
    assert doubted(tmp_path / "1", below("src", {"src/index.graphql": QUERY})) == [
        'src/index.graphql default-tool: "shop-orders"'
    ]
    assert reported(tmp_path / "2", below("src", {"src/index.graphql": "type Mutation { a: Int }"})) == [
        "src/index.graphql missing-query-type"
    ]


def test_root_without_an_index_is_reported(tmp_path: Path) -> None:
    assert reported(tmp_path, below("src", {"index.graphql": QUERY})) == ["src/index.graphql unreadable-file: exist"]


@pytest.mark.parametrize("root", ["..", "../other", "a/../../b", "/etc", 5, None, "a\0b", "\ud800", "x" * 300])
def test_root_that_is_no_folder_below_is_reported(tmp_path: Path, root: object) -> None:
    assert reported(tmp_path, below(root, {"index.graphql": QUERY})) == [
        'stepzen.config.json:1:29 invalid-project-file: "root"'
    ]


@pytest.mark.parametrize("root", ["src", "./src/"])
def test_root_is_known_although_the_file_that_names_it_is_no_json(tmp_path: Path, root: str) -> None:
    files = {"stepzen.config.json": f'{{"root": "{root}",\n "endpoint": a/b}}', "src/index.graphql": QUERY}

    assert reported(tmp_path, files) == ["stepzen.config.json:2:14 invalid-project-file"]


def test_root_that_links_outside_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "index.graphql").write_text(QUERY, encoding="utf-8")
    folder = write_endpoint(tmp_path, below("src", {}))
    (folder / "src").symlink_to(tmp_path / "elsewhere")

    assert reported(tmp_path, {}) == ["src/index.graphql unreadable-file: outside"]


def test_file_above_the_root_may_be_included(tmp_path: Path) -> None:
    files = {"src/index.graphql": 'extend schema @sdl(files: "../types.graphql")', "types.graphql": QUERY}

    assert compiled(tmp_path, below("src", files)).bundle.endpoint == "shop/orders"
