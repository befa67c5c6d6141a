"""The URLs that the function names itself come from its owner or from AWS, and never from a caller.

Source: the API Gateway guide, events of Lambda proxy integrations; events/ has one of each kind.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.support.endpoints import PUBLIC, compiled
from tests.support.function import Answer, Context, Function, answer_of, event_for, running_function
from tests.support.identities import HOLDER, identified

WELL_KNOWN = "/.well-known/oauth-protected-resource"
EXECUTE_API = "a1b2c3d4e5.execute-api.us-east-1.amazonaws.com"
SPOOFED = {
    "host": "evil.example",
    "x-forwarded-host": "evil.example",
    "x-forwarded-proto": "http",
    "x-forwarded-port": "8080",
    "x-forwarded-prefix": "/evil",
    "forwarded": "host=evil.example;proto=http",
}


@contextmanager
def serving(folder: Path, name: str = "api/things", **services: Any) -> Iterator[Function]:
    """An endpoint that challenges, and takes the tokens of one issuer."""
    files = {"index.graphql": "type Query { a: Int } type Mutation { b: Int }"}
    config = PUBLIC.replace("anonymous: allow", "anonymous: challenge")
    endpoint = compiled(folder, {**files, "config.yaml": config})
    with running_function(identified(endpoint, {}, issuers=["https://idp.example"]), **services) as function:
        yield function


def http_api(method: str, path: str, *, stage: str = "$default", domain: str = EXECUTE_API) -> dict[str, Any]:
    """An HTTP API's event, payload format 2.0. A named stage stands in the path, whatever the domain."""
    stood = path if stage == "$default" else f"/{stage}{path}"
    event = event_for(method, stood, body=b"", headers={**SPOOFED, "content-type": "application/json"})
    event["requestContext"] |= {"domainName": domain, "stage": stage}
    return event


def rest_api(method: str, path: str, *, stage: str = "prod", domain: str = EXECUTE_API) -> dict[str, Any]:
    """A REST API's event. Its stage stands in no path but that of the context, on AWS's own domain."""
    event: dict[str, Any] = json.loads((ROOT / "events" / "rest-v1-tools-list.json").read_text(encoding="utf-8"))
    stood = f"/{stage}{path}" if ".execute-api." in domain else path
    event |= {"httpMethod": method, "path": path, "pathParameters": {"proxy": path[1:]}, "body": None}
    event["requestContext"] |= {"httpMethod": method, "path": stood, "stage": stage, "domainName": domain}
    event["multiValueHeaders"] = {"Content-Type": ["application/json"], **{k: [v] for k, v in SPOOFED.items()}}
    event["headers"] = {name: values[0] for name, values in event["multiValueHeaders"].items()}
    return event


def load_balancer(method: str, path: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads((ROOT / "events" / "alb-tools-list.json").read_text(encoding="utf-8"))
    return event | {"httpMethod": method, "path": path, "body": ""}


def function_url(method: str, path: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads((ROOT / "events" / "function-url-tools-list.json").read_text(encoding="utf-8"))
    event["requestContext"]["http"] |= {"method": method, "path": path}
    return event | {"rawPath": path, "body": ""}


FRONT_DOORS: Mapping[str, tuple[Any, str]] = {
    "HTTP API": (http_api, f"https://{EXECUTE_API}"),
    "HTTP API with a named stage": (
        lambda method, path: http_api(method, path, stage="prod"),
        f"https://{EXECUTE_API}/prod",
    ),
    "HTTP API with a stage named as a folder": (
        lambda method, path: http_api(method, path, stage="api"),
        f"https://{EXECUTE_API}/api",
    ),
    "HTTP API with a named stage on its owner's domain": (
        lambda method, path: http_api(method, path, stage="prod", domain="mcp.example.com"),
        "https://mcp.example.com",
    ),
    "REST API": (rest_api, f"https://{EXECUTE_API}/prod"),
    "REST API on its owner's domain": (
        lambda method, path: rest_api(method, path, domain="mcp.example.com"),
        "https://mcp.example.com",
    ),
    "function URL": (function_url, "https://abcdefghijklmnopqrstuvwxyz012345.lambda-url.us-east-1.on.aws"),
}


def send(function: Function, event: Mapping[str, Any]) -> Answer:
    return answer_of(function.handler(event, Context()))


@pytest.mark.parametrize("door", FRONT_DOORS)
def test_document_and_challenge_name_the_url_that_clients_use(tmp_path: Path, door: str) -> None:
    event_of, url = FRONT_DOORS[door]
    with serving(tmp_path) as function:
        document = send(function, event_of("GET", f"{WELL_KNOWN}/api/things/mcp"))
        refused = send(function, event_of("POST", "/api/things/mcp"))

    assert document.json["resource"] == f"{url}/api/things/mcp"
    assert refused.status == 401
    assert refused.headers["www-authenticate"] == (
        f'Bearer realm="api/things", resource_metadata="{url}{WELL_KNOWN}/api/things/mcp"'
    )
    assert "evil" not in f"{document.body!r} {document.headers} {refused.body!r} {refused.headers}"


@pytest.mark.parametrize("door", [*FRONT_DOORS, "load balancer"])
@pytest.mark.parametrize("public_url", ["https://mcp.example.org", "https://example.org/mcp"])
def test_owner_has_the_last_word(tmp_path: Path, door: str, public_url: str) -> None:
    event_of, _ = FRONT_DOORS.get(door, (load_balancer, ""))
    with serving(tmp_path, public_url=public_url) as function:
        document = send(function, event_of("GET", f"{WELL_KNOWN}/api/things/mcp"))
        refused = send(function, event_of("POST", "/api/things/mcp"))

    assert document.json["resource"] == f"{public_url}/api/things/mcp"
    assert f'resource_metadata="{public_url}{WELL_KNOWN}/api/things/mcp"' in refused.headers["www-authenticate"]


def test_load_balancer_names_no_domain_so_nothing_is_named_without_the_owners_word(tmp_path: Path) -> None:
    with serving(tmp_path) as function:
        document = send(function, load_balancer("GET", f"{WELL_KNOWN}/api/things/mcp"))
        refused = send(function, load_balancer("POST", "/api/things/mcp"))

    assert document.status == 404
    assert (refused.status, refused.headers["www-authenticate"]) == (401, 'Bearer realm="api/things"')


@pytest.mark.parametrize("path", ["/prod", "/prod/", "/production/api/things/mcp", "/api/things/mcp/prod"])
def test_only_the_stage_itself_is_taken_out_of_a_path(tmp_path: Path, path: str) -> None:
    event = http_api("POST", "/")
    event["requestContext"] |= {"stage": "prod", "http": {**event["requestContext"]["http"], "path": path}}
    with serving(tmp_path) as function:
        assert send(function, {**event, "rawPath": path}).status == 404


def test_named_stage_serves_every_route(tmp_path: Path) -> None:
    with serving(tmp_path) as function:
        health = send(function, http_api("GET", "/health", stage="prod"))
        graphql = http_api("GET", "/api/things/graphql", stage="prod")
        graphql["headers"] |= HOLDER
        graphql["rawQueryString"] = "query=%7B__typename%7D"

        assert health.json == {"status": "ok", "endpoints": 0, "failing": 0, "lacking": 0, "oldestCheckS": None}
        assert send(function, graphql).json["errors"]  # it has no API to ask, and nothing else is wrong


@pytest.mark.parametrize("door", [*FRONT_DOORS, "load balancer"])
@pytest.mark.parametrize(
    "path",
    [
        "/api%2fthings/mcp",
        "/api/things%2Fmcp",
        "/api%252fthings/mcp",
        "/api/things%2f%2fmcp",
        "/.well-known/oauth-protected-resource/api%2Fthings/mcp",
        "/%2fhealth",
    ],
)
def test_path_with_an_encoded_slash_is_not_found(tmp_path: Path, door: str, path: str) -> None:
    event_of, _ = FRONT_DOORS.get(door, (load_balancer, ""))
    with serving(tmp_path) as function:
        plain = send(function, event_of("POST", "/api/things/mcp"))
        answers = [send(function, event_of(method, path)) for method in ("GET", "POST")]

    assert plain.status == 401  # the door leads to the endpoint
    assert [answer.status for answer in answers] == [404, 404]
    assert b"api" not in answers[0].body


def test_encoded_slash_in_a_query_is_a_value_like_any_other(tmp_path: Path) -> None:
    with serving(tmp_path) as function:
        assert function.send("GET", "/health?next=%2fa").status == 200
