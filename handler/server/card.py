"""The card of an endpoint: a short description for one caller, with the tools that ``tools/list`` shows the caller.

The digest is of the caller's list. A digest of the bundle would confirm guesses about the parts hidden from the caller.
A maintainer with read access to the versions of the stored bundle asks with their ids if one of them is served: nobody
else can guess the ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpCall
from starlette.responses import Response

from handler.errors import StileError
from handler.errors.access import AccessError
from handler.errors.calls import DeadlinePassed
from handler.errors.protocol import McpError
from handler.errors.upstream import UpstreamError
from handler.server.asgi.content_negotiation import JSON, accepted_kinds
from handler.server.asgi.deadlines import before
from handler.server.asgi.public_url import note_unknown_url, public_url
from handler.server.asgi.request_log import note
from handler.server.asgi.responses import Refused, json_response
from handler.server.auth.resource_metadata import metadata_url, open_scopes, takes_tokens
from handler.server.context import Caller, Services, find_endpoint, identify_caller
from handler.server.denials import denial_response, status_of
from handler.server.mcp.jsonrpc import Call, Request
from handler.server.mcp.revisions import MODERN
from handler.server.mcp.revisions import listed as listed_for
from handler.server.mcp.tools_list import list_tools
from handler.strict_json import Entry, JSONObject, to_well_formed_json

MEMBERS = ("name", "title", "description")
"""The members of a tool in ``tools/list`` that the card repeats."""

HEADERS = {"cache-control": "private, no-store", "vary": "Accept, Authorization, X-API-Key, Stile-Versions"}
"""The headers of every response. Another media type may answer at the same URL one day."""


def card_route(services: Services) -> Callable[[HttpCall], Awaitable[Response]]:
    """Build the route of the cards."""

    async def card_of(http_call: HttpCall) -> Response:
        note(http_call.scope, route="card")
        try:
            if not accepted_kinds(http_call.headers.get("accept", "")) & {JSON, "application/*", "*/*"}:
                raise Refused("not-acceptable", "answers are application/json")
            response = await _answer(services, http_call)
        except HTTPException as exc:
            exc.headers = {**HEADERS, **(exc.headers or {})}
            raise
        except AccessError as exc:
            response = denial_response(http_call, exc)
        except McpError as exc:  # its text is for clients of MCP
            note(http_call.scope, outcome="errors", reason=type(exc).__name__, code=StileError.stile_code)
            response = json_response(
                {"error": "the tools cannot be listed at the moment", "code": StileError.stile_code}, status=502
            )
        except (UpstreamError, DeadlinePassed) as exc:
            note(http_call.scope, outcome="errors", reason=exc.log_reason, code=exc.stile_code)
            response = json_response({"error": str(exc), "code": exc.stile_code}, status=status_of(exc))
        response.headers.update(HEADERS)
        return response

    return card_of


async def _answer(services: Services, http_call: HttpCall) -> Response:
    endpoint = await find_endpoint(services, http_call)
    caller = await identify_caller(services, http_call, endpoint)
    call = Call(request=Request(id=0, method="tools/list", params={}, revision=MODERN[0]), caller=caller)
    async with before(caller.deadline):
        listed = await list_tools(call)
    url = public_url(http_call.scope)
    if not url:
        note_unknown_url(http_call.scope)
    note(http_call.scope, outcome="ok", decision="allowed")
    card, versions = _card(caller, listed, url), http_call.headers.get("stile-versions", "")
    if versions:  # ``None`` if the storage has no ids
        card["serves"] = caller.endpoint.version in versions.split() if caller.endpoint.version else None
    return json_response(card)


def _card(caller: Caller, listed: Sequence[JSONObject], url: str) -> JSONObject:
    bundle = caller.endpoint.bundle
    name = bundle.endpoint
    tools: list[JSONObject] = []  # as far as a page has room
    free_bytes = caller.room.page_bytes
    for entry in listed:
        tool = {member: entry[member] for member in MEMBERS if member in entry}
        free_bytes -= len(to_well_formed_json(tool)) + 1
        if free_bytes < 0:
            break
        tools.append(tool)
    # The list as the newest revision of MCP shows it.
    entries = (entry if isinstance(entry, Entry) else Entry(entry) for entry in listed)
    sha256 = hashlib.sha256(b"".join(entry.digest for entry in listed_for("tools", entries, MODERN[0])))
    sign_in = {}  # as in the challenge of a denial; empty if clients cannot find an authorization server
    if takes_tokens(bundle):
        members = {"resourceMetadata": metadata_url(bundle, url), "scope": " ".join(open_scopes(bundle))}
        sign_in = {"signIn": {member: value for member, value in members.items() if value}}
    words = " ".join(word for part in name.split("/") for word in part.replace("_", "-").split("-") if word)
    return {
        "name": name,
        "title": caller.endpoint.server_info.get("title") or words,
        **({"mcpUrl": f"{url}/{name}/mcp"} if url else {}),
        **sign_in,
        "digest": f"sha256:{sha256.hexdigest()}",
        "tools": tools,
        **({"more": len(listed) - len(tools)} if len(listed) > len(tools) else {}),
    }
