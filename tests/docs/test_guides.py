"""Tables, numbers and snippets of the author's guides are those of the code."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from handler.__main__ import main
from handler.bundle.tools import MAX_CONSENT_CHARS, Limits
from handler.compiler.checks.client_rules import MAX_DESCRIPTION_BYTES, MAX_ENTRY_BYTES, MAX_LISTED
from handler.compiler.compile import compile_endpoint
from handler.compiler.config.foreign import APOLLO, COSMO
from handler.compiler.config.table import MAX_INSTRUCTIONS_BYTES, SCALAR_KEYS
from handler.compiler.json_schemas.descriptions import MAX_ENUM_CHARS
from handler.compiler.json_schemas.scalars import MAX_PATTERN_CHARS, NUMBER_KEYWORDS, TEXT_KEYWORDS
from handler.compiler.operations.sources import MANIFEST_SUFFIXES, SCHEMA_SUFFIX, SUFFIXES
from handler.compiler.schema.directives import DEFINITIONS
from handler.compiler.tools.prompts import MAX_PROMPT_BYTES
from handler.compiler.tools.resources import MAX_RESOURCE_BYTES, MAX_RESOURCES_BYTES
from handler.errors.calls import InvalidArguments
from handler.graph.documents.introspection import MAX_BYTES, MAX_BYTES_OF_A_CALL
from handler.json_schema.answer_check import MAX_STEPS
from handler.json_schema.checker import MAX_VIOLATIONS
from handler.json_schema.formats import MAX_MATCHED_CHARS, STANDARD_FORMATS
from handler.json_schema.json_bounds import MAX_VALUES
from handler.list_entries import LIST_BUDGET, MAX_LISTED_BYTES
from handler.server.asgi.response_size import MAX_PAGE_BYTES
from handler.server.auth.sealed_state import STATE_S
from handler.server.endpoints.arguments_validator import ArgumentsValidator
from handler.server.mcp.code_tools import MAX_REQUESTS
from handler.server.mcp.jsonrpc import MAX_BATCH
from handler.server.mcp.revisions import ASSUMED, BATCHING, TEXT_ONLY
from handler.server.mcp.route import MIN_COMPRESSED_BYTES
from tests.docs.pages import blocks, first_column, read, section
from tests.support.endpoints import compiled, graphql_tool, write_endpoint
from tests.support.function import running_function

NUMBERS = {
    "docs/tools.md": [
        f"a description above {MAX_DESCRIPTION_BYTES:,} bytes",
        f"a tool that takes more than {MAX_ENTRY_BYTES // 1024} KB of the list",
        f"An answer with more than {MAX_STEPS:,} values",
        f"more than {MAX_LISTED} listed tools",
        f"tools whose names and arguments take more than {LIST_BUDGET:,} tokens",
        f"a list above {LIST_BUDGET:,} tokens",
        f"a list above {MAX_PAGE_BYTES:,} bytes",
        f"a list above {MIN_COMPRESSED_BYTES // 1024} KB",
        f"one tool above {MAX_LISTED_BYTES // 1_000_000} MB",
        f"Only {BATCHING} has batches, of up to {MAX_BATCH} messages",
        f"A request without the header `MCP-Protocol-Version` speaks {ASSUMED}",
    ],
    "docs/arguments.md": [
        f"in up to {MAX_ENUM_CHARS:,} characters",
        f"A pattern has at most {MAX_PATTERN_CHARS} characters",
        f"up to {MAX_VIOLATIONS}:",
    ],
    "docs/confirm.md": [
        f"comes after {STATE_S // 60} minutes",
        f"more than {MAX_CONSENT_CHARS:,} characters is refused",
    ],
    "docs/prompts-resources.md": [
        f"a prompt of up to {MAX_PROMPT_BYTES:,} bytes",
        f"{MAX_RESOURCE_BYTES:,} bytes at most, and all files have {MAX_RESOURCES_BYTES:,} together",
        f"in up to {MAX_BYTES_OF_A_CALL // 1000} KB",
        f"in up to {MAX_BYTES // 1_000_000} MB",
        f"`instructions: …` in `config.yaml`, {MAX_INSTRUCTIONS_BYTES:,} bytes at most",
    ],
    "docs/code-tools-reference.md": [
        f"A call has {MAX_VALUES:,} values at most",
        f"One call may send {MAX_REQUESTS} requests",
        f"texts above {MAX_MATCHED_CHARS:,} characters match none",
    ],
}


@pytest.mark.parametrize(("page", "sentences"), NUMBERS.items(), ids=list(NUMBERS))
def test_numbers_of_the_page_are_those_of_the_code(page: str, sentences: list[str]) -> None:
    text = " ".join(read(page).split())

    assert [sentence for sentence in sentences if sentence not in text] == []


def test_page_of_the_installation_names_the_package_and_its_python() -> None:
    package = tomllib.loads(read("pyproject.toml"))["project"]

    assert f"as `{package['name']}`" in read("docs/install.md")
    assert package["requires-python"] == ">=3.11"


def test_limits_of_a_tool_are_all_there_are() -> None:
    (row,) = re.findall(r"^\| `limits` \| `\{(.*?)\}`", read("docs/reference/directives.md"), re.MULTILINE)

    assert set(row.split(", ")) == {each.name for each in fields(Limits)}


OPEN = "access: {anonymous: allow, policies: [{type: Query, policyDefault: {condition: true}}]}"


def test_placeholders_are_filled_as_the_page_says(tmp_path: Path) -> None:
    page = section(read("docs/tools.md"), "Placeholders in descriptions")
    names = [name.strip("{}") for name in first_column(page)]
    text = " ".join(f"{name}=<{{{name}}}>" for name in names)
    tool = f'@tool(name: "t", description: "{text}", graphql: {{expose: true, types: "Query", fields: "a"}})'
    files = {
        "index.graphql": f'"""About things."""\nschema {tool} {{ query: Query }}\ntype Query {{ a: Int }}',
        "config.yaml": OPEN,
    }

    (listing,) = graphql_tool(compiled(tmp_path, files), "t").listings
    assert listing.entry
    filled = dict(re.findall(r"(\w+)=<([^>]*)>", listing.entry["description"]))

    assert sorted(filled) == sorted(names)
    assert (filled["endpoint_folder"], filled["endpoint_name"]) == ("api", "things")
    assert filled["schema_description"] == "About things."
    assert "type Query" in filled["schema_sdl"]
    assert filled["graphql_tool"].startswith("Run a GraphQL request")


def test_suffixes_of_operations_are_the_ones_that_are_read() -> None:
    page = section(read("docs/endpoints.md"), "Files of operations")

    assert f"end in `{SUFFIXES[0]}` or `{SUFFIXES[1]}`" in page
    assert f"`{SCHEMA_SUFFIX}` is for schemas" in page


def test_revisions_of_texts_alone_are_those_before_the_one_that_is_named() -> None:
    page = section(read("docs/tools.md"), "Revisions of MCP")
    (first,) = re.findall(r"Before (\S+) there are no titles", page)

    assert all(each < first for each in TEXT_ONLY)


def test_scalars_of_the_page_are_taken_and_refuse_as_it_says(tmp_path: Path) -> None:
    found = blocks(read("docs/arguments.md"))
    (scalars,) = [block.text for block in found if block.text.startswith("scalars:")]
    (shown,) = [block.text for block in found if block.text.startswith("Invalid arguments")]
    files = {
        "index.graphql": "scalar Money scalar Percent type Query { a(x: Money, y: String, z: Percent): Int }",
        "operations/price.graphql": "query price($max: Money, $currency: String, $off: Percent) "
        "@mcpTool { a(x: $max, y: $currency, z: $off) }",
        "config.yaml": scalars,
    }
    (tool,) = compiled(tmp_path, files).bundle.tools

    with pytest.raises(InvalidArguments) as caught:
        ArgumentsValidator("price", tool.arguments).check({"off": 120, "curency": "EUR"})

    assert str(caught.value) == " ".join(shown.split())
    ArgumentsValidator("price", tool.arguments).check({"max": "12.90", "off": 100})


def test_keys_of_scalars_are_all_there_are() -> None:
    page = section(read("docs/arguments.md"), "Custom scalars")
    table = page[page.index("| key |") :].split("\n\n")[0]
    named = set(re.findall(r"`([A-Za-z0-9-]+)`", table))

    assert named == {"type", *SCALAR_KEYS["type"].known, *TEXT_KEYWORDS, *NUMBER_KEYWORDS, *STANDARD_FORMATS}


ORDERS = """
type Query { orders(tenant: ID, channel: String, first: Int): [Order!]! }
type Mutation { cancelOrder(number: String!): Order }
type Order { number: String! status: String total: Float }
"""


@pytest.mark.parametrize(
    ("page", "start", "shown"),
    [
        ("docs/tools.md", '"""\nThe newest', {"first"}),
        ("docs/arguments.md", "query ListOrders", {"first"}),
        ("docs/arguments.md", "query MyOrders", {"first"}),
        ("docs/confirm.md", "mutation CancelOrder", {"number"}),
    ],
)
def test_operation_of_the_page_is_a_tool(tmp_path: Path, page: str, start: str, shown: set[str]) -> None:
    (text,) = [block.text for block in blocks(read(page)) if block.text.startswith(start)]

    (tool,) = compiled(tmp_path, {"index.graphql": ORDERS, "operations/a.graphql": text}).bundle.tools

    assert set(tool.entry["inputSchema"]["properties"]) == shown
    assert tool.options.confirm == ("required" if page == "docs/confirm.md" else "")


def test_directive_that_binds_takes_what_the_page_lists() -> None:
    page = section(read("docs/arguments.md"), "Bind a variable")
    definition = DEFINITIONS.get_directive("mcpBind")

    assert definition
    assert {name.rstrip(":") for name in first_column(page)} == set(definition.args)


def test_prompts_and_resources_are_as_the_page_says(tmp_path: Path) -> None:
    page = read("docs/prompts-resources.md")
    written = [block for name in ("docs/endpoints.md", "docs/prompts-resources.md") for block in blocks(read(name))]
    for block in written:
        if block.file:
            (tmp_path / block.file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
    folder = tmp_path / "endpoints" / "shop" / "orders"
    (folder / "resources").mkdir()
    (folder / "resources" / "terms.md").write_text("# Terms", encoding="utf-8")

    with running_function(compile_endpoint(folder)) as function:
        review = {"name": "order-review", "arguments": {"number": "7", "tone": "brief"}}
        (message,) = function.request("prompts/get", review).result["messages"]
        listed = [each["uri"] for each in function.request("resources/list").result["resources"]]

    assert message["content"]["text"].endswith("order 7 and explain its status to the customer. Tone: brief")
    assert listed == re.findall(r"`(stile://[^`]+(?:terms.md|search.graphql))`", page)


def test_settings_of_prompts_and_resources_are_read(tmp_path: Path) -> None:
    settings = [block.text for block in blocks(read("docs/prompts-resources.md")) if block.language == "yaml"]
    files = {"index.graphql": "type Query { a: Int }", "config.yaml": "default_tool: false\n" + "".join(settings)}
    folder = write_endpoint(tmp_path, {**files, "resources/a.md": "A"})

    made = compile_endpoint(folder).bundle

    assert made.instructions.startswith("Orders of the shop.")
    assert [resource.mask for resource in made.resources] != [frozenset()]


def test_comments_of_an_apollo_file_are_descriptions(tmp_path: Path) -> None:
    for block in blocks(read("docs/from-apollo.md")):
        if block.file:
            (tmp_path / block.file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
    assert main(["adopt", str(tmp_path / "weather"), str(tmp_path / "new" / "alerts")]) == 0

    (tool,) = compile_endpoint(tmp_path / "new" / "alerts").bundle.tools

    assert tool.entry["description"] == "Get the weather alerts of a state."
    assert "Two letters, such as CO" in json.dumps(tool.entry["inputSchema"])


@pytest.mark.parametrize(("page", "table"), [("docs/from-apollo.md", APOLLO), ("docs/from-cosmo.md", COSMO)])
def test_page_has_each_setting_of_the_other_server(page: str, table: dict[str, str]) -> None:
    told = set(re.findall(r"\w+", section(read(page), "Settings and their places").partition("\n## ")[0]))

    assert {part for name in table for part in name.split(".")} - told == set()


def test_page_names_the_manifests_that_are_read() -> None:
    told = section(read("docs/endpoints.md"), "Manifests of persisted queries")

    assert all(f"`{name}`" in told for name in MANIFEST_SUFFIXES)
