"""Names of hidden types in the answers to documents that callers wrote, as an API gives them."""

from __future__ import annotations

from typing import Any

import pytest
from graphql import build_schema, graphql_sync

from handler.errors.calls import DocumentRefused
from tests.graph.shop import check
from tests.support.schemas import schemas_of

SDL = """
type Query {
  any: Any
  all: [[Any!]!]!
  found: Found
  both: Seen
  customer: Customer
}
type Mutation { made: Any }
union Any = Customer | Employee
union Seen = Customer | Order
interface Found { id: ID }
type Customer implements Found { id: ID name: String friend: Any }
type Employee implements Found { id: ID name: String }
type Order { id: ID }
"""
CUSTOMER: dict[str, Any] = {"__typename": "Customer", "id": "1", "name": "Employee"}
EMPLOYEE: dict[str, Any] = {"__typename": "Employee", "id": "2", "name": "E"}
ROWS = {
    "any": EMPLOYEE,
    "all": [[CUSTOMER, EMPLOYEE], [EMPLOYEE]],
    "found": EMPLOYEE,
    "both": CUSTOMER,
    "customer": {**CUSTOMER, "friend": EMPLOYEE},
    "made": EMPLOYEE,
}

SCHEMAS = schemas_of(SDL, ["Employee"])


def answered(text: str) -> Any:
    """The data that a caller gets, for whom employees are hidden."""
    checked = check(text, schemas=SCHEMAS)
    executed = graphql_sync(build_schema(SDL), checked.text, root_value=ROWS)
    response = {"data": executed.data}
    assert executed.errors is None
    if checked.hidden_names:
        checked.hidden_names.replace_in(response)
    return response["data"]


ANSWERS: dict[str, Any] = {
    "{ any { __typename } }": {"any": {"__typename": "Any"}},
    "{ a: any { t: __typename u: __typename } }": {"a": {"t": "Any", "u": "Any"}},
    "{ any { ... on Customer { __typename } } }": {"any": {}},
    "{ any { ...F } } fragment F on Any { ... { ...G } } fragment G on Any { t: __typename }": {"any": {"t": "Any"}},
    "{ any { ... on Seen { t: __typename } ... on Any { __typename } } }": {"any": {"__typename": "Any"}},
    "{ all { __typename ... on Customer { name } } }": {
        "all": [[{"__typename": "Customer", "name": "Employee"}, {"__typename": "Any"}], [{"__typename": "Any"}]]
    },
    "{ customer { __typename name friend { __typename } } }": {
        "customer": {"__typename": "Customer", "name": "Employee", "friend": {"__typename": "Any"}}
    },
    "{ customer { name } ...F } fragment F on Query { customer { friend { t: __typename } } }": {
        "customer": {"name": "Employee", "friend": {"t": "Any"}}
    },
    "mutation { made { __typename } }": {"made": {"__typename": "Any"}},
    "{ __typename both { __typename } }": {"__typename": "Query", "both": {"__typename": "Customer"}},
    "{ any @skip(if: true) { __typename } }": {},
}


@pytest.mark.parametrize("text", ANSWERS)
def test_hidden_member_is_named_as_its_union(text: str) -> None:
    assert answered(text) == ANSWERS[text]


@pytest.mark.parametrize(
    "text",
    [
        "{ any { ... on Customer { name } } }",
        "{ both { __typename } }",
        "{ customer { __typename } }",
        "{ __typename }",
        '{ __type(name: "Any") { __typename possibleTypes { __typename } } }',
    ],
)
def test_answer_that_cannot_name_a_hidden_type_is_not_looked_at(text: str) -> None:
    assert check(text, schemas=SCHEMAS).hidden_names is None


@pytest.mark.parametrize("data", [None, {}, {"any": None}, {"any": []}, {"any": "text"}, {"any": {"__typename": [1]}}])
def test_answer_of_another_shape_stays_as_it_is(data: Any) -> None:
    names = check("{ any { __typename } }", schemas=SCHEMAS).hidden_names
    response = {"data": data, "errors": [{"message": "m"}]}
    assert names is not None

    names.replace_in(response)

    assert response == {"data": data, "errors": [{"message": "m"}]}


def test_interface_with_a_hidden_implementer_is_hidden_with_it() -> None:
    with pytest.raises(DocumentRefused, match="Cannot query field 'found'"):
        check("{ found { __typename } }", schemas=SCHEMAS)


def test_nothing_is_replaced_where_nothing_is_hidden() -> None:
    assert check("{ any { __typename } }", schemas=schemas_of(SDL)).hidden_names is None
