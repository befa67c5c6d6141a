"""An endpoint as it would be served, from what was just compiled."""

from __future__ import annotations

import asyncio

from handler.bundle import JSONObject
from handler.bundle_json import bundle_key, index_key, write_bundle
from handler.compiler.compile import Compiled
from handler.policy import Judgement
from handler.server.endpoint import Endpoint
from handler.server.tools import list_entries
from handler.storage import MemoryStorage


def local_endpoint(compiled: Compiled) -> Endpoint:
    """The endpoint, without anything stored anywhere."""
    storage = MemoryStorage()
    storage.write(index_key(compiled.bundle.index), compiled.index)
    storage.write(bundle_key(compiled.bundle.endpoint), write_bundle(compiled.bundle))
    return Endpoint(compiled.bundle, storage)


def local_entries(compiled: Compiled, *, unrestricted: bool = True) -> list[JSONObject]:
    """The ``tools/list`` entries of an endpoint, for who skips policies or who brings no credential."""
    endpoint = local_endpoint(compiled)
    judgement = Judgement(compiled.bundle.conditions, claims=None, unrestricted=unrestricted)
    return asyncio.run(list_entries(endpoint, judgement))
