"""Differences of tools, arguments and settings, each with the judgement that docs/diff.md gives it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from handler.audience.ways import Published, version_of
from handler.bundle.tools import CodeKit
from handler.commands.changes.endpoint_changes import compare
from handler.compiler.codes import CHANGE_CODES
from tests.changes.kinds import FILES, KINDS, NAMES, Kind
from tests.support.endpoints import READABLE, compiled


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Published:
    return version_of(compiled(tmp_path_factory.mktemp("before"), FILES))


def changed(folder: Path, kind: Kind) -> Published:
    """The endpoint with one edit."""
    text = FILES[NAMES[kind.file]]
    assert kind.old in text
    return version_of(compiled(folder, {**FILES, NAMES[kind.file]: text.replace(kind.old, kind.new)}))


def test_there_are_kinds_enough() -> None:
    assert len(KINDS) >= 40
    assert {kind.code for kind in KINDS} <= set(CHANGE_CODES)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.what)
def test_each_kind_of_edit_is_told_and_judged(kind: Kind, before: Published, tmp_path: Path) -> None:
    made = compare(before, changed(tmp_path, kind))

    assert kind.code in {change.code for change in made.changes}, made.lines()
    assert CHANGE_CODES[kind.code].breaking == kind.breaks
    assert made.breaking == kind.breaks, made.lines()


def test_equal_files_have_no_differences(before: Published, tmp_path: Path) -> None:
    made = compare(before, version_of(compiled(tmp_path, FILES)))

    assert made.is_empty
    assert made.lines() == []


def test_comments_in_files_are_no_differences(before: Published, tmp_path: Path) -> None:
    files = {**FILES, "config.yaml": "# a comment\n" + FILES["config.yaml"]}

    assert compare(before, version_of(compiled(tmp_path, files))).is_empty


def test_endpoint_that_is_gone_is_breaking_and_one_that_is_new_is_not(before: Published) -> None:
    assert compare(before, None).breaking
    assert not compare(None, before).breaking


def test_tool_with_hidden_arguments_is_compared_as_it_is_listed_to_those_who_see_them(tmp_path: Path) -> None:
    wide = " ".join(f'"the part {number} of a thing" f{number}: Int' for number in range(100))
    rule = "{type: Thing, policyDefault: {condition: true}, rules: [{condition: '?$jwt', fields: [price]}]}"
    files = {
        "index.graphql": "type Query { a(f: Filter): [Thing] } type Thing { name: String price: Int } "
        f"input Filter {{ name: String price: Int wide: Wide }} input Wide {{ {wide} }}",
        "operations/o.graphql": "query O($f: Filter) @mcpTool { a(f: $f) { name } }",
    }
    limits = "limits: {max_schema_bytes: 1000}\n"
    guarded = READABLE.replace("]}", f", {rule}]}}")

    made = compare(
        version_of(compiled(tmp_path / "before", {**files, "config.yaml": READABLE + limits})),
        version_of(compiled(tmp_path / "after", {**files, "config.yaml": guarded + limits})),
    )

    assert not {"size-changed", "text-changed"} & {change.code for change in made.changes}, made.lines()


def test_new_endpoint_is_told_with_all_that_callers_reach(before: Published) -> None:
    *opened, last = compare(None, before).changes

    assert last.code == "endpoint-added"
    assert {each.code for each in opened} == {"reach-gained"}
    coordinates = {coordinate for each in opened for coordinate in each.coordinates}
    assert {"Mutation.pay", "Query.orders", "Order.total"} <= coordinates
    assert "Query.secret" not in coordinates


def lines(folder: Path, before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """The differences of two sets of files, which are laid over those of all tests."""
    versions = [
        version_of(compiled(folder / name, {**FILES, **files})) for name, files in (("a", before), ("b", after))
    ]
    return compare(*versions).lines()


def edited(name: str, old: str, new: str) -> dict[str, str]:
    assert old in FILES[name]
    return {name: FILES[name].replace(old, new)}


def test_credential_of_one_kind_is_told_with_its_differing_parts(tmp_path: Path) -> None:
    client = "{client_credentials: {token_url: 'https://id.example.com/token', client_id: a, client_secret: 'secret:A'"
    before, after = (
        edited("config.yaml", '{bearer: "secret:ORDERS"}', f"{client}, scope: [{scopes}]}}}}")
        for scopes in ("orders", "orders, all")
    )

    (told,) = (line for line in lines(tmp_path, before, after) if "[upstream-credential]" in line)

    assert told.endswith("with other scope [upstream-credential]"), told


def with_filters(count: int) -> dict[str, str]:
    """A schema whose input type has so many further types below, too many for the list."""
    members = " ".join(f'"Text {number}." f{number}: Filter{number}' for number in range(count))
    types = "".join(
        f'input Filter{n} {{ "Count {n}." count: Int = 5 "Word {n}." word: String }}\n' for n in range(count)
    )
    return {"index.graphql": FILES["index.graphql"].replace("{ total: Float,", f"{{ {members} total: Float,") + types}


def test_texts_that_lists_leave_out_are_one_difference(tmp_path: Path) -> None:
    told = lines(tmp_path, with_filters(5), with_filters(60))

    assert sum("[text-changed]" in line for line in told) == 1, told
    assert sum("[argument-" in line and "[argument-added]" not in line for line in told) == 0, told


def test_difference_of_an_argument_of_several_types_is_told_once(tmp_path: Path) -> None:
    told = lines(tmp_path, {}, edited("index.graphql", "OPEN PAID", "OPEN"))

    assert len(told) == len(set(told)), told
    assert 'breaking: tool order: "where.state" does not take the value PAID [argument-value-removed]' in told


PERSISTED = edited("config.yaml", "graphql: on", "graphql: persisted")
DOCUMENT = {"operations/more.graphql": "query More($s: State) { order(id: 1, state: $s) { total buyer { name } } }\n"}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("OPEN PAID", "OPEN", 'breaking: /graphql More: "s" does not take the value PAID [argument-value-removed]'),
        ("total: Float!", "total: Float", "breaking: Order.total: type Float, and was Float! [field-type]"),
    ],
)
def test_document_of_one_id_is_compared_by_its_types(tmp_path: Path, old: str, new: str, expected: str) -> None:
    files = {**PERSISTED, **DOCUMENT}

    assert expected in lines(tmp_path, files, {**files, **edited("index.graphql", old, new)})


def test_results_without_a_schema_are_compared_by_the_types_of_fields(tmp_path: Path) -> None:
    files = edited("config.yaml", "graphql: on", "graphql: off\noutput_schema: off")

    told = lines(tmp_path, files, {**files, **edited("index.graphql", "{ id: ID! total", "{ id: ID total")})

    assert told == ["breaking: Order.id: type ID, and was ID! [field-type]"]


def test_pattern_of_tenants_is_told_beside_other_differences(tmp_path: Path) -> None:
    url = '"https://{claim:tenant}.example.com/graphql"\n  tenant_pattern: "PATTERN"'
    before = edited("config.yaml", "https://orders.example.com/graphql", url)["config.yaml"]
    configs = [before.replace("PATTERN", pattern) for pattern in ("[a-z]+", "[a-z0-9]+")]
    other = edited("operations/order.graphql", "One order", "An order")

    told = lines(tmp_path, {"config.yaml": configs[0]}, {"config.yaml": configs[1], **other})

    assert "tenants in the URL fit [a-z0-9]+, and fitted [a-z]+ [upstream-url]" in told


def test_toolkit_that_is_set_otherwise_is_told_beside_other_differences(before: Published) -> None:
    kits = [
        CodeKit(use="shop:kit", per_caller=each, hidden=None, category="", mask=frozenset()) for each in (True, False)
    ]
    old, new = (replace(before, bundle=replace(before.bundle, code=(kit,))) for kit in kits)
    new = replace(new, bundle=replace(new.bundle, instructions="Others."))

    assert "the toolkit shop:kit: other per_caller [code-changed]" in compare(old, new).lines()
    assert "the toolkit shop:kit is new [code-changed]" in compare(before, new).lines()


def test_prompt_for_other_callers_is_told_with_both_conditions(tmp_path: Path) -> None:
    prompt = '---\ndescription: A\ncondition: "?$jwt"\n---\nHello\n'
    opened = prompt.replace('condition: "?$jwt"\n', "")

    told = lines(tmp_path, {"prompts/p.md": prompt}, {"prompts/p.md": opened})

    assert told == ["open: breaking: prompt p is for other callers: no condition, before: ?$jwt [content-opened]"]


def test_name_that_becomes_an_alias_of_a_tool_that_was_there_means_another_tool(tmp_path: Path) -> None:
    renamed = edited("operations/order.graphql", '"order"', '"find"')
    taken = edited("operations/pay.graphql", '"pay"', '"pay", aliases: ["order"]')

    assert "breaking: tool order is gone, and calls of it call pay [tool-replaced]" in lines(
        tmp_path, {}, renamed | taken
    )
