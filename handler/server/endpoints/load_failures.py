"""Count the endpoints that could not be loaded, for the health of the function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from handler.errors.infrastructure import BundleError, StorageError
from handler.records import record
from handler.server.endpoints.clock import Instant

MAX_DOUBTFUL = 100
"""Limit of endpoints that count as failing but may not exist, because storage did not answer."""

DOUBTFUL_S = 300.0
"""Time that such an endpoint counts after storage was last asked for it."""


@record(frozen=True, slots=True, kw_only=True)
class Known:
    """The state of one endpoint in this process."""

    name: str
    asked: Instant | None  # when storage was last asked for it
    serves: bool
    failing: bool  # storage, bundle or schema failed the last time; the last good bundle may serve
    lacking: bool  # the function's build or settings lack a part


@record(frozen=True, slots=True, kw_only=True)
class _Failed:
    """An endpoint that could not be loaded and is not cached. ``exists``: the endpoint is known to exist."""

    asked: Instant
    exists: bool


class Failures:
    """The endpoints that could not be loaded and are not cached."""

    def __init__(self, clock: Callable[[], Instant]) -> None:
        self._clock = clock
        self._expected: set[str] = set()
        self._failed: dict[str, _Failed] = {}

    def expect(self, name: str) -> None:
        """Take an endpoint for one that exists: the owner has named it."""
        self._expected.add(name)

    def forget(self, name: str) -> None:
        """Forget the failure of an endpoint that could be loaded, or does not exist."""
        self._failed.pop(name, None)

    def counted(self) -> Iterator[Known]:
        """Yield the endpoints that exist or may exist."""
        for name, failed in self._failed.items():
            if self._counts(failed):
                yield Known(name=name, asked=failed.asked, serves=False, failing=True, lacking=False)

    @contextmanager
    def noted(self, name: str) -> Iterator[None]:
        """Note an endpoint that could not be loaded. Unknown names are limited, because anybody can ask for them."""
        try:
            yield
        except (StorageError, BundleError) as exc:
            before = self._failed.pop(name, None)
            exists = name in self._expected or isinstance(exc, BundleError) or (before is not None and before.exists)
            self._failed = {other: each for other, each in self._failed.items() if self._counts(each)}
            if exists or len(self._failed) < MAX_DOUBTFUL:
                self._failed[name] = _Failed(asked=self._clock(), exists=exists)
            raise

    def _counts(self, failed: _Failed) -> bool:
        return failed.exists or self._clock().age_s(failed.asked) < DOUBTFUL_S
