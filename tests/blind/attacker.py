"""A blind search: an attacker who knows the whole schema asks a view for the values of its hidden fields.

Every input of the schema, down to a depth, is given in requests of its own, and with values by which numbers are found
by halving, text letter by letter, and the order of rows at once. Two worlds that differ in hidden fields alone have to
answer every request of the attacker with the same bytes: then nothing of them can be recovered, by whatever search.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from graphql import GraphQLSchema, build_client_schema, get_introspection_query, parse, validate

from tests.blind.model import MOST, Api, Meaning, World, answer_of
from tests.corpora.views import random_values
from tests.graph.documents.random_documents import random_document
from tests.support.api import Api as Upstream
from tests.support.api import Asked, Reply, running_api
from tests.support.endpoints import compiled
from tests.support.function import Function, running_function

DEPTH = 4
"""Input objects inside of each other. One of them may lead to linked rows, and one may be a connective."""

ID = re.compile(r'"id": ?"(\w+)"')

LETTERS = "abcdefghijklmnop"
TARGET = 5
"""The row whose values the attacker wants."""

TOOL = """
schema @tool(name: "ask", graphql: [{expose: true, types: "Query|Mutation", fields: ".*"}]) {
  query: Query mutation: Mutation
}
"""
CONFIG = """
limits: {max_depth: 50, max_fields: 10000, max_aliases: 10000, max_cost: 10000000, max_tokens: 100000}
access:
  anonymous: allow
  policies: [{type: Query, policyDefault: {condition: true}}, {type: Mutation, policyDefault: {condition: true}}]
"""


class Enum(str):
    """A value that is written without quotes."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True)
class Probe:
    """One input of a root field, by its path. ``build`` makes the value of the argument, the path's first name."""

    root: str
    path: tuple[str, ...]
    entity: str
    column: str
    kind: str  # compare | order | default
    operator: str
    own: bool  # of the rows themselves, not of linked ones
    build: Callable[[Any], Any]

    def about(self, coordinate: str) -> bool:
        return coordinate == f"{self.entity}.{self.column}"


@dataclass
class Served:
    """A view, its API, and the worlds behind that."""

    api: Api
    function: Function
    upstream: Upstream
    worlds: Mapping[str, World]
    schemas: Mapping[str, GraphQLSchema]
    current: str = "one"
    requests: int = 0

    def ask(self, text: str, world: str = "one", variables: Mapping[str, Any] | None = None) -> tuple[bytes, bool]:
        """The answer, and whether the view has accepted the request."""
        self.current, before = world, len(self.upstream.asked)
        self.requests += 1
        answer = self.function.query("ask", text, variables=dict(variables or {}))
        accepted = len(self.upstream.asked) > before
        del self.upstream.asked[:]
        return answer.body, accepted


@contextmanager
def serving(api: Api, folder: Path, *, hide: bool) -> Iterator[Served]:
    """The API on loopback with both worlds, and the endpoint over it; ``hide``: with its hidden fields."""
    worlds = {"one": api.world("seed", "one"), "other": api.world("seed", "other")}
    schemas = {name: api.schema(world) for name, world in worlds.items()}
    holder: list[Served] = []

    def answer(asked: Asked) -> Reply:
        return Reply(answer_of(schemas[holder[0].current], asked.json))

    with running_api(answer) as upstream:
        config = f'upstream: {{url: "{upstream.url}"}}{CONFIG}' + (f"  hide: {json.dumps(api.hide)}\n" if hide else "")
        made = compiled(folder, {"index.graphql": TOOL + api.sdl, "config.yaml": config})
        with running_function(made) as function:
            holder.append(Served(api, function, upstream, worlds, schemas))
            yield holder[0]


def probes_of(api: Api) -> Iterator[Probe]:
    """Every input of the root fields: each comparison, order and default."""
    for name, root in api.roots.items():
        entity = root.entity
        yield Probe(root=name, path=(), entity=entity, column="", kind="default", operator="", own=True, build=_same)
        for argument, (type_, meaning) in root.arguments.items():
            for path, column, of, kind, operator, own, build in _inputs(api, entity, type_, meaning, depth=DEPTH):
                yield Probe(
                    root=name,
                    path=(argument, *path),
                    entity=of,
                    column=column,
                    kind=kind,
                    operator=operator,
                    own=own,
                    build=build,
                )


Build = Callable[[Any], Any]
Found = tuple[tuple[str, ...], str, str, str, str, bool, Build]


def _inputs(
    api: Api, entity: str, type_: str, meaning: Meaning, *, depth: int, own: bool = True, plain: bool = True
) -> Iterator[Found]:
    """The inputs in and below one, each with its path, and how its value is built."""
    build: Build = _listed if type_.startswith("[") else _same
    match meaning:
        case _ if depth == 0:
            return
        case ("op", column, operator):
            yield (), column, entity, "compare", operator, own, build
        case ("ops" | "sum", *_, column):
            of = api.entities[entity].links[meaning[1]][0] if meaning[0] == "sum" else entity
            for each, (inner, _) in api.inputs[type_.strip("[]!")].items():
                wrapped = _inside(build, each, listed=inner.startswith("["))
                yield (each,), column, of, "compare", each, own and of == entity, wrapped
        case ("order" | "distinct" | "group" | "ordering", enum):
            yield from _values_of(api, entity, enum, build, own=own, in_object=meaning[0] == "ordering")
        case ("options" | "where" | "not" | "all" | "any" as word, inner):
            connects = word in ("not", "all", "any")
            if plain or not connects:
                yield (), "", entity, "default", "", own, _always(build({}))
                yield from _below(api, entity, inner, build, depth=depth, own=own, plain=plain and not connects)
        case ("link" | "quantified" as word, link, *_, inner) if own:
            target = api.entities[entity].links[link][0]
            builds = [_inside(build, each) for each in ("some", "every", "none")] if word == "quantified" else [build]
            for below in builds:
                yield from _below(api, target, inner, below, depth=depth, own=False, plain=plain)
        case ("columns", inner):
            yield from _columns(api, entity, inner, build, depth=depth, own=own)


def _same(value: Any) -> Any:
    return value


def _listed(value: Any) -> Any:
    return [value]


def _inside(build: Build, name: str, *, listed: bool = False) -> Build:
    return lambda value: build({name: [value] if listed else value})


def _after(build: Build, name: str, inner: Build) -> Build:
    return lambda value: build({name: inner(value)})


def _always(value: Any) -> Build:
    return lambda _: value


def _values_of(api: Api, entity: str, enum: str, build: Build, *, own: bool, in_object: bool) -> Iterator[Found]:
    if in_object:
        yield (), "", entity, "default", "", own, _always({})
    for value, by in api.enums[enum].items():
        if by[0] != "none":
            of = api.entities[entity].links[by[1]][0] if by[0] == "by-link" else entity
            given = Enum(value)
            yield (value,), by[-2], of, "order", "", own, _always({"field": given} if in_object else build(given))


def _below(api: Api, entity: str, type_: str, build: Build, *, depth: int, own: bool, plain: bool) -> Iterator[Found]:
    for name, (inner, meaning) in api.inputs[type_].items():
        for found in _inputs(api, entity, inner, meaning, depth=depth - 1, own=own, plain=plain):
            yield ((name, *found[0]), *found[1:-1], _after(build, name, found[-1]))


def _columns(api: Api, entity: str, type_: str, build: Build, *, depth: int, own: bool) -> Iterator[Found]:
    direction = Enum("DESC" if "{ ASC DESC }" in "\n".join(api.lines) else "desc")
    for name, (inner, meaning) in api.inputs[type_].items():
        target = api.entities[entity].links[meaning[1]][0] if meaning[0] != "key" else entity
        match meaning:
            case ("key", column):
                yield (name,), column, entity, "order", "", own, _always(build({name: direction}))
            case ("key-of", _, below) if own and depth > 1:
                yield from _columns(api, target, below, _inside(build, name), depth=depth - 1, own=False)
            case ("key-sums", *_) if own:
                for column in api.inputs[inner]:
                    given = build({name: {column: direction}})
                    yield (name, column), column, target, "order", "", False, _always(given)


def document(api: Api, probe: Probe, value: Any, *, selection: str = "") -> str:
    """The request that gives one input a value, and no other input that need not be given."""
    root = api.roots[probe.root]
    given = {probe.path[0]: probe.build(value)} if probe.path else {}
    for name, (type_, meaning) in root.arguments.items():
        if name not in given and type_.endswith("!") and "=" not in type_:
            given[name] = {} if meaning == ("data",) else [] if type_.startswith("[") else "x"
    arguments = ", ".join(f"{name}: {literal(each)}" for name, each in given.items())
    kind = "mutation" if root.written else "query"
    return f"{kind} {{ {probe.root}{f'({arguments})' if arguments else ''} {selection or root.selection} }}"


def literal(value: Any) -> str:
    """A value as GraphQL writes it."""
    match value:
        case dict():
            return "{" + ", ".join(f"{name}: {literal(each)}" for name, each in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(literal, value)) + "]"
        case Enum():
            return str(value)
        case _:
            return json.dumps(value)


@dataclass
class Outcome:
    """What one attack has found."""

    probes: int = 0
    accepted: int = 0
    requests: int = 0
    told: list[str] = field(default_factory=list)  # requests that two worlds answer differently
    recovered: set[str] = field(default_factory=set)  # hidden fields of which the attacker knows a value, or the order


def attack(served: Served, probes: Sequence[Probe]) -> Outcome:
    """Try every probe, and search on with each that the view accepts."""
    outcome = Outcome()
    hidden = {f"{name}.{each}" for name, entity in served.api.entities.items() for each in entity.hidden}
    for probe in probes:
        outcome.probes += 1
        for value in _values(served, probe):
            text = document(served.api, probe, value)
            answer, accepted = served.ask(text)
            outcome.accepted += accepted
            if not accepted:
                break  # another value would not be accepted either
            if served.ask(text, "other")[0] != answer:
                outcome.told.append(text)
        about = f"{probe.entity}.{probe.column}"
        if about in hidden - outcome.recovered and recover(served, probe):
            outcome.recovered.add(about)
    outcome.requests = served.requests
    return outcome


def _values(served: Served, probe: Probe) -> list[Any]:
    """Values to begin with. One is right for some row, as a guess may be."""
    if probe.kind != "compare":
        return [None]
    if probe.column == "id":
        return [f"{probe.entity[0]}{TARGET}"]
    right = served.worlds["one"].rows[probe.entity][TARGET][probe.column]
    return [right, MOST // 2] if isinstance(right, int) else [right, "a"]


def recover(served: Served, probe: Probe) -> bool:
    """Whether the attacker finds the target's value, or the order of all rows, by one input."""
    entity = served.api.roots[probe.root].entity
    rows = served.worlds["one"].rows
    target = f"{entity[0]}{TARGET}"
    if not probe.own or probe.entity != entity:
        return False

    def ids(value: Any) -> list[str]:
        answer, accepted = served.ask(document(served.api, probe, value))
        return ID.findall(json.loads(answer)["result"]["content"][0]["text"]) if accepted else []

    if probe.kind == "order":
        by = {row["id"]: row[probe.column] for row in rows[entity]}
        found = ids(None)
        order = sorted(by.values())
        return len(found) == len(by) and [by[each] for each in found] in (order, order[::-1])
    value = rows[entity][TARGET][probe.column] if probe.kind == "compare" else None
    if isinstance(value, int):
        low, high = -1, MOST
        at_low = target in ids(low)
        if (target in ids(high)) is at_low:
            return False
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if (target in ids(middle)) is at_low else (low, middle)
        return value in (low, high)
    begins = "start" in probe.operator.lower() or "prefix" in probe.operator.lower()
    return isinstance(value, str) and begins and _spelled(ids, target) == value


def _spelled(ids: Callable[[Any], list[str]], target: str) -> str:
    """The text of the target, letter by letter."""
    found = ""
    while more := next((each for each in LETTERS if target in ids(found + each)), ""):
        found += more
    return found


def attack_at_random(served: Served, random: Random, *, documents: int) -> list[str]:
    """Valid requests for the view as introspection shows it; those that two worlds answer differently."""
    answer, _ = served.ask(get_introspection_query())
    schema = build_client_schema(json.loads(json.loads(answer)["result"]["content"][0]["text"])["data"])
    told, sent = [], 0
    while sent < documents:
        text = random_document(schema, random, mistakes=0)
        node = parse(text)
        if validate(schema, node):
            continue
        variables = random_values(schema, node, random)
        sent += 1
        if served.ask(text, "one", variables)[0] != served.ask(text, "other", variables)[0]:
            told.append(text)
    return told
