"""Media types of requests and answers. Source: GraphQL over HTTP; RFC 9110, section 12.5.1."""

from __future__ import annotations

import pytest

from handler.server.asgi.content_negotiation import (
    GRAPHQL_RESPONSE,
    JSON,
    MAX_ACCEPTED,
    accepted_kinds,
    choose_graphql_type,
    declares_json,
    media_type_of,
)


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        (None, JSON),
        ("", JSON),
        ("*/*", JSON),
        ("application/*", JSON),
        (JSON, JSON),
        (GRAPHQL_RESPONSE, GRAPHQL_RESPONSE),
        ("APPLICATION/GraphQL-Response+JSON", GRAPHQL_RESPONSE),
        (f"{GRAPHQL_RESPONSE}; charset=utf-8, {JSON}; charset=utf-8", GRAPHQL_RESPONSE),
        (f"{JSON}, {GRAPHQL_RESPONSE}", JSON),
        (f"{GRAPHQL_RESPONSE}, {JSON};q=0.9", GRAPHQL_RESPONSE),
        (f"{GRAPHQL_RESPONSE};q=0.8, {JSON}", JSON),
        (f"*/*, {GRAPHQL_RESPONSE}", GRAPHQL_RESPONSE),  # named beats meant too
        (f"*/*, {JSON};q=0", GRAPHQL_RESPONSE),
        (f"{GRAPHQL_RESPONSE};q=0, */*;q=0.1", JSON),
        (f"text/html, {JSON};q=0.1", JSON),
        (f"{JSON}, multipart/mixed", JSON),  # GraphiQL
        (f'{JSON}; charset="UTF-8"', JSON),
    ],
)
def test_media_type_is_the_one_that_the_client_likes_best(accept: str | None, chosen: str) -> None:
    assert choose_graphql_type(accept) == chosen


@pytest.mark.parametrize(
    "accept",
    [
        "text/html",
        "text/event-stream",
        "application/graphql+json",
        f"{JSON};q=0",
        "*/*;q=0",
        f"{JSON}; charset=iso-8859-1",
        f"{JSON};q=2",
        f"{JSON};q=x",
        ",",
        "text/html," * MAX_ACCEPTED + JSON,
    ],
)
def test_neither_media_type_is_taken(accept: str) -> None:
    assert choose_graphql_type(accept) is None


@pytest.mark.parametrize("kind", [JSON, f"{JSON}; charset=utf-8", "Application/JSON;charset=UTF-8", f"{JSON}; x=1"])
def test_bodies_are_json_in_utf_8(kind: str) -> None:
    assert declares_json(kind)


@pytest.mark.parametrize(
    "kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", f"{JSON}; charset=latin1"]
)
def test_other_bodies_are_not_taken(kind: str) -> None:
    assert not declares_json(kind)


@pytest.mark.parametrize(
    ("content_type", "kind"), [("", ""), ("Text/HTML; charset=x", "text/html"), (f" {JSON} ;a=b", JSON)]
)
def test_media_type_has_no_parameters(content_type: str, kind: str) -> None:
    assert media_type_of(content_type) == kind


@pytest.mark.parametrize(
    ("accept", "kinds"),
    [
        ("", {"*/*"}),
        ("application/json, text/event-stream", {"application/json", "text/event-stream"}),
        ("Text/Event-Stream;q=0.5 , */*; q=0.1", {"text/event-stream", "*/*"}),
        ("application/json, text/event-stream;q=0", {"application/json"}),
        ("application/json;charset=utf-8; q=0.000, a/b", {"a/b"}),
    ],
)
def test_kinds_that_are_refused_are_not_accepted(accept: str, kinds: set[str]) -> None:
    assert accepted_kinds(accept) == kinds
