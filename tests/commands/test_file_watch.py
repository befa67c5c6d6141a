from __future__ import annotations

import threading
import time
from collections.abc import Collection
from pathlib import Path

import pytest

from handler.commands.local.dev_session import FolderWatch, Workbench, keep_fresh


@pytest.fixture
def stop() -> threading.Event:
    return threading.Event()


def test_a_change_before_the_first_look_is_found(tmp_path: Path, stop: threading.Event) -> None:
    watch = FolderWatch(tmp_path)
    (tmp_path / "a").write_text("1")

    assert next(watch.changes(stop)) == {tmp_path / "a"}


def test_a_change_while_the_last_one_is_being_taken_over_is_found(tmp_path: Path, stop: threading.Event) -> None:
    changes = FolderWatch(tmp_path).changes(stop)
    (tmp_path / "a").write_text("1")
    next(changes)
    (tmp_path / "a").write_text("2")

    assert next(changes) == {tmp_path / "a"}


def test_a_replaced_file_of_the_same_size_is_found(tmp_path: Path, stop: threading.Event) -> None:
    (tmp_path / "a").write_text("1")
    changes = FolderWatch(tmp_path).changes(stop)
    (tmp_path / "b").write_text("2")
    (tmp_path / "b").rename(tmp_path / "a")

    assert next(changes) >= {tmp_path / "a"}


def test_files_in_new_folders_are_found(tmp_path: Path, stop: threading.Event) -> None:
    changes = FolderWatch(tmp_path).changes(stop)
    for name in ("one", "two"):
        file = tmp_path / name / "deep" / "a"
        file.parent.mkdir(parents=True)
        file.write_text("1")

        assert next(changes) == {file}


def test_a_folder_that_cannot_be_watched_is_looked_at_by_the_clock(tmp_path: Path, stop: threading.Event) -> None:
    folder = tmp_path / "later"
    changes = FolderWatch(folder).changes(stop)
    (tmp_path / ".made").mkdir()
    (tmp_path / ".made" / "a").write_text("1")
    later = threading.Timer(0.3, (tmp_path / ".made").rename, [folder])
    later.start()

    assert next(changes) == {folder / "a"}
    later.join()


def test_variables_are_watched_and_other_hidden_files_are_not(tmp_path: Path, stop: threading.Event) -> None:
    changes = FolderWatch(tmp_path).changes(stop)
    (tmp_path / ".index.graphql.swp").write_text("1")
    (tmp_path / ".env").write_text("1")

    assert next(changes) == {tmp_path / ".env"}


def test_what_tools_keep_in_a_folder_is_not_watched(tmp_path: Path, stop: threading.Event) -> None:
    changes = FolderWatch(tmp_path).changes(stop)
    for name in ("node_modules", ".git", ".venv", ".stile"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").write_text("1")
    (tmp_path / "b").write_text("1")

    assert next(changes) == {tmp_path / "b"}


def test_it_stops_soon(tmp_path: Path, stop: threading.Event) -> None:
    changes = FolderWatch(tmp_path).changes(stop)
    threading.Timer(0.2, stop.set).start()
    before = time.monotonic()

    assert list(changes) == []
    assert time.monotonic() - before < 30


class Moody(Workbench):
    """Fails at its first change."""

    def __init__(self, folder: Path, stop: threading.Event) -> None:
        super().__init__(folder, stage=None, address="")
        self.changes = 0
        self._stop = stop

    def refresh(self, changed: Collection[Path] = ()) -> None:
        self.changes += 1
        if self.changes == 1:
            next(iter(changed)).with_name("b").write_text("1")
            raise KeyError("boom")
        self._stop.set()


def test_a_failure_at_one_change_is_shown_and_does_not_end_the_reloading(
    tmp_path: Path, stop: threading.Event, capsys: pytest.CaptureFixture[str]
) -> None:
    workbench = Moody(tmp_path, stop)
    watch = FolderWatch(tmp_path)
    (tmp_path / "a").write_text("1")

    keep_fresh(workbench, watch, stop)

    assert workbench.changes == 2
    shown = capsys.readouterr().err
    assert "KeyError: 'boom'" in shown
    assert shown.endswith("This change was not applied; the next one will be tried.\n")


def test_sources_of_python_modules_elsewhere_are_watched(tmp_path: Path, stop: threading.Event) -> None:
    folder, package, module = tmp_path / "endpoints", tmp_path / "package", tmp_path / "beside" / "module.py"
    for each in (folder, package, module.parent):
        each.mkdir()
    module.write_text("1")
    changes = FolderWatch(folder, modules=lambda: [package, module]).changes(stop)
    (package / "notes.txt").write_text("1")
    (module.parent / "other.py").write_text("1")
    (package / "orders.py").write_text("1")

    assert next(changes) == {package / "orders.py"}
    module.write_text("22")
    assert next(changes) == {module}
