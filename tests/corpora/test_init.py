"""The schemas of real APIs as those of new endpoints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from handler.compiler.source.files import ENTRY
from tests.commands.running import ran
from tests.corpora.attempts import Tried
from tests.corpora.fetch import fetch
from tests.corpora.sources import SOURCE_OF


@pytest.mark.parametrize("corpus", [name for name in SOURCE_OF if not name.endswith("-named")])
def test_endpoint_of_a_real_schema_has_starters_and_no_warnings(
    tried: Tried, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, corpus: str
) -> None:
    tried(corpus)  # skips what is not fetched
    monkeypatch.chdir(tmp_path)
    source = str(fetch(corpus) / ENTRY)

    made = ran("init", "real/api", "--from", source, "--url", "https://api.example.com/graphql", "--json")
    checked = ran("check", "--strict", "real", "--json")

    assert made.code == 0, made.err
    assert 2 <= len(json.loads(made.out)["tools"]) <= 3
    assert checked.code == 0, checked.out
