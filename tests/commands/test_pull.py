from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from handler.commands.schema_source.source_options import without_heading
from tests.commands.apis import SHOP, answering, running_shop
from tests.commands.running import Stile
from tests.commands.test_init import tree
from tests.support.api import Api, Reply, running_api
from tests.support.secrecy import SESSION

TOKEN = SESSION.keep("a token for a new schema", "tok_5kQ2Yw7Rm9ZtLc1")
FOLDER = "shop/products"
TILL = "\ntype Till { pin: Int }\ninput Wish { pin: Int }\n"


def make(stile: Stile, api: Api) -> None:
    assert stile("init", FOLDER, "--from", api.url, "--access", "open").code == 0


def changed(old: str, new: str) -> str:
    assert old in SHOP
    return SHOP.replace(old, new)


def test_schema_that_has_not_changed_is_not_written(workplace: Path, stile: Stile) -> None:
    with running_shop() as api:
        make(stile, api)
        file = workplace / FOLDER / "schema.graphql"
        before = file.stat()
        done = stile("pull", "shop")

    assert (done.code, done.err) == (0, "")
    assert done.out == f"shop/products/schema.graphql: the schema of {api.url} has not changed\n"
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_order_of_definitions_is_no_change(workplace: Path, stile: Stile) -> None:
    with running_shop() as api:
        make(stile, api)
        file = workplace / FOLDER / "schema.graphql"
        sdl = without_heading(file.read_text("utf-8")).strip()
        (workplace / "turned.graphql").write_text("\n\n".join(reversed(re.split(r"\n\n(?! )", sdl))), encoding="utf-8")
        done = stile("pull", "shop", "--from", "turned.graphql")

    assert done.out.endswith("has not changed\n")


def test_field_that_is_gone_breaks_the_tools_that_ask_for_it(workplace: Path, stile: Stile) -> None:
    with running_shop() as api:
        make(stile, api)
        api.answer = answering(changed("price: Float!", "cost: Float!"))
        done = stile("pull", "shop")

    assert (done.code, done.err) == (1, "")
    gone = (
        "Cannot query field 'price' on type 'Product'. 'Product' has name, id, cost, colour, secretKey and 3 more. "
        "[unknown-field]"
    )
    assert done.out.splitlines() == [
        f"shop/products: the schema of {api.url} has changed",
        "  + Product.cost",
        "  - Product.price",
        f"shop/products/operations/get_product.graphql:6:5: {gone}",
        f"shop/products/operations/list_products.graphql:8:7: {gone}",
        "no policy is for the new Product.cost",
        "This breaks the endpoint: 2 problems.",
        "Wrote shop/products/schema.graphql.",
    ]
    assert "cost: Float!" in (workplace / FOLDER / "schema.graphql").read_text("utf-8")


def test_check_writes_nothing(workplace: Path, stile: Stile) -> None:
    with running_shop() as api:
        make(stile, api)
        before = tree(workplace)
        api.answer = answering(changed("price: Float!", "cost: Float!"))
        broken = stile("pull", "shop", "--check")
        api.answer = answering(changed("price: Float!", "price: Float! cost: Float"))
        added = stile("pull", "shop", "--check")

    assert (broken.code, added.code) == (1, 0)
    assert broken.out.endswith("Nothing was written (--check).\n")
    assert tree(workplace) == before


def test_new_fields_are_shown_with_the_rules_that_are_for_them(workplace: Path, stile: Stile) -> None:
    with running_shop() as api:
        make(stile, api)
        api.answer = answering(changed("version: String!", "version: String! invoices: [Order!]!"))
        done = stile("pull", "shop")

    assert done.code == 0
    assert "  + Query.invoices\n" in done.out
    assert "new Query.invoices: shop/products/config.yaml:12: policyDefault: true\n" in done.out
    assert "This breaks nothing in the endpoint.\n" in done.out


def test_new_fields_that_no_policy_is_for_are_named(workplace: Path, stile: Stile) -> None:
    with running_shop() as api:
        make(stile, api)
        api.answer = answering(changed("price: Float!", "price: Float! margin: Float till: Till") + TILL)
        done = stile("pull", "shop", "--check")
        plain = json.loads(stile("pull", "shop", "--check", "--json").out)

    assert "no policy is for the new Product.margin, Product.till, Till.pin\n" in done.out
    assert plain["policies"] == {"Product.margin": [], "Product.till": [], "Till.pin": []}


@pytest.mark.parametrize("linked", [False, True])
def test_schema_that_breaks_a_tool_does_not_hide_what_policies_open(
    workplace: Path, stile: Stile, *, linked: bool
) -> None:
    with running_shop() as api:
        make(stile, api)
        operations = workplace / FOLDER / "operations"
        if linked:
            operations.rename(operations.with_name("own"))
            operations.symlink_to("own")
        before = tree(workplace)
        sdl = changed("version: String!", "version: String! invoices: [Order!]!")
        api.answer = answering(sdl.replace("price: Float!", "cost: Float!"))
        done = stile("pull", "shop", "--check")

    assert done.code == 1, done.out
    assert ("new Query.invoices: shop/products/config.yaml:12: policyDefault: true\n" in done.out) is not linked
    assert tree(workplace) == before


def test_policy_whose_type_is_gone_breaks(workplace: Path, stile: Stile) -> None:
    with running_shop() as api:
        make(stile, api)
        without = changed("mutation: Mutation", "").replace("type Mutation { buy(product: ID!): Order }", "")
        api.answer = answering(without)
        done = stile("pull", "shop")

    assert done.code == 1
    assert "shop/products/config.yaml:13:11: " in done.out
    assert "[unknown-type]" in done.out


def test_tool_whose_schema_differs_is_named_with_its_parts(workplace: Path, stile: Stile) -> None:
    with running_shop() as api:
        make(stile, api)
        api.answer = answering(changed("colour: Colour secretKey", "colour: String secretKey"))
        done = stile("pull", "shop", "--json")

    assert done.code == 0
    report = json.loads(done.out)
    assert report["tools"] == {
        "added": [],
        "removed": [],
        "changed": {"get_product": ["outputSchema"], "list_products": ["outputSchema"]},
    }
    assert (report["changed"], report["written"], report["breaks"]) == (True, True, False)


def test_schema_of_a_graphql_tool_is_compared(workplace: Path, stile: Stile) -> None:
    with running_shop() as api:
        make(stile, api)
        index = workplace / FOLDER / "index.graphql"
        tool = (
            'extend schema @tool(name: "ask", title: "A", graphql: {expose: true, types: "Query", fields: "orders"})\n'
        )
        index.write_text(index.read_text("utf-8") + tool, encoding="utf-8")
        api.answer = answering(changed("placedAt: DateTime!", "placedAt: DateTime! paid: Boolean"))
        report = json.loads(stile("pull", "shop", "--json").out)

    assert report["tools"]["changed"] == {"ask": ["inputSchema", "schema"]}


def test_document_for_programs_has_places_and_codes(workplace: Path, stile: Stile) -> None:
    with running_shop() as api:
        make(stile, api)
        same = json.loads(stile("pull", "shop", "--json").out)
        api.answer = answering(changed("price: Float!", "cost: Float!"))
        report = json.loads(stile("pull", "shop", "--json", "--check").out)

    assert same == {"folder": FOLDER, "source": api.url, "changed": False, "written": False}
    assert report.keys() == {
        "folder", "source", "changed", "written", "breaks", "added", "removed", "tools", "policies", "problems",
        "warnings",
    }  # fmt: skip
    assert report["written"] is False
    assert report["problems"][0].keys() == {"file", "line", "column", "code", "sentence", "coordinates"}
    assert report["removed"] == ["Product.price"]


def test_problem_that_was_there_before_is_no_break(workplace: Path, stile: Stile) -> None:
    with running_shop() as api:
        make(stile, api)
        own = workplace / FOLDER / "operations" / "own.graphql"
        own.write_text("query Own { nothing }", encoding="utf-8")
        api.answer = answering(changed("version: String!", "version: String! invoices: [Order!]!"))
        done = stile("pull", "shop")

    assert done.code == 0


def test_own_definition_that_the_new_schema_has_too_is_the_authors_to_solve(workplace: Path, stile: Stile) -> None:
    with running_shop() as api:
        make(stile, api)
        index = workplace / FOLDER / "index.graphql"
        index.write_text(index.read_text("utf-8") + "extend type Maker { stars: Int }\n", encoding="utf-8")
        api.answer = answering(changed("type Maker { id: ID!", "type Maker { id: ID! stars: String"))
        done = stile("pull", "shop")

    assert done.code == 1
    assert '"Maker.stars" is' in done.out


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        (Reply({"errors": [{"message": "off"}]}), "does not answer introspection"),
        (Reply(b"<html>", 200), "is a web page"),
        (Reply({"data": {"__schema": {"types": []}}}), "the schema cannot be used"),
    ],
)
def test_api_that_gives_no_schema_any_more_changes_nothing(
    workplace: Path, stile: Stile, reply: Reply, cause: str
) -> None:
    with running_shop() as api:
        make(stile, api)
        before = tree(workplace)
        api.answer = lambda _: reply
        done = stile("pull", "shop")

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"{api.url}: ")
    assert cause in done.err
    assert tree(workplace) == before


def test_schema_that_is_not_valid_by_itself_is_not_written(workplace: Path, stile: Stile) -> None:
    with running_shop() as api:
        make(stile, api)
    before = tree(workplace)
    (workplace / "a.graphql").write_text("type Query { a: Missing }", encoding="utf-8")
    before["a.graphql"] = "type Query { a: Missing }"

    done = stile("pull", "shop", "--from", "a.graphql")

    assert done.code == 1
    assert done.err.startswith("a.graphql:1:17: the schema cannot be used: Unknown type 'Missing'.")
    assert tree(workplace) == before


def test_headers_go_to_the_api_of_the_folder(workplace: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", TOKEN)
    with running_shop() as api:
        make(stile, api)
        api.asked.clear()
        done = stile("pull", "shop", "-H", "Authorization: Bearer $TOKEN")

    assert done.code == 0
    assert set(api.authorizations) == {f"Bearer {TOKEN}"}


@pytest.mark.parametrize("beside", ["", "query Broken { gone }"])
def test_headers_are_not_sent_where_two_origins_are_named(workplace: Path, stile: Stile, beside: str) -> None:
    with running_shop() as api, running_shop() as other:
        make(stile, api)
        if beside:
            (workplace / FOLDER / "operations" / "broken.graphql").write_text(beside, encoding="utf-8")
        config = workplace / FOLDER / "config.yaml"
        config.write_text(config.read_text("utf-8").replace(api.url, other.url), encoding="utf-8")
        api.asked.clear()
        done = stile("pull", "shop", "-H", f"Authorization: Bearer {TOKEN}")
        named = stile("pull", "shop", "-H", f"Authorization: Bearer {TOKEN}", "--from", other.url)

    assert done.code == 1
    assert done.err == (
        f"shop/products: the schema is from {api.url}, and upstream.url is {other.url}: --from says which gets the "
        "headers\n"
    )
    assert api.asked == []
    assert named.code == 0


def test_schema_from_a_file_is_renewed_from_the_api(workplace: Path, stile: Stile) -> None:
    (workplace / "shop.graphql").write_text(SHOP, encoding="utf-8")
    with running_api(answering()) as api:
        stile("init", FOLDER, "--from", "shop.graphql", "--url", api.url)
        done = stile("pull", "shop")

    assert done.code in (0, 1)
    assert len(api.asked) >= 1


def test_folder_without_an_own_schema_file_is_said(workplace: Path, stile: Stile) -> None:
    folder = workplace / "api" / "things"
    folder.mkdir(parents=True)
    (folder / "index.graphql").write_text("type Query { a: Int }", encoding="utf-8")

    done = stile("pull", "api")

    assert done.code == 1
    assert done.err.startswith("api/things/schema.graphql: there is no such file")
    (folder / "schema.graphql").write_text("type Query { a: Int }", encoding="utf-8")
    assert stile("pull", "api").err.startswith("api/things: it names no API: --from says")


def test_several_endpoints_are_a_wrong_use(workplace: Path, stile: Stile) -> None:
    with running_shop() as api:
        make(stile, api)
        stile("init", "shop/others", "--from", api.url)
        done = stile("pull", "shop")

    assert (done.code, done.err) == (2, "shop has 2 endpoints: name the folder of one\n")


def test_stage_may_have_an_api_of_its_own(workplace: Path, stile: Stile) -> None:
    with running_shop() as api:
        make(stile, api)
    (workplace / FOLDER / "config.prod.yaml").write_text("upstream: {url: 'https://prod.example'}", encoding="utf-8")

    done = stile("pull", "shop", "--stage", "prod", "-H", "X-A: b")

    assert "upstream.url is https://prod.example" in done.err


def test_link_stays_a_link_and_permissions_stay(workplace: Path, stile: Stile) -> None:
    with running_shop() as api:
        make(stile, api)
        file = workplace / FOLDER / "schema.graphql"
        real = file.rename(workplace / FOLDER / "real.graphqls")
        real.chmod(0o640)
        file.symlink_to(real.name)
        api.answer = answering(changed("version: String!", "version: String! extra: Int"))
        done = stile("pull", "shop")

    assert done.code == 0
    assert file.is_symlink()
    assert "extra: Int" in real.read_text("utf-8")
    assert real.stat().st_mode & 0o777 == 0o640
