"""The size of a tool's entry in the list of tools."""

from __future__ import annotations

from handler.bundle.listed_entry import listed_entry
from handler.bundle.tools import GraphQLTool, PrescribedTool, Tool
from handler.strict_json import JSONObject, to_json_bytes


def size_of(tool: Tool) -> int:
    """Return the bytes of a tool's largest list entry; 0 if it has none."""
    return max((len(to_json_bytes(entry)) for entry in entries_of(tool)), default=0)


def entries_of(tool: Tool) -> list[JSONObject]:
    """Return the list entries of a tool: one, or those of a GraphQL tool's precomputed listings."""
    if isinstance(tool, PrescribedTool) and tool.shortening:
        return [listed_entry(tool, tool.conditions)]
    if not isinstance(tool, GraphQLTool):
        return [tool.entry]
    return [listing.entry for listing in tool.listings if listing.entry is not None]


def fullest_entry(tool: Tool) -> JSONObject:
    """Return a tool's list entry for unrestricted callers; empty if it is not listed."""
    return tool.listings[-1].entry or {} if isinstance(tool, GraphQLTool) else entries_of(tool)[0]
