"""The section ``bridge`` below an issuer: what it says, and what is reported of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from handler.bundle.identity import Bridge
from handler.compiler.config.oauth_proxy import KEYS
from tests.support.endpoints import compiled, reported

FILES = {"index.graphql": "type Query { a: Int }"}
HEAD = "identity:\n  issuer: https://login.example\n  jwksendpoint: https://login.example/jwks\n  audience: api\n"
URLS = "authorize_url: 'https://login.example/a', token_url: 'https://login.example/t'"
PREFIX = "expected what the provider has before the names of scopes, as api://ID/, got 'a b'"
LEAST = f"{URLS}, client_id: one, redirect_uris: 'https://client.example/cb'"


def bridge_in(folder: Path, bridge: str) -> Bridge | None:
    config = f"{HEAD}  bridge: {{{bridge}}}\n"
    return compiled(folder, {**FILES, "config.yaml": config}).bundle.identity.bridge


def problems_of(folder: Path, bridge: str) -> list[str]:
    """The sentences, without where they stand: that is the bridge's line."""
    lines = reported(folder, {**FILES, "config.yaml": f"{HEAD}  bridge: {{{bridge}}}\n"})
    assert all(line.startswith("config.yaml:5:") for line in lines), lines
    return [line.split(": ", 1)[1] for line in lines]


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
        ("/callback", "expected an absolute URI without spaces and fragment"),
        ("//client.example/cb", "expected an absolute URI without spaces and fragment"),
        ("https://client.example/cb#here", "expected an absolute URI without spaces and fragment"),
        ("https://client.example/c b", "expected an absolute URI without spaces and fragment"),
        ("https://client.example\\@evil.example/", "expected an absolute URI without spaces and fragment"),
        ("https://cl\u00efent.example/cb", "expected an absolute URI without spaces and fragment"),
        ("https://*.example/cb", "expected a whole URI: codes that go where a pattern leads may go to anybody"),
        ("javascript:alert(1)", "expected https, http on loopback or an app's own scheme, not javascript"),
        ("data:text/html,x", "expected https, http on loopback or an app's own scheme, not data"),
        ("http://client.example/cb", "http is for 127.0.0.1, localhost and [::1] only: expected https"),
        ("http://127.0.0.1.example/cb", "http is for 127.0.0.1, localhost and [::1] only: expected https"),
        ("https://user@client.example/cb", "expected a URL without a user in it"),
        ("https:///cb", "expected a URL without a user in it"),
    ],
)
def test_other_redirect_uris_are_refused(tmp_path: Path, uri: str, fault: str) -> None:
    assert problems_of(tmp_path, f"{URLS}, client_id: one, redirect_uris: ['{uri}']") == [f'"{uri}": {fault}']


@pytest.mark.parametrize(
    ("bridge", "sentence"),
    [
        (
            LEAST.replace("client_id: one", "client_id: ''"),
            "\"identity.bridge.client_id\": expected the id of the one client that the provider knows, got ''",
        ),
        (
            f"{LEAST}, scope: a",
            f'unknown key "identity.bridge.scope": expected one of {", ".join(KEYS)}',
        ),
        (
            LEAST.replace("https://login.example/t", "http://login.example/t"),
            "\"identity.bridge.token_url\": expected an https URL of the provider, got 'http://login.example/t'",
        ),
        (
            LEAST.replace("https://login.example/a", "https://login.example/a#b"),
            "\"identity.bridge.authorize_url\": expected an https URL of the provider, got 'https://login.example/a#b'",
        ),
        (
            LEAST.replace("https://login.example/t", "https://me:secret@login.example/t"),
            '"identity.bridge.token_url": expected a URL without credentials in it',
        ),
        (
            f"{LEAST}, client_secret: hunter2",
            '"identity.bridge.client_secret": expected env:NAME, secret:NAME or ssm:NAME',
        ),
        (
            f"{LEAST}, client_metadata_documents: ['https://client.example']",
            '"https://client.example": expected the https URL of a client ID metadata document',
        ),
        (
            f"{LEAST}, client_metadata_documents: ['http://client.example/c']",
            '"http://client.example/c": expected the https URL of a client ID metadata document',
        ),
        (
            f"{LEAST}, scope_prefix: 'a b'",
            f'"identity.bridge.scope_prefix": {PREFIX}',
        ),
        (
            f"{LEAST}, extra_scopes: ['a b']",
            '"a b" is no scope: expected characters without spaces and quotes',
        ),
        (f"{LEAST}, resource: no", "\"identity.bridge.resource\": expected drop or keep, got 'no'"),
    ],
)
def test_what_does_not_fit_is_reported(tmp_path: Path, bridge: str, sentence: str) -> None:
    assert problems_of(tmp_path, bridge) == [sentence]


def test_redirect_uris_have_to_be_there(tmp_path: Path) -> None:
    assert problems_of(tmp_path, f"{URLS}, client_id: one") == [
        '"identity.bridge.redirect_uris": expected the URIs that clients may be sent back to'
    ]


def test_bridge_without_an_issuers_name_leads_nowhere(tmp_path: Path) -> None:
    config = f"identity: {{jwksendpoint: 'https://a.b/', audience: a, bridge: {{{LEAST}}}}}\n"

    (line,) = reported(tmp_path, {**FILES, "config.yaml": config})

    assert line.endswith("a bridge leads to the provider of an issuer: give that its name, issuer")


def test_one_bridge_is_all_that_clients_can_find(tmp_path: Path) -> None:
    one = f"jwksendpoint: 'https://a.b/', audience: a, bridge: {{{LEAST}}}"
    config = f"identity:\n  - {{issuer: one, {one}}}\n  - {{issuer: two, {one}}}\n"

    (line,) = reported(tmp_path, {**FILES, "config.yaml": config})

    assert line.startswith("config.yaml:3:")
    assert line.endswith("there is a bridge already: an endpoint has one at most")
