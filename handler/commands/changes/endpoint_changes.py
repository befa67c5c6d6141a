"""The differences between two versions of an endpoint, and their report for a terminal and for a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from handler.audience.caller_classes import MAX_CLASSES
from handler.audience.ways import Published
from handler.bundle.model import Bundle
from handler.commands.changes.bundle_changes import content_changes, renamed_tools, settings_changes, tool_changes
from handler.commands.changes.change import Change
from handler.commands.changes.reach_changes import ReachChanges
from handler.commands.console import one_line
from handler.text.sentences import counted, cut_text, some

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


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointChanges:
    """All differences of one endpoint, those that open something first."""

    endpoint: str
    changes: tuple[Change, ...]

    @property
    def is_empty(self) -> bool:
        """True if there is no difference."""
        return not self.changes

    @property
    def breaking(self) -> bool:
        """True if a difference is breaking and not ignored."""
        return any(each.breaking for each in self.changes)

    @property
    def opening(self) -> bool:
        """True if ``publish`` needs ``--allow-open``."""
        return any(each.opening for each in self.changes)

    def lines(self) -> list[str]:
        """Return the differences, a line for each."""
        return [each.line() for each in self.changes]

    def as_json(self) -> dict[str, Any]:
        """Return the differences as JSON."""
        return {
            "endpoint": self.endpoint,
            "breaking": self.breaking,
            "opening": self.opening,
            "changes": [each.as_json() for each in self.changes],
        }


def compare(before: Published | None, after: Published | None, *, most_classes: int = MAX_CLASSES) -> EndpointChanges:
    """Compare two versions of an endpoint; ``None`` for an endpoint that does not exist.

    ``most_classes`` bounds the classes of callers that are compared.

    Raises:
        StorageError, BundleError: a schema index that the comparison needs cannot be loaded.
    """
    if before is None or after is None:
        return _of_one(before, after, most_classes=most_classes)
    if before.bundle == after.bundle:
        return EndpointChanges(endpoint=after.bundle.endpoint, changes=())
    if before.bundle.index == after.bundle.index:
        before = replace(before, load_index=after.load_index)  # the same bytes: a folder's need no storage
    reach = ReachChanges(before, after, renamed=renamed_tools(before.bundle, after.bundle), most_classes=most_classes)
    pair = before.bundle, after.bundle
    others = [*tool_changes(*pair), *content_changes(*pair), *settings_changes(*pair)]
    opened = (replace(each, for_everybody=reach.opens_to_everybody(each)) for each in others)
    changes = [*reach.changes(), *opened]
    if not changes:  # comments in files differ, or a part that no comparison is about
        names = [each.name for each in fields(Bundle) if each.name != "sources"]
        parts = [name for name in names if getattr(before.bundle, name) != getattr(after.bundle, name)]
        of_rules = f"no caller gains or loses anything; the text of the {' and '.join(parts)} changed"
        sentence = of_rules if {*parts} <= {"conditions", "guards"} else f"other differences: {', '.join(parts)}"
        changes = [Change("other-changed", ", ".join(parts), sentence)] if parts else []
    ordered = sorted((_with_reason(each, after) for each in changes), key=_rank)
    return EndpointChanges(endpoint=after.bundle.endpoint, changes=tuple(ordered))


def _of_one(before: Published | None, after: Published | None, *, most_classes: int) -> EndpointChanges:
    version = after or before
    if version is None:
        return EndpointChanges(endpoint="", changes=())
    name, tools = version.bundle.endpoint, counted(len(version.bundle.tools), "tool")
    code, fate = ("endpoint-added", "is new") if after else ("endpoint-removed", "is gone")
    is_open = after is not None and after.bundle.access.anonymous == "allow"
    changes = []
    if after:  # it is compared with an endpoint without tools
        graphql = replace(after.bundle.graphql, mode="off")
        nothing = replace(after, bundle=replace(after.bundle, tools=(), graphql=graphql))
        reach = ReachChanges(nothing, after, renamed={}, most_classes=most_classes).changes()
        changes = [
            replace(each, rules=tuple(rule for rule in each.rules if rule.startswith("now: ")))
            for each in reach
            if each.code == "reach-gained"
        ]
    changes.append(Change(code, name, f"the endpoint {name} {fate}, with {tools}", for_everybody=is_open))
    return EndpointChanges(endpoint=name, changes=tuple(_with_reason(each, version) for each in changes))


def _with_reason(change: Change, after: Published) -> Change:
    """Return a difference with the reason of the author who ignores it, if any."""
    reasons = (each.reason for each in after.ignores if each.covers(change.code, change.coordinates or (change.about,)))
    return replace(change, ignored=next(reasons, ""))


def _rank(change: Change) -> tuple[bool, bool, bool, bool]:
    """Order openings first, then reach, then other differences that open something, then those that break."""
    is_reach = bool(change.coordinates) and (bool(change.callers) or change.opens)
    return not change.opening, not is_reach, not change.opens, not change.breaking


def _sections_of(changes: Iterable[Change]) -> Iterator[tuple[str, Sequence[Change]]]:
    """Yield the differences below headings, gains of everybody's reach first. No heading is without differences.

    An ignored difference that opens something stays where it is, with its reason.
    """
    sections: dict[str, list[Change]] = {heading: [] for heading in HEADINGS}
    for change in changes:
        if change.opening:
            heading = "Open to everybody" if change.for_everybody else "New root types"
        elif change.code in REACH:
            heading = "Newly reachable"
        elif change.opens:
            heading = "More open"
        elif change.ignored:
            heading = "Ignored"
        else:
            heading = "Breaking" if change.breaking else "Other differences"
        sections[heading].append(change)
    return ((heading, below) for heading, below in sections.items() if below)


def _summary(of: EndpointChanges) -> str:
    """Return the numbers of differences in one line."""
    breaking, opening = sum(each.breaking for each in of.changes), sum(each.opening for each in of.changes)
    openings = f", {counted(opening, 'opening')}" if opening else ""
    return f"{of.endpoint}: {counted(len(of.changes), 'difference')}, {breaking} breaking{openings}"


def text_lines(of: EndpointChanges, *, full: bool) -> Iterator[str]:
    """Yield the lines of one endpoint for a terminal."""
    yield one_line(_summary(of))
    for heading, changes in _sections_of(of.changes):
        yield f"  {heading}:"
        for change in changes:
            yield f"    {one_line(change.line())}"
            yield from (f"        {one_line(line)}" for line in _details(change, most=0 if full else MOST_NAMED))


def _details(change: Change, *, most: int) -> Iterator[str]:
    yield from change.rules
    if not most and len(change.callers) > 1:
        yield f"for {', '.join(change.callers)}"
    if len(change.coordinates) > 1:
        yield some(change.coordinates, most=most or len(change.coordinates))


def markdown(differences: Sequence[EndpointChanges], *, notes: Sequence[str] = ()) -> str:
    """Return the differences as Markdown of bounded length, with the number of lines that are left out.

    Every text of an author or a schema stands in a code span, where nothing is markup, a link or a mention.
    """
    lines = list(_markdown_lines(differences, notes))
    size, fitting = 0, []
    for line in lines:
        size += len(line) + 1
        if size > MAX_MARKDOWN_CHARS - 200:
            break
        fitting.append(line)
    rest = len([line for line in lines[len(fitting) :] if line.startswith("- ")])
    if rest:
        fitting += ["", f"{rest:,} more differences are left out here: `stile diff` prints all."]
    return "\n".join(fitting) + "\n"


def _markdown_lines(differences: Sequence[EndpointChanges], notes: Sequence[str]) -> Iterator[str]:
    differing = [each for each in differences if not each.is_empty]
    breaking = sum(each.breaking for each in differing)
    yield f"## Differences of {counted(len(differing), 'endpoint')}, {breaking} of them breaking"
    for each in sorted(differing, key=lambda one: (not one.opening, not one.breaking)):
        yield from ("", f"### {code_span(_summary(each))}")
        for heading, changes in _sections_of(each.changes):
            yield from ("", f"#### {heading}", "")
            for change in changes:
                mark = ("**open** " if change.opening else "") + ("**breaking** " if change.breaking else "")
                reason = f" — ignored: {code_span(change.ignored)}" if change.ignored else ""
                yield f"- {mark}{code_span(change.sentence)} ({change.code}){reason}"
                yield from (f"  - {code_span(line)}" for line in _details(change, most=MOST_NAMED))
    yield from (f"\n{code_span(note)}" for note in notes)


def code_span(text: str) -> str:
    """Return a text as a code span of Markdown, in which nothing of the text is markup.

    Source: CommonMark, "Code spans".
    """
    plain = cut_text(one_line(text) or " ", MAX_SPAN_CHARS)
    fence = "`" * (max(map(len, re.findall("`+", plain)), default=0) + 1)
    padded = f" {plain} " if plain.startswith("`") or plain.endswith("`") else plain
    return f"{fence}{padded}{fence}"
