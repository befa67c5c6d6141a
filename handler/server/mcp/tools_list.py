"""List the tools of a caller, and build the result of any list method, in pages that Lambda can answer.

The cursor of a page holds a digest of its list and the next position; the server keeps nothing. A cursor is valid only
for the caller's list as it was: in another list it would skip or repeat entries. The digest is of nothing else, so that
no cursor changes with, or confirms a guess about, the parts of a bundle that are hidden from the caller.

Source: MCP 2026-07-28, server/utilities/pagination.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING, Any

from handler.bundle.tools import CatalogTool, CodeKit, CodeTool, Tool, only_reads
from handler.errors.protocol import InvalidParams
from handler.list_entries import ANNOTATION, BYTES_PER_TOKEN, is_listable
from handler.policy.evaluation import Evaluation
from handler.server.asgi.response_size import MAX_PAGE_BYTES, page_end
from handler.server.auth.principal import Principal
from handler.server.context import Caller, with_schema
from handler.server.endpoints.endpoint import Endpoint
from handler.server.mcp.jsonrpc import Call
from handler.server.mcp.revisions import listed as listed_for
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
    if endpoint.catalog is None and not kits_per_caller(call):
        return await list_entries(endpoint, call.caller.evaluation, principal=call.caller.principal)
    tools = with_catalog([listed async for listed in usable_tools(call)], endpoint)
    return [listed.entry for listed in tools if not listed.hidden]


def with_catalog(tools: Sequence[Listed], endpoint: Endpoint) -> list[Listed]:
    """Return the entries of a caller, with those ``hidden`` that a catalog keeps from the list.

    ``tools`` are all entries that the caller may use. If the catalog keeps nothing from the list, they stay as they
    are. Otherwise the tools of the catalog are listed, and the one for tools that write only if the caller has some.
    Tools with arguments that clients repeat in headers stay listed, because a call by name cannot repeat them.
    """
    catalog = endpoint.catalog
    if catalog is None or catalog.unlisted == "never":
        return list(tools)
    if catalog.unlisted != "always":
        max_bytes = endpoint.list_budget * BYTES_PER_TOKEN or MAX_PAGE_BYTES
        listed = endpoint.short_list([Entry.of(each.entry) for each in tools if not each.hidden], max_bytes)
        if Entries(listed).size_to(max_bytes) <= max_bytes:
            return list(tools)
    roles = ["search", "call"]
    if any(not listed.role and not listed.pinned and not only_reads(listed.entry) for listed in tools):
        roles.append("call-mutation")

    def stays(listed: Listed) -> bool:
        in_headers = not listed.hidden and not listed.role and _IN_HEADERS in Entry.of(listed.entry).json
        return listed.role in roles or listed.pinned or in_headers

    return [replace(listed, hidden=not stays(listed)) for listed in tools]


async def usable_tools(call: Call) -> AsyncIterator[Listed]:
    """Yield the tools that a caller may find: the endpoint's, then those of providers. The first of a name wins.

    Raises:
        UpstreamError, McpError: as ``list_tools``.
    """
    from handler.code_tools.sections import Listed

    endpoint = call.caller.endpoint
    of_kits: dict[str, dict[str, Listed]] = {}
    for kit in kits_per_caller(call):
        from handler.server.mcp.code_tools import tools_of_kit

        of_kits[kit.use] = await tools_of_kit(call, kit)
    for tool in endpoint.bundle.tools:
        hidden = isinstance(tool, CodeTool) and tool.kit in of_kits and tool.name not in of_kits[tool.kit]
        if hidden or not endpoint.lists(tool, call.caller.principal):
            continue
        entry, options = await entry_for(call.caller, tool), tool.options
        if entry is not None:
            yield Listed(
                entry=entry,
                hidden=options.hidden,
                pinned=options.pinned,
                role=tool.role if isinstance(tool, CatalogTool) else "",
                aliases=tuple(options.aliases),
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
    tools = [tool for tool in endpoint.bundle.tools if not tool.options.hidden and endpoint.lists(tool, principal)]

    def entries() -> list[JSONObject]:
        return [entry for tool in tools if (entry := _entry(endpoint, tool, evaluation)) is not None]

    is_slow = any(endpoint.needs_schema(tool, evaluation) for tool in tools)
    return await with_schema(entries) if is_slow else entries()


async def entry_for(caller: Caller, tool: Tool) -> JSONObject | None:
    """Return a caller's entry of a tool; ``None`` if the caller may not use it.

    Raises:
        UpstreamError: the schema that the entry depends on cannot be loaded.
    """
    endpoint, evaluation = caller.endpoint, caller.evaluation
    if endpoint.needs_schema(tool, evaluation):
        return await with_schema(_entry, endpoint, tool, evaluation)
    return _entry(endpoint, tool, evaluation)


def _entry(endpoint: Endpoint, tool: Tool, evaluation: Evaluation) -> JSONObject | None:
    entry = endpoint.entry(tool, evaluation)
    return entry if entry is None or not tool.options.view_mask else seen_entry(tool, entry, evaluation)


def seen_entry(tool: Tool, entry: JSONObject, evaluation: Evaluation) -> JSONObject:
    """Return an entry of a tool, without the URI of its view if the caller may not read that page."""
    if evaluation.meets(tool.options.view_mask):
        return entry
    return Entry.of(entry).kept("without view", _without_view)


def _without_view(entry: Entry) -> Entry:
    ui = {name: each for name, each in entry["_meta"]["ui"].items() if name != "resourceUri"}
    meta = {name: each for name, each in entry["_meta"].items() if name != "ui"} | ({"ui": ui} if ui else {})
    return Entry({name: each for name, each in entry.items() if name != "_meta"} | ({"_meta": meta} if meta else {}))


def kits_per_caller(call: Call) -> list[CodeKit]:
    """Return the toolkits of this caller that list their tools per caller."""
    return [kit for kit in call.caller.permitted(call.caller.endpoint.bundle.code) if kit.per_caller]


DIGEST_BYTES = 12
PLACE_BYTES = 4


def page_of(call: Call, key: str, entries: Sequence[JSONObject]) -> JSONObject:
    """Return the result with a list under ``key``, or with the page of the list that a request asks for.

    A list of tools is shortened to the budget of the endpoint.

    Raises:
        InvalidParams: the cursor is not a cursor of this list.
    """
    room, cursor = call.caller.room, call.request.params.get("cursor")
    listed = Entries(listed_for(key, map(Entry.of, entries), call.request.revision))
    if key == "tools":
        listed = Entries(call.caller.endpoint.short_list(listed, room.page_bytes))
    size = listed.size_to(room.page_bytes)
    call.caller.endpoint.note_list(key, size)
    if cursor is None and size <= room.page_bytes:
        return {key: listed}
    pageable: Sequence[Entry] = listed
    if size > room.page_bytes:
        small = room.surely_small_bytes
        fits = [each.size <= small or (is_listable(each.json) and room.fits(each.json)) for each in listed]
        pageable = list(compress(listed, fits))
        if not all(fits):
            names = (str(entry.get("name")) for entry, is_fitting in zip(listed, fits, strict=True) if not is_fitting)
            call.note(too_large=", ".join(names))
    sha256 = hashlib.sha256(f"{call.caller.endpoint.bundle.endpoint} {key} ".encode())
    for entry in pageable:
        sha256.update(entry.digest)
    digest = sha256.digest()[:DIGEST_BYTES]
    start = 0 if cursor is None else _place(cursor, digest)
    end = page_end(pageable, start, room)
    following = {"nextCursor": _cursor(end, digest)} if end < len(pageable) else {}
    return {key: Entries(pageable[start:end]), **following}


def _cursor(place: int, digest: bytes) -> str:
    return base64.urlsafe_b64encode(place.to_bytes(PLACE_BYTES, "big") + digest).decode().rstrip("=")


def _place(cursor: Any, digest: bytes) -> int:
    """Return the position at which the page of a cursor begins.

    Raises:
        InvalidParams: the cursor is not a cursor of the list with this digest.
    """
    try:
        raw = base64.urlsafe_b64decode(f"{cursor}==") if isinstance(cursor, str) else b""
    except ValueError:
        raw = b""
    place = int.from_bytes(raw[:PLACE_BYTES], "big")
    if not isinstance(cursor, str) or raw[PLACE_BYTES:] != digest or cursor != _cursor(place, digest):
        sentence = "unknown cursor: it is of another list, or the list has changed. Ask again without a cursor"
        raise InvalidParams(f"Invalid params: {sentence}")
    return place
