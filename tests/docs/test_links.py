"""Every link and anchor between the Markdown files of the repository leads somewhere."""

from __future__ import annotations

import posixpath
import re
import subprocess
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.conftest import ROOT
from tests.docs.pages import FENCED, read

LINK = re.compile(r"(?<!\\)\[(?:[^\[\]]|\n(?!\n))*\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.+?)\s*$", re.MULTILINE)

# Written by programs, or others' words.
NOT_READ = ("tests/projects/", "tests/mistakes/", "tests/corpora/")


def markdown_files() -> list[str]:
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    found = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return sorted({file for file in found if not file.startswith(NOT_READ) and (ROOT / file).exists()})


def links(text: str) -> Iterator[str]:
    """The targets of a page's links and pictures, without those to other sites and those in code."""
    plain = re.sub(r"`[^`\n]*`", "code", FENCED.sub("", text))
    for target in LINK.findall(plain):
        if not re.match(r"[a-z][a-z+.-]*:", target):
            yield target


def anchors(text: str) -> set[str]:
    """The anchor of each heading, as code hosts make them."""
    seen: Counter[str] = Counter()
    found = set()
    for heading in HEADING.findall(FENCED.sub("", text)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return found


def broken(page: str, text: str) -> list[str]:
    """The links of a page that lead nowhere."""
    wrong = []
    for target in links(text):
        name, _, anchor = target.partition("#")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(page), name)) if name else page
        if not (ROOT / file).exists() or (
            anchor and (not file.endswith(".md") or anchor not in anchors(text if file == page else read(file)))
        ):
            wrong.append(target)
    return wrong


@pytest.mark.parametrize("page", markdown_files())
def test_every_link_leads_somewhere(page: str) -> None:
    assert broken(page, read(page)) == []


INDEXES = ("README.md", "docs/README.md", "docs/design/overview.md")
"""The pages that list others. The first links the rest."""


def linked_from(page: str) -> set[str]:
    """The files that a page links."""
    targets = (target.partition("#")[0] for target in links(read(page)))
    return {posixpath.normpath(posixpath.join(posixpath.dirname(page), name)) for name in targets if name}


def test_every_page_is_linked_from_an_index() -> None:
    linked = set().union(*map(linked_from, INDEXES))
    pages = [file for file in markdown_files() if re.fullmatch(r"[A-Z]+\.md|docs/[\w/-]+\.md", file)]

    assert linked_from("README.md").issuperset(INDEXES[1:])
    assert [page for page in pages if page not in linked | {"README.md"}] == []


def test_index_by_task_has_every_guide_and_reference() -> None:
    pages = [file for file in markdown_files() if re.fullmatch(r"docs/(?!design/)[\w/-]+\.md", file)]

    assert [page for page in pages if page not in linked_from("docs/README.md") | {"docs/README.md"}] == []


def test_a_broken_link_is_seen() -> None:
    text = "# A `code` & more\n\n[a](#a-code--more) [b](#nowhere)\n[c](docs/nowhere.md) [d](docs/tools.md#no)\n"

    assert broken("README.md", text) == ["#nowhere", "docs/nowhere.md", "docs/tools.md#no"]
