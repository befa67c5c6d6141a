from __future__ import annotations

import gc
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.secrecy import SESSION, Output, has_grep

if TYPE_CHECKING:  # a session imports what its tests need: a folder's tests start in half the time
    from handler.compiler.compile import Compiled
    from handler.storage.local import FolderStorage
    from handler.storage.publishing import WritableStorage
    from tests.support.bucket import BundleBucket
    from tests.support.function import Function
    from tests.support.moto import Moto
    from tests.support.upstream import Upstream

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "examples" / "endpoints" / "api" / "customers"


@pytest.fixture(scope="session", autouse=True)
def secrecy() -> Iterator[None]:
    """Collects what is put out until all other fixtures have ended, and fails if a secret is in it."""
    with SESSION.collecting(), noting_errors():
        yield
        wrong = SESSION.verdict() if SESSION.keeps_any and has_grep() else []
    if wrong:
        pytest.fail("\n".join(["secrets, in what the tests of this session put out:", *wrong]), pytrace=False)


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> Iterator[None]:
    """Lets SIGINT end the processes that tests start, if a shell has started the tests in the background too.

    Such a shell has them ignore it, and a process inherits the signals that its parent ignores.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@contextmanager
def noting_errors() -> Iterator[None]:
    """Note every error that a test expects, at the one place in pytest through which all of them come."""
    leave = pytest.RaisesExc.__exit__

    def note_and_leave(self: Any, kind: Any, error: BaseException | None, trace: Any) -> bool:
        if error is not None:
            SESSION.note_error(error)
        return leave(self, kind, error, trace)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pytest.RaisesExc, "__exit__", note_and_leave)
        yield


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    for _, text in report.sections:
        SESSION.note(Output.CAPTURED, text)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of secrecy come last, so that what is found is told beside them. See ``STILE_DOOR``."""
    if os.environ.get("STILE_DOOR") == "http":
        items[:] = [item for item in items if item.get_closest_marker("lambda_alone") is None]
    items.sort(key=lambda item: item.path.name == "test_secrecy.py")


def pytest_collection_finish() -> None:
    """Leaves what the tests imported out of garbage collection, as the Lambda handler does with what it loads."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upstream]:
    """The demo's GraphQL API, running on loopback; its log holds every request that reached it."""
    from tests.support.upstream import running_upstream

    with running_upstream(tmp_path_factory.mktemp("upstream")) as running:
        yield running


@pytest.fixture(scope="session")
def demo() -> Compiled:
    """The demo endpoint as its folder says, with the upstream at its documented place."""
    from handler.compiler.compile import compile_endpoint

    return compile_endpoint(DEMO)


@pytest.fixture(scope="session")
def served_demo(upstream: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """The demo endpoint, asking the running upstream."""
    from handler.compiler.compile import compile_endpoint

    folder = tmp_path_factory.mktemp("demo") / "api" / "customers"
    shutil.copytree(DEMO, folder)
    (folder / "config.test.yaml").write_text(f"upstream: {{url: '{upstream.url}', timeout_s: 5}}\n", encoding="utf-8")
    return compile_endpoint(folder, stage="test")


@pytest.fixture
def function(served_demo: Compiled) -> Iterator[Function]:
    """The function serving the demo endpoint to anonymous callers and holders of keys."""
    from tests.support.function import running_function

    with running_function(served_demo) as running:
        yield running


@pytest.fixture
def dev_function(served_demo: Compiled) -> Iterator[Function]:
    """The same as `stile dev` serves it: without a credential everything may be used."""
    from tests.support.function import running_function

    with running_function(served_demo, development=True) as running:
        yield running


@pytest.fixture
def folder_storage(tmp_path: Path) -> FolderStorage:
    """An empty folder of bundles."""
    from handler.storage.local import FolderStorage

    (tmp_path / "bundles").mkdir()
    return FolderStorage(tmp_path / "bundles")


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty current folder."""
    folder = tmp_path / "workplace"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield folder
    for pattern in ("**/bundle.*.json", "**/.index/*"):
        for file in filter(Path.is_file, folder.glob(pattern)):
            SESSION.note(Output.FOLDER, file.read_bytes())


@pytest.fixture(scope="session")
def moto() -> Iterator[Moto]:
    """AWS on loopback, which checks signatures and policies."""
    from tests.support.moto import running_moto

    with running_moto(iam=True) as running:
        yield running


@pytest.fixture(scope="session")
def bucket(moto: Moto, served_demo: Compiled) -> BundleBucket:
    """A bucket with the demo endpoint under the template's prefix, and the function's role for it."""
    from tests.support.bucket import published_bucket

    return published_bucket(moto, served_demo)


@pytest.fixture
def s3_storage(bucket: BundleBucket) -> Iterator[WritableStorage]:
    """The bucket as the function sees it: with the template's role and nothing more."""
    from handler.http.client import HttpClient
    from handler.storage.location import open_storage
    from tests.support.bucket import ReadOnly

    http = HttpClient()
    yield ReadOnly(open_storage(bucket.location, http=http, environ=bucket.role))
    http.close()
