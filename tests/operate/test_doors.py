"""Every request of ``events/`` gets the same bytes through every front door."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.operate.answers import Received, received, unzipped
from tests.operate.doors import DOORS, FIRST, Request, query_of, requests, with_values
from tests.operate.share import FULL
from tests.support.function import Context, Function

REQUESTS = requests()
REVISION = "mcp-protocol-version"


def asked(function: Function, door: str, request: Request, *, as_base64: bool = False) -> Received:
    return received(function.handler(DOORS[door](request, as_base64), Context()))


@pytest.mark.parametrize("name", REQUESTS)
def test_every_door_gives_the_same_answer(function: Function, name: str) -> None:
    request = REQUESTS[name]
    expected = unzipped(asked(function, FIRST, request))

    for number, door in enumerate(DOORS):
        for as_base64 in (False, True) if FULL else (number % 2 == 0,):
            assert unzipped(asked(function, door, request, as_base64=as_base64)) == expected, (door, as_base64)


def test_answers_are_those_of_many_kinds(function: Function) -> None:
    found = {asked(function, FIRST, request).status for request in REQUESTS.values()}

    assert found == {200, 202, 400, 404, 405}


@pytest.mark.parametrize("door", DOORS)
def test_values_of_a_header_count_alike_at_once_or_one_after_the_other(function: Function, door: str) -> None:
    request = REQUESTS["tools-list"]
    split = with_values(request, "accept", "application/json", "text/event-stream")

    if door == "load balancer":  # which passes the last value on alone
        split = with_values(request, "accept", "application/json")
    assert asked(function, door, split) == asked(function, door, request)
    assert asked(function, door, request).status == 200


@pytest.mark.parametrize("door", [door for door in DOORS if door != "load balancer"])
def test_header_that_may_stand_once_is_refused_twice_at_every_door(function: Function, door: str) -> None:
    request = with_values(REQUESTS["tools-list"], REVISION, "2026-07-28", "2025-06-18")

    assert asked(function, door, request).status == 400


@pytest.mark.parametrize("text", ["é", "\u2028", "𝒳", '"\\', "%2F%41+&="], ids=ascii)
def test_text_of_the_query_arrives_as_it_was_sent(function: Function, text: str) -> None:
    request = REQUESTS["graphql-persisted"]
    document = f"{{ __type(name: {json.dumps(text, ensure_ascii=False)}) {{ name }} }}"
    request = replace(request, query=query_of(query=document))
    expected = asked(function, FIRST, request)

    assert {door: asked(function, door, request) for door in DOORS} == dict.fromkeys(DOORS, expected)


@pytest.mark.parametrize("body", [b"\xff\xfe", b"\x00", b"\x1f\x8b\x08", b""], ids=repr)
def test_body_that_is_no_text_is_the_same_mistake_at_every_door(function: Function, body: bytes) -> None:
    request = replace(REQUESTS["tools-list"], body=body)
    expected = asked(function, FIRST, request, as_base64=True)

    assert expected.status == 400
    assert {door: asked(function, door, request, as_base64=True) for door in DOORS} == dict.fromkeys(DOORS, expected)
