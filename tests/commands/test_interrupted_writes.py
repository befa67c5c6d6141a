"""Commands that a signal or a full disk ends at any write leave what was there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.commands.apis import SHOP
from tests.commands.running import Stile
from tests.conftest import ROOT
from tests.support.examples import FULL

URL = "https://api.example.com/graphql"
SORTS = {"SIGINT": str(int(signal.SIGINT)), "SIGTERM": str(int(signal.SIGTERM)), "full disk": "error"}
STEP = 1 if FULL else 13
"""Every write at full counts; else every thirteenth, from another one on for each way to end."""

CODES = {"SIGINT": 130, "SIGTERM": 143, "full disk": 1}


def runs(sort: str, kept: list[str], *words: str) -> list[dict[str, Any]]:
    """Each run of a command that is ended at one of its writes, and at last a run that is not."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.commands.interrupting",
            SORTS[sort],
            str(STEP),
            str(1 + list(SORTS).index(sort)),
            *kept,
            "--",
            *words,
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(Path.cwd().parent), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("sort", SORTS)
def test_init_makes_a_whole_folder_or_none(workplace: Path, sort: str) -> None:
    (workplace / "shop.graphql").write_text(SHOP, encoding="utf-8")

    *ended, whole = runs(sort, ["shop.graphql"], "init", "a/b/c", "--from", "shop.graphql", "--url", URL)

    assert whole["code"] == 0
    assert len(whole["files"]) == 11
    assert len(ended) >= (10 if FULL else 1)
    for run in ended:
        # The end came after the folder was in its place, or at the making of a folder that was there.
        made = run["folders"] == ["a"]
        assert run["files"] == whole["files"] if made else run["files"] == {"shop.graphql": SHOP}
        assert run["code"] == CODES[sort] or made
        assert run["left"] == []
        assert made or run["folders"] == []


@pytest.mark.parametrize("sort", SORTS)
def test_pull_renews_the_whole_file_or_nothing(workplace: Path, stile: Stile, sort: str) -> None:
    (workplace / "shop.graphql").write_text(SHOP, encoding="utf-8")
    stile("init", "a/b", "--from", "shop.graphql", "--url", URL)
    new = SHOP.replace("version: String!", "version: String! more: Int")
    (workplace / "new.graphql").write_text(new, encoding="utf-8")
    file = "a/b/schema.graphql"
    old = (workplace / file).read_text("utf-8")
    kept = [path.relative_to(workplace).as_posix() for path in workplace.rglob("*") if path.is_file()]

    *ended, whole = runs(sort, kept, "pull", "a", "--from", "new.graphql")

    assert whole["code"] == 0
    assert "more: Int" in whole["files"][file]
    assert len(ended) >= (8 if FULL else 1)
    for run in ended:
        assert run["files"] in (whole["files"], whole["files"] | {file: old})
        assert run["left"] == []
        assert run["code"] == CODES[sort] or run["files"] == whole["files"]
