"""The API that authors of tools in Python import.

Each name loads its module on first use: importing pydantic would take more of a cold start than everything else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from handler import __version__

if TYPE_CHECKING:
    from pydantic import Field

    from handler.code_tools.arguments import SchemaValidator
    from handler.code_tools.context import Context, assert_provider_token
    from handler.code_tools.definition import Tool, describe, tool
    from handler.code_tools.return_values import (
        Async,
        Audio,
        Elicit,
        EmbeddedResource,
        Err,
        Image,
        InputRequired,
        Ok,
        ResourceLink,
        Text,
        ToolResult,
        tool_fail,
    )
    from handler.code_tools.toolkit import Toolkit
    from handler.errors.authoring import ToolDefinitionError
    from handler.errors.calls import GraphQLErrors, InvalidArguments, ToolError
    from handler.errors.protocol import InvalidParams, McpError

__all__ = [
    "Async",
    "Audio",
    "Context",
    "Elicit",
    "EmbeddedResource",
    "Err",
    "Field",
    "GraphQLErrors",
    "Image",
    "InputRequired",
    "InvalidArguments",
    "InvalidParams",
    "McpError",
    "Ok",
    "ResourceLink",
    "SchemaValidator",
    "Text",
    "Tool",
    "ToolDefinitionError",
    "ToolError",
    "ToolResult",
    "Toolkit",
    "__version__",
    "assert_provider_token",
    "describe",
    "tool",
    "tool_fail",
]

_MODULES = {
    "Field": "handler.code_tools.field",
    "ToolDefinitionError": "handler.errors.authoring",
    **dict.fromkeys(("GraphQLErrors", "InvalidArguments", "ToolError"), "handler.errors.calls"),
    **dict.fromkeys(("InvalidParams", "McpError"), "handler.errors.protocol"),
    **dict.fromkeys(("Audio", "EmbeddedResource", "Image", "ResourceLink", "Text"), "handler.code_tools.return_values"),
    **dict.fromkeys(("ToolResult", "tool_fail"), "handler.code_tools.return_values"),
    **dict.fromkeys(("Context", "assert_provider_token"), "handler.code_tools.context"),
    **dict.fromkeys(("Async", "Elicit", "Err", "InputRequired", "Ok"), "handler.code_tools.return_values"),
    "tool": "handler.code_tools.definition",
    **dict.fromkeys(("Tool", "describe"), "handler.code_tools.definition"),
    "Toolkit": "handler.code_tools.toolkit",
    "SchemaValidator": "handler.code_tools.arguments",
}


if not TYPE_CHECKING:  # a visible __getattr__ would let any name pass a type checker

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_MODULES[name]), name)
