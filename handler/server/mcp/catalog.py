"""The catalog: find what a caller may use of an endpoint, listed or not, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from handler.bundle.tools import CatalogTool, PrescribedTool, only_reads
from handler.code_tools.sections import SECTIONS, Listed, Sections, category_of
from handler.errors.calls import ToolError
from handler.search.ranking import Ranked, rank
from handler.search.words import Vocabulary
from handler.server.asgi.response_size import TOO_LARGE, encoded
from handler.server.mcp.method_call import Call
from handler.server.mcp.prompts import prompts_for
from handler.server.mcp.resources import resources_for, templates_for
from handler.server.mcp.tools_list import seen_entry, shortened, usable_tools
from handler.strict_json import JSONObject, to_well_formed_json

MANY_NAMES = "The entries are larger than an answer may be. Ask for fewer names at a time."

MAX_FOUND = 10
"""Entries of one answer, of all sections together."""


async def search_catalog(call: Call, tool: CatalogTool, arguments: Mapping[str, Any]) -> JSONObject:
    """Find the entries that fit checked arguments, and return an MCP ``CallToolResult``.

    Raises:
        UpstreamError, McpError: as ``usable_tools``.
        ToolError: the entries are larger than an answer may be.
    """
    section = arguments.get("type", "all")
    sections = await _sections(call)
    searched = {name: sections[name] for name in (SECTIONS if section == "all" else (section,))}
    names = arguments.get("names")
    answer = _best(call, searched, arguments, search=tool.name) if names is None else _whole(call, searched, names)
    result = {"content": [{"type": "text", "text": to_well_formed_json(answer).decode()}], "structuredContent": answer}
    encoded(result, refuse=_refusal, room=call.caller.room)
    return result


def _refusal(message: str) -> ToolError:
    return ToolError(MANY_NAMES if message == TOO_LARGE else message)


async def found_tools(call: Call, question: str, *, search: str) -> list[JSONObject]:
    """Return the lines of the tools that answer a question best. ``search`` is the name of the catalog.

    Raises:
        UpstreamError, McpError: as ``usable_tools``.
    """
    tools = {"tools": await _tools(call)}
    lines: list[JSONObject] = _best(call, tools, {"query": question}, search=search)["tools"]
    return lines


async def _sections(call: Call) -> Sections:
    return {
        "tools": await _tools(call),
        "prompts": await prompts_for(call.caller),
        # Pages are for hosts, which find them by the entries of tools.
        "resources": [each for each in await resources_for(call.caller) if not each.entry["uri"].startswith("ui:")],
        "resource_templates": await templates_for(call.caller),
    }


async def _tools(call: Call) -> list[Listed]:
    usable = [each async for each in usable_tools(call)]
    catalog = call.caller.endpoint.catalog
    tools = shortened(usable, catalog) if catalog else usable
    return [each for each in tools if not each.role]


def _whole(call: Call, sections: Sections, names: list[str]) -> JSONObject:
    """Return the entries of these names or URIs, and the names that the caller has no entry of."""
    entries_by_section = {
        section: [
            {**(_whole_entry(call, each) if section == "tools" else each.entry), "hidden": each.hidden}
            for each in entries
            if not spoken_of(each.entry).isdisjoint(names)
        ]
        for section, entries in sections.items()
    }
    known_names = {name for entries in entries_by_section.values() for entry in entries for name in spoken_of(entry)}
    unknown = [name for name in names if name not in known_names]
    return {**entries_by_section, **({"unknown": unknown} if unknown else {})}


def _whole_entry(call: Call, listed: Listed) -> JSONObject:
    tool = call.caller.endpoint.tools.get(listed.entry.get("name", ""))
    if isinstance(tool, PrescribedTool):
        evaluation = call.caller.evaluation
        return seen_entry(tool, call.caller.endpoint.whole_entry(tool, evaluation), evaluation)
    return listed.entry


def _best(call: Call, sections: Sections, arguments: Mapping[str, Any], *, search: str) -> JSONObject:
    """Return the best entries by section, one line each, and how many more there are."""
    fitting = [
        (section, each)
        for section, entries in sections.items()
        for each in entries
        if (arguments.get("include_hidden", True) or not each.hidden) and _is_of(each, arguments.get("category"))
    ]
    vocabulary = Vocabulary(synonyms=call.caller.endpoint.bundle.synonyms)
    ranked = _ranked(fitting, arguments.get("query", ""), vocabulary)
    lines: JSONObject = {section: [] for section in sections}
    for section, each in ranked[:MAX_FOUND]:
        lines[section].append(line_of(section, each, search=search))
    return {**lines, **({"more": len(ranked) - MAX_FOUND} if len(ranked) > MAX_FOUND else {})}


def _is_of(listed: Listed, category: str | None) -> bool:
    return not category or category_of(listed.entry).lower() == category.lower()


def _ranked(found: Sequence[tuple[str, Listed]], query: str, vocabulary: Vocabulary) -> list[tuple[str, Listed]]:
    """Return the entries that share words with a text, the best first; without a text all of them in their order."""
    if not query.strip():
        return list(found)
    documents = [ranked_of(each, key=f"{place:06}") for place, (_, each) in enumerate(found)]
    return [found[int(key)] for key, _ in rank(documents, query, vocabulary=vocabulary)]


NAMES = ("name", "uri", "uriTemplate")

MAX_ABOUT_CHARS = 160


def line_of(section: str, listed: Listed, *, search: str) -> JSONObject:
    """Return what a model needs to choose an entry of a section. ``search`` is the name of the catalog's tool."""
    entry = listed.entry
    about = _about(entry)
    line: JSONObject = {name: entry[name] for name in NAMES if name in entry}
    line |= {"about": about} if about else {}
    if section == "tools":
        category = category_of(entry)
        line |= {"arguments": _arguments(entry), "call": f"{search}-{'call' if only_reads(entry) else 'call-mutation'}"}
        line |= {"category": category} if category else {}
    if section == "prompts" and entry.get("arguments"):
        line["arguments"] = ", ".join(_argument(each["name"], each.get("required")) for each in entry["arguments"])
    return {**line, "hidden": listed.hidden}


def spoken_of(entry: JSONObject) -> set[str]:
    """Return the names by which an entry can be asked for."""
    return {str(entry[key]) for key in NAMES if key in entry}


def ranked_of(listed: Listed, *, key: str) -> Ranked:
    """Return what a search knows of an entry: its names with those of its aliases, its texts, and its arguments."""
    entry = listed.entry
    properties = entry.get("inputSchema", {}).get("properties", {})
    arguments = {**properties, **{each["name"]: each for each in entry.get("arguments", ())}}
    texts = [entry.get("description"), category_of(entry)]
    texts += [each.get("description") for each in arguments.values() if isinstance(each, dict)]
    names = [*(entry.get(name) for name in (*NAMES, "title")), *listed.aliases]
    return Ranked(
        key=key,
        names=tuple(str(name) for name in names if name),
        texts=tuple(str(text) for text in texts if text),
        parts=tuple(arguments),
    )


def _about(entry: JSONObject) -> str:
    """Return the beginning of the description, or else the title."""
    text = " ".join(str(entry.get("description") or entry.get("title") or "").split())
    return text if len(text) <= MAX_ABOUT_CHARS else f"{text[: MAX_ABOUT_CHARS - 1]}…"


def _arguments(entry: JSONObject) -> str:
    schema = entry.get("inputSchema", {})
    required = schema.get("required", ())
    return ", ".join(_argument(name, name in required) for name in schema.get("properties", {}))


def _argument(name: str, required: Any) -> str:
    return name if required else f"{name}?"
