"""The public URL of the function, from its owner's setting or the Lambda event.

Callers write ``Host`` and ``X-Forwarded-*``, so Stile never builds a URL from them.

Source: the API Gateway guide, "Create AWS Lambda proxy integrations for HTTP APIs" (``rawPath`` lacks the key of an API
mapping, ``path`` of format 1.0 has it) and events of Lambda proxy integrations; RFC 9728 and RFC 8414, section 3.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from handler.bundle.model import ENDPOINT_NAME
from handler.server.asgi.request_log import note
from handler.server.asgi.responses import Refused, refuse
from handler.server.auth.resource_metadata import METADATA_NAMES, WELL_KNOWN

ENCODED_SLASH = "%2f"
DEFAULT_STAGE = "$default"

AI_CATALOG = "/.well-known/ai-catalog.json"

# Patterns are compiled at first use, because most front doors do not need them.
_ENDPOINT = ENDPOINT_NAME.pattern
ROUTE = (
    rf"/health(/live)?|/editor\.html|{re.escape(AI_CATALOG)}"
    rf"|/{_ENDPOINT}/(mcp(/server-card)?|graphql|__graphql|tools/[^/]+/graphql|oauth/[^/]+|\.well-known/[^/]+)"
    rf"|{WELL_KNOWN}/{_ENDPOINT}/mcp|/\.well-known/({'|'.join(METADATA_NAMES)})/{_ENDPOINT}"
)
"""The form of the path of every route but the card's, which decides between several readings of a path."""

CARD = f"/{_ENDPOINT}"
"""The form of a card's path. It decides last: `/base/health` has the form, too."""

HOME = "/"
"""The path of the page. It decides after the card's: a base path may have the form of an endpoint's name."""

BASE_PATH = r"(/[A-Za-z0-9$._~+!*'()-]+)+"
"""The prefix that may precede the path of a route. Source: the API Gateway guide, characters of API mappings."""

METADATA_PATH = r"(/\.well-known/[^/]+)(/.+)"
PARAMETER = r"\{([^{}+]+)\+?\}"
"""A parameter in the path of an API's route."""

_PUBLIC_URL, _HAS_SLASH = "stile.public_url", "stile.has_slash"


def public_url(scope: Scope) -> str:
    """Return scheme, domain and base path, without a final slash; empty string if no trusted source gives them."""
    return str(scope[_PUBLIC_URL])


def has_slash(scope: Scope) -> bool:
    """Return whether the path was sent with a final slash, and is not that of the public URL."""
    return bool(scope[_HAS_SLASH]) and not public_url(scope).endswith(scope["path"])


def note_unknown_url(scope: Scope) -> str:
    """Note that the public URL is unknown, and return the sentence for the caller."""
    note(scope, unset="STILE_PUBLIC_URL")
    return "the URL of this endpoint is not known here: the owner of the function has to set STILE_PUBLIC_URL"


class PublicUrl:
    """Middleware that notes the public URL, and removes a stage or base path from the path.

    ``public_url`` is the owner's setting; if it is empty, the domain of the event is used. One final slash of a path
    is ignored. A path with an encoded slash is not found, because a rule in front of the function (a WAF, a proxy)
    would read another path than the routes.
    """

    def __init__(self, app: ASGIApp, *, public_url: str) -> None:
        self._app = app
        self._public_url = public_url
        self._base_path = unquote(urlsplit(public_url).path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        event = scope.get("aws.event", {})
        if ENCODED_SLASH in " ".join(_raw_paths(scope, event)).lower():
            response = refuse(scope, Refused("not-found", "Not Found"), reason="encoded slash")
            await response(scope, receive, send)
            return
        whole = _without_slash(scope["path"])
        path = _route_path(whole, event, self._base_path)
        url = self._public_url or _url_in(event, whole, path)
        await self._app({**scope, "path": path, _PUBLIC_URL: url, _HAS_SLASH: whole != scope["path"]}, receive, send)


def _raw_paths(scope: Scope, event: Mapping[str, Any]) -> Iterator[str]:
    """Yield all undecoded forms of the path, in a web server's scope and in the event of any front door."""
    context = event.get("requestContext") or {}
    http, parameters = context.get("http"), event.get("pathParameters")
    yield (scope.get("raw_path") or b"").decode("latin-1")
    paths = [event.get("rawPath"), event.get("path"), context.get("path")]
    paths += [http.get("path")] if isinstance(http, dict) else []
    paths += parameters.values() if isinstance(parameters, dict) else ()
    yield from (path for path in paths if isinstance(path, str))


def _without_slash(path: str) -> str:
    """Remove one final slash from a path. Two slashes make another path."""
    return path[:-1] if len(path) > 1 and path.endswith("/") and not path.endswith("//") else path


def _route_path(path: str, event: Mapping[str, Any], base_path: str) -> str:
    """Return the path of a route within the path that was sent.

    The prefix that API Gateway states comes first. If it states none, a stage or base path is removed once, as whole
    segments, if a route's path is left. A path that already is a route's path stays, unless the event has the path as
    the client sent it.
    """
    context = event.get("requestContext") or {}
    stage = _stage_path(context)
    in_api = _in_api(path, event)
    if not in_api and stage and "version" in event and _is_gateways(context):
        # A named stage of an HTTP API, on API Gateway's own domain. On a custom domain, the event does not show if the
        # path contains the stage.
        in_api = path if context.get("path") == f"{stage}{event.get('path')}" else _below(path, stage)
    if in_api:
        whole = _without_slash(unquote(_client_path(event, path)))
        ways = [in_api, _below(whole, base_path) or _below(in_api, base_path)]
        likely = in_api
    else:
        staged = _below(path, stage) if "version" in event else ""
        based = _below(path, base_path)
        ways = [path, based] if event.get("version") == "2.0" else [based, path]
        ways += [staged, _below(staged, base_path)]
        likely = staged or path
    if not {way for way in ways if way} - {likely}:
        return likely
    return next((way for form in (ROUTE, CARD, HOME) for way in ways if re.fullmatch(form, way)), likely)


def _in_api(path: str, event: Mapping[str, Any]) -> str:
    """Return the path by the API's matched route, without stage and base path; empty string if it has no path."""
    route, parameters = event.get("resource"), event.get("pathParameters") or {}
    if not isinstance(route, str):
        route = str(event.get("routeKey", "")).partition(" ")[2]
    if not route.startswith("/") or not isinstance(parameters, dict):
        return ""
    if route == HOME and re.fullmatch(BASE_PATH, path):
        return HOME
    filled = _without_slash(re.sub(PARAMETER, lambda name: str(parameters.get(name[1], name[0])), route))
    for route_path in (filled, unquote(filled)):
        before = path.removesuffix(route_path)
        if route_path and before != path and (not before or re.fullmatch(BASE_PATH, before)):
            return route_path
    return ""


def _below(path: str, base_path: str) -> str:
    """Remove a base path at the beginning, or after a metadata name; empty string if there is none."""
    if not base_path:
        return ""
    if path == base_path:
        return HOME
    if path.startswith(f"{base_path}/"):
        return path.removeprefix(base_path)
    metadata = re.fullmatch(METADATA_PATH, path)
    if metadata and metadata[2].startswith(f"{base_path}/"):
        return f"{metadata[1]}{metadata[2].removeprefix(base_path)}"
    return ""


def _client_path(event: Mapping[str, Any], path: str) -> str:
    """Return the path as the client sent it, if the event has it: REST APIs, and HTTP APIs in format 1.0."""
    client_path = (event.get("requestContext") or {}).get("path")
    return client_path if isinstance(client_path, str) else path


def _url_in(event: Mapping[str, Any], whole: str, path: str) -> str:
    """Return the base URL of the routes by the event; empty string for a load balancer, whose event has no domain.

    URLs on API Gateway's own domains contain the stage. On a custom domain, the prefix of the route's path is the base
    path that the domain maps to the API, if the event has that prefix.
    """
    context = event.get("requestContext") or {}
    domain, stage = context.get("domainName"), _stage_path(context)
    if not domain or _is_gateways(context):
        return f"https://{domain}{stage}" if domain else ""
    whole = _without_slash(_client_path(event, whole))
    before = whole.removesuffix(path) if whole.endswith(path) else ""
    if "version" in event and stage:  # URLs of a mapped domain do not contain an HTTP API's stage
        before = f"{before}/".replace(f"{stage}/", "/", 1).removesuffix("/")
    return f"https://{domain}{before}" if re.fullmatch(BASE_PATH, before) else f"https://{domain}"


def _is_gateways(context: Mapping[str, Any]) -> bool:
    return ".execute-api." in str(context.get("domainName"))


def _stage_path(context: Mapping[str, Any]) -> str:
    """Return the stage as a path prefix; empty string for the default stage."""
    stage = context.get("stage") or DEFAULT_STAGE
    return "" if stage == DEFAULT_STAGE else f"/{stage}"
