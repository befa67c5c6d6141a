"""An endpoint on this machine, and the function's settings here, without the modules that serve requests."""

from __future__ import annotations

import os

from handler.bundle.stored import index_key
from handler.compiler.compile import Compiled
from handler.server.endpoints.endpoint import Endpoint
from handler.settings import Settings, read_settings
from handler.storage.local import MemoryStorage


def local_endpoint(compiled: Compiled) -> Endpoint:
    """Return the endpoint, with its schema index in memory."""
    storage = MemoryStorage()
    if compiled.bundle.index:
        storage.write(index_key(compiled.bundle.endpoint, compiled.bundle.index), compiled.index)
    return Endpoint(compiled.bundle, storage)


def stored(compiled: Compiled) -> MemoryStorage:
    """Return a storage in memory with one endpoint."""
    storage = MemoryStorage()
    for key, content in compiled.objects():
        storage.write(key, content)
    return storage


def local_settings() -> Settings:
    """Return the settings that the function would have with the environment of this command.

    Raises:
        SettingsError: an environment variable that does not fit.
    """
    return read_settings({**os.environ, "STILE_BUNDLES": "."})
