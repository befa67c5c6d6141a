"""Requests that are refused outside of any route: they look as the route at their path would refuse them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from handler.server.asgi.content_negotiation import JSON
from handler.server.context.request_context import json_response
from handler.strict_json import to_well_formed_json

GRAPHQL_PATH = r"/[^/]+/[^/]+/(?:graphql|__graphql|tools/[^/]+/graphql)/*"
"""The paths of GraphQL routes, and those with slashes too many."""


def refuse(scope: Scope, message: str, *, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """A GraphQL response at a path of GraphQL, in the media type that its client takes; elsewhere plain JSON."""
    if not re.fullmatch(GRAPHQL_PATH, scope["path"]):
        return json_response({"error": message}, status=status, headers=headers)
    from handler.server.graphql.request import choose_media_type

    media_type = choose_media_type(Headers(scope=scope).get("accept")) or JSON
    body = to_well_formed_json({"errors": [{"message": message}]})
    return Response(body, status, headers, media_type=f"{media_type}; charset=utf-8")
