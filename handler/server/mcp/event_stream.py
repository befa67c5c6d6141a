"""What a call tells its client before the answer, in an event stream that is sent whole when the answer is there.

Nothing is sent while a call runs: neither API Gateway nor Lambda's ordinary invocation passes a part of a body on.

Source: MCP 2026-07-28, basic/transports/streamable-http ("Receiving Messages"); HTML, "Server-sent events".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from handler.bundle.model import JSONObject
from handler.server.asgi.response_size import Room
from handler.server.mcp.jsonrpc import Request
from handler.server.mcp.revisions import notified, wanted_log_level
from handler.strict_json import to_well_formed_json

_LINE_ENDS = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""Where clients may end a line that an event stream does not. JSON has its own ends of lines escaped already."""


def event_stream(
    request: Request, notifications: Iterable[JSONObject], answer: JSONObject, *, room: Room
) -> bytes | None:
    """The body of an event stream: those of a call's notifications that its request asks for, then its answer.

    ``None``: it asks for none of them, or there is no room for all of it.
    """
    wanted = [*_wanted(request, notifications)]
    if not wanted:
        return None
    body = b"".join(map(_event, [*wanted, to_well_formed_json(answer)]))
    return body if room.fits(body) else None


def _wanted(request: Request, notifications: Iterable[JSONObject]) -> Iterator[bytes]:
    meta = request.params.get("_meta")
    wants = _Wants(meta if isinstance(meta, dict) else {}, request.revision)
    for each in notifications:
        # What an author logs may be no JSON. The call is done, so its answer goes out without that.
        with suppress(TypeError, ValueError, RecursionError):
            if wants.take(each):
                yield to_well_formed_json({"jsonrpc": "2.0", **notified(each, request.revision)})


class _Wants:
    """What one request asks for, and how far its progress has come."""

    def __init__(self, meta: Mapping[str, Any], revision: str) -> None:
        self._token = meta.get("progressToken")
        self._level = wanted_log_level(meta, revision)
        self._progress = -math.inf

    def take(self, notification: JSONObject) -> bool:
        match notification:
            case {"method": "notifications/progress", "params": {"progressToken": token, "progress": progress}}:
                return self._takes_progress(token, progress)
            case {"method": "notifications/message", "params": {"level": str(level)}}:
                return self._takes_message(level)
            case _:
                return False

    def _takes_progress(self, token: object, progress: object) -> bool:
        """Source: MCP 2026-07-28, basic/patterns/progress: a known token, and more each time."""
        if token is None or token != self._token or type(token) is not type(self._token):
            return False
        if not isinstance(progress, int | float) or not self._progress < progress < math.inf:
            return False
        self._progress = progress
        return True

    def _takes_message(self, level: str) -> bool:
        """Source: MCP 2026-07-28, server/utilities/logging: none that is not asked for."""
        from handler.code_tools.context import LEVELS  # who sends messages has loaded it

        return self._level in LEVELS and level in LEVELS and LEVELS.index(level) >= LEVELS.index(self._level)


def _event(message: bytes) -> bytes:
    text = message.decode()
    for end, escaped in _LINE_ENDS.items():
        text = text.replace(end, escaped)
    return f"event: message\ndata: {text}\n\n".encode()
