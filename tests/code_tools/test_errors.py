from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from handler.errors.calls import CallError
from handler.errors.upstream import UpstreamError
from stile import InvalidParams, McpError, Text, ToolError, Toolkit
from stile.testing import TestClient
from tests.code_tools.cases import case
from tests.code_tools.echo import client_of, echo


@dataclass
class Total:
    amount: int


FAILED = {"content": [{"type": "text", "text": "Tool execution failed"}], "isError": True}


def raising(error: BaseException, **context: Any) -> TestClient:
    """A client of a tool ``crash`` that raises."""

    async def crash() -> None:
        raise error

    return client_of(crash, **context)


@case("X-001")
def test_tool_error_is_told_to_the_model_as_it_is() -> None:
    answer = raising(ToolError("it failed, try again with flag=true")).call("crash")

    assert answer.json == {
        "content": [{"type": "text", "text": "it failed, try again with flag=true"}],
        "isError": True,
    }


def test_tool_error_may_be_blocks_and_carry_data() -> None:
    answer = raising(ToolError(["a", Text("b")], data={"code": 7})).call("crash")

    assert answer.text == "a\nb"
    assert answer.json["structuredContent"] == {"code": 7}
    assert answer.is_error


@case("X-002")
@pytest.mark.parametrize(
    "error", [RuntimeError("boom"), KeyError("boom"), SystemExit("boom"), ExceptionGroup("boom", [ValueError()])]
)
def test_exception_is_told_to_the_log_alone(error: BaseException, caplog: pytest.LogCaptureFixture) -> None:
    answer = raising(error).call("crash")

    assert answer.json == FAILED
    assert "boom" not in json.dumps(answer.json)
    assert "boom" in caplog.text
    assert "tool crash failed" in caplog.text
    assert "test_errors.py" in caplog.text  # the traceback


def test_request_id_joins_the_answer_and_the_log(caplog: pytest.LogCaptureFixture) -> None:
    answer = raising(RuntimeError("boom"), request_id="r-7").call("crash")

    assert answer.json == {**FAILED, "_meta": {"request_id": "r-7"}}
    assert "failed in request r-7" in caplog.text


def test_exception_in_a_function_that_is_not_async_is_the_same() -> None:
    def crash() -> None:
        sys.exit("boom")

    def fail() -> None:
        raise ToolError("no")

    assert client_of(crash).call("crash").json == FAILED
    assert client_of(fail).call("fail").text == "no"


@case("X-003")
def test_failure_of_one_call_does_not_touch_the_next() -> None:
    kit = Toolkit()
    kit.add(echo)

    @kit.tool
    def crash() -> None:
        raise RuntimeError

    client = TestClient(kit)

    assert client.call("crash").json == FAILED
    assert client.call("echo", message="hi").text == "hi"


@case("X-004")
def test_protocol_error_passes_with_its_code_message_and_data() -> None:
    with pytest.raises(McpError) as caught:
        raising(McpError(1001, "custom", {"x": 1})).call("crash")

    assert (caught.value.code, caught.value.message, caught.value.data) == (1001, "custom", {"x": 1})
    with pytest.raises(McpError) as caught:
        raising(InvalidParams("limit is too large")).call("crash")
    assert (caught.value.code, str(caught.value), caught.value.data) == (-32602, "limit is too large", None)


@case("X-005")
def test_unknown_tool_is_a_protocol_error() -> None:
    with pytest.raises(McpError) as caught:
        client_of(echo).call("nope")

    assert (caught.value.code, caught.value.message) == (-32602, "Unknown tool: nope")
    assert caught.value.data == {"tool": "nope"}


@case("X-007")
@pytest.mark.parametrize("code", [-32050, -32768, -32000, -32001, -32020, -32604, -32701])
def test_reserved_code_is_refused_where_the_error_is_made(code: int) -> None:
    with pytest.raises(ValueError, match=f"code {code} is reserved"):
        McpError(code, "custom")


@pytest.mark.parametrize("code", [-32700, -32600, -32601, -32602, -32603, -31999, -32769, 0, 1001])
def test_standard_codes_and_those_of_authors_are_taken(code: int) -> None:
    assert McpError(code, "custom").code == code


@case("X-008")
def test_bad_arguments_may_be_a_protocol_error() -> None:
    kit = Toolkit(validation_errors="protocol")
    kit.add(echo)

    with pytest.raises(McpError) as caught:
        TestClient(kit).call("echo", repeat=99)

    assert caught.value.code == -32602
    assert caught.value.message.startswith("Invalid arguments for tool echo: ")
    assert caught.value.data["valid"] is False
    assert sorted(each["message"] for each in caught.value.data["details"]) == [
        "/message: required, but missing",
        "/repeat: expected at most 10, got integer 99",
    ]


def test_error_of_the_graphql_api_is_told_to_the_model() -> None:
    assert issubclass(UpstreamError, CallError)
    answer = raising(UpstreamError("the API did not answer in time")).call("crash")

    assert (answer.is_error, answer.text) == (True, "the API did not answer in time")


@pytest.mark.parametrize("error", [ToolError([7]), ToolError("a", data=object())])
def test_tool_error_that_cannot_be_sent_is_a_failure(error: ToolError) -> None:
    assert raising(error).call("crash").json == FAILED


def test_keys_and_values_that_are_nearly_json_are_written_as_json() -> None:
    answer = raising(ToolError("a", data={1: (2, Total(3))})).call("crash")

    assert answer.json["structuredContent"] == {"1": [2, {"amount": 3}]}


def _raises(*_: object) -> Any:
    raise ValueError("the text of an error")


class Untold(Exception):
    __str__ = __repr__ = _raises


class Exiting(Exception):
    __str__ = sys.exit


class NoText(Exception):
    __str__ = int  # type: ignore[assignment]


class Classless(Exception):
    args = property(_raises)
    __class__ = property(_raises)
    __notes__ = property(_raises)
    __str__ = _raises


class UntoldToolError(ToolError):
    __str__ = __repr__ = _raises


class UntoldMcpError(McpError):
    __str__ = __repr__ = _raises


@pytest.mark.parametrize("kind", [Untold, Exiting, NoText, Classless])
def test_exception_whose_text_cannot_be_read_is_a_failure_of_the_tool(kind: type[Exception]) -> None:
    assert raising(kind("secret")).call("crash").json == FAILED


@pytest.mark.parametrize("kind", [UntoldToolError, UntoldMcpError])
def test_error_for_callers_whose_text_cannot_be_read_is_a_result(kind: type[Exception]) -> None:
    answer = raising(kind(1, "b") if kind is UntoldMcpError else kind("a")).call("crash").json

    assert answer["isError"]
