"""Every file in ``events/``, replayed through ``handler.lambda_function.handler``."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from handler.compiler.compile import Compiled
from handler.storage.local import FolderStorage
from tests.conftest import ROOT
from tests.support.function import Answer, Context, answer_of, closing, store
from tests.support.upstream import Upstream

TOOLS = ["customer-lookup", "employee-lookup", "customer-by-email", "customers-in-state", "list_orders"]

Check = Callable[[Answer], None]


def _lists_tools(answer: Answer) -> None:
    assert [tool["name"] for tool in answer.result["tools"]] == TOOLS  # an anonymous caller's


def _initializes(answer: Answer) -> None:
    assert answer.result["protocolVersion"] == "2025-06-18"
    assert answer.result["capabilities"] == {"tools": {}, "prompts": {}, "resources": {}, "completions": {}}


def _discovers(answer: Answer) -> None:
    assert answer.result["supportedVersions"] == ["2026-07-28"]


def _answers_data(answer: Answer) -> None:
    assert not answer.result.get("isError"), answer.text
    assert json.loads(answer.text)["data"]["customer"]["name"] == "Elif Núñez"


def _answers_a_customer(answer: Answer) -> None:
    assert json.loads(answer.text)["data"]["customer"]["name"]


def _refuses_the_field(answer: Answer) -> None:
    assert answer.result["isError"] is True
    assert "Cannot query field" in answer.text


def _is_a_graphql_response(answer: Answer) -> None:
    assert answer.headers["content-type"] == "application/graphql-response+json; charset=utf-8"
    assert answer.json["data"]["customer"]["name"] == "Elif Núñez"


def _is_empty(answer: Answer) -> None:
    assert answer.body == b""


def _is_parse_error(answer: Answer) -> None:
    assert answer.json["error"]["code"] == -32700


def _has_an_error(answer: Answer) -> None:
    assert "error" in answer.json


EXPECTED: Mapping[str, tuple[int, Check]] = {
    "initialize": (200, _initializes),
    "initialized": (202, _is_empty),
    "ping": (200, lambda answer: None if answer.result == {} else pytest.fail(answer.body.decode())),
    "discover": (200, _discovers),
    "tools-list": (200, _lists_tools),
    "tools-list-legacy": (200, _lists_tools),
    "tools-call-prescribed": (200, _answers_a_customer),
    "tools-call-flat": (200, _answers_data),
    "tools-call-graphql": (200, _answers_a_customer),
    "tools-call-pruned-field": (200, _refuses_the_field),
    "graphql-persisted": (200, _is_a_graphql_response),
    "graphql-tool": (200, _is_a_graphql_response),
    "bad-body": (400, _is_parse_error),
    "unknown-path": (404, _has_an_error),
    "get": (405, _has_an_error),
    "rest-v1-tools-list": (200, _lists_tools),
    "function-url-tools-list": (200, _lists_tools),
    "alb-tools-list": (200, _lists_tools),
    "alb-multi-value-tools-list": (200, _lists_tools),
    "http-v1-stage-tools-list": (200, _lists_tools),
    "mapped-stage-tools-list": (200, _lists_tools),
    "rest-v1-base-path-tools-list": (200, _lists_tools),
}

OTHERS: Mapping[str, Any] = {
    "other-warm": {"stile": "warm", "endpoints": 0},
    "other-schedule": {"stile": "warm", "endpoints": 0},
    "other-s3": {"stile": "ignored", "kind": "s3"},
}
"""What events are answered that are not requests. test_other_events.py has more of them."""

REFUSED = {"other-sqs", "other-vpc-lattice-v1", "other-vpc-lattice-v2"}


@pytest.fixture
def handler(
    served_demo: Compiled, folder_storage: FolderStorage, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Any, Any], Any]]:
    """The Lambda handler, made by importing its module as Lambda does."""
    store(folder_storage, served_demo)
    monkeypatch.setenv("STILE_BUNDLES", folder_storage.location)
    monkeypatch.setenv("STILE_ALLOW_LOCAL_UPSTREAMS", "true")
    monkeypatch.delitem(sys.modules, "handler.lambda_function", raising=False)
    module = importlib.import_module("handler.lambda_function")  # makes a loop of its own
    with closing(asyncio.get_event_loop()):
        yield module.handler


def test_every_event_file_is_replayed() -> None:
    files = {path.stem for path in (ROOT / "events").glob("*.json")} - {"local-env"}

    assert files == {*EXPECTED, *OTHERS, *REFUSED}


@pytest.mark.parametrize("name", OTHERS)
def test_other_event_gets_its_answer(handler: Callable[[Any, Any], Any], name: str) -> None:
    event = json.loads((ROOT / "events" / f"{name}.json").read_text(encoding="utf-8"))

    assert handler(event, Context()) == OTHERS[name]


@pytest.mark.parametrize("name", EXPECTED)
def test_event_gets_its_answer(handler: Callable[[Any, Any], Any], name: str) -> None:
    event = json.loads((ROOT / "events" / f"{name}.json").read_text(encoding="utf-8"))
    status, check = EXPECTED[name]

    response = handler(event, Context())
    answer = answer_of(response)

    assert answer.status == status, answer.body
    assert not response["isBase64Encoded"]
    check(answer)


def test_pruned_field_event_never_reaches_the_upstream(handler: Callable[[Any, Any], Any], upstream: Upstream) -> None:
    event = json.loads((ROOT / "events" / "tools-call-pruned-field.json").read_text(encoding="utf-8"))
    upstream.clear()

    handler(event, Context())

    assert upstream.requests() == []
