"""One small schema of the tests' tests, and what an author says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.leaks.policies import ALWAYS, Access, Caller, Condition, Pattern, Policy
from tests.leaks.schemas import Field, Input, Schema, Type

ANYBODY = Caller(name="anonymous")
SERVICE = Caller(name="service", key="key")

SMALL = Schema(
    {
        "Query": Type(
            kind="object",
            fields={
                "people": Field(
                    "[Person!]!",
                    {
                        "where": Input("PersonFilter", "where"),
                        "orderBy": Input("PersonOrder", "order"),
                        "payGt": Input("Int", "gt", "pay"),
                    },
                ),
                "anyone": Field("Named"),
            },
        ),
        "Mutation": Type(kind="object", fields={"hire": Field("Person", {"salary": Input("Int")})}),
        "Named": Type(kind="interface", fields={"id": Field("ID!"), "nickname": Field("String")}),
        "Person": Type(
            kind="object",
            fields={
                "id": Field("ID!"),
                "nickname": Field("String"),
                "salary": Field("Int"),
                "boss": Field("Person"),
                "pay": Field("Money"),
            },
            above=("Named",),
        ),
        "Money": Type(kind="object", fields={"amount": Field("Int"), "currency": Field("String")}),
        "PersonFilter": Type(
            kind="input",
            inputs={
                "salaryGt": Input("Int", "gt", "salary"),
                "bossSalaryGt": Input("Int", "gt", "salary", "boss"),
                "boss": Input("PersonFilter", "nested", link="boss"),
                "nickname": Input("String", "eq", "nickname"),
                "not": Input("PersonFilter", "not"),
            },
        ),
        "PersonOrder": Type(
            kind="enum",
            inputs={
                "SALARY_ASC": Input("", "sort", "salary"),
                "SALARY_DESC": Input("", "sort", "salary"),
                "UNSORTED": Input(""),
            },
        ),
    },
    "Query",
    "Mutation",
)


def access(
    rules: Mapping[str, Condition] | None = None,
    *,
    hide: Sequence[str] = (),
    show: Sequence[str] = (),
    tool: Sequence[Pattern] = (),
) -> Access:
    """Open roots, and rules for fields by their coordinates; other fields of these types are open, too."""
    policies = [Policy(type=root, rules={}, default=ALWAYS) for root in ("Query", "Mutation")]
    for name in {coordinate.partition(".")[0] for coordinate in rules or {}}:
        of_type = {each.partition(".")[2]: rule for each, rule in (rules or {}).items() if each.startswith(f"{name}.")}
        policies.append(Policy(type=name, rules=of_type, default=ALWAYS))
    return Access(policies=policies, hide=hide, show=show, tools={"tool0": tool}, callers=[ANYBODY, SERVICE])
