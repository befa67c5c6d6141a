"""Differences of what callers reach: all of those that the enforced view shows, and no others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from handler.audience.ways import Published, version_of
from handler.commands.changes.change import Change
from handler.commands.changes.endpoint_changes import EndpointChanges, compare
from handler.compiler.compile import compile_explained
from tests.changes.cases import ISSUER, Version, judged, run_cases
from tests.changes.cases import ChangeTally as Tally
from tests.support.endpoints import write_endpoint
from tests.support.examples import examples

SCHEMA = """\
schema @tool(name: "search", graphql: [{expose: true, types: "Query", fields: ".*"}]) { query: Query }
type Query { staff: [Person!]! }
type Person { name: String salary: Int mail: String }
"""


def config(*rules: str, default: str = "true") -> str:
    """Policies of a person's fields, for everybody and for bearers of tokens."""
    lines = "".join(f"        - {rule}\n" for rule in rules)
    return (
        "upstream: {url: https://staff.example.com/graphql}\n"
        "identity: {issuer: https://id.example.com, audience: staff, jwksendpoint: https://id.example.com/keys}\n"
        "access:\n  anonymous: allow\n  policies:\n"
        "    - {type: Query, policyDefault: {condition: true}}\n"
        f"    - type: Person\n      rules:\n{lines}      policyDefault: {{condition: {default}}}\n"
    )


def rule(condition: str, field: str = "salary") -> str:
    """A rule in YAML for a field."""
    return f"{{condition: '{condition}', fields: [{field}]}}"


def version(folder: Path, text: str) -> Published:
    files = {"index.graphql": SCHEMA, "config.yaml": text}
    made, provenance = compile_explained(write_endpoint(folder, files))
    return version_of(made, provenance=provenance, folder=Path("api/things"))


def compared(folder: Path, before: str, after: str) -> EndpointChanges:
    return compare(version(folder / "a", before), version(folder / "b", after))


def only(made: EndpointChanges, code: str) -> Change:
    found = [change for change in made.changes if change.code == code]
    assert len(found) == 1, made.lines()
    return found[0]


def test_other_text_of_a_rule_is_told_as_a_gain_or_loss_of_no_caller(tmp_path: Path) -> None:
    twice = compared(tmp_path, config(rule("?$jwt")), config(rule("?$jwt && ?$jwt")))

    assert twice.lines() == ["no caller gains or loses anything; the text of the conditions changed [other-changed]"]


def test_differences_are_those_of_the_enforced_view() -> None:
    tally = run_cases(examples(100, share=10), endpoints=2, seed="daily")

    assert tally.faults == []
    assert tally.differing


def test_difference_that_is_not_told_is_a_fault_of_the_search(tmp_path: Path) -> None:
    """The search can fail: a version that has another index or other guards than the comparison is given."""
    hidden, open_ = (
        compile_explained(write_endpoint(tmp_path / name, {"index.graphql": SCHEMA, "config.yaml": config(rule(text))}))
        for name, text in (("a", "false"), ("b", "true"))
    )
    before, after = Version(hidden[0]), Version(open_[0])
    assert judged(before, after, Tally()) == ""

    after.published = before.published

    assert "is not told" in judged(before, after, Tally())


def test_opened_field_is_told_with_its_callers_way_and_rule(tmp_path: Path) -> None:
    made = compared(tmp_path, config(rule("false")), config(rule('$jwt.role:String == "hr"')))

    change = only(made, "reach-gained")
    assert change.coordinates == ("Person.salary", "Int")
    assert change.callers == ('token {"role": "hr"}',)
    assert change.ways == ("search",)
    assert change.rules == (
        "before: api/things/config.yaml:9: false",
        'now: $jwt.role:String == "hr"',
    )
    assert not made.breaking


def test_closed_field_is_breaking(tmp_path: Path) -> None:
    made = compared(tmp_path, config(rule("true")), config(rule("?$jwt")))

    change = only(made, "reach-lost")
    assert (change.coordinates, change.callers) == (("Person.salary", "Int"), ("anonymous",))
    assert made.breaking


@pytest.mark.parametrize(
    ("before", "after", "gained", "lost"),
    [
        ("$jwt.level:Int > 3", "$jwt.level:Int > 4", False, True),
        ("$jwt.level:Int > 4", "$jwt.level:Int > 3", True, False),
        ('$jwt.groups:String has "x"', '$jwt.groups:String has "x" || $jwt.groups:String has "y"', True, False),
        ('$jwt.groups:String has "x"', '$jwt.groups:String has "x" && $jwt.groups:String has "y"', False, True),
        ("?$jwt.level", "$jwt.level:Int > 3 || $jwt.level:Int <= 3", False, True),
        ("$jwt.level:Int > 3", "!($jwt.level:Int <= 3)", False, False),
        ("$jwt.a:String == $jwt.b:String", "?$jwt.a && ?$jwt.b", True, False),
        ('!($jwt.role:String == "x")', '$jwt.role:String != "x"', False, False),
        ("$jwt.level:Float > 3 && $jwt.level:Float < 3.5", "false", False, True),
        ("$jwt.level:Int > 3.5 && $jwt.level:Int < 4.5", "false", False, True),
        ("$jwt.level:Float > 3 && $jwt.level:Float < 4", "$jwt.level:Float == 3.5", False, True),
        ("$jwt.a:Int > 10 && $jwt.b:Int > $jwt.a:Int", "false", False, True),
        ('$jwt.role:String > "a" && $jwt.role:String < "a0"', "false", False, True),
        ("$jwt.level:Float > 1e17", "false", False, True),
        ("?$jwt.team.lead", "?$jwt.team", True, True),  # a claim may have a dot in its name
    ],
)
def test_conditions_are_compared_by_their_callers(
    tmp_path: Path, before: str, after: str, gained: bool, lost: bool
) -> None:
    made = compared(tmp_path, config(rule(before)), config(rule(after)))

    codes = [change.code for change in made.changes]
    assert (("reach-gained" in codes), ("reach-lost" in codes)) == (gained, lost), made.lines()


def many(count: int, last: str) -> Sequence[str]:
    """Rules on claims that do not depend on each other."""
    conditions = " || ".join(f'$jwt.c{number}:String == "v{number}"' for number in range(count))
    return rule(conditions, "mail"), rule(last)


def test_more_combinations_than_are_compared_are_told_and_breaking(tmp_path: Path) -> None:
    before = config(*(many(14, "false")))
    made = compared(tmp_path, before, config(*many(14, "true")))

    assert only(made, "reach-gained").coordinates == ("Person.salary", "Int")
    assert only(made, "too-many-classes").breaking
    assert made.breaking


def test_equal_rules_have_no_differences_however_many_combinations_there_are(tmp_path: Path) -> None:
    other = SCHEMA.replace("mail: String", "mail: String note: String")
    before = version(tmp_path / "a", config(*many(14, "false")))
    after = version(tmp_path / "b", config(*many(14, "false")))

    assert compare(before, after).is_empty
    assert other != SCHEMA


def test_coordinate_of_a_combination_that_was_not_tried_is_listed(tmp_path: Path) -> None:
    """Seven rules of one field, of which all have to hold: few classes meet them, and none of those that are tried."""
    conditions = [f'$jwt.c{number}:String == "v{number}"' for number in range(7)]
    before = config(rule(" && ".join([*conditions, '$jwt.d:String == "x"'])))
    after = config(rule(" && ".join([*conditions, '$jwt.d:String == "y"'])))
    versions = version(tmp_path / "a", before), version(tmp_path / "b", after)

    made = compare(*versions, most_classes=4)

    told = [change for change in made.changes if "Person.salary" in change.coordinates]
    assert told, made.lines()
    assert made.breaking


def test_anonymous_callers_who_are_refused_lose_everything(tmp_path: Path) -> None:
    text = config(rule("true"))
    made = compared(tmp_path, text, text.replace("anonymous: allow", "anonymous: challenge"))

    lost = {each for change in made.changes if change.code == "reach-lost" for each in change.coordinates}
    assert {"Query.staff", "Person.name", "Person.salary"} <= lost
    assert {change.callers for change in made.changes if change.code == "reach-lost"} == {("anonymous",)}


def test_bearers_of_tokens_lose_everything_with_the_issuer(tmp_path: Path) -> None:
    whole = version(tmp_path / "a", config(rule("true")))
    bundle = whole.bundle
    without = replace(whole, bundle=replace(bundle, identity=replace(bundle.identity, issuers=())))
    other = replace(whole, bundle=replace(bundle, identity=replace(bundle.identity, issuers=(ISSUER,))))

    assert "reach-lost" in {change.code for change in compare(whole, without).changes}
    assert "reach-lost" not in {change.code for change in compare(whole, other).changes}


def test_callers_who_lack_claims_are_not_any_token(tmp_path: Path) -> None:
    made = compared(
        tmp_path, config(rule("false")), config(rule('!($jwt.role:String == "x") && ?$jwt.role || !?$jwt.role'))
    )

    callers = only(made, "reach-gained").callers
    assert "token {}" in callers
    assert "any token" not in callers


def test_difference_for_all_bearers_is_one_for_any_token(tmp_path: Path) -> None:
    made = compared(tmp_path, config(rule("false"), rule('$jwt.role:String == "x"', "mail")), config(rule("?$jwt")))

    assert ("any token",) in {change.callers for change in made.changes if change.code == "reach-gained"}


def test_holder_of_a_key_without_claims_is_said_to_skip_policies(tmp_path: Path) -> None:
    def with_key(claims: str) -> str:
        key = f"api_keys: [{{name: partner, sha256: {'a' * 64}{claims}}}]"
        return config(rule("false")).replace("identity: {", f"identity: {{{key}, ")

    made = compared(tmp_path, with_key(", claims: {role: partner}"), with_key(""))

    (change,) = [each for each in made.changes if "Person.salary" in each.coordinates]
    assert (change.callers, change.rules[-1]) == (("key:partner",), "now: such callers skip policies")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("$jwt.roles:String has $jwt.team:String", "false"),
        ("$jwt.a:String != $jwt.b:String", '$jwt.a:String < $jwt.b:String || $jwt.a:String >= "m"'),
    ],
    ids=["a list with another claim", "texts below the smallest"],
)
def test_claims_that_are_compared_have_values_for_each_relation(tmp_path: Path, before: str, after: str) -> None:
    callers = (
        {"roles": ["x"], "team": "x"},
        {"roles": ["hr"], "team": "x"},
        {"roles": ["hr", "x"], "team": "x"},
        {"a": "b", "b": "a"},
        {"a": "z", "b": "a"},
        {"a": "a", "b": "b"},
    )
    old, new = (version(tmp_path / name, config(rule(text))) for name, text in (("a", before), ("b", after)))

    told = {change.code for change in compare(old, new).changes}

    sides = [Version(compile_explained(tmp_path / name / "api/things")[0]) for name in ("a", "b")]
    for caller in callers:
        was, now = (("search", "Person.salary") in side.reached(caller) for side in sides)
        assert was == now or ("reach-gained" if now else "reach-lost") in told, caller


def test_scopes_count_in_each_claim_that_may_hold_them(tmp_path: Path) -> None:
    """A rule on ``scope`` and a tool's scopes in ``scp`` are independent."""
    files = {
        name: {"index.graphql": SCHEMA.replace("graphql: [", 'scopes: ["read"], graphql: ['), "config.yaml": text}
        for name, text in (("a", config(rule("false"))), ("b", config(rule('!($jwt.scope:String has "read")'))))
    }
    old, new = (version_of(compile_explained(write_endpoint(tmp_path / name, files[name]))[0]) for name in files)

    gained = only(compare(old, new), "reach-gained")

    assert "Person.salary" in gained.coordinates
    assert any('"scp": ["read"]' in caller for caller in gained.callers)
