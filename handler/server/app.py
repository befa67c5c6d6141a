"""The Starlette application: routes, the HTTP side of MCP, and the edge where the unforeseen ends."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpCall
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from handler.bundle import ENDPOINT_NAME, JSONObject, to_json_bytes
from handler.errors import AccessError, BundleError, CredentialRequired, EndpointNotFound, StorageError
from handler.http import HttpClient
from handler.policy import outcome_of
from handler.server.endpoints import Endpoint, Endpoints
from handler.server.inbound import (
    INTERNAL_ERROR,
    Notification,
    Rejected,
    Request,
    classify,
)
from handler.server.methods import Call, answer
from handler.server.principal import ANONYMOUS, Principal, identify
from handler.server.request_log import RequestLog, WriteLine, note
from handler.server.revisions import is_modern
from handler.server.tools import Caller

MAX_BODY_BYTES = 1_048_576


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What requests are answered with. ``development``: no credential means the development principal."""

    endpoints: Endpoints
    http: HttpClient
    allowed_origins: frozenset[str] = frozenset()
    development: bool = False
    clock: Callable[[], float] = time.time  # UNIX seconds


def create_app(services: Services, *, write_line: WriteLine) -> RequestLog:
    """The application. ``write_line`` gets one structured line a request."""
    routes = [
        Route("/{folder}/{name}/mcp", _Mcp(services), methods=["POST"]),
        Route("/health", _health(services), methods=["GET"]),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _http_error})
    app.router.redirect_slashes = False  # it would redirect to whatever host the request names
    return RequestLog(app, write_line=write_line)


class _Mcp:
    """``POST /{folder}/{name}/mcp``. Source: MCP 2026-07-28, basic/transports/streamable-http."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        http_call = HttpCall(scope, receive)
        response = await self._respond(http_call)
        await response(scope, receive, send)

    async def _respond(self, http_call: HttpCall) -> Response:
        name = f"{http_call.path_params['folder']}/{http_call.path_params['name']}"
        request: Request | None = None
        try:
            self._refuse_transport(http_call)
            endpoint = await self._find(name)
            note(http_call.scope, endpoint=name)
            principal = self._identify(http_call, endpoint)
            message = classify(http_call.headers, await _read_body(http_call))
            note(http_call.scope, method=message.method)
            if isinstance(message, Notification):
                return Response(status_code=202)
            request = message
            return await self._answer(http_call, request, endpoint, principal)
        except Rejected as exc:
            note(http_call.scope, outcome="rejected", reason=exc.message)
            return _error_response(exc, legacy=request is not None and not is_modern(request.revision))
        except AccessError as exc:
            note(http_call.scope, outcome="denied", reason=str(exc))
            return _unauthorized(name, exc)
        except HTTPException:
            raise
        except Exception as exc:  # noqa: BLE001 - the edge of a request: the log gets the cause, the caller a sentence
            note(http_call.scope, outcome="failed", failure=exc)
            return _error_response(Rejected(INTERNAL_ERROR, "Internal error", id=request.id if request else None))

    def _refuse_transport(self, http_call: HttpCall) -> None:
        """Source: MCP 2026-07-28, streamable-http ("Security Warning", "Sending Messages")."""
        origin = http_call.headers.get("origin")
        if origin is not None and origin not in self._services.allowed_origins:
            raise HTTPException(403, "this origin is not allowed; STILE_ALLOWED_ORIGINS names those that are")
        kind = http_call.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise HTTPException(415, "expected Content-Type: application/json")
        if not _takes_json(http_call.headers.get("accept", "*/*")):
            raise HTTPException(406, "answers are application/json")

    async def _find(self, name: str) -> Endpoint:
        if not ENDPOINT_NAME.fullmatch(name):
            raise HTTPException(404, "there is no such endpoint")
        try:
            return await self._services.endpoints.find(name)
        except EndpointNotFound as exc:
            raise HTTPException(404, "there is no such endpoint") from exc
        except (StorageError, BundleError) as exc:
            raise HTTPException(503, "the endpoint cannot be loaded at the moment") from exc

    def _identify(self, http_call: HttpCall, endpoint: Endpoint) -> Principal:
        principal = identify(
            http_call.headers,
            endpoint.bundle.access,
            development=self._services.development,
            now=self._services.clock(),
        )
        note(http_call.scope, principal=principal.kind)
        return principal

    async def _answer(
        self, http_call: HttpCall, request: Request, endpoint: Endpoint, principal: Principal
    ) -> Response:
        tool = request.params.get("name")
        if request.method == "tools/call" and isinstance(tool, str):
            note(http_call.scope, tool=tool)
        outcome = outcome_of(endpoint.bundle.conditions, unrestricted=principal.unrestricted)
        caller = Caller(endpoint=endpoint, outcome=outcome, http=self._services.http, headers=dict(http_call.headers))
        result = await answer(Call(request=request, caller=caller, anonymous=principal == ANONYMOUS))
        response = _json({"jsonrpc": "2.0", "id": request.id, "result": result})
        note(http_call.scope, outcome="tool_error" if result.get("isError") else "ok")
        return response


def _takes_json(accept: str) -> bool:
    kinds = {part.partition(";")[0].strip().lower() for part in accept.split(",")}
    return bool(kinds & {"application/json", "application/*", "*/*"})


async def _read_body(http_call: HttpCall) -> bytes:
    body = bytearray()
    async for chunk in http_call.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise HTTPException(413, f"a request may have {MAX_BODY_BYTES} bytes")
    return bytes(body)


def _error_response(error: Rejected, *, legacy: bool = False) -> Response:
    """A JSON-RPC error. Without a readable id the member is left out: the schema has no null there.

    Clients of the legacy era read errors of a well-formed request from status 200, and so they do of our own.
    """
    body: JSONObject = {"code": error.code, "message": error.message}
    if error.facts is not None:
        body["data"] = error.facts
    identifier = {} if error.id is None else {"id": error.id}
    status = 200 if legacy or error.code == INTERNAL_ERROR else error.status
    return _json({"jsonrpc": "2.0", **identifier, "error": body}, status=status)


def _unauthorized(name: str, reason: AccessError) -> Response:
    challenge = f'Bearer realm="{name}"'
    if not isinstance(reason, CredentialRequired):
        challenge += ', error="invalid_token"'
    body = {"error": "unauthorized", "message": str(reason)}
    return _json(body, status=401, headers={"www-authenticate": challenge})


def _http_error(_: HttpCall, exc: Exception) -> Response:
    if not isinstance(exc, HTTPException):
        raise exc
    return _json({"error": exc.detail}, status=exc.status_code, headers=exc.headers)


def _health(services: Services) -> Callable[[HttpCall], Awaitable[Response]]:
    async def health(_: HttpCall) -> Response:
        return _json({"status": "ok", "endpoints": services.endpoints.count})

    return health


def _json(content: JSONObject, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(to_json_bytes(content), status, headers, media_type="application/json")
