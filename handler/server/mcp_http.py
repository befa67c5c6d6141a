from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpCall
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from handler.bundle import JSONObject
from handler.errors import AccessError
from handler.server.caller import Caller
from handler.server.entrance import (
    JSON,
    Services,
    deny,
    find_endpoint,
    identify_caller,
    json_response,
    read_body,
)
from handler.server.inbound import INTERNAL_ERROR, Notification, Rejected, Request, classify
from handler.server.methods import Call, answer
from handler.server.request_log import note
from handler.server.revisions import is_modern

DENIALS: Mapping[int, str] = {400: "invalid_request", 401: "unauthorized", 403: "insufficient_scope"}
"""What bodies of denials say. They are no JSON-RPC: most are made before there is a message."""


class McpRoute:
    """``POST /{folder}/{name}/mcp``. Source: MCP 2026-07-28, basic/transports/streamable-http."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        note(scope, route="mcp")
        response = await self._respond(HttpCall(scope, receive))
        await response(scope, receive, send)

    async def _respond(self, http_call: HttpCall) -> Response:
        request: Request | None = None
        try:
            _refuse_media_types(http_call)
            endpoint = await find_endpoint(self._services, http_call)
            caller = await identify_caller(self._services, http_call, endpoint)
            message = classify(http_call.headers, await read_body(http_call))
            note(http_call.scope, method=message.method)
            if isinstance(message, Notification):
                return Response(status_code=202)
            request = message
            return await _answer(http_call, request, caller)
        except Rejected as exc:
            note(http_call.scope, outcome="rejected", reason=exc.message)
            return _error_response(exc, legacy=request is not None and not is_modern(request.revision))
        except AccessError as exc:
            denial = deny(http_call, exc)
            body = {"error": DENIALS[denial.status], "message": str(exc)}
            return json_response(body, status=denial.status, headers=denial.headers)
        except HTTPException:
            raise
        except Exception as exc:  # noqa: BLE001 - the edge of a request: the log gets the cause, the caller a sentence
            note(http_call.scope, outcome="failed", failure=exc)
            return _error_response(Rejected(INTERNAL_ERROR, "Internal error", id=request.id if request else None))


def _refuse_media_types(http_call: HttpCall) -> None:
    """Source: MCP 2026-07-28, streamable-http ("Sending Messages")."""
    kind = http_call.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise HTTPException(415, "expected Content-Type: application/json")
    if not _takes_json(http_call.headers.get("accept", "*/*")):
        raise HTTPException(406, "answers are application/json")


def _takes_json(accept: str) -> bool:
    kinds = {part.partition(";")[0].strip().lower() for part in accept.split(",")}
    return bool(kinds & {JSON, "application/*", "*/*"})


async def _answer(http_call: HttpCall, request: Request, caller: Caller) -> Response:
    tool = request.params.get("name")
    if request.method == "tools/call" and isinstance(tool, str):
        note(http_call.scope, tool=tool)
    call = Call(request=request, caller=caller, note=partial(note, http_call.scope))
    result = await answer(call)
    response = json_response({"jsonrpc": "2.0", "id": request.id, "result": result})
    note(http_call.scope, outcome="tool_error" if result.get("isError") else "ok")
    return response


def _error_response(error: Rejected, *, legacy: bool = False) -> Response:
    """A JSON-RPC error. Without a readable id the member is left out: the schema has no null there.

    Clients of the legacy era read errors of a well-formed request from status 200, and so they do of our own.
    """
    body: JSONObject = {"code": error.code, "message": error.message}
    if error.facts is not None:
        body["data"] = error.facts
    identifier = {} if error.id is None else {"id": error.id}
    status = 200 if legacy or error.code == INTERNAL_ERROR else error.status
    return json_response({"jsonrpc": "2.0", **identifier, "error": body}, status=status)
