"""List and read a caller's resources: files, schemas as SDL, pages of the view ``table``, and code resources."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from handler.bundle.content import CodeResource, FileResource
from handler.bundle.resource_uris import (
    PAGE_SCHEME,
    page_uri,
    pattern_of,
    schema_uri,
    table_uri,
    tool_schema_uri,
)
from handler.bundle.tools import GraphQLTool, Tool
from handler.code_tools.sections import Listed
from handler.errors.calls import ResourceNotFound
from handler.policy.evaluation import OPEN
from handler.server.asgi.response_size import ANSWER_TOO_LARGE
from handler.server.auth.principal import has_scopes, require_scopes
from handler.server.context import Caller, with_schema
from handler.server.endpoints.endpoint import Endpoint
from handler.server.mcp.jsonrpc import INTERNAL_ERROR, Rejected
from handler.server.mcp.method_call import Call
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
        Listed(entry=_schema_entry(endpoint, tool), hidden=tool is not None and tool.options.hidden)
        for tool in _with_schemas(endpoint)
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
    resource = _find_code_resource(call.caller, uri)
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
    for resource in endpoint.bundle.resources:
        if isinstance(resource, FileResource) and resource.uri == uri and caller.evaluation.meets(resource.mask):
            content = {"blob": resource.blob} if resource.blob else {"text": resource.text}
            meta = {"_meta": resource.entry["_meta"]} if "_meta" in resource.entry else {}
            return [{"uri": uri, "mimeType": resource.entry["mimeType"], **content, **meta}]
    if uri.startswith(f"{PAGE_SCHEME}:"):
        return await table_contents(caller, uri)
    for tool in _with_schemas(endpoint):
        if _schema_uri(endpoint, tool) == uri:
            if tool and not await caller.can_use(tool):
                return None  # answered without the schema index, as for a tool that does not exist
            if tool:
                require_scopes(tool.name, tool.options.scopes, caller.principal)
            sdl = await _sdl(caller, tool)
            return [{"uri": uri, "mimeType": SDL, "text": sdl}] if sdl else None
    return None


def find_template(caller: Caller, template: str) -> CodeResource | None:
    """Return the resource with exactly this template; ``None`` if the caller has no such resource."""
    for resource in caller.endpoint.bundle.resources:
        if isinstance(resource, CodeResource) and resource.entry.get("uriTemplate") == template:
            return resource if caller.evaluation.meets(resource.mask) else None
    return None


def _own(caller: Caller) -> list[Listed]:
    """Return the bundle's resources and templates for a caller, as their author wrote them."""
    return [
        Listed(entry=resource.entry, hidden=resource.hidden)
        for resource in caller.endpoint.bundle.resources
        if caller.evaluation.meets(resource.mask)
    ]


def _find_code_resource(caller: Caller, uri: str) -> CodeResource | None:
    """Find the code resource of a URI. A fixed URI wins over templates, and a template over later ones."""
    if len(uri) > MAX_URI_CHARS:
        return None
    matches = [
        resource
        for resource in caller.endpoint.bundle.resources
        if isinstance(resource, CodeResource)
        and caller.evaluation.meets(resource.mask)
        and _pattern(_place(resource)).values_in(uri) is not None
    ]
    return min(matches, key=lambda resource: "uriTemplate" in resource.entry, default=None)


def _place(resource: CodeResource) -> str:
    return str(resource.entry.get("uri") or resource.entry["uriTemplate"])


_pattern = lru_cache(maxsize=256)(pattern_of)


def _with_schemas(endpoint: Endpoint) -> Iterator[GraphQLTool | None]:
    """Yield the owners of schemas: the endpoint, as ``None``, and its GraphQL tools."""
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


MAX_TOLD_BYTES = 100_000

TOLD = (("name", "inputSchema", "outputSchema", "annotations"), ("name", "inputSchema", "annotations"))
"""The members of the tool's entry that the page reads: all, or those that paging needs."""


async def table_contents(caller: Caller, uri: str) -> list[JSONObject] | None:
    """Return the contents of the page of a tool; ``None`` if the caller has no such tool or may not read the page.

    Raises:
        CredentialRequired, InsufficientScope, UpstreamError: as ``read_resource``.
    """
    tool, page = _tool_of(caller, uri), _page_of(caller)
    if tool is None or page is None or not await caller.can_use(tool):
        return None
    require_scopes(tool.name, tool.options.scopes, caller.principal)
    entry = await entry_for(caller, tool)
    if entry is None:
        return None
    # Without the output schema, the page takes its columns from the rows; without the rest, it has no pages by `after`.
    candidates = (to_well_formed_json({name: entry[name] for name in names if name in entry}) for names in TOLD)
    json = next((each for each in candidates if len(each) <= MAX_TOLD_BYTES), to_well_formed_json({"name": tool.name}))
    # No text of a schema may end the element, or begin a comment in it.
    json = json.replace(b"<", b"\\u003c")
    text = page.text.replace(SETTINGS, SETTINGS.replace("{}", json.decode()))
    return [{"uri": uri, "mimeType": page.entry["mimeType"], "text": text}]


def _tool_of(caller: Caller, uri: str) -> Tool | None:
    """Find the tool whose entry names a page."""
    endpoint = caller.endpoint.bundle.endpoint
    owners = (tool for tool in caller.endpoint.bundle.tools if table_uri(endpoint, tool.name) == uri)
    tool = next(owners, None)
    ui = tool.entry.get("_meta", {}).get("ui") if tool else None
    return tool if isinstance(ui, dict) and ui.get("resourceUri") == uri else None  # an author's "ui" is any value


def _page_of(caller: Caller) -> FileResource | None:
    uri = page_uri(caller.endpoint.bundle.endpoint, "table")
    for resource in caller.endpoint.bundle.resources:
        if isinstance(resource, FileResource) and resource.hidden and resource.uri == uri:
            return resource if caller.evaluation.meets(resource.mask) else None
    return None
