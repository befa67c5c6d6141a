"""Where clients reach the function, by what its owner or AWS says.

``Host`` and ``X-Forwarded-*`` are a caller's to write, so no URL that Stile names itself is made from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from handler.server.refusals import refuse
from handler.server.request_log import note

ENCODED_SLASH = "%2f"
DEFAULT_STAGE = "$default"
_PUBLIC_URL = "stile.public_url"


def public_url(scope: Scope) -> str:
    """Scheme, domain and stage, without a slash at the end. Empty where nobody who is believed has said it."""
    return str(scope[_PUBLIC_URL])


class FrontDoor:
    """Notes where clients reach the function, and takes the stage of an HTTP API out of the path.

    ``public_url`` is what the owner says; where it is empty, the domain of the event is taken. A path with an encoded
    slash is not found: a rule in front of the function (a WAF, a proxy) reads another path than the routes would.
    """

    def __init__(self, app: ASGIApp, *, public_url: str) -> None:
        self._app = app
        self._public_url = public_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        event = scope.get("aws.event", {})
        if any(ENCODED_SLASH in path.lower() for path in _raw_paths(scope, event)):
            note(scope, outcome="rejected", reason="encoded slash")
            await refuse(scope, "Not Found", status=404)(scope, receive, send)
            return
        url = self._public_url or _url_in(event.get("requestContext") or {})
        await self._app({**scope, "path": _path(scope["path"], event), _PUBLIC_URL: url}, receive, send)


def _raw_paths(scope: Scope, event: Mapping[str, Any]) -> list[str]:
    """The path as each place has it that is not decoded: a web server's scope, or the event of any front door."""
    context = event.get("requestContext") or {}
    told = (event.get("rawPath"), event.get("path"), context.get("path"), (context.get("http") or {}).get("path"))
    return [(scope.get("raw_path") or b"").decode("latin-1"), *(path for path in told if isinstance(path, str))]


def _url_in(context: Mapping[str, Any]) -> str:
    """Source: the API Gateway guide, events of Lambda proxy integrations.

    A stage stands in the URLs of API Gateway's own domains; a domain of the owner's is mapped to one instead. A load
    balancer's event names no domain.
    """
    domain, stage = context.get("domainName"), context.get("stage", DEFAULT_STAGE)
    if not domain:
        return ""
    return (
        f"https://{domain}" if stage == DEFAULT_STAGE or ".execute-api." not in domain else f"https://{domain}/{stage}"
    )


def _path(path: str, event: Mapping[str, Any]) -> str:
    """The path below the stage, which HTTP APIs leave in it (payload format 2.0) and REST APIs do not."""
    if event.get("version") != "2.0":
        return path
    stage = event["requestContext"].get("stage", DEFAULT_STAGE)
    return path.removeprefix(f"/{stage}") if path.startswith(f"/{stage}/") else path
