import json
from pathlib import Path
from typing import Any

import pytest

from examples.upstream.demo_data import demo_rows
from handler.settings import read_settings
from tests.infra.cloudformation import ROOT, read_template

EVENT_FILES = sorted(
    path
    for path in (ROOT / "events").glob("*.json")
    if path.name != "local-env.json" and not path.name.startswith("other-")  # which are no requests
)
PREFIXES = {
    "http-v1-stage-tools-list": "/prod",
    "mapped-stage-tools-list": "/prod",
    "rest-v1-base-path-tools-list": "/tools",
}
MODERN = "2026-07-28"

Event = dict[str, Any]


def read_event(path: Path) -> Event:
    event: Event = json.loads(path.read_text("utf-8"))
    return event


def headers_of(event: Event) -> dict[str, str]:
    headers = event.get("headers") or {name: values[0] for name, values in event["multiValueHeaders"].items()}
    return {name.lower(): value for name, value in headers.items()}


def all_events() -> list[Any]:
    return [pytest.param(read_event(path), id=path.stem) for path in EVENT_FILES]


def test_events_below_a_stage_or_base_path_are_those_that_say_so() -> None:
    paths = {path.stem: read_event(path) for path in EVENT_FILES}
    found = {name: event.get("rawPath") or event["path"] for name, event in paths.items()}

    assert {name: path.split("/api/")[0] for name, path in found.items() if not path.startswith("/api/")} == PREFIXES


def events_with_a_message() -> list[Any]:
    return [
        pytest.param(read_event(path), id=path.stem)
        for path in EVENT_FILES
        if path.stem not in {"bad-body", "get"} and not path.stem.startswith("graphql-")
    ]


def http_api_events() -> list[Any]:
    return [param for param in all_events() if param.values[0].get("version") == "2.0"]


@pytest.mark.parametrize("event", all_events())
def test_the_request_is_for_a_path_of_an_endpoint(event: Event) -> None:
    path = event.get("rawPath") or event["path"]

    assert path[path.index("/api/") :] in {
        "/api/customers/mcp",
        "/api/customers/graphql",
        "/api/customers/tools/customer-lookup/graphql",
        "/api/nobody/mcp",
    }
    assert event["isBase64Encoded"] is False


@pytest.mark.parametrize("event", http_api_events())
def test_what_an_http_api_says_twice_is_the_same(event: Event) -> None:
    http = event["requestContext"]["http"]

    assert event["routeKey"] == event["requestContext"]["routeKey"] == "$default"
    assert http["path"] == event["rawPath"]
    assert http["userAgent"] == event["headers"]["user-agent"]
    assert http["sourceIp"] == event["headers"]["x-forwarded-for"]
    assert event["requestContext"]["domainName"] == event["headers"]["host"]
    assert list(event["headers"]) == [name.lower() for name in event["headers"]]


@pytest.mark.parametrize("event", events_with_a_message())
def test_the_body_is_a_json_rpc_message(event: Event) -> None:
    message = json.loads(event["body"])

    assert message["jsonrpc"] == "2.0"
    assert message["method"]
    assert headers_of(event)["content-type"] == "application/json"
    assert headers_of(event)["accept"] == "application/json, text/event-stream"
    assert headers_of(event).get("content-length") in {None, str(len(event["body"].encode()))}


@pytest.mark.parametrize("event", events_with_a_message())
def test_headers_of_the_modern_revision_repeat_the_body(event: Event) -> None:
    headers = headers_of(event)
    message = json.loads(event["body"])
    if headers.get("mcp-protocol-version") != MODERN:
        assert "_meta" not in message.get("params", {})
        return

    assert headers["mcp-method"] == message["method"]
    assert headers.get("mcp-name") == message["params"].get("name")
    assert message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == MODERN
    assert message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] == {}


def test_the_bad_body_is_no_json() -> None:
    event = read_event(ROOT / "events/bad-body.json")

    with pytest.raises(json.JSONDecodeError):
        json.loads(event["body"])


def test_the_get_has_no_body() -> None:
    event = read_event(ROOT / "events/get.json")

    assert event["requestContext"]["http"]["method"] == "GET"
    assert "body" not in event


def test_the_calls_name_a_customer_who_has_ordered() -> None:
    rows = demo_rows()
    customer_id = next(row[0] for row in rows["customers"] if row[2] == "elif.nunez@example.com")

    assert sum(row[2] == customer_id for row in rows["orders"]) > 3
    for name in ("prescribed", "flat", "graphql"):
        assert "elif.nunez@example.com" in read_event(ROOT / f"events/tools-call-{name}.json")["body"]


def test_the_local_environment_sets_what_the_template_declares() -> None:
    local = json.loads((ROOT / "events/local-env.json").read_text("utf-8"))
    declared = read_template("template.yaml")["Resources"]["StileFunction"]["Properties"]["Environment"]["Variables"]

    assert set(local) == {"StileFunction"}
    assert set(local["StileFunction"]) <= set(declared)  # `sam local` ignores any other
    assert all(isinstance(value, str) for value in local["StileFunction"].values())


def test_the_local_environment_overrides_what_a_stack_alone_could_resolve() -> None:
    """`sam local` has the template's own names in place of the ARNs of its secrets."""
    (local,) = json.loads((ROOT / "events/local-env.json").read_text("utf-8")).values()

    assert (local["STILE_LOG_KEY"], local["STILE_STATE_KEY"]) == ("", "")
    assert read_settings(local).state_keys == ()
