"""Secrets that bundles refer to, and secrets of the owner's that settings name by their ARNs.

An endpoint reads its own secrets and no others: the place has the endpoint's name in it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf
from types import MappingProxyType

from handler.aws.services import AwsJson
from handler.bundle.upstream import SecretReference, is_reference, parse_reference
from handler.errors import (
    AwsDenied,
    AwsError,
    AwsUnanswered,
    CredentialUnavailable,
    SecretUnavailable,
    SettingsError,
)
from handler.records import record
from handler.server.outgoing.credential_cache import REFUSED_PAUSE_S, Fetched, SingleFlightCache
from handler.settings import SECRET_PREFIX, Secret, SecretArn, read_secret
from handler.strict_json import parse_json

TTL_S = 300.0
"""How long a secret is used without being read again."""

STALE_S = 3_600.0
"""How long it serves while AWS does not answer, and in which steps."""
STALE_STEP_S = 30.0

RETRY_S = 10.0
MAX_RETRY_S = 60.0
"""Pause after a failed read of an owner's secret; it doubles with each failure."""

MAX_READ_S = 4.0
"""Bound of one read of an owner's secret, which has no deadline of a call; resolving a name has none of its own."""

MAX_CHARS = 8_192


@record(frozen=True, slots=True, kw_only=True)
class _Service:
    """One of the AWS services that keep secrets."""

    name: str
    action: str
    arguments: Callable[[str], dict[str, object]]
    value: Callable[[Mapping[str, object]], object]


def _parameter(answer: Mapping[str, object]) -> object:
    found = answer.get("Parameter")
    return found.get("Value") if isinstance(found, Mapping) else None


_SERVICES: Mapping[str, _Service] = {
    "secret": _Service(
        name="secretsmanager",
        action="secretsmanager.GetSecretValue",
        arguments=lambda path: {"SecretId": path},
        value=lambda answer: answer.get("SecretString"),
    ),
    "ssm": _Service(
        name="ssm",
        action="AmazonSSM.GetParameter",
        arguments=lambda path: {"Name": f"/{path}", "WithDecryption": True},
        value=_parameter,
    ),
}


class OwnSecrets:
    """Reads the owner's secrets: texts as they are, and those in Secrets Manager when they are first needed.

    White space around a text in Secrets Manager does not count, as files end with a line break. ``on_trouble`` is told
    the variable and what is wrong, once for each thing that goes wrong.
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
        """The text of a secret. ``fault_of`` says what is expected of a text that does not fit.

        Who asks while a secret is read waits for that, and shares its failure.

        Raises:
            SecretUnavailable: it cannot be read, or does not fit.
        """
        if isinstance(secret, str):
            return secret
        entry = self._read.setdefault(secret, _Read())
        if self._clock() >= entry.due_at:
            async with entry.lock:
                if self._clock() >= entry.due_at:  # else it was read while this one waited
                    await self._renew(secret, entry, fault_of)
        if entry.text is None:
            raise SecretUnavailable(secret.variable, entry.reason)
        return entry.text

    def refuse(self, secret: Secret, text: str) -> bool:
        """Have a secret read again that was refused or opens nothing. Whether another text may come of it.

        The text serves on while AWS does not answer: anybody can bring what it does not open.
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
        """Forget all that was read."""
        self._read.clear()

    async def _renew(self, secret: SecretArn, entry: _Read, fault_of: Callable[[str], str]) -> None:
        try:
            async with asyncio.timeout(self._max_read_s):
                text = await self._ask(secret, fault_of)
        except (AwsUnanswered, TimeoutError) as exc:
            self._failed(secret, entry, str(exc) or "no answer", serves=self._clock() < entry.stale_until)
        except AwsDenied as exc:
            self._failed(secret, entry, f"{exc}: {_PERMISSIONS}")
        except SecretUnavailable as exc:
            self._failed(secret, entry, exc.reason)
        except (AwsError, SettingsError) as exc:
            self._failed(secret, entry, str(exc))
        else:
            entry.text, entry.reason, entry.pause_s = text, "", RETRY_S
            entry.due_at, entry.stale_until = self._clock() + TTL_S, self._clock() + STALE_S

    def _failed(self, secret: SecretArn, entry: _Read, reason: str, *, serves: bool = False) -> None:
        entry.text = entry.text if serves else None
        entry.due_at, entry.pause_s = self._clock() + entry.pause_s, min(2 * entry.pause_s, MAX_RETRY_S)
        if reason != entry.reason:
            entry.reason = reason
            self._on_trouble(secret, reason)

    async def _ask(self, secret: SecretArn, fault_of: Callable[[str], str]) -> str:
        if self._aws is None:
            raise SecretUnavailable(secret.variable, "nothing is read from AWS here")
        service = _SERVICES["secret"]
        answer = await self._aws.call(service.name, service.action, service.arguments(secret.arn), region=secret.region)
        value = service.value(answer)
        text = value.strip() if isinstance(value, str) else ""
        if not text or _is_json_object(text):
            raise SecretUnavailable(secret.variable, _NO_TEXT)
        fault = fault_of(text)
        if fault:
            raise SecretUnavailable(secret.variable, f"its text does not fit: expected {fault}")
        return text


class _Read:
    """One secret of the owner's, as it was read last."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.text: str | None = None
        self.reason = ""  # of the last failure, until a read succeeds
        self.pause_s = RETRY_S  # after the next failure
        self.due_at = self.stale_until = self.refused_at = -inf


_PERMISSIONS = "who reads it needs secretsmanager:GetSecretValue for it, and kms:Decrypt if it has a key of your own"
_NO_TEXT = "expected the secret itself as text, not a binary or empty secret, nor a JSON object of keys and values"


def _is_json_object(text: str) -> bool:
    if not text.startswith("{"):
        return False
    try:
        return isinstance(parse_json(text.encode()), dict)
    except ValueError:
        return False


class SecretStore:
    """Reads secrets, and keeps them for some minutes.

    ``prefix`` is what the names of all secrets in AWS begin with; empty: none is read there. ``environ`` has those of
    ``env:NAME`` by that name, or as ``folder/name/NAME`` for one endpoint alone. ``stand_ins`` gives those that an
    author tries an endpoint with, by its name, whatever kind of reference names them.
    """

    def __init__(  # noqa: PLR0913 - the places that secrets are in come together here
        self,
        *,
        aws: AwsJson | None = None,
        prefix: str = "",
        own: OwnSecrets | None = None,
        environ: Mapping[str, Secret] = MappingProxyType({}),
        stand_ins: Callable[[str], Mapping[str, str]] = lambda _: {},
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._aws = aws
        self._prefix = prefix
        self._own = own or OwnSecrets(aws, clock=clock)
        self._environ = environ
        self._stand_ins = stand_ins
        self._clock = clock
        self._kept: SingleFlightCache[str] = SingleFlightCache(clock=clock)

    async def read(self, secret: str, *, endpoint: str) -> str:
        """What a text in the bundle of ``endpoint`` stands for.

        Raises:
            CredentialUnavailable: there is no such secret, it cannot be read, or no header could carry it.
        """
        reference = parse_reference(secret)
        if reference is None:
            if is_reference(secret):
                raise CredentialUnavailable("a malformed reference")
            return _usable(secret, "a secret in the bundle")
        try:
            found = self._given(reference, endpoint)
            if found is not None:
                return _usable(await self._own.read(found), str(reference))
        except (SecretUnavailable, SettingsError) as exc:
            raise CredentialUnavailable(f"{reference}: {exc}") from exc
        if reference.source == "env":
            raise CredentialUnavailable(f"{reference}: there is no such variable for {endpoint}")
        return await self._kept.get((endpoint, reference), lambda: self._fetch(endpoint, reference))

    def refuse(self, secret: str, value: str, *, endpoint: str) -> bool:
        """Forget a secret that was refused. Whether reading it again may give another one."""
        reference = parse_reference(secret)
        if reference is None:
            return False
        try:
            given = self._given(reference, endpoint)
        except SettingsError:  # its author has just changed it
            return True
        if given is not None:
            return self._own.refuse(given, value)
        if reference.source not in _SERVICES:
            return False
        return self._kept.refuse((endpoint, reference), value)

    def _given(self, reference: SecretReference, endpoint: str) -> Secret | None:
        """The secret that an author or the owner has given for a reference.

        Raises:
            SettingsError: an author's, which begins as an ARN and is not a whole one.
        """
        variable = variable_of(reference)
        stand_in = self._stand_ins(endpoint).get(variable)
        if stand_in is not None:
            return read_secret(f"{SECRET_PREFIX}{variable}", stand_in)
        if reference.source != "env":
            return None
        return self._environ.get(f"{endpoint}/{reference.name}", self._environ.get(reference.name))

    async def _fetch(self, endpoint: str, reference: SecretReference) -> Fetched[str]:
        held, now = self._kept.held((endpoint, reference)), self._clock()
        try:
            value = await self._ask(endpoint, reference)
        except AwsUnanswered as exc:
            if held and now < held.stale_until:
                return replace(held, good_until=now + STALE_STEP_S)
            raise CredentialUnavailable(f"{reference}: {exc}") from exc
        except (AwsError, SettingsError) as exc:
            raise CredentialUnavailable(f"{reference}: {exc}") from exc
        return Fetched(value, good_until=now + TTL_S, stale_until=now + STALE_S)

    async def _ask(self, endpoint: str, reference: SecretReference) -> str:
        if self._aws is None or not self._prefix:
            raise CredentialUnavailable(f"{reference}: STILE_SECRETS is not set")
        service = _SERVICES[reference.source]
        path = f"{self._prefix}/{endpoint}/{reference.name}"
        answer = await self._aws.call(service.name, service.action, service.arguments(path))
        return _usable(service.value(answer), str(reference))


def variable_of(reference: SecretReference) -> str:
    """The name that a secret has as a variable."""
    return reference.name.replace("-", "_").replace(".", "_")


def _usable(value: object, what: str) -> str:
    """A secret without the line break that files end with, if a header can carry it."""
    text = value.strip() if isinstance(value, str) else ""
    if not text or not text.isascii() or not text.isprintable() or len(text) > MAX_CHARS:
        raise CredentialUnavailable(f"{what} is empty, too long, or has what no header can carry")
    return text
