"""APIs that take only documents they know: what is sent to them, and what becomes of their refusal."""

from __future__ import annotations

import dataclasses
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.tools import PrescribedTool
from handler.compiler.compile import Compiled
from tests.support.endpoints import prescribed_tool, reported
from tests.support.function import Answer, running_function
from tests.support.raw_http import Peer, answer, running_server

EMAIL = {"email": "x@example.com"}


def asked(demo: Compiled, documents: str, response: dict[str, Any]) -> tuple[dict[str, Any], Answer]:
    """What reaches an API that is told of documents in this way, and what the caller gets of its response."""
    bodies: list[dict[str, Any]] = []

    def script(peer: Peer) -> None:
        while request := peer.read_request():
            bodies.append(json.loads(request.split(b"\r\n\r\n", 1)[1]))
            peer.send(answer(json.dumps(response).encode(), content_type="application/json"))

    with running_server(script) as server:
        upstream = dataclasses.replace(demo.bundle.upstream, url=f"{server.url}graphql", documents=documents)
        made = dataclasses.replace(demo, bundle=dataclasses.replace(demo.bundle, upstream=upstream))
        with running_function(made, development=True) as function:
            result = function.call("list_orders", EMAIL)
    (body,) = bodies
    return body, result


def digest_of(demo: Compiled) -> str:
    return sha256(prescribed_tool(demo, "list_orders").operation.text.encode()).hexdigest()


def test_text_is_sent_where_nothing_is_said(demo: Compiled) -> None:
    body, _ = asked(demo, "text", {"data": {"customer": None}})

    assert set(body) == {"query", "operationName", "variables"}


def test_document_id_is_sent_instead_of_the_text(demo: Compiled) -> None:
    body, result = asked(demo, "documentId", {"data": {"customer": None}})

    assert body == {
        "documentId": f"sha256:{digest_of(demo)}",
        "operationName": "ListOrders",
        "variables": EMAIL,
    }
    assert result.result["structuredContent"] == {"data": {"customer": None}}


def test_apollos_hash_is_sent_instead_of_the_text(demo: Compiled) -> None:
    body, _ = asked(demo, "apollo", {"data": {"customer": None}})

    assert body == {
        "extensions": {"persistedQuery": {"version": 1, "sha256Hash": digest_of(demo)}},
        "operationName": "ListOrders",
        "variables": EMAIL,
    }


@pytest.mark.parametrize(
    "error",
    [
        {"message": "PersistedQueryNotFound"},
        {"message": "no", "extensions": {"code": "PERSISTED_QUERY_NOT_FOUND"}},
        {"message": "no", "extensions": {"code": "PERSISTED_QUERY_NOT_IN_LIST"}},
    ],
)
def test_document_that_the_api_does_not_know_is_said_and_its_text_is_not_sent(
    demo: Compiled, error: dict[str, Any]
) -> None:
    body, result = asked(demo, "apollo", {"errors": [error]})

    assert "query" not in body
    assert result.result["isError"] is True
    assert json.loads(result.text)["errors"][0]["message"] == (
        "The API does not know this operation. This tool's maintainer has to give the API's owner a new manifest."
    )


def test_graphql_tool_on_such_an_api_is_a_problem(tmp_path: Path) -> None:
    tool = 'extend schema @tool(name: "t", graphql: {expose: true, types: "Query", fields: ".*"}) '
    files = {"index.graphql": tool + "type Query { a: Int }", "config.yaml": "upstream: {documents: documentId}"}

    assert reported(tmp_path / "1", files) == ['index.graphql:1:15 known-documents-only: "t" & prescribed']
    assert reported(tmp_path / "2", {**files, "index.graphql": "type Query { a: Int }"}) == [
        "index.graphql known-documents-only"
    ]


def test_way_to_name_documents_that_is_unknown_is_a_problem(tmp_path: Path) -> None:
    files = {"index.graphql": "type Query { a: Int }", "config.yaml": "upstream: {documents: hash}"}

    assert reported(tmp_path, files) == ['config.yaml:1:23 invalid-value: "upstream.documents"']


def test_only_texts_of_the_author_have_a_digest(demo: Compiled) -> None:
    for tool in demo.bundle.tools:
        if isinstance(tool, PrescribedTool):
            assert tool.operation.sha256 == sha256(tool.operation.text.encode()).hexdigest()
