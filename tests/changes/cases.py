"""Random edits of random endpoints: what any caller reaches otherwise has to be in the differences, and nothing else.

The oracle is the view that the function enforces, built for one caller at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from handler.audience.caller_classes import MAX_CLASSES
from handler.audience.ways import Published, names_seen, version_of
from handler.bundle.identity import Issuer
from handler.bundle.tools import CodeTool, GraphQLTool, Operation, PrescribedTool, Tool
from handler.commands.changes.endpoint_changes import EndpointChanges, compare
from handler.commands.local.local_endpoint import local_endpoint
from handler.compiler.compile import Compiled, compile_endpoint
from handler.errors.authoring import CompileError
from handler.graph.documents.used_fields import fields_of_text
from handler.graph.index import read_index
from handler.graph.view import View
from handler.policy.evaluation import Evaluation
from handler.policy.guarded_schema import GuardedSchemas
from handler.server.auth.principal import ANONYMOUS, Principal, has_scopes, principal_of_key
from tests.changes.edits import Source, edited
from tests.leaks.endpoint import FLAT, OPERATIONS, PASSING_ON, LeakEndpoint, random_endpoint
from tests.leaks.policies import print_config, print_schema_definition
from tests.leaks.schemas import print_types
from tests.support.endpoints import write_endpoint
from tests.support.kits import with_kit

URL = "http://127.0.0.1:1/graphql"

ISSUER = Issuer(
    issuer="https://issuer.example",
    audiences=("api",),
    subject="",
    required_claims=(),
    algorithms=("RS256",),
    jwks_url="https://issuer.example/keys",
    keys=(),
    leeway_s=0,
)

POOL: Mapping[str, tuple[Any, ...]] = {
    "role": (None, "hr", "it", ["hr"]),
    "groups": (None, "x", "y", ["x"], ["y"], ["x", "y"]),
    "level": (None, 2, 3, 4, "5", 3.5),
}

FEW_CLASSES = 6
"""Classes that are told apart in a fifth of the cases: then differences may be unknown, but none may be missing."""

Reached = frozenset[tuple[str, str]]
"""Names of ways in, each with a coordinate behind it; an empty one stands for the tool itself."""


@dataclass(slots=True)
class ChangeTally:
    """What came of cases. ``faults`` are differences that were not told, or told and not there."""

    cases: int = 0
    refused: int = 0  # edits that the compiler refuses
    differing: int = 0  # edits that change what somebody reaches
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.cases:,} edits: {self.differing:,} changed what a caller reaches, {self.refused:,} more were "
            f"refused by the compiler, {len(self.faults)} faults"
        )


def run_cases(
    cases: int, *, endpoints: int, seed: str = "changes", stop_after: int = 5, tally: ChangeTally | None = None
) -> ChangeTally:
    """Run so many random edits over so many random endpoints. A ``tally`` that is given counts while they run."""
    tally = tally or ChangeTally()
    with TemporaryDirectory() as folder:
        for number in range(endpoints):
            share = cases // endpoints + (number < cases % endpoints)
            _run_endpoint(f"{seed}-{number}", share, Path(folder), tally)
            if len(tally.faults) >= stop_after:
                break
    return tally


def _run_endpoint(seed: str, share: int, folder: Path, tally: ChangeTally) -> None:
    endpoint = random_endpoint(seed, folder, URL)
    random = Random(f"{seed} edits")
    source, before = Source(schema=endpoint.schema, access=endpoint.access), Version(with_issuer(endpoint.compiled))
    for number in range(share):
        made, after = _edited(endpoint, source, random, folder, tally)
        few = random.random() < 0.2
        fault = judged(before, after, tally, most=FEW_CLASSES if few else MAX_CLASSES)
        tally.cases += 1
        if fault:
            tally.faults.append(f"seed {seed!r}, edit {number}: {fault}")
            return
        if random.random() < 0.3:
            source, before = made, after


def _edited(
    endpoint: LeakEndpoint, source: Source, random: Random, folder: Path, tally: ChangeTally
) -> tuple[Source, Version]:
    while True:
        made = edited(source, random)
        definition = print_schema_definition(made.schema, made.access, {"prescribed": "Prescribed"})
        config = print_config(made.access, URL).replace('"anonymous": "allow"', f'"anonymous": "{made.anonymous}"')
        files = {
            "index.graphql": f"{definition}\n{print_types(made.schema)}",
            "config.yaml": config,
            OPERATIONS: endpoint.operations["prescribed"].text,
            "operations/flat.graphql": endpoint.operations[FLAT].text,
        }
        try:
            own = compile_endpoint(write_endpoint(folder / str(random.random()), files, name="api/leaks"))
        except CompileError:
            tally.refused += 1
            continue
        return made, Version(with_issuer(with_kit(own, f"{PASSING_ON}:kit")))


def with_issuer(compiled: Compiled) -> Compiled:
    """The endpoint for bearers of tokens, too."""
    bundle = compiled.bundle
    return replace(compiled, bundle=replace(bundle, identity=replace(bundle.identity, issuers=(ISSUER,))))


class Version:
    """One compiled version, with what each caller reaches by the view that the function enforces."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled
        self.bundle = compiled.bundle
        self.published: Published = version_of(compiled)
        self._endpoint = local_endpoint(compiled)
        self._index = read_index(compiled.index, sha256=compiled.bundle.index)
        self._views: dict[tuple[str, frozenset[int]], frozenset[str]] = {}
        self._fields: dict[str, frozenset[str]] = {}

    def principal(self, caller: str | Mapping[str, Any]) -> Principal | None:
        """A caller by the name of a key, or by claims; ``None`` if the version does not admit it."""
        if caller == "anonymous":
            return ANONYMOUS if self.bundle.access.anonymous == "allow" else None
        if isinstance(caller, str):
            keys = {key.name: key for key in self.bundle.identity.api_keys}
            return principal_of_key(keys[caller]) if caller in keys else None
        return Principal(kind="token", claims=caller)

    def reached(self, caller: str | Mapping[str, Any]) -> Reached:
        """What a caller reaches."""
        principal = self.principal(caller)
        return frozenset() if principal is None else frozenset(self._reached(principal))

    def _reached(self, principal: Principal) -> Iterator[tuple[str, str]]:
        evaluation = self._endpoint.evaluation_of(principal)
        outcome = evaluation.outcome(self.bundle.graphql.conditions)
        for tool in self.bundle.tools:
            if not self._endpoint.is_visible(tool, evaluation) or not has_scopes(tool.options.scopes, principal):
                continue
            seen = self._behind(tool, evaluation)
            if seen is None:
                continue
            yield tool.name, ""
            yield from ((tool.name, each) for each in seen)
        if self.bundle.graphql.mode == "on":
            yield from (("/graphql", each) for each in self._seen(None, outcome))
        for document in self._endpoint.documents.values():
            for persisted in document:
                if evaluation.may_meet(persisted.mask, persisted.operation.variables):
                    name = f"/graphql {persisted.operation.name}"
                    yield from ((name, each) for each in self._read(persisted.operation.text))

    def _behind(self, tool: Tool, evaluation: Evaluation) -> frozenset[str] | None:
        """The coordinates behind a tool; ``None`` for one that leads to none by itself."""
        match tool:
            case GraphQLTool():
                return self._seen(tool, evaluation.outcome(tool.conditions))
            case PrescribedTool():
                return self._read(tool.operation.text)
            case CodeTool():
                return self._seen(None, evaluation.outcome(self.bundle.graphql.conditions))
            case _:
                return None

    def named(self, caller: str | Mapping[str, Any]) -> dict[str, frozenset[str]]:
        """The arguments and values that the listed schemas of open operations show to a caller."""
        principal = self.principal(caller)
        return {} if principal is None else dict(self._named(principal))

    def _named(self, principal: Principal) -> Iterator[tuple[str, frozenset[str]]]:
        evaluation = self._endpoint.evaluation_of(principal)
        for name, schema, mask, conditions, operation in self._schemas():
            if evaluation.may_meet(mask, operation.variables):
                key = (f"names of {name}", evaluation.outcome(conditions))
                if key not in self._views:
                    seen = GuardedSchemas().seen_by(schema, key[1])
                    self._views[key] = frozenset(names_seen(seen, 1, lambda _: 1))
                yield name, self._views[key]

    def _schemas(self) -> Iterator[tuple[str, Any, frozenset[int], frozenset[int], Operation]]:
        for tool in self.bundle.tools:
            if isinstance(tool, PrescribedTool):
                yield tool.name, tool.arguments, tool.mask, tool.conditions, tool.operation
        for document in self._endpoint.documents.values():
            for each in document:
                name = f"/graphql {each.operation.name}"
                yield name, each.variables, each.mask, each.conditions, each.operation

    @cached_property
    def all_names(self) -> Mapping[str, frozenset[str]]:
        """The arguments and values that schemas of operations have, whoever sees them."""
        return {name: frozenset(names_seen(schema, 1, lambda _: 1)) for name, schema, *_ in self._schemas()}

    def _seen(self, tool: GraphQLTool | None, outcome: frozenset[int]) -> frozenset[str]:
        key = (tool.name if tool else "", outcome)
        if key not in self._views:
            self._views[key] = frozenset(coordinates_of(self._endpoint.schema.view(tool, outcome)))
        return self._views[key]

    def _read(self, text: str) -> frozenset[str]:
        if text not in self._fields:
            self._fields[text] = fields_of_text(text, self._index, max_tokens=None)
        return self._fields[text]


def coordinates_of(view: View) -> Iterator[str]:
    """Every coordinate of a view."""
    for owner, members in view.members.items():
        yield owner
        for member in members:
            yield f"{owner}.{member}"
            if view.index.kind(owner) in ("object", "interface"):
                yield from (f"{owner}.{member}({each}:)" for each in view.arguments(owner, member))
    for name, directive in view.directives().items():
        yield f"@{name}"
        yield from (f"@{name}({each}:)" for each in directive.arguments)


CALLERS: tuple[Mapping[str, Any], ...] = tuple(
    {name: value for name, value in zip(POOL, values, strict=True) if value is not None}
    for values in product(*POOL.values())
)


def judged(before: Version, after: Version, tally: ChangeTally, *, most: int = MAX_CLASSES) -> str:
    """A difference of reach that is not told, or one that is told and not there; empty if there is none."""
    made = compare(before.published, after.published, most_classes=most)
    unknown = _told(made, "reach-unknown")
    told = {"reach-gained": _told(made, "reach-gained"), "reach-lost": _told(made, "reach-lost", "reads-less")}
    keys = {key.name for version in (before, after) for key in version.bundle.identity.api_keys}
    found: dict[str, set[tuple[str, str]]] = {"reach-gained": set(), "reach-lost": set()}
    callers: list[str | Mapping[str, Any]] = ["anonymous", *sorted(keys), *CALLERS]
    for caller in callers:
        was, now = before.reached(caller), after.reached(caller)
        for code, differing in (("reach-gained", now - was), ("reach-lost", was - now)):
            coordinates = {each for each in differing if each[1]}
            missing = coordinates - told[code] - unknown
            if missing:
                return f"{caller}: {code} of {sorted(missing)[:5]} is not told"
            found[code] |= coordinates
        fault = _names_judged(before, after, caller, told, found)
        if fault:
            return fault
        if caller == "anonymous":
            fault = _openings_judged(before, after, made)
            if fault:
                return fault
    tally.differing += any(found.values())
    for code, pairs in told.items():
        invented = pairs - found[code]
        if invented:
            return f"{code} of {sorted(invented)[:5]} is told, and no caller of {len(CALLERS)} shows it"
    return ""


def _names_judged(
    before: Version, after: Version, caller: Any, told: Mapping[str, set[tuple[str, str]]], found: Any
) -> str:
    """As ``judged``, for the names in schemas of operations that are open in both versions, and that both have."""
    was, now = before.named(caller), after.named(caller)
    for name in {**was, **now}:
        known = before.all_names.get(name, frozenset())
        both = known & after.all_names.get(name, frozenset())
        old, new = was.get(name, frozenset()) & both, now.get(name, frozenset())
        for code, differing in (("reach-gained", new - old), ("reach-lost", old - new)):
            pairs = {(name, each) for each in differing}
            if name in was and name in now and pairs - told[code]:
                return f"{caller}: {code} of the names {sorted(pairs - told[code])[:5]} is not told"
            found[code] |= pairs
    return ""


def _openings_judged(before: Version, after: Version, made: EndpointChanges) -> str:
    """An opening to callers without a credential that is not told, or one that is told and not there."""
    was, now = before.reached("anonymous"), after.reached("anonymous")
    known = {coordinate for _, coordinate in was}
    missing = {coordinate for _, coordinate in now if coordinate} - known
    missing -= {coordinate for change in made.changes if change.for_everybody for coordinate in change.coordinates}
    tools = {way for way, coordinate in now if not coordinate} - {way for way, coordinate in was if not coordinate}
    tools -= {way for change in made.changes if change.for_everybody for way in change.ways}
    if missing or tools:
        return f"{sorted(missing)[:5]} and {sorted(tools)} open to everybody, and that is not told"
    named = {(way, name) for way, names in after.named("anonymous").items() for name in names}
    named -= {(way, name) for way, names in before.named("anonymous").items() for name in names}
    opened = {
        (way, coordinate)
        for change in made.changes
        if change.for_everybody and change.code == "reach-gained"
        for way in change.ways
        for coordinate in change.coordinates
    }
    invented = opened - (now - was) - named
    return f"{sorted(invented)[:5]} are told as openings, and nothing is newly open" if invented else ""


def _told(made: EndpointChanges, *codes: str) -> set[tuple[str, str]]:
    return {
        (way, coordinate)
        for change in made.changes
        if change.code in codes
        for way in change.ways
        for coordinate in change.coordinates
    }
