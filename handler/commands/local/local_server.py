"""Endpoints and services on this machine, as the function would have them, from compiled endpoints."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from handler.aws.json_client import AwsJson
from handler.aws.sigv4 import CredentialSource
from handler.commands.console import complain
from handler.compiler.compile import Compiled
from handler.compiler.source.env_file import parse_env
from handler.http.client import HttpClient
from handler.policy.evaluation import Evaluation
from handler.secret_variables import read_secrets
from handler.server.auth.sealed_state import RequestStates
from handler.server.auth.tokens import TokenVerifier
from handler.server.context.services import Services
from handler.server.endpoints.endpoint import Endpoint
from handler.server.endpoints.registry import CachePolicy, Endpoints
from handler.server.mcp.tools_list import list_entries
from handler.server.outgoing.outgoing_services import outgoing_services
from handler.settings import Settings, read_settings
from handler.storage.local import MemoryStorage
from handler.storage.storage import Storage
from handler.strict_json import JSONObject


def local_endpoint(compiled: Compiled) -> Endpoint:
    """Return the endpoint, with its storage in memory."""
    return Endpoint(compiled.bundle, stored(compiled))


def stored(compiled: Compiled) -> MemoryStorage:
    """Return a storage in memory with one endpoint."""
    storage = MemoryStorage()
    for key, content in compiled.objects():
        storage.write(key, content)
    return storage


def local_http() -> HttpClient:
    """Return a client that may also ask this machine, and without TLS: authors often try an API there.

    Raises:
        SettingsError: an environment variable that does not fit.
    """
    return HttpClient(replace(local_settings().addresses, local=True))


def local_services(
    storage: Storage, http: HttpClient, *, env_file_of: Callable[[str], Path | None], **more: Any
) -> Services:
    """Return the services for requests on this machine, with the settings that the function would have.

    ``env_file_of`` returns the file with an endpoint's secrets for trials, beside those of the environment. If the
    settings have no state key, a random one is made, because only this process reads the states.

    Raises:
        SettingsError: an environment variable that does not fit.
    """
    settings = local_settings()
    outgoing = outgoing_services(
        settings,
        AwsJson(http, os.environ, credentials=CredentialSource(os.environ, http=http)),
        stand_ins=partial(_secrets_of, env_file_of),
        on_trouble=lambda secret, reason: complain(f"{secret.variable}, {secret.arn}: {reason}"),
    )
    return Services(
        endpoints=Endpoints(
            storage,
            keeping=CachePolicy(refresh_s=0, max_stale_s=0),
            on_trouble=lambda name, exc: complain(f"{name}: {exc}"),
        ),
        http=http,
        tokens=TokenVerifier(http, secrets=settings.secrets, own=outgoing.own),
        states=RequestStates(settings.state_keys or [secrets.token_urlsafe(32)], own=outgoing.own),
        code_modules=settings.code_modules,
        outgoing=outgoing,
        **more,
    )


def local_settings() -> Settings:
    """Return the settings that the function would have with the environment of this command.

    Raises:
        SettingsError: an environment variable that does not fit.
    """
    return read_settings({**os.environ, "STILE_BUNDLES": "."})


def _secrets_of(env_file_of: Callable[[str], Path | None], endpoint: str) -> dict[str, str]:
    """Return an endpoint's ``STILE_SECRET_`` variables for trials. The environment wins, as for ``STEPZEN_``."""
    file = env_file_of(endpoint)
    try:
        text = file.read_text("utf-8") if file else ""
    except (OSError, UnicodeDecodeError):
        text = ""
    return read_secrets(parse_env(text)) | read_secrets(os.environ)


def local_entries(compiled: Compiled, *, unrestricted: bool = True) -> list[JSONObject]:
    """Return an endpoint's ``tools/list`` entries for a caller who skips policies, or for one without a credential."""
    endpoint = local_endpoint(compiled)
    evaluation = Evaluation(compiled.bundle.conditions, claims=None, unrestricted=unrestricted)
    return asyncio.run(list_entries(endpoint, evaluation))
