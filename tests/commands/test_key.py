from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from handler.compiler.compile import compile_endpoint
from handler.server.auth.principal import has_scopes, principal_of_key
from tests.commands.running import FILES, Stile, ran
from tests.support.endpoints import write_endpoint

ODD_NAMES = [
    "ci",
    'say "hi"',
    "it's",
    "two\nlines\n",
    "a: b",
    "- a",
    "#no comment",
    "{not: yaml}",
    "true",
    "12",
    "tab\there",
    "back\\slash",
    "[bold]markup[/]",
    "ünïcödé 🐑",
    " spaces ",
    "x" * 300,
    "\x7f\u2028",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_the_lines_for_the_configuration_let_the_key_in_under_its_name(
    workplace: Path, stile: Stile, name: str
) -> None:
    done = stile("key", name)

    _, key, _, lines = done.out.split("\n\n", 3)
    assert yaml.safe_load(lines) == {
        "identity": {"api_keys": [{"name": name, "sha256": hashlib.sha256(key.strip().encode()).hexdigest()}]}
    }
    endpoint = write_endpoint(workplace, {**FILES, "config.yaml": lines})
    (let_in,) = compile_endpoint(endpoint).bundle.identity.api_keys
    assert let_in.name == name
    assert let_in.sha256 == hashlib.sha256(key.strip().encode()).hexdigest()


@pytest.mark.parametrize(
    ("claims", "expires"),
    [
        ({"role": "billing", "scope": "a b", "n": [1, 2.5, None, True], "day": "2020-01-01", "o": {"yes": "no"}}, ""),
        ({}, "2130-01-31"),
        ({"ü": "🐑\u2028\x7f", "a: b": "- c"}, "2130-01-31T10:00:00+02:00"),
    ],
)
def test_claims_and_expiry_are_those_of_the_key_that_gets_in(
    workplace: Path, stile: Stile, claims: dict[str, Any], expires: str
) -> None:
    done = stile("key", "billing", "--claims", json.dumps(claims), *(["--expires", expires] if expires else []))

    endpoint = write_endpoint(workplace, {**FILES, "config.yaml": done.out.split("\n\n", 3)[3]})
    (key,) = compile_endpoint(endpoint).bundle.identity.api_keys
    assert key.claims == claims
    moment = datetime.fromisoformat(expires or "1970-01-01")
    assert key.expires == (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    assert principal_of_key(key).unrestricted is False
    assert "Policies, and conditions and scopes of tools, judge its holder." in done.err


def test_key_without_claims_says_that_its_holder_skips_policies(workplace: Path, stile: Stile) -> None:
    done = stile("key", "root")

    endpoint = write_endpoint(workplace, {**FILES, "config.yaml": done.out.split("\n\n", 3)[3]})
    (key,) = compile_endpoint(endpoint).bundle.identity.api_keys
    assert principal_of_key(key).unrestricted
    assert has_scopes(["any:scope"], principal_of_key(key))
    assert "Its holder skips all policies, and the conditions and scopes of tools" in done.err


@pytest.mark.parametrize("claims", ["", "{", "[1]", "null", "NaN", '{"a": NaN}', "role=billing", r'{"a": "\ud83d"}'])
def test_claims_that_are_not_a_json_object_are_refused(claims: str) -> None:
    done = ran("key", "a", "--claims", claims)

    assert (done.code, done.out) == (2, "")
    assert 'expected a JSON object, as {"kind": "partner"}' in done.err


@pytest.mark.parametrize("expires", ["", "soon", "2020-01-01", "2030-13-01", "9999999999", "2130-01-31T25:00"])
def test_expiry_that_is_not_a_date_to_come_is_refused(stile: Stile, expires: str) -> None:
    done = stile("key", "a", "--expires", expires)

    assert (done.code, done.out) == (2, "")
    assert "expected a date or time to come in ISO 8601, as 2030-01-31" in done.err


def test_two_keys_differ(stile: Stile) -> None:
    assert stile("key", "a").out != stile("key", "a").out


def test_a_key_is_long_and_starts_as_the_server_expects(stile: Stile) -> None:
    key = stile("key", "a").out.split("\n\n")[1].strip()

    assert key.startswith("stile_")
    assert len(key) >= len("stile_") + 43  # 256 bits in base64


def test_without_a_name_it_says_so() -> None:
    done = ran("key")

    assert done.code == 2
    assert "required: NAME" in done.err
