"""Where clients reach the function, by what its owner or AWS says.

``Host`` and ``X-Forwarded-*`` are a caller's to write, so no URL that Stile names itself is made from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

DEFAULT_STAGE = "$default"
_PUBLIC_URL = "stile.public_url"


def public_url(scope: Scope) -> str:
    """Scheme, domain and stage, without a slash at the end. Empty where nobody who is believed has said it."""
    return str(scope[_PUBLIC_URL])


class FrontDoor:
    """Notes where clients reach the function, and takes the stage of an HTTP API out of the path.

    ``public_url`` is what the owner says; where it is empty, the domain of the event is taken.
    """

    def __init__(self, app: ASGIApp, *, public_url: str) -> None:
        self._app = app
        self._public_url = public_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        event = scope.get("aws.event", {})
        url = self._public_url or _url_in(event.get("requestContext") or {})
        await self._app({**scope, "path": _path(scope["path"], event), _PUBLIC_URL: url}, receive, send)


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
