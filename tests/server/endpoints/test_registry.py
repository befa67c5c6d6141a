"""Loading, freshness and trouble: a good bundle is never replaced by a bad one."""

from __future__ import annotations

import dataclasses
import json

import pytest

from handler.bundle.stored import bundle_key, index_key, write_bundle
from handler.compiler.compile import Compiled
from handler.errors.infrastructure import StorageError
from handler.server.endpoints.endpoint import Endpoint
from handler.server.endpoints.registry import MAX_MISSES, CachePolicy
from handler.storage.local import MemoryStorage
from handler.storage.storage import StoredObject
from tests.support.codes import rpc_error
from tests.support.endpoints import graphql_tool
from tests.support.function import Function, running_function, store

NAME = "api/customers"
LIST = "tools/list"

NEVER_FRESH = CachePolicy(refresh_s=0, max_stale_s=0)
"""Storage is asked before every answer."""


class Shelf(MemoryStorage):
    """A storage that can fail, and counts what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: list[str] = []
        self.trouble: Exception | None = None

    def read(self, key: str, *, etag: str | None = None, timeout_s: float = 0) -> StoredObject | None:
        self.reads.append(key)
        if self.trouble:
            raise self.trouble
        return super().read(key, etag=etag, timeout_s=timeout_s)


def _names(function: Function) -> list[str]:
    return [tool["name"] for tool in function.request(LIST).result["tools"]]


def _with_first_tool_only(demo: Compiled) -> Compiled:
    return dataclasses.replace(demo, bundle=dataclasses.replace(demo.bundle, tools=demo.bundle.tools[:1]))


def test_bundle_is_loaded_at_the_first_request_and_kept(demo: Compiled) -> None:
    shelf = Shelf()
    with running_function(demo, storage=shelf) as function:
        assert shelf.reads == []
        for _ in range(3):
            _names(function)

    assert shelf.reads == [bundle_key(NAME)]


def test_new_bundle_is_taken_when_the_held_one_is_old(demo: Compiled) -> None:
    shelf = Shelf()
    with running_function(demo, storage=shelf, keeping=NEVER_FRESH) as function:
        before = _names(function)
        store(shelf, _with_first_tool_only(demo))
        after = _names(function)

    assert len(before) > 1
    assert after == ["customer-lookup"]


def test_new_bundle_waits_until_the_held_one_is_old(demo: Compiled) -> None:
    shelf = Shelf()
    with running_function(demo, storage=shelf) as function:
        before = _names(function)
        store(shelf, _with_first_tool_only(demo))

        assert _names(function) == before


def test_unchanged_bundle_keeps_what_was_built_from_it(demo: Compiled) -> None:
    shelf = Shelf()
    with running_function(demo, storage=shelf, keeping=NEVER_FRESH) as function:
        for _ in range(2):
            function.query("employee-lookup", "{ __schema { queryType { name } } }")

    assert shelf.reads.count(index_key(demo.bundle.endpoint, demo.bundle.index)) == 1


@pytest.mark.parametrize(
    "trouble", [StorageError("memory", "answered 503"), StorageError("memory", "no answer within 5 s")]
)
def test_last_good_bundle_serves_while_storage_fails(demo: Compiled, trouble: Exception) -> None:
    shelf = Shelf()
    with running_function(demo, storage=shelf, keeping=NEVER_FRESH) as function:
        before = _names(function)
        shelf.trouble = trouble

        assert _names(function) == before
        assert {"trouble": NAME, "reason": str(trouble)} in function.lines
        shelf.trouble = None
        store(shelf, _with_first_tool_only(demo))
        assert _names(function) == ["customer-lookup"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: raw[:-10],
        lambda raw: raw.replace(b"customer-lookup", b"customer-looted", 1),
        lambda raw: raw.replace(b'"format_version":2', b'"format_version":99'),
        lambda raw: b"",
        lambda raw: b"\x80\x04pickle",
    ],
)
def test_bad_bundle_never_replaces_a_good_one(demo: Compiled, damage: object) -> None:
    shelf = Shelf()
    with running_function(demo, storage=shelf, keeping=NEVER_FRESH) as function:
        before = _names(function)
        assert callable(damage)
        shelf.write(bundle_key(NAME), damage(write_bundle(demo.bundle)))

        assert _names(function) == before
        assert [line for line in function.lines if line.get("trouble") == NAME]


def test_bundle_of_another_endpoint_is_not_served(demo: Compiled) -> None:
    shelf = Shelf()
    shelf.write(bundle_key("api/orders"), write_bundle(demo.bundle))
    with running_function(storage=shelf) as function:
        answer = function.post({"jsonrpc": "2.0", "id": 1, "method": LIST}, path="/api/orders/mcp")

    assert (answer.status, answer.code) == (503, "endpoint-unavailable")


def test_endpoint_that_cannot_be_loaded_is_503_and_the_next_request_tries_again(demo: Compiled) -> None:
    shelf = Shelf()
    shelf.trouble = StorageError("memory", "answered 503")
    with running_function(demo, storage=shelf) as function:
        assert function.request(LIST).status == 503
        shelf.trouble = None
        assert function.request(LIST).status == 200


def test_withdrawn_endpoint_is_gone_when_the_held_one_is_old(demo: Compiled) -> None:
    shelf = Shelf()
    with running_function(demo, storage=shelf, keeping=NEVER_FRESH) as function:
        assert function.request(LIST).status == 200
        shelf.remove(bundle_key(NAME))

        assert function.request(LIST).status == 404


def test_missing_endpoint_is_asked_for_once_in_a_while(demo: Compiled) -> None:
    shelf = Shelf()
    with running_function(demo, storage=shelf) as function:
        for _ in range(5):
            assert function.post({"jsonrpc": "2.0", "id": 1, "method": LIST}, path="/api/none/mcp").status == 404

    assert shelf.reads == [bundle_key("api/none")]


def test_asking_for_many_missing_endpoints_pushes_out_no_held_one(demo: Compiled) -> None:
    shelf = Shelf()
    with running_function(demo, storage=shelf) as function:
        _names(function)
        for number in range(MAX_MISSES + 50):
            function.post({"jsonrpc": "2.0", "id": 1, "method": LIST}, path=f"/api/none{number}/mcp")
        shelf.reads.clear()
        _names(function)

    assert shelf.reads == []


def test_missing_index_is_a_tool_error_and_prescribed_tools_go_on(served_demo: Compiled) -> None:
    shelf = Shelf()
    shelf.write(bundle_key(NAME), write_bundle(served_demo.bundle))
    with running_function(storage=shelf) as function:
        result = function.query("employee-lookup", "{ employees { id } }").result
        prescribed = function.call("customer-by-email", {"variables": {"email": "elif.nunez@example.com"}}).result

    assert result["isError"] is True
    assert result["content"][0]["text"] == "The schema cannot be loaded at the moment. Try later."
    assert json.loads(prescribed["content"][0]["text"])["data"]["customer"]["id"] == "cust_0001"


def test_unforeseen_failure_is_an_internal_error_without_its_cause(demo: Compiled) -> None:
    class Broken(Shelf):
        def read(self, key: str, *, etag: str | None = None, timeout_s: float = 0) -> StoredObject | None:
            if "/.index/" in key:
                raise ZeroDivisionError("the secret cause")
            return super().read(key, etag=etag, timeout_s=timeout_s)

    with running_function(demo, storage=Broken()) as function:
        answer = function.query("employee-lookup", "{ employees { id } }")

    assert (answer.status, answer.json["error"]) == (200, rpc_error(-32603, "Internal error", "internal-error"))
    assert "secret" not in answer.body.decode()
    assert isinstance(function.lines[-1]["failure"], ZeroDivisionError)


def test_validators_and_schemas_are_built_once(demo: Compiled) -> None:
    shelf = Shelf()
    store(shelf, demo)
    endpoint = Endpoint(demo.bundle, shelf)
    prescribed, graphql = endpoint.tools["list_orders"], demo.bundle.tools[0]
    everybody = endpoint.everybody

    assert endpoint.validator(prescribed, everybody) is endpoint.validator(prescribed, everybody)
    assert endpoint.schema.view_schemas(graphql, everybody) is endpoint.schema.view_schemas(graphql, everybody)  # type: ignore[arg-type] # a GraphQL tool


def test_cached_schemas_are_there_unless_a_view_is_under_way(demo: Compiled) -> None:
    class Asking(Shelf):
        """A storage that asks for the schemas that it is read for."""

        def read(self, key: str, *, etag: str | None = None, timeout_s: float = 0) -> StoredObject | None:
            during.append(endpoint.schema.cached_schemas(graphql, everybody))
            return super().read(key, etag=etag, timeout_s=timeout_s)

    during: list[object] = []
    shelf = Asking()
    store(shelf, demo)
    endpoint = Endpoint(demo.bundle, shelf)
    graphql, everybody = graphql_tool(demo, demo.bundle.tools[0].name), endpoint.everybody

    assert endpoint.schema.cached_schemas(graphql, everybody) is None
    schemas = endpoint.schema.view_schemas(graphql, everybody)
    assert endpoint.schema.cached_schemas(graphql, everybody) is schemas
    assert endpoint.schema.cached_schemas(None, everybody) is None
    assert during == [None]
