"""Clients' own OAuth flows, end to end: through the OAuth proxy at a provider without registration, and without it at
one that has it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
from mcp.shared.auth import OAuthToken

from tests.issuers.browsing import sign_in
from tests.issuers.clients import Memory, Sdk, call_with_python, call_with_typescript
from tests.issuers.providing import is_installed
from tests.issuers.sites import COUNTED, PROXY, Site, running_site
from tests.support.require import requires
from tests.support.secrecy import SESSION
from tests.support.upstream import Upstream


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    requires("node", is_installed(), "`make issuers` installs an OpenID provider and clients, and Node.js for Linux")


DOCUMENT = "https://client.example/client.json"


@pytest.fixture(
    params=[PROXY, f"{PROXY}, resource: keep, extra_scopes: [offline_access]", ""],
    ids=["OAuth proxy", "OAuth proxy that says for which API", "registration"],
)
def site(request: pytest.FixtureRequest, upstream: Upstream, tmp_path: Path) -> Iterator[Site]:
    with running_site(tmp_path, upstream, oauth_proxy=request.param) as running:
        yield running


@pytest.fixture
def proxied(upstream: Upstream, tmp_path: Path) -> Iterator[Site]:
    more = f"scope_prefix: 'api://shop/', extra_scopes: [offline_access], client_metadata_documents: ['{DOCUMENT}']"
    with running_site(tmp_path, upstream, oauth_proxy=f"{PROXY}, {more}") as running:
        yield running


def test_python_client_signs_in_by_itself_and_calls_a_tool(site: Site) -> None:
    memory = Memory()

    outcome = asyncio.run(call_with_python(site, memory))

    assert list(outcome.results) == [COUNTED]
    assert len(memory.callbacks) == 1
    assert "orders:read" in memory.scopes


@pytest.mark.parametrize("sdk", ["sdk", "client"])
def test_typescript_client_signs_in_by_itself_and_calls_a_tool(site: Site, sdk: Sdk) -> None:
    outcome = call_with_typescript(site, sdk=sdk)

    assert list(outcome.results) == [COUNTED]
    assert "orders:read" in outcome.scopes[0]
    assert outcome.sign_ins == 1


def test_client_of_the_oauth_proxy_is_the_one_that_the_provider_knows(proxied: Site) -> None:
    memory = Memory()

    outcome = asyncio.run(call_with_python(proxied, memory))

    assert memory.client is not None
    assert (memory.client.client_id, memory.client.client_secret) == ("stile", None)
    assert "orders:read" in memory.scopes  # the provider says api://shop/orders:read
    assert list(outcome.results) == [COUNTED]


def test_client_with_a_document_about_itself_does_not_register(proxied: Site) -> None:
    memory = Memory()

    outcome = asyncio.run(call_with_python(proxied, memory, document=DOCUMENT))

    assert memory.client is not None
    assert memory.client.client_id == DOCUMENT
    assert list(outcome.results) == [COUNTED]


def test_refresh_token_goes_through_the_oauth_proxy(proxied: Site) -> None:
    memory = Memory()
    asyncio.run(call_with_python(proxied, memory))
    assert memory.tokens is not None
    form = {
        "grant_type": "refresh_token",
        "client_id": "stile",
        "refresh_token": SESSION.keep("a refresh token", memory.tokens.refresh_token or ""),
        "scope": "orders:read",
    }

    answer = httpx2.post(f"{proxied.url}/oauth/token", data=form)

    assert answer.status_code == 200, answer.text
    assert answer.json()["scope"] == "orders:read"
    memory.tokens = OAuthToken(access_token=answer.json()["access_token"])
    asyncio.run(call_with_python(proxied, memory))
    assert len(memory.callbacks) == 1  # nobody had to sign in again


def test_code_is_worth_nothing_without_its_verifier(proxied: Site) -> None:
    challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"  # RFC 7636, appendix B
    asked = {
        "response_type": "code",
        "client_id": "stile",
        "redirect_uri": proxied.redirect_uri,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    location = sign_in(f"{proxied.url}/oauth/authorize?{urlencode(asked)}", until=proxied.redirect_uri)
    (code,) = parse_qs(urlsplit(location).query)["code"]
    form = {
        "grant_type": "authorization_code",
        "client_id": "stile",
        "redirect_uri": proxied.redirect_uri,
        "code": SESSION.keep("an authorization code", code),
    }

    wrong = httpx2.post(f"{proxied.url}/oauth/token", data={**form, "code_verifier": "x" * 43})

    assert (wrong.status_code, wrong.json()["error"]) == (400, "invalid_grant")
