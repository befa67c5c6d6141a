"""Tools that Stile adds: those of a catalog, and companions that search and describe the schema of a GraphQL tool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from handler.bundle.tools import CatalogTool, CompanionTool, GraphQLTool, Tool, ToolOptions
from handler.compiler.config.config import CatalogUse
from handler.compiler.problems import Problems, place_text, where
from handler.compiler.tools.declaration import CompiledTool
from handler.json_schema.json_bounds import MAX_RESULT_BYTES
from handler.list_entries import size_hint
from handler.strict_json import JSONObject

SEARCH = """\
Find the tools, prompts and resources of this endpoint, those that are not listed included. Say in "query" what you \
want to do. You get ten at most, best first, one line each. Ask again with "names" for the arguments of those that \
you need, then call each with the tool that its "call" names."""

PROPERTIES: JSONObject = {
    "query": {
        "type": "string",
        "maxLength": 1_000,
        "description": "What you want to do or know, in your own words.",
    },
    "names": {
        "type": "array",
        "items": {"type": "string"},
        "maxItems": 10,
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

MAX_NAME_CHARS = 64
"""The longest name of a tool that every client and model vendor takes."""

TEXTS: Mapping[str, tuple[str, str]] = {
    "search": (
        "Search",
        "Find parts of the schema of {name} by a question: the ways to them, SDL and a request.",
    ),
    "describe": ("Describe", "Return the SDL of parts of the schema of {name}."),
}
"""What a companion does -> the beginning of its title, and its description."""

MAX_TOKENS: JSONObject = {"type": "integer", "minimum": 200, "maximum": 10_000}

ARGUMENTS: Mapping[str, JSONObject] = {
    "search": {
        "type": "object",
        "properties": {
            "question": {
                "type": "string",
                "minLength": 1,
                "maxLength": 1_000,
                "description": "In words",
            },
            "maxTokens": {**MAX_TOKENS, "default": 750},
        },
        "required": ["question"],
        "additionalProperties": False,
    },
    "describe": {
        "type": "object",
        "properties": {
            "coordinates": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "maxItems": 50,
                "description": "Such as Order, Order.lines or Query.order(id:)",
            },
            "maxTokens": {**MAX_TOKENS, "default": 800},
        },
        "required": ["coordinates"],
        "additionalProperties": False,
    },
}


def catalog_tools(use: CatalogUse | None, *, max_result_bytes: int = MAX_RESULT_BYTES) -> tuple[CompiledTool, ...]:
    """Return the tools of an endpoint's catalog: one finds tools, and two call the tools that were found.

    ``max_result_bytes`` is the limit of the longest results of the tools that are called by name; 0 is none.
    """
    if use is None:
        return ()
    hints = size_hint(max_result_bytes)
    meta = {"_meta": hints} if hints else {}
    search: JSONObject = {
        "name": use.name,
        "title": "Find tools",
        "description": SEARCH,
        "inputSchema": {"type": "object", "properties": PROPERTIES, "additionalProperties": False},
        "annotations": READS,
    }
    call: JSONObject = {
        "name": f"{use.name}-call",
        "title": "Call a tool that reads",
        "description": f'Call a tool by name that only reads. "{use.name}" finds names and arguments.',
        "inputSchema": NAMED,
        "annotations": READS,
        **meta,
    }
    call_mutation: JSONObject = {
        "name": f"{use.name}-call-mutation",
        "title": "Call a tool that writes",
        "description": f'Call a tool by name that may change something. "{use.name}" finds names and arguments.',
        "inputSchema": NAMED,
        "annotations": {"readOnlyHint": False, "destructiveHint": True},
        **meta,
    }
    options = ToolOptions(hidden=use.hidden, aliases=(), scopes=(), output="both", confirm="", meta={})
    tools = [
        CatalogTool(
            name=entry["name"],
            entry=entry,
            options=options,
            role=role,
            unlisted=use.unlisted,
        )
        for role, entry in (("search", search), ("call", call), ("call-mutation", call_mutation))
    ]
    return tuple(CompiledTool(at=use.at, tool=tool) for tool in tools)


def with_companions(
    tools: Sequence[CompiledTool], *, others: Iterable[CompiledTool], problems: Problems
) -> Iterator[CompiledTool]:
    """Yield the tools of an API, each GraphQL tool that is too large for a description before its companions.

    A name that a tool of the author has is not taken: the companion is left out, with a warning.
    """
    owners = {
        name.casefold(): each for each in (*tools, *others) for name in (each.tool.name, *each.tool.options.aliases)
    }
    for each in tools:
        yield each
        for does in TEXTS if each.companions and isinstance(each.tool, GraphQLTool) else ():
            name = f"{each.tool.name}-{does}"
            owner, fault = owners.get(name.casefold()), ""
            if owner is not None:
                fault = f"a tool of that name is defined at {place_text(where(owner.at))}"
            elif len(name) > MAX_NAME_CHARS:
                fault = f"it is longer than {MAX_NAME_CHARS} characters"
            if fault:
                sentence = f'"{each.tool.name}" gets no companion "{name}": {fault}; find: false asks for none'
                problems.warn(each.at, sentence, code="no-companion", about=[name])
            else:
                companion = _companion(each.tool, name=name, does=does)
                yield CompiledTool(at=each.at, tool=companion, runs=each.tool.name, types=each.types, reads=True)


def _companion(tool: Tool, *, name: str, does: str) -> CompanionTool:
    heading, description = TEXTS[does]
    entry: JSONObject = {
        "name": name,
        "title": f"{heading} {tool.entry.get('title', tool.name)}",
        "description": description.format(name=tool.name),
        "inputSchema": ARGUMENTS[does],
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    }
    options = ToolOptions(
        hidden=tool.options.hidden,
        pinned=tool.options.pinned,
        aliases=(),
        scopes=tool.options.scopes,
        output="text",
        confirm="",
        meta={},
    )
    return CompanionTool(name=name, entry=entry, of=tool.name, does=does, options=options)
