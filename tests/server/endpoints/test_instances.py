"""Instances of the function share the bundle and a key, and nothing else: any of them answers any request."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from handler.compiler.compile import Compiled
from handler.server.auth.sealed_state import RequestStates
from tests.support.every_method import (
    CALLS,
    LEGACY_CALLS,
    MODERN_CALLS,
    MODULES,
    STATE_KEY,
    ask,
    every_endpoint,
    running_every,
)
from tests.support.function import Function, running_function
from tests.support.raw_http import Peer, answer, running_server
from tests.support.secrecy import SESSION

MODERN, LEGACY = "2026-07-28", "2025-11-25"
DATA = b'{"data": {"customer": {"name": "Ada", "email": "a@example.com"}, "placeOrder": {"id": "o1"}}}'
AGREED = {"confirm": {"action": "accept", "content": {"confirm": True}}}

STEPS = ("initialize", "list", "call", "asks", "answers", "code")


def _answers(peer: Peer) -> None:
    while peer.read_request():
        peer.send(answer(DATA, content_type="application/json"))


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compiled]:
    with running_server(_answers) as server:
        yield every_endpoint(tmp_path_factory.mktemp("every"), server.url)


def run(instances: Sequence[Function]) -> list[Any]:
    """One client's requests, each to an instance: what it gets, without what is sealed."""
    results: list[Any] = []
    state = None
    for step, function in zip(STEPS, instances, strict=True):
        match step:
            case "initialize":
                result = ask(function, LEGACY, *LEGACY_CALLS["initialize"]).result
            case "list":
                result = ask(function, MODERN, *CALLS["tools"]).result
            case "call":
                result = ask(function, LEGACY, *CALLS["prescribed"]).result
            case "asks":
                result = ask(function, MODERN, *MODERN_CALLS["asks first"]).result
                state = result.pop("requestState")
            case "answers":
                method, params = MODERN_CALLS["asks first"]
                again = {**params, "inputResponses": AGREED, "requestState": state}
                result = ask(function, MODERN, method, again).result
            case _:
                result = ask(function, MODERN, *CALLS["code"]).result
        results.append(result)
    return results


def test_any_instance_answers_any_of_a_clients_requests(endpoint: Compiled) -> None:
    with running_every(endpoint) as one, running_every(endpoint) as other:
        alone = run([one] * len(STEPS))
        assert "o1" in str(alone[STEPS.index("answers")])
        for instances in itertools.product([one, other], repeat=len(STEPS)):
            assert run(instances) == alone


def test_an_instance_with_another_key_does_not_take_the_state(endpoint: Compiled) -> None:
    key = SESSION.keep("another key of states", "nY4v9Xq2Zc7Lr1Tb6Wn8Kd3Hf5Jp0GsU")
    with (
        running_every(endpoint) as one,
        running_function(endpoint, code_modules=MODULES, states=RequestStates([key])) as stranger,
    ):
        method, params = MODERN_CALLS["asks first"]
        state = ask(one, MODERN, method, params).result["requestState"]
        again = {**params, "inputResponses": AGREED, "requestState": state}

        refused = ask(stranger, MODERN, method, again)

        assert (refused.status, refused.json["error"]["code"]) == (400, -32602)


def test_a_new_key_and_the_old_one_overlap(endpoint: Compiled) -> None:
    new = SESSION.keep("a new key of states", "oZ5v9Xq2Zc7Lr1Tb6Wn8Kd3Hf5Jp0GsU")
    with (
        running_every(endpoint) as old,
        running_function(endpoint, code_modules=MODULES, states=RequestStates([new, STATE_KEY])) as both,
    ):
        method, params = MODERN_CALLS["asks first"]
        state = ask(old, MODERN, method, params).result["requestState"]

        result = ask(both, MODERN, method, {**params, "inputResponses": AGREED, "requestState": state}).result

        assert "o1" in str(result)
