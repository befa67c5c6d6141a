"""The methods of prompts, resources, skills and completion."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from handler.code_tools.catalog_search import Listed
from handler.errors.access import AccessError
from handler.errors.protocol import InvalidParams, McpError
from handler.errors.upstream import UpstreamError
from handler.json_schema.json_bounds import excess_of
from handler.server.context.caller import Caller
from handler.server.mcp.listing.completion import complete
from handler.server.mcp.listing.prompts import find_prompt, get_prompt, prompts_for
from handler.server.mcp.listing.resources import fixed_contents, read_resource, resources_for, templates_for
from handler.server.mcp.listing.skills import find_skill, require_skill, skills_for
from handler.server.mcp.listing.tools_list import page_of
from handler.server.mcp.messages.method_call import Call, Method
from handler.server.mcp.messages.revisions import cacheable
from handler.strict_json import JSONObject

T = TypeVar("T")


async def _list_prompts(call: Call) -> JSONObject:
    return await _list(call, "prompts", prompts_for)


async def _list_resources(call: Call) -> JSONObject:
    return await _list(call, "resources", resources_for)


async def _list_templates(call: Call) -> JSONObject:
    return await _list(call, "resourceTemplates", templates_for)


async def _list(call: Call, key: str, listed_for: Callable[[Caller], Awaitable[list[Listed]]]) -> JSONObject:
    """Return a page of the entries of one kind that a caller may use and that are not hidden."""

    async def entries_for(caller: Caller) -> list[JSONObject]:
        return [listed.entry for listed in await listed_for(caller) if not listed.hidden]

    entries = await entries_for(call.caller)
    page = page_of(call, key, entries)
    return cacheable(page, call.request.revision, public=await _anybody_gets(call, entries, entries_for))


async def _list_skills(call: Call) -> JSONObject:
    """Return a page of the caller's skills. Source: Skills extension of MCP (SEP-2640), "Listing Skills"."""
    entries = await skills_for(call.caller)
    public = await _anybody_gets(call, entries, skills_for)
    return cacheable(page_of(call, "skills", entries), call.request.revision, public=public)


async def _get_skill(call: Call) -> JSONObject:
    """Return the entry of a skill. Source: Skills extension of MCP (SEP-2640), "Getting a Skill"."""
    uri = call.request.params.get("uri")
    call.note(decision="refused")
    if not isinstance(uri, str):
        raise InvalidParams("Invalid params: expected a uri (string)")
    entry: JSONObject | None = await require_skill(call.caller, uri)
    call.note(resource=uri, decision="allowed")
    public = await _anybody_gets(call, entry, lambda caller: find_skill(caller, uri))
    return cacheable({"skill": entry}, call.request.revision, public=public)


async def _get_prompt(call: Call) -> JSONObject:
    name, arguments = call.request.params.get("name"), call.arguments
    call.note(decision="refused")
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise InvalidParams("Invalid params: expected a name (string) and arguments (object)")
    _refuse_excess(call, arguments)
    call.note(prompt=name)
    given = {argument: text for argument, text in arguments.items() if text is not None}
    return await get_prompt(call, find_prompt(call.caller, name), given)


async def _read_resource(call: Call) -> JSONObject:
    uri = call.request.params.get("uri")
    call.note(decision="refused")
    if not isinstance(uri, str):
        raise InvalidParams("Invalid params: expected a uri (string)")
    try:
        result = await read_resource(call, uri)
    except UpstreamError as exc:
        call.note(decision="allowed", reason=type(exc).__name__)
        raise McpError(McpError.INTERNAL_ERROR, str(exc)) from exc
    if result.get("resultType") == "input_required":
        return result
    public = await _anybody_gets(call, result.get("contents"), lambda caller: fixed_contents(caller, uri))
    return cacheable(result, call.request.revision, public=public)


async def _complete(call: Call) -> JSONObject:
    _refuse_excess(call, call.request.params)
    return complete(call.caller, call.request.params)


def _refuse_excess(call: Call, values: Mapping[str, Any]) -> None:
    excess = excess_of(values, max_values=call.caller.endpoint.bundle.limits.max_values)
    if excess:
        raise InvalidParams(f"Invalid params: {excess}")


async def _anybody_gets(call: Call, got: T, get: Callable[[Caller], Awaitable[T]]) -> bool:
    """Tell if a caller without a credential gets an equal value."""
    if call.caller.endpoint.bundle.access.anonymous != "allow":
        return False
    try:
        return await get(call.caller.as_anybody()) == got
    except AccessError:
        return False


CONTENT_METHODS: Mapping[str, Method] = {
    "prompts/list": _list_prompts,
    "prompts/get": _get_prompt,
    "resources/list": _list_resources,
    "resources/templates/list": _list_templates,
    "resources/read": _read_resource,
    "skills/list": _list_skills,
    "skills/get": _get_skill,
    "completion/complete": _complete,
}
