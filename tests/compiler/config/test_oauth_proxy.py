"""The section ``oauth_proxy`` below an issuer: what it says, and what is reported of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from handler.bundle.identity import OAuthProxy
from handler.compiler.config.table import PROXY
from tests.support.diagnostics import Reported
from tests.support.endpoints import compiled, reported

FILES = {"index.graphql": "type Query { a: Int }"}
HEAD = "identity:\n  issuer: https://login.example\n  jwksendpoint: https://login.example/jwks\n  audience: api\n"
URLS = "authorize_url: 'https://login.example/a', token_url: 'https://login.example/t'"
LEAST = f"{URLS}, client_id: one, redirect_uris: 'https://client.example/cb'"


def proxy_in(folder: Path, proxy: str) -> OAuthProxy | None:
    config = f"{HEAD}  oauth_proxy: {{{proxy}}}\n"
    return compiled(folder, {**FILES, "config.yaml": config}).bundle.identity.oauth_proxy


def problems_of(folder: Path, proxy: str) -> list[Reported]:
    """The problems of an OAuth proxy, which is on one line."""
    lines = reported(folder, {**FILES, "config.yaml": f"{HEAD}  oauth_proxy: {{{proxy}}}\n"})
    assert all(line.startswith("config.yaml:5:") for line in lines), lines
    return lines


def test_everything_about_an_oauth_proxy_is_kept(tmp_path: Path) -> None:
    more = (
        "client_secret: 'env:PROVIDER', client_metadata_documents: ['https://client.example/client.json'], "
        "scope_prefix: 'api://things/', extra_scopes: [openid, offline_access], resource: keep"
    )

    assert proxy_in(tmp_path, f"{LEAST}, {more}") == OAuthProxy(
        issuer="https://login.example",
        authorize_url="https://login.example/a",
        token_url="https://login.example/t",
        client_id="one",
        client_secret="env:PROVIDER",
        redirect_uris=("https://client.example/cb",),
        client_metadata_documents=("https://client.example/client.json",),
        scope_prefix="api://things/",
        extra_scopes=("openid", "offline_access"),
        resource="keep",
    )


def test_what_is_not_said_of_an_oauth_proxy_changes_nothing(tmp_path: Path) -> None:
    assert proxy_in(tmp_path, LEAST) == OAuthProxy(
        issuer="https://login.example",
        authorize_url="https://login.example/a",
        token_url="https://login.example/t",
        client_id="one",
        client_secret="",
        redirect_uris=("https://client.example/cb",),
        client_metadata_documents=(),
        scope_prefix="",
        extra_scopes=(),
        resource="drop",
    )


def test_endpoint_without_an_oauth_proxy_has_none(tmp_path: Path) -> None:
    assert compiled(tmp_path, {**FILES, "config.yaml": HEAD}).bundle.identity.oauth_proxy is None


@pytest.mark.parametrize(
    "uri",
    [
        "https://client.example/cb?a=b",
        "http://127.0.0.1/cb",
        "http://127.0.0.1:33418/",
        "http://localhost:3000/cb",
        "http://[::1]/cb",
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "com.example.app:/cb",
    ],
)
def test_redirect_uri_is_of_the_web_of_loopback_or_an_apps_own(tmp_path: Path, uri: str) -> None:
    proxy = proxy_in(tmp_path, f"{URLS}, client_id: one, redirect_uris: ['{uri}']")

    assert proxy is not None
    assert proxy.redirect_uris == (uri,)


@pytest.mark.parametrize(
    ("uri", "fault"),
    [
        ("/callback", "absolute URI"),
        ("//client.example/cb", "absolute URI"),
        ("https://client.example/cb#here", "absolute URI"),
        ("https://client.example/c b", "absolute URI"),
        ("https://client.example\\@evil.example/", "absolute URI"),
        ("https://cl\u00efent.example/cb", "absolute URI"),
        ("https://*.example/cb", "pattern"),
        ("javascript:alert(1)", "javascript"),
        ("data:text/html,x", "data"),
        ("http://client.example/cb", "127.0.0.1, localhost and [::1]"),
        ("http://127.0.0.1.example/cb", "127.0.0.1, localhost and [::1]"),
        ("https://user@client.example/cb", "user"),
        ("https:///cb", "user"),
    ],
)
def test_other_redirect_uris_are_refused(tmp_path: Path, uri: str, fault: str) -> None:
    assert problems_of(tmp_path, f"{URLS}, client_id: one, redirect_uris: ['{uri}']") == [
        f'invalid-redirect-uri: "identity.oauth_proxy.redirect_uris" & {fault}'
    ]


@pytest.mark.parametrize(
    ("proxy", "problem"),
    [
        (
            LEAST.replace("client_id: one", "client_id: ''"),
            "invalid-value: \"identity.oauth_proxy.client_id\" & ''",
        ),
        (
            f"{LEAST}, scope: a",
            f'unknown-key: "identity.oauth_proxy.scope" & {", ".join(PROXY)}',
        ),
        (
            LEAST.replace("https://login.example/t", "http://login.example/t"),
            'invalid-value: "identity.oauth_proxy.token_url"',
        ),
        (
            LEAST.replace("https://login.example/a", "https://login.example/a#b"),
            'invalid-value: "identity.oauth_proxy.authorize_url"',
        ),
        (
            LEAST.replace("https://login.example/t", "https://me:secret@login.example/t"),
            'credentials-in-url: "identity.oauth_proxy.token_url"',
        ),
        (
            f"{LEAST}, client_secret: hunter2",
            'invalid-secret-reference: "identity.oauth_proxy.client_secret"',
        ),
        (
            f"{LEAST}, client_metadata_documents: ['https://client.example']",
            'invalid-client-id: "identity.oauth_proxy.client_metadata_documents"',
        ),
        (
            f"{LEAST}, client_metadata_documents: ['http://client.example/c']",
            'invalid-client-id: "identity.oauth_proxy.client_metadata_documents"',
        ),
        (
            f"{LEAST}, scope_prefix: 'a b'",
            'invalid-value: "identity.oauth_proxy.scope_prefix"',
        ),
        (
            f"{LEAST}, extra_scopes: ['a b']",
            'invalid-scope: "identity.oauth_proxy.extra_scopes"',
        ),
        (f"{LEAST}, resource: no", 'invalid-value: "identity.oauth_proxy.resource"'),
    ],
)
def test_what_does_not_fit_is_reported(tmp_path: Path, proxy: str, problem: str) -> None:
    assert problems_of(tmp_path, proxy) == [problem]


def test_redirect_uris_have_to_be_there(tmp_path: Path) -> None:
    assert problems_of(tmp_path, f"{URLS}, client_id: one") == ['invalid-value: "identity.oauth_proxy.redirect_uris"']


def test_oauth_proxy_without_an_issuers_name_leads_nowhere(tmp_path: Path) -> None:
    config = f"identity: {{jwksendpoint: 'https://a.b/', audience: a, oauth_proxy: {{{LEAST}}}}}\n"

    (line,) = reported(tmp_path, {**FILES, "config.yaml": config})

    assert line == "missing-issuer"


def test_one_oauth_proxy_is_all_that_clients_can_find(tmp_path: Path) -> None:
    one = f"jwksendpoint: 'https://a.b/', audience: a, oauth_proxy: {{{LEAST}}}"
    config = f"identity:\n  - {{issuer: one, {one}}}\n  - {{issuer: two, {one}}}\n"

    (line,) = reported(tmp_path, {**FILES, "config.yaml": config})

    assert line == "duplicate-oauth-proxy"
    assert line.startswith("config.yaml:3:")
