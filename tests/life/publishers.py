"""Folders of endpoints in numbered editions, and the judgement of a destination after a publish that was ended."""

from __future__ import annotations

import dataclasses
import fcntl
import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from handler.bundle.stored import bundle_key, index_key, read_bundle
from handler.errors.infrastructure import ObjectNotFound
from handler.graph.index import read_index
from handler.http.client import HttpClient
from handler.storage.location import open_publish_storage
from tests.support.endpoints import write_endpoint
from tests.support.function import running_function

CONFIG = """\
upstream: {url: "https://things.example/graphql"}
access:
  anonymous: allow
  policies: [{type: Query, policyDefault: {condition: true}}]
"""


def write_edition(folder: Path, names: Sequence[str], edition: str) -> None:
    """Write endpoints whose schemas and tools say the edition: each has a schema index of its own."""
    for name in names:
        files = {
            "index.graphql": f'type Query {{ "{edition} of {name}." a: String, b: Int }}\n',
            "operations/a.graphql": f'query A @mcpTool(name: "a", title: "{edition}") {{ a }}\n',
            "config.yaml": CONFIG,
        }
        write_endpoint(folder, files, name=name)


def bundles_at(location: str, environ: Mapping[str, str], names: Sequence[str]) -> dict[str, bytes]:
    """The stored bundles, of which each must be whole and name a whole schema index that is there."""
    http = HttpClient()
    storage = open_publish_storage(location, http=http, environ=environ)
    found = {}
    for name in names:
        try:
            _, body = storage.get(bundle_key(name))
        except ObjectNotFound:
            continue
        bundle = read_bundle(body, endpoint=name)
        _, index = storage.get(index_key(bundle.endpoint, bundle.index))
        assert hashlib.sha256(index).hexdigest() == bundle.index
        read_index(index, sha256=bundle.index)
        found[name] = body
    http.close()
    return found


def titles_served(location: str, environ: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """The title of each endpoint's tool, as a function lists it that reads from there."""
    http = HttpClient()
    found = {}
    with running_function(storage=open_publish_storage(location, http=http, environ=environ)) as function:
        for name in names:
            at_endpoint = dataclasses.replace(function, path=f"/{name}/mcp")
            (tool,) = at_endpoint.request("tools/list", {}).json["result"]["tools"]
            found[name] = str(tool["title"])
    http.close()
    return found


def require_unlocked(folder: Path) -> None:
    """Fail if somebody holds the lock of a folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(descriptor)
