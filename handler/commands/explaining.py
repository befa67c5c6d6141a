"""The words and tables of ``stile explain``: one caller, several side by side, and all who reach a coordinate."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from handler.audience.caller_classes import MAX_CLASSES
from handler.audience.closing_rules import Causes, hidden_by_patterns, hidden_parts, rules_at, rules_of
from handler.audience.reach import (
    UNNAMED,
    CallerClass,
    Entrance,
    Passage,
    Reach,
    Visitor,
    class_of,
    entrances_to,
    find_classes,
)
from handler.audience.ways import ROUTE, Standing
from handler.commands.console import OUT, one_line, say, show_table
from handler.compiler.access.policies import INTROSPECTION
from handler.compiler.problems import Place
from handler.compiler.provenance import Cause
from handler.graph.sdl import print_view
from handler.policy.evaluation import Mask
from handler.text.sentences import counted, some

FEDERATION = f"gives all there is, and no rule names it (at {ROUTE})"
"""The reason for hiding Federation's fields."""

NOTHING_LEFT = "nothing is left of it"


class OneCaller:
    """One caller's view of one endpoint. ``tool``: of this tool alone."""

    def __init__(self, folder: Path, reach: Reach, visitor: Visitor, *, tool: str | None) -> None:
        self._folder = folder
        self._reach = reach
        self._visitor = visitor
        self._whole = tool is None
        # Policies explain even what a 401 keeps from everybody.
        self._past = reach.visitor_of(visitor.principal, visitor.label)
        self._tools = [
            entrance
            for entrance in reach.entrances
            if entrance.tool is not None and tool in (None, entrance.name, *entrance.tool.options.aliases)
        ]

    def plain(self) -> dict[str, Any]:
        """Return the view as JSON."""
        return {
            "endpoint": self._reach.compiled.bundle.endpoint,
            "as": self._visitor.label,
            "caller": caller_in_words(self._visitor),
            "tools": [self._plain_tool(entrance) for entrance in self._tools],
            "views": dict(self._views()),
            "hidden": {coordinate: list(because) for coordinate, because in self._hidden().items()},
            "hidden_by_patterns": {
                entrance.name: hidden_by_patterns(self._reach, entrance, self._past)
                for entrance in self._tools
                if entrance.view_of
            },
        }

    def show(self, *, full: bool) -> None:
        """Print a summary, or everything."""
        say(f"{self._reach.compiled.bundle.endpoint}, for {caller_in_words(self._visitor)}", "bold")
        self._show_tools(full=full)
        self._show_hidden(full=full)
        if full:
            for name, sdl in self._views():
                say(f"The schema of {name}" if sdl else f"{name}: {NOTHING_LEFT} of its schema", "bold")
                say(sdl.rstrip("\n"))
        elif OUT.is_terminal:
            say("--full adds every hidden part and the schemas.", "dim")

    def _show_tools(self, *, full: bool) -> None:
        found = [(entrance, self._reach.standing(entrance, self._past)) for entrance in self._tools]
        rows = [(entrance.name, entrance.kind, standing_in_words(standing, entrance)) for entrance, standing in found]
        if rows:
            show_table("Tools", ("tool", "kind", "for this caller"), rows)
        for entrance, standing in found:
            self._show_scopes(entrance)
            if standing.note and standing.verdict not in ("401", "403"):
                show_line(f"{entrance.name}: {standing.note}")
            causes = (
                rules_of(self._reach, entrance, self._past) if standing.verdict in ("no", "call", "refused") else {}
            )
            if causes and standing.verdict == "no":
                show_line(f"{entrance.name} is not for this caller:")
            elif standing.verdict == "no":
                show_line(f"{entrance.name}: {NOTHING_LEFT}")
            show_rules(causes, self._folder, full=full)

    def _show_scopes(self, entrance: Entrance) -> None:
        scopes = entrance.tool.options.scopes if entrance.tool else ()
        if scopes:
            lacking = self._lacking(entrance)
            otherwise = "is not asked for them" if self._visitor.principal.claims is None else "has them"
            has = f"lacks {' '.join(lacking)}" if lacking else otherwise
            show_line(f"{entrance.name} asks for the scopes {' '.join(scopes)}: this caller {has}")

    def _lacking(self, entrance: Entrance) -> list[str]:
        """Return the scopes for which a call is refused; an empty list if the caller needs no scopes."""
        scopes = entrance.tool.options.scopes if entrance.tool else ()
        principal = self._visitor.principal
        return [] if principal.unrestricted else [each for each in scopes if each not in principal.scopes]

    def _show_hidden(self, *, full: bool) -> None:
        shown = self._whole or full or any(entrance.view_of for entrance in self._tools)
        causes = hidden_parts(self._reach, self._past) if shown else {}
        if causes:
            say(f"Hidden: {counted(len(causes), 'part')}", "bold")
            show_rules(causes, self._folder, full=full)
        for coordinate, because in self._hidden_at_graphql().items() if self._whole else ():
            show_line(f"{coordinate}: {'; '.join(because)}", indent=2)
        for entrance in self._tools:
            beyond = hidden_by_patterns(self._reach, entrance, self._past)
            if beyond:
                at = place_in_words(entrance.place, self._folder, end="")
                names = some(beyond, most=len(beyond) if full else 5)
                show_line(f"Hidden by the patterns of {entrance.name}{f' ({at})' if at else ''}: {names}")

    def _plain_tool(self, entrance: Entrance) -> dict[str, Any]:
        tool = entrance.tool
        standing = self._reach.standing(entrance, self._past)
        closed = standing.verdict == "no"
        causes = reasons(rules_of(self._reach, entrance, self._past), self._folder) if closed else {}
        because = [f"{coordinate}: {why}" for coordinate, each in causes.items() for why in each]
        return {
            "name": entrance.name,
            "kind": entrance.kind,
            "listed": "no" if closed else "hidden" if tool and tool.options.hidden else "yes",
            "verdict": standing.verdict,
            "note": standing.note,
            "fields": list(standing.fields) if standing.fields else None,
            "because": because or ([NOTHING_LEFT] if closed else []),
            "at": place_in_words(entrance.place, self._folder, end=""),
            "scopes": list(tool.options.scopes) if tool else [],
            "lacking": self._lacking(entrance),
        }

    def _views(self) -> Iterator[tuple[str, str]]:
        """Yield each GraphQL tool with the caller's SDL, and the endpoint's own GraphQL if it is on."""
        for entrance in (
            *self._tools,
            *(each for each in self._reach.entrances if each.kind == "route" and self._whole),
        ):
            if entrance.takes_documents:
                yield entrance.name, print_view(self._reach.view(entrance, self._past))

    def _hidden(self) -> dict[str, tuple[str, ...]]:
        """Return hidden coordinate -> reasons, for all guarded coordinates of the endpoint."""
        found = reasons(hidden_parts(self._reach, self._past), self._folder)
        if self._whole and self._reach.compiled.bundle.graphql.mode != "off":
            for coordinate, because in self._hidden_at_graphql().items():
                found[coordinate] = (*found.get(coordinate, ()), *because)
        return found

    def _hidden_at_graphql(self) -> dict[str, tuple[str, ...]]:
        """Return the coordinates hidden only at the endpoint's own GraphQL, as policies name them, with the reasons."""
        compiled = self._reach.compiled
        if compiled.bundle.graphql.mode == "off":
            return {}
        found: dict[str, tuple[str, ...]] = {}
        for name, mask in compiled.bundle.graphql.guards.items():
            if name not in INTROSPECTION:
                found[name] = (FEDERATION,)
            elif not self._past.evaluation.meets(mask):
                found |= self._rules_of(name, mask)
        return found

    def _rules_of(self, name: str, mask: Mask) -> dict[str, tuple[str, ...]]:
        """Return the coordinate of an introspection field with its rules."""
        found: dict[str, tuple[str, ...]] = {}
        for rule in self._reach.compiled.rules:
            for coordinate in rule.coordinates:
                if coordinate.partition(".")[2] == name and not self._past.evaluation.meets(rule.mask & mask):
                    said = f"{place_in_words(rule.place, self._folder)}{rule.text} (at {ROUTE})"
                    found[coordinate] = (*found.get(coordinate, ()), said)
        return found


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
        rows = [(class_in_words(each), _ways_in_words(each)) for each in shown]
        show_table("Who reaches it", ("caller", "through"), rows)
        if len(shown) < len(self.classes):
            show_line(f"{len(self.classes) - len(shown)} more classes of callers: --full shows them")
        self._show_ways()
        rules = _joined(self.causes(each) for each in self.classes)
        if rules:
            say("Hidden from the others by", "bold")
            show_rules(rules, self._folder, full=full)
        if not self._complete:
            show_line(f"Not complete: the conditions have more than {MAX_CLASSES:,} combinations, or too many claims")
        identity = self._reach.compiled.bundle.identity
        if not self._asked and not identity.issuers and not identity.trusted_apis:
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

    def causes(self, found: CallerClass) -> Causes:
        """Return the rules for one class, through all entrances that are closed to it."""
        if found.witnesses[0].refusal:
            return {}
        closed = [each.entrance for each in found.passages if not each.is_open and each.entrance.kind != "code"]
        if all(each.entrance.kind == "code" for each in found.passages):  # no entrance leads there for anybody
            closed = [each for each in self._reach.entrances if each.takes_documents]
        return _joined(rules_at(self._reach, each, self._coordinate, found.witnesses[0]) for each in closed)

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


def _ways_in_words(callers: CallerClass) -> str:
    if refusal := callers.witnesses[0].refusal:
        return f"- (401: {refusal})"
    ways = [f"{each.entrance.name}{_verdict(each)}" for each in callers.passages if each.verdict != "no"]
    return ", ".join(ways) or "-"


def _joined(causes: Iterable[Causes]) -> Causes:
    """Return hidden coordinate -> its rules, each once."""
    found: Causes = {}
    for coordinate, rules in (item for each in causes for item in each.items()):
        known = found.setdefault(coordinate, [])
        known += [rule for rule in rules if rule not in known]
    return found


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


MAX_NAMES = 5
"""Coordinates that a line names if not everything is asked for."""


def caller_in_words(visitor: Visitor) -> str:
    """Return a caller in words, with the reason if the function answers 401."""
    principal = visitor.principal
    refused = f", who is answered 401 everywhere ({visitor.refusal}); policies alone would leave them this"
    tail = refused if visitor.refusal else ""
    match principal.kind:
        case "anonymous":
            return f"a caller without a credential{tail}"
        case "development":
            return "a caller who skips policies"
        case "api_key":
            skips = ", who skips policies" if principal.unrestricted else ""
            return f"the holder of the API key {principal.name}{skips}{tail}"
        case _:
            return f"a caller with the claims of {principal.name}"


def class_in_words(found: CallerClass, *, most: int = 2) -> str:
    """Return the witnesses of a class in words."""
    shown = [_witness(each) for each in found.witnesses[:most]]
    more = len(found.witnesses) - len(shown)
    return " or ".join(shown) + (f" or {more} more" if more else "")


def _witness(visitor: Visitor) -> str:
    if visitor.label != UNNAMED:
        return visitor.label or "no policies"
    claims = visitor.principal.claims or {}
    return f"token {json.dumps(claims, ensure_ascii=False)}" if claims else "any token"


def rule_in_words(cause: Cause, folder: Path) -> str:
    """Return a rule with its place."""
    return f"{place_in_words(cause.rule.place, folder)}{cause.rule.text}"


def place_in_words(place: Place | None, folder: Path, *, end: str = ": ") -> str:
    """Return ``file:line`` and an end; empty string if there is no place."""
    return f"{(folder / place.file).as_posix()}:{place.line}{end}" if place and place.line else ""


def reasons(causes: Mapping[str, Iterable[Cause]], folder: Path) -> dict[str, tuple[str, ...]]:
    """Return coordinate -> its rules in words."""
    return {
        coordinate: tuple(f"{'' if cause.own else 'follows from '}{rule_in_words(cause, folder)}" for cause in each)
        for coordinate, each in causes.items()
    }


def standing_in_words(standing: Standing, entrance: Entrance) -> str:
    """Return a cell of a table."""
    if standing.fields:
        seen, all_of_them = standing.fields
        return f"part ({seen} of {all_of_them})"
    words = "-" if standing.verdict == "no" else standing.verdict
    unlisted = entrance.tool is not None and entrance.tool.options.hidden and standing.verdict in ("yes", "call")
    return f"{words}, not listed" if unlisted else words


def show_rules(causes: Mapping[str, Sequence[Cause]], folder: Path, *, full: bool) -> None:
    """Print each rule once, with the coordinates that it hides, by name or as a consequence."""
    by_rule: dict[str, tuple[list[str], list[str]]] = {}
    for coordinate, each in causes.items():
        for cause in each:
            own, others = by_rule.setdefault(rule_in_words(cause, folder), ([], []))
            (own if cause.own else others).append(coordinate)
    for words, (own, others) in by_rule.items():
        show_line(words, indent=2)
        most = len(causes) if full else MAX_NAMES
        named = [some(own, most=most)] if own else []
        named += [f"with {'it' if len(own) == 1 else 'them'}: {some(others, most=most)}"] if own and others else []
        named += [f"as a consequence: {some(others, most=most)}"] if others and not own else []
        show_line("; ".join(named), indent=4)


def show_line(text: str, *, indent: int = 0, style: str = "") -> None:
    """Print a line, wrapped between words on a terminal: a path or a coordinate stays whole."""
    text = one_line(text)
    if not OUT.is_terminal:
        say(f"{' ' * indent}{text}", style)
        return
    start, below = " " * indent, " " * (indent + 4)
    lines = textwrap.wrap(
        text,
        max(OUT.width, 20),
        initial_indent=start,
        subsequent_indent=below,
        break_long_words=False,
        break_on_hyphens=False,
    )
    for line in lines or [""]:
        say(line, style)
