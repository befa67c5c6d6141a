"""Settings of the function, from its environment to its answers and its log."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from handler.storage import FolderStorage
from tests.support.endpoints import READABLE, compiled
from tests.support.function import Answer, Context, answer_of, closing, event_for, store
from tests.support.identities import HOLDER, identified

CLAIMS = {"iss": "https://idp.example", "sub": "4711"}

Send = Callable[[Mapping[str, str]], Answer]


@pytest.fixture
def location(tmp_path: Path, folder_storage: FolderStorage) -> str:
    """A folder with an endpoint that takes tokens, and has a key with claims."""
    endpoint = compiled(tmp_path, {"index.graphql": "type Query { a: Int }", "config.yaml": READABLE})
    store(folder_storage, identified(endpoint, CLAIMS, issuers=["https://idp.example"]))
    return folder_storage.location


@contextmanager
def started(monkeypatch: pytest.MonkeyPatch, **environ: str) -> Iterator[Send]:
    """The function as Lambda imports it with this environment: lists tools, with the headers given."""
    # A logger keeps the stream that it began with: each test has one of its own.
    for name, value in {"POWERTOOLS_SERVICE_NAME": f"stile-{uuid4()}", **environ}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delitem(sys.modules, "handler.lambda_function", raising=False)
    module = importlib.import_module("handler.lambda_function")  # makes a loop of its own

    def send(headers: Mapping[str, str]) -> Answer:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        sent = {"content-type": "application/json", **headers}
        return answer_of(module.handler(event_for("POST", "/api/things/mcp", body=body, headers=sent), Context()))

    with closing(asyncio.get_event_loop()):
        yield send


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_public_url_is_what_the_owner_says(monkeypatch: pytest.MonkeyPatch, location: str) -> None:
    with started(monkeypatch, STILE_BUNDLES=location, STILE_PUBLIC_URL="https://mcp.example.com/") as send:
        refused = send({"authorization": "Bearer stile_wrong"})

    url = "https://mcp.example.com/.well-known/oauth-protected-resource/api/things/mcp"
    assert f'resource_metadata="{url}"' in refused.headers["www-authenticate"]


@pytest.mark.parametrize(
    ("environ", "prefix"),
    [
        ({}, "local-hmac:"),
        ({"STILE_LOG_KEY": "k" * 32}, "hmac:"),
        ({"STILE_LOG_KEY": "k" * 32, "STILE_LOG_SUBJECT": "hashed"}, "hmac:"),
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
