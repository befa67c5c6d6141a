"""The functions of the product between a tool's name and the socket, counted on the stack of real calls."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any, get_args

import pytest

from handler.bundle.tools import Tool
from handler.http.client import HttpClient
from handler.http.connections import Connection
from handler.server.mcp.tools_call import CALLS, ProvidedTool, call_any_tool
from handler.server.upstream.graphql_client import execute
from tests.conftest import ROOT
from tests.support.function import Function

PRODUCT = f"{ROOT / 'handler'}/"

AT_MOST = {"execute": 4, "send_async": 8, "send_request": 12}
"""The execution of the operation, the HTTP client, and the function that writes the request."""

TOOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "prescribed": ("customer-by-email", {"variables": {"email": "alice@example.com"}}),
    "graphql": ("customer-lookup", {"query": '{ customer(email: "alice@example.com") { id } }'}),
}


@contextmanager
def traced(*functions: Callable[..., Any]) -> Iterator[dict[str, list[str]]]:
    """Yield the deepest stack of the product at calls of each function, from ``call_any_tool`` on, threads included."""
    codes: dict[CodeType, str] = {function.__code__: function.__name__ for function in functions}
    stacks: dict[str, list[str]] = {}
    waiting: list[str] = []  # the stack of the task that has a thread work for it

    def on_call(frame: FrameType, event: str, _: object) -> None:
        if event != "call":
            return
        if frame.f_code is asyncio.to_thread.__code__:
            waiting[:] = _stack_of(frame)
        name = codes.get(frame.f_code)
        if name is not None:
            here = _stack_of(frame)
            whole = here if call_any_tool.__name__ in here else [*waiting, *here]
            whole = whole[whole.index(call_any_tool.__name__) :]
            stacks[name] = max(stacks.get(name, []), whole, key=len)

    threading.setprofile(on_call)
    sys.setprofile(on_call)
    try:
        yield stacks
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def _stack_of(frame: FrameType | None) -> list[str]:
    names: list[str] = []
    while frame is not None:
        if frame.f_code.co_filename.startswith(PRODUCT):
            names.insert(0, frame.f_code.co_name)
        frame = frame.f_back
    return names


@pytest.mark.lambda_alone  # the stack of another process cannot be seen
@pytest.mark.parametrize("kind", TOOLS)
def test_few_functions_lie_between_the_name_of_a_tool_and_the_socket(dev_function: Function, kind: str) -> None:
    name, arguments = TOOLS[kind]
    with traced(execute, HttpClient.send_async, Connection.send_request) as stacks:
        answers = [dev_function.call(name, arguments) for _ in ("over a new connection", "over a kept one")]

    assert not any(answer.result.get("isError") for answer in answers)
    assert stacks.keys() == AT_MOST.keys()
    for function, most in AT_MOST.items():
        assert len(stacks[function]) <= most, " -> ".join(stacks[function])


def test_each_kind_of_tool_has_its_function() -> None:
    assert CALLS.keys() == {*get_args(Tool), ProvidedTool}
