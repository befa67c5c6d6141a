"""The log of ``stile dev``: one line for each request, and below a failed one the reasons for its author."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handler.code_tools.boundary import author_traceback
from handler.commands.console import one_line, say
from handler.commands.local.author_view import lines_of, told_to_author, why_refused
from handler.commands.local.local_endpoint import local_settings
from handler.commands.local.local_server import ObservedExchange, observed, unset_secrets
from handler.compiler.compile import Compiled
from handler.server.asgi.request_log import WARNING, level_of
from handler.strict_json import parse_json
from handler.text.sentences import cut_text

FACTS = ("method", "operation", "tool", "status", "outcome", "reason", "coordinate", "redirect_uri")
"""The facts of a request's log line that are printed, in this order."""

NO_STREAM = "there is no stream and no session here, for which SDKs ask first"

PAGE = "page"
"""The route of the page's own requests."""

CALL = "stile-call"
"""The header with the id of the call, by which the page finds it in its live view."""

MAX_KEPT_BYTES = 65_536
MAX_SHOWN_CHARS = 2_000


@dataclass(slots=True)
class RequestParts:
    """The parts of a request that its log line does not have."""

    http_method: str
    path: str
    headers: Headers
    exchanges: list[ObservedExchange]
    body: bytearray = field(default_factory=bytearray)
    answer_bytes: int = 0


Listener = Callable[[Mapping[str, Any], RequestParts, list[str]], None]
"""A listener to the facts of each call, the rest of the request, and the sentences for the author."""

_PARTS: ContextVar[RequestParts | None] = ContextVar("seen", default=None)


def current_headers() -> Headers:
    """Return the headers of the request that is being answered; none outside of a request."""
    parts = _PARTS.get()
    return parts.headers if parts else Headers()


class DevLog:
    """The writer of the lines, and the middleware outside of all others that sees the requests.

    ``find`` returns an endpoint by its name; ``None`` if it is not served. With ``verbose``, each request is followed
    by the arguments of its tool, and by the requests that the API got. ``on_call`` hears of each call, which an answer
    names in the header ``Stile-Call``. The page's own requests are left out, unless they are refused.
    """

    def __init__(self, find: Callable[[str], Compiled | None], *, verbose: bool, on_call: Listener) -> None:
        self._find = find
        self._verbose = verbose
        self._on_call = on_call

    def around(self, app: ASGIApp) -> ASGIApp:
        """Return the application with its requests observed, and its answers named."""

        async def observing(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return

            async def receive_observed() -> Message:
                message = await receive()
                if self._verbose:
                    parts.body += message.get("body", b"")[: MAX_KEPT_BYTES - len(parts.body)]
                return message

            async def send_named(message: Message) -> None:
                if message["type"] == "http.response.start":
                    headers = MutableHeaders(scope=message)
                    headers[CALL] = headers.get("x-request-id", "")
                parts.answer_bytes += len(message.get("body", b""))
                await send(message)

            with observed() as exchanges:
                parts = RequestParts(
                    http_method=scope["method"], path=scope["path"], headers=Headers(scope=scope), exchanges=exchanges
                )
                _PARTS.set(parts)  # each request has a context of its own
                await app(scope, receive_observed, send_named)

        return observing

    def write_line(self, facts: Mapping[str, Any], *, failure: BaseException | None) -> None:
        """Print the line of a request, after a word that stands for its colour, and the lines below."""
        parts = _PARTS.get()
        if parts is None:
            return
        of_page = facts.get("route") == PAGE
        if of_page and facts.get("status", 0) < 400:
            return
        asks_for_stream = _asks_for_stream(facts, parts)
        outcomes = {call.get("outcome") for call in (facts, *facts.get("calls", ()))}
        is_warning = level_of(facts) == WARNING and "denied" not in outcomes
        if outcomes & {"tool_error", "failed"} or is_warning or facts.get("status", 0) >= 500:
            word, style = "error: ", "bold red"
        elif outcomes & {"denied", "rejected"} and not asks_for_stream:
            word, style = "refused: ", "yellow"
        else:
            word, style = "", "dim"
        if asks_for_stream:
            line = f"{one_line(parts.http_method)} {one_line(parts.path)} {facts['status']}: {NO_STREAM}"
        else:
            calls = [call.get("tool") or call.get("method") for call in facts.get("calls", ())]
            values = [facts[key] for key in FACTS if facts.get(key)]
            words = [parts.http_method, parts.path, *values, *filter(None, calls)]
            line = " ".join(one_line(str(each)) for each in words)  # facts may be a caller's text
        say(f"{word}{line} ({facts['duration_ms']} ms)", style)
        compiled = self._find(str(facts.get("endpoint", "")))
        why = self._why(facts, parts, compiled) if compiled else []
        details = self._details(parts, compiled) if compiled and self._verbose else []
        for line in [*why, *details]:
            say(f"  {line}", style)
        if not of_page:
            self._on_call(facts, parts, why)
        if failure is not None:
            say(author_traceback(failure, whole=self._verbose).rstrip(), style)

    def _why(self, facts: Mapping[str, Any], parts: RequestParts, compiled: Compiled) -> list[str]:
        settings, identity = local_settings(), compiled.bundle.identity
        lines = []
        for call in [facts, *facts.get("calls", ())]:
            reason = str(call.get("reason", ""))
            lines += told_to_author(reason, parts.exchanges, compiled, settings)
            if call.get("outcome") == "denied":
                unset = unset_secrets(compiled, settings)
                lines.append(why_refused(reason, parts.headers, identity, unset=unset, now=time.time()))
        return [one_line(line) for line in lines if line]

    def _details(self, parts: RequestParts, compiled: Compiled) -> list[str]:
        """Return the arguments of a tool, if the message has some, and the requests to the API."""
        lines = []
        message = None
        with suppress(ValueError):
            message = parse_json(bytes(parts.body))
        match message:
            case {"method": "tools/call", "params": {"arguments": arguments}} if arguments is not None:
                lines.append(f"arguments {cut_text(json.dumps(arguments, ensure_ascii=False), MAX_SHOWN_CHARS)}")
        return [*lines, *(line for exchange in parts.exchanges for line in lines_of(exchange, compiled))]


def _asks_for_stream(facts: Mapping[str, Any], parts: RequestParts) -> bool:
    """Return whether an SDK asks if the server has streams (GET) or sessions (DELETE)."""
    asks = parts.http_method == "DELETE" or "text/event-stream" in parts.headers.get("accept", "")
    return facts.get("status") == 405 and asks and re.fullmatch(r"/[^/]+/[^/]+/mcp/?", parts.path) is not None
