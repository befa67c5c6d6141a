"""The report of differences: for a terminal, and as Markdown for a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from handler.commands.changes.change import Change
from handler.commands.changes.endpoint_changes import EndpointChanges
from handler.commands.terminal.console import one_line
from handler.text.sentences import counted

MAX_MARKDOWN_CHARS = 60_000
"""Length of the Markdown. GitHub takes comments of 65,536 characters."""

MAX_SPAN_CHARS = 600
"""Length of one text in the Markdown, so that none takes the place of all others."""

MOST_NAMED = 8
"""Coordinates that the report names of one difference, if not all are asked for. JSON has all of them."""

REACH = ("reach-gained", "tool-opened", "tool-condition", "reach-unknown")

HEADINGS = (
    "Open to everybody",
    "New root types",
    "Newly reachable",
    "More open",
    "Breaking",
    "Other differences",
    "Ignored",
)


class _Section(NamedTuple):
    heading: str
    changes: Sequence[Change]


def sections_of(changes: Iterable[Change]) -> list[_Section]:
    """Return the differences below headings, what everybody newly reaches first. No heading is without differences.

    An ignored difference that opens something stays where it is, with its reason.
    """
    found: dict[str, list[Change]] = {heading: [] for heading in HEADINGS}
    for each in changes:
        found[_heading(each)].append(each)
    return [_Section(heading, some) for heading, some in found.items() if some]


def _heading(change: Change) -> str:
    if change.opening:
        return "Open to everybody" if change.for_everybody else "New root types"
    if change.code in REACH:
        return "Newly reachable"
    if change.opens:
        return "More open"
    if change.ignored:
        return "Ignored"
    return "Breaking" if change.breaking else "Other differences"


def summary(of: EndpointChanges) -> str:
    """Return the numbers of differences in one line."""
    breaking, opening = sum(each.breaking for each in of.changes), sum(each.opening for each in of.changes)
    openings = f", {counted(opening, 'opening')}" if opening else ""
    return f"{of.endpoint}: {counted(len(of.changes), 'difference')}, {breaking} breaking{openings}"


def text_lines(of: EndpointChanges, *, full: bool) -> Iterator[str]:
    """Yield the lines of one endpoint for a terminal."""
    yield one_line(summary(of))
    for section in sections_of(of.changes):
        yield f"  {section.heading}:"
        for change in section.changes:
            yield f"    {one_line(change.line())}"
            yield from (f"        {one_line(line)}" for line in _details(change, most=0 if full else MOST_NAMED))


def _details(change: Change, *, most: int) -> Iterator[str]:
    yield from change.rules
    if not most and len(change.callers) > 1:
        yield f"for {', '.join(change.callers)}"
    names = change.coordinates if not most else change.coordinates[:most]
    more = len(change.coordinates) - len(names)
    if len(change.coordinates) > 1:
        yield ", ".join(names) + (f" and {more:,} more" if more else "")


def markdown(found: Sequence[EndpointChanges], *, notes: Sequence[str] = ()) -> str:
    """Return the differences as Markdown of bounded length, with the number of lines that are left out.

    Every text of an author or a schema stands in a code span, where nothing is markup, a link or a mention.
    """
    lines = list(_markdown_lines(found, notes))
    size, kept = 0, []
    for line in lines:
        size += len(line) + 1
        if size > MAX_MARKDOWN_CHARS - 200:
            break
        kept.append(line)
    left = len([line for line in lines[len(kept) :] if line.startswith("- ")])
    if left:
        kept += ["", f"{left:,} more differences are left out here: `stile diff` prints all."]
    return "\n".join(kept) + "\n"


def _markdown_lines(found: Sequence[EndpointChanges], notes: Sequence[str]) -> Iterator[str]:
    differing = [each for each in found if not each.is_empty]
    breaking = sum(each.breaking for each in differing)
    yield f"## Differences of {counted(len(differing), 'endpoint')}, {breaking} of them breaking"
    for each in sorted(differing, key=lambda one: (not one.opening, not one.breaking)):
        yield ""
        yield f"### {code_span(summary(each))}"
        for section in sections_of(each.changes):
            yield ""
            yield f"#### {section.heading}"
            yield ""
            for change in section.changes:
                mark = ("**open** " if change.opening else "") + ("**breaking** " if change.breaking else "")
                reason = f" — ignored: {code_span(change.ignored)}" if change.ignored else ""
                yield f"- {mark}{code_span(change.sentence)} ({change.code}){reason}"
                yield from (f"  - {code_span(line)}" for line in _details(change, most=MOST_NAMED))
    yield from (f"\n{code_span(note)}" for note in notes)


def code_span(text: str) -> str:
    """Return a text as a code span of Markdown, in which nothing of the text is markup.

    Source: CommonMark, "Code spans".
    """
    plain = one_line(text) or " "
    plain = plain if len(plain) <= MAX_SPAN_CHARS else f"{plain[:MAX_SPAN_CHARS]}…"
    fence = "`" * (max(map(len, re.findall("`+", plain)), default=0) + 1)
    padded = f" {plain} " if plain.startswith("`") or plain.endswith("`") else plain
    return f"{fence}{padded}{fence}"
