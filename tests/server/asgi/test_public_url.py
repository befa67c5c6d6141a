"""The URLs that the function names itself come from its owner or from AWS, and never from a caller.

Source: the API Gateway guide, events of Lambda proxy integrations; events/ has one of each kind.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from handler.server.app import routes
from handler.server.asgi.public_url import CARD, HOME, ROUTE
from handler.server.asgi.request_log import level_of
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


OWN = "mcp.example.com"


def routed(event: dict[str, Any], base_path: str = "", *, proxy: str) -> dict[str, Any]:
    """An HTTP API's event (format 2.0) of the route ``ANY /{proxy+}``; with a base path if its paths have one."""
    path = f"{base_path}{event['rawPath']}"
    event["requestContext"]["http"]["path"] = path
    return event | {"routeKey": "ANY /{proxy+}", "rawPath": path, "pathParameters": {"proxy": proxy}}


def http_api_1(
    method: str, path: str, *, base_path: str = "", stage: str = "$default", domain: str = EXECUTE_API, route: str = ""
) -> dict[str, Any]:
    """An HTTP API's event by format 1.0, whose paths have a named stage or the key of an API mapping."""
    event = rest_api(method, path, stage=stage, domain=domain)
    stood = f"{base_path}{path}" if stage == "$default" else f"/{stage}{path}"
    event |= {"version": "1.0", "path": stood, "resource": route or "$default"}
    event["requestContext"] |= {"path": stood, "resourcePath": route or "$default"}
    return event if route else event | {"pathParameters": None}


def mapped_rest_api(method: str, path: str, base_path: str, *, resource: str = "/{proxy+}") -> dict[str, Any]:
    """A REST API's event on a domain that maps a base path to it: both paths have that."""
    event = rest_api(method, path, domain=OWN)
    literal = resource.removesuffix("/{proxy+}")
    event |= {"path": f"{base_path}{path}", "resource": resource}
    event["pathParameters"] = {"proxy": path.removeprefix(literal).strip("/")}
    event["requestContext"] |= {"path": f"{base_path}{path}", "resourcePath": resource}
    return event


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
    "REST API below a base path": (
        lambda method, path: mapped_rest_api(method, path, "/tools"),
        f"https://{OWN}/tools",
    ),
    "REST API below a base path of two levels": (
        lambda method, path: mapped_rest_api(method, path, "/a/b"),
        f"https://{OWN}/a/b",
    ),
    "REST API below a base path named as a folder": (
        lambda method, path: mapped_rest_api(method, path, "/api"),
        f"https://{OWN}/api",
    ),
    "REST API below a base path and a stage that its mapping leaves open": (
        lambda method, path: mapped_rest_api(method, path, "/tools/prod"),
        f"https://{OWN}/tools/prod",
    ),
    "HTTP API with a route, below a base path that its paths have": (
        lambda method, path: routed(http_api(method, path, domain=OWN), "/tools", proxy=path[1:]),
        f"https://{OWN}/tools",
    ),
    "HTTP API with a route and a stage that is in its paths": (
        lambda method, path: routed(http_api(method, path, stage="api", domain=OWN), proxy=path[1:]),
        f"https://{OWN}",
    ),
    "HTTP API with a stage named as a folder that is not in its paths": (
        lambda method, path: in_stage(http_api(method, path, domain=OWN), "api"),
        f"https://{OWN}",
    ),
    "HTTP API by format 1.0": (http_api_1, f"https://{EXECUTE_API}"),
    "HTTP API by format 1.0 with a named stage": (
        lambda method, path: http_api_1(method, path, stage="prod"),
        f"https://{EXECUTE_API}/prod",
    ),
    "HTTP API by format 1.0 with a stage named as a folder": (
        lambda method, path: http_api_1(method, path, stage="api"),
        f"https://{EXECUTE_API}/api",
    ),
    "HTTP API by format 1.0 with a route, below a base path": (
        lambda method, path: http_api_1(method, path, base_path="/tools", domain=OWN, route="/{proxy+}"),
        f"https://{OWN}/tools",
    ),
    "function URL": (function_url, "https://abcdefghijklmnopqrstuvwxyz012345.lambda-url.us-east-1.on.aws"),
}


def in_stage(event: dict[str, Any], stage: str) -> dict[str, Any]:
    event["requestContext"]["stage"] = stage
    return event


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


@pytest.mark.parametrize("door", FRONT_DOORS)
def test_card_names_the_url_that_clients_use(tmp_path: Path, door: str) -> None:
    event_of, url = FRONT_DOORS[door]
    with serving(tmp_path) as function:
        refused = send(function, event_of("GET", "/api/things"))
        event = event_of("GET", "/api/things/")
        event["headers"] = {**event["headers"], **HOLDER}
        if "multiValueHeaders" in event:
            event["multiValueHeaders"] |= {name: [value] for name, value in HOLDER.items()}
        card = send(function, event)

    assert refused.status == 401
    assert card.json["mcpUrl"] == f"{url}/api/things/mcp"
    assert card.json["signIn"] == {"resourceMetadata": f"{url}{WELL_KNOWN}/api/things/mcp"}
    assert "evil" not in f"{card.body!r} {card.headers}"


def test_card_behind_a_load_balancer_names_no_url_without_the_owners_word(tmp_path: Path) -> None:
    event = load_balancer("GET", "/api/things")
    with serving(tmp_path) as function:
        card = send(function, {**event, "headers": {**event["headers"], **HOLDER}})

    assert "mcpUrl" not in card.json
    assert "resourceMetadata" not in card.json["signIn"]
    assert [line["unset"] for line in function.lines] == ["STILE_PUBLIC_URL"]


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

    assert (document.status, document.code) == (404, "public-url-unknown")
    assert "STILE_PUBLIC_URL" in document.json["error"]
    assert [(line["unset"], level_of(line)) for line in function.lines] == [("STILE_PUBLIC_URL", "WARNING")] * 2
    assert (refused.status, refused.headers["www-authenticate"]) == (401, 'Bearer realm="api/things"')


@pytest.mark.parametrize("path", ["/prod", "/prod/", "/production/api/things/mcp", "/api/things/mcp/prod"])
def test_only_the_stage_itself_is_taken_out_of_a_path(tmp_path: Path, path: str) -> None:
    event = http_api("POST", "/")
    event["requestContext"] |= {"stage": "prod", "http": {**event["requestContext"]["http"], "path": path}}
    with serving(tmp_path) as function:
        assert send(function, {**event, "rawPath": path}).status == 404


MAPPED: Mapping[str, Any] = {
    "format 2.0, without the base path": lambda method, path, base: http_api(method, path, domain=OWN),
    "format 2.0, with it": lambda method, path, base: http_api(method, f"{base}{path}", domain=OWN),
    "format 2.0, with a stage": lambda method, path, base: http_api(method, path, stage="prod", domain=OWN),
    "format 2.0, with stage and base path": lambda method, path, base: http_api(
        method, f"{base}{path}", stage="prod", domain=OWN
    ),
    "format 2.0, with a stage that is not in its paths": lambda method, path, base: in_stage(
        http_api(method, f"{base}{path}", domain=OWN), "api"
    ),
    "format 2.0, with a route": lambda method, path, base: routed(http_api(method, path, domain=OWN), proxy=path[1:]),
    "format 1.0": lambda method, path, base: http_api_1(method, path, base_path=base, domain=OWN),
    "format 1.0, with a route": lambda method, path, base: http_api_1(
        method, path, base_path=base, domain=OWN, route="/{proxy+}"
    ),
    "REST API": mapped_rest_api,
    "REST API whose resources begin with the base path": lambda method, path, base: mapped_rest_api(
        method, f"{base}{path}", "", resource=f"{base}/{{proxy+}}"
    ),
    "load balancer": lambda method, path, base: load_balancer(method, f"{base}{path}"),
    "proxy that takes the base path out": lambda method, path, base: function_url(method, path),
    "proxy that leaves it": lambda method, path, base: function_url(method, f"{base}{path}"),
}


@pytest.mark.parametrize("door", MAPPED)
@pytest.mark.parametrize("base", ["/tools", "/a/b", "/api", "/api/things", "/mcp", "/t%C3%B6ols"])
def test_base_path_of_the_owners_url_is_taken_out_of_a_path_that_has_it(tmp_path: Path, door: str, base: str) -> None:
    url = f"https://{OWN}{base}"
    with serving(tmp_path, public_url=url) as function:
        refused = send(function, MAPPED[door]("POST", "/api/things/mcp", base))
        slashed = send(function, MAPPED[door]("POST", "/api/things/mcp/", base))
        named = refused.headers["www-authenticate"].rpartition('="')[2][:-1]
        document = send(function, MAPPED[door]("GET", named.removeprefix(url), base))

    assert (refused.status, slashed.status) == (401, 401)
    assert named == f"{url}{WELL_KNOWN}/api/things/mcp"
    assert document.json["resource"] == f"{url}/api/things/mcp"


@pytest.mark.parametrize("event_of", [load_balancer, function_url, http_api_1, rest_api])
def test_metadata_is_at_the_root_of_the_domain_too_if_that_leads_here(tmp_path: Path, event_of: Any) -> None:
    path = f"{WELL_KNOWN}/a/b/api/things/mcp"
    with serving(tmp_path, public_url=f"https://{OWN}/a/b") as function:
        found = send(function, event_of("GET", path))
        others = [send(function, event_of("GET", path.replace("/a/b", other))) for other in ("/a", "/a/b/a/b", "/a/bb")]

    assert found.json["resource"] == f"https://{OWN}/a/b/api/things/mcp"
    assert [other.status for other in others] == [404, 404, 404]


@pytest.mark.parametrize("door", [door for door in MAPPED if "takes the base path out" not in door])
@pytest.mark.parametrize(
    "path",
    [
        "/api/api/things/mcp",  # the base path is taken out once
        "/apiapi/things/mcp",
        "//api/things/mcp",
        "/./api/things/mcp",
        "/../api/things/mcp",
        "/x/../api/things/mcp",
        "/api//things/mcp",
        "/api/things//mcp",
        "/api/things/mcp//",
        "/api%2Fthings/mcp",
        "/API/things/mcp",
        "/",
        "",
    ],
)
def test_no_other_path_leads_to_an_endpoint(tmp_path: Path, door: str, path: str) -> None:
    with serving(tmp_path, public_url=f"https://{OWN}/v1") as function:
        assert send(function, MAPPED[door]("POST", path, "/v1")).status == 404


@pytest.mark.parametrize("door", ["REST API", "format 1.0", "format 2.0, with it", "load balancer"])
def test_base_path_that_stands_there_twice_leads_nowhere(tmp_path: Path, door: str) -> None:
    with serving(tmp_path, public_url=f"https://{OWN}/tools") as function:
        event = MAPPED[door]("POST", "/tools/api/things/mcp", "/tools")

        assert send(function, event).status == 404


def test_stage_that_stands_there_twice_leads_nowhere(tmp_path: Path) -> None:
    with serving(tmp_path, public_url=f"https://{EXECUTE_API}/prod") as function:
        for event_of in (
            rest_api,
            lambda *path: http_api(*path, stage="prod"),
            lambda *path: http_api_1(*path, stage="prod"),
        ):
            assert send(function, event_of("POST", "/api/things/mcp")).status == 401
            assert send(function, event_of("POST", "/prod/api/things/mcp")).status == 404


def test_proxy_that_leaves_the_base_path_may_lead_to_a_rest_api(tmp_path: Path) -> None:
    with serving(tmp_path, public_url="https://example.com/tools") as function:
        assert send(function, rest_api("POST", "/tools/api/things/mcp")).status == 401


def test_route_of_an_api_that_leads_to_one_folder_leads_to_no_other(tmp_path: Path) -> None:
    with serving(tmp_path) as function:
        own = mapped_rest_api("POST", "/api/things/mcp", "", resource="/api/{proxy+}")
        other = mapped_rest_api("POST", "/other/api/things/mcp", "", resource="/other/{proxy+}")

        assert send(function, own).status == 401
        assert send(function, other).status == 404


@pytest.mark.parametrize(
    "said",
    [
        {"resource": 5},
        {"resource": "/{proxy+}", "pathParameters": None},
        {"resource": "/{proxy+}", "pathParameters": [1]},
        {"resource": "/{proxy+}", "pathParameters": {"proxy": None}},
        {"resource": "/{proxy+}", "pathParameters": {"proxy": ""}},
        {"resource": "/{proxy+}", "pathParameters": {"proxy": "mcp"}},
        {"resource": "/{proxy+}", "pathParameters": {"other": "api/things/mcp"}},
        {"resource": "/{proxy+}{proxy+}", "pathParameters": {"proxy": "api/things/mcp"}},
    ],
)
def test_route_that_says_nothing_of_use_takes_nothing_out(tmp_path: Path, said: dict[str, Any]) -> None:
    with serving(tmp_path) as function:
        assert send(function, mapped_rest_api("POST", "/api/things/mcp", "/tools") | said).status == 404


def test_stage_of_an_api_is_taken_out_on_its_own_domain_though_a_folder_has_its_name(tmp_path: Path) -> None:
    with serving(tmp_path) as function:  # the client wrote a path that has no folder
        assert send(function, in_stage(http_api("POST", "/api/things/mcp"), "api")).status == 404


def test_form_of_routes_is_that_of_all_routes() -> None:
    services: Any = SimpleNamespace(endpoints=None, page="function", own_routes=(), catalog=("api/things",))
    paths = [route.path for route in routes(services)]

    assert [path for path in paths if not re.fullmatch(f"{ROUTE}|{CARD}|{HOME}", re.sub(r"\{\w+\}", "x", path))] == []


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
