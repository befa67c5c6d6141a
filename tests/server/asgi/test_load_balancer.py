"""A load balancer in front of the function, which takes less of an answer than Lambda does.

Source: the guide of Application Load Balancers, "Use Lambda functions as targets".
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.server.mcp.listing.test_pages import made, pages_of
from tests.support.api import Asked, Reply, running_api
from tests.support.codes import graphql_errors
from tests.support.endpoints import READABLE, compiled
from tests.support.function import Function, running_function

TAKEN_BYTES = 1_048_576
TOO_LARGE = "The result is larger than an answer may be. Ask for fewer rows or fields."
TEXTS = {'"': 300_000, "x": 1_100_000, "ü": 550_000, "\n": 400_000, "\x00": 200_000, "😀": 300_000}
"""How much of each is too much for a load balancer, and not for Lambda."""


def behind_load_balancer(function: Function, *, multi_value: bool = False) -> tuple[Function, list[int]]:
    """The function, sent the events of a load balancer, and the sizes of its answers as Lambda hands them over."""
    sizes: list[int] = []

    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        names = ("multiValueHeaders", "multiValueQueryStringParameters") if multi_value else ("headers", "")
        headers = {name: [value] if multi_value else value for name, value in event["headers"].items()}
        event = {
            "requestContext": {"elb": {"targetGroupArn": "arn:aws:elasticloadbalancing:us-east-1:1:targetgroup/a/b"}},
            "httpMethod": event["requestContext"]["http"]["method"],
            "path": event["rawPath"],
            names[0]: headers,
            names[1] or "queryStringParameters": {},
            "body": event["body"],
            "isBase64Encoded": event["isBase64Encoded"],
        }
        answered: dict[str, Any] = function.handler(event, context)
        sizes.append(len(json.dumps(answered, ensure_ascii=False).encode()))
        assert ("multiValueHeaders" in answered, "headers" in answered) == (multi_value, not multi_value)
        if multi_value:
            answered["headers"] = {name: ",".join(values) for name, values in answered["multiValueHeaders"].items()}
        return answered

    return replace(function, handler=handler), sizes


@contextmanager
def answering(folder: Path, text: str) -> Iterator[Function]:
    """An endpoint over an API whose only field has this text."""
    raw = json.dumps({"data": {"a": text}}, ensure_ascii=False).encode()

    def answer(_: Asked) -> Reply:
        return Reply(raw)

    with running_api(answer) as api:
        config = f"upstream: {{url: '{api.url}', max_bytes: 50000000}}\ngraphql: on\n{READABLE}"
        config += "limits: {max_result_bytes: 0}\n"
        files = {
            "index.graphql": "type Query { a: String }",
            "operations/all.graphql": "query O @mcpTool { a }",
            "config.yaml": config,
        }
        with running_function(compiled(folder, files)) as function:
            yield function


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("multi_value", [False, True])
def test_answer_always_fits_a_load_balancer(tmp_path: Path, text: str, *, multi_value: bool) -> None:
    with answering(tmp_path / "large", text * TEXTS[text]) as function:
        balanced, sizes = behind_load_balancer(function, multi_value=multi_value)
        refused = [balanced.call("O", {}), balanced.graphql({"query": "{ a }"})]
        direct = [function.call("O", {}), function.graphql({"query": "{ a }"})]
    with answering(tmp_path / "small", text * 40_000) as function:
        balanced, small = behind_load_balancer(function, multi_value=multi_value)
        taken = [balanced.call("O", {}), balanced.graphql({"query": "{ a }"})]

    assert max(sizes + small) <= TAKEN_BYTES
    assert (refused[0].code, refused[0].text) == ("upstream-too-large", TOO_LARGE)
    assert (refused[1].status, refused[1].json) == (502, graphql_errors(TOO_LARGE, "upstream-too-large"))
    assert [answer.status for answer in [*direct, *taken]] == [200] * 4
    assert not direct[0].result.get("isError")
    assert not taken[0].result.get("isError")


def test_batch_ends_with_the_room_of_a_load_balancer(tmp_path: Path) -> None:
    message = {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "O", "arguments": {}}}
    with answering(tmp_path, "x" * 100_000) as function:
        balanced, sizes = behind_load_balancer(function)
        batch = [{**message, "id": number} for number in range(20)]
        answered = balanced.post(batch, headers={"mcp-protocol-version": "2025-03-26"})

    assert max(sizes) <= TAKEN_BYTES
    said = ["result" in item for item in answered.json]
    assert said == sorted(said, reverse=True)
    assert 0 < sum(said) < 10


def test_lists_are_paged_for_a_load_balancer(tmp_path: Path) -> None:
    with running_function(made(tmp_path, [40_000] * 30)) as function:
        balanced, sizes = behind_load_balancer(function)
        pages, direct = pages_of(balanced), pages_of(function)

    names = [tool["name"] for page in pages for tool in page["tools"]]
    assert names == [tool["name"] for page in direct for tool in page["tools"]]
    assert len(pages) > len(direct)
    assert max(sizes) <= TAKEN_BYTES


def test_tool_that_a_load_balancer_does_not_take_is_left_out_and_the_log_says_so(tmp_path: Path) -> None:
    with running_function(made(tmp_path, [10, 1_100_000, 600_000])) as function:
        balanced, sizes = behind_load_balancer(function)
        pages, direct = pages_of(balanced), pages_of(function)

    assert [tool["name"] for page in pages for tool in page["tools"]] == ["Q0", "Q2"]
    assert [tool["name"] for page in direct for tool in page["tools"]] == ["Q0", "Q1", "Q2"]
    assert function.lines[0]["too_large"] == "Q1"
    assert max(sizes) <= TAKEN_BYTES


def test_schema_and_prompt_that_a_load_balancer_does_not_take_are_errors_that_say_so(tmp_path: Path) -> None:
    files = {
        "index.graphql": f'type Query {{ """{"x" * 1_000_000}""" a: Int }}',
        "config.yaml": READABLE + "graphql: on\n",
        "prompts/long.md": "---\narguments: [{name: a}]\n---\n" + "{{a}}" * 20,
    }
    with running_function(compiled(tmp_path, files)) as function:
        balanced, sizes = behind_load_balancer(function)
        uri = balanced.request("resources/list").result["resources"][0]["uri"]
        params = {"name": "long", "arguments": {"a": "\x00" * 9_900}}
        answers = [
            balanced.request("resources/read", {"uri": uri}),
            balanced.request("prompts/get", params),
        ]
        direct = [function.request("resources/read", {"uri": uri}), function.request("prompts/get", params)]

    assert [answer.json["error"]["message"] for answer in answers] == [
        "The resource is larger than an answer may be",
        TOO_LARGE,
    ]
    assert all("result" in answer.json for answer in direct)
    assert max(sizes) <= TAKEN_BYTES


def test_request_of_more_than_a_megabyte_is_refused_as_by_the_load_balancer_itself(tmp_path: Path) -> None:
    files = {"index.graphql": "type Query { a: Int }", "config.yaml": READABLE}
    with running_function(compiled(tmp_path, files)) as function:
        balanced, _ = behind_load_balancer(function)

        assert balanced.post(" " * 1_048_577).status == 413
