"""CONTRIBUTING.md names the targets and folders that there are, and CHANGELOG.md keeps its form."""

from __future__ import annotations

import re
import subprocess

from handler import __version__
from tests.conftest import ROOT
from tests.docs.pages import first_column, read, section

TARGETS = re.findall(r"^([a-z-]+):.*## ", read("Makefile"), re.MULTILINE)


def test_targets_of_the_page_are_targets_of_make() -> None:
    targets = first_column(section(read("CONTRIBUTING.md"), "Targets of make"))

    assert set(targets) <= set(TARGETS)
    assert len(targets) == len(set(targets))


def test_results_that_make_names_are_linked() -> None:
    results = re.findall(r"## .*?((?:tests|benchmarks|docs)/[\w/-]+\.md)", read("Makefile"))

    assert len(results) > 5
    assert [file for file in results if f"]({file})" not in section(read("CONTRIBUTING.md"), "Targets of make")] == []


def test_places_of_recipes_are_there() -> None:
    text = section(read("CONTRIBUTING.md"), "Recipes") + section(read("CONTRIBUTING.md"), "Where would I change …")
    places = re.findall(r"`((?:handler|docs|tests)/[^`]+)`", text)

    assert [place for place in places if not (ROOT / place).exists()] == []
    assert len(re.findall(r"^\*\*", text, re.MULTILINE)) == 5


def test_names_of_recipes_stand_in_the_code() -> None:
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "handler").rglob("*.py"))
    names = re.findall(r"`@?(\w+)`", section(read("CONTRIBUTING.md"), "Recipes"))

    assert [name for name in names if name not in code] == []


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
    unreleased, *released = re.findall(r"^## (.+)$", text, re.MULTILINE)

    assert unreleased == "[Unreleased]"
    assert [each for each in released if not re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", each)] == []
    assert not released or released[0].startswith(f"[{__version__}] - ")
    assert set(re.findall(r"^### (.+)$", text, re.MULTILINE)) <= {
        "Added", "Changed", "Deprecated", "Removed", "Fixed", "Security",
    }  # fmt: skip


def test_examples_page_names_every_example() -> None:
    page = read("examples/README.md")
    folders = [path.name for path in (ROOT / "examples").iterdir() if path.is_dir() and path.name != "__pycache__"]

    assert [folder for folder in folders if f"]({folder}/" not in page] == []
