"""The log line of each request, and the facts that the code of the request adds to it."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from typing import Any, Protocol

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handler import __version__
from handler.cold.artefact import artefact_release
from handler.errors.upstream import FAILURE_CODES

MAX_FACT_CHARS = 200

GATHERED = frozenset({"coordinates", "coordinates_refused"})
"""Facts that are sets of schema coordinates, and grow with each GraphQL request of a call."""

MAX_COORDINATES_CHARS = 4_000
LEFT_OUT = "coordinates_left_out"
"""The fact with the number of coordinates that a line has no room for."""

INFO, WARNING = "INFO", "WARNING"

FOR_MAINTAINERS = (FAILURE_CODES.keys() - {"CallerTokenRefused"}) | {
    "AuthorFailed",
    "CodeChanged",
    "CredentialUnavailable",
    "Drift",
    "Expired",
    "NotReady",
    "UpstreamDocuments",
    "UpstreamError",
    "UpstreamForbidden",
    "answer_schema",
    "key_set",
    "no_verifier",
    "secret",
}
"""First words of reasons that the maintainer of an endpoint must act on."""

ORDINARY_REFUSALS = frozenset(
    {
        *("no_credential", "malformed", "two_credentials", "scheme", "too_large", "type", "client"),
        *("expired", "not_yet_valid", "development_key", "insufficient_scope"),
    }
)
"""First words of reasons for a refused credential that clients cause in the ordinary course of things."""

FULL_PERCENT = 90
"""The share of the function's memory from which a line is a warning: Lambda kills an instance without a word."""

_DIGEST = artefact_release()
RELEASE: Mapping[str, str] = {"release": _DIGEST} if _DIGEST else {}
"""The fact of the built function, by its digest; empty in development."""

_FACTS = "stile.facts"


class WriteLine(Protocol):
    """A writer of one structured line; ``failure`` is the exception behind an unexpected error."""

    def __call__(self, facts: Mapping[str, Any], *, failure: BaseException | None) -> None: ...


def note(scope: Scope, **facts: Any) -> None:
    """Add facts to the line of the current request: never a token, an unnamed argument or a body."""
    scope[_FACTS].update(facts)


def line_of(scope: Scope) -> dict[str, Any]:
    """Return the facts of the line of the current request, which ``note`` adds to."""
    facts: dict[str, Any] = scope[_FACTS]
    return facts


def written(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line as it is logged: texts are cut to a length that fits, and sets of coordinates are sorted texts."""
    facts = dict(line)
    for name, fact in line.items():
        if isinstance(fact, str) and not (fact.isascii() and len(fact) <= MAX_FACT_CHARS):
            # Half surrogate pairs are escaped, because a log cannot write them.
            facts[name] = fact[:MAX_FACT_CHARS].encode(errors="backslashreplace").decode()
    for name in sorted(GATHERED & line.keys()):
        text = " ".join(sorted(line[name]))
        if len(text) > MAX_COORDINATES_CHARS:
            text = text[: MAX_COORDINATES_CHARS + 1].rpartition(" ")[0]
        facts[name] = text
        if rest := len(line[name]) - len(text.split()):
            facts[LEFT_OUT] = facts.get(LEFT_OUT, 0) + rest
    return facts


def level_of(facts: Mapping[str, Any]) -> str:
    """Return the level of a line: ``WARNING`` if a maintainer must act, also on one request of a batch."""
    # A missing setting changed the response, or the instance will soon be killed.
    if "unset" in facts or facts.get("memory_percent", 0) >= FULL_PERCENT:
        return WARNING
    return WARNING if any(map(_is_warning, (facts, *facts.get("calls", ())))) else INFO


def _is_warning(item: Mapping[str, Any]) -> bool:
    return "no_data" in item or word_of(item) in FOR_MAINTAINERS or is_refused_caller(item)


def word_of(item: Mapping[str, Any]) -> str:
    """Return the first word of the reason of a line, or of an item of a batch."""
    return str(item.get("reason", "")).partition(":")[0]


def is_refused_caller(item: Mapping[str, Any]) -> bool:
    """Return whether a credential was refused that its caller may have had in good faith.

    Keys were withdrawn, or an issuer has changed its tokens. Also if no credential can be judged at the moment.
    """
    return item.get("outcome") == "denied" and word_of(item) not in ORDINARY_REFUSALS | {""}


class RequestLog:
    """Middleware that gives each request an id, a log line, and a response that no cache stores."""

    def __init__(self, app: ASGIApp, *, write_line: WriteLine) -> None:
        self._app = app
        self._write_line = write_line

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        # Lambda's id of the invocation, which the platform's log lines have too, or a random id elsewhere.
        id_ = str(getattr(scope.get("aws.context"), "aws_request_id", "") or uuid.uuid4())
        facts: dict[str, Any] = {"request_id": id_, "stile": __version__, **RELEASE}
        gateway_id = scope.get("aws.event", {}).get("requestContext", {}).get("requestId")
        if isinstance(gateway_id, str):  # a load balancer has none, and an event may be written by hand
            facts["gateway_request_id"] = gateway_id

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                facts["status"] = message["status"]
                headers = MutableHeaders(scope=message)
                headers["x-request-id"] = facts["request_id"]
                headers.setdefault("cache-control", "no-store")
            elif message["type"] == "http.response.body":
                facts["answer_bytes"] = facts.get("answer_bytes", 0) + len(message.get("body", b""))
            await send(message)

        try:
            await self._app({**scope, _FACTS: facts}, receive, send_with_headers)
        finally:
            facts["duration_ms"] = round((time.perf_counter() - started) * 1e3, 2)
            failure = facts.pop("failure", None)
            self._write_line(written(facts), failure=failure)
