from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from handler.http.client import HttpClient
from handler.storage.location import open_publish_storage
from handler.storage.publishing import PublishStorage
from tests.commands.running import Stile
from tests.life.publishing import add_empty_bucket
from tests.life.share import FULL
from tests.support.moto import Moto, running_moto


@pytest.fixture
def stile(capsys: pytest.CaptureFixture[str]) -> Stile:
    """The command, run in this process with its output going into a pipe."""
    return Stile(capsys)


@pytest.fixture(scope="session")
def open_moto() -> Iterator[Moto]:
    """A moto server that checks no rights."""
    with running_moto() as running:
        yield running


@pytest.fixture(params=["folder", "bucket"] if FULL else ["folder"])
def location(request: pytest.FixtureRequest, tmp_path: Path, open_moto: Moto, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty destination that keeps versions. The tests of CI, rights and traffic have a bucket every day."""
    if request.param == "folder":
        return str(tmp_path / "bundles")
    moto: Moto = request.getfixturevalue("open_moto")
    for name, value in moto.environ().items():
        monkeypatch.setenv(name, value)
    return add_empty_bucket(moto, f"b-{tmp_path.name.replace('_', '-')[-40:].strip('-').lower()}")


@pytest.fixture
def storage(location: str) -> Iterator[PublishStorage]:
    http = HttpClient()
    yield open_publish_storage(location, http=http, environ=dict(os.environ))
    http.close()
