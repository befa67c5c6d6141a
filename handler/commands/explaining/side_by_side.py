"""Several callers of one endpoint side by side, and the callers who reach one coordinate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from handler.commands.console import say, show_table
from handler.commands.explaining.wording import (
    class_in_words,
    place_in_words,
    reasons,
    show_line,
    show_rules,
    standing_in_words,
)
from handler.commands.reach.classes import MAX_CLASSES, CallerClass, find_classes
from handler.commands.reach.doors import Door
from handler.commands.reach.reach import Passage, Reach, Visitor
from handler.compiler.provenance import Cause
from handler.sentences import counted

MAX_CLASSES_SHOWN = 8
"""Classes of callers that are printed if not everything is asked for."""


def show_side_by_side(folder: Path, reach: Reach, visitors: Sequence[Visitor], *, tool: str | None, full: bool) -> None:
    """Print a table of tools by caller, and the reasons below it."""
    doors = [each for each in reach.doors if tool is None or each.name == tool]
    found = {door.name: [reach.standing(door, each) for each in visitors] for door in doors}
    say(reach.compiled.bundle.endpoint, "bold")
    rows = [(door.name, *(standing_in_words(each, door) for each in found[door.name])) for door in doors]
    show_table("Tools by caller", ("tool", *(each.label or "no policies" for each in visitors)), rows)
    for visitor in visitors:
        if visitor.refusal:
            show_line(f"401 for {visitor.label}: {visitor.refusal}")
    for door in doors:
        for standing, visitor in zip(found[door.name], visitors, strict=True):
            if standing.note and not visitor.refusal:
                show_line(f"{door.name} for {visitor.label}: {standing.note}")
            if standing.verdict == "no":
                show_line(f"{door.name} is not for {visitor.label}:")
                show_rules(reach.causes(door, visitor), folder, full=full)


class FieldReach:
    """The callers who reach one coordinate of an endpoint, through which doors and by which way."""

    def __init__(self, folder: Path, reach: Reach, coordinate: str, *, visitors: Sequence[Visitor]) -> None:
        self._folder = folder
        self._reach = reach
        self._coordinate = coordinate
        self._asked = bool(visitors)
        if visitors:
            doors = [door for door in reach.doors if door.kind == "code" or reach.names(door, coordinate)]
            self._classes = [
                CallerClass(witnesses=(each,), passages=tuple(reach.passage(door, coordinate, each) for door in doors))
                for each in visitors
            ]
            self._complete = True
        else:
            self._classes, self._complete = find_classes(reach, coordinate)

    def plain(self) -> dict[str, Any]:
        """Return the answer as JSON."""
        return {
            "endpoint": self._reach.compiled.bundle.endpoint,
            "coordinate": self._coordinate,
            "complete": self._complete,
            "classes": [self._plain_class(each) for each in self._classes],
        }

    def show(self, *, full: bool) -> None:
        """Print who reaches the coordinate, and the rules for those who do not."""
        say(f"{self._coordinate} of {self._reach.compiled.bundle.endpoint}", "bold")
        shown = self._classes if full else self._classes[:MAX_CLASSES_SHOWN]
        rows = [(class_in_words(each), self._through(each)) for each in shown]
        show_table("Who reaches it", ("caller", "through"), rows)
        if len(shown) < len(self._classes):
            show_line(f"{len(self._classes) - len(shown)} more classes of callers: --full shows them")
        self._show_ways()
        self._show_rules(full=full)
        if not self._complete:
            show_line(f"Not complete: the conditions have more than {MAX_CLASSES} combinations, or too many claims")
        if not self._asked and not self._takes_tokens():
            show_line("The endpoint names no issuer of tokens: a token stands for claims that an issuer could give")

    def _takes_tokens(self) -> bool:
        identity = self._reach.compiled.bundle.identity
        return bool(identity.issuers or identity.trusted_apis)

    def _through(self, found: CallerClass) -> str:
        refusal = found.witnesses[0].refusal
        if refusal:
            return f"- (401: {refusal})"
        ways = [f"{each.door.name}{_verdict(each)}" for each in found.passages if each.verdict != "no"]
        return ", ".join(ways) or "-"

    def _show_ways(self) -> None:
        """Print the way through each door once, for the first caller who has one."""
        ways: dict[str, Passage] = {}
        for each in self._classes:
            for passage in each.ways:
                ways.setdefault(passage.door.name, passage)
        if not ways:
            say("No caller reaches it." if not self._asked else "None of these callers reaches it.")
            return
        say("By which way", "bold")
        for passage in ways.values():
            way = passage.document or passage.path or "the code may ask for it in its caller's name"
            at = place_in_words(passage.door.place, self._folder, end="")
            show_line(f"{passage.door.name}{f' ({at})' if at and not passage.document else ''}: {way}", indent=2)

    def _show_rules(self, *, full: bool) -> None:
        found = self._rules()
        if found:
            say("Hidden from the others by", "bold")
            show_rules(found, self._folder, full=full)

    def _rules(self) -> dict[str, list[Cause]]:
        """Return the rules that keep classes of callers from the coordinate, by hidden coordinates."""
        found: dict[str, list[Cause]] = {}
        for each in self._classes:
            for coordinate, causes in self._causes(each).items():
                known = found.setdefault(coordinate, [])
                known += [cause for cause in causes if cause not in known]
        return found

    def _causes(self, found: CallerClass) -> dict[str, list[Cause]]:
        """Return the rules for one class, through all doors that are closed to it."""
        joined: dict[str, list[Cause]] = {}
        visitor = found.witnesses[0]
        for door in self._closed(found) if not visitor.refusal else ():
            for coordinate, causes in self._reach.causes_at(door, self._coordinate, visitor).items():
                known = joined.setdefault(coordinate, [])
                known += [cause for cause in causes if cause not in known]
        return joined

    def _closed(self, found: CallerClass) -> list[Door]:
        """Return the doors closed to a class; if no door leads there for anybody, those that take documents."""
        closed = [each.door for each in found.passages if not each.is_open and each.door.kind != "code"]
        nowhere = not any(each.door.kind != "code" for each in found.passages)
        return [each for each in self._reach.doors if each.takes_documents] if nowhere else closed

    def _plain_class(self, found: CallerClass) -> dict[str, Any]:
        return {
            "callers": [
                {"as": each.label, "claims": each.principal.claims, "refusal": each.refusal} for each in found.witnesses
            ],
            "reaches": bool(found.ways) and not found.witnesses[0].refusal,
            "through": [
                {
                    "name": each.door.name,
                    "kind": each.door.kind,
                    "verdict": each.verdict,
                    "note": each.note,
                    "document": each.document,
                    "path": each.path,
                }
                for each in found.passages
                if each.verdict != "no"
            ],
            "because": {name: list(each) for name, each in reasons(self._causes(found), self._folder).items()},
        }


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


def counted_classes(found: Sequence[CallerClass]) -> str:
    """Return the number of classes in words."""
    return counted(len(found), "class") if len(found) == 1 else f"{len(found)} classes"
