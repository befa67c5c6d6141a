"""The Server Card and the AI Catalog: public, by the schema of their repository, and silent about all that is unlisted.

``server_card/`` has the schema and the examples of modelcontextprotocol/experimental-ext-server-card at 8924e08, with
their licence.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from handler.bundle.stored import bundle_key
from handler.errors.infrastructure import SettingsError
from handler.server.mcp.revisions import LEGACY, MODERN
from handler.settings import read_settings
from handler.storage.local import MemoryStorage
from handler.storage.storage import StoredObject
from tests.support.endpoints import compiled, problems_of
from tests.support.function import DOMAIN, Answer, Function, running_function

FOLDER = Path(__file__).parent / "server_card"
CARD = Draft202012Validator({**json.loads((FOLDER / "schema.json").read_text()), "$ref": "#/$defs/ServerCard"})
IDENTITY = "title: Parcels, description: Follow parcels and change their way., website: 'https://parcels.example'"
LISTED = f"server: {{{IDENTITY}, listed: true}}"
PATH = "/api/things/mcp/server-card"
CATALOG = "/.well-known/ai-catalog.json"


def files(config: str) -> dict[str, str]:
    operation = "query Open @mcpTool { open }"
    return {"index.graphql": "type Query { open: Int }", "operations/o.graphql": operation, "config.yaml": config}


def shown(answer: Answer) -> tuple[int, dict[str, str], bytes]:
    """All that a client sees, but for the id of the request."""
    return answer.status, {key: each for key, each in answer.headers.items() if key != "x-request-id"}, answer.body


def examples(kind: str) -> list[Path]:
    return sorted((FOLDER / "examples" / "ServerCard" / kind).glob("*.json"))


@pytest.mark.parametrize("path", [*examples("valid"), *examples("invalid")], ids=lambda path: path.stem)
def test_schema_tells_valid_examples_from_others(path: Path) -> None:
    assert CARD.is_valid(json.loads(path.read_text())) == (path.parent.name == "valid")


OPEN = "access: {anonymous: allow}"


@pytest.mark.parametrize("config", [LISTED, "server: {description: Parcels., version: 2.1.0, listed: true}"])
def test_card_is_valid_and_agrees_with_the_running_server(tmp_path: Path, config: str) -> None:
    with running_function(compiled(tmp_path, files(f"{config}\n{OPEN}"))) as function:
        answer = function.send("GET", PATH)
        discovered = function.request("server/discover", modern=True).result
        handshakes = [
            function.request("initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": {}}).result
            for revision in LEGACY
        ]

    card = answer.json
    CARD.validate(card)
    (remote,) = card.pop("remotes")
    info = discovered["_meta"]["io.modelcontextprotocol/serverInfo"]
    assert card.pop("$schema") == "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
    assert card.pop("name") == "com.amazonaws.us-east-1.execute-api.abc123/api.things"
    assert card == {key: each for key, each in info.items() if key != "name"}
    assert (remote["type"], remote["url"]) == ("streamable-http", f"https://{DOMAIN}/api/things/mcp")
    assert [each for each in remote["supportedProtocolVersions"] if each in MODERN] == discovered["supportedVersions"]
    assert remote["supportedProtocolVersions"][len(MODERN) :] == [each["protocolVersion"] for each in handshakes]
    assert answer.headers["content-type"] == "application/mcp-server-card+json"


def test_card_is_open_to_pages_of_any_origin_and_cached(tmp_path: Path) -> None:
    with running_function(compiled(tmp_path, files(LISTED))) as function:
        for headers in ({}, {"origin": "https://host.example"}):
            answer = function.send("GET", PATH, headers=headers)
            assert answer.headers["access-control-allow-origin"] == "*"
            assert "etag" in answer.headers["access-control-expose-headers"].lower()
            assert answer.headers["cache-control"] == "public, max-age=3600"
        asked = {"origin": "https://host.example", "access-control-request-method": "GET"}
        preflight = function.send("OPTIONS", PATH, headers={**asked, "access-control-request-headers": "if-none-match"})
    assert (preflight.status, preflight.headers["access-control-allow-origin"]) == (204, "*")


@pytest.mark.parametrize("form", ["{}", "W/{}", '"other", {}', "*"])
def test_client_with_the_card_gets_304(tmp_path: Path, form: str) -> None:
    with running_function(compiled(tmp_path, files(LISTED))) as function:
        first = function.send("GET", PATH)
        again = function.send("GET", PATH, headers={"if-none-match": form.format(first.headers["etag"])})
        other = function.send("GET", PATH, headers={"if-none-match": '"other"'})

    assert (again.status, again.body, again.headers["etag"]) == (304, b"", first.headers["etag"])
    assert shown(other) == shown(first)


@pytest.mark.lambda_alone  # the server over HTTP refuses a foreign host
@pytest.mark.parametrize("url", ["", "https://tools.example/base"])
def test_forged_host_changes_no_byte(tmp_path: Path, url: str) -> None:
    forged = {
        "host": "evil.example",
        "x-forwarded-host": "evil.example",
        "x-forwarded-proto": "http",
        "forwarded": "host=evil.example;proto=http",
        "x-original-host": "evil.example",
    }
    made = compiled(tmp_path, files(LISTED))
    with running_function(made, public_url=url, catalog=("api/things",)) as function:
        for path in (PATH, CATALOG):
            answer, attacked = function.send("GET", path), function.send("GET", path, headers=forged)
            assert answer.status == 200
            assert shown(attacked) == shown(answer)
            assert f"{url or f'https://{DOMAIN}'}/api/things/mcp".encode() in answer.body


class Broken(MemoryStorage):
    """Has bytes that are not a bundle for one endpoint."""

    def read(self, key: str, *, etag: str | None = None, timeout_s: float = 0) -> StoredObject | None:
        stored = super().read(key, etag=etag, timeout_s=timeout_s)
        if stored is not None and key == bundle_key("api/broken"):
            return StoredObject(body=b"{", etag=stored.etag, version=stored.version)
        return stored


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "DELETE"])
@pytest.mark.parametrize("headers", [{}, {"origin": "https://host.example"}, {"if-none-match": "*"}], ids=str)
@pytest.mark.parametrize("config", ["", f"server: {{{IDENTITY}}}", "access: {anonymous: challenge}"])
def test_unlisted_endpoint_is_as_one_that_does_not_exist(
    tmp_path: Path, config: str, headers: Mapping[str, str], method: str
) -> None:
    storage = Broken()
    storage.write(bundle_key("api/broken"), b"{")
    with running_function(compiled(tmp_path, files(config)), storage=storage) as function:
        answers = [
            function.send(method, PATH.replace("things", name), headers=headers)
            for name in ("things", "nobody", "broken")
        ]
    assert answers[0].status == (404 if method in ("GET", "HEAD") else 405)
    assert shown(answers[0]) == shown(answers[1]) == shown(answers[2])


def test_no_card_without_a_public_url(tmp_path: Path) -> None:
    """The event of a load balancer has no domain but the caller's."""
    with running_function(compiled(tmp_path, files(LISTED)), catalog=("api/things",)) as function:
        answers = [_by_load_balancer(function, path) for path in (PATH, PATH.replace("things", "nobody"), CATALOG)]
    assert [each["statusCode"] for each in answers] == [404, 404, 404]
    assert answers[0]["body"] == answers[1]["body"]
    assert "evil.example" not in str(answers)


def _by_load_balancer(function: Function, path: str) -> dict[str, Any]:
    event = {
        "requestContext": {"elb": {"targetGroupArn": "arn:aws:elasticloadbalancing:a:1:targetgroup/a/b"}},
        "httpMethod": "GET",
        "path": path,
        "queryStringParameters": {},
        "headers": {"host": "evil.example"},
        "body": "",
        "isBase64Encoded": False,
    }
    return dict(function.handler(event, function.context))


def test_listed_endpoint_needs_a_description(tmp_path: Path) -> None:
    (problem,) = problems_of(tmp_path, files("server: {title: Parcels, listed: true}"))
    expected = 'config.yaml:1:34: "server.listed": expected server.description beside it, which a Server Card needs'
    assert str(problem).startswith(expected)


class Counting(MemoryStorage):
    """Counts the reads."""

    reads = 0

    def read(self, key: str, *, etag: str | None = None, timeout_s: float = 0) -> StoredObject | None:
        self.reads += 1
        return super().read(key, etag=etag, timeout_s=timeout_s)


def test_catalog_names_endpoints_without_loading_them(tmp_path: Path) -> None:
    storage = Counting()
    with running_function(storage=storage, catalog=("api/things", "shop/orders", "api/things")) as function:
        answer = function.send("GET", CATALOG)
        again = function.send("GET", CATALOG, headers={"if-none-match": answer.headers["etag"]})

    assert answer.json == {
        "specVersion": "1.0",
        "entries": [
            {
                "identifier": f"urn:air:{DOMAIN}:mcp:{name.replace('/', '.')}",
                "type": "application/mcp-server-card+json",
                "url": f"https://{DOMAIN}/{name}/mcp/server-card",
            }
            for name in ("api/things", "shop/orders")
        ],
    }
    assert answer.headers["content-type"] == "application/ai-catalog+json"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert (again.status, storage.reads) == (304, 0)


def test_function_without_named_endpoints_has_no_catalog(tmp_path: Path) -> None:
    with running_function(compiled(tmp_path, files(LISTED))) as function:
        assert shown(function.send("GET", CATALOG)) == shown(function.send("GET", "/.well-known/nothing.json"))


def test_setting_names_endpoints_and_at_most_50() -> None:
    names = ",".join(f"api/a{number}" for number in range(50))
    environ = {"STILE_BUNDLES": "folder"}

    assert len(read_settings({**environ, "STILE_CATALOG": names}).catalog) == 50
    for text, expected in ((f"{names},api/b", "expected at most 50 names"), ("api/a,b", "STILE_CATALOG='b'")):
        with pytest.raises(SettingsError, match=expected):
            read_settings({**environ, "STILE_CATALOG": text})
