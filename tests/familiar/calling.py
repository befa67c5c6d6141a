"""What a client of each package is answered in the same situations: ``python -m tests.familiar.calling fastmcp``."""

import asyncio
import importlib
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel

JSONObject = dict[str, Any]

CALLS: Mapping[str, tuple[str, JSONObject]] = {
    "a text": ("text", {}),
    "nothing": ("nothing", {}),
    "a list": ("numbers", {}),
    "an object without a type": ("bare", {}),
    "an undeclared argument": ("double", {"number": 2, "other": 1}),
    "a number as text": ("double", {"number": "2"}),
    "an unknown tool": ("nope", {}),
    "an exception": ("crash", {}),
    "a tool error": ("fail", {}),
    "an error with a code": ("refuse", {}),
    "a result against its schema": ("mismatch", {}),
}
"""Situations, each with the tool that is called and its arguments."""


class Total(BaseModel):
    amount: float


def text() -> str:
    return "a"


def nothing() -> None:
    return None


def numbers() -> list[int]:
    return [1, 2]


def bare() -> dict:  # type: ignore[type-arg]
    return {"a": 1}


def double(number: int) -> int:
    return number * 2


def crash() -> str:
    raise RuntimeError("boom")


def mismatch() -> Total:
    return {"amount": "much"}  # type: ignore[return-value]


def functions(tool_error: Exception, protocol_error: Exception) -> list[Callable[..., Any]]:
    """The tools, with what a package raises for an error of the tool's own and one of the protocol."""

    def fail() -> str:
        raise tool_error

    def refuse() -> str:
        raise protocol_error

    return [text, nothing, numbers, bare, double, crash, fail, refuse, mismatch]


def ours() -> JSONObject:
    """What a toolkit answers."""
    from stile import McpError, ToolError, Toolkit
    from stile.testing import TestClient

    kit = Toolkit()
    for function in functions(ToolError("try again"), McpError(1001, "custom")):
        kit.tool(function)

    def answer(name: str, arguments: JSONObject) -> JSONObject:
        try:
            return _shown(TestClient(kit).call(name, **arguments).json)
        except McpError as exc:
            return {"code": exc.code}

    return {situation: answer(*call) for situation, call in CALLS.items()}


def official_sdk() -> JSONObject:
    """What the official SDK's server answers its client."""
    from mcp import Client, MCPError
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError

    server = MCPServer("familiar")
    for function in functions(ToolError("try again"), MCPError(1001, "custom")):
        server.tool()(function)
    client = Client(server)
    return asyncio.run(_answers(client, client.call_tool, MCPError))


def fastmcp() -> JSONObject:
    """What FastMCP's server answers its client; it is imported by name, for it lives elsewhere."""
    from mcp import MCPError

    package: Any = importlib.import_module("fastmcp")
    exceptions: Any = importlib.import_module("fastmcp.exceptions")
    server = package.FastMCP("familiar")
    for function in functions(exceptions.ToolError("try again"), MCPError(1001, "custom")):
        server.tool(function)
    client = package.Client(server)
    return asyncio.run(_answers(client, client.call_tool_mcp, MCPError))


async def _answers(client: Any, call: Callable[..., Any], error: type[Exception]) -> JSONObject:
    answers: JSONObject = {}
    async with client:
        for situation, (name, arguments) in CALLS.items():
            try:
                result = await call(name, arguments)
                answers[situation] = _shown(result.model_dump(mode="json", by_alias=True, exclude_none=True))
            except error as exc:
                answers[situation] = {"code": getattr(exc, "code", None)}
            except RuntimeError as exc:  # the client found the result against its schema
                answers[situation] = {"client": type(exc).__name__}
    return answers


def _shown(result: JSONObject) -> JSONObject:
    texts = [block.get("text", "") for block in result["content"]]
    shown: JSONObject = {"texts": texts}
    if "structuredContent" in result:
        shown["structured"] = result["structuredContent"]
    return {**shown, "error": True} if result.get("isError") else shown


PACKAGES: Mapping[str, Callable[[], JSONObject]] = {"ours": ours, "official-sdk": official_sdk, "fastmcp": fastmcp}

if __name__ == "__main__":
    json.dump(PACKAGES[sys.argv[1]](), sys.stdout)
