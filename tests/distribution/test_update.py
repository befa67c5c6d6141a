"""`stile new --update` merges a release into a repository that an older one made."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

import pytest

from handler import __version__
from handler.commands.new import FILES, WHEEL
from tests.commands.running import Stile
from tests.commands.test_interrupted_writes import CODES, SORTS, runs
from tests.conftest import ROOT
from tests.distribution.builds import make_dist
from tests.distribution.environments import run
from tests.docs.reference import Page, page
from tests.support.examples import FULL
from tests.support.require import requires

OLDER = "59071aa"
"""The commit whose release the page is tried with."""

EXAMPLE = "endpoints/shop/orders"
TEXT = "".join(f"{number}\n" for number in range(1, 13))
BEFORE: Mapping[str, str] = {
    "template.yaml": TEXT,
    "Makefile": TEXT,
    "gitignore": ".venv/\n",
    "infra/gone.sh": "echo gone\n",
    "infra/same.sh": "echo same\n",
    f"{EXAMPLE}/index.graphql": "type Query { a: Int }\n",
    f"{EXAMPLE}/config.yaml": "access: {anonymous: allow}\n",
}
NOW: Mapping[str, str] = {
    "template.yaml": TEXT.replace("2\n", "two\n", 1),
    "Makefile": TEXT.replace("2\n", "two\n", 1),
    "gitignore": ".venv/\n.stile/\n",
    "infra/same.sh": "echo same\n",
    "infra/more/new.sh": "echo new\n",
    f"{EXAMPLE}/index.graphql": "type Query { a: Int, b: Int }\n",
    f"{EXAMPLE}/config.yaml": "access: {anonymous: allow}\n",
    f"{EXAMPLE}/tools.test.yaml": "[]\n",
}


def release(folder: Path, files: Mapping[str, str]) -> Path:
    """A wheel that has these files of a new repository."""
    folder.mkdir()
    with ZipFile(folder / WHEEL, "w") as archive:
        for name, content in files.items():
            archive.writestr(FILES + name, content)
    return folder / WHEEL


@pytest.fixture
def stile(capsys: pytest.CaptureFixture[str]) -> Stile:
    return Stile(capsys)


@pytest.fixture
def now(tmp_path: Path) -> Path:
    return release(tmp_path / "now", NOW)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stile: Stile) -> Path:
    """A repository that the older release made, in the current folder."""
    before = release(tmp_path / "before", BEFORE)
    workplace = tmp_path / "workplace"
    workplace.mkdir()
    monkeypatch.chdir(workplace)
    assert stile("new", "r", "--wheel", str(before)).code == 0
    return workplace / "r"


def contents(folder: Path) -> dict[str, bytes]:
    """Each file, without those that `stile editor` writes."""
    files = (path for path in folder.rglob("*") if path.is_file() and ".editor" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_a_repository_becomes_one_that_the_new_release_makes(repository: Path, now: Path, stile: Stile) -> None:
    (repository / "own.txt").write_text("own", encoding="utf-8")
    done = stile("new", "r", "--update", "--wheel", str(now))
    assert (done.code, done.err) == (0, "")
    assert stile("new", "fresh", "--wheel", str(now)).code == 0

    assert contents(repository) == contents(repository.parent / "fresh") | {"own.txt": b"own"}
    assert os.access(repository / "infra/more/new.sh", os.X_OK)
    assert "r/infra/gone.sh: removed\n" in done.out
    assert not list(repository.glob(".stile-*"))
    again = json.loads(stile("new", "r", "--update", "--wheel", str(now), "--json").out)
    assert again == {"folder": "r", "written": True, "files": [], "unmerged": [], "warnings": []}


def test_a_dry_run_writes_nothing(repository: Path, now: Path, stile: Stile) -> None:
    before = contents(repository)
    planned = json.loads(stile("new", "r", "--update", "--dry-run", "--wheel", str(now), "--json").out)

    assert contents(repository) == before
    assert planned["written"] is False
    done = json.loads(stile("new", "r", "--update", "--wheel", str(now), "--json").out)
    assert done == planned | {"written": True}
    assert stile("new", "s", "--dry-run", "--wheel", str(now)).code == 2


def test_changes_in_other_places_are_merged(repository: Path, now: Path, stile: Stile) -> None:
    makefile, gitignore, required = (
        repository / each for each in ("Makefile", ".gitignore", "vendor/requirements.txt")
    )
    makefile.write_text(TEXT.replace("11\n", "mine\n"), encoding="utf-8")
    gitignore.write_text("mine/\n.venv/\n", encoding="utf-8")
    more = "more==1.0 --hash=sha256:00\n"
    required.write_text(required.read_text("utf-8") + more, encoding="utf-8")
    makefile.chmod(0o600)
    for _ in range(2):
        done = stile("new", "r", "--update", "--wheel", str(now))
        assert (done.code, done.err) == (0, "")
        assert makefile.read_text("utf-8") == NOW["Makefile"].replace("11\n", "mine\n")
        assert gitignore.read_text("utf-8") == "mine/\n.venv/\n.stile/\n"
        assert required.read_text("utf-8").endswith(f"\n{more}")
        assert makefile.stat().st_mode & 0o777 == 0o600


def test_a_file_with_crlf_keeps_it(repository: Path, now: Path, stile: Stile) -> None:
    for name, content in contents(repository).items():
        if not name.endswith(".whl"):
            (repository / name).write_bytes(content.replace(b"\n", b"\r\n"))
    makefile = repository / "Makefile"
    makefile.write_bytes(makefile.read_bytes().replace(b"11\r\n", b"mine\r\n"))

    assert stile("new", "r", "--update", "--wheel", str(now)).code == 0

    assert makefile.read_text("utf-8") == NOW["Makefile"].replace("11\n", "mine\n")
    assert all(line.endswith(b"\r\n") for line in makefile.read_bytes().splitlines(keepends=True))
    assert (repository / EXAMPLE / "index.graphql").read_bytes() == NOW[f"{EXAMPLE}/index.graphql"].encode()[
        :-1
    ] + b"\r\n"
    assert not (repository / "infra/gone.sh").exists()


def make_unmergeable(file: Path, sort: str) -> None:
    match sort:
        case "same lines":
            file.write_text(TEXT.replace("2\n", "mine\n", 1), encoding="utf-8")
        case "binary":
            file.write_bytes(b"\0\n")
        case "deleted":
            file.unlink()
        case "renamed":
            file.rename(file.with_name("build.mk"))
        case "link":
            file.rename(file.with_name("build.mk"))
            file.symlink_to("build.mk")
        case "link out":
            outside = file.parents[1] / "outside"
            file.rename(outside)
            file.symlink_to(outside)
        case "folder":
            file.unlink()
            file.mkdir()
        case "pipe":
            file.unlink()
            os.mkfifo(file)
        case _:
            file.chmod(0)


def facts(folder: Path) -> dict[str, tuple[int, int, int]]:
    """The facts that a write would change, of what `make_unmergeable` makes."""
    paths = (path for path in folder.rglob("*") if path.name in ("Makefile", "build.mk", "outside"))
    return {path.as_posix(): (path.lstat().st_ino, path.lstat().st_mode, path.lstat().st_mtime_ns) for path in paths}


SORTS_OF_FILES = ("same lines", "binary", "deleted", "renamed", "link", "link out", "folder", "pipe", "unreadable")


@pytest.mark.parametrize("sort", SORTS_OF_FILES)
def test_what_cannot_be_merged_stays_and_is_shown(repository: Path, now: Path, stile: Stile, sort: str) -> None:
    file = repository / "Makefile"
    requires("rights", sort != "unreadable" or os.geteuid(), "a superuser reads each file")
    make_unmergeable(file, sort)
    present = facts(repository.parent)

    done = stile("new", "r", "--update", "--wheel", str(now))

    assert done.code == 1
    assert done.err.startswith("r/Makefile stays as it is: ")
    assert "\n-2\n+two\n" in done.out
    assert facts(repository.parent) == present
    assert (repository / "template.yaml").read_text("utf-8") == NOW["template.yaml"]
    assert "<<<<" not in "".join(map(repr, contents(repository).values()))


def test_json_has_the_differences_and_the_error(repository: Path, now: Path, stile: Stile) -> None:
    (repository / "infra/gone.sh").write_text("mine\n", encoding="utf-8")
    (repository / "infra/more").mkdir()
    (repository / "infra/more/new.sh").write_text("mine\n", encoding="utf-8")

    done = stile("new", "r", "--update", "--json", "--wheel", str(now))
    document = json.loads(done.out)

    gone, new = sorted(document["unmerged"], key=lambda each: str(each["file"]))
    assert (gone["file"], gone["difference"].splitlines()[-1]) == ("infra/gone.sh", "-echo gone")
    assert (new["file"], new["difference"].splitlines()[-1]) == ("infra/more/new.sh", "+echo new")
    assert gone["reason"] == "it was changed, and the release removes it"
    assert new["reason"] == "the release adds another file of that name"
    assert done.code == document["error"]["exitCode"] == 1
    assert len(document["error"]["messages"]) == 2
    assert (repository / "infra/gone.sh").read_text("utf-8") == "mine\n"
    assert (repository / "infra/more/new.sh").read_text("utf-8") == "mine\n"


def test_a_file_in_place_of_a_folder_stays(repository: Path, now: Path, stile: Stile) -> None:
    (repository / "infra/more").write_text("mine\n", encoding="utf-8")

    done = stile("new", "r", "--update", "--wheel", str(now))

    assert done.code == 1
    assert done.err.startswith("r/infra/more/new.sh stays as it is: it cannot be read (Not a directory)")
    assert "\n+echo new\n" in done.out
    assert (repository / "infra/more").read_text("utf-8") == "mine\n"
    assert (repository / "template.yaml").read_text("utf-8") == NOW["template.yaml"]


def test_a_newer_release_is_not_replaced(repository: Path, now: Path, stile: Stile) -> None:
    vendor, newer = repository / "vendor", "stile_mcp-10.0.0-py3-none-any.whl"
    (vendor / WHEEL).rename(vendor / newer)
    text = (vendor / "requirements.txt").read_text("utf-8").replace(WHEEL, newer)
    (vendor / "requirements.txt").write_text(text, encoding="utf-8")
    before = contents(repository)

    done = stile("new", "r", "--update", "--wheel", str(now))

    assert (done.code, done.out) == (1, "")
    assert done.err == f"r/vendor/: expected no newer release than {__version__}, this one\n"
    assert contents(repository) == before


def test_a_merge_without_git_is_refused(
    repository: Path, now: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "Makefile").write_text(TEXT.replace("11\n", "mine\n"), encoding="utf-8")
    before = contents(repository)
    monkeypatch.setenv("PATH", str(repository))

    done = stile("new", "r", "--update", "--wheel", str(now))

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("git cannot be run (No such file or directory)")
    assert contents(repository) == before


def test_a_difference_is_read_by_patch(repository: Path, now: Path, stile: Stile) -> None:
    file = repository / "Makefile"
    file.write_text(TEXT.replace("3\n", "mine\n", 1), encoding="utf-8")
    document = json.loads(stile("new", "r", "--update", "--json", "--wheel", str(now)).out)
    file.write_text(TEXT, encoding="utf-8")

    change = document["unmerged"][0]["difference"]
    subprocess.run(["git", "apply", "-p1", "-"], input=change, text=True, cwd=repository, check=True)

    assert file.read_text("utf-8") == NOW["Makefile"]


@pytest.mark.parametrize("name", ["index.graphql", "config.yaml", "."])
def test_an_example_that_was_changed_or_deleted_stays(repository: Path, now: Path, stile: Stile, name: str) -> None:
    example = repository / EXAMPLE
    if name == ".":
        shutil.rmtree(repository / "endpoints")
    else:
        (example / name).write_text("# mine\n", encoding="utf-8")
    before = contents(repository / "endpoints")

    assert stile("new", "r", "--update", "--wheel", str(now)).code == 0

    assert contents(repository / "endpoints") == before


def test_a_repository_without_its_wheel_is_refused(repository: Path, now: Path, stile: Stile, tmp_path: Path) -> None:
    vendor = repository / "vendor"
    wheel = (vendor / WHEEL).read_bytes()
    other = release(tmp_path / "other", {**BEFORE, "more": ""}).read_bytes()

    def refused(words: str) -> None:
        before = contents(repository)
        done = stile("new", "r", "--update", "--wheel", str(now))
        assert (done.code, done.out) == (1, "")
        assert done.err.replace("\n", " ").startswith("r/vendor/")
        assert words in done.err.replace("\n", " ")
        assert contents(repository) == before

    (vendor / WHEEL).write_bytes(other)
    refused("it has no such wheel")
    (vendor / WHEEL).write_bytes(b"text")
    refused("cannot be read")
    (vendor / WHEEL).unlink()
    refused("it has no such wheel")
    (vendor / "kept").write_bytes(wheel)
    (vendor / WHEEL).symlink_to("kept")
    refused("it is a link")
    (vendor / WHEEL).unlink()
    (vendor / WHEEL).write_bytes(wheel)
    (vendor / "requirements.txt").unlink()
    refused("it has no such wheel")
    for folder in (tmp_path / "gone", now):
        done = stile("new", str(folder), "--update", "--wheel", str(now))
        assert (done.code, done.out) == (1, "")
    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize("former", [WHEEL, "stile_mcp-0.0.1-py3-none-any.whl", WHEEL.replace("-py3", "rc1-py3")])
def test_an_update_that_was_killed_is_repeated(repository: Path, now: Path, stile: Stile, former: str) -> None:
    """A kill leaves the files that come first in the order of the update."""
    vendor = repository / "vendor"
    (vendor / WHEEL).rename(vendor / former)
    text = (vendor / "requirements.txt").read_text("utf-8").replace(WHEEL, former)
    (vendor / "requirements.txt").write_text(text, encoding="utf-8")
    (repository / "Makefile").write_text(TEXT.replace("11\n", "mine\n"), encoding="utf-8")
    (repository / ".gitignore").write_text("mine/\n.venv/\n", encoding="utf-8")
    before = contents(repository)
    order = json.loads(stile("new", "r", "--update", "--json", "--wheel", str(now)).out)["files"]
    whole = contents(repository)
    assert former == WHEEL or former not in {Path(name).name for name in whole}

    for count in range(len(order) + 1):
        shutil.rmtree(repository)
        partly = {**before, **{name: whole.get(name) for name in order[:count]}}
        for name, content in partly.items():
            if content is not None:
                (repository / name).parent.mkdir(parents=True, exist_ok=True)
                (repository / name).write_bytes(content)
        done = stile("new", "r", "--update", "--wheel", str(now))
        assert (done.code, contents(repository)) == (0, whole), order[:count]


@pytest.mark.parametrize("sort", SORTS)
def test_a_whole_update_is_made_or_nothing(repository: Path, now: Path, sort: str) -> None:
    (repository / "Makefile").write_text(TEXT.replace("11\n", "mine\n"), encoding="utf-8")
    old = {f"r/{name}": content.decode(errors="replace") for name, content in contents(repository).items()}
    kept = [path.relative_to(repository.parent).as_posix() for path in repository.rglob("*") if path.is_file()]

    *ended, whole = runs(sort, kept, "new", "r", "--update", "--wheel", str(now))

    assert whole["code"] == 0
    assert len(ended) >= (10 if FULL else 1)
    for each in ended:
        files = {name: text for name, text in each["files"].items() if ".editor" not in name}
        assert files in (old, {name: text for name, text in whole["files"].items() if ".editor" not in name})
        assert each["left"] == []
        assert each["code"] == CODES[sort] or files != old
        assert not list(repository.glob(".stile-*"))


def test_page_updates_a_repository_of_an_older_commit(wheel: Path, tmp_path: Path) -> None:
    archive = subprocess.run(["git", "archive", OLDER], cwd=ROOT, capture_output=True, check=False)
    requires("history", archive.returncode == 0, f"the clone has no commit {OLDER}")
    older, clone, repository = (tmp_path / name for name in ("older", "clone", "shop-tools"))
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tree:
        tree.extractall(older, filter="data")
    (released,) = make_dist(older).glob("*.whl")  # of another version, once there is a release
    words = [sys.executable, "-m", "handler", "new", "../shop-tools", "--wheel", str(released)]
    made = run(*words, cwd=older)
    assert made.returncode == 0, made.stderr
    (clone / "dist").mkdir(parents=True)
    shutil.copy(wheel, clone / "dist")
    for folder in (clone, repository):
        (folder / ".venv" / "bin").mkdir(parents=True)
        program = folder / ".venv" / "bin" / "stile"
        program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m handler "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    makefile = repository / "Makefile"
    makefile.write_text(makefile.read_text("utf-8").replace("# `make` alone", "# Mine. `make` alone"), encoding="utf-8")
    before = contents(repository)
    section = page("operate/upgrade").section("## A repository of `stile new`")
    build, dry_run, update, check, editor = Page(Path(), f"\n{section}").shell

    assert (build, check) == ("make dist", "make test")  # which packages of an index are for
    assert run("bash", "-c", dry_run, cwd=clone).returncode == 0
    assert contents(repository) == before
    done = run("bash", "-c", update, cwd=clone)
    assert (done.returncode, done.stderr) == (0, "")
    assert run("bash", "-c", editor, cwd=repository).returncode == 0

    (tmp_path / "fresh").mkdir()
    made = run(*words[:3], "new", str(tmp_path / "fresh" / "r"), "--wheel", str(wheel), cwd=ROOT)
    assert made.returncode == 0, made.stderr
    fresh = tmp_path / "fresh" / "r"
    mine = (fresh / "Makefile").read_bytes().replace(b"# `make` alone", b"# Mine. `make` alone")
    assert contents(repository) == contents(fresh) | {"Makefile": mine, ".venv/bin/stile": program.read_bytes()}
    editor_files = f"{EXAMPLE}/.editor/config.schema.json"
    assert (repository / editor_files).read_bytes() == (fresh / editor_files).read_bytes()
