"""A small shop with things to hide, and documents checked against its view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from handler.bundle.tools import Limits
from handler.graph.documents.document_check import CheckedDocument, check_document
from handler.graph.documents.partial_schema import ViewSchemas
from tests.support.schemas import schemas_of

SDL = """
type Query {
  employee(id: ID!): Employee
  employees(where: EmployeeFilter, first: Int! = 20, order: Order): [Employee!]!
  node(id: ID!): Node
  search(text: String!): [Found!]!
  payroll: Payroll
  self: Query
  echo(int: Int, float: Float, string: String, id: ID, yes: Boolean, json: JSON, filter: EmployeeFilter): String
}
type Mutation { rename(id: ID!, name: String!): Employee fire(id: ID!): Employee }
type Subscription { hired: Employee }
interface Node { id: ID! }
interface Person implements Node { id: ID! name: String! address: String manager: Person }
type Employee implements Person & Node {
  id: ID! name: String! address: String ssn: String! salary: Float! manager: Employee reports: [Employee!]!
}
type Customer implements Person & Node { id: ID! name: String! address: String manager: Person orders: [String!] }
type Payroll { total: Float! }
union Found = Customer | Employee | Payroll
input EmployeeFilter { name: String ages: [Int!] salaryGt: Float and: [EmployeeFilter!] json: JSON }
enum Order { NAME SALARY }
scalar JSON
"""

HIDDEN = frozenset(
    {
        "Query.payroll",
        "Mutation.fire",
        "Employee.ssn",
        "Employee.salary",
        "Employee.address",
        "Person.address",
        "Payroll",
        "EmployeeFilter.salaryGt",
        "Order.SALARY",
    }
)
VIEW = schemas_of(SDL, HIDDEN)

LIMITS = Limits(max_tokens=5_000, max_depth=12, max_fields=200, max_aliases=20, max_cost=5_000, max_values=10_000)
"""What an endpoint has whose config.yaml says nothing of limits."""

WIDE = replace(LIMITS, max_tokens=100_000, max_depth=50, max_fields=10_000, max_aliases=10_000, max_cost=10_000_000)
"""The widest that config.yaml takes."""


def check(
    text: str,
    variables: Mapping[str, Any] | None = None,
    *,
    operation_name: str | None = None,
    schemas: ViewSchemas = VIEW,
    limits: Limits = LIMITS,
) -> CheckedDocument:
    """Check a document as a caller of the view would send it."""
    return check_document(
        text, schemas=schemas, operation_name=operation_name, variables=variables or {}, limits=limits
    )
