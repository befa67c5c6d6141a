"""Who gets in. Keys come in three forms; a bad one is refused and never taken for none."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.identity import Access, ApiKey, Identity
from handler.bundle.model import Bundle
from handler.errors.access import CredentialRefused, CredentialRequired
from handler.http.client import HttpClient
from handler.server.auth.identification import Presented, identify
from handler.server.auth.principal import ANONYMOUS, DEVELOPMENT, Principal, anonymous_at
from handler.server.auth.tokens import TokenVerifier
from tests.bundle.test_model import EMPTY
from tests.support.endpoints import compiled
from tests.support.function import Function, running_function
from tests.support.local import LOCAL

KEY = "stile_q0v6wJr1oJ0zVb3kX0Yx8m1y3Z5n7C9fK2hT4rD6sLw"
OLD = "stile_expired"
API_KEYS = (
    ApiKey(name="ci", sha256=hashlib.sha256(KEY.encode()).hexdigest(), expires=0, claims=None),
    ApiKey(name="old", sha256=hashlib.sha256(OLD.encode()).hexdigest(), expires=1_000, claims=None),
)
OPEN = replace(
    EMPTY, access=Access(anonymous="allow"), identity=Identity(issuers=(), api_keys=API_KEYS, trusted_apis=())
)
CHALLENGING = replace(EMPTY, access=Access(anonymous="challenge"))

FORMS = [
    {"authorization": f"Apikey {KEY}"},
    {"authorization": f"apikey {KEY}"},
    {"authorization": f"APIKEY   {KEY}"},
    {"authorization": f"Bearer {KEY}"},
    {"authorization": f"bearer {KEY}"},
    {"x-api-key": KEY},
]

BAD = [
    {"authorization": "Apikey wrong"},
    {"authorization": f"Apikey {KEY}x"},
    {"authorization": "Apikey"},
    {"authorization": "Apikey "},
    {"authorization": ""},
    {"authorization": "Bearer "},
    {"authorization": "Bearer eyJhbGciOiJub25lIn0.e30."},
    {"authorization": f"Basic {KEY}"},
    {"authorization": KEY},
    {"x-api-key": ""},
    {"x-api-key": "ünïcödé"},
    {"x-api-key": hashlib.sha256(KEY.encode()).hexdigest()},
    {"x-api-key": OLD},
    {"authorization": f"Apikey {KEY}", "x-api-key": KEY},
]


def identified(headers: Mapping[str, str], bundle: Bundle, *, development: bool = False, now: float = 0) -> Principal:
    """Who calls with these headers."""
    with closing(HttpClient(LOCAL)) as http:
        tokens = TokenVerifier(http, secrets={})
        presented = Presented(headers=headers)
        stand_in = (lambda _: DEVELOPMENT) if development else anonymous_at
        return asyncio.run(identify(presented, bundle, tokens=tokens, without_credential=stand_in, now=now))


@pytest.mark.parametrize("headers", FORMS)
def test_key_gets_in_in_each_form(headers: Mapping[str, str]) -> None:
    principal = identified(headers, OPEN, now=2_000)

    assert (principal.kind, principal.name, principal.unrestricted) == ("api_key", "ci", True)


@pytest.mark.parametrize("headers", BAD)
def test_bad_credential_is_refused_even_where_anonymous_callers_get_in(headers: Mapping[str, str]) -> None:
    for development in (False, True):
        with pytest.raises(CredentialRefused):
            identified(headers, OPEN, development=development, now=2_000)


def test_key_works_until_it_expires() -> None:
    headers = {"x-api-key": OLD}

    assert identified(headers, OPEN, now=999).name == "old"
    with pytest.raises(CredentialRefused):
        identified(headers, OPEN, now=1_000)


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({"authorization": "Apikey wrong"}, "unknown_api_key"),
        ({"x-api-key": OLD}, "expired"),
        ({"authorization": "Basic dTpw"}, "scheme"),
        ({"authorization": KEY, "x-api-key": KEY}, "two_credentials"),
        ({"authorization": "Bearer a.b"}, "malformed"),
    ],
)
def test_reason_of_a_refusal_is_a_word_for_the_log(headers: Mapping[str, str], reason: str) -> None:
    with pytest.raises(CredentialRefused) as caught:
        identified(headers, OPEN, now=2_000)

    assert (caught.value.reason, str(caught.value)) == (reason, "the credential was refused")


@pytest.mark.parametrize("claims", [{}, {"level": 5}])
def test_holder_of_a_key_with_claims_is_held_to_policies(claims: Mapping[str, Any]) -> None:
    key = replace(API_KEYS[0], claims=dict(claims))
    bundle = replace(OPEN, identity=replace(OPEN.identity, api_keys=(key,)))

    principal = identified({"x-api-key": KEY}, bundle)

    assert (principal.kind, principal.claims, principal.unrestricted) == ("api_key", claims, False)


@pytest.mark.parametrize(
    ("claims", "scopes"),
    [
        ({"scope": "orders:read  orders:write"}, {"orders:read", "orders:write"}),
        ({"scope": ["orders:read", "orders:write"]}, {"orders:read", "orders:write"}),
        ({"scp": "orders:read"}, {"orders:read"}),
        ({"scp": ["orders:read", 7, None]}, {"orders:read"}),
        ({"scp": ["a"], "scope": "b"}, {"a", "b"}),
        ({"scope": None, "scp": {"a": 1}}, set()),
        ({}, set()),
        (None, set()),
    ],
)
def test_scopes_are_read_in_the_forms_that_issuers_write(claims: Mapping[str, Any] | None, scopes: set[str]) -> None:
    assert Principal(kind="token", claims=claims).scopes == scopes


def test_issuer_and_subject_are_texts_whatever_the_claims_hold() -> None:
    good = Principal(kind="token", claims={"iss": "https://a.example", "sub": "user-1"})

    assert (good.issuer, good.subject) == ("https://a.example", "user-1")
    for claims in (None, {}, {"iss": ["a"], "sub": 7}):
        principal = Principal(kind="token", claims=claims)
        assert (principal.issuer, principal.subject) == ("", "")


def test_no_credential_is_anonymous_where_that_is_allowed() -> None:
    assert identified({}, OPEN) == ANONYMOUS
    with pytest.raises(CredentialRequired):
        identified({}, CHALLENGING)


def test_no_credential_is_the_development_principal_on_stile_dev() -> None:
    assert identified({}, CHALLENGING, development=True) == DEVELOPMENT


SCHEMA = 'schema @tool(name: "all", graphql: {expose: true, types: "Query", fields: ".*"}) { query: Query }'
KEYS = f"identity: {{api_keys: [{{name: ci, sha256: {hashlib.sha256(KEY.encode()).hexdigest()}}}]}}"


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Function]:
    """An endpoint without an access section, and one key."""
    files = {"index.graphql": f"{SCHEMA} type Query {{ a: Int }}", "config.yaml": KEYS}
    with running_function(compiled(tmp_path, files)) as function:
        yield function


def test_without_an_access_section_only_keys_get_in(closed: Function) -> None:
    anonymous = closed.request("tools/list")
    holder = closed.request("tools/list", headers={"authorization": f"Apikey {KEY}"})

    assert anonymous.status == 401
    assert anonymous.headers["www-authenticate"] == 'Bearer realm="api/things"'
    assert [tool["name"] for tool in holder.result["tools"]] == ["all"]


def test_refused_credential_is_401_and_says_invalid_token_only(closed: Function) -> None:
    answer = closed.request("tools/list", headers={"authorization": "Bearer stile_wrong"})

    assert answer.status == 401
    assert answer.headers["www-authenticate"] == 'Bearer realm="api/things", error="invalid_token"'
    assert answer.json == {
        "error": "unauthorized",
        "message": "the credential was refused",
        "code": "credential-refused",
    }


def test_key_is_in_no_line_of_the_log(closed: Function) -> None:
    closed.request("tools/list", headers={"authorization": f"Apikey {KEY}"})
    closed.request("tools/list", headers={"authorization": f"Apikey {KEY}x"})

    assert len(closed.lines) == 2
    assert KEY not in str(closed.lines)


def test_without_an_access_section_anonymous_callers_see_nothing_even_if_allowed(tmp_path: Path) -> None:
    files = {"index.graphql": f"{SCHEMA} type Query {{ a: Int }}", "config.yaml": "access: {anonymous: allow}"}
    with running_function(compiled(tmp_path, files)) as function:
        assert function.request("tools/list").result["tools"] == []
        assert function.query("all", "{ a }").json["error"]["code"] == -32602


def test_constant_conditions_decide_what_anonymous_callers_see(tmp_path: Path) -> None:
    config = """
        access:
          anonymous: allow
          policies:
            - type: Query
              policyDefault: {condition: false}
              rules: [{condition: true, fields: [a]}]
    """
    files = {"index.graphql": f"{SCHEMA} type Query {{ a: Int b: Int }}", "config.yaml": config}
    with running_function(compiled(tmp_path, files)) as function:
        (tool,) = function.request("tools/list").result["tools"]
        refused = function.query("all", "{ b }").text

    assert "a: Int" in tool["inputSchema"]["properties"]["query"]["description"]
    assert "b: Int" not in tool["inputSchema"]["properties"]["query"]["description"]
    assert "Cannot query field 'b' on type 'Query'." in refused
