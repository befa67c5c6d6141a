"""CONTRIBUTING.md names the targets and folders that there are, and CHANGELOG.md keeps its form."""

from __future__ import annotations

import re
import subprocess

from handler import __version__
from tests.conftest import ROOT
from tests.docs.pages import first_column, read, section

TARGETS = re.findall(r"^([a-z-]+):.*## ", read("Makefile"), re.MULTILINE)


def test_targets_are_all_that_make_lists() -> None:
    page = section(read("CONTRIBUTING.md"), "Targets of make")

    assert sorted(first_column(page)) == sorted(TARGETS)


def test_folders_are_there() -> None:
    folders = first_column(section(read("CONTRIBUTING.md"), "Layout"))

    assert [folder for folder in folders if not (ROOT / folder).is_dir()] == []
    assert len(folders) > 10


def test_folders_at_the_top_are_in_the_layout() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = listed.stdout.splitlines()
    layout = first_column(section(read("CONTRIBUTING.md"), "Layout"))

    top = {file.partition("/")[0] for file in files if "/" in file and not file.startswith(".")}
    assert top == {folder.partition("/")[0] for folder in layout}


def test_changes_are_unreleased_until_a_version_is() -> None:
    text = read("CHANGELOG.md")

    assert __version__ == "0.1.0"
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["[Unreleased]"]
    assert set(re.findall(r"^### (.+)$", text, re.MULTILINE)) <= {
        "Added", "Changed", "Deprecated", "Removed", "Fixed", "Security",
    }  # fmt: skip


def test_examples_page_names_every_example() -> None:
    page = read("examples/README.md")
    folders = [path.name for path in (ROOT / "examples").iterdir() if path.is_dir() and path.name != "__pycache__"]

    assert [folder for folder in folders if f"]({folder}/" not in page] == []
