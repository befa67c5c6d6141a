"""The live view of ``stile dev``: problems, reloads and the last calls, as server-sent events for any number of pages.

A page that reads slowly loses its stream and opens it again: it holds no request and no other page up. A call is shown
with its outcome, its log line, and the requests that the API got, without the secrets that ``stile dev -v`` hides.

Source: the HTML standard, "Server-sent events".
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from handler.bundle.upstream import is_address_of
from handler.commands.local.author_view import (
    HIDDEN,
    MAX_READ_CHARS,
    PLAIN_HEADERS,
    Hiding,
    describe_exchange,
    hiding,
    shown_url,
)
from handler.commands.local.dev_log import RequestParts
from handler.commands.local.local_server import ObservedExchange
from handler.compiler.compile import Compiled
from handler.strict_json import parse_json
from handler.text.sentences import cut_text

MAX_CALLS = 200
"""Calls that a page gets when it opens the stream."""

MAX_WAITING = 500
"""Events that wait for a page. With more, the stream of the page ends."""

ALIVE_S = 15.0
"""The time between signs of life, without which something between could end a silent stream."""

MAX_SENT = 10
"""Requests to the API that are kept of one call."""

MAX_TEXT_CHARS = 10_000
"""Characters of a document, of variables and of an answer."""

MAX_ASKED_BYTES = 262_144
"""Bytes of a request to the API that is shown. Of a longer one, the document is left out."""

ALIVE = b": alive\n\n"
OPENED = b"retry: 1000\n\n"
"""The beginning of each stream: a page that loses its stream opens it again after a second."""

Make = Callable[[], dict[str, Any]]


class LiveEvent:
    """One event. Its text is made when the first page reads it, because mostly there is no page."""

    def __init__(self, kind: str, make: Make) -> None:
        self._kind = kind
        self._make: Make | None = make
        self._text = b""
        self._lock = threading.Lock()

    def text(self) -> bytes:
        """Return the event as it is sent."""
        with self._lock:
            if self._make is not None:
                body = json.dumps(self._make(), separators=(",", ":"), default=str)  # ASCII: no line break inside
                self._text, self._make = f"event: {self._kind}\ndata: {body}\n\n".encode(), None
        return self._text


class _Stream:
    """The events that wait for one page. ``None`` ends the stream."""

    def __init__(self) -> None:
        self.waiting: asyncio.Queue[LiveEvent | None] = asyncio.Queue()
        self.loop = asyncio.get_running_loop()

    def put(self, event: LiveEvent | None) -> None:
        """Add an event, in the loop of the stream. The stream of a slow page ends."""
        if self.waiting.qsize() < MAX_WAITING:
            self.waiting.put_nowait(event)
        elif self.waiting.qsize() == MAX_WAITING:
            self.waiting.put_nowait(None)


class Live:
    """The events of one server. Any thread may publish.

    ``problems`` returns the current problems.
    """

    def __init__(self, problems: Make) -> None:
        self._problems = problems
        self._calls: deque[LiveEvent] = deque(maxlen=MAX_CALLS)
        self._streams: set[_Stream] = set()
        self._lock = threading.Lock()
        self._closed = False

    def call(self, make: Make) -> None:
        """Publish a call. ``make`` returns its event when a page reads it."""
        event = LiveEvent("call", make)
        with self._lock:
            self._calls.append(event)
            self._send(event)

    def reloaded(self, make: Make) -> None:
        """Publish that saved files are taken over, and the problems that are left."""
        with self._lock:
            calls = list(self._calls)
        for event in calls:
            event.text()  # with the version of the endpoint that the call met, which is kept no longer
        with self._lock:
            self._send(LiveEvent("reload", make))
            self._send(LiveEvent("problems", self._problems))

    def close(self) -> None:
        """End all streams. Further ones end at once."""
        with self._lock:
            self._closed = True
            self._send(None)

    async def stream(self) -> AsyncIterator[bytes]:
        """Yield the current problems, the last calls, and all further events."""
        stream = _Stream()
        with self._lock:
            for past in (LiveEvent("problems", self._problems), *self._calls):
                stream.waiting.put_nowait(past)
            if self._closed:
                stream.waiting.put_nowait(None)
            self._streams.add(stream)
        try:
            yield OPENED
            while True:
                try:
                    async with asyncio.timeout(ALIVE_S):
                        event = await stream.waiting.get()
                except TimeoutError:
                    yield ALIVE
                    continue
                if event is None:
                    return
                yield await asyncio.to_thread(event.text)
        finally:
            with self._lock:
                self._streams.discard(stream)

    def _send(self, event: LiveEvent | None) -> None:
        for stream in self._streams:
            try:
                stream.loop.call_soon_threadsafe(stream.put, event)
            except RuntimeError:  # the loop has ended, and the stream with it
                continue


def call_event(
    facts: Mapping[str, Any], parts: RequestParts, sentences: Sequence[str], *, caller: str, compiled: Compiled | None
) -> Make:
    """Return the maker of a call's event as JSON.

    ``sentences`` are for the author, as the terminal has them. ``compiled`` is the endpoint; ``None`` if the path names
    none.
    """
    at, size, left_out = utc_now(), parts.answer_bytes, max(0, len(parts.exchanges) - MAX_SENT)
    exchanges = [_bounded(exchange) for exchange in parts.exchanges[:MAX_SENT]]
    calls = facts.get("calls") or [facts]

    def fact(name: str) -> str:  # of a batch, the different facts of its items
        return ", ".join(dict.fromkeys(str(call[name]) for call in calls if call.get(name)))

    return lambda: {
        "id": str(facts.get("request_id", "")),
        "at": at,
        "endpoint": facts.get("endpoint", ""),
        "tool": fact("tool"),
        "method": fact("method") or facts.get("operation") or facts.get("route", ""),
        "caller": caller,
        "outcome": fact("outcome") or facts.get("outcome", ""),
        "reason": fact("reason") or facts.get("reason", ""),
        "told": list(sentences),
        "status": facts.get("status", 0),
        "ms": facts.get("duration_ms", 0),
        "bytes": size,
        "log": dict(facts),
        "sent": [_sent(exchange, compiled) for exchange in exchanges] if compiled else [],
        "sentLeftOut": left_out,
    }


def utc_now() -> str:
    """Return the time: UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _bounded(exchange: ObservedExchange) -> ObservedExchange:
    """Return an exchange with the parts of its bodies that are shown."""
    request, answer = exchange.request, exchange.answer
    if len(request.body or b"") > MAX_ASKED_BYTES:
        request = replace(request, body=None)
    if answer is not None and len(answer.body) > MAX_READ_CHARS:
        answer = replace(answer, body=answer.body[:MAX_READ_CHARS])
    return replace(exchange, request=request, answer=answer)


def _sent(exchange: ObservedExchange, compiled: Compiled) -> dict[str, Any]:
    """Return one request and its answer. Bodies are shown of the API only: others, of tokens, are secrets."""
    request, answer = exchange.request, exchange.answer
    hide = hiding(request, compiled)
    of_api = is_address_of(compiled.bundle.upstream, request.url)
    document, variables = _sent_text(request.body, hide) if of_api else ("", None)
    headers = request.headers.items() if of_api else ()
    body = answer.body[:MAX_READ_CHARS] if answer and of_api else b""
    return {
        "method": request.method,
        "url": shown_url(request.url),
        "headers": {name: value if name.lower() in PLAIN_HEADERS else HIDDEN for name, value in headers},
        "document": document,
        "variables": variables,
        "status": answer.status if answer else 0,
        "ms": exchange.duration_ms,
        "answer": cut_text(hide(body.decode(errors="replace")).strip(), MAX_TEXT_CHARS),
        "said": describe_exchange(exchange, compiled),
    }


def _sent_text(body: bytes | None, hide: Hiding) -> tuple[str, Any]:
    """Return the document and the variables of a request without secrets; the variables are a text if too long."""
    try:
        request = parse_json(body or b"{}")
    except ValueError:
        return "", None
    document = request.get("query")
    text = hide(json.dumps(request.get("variables"), ensure_ascii=False))
    try:
        variables = (
            cut_text(text, MAX_TEXT_CHARS) if len(text) > MAX_TEXT_CHARS else parse_json(text.encode(errors="replace"))
        )
    except ValueError:  # a secret was more than the text inside of quotation marks
        variables = text
    return cut_text(hide(document), MAX_TEXT_CHARS) if isinstance(document, str) else "", variables
