"""Policies that guard one way to a type while another is open."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.diagnostics import Reported
from tests.support.endpoints import doubted

SCHEMA = """
type Query { employee(id: ID!): Employee, employees: [Employee!]!, order: Order, search: [Found!]!, name: String }
type Employee { name: String, manager: Employee }
type Order { number: Int, seller: Seller }
type Seller { person: Employee }
union Found = Order | Desk
type Desk { of: Employee }
"""
TOOL = 'extend schema @tool(name: "ask", graphql: {expose: true, types: "Query", fields: "%s"})'


def doubts(folder: Path, rules: str, *, fields: str = ".*", default: str = "true") -> list[Reported]:
    config = (
        "access:\n  policies:\n    - type: Query\n"
        f"      policyDefault: {{condition: {default}}}\n      rules: [{rules}]\n"
    )
    files = {"index.graphql": SCHEMA + TOOL % fields, "config.yaml": config}
    return [doubt for doubt in doubted(folder, files) if " policy-bypass: " in doubt]


def test_another_way_to_what_a_guarded_field_returns_is_named(tmp_path: Path) -> None:
    rule = "{condition: '$jwt.role:String == \"hr\"', fields: [employee, employees]}"

    assert doubts(tmp_path, rule) == [
        "config.yaml:5:27 policy-bypass: Query.employee & Query.order & Order.seller & Seller.person"
    ]


def test_a_way_through_a_union_is_found(tmp_path: Path) -> None:
    rule = "{condition: '?$jwt', fields: [employee, employees, order]}"

    found = doubts(tmp_path, rule)

    assert found[0] == "policy-bypass: Query.employee & Query.search -> Desk.of"
    assert found[-1] == "policy-bypass: Query.order & Query.search"


@pytest.mark.parametrize(
    ("rule", "fields"),
    [
        ("{condition: '?$jwt', fields: [employee, employees, order, search]}", ".*"),  # no way is left
        ("{condition: '?$jwt', fields: [employee, employees]}", "employee|employees|name"),  # not through this tool
        ("{condition: true, fields: [employee]}", ".*"),
        ("{condition: '?$jwt', fields: [name]}", ".*"),  # a text is reached nowhere else
    ],
)
def test_a_guard_without_a_way_around_it_is_no_doubt(tmp_path: Path, rule: str, fields: str) -> None:
    assert doubts(tmp_path, rule, fields=fields) == []


def test_what_a_default_guards_may_have_a_way_around_it_too(tmp_path: Path) -> None:
    (found,) = doubts(tmp_path, "{condition: true, fields: [order]}", default="'?$jwt'")

    assert "Query.employee is guarded here, and ask reaches Employee without it: Query.order" in found


def test_own_graphql_of_the_endpoint_is_a_way_where_it_takes_any_document(tmp_path: Path) -> None:
    config = (
        "graphql: MODE\ndefault_tool: false\naccess:\n  policies:\n    - type: Query\n"
        "      policyDefault: {condition: true}\n      rules: [{condition: '?$jwt', fields: [employee, employees]}]\n"
    )

    def found(mode: str) -> list[str]:
        files = {"index.graphql": SCHEMA, "config.yaml": config.replace("MODE", mode)}
        return [doubt for doubt in doubted(tmp_path / mode, files) if " policy-bypass: " in doubt]

    assert found("persisted") == []
    (told,) = found("on")
    assert "and /graphql reaches Employee without it" in told
