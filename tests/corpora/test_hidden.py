"""A slice of ``make views``: views of real schemas accept nothing hidden, and refuse little else."""

from __future__ import annotations

import pytest
from graphql import build_schema, parse

from tests.corpora.attempts import Tried
from tests.corpora.lost import with_what_is_lost
from tests.corpora.touched import touched
from tests.corpora.views import CORPORA, faults, run

DOCUMENTS = 100


@pytest.mark.parametrize("corpus", CORPORA)
def test_view_accepts_nothing_that_touches_what_is_hidden_and_little_else_is_refused(tried: Tried, corpus: str) -> None:
    tried(corpus)  # which skips where it cannot be fetched

    tallies = list(run(corpus, "slice", documents=DOCUMENTS))

    assert faults(tallies) == []
    assert all(tally.touching and tally.others and tally.tried for tally in tallies)


SCHEMA = build_schema(
    """
    type Query { people(where: Where, name: String): [Person!] node(id: ID!): Node page(name: String): Page }
    interface Node { id: ID! } type Person implements Node { id: ID! name: String } type Page { nodes: [Person] }
    input Where { name: String and: [Where!] order: Order } enum Order { NAME }
    directive @as(role: String, where: Where) on QUERY | FIELD
    """
)


def test_literals_variables_and_interfaces_touch_what_they_name() -> None:
    text = "query ($w: Where!, $i: ID!) { people(where: $w) { name } node(id: $i) { id } }"

    found = touched(SCHEMA, parse(text), {"w": {"and": [{"order": "NAME"}]}, "i": "1"})

    assert {"Where.and", "Where.order", "Order.NAME", "Person.id", "Node.id", "Query.people(where:)"} <= found
    assert "Where.name" not in found
    assert "Where.name" in touched(SCHEMA, parse('{ people(where: {name: "x"}) { id } }'), {})


def test_directives_and_type_conditions_touch_what_they_name() -> None:
    text = """
        query @as(role: "x") { node(id: 1) @as(where: {name: "x"}) { ... on Page { __typename } ...F } }
        fragment F on Node { id }
        """

    found = touched(SCHEMA, parse(text), {})

    assert {"@as", "@as(role:)", "@as(where:)", "Where.name", "Page", "Node"} <= found
    assert not any("(role:)" in each or "(where:)" in each for each in found if not each.startswith("@"))


def test_what_is_lost_with_a_field_is_what_needs_it_and_what_asks_for_it() -> None:
    found = with_what_is_lost(SCHEMA, ["Person.name"])

    assert found == {"Person.name", "Where.name", "Order.NAME", "Order", "Query.people(name:)", "Query.page(name:)"}
    assert {"Node", "Node.id", "Query.node"} <= with_what_is_lost(SCHEMA, ["Person.id"])


def test_argument_of_a_directive_is_lost_with_a_field_of_any_type_that_it_names() -> None:
    schema = build_schema(
        """
        type Query { page: Page people: [Person] } type Page { title: String } type Person { role: String name: String }
        directive @as(role: Int!) on QUERY
        """
    )

    assert with_what_is_lost(schema, ["Person.role"]) == {"Person.role", "@as(role:)", "@as"}
    assert with_what_is_lost(schema, ["Query.page"]) == {"Query.page"}


def test_default_that_names_something_hidden_is_touched_by_a_document_that_gives_no_other_value() -> None:
    schema = build_schema(
        """
        type Query { people(by: By = NAME, in: Sorted = {by: NAME}): [Person] } type Person { name: String age: Int }
        enum By { NAME AGE } input Sorted { by: By = AGE, then: By = NAME }
        """
    )

    assert with_what_is_lost(schema, ["Person.name"]) == {"Person.name", "By.NAME"}
    assert {"By", "Query.people", "Sorted"} <= with_what_is_lost(schema, ["By.NAME", "By.AGE"])
    for text in ("(by: AGE)", "(by: AGE, in: {by: AGE})", "(by: $by, in: {then: AGE})", "(by: null, in: {then: AGE})"):
        assert "By.NAME" in touched(schema, parse(f"query ($by: By) {{ people{text} {{ age }} }}"), {}), text
    whole = "query ($in: Sorted) { people(by: AGE, in: {by: AGE, then: AGE}) { age } }"
    assert "By.NAME" not in touched(schema, parse(whole), {"in": {"by": "AGE", "then": "AGE"}})
    assert "By.NAME" in touched(schema, parse(whole), {"in": {"by": "AGE"}})
