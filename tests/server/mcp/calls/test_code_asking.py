"""Tools, prompts and resources in Python that ask their user first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.identity import ApiKey
from handler.compiler.compile import Compiled
from handler.server.auth.sealed_state import STATE_S, RequestStates
from tests.code_tools.cases import case
from tests.support.codes import rpc_error
from tests.support.endpoints import PUBLIC, compiled
from tests.support.function import META, MODERN, Answer, Function, running_function
from tests.support.identities import HOLDER, KEY, api_key, identified
from tests.support.kits import MODULES, TOOLS, with_kit
from tests.support.secrecy import SESSION

STATE_KEY = SESSION.keep("a key of states", "hT6v9Xq2Zc7Lr1Tb6Wn8Kd3Hf5Jp0GsU")
OTHER_KEY = SESSION.keep("another key of states", "mB2v9Xq2Zc7Lr1Tb6Wn8Kd3Hf5Jp0GsU")
SDL = "type Query { a: Int }\ntype Mutation { b: Int }\n"
CLAIMS = {"iss": "https://idp.example", "sub": "ada"}
FORMS: dict[str, Any] = {"elicitation": {}}
ACCEPTED = {"nights": {"action": "accept", "content": {"nights": 3}}}


class Clock:
    """UNIX seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def endpoint(tmp_path: Path) -> Compiled:
    return with_kit(identified(compiled(tmp_path, {"index.graphql": SDL, "config.yaml": PUBLIC}), CLAIMS), TOOLS)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def function(endpoint: Compiled, clock: Clock) -> Iterator[Function]:
    states = RequestStates([STATE_KEY], clock=clock)
    with running_function(endpoint, code_modules=MODULES, states=states) as running:
        yield running


def request(
    function: Function,
    method: str,
    params: Mapping[str, Any],
    *,
    capabilities: Any = FORMS,
    number: int = 1,
    headers: Mapping[str, str] = HOLDER,
) -> Answer:
    """A request of a modern client with these capabilities."""
    meta = {**META, "io.modelcontextprotocol/clientCapabilities": capabilities}
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": meta}}
    name = str(params.get("name") or params["uri"])
    routing = {"mcp-protocol-version": MODERN, "mcp-method": method, "mcp-name": name}
    return function.post(message, headers={**routing, **headers})


def book(function: Function, room: Any = "7", **more: Any) -> Answer:
    known = {name: more.pop(name) for name in ("capabilities", "number", "headers") if name in more}
    return request(function, "tools/call", {"name": "book", "arguments": {"room": room}, **more}, **known)


@case("S-018")
def test_tool_asks_and_completes_with_the_answers_to_another_request(function: Function) -> None:
    asked = book(function)

    assert asked.result["resultType"] == "input_required"
    (question,) = asked.result["inputRequests"].values()
    assert question["method"] == "elicitation/create"
    assert question["params"]["message"] == "How long in 7?"
    done = book(function, inputResponses=ACCEPTED, requestState=asked.result["requestState"], number=2)
    assert (done.json["id"], done.result["resultType"], done.text) == (2, "complete", "7 for 3 nights, ['nights']")


def test_answer_to_what_was_not_asked_is_left_out(function: Function) -> None:
    state = book(function).result["requestState"]
    more = {**ACCEPTED, "other": {"action": "accept"}}

    assert book(function, inputResponses=more, requestState=state).text == "7 for 3 nights, ['nights']"


def test_answers_without_what_was_asked_are_asked_for_again(function: Function) -> None:
    state = book(function).result["requestState"]

    assert book(function, inputResponses={}, requestState=state).result["resultType"] == "input_required"
    assert book(function, requestState=state).result["resultType"] == "input_required"
    assert book(function, inputResponses=ACCEPTED).result["resultType"] == "input_required"


def test_tool_that_keeps_no_state_takes_answers_as_they_come_and_needs_no_key(endpoint: Compiled) -> None:
    with running_function(endpoint, code_modules=MODULES) as function:
        asked = request(function, "prompts/get", {"name": "careful"})
        kind = {"tone": {"action": "accept", "content": {"tone": "kind"}}, "other": {}}
        done = request(function, "prompts/get", {"name": "careful", "inputResponses": kind})

    assert set(asked.result) == {"resultType", "inputRequests", "_meta"}
    assert done.result["messages"][0]["content"]["text"] == "Be kind"


def test_answers_mean_nothing_to_earlier_revisions(function: Function) -> None:
    answer = function.request("tools/call", {"name": "book", "arguments": {"room": "7"}, "inputResponses": "yes"})

    assert answer.text.startswith("Nothing was done yet, because this has to ask your user first")


def test_question_without_a_request_or_a_state_fails_like_any_mistake_of_an_author(function: Function) -> None:
    answer = request(function, "tools/call", {"name": "ask_nothing", "arguments": {}})

    assert (answer.text, answer.result["isError"]) == ("Tool execution failed", True)


@pytest.mark.parametrize("with_state", [True, False])
@pytest.mark.parametrize("responses", [[], "yes", None, {"nights": "3"}, {"nights": None}])
def test_answers_that_are_no_objects_are_refused(function: Function, responses: Any, with_state: bool) -> None:
    state = {"requestState": book(function).result["requestState"]} if with_state else {}
    answer = book(function, inputResponses=responses, **state)

    assert (answer.status, answer.json["error"]["code"]) == (400, -32602)
    assert answer.json["error"]["message"] == "inputResponses: expected an object of objects"


def test_arguments_that_are_nested_deeply_are_refused_with_a_state_and_without(function: Function) -> None:
    deep: Any = "7"
    for _ in range(900):
        deep = [deep]
    state = book(function).result["requestState"]

    assert "nested more than 64 deep" in book(function, deep).text
    assert book(function, deep, requestState=state, inputResponses=ACCEPTED).json["error"] == REFUSED


REFUSED = rpc_error(-32602, "The requestState is not one for this call: call again without it", "state-refused")


@case("S-019")
def test_state_that_was_changed_is_refused(function: Function) -> None:
    state = book(function).result["requestState"]
    others = [state[:at] + ("A" if state[at] != "A" else "B") + state[at + 1 :] for at in range(0, len(state), 7)]

    for changed in (*others, state + "=", state + "\n", " " + state, "", "e30=", 7, {"a": 1}):
        answer = book(function, inputResponses=ACCEPTED, requestState=changed)
        assert (answer.status, answer.json["error"]) == (400, REFUSED)


@case("S-019")
def test_state_that_is_too_old_is_refused(function: Function, clock: Clock) -> None:
    state = book(function).result["requestState"]
    clock.now += STATE_S
    assert "result" in book(function, inputResponses=ACCEPTED, requestState=state).json
    clock.now += 1

    assert book(function, inputResponses=ACCEPTED, requestState=state).json["error"] == REFUSED


@case("S-019")
def test_state_for_other_arguments_another_tool_or_another_method_is_refused(function: Function) -> None:
    sent = {"inputResponses": ACCEPTED, "requestState": book(function).result["requestState"]}

    for method, params in (
        ("tools/call", {"name": "book", "arguments": {"room": "8"}}),
        ("tools/call", {"name": "book", "arguments": {"room": "7", "more": 1}}),
        ("tools/call", {"name": "echo", "arguments": {"room": "7"}}),
        ("prompts/get", {"name": "careful", "arguments": {"room": "7"}}),
    ):
        assert request(function, method, {**params, **sent}).json["error"] == REFUSED, params


@case("S-019")
def test_state_of_another_caller_is_refused(function: Function, endpoint: Compiled) -> None:
    sent = {"inputResponses": ACCEPTED, "requestState": book(function).result["requestState"]}

    assert book(function, headers={}, **sent).json["error"] == REFUSED
    for claims in ({**CLAIMS, "sub": "eve"}, {**CLAIMS, "iss": "https://other.example"}, {"tenant": "acme"}, None):
        states = RequestStates([STATE_KEY], clock=lambda: 1_800_000_000.0)
        with running_function(identified(endpoint, claims), code_modules=MODULES, states=states) as other:
            assert book(other, **sent).json["error"] == REFUSED, claims


def test_callers_whose_claims_name_no_subject_are_told_apart_by_all_of_them(endpoint: Compiled) -> None:
    keys: list[ApiKey] = [replace(api_key({"tenant": tenant}), name="same") for tenant in ("acme", "globex")]
    second = SESSION.keep("a key of another tenant", "stile_abcdefghijk")
    keys[1] = replace(keys[1], sha256=sha256(second.encode()).hexdigest())
    identity = replace(endpoint.bundle.identity, api_keys=tuple(keys))
    changed = replace(endpoint, bundle=replace(endpoint.bundle, identity=identity))
    with running_function(changed, code_modules=MODULES, states=RequestStates([STATE_KEY])) as function:
        sent = {"inputResponses": ACCEPTED, "requestState": book(function).result["requestState"]}

        assert book(function, headers={"x-api-key": second}, **sent).json["error"] == REFUSED
        assert "result" in book(function, headers={"x-api-key": KEY}, **sent).json


@case("S-019")
def test_state_under_a_key_that_is_gone_or_for_another_endpoint_is_refused(
    function: Function, endpoint: Compiled, clock: Clock
) -> None:
    sent = {"inputResponses": ACCEPTED, "requestState": book(function).result["requestState"]}
    elsewhere = replace(endpoint, bundle=replace(endpoint.bundle, endpoint="api/others"))

    with running_function(endpoint, code_modules=MODULES, states=RequestStates([OTHER_KEY], clock=clock)) as other:
        assert book(other, **sent).json["error"] == REFUSED
    with running_function(elsewhere, code_modules=MODULES, states=RequestStates([STATE_KEY], clock=clock)) as other:
        assert book(other, **sent).json["error"] == REFUSED
    both = RequestStates([OTHER_KEY, STATE_KEY], clock=clock)
    with running_function(endpoint, code_modules=MODULES, states=both) as rotated:
        assert "result" in book(rotated, **sent).json


def test_order_of_arguments_does_not_matter(function: Function) -> None:
    first = {"name": "book", "arguments": {"room": "7", "more": {"a": 1, "b": 2}}}
    state = request(function, "tools/call", first).result["requestState"]
    second = json.loads('{"name": "book", "arguments": {"more": {"b": 2, "a": 1}, "room": "7"}}')

    done = request(function, "tools/call", {**second, "inputResponses": ACCEPTED, "requestState": state})
    assert done.text == "7 for 3 nights, ['nights']"


@case("S-020")
@pytest.mark.parametrize(
    ("tool", "arguments", "capabilities", "required"),
    [
        ("book", {"room": "7"}, {}, {"elicitation": {}}),
        ("book", {"room": "7"}, {"elicitation": {"url": {}}}, {"elicitation": {}}),
        ("book", {"room": "7"}, {"elicitation": True}, {"elicitation": {}}),
        ("ask_to_open", {"url": "https://idp.example"}, FORMS, {"elicitation": {"url": {}}}),
        ("ask_for", {"method": "sampling/createMessage"}, FORMS, {"sampling": {}}),
        ("ask_for", {"method": "roots/list"}, FORMS, {"roots": {}}),
    ],
)
def test_nothing_is_asked_that_the_client_does_not_declare(
    function: Function, tool: str, arguments: Any, capabilities: Any, required: Any
) -> None:
    answer = request(function, "tools/call", {"name": tool, "arguments": arguments}, capabilities=capabilities)

    assert (answer.status, answer.json["error"]["code"]) == (400, -32021)
    assert answer.json["error"]["data"] == {"code": "missing-capability", "requiredCapabilities": required}
    assert function.lines[-1]["reason"] == "MissingCapability"


@pytest.mark.parametrize(
    ("tool", "arguments", "capabilities"),
    [
        ("book", {"room": "7"}, {"elicitation": {"form": {}, "url": {}}}),
        ("ask_to_open", {"url": "https://idp.example"}, {"elicitation": {"url": {}}}),
        ("ask_for", {"method": "sampling/createMessage"}, {"sampling": {}}),
        ("ask_for", {"method": "roots/list"}, {"roots": {}}),
    ],
)
def test_what_the_client_declares_is_asked(function: Function, tool: str, arguments: Any, capabilities: Any) -> None:
    answer = request(function, "tools/call", {"name": tool, "arguments": arguments}, capabilities=capabilities)

    assert answer.result["resultType"] == "input_required"


@case("S-020")
def test_legacy_client_reads_that_it_cannot_be_asked(function: Function) -> None:
    answer = function.call("book", {"room": "7"})

    assert answer.text.startswith("Nothing was done yet, because this has to ask your user first")
    assert (answer.result["isError"], answer.status) == (True, 200)
    assert function.lines[-1]["reason"] == "ClientCannotAsk"


def test_question_of_a_method_that_none_is_fails_like_any_mistake_of_an_author(function: Function) -> None:
    answer = request(function, "tools/call", {"name": "ask_for", "arguments": {"method": "tools/call"}})

    assert (answer.text, answer.result["isError"]) == ("Tool execution failed", True)


def test_without_a_key_nothing_is_asked_and_the_sentence_says_whose_matter_it_is(endpoint: Compiled) -> None:
    with running_function(endpoint, code_modules=MODULES) as function:
        answer = book(function)
        assert answer.code == "state-unavailable"
        assert answer.result["isError"]
        assert book(function, requestState="e30=").json["error"] == REFUSED


def test_prompt_asks_first_too(function: Function) -> None:
    asked = request(function, "prompts/get", {"name": "careful"})
    tone = {"tone": {"action": "accept", "content": {"tone": "kind"}}}
    sent = {"name": "careful", "inputResponses": tone}

    assert asked.result["inputRequests"]["tone"]["params"]["message"] == "Which tone?"
    assert "requestState" not in asked.result
    assert "ttlMs" not in asked.result
    assert request(function, "prompts/get", sent).result["messages"] == [
        {"role": "user", "content": {"type": "text", "text": "Be kind"}}
    ]
    assert request(function, "prompts/get", {**sent, "requestState": "e30="}).json["error"] == REFUSED
    assert function.request("prompts/get", {"name": "careful"}).json["error"]["code"] == -32603
