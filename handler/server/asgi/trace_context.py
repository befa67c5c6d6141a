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

_KEY = r"[a-z0-9][a-z0-9_\-*/]{0,255}(?:@[a-z0-9][a-z0-9_\-*/]{0,13})?"
_STATE_VALUE = r"[ -+\--<>-~]{1,256}"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_BAGGAGE_VALUE = r"[!#-+\--:<-\[\]-~]*"


@record(frozen=True, slots=True, kw_only=True)
class Trace:
    """A trace, with Stile's span as the parent of requests to the API."""

    id: str
    headers: Mapping[str, str]  # for requests in this trace


def continue_trace(carrier: Mapping[str, Any]) -> Trace | None:
    """Continue the trace in headers (lower-case names) or in the ``_meta`` of a request (same names).

    Malformed members are left out. ``None`` without a valid ``traceparent``.
    """
    parent = re.fullmatch(_PARENT, _text(carrier, "traceparent", most=256))
    if parent is None or (parent[1] == "00" and len(parent[0]) != _VERSION_0):
        return None
    trace_id, flags = parent[2], int(parent[3], 16) & _KNOWN_FLAGS
    headers = {"traceparent": f"00-{trace_id}-{os.urandom(8).hex()}-{flags:02x}"}
    state = _text(carrier, "tracestate", most=MAX_STATE_CHARS)
    if state and _is_state(state):
        headers["tracestate"] = state
    baggage = _text(carrier, "baggage", most=MAX_BAGGAGE_CHARS)
    if baggage and _is_baggage(baggage):
        headers["baggage"] = baggage
    return Trace(id=trace_id, headers=headers)


def _is_state(text: str) -> bool:
    """Tell if a ``tracestate`` is valid. Members may be empty, but a key may not occur twice."""
    members = [each.strip(" \t") for each in text.split(",")]
    pairs = [each.partition("=")[::2] for each in members if each]
    keys = {key for key, _ in pairs}
    if len(members) > MAX_STATE_MEMBERS or len(keys) < len(pairs):
        return False
    return all(re.fullmatch(_KEY, key) and re.fullmatch(_STATE_VALUE, value) for key, value in pairs)


def _is_baggage(text: str) -> bool:
    members = text.split(",")
    return len(members) <= MAX_BAGGAGE_MEMBERS and all(map(_is_entry, members))


def _is_entry(member: str) -> bool:
    """Tell if a baggage member is valid: a key with a value, then properties, whose values may be missing."""
    first, *properties = member.split(";")
    return "=" in first and all(map(_is_pair, [first, *properties]))


def _is_pair(text: str) -> bool:
    key, _, value = text.partition("=")
    return bool(_TOKEN.fullmatch(key.strip(" \t")) and re.fullmatch(_BAGGAGE_VALUE, value.strip(" \t")))


def _text(carrier: Mapping[str, Any], name: str, *, most: int) -> str:
    value = carrier.get(name)
    return value.strip(" \t") if isinstance(value, str) and len(value) <= most else ""
