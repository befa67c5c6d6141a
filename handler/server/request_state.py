"""What a client keeps between the question a call asks and the call that brings the answer.

Nothing is kept here: the state travels through the client, which may be anybody. So it is sealed: whoever changes it,
sends it for another call or another caller, or sends it late, is refused.

Source: MCP 2026-07-28, basic/patterns/mrtr ("requestState").
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Callable, Sequence
from typing import Any

from handler.errors import StateRefused, StateUnavailable
from handler.json_shape import parse_json, to_json_bytes

STATE_S = 900
"""How long an answer may take, in seconds."""

MAX_STATE_BYTES = 65_536

_TAG_BYTES = 32


class RequestStates:
    """Seals states with the first of its keys, and opens those of any: so a key is replaced without a gap.

    ``clock`` gives UNIX seconds.
    """

    def __init__(self, keys: Sequence[str] = (), *, clock: Callable[[], float] = time.time) -> None:
        self._keys = [hashlib.sha256(b"stile request state\0" + key.encode()).digest() for key in keys]
        self._clock = clock

    @property
    def available(self) -> bool:
        """Whether there is a key."""
        return bool(self._keys)

    def seal(self, state: Any, *, binding: Any) -> str:
        """The text to send to the client: ``state`` is JSON, ``binding`` is what the next call has to equal.

        Raises:
            StateUnavailable: there is no key, or the state is too large.
        """
        if not self._keys:
            raise StateUnavailable("no key")
        content = to_json_bytes({"at": int(self._clock()), "state": state})
        if len(content) > MAX_STATE_BYTES:
            raise StateUnavailable("too large")
        return base64.b64encode(content + _tag(self._keys[0], content, binding)).decode()

    def open(self, sealed: Any, *, binding: Any) -> Any:
        """The state that was sealed for the same binding.

        Raises:
            StateRefused: it is not as it was sealed, was sealed for something else, or is too old.
        """
        content, tag = _parts(sealed)
        if not any(hmac.compare_digest(tag, _tag(key, content, binding)) for key in self._keys):
            raise StateRefused
        opened = parse_json(content)
        if not 0 <= self._clock() - opened["at"] + 60 <= STATE_S + 60:
            raise StateRefused
        return opened["state"]


def _parts(sealed: Any) -> tuple[bytes, bytes]:
    """What was sealed, and its tag. Only the one way to write base64 is read: any other character was added."""
    if not isinstance(sealed, str) or len(sealed) > 2 * MAX_STATE_BYTES:
        raise StateRefused
    try:
        raw = base64.b64decode(sealed, validate=True)
    except ValueError:
        raise StateRefused from None
    if base64.b64encode(raw).decode() != sealed or len(raw) <= _TAG_BYTES:
        raise StateRefused
    return raw[:-_TAG_BYTES], raw[-_TAG_BYTES:]


def _tag(key: bytes, content: bytes, binding: Any) -> bytes:
    digest = hashlib.sha256(to_json_bytes(binding)).digest()
    return hmac.digest(key, digest + content, "sha256")
