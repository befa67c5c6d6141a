from __future__ import annotations

import subprocess
import threading
from pathlib import Path

import pytest

from handler.commands.publishing.destination import bundles_by_endpoint
from handler.commands.publishing.facts import DIRTY, MAX_CHARS, PublishFacts, gather_facts, read_facts
from handler.commands.publishing.publication import Parallel
from handler.errors import StileError
from handler.errors.infrastructure import StorageError


@pytest.mark.parametrize("by", ["arn:aws:iam::1:user/ada", "Zoë 100% <zoe@example.com>", "日本", "a/b?c=d&e"])
def test_fact_that_is_stored_is_read_again(by: str) -> None:
    facts = PublishFacts(by=by, at="2026-01-02T03:04:05Z", commit="c0ffee", release="1.2.3")

    assert read_facts(facts.stored()) == facts
    assert all(value.isascii() and value.isprintable() for value in facts.stored().values())


def test_long_fact_and_one_of_several_lines_are_stored_as_far_as_they_fit() -> None:
    stored = PublishFacts(by="é" * 1_000, commit="a\nb: c\r\nd").stored()

    assert len(stored["stile-by"]) <= MAX_CHARS
    assert read_facts(stored).by == "é" * (MAX_CHARS // len("%C3%A9"))
    assert read_facts(stored).commit == "a b: c d"


def test_object_of_an_older_release_has_no_facts() -> None:
    assert read_facts({}) == PublishFacts()


def test_commit_is_told_with_whether_files_differ_from_it(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
        return subprocess.run(
            ["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout

    git("init", "--quiet")
    git("config", "user.email", "ada@example.com")
    (tmp_path / "file").write_text("one")
    git("add", ".")
    git("commit", "--quiet", "--message", "One")
    commit = git("rev-parse", "HEAD").strip()

    clean = gather_facts(tmp_path, "out", {})
    (tmp_path / "file").write_text("two")
    changed = gather_facts(tmp_path, "out", {})

    assert (clean.by, clean.commit) == ("ada@example.com", commit)
    assert changed.commit == commit + DIRTY


def test_folder_without_a_repository_has_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))

    assert gather_facts(tmp_path, "out", {}).commit == ""


def test_bundles_of_every_format_are_those_of_their_endpoint() -> None:
    keys = [
        "api/a/bundle.v2.json", "api/a/bundle.v1.json", ".index/abc", "api/a/other.json", "bundle.v1.json",
        "api/1/bundle.v1.json", "x/api/a/bundle.v1.json",
    ]  # fmt: skip

    found = bundles_by_endpoint({key: f"etag of {key}" for key in keys})

    etags = {key: f"etag of {key}" for key in ("api/a/bundle.v1.json", "api/a/bundle.v2.json")}
    assert found == {"api/a": etags}


def test_parallel_work_yields_each_item_once_with_its_error_and_begins_none_after_a_stop() -> None:
    def work(number: int) -> int:
        if number == 3:
            raise StorageError("here", "no")
        return number * 2

    done = dict(Parallel(work, range(50)))

    assert isinstance(done.pop(3), StorageError)
    assert done == {number: number * 2 for number in range(50) if number != 3}
    begun, may_end = threading.Event(), threading.Event()

    def wait(number: int) -> int:
        begun.set()
        assert may_end.wait(60)
        return number

    stopped = Parallel(wait, range(1_000), at_once=1)
    outcomes: list[tuple[int, int | StileError]] = []
    assert not begun.is_set()  # it begins with the iteration
    collecting = threading.Thread(target=lambda: outcomes.extend(stopped))
    collecting.start()
    assert begun.wait(60)
    stopped.stop()
    may_end.set()
    collecting.join(60)
    assert outcomes == [(0, 0)]
