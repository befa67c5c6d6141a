from __future__ import annotations

import os
from functools import cache

import pytest

from tests.corpora.attempts import Attempt, Tried, attempt
from tests.corpora.downloads import FetchError
from tests.corpora.fetch import fetch, is_fetched
from tests.corpora.sources import SOURCE_OF
from tests.support.require import requires


@pytest.fixture(scope="session")
def tried() -> Tried:
    """What became of a corpus. Those from PyPI are fetched; those from npm take a minute, and run when asked for."""
    asked = "node" in os.environ.get("STILE_REQUIRE", "").split(",")

    @cache
    def what_is_wrong_with_pypi() -> str:
        """Asked once: without a network it takes a while to say so."""
        try:
            fetch("dagster")
        except FetchError as exc:
            return str(exc)
        return ""

    @cache
    def compile_once(corpus: str) -> Attempt:
        if SOURCE_OF[corpus].needs == "node":
            requires("node", asked and is_fetched(corpus), "`make corpora` fetches its schemas and tries them")
        else:
            requires("pypi", not what_is_wrong_with_pypi(), what_is_wrong_with_pypi())
        return attempt(fetch(corpus))

    return compile_once
