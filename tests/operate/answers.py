"""Answers of the function behind its front doors, as a client gets them."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NEW_IN_EACH = frozenset({"x-request-id"})


@dataclass(frozen=True)
class Received:
    """The status, headers and bytes that a client gets."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def received(response: Mapping[str, Any]) -> Received:
    """What a front door makes of a response: the same for headers as texts and as lists, and any form of the body."""
    headers = {name: [value] for name, value in response.get("headers", {}).items()}
    headers |= response.get("multiValueHeaders", {})
    body = response.get("body") or ""
    raw = base64.b64decode(body) if response.get("isBase64Encoded") else body.encode()
    told = {name.lower(): ", ".join(values) for name, values in headers.items() if name.lower() not in NEW_IN_EACH}
    if not raw:
        told.pop("content-type", None)  # HTTP APIs add theirs to a response without one, and Mangum with them
    return Received(response["statusCode"], told, raw)


def unzipped(answer: Received) -> Received:
    """The answer as it is once a client has unzipped it."""
    if answer.headers.get("content-encoding") != "gzip":
        return answer
    left_out = {"content-encoding", "content-length"}
    headers = {name: value for name, value in answer.headers.items() if name not in left_out}
    return Received(answer.status, headers, gzip.decompress(answer.body))
