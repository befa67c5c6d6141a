"""``stile find``: the answers that a model finds in an endpoint, with a question or those of ``questions.yaml``."""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

from handler.bundle.tools import CompanionTool, GraphQLTool
from handler.commands.command_line import REFUSED, USAGE, CommandRefused, UsageRefused
from handler.commands.console import say, show_json
from handler.commands.folders.endpoints import add_folder_arguments, compile_or_complain
from handler.commands.local.callers import SKIPS_POLICIES, NamedCaller, add_caller_argument, read_caller
from handler.commands.local.local_endpoint import local_endpoint, stored
from handler.commands.local.local_server import local_http, local_services
from handler.compiler.compile import Compiled
from handler.compiler.problems import Place, Problems, place_text
from handler.compiler.source.files import QUESTIONS, EndpointFiles
from handler.compiler.source.yaml_section import Section
from handler.compiler.source.yaml_tree import parse_yaml_list
from handler.errors.access import AccessError
from handler.errors.authoring import Problem, UnknownCaller
from handler.graph.found_sdl import is_visible
from handler.graph.view import View
from handler.list_entries import BYTES_PER_TOKEN
from handler.search.schema_search import Match
from handler.search.words import split
from handler.server.context import Caller
from handler.server.mcp.catalog import found_tools
from handler.server.mcp.jsonrpc import Call, Request
from handler.server.mcp.revisions import MODERN
from handler.server.mcp.tools_call import answer_of
from handler.server.mcp.tools_list import entry_for, list_entries, list_tools
from handler.strict_json import Entries, Entry, JSONObject, to_well_formed_json
from handler.text.sentences import did_you_mean, some

EXAMPLES = ('stile find endpoints "which orders are late" --as claims.json',)
EXIT_CODES = {
    REFUSED: "an endpoint has problems, or nothing was found",
    USAGE: "the command line is not valid, or the endpoint has no such caller",
}

MOST = 10
"""Matches of a question that count as found."""

MAX_SEARCHES = 10
"""Searches of which the median is typical."""

MAX_QUESTIONS = 1_000
MAX_EXPECTED = 50
"""Coordinates that one question expects. A search shows ten."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    parser.add_argument("question", metavar="QUESTION", help="a question in words")
    add_caller_argument(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")


def run(options: argparse.Namespace) -> int:
    compiled = compile_or_complain(options.folder, stage=options.stage, endpoint=options.endpoint)
    if not compiled:
        return 1
    if not options.question.strip():
        raise UsageRefused("expected a question in words")
    reports = []
    try:
        for each in compiled:
            with finder_for(each, options.caller) as finder:
                reports.append(_report(each, finder, options.question))
    except AccessError as exc:
        raise CommandRefused(f"The endpoint does not let this caller in: {exc}") from exc
    if options.json:
        show_json({"question": options.question, "endpoints": reports})
    else:
        for report in reports:
            say(report["endpoint"], "bold")
            for sentence in _sentences(report):
                say(sentence)
    is_found = (report["tools"]["names"] or any(each["matches"] for each in report["schemas"]) for report in reports)
    return 0 if any(is_found) else 1


def _report(compiled: Compiled, finder: Finder, question: str) -> dict[str, Any]:
    tools = finder.among_tools(question)
    return {
        "endpoint": compiled.bundle.endpoint,
        "schemas": [
            {
                "tool": answer.tool,
                "by": answer.by,
                "matches": [
                    {"coordinate": match.coordinate, "score": match.score, "paths": match.paths}
                    for match in answer.matches
                ],
                "text": answer.text,
                "tokens": answer.tokens,
            }
            for answer in finder.in_schema(question)
        ],
        "tools": {"by": tools.by, "names": tools.names, "text": tools.text, "tokens": tools.tokens},
    }


def _sentences(report: dict[str, Any]) -> Iterator[str]:
    for each in report["schemas"]:
        by = each["by"] or f"no companion: {each['tool']} shows its whole schema"
        yield f"\nSchema of {each['tool']}, about {each['tokens']} tokens ({by}):\n"
        yield each["text"]
    tools = report["tools"]
    if tools["names"]:
        by = tools["by"] or "no catalog: all tools are listed"
        yield f"\nTools, about {tools['tokens']} tokens ({by}):\n"
        yield from (f"  {place}. {name}" for place, name in enumerate(tools["names"], start=1))
    elif not report["schemas"]:
        yield "No tool answers the question, among those that the caller may use."


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """The answer about the schema of one GraphQL tool, as its companion gives it, or that of the catalog.

    ``by`` names the tool that answers so; empty if the endpoint does not have that tool.
    """

    by: str
    text: str
    tool: str = ""  # the GraphQL tool
    matches: Sequence[Match] = ()
    names: Sequence[str] = ()  # of tools

    @property
    def tokens(self) -> int:
        """The size of the answer, about."""
        return len(self.text.encode()) // BYTES_PER_TOKEN


class Finder:
    """Searches an endpoint as its caller's model would."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._caller = call.caller
        self.catalog = call.caller.endpoint.catalog

    def in_schema(self, question: str) -> list[ModelAnswer]:
        """Return an answer for each GraphQL tool that the caller may use."""
        return [self.about(tool, question) for tool in self.graphql_tools]

    @property
    def graphql_tools(self) -> list[GraphQLTool]:
        """The GraphQL tools that the caller may use."""
        graphql = [tool for tool in self._caller.endpoint.bundle.tools if isinstance(tool, GraphQLTool)]
        return [tool for tool in graphql if asyncio.run(entry_for(self._caller, tool)) is not None]

    def among_tools(self, question: str) -> ModelAnswer:
        """Return the tools that answer a question best."""
        by = self.catalog.name if self.catalog else ""
        entries = asyncio.run(found_tools(self._call, question, search=by or "catalog"))
        text = to_well_formed_json(entries).decode()
        return ModelAnswer(by=by, names=[each["name"] for each in entries], text=text)

    def about(self, tool: GraphQLTool, question: str) -> ModelAnswer:
        """Return the answer about the schema of one tool."""
        matches = self._caller.endpoint.schema.search(tool, self._caller.evaluation).search(question, MOST)
        companion = self.companion_of(tool)
        text = answer_of(self._caller, tool, "search", {"question": question})
        return ModelAnswer(tool=tool.name, by=companion.name if companion else "", text=text, matches=matches)

    def companion_of(self, tool: GraphQLTool) -> CompanionTool | None:
        """Return the companion that searches the schema of a tool; ``None`` if the tool shows it whole."""
        companions = (each for each in self._caller.endpoint.bundle.tools if isinstance(each, CompanionTool))
        return next((each for each in companions if each.does == "search" and each.of == tool.name), None)

    def view(self, tool: GraphQLTool) -> View:
        """Return the view of the schema that the caller may use through a tool."""
        return self._caller.endpoint.schema.view(tool, self._caller.evaluation.outcome(tool.conditions))

    def sdl_tokens(self, tool: GraphQLTool) -> int:
        """Return the size of the SDL that the caller may use through a tool, about."""
        return len(self._caller.endpoint.schema.sdl(tool, self._caller.evaluation).encode()) // BYTES_PER_TOKEN

    def list_tokens(self) -> tuple[int, int]:
        """Return the size of the list with all tools that are not hidden, and with those of a catalog, about."""
        caller = self._caller
        whole = asyncio.run(list_entries(caller.endpoint, caller.evaluation, principal=caller.principal))
        lists = whole, asyncio.run(list_tools(self._call))
        shown = [caller.endpoint.short_list([*map(Entry.of, entries)], caller.room.page_bytes) for entries in lists]
        return len(Entries(shown[0]).json) // BYTES_PER_TOKEN, len(Entries(shown[1]).json) // BYTES_PER_TOKEN


@contextmanager
def finder_for(compiled: Compiled, caller: NamedCaller) -> Iterator[Finder]:
    """Give the search of one endpoint as one caller.

    Raises:
        UnknownCaller: the endpoint has no such caller.
        AccessError: the endpoint does not let the caller in.
        SettingsError: an environment variable that does not fit.
    """
    endpoint = local_endpoint(compiled)
    principal = caller.admitted(endpoint.bundle, now=time.time())
    with closing(local_http()) as http:
        services = local_services(stored(compiled), http, find=lambda _: compiled, development=True)
        evaluation = endpoint.evaluation_of(principal)
        one = Caller(endpoint=endpoint, principal=principal, evaluation=evaluation, services=services)
        request = Request(id=1, method="tools/call", params={}, revision=MODERN[0])
        yield Finder(Call(request=request, caller=one))


def reading_costs(compiled: Compiled) -> JSONObject | None:
    """Return the tokens that models of a caller who may everything read, about: of lists, searches and SDL.

    The result is the member ``reading`` of a report; ``None`` if the endpoint has neither a catalog nor companions.
    """
    with finder_for(compiled, SKIPS_POLICIES) as finder:
        tools = [tool for tool in finder.graphql_tools if finder.companion_of(tool)]
        if not tools and finder.catalog is None:
            return None
        all_tools, listed = finder.list_tokens()
        names = _evenly([tool.name for tool in compiled.bundle.tools]) if finder.catalog else []
        schemas = []
        for tool in tools:
            # A typical question is about a root field.
            fields = [name for names in finder.view(tool).root_fields().values() for name in names]
            search = _median(finder.about(tool, each).tokens for each in _evenly(fields))
            schemas.append({"tool": tool.name, "sdl": finder.sdl_tokens(tool), "search": search})
        return {
            "allTools": all_tools,
            "listed": listed,
            "catalogSearch": _median(finder.among_tools(each).tokens for each in names) if finder.catalog else None,
            "schemas": schemas,
        }


def _evenly(names: Sequence[str]) -> list[str]:
    """Return the words of some names, taken evenly from all of them."""
    step = max(1, len(names) // MAX_SEARCHES)
    return [" ".join(split(name)) for name in names[::step][:MAX_SEARCHES]]


def _median(values: Iterable[int]) -> int:
    return round(median(values))


def reading_sentences(costs: JSONObject) -> Iterator[str]:
    """Yield a sentence for the catalog and for each schema that a model searches."""
    if costs["catalogSearch"] is not None:
        is_shorter = costs["listed"] < costs["allTools"]
        shorter = f"of about {costs['allTools']} tokens with all tools" if is_shorter else "whole"
        size = f"the list takes about {costs['listed']} tokens ({shorter})"
        yield f"Catalog: {size}, a search about {costs['catalogSearch']}."
    for each in costs["schemas"]:
        yield f"Search of {each['tool']}: about {each['search']} tokens, for a schema of about {each['sdl']}."


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorQuestion:
    """A question, and the coordinates and the tool that answer it, each with its place."""

    ask: str
    expect: tuple[tuple[str, Place], ...]
    tool: tuple[str, Place] | None
    caller: NamedCaller
    at: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A question with its answers' ranks among the matches for a model, and the tokens that a model reads."""

    question: AuthorQuestion
    ranks: Sequence[tuple[str, int | None]] = ()  # from 1; ``None``: the name is not among the first
    tokens: int = 0
    unknown: frozenset[str] = frozenset()  # expected names that nobody has
    refused: str = ""  # the reason if the endpoint does not let the caller in

    @property
    def is_found(self) -> bool:
        """True if a model is shown all expected answers."""
        return bool(self.ranks) and all(rank is not None for _, rank in self.ranks)

    def fault(self) -> str:
        """Return the sentence on answers that a model is not shown; empty string if there are none.

        Names that nobody has are problems themselves.
        """
        question = f'"{self.question.ask}"'
        question += f" as {self.question.caller.text}" if self.question.caller.text else ""
        if self.refused:
            return f"{question}: the endpoint does not let this caller in ({self.refused})"
        missing = [name for name, rank in self.ranks if rank is None and name not in self.unknown]
        names = some(missing, most=5)
        return f"{question}: a search does not find {names} among the first {MOST}" if missing else ""

    def plain(self) -> dict[str, Any]:
        """Return the member of a report."""
        return {
            "ask": self.question.ask,
            "as": self.question.caller.text,
            "found": self.is_found,
            "ranks": dict(self.ranks),
            "tokens": self.tokens,
            "refused": self.refused,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The trial of the questions of an endpoint folder, and the mistakes in their file."""

    answered: Sequence[Answered]
    problems: tuple[Problem, ...]
    folder: Path

    @property
    def recall(self) -> float:
        """The share of questions whose answers a model is shown; 1 if there are none."""
        return sum(each.is_found for each in self.answered) / len(self.answered) if self.answered else 1.0

    def sentences(self) -> Iterator[tuple[str, str]]:
        """Yield sentences for a person, each with its style."""
        if not self.answered:
            return
        count = sum(each.is_found for each in self.answered)
        tokens = _median(each.tokens for each in self.answered)
        style = "" if count == len(self.answered) else "yellow"
        yield f"Questions: {count} of {len(self.answered)} found, in about {tokens} tokens each (median).", style
        for each in self.answered:
            if fault := each.fault():
                yield f"{self.folder.as_posix()}/{place_text(each.question.at)}: {fault}", "yellow"


def try_questions(compiled: Compiled, folder: Path) -> Trial:
    """Ask the questions of an endpoint folder. Mistakes in the file, and names that nobody has, are problems."""
    problems = Problems()
    questions = _read_questions(folder, problems)
    finders: dict[str, Finder] = {}
    with ExitStack() as stack:

        def finder_of(caller: NamedCaller) -> Finder:
            """Search each caller's views once for all of the caller's questions."""
            if caller.text not in finders:
                finders[caller.text] = stack.enter_context(finder_for(compiled, caller))
            return finders[caller.text]

        everything = finder_of(SKIPS_POLICIES) if questions else None
        views = [everything.view(tool) for tool in everything.graphql_tools] if everything else []
        tools = [tool.name for tool in compiled.bundle.tools]
        unknown = [_report_unknown(question, tools, views, problems) for question in questions]
        answered = [
            replace(_answered(question, finder_of, problems), unknown=names)
            for question, names in zip(questions, unknown, strict=True)
        ]
    return Trial(answered=answered, problems=problems.error().problems, folder=folder)


def _read_questions(folder: Path, problems: Problems) -> list[AuthorQuestion]:
    """Read the questions of an endpoint folder. Mistakes are reported."""
    files = EndpointFiles(folder, problems)
    text = files.read(QUESTIONS) if files.exists(QUESTIONS) else None
    node = parse_yaml_list(text or "", QUESTIONS, problems, key="questions")
    top = Section(node, file=QUESTIONS, problems=problems, variables=None)
    sections = top.sections("questions")
    if len(sections) > MAX_QUESTIONS:
        problems.add(top.place("questions"), f"it has more than {MAX_QUESTIONS:,} questions", code="invalid-value")
    return [_question(section, folder, problems) for section in sections[:MAX_QUESTIONS]]


def _question(section: Section, folder: Path, problems: Problems) -> AuthorQuestion:
    section.expect("ask", "expect", "tool", "as")
    ask = section.text("ask").strip()
    expect = tuple(section.texts("expect"))
    if len(expect) > MAX_EXPECTED:
        problems.add(section.place("expect"), f"expected {MAX_EXPECTED} coordinates at most", code="invalid-value")
        expect = expect[:MAX_EXPECTED]
    tool = (section.text("tool"), section.place("tool")) if "tool" in section else None
    if not ask:
        problems.add(section.place(), '"ask" is missing: expected a question in words', code="invalid-value")
    if not expect and tool is None:
        sentence = "expected coordinates as expect: [Query.orders], or the name of a tool as tool: overdue"
        problems.add(section.place(), sentence, code="invalid-value")
    caller = SKIPS_POLICIES
    if "as" in section:
        try:
            caller = read_caller(section.text("as"), folder=folder)
        except UnknownCaller as exc:
            problems.add(section.place("as"), str(exc), code="invalid-value")
    return AuthorQuestion(ask=ask, expect=expect, tool=tool, caller=caller, at=section.place())


def _report_unknown(
    question: AuthorQuestion, tools: Sequence[str], views: Sequence[View], problems: Problems
) -> frozenset[str]:
    """Report expected names that nobody has, and return them. ``views``: of a caller who may everything."""
    unknown = set[str]()
    if question.tool and question.tool[0] not in tools:
        name, at = question.tool
        unknown.add(name)
        problems.add(at, f'there is no tool "{name}"{did_you_mean(name, tools)}', code="unknown-tool")
    for coordinate, at in question.expect:
        if not any(is_visible(view, coordinate) for view in views):
            types = [(name, members) for view in views for name, members in view.members.items()]
            names = (each for name, members in types for each in (name, *(f"{name}.{member}" for member in members)))
            sentence = f'no tool shows "{coordinate}"{did_you_mean(coordinate, names)}'
            problems.add(at, sentence, code="unknown-coordinate")
            unknown.add(coordinate)
    return frozenset(unknown)


def _answered(question: AuthorQuestion, finder_of: Callable[[NamedCaller], Finder], problems: Problems) -> Answered:
    ranks: list[tuple[str, int | None]] = []
    tokens = 0
    try:
        finder = finder_of(question.caller)
    except UnknownCaller as exc:
        problems.add(question.at, str(exc), code="invalid-value")
        return Answered(question=question, refused=str(exc))
    except AccessError as exc:
        names = [*(name for name, _ in question.expect), *([question.tool[0]] if question.tool else [])]
        return Answered(question=question, ranks=[(name, None) for name in names], refused=str(exc))
    if question.expect:
        answers = finder.in_schema(question.ask)
        ranks += [(name, _best_rank(answers, name)) for name, _ in question.expect]
        tokens += max((each.tokens for each in answers), default=0)
    if question.tool:
        answer = finder.among_tools(question.ask)
        name = question.tool[0]
        ranks.append((name, answer.names.index(name) + 1 if name in answer.names else None))
        tokens += answer.tokens
    return Answered(question=question, ranks=ranks, tokens=tokens)


def _best_rank(answers: Sequence[ModelAnswer], coordinate: str) -> int | None:
    """Return the rank of the first match that is the coordinate, a member of the type, or that leads through it."""
    ranks = (
        rank
        for answer in answers
        for rank, match in enumerate(answer.matches[:MOST], start=1)
        if coordinate in (match.coordinate, match.coordinate.partition(".")[0], *chain.from_iterable(match.paths))
    )
    return min(ranks, default=None)
