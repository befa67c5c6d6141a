"""What a caller sees of an endpoint's resources: files, schemas as SDL, and what functions read."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import lru_cache

from handler.bundle.model import CodeResource, FileResource, GraphQLTool, JSONObject
from handler.bundle.resource_uris import UriPattern, pattern_of, schema_uri, tool_schema_uri
from handler.code_tools.catalog_search import Listed
from handler.errors import McpError, ResourceNotFound
from handler.policy.evaluation import OPEN
from handler.server.auth.scopes import has_scopes, require_scopes
from handler.server.context.caller import Caller
from handler.server.endpoints.endpoint import Endpoint, schema_loading
from handler.server.mcp.call import Call
from handler.strict_json import to_well_formed_json

SDL = "application/graphql"
"""What documents of GraphQL are called, though nobody registered it."""

INTROSPECTION = ("__schema", "__type")

MAX_URI_CHARS = 2_000
"""What is longer is of no template, and is not compared with any."""


async def resources_for(caller: Caller) -> list[Listed]:
    """The resources that a caller may read: those of the bundle in its order, then schemas.

    Raises:
        UpstreamError: the schema that one depends on cannot be loaded.
    """
    endpoint = caller.endpoint
    schemas = [
        Listed(entry=_schema_entry(endpoint, tool), hidden=tool is not None and tool.options.hidden)
        for tool in _with_schemas(endpoint)
        if await _is_shown(caller, tool)
    ]
    return [*(each for each in _own(caller) if "uri" in each.entry), *schemas]


async def templates_for(caller: Caller) -> list[Listed]:
    """The templates of resources that a caller may read, in the order of the bundle."""
    return [each for each in _own(caller) if "uriTemplate" in each.entry]


async def read_resource(call: Call, uri: str) -> JSONObject:
    """The ``ReadResourceResult`` of a URI, or what a function asks first. There are no two spellings of one URI.

    Raises:
        ResourceNotFound: there is none for this caller, which is the same whether or not it exists.
        CredentialRequired: instead of that to an anonymous caller, where there are credentials that could help.
        InsufficientScope: it is the schema of a tool, and the caller's claims lack some of its scopes.
        UpstreamError: the schema cannot be loaded.
        McpError: it is too large, or a function says so.
        Rejected: a function asks for what the client cannot give.
    """
    contents = await fixed_contents(call.caller, uri)
    if contents is not None:
        call.note(resource=uri, decision="allowed")
        return _fitting(call, {"contents": contents})
    resource = _find_code_resource(call.caller, uri)
    if resource is None:
        raise call.caller.missing(ResourceNotFound(uri))
    # What a template's URI says beyond the template is an argument, which is not for the log.
    call.note(resource=_place(resource), decision="allowed")
    from handler.server.mcp.code_tools import read_code_resource

    return await read_code_resource(call, resource, uri)


async def fixed_contents(caller: Caller, uri: str) -> list[JSONObject] | None:
    """What a caller reads of a file or a schema; nothing where the URI is of neither, or not for them.

    Raises:
        CredentialRequired, InsufficientScope, UpstreamError: as ``read_resource``.
    """
    endpoint = caller.endpoint
    for resource in endpoint.bundle.resources:
        if isinstance(resource, FileResource) and resource.uri == uri and caller.judgement.meets(resource.mask):
            content = {"blob": resource.blob} if resource.blob else {"text": resource.text}
            return [{"uri": uri, "mimeType": resource.entry["mimeType"], **content}]
    for tool in _with_schemas(endpoint):
        if _schema_uri(endpoint, tool) == uri:
            if tool and not await caller.can_use(tool):
                return None  # told without the schema index, as of a tool that does not exist
            if tool:
                require_scopes(tool.name, tool.options.scopes, caller.principal)
            sdl = await _sdl(caller, tool)
            return [{"uri": uri, "mimeType": SDL, "text": sdl}] if sdl else None
    return None


def find_template(caller: Caller, template: str) -> CodeResource | None:
    """The template of resources that is written like this, if a caller may read what is of it."""
    for resource in caller.endpoint.bundle.resources:
        if isinstance(resource, CodeResource) and resource.entry.get("uriTemplate") == template:
            return resource if caller.judgement.meets(resource.mask) else None
    return None


def _own(caller: Caller) -> list[Listed]:
    """What the bundle has, as its author wrote it."""
    return [
        Listed(entry=resource.entry, hidden=isinstance(resource, CodeResource) and resource.hidden)
        for resource in caller.endpoint.bundle.resources
        if caller.judgement.meets(resource.mask)
    ]


def _find_code_resource(caller: Caller, uri: str) -> CodeResource | None:
    """What a function reads. A URI of its own is stronger than a template, and a template than later ones."""
    if len(uri) > MAX_URI_CHARS:
        return None
    found = [
        resource
        for resource in caller.endpoint.bundle.resources
        if isinstance(resource, CodeResource)
        and caller.judgement.meets(resource.mask)
        and _pattern(_place(resource)).values_in(uri) is not None
    ]
    return min(found, key=lambda resource: "uriTemplate" in resource.entry, default=None)


def _place(resource: CodeResource) -> str:
    return str(resource.entry.get("uri") or resource.entry["uriTemplate"])


@lru_cache(maxsize=256)
def _pattern(template: str) -> UriPattern:
    return pattern_of(template)


def _with_schemas(endpoint: Endpoint) -> Iterator[GraphQLTool | None]:
    """What has a schema of its own: the endpoint, which is None, and its GraphQL tools."""
    yield None
    yield from (tool for tool in endpoint.bundle.tools if isinstance(tool, GraphQLTool))


def _schema_uri(endpoint: Endpoint, tool: GraphQLTool | None) -> str:
    name = endpoint.bundle.endpoint
    return tool_schema_uri(name, tool.name) if tool else schema_uri(name)


def _schema_entry(endpoint: Endpoint, tool: GraphQLTool | None) -> JSONObject:
    if tool is None:
        path = f"/{endpoint.bundle.endpoint}/graphql"
        texts = {"title": "GraphQL schema", "description": f"What {path} can be asked, by this caller."}
    else:
        title = tool.entry.get("title", tool.name)
        texts = {
            "title": f"Schema of {title}",
            "description": f"What the tool {tool.name} can be asked, by this caller.",
        }
    uri = _schema_uri(endpoint, tool)
    name = uri.removeprefix(schema_uri(endpoint.bundle.endpoint).removesuffix("schema.graphql"))
    return {"uri": uri, "name": name, **texts, "mimeType": SDL}


async def _is_shown(caller: Caller, tool: GraphQLTool | None) -> bool:
    """Whether a caller may read a schema. Of a tool that is known without making it."""
    if tool is None:
        return _may_introspect(caller) and await _has_fields(caller)
    return has_scopes(tool.options.scopes, caller.principal) and await caller.can_use(tool)


async def _has_fields(caller: Caller) -> bool:
    """Whether there is anything that a caller may ask of the endpoint's own GraphQL."""
    with schema_loading():
        return await asyncio.to_thread(caller.endpoint.has_fields, caller.judgement)


async def _sdl(caller: Caller, tool: GraphQLTool | None) -> str:
    """What a caller may ask a tool, or without one the endpoint's own GraphQL, as SDL; empty where that is nothing.

    The whole endpoint is shown to whom it would answer introspection: what runs persisted documents shows no schema.
    """
    if tool is None and not _may_introspect(caller):
        return ""
    with schema_loading():
        return await asyncio.to_thread(caller.endpoint.sdl, tool, caller.judgement)


def _may_introspect(caller: Caller) -> bool:
    graphql = caller.endpoint.bundle.graphql
    met = all(caller.judgement.meets(graphql.guards.get(name, OPEN)) for name in INTROSPECTION)
    return graphql.mode == "on" and met


def _fitting(call: Call, result: JSONObject) -> JSONObject:
    if not call.caller.room.fits(to_well_formed_json(result)):
        raise McpError(McpError.INTERNAL_ERROR, "The resource is larger than an answer may be")
    return result
