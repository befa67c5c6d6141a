"""Validators of tools and operations that share one schema, as they do when a bundle has parts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handler.bundle.tools import PersistedDocument, PersistedOperation, PrescribedTool
from handler.errors.calls import InvalidArguments
from handler.policy.evaluation import OPEN
from handler.server.endpoints.endpoint import Endpoint
from handler.storage.local import MemoryStorage
from tests.bundle.test_model import HANDMADE

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}
OUTPUT = {"type": "object", "properties": {"data": {"type": "object"}}, "required": ["data"]}


def persisted(name: str) -> PersistedOperation:
    (operation,) = HANDMADE.graphql.documents[0].operations
    named = replace(operation.operation, name=name)
    return replace(operation, operation=named, variables=SCHEMA, bound=SCHEMA, conditions=OPEN)


def tool(name: str) -> PrescribedTool:
    first = HANDMADE.tools[0]
    assert isinstance(first, PrescribedTool)
    entry = {"name": name, "inputSchema": SCHEMA, "outputSchema": OUTPUT}
    return replace(first, name=name, entry=entry, arguments=SCHEMA, conditions=OPEN)


@pytest.fixture
def endpoint() -> Endpoint:
    documents = tuple(PersistedDocument(id=name, operations=(persisted(name),), tools=()) for name in ("A", "B"))
    graphql = replace(HANDMADE.graphql, documents=documents)
    return Endpoint(replace(HANDMADE, tools=(tool("a"), tool("b")), graphql=graphql), MemoryStorage())


def test_misfit_is_reported_of_the_operation_that_was_asked_for(endpoint: Endpoint) -> None:
    for name in "AB":
        (operation,) = endpoint.documents[name]
        for validator in (
            endpoint.variables_validator(operation, endpoint.everybody),
            endpoint.bound_validator(operation),
        ):
            with pytest.raises(InvalidArguments) as caught:
                validator.check({"n": "x"})
            assert caught.value.tool == name


def test_misfit_is_reported_of_the_tool_that_was_asked_for(endpoint: Endpoint) -> None:
    for name in "ab":
        with pytest.raises(InvalidArguments) as caught:
            endpoint.validator(endpoint.tools[name], endpoint.everybody).read({"n": "x"})
        assert caught.value.tool == name


def test_tools_with_the_same_output_schema_share_its_checker(endpoint: Endpoint) -> None:
    before = endpoint.cost_bytes
    found = {name: endpoint.misfit(endpoint.tools[name], {"data": 1}) for name in "ab"}
    after_both = endpoint.cost_bytes
    endpoint.misfit(endpoint.tools["b"], {"data": {}})

    assert str(found["a"]) == str(found["b"]) != "None"
    assert 0 < after_both - before < 2 * 12_000


def test_json_of_a_list_counts_as_memory(endpoint: Endpoint) -> None:
    before = endpoint.cost_bytes
    endpoint.note_list("tools", 5_000)
    endpoint.note_list("tools", 4_000)
    endpoint.note_list("prompts", 100)

    assert endpoint.cost_bytes == before + 5_100
