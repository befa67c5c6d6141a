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
        ToolCall,
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
    "ToolCall",
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

_NAMES = {
    "handler.code_tools.arguments": ("SchemaValidator",),
    "handler.code_tools.context": ("Context", "assert_provider_token"),
    "handler.code_tools.definition": ("Tool", "describe", "tool"),
    "handler.code_tools.field": ("Field",),
    "handler.code_tools.return_values": (
        *("Async", "Audio", "Elicit", "EmbeddedResource", "Err", "Image", "InputRequired", "Ok", "ResourceLink"),
        *("Text", "ToolCall", "ToolResult", "tool_fail"),
    ),
    "handler.code_tools.toolkit": ("Toolkit",),
    "handler.errors.authoring": ("ToolDefinitionError",),
    "handler.errors.calls": ("GraphQLErrors", "InvalidArguments", "ToolError"),
    "handler.errors.protocol": ("InvalidParams", "McpError"),
}


if not TYPE_CHECKING:  # a visible __getattr__ would let any name pass a type checker

    def __getattr__(name: str) -> Any:
        for module, names in _NAMES.items():
            if name in names:
                return getattr(import_module(module), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
