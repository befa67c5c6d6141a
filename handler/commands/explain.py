"""``stile explain``: the parts of endpoints that callers reach, and the rules that hide the rest."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from handler.audience.caller_classes import MAX_CLASSES
from handler.audience.reach import (
    UNNAMED,
    CallerClass,
    Causes,
    Entrance,
    Passage,
    Reach,
    Visitor,
    class_of,
    entrances_to,
    find_classes,
    hidden_parts,
    pattern_hidden_parts,
    rules_at,
    rules_of,
)
from handler.audience.view_paths import resolve_in
from handler.audience.ways import ROUTE, Standing, lacking_scopes
from handler.bundle.tools import PrescribedTool
from handler.commands.command_line import REFUSED, USAGE, UsageRefused
from handler.commands.console import OUT, one_line, say, show_json, show_table, show_verbatim
from handler.commands.folders.endpoints import add_folder_arguments, explain_all
from handler.commands.local.callers import NOTATION, SKIPS_POLICIES, NamedCaller, caller_argument
from handler.compiler.access.policies import INTROSPECTION
from handler.compiler.compile import uncollected
from handler.compiler.problems import Place
from handler.compiler.provenance import Cause
from handler.errors.authoring import UnknownCaller, UnknownCoordinate
from handler.graph.sdl import print_view
from handler.text.sentences import counted, cut_text, did_you_mean, some

EXAMPLES = (
    "stile explain endpoints --as anonymous --as claims.json",
    "stile explain endpoints --field Order.total --mermaid",
)
EXIT_CODES = {
    REFUSED: "an endpoint has problems",
    USAGE: "the command line is not valid, or the tool, caller or coordinate does not exist",
}

FEDERATION = f"gives all there is, and no rule names it (at {ROUTE})"
"""The reason for hiding Federation's fields."""

NOTHING_LEFT = "nothing is left of it"

MAX_CLASSES_SHOWN = 8
MAX_NAMES = 5
"""Classes of callers, and coordinates of a line, that are printed if not everything is asked for."""

Endpoints = Sequence[tuple[Path, Reach]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    parser.add_argument(
        "--as",
        dest="callers",
        metavar="CALLER",
        action="append",
        type=caller_argument,
        default=[],
        help=f"{NOTATION}; repeat it for several callers side by side; without it, a caller who skips policies",
    )
    parser.add_argument("--tool", metavar="TOOL", help="explain one tool")
    parser.add_argument(
        "--field",
        metavar="COORDINATE",
        help="show which callers reach a part of the schema, such as Employee.salary or EmployeeFilter.salaryGt",
    )
    parser.add_argument("--mermaid", action="store_true", help="with --field: print the ways as a Mermaid flowchart")
    parser.add_argument("--full", action="store_true", help="print every hidden part and the schemas")
    parser.add_argument("--json", action="store_true", help="print JSON for another program")


def run(options: argparse.Namespace) -> int:
    if options.mermaid and (options.field is None or options.json):
        raise UsageRefused("--mermaid: expected --field with the part to draw, and no --json")
    with uncollected():
        return _explain(options)


def _explain(options: argparse.Namespace) -> int:
    compiled = explain_all(options.folder, stage=options.stage, endpoint=options.endpoint)
    if compiled is None:
        return 1
    endpoints = [(folder, Reach(endpoint, provenance)) for folder, endpoint, provenance in compiled]
    if options.tool:
        tools = [entrance for _, reach in endpoints for entrance in reach.entrances if entrance.tool]
        having = [
            (folder, reach)
            for folder, reach in endpoints
            if any(entrance.has_name(options.tool) for entrance in reach.entrances)
        ]
        if not having:
            names = sorted(entrance.name for entrance in tools)
            question = did_you_mean(options.tool, names) or "."
            raise UsageRefused(f'There is no tool "{options.tool}"{question} There are: {", ".join(names)}')
        if options.field is None or all(entrance.name != options.tool for entrance in tools):
            endpoints = having
    if options.field is not None:
        _explain_field(endpoints, options)
        return 0
    visitors = _visitors(endpoints, options.callers or [SKIPS_POLICIES])
    if options.json:
        views = [
            _OneCaller(folder, reach, visitor, tool=options.tool).plain()
            for (folder, reach), of_endpoint in zip(endpoints, visitors, strict=True)
            for visitor in of_endpoint
        ]
        show_json({"endpoints": views})
        return 0
    for (folder, reach), of_endpoint in zip(endpoints, visitors, strict=True):
        if len(of_endpoint) == 1:
            _OneCaller(folder, reach, of_endpoint[0], tool=options.tool).show(full=options.full)
        elif of_endpoint:
            _show_side_by_side(folder, reach, of_endpoint, tool=options.tool, full=options.full)
    return 0


def _explain_field(endpoints: Endpoints, options: argparse.Namespace) -> None:
    """Explain who reaches a coordinate, at each endpoint that has it.

    Raises:
        UnknownCoordinate: no endpoint has it; the message is of the first with a schema.
    """
    coordinates: list[str] = []
    having: list[tuple[Path, Reach]] = []
    refusals = []
    for folder, reach in endpoints:
        try:
            if reach.index is not None:
                coordinates.append(resolve_in(reach.index, options.field))
                having.append((folder, reach))
        except UnknownCoordinate as exc:
            refusals.append(str(exc))
    if not having:
        reason = next(iter(refusals), "no endpoint here has a schema")
        raise UnknownCoordinate(f'--field "{cut_text(options.field)}": {reason}')
    visitors = _visitors(having, options.callers)
    views = [
        FieldReach(folder, reach, coordinate, visitors=of_endpoint)
        for (folder, reach), coordinate, of_endpoint in zip(having, coordinates, visitors, strict=True)
    ]
    if options.json:
        show_json({"field": options.field, "endpoints": [view.plain() for view in views]})
    elif options.mermaid:
        lines = [line for number, view in enumerate(views) for line in view.mermaid(f"e{number}")]
        show_verbatim("\n".join(["flowchart LR", *lines]))
    else:
        for view in views:
            view.show(full=options.full)


def _visitors(endpoints: Endpoints, callers: Sequence[NamedCaller]) -> list[list[Visitor]]:
    """Return the callers at each endpoint. An endpoint without a named API key leaves its holder out.

    Raises:
        UnknownCaller: no endpoint has an API key of the name.
    """
    visitors: list[list[Visitor]] = [[] for _ in endpoints]
    for caller in callers:
        refusals = []
        for (_, reach), of_endpoint in zip(endpoints, visitors, strict=True):
            try:
                of_endpoint.append(reach.visitor(caller))
            except UnknownCaller as exc:
                refusals.append(exc)
        if refusals and len(refusals) == len(endpoints):
            raise refusals[0]
    return visitors


class _OneCaller:
    """One caller's view of one endpoint. ``tool``: of this tool alone."""

    def __init__(self, folder: Path, reach: Reach, visitor: Visitor, *, tool: str | None) -> None:
        self._folder = folder
        self._reach = reach
        self._visitor = visitor
        self._whole = tool is None
        # Policies explain even what a 401 keeps from everybody.
        self._past = reach.visitor_of(visitor.principal, visitor.label)
        self._tools = [each for each in reach.entrances if each.tool and (tool is None or each.has_name(tool))]

    def plain(self) -> dict[str, Any]:
        """Return the view as JSON."""
        hidden = reasons(hidden_parts(self._reach, self._past), self._folder)
        for coordinate, because in self._hidden_at_graphql().items():
            hidden[coordinate] = (*hidden.get(coordinate, ()), *because)
        return {
            "endpoint": self._reach.compiled.bundle.endpoint,
            "as": self._visitor.label,
            "caller": caller_in_words(self._visitor),
            "tools": [self._plain_tool(entrance) for entrance in self._tools],
            "views": dict(self._views()),
            "hidden": {coordinate: list(because) for coordinate, because in hidden.items()},
            "hidden_by_patterns": {
                entrance.name: pattern_hidden_parts(self._reach, entrance, self._past)
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
        standings = [(entrance, self._reach.standing(entrance, self._past)) for entrance in self._tools]
        rows = [(each.name, each.kind, standing_in_words(standing, each)) for each, standing in standings]
        if rows:
            show_table("Tools", ("tool", "kind", "for this caller"), rows)
        for entrance, standing in standings:
            if entrance.scopes:
                lacking = lacking_scopes(entrance.scopes, self._visitor.principal)
                otherwise = "is not asked for them" if self._visitor.principal.claims is None else "has them"
                has = f"lacks {' '.join(lacking)}" if lacking else otherwise
                _show_line(f"{entrance.name} asks for the scopes {' '.join(entrance.scopes)}: this caller {has}")
            if task := self._plain_task(entrance):
                ends = ", ".join(f"{status} is {outcome}" for status, outcome in task["statuses"].items())
                asking = f"{task['poll']} asks about it, by the tool {task['statusTool']}"
                _show_line(f"{entrance.name} starts a job: {asking}; the status {ends}, any other is working")
            if standing.note and standing.verdict not in ("401", "403"):
                _show_line(f"{entrance.name}: {standing.note}")
            closing = standing.verdict in ("no", "call", "refused")
            causes = rules_of(self._reach, entrance, self._past) if closing else {}
            if standing.verdict == "no":
                is_closed = f"{entrance.name} is not for this caller:"
                _show_line(is_closed if causes else f"{entrance.name}: {NOTHING_LEFT}")
            _show_rules(causes, self._folder, full=full)

    def _show_hidden(self, *, full: bool) -> None:
        shown = self._whole or full or any(entrance.view_of for entrance in self._tools)
        causes = hidden_parts(self._reach, self._past) if shown else {}
        if causes:
            say(f"Hidden: {counted(len(causes), 'part')}", "bold")
            _show_rules(causes, self._folder, full=full)
        for coordinate, because in self._hidden_at_graphql().items():
            _show_line(f"{coordinate}: {'; '.join(because)}", indent=2)
        for entrance in self._tools:
            names = pattern_hidden_parts(self._reach, entrance, self._past)
            if names:
                at = _place_in_words(entrance.place, self._folder, end="")
                in_words = some(names, most=len(names) if full else 5)
                _show_line(f"Hidden by the patterns of {entrance.name}{f' ({at})' if at else ''}: {in_words}")

    def _plain_tool(self, entrance: Entrance) -> dict[str, Any]:
        tool = entrance.tool
        standing = self._reach.standing(entrance, self._past)
        closed = standing.verdict == "no"
        causes = reasons(rules_of(self._reach, entrance, self._past), self._folder) if closed else {}
        because = [f"{coordinate}: {reason}" for coordinate, each in causes.items() for reason in each]
        return {
            "name": entrance.name,
            "kind": entrance.kind,
            "listed": "no" if closed else "hidden" if tool and tool.options.hidden else "yes",
            "verdict": standing.verdict,
            "note": standing.note,
            "fields": list(standing.fields) if standing.fields else None,
            "because": because or ([NOTHING_LEFT] if closed else []),
            "at": _place_in_words(entrance.place, self._folder, end=""),
            "scopes": list(entrance.scopes),
            "lacking": lacking_scopes(entrance.scopes, self._visitor.principal),
            "task": self._plain_task(entrance),
        }

    def _plain_task(self, entrance: Entrance) -> dict[str, Any] | None:
        """Return the job that a tool starts; ``None`` if it starts none."""
        task = entrance.tool.task if isinstance(entrance.tool, PrescribedTool) else None
        if task is None:
            return None
        asking: PrescribedTool | Any = self._reach.endpoint.tools[task.status_tool]
        cancel = task.cancel.operation.name if task.cancel else None
        statuses = dict(task.outcomes)
        return {"poll": asking.operation.name, "statusTool": asking.name, "cancel": cancel, "statuses": statuses}

    def _views(self) -> Iterator[tuple[str, str]]:
        """Yield each GraphQL tool with the caller's SDL, and the endpoint's own GraphQL if it is on."""
        routes = [each for each in self._reach.entrances if each.kind == "route" and self._whole]
        for entrance in (*self._tools, *routes):
            if entrance.takes_documents:
                yield entrance.name, print_view(self._reach.view(entrance, self._past))

    def _hidden_at_graphql(self) -> dict[str, tuple[str, ...]]:
        """Return the coordinates hidden only at the endpoint's own GraphQL, as policies name them, with the reasons."""
        graphql = self._reach.compiled.bundle.graphql
        if graphql.mode == "off" or not self._whole:
            return {}
        rules = [(coordinate, rule) for rule in self._reach.compiled.rules for coordinate in rule.coordinates]
        hidden: dict[str, tuple[str, ...]] = {}
        for name, mask in graphql.guards.items():
            if name not in INTROSPECTION:
                hidden[name] = (FEDERATION,)
                continue
            for coordinate, rule in rules:
                if coordinate.partition(".")[2] == name and not self._past.evaluation.meets(rule.mask & mask):
                    words = f"{_place_in_words(rule.place, self._folder)}{rule.text} (at {ROUTE})"
                    hidden[coordinate] = (*hidden.get(coordinate, ()), words)
        return hidden


def _show_side_by_side(
    folder: Path, reach: Reach, visitors: Sequence[Visitor], *, tool: str | None, full: bool
) -> None:
    """Print a table of tools by caller, and the reasons below it."""
    entrances = [each for each in reach.entrances if tool is None or each.name == tool]
    standings = {entrance.name: [reach.standing(entrance, each) for each in visitors] for entrance in entrances}
    say(reach.compiled.bundle.endpoint, "bold")
    rows = [
        (entrance.name, *(standing_in_words(each, entrance) for each in standings[entrance.name]))
        for entrance in entrances
    ]
    show_table("Tools by caller", ("tool", *(each.label or "no policies" for each in visitors)), rows)
    for visitor in visitors:
        if visitor.refusal:
            _show_line(f"401 for {visitor.label}: {visitor.refusal}")
    for entrance in entrances:
        for standing, visitor in zip(standings[entrance.name], visitors, strict=True):
            if standing.note and not visitor.refusal:
                _show_line(f"{entrance.name} for {visitor.label}: {standing.note}")
            if standing.verdict == "no":
                _show_line(f"{entrance.name} is not for {visitor.label}:")
                _show_rules(rules_of(reach, entrance, visitor), folder, full=full)


class FieldReach:
    """The callers who reach one coordinate of an endpoint, through which entrances and by which way.

    ``classes`` has a class for each of ``visitors`` in their order; without any, all classes of callers.
    """

    def __init__(self, folder: Path, reach: Reach, coordinate: str, *, visitors: Sequence[Visitor]) -> None:
        self._folder = folder
        self._reach = reach
        self._coordinate = coordinate
        self._visitors = visitors
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

    def _plain_class(self, callers: CallerClass) -> dict[str, Any]:
        return {
            "callers": [
                {"as": each.label, "claims": each.principal.claims, "refusal": each.refusal}
                for each in callers.witnesses
            ],
            "reaches": bool(callers.ways) and not callers.witnesses[0].refusal,
            "through": [
                {
                    "name": each.entrance.name,
                    "kind": each.entrance.kind,
                    **{part: getattr(each, part) for part in ("verdict", "note", "document", "path")},
                }
                for each in callers.passages
                if each.verdict != "no"
            ],
            "because": {name: list(each) for name, each in reasons(self.causes(callers), self._folder).items()},
        }

    def show(self, *, full: bool) -> None:
        """Print who reaches the coordinate, and the rules for those who do not."""
        say(f"{self._coordinate} of {self._reach.compiled.bundle.endpoint}", "bold")
        shown = self.classes if full else self.classes[:MAX_CLASSES_SHOWN]
        rows = []
        for each in shown:
            refusal = each.witnesses[0].refusal
            ways = [f"{way.entrance.name}{_verdict(way)}" for way in each.passages if way.verdict != "no"]
            rows.append((_class_in_words(each), f"- (401: {refusal})" if refusal else ", ".join(ways) or "-"))
        show_table("Who reaches it", ("caller", "through"), rows)
        if len(shown) < len(self.classes):
            _show_line(f"{len(self.classes) - len(shown)} more classes of callers: --full shows them")
        self._show_ways()
        rules = _joined(self.causes(each) for each in self.classes)
        if rules:
            say("Hidden from the others by", "bold")
            _show_rules(rules, self._folder, full=full)
        if not self._complete:
            _show_line(f"Not complete: the conditions have more than {MAX_CLASSES:,} combinations, or too many claims")
        identity = self._reach.compiled.bundle.identity
        if not self._visitors and not identity.issuers and not identity.trusted_apis:
            _show_line("The endpoint names no issuer of tokens: a token stands for claims that an issuer could give")

    def _show_ways(self) -> None:
        """Print the way through each entrance once, for the first caller who has one."""
        ways: dict[str, Passage] = {}
        for each in self.classes:
            for passage in each.ways:
                ways.setdefault(passage.entrance.name, passage)
        if not ways:
            type_ = self._coordinate.partition(".")[0]
            causes = [each.sentence for each in self._reach.compiled.warnings if each.code == "unnamed-root-type"]
            reason = next((f": {each}" for each in causes if each.startswith(f'"{type_}"')), ".")
            say(f"{'None of these callers' if self._visitors else 'No caller'} reaches it{reason}")
            return
        say("By which way", "bold")
        for passage in ways.values():
            way = passage.document or passage.path or "the code may ask for it in its caller's name"
            at = "" if passage.document else _place_in_words(passage.entrance.place, self._folder, end="")
            _show_line(f"{passage.entrance.name}{f' ({at})' if at else ''}: {way}", indent=2)

    def mermaid(self, prefix: str) -> Iterator[str]:
        """Yield the lines of a Mermaid flowchart: callers, the ways to the coordinate, and the rules that close it.

        ``prefix`` begins the names of nodes. Labels are quoted texts without markup.
        """
        target = f"{self._coordinate} of {self._reach.compiled.bundle.endpoint}"
        yield f"  {prefix}[{_quoted(target)}]"
        for number, each in enumerate(self.classes):
            caller = f"{prefix}c{number}"
            yield f"  {caller}[{_quoted(_class_in_words(each))}]"
            refusal = each.witnesses[0].refusal
            for passage in () if refusal else each.ways:
                way = f"{passage.entrance.name}{_verdict(passage)}: {passage.document or passage.path or 'its code'}"
                yield f"  {caller} -->|{_quoted(way)}| {prefix}"
            if refusal or not each.ways:
                causes = [cause for causes in self.causes(each).values() for cause in causes]
                rules = dict.fromkeys(_rule_in_words(cause, self._folder) for cause in causes)
                reason = f"401: {refusal}" if refusal else "; ".join(rules) or "no tool leads there"
                yield f"  {caller} -.-x|{_quoted(reason)}| {prefix}"

    def causes(self, callers: CallerClass) -> Causes:
        """Return the rules for one class, through all entrances that are closed to it."""
        visitor = callers.witnesses[0]
        if visitor.refusal:
            return {}
        closed = [each.entrance for each in callers.passages if not each.is_open and each.entrance.kind != "code"]
        if all(each.entrance.kind == "code" for each in callers.passages):  # no entrance leads there for anybody
            closed = [each for each in self._reach.entrances if each.takes_documents]
        return _joined(rules_at(self._reach, each, self._coordinate, visitor) for each in closed)


def _verdict(passage: Passage) -> str:
    words = {"yes": "", "call": " (variables decide)", "may ask": " (may ask)"}
    return words.get(passage.verdict, f" ({passage.verdict}: {passage.note})")


def _joined(causes: Iterable[Causes]) -> Causes:
    """Return hidden coordinate -> its rules, each once."""
    joined: Causes = {}
    for coordinate, rules in (item for each in causes for item in each.items()):
        of_coordinate = joined.setdefault(coordinate, [])
        of_coordinate += [rule for rule in rules if rule not in of_coordinate]
    return joined


def _quoted(text: str) -> str:
    """Return a text of Mermaid in quotes. Characters that have a meaning in Mermaid or HTML become entities."""
    return '"' + re.sub(r"[#&<>\"`\\]", lambda match: f"#{ord(match[0])};", one_line(text)) + '"'


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


def _class_in_words(callers: CallerClass) -> str:
    """Return two witnesses of a class in words, and the number of others."""
    words = []
    for visitor in callers.witnesses[:2]:
        claims = visitor.principal.claims
        if visitor.label != UNNAMED:
            words.append(visitor.label or "no policies")
        else:
            words.append(f"token {json.dumps(claims, ensure_ascii=False)}" if claims else "any token")
    more = len(callers.witnesses) - len(words)
    return " or ".join(words) + (f" or {more} more" if more else "")


def standing_in_words(standing: Standing, entrance: Entrance) -> str:
    """Return a cell of a table."""
    if standing.fields:
        seen, all_of_them = standing.fields
        return f"part ({seen} of {all_of_them})"
    words = "-" if standing.verdict == "no" else standing.verdict
    unlisted = entrance.tool is not None and entrance.tool.options.hidden and standing.verdict in ("yes", "call")
    return f"{words}, not listed" if unlisted else words


def reasons(causes: Mapping[str, Iterable[Cause]], folder: Path) -> dict[str, tuple[str, ...]]:
    """Return coordinate -> its rules in words."""
    return {
        coordinate: tuple(f"{'' if cause.own else 'follows from '}{_rule_in_words(cause, folder)}" for cause in each)
        for coordinate, each in causes.items()
    }


def _show_rules(causes: Mapping[str, Sequence[Cause]], folder: Path, *, full: bool) -> None:
    """Print each rule once, with the coordinates that it hides, by name or as a consequence."""
    by_rule: dict[str, tuple[list[str], list[str]]] = {}
    for coordinate, each in causes.items():
        for cause in each:
            own, others = by_rule.setdefault(_rule_in_words(cause, folder), ([], []))
            (own if cause.own else others).append(coordinate)
    for words, (own, others) in by_rule.items():
        _show_line(words, indent=2)
        most = len(causes) if full else MAX_NAMES
        names = [some(own, most=most)] if own else []
        if others:
            label = f"with {'it' if len(own) == 1 else 'them'}" if own else "as a consequence"
            names.append(f"{label}: {some(others, most=most)}")
        _show_line("; ".join(names), indent=4)


def _rule_in_words(cause: Cause, folder: Path) -> str:
    """Return a rule with its place."""
    return f"{_place_in_words(cause.rule.place, folder)}{cause.rule.text}"


def _place_in_words(place: Place | None, folder: Path, *, end: str = ": ") -> str:
    """Return ``file:line`` and an end; empty string if there is no place."""
    return f"{(folder / place.file).as_posix()}:{place.line}{end}" if place and place.line else ""


def _show_line(text: str, *, indent: int = 0) -> None:
    say(f"{' ' * indent}{one_line(text)}")
