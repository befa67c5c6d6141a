"""What a client reads of the documented prescribed tools, over the wire.

Source: IBM API Connect for GraphQL, "directive @tool", examples "Prescribed tool".
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.endpoints import READABLE, compiled
from tests.support.function import running_function

SCHEMA = """
type Query { customer(email: String!): Customer }
type Customer { id: ID! name: String! email: String! address: Address }
type Address { street: String! city: String! state: String! }
"""

SELECTION = "{ customer(email: $email) { id name email address { street city state } } }"

DIRECTIVE = """
extend schema
  @sdl(executables: [{document: "ops.graphql", persist: true}])
  @tool(
    name: "customer-lookup"
    description: "Lookup customer information"
    prescribed: "CustomerLookup"
    descriptions: [{name: "email", value: "Email of the customer"}]
  )
"""
BARE_DIRECTIVE = """
extend schema
  @sdl(executables: [{document: "ops.graphql", persist: true}])
  @tool(name: "customer-lookup", prescribed: "CustomerLookup")
"""
DESCRIBED_OPERATION = f'''
"""
Lookup customer information by email
"""
query CustomerLookup("""email of the customer""" $email: String!) {SELECTION}
'''

EXAMPLES = {
    "described by the directive": (
        DIRECTIVE,
        f"query CustomerLookup($email: String!) {SELECTION}",
        "Lookup customer information",
        "Email of the customer",
    ),
    "described by the operation": (
        BARE_DIRECTIVE,
        DESCRIBED_OPERATION,
        "Lookup customer information by email",
        "email of the customer",
    ),
}

MAY_STAND_BESIDE = {"title", "annotations", "outputSchema", "_meta"}


@pytest.mark.parametrize("modern", [False, True])
@pytest.mark.parametrize("example", EXAMPLES)
def test_documented_prescribed_tool_is_listed_as_documented(tmp_path: Path, example: str, modern: bool) -> None:
    directive, operation, description, email = EXAMPLES[example]
    files = {"index.graphql": SCHEMA + directive, "ops.graphql": operation, "config.yaml": READABLE}
    with running_function(compiled(tmp_path, files)) as function:
        (tool,) = function.request("tools/list", modern=modern).result["tools"]

    documented = {
        "name": "customer-lookup",
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": {
                "variables": {
                    "properties": {"email": {"description": email, "type": "string"}},
                    "required": ["email"],
                    "type": "object",
                }
            },
            "required": ["variables"],
        },
    }
    assert {key: value for key, value in tool.items() if key not in MAY_STAND_BESIDE} == documented
