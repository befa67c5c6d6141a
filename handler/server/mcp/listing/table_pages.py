"""The built-in view ``table``: the page of a tool, with the tool's name and output schema as its caller has them."""

from __future__ import annotations

from handler.bundle.content import FileResource
from handler.bundle.resource_uris import page_uri, table_uri
from handler.bundle.tools import Tool
from handler.server.auth.scopes import require_scopes
from handler.server.context.caller import Caller
from handler.server.mcp.listing.tools_list import entry_for
from handler.strict_json import JSONObject, to_well_formed_json

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
    told = (to_well_formed_json({name: entry[name] for name in names if name in entry}) for names in TOLD)
    json = next((each for each in told if len(each) <= MAX_TOLD_BYTES), to_well_formed_json({"name": tool.name}))
    # No text of a schema may end the element, or begin a comment in it.
    json = json.replace(b"<", b"\\u003c")
    text = page.text.replace(SETTINGS, SETTINGS.replace("{}", json.decode()))
    return [{"uri": uri, "mimeType": page.entry["mimeType"], "text": text}]


def _tool_of(caller: Caller, uri: str) -> Tool | None:
    """Find the tool whose entry names a page."""
    endpoint = caller.endpoint.bundle.endpoint
    found = (tool for tool in caller.endpoint.bundle.tools if table_uri(endpoint, tool.name) == uri)
    tool = next(found, None)
    ui = tool.entry.get("_meta", {}).get("ui") if tool else None
    return tool if isinstance(ui, dict) and ui.get("resourceUri") == uri else None  # an author's "ui" is any value


def _page_of(caller: Caller) -> FileResource | None:
    uri = page_uri(caller.endpoint.bundle.endpoint, "table")
    for resource in caller.endpoint.bundle.resources:
        if isinstance(resource, FileResource) and resource.hidden and resource.uri == uri:
            return resource if caller.evaluation.meets(resource.mask) else None
    return None
