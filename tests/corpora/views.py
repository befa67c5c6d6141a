"""``python -m tests.corpora.views``: views of real schemas, and what they accept and refuse.

Of each schema 20 coordinates are hidden at random: fields by patterns, fields by policies, anything by ``access.hide``.
Random valid documents are sent to each view. Ends with 1 where a document is accepted that touches something hidden, or
too many are refused that touch nothing of that kind.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from graphql import (
    DocumentNode,
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    GraphQLSchema,
    OperationDefinitionNode,
    build_ast_schema,
    is_interface_type,
    is_object_type,
    is_required_input_field,
    parse,
    type_from_ast,
    validate,
)

from handler.bundle.tools import GraphQLTool, Limits
from handler.compiler.compile import compile_endpoint
from handler.errors.calls import DocumentRefused
from handler.graph.documents.document_check import check_document
from handler.graph.documents.partial_schema import ViewSchemas
from handler.graph.index import read_index
from handler.graph.sdl import print_view
from handler.graph.view import build_view
from handler.policy.evaluation import Evaluation, hidden_from
from tests.corpora.fetch import fetch
from tests.corpora.lost import with_what_is_lost
from tests.corpora.touched import touched
from tests.corpora.verdicts import read_sdl
from tests.graph.documents.random_documents import random_document
from tests.support.schemas import schemas_of

CORPORA = ("github", "shopify-storefront", "vendure-admin")
WAYS = ("pattern", "policy", "hide")
HIDDEN = 20
DOCUMENTS = 500
SEEDS = ("one", "two", "three")

MOST_REFUSED = 0.05
"""Of the documents that touch nothing hidden, over all ways and seeds of a schema."""

LEAST_OTHERS = 0.2
"""As many documents as this share of those asked for touch nothing hidden, in each view: more are drawn if need be."""

MOST_DRAWN = 10
"""Times the documents that are asked for."""

SHARE_GIVEN = 0.3
"""Of the optional fields of an input object."""

LIMITS = Limits(
    max_tokens=100_000, max_depth=50, max_fields=10_000, max_aliases=10_000, max_cost=10_000_000, max_values=1_000_000
)
"""The widest that config.yaml takes: here, views alone refuse."""

HEADINGS = (
    *("schema", "way", "touch something hidden", "of these accepted", "touch nothing lost", "of these refused"),
    *("touch nothing hidden", "of these refused", "answered otherwise than without what is hidden"),
)
"""Nothing is lost: neither are inputs that the names of hidden fields are found in. Nothing is hidden: they may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What became of the documents for one view, and the coordinates that those used which were refused in vain."""

    corpus: str
    way: str
    touching: int
    accepted: tuple[str, ...]
    others: int
    refused: tuple[str, ...]
    without: int
    without_refused: tuple[str, ...]
    tried: int
    differing: tuple[str, ...]

    def cells(self) -> tuple[str, ...]:
        counts = (f"{count:,}" for count in (self.touching, len(self.accepted)))
        return (
            self.corpus,
            self.way,
            *counts,
            *_share(self.others, self.refused),
            *_share(self.without, self.without_refused),
            f"{len(self.differing):,} of {self.tried:,}",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A document that is valid for the whole schema, with values for its variables, and what both touch."""

    text: str
    variables: Mapping[str, Any]
    touches: frozenset[str]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.corpora.views")
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--seeds", nargs="+", default=list(SEEDS))
    parser.add_argument("--why", action="store_true", help="print the documents that are refused in vain, too")
    options = parser.parse_args()
    broken = 0
    sys.stdout.write(_row(HEADINGS) + _row(["---"] * len(HEADINGS)))
    for corpus in CORPORA:
        tallies = [each for seed in options.seeds for each in run(corpus, seed, documents=options.documents)]
        for way in WAYS:
            sys.stdout.write(_row(summed([each for each in tallies if each.way == way]).cells()))
        broken += bool(faults(tallies))
        for text in [*faults(tallies), *(text for each in tallies if options.why for text in each.without_refused)]:
            sys.stderr.write(f"{text}\n")
    return 1 if broken else 0


def faults(tallies: Sequence[Tally]) -> list[str]:
    """What breaks a bound: each document that is accepted and must not be, and too many that are refused."""
    others, refused = sum(each.others for each in tallies), sum(len(each.refused) for each in tallies)
    found = [f"accepted although it touches something hidden: {text}" for each in tallies for text in each.accepted]
    found += [f"answered otherwise than without what is hidden: {text}" for each in tallies for text in each.differing]
    if refused > MOST_REFUSED * others:
        found.append(f"{tallies[0].corpus}: {refused} of {others} refused that touch nothing hidden")
    return found


def summed(tallies: Sequence[Tally]) -> Tally:
    """The tally of all seeds."""
    return replace(
        tallies[0],
        touching=sum(each.touching for each in tallies),
        accepted=tuple(text for each in tallies for text in each.accepted),
        others=sum(each.others for each in tallies),
        refused=tuple(text for each in tallies for text in each.refused),
        without=sum(each.without for each in tallies),
        without_refused=tuple(text for each in tallies for text in each.without_refused),
        tried=sum(each.tried for each in tallies),
        differing=tuple(text for each in tallies for text in each.differing),
    )


def _share(others: int, refused: Sequence[str]) -> tuple[str, str]:
    return f"{others:,}", f"{len(refused):,} ({len(refused) / max(others, 1):.1%})"


def run(corpus: str, seed: str, *, documents: int = DOCUMENTS) -> Iterator[Tally]:
    """Try one schema, with other coordinates hidden in each way."""
    random = Random(f"{corpus} {seed}")
    drawn = islice(random_requests(corpus, Random(f"{corpus} {seed} requests")), MOST_DRAWN * documents)
    requests = list(islice(drawn, documents))
    for way in WAYS:
        hidden = random_hidden(schema_of(corpus), way, requests, random)
        schemas = view_of(corpus, way, tuple(hidden))
        # In it nothing hidden has ever existed. Directives without a place are taken for the compiler's own.
        never = schemas_of(build_ast_schema(parse(print_view(schemas.view)), assume_valid=True, assume_valid_sdl=True))
        gone = with_what_is_lost(schema_of(corpus), hidden)
        requests += _missing(requests, drawn, gone, least=round(LEAST_OTHERS * documents))
        touching = [each for each in requests if not each.touches.isdisjoint(hidden)]
        others = [each for each in requests if each.touches.isdisjoint(gone)]
        needing = with_what_is_lost(schema_of(corpus), hidden, by_name=False)
        without = [each for each in requests if each.touches.isdisjoint(needing)]
        yield Tally(
            corpus=corpus,
            way=way,
            touching=len(touching),
            accepted=tuple(f"{hidden}: {each.text}" for each in touching if not refusal(schemas, each)),
            others=len(others),
            refused=_refusals(schemas, others, hidden),
            without=len(without),
            without_refused=_refusals(schemas, without, hidden),
            tried=len(requests),
            differing=tuple(each.text for each in requests if refusal(schemas, each) != refusal(never, each)),
        )


def _refusals(schemas: ViewSchemas, requests: Sequence[Request], hidden: Collection[str]) -> tuple[str, ...]:
    return tuple(f"{why}: {hidden}: {each.text}" for each in requests if (why := refusal(schemas, each)))


def _missing(
    requests: Sequence[Request], drawn: Iterator[Request], gone: Collection[str], *, least: int
) -> list[Request]:
    """More requests, until with those at hand there are enough that touch nothing of what is gone."""
    found: list[Request] = []
    others = sum(each.touches.isdisjoint(gone) for each in requests)
    while others < least and (request := next(drawn, None)):
        found.append(request)
        others += request.touches.isdisjoint(gone)
    return found


@cache
def schema_of(corpus: str) -> GraphQLSchema:
    """The whole schema as its API has it."""
    return read_sdl(fetch(corpus))


def random_requests(corpus: str, random: Random) -> Iterator[Request]:
    """Requests that graphql-core takes, and Stile where nothing is hidden. They do not end."""
    schema, whole = schema_of(corpus), view_of(corpus, "hide", ())
    while True:
        text = random_document(schema, random, mistakes=0)
        document = parse(text)
        if not validate(schema, document):
            variables = random_values(schema, document, random)
            request = Request(text=text, variables=variables, touches=frozenset(touched(schema, document, variables)))
            if request.touches and not refusal(whole, request):
                yield request


def random_values(schema: GraphQLSchema, document: DocumentNode, random: Random) -> dict[str, Any]:
    """Values for the variables of a document."""
    (operation,) = (each for each in document.definitions if isinstance(each, OperationDefinitionNode))
    types = {
        each.variable.name.value: type_from_ast(schema, each.type) for each in operation.variable_definitions or ()
    }
    return {name: _random_value(type_, random, depth=2) for name, type_ in types.items()}


def _random_value(type_: Any, random: Random, *, depth: int) -> Any:
    match type_:
        case GraphQLNonNull():
            return _random_value(type_.of_type, random, depth=depth)
        case GraphQLList():
            return [_random_value(type_.of_type, random, depth=depth)]
        case GraphQLEnumType():
            return random.choice(list(type_.values))
        case GraphQLInputObjectType():
            return {
                name: _random_value(field.type, random, depth=depth - 1)
                for name, field in type_.fields.items()
                if is_required_input_field(field) or (depth > 0 and random.random() < SHARE_GIVEN)
            }
        case GraphQLScalarType(name="Int" | "Float"):
            return 7
        case GraphQLScalarType(name="Boolean"):
            return True
        case _:
            return "x"


def random_hidden(schema: GraphQLSchema, way: str, requests: Sequence[Request], random: Random) -> list[str]:
    """Coordinates that can be hidden in a way, drawn from what the requests touch: what is used much is drawn first."""
    found: set[str] = set()
    while len(found) < HIDDEN:
        coordinate = random.choice(sorted(random.choice(requests).touches))
        owner, _, member = coordinate.partition(".")
        type_ = schema.type_map.get(owner)
        is_field = is_object_type(type_) or is_interface_type(type_)
        is_part = bool(member) or owner.endswith(":)")  # the argument of a directive
        if is_part and (way == "hide" or (is_field and "(" not in member)):
            found.add(coordinate)
    return sorted(found)


@lru_cache(maxsize=1)
def _sdl(corpus: str) -> str:
    return (fetch(corpus) / "index.graphql").read_text(encoding="utf-8")


def view_of(corpus: str, way: str, hidden: Sequence[str]) -> ViewSchemas:
    """What a caller without a credential may use of a schema, compiled from an author's files."""
    schema = schema_of(corpus)
    patterns = [("Query|Mutation", ".*", True)]
    patterns += [
        (owner, name, False) for owner, _, name in (each.partition(".") for each in hidden) if way == "pattern"
    ]
    written = ", ".join(
        f'{{expose: {str(expose).lower()}, types: "{types}", fields: "{fields}"}}' for types, fields, expose in patterns
    )
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "views" / corpus
        folder.mkdir(parents=True)
        tool = f'extend schema @tool(name: "ask", graphql: [{written}])\n'
        (folder / "index.graphql").write_text(tool + _sdl(corpus), encoding="utf-8")
        (folder / "config.yaml").write_text(json.dumps(_config(schema, way, hidden)), encoding="utf-8")
        compiled = compile_endpoint(folder)
    bundle = compiled.bundle
    (tool_,) = (each for each in bundle.tools if isinstance(each, GraphQLTool))
    outcome = Evaluation(bundle.conditions, claims=None).outcome()
    index = read_index(compiled.index, sha256=bundle.index)
    return ViewSchemas(build_view(index, hidden_from(outcome, bundle.guards, tool_.guards)))


def _config(schema: GraphQLSchema, way: str, hidden: Sequence[str]) -> dict[str, Any]:
    """``config.yaml``, as JSON: everything is open but what is hidden."""
    guarded: dict[str, list[str]] = {root.name: [] for root in (schema.query_type, schema.mutation_type) if root}
    for coordinate in hidden if way == "policy" else ():
        owner, _, name = coordinate.partition(".")
        guarded.setdefault(owner, []).append(name)
    policies = [
        {
            "type": owner,
            "rules": [{"condition": False, "fields": fields}] if fields else [],
            "policyDefault": {"condition": True},
        }
        for owner, fields in guarded.items()
    ]
    access = {"anonymous": "allow", "policies": policies, "hide": list(hidden) if way == "hide" else []}
    return {"upstream": {"url": "http://127.0.0.1:9/graphql"}, "access": access}


def refusal(schemas: ViewSchemas, request: Request) -> str:
    """Why a view refuses a request, with all errors; empty if it does not."""
    try:
        check_document(request.text, schemas=schemas, operation_name=None, variables=request.variables, limits=LIMITS)
    except DocumentRefused as exc:
        return str(exc)
    return ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    sys.exit(main())
