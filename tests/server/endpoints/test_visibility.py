"""Whether a tool is visible to a caller, apart from its entry in the list."""

from __future__ import annotations

from pathlib import Path

import pytest

from handler.commands.local.local_endpoint import local_endpoint
from handler.server.auth.principal import Principal
from tests.support.endpoints import cached_counts, compiled, graphql_tool

FILES = {
    "index.graphql": 'schema @tool(name: "t", graphql: {expose: true, types: "Query", fields: "a|b|c"}) '
    "{ query: Query } type Query { a: Int b: Int c: Int never: Int }",
    "config.yaml": "access: {policies: [{type: Query, policyDefault: {condition: false}, rules: ["
    + ", ".join(f"{{condition: '$jwt.can:String has \"{each}\"', fields: [{each}]}}" for each in "abc")
    + "]}]}",
}


@pytest.mark.parametrize(("scopes", "visible"), [([], False), (["a"], True), (["c", "b"], True), (["d"], False)])
def test_tool_is_visible_to_whom_its_list_shows_it(tmp_path: Path, scopes: list[str], visible: bool) -> None:
    made = compiled(tmp_path, FILES)
    endpoint, tool = local_endpoint(made), graphql_tool(made, "t")
    caller = endpoint.evaluation_of(Principal(kind="token", claims={"can": scopes}))

    assert endpoint.is_visible(tool, caller) is visible
    assert cached_counts(endpoint)["entries"] == 0  # visibility alone makes no entry
    assert (endpoint.entry(tool, caller) is not None) is visible


def test_schema_is_needed_until_the_entry_is_made(tmp_path: Path) -> None:
    made = compiled(tmp_path, FILES)
    endpoint, tool = local_endpoint(made), graphql_tool(made, "t")
    caller = endpoint.evaluation_of(Principal(kind="token", claims={"can": ["b", "c"]}))
    needed = [endpoint.needs_schema(tool, caller)]
    endpoint.entry(tool, caller)
    needed.append(endpoint.needs_schema(tool, caller))

    assert needed == [True, False]
    assert endpoint.is_visible(tool, caller)
