"""Settings of the function, from its environment to its answers and its log."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

import pytest

from handler.bundle.stored import bundle_key, index_key, write_bundle
from handler.storage.local import FolderStorage
from tests.support.endpoints import READABLE, compiled
from tests.support.function import Answer, Context, answer_of, closing, event_for, store
from tests.support.identities import HOLDER, identified
from tests.support.objects import running_objects
from tests.support.raw_http import RawServer, answer, answering, running_server
from tests.support.secrecy import SESSION, Output

LOG_KEY = "dYz1x0kU3mQ8s5vB7nR2tL6wJ4hF9gCe"
CLAIMS = {"iss": "https://idp.example", "sub": "4711"}


class Send(Protocol):
    """Sends a request to the function."""

    def __call__(self, headers: Mapping[str, str], *, call: bool = False) -> Answer: ...


@pytest.fixture
def location(tmp_path: Path, folder_storage: FolderStorage) -> str:
    """A folder with an endpoint that takes tokens, and has a key with claims."""
    endpoint = compiled(tmp_path, {"index.graphql": "type Query { a: Int }", "config.yaml": READABLE})
    store(folder_storage, identified(endpoint, CLAIMS, issuers=["https://idp.example"]))
    return folder_storage.location


@contextmanager
def started(monkeypatch: pytest.MonkeyPatch, **environ: str) -> Iterator[Send]:
    """The function with this environment: lists tools, with the headers given, or calls ``a``."""

    def send(headers: Mapping[str, str], *, call: bool = False) -> Answer:
        asked = {"method": "tools/call", "params": {"name": "a", "arguments": {}}} if call else {"method": "tools/list"}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, **asked})
        sent = {"content-type": "application/json", **headers}
        return answer_of(handler(event_for("POST", "/api/things/mcp", body=body, headers=sent), Context()))

    with imported(monkeypatch, **environ) as handler:
        yield send


@contextmanager
def imported(monkeypatch: pytest.MonkeyPatch, **environ: str) -> Iterator[Callable[[Any, Any], Any]]:
    """The handler as Lambda imports it with this environment."""
    SESSION.keep_environ(environ)
    # A logger keeps the stream that it began with: each test has one of its own.
    for name, value in {"POWERTOOLS_SERVICE_NAME": f"stile-{uuid4()}", **environ}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delitem(sys.modules, "handler.lambda_function", raising=False)
    module = importlib.import_module("handler.lambda_function")  # makes a loop of its own
    with closing(asyncio.get_event_loop()):
        yield module.handler


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    printed = capsys.readouterr().out
    SESSION.note(Output.HANDLER_LOG, printed)
    return [json.loads(line) for line in printed.splitlines()]


def test_public_url_is_what_the_owner_says(monkeypatch: pytest.MonkeyPatch, location: str) -> None:
    with started(monkeypatch, STILE_BUNDLES=location, STILE_PUBLIC_URL="https://mcp.example.com/") as send:
        refused = send({"authorization": "Bearer stile_wrong"})

    url = "https://mcp.example.com/.well-known/oauth-protected-resource/api/things/mcp"
    assert f'resource_metadata="{url}"' in refused.headers["www-authenticate"]


@pytest.mark.parametrize(
    ("environ", "prefix"),
    [
        ({}, "local-hmac:"),
        ({"STILE_LOG_KEY": LOG_KEY}, "hmac:"),
        ({"STILE_LOG_KEY": LOG_KEY, "STILE_LOG_SUBJECT": "hashed"}, "hmac:"),
        ({"STILE_LOG_SUBJECT": "plain"}, "https://idp.example 4711"),
    ],
)
def test_log_names_callers_as_the_owner_says(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    location: str,
    environ: Mapping[str, str],
    prefix: str,
) -> None:
    with started(monkeypatch, STILE_BUNDLES=location, **environ) as send:
        assert send(HOLDER).status == 200

    (line,) = lines(capsys)
    assert line["who"].startswith(prefix)
    assert ("4711" in str(line)) is (prefix.endswith("4711"))


def test_origins_that_the_owner_names_may_call(monkeypatch: pytest.MonkeyPatch, location: str) -> None:
    with started(monkeypatch, STILE_BUNDLES=location, STILE_ALLOWED_ORIGINS="https://app.example") as send:
        allowed, foreign = send({"origin": "https://app.example"}), send({"origin": "https://evil.example"})

    assert (allowed.status, foreign.status) == (200, 403)


@pytest.fixture
def api() -> Iterator[RawServer]:
    """An API on loopback, which keeps no connection: nobody closes those of a function."""
    with running_server(answering(answer(b'{"data": {"a": 1}}', connection="close"))) as running:
        yield running


@pytest.fixture
def asking(tmp_path: Path, folder_storage: FolderStorage, api: RawServer) -> str:
    """A folder with an endpoint that asks it."""
    return publish_asking(tmp_path, folder_storage, api)


def publish_asking(tmp_path: Path, folder_storage: FolderStorage, api: RawServer) -> str:
    files = {
        "index.graphql": "type Query { a: Int }",
        "operations/a.graphql": 'query A @mcpTool(name: "a") { a }',
        "config.yaml": f"upstream: {{url: '{api.url}'}}\n{READABLE}",
    }
    store(folder_storage, compiled(tmp_path, files))
    return folder_storage.location


def test_api_of_the_functions_own_machine_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], asking: str, api: RawServer
) -> None:
    with started(monkeypatch, STILE_BUNDLES=asking) as send:
        answered = send({}, call=True)

    assert (answered.status, answered.json["code"]) == (503, "endpoint-not-ready")
    trouble, _ = lines(capsys)
    assert trouble["reason"].startswith("upstream.url http://127.0.0.1: https is required: `stile serve` allows http")
    assert api.accepted == 0


@pytest.mark.parametrize(
    ("answered", "level", "facts"),
    [
        (b'{"data": {"a": 1}}', "INFO", {"outcome": "ok"}),
        (
            b'{"data": {"a": "secret"}}',
            "WARNING",
            {"outcome": "tool_error", "reason": "answer_schema", "coordinate": "data.a"},
        ),
    ],
)
def test_answer_against_the_schema_of_its_api_is_a_warning(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    folder_storage: FolderStorage,
    answered: bytes,
    level: str,
    facts: dict[str, str],
) -> None:
    with running_server(answering(answer(answered, connection="close"))) as api:
        location = publish_asking(tmp_path, folder_storage, api)
        with started(monkeypatch, STILE_BUNDLES=location, STILE_ALLOW_LOCAL_UPSTREAMS="true") as send:
            send({}, call=True)

    line = lines(capsys)[-1]
    assert line["level"] == level
    assert {name: line[name] for name in facts} == facts
    assert "secret" not in str(line)


def test_api_of_ones_own_machine_is_asked_where_its_owner_says_so_and_is_warned(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], asking: str
) -> None:
    with started(monkeypatch, STILE_BUNDLES=asking, STILE_ALLOW_LOCAL_UPSTREAMS="true") as send:
        answered = send({}, call=True)

    assert json.loads(answered.text) == {"data": {"a": 1}}
    warning, line = lines(capsys)
    assert warning["level"] == "WARNING"
    assert warning["message"].startswith("STILE_ALLOW_LOCAL_UPSTREAMS is set")
    assert line["outcome"] == "ok"


def test_runtime_api_is_asked_for_nobody(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], asking: str, api: RawServer
) -> None:
    environ = {"STILE_ALLOW_LOCAL_UPSTREAMS": "true", "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{api.port}"}
    with started(monkeypatch, STILE_BUNDLES=asking, **environ) as send:
        assert send({"mcp-protocol-version": "2025-11-25"}, call=True).result["isError"] is True

    assert lines(capsys)[-1]["reason"] == "UpstreamForbidden: the Lambda Runtime API"
    assert api.accepted == 0


def test_credentials_of_storage_and_of_secrets_are_found_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given = {"AccessKeyId": "id", "SecretAccessKey": "of the test", "Token": "t", "Expiration": "2999-01-01T00:00:00Z"}
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with (
        running_objects() as objects,
        running_server(answering(answer(json.dumps(given).encode()))) as container,
        running_server(answering(answer(b'{"SecretString": "a"}')), takes_secrets=True) as aws,
        running_server(answering(answer(b'{"data": {"a": 1}}', content_type="application/json"))) as api,
    ):
        upstream = f"upstream: {{url: '{api.url}', auth: {{header: x-key, value: 'secret:KEY'}}}}"
        files = {
            "index.graphql": "type Query { a: Int }",
            "operations/a.graphql": 'query A @mcpTool(name: "a") { a }',
            "config.yaml": f"{upstream}\n{READABLE}",
        }
        made = compiled(tmp_path, files)
        objects.write(index_key(made.bundle.endpoint, made.bundle.index), made.index)
        objects.write(bundle_key("api/things"), write_bundle(made.bundle))
        environ = {
            "AWS_REGION": "eu-central-1",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": container.url,
            "AWS_ENDPOINT_URL": aws.url.rstrip("/"),
            "AWS_ENDPOINT_URL_S3": objects.environ()["AWS_ENDPOINT_URL"],
            "STILE_BUNDLES": objects.location,
            "STILE_SECRETS": "stile",
            "STILE_ALLOW_LOCAL_UPSTREAMS": "true",
        }
        with started(monkeypatch, **environ) as send:
            assert send({"mcp-protocol-version": "2025-11-25"}, call=True).result["structuredContent"] == {
                "data": {"a": 1}
            }

        assert (len(container.requests), len(aws.requests)) == (1, 1)


def test_line_that_a_maintainer_has_to_act_on_is_a_warning_of_the_real_logger(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    folder_storage: FolderStorage,
) -> None:
    drifted = {"errors": [{"message": 'Cannot query field "a" on type "Query".', "locations": [{"line": 1}]}]}
    content = answer(json.dumps(drifted).encode(), content_type="application/json", connection="close")
    with running_server(answering(content)) as server:
        files = {
            "index.graphql": "type Query { a: Int }",
            "operations/a.graphql": 'query A @mcpTool(name: "a") { a }',
            "config.yaml": f"upstream: {{url: '{server.url}'}}\n{READABLE}",
        }
        store(folder_storage, compiled(tmp_path, files))
        environ = {"STILE_BUNDLES": folder_storage.location, "STILE_ALLOW_LOCAL_UPSTREAMS": "true"}
        with started(monkeypatch, **environ) as send:
            send({}, call=True)
            send({})

    drift, listed = [line for line in lines(capsys) if line["message"] == "request"]
    assert (drift["level"], drift["reason"]) == ("WARNING", "Drift: Query.a")
    assert listed["level"] == "INFO"
