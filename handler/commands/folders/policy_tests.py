"""The expectations of ``policies.test.yaml``, judged by the endpoint as it is served."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from handler.audience.reach import OPEN_VERDICTS, Causes, Entrance, Passage, Reach, Visitor, rules_at, rules_of
from handler.audience.view_paths import USUAL_ROOTS, resolve_in
from handler.bundle.tools import GraphQLTool, PrescribedTool, Tool
from handler.commands.local.callers import NOTATION, NamedCaller, read_caller
from handler.commands.local.local_endpoint import stored
from handler.commands.local.local_server import local_http, local_services
from handler.compiler.access.policies import Rule
from handler.compiler.compile import Compiled, compile_explained
from handler.compiler.problems import Place, Problems, place_text
from handler.compiler.source.files import POLICY_TESTS, EndpointFiles, join
from handler.compiler.source.yaml_section import Section
from handler.compiler.source.yaml_tree import parse_yaml_list
from handler.errors.access import AccessError
from handler.errors.authoring import Problem, UnknownCaller, UnknownCoordinate
from handler.errors.calls import CallError
from handler.graph.documents.document_check import check_document
from handler.graph.documents.partial_schema import ViewSchemas
from handler.graph.view import build_view
from handler.policy.evaluation import OPEN
from handler.server.auth.principal import DEVELOPMENT, Principal
from handler.server.context import Caller
from handler.server.graphql_documents import prepare_arguments
from handler.server.mcp.tools_call import prepare_prescribed_call
from handler.strict_json import JSONObject
from handler.text.sentences import did_you_mean, some

MAX_REASONS = 3
"""Rules, and ways to a coordinate, that a sentence names."""


def policy_problems(
    folder: Path, compiled: Compiled, *, stage: str | None, endpoint: str | None
) -> tuple[Problem, ...]:
    """Return the expectations of an endpoint that are not met, and the mistakes of their file."""
    problems = Problems()
    root = compiled.env_file.parent.relative_to(folder)
    files, file = EndpointFiles(folder, problems), (root / POLICY_TESTS).as_posix()
    sections = read_entries(files, file, problems, stage=stage, keys=KEYS)
    read = [_entry(section, problems, folder=folder / root) for section in sections]
    entries = [entry for entry in read if entry]
    trial = Problems()
    _judge(Reach(compiled, None), entries, trial)
    if trial.errors:
        explained, provenance = compile_explained(folder, stage=stage, endpoint=endpoint, environ=os.environ)
        _judge(Reach(explained, provenance), entries, problems)  # rules behind guards are for sentences alone
    return problems.error().problems


def _judge(reach: Reach, entries: Iterable[Expectation], problems: Problems) -> None:
    """Report the expectations that are not met."""
    for entry in entries:
        try:
            judge = _Judge(reach, reach.visitor(entry.caller), problems)
        except UnknownCaller as exc:
            problems.add(entry.at, str(exc), code="unknown-caller")
            continue
        for name, at, wanted in entry.parts:
            judge.expect(name, at, wanted=wanted)
        if entry.exactly is not None:
            judge.expect_exactly(entry.exactly, at=entry.exactly_at)
        for each in entry.tries:
            judge.expect_call(each)


class _Judge:
    """The judge of one caller's expectations."""

    def __init__(self, reach: Reach, visitor: Visitor, problems: Problems) -> None:
        self._reach = reach
        self._visitor = visitor
        self._problems = problems
        self._tools = {
            name: entrance
            for entrance in reach.entrances
            if entrance.tool is not None
            for name in (entrance.tool.name, *entrance.tool.options.aliases)
        }

    def expect(self, name: str, at: Place, *, wanted: bool) -> None:
        """Expect that the caller has a tool or reaches a coordinate, or does not if it is not ``wanted``."""
        entrance = self._tools.get(name)
        coordinate = "" if entrance else self._coordinate(name, at)
        if entrance and self._has(entrance) != wanted:
            self._refuse(at, self._lacking(entrance) if wanted else self._having(entrance))
        elif coordinate:
            ways = [each for each in self._reach.passages(coordinate, self._visitor) if each.is_open]
            if bool(ways) != wanted:
                self._refuse(at, self._unreached(coordinate) if wanted else self._reached(coordinate, ways))

    def expect_exactly(self, expected: Iterable[Named], *, at: Place) -> None:
        """Expect that the caller has these tools and no others."""
        has = {name for name, entrance in self._tools.items() if name == entrance.name and self._has(entrance)}
        tools = [(self._tools[name], place) for name, place in expected if self._is_tool(name, place)]
        for entrance, place in tools:
            if entrance.name not in has:
                self._refuse(place, self._lacking(entrance))
        for name in sorted(has - {entrance.name for entrance, _ in tools}):
            self._refuse(at, f"{self._having(self._tools[name])}; it is not among the expected tools")

    def expect_call(self, tried: Try) -> None:
        """Expect that a call is let through, or refused before anything is sent."""
        if not self._is_tool(tried.tool, tried.at):
            return
        entrance = self._tools[tried.tool]
        if not isinstance(entrance.tool, PrescribedTool | GraphQLTool):
            self._unknown(tried.at, f'"{tried.tool}" is no operation: a tool in Python cannot be tried')
            return
        if misfit := arguments_misfit(self._reach, entrance.tool, tried.arguments):
            self._unknown(tried.at, f"this is a call of nobody: {misfit}")
            return
        refusal = self._refusal(entrance, entrance.tool, tried)
        if bool(refusal) != tried.refused:
            sentence = refusal or "the call is let through: expected that it is refused"
            self._refuse(tried.at, f"{self._visitor.label} calls {tried.tool}: {sentence}")

    def _refusal(self, entrance: Entrance, tool: PrescribedTool | GraphQLTool, tried: Try) -> str:
        """Return the reason for which a call is refused before anything is sent; empty string if it is let through.

        These are the steps of a call up to the request to the API, as the function takes them.
        """
        if not self._has(entrance):
            return self._lacking(entrance)
        compiled, endpoint = self._reach.compiled, self._reach.endpoint
        with closing(local_http()) as http:
            services = local_services(stored(compiled), http, find=lambda _: compiled)
            principal, evaluation = self._visitor.principal, self._visitor.evaluation
            caller = Caller(endpoint=endpoint, principal=principal, evaluation=evaluation, services=services)
            try:
                arguments = endpoint.validator(tool, evaluation).read(tried.arguments)
                if isinstance(tool, PrescribedTool):
                    prepare_prescribed_call(caller, tool, arguments)
                else:
                    asyncio.run(prepare_arguments(caller, tool, arguments))
            except (AccessError, CallError) as exc:
                return _first_line(exc)
        return ""

    def _has(self, entrance: Entrance) -> bool:
        return self._reach.standing(entrance, self._visitor, counted=False).verdict in OPEN_VERDICTS

    def _lacking(self, entrance: Entrance) -> str:
        """Return the sentence that a caller lacks a tool, with the reason."""
        note = self._reach.standing(entrance, self._visitor, counted=False).note
        reason = note or _causes_in_words(rules_of(self._reach, entrance, self._visitor)) or "nothing is left of it"
        return f"{self._visitor.label} does not have {entrance.name}: {reason}"

    def _having(self, entrance: Entrance) -> str:
        """Return the sentence that a caller has a tool, with the rules that let the caller in."""
        made = entrance.made
        coordinates = {*(made.uses if made else ()), f"tool {entrance.name}", made.runs if made else ""}
        if isinstance(entrance.tool, GraphQLTool):
            view = self._reach.view(entrance, self._visitor)
            roots = view.root_fields().items()
            coordinates |= {f"{view.index.roots[kind]}.{name}" for kind, names in roots for name in names}
        return f"{self._visitor.label} has {entrance.name}, but should not{self._opening(coordinates)}"

    def _unreached(self, coordinate: str) -> str:
        """Return the sentence that a caller does not reach a coordinate, with the reason."""
        causes: Causes = {}
        for entrance in self._reach.entrances:
            if self._reach.names(entrance, coordinate):
                causes |= rules_at(self._reach, entrance, coordinate, self._visitor)
        reason = self._visitor.refusal or _causes_in_words(causes) or "no tool of this endpoint reads it"
        return f"{self._visitor.label} does not reach {coordinate}: {reason}"

    def _reached(self, coordinate: str, ways: list[Passage]) -> str:
        """Return the sentence that a caller reaches a coordinate, with the ways there and the rules that open them."""
        names_of_ways = [f"{way.entrance.name} ({way.document or way.path or way.verdict})" for way in ways]
        coordinates = {coordinate, coordinate.partition(".")[0], coordinate.partition("(")[0]}
        by = some(names_of_ways, most=MAX_REASONS)
        return f"{self._visitor.label} reaches {coordinate}, but should not: by {by}{self._opening(coordinates)}"

    def _opening(self, coordinates: set[str]) -> str:
        """Name the rules on coordinates that the caller meets."""
        compiled, meets = self._reach.compiled, self._visitor.evaluation.meets
        rules = [
            rule for rule in (*compiled.kit_rules, *compiled.rules) if not coordinates.isdisjoint(rule.coordinates)
        ]
        openings = [_rule_in_words(rule) for rule in rules if rule.mask == OPEN or meets(rule.mask)]
        return f"; open by {some(openings, most=MAX_REASONS)}" if openings else "; no rule guards it"

    def _coordinate(self, text: str, at: Place) -> str:
        """Return the coordinate that a text names; an empty string after reporting that it names none."""
        index, is_name = self._reach.index, "." not in text and not text.startswith("@")
        if index is None or (is_name and text not in index and text not in USUAL_ROOTS):
            names = [*self._tools, *(index or ())]
            self._unknown(at, f'there is no tool and no type "{text:.80}"{did_you_mean(text, names)}')
            return ""
        try:
            return resolve_in(index, text)
        except UnknownCoordinate as exc:
            self._unknown(at, f'"{text:.80}": {exc}')
            return ""

    def _is_tool(self, text: str, at: Place) -> bool:
        if text not in self._tools:
            self._unknown(at, f'there is no tool "{text:.80}"{did_you_mean(text, self._tools)}')
        return text in self._tools

    def _unknown(self, at: Place, sentence: str) -> None:
        self._problems.add(at, sentence, code="unknown-expectation")

    def _refuse(self, at: Place, sentence: str) -> None:
        self._problems.add(at, sentence, code="unmet-expectation")


def arguments_misfit(reach: Reach, tool: Tool, arguments: JSONObject) -> str:
    """Return the reason for which arguments fit for nobody, whatever the policies are; empty string if they fit."""
    everybody = reach.visitor_of(DEVELOPMENT, "").evaluation
    try:
        arguments = reach.endpoint.validator(tool, everybody).read(arguments)
        if isinstance(tool, GraphQLTool) and reach.index is not None:
            check_document(
                arguments["query"],
                schemas=ViewSchemas(build_view(reach.index, ())),
                operation_name=arguments.get("operationName"),
                variables=arguments.get("variables") or {},
                limits=tool.limits,
                for_model=True,
            )
    except CallError as exc:
        return _first_line(exc)
    return ""


def _first_line(reason: Exception) -> str:
    return str(reason).partition("\n")[0]


def _causes_in_words(causes: Causes) -> str:
    rules = [f"{coordinate}: {_rule_in_words(cause.rule)}" for coordinate, each in causes.items() for cause in each]
    return some(list(dict.fromkeys(rules)), most=MAX_REASONS) if rules else ""


def _rule_in_words(rule: Rule) -> str:
    return f"{place_text(rule.place)}: {rule.text}" if rule.place else rule.text


KEYS = ("as", "sees", "not", "tools", "may", "may_not", "stages")
EXPECTING = ("sees", "not", "tools", "may", "may_not")
LISTS = ("sees", "not", "may", "may_not")
EXAMPLES = {"as": "{as: anonymous, tools: {exactly: []}}", "tool": "{tool: NAME, as: anonymous, holds: {data: {}}}"}
"""First key of an entry -> an entry of its file."""

MAX_TESTS_BYTES = 1_000_000

Named = tuple[str, Place]


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """A call of a tool, which is expected to be let through or refused."""

    tool: str
    arguments: JSONObject
    at: Place
    refused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """One entry of the file: the expected reach of one caller."""

    caller: NamedCaller
    at: Place  # of the caller
    parts: Sequence[tuple[str, Place, bool]]  # a tool or coordinate, and true if the caller should have it
    exactly: Sequence[Named] | None  # all tools that the caller may call; ``None`` if not given
    exactly_at: Place
    tries: Sequence[Try]


def read_entries(
    files: EndpointFiles, file: str, problems: Problems, *, stage: str | None, keys: Sequence[str]
) -> Iterator[Section]:
    """Yield the entries of a file for a stage, and report unknown keys and stages, and that there is no entry."""
    text = files.read(file, max_bytes=MAX_TESTS_BYTES) if files.exists(file) else None
    node = None if text is None else parse_yaml_list(text, file, problems, key="tests")
    top = Section(node, file=file, problems=problems, variables=None)
    if text is not None and not top.has_items("tests") and not problems.errors:
        sentence = f"it expects nothing: write an entry, as - {EXAMPLES[keys[0]]}, or remove the file"
        problems.add(Place(file), sentence, code="unknown-expectation")
    for section in top.sections("tests"):
        section.expect(*keys)
        stages = section.texts("stages")
        for name, at in stages:
            if name and not files.exists(join(file, f"config.{name}.yaml")):  # the entry would never be judged
                sentence = f'there is no stage "{name:.80}": config.{name:.80}.yaml does not exist'
                problems.add(at, sentence, code="unknown-expectation")
        if not stages or (stage or "") in [name for name, _ in stages]:
            yield section


def _entry(section: Section, problems: Problems, *, folder: Path) -> Expectation | None:
    caller = entry_caller(section, problems, folder=folder)
    if not any(key in section for key in EXPECTING):
        section.refuse("sees", f"one of {', '.join(EXPECTING)}: the entry expects nothing")
    for key in LISTS:
        if key in section and not section.has_items(key):
            section.refuse(key, "at least one: an empty list expects nothing")
    tools = section.section("tools")
    tools.expect("exactly")
    if "tools" in section and "exactly" not in tools:
        section.refuse("tools", "{exactly: […]}, with [] for a caller without tools")
    tries = [*_tries(section, "may", refused=False), *_tries(section, "may_not", refused=True)]
    if caller is None:
        return None
    return Expectation(
        caller=caller,
        at=section.place("as"),
        parts=[(*each, key == "sees") for key in ("sees", "not") for each in section.texts(key)],
        exactly=tools.texts("exactly") if "exactly" in tools else None,
        exactly_at=tools.key_place("exactly"),
        tries=tries,
    )


def entry_caller(section: Section, problems: Problems, *, folder: Path) -> NamedCaller | None:
    """Return the caller in the key ``as`` of an entry; ``None`` after reporting that there is none."""
    if section.is_mapping("as"):
        inline = section.section("as")
        inline.expect("claims")
        principal = Principal(kind="token", name="claims", claims=inline.json_object("claims"))
        return NamedCaller(text=f"the caller of line {section.place('as').line}", known=principal)
    text = section.text("as")
    if not text:
        section.refuse("as", f"{NOTATION}, or {{claims: {{…}}}}")
        return None
    try:
        return read_caller(text, folder=folder)
    except UnknownCaller as exc:
        problems.add(section.place("as"), str(exc), code="unknown-caller")
        return None


def _tries(section: Section, key: str, *, refused: bool) -> Iterator[Try]:
    for each in section.sections(key, short="tool"):
        each.expect("tool", "arguments")
        arguments = each.json_object("arguments") if "arguments" in each else {}
        yield Try(tool=each.text("tool"), arguments=arguments, at=each.place("tool"), refused=refused)
