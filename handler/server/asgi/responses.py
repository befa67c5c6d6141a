"""Responses of all routes: JSON, large lists in gzip, and the refusal of a request by HTTP.

Only lists and the page's documents are compressed, for clients that accept it, at front doors that pass bytes on. Many
callers share them, so they never mix a caller's secret with chosen text (BREACH).

Source: RFC 9110, sections 12.5.3 (Accept-Encoding) and 12.5.5 (Vary); the API Gateway guide, "binary media types".
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpCall
from starlette.responses import Response
from starlette.types import Scope

from handler.server.asgi.content_negotiation import JSON, accepted_kinds, choose_graphql_type
from handler.server.asgi.request_log import note
from handler.strict_json import JSONObject, to_well_formed_json

GRAPHQL_PATH = r"/[^/]+/[^/]+/(?:graphql|__graphql|tools/[^/]+/graphql)/*"
"""Paths of GraphQL routes, also with extra slashes at the end."""

LEVEL = 4
"""This level compresses 850 KB of real tools to 66 KB in 4 ms; the default level, to 55 KB in 6 ms."""

GZIP_WINDOW = 31  # zlib's number for gzip's header and checksum around its largest window


def json_response(content: JSONObject, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Build a JSON response in UTF-8."""
    return Response(to_well_formed_json(content), status, headers, media_type=JSON)


def list_response(http_call: HttpCall, body: bytes) -> Response:
    """Build the response with a large list in JSON, in gzip if the client accepts it."""
    headers = {"vary": "Accept-Encoding"}
    if takes_gzip(http_call):
        body, headers = to_gzip(body, level=LEVEL), {**headers, "content-encoding": "gzip"}
    return Response(body, headers=headers, media_type=JSON)


def takes_gzip(http_call: HttpCall) -> bool:
    """Return whether the client accepts gzip, and the front door passes bytes on."""
    event = http_call.scope.get("aws.event")
    # HTTP APIs, function URLs and load balancers decode base64 to bytes; a REST API, only for configured media types.
    if event is not None and event.get("version") != "2.0" and "elb" not in (event.get("requestContext") or {}):
        return False
    return "gzip" in accepted_kinds(http_call.headers.get("accept-encoding", "identity"))


def to_gzip(body: bytes, *, level: int) -> bytes:
    """Compress a body."""
    compressor = zlib.compressobj(level, wbits=GZIP_WINDOW)
    return compressor.compress(body) + compressor.flush()


STATUS_OF_REFUSAL: Mapping[str, int] = {
    "bad-request": 400,
    "body-too-large": 413,
    "endpoint-not-found": 404,
    "endpoint-not-ready": 503,
    "endpoint-unavailable": 503,
    "foreign-host": 421,
    "foreign-origin": 403,
    "foreign-page": 403,
    "graphql-off": 404,
    "method-not-allowed": 405,
    "mutation-by-get": 405,
    "not-acceptable": 406,
    "not-found": 404,
    "persisted-documents-only": 403,
    "public-url-unknown": 404,
    "unserved-front-door": 501,
    "unsupported-media-type": 415,
}
"""The codes of refusals by HTTP, and their status."""

_CODE_OF_STATUS = {404: "not-found", 405: "method-not-allowed"}
"""The codes of refusals by Starlette, which knows the routes."""


class Refused(HTTPException):
    """A refusal by HTTP; its code decides its status."""

    def __init__(self, code: str, detail: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(STATUS_OF_REFUSAL[code], detail, headers)
        self.stile_code = code


def refusal_code(refusal: HTTPException) -> str:
    """Return the stable code of a refusal, whether or not Starlette raised it."""
    return (
        refusal.stile_code if isinstance(refusal, Refused) else _CODE_OF_STATUS.get(refusal.status_code, "bad-request")
    )


def refuse(scope: Scope, refusal: HTTPException, *, reason: str) -> Response:
    """Note a refusal for ``reason``, and build its response in the form of the path's route.

    The form is a GraphQL response in an accepted media type, or JSON.
    """
    code, status, headers = refusal_code(refusal), refusal.status_code, refusal.headers
    note(scope, outcome="rejected", reason=reason, code=code)
    if not re.fullmatch(GRAPHQL_PATH, scope["path"]):
        return json_response({"error": refusal.detail, "code": code}, status=status, headers=headers)
    media_type = choose_graphql_type(Headers(scope=scope).get("accept")) or JSON
    body = to_well_formed_json({"errors": [{"message": refusal.detail, "extensions": {"code": code}}]})
    return Response(body, status, headers, media_type=f"{media_type}; charset=utf-8")
