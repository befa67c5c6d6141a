"""APIs that do not answer are left alone for a while: calls fail at once instead of one deadline after another.

Each endpoint has its own patience, which its author chose, so that none can have an origin left alone for another.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from urllib.parse import urlsplit

from handler.errors import AddressRefused, HttpTimeout, HttpTooLarge, HttpUnreachable, UpstreamResting
from handler.http import HttpClient, HttpRequest, HttpResponse

MAX_FAILURES = 5
"""Requests of one endpoint in a row without an answer, before there is a pause."""

PAUSE_S = 10.0
MAX_ORIGINS = 256


class Circuits:
    """What this container knows of the origins that it asked. Whatever is an answer, an error too, counts as one."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._circuits: OrderedDict[tuple[str, str], _Circuit] = OrderedDict()

    async def send(self, http: HttpClient, request: HttpRequest, *, endpoint: str) -> HttpResponse:
        """Send a request of an endpoint, once, or refuse to.

        After a pause one at a time tries whether there are answers again.

        Raises:
            UpstreamResting: the origin is left alone; nothing was sent.
            HttpError: as ``HttpClient.send``.
        """
        circuit = self._circuit(endpoint, request.url)
        probe = circuit.enter(self._clock())
        try:
            answer = await http.send_async(request)
        except AddressRefused:  # nobody was asked
            raise
        except (HttpTimeout, HttpUnreachable):
            circuit.fail(self._clock(), probe=probe)
            raise
        except HttpTooLarge:
            circuit.close()
            raise
        finally:
            circuit.leave(probe=probe)
        circuit.close()
        return answer

    def _circuit(self, endpoint: str, url: str) -> _Circuit:
        parts = urlsplit(url)
        key = (endpoint, f"{parts.scheme}://{parts.netloc.lower()}")
        circuit = self._circuits.setdefault(key, _Circuit())
        self._circuits.move_to_end(key)
        while len(self._circuits) > MAX_ORIGINS:
            self._circuits.popitem(last=False)
        return circuit


class _Circuit:
    def __init__(self) -> None:
        self._failures = 0
        self._opened_at: float | None = None
        self._probing = False

    def enter(self, now: float) -> bool:
        """Whether the request that begins now is the one that tries."""
        if self._opened_at is None:
            return False
        if self._probing or 0 <= now - self._opened_at < PAUSE_S:  # a clock that was set back ends the pause
            raise UpstreamResting(pause_s=PAUSE_S)
        self._probing = True
        return True

    def leave(self, *, probe: bool) -> None:
        """The request ended, in whatever way."""
        if probe:
            self._probing = False

    def fail(self, now: float, *, probe: bool) -> None:
        """It had no answer."""
        self._failures += 1
        if probe or (self._opened_at is None and self._failures >= MAX_FAILURES):
            self._opened_at = now

    def close(self) -> None:
        """It had one."""
        self._failures = 0
        self._opened_at = None
