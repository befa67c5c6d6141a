"""Random questions to ``stile explain``, and its answers held against the view that is enforced.

Visible or not: the function is asked, by introspection and by lists, as that caller. By which way: the document of the
answer is validated against what the function shows that caller. By which rule: the endpoint is compiled anew without
the named rules, and then with no other rules.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from graphql import GraphQLSchema, build_schema, parse

from handler.audience.reach import (
    Entrance,
    Passage,
    Reach,
    Visitor,
    find_classes,
    hidden_parts,
    pattern_hidden_parts,
    rules_at,
)
from handler.compiler.operations.used_coordinates import coordinates_used
from handler.errors.authoring import CompileError
from handler.policy.evaluation import Evaluation
from tests.leaks.api import Loopback, running_loopback
from tests.leaks.policies import Caller
from tests.leaks.schemas import print_types
from tests.reach.endpoints import OPERATIONS, Key, RuledEndpoint, random_ruled_endpoint
from tests.reach.judge import (
    enforced_view,
    fault_of_document,
    has,
    introspected,
    is_of_no_object,
    listed,
    principal_of,
    shows,
)
from tests.support.function import Function, running_function

MAX_RULES = 5
"""Rules of an answer of which every combination is tried."""

MAX_STEPS = 6
"""Answers that may follow each other, each naming what still hides a coordinate after the rules before are gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An answer that is not the enforced view's, and how to get it again."""

    endpoint: RuledEndpoint
    question: str
    what: str

    def __str__(self) -> str:
        files = [f"--- {path}\n{text}" for path, text in self.endpoint.written.files.items()]
        return "\n".join([f"seed {self.endpoint.seed!r}, {self.question}: {self.what}", *files])


@dataclass(slots=True)
class ReachTally:
    """What came of cases."""

    cases: int = 0
    endpoints: int = 0
    kinds: Counter[str] = field(default_factory=Counter)  # what was compared
    faults: list[Fault] = field(default_factory=list)

    def __str__(self) -> str:
        compared = ", ".join(f"{count:,} {kind}" for kind, count in sorted(self.kinds.items()))
        answers = f"{self.cases:,} answers over {self.endpoints:,} endpoints"
        return f"{answers}: {len(self.faults):,} differ from the enforced view. Compared: {compared}"


def run_cases(cases: int, *, endpoints: int, seed: str = "reach", stop_after: int = 5) -> ReachTally:
    """Ask so many questions about so many endpoints; give up after some faults."""
    tally = ReachTally()
    with TemporaryDirectory() as folder, running_loopback() as loopback:
        for number in range(endpoints):
            endpoint = random_ruled_endpoint(f"{seed}-{number}", Path(folder), loopback.url)
            share = cases // endpoints + (number < cases % endpoints)
            _Questions(endpoint, tally, loopback).ask(share)
            if len(tally.faults) >= stop_after:
                break
    return tally


class _Questions:
    """Questions about one endpoint."""

    def __init__(self, endpoint: RuledEndpoint, tally: ReachTally, loopback: Loopback) -> None:
        loopback.api = endpoint.api
        self._endpoint = endpoint
        self._reach: Reach = endpoint.reach
        self._tally = tally
        self._random = Random(f"{endpoint.seed} questions")
        self._whole = build_schema(f"{print_types(endpoint.schema)}\n{_roots(endpoint)}")
        self._coordinates = list(_coordinates(endpoint))
        self._shown: dict[tuple[str, str], GraphQLSchema | None] = {}
        self._lists: dict[str, dict[str, str]] = {}

    def ask(self, cases: int) -> None:
        self._tally.endpoints += 1
        with running_function(self._reach.compiled, code_modules=["tests.leaks.passing_on"]) as function:
            for caller in self._endpoint.access.callers:
                self._judge_lists(function, caller)
            for _ in range(cases):
                self._one(function)

    def _one(self, function: Function) -> None:
        self._tally.cases += 1
        caller = self._random.choice(self._endpoint.access.callers)
        entrance = self._random.choice(self._reach.entrances)
        coordinate = self._random.choice(self._random.choice(self._likely(entrance)))
        visitor = self._visitor(self._reach, caller)
        question = f"{caller.name}, {entrance.name}, {coordinate}"
        try:
            passage = self._reach.passage(entrance, coordinate, visitor)
            what = self._fault(function, caller, coordinate, passage, visitor)
        except Exception:  # noqa: BLE001 - an answer that cannot be given is a fault
            what = traceback.format_exc()
        if what:
            self._tally.faults.append(Fault(endpoint=self._endpoint, question=question, what=what))

    def _likely(self, entrance: Entrance) -> list[list[str]]:
        """Coordinates to choose from: any, guarded ones, and those of an operation."""
        guarded = [each for each in self._reach.compiled.bundle.guards if "__" not in each]
        used = [each for each in entrance.made.uses if "__" not in each] if entrance.made else []
        return [each for each in (self._coordinates, guarded, used) if each]

    def _fault(self, function: Function, caller: Caller, coordinate: str, passage: Passage, visitor: Visitor) -> str:
        entrance = passage.entrance
        if entrance.takes_documents:
            return self._fault_of_view(function, caller, coordinate, passage, visitor)
        if entrance.fixed is not None:
            return self._fault_of_operation(function, caller, coordinate, passage, visitor)
        if entrance.kind == "code":
            return self._fault_of_code(function, caller, coordinate, passage)
        self._tally.kinds["tools that ask for nothing"] += 1
        return f"it is {passage.verdict} through {entrance.name}, which sends nothing" if passage.is_open else ""

    def _fault_of_view(
        self, function: Function, caller: Caller, coordinate: str, passage: Passage, visitor: Visitor
    ) -> str:
        schema = self._schema_of(function, passage.entrance, caller)
        if schema is None and passage.entrance.kind == "route":
            schema = self._unshown(caller)  # the policy of Query may close __schema alone
        if has(schema, coordinate) != passage.is_open:
            return f"it is {passage.verdict}, and the function says {has(schema, coordinate)}"
        if passage.is_open and schema is not None:
            self._tally.kinds["ways"] += 1
            if not passage.document:
                return "" if is_of_no_object(schema, coordinate) else "there is no way"
            return fault_of_document(passage.document, coordinate, schema)
        self._tally.kinds["rules of views"] += 1
        return self._fault_of_rules(passage.entrance, coordinate, caller, visitor)

    def _fault_of_operation(
        self, function: Function, caller: Caller, coordinate: str, passage: Passage, visitor: Visitor
    ) -> str:
        entrance = passage.entrance
        text = self._endpoint.operations[_tool_of(entrance)].text.partition("@mcpTool")
        document = parse(text[0] + (text[2].partition(")")[2] if text[1] else ""))
        owner, dot, rest = coordinate.partition(".")
        above = [each.name for each in getattr(self._whole.get_type(owner), "interfaces", ())] if dot else []
        names = {coordinate, *(f"{each}.{rest}" for each in above)}
        used = not names.isdisjoint(coordinates_used(document, self._whole))
        is_listed = self._is_usable(function, entrance, caller)
        if passage.verdict != "no" and not is_listed:
            return f"it is {passage.verdict}, and the function does not have {entrance.name}"
        if is_listed and used and passage.verdict == "no":
            return "the operation names it, and it is said not to lead there"
        if passage.verdict != "no" and not used and "$" not in passage.path and "." in coordinate:
            return f"the operation does not name it: {passage.path}"
        if passage.path.startswith("$") and entrance.tool and " > " in passage.path:
            self._tally.kinds["values"] += 1
            name = passage.path.rpartition(" > ")[2]
            if f'"{name}"' not in self._listed(function, caller).get(entrance.name, ""):
                return f"{passage.path} is not among the arguments"
        if not is_listed and used:
            self._tally.kinds["rules of operations"] += 1
            return self._fault_of_rules(entrance, coordinate, caller, visitor)
        self._tally.kinds["operations"] += 1
        return ""

    def _fault_of_code(self, function: Function, caller: Caller, coordinate: str, passage: Passage) -> str:
        self._tally.kinds["code"] += 1
        if passage.is_open and "pass_on" not in self._listed(function, caller):
            return "it may ask, and the function does not list it"
        if "pass_on" in self._listed(function, caller):
            shown = has(self._unshown(caller), coordinate)
            if shown and not passage.is_open:
                return "the caller's view has it, and the tool is said not to ask for it"
        return ""

    def _fault_of_rules(self, entrance: Entrance, coordinate: str, caller: Caller, visitor: Visitor) -> str:
        """Try the named rules: they alone hide, and without them, and those named then, nothing does."""
        named = self._named(self._endpoint, entrance, coordinate, caller)
        if named:
            others = self._endpoint.keys - named
            if self._is_there(self._endpoint.less(others), entrance, coordinate, caller):
                return f"with nothing but {sorted(named)} it is there"
            fault = self._idle(entrance, coordinate, caller, named)
            if fault:
                return fault
        gone: frozenset[Key] = frozenset()
        for _ in range(MAX_STEPS):
            if not named:
                break
            gone |= named
            less = self._endpoint.less(gone)
            if self._is_there(less, entrance, coordinate, caller):
                return ""
            named = self._named(less, entrance, coordinate, caller) - gone
        all_of_them = self._endpoint.less(self._endpoint.keys)
        if self._is_there(all_of_them, entrance, coordinate, caller):
            return f"without {sorted(gone)} it is not there, and no other rule is named"
        return ""  # no rule hides it: nothing of the schema leads there

    def _idle(self, entrance: Entrance, coordinate: str, caller: Caller, named: frozenset[Key]) -> str:
        """Name a rule that changes nothing, whichever of the other named rules are there."""
        if not 1 < len(named) <= MAX_RULES:
            return ""
        others = self._endpoint.keys - named
        there = {
            kept: self._is_there(self._endpoint.less(others | (named - set(kept))), entrance, coordinate, caller)
            for size in range(len(named) + 1)
            for kept in combinations(sorted(named), size)
        }
        self._tally.kinds["combinations of rules"] += len(there)
        for rule in named:
            with_it = (kept for kept in there if rule in kept)
            if all(there[kept] == there[tuple(each for each in kept if each != rule)] for kept in with_it):
                return f"{rule} is named beside {sorted(named)}, and changes nothing"
        return ""

    def _named(self, endpoint: RuledEndpoint, entrance: Entrance, coordinate: str, caller: Caller) -> frozenset[Key]:
        reach = endpoint.reach
        same = next(each for each in reach.entrances if each.name == entrance.name)
        causes = rules_at(reach, same, coordinate, self._visitor(reach, caller))
        return frozenset(endpoint.key_of(cause.rule) for each in causes.values() for cause in each)

    def _is_there(self, endpoint: RuledEndpoint, entrance: Entrance, coordinate: str, caller: Caller) -> bool:
        """Whether a coordinate is there, by the loaded endpoint that enforces."""
        try:
            loaded = endpoint.reach.endpoint
        except CompileError:
            return False  # nothing is left of a tool
        evaluation: Evaluation = loaded.evaluation_of(principal_of(caller))
        if entrance.takes_documents:
            tool = entrance.name if entrance.view_of else ""
            return shows(enforced_view(loaded, tool, evaluation), coordinate)
        if entrance.tool:
            return loaded.is_visible(loaded.tools[entrance.name], evaluation)
        persisted = loaded.operations[entrance.name.rpartition(" ")[2]][0]
        return evaluation.may_meet(persisted.mask, persisted.operation.variables)

    def _is_usable(self, function: Function, entrance: Entrance, caller: Caller) -> bool:
        if entrance.tool:
            return entrance.name in self._listed(function, caller)
        return self._is_there(self._endpoint, entrance, "", caller)

    def _judge_lists(self, function: Function, caller: Caller) -> None:
        """Compare whole lists for one caller: tools, hidden parts, parts hidden by patterns, and classes."""
        visitor = self._visitor(self._reach, caller)
        for what in (*self._faults_of_lists(function, caller, visitor), *self._faults_of_classes(visitor)):
            self._tally.faults.append(Fault(endpoint=self._endpoint, question=caller.name, what=what))

    def _faults_of_lists(self, function: Function, caller: Caller, visitor: Visitor) -> Iterator[str]:
        self._tally.kinds["lists"] += 1
        tools = {each.name: each for each in self._reach.entrances if each.tool}
        verdicts = {name: self._reach.standing(each, visitor).verdict for name, each in tools.items()}
        open_ones = {name for name, verdict in verdicts.items() if verdict != "no"}
        if open_ones != set(self._listed(function, caller)):
            yield f"{verdicts}, and the function lists {set(self._listed(function, caller))}"
        everything = self._unshown(caller)
        there = [each for each in hidden_parts(self._reach, visitor) if has(everything, each)]
        if there:
            yield f"said to be hidden, and there: {there}"
        open_to_caller = visitor.evaluation.meets
        guards = self._reach.compiled.bundle.guards
        silent = [
            each
            for each, mask in guards.items()
            if not open_to_caller(mask) and each not in hidden_parts(self._reach, visitor)
        ]
        if silent:
            yield f"guarded, and not said to be hidden: {silent}"
        for entrance in tools.values():
            schema = self._schema_of(function, entrance, caller) if entrance.view_of else None
            there = [each for each in pattern_hidden_parts(self._reach, entrance, visitor) if has(schema, each)]
            if there:
                yield f"said to be hidden by the patterns of {entrance.name}, and there: {there}"

    def _faults_of_classes(self, visitor: Visitor) -> Iterator[str]:
        """The holder of a key reaches what the bearer of some token reaches, unless not all classes were found."""
        coordinate = self._random.choice(self._coordinates)
        classes, complete = find_classes(self._reach, coordinate)
        if not complete or visitor.principal.unrestricted or visitor.principal.claims is None:
            return
        self._tally.kinds["classes"] += 1
        entrances = [each.entrance for each in classes[0].passages]
        own = [self._reach.passage(each, coordinate, visitor).verdict for each in entrances]
        tokens = [
            [passage.verdict for passage in each.passages]
            for each in classes
            if each.witnesses[0].principal.kind == "token"
        ]
        if own not in tokens:
            yield f"{coordinate}: {visitor.principal.claims} is in no class: {own} is not among {tokens}"

    def _visitor(self, reach: Reach, caller: Caller) -> Visitor:
        return reach.visitor_of(principal_of(caller), caller.name)

    def _schema_of(self, function: Function, entrance: Entrance, caller: Caller) -> GraphQLSchema | None:
        key = (entrance.name if entrance.view_of else "", caller.name)
        if key not in self._shown:
            self._shown[key] = introspected(function, key[0], caller)
        return self._shown[key]

    def _unshown(self, caller: Caller) -> GraphQLSchema | None:
        """The schema of the whole endpoint for a caller, from the view, since a policy may close introspection."""
        key = ("view", caller.name)
        if key not in self._shown:
            loaded = self._reach.endpoint
            view = enforced_view(loaded, "", loaded.evaluation_of(principal_of(caller)))
            from handler.graph.sdl import print_view

            self._shown[key] = (
                build_schema(print_view(view), assume_valid=True, assume_valid_sdl=True) if view.root_fields() else None
            )
        return self._shown[key]

    def _listed(self, function: Function, caller: Caller) -> dict[str, str]:
        if caller.name not in self._lists:
            self._lists[caller.name] = listed(function, caller)
        return self._lists[caller.name]


def _tool_of(entrance: Entrance) -> str:
    """The tool that runs the operation, or ``kept``."""
    named = {name: tool for tool, name in OPERATIONS.items()}
    return entrance.name if entrance.tool else named[entrance.name.rpartition(" ")[2]]


def _roots(endpoint: RuledEndpoint) -> str:
    return f"schema {{ query: {endpoint.schema.query} mutation: {endpoint.schema.mutation} }}"


def _coordinates(endpoint: RuledEndpoint) -> Iterable[str]:
    schema = endpoint.schema
    yield from (coordinate for coordinate, _ in schema.fields())
    yield from (coordinate for coordinate, _ in schema.inputs())
    yield from (name for name, type_ in schema.types.items() if type_.kind != "scalar")
    yield from (f"@{name}" for name in schema.directives)


def keys_in_words(keys: Collection[Key]) -> str:
    """Rules in words."""
    return ", ".join(" ".join(each) for each in sorted(keys))
