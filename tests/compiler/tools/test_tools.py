from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from handler.compiler.compile import compile_endpoint
from handler.errors.authoring import CompileError
from tests.support.diagnostics import Reported
from tests.support.endpoints import (
    PUBLIC,
    READABLE,
    compiled,
    doubted,
    graphql_tool,
    prescribed_tool,
    reported,
    write_endpoint,
)

SDL = """
type Query {
  customer(email: String!): Customer
  employee(id: ID!): Employee
  employees: [Employee!]
}
type Customer { id: ID! name: String email: String address: Address }
type Employee { id: ID! name: String ssn: String salary: Float address: Address }
type Address { street: String city: String state: String }
"""

SELECTION = "customer(email: $email) { id name email address { street city state } }"

PRESCRIBED = """
extend schema
  @sdl(executables: [{document: "ops.graphql", persist: true}])
  @tool(
    name: "customer-lookup"
    description: "Lookup customer information"
    prescribed: "CustomerLookup"
    descriptions: [{name: "email", value: "Email of the customer"}]
  )
"""

PRESCRIBED_WITH_OPERATION_DESCRIPTIONS = """
extend schema
  @sdl(executables: [{document: "ops.graphql", persist: true}])
  @tool(
    name: "customer-lookup"
    prescribed: "CustomerLookup"
  )
"""

DESCRIBED_OPERATION = f'''
"""
Lookup customer information by email
"""
query CustomerLookup("""email of the customer""" $email: String!) {{
  {SELECTION}
}}
'''

BESIDE = {"title", "annotations", "outputSchema", "_meta"}
"""What may stand beside what the documents show."""


def entry_of(folder: Path, index: str, operations: str = "", *, name: str = "customer-lookup") -> dict[str, Any]:
    """The entry of a prescribed tool in ``tools/list``."""
    files = {"index.graphql": index + SDL, "config.yaml": READABLE}
    files |= {"ops.graphql": operations} if operations else {}
    return prescribed_tool(compiled(folder, files), name).entry


def documented(entry: dict[str, Any]) -> dict[str, Any]:
    """The entry without what may stand beside."""
    return {key: value for key, value in entry.items() if key not in BESIDE}


def refused(folder: Path, directives: str, **more: str) -> list[Reported]:
    index = f"extend schema {directives}\n{SDL}"
    return reported(folder, {"index.graphql": index, **{f"{name}.graphql": text for name, text in more.items()}})


def test_documented_prescribed_tool(tmp_path: Path) -> None:
    entry = entry_of(tmp_path, PRESCRIBED, f"query CustomerLookup($email: String!) {{ {SELECTION} }}")

    assert documented(entry) == json.loads("""
{
  "name": "customer-lookup",
  "description": "Lookup customer information",
  "inputSchema": {
    "type": "object",
    "properties": {
      "variables": {
        "properties": {
          "email": {
            "description": "Email of the customer",
            "type": "string"
          }
        },
        "required": ["email"],
        "type": "object"
      }
    },
    "required": ["variables"]
  }
}
""")


def test_documented_prescribed_tool_with_operation_descriptions(tmp_path: Path) -> None:
    entry = entry_of(tmp_path, PRESCRIBED_WITH_OPERATION_DESCRIPTIONS, DESCRIBED_OPERATION)

    assert documented(entry) == json.loads("""
{
  "name": "customer-lookup",
  "description": "Lookup customer information by email",
  "inputSchema": {
    "type": "object",
    "properties": {
      "variables": {
        "properties": {
          "email": {
            "description": "email of the customer",
            "type": "string"
          }
        },
        "required": ["email"],
        "type": "object"
      }
    },
    "required": ["variables"]
  }
}
""")


def test_documented_mcp_tool_takes_its_variables_as_arguments(tmp_path: Path) -> None:
    files = {
        "index.graphql": "type Query { employee(id: Int!): Employee }\n"
        "type Employee { id: Int! name: String details: Details }\ntype Details { email: String department: String }",
        "config.yaml": READABLE,
        "operations/employee.graphql": '''
"""
Retrieve an employee by their unique identifier.
"""
query GetEmployee(
  $id: Int! @mcpToolArg(description: "The unique employee identifier")
  $includeDetails: Boolean! = false @mcpToolArg(description: "Include extended profile details")
) @mcpTool(name: "get_employee") {
  employee(id: $id) {
    id
    name
    details @include(if: $includeDetails) { email department }
  }
}
''',
    }
    tool = prescribed_tool(compiled(tmp_path, files), "get_employee")

    assert tool.flat
    assert documented(tool.entry) == {
        "name": "get_employee",
        "description": "Retrieve an employee by their unique identifier.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "id": {"type": "integer", "description": "The unique employee identifier"},
                "includeDetails": {
                    "type": "boolean",
                    "description": "Include extended profile details",
                    "default": False,
                },
            },
            "required": ["id"],
        },
    }


def test_mcp_tool_without_a_name_is_called_as_its_operation(tmp_path: Path) -> None:
    files = {
        "index.graphql": SDL,
        "config.yaml": READABLE,
        "operations/o.graphql": 'query AllOfThem @mcpTool(description: "All") { employees { id } }',
    }
    entry = prescribed_tool(compiled(tmp_path, files), "AllOfThem").entry

    assert documented(entry) == {
        "name": "AllOfThem",
        "description": "All",
        "inputSchema": {"type": "object", "properties": {}},
    }


def test_prescribed_tool_without_any_text_gets_a_default_description(tmp_path: Path) -> None:
    operation = f"query CustomerLookup($email: String!) {{ {SELECTION} }}"
    entry = entry_of(tmp_path, PRESCRIBED_WITH_OPERATION_DESCRIPTIONS, operation)

    assert entry["description"] == "Query customer(email): id, name, email, address, street, city, state."
    assert entry["inputSchema"]["properties"]["variables"]["properties"] == {"email": {"type": "string"}}


def test_descriptions_of_the_directive_go_before_those_of_the_operation(tmp_path: Path) -> None:
    index = PRESCRIBED.replace(
        '{name: "email", value: "Email of the customer"}',
        '{name: "email", value: "E"}, {name: "variables", value: "V"}',
    )
    entry = entry_of(tmp_path, index, DESCRIBED_OPERATION)

    assert entry["description"] == "Lookup customer information"
    variables = entry["inputSchema"]["properties"]["variables"]
    assert variables["description"] == "V"
    assert variables["properties"]["email"]["description"] == "E"


def test_operation_without_required_variables_needs_no_arguments(tmp_path: Path) -> None:
    operation = "query CustomerLookup { employees { id } }"
    entry = entry_of(tmp_path, PRESCRIBED_WITH_OPERATION_DESCRIPTIONS, operation)

    assert entry["inputSchema"] == {
        "type": "object",
        "properties": {"variables": {"type": "object", "properties": {}}},
    }


def test_graphql_tool_takes_exactly_query_operation_name_and_variables(tmp_path: Path) -> None:
    files = {
        "index.graphql": """
extend schema
  @tool(
    name: "customer-lookup"
    description: "Customer lookup tool. {graphql_tool}"
    graphql: {expose: true, types: "Query", fields: "customer"}
  )
"""
        + SDL,
        "config.yaml": READABLE,
    }
    (listing, *_) = graphql_tool(compiled(tmp_path, files), "customer-lookup").listings
    assert listing.entry is not None
    schema = listing.entry["inputSchema"]

    assert set(listing.entry) - BESIDE == {"name", "description", "inputSchema"}
    assert set(schema) == {"type", "properties", "required"}
    assert schema["type"] == "object"
    assert schema["required"] == ["query"]
    assert {name: kind["type"] for name, kind in schema["properties"].items()} == {
        "query": "string",
        "operationName": "string",
        "variables": "object",
    }


def test_annotations_tell_what_writes(tmp_path: Path) -> None:
    files = {
        "index.graphql": 'extend schema @tool(name: "read", graphql: {expose: true, types: "Query", fields: ".*"})'
        '@tool(name: "write", graphql: {expose: true, types: "Mutation", fields: ".*"})'
        '@tool(name: "both", graphql: {expose: true, types: "Query|Mutation", fields: ".*"})'
        "type Query { a: Int } type Mutation { b: Int }",
        "config.yaml": PUBLIC,
        "operations/o.graphql": "query Q @mcpTool { a } mutation M @mcpTool { b }",
    }
    made = compiled(tmp_path, files)
    reads, writes = {"readOnlyHint": True}, {"readOnlyHint": False, "destructiveHint": True}

    assert prescribed_tool(made, "Q").entry["annotations"] == reads
    assert prescribed_tool(made, "M").entry["annotations"] == writes
    entries = {name: graphql_tool(made, name).listings[0].entry or {} for name in ("read", "write", "both")}
    assert {name: entry["annotations"] for name, entry in entries.items()} == {
        "read": reads,
        "write": writes,
        "both": writes,
    }


def test_tools_stand_as_written_and_those_of_operations_after_them(tmp_path: Path) -> None:
    pattern = 'graphql: {expose: true, types: "Query", fields: ".*"}'
    files = {
        "index.graphql": f'extend schema @tool(name: "z", {pattern}) @tool(name: "a", {pattern})\n{SDL}',
        "operations/2.graphql": "query Two @mcpTool { employees { id } }",
        "operations/1.graphql": "query One @mcpTool { employees { id } }",
    }

    assert [tool.name for tool in compiled(tmp_path, files).bundle.tools] == ["z", "a", "One", "Two"]


def test_names_take_the_endpoints_folder_and_name(tmp_path: Path) -> None:
    pattern = 'graphql: {expose: true, types: "Query", fields: ".*"}'
    index = SDL + f'extend schema @tool(name: "{{endpoint_folder}}-{{endpoint_name}}-x", {pattern})'

    assert [tool.name for tool in compiled(tmp_path, {"index.graphql": index}).bundle.tools] == ["api-things-x"]


def test_endpoint_without_tools_gets_the_default_tool_and_a_warning(tmp_path: Path) -> None:
    files = {"index.graphql": SDL + "type Mutation { fire: Int }", "config.yaml": PUBLIC}
    made = compiled(tmp_path, files)
    (listing, *_) = graphql_tool(made, "api-things").listings

    assert listing.entry is not None
    sdl = listing.entry["inputSchema"]["properties"]["query"]["description"]
    assert "employees: [Employee!]" in sdl
    assert "Mutation" not in sdl
    assert list(map(Reported, made.warnings)) == [('index.graphql default-tool: "api-things"')]


def test_default_tool_asks_the_query_type_whatever_it_is_called(tmp_path: Path) -> None:
    files = {"index.graphql": "schema { query: Reads } type Reads { a: Int }", "config.yaml": READABLE}
    (listing, *_) = graphql_tool(compiled(tmp_path, files), "api-things").listings

    assert listing.entry is not None
    assert "type Reads" in listing.entry["inputSchema"]["properties"]["query"]["description"]


def test_default_tool_asks_the_query_type_although_another_type_has_its_usual_name(tmp_path: Path) -> None:
    sdl = "schema { query: Reads } type Reads { a: Query } type Query { b: Int }"
    files = {"index.graphql": sdl, "config.yaml": READABLE.replace("Query", "Reads")}
    (listing, *_) = graphql_tool(compiled(tmp_path, files), "api-things").listings

    assert "a: Query" in str(listing.entry)


def test_default_tool_can_be_turned_off(tmp_path: Path) -> None:
    made = compiled(tmp_path, {"index.graphql": SDL, "config.yaml": "default_tool: false\n" + READABLE})

    assert made.bundle.tools == ()
    assert made.warnings == ()


def test_declared_tool_of_any_kind_leaves_no_default_tool(tmp_path: Path) -> None:
    files = {"index.graphql": SDL, "operations/o.graphql": "query O @mcpTool { employees { id } }"}

    assert [tool.name for tool in compiled(tmp_path, files).bundle.tools] == ["O"]
    assert doubted(tmp_path / "again", files) == []


@pytest.mark.parametrize(
    ("directive", "line"),
    [
        ('@tool(name: "t")', '1:15 unclear-tool: @tool & "t" & neither'),
        (
            '@tool(name: "t", prescribed: "O", graphql: {expose: true, types: "Query", fields: ".*"})',
            '1:15 unclear-tool: @tool & "t" & both',
        ),
        ('@tool(name: "t", graphql: null, prescribed: null)', '1:15 unclear-tool: @tool & "t" & neither'),
        ('@tool(name: "t", prescribed: "O")', '1:44 unknown-operation: @tool & "t" & "O"'),
        (
            '@tool(name: "t", graphql: {expose: true, types: "Query", fields: "customers"})',
            '1:41 nothing-exposed: fields "customers" & did you mean customer?',
        ),
        ('@tool(name: "t", graphql: [])', '1:15 nothing-exposed: @tool & "t" & pattern'),
        (
            '@tool(name: "t", graphql: {expose: true, types: "Query", fields: "(.*"})',
            '1:41 invalid-pattern: "(.*"',
        ),
        ('@tool(prescribed: "O")', "1:15 wrong-value: @tool & 'name' & 'String!'"),
        (
            "@tool(name: 5)",
            "1:27 wrong-value: @tool & 'name'",
        ),
        ('@tool(name: "t", perscribed: "O")', '1:32 unknown-argument: @tool & "perscribed" & did you mean prescribed?'),
        ('@tool(name: "t", name: "u", prescribed: "O")', '1:32 duplicate-argument: "name"'),
        (
            '@tool(name: "t", graphql: {expose: true, expose: false, types: "Query", fields: ".*"})',
            '1:56 duplicate-argument: "expose"',
        ),
        (
            '@tool(name: "t", graphql: {expose: "yes", types: "Query", fields: ".*"})',
            "1:50 wrong-value: @tool & 'graphql' & \"yes\"",
        ),
        (
            '@tool(name: "t", graphql: {expose: true, types: "Query"})',
            "1:41 wrong-value: @tool & 'graphql' & 'StepZen_VisibilityPattern' & 'fields' & \"Query\"",
        ),
        (
            '@tool(name: "t", prescribed: "O", descriptions: {nme: "a", value: "b"})',
            "1:63 wrong-value: @tool & 'descriptions' & 'StepZen_NamedValue' & 'name' & \"a\" & \"b\"",
        ),
        ("@sdl(fils: [])", '1:20 unknown-argument: @sdl & "fils" & did you mean files?'),
        (
            "@sdl(files: [1])",
            "1:28 wrong-value: @sdl & 'files'",
        ),
    ],
)
def test_tool_directive_that_does_not_fit_is_reported(tmp_path: Path, directive: str, line: str) -> None:
    assert refused(tmp_path, directive) == [f"index.graphql:{line}"]


def test_variable_that_cannot_stand_in_a_tool_name_is_reported(tmp_path: Path) -> None:
    directive = '@tool(name: "{endpoint}", graphql: {expose: true, types: "Query", fields: ".*"})'

    assert refused(tmp_path, directive) == [
        'index.graphql:1:27 invalid-tool-name: "{endpoint}" & {endpoint_folder} or {endpoint_name}',
    ]


@pytest.mark.parametrize("name", ["", "a b", "größe", "a/b", "x" * 129])
def test_name_that_mcp_does_not_take_is_reported(tmp_path: Path, name: str) -> None:
    directive = f'@tool(name: "{name}", graphql: {{expose: true, types: "Query", fields: ".*"}})'

    assert refused(tmp_path, directive) == [f'index.graphql:1:27 invalid-tool-name: "{name}"']


@pytest.mark.parametrize("name", ["a.b", "x" * 64, "x" * 65, "x" * 128])
def test_name_that_mcp_takes_is_taken(tmp_path: Path, name: str) -> None:
    index = f'extend schema @tool(name: "{name}", graphql: {{expose: true, types: "Query", fields: ".*"}})'

    assert [tool.name for tool in compiled(tmp_path, {"index.graphql": index + SDL}).bundle.tools] == [name]


def test_two_tools_of_one_name_are_reported_with_both_places(tmp_path: Path) -> None:
    pattern = 'graphql: {expose: true, types: "Query", fields: ".*"}'
    files = {
        "index.graphql": f'extend schema @tool(name: "api-t", {pattern})\n'
        f'@tool(name: "{{endpoint_folder}}-t", {pattern})\n{SDL}',
        "operations/o.graphql": 'query O @mcpTool(name: "api-t") { employees { id } }',
    }

    assert reported(tmp_path, files) == [
        'index.graphql:2:13 duplicate-tool: "api-t" & index.graphql:1:27',
        'operations/o.graphql:1:24 duplicate-tool: "api-t" & index.graphql:1:27',
    ]


def test_operation_that_does_not_exist_is_reported_with_a_near_one(tmp_path: Path) -> None:
    directives = (
        '@sdl(executables: {document: "o.graphql", persist: true}) @tool(name: "t", prescribed: "CustmerLookup")'
    )

    assert refused(tmp_path, directives, o="query CustomerLookup { employees { id } }") == [
        'index.graphql:1:102 unknown-operation: @tool & "t" & "CustmerLookup" & did you mean CustomerLookup?'
    ]


@pytest.mark.parametrize("persist", ["", ", persist: false"])
def test_operation_that_is_not_persisted_is_reported(tmp_path: Path, persist: str) -> None:
    directives = f'@tool(name: "t", prescribed: "O") @sdl(executables: {{document: "o.graphql"{persist}}})'

    assert refused(tmp_path, directives, o="query O { employees { id } }") == [
        'index.graphql:1:15 unpersisted-operation: @tool & "t" & "O"'
    ]


def test_operation_of_the_operations_folder_is_persisted(tmp_path: Path) -> None:
    files = {
        "index.graphql": 'extend schema @tool(name: "t", prescribed: "O")' + SDL,
        "operations/o.graphql": "query O { employees { id } }",
    }

    assert not prescribed_tool(compiled(tmp_path, files), "t").flat


@pytest.mark.parametrize(
    "operations", ["query O { employees { idd } }", "query O {", "subscription O { a }", "query O { b } query P { c }"]
)
def test_operation_with_a_mistake_is_not_said_to_be_missing(tmp_path: Path, operations: str) -> None:
    directives = '@sdl(executables: {document: "o.graphql", persist: true}) @tool(name: "t", prescribed: "O")'

    lines = refused(tmp_path, directives, o=operations)

    assert lines
    assert all(line.startswith("o.graphql:") for line in lines)


@pytest.mark.parametrize(
    ("operation", "line"),
    [
        (
            'query O @mcpTool(nme: "a") { employees { id } }',
            '1:18 unknown-argument: @mcpTool & "nme" & did you mean name?',
        ),
        (
            "query O @mcpTool(name: 5) { employees { id } }",
            "1:24 wrong-value: @mcpTool & 'name'",
        ),
        ("query O @mcpTool @mcpTool { employees { id } }", "1:18 repeated-directive: @mcpTool"),
        (
            'query O @mcpTool(name: "a b") { employees { id } }',
            '1:24 invalid-tool-name: "a b" & 1 to 128',
        ),
        (
            "query O($id: ID! @mcpToolArg) @mcpTool { employee(id: $id) { id } }",
            "1:18 wrong-value: @mcpToolArg & 'description' & 'String!'",
        ),
    ],
)
def test_mcp_directive_that_does_not_fit_is_reported(tmp_path: Path, operation: str, line: str) -> None:
    lines = reported(tmp_path, {"index.graphql": SDL, "operations/o.graphql": operation})

    assert lines == [f"operations/o.graphql:{line}"]


def test_description_of_a_parameter_that_there_is_not_is_doubted(tmp_path: Path) -> None:
    files = {
        "index.graphql": PRESCRIBED.replace('{name: "email",', '{name: "emial",')
        + 'extend schema @tool(name: "g", descriptions: {name: "q", value: ""}, '
        'graphql: {expose: true, types: "Query", fields: ".*"})' + SDL,
        "ops.graphql": f"query CustomerLookup($email: String!) {{ {SELECTION} }}",
    }

    assert doubted(tmp_path, files) == [
        'index.graphql:4:3 unknown-parameter: @tool & "customer-lookup" & "emial" & did you mean email?',
        'index.graphql:10:15 unknown-parameter: @tool & "g" & "q"',
    ]


def test_tool_of_an_endpoint_that_has_no_name_brings_no_second_report(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, {"index.graphql": SDL}, name="1/2")

    with pytest.raises(CompileError) as caught:
        compile_endpoint(folder)

    assert len(caught.value.problems) == 1


@pytest.mark.parametrize("name", ["{endpoint_name}-find", "{endpoint_folder}-{endpoint_name}"])
def test_name_of_an_operations_tool_is_a_template_too(tmp_path: Path, name: str) -> None:
    files = {"index.graphql": SDL, "operations/o.graphql": f'query O @mcpTool(name: "{name}") {{ employees {{ id }} }}'}

    (tool,) = compiled(tmp_path, files).bundle.tools
    assert tool.name == name.replace("{endpoint_name}", "things").replace("{endpoint_folder}", "api")


def test_unknown_variable_in_the_name_of_an_operations_tool_is_reported(tmp_path: Path) -> None:
    files = {"index.graphql": SDL, "operations/o.graphql": 'query O @mcpTool(name: "{tool}") { employees { id } }'}

    assert reported(tmp_path, files)[0] == 'operations/o.graphql:1:24 invalid-tool-name: "{tool}"'


@pytest.mark.parametrize("asked", ["__schema", "__type"])
def test_operation_that_asks_for_the_schema_is_no_tool(tmp_path: Path, asked: str) -> None:
    field = "__schema { types { name } }" if asked == "__schema" else '__type(name: "Employee") { name }'
    files = {
        "index.graphql": SDL,
        "operations/o.graphql": f"query O @mcpTool {{ ...F }} fragment F on Query {{ {field} }}",
    }

    assert reported(tmp_path, files)[0] == (f'operations/o.graphql:1:1 schema-query: "O" & {asked}')
