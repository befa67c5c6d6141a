"""Types that callers lose for several reasons at once, each as small as it gets: links to them are as lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from handler.compiler.compile import compile_endpoint
from tests.support.endpoints import write_endpoint
from tests.support.function import running_function

SCHEMA = """
schema @tool(name: "staff", graphql: [{expose: true, types: "Query", fields: ".*"}PATTERN]) { query: Query }
type Query { staff(orderBy: Order): [Person!]! }
type Person { name: String pay: Money }
type Money { amount: Int currency: String }
enum Order { NAME_ASC PAY_ASC }
"""
ACCESS = """
access:
  anonymous: allow
  policies:
    - {type: Query, policyDefault: {condition: true}}
"""
AMOUNT = "    - {type: Money, rules: [{condition: false, fields: [amount]}], policyDefault: {condition: true}}\n"
TWO = """\
    - {type: Money, rules: [{condition: '?$jwt.a', fields: [amount]}, {condition: '?$jwt.b', fields: [currency]}]}
"""


@pytest.mark.parametrize(
    ("pattern", "access"),
    [
        (', {expose: false, types: "Money", fields: "currency"}', AMOUNT),
        ("", f"{AMOUNT}  hide: [Money.currency]\n"),
        ("", TWO),
    ],
    ids=["a policy and a pattern", "a policy and access.hide", "two conditions"],
)
def test_link_to_a_type_of_which_nothing_is_left_is_told_by_no_input(pattern: str, access: str, tmp_path: Path) -> None:
    files = {"index.graphql": SCHEMA.replace("PATTERN", pattern), "config.yaml": ACCESS + access}
    with running_function(compile_endpoint(write_endpoint(tmp_path, files))) as function:
        listed = function.request("tools/list").body.decode()

    assert "PAY_ASC" not in listed
