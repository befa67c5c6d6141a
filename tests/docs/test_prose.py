"""Every page and docstring reads in one go: short paragraphs, and sentences that begin with a noun or a verb."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import FENCED, read
from tests.docs.test_links import markdown_files
from tests.support.figures import CODE, all_docstrings, headless_per_1000
from tests.support.figures import OPENING as OPENING_OF_A_DOCSTRING
from tests.support.rooms import read_modules

PAGE = re.compile(r"[A-Z]+\.md|docs/.*\.md|examples/(?:.*/)?README\.md")
PAGES = [file for file in markdown_files() if PAGE.fullmatch(file)]

MAX_PARAGRAPH_LINES = 6
MAX_LINE_CHARS = 120
MAX_HEADLESS_PER_1000 = 2.0
"""Of `what`, `who`, `whom` and `whoever`, as `make figures` counts them."""

OPENING = re.compile(r"(?:^(?:#+ |- |\d+\. )?|[.!?:]\s+)(?:What|Who|Whom|Whoever|Whatever|Whether)\b", re.MULTILINE)
"""A heading, item or sentence that begins with a headless clause."""


def prose(text: str) -> str:
    """A page without code, targets of links and comments."""
    text = re.sub(r"<!--.*?-->", "", FENCED.sub("", text), flags=re.DOTALL)
    return re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "code", text))


def paragraphs(text: str) -> list[list[str]]:
    """The lines of each paragraph and list item, without tables and headings."""
    found: list[list[str]] = [[]]
    for line in FENCED.sub("", text).splitlines():
        if not line.strip() or line.startswith(("|", "#")):
            found.append([])
        elif re.match(r"\s*(?:[-*]|\d+\.) ", line):
            found.append([line])
        else:
            found[-1].append(line)
    return [each for each in found if each]


@pytest.mark.parametrize("page", PAGES)
def test_page_reads_in_one_go(page: str) -> None:
    text = read(page)

    assert [each[0] for each in paragraphs(text) if len(each) > MAX_PARAGRAPH_LINES] == []
    assert OPENING.findall(prose(text)) == []
    assert headless_per_1000(CODE.sub(" ", text)) <= MAX_HEADLESS_PER_1000


@pytest.mark.parametrize("page", PAGES)
def test_lines_of_the_page_are_wrapped(page: str) -> None:
    lines = FENCED.sub("", read(page)).splitlines()

    assert [line for line in lines if len(line) > MAX_LINE_CHARS and not line.startswith("|")] == []


def test_docstrings_begin_with_a_noun_or_a_verb() -> None:
    docstrings = list(all_docstrings(read_modules()))

    assert [text.splitlines()[0] for text in docstrings if OPENING_OF_A_DOCSTRING.match(text)] == []
    assert headless_per_1000(" ".join(docstrings)) <= MAX_HEADLESS_PER_1000


def test_headless_clauses_are_seen() -> None:
    text = """# Who calls

    Callers who may not use a tool ask on. What is hidden is gone. Whether it was there, nobody knows.
    """

    assert len(OPENING.findall(text)) == 3
    assert headless_per_1000("Say who calls, and what for.") == pytest.approx(1_000 * 2 / 6)
