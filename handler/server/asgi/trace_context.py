"""The trace context of a request, passed on to the API behind the endpoint.

Source: W3C Trace Context, section 3; W3C Baggage, section 3; MCP 2026-07-28, basic ("OpenTelemetry trace context").
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from handler.cold.records import record

MAX_STATE_CHARS = 512
MAX_STATE_MEMBERS = 32
MAX_BAGGAGE_CHARS = 8_192
MAX_BAGGAGE_MEMBERS = 64

_VERSION_0 = 55
"""Length of a ``traceparent`` of version 00. Later versions may add more after a hyphen."""

_PARENT = r"(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})(-[!-~]*)?"
_KNOWN_FLAGS = 0b11  # sampled, and a random trace id

_STATE_KEY = r"[a-z0-9][a-z0-9_\-*/]{0,255}(?:@[a-z0-9][a-z0-9_\-*/]{0,13})?"
_STATE_MEMBER = rf"({_STATE_KEY})=[ -+\--<>-~]{{1,256}}"

_BAGGAGE_KEY = r"[ \t]*[!#$%&'*+\-.^_`|~0-9A-Za-z]+[ \t]*"
_BAGGAGE_VALUE = r"[ \t]*(?:[!#-+\--:<-\[\]-~]+[ \t]*)?"
_BAGGAGE_MEMBER = rf"{_BAGGAGE_KEY}={_BAGGAGE_VALUE}(?:;{_BAGGAGE_KEY}(?:={_BAGGAGE_VALUE})?)*"
"""A key with a value, then properties, whose values may be missing."""


@record(frozen=True, slots=True, kw_only=True)
class Trace:
    """A trace, with Stile's span as the parent of requests to the API."""

    id: str
    headers: Mapping[str, str]  # for requests in this trace


def continue_trace(carrier: Mapping[str, Any]) -> Trace | None:
    """Continue the trace in headers (lower-case names) or in the ``_meta`` of a request (same names).

    Malformed members are left out. ``None`` without a valid ``traceparent``.
    """
    text = _text(carrier, "traceparent", most=256)
    parent = re.fullmatch(_PARENT, text) if text else None
    if parent is None or (parent[1] == "00" and len(parent[0]) != _VERSION_0):
        return None
    trace_id, flags = parent[2], int(parent[3], 16) & _KNOWN_FLAGS
    headers = {"traceparent": f"00-{trace_id}-{os.urandom(8).hex()}-{flags:02x}"}
    state = _text(carrier, "tracestate", most=MAX_STATE_CHARS)
    if state and _is_state(state):
        headers["tracestate"] = state
    baggage = _text(carrier, "baggage", most=MAX_BAGGAGE_CHARS)
    members = baggage.split(",")
    if len(members) <= MAX_BAGGAGE_MEMBERS and all(re.fullmatch(_BAGGAGE_MEMBER, member) for member in members):
        headers["baggage"] = baggage
    return Trace(id=trace_id, headers=headers)


def _is_state(text: str) -> bool:
    """Return whether a ``tracestate`` is valid. Members may be empty, but a key may not occur twice."""
    members = [member.strip(" \t") for member in text.split(",")]
    matches = [re.fullmatch(_STATE_MEMBER, member) for member in members if member]
    keys = {match[1] for match in matches if match}
    return len(members) <= MAX_STATE_MEMBERS and len(keys) == len(matches)


def _text(carrier: Mapping[str, Any], name: str, *, most: int) -> str:
    value = carrier.get(name)
    return value.strip(" \t") if isinstance(value, str) and len(value) <= most else ""
