"""The sealed state that a client holds between the question of a call and the call with the answer.

The server stores nothing: the state travels through the client, which is not trusted. So the state is sealed. A state
that is changed, late, or sent for another call or caller is refused.

Source: MCP 2026-07-28, basic/patterns/mrtr ("requestState").
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from handler.errors.calls import StateUnavailable
from handler.errors.infrastructure import SecretUnavailable
from handler.errors.protocol import StateRefused
from handler.server.auth.own_secrets import OwnSecrets
from handler.settings import SecretArn, state_key_fault, state_keys_in
from handler.strict_json import parse_json, to_json_bytes

STATE_S = 900
"""Time for an answer, in seconds."""

MAX_STATE_BYTES = 65_536

_TAG_BYTES = 32


class RequestStates:
    """The sealing of states with the first key, and opening with any key, so that a key can be replaced without a gap.

    ``keys`` may be a secret whose text has the keys, separated by a comma. ``clock`` returns UNIX seconds.
    """

    def __init__(
        self,
        keys: Sequence[str] | SecretArn = (),
        *,
        own: OwnSecrets | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._secret = keys if isinstance(keys, SecretArn) else ""
        self._keys = [] if isinstance(keys, SecretArn) else _digests(keys)
        self._own = own or OwnSecrets()
        self._clock = clock

    @property
    def available(self) -> bool:
        """True if a key is configured, even an unreadable one: the model's word must not replace a sealed state."""
        return bool(self._keys or self._secret)

    async def seal(self, state: Any, *, binding: Any) -> str:
        """Seal ``state`` (JSON) into a text for the client. The next call must have the same ``binding``.

        Raises:
            StateUnavailable: there is no readable key, or the state is too large.
        """
        seal = await self.sealer(binding=binding)
        return seal(state)

    async def sealer(self, *, binding: Any) -> Callable[[Any], str]:
        """Return a function that seals states for one binding. It raises ``StateUnavailable`` if one is too large.

        Raises:
            StateUnavailable: there is no readable key.
        """
        keys = self._keys_in(await self._text())
        if not keys:
            raise StateUnavailable("no key")

        def seal(state: Any) -> str:
            content = to_json_bytes({"at": int(self._clock()), "state": state})
            if len(content) > MAX_STATE_BYTES:
                raise StateUnavailable("too large")
            return base64.b64encode(content + _tag(keys[0], content, binding)).decode()

        return seal

    async def open(self, sealed: Any, *, binding: Any) -> Any:
        """Return the state that was sealed for the same binding.

        Raises:
            StateRefused: the state was changed, was sealed for another binding, or is too old.
        """
        content, tag = _parts(sealed)
        text = await self._text()
        if not _opens(self._keys_in(text), content, tag, binding):
            newer = await self._newer(text)  # an instance that started later may have sealed it
            if not _opens(self._keys_in(newer), content, tag, binding):
                raise StateRefused
        opened = parse_json(content)
        if not 0 <= self._clock() - opened["at"] + 60 <= STATE_S + 60:
            raise StateRefused
        return opened["state"]

    async def _text(self) -> str:
        """Return the text of the secret; empty string if there is none, or after a failed read, which the log has."""
        try:
            return await self._own.read(self._secret, fault_of=state_key_fault)
        except SecretUnavailable:
            return ""

    async def _newer(self, text: str) -> str:
        return await self._text() if text and self._own.refuse(self._secret, text) else text

    def _keys_in(self, text: str) -> Sequence[bytes]:
        return _digests(state_keys_in(text)) if self._secret else self._keys


def _digests(keys: Iterable[str]) -> list[bytes]:
    return [hashlib.sha256(b"stile request state\0" + key.encode()).digest() for key in keys]


def _opens(keys: Iterable[bytes], content: bytes, tag: bytes, binding: Any) -> bool:
    return any(hmac.compare_digest(tag, _tag(key, content, binding)) for key in keys)


def _parts(sealed: Any) -> tuple[bytes, bytes]:
    """Split a sealed state into content and tag. Only canonical base64 is accepted: anything else was changed."""
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
