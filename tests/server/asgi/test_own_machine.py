"""A server on its author's own machine answers by its own names alone, and no page of another site.

Source: MCP 2026-07-28, basic/transports/streamable-http, "Security Warning"; Fetch Metadata Request Headers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

from handler.server.asgi.own_machine import own_hosts
from tests.clients.serving import serving
from tests.support.endpoints import PUBLIC, compiled
from tests.support.function import running_function
from tests.support.identities import identified

SDL = "type Query { secret: String } type Mutation { b: Int }"

ROUTES = (
    ("POST", "/api/things/mcp"),
    ("GET", "/api/things/graphql?query=%7B__typename%7D"),
    ("GET", "/api/things/__graphql?query=%7B__typename%7D"),
    ("GET", "/api/things/tools/t/graphql?query=%7B__typename%7D"),
    ("GET", "/.well-known/oauth-protected-resource/api/things/mcp"),
    ("GET", "/.well-known/oauth-authorization-server/api/things"),
    ("GET", "/api/things/.well-known/openid-configuration"),
    ("POST", "/api/things/oauth/register"),
    ("GET", "/api/things"),
    ("GET", "/health"),
    ("GET", "/"),
    ("OPTIONS", "/api/things/mcp"),
)


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Where a server listens that takes itself for one at port 8000."""
    files = {"index.graphql": SDL, "config.yaml": f"graphql: on\n{PUBLIC}"}
    made = identified(compiled(tmp_path_factory.mktemp("own"), files), {}, issuers=["https://idp.example"])
    with serving(
        made, development=True, hosts=own_hosts(8000), own_machine=True, public_url="http://127.0.0.1:8000"
    ) as url:
        yield int(url.split("/")[2].partition(":")[2])


def sent(port: int, route: tuple[str, str], headers: Mapping[str, str], body: str = "{}") -> tuple[int, str]:
    """The status and body."""
    method, path = route
    with closing(HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.putrequest(method, path, skip_host=True)
        for name, value in {"content-type": "application/json", "content-length": str(len(body)), **headers}.items():
            connection.putheader(name, value)
        connection.endheaders(body.encode())
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    "host",
    [
        "evil.example:8000",
        "evil.example",
        "127.0.0.1",
        "127.0.0.1:8001",
        "127.0.0.1:80000",
        "localhost.:8000",
        "localhost:8000.evil.example",
        "127.0.0.2:8000",
        "[::]:8000",
        "0.0.0.0:8000",
        "localhost:8000, evil.example:8000",
        "",
    ],
)
def test_every_route_refuses_another_host(port: int, route: tuple[str, str], host: str) -> None:
    status, body = sent(port, route, {"host": host})

    assert status == 421
    assert "localhost:8000" in body


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "LocalHost:8000", "[::1]:8000"])
def test_own_names_are_answered(port: int, host: str) -> None:
    listing = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})

    assert sent(port, ("GET", "/health"), {"host": host})[0] == 200
    assert sent(port, ("POST", "/api/things/mcp"), {"host": host}, listing)[0] == 200


def test_browsers_leave_the_port_80_out() -> None:
    assert {"127.0.0.1", "localhost", "[::1]"} <= own_hosts(80)
    assert "localhost" not in own_hosts(8000)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("mode", ["cors", "no-cors", "navigate", "websocket"])
def test_every_route_refuses_pages_of_other_sites(port: int, route: tuple[str, str], site: str, mode: str) -> None:
    status, body = sent(port, route, {"host": "localhost:8000", "sec-fetch-site": site, "sec-fetch-mode": mode})

    assert status == 403
    assert "pages of other sites" in body


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_own_pages_and_addresses_that_a_user_typed_are_answered(port: int, site: str) -> None:
    assert sent(port, ("GET", "/health"), {"host": "localhost:8000", "sec-fetch-site": site})[0] == 200


@pytest.mark.parametrize("path", ["/api/things/oauth/authorize", "/api/things/oauth/callback"])
def test_sign_in_pages_may_send_people_back(port: int, path: str) -> None:
    headers = {"host": "127.0.0.1:8000", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}

    assert sent(port, ("GET", path), headers)[0] == 404  # there is no OAuth proxy, which the route says
    assert sent(port, ("GET", path), {**headers, "sec-fetch-mode": "no-cors"})[0] == 403


def test_function_answers_by_whatever_name_its_front_door_has(tmp_path: Path) -> None:
    files = {"index.graphql": SDL, "config.yaml": PUBLIC}
    with running_function(compiled(tmp_path, files)) as function:
        assert function.send("GET", "/health", headers={"host": "any.example"}).status == 200
