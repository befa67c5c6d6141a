"""Services on this machine, as the function would have them, from compiled endpoints."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from handler.aws.json_client import AwsJson
from handler.aws.sigv4 import CredentialSource
from handler.bundle.identity import Issuer
from handler.commands.local.development_tokens import LocalVerifier, find_issuer
from handler.commands.local.local_endpoint import local_endpoint, local_settings
from handler.commands.local.local_secrets import TrialSecrets, trial_secrets
from handler.commands.local.observing import ObservedHttp
from handler.commands.terminal.console import complain
from handler.compiler.compile import Compiled
from handler.errors.authoring import KeyFileRefused
from handler.http.client import HttpClient
from handler.server.auth.principal import ANONYMOUS, DEVELOPMENT
from handler.server.auth.sealed_state import RequestStates
from handler.server.auth.tokens import TokenVerifier
from handler.server.context import Services
from handler.server.endpoints.registry import CachePolicy, Endpoints
from handler.server.mcp.tools_list import list_entries
from handler.server.outgoing.outgoing_services import outgoing_services
from handler.storage.storage import Storage
from handler.strict_json import JSONObject


def local_http() -> ObservedHttp:
    """Return a client that may also ask this machine, and without TLS: authors often try an API there.

    Raises:
        SettingsError: an environment variable that does not fit.
    """
    return ObservedHttp(replace(local_settings().addresses, local=True))


Find = Callable[[str], Compiled | None]
"""Find a compiled endpoint by its name."""


def local_services(
    storage: Storage, http: HttpClient, *, find: Find, trusts_trials: bool = False, **more: Any
) -> Services:
    """Return the services for requests on this machine, with the settings that the function would have.

    The secrets of the endpoints that ``find`` returns are also read from their ``.env``. ``trusts_trials``: the tokens
    of ``stile token`` are accepted. If the settings have no state key, a random one is made, because only this process
    reads the states.

    Raises:
        SettingsError: an environment variable that does not fit.
    """
    settings = local_settings()
    outgoing = outgoing_services(
        settings,
        AwsJson(http, os.environ, credentials=CredentialSource(os.environ, http=http)),
        stand_ins=lambda name: trial_secrets(_env_file(find, name)),
        on_trouble=lambda secret, reason: complain(f"{secret.variable}, {secret.arn}: {reason}"),
    )

    @cache
    def verifier_of(name: str) -> TokenVerifier:
        def development_issuer() -> Issuer | None:
            compiled = find(name) if trusts_trials else None
            try:
                if compiled:
                    return find_issuer(compiled.env_file.parent, compiled.bundle.identity, environ=os.environ)
            except KeyFileRefused as exc:
                complain(str(exc))
            return None

        of_endpoint = TrialSecrets(settings, lambda: _env_file(find, name))
        return LocalVerifier(http, secrets=of_endpoint, own=outgoing.own, find_issuer=development_issuer)

    return Services(
        endpoints=Endpoints(
            storage,
            keeping=CachePolicy(refresh_s=0, max_stale_s=0),
            on_trouble=lambda name, exc: complain(f"{name}: {exc}"),
        ),
        http=http,
        tokens=TokenVerifier(http, secrets=settings.secrets, own=outgoing.own),
        verifiers=verifier_of,
        states=RequestStates(settings.state_keys or [secrets.token_urlsafe(32)], own=outgoing.own),
        code_modules=settings.code_modules,
        outgoing=outgoing,
        **more,
    )


def _env_file(find: Find, name: str) -> Path | None:
    compiled = find(name)
    return compiled.env_file if compiled else None


def local_entries(compiled: Compiled, *, unrestricted: bool = True) -> list[JSONObject]:
    """Return an endpoint's ``tools/list`` entries for a caller who skips policies, or for an anonymous one."""
    endpoint = local_endpoint(compiled)
    principal = DEVELOPMENT if unrestricted else ANONYMOUS
    return asyncio.run(list_entries(endpoint, endpoint.evaluation_of(principal), principal=principal))
