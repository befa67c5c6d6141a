"""Half of a surrogate pair goes out on no route: official clients cannot read it, and some wait for ever."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.acme_halves import HALF
from tests.support.endpoints import PUBLIC, compiled
from tests.support.function import META, MODERN, Answer, Function, running_function
from tests.support.kits import with_kit
from tests.support.raw_http import answer, answering, running_server

MODULE = "tests.support.acme_halves"
WHOLE = "Party \ufffd"
FILES = {
    "index.graphql": "type Query { note: String } type Mutation { b: Int }",
    "operations/note.graphql": "query Note { note }",
    "prompts/echo.md": "---\narguments: [{name: text}]\n---\nSay {{text}}\n",
}


@pytest.fixture
def function(tmp_path: Path) -> Iterator[Function]:
    body = json.dumps({"data": {"note": HALF}, "errors": [{"message": HALF}]}).encode()
    with running_server(answering(answer(body, content_type="application/json"))) as api:
        config = f"upstream: {{url: '{api.url}'}}\ngraphql: on\n{PUBLIC}"
        made = with_kit(compiled(tmp_path, {**FILES, "config.yaml": config}), f"{MODULE}:kit")
        with running_function(made, code_modules=[MODULE]) as running:
            yield running


def called(function: Function, tool: str) -> Answer:
    return function.call(tool, {})


def told(function: Function) -> Answer:
    """What a tool tells before its answer, in an event stream."""
    meta = {**META, "io.modelcontextprotocol/logLevel": "info"}
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "told", "arguments": {}, "_meta": meta},
    }
    routing = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "told"}
    return function.post(message, headers={**routing, "accept": "application/json, text/event-stream"})


ROUTES: dict[str, tuple[Callable[[Function], Answer], int]] = {
    "data": (lambda function: called(function, "data"), 10),
    "data in a batch": (
        lambda function: function.post(
            [{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "data", "arguments": {}}}]
        ),
        5,  # in the text alone, as batches are of a revision without structured content
    ),
    "text": (lambda function: called(function, "text"), 1),
    "refusal": (lambda function: called(function, "refused"), 1),
    "JSON-RPC error": (lambda function: called(function, "protocol"), 3),
    "message before the answer": (told, 1),
    "prompt in Python": (lambda function: function.request("prompts/get", {"name": "greeting"}), 1),
    "prompt": (
        lambda function: function.request("prompts/get", {"name": "echo", "arguments": {"text": HALF}}),
        1,
    ),
    "resource": (lambda function: function.request("resources/read", {"uri": "acme://half"}), 1),
    "resource that is not there": (lambda function: function.request("resources/read", {"uri": HALF}), 2),
    "tool that is not there": (lambda function: called(function, HALF), 2),
    "GraphQL": (lambda function: function.graphql({"query": "{ note }"}), 2),
    "GraphQL tool": (lambda function: function.query("api-things", "{ note }"), 2),
    "unknown path": (lambda function: function.send("GET", f"/api/things/{HALF}"), 0),
}  # fmt: skip


@pytest.mark.parametrize("route", ROUTES)
def test_half_of_a_surrogate_pair_goes_out_on_no_route(function: Function, route: str) -> None:
    ask, times = ROUTES[route]

    body = ask(function).body.decode()

    assert "\\ud83c" not in body
    assert body.count("\ufffd") == times


@pytest.mark.parametrize("structured", [True, False])
def test_data_of_a_tool_in_python_is_the_same_in_both_forms(function: Function, structured: bool) -> None:
    result = called(function, "data").result

    found: Any = result["structuredContent"] if structured else json.loads(result["content"][0]["text"])
    (title, key) = found
    assert (title, found[title], found[key]) == ("title", WHOLE, [WHOLE])
    assert set(key) == set(WHOLE)  # pydantic, which writes the key, puts a mark for each byte


class Written(logging.Handler):
    """Writes UTF-8, and lets an error through, as the handler of Lambda's runtime does."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record).encode().decode())


def test_exception_with_half_of_a_surrogate_pair_can_be_logged(function: Function) -> None:
    log, written = logging.getLogger("stile.tools"), Written()
    log.addHandler(written)
    try:
        result = called(function, "broken").result
    finally:
        log.removeHandler(written)

    assert result["content"] == [{"type": "text", "text": "Tool execution failed"}]
    assert f"LookupError: {WHOLE}" in written.lines[0]
