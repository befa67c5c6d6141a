from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from typing import Any, Protocol

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handler import __version__

MAX_FACT_CHARS = 200

INFO, WARNING = "INFO", "WARNING"

FOR_MAINTAINERS = frozenset(
    {
        "CodeChanged",
        "CredentialUnavailable",
        "Drift",
        "NotReady",
        "UpstreamBadJson",
        "UpstreamBroken",
        "UpstreamDocuments",
        "UpstreamEncoding",
        "UpstreamError",
        "UpstreamForbidden",
        "UpstreamHtml",
        "UpstreamMediaType",
        "UpstreamNotGraphQL",
        "UpstreamRedirect",
        "UpstreamRefused",
        "UpstreamStatus",
        "UpstreamTimeout",
        "UpstreamTooLarge",
        "UpstreamUnreachable",
        "answer_schema",
        "no_verifier",
    }
)
"""The words that reasons begin with which whoever maintains an endpoint has to act on."""

_FACTS = "stile.facts"


class WriteLine(Protocol):
    """Writes one structured line; ``failure`` is the exception behind an unforeseen error."""

    def __call__(self, facts: Mapping[str, Any], *, failure: BaseException | None) -> None: ...


def note(scope: Scope, **facts: Any) -> None:
    """Add facts to the line of the request under way: never a token, an argument or a body."""
    scope[_FACTS].update(bounded(facts))


def request_id(scope: Scope) -> str:
    """The id of the request under way, which its line and its response have."""
    return str(scope[_FACTS]["request_id"])


def bounded(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts with texts that a line can hold."""
    return {name: _cut(fact) if isinstance(fact, str) else fact for name, fact in facts.items()}


def _cut(text: str) -> str:
    """A caller's text for one line: bounded, and without what no log can write (half a surrogate pair)."""
    return text[:MAX_FACT_CHARS].encode(errors="backslashreplace").decode()


def level_of(facts: Mapping[str, Any]) -> str:
    """The level of a line: ``WARNING`` if a maintainer has to act on what it says, of one request of a batch too."""
    if "unset" in facts:  # a setting without which the request could not be answered as it should
        return WARNING
    reasons = [facts.get("reason"), *(each.get("reason") for each in facts.get("calls", ()))]
    words = {str(reason).partition(":")[0] for reason in reasons}
    return WARNING if words & FOR_MAINTAINERS else INFO


class RequestLog:
    """Gives every request an id, every response ``Cache-Control: no-store``, and the log one line."""

    def __init__(self, app: ASGIApp, *, write_line: WriteLine) -> None:
        self._app = app
        self._write_line = write_line

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        facts: dict[str, Any] = {"request_id": _id_for(scope), "stile": __version__}

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                facts["status"] = message["status"]
                headers = MutableHeaders(scope=message)
                headers["x-request-id"] = facts["request_id"]
                headers["cache-control"] = "no-store"
            await send(message)

        try:
            await self._app({**scope, _FACTS: facts}, receive, send_with_headers)
        finally:
            facts["duration_ms"] = round((time.perf_counter() - started) * 1e3, 2)
            self._write_line(facts, failure=facts.pop("failure", None))


def _id_for(scope: Scope) -> str:
    """Lambda's id of the invocation, so that this line, the platform's and the caller's header say the same."""
    context = scope.get("aws.context")
    return str(getattr(context, "aws_request_id", "") or uuid.uuid4())
