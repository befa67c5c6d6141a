"""An event stream with the notifications of a call and its answer, sent whole at the end of the call.

Nothing is sent while a call runs: neither API Gateway nor Lambda's ordinary invocation passes a part of a body on.

Source: MCP 2026-07-28, basic/transports/streamable-http ("Receiving Messages"); HTML, "Server-sent events".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import suppress

from handler.server.asgi.response_size import Room
from handler.server.mcp.jsonrpc import Request
from handler.server.mcp.revisions import notified, wanted_log_level
from handler.strict_json import JSONObject, to_well_formed_json

_LINE_ENDS = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""Line ends to some clients, but not in an event stream. JSON escapes its own line ends already."""


def event_stream(
    request: Request, notifications: Iterable[JSONObject], answer: JSONObject, *, room: Room
) -> bytes | None:
    """Return the body of an event stream: the notifications that the request asks for, then the answer.

    ``None`` if the request asks for none of them, or if the body does not fit ``room``.
    """
    events: list[bytes] = []
    size = 0
    for each in _wanted(request, notifications):
        events.append(_event(each))
        size += len(events[-1])
        if size > room.max_bytes:  # the rest may be many times larger
            return None
    if not events:
        return None
    body = b"".join([*events, _event(to_well_formed_json(answer))])
    return body if room.fits(body) else None


def _wanted(request: Request, notifications: Iterable[JSONObject]) -> Iterator[bytes]:
    """Yield the notifications that a request asks for, as JSON."""
    token, level = request.meta.get("progressToken"), wanted_log_level(request.meta, request.revision)
    last = -math.inf
    for notification in notifications:
        # An author may log a value that is not JSON. The call is done, so that message is left out.
        with suppress(TypeError, ValueError, RecursionError):
            match notification:
                case {"method": "notifications/progress", "params": {"progressToken": own, "progress": progress}}:
                    # MCP 2026-07-28, basic/patterns/progress: the request's token, and more progress each time.
                    if token is None or own != token or type(own) is not type(token):
                        continue
                    if not isinstance(progress, int | float) or not last < progress < math.inf:
                        continue
                    last = progress
                case {"method": "notifications/message", "params": {"level": str(severity)}}:
                    # MCP 2026-07-28, server/utilities/logging: no messages unless the request asks for them.
                    from handler.code_tools.context import LEVELS  # loaded by the code that sends messages

                    if level not in LEVELS or severity not in LEVELS or LEVELS.index(severity) < LEVELS.index(level):
                        continue
                case _:
                    continue
            yield to_well_formed_json({"jsonrpc": "2.0", **notified(notification, request.revision)})


def _event(message: bytes) -> bytes:
    text = message.decode()
    for end, escaped in _LINE_ENDS.items():
        text = text.replace(end, escaped)
    return f"event: message\ndata: {text}\n\n".encode()
