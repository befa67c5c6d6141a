from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from handler.compiler.json_schemas.descriptions import GRAPHQL_TOOL
from handler.graph.tool_entry import MAX_SDL_BYTES
from tests.support.diagnostics import Reported
from tests.support.endpoints import READABLE, compiled, doubted, graphql_tool, prescribed_tool, reported

SDL = '"""A shop in {endpoint_name}."""\nschema { query: Query }\ntype Query { customer: Customer secret: Int }\n'
CUSTOMER = "type Customer {\n  name: String\n}\n"

SHOWN_SDL = '"""A shop in {endpoint_name}."""\nschema {\n  query: Query\n}\n\ntype Query {\n  customer: Customer\n}\n\n'


def entry_of(folder: Path, arguments: str, *, sdl: str = SDL + CUSTOMER) -> dict[str, Any]:
    """The entry of a GraphQL tool that shows Query.customer."""
    pattern = 'graphql: {expose: true, types: "Query", fields: "customer"}'
    index = f'extend schema @tool(name: "t", {arguments} {pattern})\n{sdl}'
    entry = graphql_tool(compiled(folder, {"index.graphql": index, "config.yaml": READABLE}), "t").listings[0].entry
    assert entry is not None
    return entry


def texts_of(entry: dict[str, Any]) -> dict[str, str]:
    return {name: kind["description"] for name, kind in entry["inputSchema"]["properties"].items()}


def test_every_documented_variable_is_replaced(tmp_path: Path) -> None:
    text = "{endpoint_folder}|{endpoint_name}|{graphql_tool}|{schema_description}|{schema_sdl}"

    entry = entry_of(tmp_path, f'description: "{text}"')

    assert entry["description"] == (
        f"api|things|{GRAPHQL_TOOL}|A shop in {{endpoint_name}}.|{SHOWN_SDL}{CUSTOMER}"  # replaced once, not again
    )


def test_other_braces_stay_as_they_are(tmp_path: Path) -> None:
    text = "{other} { endpoint_name } {} {{endpoint_name}} {endpoint-name} }{"

    assert entry_of(tmp_path, f'description: "{text}"')["description"] == (
        "{other} { endpoint_name } {} {things} {endpoint-name} }{"
    )


def test_schema_without_a_description_gives_an_empty_text(tmp_path: Path) -> None:
    entry = entry_of(tmp_path, 'description: "[{schema_description}]"', sdl="type Query { customer: Int }")

    assert entry["description"] == "[]"


def test_graphql_tool_without_a_description_gets_the_default(tmp_path: Path) -> None:
    assert entry_of(tmp_path, "")["description"] == GRAPHQL_TOOL


def test_default_description_of_query_shows_the_schema(tmp_path: Path) -> None:
    texts = texts_of(entry_of(tmp_path, ""))

    assert texts["query"] == (f"The GraphQL request to run. It must be valid for this schema:\n\n{SHOWN_SDL}{CUSTOMER}")
    assert texts["operationName"]
    assert texts["variables"]


def test_default_description_of_query_sums_up_a_large_schema(tmp_path: Path) -> None:
    large = "type Customer {\n" + "\n".join(f"  field{n}: String" for n in range(MAX_SDL_BYTES // 15)) + "\n}\n"

    text = texts_of(entry_of(tmp_path, "", sdl=SDL + large))["query"]

    assert "query: customer" in text
    assert "secret" not in text
    assert len(text) < 1_000


def test_explicit_schema_sdl_is_expanded_in_full_however_large(tmp_path: Path) -> None:
    large = "type Customer {\n" + "\n".join(f"  field{n}: String" for n in range(MAX_SDL_BYTES // 15)) + "\n}\n"

    assert entry_of(tmp_path, 'description: "{schema_sdl}"', sdl=SDL + large)["description"] == SHOWN_SDL + large


def test_descriptions_of_parameters_are_templates_too(tmp_path: Path) -> None:
    descriptions = """descriptions: [
      {name: "query", value: "{schema_sdl}"}
      {name: "operationName", value: "{endpoint_name}"}
      {name: "variables", value: "{graphql_tool}"}
    ]"""

    assert texts_of(entry_of(tmp_path, descriptions)) == {
        "query": SHOWN_SDL + CUSTOMER,
        "operationName": "things",
        "variables": GRAPHQL_TOOL,
    }


def test_descriptions_of_a_prescribed_tool_are_templates_too(tmp_path: Path) -> None:
    files = {
        "index.graphql": """
extend schema @tool(
  name: "t"
  description: "{endpoint_folder} {schema_description} {schema_sdl} {other}"
  prescribed: "O"
  descriptions: [{name: "variables", value: "of {endpoint_name}"}]
)
type Query { a(x: Int, y: Int): Int }
""",
        "operations/o.graphql": 'query O("from {endpoint_name}" $x: Int, $y: Int) { a(x: $x, y: $y) }',
    }
    entry = prescribed_tool(compiled(tmp_path, files), "t").entry

    assert entry["description"] == "api   {other}"
    assert entry["inputSchema"]["properties"]["variables"] == {
        "type": "object",
        "description": "of things",
        "properties": {
            "x": {"type": "integer", "description": "from things"},
            "y": {"type": "integer"},
        },
    }


OPERATION = {
    "operations/o.graphql": "query O($a: Boolean!, $b: Boolean!) { customer @skip(if: $a) { name @skip(if: $b) } }",
    "config.yaml": READABLE,
}
PRESCRIBED = 'extend schema @tool(name: "t", prescribed: "O", descriptions: {entries})\n'


def described(folder: Path, entries: str) -> dict[str, Any]:
    files = {"index.graphql": PRESCRIBED.replace("{entries}", entries) + SDL + CUSTOMER, **OPERATION}
    properties = prescribed_tool(compiled(folder, files), "t").entry["inputSchema"]["properties"]
    return {"variables": properties["variables"].get("description"), **texts_of_variables(properties)}


def texts_of_variables(properties: dict[str, Any]) -> dict[str, Any]:
    return {name: kind.get("description") for name, kind in properties["variables"]["properties"].items()}


def test_descriptions_may_be_of_variables_and_of_the_object_that_holds_them(tmp_path: Path) -> None:
    entries = '[{name: "variables", value: "All {endpoint_name}"}, {name: "a", value: "An a"}]'

    assert described(tmp_path, entries) == {"variables": "All things", "a": "An a", "b": None}


def test_description_under_another_name_is_taken_with_a_warning(tmp_path: Path) -> None:
    entries = '[{name: "a", description: "An a"}, {name: "b", value: "A b", description: "not this"}]'
    files = {"index.graphql": PRESCRIBED.replace("{entries}", entries) + SDL + CUSTOMER, **OPERATION}

    assert described(tmp_path / "1", entries) == {"variables": None, "a": "An a", "b": "A b"}
    assert doubted(tmp_path / "2", files)[0] == 'index.graphql:1:64 description-key: "a"'


def test_description_without_a_text_or_given_twice_is_reported(tmp_path: Path) -> None:
    entries = '[{name: "a"}, {name: "b", value: "1"}, {name: "b", value: "2"}]'
    files = {"index.graphql": PRESCRIBED.replace("{entries}", entries) + SDL + CUSTOMER, **OPERATION}

    assert reported(tmp_path, files) == [
        'index.graphql:1:64 empty-description: "a"',
        'index.graphql:1:102 duplicate-description: "b"',
    ]


STRENGTHS = [
    ("descriptions", "from @tool"),
    ("mcpToolArg", "from @mcpToolArg"),
    ("variable", "before the variable"),
    ("argument", "of the argument"),
    ("type", "of the type"),
    ("comment", "above the variable"),
]


@pytest.mark.parametrize("strongest", range(len(STRENGTHS) + 1))
def test_variable_is_described_by_the_strongest_text_there_is(tmp_path: Path, strongest: int) -> None:
    there = {name for name, _ in STRENGTHS[strongest:]}
    texts = dict(STRENGTHS)
    given = f'descriptions: [{{name: "x", value: "{texts["descriptions"]}"}}]' if "descriptions" in there else ""
    described = f'"""{texts["variable"]}"""' if "variable" in there else ""
    annotated = f'@mcpToolArg(description: "{texts["mcpToolArg"]}")' if "mcpToolArg" in there else ""
    comment = f"# {texts['comment']}" if "comment" in there else ""
    files = {
        "index.graphql": f"""
extend schema @tool(name: "t", prescribed: "O", {given})
{f'"{texts["type"]}"' if "type" in there else ""}
input In {{ b: Int }}
type Query {{ a({f'"{texts["argument"]}"' if "argument" in there else ""} x: In): Int }}
""",
        "operations/o.graphql": f"query O(\n{comment}\n{described} $x: In {annotated}) {{ a(x: $x) }}",
    }
    variable = prescribed_tool(compiled(tmp_path, files), "t").entry["inputSchema"]["properties"]["variables"]

    expected = STRENGTHS[strongest][1] if there else None
    assert variable["properties"]["x"].get("description") == expected


@pytest.mark.parametrize("blank", ["", "  "])
def test_blank_text_is_none_for_a_variable(tmp_path: Path, blank: str) -> None:
    index = """
extend schema @tool(name: "t", prescribed: "O", descriptions: [{name: "x", value: "BLANK"}])
type Query { a(" " x: Int): Int }
"""
    operation = 'query O("its own" $x: Int @mcpToolArg(description: "BLANK")) @mcpTool { a(x: $x) }'
    files = {
        "index.graphql": index.replace("BLANK", blank),
        "operations/o.graphql": operation.replace("BLANK", blank),
    }
    made = compiled(tmp_path, files)

    assert texts_of_variables(prescribed_tool(made, "t").entry["inputSchema"]["properties"]) == {"x": "its own"}
    assert texts_of(prescribed_tool(made, "O").entry) == {"x": "its own"}


def test_blank_text_is_none_for_a_tool_and_in_a_schema(tmp_path: Path) -> None:
    files = {
        "index.graphql": """
            type Query { a(" " x: In): Int } "its type" input In { "  " b: Size } "its size" enum Size { S }
        """,
        "operations/o.graphql": '"  " query O($x: In) @mcpTool(description: " ") { a(x: $x) }',
    }
    entry = prescribed_tool(compiled(tmp_path, files), "O").entry

    assert entry["description"] == "Query a(x)."
    assert entry["inputSchema"]["properties"]["x"]["description"] == "its type"
    assert entry["inputSchema"]["properties"]["x"]["properties"]["b"]["description"] == "its size"


FED = """
scalar Money
"Its size." enum Size { S L }
"Which ones." input Filter { "how big" size: Size, price: Price, "names, any of" names: [String!] }
input Price { "at least" least: Money }
type Query {
  a("whether to" flag: Boolean, filter: Filter, "one of" filters: [Filter!], bare: Int, size: Size, "text" text: String)
    : Int
}
"""


@pytest.mark.parametrize(
    ("variable", "selection", "expected"),
    [
        ("$x: Boolean", "a(flag: $x)", "whether to"),
        ("$x: Size", "a(filter: {size: $x})", "how big"),
        ("$x: Money", "a(filter: {price: {least: $x}})", "at least\nMoney: a text or number."),
        ("$x: String!", "a(filter: {names: [$x]})", "names, any of"),
        ("$x: Filter!", "a(filters: [$x])", "one of"),
        ("$x: Filter", "a(filter: $x)", "Which ones."),
        ("$x: Int", "a(bare: $x)", None),
        ("$x: Boolean!", "a(bare: 1) @include(if: $x)", None),
        ("$x: Boolean!", "a(bare: 1) @include(if: $x) b: a(flag: $x)", "whether to"),
        ("$x: Boolean!", "...F } fragment F on Query { a(flag: $x)", "whether to"),
        ("$x: Size", "a(size: $x)", "Its size."),
    ],
)
def test_variable_without_words_is_described_by_what_it_feeds(
    tmp_path: Path, variable: str, selection: str, expected: str | None
) -> None:
    files = {"index.graphql": FED, "operations/o.graphql": f"query O({variable}) @mcpTool {{ {selection} }}"}

    entry = prescribed_tool(compiled(tmp_path, files), "O").entry

    assert entry["inputSchema"]["properties"]["x"].get("description") == expected


def test_texts_of_the_api_are_no_templates(tmp_path: Path) -> None:
    files = {
        "index.graphql": 'type Query { a("in {endpoint_name}" x: Int, y: Int): Int }',
        "operations/o.graphql": "query O(\n$x: Int\n# in {endpoint_name}\n$y: Int) @mcpTool { a(x: $x, y: $y) }",
    }

    assert texts_of(prescribed_tool(compiled(tmp_path, files), "O").entry) == {
        "x": "in {endpoint_name}",
        "y": "in things",
    }


@pytest.mark.parametrize(
    ("directive", "description", "comment", "expected"),
    [
        ('description: "of the directive"', '"of the operation"', "# above", "of the directive"),
        ("", '"of the operation"', "# above", "of the operation"),
        ("", "", "# above\n# in {endpoint_name}", "above\nin things"),
        ("", "", "", "Query a."),
    ],
)
@pytest.mark.parametrize("flat", [True, False])
def test_tool_is_described_by_the_strongest_text_there_is(
    tmp_path: Path, flat: bool, directive: str, description: str, comment: str, expected: str
) -> None:
    said = f"({directive})" if directive else ""
    by_directive = f'extend schema @tool(name: "O", prescribed: "O" {directive})'
    lines = [comment, description, f"query O {f'@mcpTool{said}' if flat else ''} {{ a }}"]
    files = {
        "index.graphql": f"{'' if flat else by_directive} type Query {{ a: Int }}",
        "operations/o.graphql": "\n".join(line for line in lines if line),
    }

    assert prescribed_tool(compiled(tmp_path, files), "O").entry["description"] == expected


UNDESCRIBED = """
type Query { order(id: ID!): Order orders(first: Int, shop: ID): Orders! count(shop: ID): Int }
type Mutation { cancel(number: String, why: String): Order }
type Orders { nodes: [Order!]! total: Int! }
type Order { id: ID! lines: [Line!]! by: Person name: String }
type Line { sku: String product: Product }
type Product { name: String }
interface Person { name: String }
type Staff implements Person { name: String badge: Int }
"""


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (
            "query O($id: ID!) { order(id: $id) { lines { sku product { name } } id __typename by { name } } }",
            "Query order(id): id, lines.sku, by.name, product.name.",
        ),
        (
            (
                "query O($first: Int, $shop: ID @mcpBind(value: 1)) "
                "{ orders(first: $first, shop: $shop) { nodes { id } total } count(shop: $shop) }"
            ),
            "Query orders, count(first): orders.total, nodes.id.",
        ),
        ('mutation O($why: String) { done: cancel(number: "1", why: $why) { id } }', "Mutation done(why): id."),
        (
            (
                "query O($id: ID!) { order(id: $id) { ...F } } "
                "fragment F on Order { number: id by { ... on Staff { badge } name } }"
            ),
            "Query order(id): number, by.badge, by.name.",
        ),
        ("query O { count }", "Query count."),
    ],
)
def test_tool_without_any_description_is_described_by_its_selections(
    tmp_path: Path, operation: str, expected: str
) -> None:
    files = {"index.graphql": UNDESCRIBED, "operations/o.graphql": _as_tool(operation)}
    entry = prescribed_tool(compiled(tmp_path, files), "O").entry

    assert entry["description"] == expected


def test_long_selections_are_cut(tmp_path: Path) -> None:
    columns = [f"column_{number}" for number in range(90)]
    files = {
        "index.graphql": f"type Query {{ row: Row }} type Row {{ {' '.join(f'{each}: Int' for each in columns)} }}",
        "operations/o.graphql": f"query O @mcpTool {{ row {{ {' '.join(columns)} }} }}",
    }
    text = prescribed_tool(compiled(tmp_path, files), "O").entry["description"]

    assert text.startswith("Query row: column_0, column_1, ")
    assert text.endswith(", …")
    assert len(text) <= 150


def test_fragments_that_double_their_fields_do_not_hold_up_the_compiler(tmp_path: Path) -> None:
    fragments = " ".join(f"fragment F{at} on Query {{ ...F{at + 1} ...F{at + 1} }}" for at in range(60))
    files = {
        "index.graphql": "type Query { a: Int }",
        "operations/o.graphql": f"query O @mcpTool {{ ...F0 }} {fragments} fragment F60 on Query {{ a }}",
    }

    assert prescribed_tool(compiled(tmp_path, files), "O").entry["description"] == "Query a."


def _as_tool(operation: str) -> str:
    head, brace, rest = operation.partition(" { ")
    return f"{head} @mcpTool{brace}{rest}"


OF_THE_API = """
type Query {
  "Finds {endpoint_name}." a: Int
  " Counts. " b: Int
  c: Int
}
type Mutation { "Sets it." set: Int }
"""


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("query O @mcpTool { a }", "Finds {endpoint_name}."),
        ("query O @mcpTool { x: b y: b __typename }", "Counts."),
        ("mutation O @mcpTool { set }", "Sets it."),
        ("query O @mcpTool { b c a }", "- b: Counts.\n- a: Finds {endpoint_name}."),
        ("query O @mcpTool { ...F ... { c } } fragment F on Query { ...G } fragment G on Query { b }", "- b: Counts."),
        ("query O @mcpTool { ...F } fragment F on Query { b }", "Counts."),
        ("query O @mcpTool { c }", "Query c."),
        ("# of the author\nquery O @mcpTool { b }", "of the author"),
    ],
)
def test_tool_without_words_is_described_by_the_root_fields(tmp_path: Path, operation: str, expected: str) -> None:
    made = compiled(tmp_path, {"index.graphql": OF_THE_API, "operations/o.graphql": operation})

    assert prescribed_tool(made, "O").entry["description"] == expected
    undescribed = [Reported(warning) for warning in made.client_warnings if "description" in str(warning)]
    assert bool(undescribed) == expected.startswith("Query c")


def test_tools_of_which_nothing_says_what_they_are_for_are_one_warning(tmp_path: Path) -> None:
    operations = {f"operations/{name}.graphql": f"query {name} @mcpTool {{ c }}" for name in "OPQRS"}

    made = compiled(tmp_path, {"index.graphql": OF_THE_API} | operations)

    assert Reported(made.client_warnings[0]) == 'operations/O.graphql:1:1 undescribed-tool: "O", "P", "Q" and 2 more'


@pytest.mark.parametrize("text", ["", "  ", "{schema_description}", " {schema_description}\\n"])
def test_text_that_says_nothing_once_it_is_expanded_is_the_default(tmp_path: Path, text: str) -> None:
    plain = "type Query { customer: Customer secret: Int }\n" + CUSTOMER
    said = f'description: "{text}" descriptions: [{{name: "query", value: "{text}"}}]'

    entry, default = entry_of(tmp_path / "1", said, sdl=plain), entry_of(tmp_path / "2", "", sdl=plain)

    assert entry == default


# "schema_sdl - the GraphQL schema's SDL as defined by the visibility patterns in @tool(graphql:)", which a prescribed
# tool has not.
@pytest.mark.parametrize("text", ["{schema_sdl}", "Schema: {schema_sdl} of {graphql_tool}"])
def test_template_variables_of_graphql_tools_are_doubted_in_other_tools(tmp_path: Path, text: str) -> None:
    executables = 'executables: [{document: "ops.graphql", persist: true}]'
    files = {
        "index.graphql": f'extend schema @sdl({executables})\n@tool(name: "t", description: "{text}", prescribed: "O")'
        "\ntype Query { customer(id: Int): Int }",
        "ops.graphql": 'query O("Use {schema_sdl}." $id: Int) { customer(id: $id) }',
        "operations/flat.graphql": '"Flat {schema_sdl}" query Flat @mcpTool { customer }',
    }

    made = compiled(tmp_path, files)

    assert "{" not in str(prescribed_tool(made, "t").entry["description"])
    assert "schema_sdl" not in str([tool.entry for tool in made.bundle.tools])
    assert [Reported(each) for each in made.warnings if "{schema_sdl}" in each.sentence] == [
        'index.graphql:2:1 template-variable: "t"',
        'operations/flat.graphql:1:1 template-variable: "Flat"',
    ]
    told = [Reported(each) for each in made.warnings if "{graphql_tool}" in each.sentence]
    assert told == ['index.graphql:2:1 template-variable: "t"'] * ("graphql_tool" in text)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("{endpoint_nam}", "{endpoint_name}"),
        ("{schemasdl}", "{schema_sdl}"),
        ("{endpoint-name}", "{endpoint_name}"),
        ("{Endpoint_Folder}", "{endpoint_folder}"),
        ("{schema_descripton}", "{schema_description}"),
        ("{id}", ""),
        ("{other}", ""),
        ('{"endpoint_nam": 1}', ""),
        ("{ endpoint_nam }", ""),
        ("/items/{itemId}/{name}", ""),
        ("{endpoint_name}", ""),
    ],
)
def test_misspelt_template_variable_is_doubted_with_the_nearest(tmp_path: Path, written: str, meant: str) -> None:
    text = written.replace('"', '\\"')
    tool = '@tool(name: "%s", description: "%s" descriptions: [{name: "query", value: "%s"}] '
    asks = 'graphql: {expose: true, types: "Query", fields: ".*"})'
    files = {
        "index.graphql": f"extend schema {tool % ('a', text, '')}{asks} {tool % ('b', '', text)}{asks}"
        " type Query { customer(id: Int): Int }",
        "operations/flat.graphql": f'"{text}" query Flat @mcpTool {{ customer }}',
        "operations/more.graphql": f'query More("{text}" $id: Int) @mcpTool {{ customer(id: $id) }}',
    }

    told = [each for each in compiled(tmp_path, files).warnings if each.code == "template-variable"]

    expected = [(name, f"{written} stays as it is; did you mean {meant}?") for name in ("a", "b", "Flat", "More")]
    assert sorted((*each.about, each.sentence.partition(": ")[2]) for each in told) == sorted(expected * bool(meant))
