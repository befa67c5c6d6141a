"""Random requests to random endpoints, and what of their answers their callers must not learn."""

from __future__ import annotations

import json
import re
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from handler.bundle.model import Bundle
from tests.leaks.api import Loopback, running_loopback
from tests.leaks.documents import random_document, random_values
from tests.leaks.endpoint import CODE, FLAT, PRESCRIBED, LeakEndpoint, random_endpoint, serving
from tests.leaks.oracle import Denied
from tests.leaks.policies import Caller, Facts
from tests.leaks.schemas import marker
from tests.support.function import Answer, Function

SECRET = re.compile(r"secret-\d+|(?<!\d)\d{6}(?!\d)|about-[\w-]+")
"""Values, which are texts or numbers of six digits, and descriptions."""

WORD = re.compile(r"[A-Za-z_]\w+")

PART = re.compile(r"[A-Z]?[a-z]+")
"""A part of a name."""

LISTS = ("list", "card")
"""The routes that answer with entries of tools."""

SEARCH_FIELDS = ("__search", "__definitions")

ROUTES = (
    "call",
    "call",
    "call",
    "tool",
    "tool",
    "graphql",
    "graphql",
    "get",
    "list",
    "card",
    "search",
    "definitions",
    PRESCRIBED,
    FLAT,
    "persisted",
    CODE,
)

SHOWN = """
  ... on __Type { typeName: name description fields { name description args { name description } } enumValues { name }
    inputFields { name description } possibleTypes { name } interfaces { name } }
  ... on __Field { name description args { name description } type { name ofType { name } } }
  ... on __InputValue { name description type { name ofType { name } } }
  ... on __EnumValue { name description }
  ... on __Directive { name description args { name } }
"""
ASKING = {
    "search": "query($words: String!) { __search(query: $words, first: 40) "
    f"{{ coordinate pathsToRoot score cursor definition {{ {SHOWN} }} }} }}",
    "definitions": f"query($of: [String!]!) {{ __definitions(coordinates: $of) {{ {SHOWN} }} }}",
}

NOT_TOLD = ("request_id", "duration_ms", "failure")
"""What of a log line is no text of ours; a failure is looked at by itself."""


Weakened = Callable[[Bundle], Bundle]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request. ``tool`` is a GraphQL tool; ``body`` has arguments or the parameters of GraphQL."""

    route: str
    caller: Caller
    tool: str | None = None
    body: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)  # of an author's operation

    @property
    def facts(self) -> Facts | None:
        """What is known of an author's operation beside claims. In a list, its variables are still to come."""
        claims = self.caller.claims
        match self.route:
            case "prescribed" | "persisted":
                return Facts(claims, {**self.defaults, **self.body["variables"]})
            case "flat":
                return Facts(claims, {**self.defaults, **self.body})
            case "list" | "card":
                return Facts(claims, anything=True)
            case _:
                return None

    def send(self, function: Function) -> Answer:
        headers = self.caller.headers
        match self.route:
            case "call" | "prescribed" | "flat" | "pass_on":
                return function.call(self.tool or self.route, self.body, headers=headers)
            case "tool":
                return function.graphql(self.body, f"/tools/{self.tool}/graphql", headers=headers)
            case "get":
                texts = {name: each if name == "query" else json.dumps(each) for name, each in self.body.items()}
                return function.get(texts, headers=headers)
            case "search" | "definitions" if self.tool:
                return function.graphql(self.body, f"/tools/{self.tool}/graphql", headers=headers)
            case "list":
                return function.request("tools/list", modern=bool(self.body), headers=headers)
            case "card":
                return function.send("GET", function.path.removesuffix("/mcp"), headers=headers)
            case _:
                return function.graphql(self.body, headers=headers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """Something that a caller learned, and how to get it again."""

    endpoint: LeakEndpoint
    number: int
    request: Request
    what: str

    def __str__(self) -> str:
        caller = self.request.caller
        parts = [f"seed {self.endpoint.seed!r}, case {self.number}: {self.what}"]
        parts += [f"--- {path}\n{text}" for path, text in self.endpoint.files.items()]
        parts.append(f"--- caller\n{caller.name}, headers {caller.headers}, claims {caller.claims}")
        request = {"route": self.request.route, "tool": self.request.tool, **self.request.body}
        parts.append("--- request\n" + "\n".join(f"{name}: {value}" for name, value in request.items()))
        return "\n".join(parts)


@dataclass(slots=True)
class Tally:
    """What came of cases. ``enforced`` are leaks; ``open`` counts cases that leak with nothing enforced."""

    cases: int = 0
    schemas: int = 0
    reached: int = 0  # requests of enforced cases that were sent to the API
    open: int = 0
    enforced: list[Leak] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)  # of open leaks, by route

    def __str__(self) -> str:
        return (
            f"{self.cases:,} cases over {self.schemas:,} schemas: {len(self.enforced):,} leaked with enforcement, "
            f"{self.open:,} ({self.open / max(self.cases, 1):.0%}) without; the API answered {self.reached:,} of them"
        )


def run_cases(
    cases: int, *, schemas: int, seed: str = "leaks", stop_after: int = 10, weakened: Weakened = lambda bundle: bundle
) -> Tally:
    """Run so many cases over so many schemas; give up after some leaks. ``weakened`` takes enforcement away in part."""
    tally = Tally()
    with TemporaryDirectory() as folder, running_loopback() as loopback:
        for number in range(schemas):
            endpoint = random_endpoint(f"{seed}-{number}", Path(folder), loopback.url)
            share = cases // schemas + (number < cases % schemas)
            _run_endpoint(endpoint.with_bundle(weakened), share, loopback, tally)
            if len(tally.enforced) >= stop_after:
                break
    return tally


def _run_endpoint(endpoint: LeakEndpoint, cases: int, loopback: Loopback, tally: Tally) -> None:
    loopback.api = endpoint.api
    tally.schemas += 1
    random = Random(f"{endpoint.seed} requests")
    with serving(endpoint) as served:
        for number in range(cases):
            request = random_request(endpoint, random)
            trial = Trial(endpoint, request)
            before = endpoint.api.requests
            what = trial.leak(served.enforced)
            tally.cases += 1
            tally.reached += endpoint.api.requests > before
            if what:
                tally.enforced.append(Leak(endpoint=endpoint, number=number, request=request, what=what))
            if trial.leak(served.open):
                tally.open += 1
                tally.kinds[request.route] += 1


def random_request(endpoint: LeakEndpoint, random: Random) -> Request:
    """A request of a caller who is mostly not allowed everything."""
    caller = random.choice([endpoint.access.callers[0], *endpoint.access.callers])
    route = random.choice(ROUTES)
    tool = random.choice(list(endpoint.access.tools)) if route in ("call", "tool") else None
    if route == "list":
        return Request(route=route, caller=caller, body=random.choice([{}, {"modern": True}]))
    if route == "card":
        return Request(route=route, caller=caller)
    if route in ASKING:
        return _about_the_schema(endpoint, caller, route, random)
    denied = endpoint.denied(caller, tool)
    if route in (PRESCRIBED, FLAT, "persisted"):
        operation = endpoint.operations[FLAT if route == FLAT else PRESCRIBED]
        values = random_values(operation, endpoint.api, denied, random)
        persisted = {"documentId": endpoint.document_id} if route == "persisted" else {}
        body = values if route == FLAT else {"variables": values, **persisted}
        return Request(route=route, caller=caller, body=body, defaults=operation.defaults)
    document = random_document(endpoint.api, denied, random)
    variables = {"variables": dict(document.values)} if document.values else {}
    return Request(route=route, caller=caller, tool=tool, body={"query": document.text, **variables})


def _about_the_schema(endpoint: LeakEndpoint, caller: Caller, route: str, random: Random) -> Request:
    """A search with parts of names, which no answer repeats, or a question for the definition of anything."""
    schema = endpoint.schema
    coordinates = [*schema.types, *(each for each, _ in schema.fields()), *(each for each, _ in schema.inputs())]
    asked = random.sample(coordinates, random.randint(1, 4))
    tool = random.choice([None, *endpoint.access.tools])
    words = [word for each in asked for word in PART.findall(each)]
    values = {"words": " ".join(words)} if route == "search" else {"of": asked[:1]}
    body = {"query": ASKING[route], "variables": values}
    return Request(route=route, caller=caller, tool=tool, body=body)


class _Kept(NamedTuple):
    """What an answer must not tell: values and descriptions, and names."""

    secrets: frozenset[str]
    names: frozenset[str]


class Trial:
    """One request, to be sent to a function twice: with an API whose denied fields have one value, and another one."""

    def __init__(self, endpoint: LeakEndpoint, request: Request) -> None:
        self._endpoint = endpoint
        self._request = request
        facts = request.facts
        denied = endpoint.denied(request.caller, request.tool, facts)
        self._varied = denied.fields - denied.excepted
        # An author's tool is listed where some values of its variables open it, and so are its names.
        lenient = replace(facts, anything=True) if facts else None
        named = endpoint.denied(request.caller, request.tool, lenient)
        # What the caller or the author wrote is nothing that an answer tells.
        asked = json.dumps(request.body)
        self._asked_names = set(WORD.findall(asked))
        self._written = set(SECRET.findall(asked + "".join(each.text for each in endpoint.operations.values())))
        self._kept = _Kept(_values(endpoint, denied) | _descriptions(named), _names(endpoint, named))
        self._of_tools = {name: self._kept_from(name) for name in endpoint.access.tools if request.route in LISTS}

    def _kept_from(self, tool: str) -> _Kept:
        """What a GraphQL tool's entry must not tell."""
        denied = self._endpoint.denied(self._request.caller, tool)
        return _Kept(_values(self._endpoint, denied) | _descriptions(denied), _names(self._endpoint, denied))

    def leak(self, function: Function) -> str:
        """How an answer told what is denied; empty where none did."""
        api = self._endpoint.api
        api.varied, before, logged = frozenset(), api.requests, len(function.lines)
        answer = self._request.send(function)
        sent = api.requests > before
        told = self._told(answer.body.decode(), "answer") or self._told(str(answer.headers), "headers")
        told = told or self._listed(answer)
        told = told or self._told(_log_text(function.lines[logged:]), "log") or self._introspected(answer)
        if told or not sent:
            return told
        api.varied = self._varied
        other = self._request.send(function)
        if (other.status, other.body) != (answer.status, answer.body):
            return f"the answer depends on what is denied:\n{answer.body.decode()}\n{other.body.decode()}"
        return ""

    def _introspected(self, answer: Answer) -> str:
        match self._request.route:
            case "search" | "definitions" if self._request.tool:
                return ""
            case "graphql" | "get" | "search" | "definitions":
                data = answer.json.get("data")
            case "pass_on":
                data = answer.result.get("structuredContent", {}).get("data")
            case _:
                return ""
        answered = {"__schema", "__type", *SEARCH_FIELDS} & set(data or {})
        told = [name for name in answered if not self._may_ask(name)]
        return f"{told[0]} was answered: {answer.body.decode():.200}" if told else ""

    def _may_ask(self, name: str) -> bool:
        """Tell if a caller may ask; a search answers what both questions of introspection answer."""
        names = ("__schema", "__type") if name in SEARCH_FIELDS else (name,)
        return all(self._endpoint.oracle.may_ask(self._request.caller, each) for each in names)

    def _listed(self, answer: Answer) -> str:
        listed = answer.json if self._request.route == "card" else answer.json.get("result", {})
        entries = listed["tools"] if self._of_tools else []
        known = [(json.dumps(entry), self._of_tools.get(entry["name"])) for entry in entries]
        return next((told for text, kept in known if kept and (told := self._told(text, "list", kept))), "")

    def _told(self, text: str, where: str, kept: _Kept | None = None) -> str:
        secrets, names = kept or self._kept
        for found in SECRET.finditer(text):
            if found[0] in secrets and found[0] not in self._written:
                return f"{found[0]} stands in the {where}: …{text[max(0, found.start() - 150) : found.end() + 50]}…"
        for word in WORD.finditer(text):
            if word[0] in names and word[0] not in self._asked_names:
                return (
                    f"the name {word[0]} stands in the {where}: …{text[max(0, word.start() - 150) : word.end() + 50]}…"
                )
        return ""


def _log_text(lines: list[dict[str, Any]]) -> str:
    for line in lines:
        if line.get("failure"):
            raise AssertionError("".join(traceback.format_exception(line["failure"])))
    return json.dumps([{name: fact for name, fact in line.items() if name not in NOT_TOLD} for line in lines])


@lru_cache(maxsize=64)
def _values(endpoint: LeakEndpoint, denied: Denied) -> frozenset[str]:
    """Values of denied fields."""
    values = [
        value
        for rows in endpoint.api.rows.values()
        for row in rows
        for name, pair in row.values.items()
        if f"{row.type}.{name}" in denied.fields and name not in row.links
        for held in pair
        for value in (held if isinstance(held, list) else [held])
    ]
    return frozenset(map(str, values))


@lru_cache(maxsize=64)
def _descriptions(denied: Denied) -> frozenset[str]:
    return frozenset(marker(coordinate) for coordinate in denied.fields | denied.inputs | denied.types)


@lru_cache(maxsize=64)
def _names(endpoint: LeakEndpoint, denied: Denied) -> frozenset[str]:
    """Names that stand for nothing but what is denied."""
    schema, gone = endpoint.schema, denied.fields | denied.inputs
    all_of_them = [*schema.inputs(), *schema.fields()]
    standing: dict[str, bool] = {}
    for coordinate, _ in all_of_them:
        owner, _, member = coordinate.partition(".")
        below = [f"{each}.{member}" for each in schema.possible(owner)]  # of an interface: it says what all of these do
        secret = coordinate in gone or (bool(below) and gone.issuperset(below))
        name = coordinate.removesuffix(":)").rpartition("(")[2].rpartition(".")[2]
        standing[name] = standing.get(name, True) and secret
    return denied.types | {name for name, secret in standing.items() if secret and len(name) > 2}
