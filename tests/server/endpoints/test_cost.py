from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from graphql import parse

from handler.commands.local.local_endpoint import local_endpoint
from handler.compiler.compile import Compiled
from handler.graph.documents.partial_schema import ValidDocument
from handler.server.auth.principal import Principal
from handler.server.endpoints.endpoint import Endpoint
from handler.server.endpoints.registry import CachePolicy
from handler.strict_json import to_json_bytes
from tests.server.endpoints.test_registry import LIST, Shelf
from tests.support.endpoints import cached_counts, compiled, graphql_tool
from tests.support.function import Function, running_function, store


def test_endpoints_that_do_not_fit_together_are_loaded_again(demo: Compiled) -> None:
    names = [f"api/e{number}" for number in range(4)]
    shelf = Shelf()
    store(shelf, *(_named(demo, name) for name in names))
    with running_function(storage=shelf, keeping=CachePolicy(max_bytes=450_000)) as function:
        for name in (*names, names[-1], names[0]):
            assert _listed(function, name)

    assert [key.split("/")[1] for key in shelf.reads] == ["e0", "e1", "e2", "e3", "e0"]


def test_endpoint_costs_more_with_each_thing_that_is_made_of_it(demo: Compiled) -> None:
    shelf = Shelf()
    store(shelf, demo)
    endpoint = Endpoint(demo.bundle, shelf, stored_bytes=20_000)
    tool = graphql_tool(demo, "employee-lookup")
    costs = [endpoint.cost_bytes]
    endpoint.schema.view(tool, endpoint.everybody.outcome(tool.conditions))
    costs.append(endpoint.cost_bytes)
    schemas = endpoint.schema.view_schemas(tool, endpoint.everybody)
    document = parse("{ __schema { queryType { name } } }")
    schema = schemas.touched_by(document)
    costs.append(endpoint.cost_bytes)
    schemas.keep_valid("{ __schema }", tool.limits, ValidDocument(document, schema))
    costs.append(endpoint.cost_bytes)
    endpoint.schema.search(tool, endpoint.everybody)
    costs.append(endpoint.cost_bytes)
    endpoint.validator(tool, endpoint.everybody)
    costs.append(endpoint.cost_bytes)

    assert costs[0] > 100_000
    assert costs == sorted(set(costs))


def test_entry_made_for_an_outcome_costs_more_than_its_text_and_its_json(tmp_path: Path) -> None:
    fields = " ".join(f'"""{"What it says. " * 500}""" f{number}: Int' for number in range(2))
    rules = "".join(f"{{condition: '$jwt.can:String has \"{each}\"', fields: [f{each}]}}, " for each in range(2))
    files = {
        "index.graphql": 'schema @tool(name: "t", graphql: {expose: true, types: "Query", fields: ".*"}) '
        f"{{ query: Query }} type Query {{ always: Int {fields} }}",
        "config.yaml": "access: {policies: [{type: Query, policyDefault: {condition: true}, rules: [" + rules + "]}]}",
    }
    made = compiled(tmp_path, files)
    endpoint, tool = local_endpoint(made), graphql_tool(made, "t")
    caller = endpoint.evaluation_of(Principal(kind="token", claims={"can": ["1"]}))
    endpoint.schema.view(tool, caller.outcome(tool.conditions))
    before = endpoint.cost_bytes
    entry = endpoint.entry(tool, caller)

    assert cached_counts(endpoint)["entries"] == 1
    assert len(to_json_bytes(entry)) > 7_000
    assert endpoint.cost_bytes - before > 2 * len(to_json_bytes(entry))


def _named(compiled: Compiled, name: str) -> Compiled:
    return replace(compiled, bundle=replace(compiled.bundle, endpoint=name))


def _listed(function: Function, name: str) -> bool:
    return function.post({"jsonrpc": "2.0", "id": 1, "method": LIST}, path=f"/{name}/mcp").status == 200
