from __future__ import annotations

import json
from pathlib import Path

from tests.support.diagnostics import Reported
from tests.support.endpoints import compiled, doubted, prescribed_tool, reported

SDL = """
scalar Upload
input Post { title: String, parts: [Part!], parent: Post }
input Part { text: String, image: Upload }
input Scan { image: Upload! }
input Report { title: String, scan: Scan, pages: [Scan!] }
input Album { cover: Scan! }
input Pile { files: [Upload!], scans: [Scan!] }
type Query {
  a(file: Upload, files: [Upload!], post: Post, report: Report, album: Album, pile: Pile, scan: Scan): Int
}
"""


def test_operation_that_needs_a_file_is_refused_at_its_variable(tmp_path: Path) -> None:
    files = {
        "index.graphql": SDL,
        "operations/direct.graphql": "query Direct($f: Upload!, $g: [Upload!]!) @mcpTool { a(file: $f, files: $g) }",
        "operations/deep.graphql": "query Deep($in: Album!) @mcpTool { a(album: $in) }",
        "operations/nothing.graphql": "query NothingElse($in: Pile!) @mcpTool { a(pile: $in) }",
        "operations/bound.graphql": 'query Bound($in: Scan! @mcpBind(header: "x-scan")) @mcpTool { a(scan: $in) }',
        "operations/none.graphql": "query None @mcpTool { a }",
    }

    assert [line for line in reported(tmp_path, files) if "Upload" in line] == [
        'operations/bound.graphql:1:13 upload-argument: $in & "Upload"',
        'operations/deep.graphql:1:12 upload-argument: $in & "Upload"',
        'operations/direct.graphql:1:14 upload-argument: $f & "Upload"',
        'operations/direct.graphql:1:27 upload-argument: $g & "Upload"',
        'operations/nothing.graphql:1:19 upload-argument: $in & "Upload"',
    ]


def test_file_that_an_operation_can_do_without_is_left_out(tmp_path: Path) -> None:
    operation = """
query O($file: Upload, $scan: Scan, $post: Post!, $report: Report, $title: String) @mcpTool(title: "O") {
  a(file: $file, scan: $scan, post: $post, report: $report)
  b: a(post: {title: $title})
}
"""

    made = compiled(tmp_path, {"index.graphql": SDL, "operations/o.graphql": operation})
    tool = prescribed_tool(made, "O")

    properties = tool.entry["inputSchema"]["properties"]
    assert list(properties) == ["post", "report", "title"]
    assert list(properties["report"]["properties"]) == ["title"]
    assert "image" not in json.dumps([tool.entry["inputSchema"], tool.arguments])
    assert [Reported(warning) for warning in made.warnings if "Upload" in str(warning)] == [
        'operations/o.graphql:2:9 upload-left-out: "Upload"',
        'operations/o.graphql:2:24 upload-left-out: "Upload"',
        'operations/o.graphql:2:37 upload-left-out: "Upload"',
        'operations/o.graphql:2:51 upload-left-out: "Upload"',
    ]


def test_file_that_nobody_can_give_is_none(tmp_path: Path) -> None:
    files = {
        "index.graphql": "scalar Upload input Post { title: String, image: Upload } type Query { a(post: Post): Int }",
        "operations/o.graphql": "query O($in: Post!) @mcpTool { a(post: $in) }",
        "config.yaml": "access: {hide: [Post.image]}",
    }

    tool = prescribed_tool(compiled(tmp_path, files), "O")

    assert list(tool.entry["inputSchema"]["properties"]["in"]["properties"]) == ["title"]


def test_upload_that_the_author_describes_is_a_scalar_like_others(tmp_path: Path) -> None:
    files = {
        "index.graphql": "scalar Upload type Query { a(file: Upload): Int }",
        "operations/o.graphql": "query O($file: Upload) @mcpTool { a(file: $file) }",
        "config.yaml": "scalars: {Upload: {type: string, format: uri}}",
    }

    tool = prescribed_tool(compiled(tmp_path, files), "O")

    assert tool.entry["inputSchema"]["properties"]["file"] == {"type": "string", "format": "uri"}


def test_persisted_operation_that_is_no_tool_may_take_a_file(tmp_path: Path) -> None:
    files = {
        "index.graphql": 'extend schema @sdl(executables: [{document: "o.graphql", persist: true}]) '
        "scalar Upload type Query { a(file: Upload): Int }",
        "o.graphql": "query O($file: Upload) { a(file: $file) }",
    }

    assert not [line for line in doubted(tmp_path, files) if "Upload" in line]
