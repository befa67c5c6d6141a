"""Clients' own OAuth flows, end to end: through the bridge at a provider without registration, and without it at one
that has it.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

from tests.clients.serving import serving
from tests.issuers.browsing import sign_in
from tests.issuers.providing import HOME, NODE, REGISTRATION, is_installed, running_provider
from tests.support.endpoints import compiled
from tests.support.require import requires
from tests.support.secrecy import SESSION
from tests.support.upstream import Upstream, free_port

SECRET = SESSION.keep("what the provider knows the bridge by", "stile-secret")
SCRIPT = Path(__file__).with_name("client.mjs")

FILES = {
    "index.graphql": "type Query { customerCount: Int }",
    "operations/count.graphql": 'query Count @mcpTool(name: "count", scopes: ["orders:read"]) { __typename }',
}
ACCESS = "access: {anonymous: challenge, policies: [{type: Query, policyDefault: {condition: true}}]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """An endpoint that people sign in for."""

    url: str
    redirect_uri: str


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    requires("node", is_installed(), "`make issuers` installs an OpenID provider and a client, and Node.js for Linux")


@contextmanager
def running_site(folder: Path, upstream: Upstream, *, bridge: str = "") -> Iterator[Site]:
    """A provider and an endpoint that takes its tokens, through a bridge if one is configured."""
    port, redirect = free_port(), "http://localhost:{}/callback"
    url = f"http://127.0.0.1:{port}"
    callback = f"{url}/api/things/oauth/callback"
    with running_provider(folder, people=callback if bridge else REGISTRATION) as provider:
        config = f"""\
{ACCESS}
upstream: {{url: "{upstream.url}"}}
identity:
  issuer: {provider.url}
  jwksendpoint: {provider.key_set_url}
  audience: [https://api.example/RS256, "{url}/api/things/mcp"]
"""
        bridged = f"  bridge: {{authorize_url: '{provider.url}/auth', token_url: '{provider.url}/token', {bridge}}}\n"
        endpoint = compiled(folder, {**FILES, "config.yaml": config + (bridged if bridge else "")})
        with serving(endpoint, port=port, public_url=url, secrets={"PROVIDER": SECRET}) as served:
            yield Site(url=served, redirect_uri=redirect.format(free_port()))


DOCUMENT = "https://client.example/client.json"
BRIDGE = "client_id: stile, client_secret: 'env:PROVIDER', redirect_uris: ['http://localhost/callback']"


@pytest.fixture(
    params=[BRIDGE, f"{BRIDGE}, resource: keep, extra_scopes: [offline_access]", ""],
    ids=["bridge", "bridge that says for which API", "registration"],
)
def site(request: pytest.FixtureRequest, upstream: Upstream, tmp_path: Path) -> Iterator[Site]:
    with running_site(tmp_path, upstream, bridge=request.param) as running:
        yield running


@pytest.fixture
def bridged(upstream: Upstream, tmp_path: Path) -> Iterator[Site]:
    more = f"scope_prefix: 'api://shop/', extra_scopes: [offline_access], client_metadata_documents: ['{DOCUMENT}']"
    with running_site(tmp_path, upstream, bridge=f"{BRIDGE}, {more}") as running:
        yield running


@dataclass
class Memory:
    """What the Python client keeps."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None
    callbacks: list[str] = field(default_factory=list)

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        SESSION.keep("an access token", tokens.access_token)
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def python_provider(site: Site, memory: Memory, *, document: str | None = None) -> OAuthClientProvider:
    async def redirect(url: str) -> None:
        memory.callbacks.append(await asyncio.to_thread(sign_in, url, until=site.redirect_uri))

    async def callback() -> AuthorizationCodeResult:
        answered = {name: value for name, (value,) in parse_qs(urlsplit(memory.callbacks[-1]).query).items()}
        return AuthorizationCodeResult(code=answered["code"], state=answered.get("state"), iss=answered.get("iss"))

    return OAuthClientProvider(
        server_url=f"{site.url}/mcp",
        client_metadata=OAuthClientMetadata(redirect_uris=[AnyUrl(site.redirect_uri)], client_name="tests"),
        storage=memory,
        redirect_handler=redirect,
        callback_handler=callback,
        client_metadata_url=document,
    )


async def call_with_python(site: Site, memory: Memory, *, document: str | None = None) -> Any:
    auth = python_provider(site, memory, document=document)
    async with (
        httpx2.AsyncClient(auth=auth, trust_env=False) as http,
        Client(streamable_http_client(f"{site.url}/mcp", http_client=http)) as client,
    ):
        return await client.call_tool("count", {})


def call_with_typescript(site: Site) -> Any:
    command = [str(NODE), str(SCRIPT), str(HOME), f"{site.url}/mcp", site.redirect_uri, "count", "{}"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as it:
        assert it.stdin is not None
        assert it.stdout is not None
        opened = it.stdout.readline().strip()
        if opened:
            it.stdin.write(f"{sign_in(opened, until=site.redirect_uri)}\n")
        printed, trouble = it.communicate(timeout=60)
    assert it.returncode == 0, trouble
    return json.loads(printed)


def test_python_client_signs_in_by_itself_and_calls_a_tool(site: Site) -> None:
    memory = Memory()

    result = asyncio.run(call_with_python(site, memory))

    assert result.structured_content == {"data": {"__typename": "Query"}}
    assert len(memory.callbacks) == 1
    assert memory.tokens is not None
    assert "orders:read" in (memory.tokens.scope or "").split()


def test_typescript_client_signs_in_by_itself_and_calls_a_tool(site: Site) -> None:
    outcome = call_with_typescript(site)

    assert outcome["result"]["structuredContent"] == {"data": {"__typename": "Query"}}
    assert "orders:read" in outcome["granted"].split()


def test_client_of_the_bridge_is_the_one_that_the_provider_knows(bridged: Site) -> None:
    memory = Memory()

    result = asyncio.run(call_with_python(bridged, memory))

    assert memory.client is not None
    assert (memory.client.client_id, memory.client.client_secret) == ("stile", None)
    assert memory.tokens is not None
    assert "orders:read" in (memory.tokens.scope or "").split()  # the provider says api://shop/orders:read
    assert result.structured_content == {"data": {"__typename": "Query"}}


def test_client_with_a_document_about_itself_does_not_register(bridged: Site) -> None:
    memory = Memory()

    result = asyncio.run(call_with_python(bridged, memory, document=DOCUMENT))

    assert memory.client is not None
    assert memory.client.client_id == DOCUMENT
    assert result.structured_content == {"data": {"__typename": "Query"}}


def test_refresh_token_goes_through_the_bridge(bridged: Site) -> None:
    memory = Memory()
    asyncio.run(call_with_python(bridged, memory))
    assert memory.tokens is not None
    form = {
        "grant_type": "refresh_token",
        "client_id": "stile",
        "refresh_token": SESSION.keep("a refresh token", memory.tokens.refresh_token or ""),
        "scope": "orders:read",
    }

    answer = httpx2.post(f"{bridged.url}/oauth/token", data=form)

    assert answer.status_code == 200, answer.text
    assert answer.json()["scope"] == "orders:read"
    memory.tokens = OAuthToken(access_token=answer.json()["access_token"])
    asyncio.run(call_with_python(bridged, memory))
    assert len(memory.callbacks) == 1  # nobody had to sign in again


def test_code_is_worth_nothing_without_its_verifier(bridged: Site) -> None:
    challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"  # RFC 7636, appendix B
    asked = {
        "response_type": "code",
        "client_id": "stile",
        "redirect_uri": bridged.redirect_uri,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    location = sign_in(f"{bridged.url}/oauth/authorize?{urlencode(asked)}", until=bridged.redirect_uri)
    (code,) = parse_qs(urlsplit(location).query)["code"]
    form = {
        "grant_type": "authorization_code",
        "client_id": "stile",
        "redirect_uri": bridged.redirect_uri,
        "code": SESSION.keep("an authorization code", code),
    }

    wrong = httpx2.post(f"{bridged.url}/oauth/token", data={**form, "code_verifier": "x" * 43})

    assert (wrong.status_code, wrong.json()["error"]) == (400, "invalid_grant")
