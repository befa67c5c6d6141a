"""Which tools a caller has, and how they see them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from handler.bundle.model import CodeKit, CodeTool, JSONObject, Tool
from handler.errors import ToolNotFound
from handler.policy.evaluation import Evaluation
from handler.server.context.caller import Caller
from handler.server.endpoints.endpoint import Endpoint, schema_loading
from handler.server.mcp.call import Call

if TYPE_CHECKING:
    from handler.code_tools.catalog_search import Listed


async def list_tools(call: Call) -> list[JSONObject]:
    """The ``tools/list`` entries for a caller.

    Raises:
        UpstreamError: the schema that one depends on cannot be loaded.
        McpError: a toolkit cannot tell what it has for this caller.
    """
    endpoint = call.caller.endpoint
    if not asked_kits(call):
        return await list_entries(endpoint, call.caller.judgement)
    return [each.entry async for each in usable_tools(call) if not each.hidden]


async def usable_tools(call: Call) -> AsyncIterator[Listed]:
    """All tools that a caller may call, the endpoint's own first, then those of providers; the first of a name wins.

    Raises:
        UpstreamError, McpError: as ``list_tools``.
    """
    from handler.code_tools.catalog_search import Listed

    endpoint, judgement = call.caller.endpoint, call.caller.judgement
    of_kits = {kit.use: await tools_of_kit(call, kit) for kit in asked_kits(call)}
    for tool in endpoint.bundle.tools:
        if isinstance(tool, CodeTool) and tool.kit in of_kits and tool.name not in of_kits[tool.kit]:
            continue
        entry = await entry_of(endpoint, tool, judgement)
        if entry is not None:
            yield Listed(entry=entry, hidden=tool.options.hidden)
    seen = set(endpoint.tools)
    for tools in of_kits.values():
        for name, listed in tools.items():
            if name not in seen:
                seen.add(name)
                yield listed


async def list_entries(endpoint: Endpoint, judgement: Evaluation) -> list[JSONObject]:
    """The ``tools/list`` entries for a caller, in the order of the bundle.

    Raises:
        UpstreamError: the schema that one depends on cannot be loaded.
    """
    listed = [tool for tool in endpoint.bundle.tools if not tool.options.hidden]
    try:
        entries = [endpoint.finished_entry(tool, judgement) for tool in listed]
    except KeyError:  # one has still to be made, for which a schema may have to be loaded
        entries = [await entry_of(endpoint, tool, judgement) for tool in listed]
    return [entry for entry in entries if entry is not None]


async def entry_of(endpoint: Endpoint, tool: Tool, judgement: Evaluation) -> JSONObject | None:
    """A tool as a caller would see it listed; nothing where they cannot use it."""
    try:
        return endpoint.finished_entry(tool, judgement)
    except KeyError:
        with schema_loading():
            return await asyncio.to_thread(endpoint.entry, tool, judgement)


async def find_tool(caller: Caller, name: str) -> Tool:
    """The tool of a name or an alias.

    Raises:
        ToolNotFound: there is none for this caller, which is the same whether or not it exists.
        CredentialRequired: instead of that to an anonymous caller, where there are credentials that could help.
        UpstreamError: the schema that decides it cannot be loaded.
    """
    tool = caller.endpoint.tools.get(name)
    if tool is not None and await entry_of(caller.endpoint, tool, caller.judgement) is not None:
        return tool
    raise caller.missing(ToolNotFound(name))


def asked_kits(call: Call) -> list[CodeKit]:
    """The kits that are asked what they have for each caller."""
    caller = call.caller
    return [kit for kit in caller.endpoint.bundle.code if kit.per_caller and caller.judgement.meets(kit.mask)]


async def tools_of_kit(call: Call, kit: CodeKit) -> dict[str, Listed]:
    """The tools that a kit has for a caller, by their names."""
    from handler.server.mcp import code_tools as code

    return {each.entry["name"]: each for each in await code.tools_of_kit(call, kit)}
