"""Read the secrets that bundles refer to; a TTL cache with single flight for secrets and tokens.

An endpoint reads its own secrets and no others in AWS: their names contain the endpoint's name.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import replace
from math import inf
from types import MappingProxyType

from handler.aws.json_client import AwsJson
from handler.bundle.upstream import SecretReference, is_reference, parse_reference
from handler.cold.records import record
from handler.errors.infrastructure import AwsError, AwsUnanswered, SecretUnavailable, SettingsError
from handler.errors.upstream import CredentialUnavailable
from handler.lru import Lru
from handler.server.auth.own_secrets import REFUSED_PAUSE_S, STALE_S, TTL_S, OwnSecrets
from handler.settings import SECRET_PREFIX, Secret, read_secret

STALE_STEP_S = 30.0
"""The time by which the use of a held secret is extended while AWS does not answer."""

MAX_KEPT = 1_000
"""The most values of one kind; the least recently used goes first."""

MAX_CHARS = 8_192


class SecretStore:
    """A reader of secrets that caches them for some minutes.

    ``prefix`` begins the names of all secrets in AWS; if it is empty, none is read there. ``environ`` holds the secrets
    of ``env:NAME`` by that name, or as ``folder/name/NAME`` for one endpoint alone. ``stand_ins`` returns an author's
    test values for an endpoint, by variable; they take precedence for every kind of reference.
    """

    def __init__(
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
        self._kept: SingleFlightCache = SingleFlightCache(clock=clock)

    async def read(self, secret: str, *, endpoint: str) -> str:
        """Return the secret that a text in the bundle of ``endpoint`` is or refers to.

        Raises:
            CredentialUnavailable: the secret does not exist, cannot be read, or does not fit in a header.
        """
        reference = parse_reference(secret)
        if reference is None:
            if is_reference(secret):
                raise CredentialUnavailable("a malformed reference")
            return _usable(secret, "a secret in the bundle")
        try:
            own = self._own_secret(reference, endpoint)
            if own is not None:
                return _usable(await self._own.read(own), str(reference))
        except (SecretUnavailable, SettingsError) as exc:
            raise CredentialUnavailable(f"{reference}: {exc}") from exc
        if reference.source == "env":
            raise CredentialUnavailable(f"{reference}: there is no such variable for {endpoint}")
        return await self._kept.get((endpoint, reference), lambda: self._fetch(endpoint, reference))

    def refuse(self, secret: str, value: str, *, endpoint: str) -> bool:
        """Forget a secret that was refused. Return whether reading it again may give another value."""
        reference = parse_reference(secret)
        if reference is None:
            return False
        try:
            own = self._own_secret(reference, endpoint)
        except SettingsError:  # the author has just changed the stand-in
            return True
        if own is not None:
            return self._own.refuse(own, value)
        return reference.source != "env" and self._kept.refuse((endpoint, reference), value)

    def forget(self) -> None:
        """Forget the secrets that were read from AWS for endpoints."""
        self._kept.clear()

    def _own_secret(self, reference: SecretReference, endpoint: str) -> Secret | None:
        """Return the secret that an author or the owner has given for a reference; ``None`` if neither has.

        Raises:
            SettingsError: an author's value begins as an ARN and is not a whole one.
        """
        variable = variable_of(reference)
        stand_in = self._stand_ins(endpoint).get(variable)
        if stand_in is not None:
            return read_secret(f"{SECRET_PREFIX}{variable}", stand_in)
        if reference.source != "env":
            return None
        return self._environ.get(f"{endpoint}/{reference.name}", self._environ.get(reference.name))

    async def _fetch(self, endpoint: str, reference: SecretReference) -> Fetched:
        current, now = self._kept.held((endpoint, reference)), self._clock()
        try:
            value = await self._ask(endpoint, reference)
        except AwsUnanswered as exc:
            if current and now < current.stale_until:
                return replace(current, good_until=now + STALE_STEP_S)
            raise CredentialUnavailable(f"{reference}: {exc}") from exc
        except (AwsError, SettingsError) as exc:
            raise CredentialUnavailable(f"{reference}: {exc}") from exc
        return Fetched(value, good_until=now + TTL_S, stale_until=now + STALE_S)

    async def _ask(self, endpoint: str, reference: SecretReference) -> str:
        if self._aws is None or not self._prefix:
            raise CredentialUnavailable(f"{reference}: STILE_SECRETS is not set")
        path = f"{self._prefix}/{endpoint}/{reference.name}"
        if reference.source == "ssm":
            arguments = {"Name": f"/{path}", "WithDecryption": True}
            parameter = (await self._aws.call("ssm", "AmazonSSM.GetParameter", arguments)).get("Parameter")
            value = parameter.get("Value") if isinstance(parameter, Mapping) else None
        else:
            answer = await self._aws.call("secretsmanager", "secretsmanager.GetSecretValue", {"SecretId": path})
            value = answer.get("SecretString")
        return _usable(value, str(reference))


def variable_of(reference: SecretReference) -> str:
    """Return the name of a secret as a variable."""
    return reference.name.replace("-", "_").replace(".", "_")


def _usable(value: object, what: str) -> str:
    """Return a secret without white space at its ends (files end with a line break), if a header can carry it."""
    text = value.strip() if isinstance(value, str) else ""
    if not text or not text.isascii() or not text.isprintable() or len(text) > MAX_CHARS:
        raise CredentialUnavailable(f"{what} is empty, too long, or has what no header can carry")
    return text


@record(frozen=True, slots=True)
class Fetched:
    """A value, and the time until which it is good (UNIX seconds). In the past: it serves only the waiting requests.

    ``stale_until``: the time until which the value may serve if no newer one is available. The fetcher decides so.
    """

    value: str
    good_until: float
    stale_until: float = -inf


class SingleFlightCache:
    """A cache of ``most`` values by key. Requests during a fetch wait for the fetch, and share its failure."""

    def __init__(self, *, clock: Callable[[], float], most: int = MAX_KEPT) -> None:
        self._clock = clock
        self._entries: Lru[Hashable, _Entry] = Lru(most=most)

    async def get(self, key: Hashable, fetch: Callable[[], Awaitable[Fetched]]) -> str:
        """Return the value of a key, fetched if no good value is held.

        Raises:
            CredentialUnavailable: the value could not be fetched. The next request tries again.
        """
        entry = self._entries.use_or_make(key, _Entry)
        if entry.fetched and self._clock() < entry.fetched.good_until:
            return entry.fetched.value
        number = entry.fetches
        async with entry.lock:
            outcome = entry.outcome
            if outcome is None or entry.fetches == number:  # else fetched while this request waited
                outcome = await entry.renew(fetch)
        if isinstance(outcome, CredentialUnavailable):
            raise CredentialUnavailable(outcome.reason, refused=outcome.refused)
        return outcome.value

    def held(self, key: Hashable) -> Fetched | None:
        """Return the held value, good or not; ``None`` if no value is held."""
        entry = self._entries.peek(key)
        return entry.fetched if entry else None

    def refuse(self, key: Hashable, value: str) -> bool:
        """Forget a refused value. Return whether asking again may help: a newer value is held or can be fetched."""
        entry = self._entries.peek(key)
        if entry is None or entry.fetched is None or entry.fetched.value != value:
            return True
        now = self._clock()
        if now - entry.refused_at < REFUSED_PAUSE_S:
            return False
        entry.outcome, entry.refused_at = None, now
        return True

    def clear(self) -> None:
        """Forget all values."""
        self._entries.clear()

    def __len__(self) -> int:
        return len(self._entries)


class _Entry:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.fetches = 0
        self.refused_at = -inf
        self.outcome: Fetched | CredentialUnavailable | None = None

    @property
    def fetched(self) -> Fetched | None:
        return self.outcome if isinstance(self.outcome, Fetched) else None

    async def renew(self, fetch: Callable[[], Awaitable[Fetched]]) -> Fetched | CredentialUnavailable:
        try:
            self.outcome = await fetch()
        except CredentialUnavailable as exc:
            self.outcome = exc
        self.fetches += 1  # not if the request was cancelled: the next one waiting fetches then
        return self.outcome
