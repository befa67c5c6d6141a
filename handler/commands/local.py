"""An endpoint as it would be served, from what was just compiled."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from typing import Any

from handler.bundle import JSONObject
from handler.bundle_json import bundle_key, index_key, write_bundle
from handler.commands.console import complain
from handler.compiler.compile import Compiled
from handler.http import HttpClient
from handler.policy import Judgement
from handler.server.endpoint import Endpoint
from handler.server.endpoints import Endpoints
from handler.server.request_state import RequestStates
from handler.server.services import Services
from handler.server.tokens import TokenVerifier
from handler.server.tools import list_entries
from handler.settings import Settings, read_settings
from handler.storage import MemoryStorage, Storage


def local_endpoint(compiled: Compiled) -> Endpoint:
    """The endpoint, without anything stored anywhere."""
    return Endpoint(compiled.bundle, stored(compiled))


def stored(compiled: Compiled) -> MemoryStorage:
    """A storage that has one endpoint."""
    storage = MemoryStorage()
    storage.write(index_key(compiled.bundle.index), compiled.index)
    storage.write(bundle_key(compiled.bundle.endpoint), write_bundle(compiled.bundle))
    return storage


def local_http() -> HttpClient:
    """Sends requests to this machine too, and without TLS: what an author tries out often is there.

    Raises:
        SettingsError: an environment variable that does not fit.
    """
    return HttpClient(replace(local_settings().addresses, local=True))


def local_services(storage: Storage, http: HttpClient, **more: Any) -> Services:
    """What requests on this machine are answered with. Its settings are those that the function would have.

    Raises:
        SettingsError: an environment variable that does not fit.
    """
    settings = local_settings()
    return Services(
        endpoints=Endpoints(storage, refresh_s=0, on_trouble=lambda name, exc: complain(f"{name}: {exc}")),
        http=http,
        tokens=TokenVerifier(http, secrets=settings.secrets),
        states=RequestStates(settings.state_keys),
        code_modules=settings.code_modules,
        secrets=settings.secrets,
        **more,
    )


def locallocal_settings() -> Settings:
    return read_settings({**os.environ, "STILE_BUNDLES": "."})


def local_settings() -> Settings:
    """The settings that the function would have with the environment of this command.

    Raises:
        SettingsError: an environment variable that does not fit.
    """
    return read_settings({**os.environ, "STILE_BUNDLES": "."})


def local_entries(compiled: Compiled, *, unrestricted: bool = True) -> list[JSONObject]:
    """The ``tools/list`` entries of an endpoint, for who skips policies or who brings no credential."""
    endpoint = local_endpoint(compiled)
    judgement = Judgement(compiled.bundle.conditions, claims=None, unrestricted=unrestricted)
    return asyncio.run(list_entries(endpoint, judgement))
