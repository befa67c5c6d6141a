"""Tools that ask their user before anything is sent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from mcp_types.methods import validate_server_result

from handler.server.auth.sealed_state import STATE_S, RequestStates
from tests.support.endpoints import PUBLIC, compiled, reported
from tests.support.function import META, MODERN, Answer, Function, running_function
from tests.support.raw_http import RawServer, answer, answering, running_server

SDL = """
type Query { thing(id: ID!): String }
type Mutation { rename(id: ID!, name: String!, by: String): String }
"""
RENAME = """
mutation Rename($id: ID!, $name: String!, $by: String @mcpBind(header: "x-actor")) @mcpTool(OPTIONS) {
  rename(id: $id, name: $name, by: $by)
}
"""
ARGUMENTS = {"id": "7", "name": "Zoë"}
HEADERS = {"x-actor": "the-actor"}
KEY = "k" * 32
FORMS: Mapping[str, Any] = {"elicitation": {}}
YES = {"action": "accept", "content": {"confirm": True}}
IDS = count(2)

IMPOSSIBLE = (
    "Nothing was done, because t asks your user before it runs, and this client cannot ask. Tell your user to take a "
    "client that speaks MCP 2026-07-28 and declares elicitation."
)


@contextmanager
def serving(
    folder: Path, confirm: str, *, states: RequestStates | None = None, operation: str = RENAME, more: str = PUBLIC
) -> Iterator[tuple[Function, RawServer]]:
    """An endpoint with a flat tool ``t``, and a GraphQL tool ``g`` over everything, both of which ask."""
    patterns = '[{expose: true, types: "Query|Mutation", fields: ".*"}]'
    with running_server(answering(answer(b'{"data": {"rename": "ok"}}', content_type="application/json"))) as api:
        files = {
            "index.graphql": f'extend schema @tool(name: "g", graphql: {patterns} confirm: {confirm}) {SDL}',
            "operations/o.graphql": operation.replace(
                "OPTIONS", f'name: "t" title: "Rename a thing" confirm: {confirm}'
            ),
            "config.yaml": f"upstream: {{url: '{api.url}'}}\n{more}",
        }
        kept = RequestStates([KEY]) if states is None else states
        with running_function(compiled(folder, files), states=kept) as function:
            yield function, api


def call(
    function: Function,
    arguments: Mapping[str, Any] = ARGUMENTS,
    *,
    tool: str = "t",
    capabilities: Mapping[str, Any] = FORMS,
    headers: Mapping[str, str] = HEADERS,
    **params: Any,
) -> Answer:
    """A call of a modern client."""
    meta = {**META, "io.modelcontextprotocol/clientCapabilities": capabilities}
    sent = {"name": tool, "arguments": arguments, "_meta": meta, **params}
    message = {"jsonrpc": "2.0", "id": next(IDS), "method": "tools/call", "params": sent}
    routing = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": tool}
    return function.post(message, headers={**routing, **headers})


def answered(function: Function, asked: Answer, response: Any = YES, **more: Any) -> Answer:
    """The same call again, with the answer."""
    return call(function, requestState=asked.result["requestState"], inputResponses={"confirm": response}, **more)


def message_of(asked: Answer) -> str:
    """The question that a call asked."""
    assert asked.result["resultType"] == "input_required"
    return str(asked.result["inputRequests"]["confirm"]["params"]["message"])


def sent_to(api: RawServer) -> list[dict[str, Any]]:
    """What reached the API: headers in lower case, and the body."""
    requests = []
    for raw in api.requests:
        head, _, body = raw.partition(b"\r\n\r\n")
        lines = [line.partition(": ") for line in head.decode().split("\r\n")[1:]]
        headers = {name.lower(): value for name, _, value in lines}
        requests.append({"headers": headers, "body": json.loads(body)})
    return requests


@pytest.mark.parametrize("confirm", ["required", "advisory"])
def test_user_is_asked_first_with_what_would_be_sent(tmp_path: Path, confirm: str) -> None:
    with serving(tmp_path, confirm) as (function, api):
        asked = call(function)

        assert api.requests == []
        assert [function.lines[-1][fact] for fact in ("tool", "decision", "outcome")] == ["t", "allowed", "asked"]
    assert message_of(asked) == (
        "Rename a thing would send this to api/things:\n\n"
        "mutation Rename($id: ID!, $name: String!, $by: String) {\n  rename(id: $id, name: $name, by: $by)\n}\n\n"
        'with these variables:\n\n{\n  "id": "7",\n  "name": "Zoë"\n}'
    )
    request = asked.result["inputRequests"]["confirm"]
    assert request["method"] == "elicitation/create"
    assert request["params"]["mode"] == "form"
    assert request["params"]["requestedSchema"]["properties"]["confirm"]["type"] == "boolean"
    assert request["params"]["requestedSchema"]["required"] == ["confirm"]
    validate_server_result("tools/call", MODERN, asked.result)


def test_values_that_no_model_may_see_stay_out_of_the_question(tmp_path: Path) -> None:
    with serving(tmp_path, "required") as (function, api):
        asked = call(function)
        assert "the-actor" not in asked.body.decode()
        answered(function, asked)

        assert [request["body"]["variables"] for request in sent_to(api)] == [{**ARGUMENTS, "by": "the-actor"}]


@pytest.mark.parametrize("confirm", ["required", "advisory"])
def test_operation_is_sent_once_the_user_agrees(tmp_path: Path, confirm: str) -> None:
    with serving(tmp_path, confirm) as (function, api):
        done = answered(function, call(function))

        assert done.result["structuredContent"] == {"data": {"rename": "ok"}}
        assert done.result["resultType"] == "complete"
        assert len(api.requests) == 1


def test_each_repetition_of_the_answer_sends_the_same_idempotency_key_and_each_question_another(tmp_path: Path) -> None:
    with serving(tmp_path, "required") as (function, api):
        first, second = call(function), call(function)
        for asked in (first, first, second):
            answered(function, asked)

        keys = [request["headers"]["idempotency-key"] for request in sent_to(api)]
    assert keys[0] == keys[1] != keys[2]
    assert all(re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", key) for key in keys)


def test_query_that_is_asked_about_has_no_idempotency_key(tmp_path: Path) -> None:
    query = "query Thing($id: ID!) @mcpTool(OPTIONS) { thing(id: $id) }"
    with serving(tmp_path, "required", operation=query) as (function, api):
        asked = call(function, {"id": "7"})
        answered(function, asked, arguments={"id": "7"})

        assert ["idempotency-key" in request["headers"] for request in sent_to(api)] == [False]


@pytest.mark.parametrize(
    "response", [{"action": "decline"}, {"action": "cancel"}, {"action": "accept", "content": {"confirm": False}}]
)
def test_user_who_does_not_agree_is_heard(tmp_path: Path, response: dict[str, Any]) -> None:
    with serving(tmp_path, "required") as (function, api):
        declined = answered(function, call(function), response)

        assert api.requests == []
        assert (function.lines[-1]["outcome"], function.lines[-1]["reason"]) == ("declined", "ConsentDeclined")
        assert function.lines[-1].get("level", "INFO") == "INFO"
    assert declined.result["isError"] is True
    assert declined.text == (
        "Nothing was done, because your user was asked about this call of t and did not agree. "
        "Do not repeat it unless they ask for it."
    )


@pytest.mark.parametrize(
    "response",
    [{}, {"action": "accept"}, {"action": "accept", "content": {}}, {"action": "accept", "content": None}]
    + [{"action": "accept", "content": {"confirm": value}} for value in ("true", 1, None, [True])]
    + [{"action": "agree", "content": {"confirm": True}}],
)
def test_answer_that_is_none_is_asked_for_again_with_the_same_key(tmp_path: Path, response: dict[str, Any]) -> None:
    with serving(tmp_path, "required") as (function, api):
        asked = call(function)
        again = answered(function, asked, response)
        assert api.requests == []

        assert message_of(again) == message_of(asked)
        for each in (asked, again):
            answered(function, each)
        first, second = sent_to(api)
    assert first["headers"]["idempotency-key"] == second["headers"]["idempotency-key"]


def test_missing_answer_is_asked_for_again(tmp_path: Path) -> None:
    with serving(tmp_path, "required") as (function, api):
        asked = call(function)
        state = asked.result["requestState"]

        assert message_of(call(function, requestState=state)) == message_of(asked)
        assert message_of(call(function, requestState=state, inputResponses={"other": YES})) == message_of(asked)
        assert message_of(call(function, inputResponses={"confirm": YES})) == message_of(asked)
        assert api.requests == []


KEYS = ("stile_key_of_one", "stile_key_of_two")
ENTRIES = [f"{{name: key{place}, sha256: {sha256(key.encode()).hexdigest()}}}" for place, key in enumerate(KEYS)]
BY_KEY = f"{PUBLIC}identity: {{api_keys: [{', '.join(ENTRIES)}]}}"

OTHERS: Mapping[str, Mapping[str, Any]] = {
    "other arguments": {"arguments": {**ARGUMENTS, "id": "8"}},
    "other tool": {"tool": "g", "arguments": {"query": 'mutation { rename(id: "7", name: "Zoë") }'}},
    "other caller": {"headers": {**HEADERS, "x-api-key": KEYS[1]}},
    "anonymous caller": {},
    "tampered": {"requestState": "A" * 200},
    "no text": {"requestState": 5},
}


@pytest.mark.parametrize("name", OTHERS)
def test_answer_to_the_question_of_another_call_is_refused(tmp_path: Path, name: str) -> None:
    with serving(tmp_path, "required", more=BY_KEY) as (function, api):
        mine = {**HEADERS, "x-api-key": KEYS[0]}
        asked = call(function, headers=mine)
        given = {"requestState": asked.result["requestState"], "inputResponses": {"confirm": YES}}
        refused = call(
            function, **{"headers": HEADERS if name == "anonymous caller" else mine, **given, **OTHERS[name]}
        )

        assert api.requests == []
        assert answered(function, asked, headers=mine).result["resultType"] == "complete"
    assert refused.status == 400
    assert refused.json["error"]["code"] == -32602


def test_answer_that_comes_late_is_refused(tmp_path: Path) -> None:
    now = [1_000_000.0]
    with serving(tmp_path, "required", states=RequestStates([KEY], clock=lambda: now[0])) as (function, api):
        asked = call(function)
        now[0] += STATE_S + 1
        refused = answered(function, asked)

        assert api.requests == []
    assert refused.json["error"]["code"] == -32602


def test_answer_to_a_question_of_before_another_publishing_is_asked_again(tmp_path: Path) -> None:
    with serving(tmp_path / "1", "required") as (function, _):
        asked = call(function)
    with serving(tmp_path / "2", "required", operation=RENAME.replace("Rename", "Renamed")) as (function, api):
        again = answered(function, asked)

        assert api.requests == []
    assert "mutation Renamed(" in message_of(again)


LONG = "x" * 9_000
TOO_LONG: Mapping[str, Mapping[str, Any]] = {
    "a long value before another": {"arguments": {"id": LONG, "name": "never shown"}},
    "a short value that is shown in escapes": {"arguments": {"id": "7", "name": "\u202e" * 1_400}},
    "a literal before a second field": {
        "tool": "g",
        "arguments": {"query": f'mutation {{ a: rename(id: "7", name: "{LONG}") b: rename(id: "8", name: "y") }}'},
    },
    "blank lines before a second field": {
        "tool": "g",
        "arguments": {
            "query": f'mutation {{ a: rename(id: "7", name: """x{chr(10) * 4_100}y""") b: rename(id: "8", name: "y") }}'
        },
    },
    "a variable of a document": {
        "tool": "g",
        "arguments": {
            "query": 'mutation M($id: ID!) { rename(id: $id, name: "x") }',
            "variables": {"id": LONG},
        },
    },
}


@pytest.mark.parametrize("confirm", ["required", "advisory"])
@pytest.mark.parametrize("name", TOO_LONG)
def test_nobody_agrees_to_what_they_cannot_be_shown(tmp_path: Path, name: str, confirm: str) -> None:
    with serving(tmp_path, confirm) as (function, api):
        refused = call(function, **TOO_LONG[name])

        assert api.requests == []
        assert [function.lines[-1][fact] for fact in ("decision", "reason")] == ["refused", "ConsentTooLong"]
    assert refused.result["isError"] is True
    assert refused.code == "consent-too-long"
    assert "and the limit is 8,000." in refused.text


def test_word_of_a_model_is_not_taken_for_a_question_that_is_too_long(tmp_path: Path) -> None:
    with serving(tmp_path, "advisory") as (function, api):
        call(function, {"id": LONG, "name": "x", "confirm": True})

        assert api.requests == []


def test_long_value_is_shown_whole_with_all_that_stands_behind_it(tmp_path: Path) -> None:
    with serving(tmp_path, "required") as (function, _):
        message = message_of(call(function, {"id": "x" * 5_100, "name": "behind it"}))
        document = f'mutation {{ a: rename(id: "{"x" * 5_100}", name: "y") b: rename(id: "8", name: "z") }}'
        second = message_of(call(function, {"query": document}, tool="g"))

    assert "x" * 5_100 in message
    assert message.endswith('"name": "behind it"\n}')
    assert 'b: rename(id: "8", name: "z")' in second


def test_blank_lines_that_push_the_rest_away_are_shown_as_text(tmp_path: Path) -> None:
    lines = chr(10) * 50
    document = f'mutation {{ a: rename(id: "7", name: """x{lines}y""") b: rename(id: "8", name: "z") }}'
    with serving(tmp_path, "required") as (function, _):
        message = message_of(call(function, {"query": document}, tool="g"))

    assert r"\n" * 50 in message
    assert message.count("\n") < 15


def test_operation_that_no_question_can_show_is_a_problem_at_compile_time(tmp_path: Path) -> None:
    many = "\n".join(f'  a{number}: rename(id: $id, name: "{number:0100}")' for number in range(80))
    operation = RENAME.replace("  rename(", f"{many}\n  rename(").replace("OPTIONS", 'name: "t" confirm: required')
    files = {"index.graphql": SDL, "operations/o.graphql": operation, "config.yaml": PUBLIC}

    (problem,) = reported(tmp_path, files)

    assert problem.startswith("operations/o.graphql:2:")
    assert '"t" says confirm, and its operation has ' in problem
    assert "8,000 at most" in problem


CANNOT: Mapping[str, Mapping[str, Any]] = {
    "nothing": {},
    "other capabilities": {"sampling": {}},
    "URLs alone": {"elicitation": {"url": {}}},
    "no object": {"elicitation": True},
}


@pytest.mark.parametrize("name", CANNOT)
def test_client_that_cannot_ask_is_refused_where_that_is_required(tmp_path: Path, name: str) -> None:
    with serving(tmp_path, "required") as (function, api):
        refused = call(function, capabilities=CANNOT[name])

        assert api.requests == []
    assert (refused.status, refused.result["isError"], refused.text) == (200, True, IMPOSSIBLE)


@pytest.mark.parametrize("revision", ["2025-03-26", "2025-06-18", "2025-11-25"])
def test_clients_of_earlier_revisions_are_refused_where_asking_is_required(tmp_path: Path, revision: str) -> None:
    with serving(tmp_path, "required") as (function, api):
        headers = {**HEADERS, "mcp-protocol-version": revision}
        refused = function.call("t", ARGUMENTS, headers=headers)
        with_argument = function.call("t", {**ARGUMENTS, "confirm": True}, headers=headers)

        assert api.requests == []
    assert refused.text == IMPOSSIBLE
    assert with_argument.text.startswith("Invalid arguments for tool t: /confirm: unknown name")


@pytest.mark.parametrize("name", CANNOT)
def test_advisory_takes_the_word_of_a_model_whose_client_cannot_ask(tmp_path: Path, name: str) -> None:
    with serving(tmp_path, "advisory") as (function, api):
        told = call(function, capabilities=CANNOT[name])
        assert api.requests == []
        call(function, {**ARGUMENTS, "confirm": True}, capabilities=CANNOT[name])

        assert [request["body"]["variables"]["id"] for request in sent_to(api)] == ["7"]
    assert told.text.endswith('If they agree, repeat it with "confirm": true.')


def test_word_of_a_model_is_not_taken_where_its_user_can_be_asked(tmp_path: Path) -> None:
    with serving(tmp_path, "advisory") as (function, api):
        asked = call(function, {**ARGUMENTS, "confirm": True})
        assert '"confirm"' not in message_of(asked)
        assert api.requests == []
        answered(function, asked, arguments={**ARGUMENTS, "confirm": True})

        assert [set(request["body"]["variables"]) for request in sent_to(api)] == [{"id", "name", "by"}]


def test_without_a_key_required_refuses_and_advisory_takes_the_word_of_the_model(tmp_path: Path) -> None:
    with serving(tmp_path / "1", "required", states=RequestStates()) as (function, api):
        refused = call(function)
        assert api.requests == []
    assert refused.code == "state-unavailable"
    with serving(tmp_path / "2", "advisory", states=RequestStates()) as (function, api):
        assert call(function).text.endswith('repeat it with "confirm": true.')
        call(function, {**ARGUMENTS, "confirm": True})

        assert len(api.requests) == 1


def test_graphql_tool_asks_about_mutations_with_the_values_of_their_variables(tmp_path: Path) -> None:
    document = 'mutation M($id: ID!) { rename(id: $id, name: "x") } # for nobody'
    arguments = {"query": document, "variables": {"id": "7"}}
    with serving(tmp_path, "required") as (function, api):
        call(function, {"query": '{ thing(id: "7") }'}, tool="g")
        assert len(api.requests) == 1
        asked = call(function, arguments, tool="g")
        assert len(api.requests) == 1
        answered(function, asked, arguments=arguments, tool="g")

        assert "idempotency-key" not in sent_to(api)[0]["headers"]
        assert "idempotency-key" in sent_to(api)[1]["headers"]
    assert 'rename(id: $id, name: "x")' in message_of(asked)
    assert '"id": "7"' in message_of(asked)
    assert "for nobody" not in message_of(asked)


def test_question_shows_characters_that_would_hide_something(tmp_path: Path) -> None:
    with serving(tmp_path, "required") as (function, _):
        turned = message_of(call(function, {"id": "\u202e7", "name": "\x1b[2J"}))

    assert '"id": "\\u202e7"' in turned
    assert '"name": "\\u001b[2J"' in turned
    assert "\u202e" not in turned


@pytest.mark.parametrize(
    "letter", ["\u3164", "\u115f", "\uffa0", "\u2800", "\u00a0", "\u3000", "\u034f", "\ufe0f", "\u17b4"]
)
def test_question_shows_letters_and_marks_that_are_drawn_as_nothing(tmp_path: Path, letter: str) -> None:
    with serving(tmp_path, "required") as (function, _):
        asked = message_of(call(function, {"id": "7", "name": f"a{letter}b"}))

    assert letter not in asked
    assert f'"name": "a{ascii(letter)[1:-1]}b"' in asked


def test_arguments_are_judged_before_anybody_is_asked(tmp_path: Path) -> None:
    with serving(tmp_path, "required") as (function, _):
        assert call(function, {"id": "7"}).text.startswith("Invalid arguments for tool t: ")
        assert "x-actor" in call(function, headers={}).text


def test_graphql_routes_refuse_what_has_to_be_asked_about(tmp_path: Path) -> None:
    document = 'mutation { rename(id: "7", name: "x") }'
    agreed = {"extensions": {"confirm": True}}
    operation = RENAME.replace("OPTIONS", 'name: "t" title: "Rename a thing" confirm: required')
    persisted = {"documentId": f"sha256:{sha256(operation.encode()).hexdigest()}", "variables": ARGUMENTS}
    with serving(tmp_path, "required") as (function, api):
        of_tool = function.graphql({"query": document, **agreed}, "/tools/g/graphql")
        by_id = function.graphql({**persisted, **agreed}, headers=HEADERS)
        query = function.graphql({"query": '{ thing(id: "7") }'}, "/tools/g/graphql")

        assert len(api.requests) == 1
    assert query.status == 200
    for refused, name in ((of_tool, "g"), (by_id, "Rename")):
        assert refused.status == 403
        assert refused.json["errors"][0]["message"] == IMPOSSIBLE.replace("because t ", f"because {name} ")


def test_state_of_one_instance_is_read_by_another_with_the_same_key(tmp_path: Path) -> None:
    with serving(tmp_path / "1", "required") as (function, _):
        asked = call(function)
    with serving(tmp_path / "2", "required", states=RequestStates(["n" * 32, KEY])) as (function, api):
        assert answered(function, asked).result["resultType"] == "complete"
        assert len(api.requests) == 1
    with serving(tmp_path / "3", "required", states=RequestStates(["n" * 32])) as (function, api):
        assert answered(function, asked).json["error"]["code"] == -32602
        assert api.requests == []
