"""Secrets of the function's owner, which settings give as texts or as ARNs in Secrets Manager."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING

from handler.errors.infrastructure import AwsDenied, AwsError, AwsUnanswered, SecretUnavailable, SettingsError
from handler.settings import Secret, SecretArn
from handler.strict_json import parse_json

if TYPE_CHECKING:
    from handler.aws.json_client import AwsJson  # `stile check` sends no request

TTL_S = 300.0
"""Time that a secret is used without being read again."""

STALE_S = 3_600.0
"""Time after the last read that a secret serves while AWS does not answer."""

RETRY_S = 10.0
MAX_RETRY_S = 60.0
"""Pause after a failed read of an owner's secret; it doubles with each failure."""

MAX_READ_S = 4.0
"""Time limit of one read, which has no deadline of a call; resolving a host name has no time limit of its own."""

REFUSED_PAUSE_S = 60.0
"""Minimum time between reads because of a refusal. Otherwise each request with a bad token could cause a read."""

_PERMISSIONS = "who reads it needs secretsmanager:GetSecretValue for it, and kms:Decrypt if it has a key of your own"
_NO_TEXT = "expected the secret itself as text, not a binary or empty secret, nor a JSON object of keys and values"


class OwnSecrets:
    """A reader of the owner's secrets. A secret in Secrets Manager is read when it is first needed.

    White space around a text in Secrets Manager is removed, because files end with a line break. ``on_trouble`` gets
    the secret and the reason of a failed read, once until the reason changes.
    """

    def __init__(
        self,
        aws: AwsJson | None = None,
        *,
        on_trouble: Callable[[SecretArn, str], None] = lambda *_: None,
        clock: Callable[[], float] = time.time,
        max_read_s: float = MAX_READ_S,
    ) -> None:
        self._aws = aws
        self._max_read_s = max_read_s
        self._on_trouble = on_trouble
        self._clock = clock
        self._read: dict[SecretArn, _Read] = {}

    async def read(self, secret: Secret, *, fault_of: Callable[[str], str] = lambda _: "") -> str:
        """Return the text of a secret. ``fault_of`` returns the form that an unfit text lacks, else empty string.

        Concurrent callers share one read and its failure.

        Raises:
            SecretUnavailable: the secret cannot be read, or does not fit.
        """
        if isinstance(secret, str):
            return secret
        entry = self._read.setdefault(secret, _Read())
        if self._clock() >= entry.due_at:
            async with entry.lock:
                if self._clock() >= entry.due_at:  # else another caller has read it meanwhile
                    await self._renew(secret, entry, fault_of)
        if entry.text is None:
            raise SecretUnavailable(secret.variable, entry.reason)
        return entry.text

    def refuse(self, secret: Secret, text: str) -> bool:
        """Have a refused secret read again, and return ``True`` if the next read may differ.

        The text still serves while AWS does not answer, because anybody can send tokens that the secret rejects.
        """
        if isinstance(secret, str):
            return False
        entry, now = self._read.get(secret), self._clock()
        if entry is None or entry.text != text:
            return True
        if now - entry.refused_at < REFUSED_PAUSE_S:
            return False
        entry.refused_at, entry.due_at = now, -inf
        return True

    def clear(self) -> None:
        """Forget all secrets that were read."""
        self._read.clear()

    async def _renew(self, secret: SecretArn, entry: _Read, fault_of: Callable[[str], str]) -> None:
        text, serves, reason = None, False, ""
        try:
            async with asyncio.timeout(self._max_read_s):
                text = await self._ask(secret, fault_of)
        except (AwsUnanswered, TimeoutError) as exc:
            reason, serves = str(exc) or "no answer", self._clock() < entry.stale_until
        except AwsDenied as exc:
            reason = f"{exc}: {_PERMISSIONS}"
        except (AwsError, SecretUnavailable, SettingsError) as exc:
            reason = exc.reason if isinstance(exc, SecretUnavailable) else str(exc)
        now = self._clock()
        if text is not None:
            entry.text, entry.reason, entry.pause_s = text, "", RETRY_S
            entry.due_at, entry.stale_until = now + TTL_S, now + STALE_S
            return
        entry.text = entry.text if serves else None
        entry.due_at, entry.pause_s = now + entry.pause_s, min(2 * entry.pause_s, MAX_RETRY_S)
        if reason != entry.reason:
            entry.reason = reason
            self._on_trouble(secret, reason)

    async def _ask(self, secret: SecretArn, fault_of: Callable[[str], str]) -> str:
        if self._aws is None:
            raise SecretUnavailable(secret.variable, "nothing is read from AWS here")
        action, arguments = "secretsmanager.GetSecretValue", {"SecretId": secret.arn}
        answer = await self._aws.call("secretsmanager", action, arguments, region=secret.region)
        value = answer.get("SecretString")
        text = value.strip() if isinstance(value, str) else ""
        try:
            is_object = text.startswith("{") and isinstance(parse_json(text.encode()), dict)
        except ValueError:
            is_object = False
        if not text or is_object:
            raise SecretUnavailable(secret.variable, _NO_TEXT)
        if fault := fault_of(text):
            raise SecretUnavailable(secret.variable, f"its text does not fit: expected {fault}")
        return text


class _Read:
    """The state of one secret in Secrets Manager."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.text: str | None = None
        self.reason = ""  # of the last failure, until a read succeeds
        self.pause_s = RETRY_S  # after the next failure
        self.due_at = self.stale_until = self.refused_at = -inf
