"""What the items of a batch may take together: bytes, time and work."""

from __future__ import annotations

import gc
import json
import time
from pathlib import Path
from typing import Any

import pytest

from handler.server.asgi.response_size import MAX_PAYLOAD_BYTES
from handler.server.mcp.route import (
    FULL,
    LEFT_OUT,
    MAX_WORK_S,
    TOO_LATE,
    TOO_MUCH_WORK,
    BatchBudget,
)
from tests.support.endpoints import PUBLIC, READABLE, compiled
from tests.support.function import Answer, Context, Function, running_function
from tests.support.raw_http import Peer, answer, answering, running_server

SDL = "type Query { rows: [Row!]! } type Row { n: [Int], text: String }"
UNLIMITED = "limits: {max_result_bytes: 0}\n"
OPERATION = "query Rows @mcpTool { rows { n text } }"


class Clock:
    """Seconds that a test counts."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def files(url: str) -> dict[str, str]:
    return {
        "index.graphql": SDL,
        "operations/rows.graphql": OPERATION,
        "config.yaml": f"upstream: {{url: '{url}'}}\n{UNLIMITED}{READABLE}",
    }


def row(*, chars: int) -> bytes:
    """An answer with one long text: large, and little work."""
    rows = [{"n": [1], "text": "x" * chars}]
    return answer(json.dumps({"data": {"rows": rows}}).encode(), content_type="application/json")


def call(number: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "Rows", "arguments": {}}}


def outcomes(answered: Answer) -> list[str]:
    """The sentence of each item, or ``ok``."""
    return [item["error"]["message"] if "error" in item else "ok" for item in answered.json]


def batch(function: Function, items: list[Any]) -> Answer:
    return function.post(items, headers={"mcp-protocol-version": "2025-03-26"})


def test_items_are_answered_until_the_deadline() -> None:
    clock = Clock()
    budget = BatchBudget(5.0, monotonic=clock, work_s=Clock())

    assert budget.refusal() == ""
    clock.now = 5.0
    assert budget.refusal() == TOO_LATE


def test_items_are_answered_until_the_work_is_done() -> None:
    clock = Clock()
    clock.now = 100.0
    budget = BatchBudget(5.0, monotonic=Clock(), work_s=clock)

    clock.now += MAX_WORK_S * 0.9
    assert budget.refusal() == ""
    clock.now += MAX_WORK_S * 0.2
    assert budget.refusal() == TOO_MUCH_WORK


def test_answers_are_taken_until_one_does_not_fit_and_none_after_it() -> None:
    budget = BatchBudget(5.0, monotonic=Clock(), work_s=Clock())

    assert budget.takes(b'"' + b"x" * (MAX_PAYLOAD_BYTES // 2) + b'"')
    assert budget.refusal() == ""
    assert not budget.takes(b'"' + b"x" * (MAX_PAYLOAD_BYTES // 2) + b'"')
    assert budget.refusal() == FULL
    assert not budget.takes(b'""')


def test_answers_that_do_not_fit_together_are_errors_and_the_api_is_not_asked_for_them(tmp_path: Path) -> None:
    asked = 0

    def script(peer: Peer) -> None:
        nonlocal asked
        while peer.read_request():
            asked += 1
            peer.send(row(chars=1_200_000))

    with running_server(script) as api, running_function(compiled(tmp_path, files(api.url))) as function:
        answered = batch(function, [call(number) for number in range(20)])

    said = outcomes(answered)
    fitting = said.index(LEFT_OUT)
    assert answered.status == 200
    assert 1 <= fitting < 10
    assert said == ["ok"] * fitting + [LEFT_OUT] + [FULL] * (19 - fitting)
    assert [item["id"] for item in answered.json] == list(range(20))
    assert asked == fitting + 1
    (line,) = function.lines
    assert [each["outcome"] for each in line["calls"]] == ["ok"] * fitting + ["rejected"] * (20 - fitting)
    assert {each["reason"] for each in line["calls"][fitting:]} == {"BatchExceeded"}


def test_mutation_whose_answer_does_not_fit_is_not_to_be_sent_once_more(tmp_path: Path) -> None:
    made = {
        "index.graphql": "type Query { rows: Int } type Mutation { pay: String }",
        "operations/pay.graphql": "mutation Pay @mcpTool(output: text) { pay }",
    }
    paid = answer(json.dumps({"data": {"pay": "x" * 3_200_000}}).encode(), content_type="application/json")
    items = [{**call(number), "params": {"name": "Pay", "arguments": {}}} for number in range(3)]
    with running_server(answering(paid)) as api:
        config = f"upstream: {{url: '{api.url}'}}\n{UNLIMITED}{PUBLIC}"
        with running_function(compiled(tmp_path, {**made, "config.yaml": config})) as function:
            _, second, third = outcomes(batch(function, items))

        assert len(api.requests) == 2
    assert second.startswith("This request was carried out")
    assert third.startswith("Not answered")


def test_answers_of_a_batch_are_kept_as_bytes(tmp_path: Path) -> None:
    kept: list[int] = []
    lists = answer(
        json.dumps({"data": {"rows": [{"n": [1], "text": None}] * 2_000}}).encode(), content_type="application/json"
    )

    def counting(peer: Peer) -> None:
        while peer.read_request():
            gc.collect()
            kept.append(len(gc.get_objects()))
            peer.send(lists)

    with running_server(counting) as api, running_function(compiled(tmp_path, files(api.url))) as function:
        answered = batch(function, [call(number) for number in range(8)])

    assert outcomes(answered) == ["ok"] * 8
    assert max(kept[2:]) < kept[1] + 4_000  # one answer has 4,000 objects


@pytest.mark.lambda_alone
def test_no_item_is_started_after_the_deadline(tmp_path: Path) -> None:
    asked: list[float] = []

    def slow(peer: Peer) -> None:
        while peer.read_request():
            asked.append(time.monotonic())
            time.sleep(0.6)
            peer.send(row(chars=1))

    with running_server(slow) as api, running_function(compiled(tmp_path, files(api.url))) as function:
        hurried = Function(function.handler, path=function.path, context=Context(remaining_ms=2_000))
        answered = batch(hurried, [call(number) for number in range(6)])

    assert outcomes(answered)[:2] == ["ok", "ok"]
    assert outcomes(answered)[3:] == [TOO_LATE] * 3
    assert len(asked) <= 3


WIDE = "type Query { " + " ".join(f"f{n}(a: String, b: Int): String" for n in range(200)) + " }"


def test_documents_that_take_long_to_judge_end_with_the_work_of_a_batch(tmp_path: Path) -> None:
    fields = " ".join(f'f{n}(a: "{n}", b: {n})' for n in range(190))
    made = {
        "index.graphql": 'extend schema @tool(name: "all", graphql: {expose: true, types: "Query", fields: ".*"})\n'
        + WIDE,
        "config.yaml": f"upstream: {{url: 'http://127.0.0.1:1'}}\nlimits: {{max_fields: 10000}}\n{READABLE}",
    }
    items = [
        {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": "all", "arguments": {"query": f"query Q{number} {{ {fields} wrong{number} }}"}},
        }
        for number in range(20)
    ]
    with running_function(compiled(tmp_path, made)) as function:
        batch(function, items[:1])
        started = time.process_time()
        answered = batch(function, items)
        took_s = time.process_time() - started

    said = outcomes(answered)
    assert took_s < 3 * MAX_WORK_S
    assert said == ["ok"] * said.count("ok") + [TOO_MUCH_WORK] * said.count(TOO_MUCH_WORK)


@pytest.mark.parametrize("items", [[1, []], [{"jsonrpc": "2.0", "method": "notifications/initialized"}]])
def test_what_asks_for_nothing_takes_no_budget(tmp_path: Path, items: list[Any]) -> None:
    with running_function(compiled(tmp_path, files("http://127.0.0.1:1"))) as function:
        assert batch(function, items).status in (200, 202)
