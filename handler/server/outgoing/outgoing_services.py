"""The services behind requests to the APIs of endpoints: secrets, tokens, circuit breakers, AWS credentials."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import field

from handler.aws.json_client import AwsJson
from handler.aws.sigv4 import CredentialSource
from handler.cold.records import record
from handler.http.client import HttpClient
from handler.server.auth.own_secrets import OwnSecrets
from handler.server.outgoing.circuit_breaker import Circuits
from handler.server.outgoing.secret_store import SecretStore, SingleFlightCache
from handler.settings import Secret, SecretArn, Settings


@record(frozen=True, slots=True, kw_only=True)
class OutgoingServices:
    """The services that requests to the APIs behind endpoints use, kept between the requests of callers."""

    secrets: SecretStore = field(default_factory=SecretStore)
    own: OwnSecrets = field(default_factory=OwnSecrets)
    tokens: SingleFlightCache = field(default_factory=lambda: SingleFlightCache(clock=time.time))
    circuits: Circuits = field(default_factory=Circuits)
    aws: CredentialSource = field(default_factory=lambda: CredentialSource({}, http=HttpClient()))

    def forget(self) -> None:
        """Forget the secrets, tokens and AWS credentials that were fetched."""
        self.own.clear()
        self.secrets.forget()
        self.tokens.clear()
        self.aws.forget()


def outgoing_services(
    settings: Settings,
    aws: AwsJson,
    *,
    stand_ins: Callable[[str], Mapping[str, str]] = lambda _: {},
    on_trouble: Callable[[SecretArn, str], None] = lambda *_: None,
) -> OutgoingServices:
    """Build the services of a process. ``stand_ins``: see ``SecretStore``; ``on_trouble``: see ``OwnSecrets``."""
    own = OwnSecrets(aws, on_trouble=on_trouble)
    environ: Mapping[str, Secret] = settings.secrets
    if settings.env_secrets:  # folder/name/NAME: the owner limits which endpoints may read which
        names = {entry: entry.rpartition("/")[2] for entry in settings.env_secrets}
        environ = {entry: settings.secrets[name] for entry, name in names.items() if name in settings.secrets}
    secrets = SecretStore(aws=aws, prefix=settings.secrets_prefix, own=own, environ=environ, stand_ins=stand_ins)
    return OutgoingServices(secrets=secrets, own=own, aws=aws.credentials)
