"""Who gets in. Keys come in three forms; a bad one is refused and never taken for none."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from handler.bundle import Access, ApiKey, Identity
from handler.errors import CredentialRefused, CredentialRequired
from handler.server.principal import ANONYMOUS, DEVELOPMENT, identify
from tests.support.endpoints import compiled
from tests.support.function import Function, running_function
from tests.test_bundle import EMPTY

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


@pytest.mark.parametrize("headers", FORMS)
def test_key_gets_in_in_each_form(headers: Mapping[str, str]) -> None:
    principal = identify(headers, OPEN, development=False, now=2_000)

    assert (principal.kind, principal.name, principal.unrestricted) == ("api_key", "ci", True)


@pytest.mark.parametrize("headers", BAD)
def test_bad_credential_is_refused_even_where_anonymous_callers_get_in(headers: Mapping[str, str]) -> None:
    for development in (False, True):
        with pytest.raises(CredentialRefused):
            identify(headers, OPEN, development=development, now=2_000)


def test_key_works_until_it_expires() -> None:
    headers = {"x-api-key": OLD}

    assert identify(headers, OPEN, development=False, now=999).name == "old"
    with pytest.raises(CredentialRefused):
        identify(headers, OPEN, development=False, now=1_000)


def test_no_credential_is_anonymous_where_that_is_allowed() -> None:
    assert identify({}, OPEN, development=False, now=0) == ANONYMOUS
    with pytest.raises(CredentialRequired):
        identify({}, CHALLENGING, development=False, now=0)


def test_no_credential_is_the_development_principal_on_stile_dev() -> None:
    assert identify({}, CHALLENGING, development=True, now=0) == DEVELOPMENT


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
    assert answer.json == {"error": "unauthorized", "message": "the credential was refused"}


def test_key_is_in_no_line_of_the_log(closed: Function) -> None:
    closed.request("tools/list", headers={"authorization": f"Apikey {KEY}"})
    closed.request("tools/list", headers={"authorization": f"Apikey {KEY}x"})

    assert len(closed.lines) == 2
    assert KEY not in str(closed.lines)


def test_without_an_access_section_anonymous_callers_see_nothing_even_if_allowed(tmp_path: Path) -> None:
    files = {"index.graphql": f"{SCHEMA} type Query {{ a: Int }}", "config.yaml": "access: {anonymous: allow}"}
    with running_function(compiled(tmp_path, files)) as function:
        assert function.request("tools/list").result["tools"] == []
        assert function.query("all", "{ a }").status == 401


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
