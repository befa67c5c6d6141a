"""The parameters of GraphQL requests over HTTP. Source: GraphQL over HTTP."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from handler.server.graphql_route import (
    Malformed,
    Parameters,
    parse_body,
    parse_url,
)


def refusal(body: Any) -> str:
    with pytest.raises(Malformed) as caught:
        parse_body(body if isinstance(body, bytes) else json.dumps(body).encode())
    return str(caught.value)


def test_body_holds_all_parameters_and_other_members_are_ignored() -> None:
    body: dict[str, Any] = {
        "query": "query O($a: Int) { a(b: $a) }",
        "operationName": "O",
        "variables": {"a": 1},
        "extensions": {"persistedQuery": {"version": 1}, "confirm": True},
        "onion": "layers",
    }

    assert parse_body(json.dumps(body).encode()) == Parameters(
        query=body["query"], document_id=None, operation_name="O", variables={"a": 1}, confirmed=True
    )


def test_url_holds_the_same_parameters_with_maps_as_json() -> None:
    url = urlencode({"query": "{ å }", "operationName": "O", "variables": '{"a": [1]}', "extensions": "{}", "x": "1"})

    assert parse_url(url.encode()) == Parameters(
        query="{ å }", document_id=None, operation_name="O", variables={"a": [1]}
    )


@pytest.mark.parametrize("absent", ["operationName", "variables", "extensions"])
def test_null_is_as_good_as_absent(absent: str) -> None:
    assert parse_body(json.dumps({"query": "{a}", absent: None}).encode()) == Parameters(query="{a}", document_id=None)


def test_empty_operation_name_is_as_good_as_absent() -> None:
    assert parse_body(b'{"query": "{a}", "operationName": ""}').operation_name is None
    assert parse_url(b"query={a}&operationName=").operation_name is None
    assert parse_url(b"query={a}&operationName=null").operation_name == "null"


@pytest.mark.parametrize("absent", ["variables", "extensions"])
def test_empty_map_in_a_url_is_as_good_as_absent(absent: str) -> None:
    assert parse_url(f"query={{a}}&{absent}=".encode()) == Parameters(query="{a}", document_id=None)
    assert refusal({"query": "{a}", absent: ""}) == f"{absent}: expected an object"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", "the body is not JSON"),
        (b'{"query": "{a}"', "the body is not JSON"),
        ('{"query": "{a}"}'.encode("utf-16"), "the body is not JSON"),
        (b'{"query": "{a}", "variables": {"a": NaN}}', "the body is not JSON"),
        ([{"query": "{a}"}, {"query": "{b}"}], "batches are not supported: send each request by itself"),
        ([], "batches are not supported: send each request by itself"),
        ("{a}", "expected a JSON object with a query"),
        (None, "expected a JSON object with a query"),
        ({}, "expected query, or the documentId of a persisted document"),
        ({"query": None}, "expected query, or the documentId of a persisted document"),
        ({"query": 1}, "query: expected a text"),
        ({"query": "{a}", "operationName": ["O"]}, "operationName: expected a text"),
        ({"documentId": {}}, "documentId: expected a text"),
        ({"query": "{a}", "variables": '{"a": 1}'}, "variables: expected an object"),
        ({"query": "{a}", "variables": [1]}, "variables: expected an object"),
        ({"query": "{a}", "variables": False}, "variables: expected an object"),
        ({"query": "{a}", "extensions": 0}, "extensions: expected an object"),
        ({"query": "{a}", "documentId": "sha256:0"}, "query and documentId exclude each other: send one of them"),
        ({"query": "", "documentId": ""}, "query and documentId exclude each other: send one of them"),
    ],
)
def test_body_that_is_no_request_is_refused(body: Any, sentence: str) -> None:
    assert refusal(body) == sentence


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        (b"", "expected query, or the documentId of a persisted document"),
        (b"query={a}&query={b}", "query appears in the URL twice"),
        (b"query={a}&variables={", "variables: expected JSON"),
        (b"query={a}&variables=%20", "variables: expected JSON"),
        (b"query={a}&variables=[1]", "variables: expected an object"),
        (b"query={a}&extensions=7", "extensions: expected an object"),
        (b"query=%ff", "the URL is not UTF-8"),
        (b"query=\xff", "the URL is not UTF-8"),
    ],
)
def test_url_that_is_no_request_is_refused(url: bytes, sentence: str) -> None:
    with pytest.raises(Malformed, match=sentence):
        parse_url(url)
