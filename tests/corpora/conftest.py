from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from tests.corpora.attempts import Attempt, attempt
from tests.corpora.downloads import FetchError
from tests.corpora.fetch import fetch, is_fetched
from tests.corpora.sources import SOURCE_OF
from tests.support.require import requires


@pytest.fixture(scope="session")
def tried() -> Callable[[str], Attempt]:
    """What became of a corpus. Those from PyPI are fetched, those that need npm have been or are skipped."""

    @cache
    def compile_once(corpus: str) -> Attempt:
        if SOURCE_OF[corpus].needs == "node":
            requires("node", is_fetched(corpus), f"`make corpora` fetches {corpus} with npm")
        try:
            return attempt(fetch(corpus))
        except FetchError as exc:
            requires("pypi", None, f"{corpus} cannot be fetched: {exc}")
            raise

    return compile_once
