"""Metrics in the log lines of the function: what CloudWatch makes of them, and what it does not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.bundle.stored import bundle_key
from handler.commands.local.serving import settings_of
from handler.compiler.compile import Compiled
from handler.errors.infrastructure import SettingsError
from handler.server.asgi.request_log import FOR_MAINTAINERS
from handler.server.endpoints.registry import Instant
from handler.server.log import (
    DIMENSIONS,
    DRIFT,
    FAILURES,
    FAULTS,
    METRICS,
    NAMESPACE,
    OTHERS,
    dimension_value,
    make_logger,
    values_of,
)
from handler.settings import read_settings
from handler.storage.local import FolderStorage
from tests.docs.reference import codes, page, tables
from tests.support.api import Api, Asked, Reply, running_api
from tests.support.emf import metrics_in
from tests.support.endpoints import compiled
from tests.support.function import Context, Function, running_function, store
from tests.support.kits import MODULES, TOOLS, with_kit
from tests.support.secrecy import SESSION, Output
from tests.support.started import started_function

NAME = "stile-prod"
ENDPOINT = "api/things"
INDEX = """
type Query { me: String pay(year: Int): String all: [String] }
"""
OPERATIONS = {
    "operations/me.graphql": 'query Me @mcpTool(name: "me") { me }',
    "operations/pay.graphql": 'query Pay($year: Int!) @mcpTool(name: "pay") { pay(year: $year) }',
    "operations/all.graphql": 'query All @mcpTool(name: "all") { all }',
}
CONFIG = """
graphql: on
upstream: {{url: '{url}', timeout_s: 1}}
limits: {{max_result_bytes: 1000}}
access: {{policies: [{{type: Query, policyDefault: {{condition: true}}}}]}}
"""
ANSWER = {"data": {"me": "you", "pay": "paid"}}
LIST = {"data": {"all": ["word"] * 1_000}}
Found = dict[tuple[str, tuple[tuple[str, str], ...]], list[float]]


class Lines:
    """The lines that a function has printed since the last time."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def texts(self) -> list[str]:
        printed = self._capsys.readouterr().out
        SESSION.note(Output.HANDLER_LOG, printed)
        return printed.splitlines()

    def metrics(self) -> Found:
        """The metrics of the one line."""
        (text,) = self.texts()
        return metrics_in(text)

    def of_function(self) -> dict[str, list[float]]:
        """The metrics of the one line whose dimension is the function alone."""
        return {name: value for (name, pairs), value in self.metrics().items() if pairs == (("function", NAME),)}


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Lines:
    return Lines(capsys)


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with running_api(lambda _: Reply(ANSWER)) as api:
        yield api


@pytest.fixture(autouse=True)
def answering(api: Api) -> None:
    api.answer = lambda asked: Reply(LIST if b"all" in asked.body else ANSWER)


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory, api: Api) -> Compiled:
    files = {"index.graphql": INDEX, "config.yaml": CONFIG.format(url=api.url), **OPERATIONS}
    return compiled(tmp_path_factory.mktemp("endpoint"), files)


@pytest.fixture
def location(folder_storage: FolderStorage, endpoint: Compiled) -> str:
    store(folder_storage, endpoint)
    return folder_storage.location


@contextmanager
def warm(location: str, lines: Lines, **environ: str) -> Iterator[Function]:
    """The function, after a first request."""
    given = {"AWS_LAMBDA_FUNCTION_NAME": NAME, "STILE_ALLOW_LOCAL_UPSTREAMS": "true", **environ}
    with started_function(location, **given) as function:
        function.send("GET", "/health/live")
        lines.texts()
        yield function


def test_call_counts_for_the_function_and_for_its_endpoint(location: str, lines: Lines) -> None:
    with warm(location, lines, STILE_METRICS="endpoint") as function:
        function.call("me", {})

    found = lines.metrics()
    by_function, by_endpoint = (("function", NAME),), (("function", NAME), ("endpoint", ENDPOINT))
    assert {name for name, pairs in found if pairs == by_function} == {
        *("calls_run", "duration_ms", "upstream_ms", "answer_bytes", "answer_tokens", "bundle_age_s", "endpoint_down"),
    }
    assert {name for name, pairs in found if pairs == by_endpoint} == {
        *("calls_run", "duration_ms", "upstream_ms", "endpoint_down"),
    }
    assert found["calls_run", by_function] == found["calls_run", by_endpoint] == [1]


def test_sizes_are_those_of_the_answer(location: str, lines: Lines) -> None:
    with warm(location, lines) as function:
        answer = function.call("me", {})

    found = lines.of_function()
    assert found["answer_bytes"] == [len(answer.body)]
    assert found["answer_tokens"] == [len(answer.text) // 4]


def test_answer_without_a_text_counts_whole(tmp_path: Path, api: Api, lines: Lines) -> None:
    made = compiled(
        tmp_path,
        {
            "index.graphql": INDEX,
            "config.yaml": CONFIG.format(url=api.url),
            "operations/me.graphql": 'query Me @mcpTool(name: "me", output: structured) { me }',
        },
    )
    with running_function(made) as function:
        answer = function.request("tools/call", {"name": "me", "arguments": {}})

    assert function.lines[-1]["answer_tokens"] == len(answer.body) // 4


def test_members_of_metrics_are_beside_the_facts_of_the_line(location: str, lines: Lines) -> None:
    with warm(location, lines) as function:
        function.call("me", {})
    (told,) = lines.texts()
    with warm(location, lines, STILE_METRICS="off") as function:
        function.call("me", {})
    (plain,) = lines.texts()

    added = set(json.loads(told)) - set(json.loads(plain))
    assert added == {"_aws", "function", "calls_run"}
    assert set(json.loads(plain)) <= set(json.loads(told))
    assert len(told) - len(plain) < 750  # bytes of every call that the owner pays for


REFUSED: dict[str, tuple[Callable[[Function], Any], str]] = {
    "a wrong key": (lambda each: each.request("tools/list", headers={"x-api-key": "wrong"}), "refusals_credential"),
    "a tool of no one": (lambda each: each.call("no", {}), "refusals_unknown"),
    "arguments that do not fit": (lambda each: each.call("pay", {"year": "x"}), "refusals_input"),
    "a document that does not fit": (lambda each: each.graphql({"query": "{ no }"}), "refusals_input"),
    "a method of no one": (lambda each: each.request("no/such"), "refusals_protocol"),
    "broken JSON": (lambda each: each.post(b"{"), "refusals_protocol"),
    "a made-up path": (lambda each: each.send("GET", "/no/such/path"), "refusals_protocol"),
    "a made-up endpoint": (lambda each: each.post({}, path="/no/such/mcp"), "refusals_protocol"),
    "a made-up endpoint with GraphQL": (lambda each: each.post({}, path="/no/such/graphql"), "refusals_protocol"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusal_counts_once_and_by_its_kind(location: str, lines: Lines, case: str) -> None:
    ask, metric = REFUSED[case]
    with warm(location, lines) as function:
        ask(function)

    found = lines.of_function()
    assert found[metric] == [1]
    assert not {"calls_run", "duration_ms", "errors", "upstream_failures"} & set(found)
    assert sum(name.startswith("refusals_") for name in found) == 1


def test_operation_over_graphql_is_a_call(location: str, lines: Lines) -> None:
    with warm(location, lines) as function:
        assert function.graphql({"query": "{ me }"}).json["data"]["me"] == "you"

    found = lines.of_function()
    assert found["calls_run"] == [1]
    assert {"duration_ms", "upstream_ms", "answer_bytes"} <= set(found)
    assert "answer_tokens" not in found  # a program reads it


@pytest.mark.parametrize(("tool", "counted"), [("boom", 1), ("refuse", 0)])
def test_authors_code_that_fails_is_an_error_and_its_refusal_is_not(
    endpoint: Compiled, folder_storage: FolderStorage, lines: Lines, *, tool: str, counted: int
) -> None:
    store(folder_storage, with_kit(endpoint, TOOLS))
    with warm(folder_storage.location, lines, STILE_CODE_MODULES=",".join(MODULES)) as function:
        assert function.call(tool, {}).result["isError"]

    found = metrics_in(lines.texts()[-1])
    assert found["calls_run", (("function", NAME),)] == [1]
    assert found.get(("errors", (("function", NAME),)), [0]) == [counted]


def test_callers_text_is_in_no_dimension(location: str, lines: Lines) -> None:
    with warm(location, lines) as function:
        for number in range(20):
            function.send("GET", f"/made-up/path-{number}")
            function.post({}, path=f"/made-up/path-{number}/mcp")
            function.call(f"tool-{number}", {})
            function.graphql({"query": "{ me }"}, f"/tools/tool-{number}/graphql")

    found = [pairs for text in lines.texts() for _, pairs in metrics_in(text)]
    assert set(found) == {(("function", NAME),)}


@pytest.mark.parametrize("reply", [Reply({}, status=500), Reply(b"<html>"), Reply({}, status=401)])
def test_failure_of_the_api_is_told_of_the_call(location: str, lines: Lines, api: Api, reply: Reply) -> None:
    api.answer = lambda _: reply
    with warm(location, lines) as function:
        function.call("me", {})

    found = lines.of_function()
    assert (found["calls_run"], found["upstream_failures"]) == ([1], [1])
    assert "errors" not in found


def test_errors_of_the_apis_own_are_not_its_failure(location: str, lines: Lines, api: Api) -> None:
    api.answer = lambda _: Reply({"errors": [{"message": "no", "extensions": {"code": "NOT_FOUND"}}], "data": None})
    with warm(location, lines) as function:
        function.call("me", {})

    assert "upstream_failures" not in lines.of_function()


@pytest.mark.parametrize(("version", "counted"), [("7", True), ("$LATEST", False), ("", False)])
def test_errors_of_a_release_count_for_its_version_too(
    location: str, lines: Lines, version: str, *, counted: bool
) -> None:
    (Path(location) / bundle_key("api/broken")).parent.mkdir(parents=True, exist_ok=True)
    (Path(location) / bundle_key("api/broken")).write_bytes(b"{}")
    with warm(location, lines, AWS_LAMBDA_FUNCTION_VERSION=version) as function:
        function.call("me", {})
        told = lines.texts()[-1]
        function.post({}, path="/api/broken/mcp")

    whole, of_version = (("function", NAME),), (("function", NAME), ("version", version))
    assert ("version" in json.loads(told)) is counted
    assert ("errors", of_version) not in metrics_in(told)
    found = metrics_in(lines.texts()[-1])
    assert found.pop(("errors", of_version), [0]) == [int(counted)]
    unserved = {("requests_unserved", pairs): [0] for pairs in (whole, of_version)} if counted else {}
    assert found == {("errors", whole): [1], **unserved}


def test_endpoint_that_cannot_be_loaded_is_an_error(location: str, lines: Lines) -> None:
    (Path(location) / bundle_key("api/broken")).parent.mkdir(parents=True, exist_ok=True)
    (Path(location) / bundle_key("api/broken")).write_bytes(b"{}")
    with warm(location, lines) as function:
        function.post({}, path="/api/broken/mcp")

    assert metrics_in(lines.texts()[-1]) == {("errors", (("function", NAME),)): [1]}


def test_answer_that_was_cut_is_told(location: str, lines: Lines) -> None:
    with warm(location, lines) as function:
        function.call("all", {})

    assert lines.of_function()["answers_cut"] == [1]


def batch(*asked: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    params = [{"name": name, "arguments": arguments} for name, arguments in asked]
    return [{"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": each} for n, each in enumerate(params)]


def test_requests_of_a_batch_count_one_by_one(location: str, lines: Lines) -> None:
    messages = batch(("me", {}), ("me", {}), ("no", {}), ("pay", {"year": "x"}), ("all", {}))
    with warm(location, lines) as function:
        function.post(messages, headers={"mcp-protocol-version": "2025-03-26"})

    found = lines.of_function()
    assert {name: value for name, value in found.items() if name.startswith(("calls", "refusals", "answers"))} == {
        "calls_run": [3],
        "refusals_unknown": [1],
        "refusals_input": [1],
        "answers_cut": [1],
    }
    assert len(found["upstream_ms"]) == 3
    assert len(found["answer_tokens"]) == 4
    assert len(found["duration_ms"]) == 1


def test_values_of_a_large_batch_are_as_many_as_cloudwatch_takes() -> None:
    item = {"method": "tools/call", "decision": "allowed", "upstream_ms": 1.5, "answer_tokens": 3}
    values = values_of({"method": "batch", "status": 200, "calls": [item] * 150})

    assert values["calls_run"] == 150
    assert values["upstream_ms"] == [1.5] * 100


def test_first_request_of_an_instance_is_a_cold_start(location: str, lines: Lines) -> None:
    environ = {"AWS_LAMBDA_FUNCTION_NAME": NAME, "STILE_ALLOW_LOCAL_UPSTREAMS": "true"}
    with started_function(location, **environ) as function:
        lines.texts()
        function.request("tools/list")
        function.request("tools/list")

    first, second = lines.texts()
    assert metrics_in(first)["cold_starts", (("function", NAME),)] == [1]
    assert "cold_starts" not in json.loads(second)


@pytest.mark.parametrize("begins", ["warm", "provisioned"])
def test_start_that_no_caller_waits_for_is_not_a_cold_start(location: str, lines: Lines, begins: str) -> None:
    environ = {"AWS_LAMBDA_INITIALIZATION_TYPE": "provisioned-concurrency"} if begins == "provisioned" else {}
    with started_function(location, AWS_LAMBDA_FUNCTION_NAME=NAME, **environ) as function:
        if begins == "warm":
            function.handler({"stile": "warm"}, Context())
        function.request("tools/list")

    assert not any("cold_starts" in text for text in lines.texts())


def test_other_events_and_health_have_no_metrics(location: str, lines: Lines) -> None:
    with warm(location, lines) as function:
        function.handler({"stile": "warm"}, Context())
        function.handler({"Records": []}, Context())
        function.send("GET", "/health")

    assert len(texts := lines.texts()) == 3
    assert not any(map(metrics_in, texts))


@pytest.mark.parametrize("environ", [{"STILE_METRICS": "off"}, {"POWERTOOLS_LOG_LEVEL": "WARNING"}])
def test_metrics_can_be_off(
    location: str, lines: Lines, api: Api, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    api.answer = lambda _: Reply({}, status=500)  # a line of the level WARNING
    with warm(location, lines, **environ) as function:
        function.call("me", {})

    (text,) = lines.texts()
    assert metrics_in(text) == {}
    assert "function" not in json.loads(text)


@pytest.mark.parametrize(
    ("named", "read"), [("", "off"), ("off", "off"), ("on", "on"), ("endpoint", "endpoint"), ("function", "function")]
)
def test_server_outside_of_lambda_has_metrics_if_its_owner_asks(
    monkeypatch: pytest.MonkeyPatch, named: str, read: str
) -> None:
    monkeypatch.setenv("STILE_METRICS", named)

    assert settings_of("folder").metrics == read


def test_setting_of_metrics_is_one_of_four_words() -> None:
    with pytest.raises(SettingsError, match="expected function or endpoint or off or on"):
        read_settings({"STILE_BUNDLES": "folder", "STILE_METRICS": "yes"})


@pytest.mark.parametrize(
    ("metrics", "by_endpoint"), [("", False), ("function", False), ("endpoint", True), ("on", True)]
)
def test_metrics_are_of_the_function_alone_unless_the_owner_wants_those_of_endpoints(
    location: str, lines: Lines, metrics: str, *, by_endpoint: bool
) -> None:
    with warm(location, lines, STILE_METRICS=metrics) as function:
        function.call("me", {})

    of_endpoint = {(("function", NAME), ("endpoint", ENDPOINT))} if by_endpoint else set()
    assert {pairs for _, pairs in lines.metrics()} == {(("function", NAME),), *of_endpoint}


def _given(reply: Reply, _: Asked) -> Reply:
    return reply


def test_endpoint_is_down_from_the_third_failure_in_a_row_until_a_call_is_well(
    location: str, lines: Lines, api: Api
) -> None:
    found = []
    with warm(location, lines, STILE_METRICS="endpoint") as function:
        for status in (503, 503, 200, 503, 503, 503, 503, 200):
            api.answer = partial(_given, Reply(ANSWER if status == 200 else b"", status=status))
            function.request("tools/list")  # is not a call, and ends no row
            lines.texts()
            function.call("me", {})
            found += lines.metrics()["endpoint_down", (("function", NAME), ("endpoint", ENDPOINT))]

    assert found == [0, 0, 0, 0, 0, 1, 1, 0]


def test_age_of_a_bundle_is_that_of_its_last_confirmation(endpoint: Compiled, folder_storage: FolderStorage) -> None:
    moment = 0.0
    with running_function(endpoint, storage=folder_storage, instants=lambda: Instant(moment, moment)) as function:
        function.request("tools/list")
        moment = 40.0
        function.request("tools/list")
        (Path(folder_storage.location) / bundle_key(ENDPOINT)).write_bytes(b"{}")  # the last good one serves on
        moment = 4_000.0
        function.request("tools/list")

    assert [line["bundle_age_s"] for line in function.lines if "method" in line] == [0.0, 40.0, 4_000.0]


def test_every_reason_about_the_api_counts_as_it_should() -> None:
    (rows,) = (rows for rows in tables(page("reference/log").text) if rows[0][-1] == "the API")
    words = {word for row in rows[1:] for word in codes(row[0])}

    assert words >= FAILURES
    assert FAILURES | FAULTS | OTHERS >= FOR_MAINTAINERS
    neither = words - FAILURES - FAULTS - DRIFT
    assert neither == {
        *("NotReady", "no_verifier"),  # an error by its status
        *("ResultTooLarge", "UpstreamLimit", "CallerTokenRefused", "GraphQLErrors"),  # the API works
    }


def test_line_of_somebody_else_keeps_its_own_member(capsys: pytest.CaptureFixture[str]) -> None:
    logger = make_logger({"POWERTOOLS_SERVICE_NAME": "another-line"})
    logger.info("of an author", _aws={"Timestamp": 1})
    logger.info("of an author", _aws='1},"level":"ERROR"')

    told = [json.loads(text)["_aws"] for text in capsys.readouterr().out.splitlines()]
    assert told == [{"Timestamp": 1}, '1},"level":"ERROR"']


def test_server_outside_of_lambda_has_no_cold_start(location: str, lines: Lines) -> None:
    with started_function(location, STILE_ALLOW_LOCAL_UPSTREAMS="true") as function:
        lines.texts()
        function.request("tools/list")

    (text,) = lines.texts()
    assert "cold_starts" not in json.loads(text)
    assert json.loads(text)["function"].startswith("stile-")  # the service


def test_names_are_few_and_single() -> None:
    names = [each.name for each in METRICS]

    assert len(set(names)) == len(names) <= 100
    assert len(DIMENSIONS) <= 6
    assert NAMESPACE
    assert not NAMESPACE.startswith("AWS/")


@given(st.text() | st.text(" :a"))
def test_any_name_of_a_service_makes_a_dimension(text: str) -> None:
    value = dimension_value(text)

    assert 0 < len(value) <= 255
    assert value.isascii()
    assert value.isprintable()
    assert value.strip() == value
    assert not value.startswith(":")
