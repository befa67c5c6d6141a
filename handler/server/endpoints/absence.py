"""The reason why an endpoint is not there, by the names of keys alone: the objects of other formats are never read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from handler.bundle.stored import FORMAT_VERSION, withdrawal_key
from handler.cold.records import record
from handler.storage.storage import Storage

MAX_KEYS = 10_000
MAX_FORMATS = 10

_BUNDLE_KEY = re.compile(r"[^/]+/[^/]+/bundle\.v([1-9][0-9]{0,3})\.json")


@record(frozen=True, slots=True, kw_only=True)
class Absence:
    """The bundles and the mark at the place of one endpoint, or of all endpoints, that has no bundle to serve."""

    formats: Sequence[int] = ()  # of the bundles there, the newest first
    is_withdrawn: bool = False

    @property
    def serves(self) -> bool:
        """True if a bundle of this release's format is there: another one, or it was stored meanwhile."""
        return FORMAT_VERSION in self.formats

    def __str__(self) -> str:
        if not self.formats:
            return "no bundle is there: publish it, or check the location and the names of endpoints to preload"
        return (
            f"this function reads format {FORMAT_VERSION}, and bundles of format {', '.join(map(str, self.formats))} "
            "are there: publish with the release of this function, or deploy the release that published them"
        )


def find_absence(storage: Storage, endpoint: str = "", *, timeout_s: float) -> Absence:
    """Look at the names of the keys of an endpoint, or of all endpoints until one can be served.

    Raises:
        StorageError: the keys cannot be listed.
    """
    formats, is_withdrawn = set[int](), False
    for key in islice(storage.list_keys(endpoint, timeout_s=timeout_s), MAX_KEYS):
        is_withdrawn |= key == withdrawal_key(endpoint)
        if match := _BUNDLE_KEY.fullmatch(key):
            formats.add(int(match[1]))
            if FORMAT_VERSION in formats:
                break
    return Absence(formats=tuple(sorted(formats, reverse=True)[:MAX_FORMATS]), is_withdrawn=is_withdrawn)
