"""The catalog: find the entries that a caller may use of an endpoint, listed or not, and no others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handler.bundle.tools import CatalogTool, PrescribedTool, only_reads
from handler.code_tools.sections import SECTIONS, Listed, Sections, category_of
from handler.errors.calls import ToolError
from handler.search.ranking import Ranked, Ranking
from handler.search.words import Vocabulary
from handler.server.asgi.response_size import TOO_LARGE, encoded
from handler.server.mcp.content import prompts_for, resources_for, templates_for
from handler.server.mcp.jsonrpc import Call
from handler.server.mcp.tools_list import seen_entry, usable_tools, with_catalog
from handler.strict_json import JSONObject, to_well_formed_json

MAX_FOUND = 10
"""Entries of one answer, of all sections together."""


async def search_catalog(call: Call, tool: CatalogTool, arguments: Mapping[str, Any]) -> JSONObject:
    """Find the entries that fit checked arguments, and return an MCP ``CallToolResult``.

    Raises:
        UpstreamError, McpError: as ``usable_tools``.
        ToolError: the entries are larger than an answer may be.
    """
    sections: Sections = {
        "tools": await _tools(call),
        "prompts": await prompts_for(call.caller),
        # Pages are for hosts, which find them by the entries of tools.
        "resources": [each for each in await resources_for(call.caller) if not each.entry["uri"].startswith("ui:")],
        "resource_templates": await templates_for(call.caller),
    }
    section, names = arguments.get("type", "all"), arguments.get("names")
    sections = {name: sections[name] for name in (SECTIONS if section == "all" else (section,))}
    answer = _best(call, sections, arguments, search=tool.name) if names is None else _whole(call, sections, names)
    result = {"content": [{"type": "text", "text": to_well_formed_json(answer).decode()}], "structuredContent": answer}
    many = "The entries are larger than an answer may be. Ask for fewer names at a time."
    encoded(result, refuse=lambda text: ToolError(many if text == TOO_LARGE else text), room=call.caller.room)
    return result


async def found_tools(call: Call, question: str, *, search: str) -> list[JSONObject]:
    """Return the lines of the tools that answer a question best. ``search`` is the name of the catalog.

    Raises:
        UpstreamError, McpError: as ``usable_tools``.
    """
    lines: list[JSONObject] = _best(call, {"tools": await _tools(call)}, {"query": question}, search=search)["tools"]
    return lines


async def _tools(call: Call) -> list[Listed]:
    tools = [listed async for listed in usable_tools(call)]
    return [listed for listed in with_catalog(tools, call.caller.endpoint) if not listed.role]


def _whole(call: Call, sections: Sections, names: list[str]) -> JSONObject:
    """Return the entries of these names or URIs, and the names that the caller has no entry of."""
    endpoint, evaluation = call.caller.endpoint, call.caller.evaluation
    answer: JSONObject = {section: [] for section in sections}
    answered: set[str] = set()
    for section, listed in ((section, listed) for section, entries in sections.items() for listed in entries):
        if entry_names(listed.entry).isdisjoint(names):
            continue
        entry, tool = listed.entry, endpoint.tools.get(listed.entry.get("name", "")) if section == "tools" else None
        if isinstance(tool, PrescribedTool):
            entry = seen_entry(tool, endpoint.whole_entry(tool, evaluation), evaluation)
        answer[section].append({**entry, "hidden": listed.hidden})
        answered |= entry_names(entry)
    unknown = [name for name in names if name not in answered]
    return {**answer, **({"unknown": unknown} if unknown else {})}


def _best(call: Call, sections: Sections, arguments: Mapping[str, Any], *, search: str) -> JSONObject:
    """Return the best entries by section, one line each, and how many more there are.

    The entries share words with the query, the best first; without a query, all of them are there in their order.
    """
    category, query = (arguments.get("category") or "").lower(), arguments.get("query", "")
    entries = [
        (section, listed)
        for section, entries in sections.items()
        for listed in entries
        if (arguments.get("include_hidden", True) or not listed.hidden)
        and (not category or category_of(listed.entry).lower() == category)
    ]
    if query.strip():
        documents = [ranked_of(listed, key=f"{place:06}") for place, (_, listed) in enumerate(entries)]
        vocabulary = Vocabulary(synonyms=call.caller.endpoint.bundle.synonyms)
        entries = [entries[int(key)] for key, _ in Ranking(documents, vocabulary).rank(query)]
    lines: JSONObject = {section: [] for section in sections}
    for section, listed in entries[:MAX_FOUND]:
        lines[section].append(catalog_line(section, listed, search=search))
    return {**lines, **({"more": len(entries) - MAX_FOUND} if len(entries) > MAX_FOUND else {})}


NAMES = ("name", "uri", "uriTemplate")

MAX_ABOUT_CHARS = 160


def catalog_line(section: str, listed: Listed, *, search: str) -> JSONObject:
    """Return the facts by which a model chooses an entry of a section. ``search`` is the name of the catalog's tool."""
    entry = listed.entry
    line: JSONObject = {name: entry[name] for name in NAMES if name in entry}
    about = " ".join(str(entry.get("description") or entry.get("title") or "").split())
    if about:
        line["about"] = about if len(about) <= MAX_ABOUT_CHARS else f"{about[: MAX_ABOUT_CHARS - 1]}…"
    if section == "tools":
        schema, category = entry.get("inputSchema", {}), category_of(entry)
        required = schema.get("required", ())
        line["arguments"] = ", ".join(_argument(name, name in required) for name in schema.get("properties", {}))
        line["call"] = f"{search}-{'call' if only_reads(entry) else 'call-mutation'}"
        line |= {"category": category} if category else {}
    if section == "prompts" and entry.get("arguments"):
        line["arguments"] = ", ".join(_argument(each["name"], each.get("required")) for each in entry["arguments"])
    return {**line, "hidden": listed.hidden}


def _argument(name: str, required: Any) -> str:
    return name if required else f"{name}?"


def entry_names(entry: JSONObject) -> set[str]:
    """Return the names by which an entry can be asked for."""
    return {str(entry[key]) for key in NAMES if key in entry}


def ranked_of(listed: Listed, *, key: str) -> Ranked:
    """Return the texts of an entry that a search reads: its names and aliases, its descriptions, and its arguments."""
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
