"""Random requests and attacks: every line is read whole by CloudWatch, and no caller's text becomes a metric."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from handler.server.log import FUNCTION, METADATA, METRICS
from handler.storage.local import FolderStorage
from tests.server.test_metrics import CONFIG, ENDPOINT, INDEX, NAME, OPERATIONS, batch
from tests.support.api import Api, Reply, running_api
from tests.support.emf import metrics_in
from tests.support.endpoints import compiled
from tests.support.examples import Seeded, examples, seeded
from tests.support.function import Context, Function, store
from tests.support.secrecy import SESSION, Output
from tests.support.started import started_function

DIMENSIONS = {((FUNCTION, NAME),), ((FUNCTION, NAME), ("endpoint", ENDPOINT))}
OWN = {FUNCTION, METADATA, *(each.name for each in METRICS)} - {
    *("duration_ms", "upstream_ms", "answer_bytes", "answer_tokens", "bundle_age_s"),
}
"""Members that a line has for its metrics alone."""

CHANGING = {"timestamp", "location", "request_id", "duration_ms", "upstream_ms", "bundle_age_s", "service", "memory_mb"}

EXAMPLES = 400 if "STILE_OPERATE_CALLS" in os.environ else examples(400, share=40)
"""All of them in `make operate`, which sets the variable."""

Ask = Callable[[Function], Any]


class Both:
    """The function with metrics and without, and the lines of both since the last time."""

    def __init__(self, functions: Mapping[str, Function], logs: Mapping[str, io.StringIO]) -> None:
        self.functions = functions
        self._logs = logs

    def lines(self, name: str) -> list[str]:
        log = self._logs[name]
        text = log.getvalue()
        SESSION.note(Output.HANDLER_LOG, text)
        log.seek(0)
        log.truncate()
        return text.splitlines()


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with running_api() as api:
        yield api


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, api: Api) -> Iterator[Both]:
    folder = tmp_path_factory.mktemp("both")
    storage = FolderStorage(folder / "bundles")
    files = {"index.graphql": INDEX, "config.yaml": CONFIG.format(url=api.url), **OPERATIONS}
    store(storage, compiled(folder / "endpoint", files))
    logs = {name: io.StringIO() for name in ("on", "off")}
    with contextlib.ExitStack() as stack:
        functions = {}
        for name, log in logs.items():
            with contextlib.redirect_stdout(log):
                environ = {
                    "AWS_LAMBDA_FUNCTION_NAME": NAME,
                    "STILE_ALLOW_LOCAL_UPSTREAMS": "true",
                    "STILE_METRICS": name,
                }
                functions[name] = stack.enter_context(started_function(storage.location, **environ))
        both = Both(functions, logs)
        for name in logs:
            both.lines(name)
        yield both


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(random=seeded())
def test_metrics_of_any_requests_are_read_whole_and_change_nothing_else(both: Both, api: Api, random: Random) -> None:
    asked = [requests(random) for _ in range(4)]
    seed = random.getrandbits(32)
    api.asked.clear()
    api.answer = lambda _: reply(Seeded(seed))
    for function in both.functions.values():
        for ask in asked:
            ask(function)

    told, plain = both.lines("on"), both.lines("off")
    assert len(told) == len(plain) == len(asked)
    for text, without in zip(told, plain, strict=True):
        found = metrics_in(text)
        assert {pairs for _, pairs in found} <= DIMENSIONS
        assert {name for name, _ in found} <= {each.name for each in METRICS}
        assert metrics_in(without) == {}
        assert facts(text) == facts(without)
        judge(json.loads(text), {name: values for (name, pairs), values in found.items() if len(pairs) == 1})


def facts(text: str) -> dict[str, Any]:
    """The facts of a line that two requests have alike."""
    line = {name: fact for name, fact in json.loads(text).items() if name not in OWN | CHANGING}
    if "calls" in line:
        line.pop("answer_tokens", None)  # a list of the batch's
    if line.get("route") == "health":
        line.pop("answer_bytes", None)  # the answer counts seconds, which may get one more digit in between
    calls = [{name: fact for name, fact in each.items() if name not in CHANGING} for each in line.get("calls", [])]
    return {**line, "calls": calls}


def judge(line: Mapping[str, Any], found: Mapping[str, list[float]]) -> None:
    """Hold the counts of a line against its facts, by rules that are written anew here."""
    items = line.get("calls") or [line]
    refused = sum(values[0] for name, values in found.items() if name.startswith("refusals_"))
    errors = found.get("errors", [0])[0]
    run = found.get("calls_run", [0])[0]
    assert run <= sum(each.get("decision") == "allowed" for each in items)
    assert refused + errors + run >= sum("decision" in each for each in items if each.get("method") == "tools/call")
    assert refused + errors <= len(items)
    assert ("duration_ms" in found) == (run > 0)
    of_api = ("upstream_failures", "api_errors", "schema_drift", "upstream_limits")
    assert sum(found.get(name, [0])[0] for name in of_api) <= run  # each call for one of them
    assert found.get("callers_refused", [0])[0] <= found.get("refusals_credential", [0])[0]


CODES = ("UNAUTHENTICATED", "FORBIDDEN", "THROTTLED", "INTERNAL_SERVER_ERROR")


def reply(random: Random) -> Reply:
    return random.choice(
        [
            Reply(),
            Reply({"data": {"me": "é" * 40}}),
            Reply({"data": {"all": ["word"] * 500}}),
            Reply({"errors": [{"message": "no"}], "data": None}),
            Reply({"errors": [{"message": "no", "extensions": {"code": random.choice(CODES)}}], "data": None}),
            Reply({}, status=random.choice([401, 404, 429, 500, 503])),
            Reply(b"<html>"),
            Reply({"data": {"me": 5}}),
        ]
    )


def requests(random: Random) -> Ask:
    """A request of a caller who wishes well, or ill."""
    word = "".join(random.choice('abcé\u202e\x00\n":{},/%é💥') for _ in range(random.randrange(1, 40)))
    name = random.choice(["me", "pay", "all", word, "_aws", "function", "calls_run"])
    arguments: dict[str, Any] = random.choice([{}, {"year": 5}, {"year": word}, {word: word}])
    path = "/" + "/".join(
        random.choice(["api", "things", "mcp", "graphql", "x" * 300, "a1", "%2e%2e"]) for _ in range(3)
    )
    made: list[Ask] = [
        lambda each: each.call(name, arguments),
        lambda each: each.request("tools/list", headers={"x-api-key": word.encode().hex()}),
        lambda each: each.request(word, {}),
        lambda each: each.post(word.encode()),
        lambda each: each.post({}, path=path),
        lambda each: each.send(random_method, path),
        lambda each: each.graphql({"query": document}),
        lambda each: each.graphql({"query": document}, f"/tools/{'a' * len(word)}/graphql"),
        lambda each: each.post(batch(*calls), headers={"mcp-protocol-version": "2025-03-26"}),
        lambda each: each.send("GET", "/health"),
        lambda each: each.request("tools/call", {"name": name, "arguments": arguments}, modern=name.isascii()),
        lambda each: each.request("resources/read", {"uri": word}),
    ]
    random_method = random.choice(["GET", "PUT", "OPTIONS", "DELETE"])
    document = random.choice(["{ me }", "{ no }", word, "{ all }", 'mutation { a(b: "' + word + '") }'])
    calls: list[tuple[str, dict[str, Any]]] = [
        (random.choice(["me", "pay", "no"]), {}) for _ in range(random.randrange(1, 20))
    ]
    return random.choice(made)


def test_attack_with_made_up_names_makes_no_metric_of_its_own(both: Both) -> None:
    function = both.functions["on"]
    for number in range(50):
        name = f"made-up-{number}"
        function.post({}, path=f"/api/{name}/mcp")
        function.send("GET", f"/{name}/{name}")
        function.call(name, {})
        function.graphql({"query": "{ me }"}, f"/tools/{name}/graphql", headers={"x-api-key": name})
        function.handler({"stile": name, "detail-type": name}, Context())

    found = {key for text in both.lines("on") for key in metrics_in(text)}
    assert {pairs for _, pairs in found} == {((FUNCTION, NAME),)}
    assert len(found) <= len(METRICS)


def test_size_of_a_line_is_bounded(both: Both) -> None:
    """The longest line, of a batch, is far below what CloudWatch takes."""
    calls: list[tuple[str, dict[str, Any]]] = [("me", {})] * 20
    both.functions["on"].post(batch(*calls), headers={"mcp-protocol-version": "2025-03-26"})

    (text,) = both.lines("on")
    assert len(metrics_in(text)["upstream_ms", ((FUNCTION, NAME),)]) == 20
    assert len(text.encode()) < 16_000
