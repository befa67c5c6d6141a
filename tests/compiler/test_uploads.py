from __future__ import annotations

from pathlib import Path

from tests.support.endpoints import compiled, doubted, prescribed_tool, reported


def test_an_operation_that_takes_a_file_is_refused_at_its_variable(tmp_path: Path) -> None:
    files = {
        "index.graphql": """
scalar Upload
input Post { title: String, parts: [Part!], parent: Post }
input Part { text: String, image: Upload }
type Query { a(file: Upload, files: [Upload!], post: Post): Int }
""",
        "operations/direct.graphql": "query Direct($f: Upload!, $g: [Upload!]) @mcpTool { a(file: $f, files: $g) }",
        "operations/deep.graphql": "query Deep($in: Post!) @mcpTool { a(post: $in) }",
        "operations/none.graphql": "query None @mcpTool { a }",
    }

    assert reported(tmp_path, files) == [
        'operations/deep.graphql:1:12: $in takes an "Upload" at in.parts.image: no file can be given as an argument',
        'operations/direct.graphql:1:14: $f takes an "Upload": no file can be given as an argument',
        'operations/direct.graphql:1:27: $g takes an "Upload": no file can be given as an argument',
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
