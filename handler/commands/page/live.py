"""The live view of ``stile dev``: problems, reloads and the last calls, as server-sent events for any number of pages.

A page that reads slowly loses its stream and opens it again: it holds no request and no other page up.

Source: the HTML standard, "Server-sent events".
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

MAX_CALLS = 200
"""Calls that a page gets when it opens the stream."""

MAX_WAITING = 500
"""Events that wait for a page. With more, the stream of the page ends."""

ALIVE_S = 15.0
"""The time between signs of life, without which something between could end a silent stream."""

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
        for event in self._past():
            event.text()  # with the version of the endpoint that the call met, which is kept no longer
        with self._lock:
            self._send(LiveEvent("reload", make))
            self._send(LiveEvent("problems", self._problems))

    def _past(self) -> list[LiveEvent]:
        with self._lock:
            return list(self._calls)

    def close(self) -> None:
        """End all streams. Further ones end at once."""
        with self._lock:
            self._closed = True
            self._send(None)

    async def stream(self) -> AsyncIterator[bytes]:
        """Yield the current problems, the last calls, and all further events."""
        stream = _Stream()
        with self._lock:
            for event in (LiveEvent("problems", self._problems), *self._calls):
                stream.waiting.put_nowait(event)
            if self._closed:
                stream.waiting.put_nowait(None)
            self._streams.add(stream)
        try:
            yield OPENED
            async for each in _events(stream):
                yield ALIVE if each is None else await asyncio.to_thread(each.text)
        finally:
            with self._lock:
                self._streams.discard(stream)

    def _send(self, event: LiveEvent | None) -> None:
        for stream in self._streams:
            try:
                stream.loop.call_soon_threadsafe(stream.put, event)
            except RuntimeError:  # the loop has ended, and the stream with it
                continue


async def _events(stream: _Stream) -> AsyncIterator[LiveEvent | None]:
    """Yield the events of a stream until its end, and ``None`` after each silence."""
    while True:
        try:
            async with asyncio.timeout(ALIVE_S):
                event = await stream.waiting.get()
        except TimeoutError:
            yield None
            continue
        if event is None:
            return
        yield event
