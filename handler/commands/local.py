"""An endpoint as it would be served, from what was just compiled."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from handler.bundle import JSONObject
from handler.bundle_json import bundle_key, index_key, write_bundle
from handler.commands.console import complain
from handler.compiler.compile import Compiled
from handler.compiler.variables import parse_env
from handler.http import HttpClient
from handler.policy import Judgement
from handler.server.endpoint import Endpoint
from handler.server.endpoints import Endpoints
from handler.server.outgoing.services import outgoing_services
from handler.server.request_state import RequestStates
from handler.server.services import Services
from handler.server.tokens import TokenVerifier
from handler.server.tools import list_entries
from handler.settings import read_secrets, read_settings
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


def local_services(
    storage: Storage, http: HttpClient, *, env_file_of: Callable[[str], Path | None], **more: Any
) -> Services:
    """What requests on this machine are answered with. Its settings are those that the function would have.

    ``env_file_of`` an endpoint is what may have secrets to try it with, beside those of the environment.

    Raises:
        SettingsError: an environment variable that does not fit.
    """
    settings = read_settings({**os.environ, "STILE_BUNDLES": "."})
    return Services(
        endpoints=Endpoints(storage, refresh_s=0, on_trouble=lambda name, exc: complain(f"{name}: {exc}")),
        http=http,
        tokens=TokenVerifier(http, secrets=settings.secrets),
        states=RequestStates(settings.state_keys),
        code_modules=settings.code_modules,
        outgoing=outgoing_services(settings, os.environ, http, stand_ins=partial(_secrets_of, env_file_of)),
        **more,
    )


def _secrets_of(env_file_of: Callable[[str], Path | None], endpoint: str) -> dict[str, str]:
    """The ``STILE_SECRET_`` variables that an endpoint is tried with. The environment wins, as for ``STEPZEN_``."""
    file = env_file_of(endpoint)
    try:
        text = file.read_text("utf-8") if file else ""
    except (OSError, UnicodeDecodeError):
        text = ""
    return read_secrets(parse_env(text)) | read_secrets(os.environ)


def local_entries(compiled: Compiled, *, unrestricted: bool = True) -> list[JSONObject]:
    """The ``tools/list`` entries of an endpoint, for who skips policies or who brings no credential."""
    endpoint = local_endpoint(compiled)
    judgement = Judgement(compiled.bundle.conditions, claims=None, unrestricted=unrestricted)
    return asyncio.run(list_entries(endpoint, judgement))
