"""Errors in the form of each door, with their stable codes."""

from __future__ import annotations

from typing import Any


def rpc_error(number: int, message: str, code: str, **data: Any) -> dict[str, Any]:
    """An error of JSON-RPC."""
    return {"code": number, "message": message, "data": {"code": code, **data}}


def unknown_tool(name: str) -> dict[str, Any]:
    """The error for a tool that the caller does not have."""
    return rpc_error(-32602, f"Unknown tool: {name}", "tool-not-found", tool=name)


def graphql_errors(message: str, code: str) -> dict[str, Any]:
    """A GraphQL response with one error."""
    return {"errors": [{"message": message, "extensions": {"code": code}}]}


def code_in(body: Any) -> str:
    """The stable code in the body of any door: of its first error; empty string if it has none."""
    match body:
        case {"result": {"_meta": {"stile/code": code}}}:
            return str(code)
        case {"error": {"data": {"code": code}}}:
            return str(code)
        case {"errors": [{"extensions": {"code": code}}, *_]}:
            return str(code)
        case {"error": str(), "code": code}:
            return str(code)
    return ""
