"""Destinations with published endpoints: a folder, and a versioned bucket of moto."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path

from handler.bundle.stored import bundle_key
from handler.commands.publishing.facts import PublishFacts
from handler.compiler.compile import Compiled
from handler.errors.infrastructure import ObjectNotFound
from handler.storage.publishing import ObjectHead, PublishStorage
from tests.support.endpoints import compiled
from tests.support.moto import Moto

SDL = 'type Query { "Says a." a: String b: Int }\ntype Mutation { set(b: Int!): Int }\n'
CONFIG = """\
upstream: {url: "https://things.example/graphql"}
access:
  anonymous: allow
  policies: [{type: Query, policyDefault: {condition: true}}]
"""


def version_of(folder: Path, number: int, *, sdl: str = SDL, config: str = CONFIG) -> Compiled:
    """The endpoint ``api/things`` with a tool named by a number, and one over its schema."""
    tool = 'extend schema @tool(name: "all", graphql: [{expose: true, types: "Query", fields: ".*"}])'
    files = {
        "index.graphql": f"{sdl}{tool}",
        "operations/a.graphql": f'query A @mcpTool(name: "tool-{number}") {{ a }}\n',
        "config.yaml": config,
    }
    return compiled(folder / f"version-{number}", files)


def put(storage: PublishStorage, made: Compiled, *, facts: PublishFacts | None = None) -> ObjectHead:
    """Publish an endpoint whatever is there now."""
    *indexes, (key, raw) = made.objects()
    for index, content in indexes:
        storage.add(index, content)
    assert key == bundle_key(made.bundle.endpoint)
    try:
        etag = storage.head(key).etag
    except ObjectNotFound:
        etag = None
    return storage.put(key, raw, expected=etag, facts=(facts or FACTS).stored())


FACTS = PublishFacts(by="arn:aws:iam::1:user/ada", at="2026-01-02T03:04:05Z", commit="c0ffee" * 6, release="1.2.3")


def add_versioned_bucket(moto: Moto, name: str) -> str:
    """Make a bucket as infra/storage.yaml has it; give the location of bundles."""
    moto.add_bucket(name)
    versioning: Mapping[str, str] = {"Status": "Enabled"}
    with moto.unchecked():
        moto.client("s3").put_bucket_versioning(Bucket=name, VersioningConfiguration=versioning)
    return f"s3://{name}/endpoints"


def add_empty_bucket(moto: Moto, name: str) -> str:
    """Make a versioned bucket whose name has an ending of its own; give the location of bundles.

    A fixture may run twice when tests move from one worker to another, and finds no older versions then.
    """
    return add_versioned_bucket(moto, f"{name}-{uuid.uuid4().hex[:8]}")
