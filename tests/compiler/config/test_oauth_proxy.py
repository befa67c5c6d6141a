"""The section ``oauth_proxy`` below an issuer: what it says, and what is reported of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from handler.bundle.identity import OAuthProxy
from handler.compiler.config.oauth_proxy import KEYS
from tests.support.endpoints import compiled, reported

FILES = {"index.graphql": "type Query { a: Int }"}
HEAD = "identity:\n  issuer: https://login.example\n  jwksendpoint: https://login.example/jwks\n  audience: api\n"
URLS = "authorize_url: 'https://login.example/a', token_url: 'https://login.example/t'"
PREFIX = "expected what the provider has before the names of scopes, as api://ID/, got 'a b'"
LEAST = f"{URLS}, client_id: one, redirect_uris: 'https://client.example/cb'"


def proxy_in(folder: Path, proxy: str) -> OAuthProxy | None:
    config = f"{HEAD}  oauth_proxy: {{{proxy}}}\n"
    return compiled(folder, {**FILES, "config.yaml": config}).bundle.identity.oauth_proxy


def problems_of(folder: Path, proxy: str) -> list[str]:
    """The sentences, without where they stand: that is the OAuth proxy's line."""
    lines = reported(folder, {**FILES, "config.yaml": f"{HEAD}  oauth_proxy: {{{proxy}}}\n"})
    assert all(line.startswith("config.yaml:5:") for line in lines), lines
    return [line.split(": ", 1)[1] for line in lines]


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
    ("proxy", "sentence"),
    [
        (
            LEAST.replace("client_id: one", "client_id: ''"),
            "\"identity.oauth_proxy.client_id\": expected the id of the one client that the provider knows, got ''",
        ),
        (
            f"{LEAST}, scope: a",
            f'unknown key "identity.oauth_proxy.scope": expected one of {", ".join(KEYS)}',
        ),
        (
            LEAST.replace("https://login.example/t", "http://login.example/t"),
            "\"identity.oauth_proxy.token_url\": expected an https URL of the provider, got 'http://login.example/t'",
        ),
        (
            LEAST.replace("https://login.example/a", "https://login.example/a#b"),
            "\"identity.oauth_proxy.authorize_url\": expected an https URL of the provider, got 'https://login.example/a#b'",
        ),
        (
            LEAST.replace("https://login.example/t", "https://me:secret@login.example/t"),
            '"identity.oauth_proxy.token_url": expected a URL without credentials in it',
        ),
        (
            f"{LEAST}, client_secret: hunter2",
            '"identity.oauth_proxy.client_secret": expected env:NAME, secret:NAME or ssm:NAME',
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
            f'"identity.oauth_proxy.scope_prefix": {PREFIX}',
        ),
        (
            f"{LEAST}, extra_scopes: ['a b']",
            '"a b" is no scope: expected characters without spaces and quotes',
        ),
        (f"{LEAST}, resource: no", "\"identity.oauth_proxy.resource\": expected drop or keep, got 'no'"),
    ],
)
def test_what_does_not_fit_is_reported(tmp_path: Path, proxy: str, sentence: str) -> None:
    assert problems_of(tmp_path, proxy) == [sentence]


def test_redirect_uris_have_to_be_there(tmp_path: Path) -> None:
    assert problems_of(tmp_path, f"{URLS}, client_id: one") == [
        '"identity.oauth_proxy.redirect_uris": expected the URIs that clients may be sent back to'
    ]


def test_oauth_proxy_without_an_issuers_name_leads_nowhere(tmp_path: Path) -> None:
    config = f"identity: {{jwksendpoint: 'https://a.b/', audience: a, oauth_proxy: {{{LEAST}}}}}\n"

    (line,) = reported(tmp_path, {**FILES, "config.yaml": config})

    assert line.endswith("an OAuth proxy leads to the provider of an issuer: give that its name, issuer")


def test_one_oauth_proxy_is_all_that_clients_can_find(tmp_path: Path) -> None:
    one = f"jwksendpoint: 'https://a.b/', audience: a, oauth_proxy: {{{LEAST}}}"
    config = f"identity:\n  - {{issuer: one, {one}}}\n  - {{issuer: two, {one}}}\n"

    (line,) = reported(tmp_path, {**FILES, "config.yaml": config})

    assert line.startswith("config.yaml:3:")
    assert line.endswith("there is an OAuth proxy already: an endpoint has one at most")


def test_old_key_is_read_with_a_warning(tmp_path: Path) -> None:
    made = compiled(tmp_path, {**FILES, "config.yaml": f"{HEAD}  bridge: {{{LEAST}}}\n"})

    assert made.bundle.identity.oauth_proxy == proxy_in(tmp_path / "new", LEAST)
    (warning,) = [each for each in made.warnings if each.code == "old-key"]
    assert (warning.file, warning.line, warning.column) == ("config.yaml", HEAD.count("\n") + 1, 3)
    assert warning.sentence == '"identity.bridge" is the old name of "identity.oauth_proxy"'


def test_problem_below_the_old_key_names_the_key_as_it_is_written(tmp_path: Path) -> None:
    config = f"{HEAD}  bridge: {{{LEAST}, resource: no}}\n"

    (line,) = reported(tmp_path, {**FILES, "config.yaml": config})

    assert line.endswith("\"identity.bridge.resource\": expected drop or keep, got 'no'")


def test_old_key_beside_the_new_one_is_a_problem(tmp_path: Path) -> None:
    config = f"{HEAD}  oauth_proxy: {{{LEAST}}}\n  bridge: {{{LEAST}}}\n"

    (line,) = reported(tmp_path, {**FILES, "config.yaml": config})

    assert line.startswith(f"config.yaml:{HEAD.count(chr(10)) + 2}:3: ")
    assert line.endswith("there is an OAuth proxy already: an endpoint has one at most")
