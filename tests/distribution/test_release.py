"""`make release-check` proves a release, and finds what is not ready."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import urllib3

from handler import __version__
from tests.conftest import ROOT
from tests.distribution.builds import copy_tree
from tests.distribution.environments import require_index, run
from tests.operate.programs import program
from tests.support.require import requires

RELEASE = program("release_check")
NOTES = f"## [{__version__}] - 2026-01-31\n\n### Added\n\n- A first tool.\n"
TODAY = f"# Changelog\n\n## [Unreleased]\n\n{NOTES}"

BUILT_WITH_ITS_PATH = """\
from pathlib import Path
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

class Hook(BuildHookInterface):
    def initialize(self, version, build_data):
        Path(self.root, "handler", "where.txt").write_text(self.root)
        build_data["artifacts"].append("handler/where.txt")

def get_build_hook():
    return Hook
"""
PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "stile-mcp"
dynamic = ["version"]
[tool.hatch.version]
path = "handler/__init__.py"
[tool.hatch.build.targets.wheel]
packages = ["handler"]
"""


def commit(folder: Path) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    for words in (("init", "--quiet"), ("add", "--all"), (*who, "commit", "--quiet", "--message=one")):
        subprocess.run(["git", *words], cwd=folder, check=True)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A repository with a package of one module, ready for a release."""
    folder = tmp_path / "small"
    (folder / "handler").mkdir(parents=True)
    (folder / "handler" / "__init__.py").write_text(f'__version__ = "{__version__}"\n', encoding="utf-8")
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (folder / "CHANGELOG.md").write_text(TODAY, encoding="utf-8")
    commit(folder)
    return folder


def test_a_commit_that_is_ready_has_no_problem(small: Path) -> None:
    assert list(RELEASE.problems_of_commit(small)) == []


def test_a_folder_without_a_commit_is_not_ready(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(small / ".git")

    assert RELEASE.main(["--root", str(small), "--packages", str(tmp_path)]) == 1
    assert "not ready: git status --porcelain: exit code 128: fatal: not a git repo" in capsys.readouterr().err


@pytest.mark.parametrize(
    "changelog",
    [
        "# Changelog\n\n## [Unreleased]\n",
        TODAY.replace(f"[{__version__}]", "[9.9.9]"),
        TODAY.replace(" - 2026-01-31", ""),
        TODAY.partition("\n\n### Added")[0] + "\n\n## [0.0.1] - 2026-01-01\n\n- Before.\n",
    ],
)
def test_a_changelog_without_the_version_is_a_problem(
    small: Path, changelog: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (small / "CHANGELOG.md").write_text(changelog, encoding="utf-8")
    problems = list(RELEASE.problems_of_commit(small))

    assert len(problems) == 2
    assert f'under "## [{__version__}] - YYYY-MM-DD"' in problems[0]
    assert problems[1] == "git: expected a tree without changes, and 1 files differ, first CHANGELOG.md"
    assert RELEASE.main(["--root", str(small), "--notes", f"v{__version__}"]) == 1
    assert capsys.readouterr().out == ""


def test_notes_are_the_section_of_the_tag(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert RELEASE.main(["--root", str(small), "--notes", f"v{__version__}"]) == 0
    assert capsys.readouterr().out == "### Added\n\n- A first tool.\n"
    for tag in (__version__, "v9.9.9", ""):
        assert RELEASE.main(["--root", str(small), "--notes", tag]) == 1
        assert capsys.readouterr().out == ""


def test_builds_at_two_paths_are_compared(small: Path, tmp_path: Path) -> None:
    dist = RELEASE.build_twice(small, tmp_path / "same")
    assert len(list(dist.iterdir())) == 2

    (small / "hatch_build.py").write_text(BUILT_WITH_ITS_PATH, encoding="utf-8")
    with (small / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("[tool.hatch.build.targets.wheel.hooks.custom]\n")
    commit(small)
    with pytest.raises(RELEASE.CheckFailed, match=rf"two builds of one commit differ: stile_mcp-{__version__}-"):
        RELEASE.build_twice(small, tmp_path / "other")


@pytest.mark.parametrize("name", ["handler/notes.txt", "handler/.env", "handler/test_it.py", "handler/key.pem"])
def test_a_file_that_does_not_belong_into_the_wheel_is_a_problem(small: Path, tmp_path: Path, name: str) -> None:
    (small / name).write_text("", encoding="utf-8")
    commit(small)

    found = [each for each in RELEASE.list_contents(RELEASE.build_twice(small, tmp_path / "built")) if ".whl" in each]

    assert [each.partition(": ")[2] for each in found] == [f"{name} does not belong there"]


def test_a_file_that_the_wheel_lacks_is_a_problem(small: Path, tmp_path: Path) -> None:
    (small / "handler" / "app.html").write_text("", encoding="utf-8")
    with (small / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write('exclude = ["*.html"]\n')
    commit(small)

    found = list(RELEASE.list_contents(RELEASE.build_twice(small, tmp_path / "built")))

    assert [each.partition(": ")[2] for each in found if ".whl" in each] == ["handler/app.html is missing"]


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        ("raise SystemExit('no port')", "did not serve port 1: no port"),
        ("import time; time.sleep(99)", "did not serve port 1"),
    ],
)
def test_a_server_that_does_not_serve_fails_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, fault: str
) -> None:
    monkeypatch.setattr(RELEASE, "WAIT_S", 2)

    with (
        pytest.raises(RELEASE.CheckFailed, match=fault),
        RELEASE.running(sys.executable, "-c", program, cwd=tmp_path, ready=1),
    ):
        pass


def test_index_serves_a_package_by_its_normalized_name(tmp_path: Path) -> None:
    file = tmp_path / "Some_Package-1.0-py3-none-any.whl"
    file.write_bytes(b"wheel")

    with RELEASE.serve_index(tmp_path / "index", [file]) as index:
        assert index.startswith("http://127.0.0.1:")
        assert file.name in urllib3.request("GET", f"{index}/some-package/").data.decode()


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str, str]:
    """The exit code, the output and the problems of the whole check, on the day of a release."""
    require_index()
    tree = copy_tree(tmp_path_factory.mktemp("tree"))
    changelog = (tree / "CHANGELOG.md").read_text("utf-8")
    released = changelog.replace("## [Unreleased]\n", f"## [Unreleased]\n\n{NOTES}", 1)
    (tree / "CHANGELOG.md").write_text(released, encoding="utf-8")
    commit(tree)
    words = [str(ROOT / "infra" / "release_check.py"), "--root", str(tree)]
    done = run(sys.executable, *words, "--packages", str(RELEASE.packages_of(ROOT)), "--out", str(tree / "dist"))
    assert {file.suffix for file in (tree / "dist").iterdir()} == {".gz", ".whl"}
    return done.returncode, done.stdout, done.stderr


def test_a_release_of_this_tree_is_ready(proof: tuple[int, str, str]) -> None:
    code, printed, problems = proof

    assert (code, problems) == (0, "")
    assert printed.endswith(f"stile-mcp {__version__}: 0 problems\n")
    assert re.search(r"^Downloaded: [\d.]+ MB$", printed, re.MULTILINE)
    assert re.search(r"^ +[\d.]+ s of processor time: stile init shop/customers ", printed, re.MULTILINE)


def test_two_commands_take_a_newcomer_to_a_served_tool(proof: tuple[int, str, str]) -> None:
    requires("uv", (ROOT / ".venv-lock" / "bin" / "uvx").exists(), "`make .venv-lock/.stamp` installs it")
    _, printed, _ = proof

    assert re.search(
        rf"^ +[\d.]+ s of processor time: uvx {RELEASE.DISTRIBUTION} init shop/customers ", printed, re.MULTILINE
    )
    assert "\n          shop/customers/operations/list_customers.graphql\n" in printed


def test_a_package_that_the_index_lacks_fails_the_release(tmp_path: Path) -> None:
    require_index()
    packages = RELEASE.packages_of(ROOT)
    RELEASE.fetch_packages(ROOT, packages)
    dist = RELEASE.build_twice(ROOT, tmp_path / "built")
    files = [file for file in (*packages.iterdir(), *dist.glob("*.whl")) if not file.name.startswith("rich-")]

    with (
        RELEASE.serve_index(tmp_path / "index", files) as index,
        pytest.raises(RELEASE.CheckFailed, match="rich"),
    ):
        RELEASE.try_installed(index, tmp_path / "user", tmp_path / "no-uvx")
