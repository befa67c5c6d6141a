"""The author's guides read in one go: short paragraphs, and sentences that begin with a noun."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import FENCED, read

PAGES = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs/arguments.md",
    "docs/code-tools-reference.md",
    "docs/code-tools.md",
    "docs/confirm.md",
    "docs/endpoints.md",
    "docs/from-apollo.md",
    "docs/from-fastmcp.md",
    "docs/prompts-resources.md",
    "docs/start.md",
    "docs/tools.md",
    "docs/tutorial.md",
    "examples/README.md",
)

MAX_PARAGRAPH_LINES = 6
MAX_LINE_CHARS = 120
MAX_HEADLESS_PER_1000 = 2.0

HEADLESS = re.compile(
    r"(?:^|[.:;,(|]\s+|\b(?:and|or|of|to|for|from|with|by|on|in|is|are|see|says?|shows?|know|take|than)\s+)"
    r"(?:what(?:ever)?|who(?:m|ever)?)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""`what` and `who` without a noun before them: as the subject or object of a clause of their own."""

OPENING = re.compile(r"(?:^(?:#+ |- |\d+\. )?|[.!?:]\s+)(?:What|Who|Whom|Whoever|Whatever)\b", re.MULTILINE)


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
    words = prose(text)

    assert [each[0] for each in paragraphs(text) if len(each) > MAX_PARAGRAPH_LINES] == []
    assert OPENING.findall(words) == []
    headless = HEADLESS.findall(words)
    assert 1000 * len(headless) / len(words.split()) <= MAX_HEADLESS_PER_1000, headless


@pytest.mark.parametrize("page", PAGES)
def test_lines_of_the_page_are_wrapped(page: str) -> None:
    lines = FENCED.sub("", read(page)).splitlines()

    assert [line for line in lines if len(line) > MAX_LINE_CHARS and not line.startswith("|")] == []


def test_a_headless_clause_is_seen() -> None:
    text = """# Who calls

    Callers who may not use a tool find who can. What is hidden is gone. It shows what is wrong, and whom to ask.
    """

    assert len(HEADLESS.findall(text)) == 3
    assert len(OPENING.findall(text)) == 2
