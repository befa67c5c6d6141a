"""The prompts and resources of a caller: lists of them, the messages of a prompt, and the contents of a resource.

Resources are files, schemas as SDL, pages of the view ``table``, and code resources.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from handler.bundle.content import (
    CodePrompt,
    CodeResource,
    FileResource,
    Prompt,
    TextPrompt,
    expanded_chars,
    fill_prompt,
)
from handler.bundle.resource_uris import (
    PAGE_SCHEME,
    page_uri,
    pattern_of,
    schema_uri,
    table_uri,
    tool_schema_uri,
)
from handler.bundle.tools import GraphQLTool
from handler.code_tools.sections import Listed
from handler.errors.calls import PromptNotFound, ResourceNotFound
from handler.errors.protocol import InvalidParams
from handler.policy.evaluation import OPEN
from handler.server.asgi.response_size import ANSWER_TOO_LARGE
from handler.server.auth.principal import has_scopes, require_scopes
from handler.server.context import Caller, with_schema
from handler.server.endpoints.endpoint import Endpoint
from handler.server.mcp.jsonrpc import INTERNAL_ERROR, Call, Rejected
from handler.server.mcp.tools_list import entry_for
from handler.strict_json import JSONObject, to_well_formed_json

SDL = "application/graphql"
"""The usual media type of GraphQL documents, which is not registered."""

INTROSPECTION = ("__schema", "__type")

MAX_URI_CHARS = 2_000
"""A longer URI is not compared with code resources and their templates, and matches none of them."""


async def resources_for(caller: Caller) -> list[Listed]:
    """Return the resources that a caller may read: those of the bundle in its order, then schemas.

    Raises:
        UpstreamError: the schema that a resource depends on cannot be loaded.
    """
    endpoint = caller.endpoint
    schemas = [
        Listed(entry=_schema_entry(endpoint, uri, tool), hidden=tool is not None and tool.options.hidden)
        for uri, tool in _owners_of_schemas(endpoint).items()
        if await _is_shown(caller, tool)
    ]
    return [*(each for each in _own(caller) if "uri" in each.entry), *schemas]


async def templates_for(caller: Caller) -> list[Listed]:
    """Return the resource templates that a caller may read, in the order of the bundle."""
    return [each for each in _own(caller) if "uriTemplate" in each.entry]


async def read_resource(call: Call, uri: str) -> JSONObject:
    """Return the ``ReadResourceResult`` of a URI, or an ``input_required`` result. A URI has one spelling.

    Raises:
        ResourceNotFound: the caller has no such resource, whether or not it exists.
        CredentialRequired: instead of that, if the caller is anonymous and a credential could help.
        InsufficientScope: the resource is a tool's schema, and the caller's claims lack scopes of the tool.
        UpstreamError: the schema cannot be loaded.
        McpError: a function raises it.
        Rejected: the result is too large, or a function asks for input that the client does not support.
    """
    contents = await fixed_contents(call.caller, uri)
    if contents is not None:
        call.note(resource=uri, decision="allowed")
        if not call.caller.room.fits(to_well_formed_json({"contents": contents})):
            sentence = "The resource is larger than an answer may be"
            raise Rejected(INTERNAL_ERROR, sentence, id=call.request.id, stile_code=ANSWER_TOO_LARGE)
        return {"contents": contents}
    matches = [
        resource
        for resource in _readable(call.caller)
        if isinstance(resource, CodeResource) and len(uri) <= MAX_URI_CHARS
        if _pattern(_place(resource)).values_in(uri) is not None
    ]
    # A fixed URI wins over templates, and a template over later ones.
    resource = min(matches, key=lambda resource: "uriTemplate" in resource.entry, default=None)
    if resource is None:
        raise call.caller.missing(ResourceNotFound(uri))
    # The log gets the template only: the rest of the URI holds arguments.
    call.note(resource=_place(resource), decision="allowed")
    from handler.server.mcp.code_tools import read_code_resource

    return await read_code_resource(call, resource, uri)


async def fixed_contents(caller: Caller, uri: str) -> list[JSONObject] | None:
    """Return the contents of a file or schema; ``None`` if the caller has neither at this URI.

    Raises:
        CredentialRequired, InsufficientScope, UpstreamError: as ``read_resource``.
    """
    endpoint = caller.endpoint
    file = _find_file(caller, uri)
    if file:
        content = {"blob": file.blob} if file.blob else {"text": file.text}
        meta = {"_meta": file.entry["_meta"]} if "_meta" in file.entry else {}
        return [{"uri": uri, "mimeType": file.entry["mimeType"], **content, **meta}]
    if uri.startswith(f"{PAGE_SCHEME}:"):
        return await table_contents(caller, uri)
    owners = _owners_of_schemas(endpoint)
    tool = owners.get(uri)
    if uri not in owners or (tool and not await caller.can_use(tool)):
        return None  # answered without the schema index, for a tool that does not exist as for one without rights
    if tool:
        require_scopes(tool.name, tool.options.scopes, caller.principal)
    sdl = await _sdl(caller, tool)
    return [{"uri": uri, "mimeType": SDL, "text": sdl}] if sdl else None


def _find_file(caller: Caller, uri: str) -> FileResource | None:
    files = (each for each in _readable(caller) if isinstance(each, FileResource))
    return next((file for file in files if file.uri == uri), None)


def _readable(caller: Caller) -> list[FileResource | CodeResource]:
    """Return the bundle's resources and templates that a caller may read."""
    return caller.permitted(caller.endpoint.bundle.resources)


def _own(caller: Caller) -> list[Listed]:
    return [Listed(entry=resource.entry, hidden=resource.hidden) for resource in _readable(caller)]


def _place(resource: CodeResource) -> str:
    return str(resource.entry.get("uri") or resource.entry["uriTemplate"])


_pattern = lru_cache(maxsize=256)(pattern_of)


def _owners_of_schemas(endpoint: Endpoint) -> dict[str, GraphQLTool | None]:
    """Return the owners of schemas by URI: the endpoint, as ``None``, and its GraphQL tools."""
    name, tools = endpoint.bundle.endpoint, endpoint.bundle.tools
    own = {tool_schema_uri(name, tool.name): tool for tool in tools if isinstance(tool, GraphQLTool)}
    return {schema_uri(name): None, **own}


def _schema_entry(endpoint: Endpoint, uri: str, tool: GraphQLTool | None) -> JSONObject:
    title = f"Schema of {tool.entry.get('title', tool.name)}" if tool else "GraphQL schema"
    owner = f"the tool {tool.name}" if tool else f"/{endpoint.bundle.endpoint}/graphql"
    name = uri.removeprefix(schema_uri(endpoint.bundle.endpoint).removesuffix("schema.graphql"))
    description = f"What {owner} can be asked, by this caller."
    return {"uri": uri, "name": name, "title": title, "description": description, "mimeType": SDL}


async def _is_shown(caller: Caller, tool: GraphQLTool | None) -> bool:
    """Return whether a caller may read a schema. For a tool, the schema is not made."""
    if tool is None:
        return _may_introspect(caller) and await with_schema(caller.endpoint.schema.has_fields, caller.evaluation)
    return has_scopes(tool.options.scopes, caller.principal) and await caller.can_use(tool)


async def _sdl(caller: Caller, tool: GraphQLTool | None) -> str:
    """Return the caller's view of a tool, or of the endpoint if ``None``, as SDL; empty string if the view is empty.

    The endpoint's schema is for callers whose introspection it answers. If it runs only persisted documents, it shows
    no schema.
    """
    if tool is None and not _may_introspect(caller):
        return ""
    return await with_schema(caller.endpoint.schema.sdl, tool, caller.evaluation)


def _may_introspect(caller: Caller) -> bool:
    graphql = caller.endpoint.bundle.graphql
    met = all(caller.evaluation.meets(graphql.guards.get(name, OPEN)) for name in INTROSPECTION)
    return graphql.mode == "on" and met


SETTINGS = '<script type="application/json" id="settings">{}</script>'
"""The element of the page that the settings of a tool replace."""

MAX_SETTINGS_BYTES = 100_000

MEMBERS = (("name", "inputSchema", "outputSchema", "annotations"), ("name", "inputSchema", "annotations"), ("name",))
"""The members of the tool's entry that the page reads: all, those that paging needs, or none but the name.

Without the output schema, the page takes its columns from the rows. With the name alone, it has no pages by ``after``.
"""


async def table_contents(caller: Caller, uri: str) -> list[JSONObject] | None:
    """Return the contents of the page of a tool; ``None`` if the caller has no such tool or may not read the page.

    Raises:
        CredentialRequired, InsufficientScope, UpstreamError: as ``read_resource``.
    """
    bundle = caller.endpoint.bundle
    tool = next((tool for tool in bundle.tools if table_uri(bundle.endpoint, tool.name) == uri), None)
    ui = tool.entry.get("_meta", {}).get("ui") if tool else None
    names_page = isinstance(ui, dict) and ui.get("resourceUri") == uri  # an author's "ui" is any value
    page = _find_file(caller, page_uri(bundle.endpoint, "table"))
    if tool is None or not names_page or page is None or not page.hidden or not await caller.can_use(tool):
        return None
    require_scopes(tool.name, tool.options.scopes, caller.principal)
    entry = await entry_for(caller, tool)
    if entry is None:
        return None
    candidates = (to_well_formed_json({name: entry[name] for name in names if name in entry}) for names in MEMBERS)
    json = next(each for each in candidates if len(each) <= MAX_SETTINGS_BYTES)
    # No text of a schema may end the element, or begin a comment in it.
    json = json.replace(b"<", b"\\u003c")
    text = page.text.replace(SETTINGS, SETTINGS.replace("{}", json.decode()))
    return [{"uri": uri, "mimeType": page.entry["mimeType"], "text": text}]


MAX_PROMPT_CHARS = 200_000
"""Characters of all messages together. An argument may be inserted in many places."""


async def prompts_for(caller: Caller) -> list[Listed]:
    """Return the prompts that a caller may use, in the order of the bundle."""
    prompts = caller.permitted(caller.endpoint.bundle.prompts)
    return [Listed(entry=each.entry, hidden=isinstance(each, CodePrompt) and each.hidden) for each in prompts]


def find_prompt(caller: Caller, name: str) -> Prompt:
    """Return the prompt of a name.

    Raises:
        PromptNotFound: the caller has no such prompt, whether or not it exists.
        CredentialRequired: instead of that, if the caller is anonymous and a credential could help.
    """
    prompt = caller.endpoint.prompts.get(name)
    if prompt is None or not caller.evaluation.meets(prompt.mask):
        raise caller.missing(PromptNotFound(name))
    return prompt


async def get_prompt(call: Call, prompt: Prompt, arguments: Mapping[str, Any]) -> JSONObject:
    """Return the ``GetPromptResult`` of a prompt from ``find_prompt``, or an ``input_required`` result.

    Raises:
        InvalidParams: the arguments do not fit.
        McpError: a function raises it or fails.
        Rejected: a function asks for input that the client does not support.
    """
    match prompt:
        case TextPrompt():
            faults = list(_faults(prompt, arguments))
            if faults:
                raise InvalidParams(f"Invalid arguments for prompt {prompt.name}: {'; '.join(faults)}")
            # Forms of clients send empty strings for arguments that the user left out.
            result = _filled(prompt, {name: text for name, text in arguments.items() if text})
            call.note(decision="allowed")
            return result
        case CodePrompt():
            from handler.server.mcp.code_tools import get_code_prompt

            call.note(decision="allowed")
            return await get_code_prompt(call, prompt, arguments)


def _faults(prompt: TextPrompt, arguments: Mapping[str, Any]) -> Iterator[str]:
    declared = prompt.entry.get("arguments", [])
    declared_names = [each["name"] for each in declared]
    unknown = [name for name in arguments if name not in declared_names]
    if unknown:
        names = ", ".join(declared_names) or "no arguments"
        yield f"{unknown[0]:.80}: unknown, expected {names}"
    for each in declared:
        name, text = each["name"], arguments.get(each["name"], "")
        values = prompt.completions.get(name, ())
        if not isinstance(text, str):
            yield f"{name}: expected a string"
        elif not text and each["required"]:
            yield f"{name}: required, but missing"
        elif text and values and text not in values:
            yield f"{name}: expected one of {', '.join(values):.1000}"


def _filled(prompt: TextPrompt, values: Mapping[str, str]) -> JSONObject:
    chars = sum(expanded_chars(message.text, values) for message in prompt.messages)
    if chars > MAX_PROMPT_CHARS:
        sentence = f"too long together, prompts have {MAX_PROMPT_CHARS} characters at most"
        raise InvalidParams(f"Invalid arguments for prompt {prompt.name}: {sentence}")
    described = {"description": prompt.entry["description"]} if "description" in prompt.entry else {}
    messages = [
        {"role": message.role, "content": {"type": "text", "text": fill_prompt(message.text, values)}}
        for message in prompt.messages
    ]
    return {**described, "messages": messages}


MAX_VALUES = 100
"""Source: MCP 2026-07-28, server/utilities/completion, "Completion Results"."""


def complete(caller: Caller, params: Mapping[str, Any]) -> JSONObject:
    """Return the ``CompleteResult``: the values that begin with the text so far, in upper or lower case.

    Raises:
        InvalidParams: the parameters do not fit, or the argument or resource template does not exist.
        PromptNotFound: the caller has no such prompt.
        CredentialRequired: instead of that, if the caller is anonymous and a credential could help.
    """
    match params:
        case {
            "ref": {"type": "ref/prompt", "name": str() as name},
            "argument": {"name": str() as argument, "value": str() as begun},
        }:
            prompt = find_prompt(caller, name)
            if not any(declared["name"] == argument for declared in prompt.entry.get("arguments", [])):
                raise InvalidParams(f"Invalid params: the prompt {name} has no argument {argument:.80}")
            values = prompt.completions.get(argument, ())
        case {
            "ref": {"type": "ref/resource", "uri": str() as uri},
            "argument": {"name": str(), "value": str() as begun},
        }:
            if not any(each.entry.get("uriTemplate") == uri for each in _readable(caller)):
                raise InvalidParams(f"Unknown resource template: {uri:.200}")
            values = ()  # only the function knows its resources
        case _:
            expected = "a ref (ref/prompt with its name, or ref/resource with its uri) and an argument (name and value)"
            raise InvalidParams(f"Invalid params: expected {expected}")
    texts = {value: value.casefold() for value in values}
    longest = max(map(len, texts.values()), default=0)
    start = begun.casefold() if len(begun) <= longest else None  # folding makes no text shorter
    matches = [] if start is None else [value for value, text in texts.items() if text.startswith(start)]
    return {"completion": {"values": matches[:MAX_VALUES], "total": len(matches), "hasMore": len(matches) > MAX_VALUES}}
