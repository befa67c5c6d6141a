"""`stile new` makes a repository that checks, tests and builds itself, of the wheel alone."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml

from handler.commands.new import EXPECTED, FILES, WHEEL
from tests.commands.running import Stile
from tests.commands.test_interrupted_writes import CODES, SORTS, runs
from tests.conftest import ROOT
from tests.distribution.environments import pip, require_index, run
from tests.distribution.test_dist import INFO, REPOSITORY
from tests.support.examples import FULL
from tests.support.require import requires

FOR_EDITORS = {
    "endpoints/shop/orders/.editor/config.schema.json",
    "endpoints/shop/orders/.editor/directives.graphql",
    "endpoints/shop/orders/graphql.config.yml",
}
OWN = {
    ".github/workflows/stile.yml",
    ".gitignore",
    "Makefile",
    "README.md",
    *FOR_EDITORS,
    "endpoints/shop/orders/config.yaml",
    "endpoints/shop/orders/index.graphql",
    "endpoints/shop/orders/operations/list_orders.graphql",
    "endpoints/shop/orders/tools.recording.json",
    "endpoints/shop/orders/tools.test.yaml",
    "tests/events/tools-list.json",
    "tests/test_events.py",
    "vendor/requirements.txt",
    f"vendor/{WHEEL}",
}
PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "workplace"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def stile(capsys: pytest.CaptureFixture[str]) -> Stile:
    return Stile(capsys)


@pytest.fixture
def repository(workplace: Path, stile: Stile, wheel: Path) -> Path:
    made = stile("new", "shop-tools", "--wheel", str(wheel))
    assert (made.code, made.err) == (0, "")
    return workplace / "shop-tools"


def test_repository_has_the_wheel_by_its_digest_and_all_that_builds_it(repository: Path, wheel: Path) -> None:
    files = {path.relative_to(repository).as_posix() for path in repository.rglob("*") if path.is_file()}
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()

    assert files == OWN | REPOSITORY
    assert (repository / "vendor" / WHEEL).read_bytes() == wheel.read_bytes()
    required = (repository / "vendor" / "requirements.txt").read_text("utf-8").split()
    assert required == [f"./vendor/{WHEEL}", "\\", f"--hash=sha256:{digest}"]
    assert all(os.access(path, os.X_OK) for path in repository.glob("infra/*.sh"))


def test_repository_ignores_what_its_commands_write(repository: Path) -> None:
    run("git", "init", "-q", cwd=repository)
    written = [".stile/bundles/shop/orders/bundle.json", ".aws-sam/build/x", ".venv/x", "endpoints/shop/orders/.env"]

    assert run("git", "check-ignore", *written, cwd=repository).stdout.split() == written


def test_files_are_those_of_this_repository_without_what_is_for_the_demo(repository: Path) -> None:
    for name in REPOSITORY - {"samconfig.toml"}:
        assert (repository / name).read_bytes() == (ROOT / name).read_bytes(), name

    config = (repository / "samconfig.toml").read_text("utf-8")
    assert (ROOT / "samconfig.toml").read_text("utf-8").startswith(config)
    assert "[default.deploy.parameters]" in config
    assert "events/" not in config


def test_actions_are_pinned_by_commit_and_only_main_publishes(repository: Path) -> None:
    text = (repository / ".github" / "workflows" / "stile.yml").read_text("utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    used = re.findall(r"uses: (.+)", text)

    assert used
    assert [each for each in used if not PINNED.fullmatch(each)] == []
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
    assert jobs["publish"]["if"].startswith("github.event_name == 'push' && ")
    assert jobs["publish"]["needs"] == "check"
    assert "secrets." not in text


def test_pull_requests_are_shown_with_what_they_change(repository: Path) -> None:
    workflow = yaml.safe_load((repository / ".github" / "workflows" / "stile.yml").read_text("utf-8"))
    steps = workflow["jobs"]["check"]["steps"]
    (shown,) = [step for step in steps if "make --silent diff BASE=HEAD^1" in step.get("run", "")]
    assert "github.event_name == 'pull_request'" in shown["if"]
    assert steps[0]["with"]["fetch-depth"] == 2
    bin_folder = repository / ".venv" / "bin"  # as `make setup` would fill it
    bin_folder.mkdir(parents=True)
    (bin_folder / "stile").symlink_to(Path(sys.executable).parent / "stile")
    (repository / ".venv" / ".stamp").touch()
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    for words in (("init", "--quiet"), ("add", "--all"), (*who, "commit", "--quiet", "--message=one")):
        assert run("git", *words, cwd=repository).returncode == 0

    same = run("make", "--silent", "diff", "BASE=HEAD", cwd=repository)
    assert (same.returncode, same.stdout) == (0, "")
    operation = repository / "endpoints" / "shop" / "orders" / "operations" / "list_orders.graphql"
    operation.write_text(operation.read_text("utf-8").replace("list_orders", "all_orders"), encoding="utf-8")
    other = run("make", "--silent", "diff", "BASE=HEAD", cwd=repository)
    assert other.returncode == 0
    assert "\n-list_orders  prescribed" in other.stdout
    assert "\n+all_orders  prescribed" in other.stdout
    assert run("make", "--silent", "diff", "BASE=gone", cwd=repository).returncode != 0


@pytest.mark.parametrize("sort", ["file", "folder", "link"])
def test_nothing_is_overwritten(workplace: Path, stile: Stile, wheel: Path, sort: str) -> None:
    there = workplace / "there"
    match sort:
        case "file":
            there.touch()
        case "folder":
            there.mkdir()
        case _:
            there.symlink_to("gone")

    done = stile("new", "there", "--wheel", str(wheel))

    assert (done.code, done.err) == (1, "there exists already: nothing was written; --update updates a repository\n")
    assert list(workplace.iterdir()) == [there]
    assert not there.is_dir() or not list(there.iterdir())


def wheel_with(folder: Path, **files: str) -> Path:
    file = folder / WHEEL
    with ZipFile(file, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file


def test_a_file_that_is_not_the_wheel_of_this_release_is_refused(workplace: Path, stile: Stile, tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    no_zip = tmp_path / "text" / WHEEL
    no_zip.write_text("", encoding="utf-8")
    other = tmp_path / "stile_mcp-9.9.9-py3-none-any.whl"
    empty = wheel_with(tmp_path, **{"handler/__init__.py": ""})
    (tmp_path / "hostile").mkdir()
    names = {f"{FILES}template.yaml": "", f"{FILES}../../../out": "", f"{FILES}/{tmp_path}/out": ""}
    hostile = wheel_with(tmp_path / "hostile", **names)

    for file in (no_zip, other, empty, hostile, tmp_path / "gone" / WHEEL):
        done = stile("new", "made", "--wheel", str(file))
        assert (done.code, done.out) == (1, "")
        assert done.err.replace("\n", " ").strip().startswith(f"--wheel {file}: ")
        assert done.err.endswith(f"{EXPECTED}\n")
    assert stile("new", "made").err == f"--wheel is missing: {EXPECTED}\n"
    assert list(workplace.iterdir()) == []
    assert not list(tmp_path.rglob("out"))


@pytest.mark.parametrize("sort", SORTS)
def test_a_whole_repository_is_made_or_nothing(workplace: Path, tmp_path: Path, sort: str) -> None:
    few = ("template.yaml", "samconfig.toml", "infra/build_artifact.sh", "endpoints/shop/orders/index.graphql")
    (tmp_path / "few").mkdir()
    wheel = wheel_with(tmp_path / "few", **{f"{FILES}{name}": name for name in few})

    *ended, whole = runs(sort, [], "new", "made", "--wheel", str(wheel))

    made = {*few, *FOR_EDITORS, f"vendor/{WHEEL}", "vendor/requirements.txt"}
    assert len(ended) > (len(made) if FULL else 0)
    assert {name.removeprefix("made/") for name in whole["files"]} == made
    for each in ended:
        assert each["left"] == []
        assert set(each["files"]) in (set(), set(whole["files"]))
        assert each["files"] or each["code"] == CODES[sort]
        assert each["folders"] == (["made"] if each["files"] else [])


def test_repository_checks_and_replays_its_event(repository: Path) -> None:
    require_index()

    done = run("make", f"PYTHON={sys.executable}", cwd=repository)

    assert done.returncode == 0, done.stderr
    assert "No problems in 1 endpoint\n" in done.stdout
    assert "1 of 1 test passed\n" in done.stdout
    assert "\nRan 1 test " in done.stderr
    broken = repository / "endpoints" / "shop" / "orders" / "index.graphql"
    broken.write_text(broken.read_text("utf-8").replace("total: Float!", ""), encoding="utf-8")
    assert run("make", f"PYTHON={sys.executable}", cwd=repository).returncode != 0


def test_a_wheel_of_another_digest_is_not_installed(repository: Path) -> None:
    require_index()
    with ZipFile(repository / "vendor" / WHEEL, "a") as archive:
        archive.writestr("handler/more.py", "")

    done = run("make", "setup", f"PYTHON={sys.executable}", cwd=repository)

    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr


def test_repository_is_valid_for_sam_and_builds_the_function(repository: Path) -> None:
    require_index()
    sam = ROOT / ".venv-sam" / "bin" / "sam"
    requires("sam", sam.exists(), "`make sam-setup` installs it")
    found = subprocess.run(["bash", "infra/find_python.sh", "3.13"], cwd=ROOT, capture_output=True, check=False)
    requires("python3.13", found.returncode == 0, "the recipe of `sam build` runs on it")
    environ = {"SAM_CLI_TELEMETRY": "0", "AWS_DEFAULT_REGION": "us-east-1"}

    for command in (("validate", "--lint"), ("build",)):
        done = run(str(sam), *command, cwd=repository, **environ)
        assert done.returncode == 0, done.stderr

    built = repository / ".aws-sam" / "build" / "StileFunction"
    assert (built / "handler" / "modules.pack").exists()
    assert (built / "handler" / "lambda_function.py").exists()
    assert (built / "stile").is_dir()
    assert not (built / "handler" / "commands").exists()
    assert not (built / "handler" / "compiler").exists()


@pytest.fixture
def site(wheel: Path, tmp_path: Path) -> Path:
    """The folder of packages as an index leaves it: the wheel's files, and no note of a file that they came from."""
    folder = tmp_path / "site"
    with ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def new_with(site: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "-m", "handler", "new", "made", cwd=folder, PYTHONPATH=str(site))


def contents(wheel: Path) -> dict[str, bytes]:
    with ZipFile(wheel) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}


def test_a_package_from_an_index_writes_a_wheel_of_its_files(site: Path, wheel: Path, workplace: Path) -> None:
    (site / "handler" / "__pycache__").mkdir(exist_ok=True)
    (site / "handler" / "__pycache__" / "left.pyc").touch()
    for name in ("INSTALLER", "REQUESTED", "direct_url.json"):
        (site / INFO / name).touch()

    done = new_with(site, workplace)

    assert (done.returncode, done.stderr) == (0, "")
    made = workplace / "made" / "vendor" / WHEEL
    assert contents(made) == contents(wheel)
    digest = hashlib.sha256(made.read_bytes()).hexdigest()
    assert digest in (workplace / "made" / "vendor" / "requirements.txt").read_text("utf-8")
    assert new_with(site, workplace).returncode == 1
    (workplace / "made").rename(workplace / "first")
    assert new_with(site, workplace).returncode == 0
    assert made.read_bytes() == (workplace / "first" / "vendor" / WHEEL).read_bytes()
    again = pip(Path(sys.executable).parent, "install", "-q", "--no-deps", "--target", str(workplace / "t"), str(made))
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize("name", [f"{FILES}template.yaml", "handler/server/mcp/revisions.py", f"{FILES}gitignore"])
def test_an_installed_file_that_differs_goes_into_no_repository(site: Path, workplace: Path, name: str) -> None:
    if name.endswith("gitignore"):
        (site / name).unlink()
    else:
        (site / name).write_text((site / name).read_text("utf-8") + "\n", encoding="utf-8")

    done = new_with(site, workplace)

    assert (done.returncode, done.stdout) == (1, "")
    assert " ".join(done.stderr.split()) == f"{name}: expected the file as it was installed: install Stile again"
    assert list(workplace.iterdir()) == []
