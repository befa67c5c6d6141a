"""The size of a tool's entry in the list of tools."""

from __future__ import annotations

from handler.bundle.tools import GraphQLTool
from handler.compiler.tools.declarations.declaration import CompiledTool
from handler.strict_json import JSONObject, to_json_bytes


def size_of(made: CompiledTool) -> int:
    """Return the bytes of a tool's largest list entry; 0 if it has none."""
    return max((len(to_json_bytes(entry)) for entry in entries_of(made)), default=0)


def entries_of(made: CompiledTool) -> list[JSONObject]:
    """Return the list entries of a tool: one, or those of a GraphQL tool's precomputed listings."""
    if not isinstance(made.tool, GraphQLTool):
        return [made.listed or made.tool.entry]
    return [listing.entry for listing in made.tool.listings if listing.entry is not None]


def fullest_entry(made: CompiledTool) -> JSONObject:
    """Return a tool's list entry for unrestricted callers; empty if it is not listed."""
    tool = made.tool
    return tool.listings[-1].entry or {} if isinstance(tool, GraphQLTool) else made.listed or tool.entry
