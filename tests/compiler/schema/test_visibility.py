from __future__ import annotations

from pathlib import Path

import pytest
from graphql import GraphQLSchema, build_schema

from handler.compiler.compile import Compiled
from tests.support.endpoints import PUBLIC, READABLE, compiled, doubted, graphql_tool, reported

SDL = """
type Query { customer(where: Filter): Customer customers: [Customer!] employee: Employee employees: [Employee!]
  person: Person thing: Thing other: Thing }
type Mutation { hire(name: String!): Employee fire(id: ID!): Employee }
interface Person { name: String salary: Int }
type Customer implements Person { id: ID! name: String salary: Int orders: [Order!] address: Address }
type Employee implements Person { id: ID! name: String salary: Int ssn: String address: Address boss: Employee }
type Order { id: ID! total: Int }
type Address { city: String }
union Thing = Order | Address
input Filter { city: String kind: Kind }
enum Kind { GOOD BAD }
"""


def pattern(types: str, fields: str, *, expose: bool = True) -> str:
    return f'{{expose: {str(expose).lower()}, types: "{types}", fields: "{fields}"}}'


def hide(types: str, fields: str) -> str:
    return pattern(types, fields, expose=False)


def files_of(*patterns: str, sdl: str = SDL, config: str | None = None) -> dict[str, str]:
    """One tool with these patterns; without a ``config`` everybody may use it."""
    config = (PUBLIC if "mutation" in sdl.lower() else READABLE) if config is None else config
    index = f'extend schema @tool(name: "t", description: "{{schema_sdl}}", graphql: [{", ".join(patterns)}])\n{sdl}'
    return {"index.graphql": index, "config.yaml": config}


def shown_text(made: Compiled) -> str:
    """The SDL that everybody is shown, or nothing."""
    entry = graphql_tool(made, "t").listings[0].entry
    return "" if entry is None else str(entry["description"])


def shown(folder: Path, *patterns: str, sdl: str = SDL) -> GraphQLSchema:
    return build_schema(shown_text(compiled(folder, files_of(*patterns, sdl=sdl))))


def fields_of(schema: GraphQLSchema, name: str) -> list[str]:
    type_ = schema.get_type(name)
    return list(type_.fields) if type_ else []  # type: ignore[attr-defined]


def test_root_fields_are_hidden_unless_exposed(tmp_path: Path) -> None:
    assert fields_of(shown(tmp_path, pattern("Query", "customer")), "Query") == ["customer"]


def test_only_what_the_exposed_fields_reach_is_shown(tmp_path: Path) -> None:
    schema = shown(tmp_path, pattern("Query", "customer"))

    own = [name for name in schema.type_map if not name.startswith("__")]
    assert sorted(own) == [
        "Address",
        "Boolean",  # of introspection
        "Customer",
        "Filter",
        "ID",
        "Int",
        "Kind",
        "Order",
        "Person",
        "Query",
        "String",
    ]


def test_other_fields_are_visible_unless_hidden(tmp_path: Path) -> None:
    schema = shown(tmp_path, pattern("Query", "employee|employees"), hide("Employee", "ssn|salary|address"))

    assert fields_of(schema, "Query") == ["employee", "employees"]
    assert fields_of(schema, "Employee") == ["id", "name", "boss"]
    assert "Address" not in schema.type_map


@pytest.mark.parametrize(
    ("expression", "fields"),
    [
        ("customer", ["customer"]),
        ("customer.*", ["customer", "customers"]),
        ("custom", []),
        ("ustomer", []),
        (".*s", ["customers", "employees"]),
        ("customer|employee", ["customer", "employee"]),
        ("Customer", []),
        ("^customer$", ["customer"]),
        ("[a-d].*|thing", ["customer", "customers", "thing"]),
    ],
)
def test_patterns_match_whole_names(tmp_path: Path, expression: str, fields: list[str]) -> None:
    # Another tool's field, so that a pattern that matches nothing is no mistake.
    assert fields_of(shown(tmp_path, pattern("Query", "other"), pattern("Query", expression)), "Query") == [
        *fields,
        "other",
    ]


def test_patterns_match_whole_type_names(tmp_path: Path) -> None:
    parts = (pattern("Query", "employee"), pattern("Employ", "salary"), pattern("mployee", "ssn"))
    schema = shown(tmp_path, *parts, hide("Employee", ".*"), pattern("Employe.", "id"))

    assert fields_of(schema, "Employee") == ["id"]


def test_last_match_wins(tmp_path: Path) -> None:
    schema = shown(
        tmp_path,
        pattern("Query", ".*"),
        hide("Query", "employee.*"),
        pattern("Query", "employees"),
        hide("Query", "o.*"),
    )

    assert fields_of(schema, "Query") == ["customer", "customers", "employees", "person", "thing"]


def test_pattern_that_shows_again_what_an_earlier_one_hides_is_doubted(tmp_path: Path) -> None:
    files = files_of(pattern("Query", "employee"), hide("Employee", ".*"), pattern("Employee", "id|name|boss|ssn"))

    (line,) = doubted(tmp_path, files)

    assert line == "index.graphql:1:173 overridden-pattern: Employee.id, Employee.name, Employee.ssn and 1 more"


def test_patterns_that_hide_what_an_earlier_one_shows_are_not_doubted(tmp_path: Path) -> None:
    assert doubted(tmp_path, files_of(pattern("Query", ".*"), hide("Query", "employee"))) == []


def test_mutations_are_exposed_only_where_a_pattern_says_so(tmp_path: Path) -> None:
    assert "Mutation" not in shown(tmp_path / "1", pattern("Query", ".*")).type_map
    both = shown(tmp_path / "2", pattern("Query", "thing"), pattern("Mutation", "hire"))
    assert fields_of(both, "Mutation") == ["hire"]


def test_tool_may_expose_mutations_alone(tmp_path: Path) -> None:
    text = shown_text(compiled(tmp_path, files_of(pattern("Mutation", "fire"))))

    assert "fire(id: ID!): Employee" in text
    assert "type Query" not in text


def test_query_and_mutation_mean_the_root_types_whatever_they_are_called(tmp_path: Path) -> None:
    sdl = "schema { query: Reads mutation: Writes }\ntype Reads { a: Int b: Int }\ntype Writes { c: Int d: Int }"
    files = files_of(pattern("Query", "a"), pattern("Mutation", ".*"), hide("Writes", "d"), sdl=sdl)
    schema = build_schema(shown_text(compiled(tmp_path, files)))

    assert fields_of(schema, "Reads") == ["a"]
    assert fields_of(schema, "Writes") == ["c"]


def test_usual_name_means_the_type_that_has_it_and_no_root_type(tmp_path: Path) -> None:
    sdl = "schema { query: Reads }\ntype Reads { saved: Query kept: Int }\ntype Query { id: Int kept: Int }"
    config = READABLE.replace("Query", "Reads")
    files = files_of(pattern("Reads", ".*"), hide("Query", "kept"), sdl=sdl, config=config)
    schema = build_schema(shown_text(compiled(tmp_path / "a", files)))
    refused = reported(tmp_path / "b", files_of(pattern("Query", ".*"), sdl=sdl, config=config))

    assert (fields_of(schema, "Reads"), fields_of(schema, "Query")) == (["saved", "kept"], ["id"])
    assert refused == ["index.graphql:1:15 nothing-exposed"]


def test_hidden_on_an_interface_is_hidden_on_every_implementer(tmp_path: Path) -> None:
    schema = shown(tmp_path, pattern("Query", "person"), hide("Person", "salary"))

    assert fields_of(schema, "Person") == ["name"]
    assert "salary" not in fields_of(schema, "Customer") + fields_of(schema, "Employee")


def test_hidden_on_one_implementer_is_hidden_on_the_interface_and_stays_on_the_others(tmp_path: Path) -> None:
    schema = shown(tmp_path, pattern("Query", "person"), hide("Employee", "salary"))

    assert fields_of(schema, "Person") == ["name"]
    assert "salary" not in fields_of(schema, "Employee")
    assert "salary" in fields_of(schema, "Customer")


def test_hidden_on_an_implementer_is_hidden_on_every_interface_that_declares_it(tmp_path: Path) -> None:
    sdl = """
    type Query { a: A }
    interface A { x: Int y: Int }
    interface B implements A { x: Int y: Int }
    type C implements A & B { x: Int y: Int }
    type D implements A { x: Int y: Int }
    """
    schema = shown(tmp_path, pattern("Query", "a"), hide("C", "x"), sdl=sdl)

    assert {name: fields_of(schema, name) for name in "ABCD"} == {
        "A": ["y"],
        "B": ["y"],
        "C": ["y"],
        "D": ["x", "y"],
    }


def test_type_without_visible_fields_takes_with_it_what_returns_it(tmp_path: Path) -> None:
    schema = shown(tmp_path, pattern("Query", "customer|thing"), hide("Address", ".*"))

    assert "Address" not in schema.type_map
    assert "address" not in fields_of(schema, "Customer")
    assert [member.name for member in schema.type_map["Thing"].types] == ["Order"]  # type: ignore[attr-defined]


def test_type_that_is_hidden_as_a_whole_is_one_guard(tmp_path: Path) -> None:
    tool = graphql_tool(compiled(tmp_path, files_of(pattern("Query", "customer"), hide("Order", "id"))), "t")

    assert tool.guards["Mutation"] == frozenset({0})
    assert not any(coordinate.startswith("Mutation.") for coordinate in tool.guards)
    assert tool.guards["Order.id"] == frozenset({0})


def test_policies_cut_what_patterns_expose(tmp_path: Path) -> None:
    config = """
access:
  policies:
    - {type: Query, rules: [{condition: true, fields: [employee]}]}
    - {type: Employee, rules: [{condition: false, fields: [salary]}], policyDefault: {condition: true}}
"""
    files = files_of(pattern("Query", "employee|customer"), hide("Employee", "ssn"), config=config)
    tool = graphql_tool(compiled(tmp_path, files), "t")
    public, unrestricted = (
        build_schema(str(listing.entry["description"])) for listing in tool.listings if listing.entry is not None
    )

    assert fields_of(public, "Query") == ["employee"]
    assert fields_of(public, "Employee") == ["id", "name", "address", "boss"]
    assert fields_of(unrestricted, "Query") == ["customer", "employee"]
    assert fields_of(unrestricted, "Employee") == ["id", "name", "salary", "address", "boss"]


def test_tool_that_a_caller_can_ask_nothing_is_not_listed(tmp_path: Path) -> None:
    tool = graphql_tool(compiled(tmp_path, files_of(pattern("Query", ".*"), config="")), "t")

    assert [listing.entry is None for listing in tool.listings] == [True, False]


def test_pattern_that_costs_a_backtracking_engine_for_ever_costs_nothing(tmp_path: Path) -> None:
    sdl = f"type Query {{ {'a' * 40}: Int b: Int }}"

    assert fields_of(shown(tmp_path, pattern("Query", "(a+)+$|b"), sdl=sdl), "Query") == ["a" * 40, "b"]
