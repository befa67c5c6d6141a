"""The sealed state that a client holds between the question of a call and the call with the answer.

The server stores nothing: the state travels through the client, which is not trusted. So the state is sealed. A state
that is changed, late, or sent for another call or caller is refused. So are the ids of tasks, and the access tokens
that the OAuth proxy issues itself, for identity assertions: a token holds the claims of the assertion, for one
endpoint's MCP route. Every instance with the key of ``STILE_STATE_KEY`` can read them.

Source: MCP 2026-07-28, basic/patterns/mrtr ("requestState").
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from handler.bundle.model import Bundle
from handler.errors.access import CredentialRefused
from handler.errors.calls import StateUnavailable
from handler.errors.infrastructure import SecretUnavailable
from handler.errors.protocol import StateRefused
from handler.server.auth.identification import without_iam
from handler.server.auth.own_secrets import OwnSecrets
from handler.server.auth.principal import SEALED_PREFIX
from handler.settings import SecretArn, separated, state_key_fault
from handler.strict_json import JSONObject, parse_json, to_json_bytes

STATE_S = 900
"""Time for an answer, in seconds."""

MAX_STATE_BYTES = 65_536

MAX_ACCESS_TOKEN_CHARS = 6_000
"""API Gateway accepts 10,240 bytes of headers in all."""

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

    async def open(self, sealed: Any, *, binding: Any, max_age_s: float = STATE_S) -> Any:
        """Return the state that was sealed for the same binding.

        Raises:
            StateRefused: the state was changed, was sealed for another binding, or is too old.
        """
        content, tag = _parts(sealed)
        text = await self._text()
        if not _opens(self._keys_in(text), content, tag, binding):
            if not text or not self._own.refuse(self._secret, text):
                raise StateRefused
            newer = await self._text()  # an instance that started later may have sealed it
            if not _opens(self._keys_in(newer), content, tag, binding):
                raise StateRefused
        opened = parse_json(content)
        if not 0 <= self._clock() - opened["at"] + 60 <= max_age_s + 60:
            raise StateRefused
        return opened["state"]

    async def _text(self) -> str:
        """Return the text of the secret; empty string if there is none, or after a failed read, which the log has."""
        try:
            return await self._own.read(self._secret, fault_of=state_key_fault)
        except SecretUnavailable:
            return ""

    def _keys_in(self, text: str) -> Sequence[bytes]:
        return _digests(separated(text)) if self._secret else self._keys


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


async def seal_access_token(claims: JSONObject, *, endpoint: str, resource: str, states: RequestStates) -> str:
    """Return an access token with claims, for the resource (URL) of an endpoint.

    Raises:
        StateUnavailable: there is no readable key, or the claims are too large.
    """
    return SEALED_PREFIX + await states.seal(claims, binding=_binding(endpoint, resource))


async def open_access_token(
    text: str, bundle: Bundle, *, resource: str, states: RequestStates, now: float
) -> JSONObject:
    """Return the claims of an access token for ``resource``, valid at ``now`` (UNIX seconds).

    The client has to be configured still: publishing without it ends its tokens.

    Raises:
        CredentialRefused: the token is not valid here and now.
    """
    proxy = bundle.identity.oauth_proxy
    clients = {(client.id, client.issuer) for client in proxy.assertion_clients} if proxy else set()
    if not clients or not resource or len(text) > MAX_ACCESS_TOKEN_CHARS:
        raise CredentialRefused("malformed")
    try:
        claims: JSONObject = await states.open(
            text.removeprefix(SEALED_PREFIX), binding=_binding(bundle.endpoint, resource)
        )
    except StateRefused as exc:
        raise CredentialRefused("signature") from exc
    if claims["exp"] <= now:
        raise CredentialRefused("expired")
    if (claims["client_id"], claims["iss"]) not in clients:
        raise CredentialRefused("client")
    # Where AWS's signatures give the claim ``iam``, no token may.
    return without_iam(claims) if bundle.identity.trusted_apis else claims


def _binding(endpoint: str, resource: str) -> JSONObject:
    """Return the facts that a token is for. States of calls have other members, so none of them opens as a token."""
    return {"endpoint": endpoint, "access_token": resource}
