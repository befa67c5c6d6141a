"""Compile the tools of a catalog: one that finds tools, and two that call the tools that were found."""

from __future__ import annotations

from handler.bundle.tools import CatalogTool, ToolOptions
from handler.compiler.config.config import CatalogUse
from handler.compiler.tools.declarations.declaration import CompiledTool
from handler.json_schema.json_bounds import MAX_RESULT_BYTES
from handler.list_entries import size_hint
from handler.strict_json import JSONObject

MAX_NAMES = 10

MAX_QUERY_CHARS = 1_000

SEARCH = """\
Find the tools, prompts and resources of this endpoint, those that are not listed included. Say in "query" what you \
want to do. You get ten at most, best first, one line each. Ask again with "names" for the arguments of those that \
you need, then call each with the tool that its "call" names."""

CALL = """\
Call a tool by name that only reads. "{search}" finds names and arguments."""

CALL_MUTATION = """\
Call a tool by name that may change something. "{search}" finds names and arguments."""

QUERY: JSONObject = {
    "type": "string",
    "maxLength": MAX_QUERY_CHARS,
    "description": "What you want to do or know, in your own words.",
}
PROPERTIES: JSONObject = {
    "query": QUERY,
    "names": {
        "type": "array",
        "items": {"type": "string"},
        "maxItems": MAX_NAMES,
        "description": "Names or URIs whose whole entries you need.",
    },
    "type": {
        "type": "string",
        "enum": ["all", "tools", "prompts", "resources", "resource_templates"],
        "default": "all",
    },
    "category": {"type": "string", "description": "The category of a tool, ignoring case."},
    "include_hidden": {"type": "boolean", "default": True, "description": "If false, only what is listed is found."},
}
NAMED: JSONObject = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "The tool's name."},
        "arguments": {
            "type": "object",
            "additionalProperties": True,  # said, because clients that make schemas strict would forbid all
            "description": "The tool's arguments, as its inputSchema says.",
            "default": {},
        },
    },
    "required": ["name"],
    "additionalProperties": False,
}

READS: JSONObject = {"readOnlyHint": True}
WRITES: JSONObject = {"readOnlyHint": False, "destructiveHint": True}


def catalog_tools(use: CatalogUse | None, *, max_result_bytes: int = MAX_RESULT_BYTES) -> tuple[CompiledTool, ...]:
    """Return the tools of an endpoint's catalog; none if it has no catalog.

    ``max_result_bytes`` is the limit of the longest results of the tools that are called by name; 0 is none.
    """
    if use is None:
        return ()
    hints = size_hint(max_result_bytes)
    meta = {"_meta": hints} if hints else {}
    search = {
        "name": use.name,
        "title": "Find tools",
        "description": SEARCH,
        "inputSchema": {"type": "object", "properties": PROPERTIES, "additionalProperties": False},
        "annotations": READS,
    }
    call = {
        "name": f"{use.name}-call",
        "title": "Call a tool that reads",
        "description": CALL.format(search=use.name),
        "inputSchema": NAMED,
        "annotations": READS,
        **meta,
    }
    call_mutation = {
        "name": f"{use.name}-call-mutation",
        "title": "Call a tool that writes",
        "description": CALL_MUTATION.format(search=use.name),
        "inputSchema": NAMED,
        "annotations": WRITES,
        **meta,
    }
    return _tool(use, "search", search), _tool(use, "call", call), _tool(use, "call-mutation", call_mutation)


def _tool(use: CatalogUse, role: str, entry: JSONObject) -> CompiledTool:
    tool = CatalogTool(
        name=entry["name"],
        entry=entry,
        options=ToolOptions(hidden=use.hidden, aliases=(), scopes=(), output="both", confirm="", meta={}),
        role=role,
        unlisted=use.unlisted,
        list_budget=use.list_budget,
    )
    return CompiledTool(at=use.at, tool=tool, uses=(), runs="", types=0, reads=False, writes=False)
