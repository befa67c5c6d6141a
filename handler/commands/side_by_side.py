"""Several callers of one endpoint side by side, and the callers who reach one coordinate."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from handler.audience.caller_classes import MAX_CLASSES
from handler.audience.classes import CallerClass, class_of, entrances_to, find_classes
from handler.audience.closing_rules import rules_at, rules_of
from handler.audience.entrances import Entrance
from handler.audience.reach import Passage, Reach, Visitor
from handler.commands.explain_wording import (
    class_in_words,
    place_in_words,
    reasons,
    rule_in_words,
    show_line,
    show_rules,
    standing_in_words,
)
from handler.commands.terminal.console import one_line, say, show_table
from handler.compiler.provenance import Cause

MAX_CLASSES_SHOWN = 8
"""Classes of callers that are printed if not everything is asked for."""


def show_side_by_side(folder: Path, reach: Reach, visitors: Sequence[Visitor], *, tool: str | None, full: bool) -> None:
    """Print a table of tools by caller, and the reasons below it."""
    entrances = [each for each in reach.entrances if tool is None or each.name == tool]
    found = {entrance.name: [reach.standing(entrance, each) for each in visitors] for entrance in entrances}
    say(reach.compiled.bundle.endpoint, "bold")
    rows = [
        (entrance.name, *(standing_in_words(each, entrance) for each in found[entrance.name])) for entrance in entrances
    ]
    show_table("Tools by caller", ("tool", *(each.label or "no policies" for each in visitors)), rows)
    for visitor in visitors:
        if visitor.refusal:
            show_line(f"401 for {visitor.label}: {visitor.refusal}")
    for entrance in entrances:
        for standing, visitor in zip(found[entrance.name], visitors, strict=True):
            if standing.note and not visitor.refusal:
                show_line(f"{entrance.name} for {visitor.label}: {standing.note}")
            if standing.verdict == "no":
                show_line(f"{entrance.name} is not for {visitor.label}:")
                show_rules(rules_of(reach, entrance, visitor), folder, full=full)


class FieldReach:
    """The callers who reach one coordinate of an endpoint, through which entrances and by which way.

    ``classes`` has a class for each of ``visitors`` in their order; without any, all classes of callers.
    """

    def __init__(self, folder: Path, reach: Reach, coordinate: str, *, visitors: Sequence[Visitor]) -> None:
        self._folder = folder
        self._reach = reach
        self._coordinate = coordinate
        self._asked = bool(visitors)
        if visitors:
            entrances = entrances_to(reach, coordinate)
            self.classes = [class_of(reach, entrances, coordinate, each) for each in visitors]
            self._complete = True
        else:
            self.classes, self._complete = find_classes(reach, coordinate)

    def plain(self) -> dict[str, Any]:
        """Return the answer as JSON."""
        return {
            "endpoint": self._reach.compiled.bundle.endpoint,
            "coordinate": self._coordinate,
            "complete": self._complete,
            "classes": [self._plain_class(each) for each in self.classes],
        }

    def show(self, *, full: bool) -> None:
        """Print who reaches the coordinate, and the rules for those who do not."""
        say(f"{self._coordinate} of {self._reach.compiled.bundle.endpoint}", "bold")
        shown = self.classes if full else self.classes[:MAX_CLASSES_SHOWN]
        rows = [(class_in_words(each), self._through(each)) for each in shown]
        show_table("Who reaches it", ("caller", "through"), rows)
        if len(shown) < len(self.classes):
            show_line(f"{len(self.classes) - len(shown)} more classes of callers: --full shows them")
        self._show_ways()
        self._show_rules(full=full)
        if not self._complete:
            show_line(f"Not complete: the conditions have more than {MAX_CLASSES:,} combinations, or too many claims")
        if not self._asked and not self._takes_tokens():
            show_line("The endpoint names no issuer of tokens: a token stands for claims that an issuer could give")

    def mermaid(self, prefix: str) -> Iterator[str]:
        """Yield the lines of a Mermaid flowchart: callers, the ways to the coordinate, and the rules that close it.

        ``prefix`` begins the names of nodes. Labels are quoted texts without markup.
        """
        target = f"{self._coordinate} of {self._reach.compiled.bundle.endpoint}"
        yield f"  {prefix}{_label(target)}"
        for number, each in enumerate(self.classes):
            caller = f"{prefix}c{number}"
            yield f"  {caller}{_label(class_in_words(each))}"
            refusal = each.witnesses[0].refusal
            for passage in () if refusal else each.ways:
                way = f"{passage.entrance.name}{_verdict(passage)}: {passage.document or passage.path or 'its code'}"
                yield f"  {caller} -->|{_quoted(way)}| {prefix}"
            if refusal or not each.ways:
                rules = [
                    rule_in_words(cause, self._folder) for causes in self.causes(each).values() for cause in causes
                ]
                why = f"401: {refusal}" if refusal else "; ".join(dict.fromkeys(rules)) or "no tool leads there"
                yield f"  {caller} -.-x|{_quoted(why)}| {prefix}"

    def _takes_tokens(self) -> bool:
        identity = self._reach.compiled.bundle.identity
        return bool(identity.issuers or identity.trusted_apis)

    def _through(self, found: CallerClass) -> str:
        refusal = found.witnesses[0].refusal
        if refusal:
            return f"- (401: {refusal})"
        ways = [f"{each.entrance.name}{_verdict(each)}" for each in found.passages if each.verdict != "no"]
        return ", ".join(ways) or "-"

    def _show_ways(self) -> None:
        """Print the way through each entrance once, for the first caller who has one."""
        ways: dict[str, Passage] = {}
        for each in self.classes:
            for passage in each.ways:
                ways.setdefault(passage.entrance.name, passage)
        if not ways:
            type_ = self._coordinate.partition(".")[0]
            causes = [each.sentence for each in self._reach.compiled.warnings if each.code == "unnamed-root-type"]
            why = next((f": {each}" for each in causes if each.startswith(f'"{type_}"')), ".")
            say(f"No caller reaches it{why}" if not self._asked else f"None of these callers reaches it{why}")
            return
        say("By which way", "bold")
        for passage in ways.values():
            way = passage.document or passage.path or "the code may ask for it in its caller's name"
            at = place_in_words(passage.entrance.place, self._folder, end="")
            show_line(f"{passage.entrance.name}{f' ({at})' if at and not passage.document else ''}: {way}", indent=2)

    def _show_rules(self, *, full: bool) -> None:
        found = self._rules()
        if found:
            say("Hidden from the others by", "bold")
            show_rules(found, self._folder, full=full)

    def _rules(self) -> dict[str, list[Cause]]:
        """Return the rules that keep classes of callers from the coordinate, by hidden coordinates."""
        found: dict[str, list[Cause]] = {}
        for each in self.classes:
            for coordinate, causes in self.causes(each).items():
                known = found.setdefault(coordinate, [])
                known += [cause for cause in causes if cause not in known]
        return found

    def causes(self, found: CallerClass) -> dict[str, list[Cause]]:
        """Return the rules for one class, through all entrances that are closed to it."""
        joined: dict[str, list[Cause]] = {}
        visitor = found.witnesses[0]
        for entrance in self._closed(found) if not visitor.refusal else ():
            for coordinate, causes in rules_at(self._reach, entrance, self._coordinate, visitor).items():
                known = joined.setdefault(coordinate, [])
                known += [cause for cause in causes if cause not in known]
        return joined

    def _closed(self, found: CallerClass) -> list[Entrance]:
        """Return the entrances closed to a class; if no entrance leads there for anybody, those that take documents."""
        closed = [each.entrance for each in found.passages if not each.is_open and each.entrance.kind != "code"]
        nowhere = not any(each.entrance.kind != "code" for each in found.passages)
        return [each for each in self._reach.entrances if each.takes_documents] if nowhere else closed

    def _plain_class(self, found: CallerClass) -> dict[str, Any]:
        return {
            "callers": [
                {"as": each.label, "claims": each.principal.claims, "refusal": each.refusal} for each in found.witnesses
            ],
            "reaches": bool(found.ways) and not found.witnesses[0].refusal,
            "through": [
                {
                    "name": each.entrance.name,
                    "kind": each.entrance.kind,
                    "verdict": each.verdict,
                    "note": each.note,
                    "document": each.document,
                    "path": each.path,
                }
                for each in found.passages
                if each.verdict != "no"
            ],
            "because": {name: list(each) for name, each in reasons(self.causes(found), self._folder).items()},
        }


def _label(text: str) -> str:
    return f"[{_quoted(text)}]"


def _quoted(text: str) -> str:
    """Return a text of Mermaid in quotes. Characters that have a meaning in Mermaid or HTML become entities."""
    return '"' + re.sub(r"[#&<>\"`\\]", lambda found: f"#{ord(found[0])};", one_line(text)) + '"'


def _verdict(passage: Passage) -> str:
    match passage.verdict:
        case "yes":
            return ""
        case "call":
            return " (variables decide)"
        case "may ask":
            return " (may ask)"
        case _:
            return f" ({passage.verdict}: {passage.note})"
