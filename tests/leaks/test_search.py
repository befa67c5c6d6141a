"""A search tells nothing of what is hidden: the schema without the hidden parts gives the very same bytes.

Results, paths, scores, order, cursors, counts, definitions, errors, texts of companions and the choice to have
companions are compared. With nothing hidden, most of the same cases differ.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

from graphql import build_schema

from handler.errors.calls import DocumentRefused
from handler.graph.documents.document_check import answer_introspection
from handler.graph.documents.partial_schema import ViewSchemas
from handler.graph.found_sdl import described_text, found_text
from handler.graph.sdl import print_view
from handler.graph.tool_entry import graphql_entry
from tests.graph.random_schemas import coordinates_of, random_sdl
from tests.graph.shop import WIDE, check
from tests.graph.test_tool_entry import TEMPLATE
from tests.leaks.cases import ASKING
from tests.support.endpoints import compiled
from tests.support.examples import examples
from tests.support.function import running_function
from tests.support.schemas import schemas_of

CASES = examples(1_500, share=25)

LEAST_OPEN = 0.5
"""Of cases that must differ with nothing hidden, or their equality would show little."""

ASKED = (
    ASKING["search"]
    .replace("first: 40", "first: $first, after: $after")
    .replace("(", "($first: Int!, $after: String, ", 1)
)


def test_answers_are_those_of_the_schema_without_the_hidden_parts() -> None:
    random = Random("searched")
    told = opened = 0
    for _ in range(CASES // 5):
        schema = build_schema(random_sdl(random))
        everything = sorted(coordinates_of(schema))
        hideable = [each for each in everything if not each.endswith(".KEPT")]
        hidden = schemas_of(schema, set(random.sample(hideable, max(len(hideable) // 8, 1))))
        if not hidden.view.root_fields():
            continue
        cut, whole = schemas_of(build_schema(print_view(hidden.view))), schemas_of(schema)
        for _ in range(5):
            question = " ".join(random.sample(everything, 2)) + random.choice(["", " f1", " kept value"])
            asked = random.sample(everything, 3)
            answers = [answers_of(each, question, asked) for each in (hidden, cut, whole)]
            assert answers[0] == answers[1], (question, asked, print_view(hidden.view))
            told += 1
            opened += answers[0] != answers[2]

    assert opened >= LEAST_OPEN * told, (opened, told)


def answers_of(schemas: ViewSchemas, question: str, asked: list[str]) -> list[str]:
    """All that a caller can learn of a view by searching, as bytes."""
    found: list[Any] = []
    after = None
    for _ in range(3):
        page = answered(schemas, ASKED, {"words": question, "first": 4, "after": after})
        found.append(page)
        results = (page.get("data") or {}).get("__search", [])
        after = results[-1]["cursor"] if results else None
    found += [answered(schemas, ASKING["definitions"], {"of": [each]}) for each in asked]
    matches = schemas.search().search(question, 8)
    texts = [found_text(schemas.view, [(each.coordinate, each.paths) for each in matches], max_bytes=1_200)]
    texts.append(described_text(schemas.view, asked, max_bytes=1_200))
    return [json.dumps(found), *texts, json.dumps(graphql_entry(TEMPLATE, schemas.view))]


def answered(schemas: ViewSchemas, text: str, variables: dict[str, Any]) -> Any:
    try:
        return answer_introspection(check(text, variables, schemas=schemas, limits=WIDE), schemas)
    except DocumentRefused as exc:
        return {"refused": str(exc)}


COLUMNS = " ".join(f"column_{number}: Int" for number in range(1_200))
HIDING = f"""
type Query {{ order(id: ID!): Order payroll(of: Secret): Payroll wide: Wide hr: Payroll }}
type Order {{ id: ID! total: Int clerk: Payroll margin: Int }}
type Payroll {{ salary: Int order: Order }}
input Secret {{ salary: Int }}
type Wide {{ {COLUMNS} }}
"""
LEFT = f"""
type Query {{ order(id: ID!): Order wide: Wide }}
type Order {{ id: ID! total: Int }}
type Wide {{ {COLUMNS} }}
"""
TOOL = 'extend schema @tool(name: "shop", graphql: [{expose: true, types: "Query", fields: ".*"}])'
ACCESS = """graphql: on
find: {words: {wages: [salary, payroll], sum: [total, margin]}}
access:
  anonymous: allow
  policies: [{type: Query, policyDefault: {condition: true}}]
"""
HIDE = "  hide: [Payroll, Order.margin, Secret]\n"


def asked_over_the_wire(folder: Path, sdl: str, config: str) -> list[bytes]:
    """What a caller gets of an endpoint: the list, companions, searches of both routes, the refusal of a cursor."""
    with running_function(compiled(folder, {"index.graphql": TOOL + sdl, "config.yaml": config})) as function:
        answers = [function.request("tools/list").body]
        for words in ("order salary", "payroll of the clerk", "margin", "total", "column 7", "sum of wages"):
            answers.append(function.call("shop-search", {"question": words}).body)
            variables = {"words": words, "first": 5, "after": None}
            least = f'{{ __search(query: "{words}", minScore: 0.4) {{ coordinate }} }}'
            answers.append(function.graphql({"query": least}, "/graphql").body)
            for path in ("/tools/shop/graphql", "/graphql"):
                answers.append(function.graphql({"query": ASKED, "variables": variables}, path).body)
                answers.append(
                    function.graphql({"query": ASKED, "variables": {**variables, "after": "AAA"}}, path).body
                )
        for coordinate in ("Payroll", "Order.margin", "Query.payroll", "Query.payroll(of:)", "Secret.salary", "Order"):
            answers.append(function.call("shop-describe", {"coordinates": [coordinate]}).body)
            query = {"query": ASKING["definitions"], "variables": {"of": [coordinate]}}
            answers.append(function.graphql(query, "/tools/shop/graphql").body)
        return answers


def test_endpoint_answers_as_the_one_compiled_without_the_hidden_parts(tmp_path: Path) -> None:
    hidden = asked_over_the_wire(tmp_path / "hidden", HIDING, ACCESS + HIDE)
    cut = asked_over_the_wire(tmp_path / "cut", LEFT, ACCESS)
    whole = asked_over_the_wire(tmp_path / "whole", HIDING, ACCESS)

    assert hidden == cut
    assert sum(one != other for one, other in zip(hidden, whole, strict=True)) >= len(hidden) / 2
