"""A toolkit as one caller sees it: the lists, and the dispatch of requests to tools, prompts and resources."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import partial
from typing import Any

from handler.code_tools.catalog_search import Listed
from handler.code_tools.definitions.arguments import Fill
from handler.code_tools.definitions.definition import ToolDefinition
from handler.code_tools.definitions.results import Output
from handler.code_tools.execution import OnFailure, run_tool
from handler.code_tools.functions.awaiting import no_task_left_behind, run
from handler.code_tools.functions.boundary import AuthorFailed, authors_code
from handler.code_tools.functions.context import Context
from handler.code_tools.functions.continuation import InputRequired
from handler.code_tools.functions.log import LOG
from handler.code_tools.functions.options import Options
from handler.code_tools.functions.source_location import SourceLocation
from handler.code_tools.toolkit import Provided, Toolkit
from handler.errors import MAX_SAID_CHARS
from handler.errors.protocol import InvalidParams, McpError
from handler.list_entries import mirrored_in
from handler.strict_json import JSONObject


async def sections_of(kit: Toolkit, ctx: Context) -> dict[str, list[Listed]]:
    """Return all entries that the caller may use, hidden or not, by the catalog's sections.

    Raises:
        McpError: a provider that is not optional failed.
    """
    own = [
        Listed(entry=each.entry, hidden=each.options.hidden, aliases=tuple(each.options.aliases))
        for each in kit.tools
        if each.allows(ctx)
    ]
    provided = [Listed(entry=each.entry) for each in await _provided(kit, ctx)]
    resources = [(each.is_template, Listed(entry=each.entry, hidden=each.hidden)) for each in kit.resources]
    return {
        "tools": [*own, *provided],
        "prompts": [Listed(entry=each.entry, hidden=each.hidden) for each in kit.prompts],
        "resources": [listed for is_template, listed in resources if not is_template],
        "resource_templates": [listed for is_template, listed in resources if is_template],
    }


async def list_entries(kit: Toolkit, section: str, ctx: Context) -> list[JSONObject]:
    """Return the entries of one section that are not hidden: the kit's own, then each provider's in order.

    Raises:
        McpError: a provider that is not optional failed.
    """
    return [each.entry for each in (await sections_of(kit, ctx))[section] if not each.hidden]


async def call_tool(
    kit: Toolkit, name: str, arguments: Any, ctx: Context, *, on_failure: OnFailure = lambda _: None
) -> JSONObject | InputRequired:
    """Call a tool of the kit as ``run_tool`` does.

    Raises:
        McpError: no such tool for this caller, a provider that is not optional failed, or as ``run_tool``.
        InsufficientScope: as ``run_tool``.
    """
    tool = kit.find_tool(name)
    if tool is None:
        tool = next((each for each in await _provided(kit, ctx) if each.name == name), None)
    if tool is None or not tool.allows(ctx):
        raise _unknown("tool", name)
    return await run_tool(tool.named(name), arguments, ctx, on_failure=on_failure)


async def get_prompt(kit: Toolkit, name: str, arguments: Any, ctx: Context) -> JSONObject | InputRequired:
    """Write a prompt of the kit.

    Raises:
        McpError: no such prompt, or as ``run_prompt``.
    """
    from handler.code_tools.content.prompts import run_prompt  # most calls are of tools

    prompt = next((each for each in kit.prompts if each.name == name), None)
    if prompt is None:
        raise _unknown("prompt", name)
    return await run_prompt(prompt, arguments, ctx)


async def read_resource(kit: Toolkit, uri: str, ctx: Context) -> JSONObject | InputRequired:
    """Read a resource of the kit. A resource of exactly this URI wins over templates, and the first template wins.

    Raises:
        McpError: no such resource, or as ``run_resource``.
    """
    from handler.code_tools.content.resources import run_resource  # as above

    ordered = sorted(kit.resources, key=lambda each: each.is_template)
    resource = next((each for each in ordered if each.values_in(uri) is not None), None)
    if resource is None:
        raise _unknown("resource", uri, member="uri")
    return await run_resource(resource, uri, ctx)


def _unknown(kind: str, name: str, *, member: str = "") -> InvalidParams:
    said = name[:MAX_SAID_CHARS]
    return InvalidParams(f"Unknown {kind}: {said}", {member or kind: said})


async def _provided(kit: Toolkit, ctx: Context) -> list[ToolDefinition]:
    """Return the providers' tools for this caller. The kit's own tool of a name wins, then the first provider's."""
    found: dict[str, ToolDefinition] = {}
    for each in kit.providers:
        for tool in await _tools_of(each, ctx):
            if kit.find_tool(tool.name) is None and tool.allows(ctx):
                found.setdefault(tool.name, tool)
    return list(found.values())


async def _tools_of(provided: Provided, ctx: Context) -> list[ToolDefinition]:
    try:
        with authors_code():
            async with no_task_left_behind():
                entries = await run(partial(provided.provider.tools, ctx), ctx)
            return [_provided_tool(entry, provided) for entry in entries]
    except AuthorFailed as exc:
        LOG.exception("a provider failed to list its tools in request %s", ctx.request_id)
        if provided.optional:
            return []
        raise McpError(McpError.INTERNAL_ERROR, "The tools could not be listed") from exc


def _provided_tool(entry: Mapping[str, Any], provided: Provided) -> ToolDefinition:
    name = str(entry["name"])
    given = entry.get("inputSchema") or _AsSent.schema
    mirrored_in(given)  # clients silently drop a tool with an invalid x-mcp-header
    place = SourceLocation(label=f"tool {name}")
    options = Options(output_schema=entry.get("outputSchema"))
    return ToolDefinition(
        name=name,
        options=options,
        place=place,
        function=partial(provided.provider.call, name),
        bound={},
        arguments=_AsSent(),
        output=Output(inspect.Parameter.empty, options, place),
        allow=provided.allow,
        listed={**entry, "inputSchema": given},
    )


class _AsSent:
    """Arguments that only the provider checks."""

    schema: JSONObject = {"type": "object"}  # noqa: RUF012 - a constant

    def check(self, arguments: JSONObject, _: Context) -> JSONObject:
        return arguments

    def cast(self, arguments: JSONObject, ctx: Context) -> Fill:
        return (arguments, ctx), {}

    as_they_are = cast

    def plain(self) -> _AsSent:
        return self
