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
    """What became of a corpus. A corpus that is not there is fetched from PyPI if asked for; from npm it takes long."""
    asked = os.environ.get("STILE_REQUIRE", "").split(",")

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
        command = "`make corpora` fetches its schemas and tries them"
        if SOURCE_OF[corpus].needs == "node":
            requires("node", "node" in asked and is_fetched(corpus), command)
        else:
            requires("pypi", "pypi" in asked or is_fetched(corpus), command)
            requires("pypi", not what_is_wrong_with_pypi(), what_is_wrong_with_pypi())
        return attempt(fetch(corpus))

    return compile_once
