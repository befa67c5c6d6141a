"""The withdrawal of an endpoint: its bundles are removed, and older versions stay for a rollback."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from handler.bundle.model import ENDPOINT_NAME
from handler.commands.published.facts import PublishFacts
from handler.errors.infrastructure import ObjectNotFound
from handler.storage.publishing import PublishStorage

_BUNDLE = re.compile(r"(.+)/bundle\.v[0-9]+\.json")


def bundles_by_endpoint(keys: Iterable[str]) -> dict[str, list[str]]:
    """Return the keys of the bundles among ``keys``, of every format, by their endpoint."""
    found: dict[str, list[str]] = {}
    for key in sorted(keys):
        match = _BUNDLE.fullmatch(key)
        if match and ENDPOINT_NAME.fullmatch(match[1]):
            found.setdefault(match[1], []).append(key)
    return found


def etags_of(storage: PublishStorage, keys: Sequence[str]) -> dict[str, str]:
    """Return the etag of each present object, for ``withdraw``.

    Raises:
        StorageError: the storage does not answer as it should.
    """
    found = {}
    for key in keys:
        try:
            found[key] = storage.head(key).etag
        except ObjectNotFound:
            continue
    return found


def withdraw(storage: PublishStorage, etags: Mapping[str, str], facts: PublishFacts) -> None:
    """Remove the bundles of one endpoint, each on the condition of its etag.

    Raises:
        ObjectChanged: the endpoint was published since. Bundles before that one are removed.
        StorageError: the storage does not answer as it should.
    """
    for key, etag in etags.items():
        storage.remove(key, expected=etag, facts=facts.stored())
