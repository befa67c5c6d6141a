"""The Python SDK's client for identity assertions, which signs in at a provider and never at the endpoint."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthTokenError
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider
from mcp.client.streamable_http import streamable_http_client

from tests.issuers.browsing import sign_in
from tests.issuers.clients import Memory
from tests.issuers.providing import is_installed
from tests.issuers.sites import COUNTED, NOTED, PROXY, Site, running_site
from tests.support.require import requires
from tests.support.secrecy import SESSION
from tests.support.upstream import Upstream

SECRET = SESSION.keep("a client's secret at the endpoint", "stile_Vn3xQ8mZ1kLp5tRw7yHc")
AT_PROVIDER = SESSION.keep("a client's secret at the provider", "desk-secret-at-the-provider")
CALLBACK = "https://desk.example/callback"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"  # RFC 7636, appendix B
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CLIENT = f"assertion_clients: [{{id: desk, sha256: {hashlib.sha256(SECRET.encode()).hexdigest()}}}]"


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    requires("node", is_installed(), "`make issuers` installs an OpenID provider and clients, and Node.js for Linux")


@pytest.fixture
def site(upstream: Upstream, tmp_path: Path) -> Iterator[Site]:
    with running_site(tmp_path, upstream, oauth_proxy=f"{PROXY}, {CLIENT}") as running:
        yield running


def id_token(site: Site) -> str:
    """The ID token of a person who signs in to the client, at the provider."""
    asked = {
        "response_type": "code",
        "client_id": "desk",
        "redirect_uri": CALLBACK,
        "scope": "openid",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
    }
    location = sign_in(f"{site.provider}/auth?{urlencode(asked)}", until=CALLBACK)
    (code,) = parse_qs(urlsplit(location).query)["code"]
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "code_verifier": VERIFIER}
    return SESSION.keep("an ID token", str(asked_of_provider(site, form)["id_token"]))


def asked_of_provider(site: Site, form: dict[str, str]) -> Any:
    answer = httpx2.post(
        f"{site.provider}/token", data={**form, "client_id": "desk", "client_secret": AT_PROVIDER}, trust_env=False
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def assertion(site: Site, subject: str, *, audience: str, resource: str, scope: str) -> str:
    form = {
        "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
        "requested_token_type": "urn:ietf:params:oauth:token-type:id-jag",
        "subject_token": subject,
        "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
        "audience": audience,
        "resource": resource,
        "scope": scope,
    }
    return SESSION.keep("an assertion", str(asked_of_provider(site, form)["access_token"]))


def auth(site: Site, memory: Memory, *, method: Any, secret: str = SECRET, scope: str = "orders:read") -> Any:
    subject = id_token(site)

    async def fetch(audience: str, resource: str) -> str:
        return await asyncio.to_thread(
            assertion, site, subject, audience=audience, resource=resource, scope="orders:read orders:write"
        )

    return IdentityAssertionOAuthProvider(
        server_url=f"{site.url}/mcp",
        storage=memory,
        client_id="desk",
        client_secret=secret,
        issuer=site.url,
        assertion_provider=fetch,
        scope=scope,
        token_endpoint_auth_method=method,
    )


async def calls(site: Site, auth: Any, *tools: str) -> list[Any]:
    async with (
        httpx2.AsyncClient(auth=auth, trust_env=False) as http,
        Client(streamable_http_client(f"{site.url}/mcp", http_client=http)) as client,
    ):
        return [(await client.call_tool(tool, {})).structured_content for tool in tools]


@pytest.mark.parametrize("method", ["client_secret_post", "client_secret_basic"])
def test_client_signs_in_with_an_assertion_and_steps_up(site: Site, method: str) -> None:
    memory = Memory()

    results = asyncio.run(calls(site, auth(site, memory, method=method), "count", "note"))

    assert results == [COUNTED, NOTED]
    assert memory.scopes == {"orders:read", "orders:write"}  # the second call needed more, and another assertion
    assert memory.tokens is not None
    assert memory.tokens.refresh_token is None


def test_client_with_another_secret_is_refused(site: Site) -> None:
    guess = SESSION.keep("a guess", "stile_aGuessOfASecret123")

    with pytest.raises(BaseExceptionGroup) as caught:
        asyncio.run(calls(site, auth(site, Memory(), method="client_secret_post", secret=guess), "count"))

    assert caught.group_contains(OAuthTokenError, match="invalid_client")


def test_assertion_for_another_endpoint_is_refused(site: Site) -> None:
    other = {"audience": site.url.replace("things", "others"), "resource": f"{site.url}/mcp"}
    wrong = assertion(site, id_token(site), scope="orders:read", **other)
    form = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": wrong, "client_id": "desk"}

    answer = httpx2.post(f"{site.url}/oauth/token", data={**form, "client_secret": SECRET}, trust_env=False)

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")
