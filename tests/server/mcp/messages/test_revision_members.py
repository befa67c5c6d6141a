"""Clients get the members that their revision's schema defines, and no data is lost that text can say.

The tables are those of the published schemas, MCP 2024-11-05 to 2026-07-28: ``Tool``, ``Prompt``, ``Resource``,
``ResourceTemplate``, ``CallToolResult``, ``PromptMessage`` and ``ResourceContents``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp_types import methods as oracle

from handler.server.mcp.revisions import shape
from tests.support.endpoints import READABLE, compiled
from tests.support.every_method import ask
from tests.support.function import Function, running_function
from tests.support.kits import with_kit

FIRST, BATCHES, STRUCTURED, ICONS, MODERN = "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"
REVISIONS = (FIRST, BATCHES, STRUCTURED, ICONS, MODERN)
OLD = (FIRST, BATCHES)

_TOOL = {"name", "description", "inputSchema"}
_NAMED = {"title", "_meta"}
TOOLS: Mapping[str, set[str]] = {
    FIRST: _TOOL,
    BATCHES: {*_TOOL, "annotations"},
    STRUCTURED: {*_TOOL, "annotations", "outputSchema", *_NAMED},
    ICONS: {*_TOOL, "annotations", "outputSchema", *_NAMED, "icons"},
    MODERN: {*_TOOL, "annotations", "outputSchema", *_NAMED, "icons"},
}
OTHERS: Mapping[str, tuple[str, set[str]]] = {
    "prompts/list": ("prompts", {"name", "description"}),
    "resources/list": ("resources", {"uri", "name", "description", "mimeType", "size"}),
    "resources/templates/list": ("resourceTemplates", {"uriTemplate", "name", "description"}),
}


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Function]:
    files = {
        "index.graphql": "type Query { a: Int }",
        "resources/a.md": "# A",
        "config.yaml": READABLE,
    }
    made = with_kit(compiled(tmp_path_factory.mktemp("blocks"), files), "tests.support.acme_blocks:kit")
    with running_function(made, code_modules=("tests.support",)) as running:
        yield running


def called(function: Function, revision: str, tool: str) -> Any:
    result = ask(function, revision, "tools/call", {"name": tool, "arguments": {}}).result
    oracle.validate_server_result("tools/call", revision, result)
    return result


@pytest.mark.parametrize("revision", REVISIONS)
def test_entries_of_tools_have_the_members_of_their_revision(function: Function, revision: str) -> None:
    tools = {tool["name"]: tool for tool in ask(function, revision, "tools/list", {}).result["tools"]}

    members = {name for tool in tools.values() for name in tool}
    assert members == TOOLS[revision]
    assert tools["blocks"]["description"] == "All kinds of content."


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("method", OTHERS)
def test_entries_of_prompts_and_resources_have_the_members_of_their_revision(
    function: Function, method: str, revision: str
) -> None:
    key, first = OTHERS[method]

    members = {name for entry in ask(function, revision, method, {}).result[key] for name in entry}

    assert members == (first if revision in OLD else {*first, *_NAMED})


def test_an_entry_is_the_same_before_and_after_another_revision_was_asked_for(function: Function) -> None:
    before, _, after = (ask(function, each, "tools/list", {}).body for each in (ICONS, FIRST, ICONS))

    assert before == after


@pytest.mark.parametrize("revision", REVISIONS)
def test_data_is_text_where_there_is_no_structured_content(function: Function, revision: str) -> None:
    # MCP 2025-06-18, server/tools: "a tool that returns structured content SHOULD also return the serialized JSON".
    result = called(function, revision, "counted")

    (block,) = result["content"]
    assert json.loads(block["text"]) == {"count": 3}
    assert ("structuredContent" in result) is (revision not in OLD)


@pytest.mark.parametrize("revision", OLD)
def test_a_value_that_structured_content_wraps_is_said_once(function: Function, revision: str) -> None:
    assert called(function, revision, "wrapped") == {"content": [{"type": "text", "text": "[1,2]"}]}


@pytest.mark.parametrize("revision", OLD)
def test_data_that_no_text_says_becomes_one(function: Function, revision: str) -> None:
    texts = [block["text"] for block in called(function, revision, "summed_up")["content"]]

    assert texts == ["Three rows.", '{"rows":3}']


@pytest.mark.parametrize("revision", REVISIONS)
def test_data_that_is_no_object_is_text_until_any_json_may_be_structured(function: Function, revision: str) -> None:
    # MCP 2025-11-25, schema, CallToolResult.structuredContent: "An optional JSON object".
    result = called(function, revision, "several")

    assert result.get("structuredContent") == ([1, 2] if revision == MODERN else None)
    assert [block["text"] for block in result["content"]] == ["Two rows.", *([] if revision == MODERN else ["[1,2]"])]


@pytest.mark.parametrize("revision", REVISIONS)
def test_blocks_are_of_kinds_that_their_revision_has(function: Function, revision: str) -> None:
    # MCP 2025-03-26, "Key Changes": "Added support for audio data"; 2025-06-18: "Add support for resource links".
    blocks = called(function, revision, "blocks")["content"]

    audio = "text" if revision == FIRST else "audio"
    link = "text" if revision in OLD else "resource_link"
    assert [block["type"] for block in blocks] == ["text", "image", audio, link, link, "resource"]
    metas = ["_meta" in block for block in blocks]
    assert metas == ([False] * 6 if revision in OLD else [True, False, False, True, False, True])
    noted = (
        {"audience": ["user"]} if revision in OLD else {"audience": ["user"], "lastModified": "2026-01-02T03:04:05Z"}
    )
    assert [block.get("annotations") for block in blocks] == [noted, None, None, noted, None, None]


@pytest.mark.parametrize("revision", OLD)
def test_links_become_text_that_tells_their_uri(function: Function, revision: str) -> None:
    _, _, _, described, named, _ = called(function, revision, "blocks")["content"]

    assert (described["text"], named["text"]) == ("A: acme://a\nThe first.", "B: acme://b")


def test_sound_becomes_text_where_there_is_none(function: Function) -> None:
    block = called(function, FIRST, "blocks")["content"][2]

    assert block == {"type": "text", "text": "A sound (audio/wav), which this revision of MCP cannot hold."}


@pytest.mark.parametrize("revision", REVISIONS)
def test_messages_of_prompts_are_of_kinds_that_their_revision_has(function: Function, revision: str) -> None:
    result = ask(function, revision, "prompts/get", {"name": "show"}).result

    oracle.validate_server_result("prompts/get", revision, result)
    (message,) = result["messages"]
    assert message["content"]["type"] == ("text" if revision in OLD else "resource_link")


@pytest.mark.parametrize("revision", REVISIONS)
def test_contents_have_metadata_since_their_revision_has_it(revision: str) -> None:
    result = {"contents": [{"uri": "acme://a", "text": "a", "_meta": {"a": 1}}], "_meta": {"b": 1}}

    shaped = shape(result, revision, {}, introduces=False)

    assert ("_meta" in shaped["contents"][0]) is (revision not in OLD)
    assert shaped["_meta"]["b"] == 1  # of results, all revisions have it


def test_no_version_is_the_revision_without_structured_content(function: Function) -> None:
    # MCP 2025-06-18, basic/transports: without the header "the server SHOULD assume protocol version 2025-03-26".
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}

    assert {name for tool in function.post(message).result["tools"] for name in tool} == TOOLS[BATCHES]


def test_a_batch_has_the_members_of_the_one_revision_that_has_batches(function: Function) -> None:
    params = {"name": "summed_up", "arguments": {}}
    batch = [{"jsonrpc": "2.0", "id": 1, "method": method, "params": params} for method in ("tools/list", "tools/call")]

    listed, answered = (item["result"] for item in function.post(batch).json)

    assert {name for tool in listed["tools"] for name in tool} == TOOLS[BATCHES]
    assert "structuredContent" not in answered


def test_an_error_keeps_its_data_as_text() -> None:
    result = {"content": [{"type": "text", "text": "No."}], "structuredContent": {"why": "x"}, "isError": True}

    assert shape(result, BATCHES, {}, introduces=False) == {
        "content": [{"type": "text", "text": "No."}, {"type": "text", "text": '{"why":"x"}'}],
        "isError": True,
    }


def test_pages_of_an_old_revision_have_cursors_of_their_own(tmp_path: Path) -> None:
    operations = "\n".join(f'"""{"d" * 30_000}""" query Q{n} @mcpTool(title: "T") {{ a }}' for n in range(40))
    files = {
        "index.graphql": "type Query { a: Int }",
        "operations/o.gql": operations,
        "config.yaml": READABLE,
    }
    with running_function(compiled(tmp_path, files)) as function:
        first = ask(function, BATCHES, "tools/list", {}).result
        second = ask(function, BATCHES, "tools/list", {"cursor": first["nextCursor"]}).result

    names = [tool["name"] for page in (first, second) for tool in page["tools"]]
    assert names == [f"Q{n}" for n in range(40)]
    assert {name for tool in second["tools"] for name in tool} == TOOLS[BATCHES]
