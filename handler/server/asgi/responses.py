"""Responses of all routes: JSON, and the refusal of a request before it reaches its route."""

from __future__ import annotations

import re
from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from handler.server.asgi.content_negotiation import JSON, choose_graphql_type
from handler.strict_json import JSONObject, to_well_formed_json

GRAPHQL_PATH = r"/[^/]+/[^/]+/(?:graphql|__graphql|tools/[^/]+/graphql)/*"
"""Paths of GraphQL routes, also with extra slashes at the end."""


def json_response(content: JSONObject, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Build a JSON response in UTF-8."""
    return Response(to_well_formed_json(content), status, headers, media_type=JSON)


def refuse(scope: Scope, message: str, *, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """Build a refusal in the form of the path's route: a GraphQL response in an accepted media type, or JSON."""
    if not re.fullmatch(GRAPHQL_PATH, scope["path"]):
        return json_response({"error": message}, status=status, headers=headers)
    media_type = choose_graphql_type(Headers(scope=scope).get("accept")) or JSON
    body = to_well_formed_json({"errors": [{"message": message}]})
    return Response(body, status, headers, media_type=f"{media_type}; charset=utf-8")
