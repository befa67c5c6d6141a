"""List the tools of a caller, and build the result of any list method."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from handler.bundle.tools import CatalogTool, CodeKit, CodeTool, Tool, only_reads
from handler.list_entries.param_headers import ANNOTATION
from handler.policy.evaluation import Evaluation
from handler.server.auth.principal import Principal
from handler.server.context.caller import Caller
from handler.server.endpoints.endpoint import Endpoint
from handler.server.endpoints.schema_views import schema_loading
from handler.server.mcp.messages.method_call import Call
from handler.server.mcp.messages.revisions import listed as listed_for
from handler.strict_json import Entries, Entry, JSONObject

if TYPE_CHECKING:
    from handler.code_tools.sections import Listed

_IN_HEADERS = f'"{ANNOTATION}":'.encode()


async def list_tools(call: Call) -> list[JSONObject]:
    """Return the ``tools/list`` entries for a caller.

    Raises:
        UpstreamError: the schema that an entry depends on cannot be loaded.
        McpError: a toolkit cannot list its tools for this caller.
    """
    endpoint = call.caller.endpoint
    catalog = endpoint.catalog if endpoint.catalog and endpoint.catalog.unlisted != "never" else None
    if catalog is None and not asked_kits(call):
        return await list_entries(endpoint, call.caller.evaluation, principal=call.caller.principal)
    tools = [listed async for listed in usable_tools(call)]
    if catalog:
        tools = shortened(tools, catalog)
    return [listed.entry for listed in tools if not listed.hidden]


def shortened(tools: Sequence[Listed], catalog: CatalogTool) -> list[Listed]:
    """Return the entries of a caller, with those ``hidden`` that the catalog keeps from the list.

    ``tools`` are all entries that the caller may use. If the catalog keeps nothing from the list, they stay as they
    are. Otherwise the tools of the catalog are listed, and the one for tools that write only if the caller has some.
    Tools with arguments that clients repeat in headers stay listed, because a call by name cannot repeat them.
    """
    from handler.list_entries.listed_sizes import BYTES_PER_TOKEN  # few endpoints have a catalog

    if catalog.unlisted == "never":
        return list(tools)
    if catalog.unlisted != "always":
        size = sum(len(_json(listed)) for listed in tools if not listed.hidden)
        if size // BYTES_PER_TOKEN <= catalog.list_budget:
            return list(tools)
    roles = ["search", "call"]
    if any(not listed.role and not listed.pinned and not only_reads(listed.entry) for listed in tools):
        roles.append("call-mutation")
    return [replace(listed, hidden=not (listed.role in roles or _stays_listed(listed))) for listed in tools]


def _stays_listed(listed: Listed) -> bool:
    return listed.pinned or (not listed.hidden and not listed.role and _IN_HEADERS in _json(listed))


def _json(listed: Listed) -> bytes:
    return (listed.entry if isinstance(listed.entry, Entry) else Entry(listed.entry)).json


async def usable_tools(call: Call) -> AsyncIterator[Listed]:
    """Yield the tools that a caller may find: the endpoint's, then those of providers. The first of a name wins.

    Raises:
        UpstreamError, McpError: as ``list_tools``.
    """
    from handler.code_tools.sections import Listed

    endpoint = call.caller.endpoint
    of_kits = {kit.use: await tools_of_kit(call, kit) for kit in asked_kits(call)}
    for tool in endpoint.bundle.tools:
        if isinstance(tool, CodeTool) and tool.kit in of_kits and tool.name not in of_kits[tool.kit]:
            continue
        if not endpoint.lists(tool, call.caller.principal):
            continue
        entry = await entry_for(call.caller, tool)
        if entry is not None:
            role = tool.role if isinstance(tool, CatalogTool) else ""
            options = tool.options
            yield Listed(
                entry=entry, hidden=options.hidden, pinned=options.pinned, role=role, aliases=tuple(options.aliases)
            )
    names = set(endpoint.tools)
    for tools in of_kits.values():
        for name, listed in tools.items():
            if name not in names:
                names.add(name)
                yield listed


async def list_entries(endpoint: Endpoint, evaluation: Evaluation, *, principal: Principal) -> list[JSONObject]:
    """Return the ``tools/list`` entries of the bundle for a caller, in the bundle's order.

    Raises:
        UpstreamError: the schema that an entry depends on cannot be loaded.
    """
    listed = [tool for tool in endpoint.bundle.tools if not tool.options.hidden and endpoint.lists(tool, principal)]

    def entries() -> list[JSONObject]:
        visible = (_entry(endpoint, tool, evaluation) for tool in listed)
        return [entry for entry in visible if entry is not None]

    if not any(endpoint.needs_schema(tool, evaluation) for tool in listed):
        return entries()
    with schema_loading():
        return await asyncio.to_thread(entries)


async def entry_for(caller: Caller, tool: Tool) -> JSONObject | None:
    """Return a caller's entry of a tool; ``None`` if the caller may not use it.

    Raises:
        UpstreamError: the schema that the entry depends on cannot be loaded.
    """
    endpoint, evaluation = caller.endpoint, caller.evaluation
    if not endpoint.needs_schema(tool, evaluation):
        return _entry(endpoint, tool, evaluation)
    with schema_loading():
        return await asyncio.to_thread(_entry, endpoint, tool, evaluation)


def _entry(endpoint: Endpoint, tool: Tool, evaluation: Evaluation) -> JSONObject | None:
    entry = endpoint.entry(tool, evaluation)
    return entry if entry is None or not tool.options.view_mask else seen_entry(tool, entry, evaluation)


def seen_entry(tool: Tool, entry: JSONObject, evaluation: Evaluation) -> JSONObject:
    """Return an entry of a tool, without the URI of its view if the caller may not read that page."""
    if evaluation.meets(tool.options.view_mask):
        return entry
    ui = {name: each for name, each in entry["_meta"]["ui"].items() if name != "resourceUri"}
    meta = {name: each for name, each in entry["_meta"].items() if name != "ui"} | ({"ui": ui} if ui else {})
    return {name: each for name, each in entry.items() if name != "_meta"} | ({"_meta": meta} if meta else {})


def asked_kits(call: Call) -> list[CodeKit]:
    """Return the toolkits of this caller that list their tools per caller."""
    caller = call.caller
    return [kit for kit in caller.endpoint.bundle.code if kit.per_caller and caller.evaluation.meets(kit.mask)]


async def tools_of_kit(call: Call, kit: CodeKit) -> dict[str, Listed]:
    """Return the tools of a toolkit for a caller, by name."""
    from handler.server.mcp.calls import code_tools as code

    return {each.entry["name"]: each for each in await code.tools_of_kit(call, kit)}


def page_of(call: Call, key: str, found: Sequence[JSONObject]) -> JSONObject:
    """Return the result with a list under ``key``, or with the page of the list that a request asks for.

    Raises:
        InvalidParams: the cursor is not a cursor of this list.
    """
    whole = (each if isinstance(each, Entry) else Entry(each) for each in found)
    entries = Entries(listed_for(key, whole, call.request.revision))
    size = entries.size_to(call.caller.room.page_bytes)
    call.caller.endpoint.note_list(key, size)
    if call.request.params.get("cursor") is None and size <= call.caller.room.page_bytes:
        return {key: entries}
    from handler.server.mcp.listing import pages

    return pages.page_of(call, key, entries)
