"""The section ``bridge`` below an issuer: what it says, and what is reported of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from handler.bundle.identity import Bridge
from handler.compiler.config.oauth_proxy import KEYS
from tests.support.diagnostics import Reported
from tests.support.endpoints import compiled, reported

FILES = {"index.graphql": "type Query { a: Int }"}
HEAD = "identity:\n  issuer: https://login.example\n  jwksendpoint: https://login.example/jwks\n  audience: api\n"
URLS = "authorize_url: 'https://login.example/a', token_url: 'https://login.example/t'"
LEAST = f"{URLS}, client_id: one, redirect_uris: 'https://client.example/cb'"


def bridge_in(folder: Path, bridge: str) -> Bridge | None:
    config = f"{HEAD}  bridge: {{{bridge}}}\n"
    return compiled(folder, {**FILES, "config.yaml": config}).bundle.identity.bridge


def problems_of(folder: Path, bridge: str) -> list[Reported]:
    """The problems of a bridge, which is on one line."""
    lines = reported(folder, {**FILES, "config.yaml": f"{HEAD}  bridge: {{{bridge}}}\n"})
    assert all(line.startswith("config.yaml:5:") for line in lines), lines
    return lines


def test_everything_about_a_bridge_is_kept(tmp_path: Path) -> None:
    more = (
        "client_secret: 'env:PROVIDER', client_metadata_documents: ['https://client.example/client.json'], "
        "scope_prefix: 'api://things/', extra_scopes: [openid, offline_access], resource: keep"
    )

    assert bridge_in(tmp_path, f"{LEAST}, {more}") == Bridge(
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


def test_what_is_not_said_of_a_bridge_changes_nothing(tmp_path: Path) -> None:
    assert bridge_in(tmp_path, LEAST) == Bridge(
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


def test_endpoint_without_a_bridge_has_none(tmp_path: Path) -> None:
    assert compiled(tmp_path, {**FILES, "config.yaml": HEAD}).bundle.identity.bridge is None


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
    bridge = bridge_in(tmp_path, f"{URLS}, client_id: one, redirect_uris: ['{uri}']")

    assert bridge is not None
    assert bridge.redirect_uris == (uri,)


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
        f'invalid-redirect-uri: "{uri}" & {fault}'
    ]


@pytest.mark.parametrize(
    ("bridge", "problem"),
    [
        (
            LEAST.replace("client_id: one", "client_id: ''"),
            "invalid-value: \"identity.bridge.client_id\" & ''",
        ),
        (
            f"{LEAST}, scope: a",
            f'unknown-key: "identity.bridge.scope" & {", ".join(KEYS)}',
        ),
        (
            LEAST.replace("https://login.example/t", "http://login.example/t"),
            "invalid-value: \"identity.bridge.token_url\" & 'http://login.example/t'",
        ),
        (
            LEAST.replace("https://login.example/a", "https://login.example/a#b"),
            "invalid-value: \"identity.bridge.authorize_url\" & 'https://login.example/a#b'",
        ),
        (
            LEAST.replace("https://login.example/t", "https://me:secret@login.example/t"),
            'credentials-in-url: "identity.bridge.token_url"',
        ),
        (
            f"{LEAST}, client_secret: hunter2",
            'invalid-secret-reference: "identity.bridge.client_secret"',
        ),
        (
            f"{LEAST}, client_metadata_documents: ['https://client.example']",
            'invalid-client-id: "https://client.example"',
        ),
        (
            f"{LEAST}, client_metadata_documents: ['http://client.example/c']",
            'invalid-client-id: "http://client.example/c"',
        ),
        (
            f"{LEAST}, scope_prefix: 'a b'",
            "invalid-value: \"identity.bridge.scope_prefix\" & 'a b'",
        ),
        (
            f"{LEAST}, extra_scopes: ['a b']",
            'invalid-scope: "a b"',
        ),
        (f"{LEAST}, resource: no", "invalid-value: \"identity.bridge.resource\" & 'no'"),
    ],
)
def test_what_does_not_fit_is_reported(tmp_path: Path, bridge: str, problem: str) -> None:
    assert problems_of(tmp_path, bridge) == [problem]


def test_redirect_uris_have_to_be_there(tmp_path: Path) -> None:
    assert problems_of(tmp_path, f"{URLS}, client_id: one") == ['invalid-value: "identity.bridge.redirect_uris"']


def test_bridge_without_an_issuers_name_leads_nowhere(tmp_path: Path) -> None:
    config = f"identity: {{jwksendpoint: 'https://a.b/', audience: a, bridge: {{{LEAST}}}}}\n"

    (line,) = reported(tmp_path, {**FILES, "config.yaml": config})

    assert line == "missing-issuer"


def test_one_bridge_is_all_that_clients_can_find(tmp_path: Path) -> None:
    one = f"jwksendpoint: 'https://a.b/', audience: a, bridge: {{{LEAST}}}"
    config = f"identity:\n  - {{issuer: one, {one}}}\n  - {{issuer: two, {one}}}\n"

    (line,) = reported(tmp_path, {**FILES, "config.yaml": config})

    assert line == "duplicate-oauth-proxy"
    assert line.startswith("config.yaml:3:")
