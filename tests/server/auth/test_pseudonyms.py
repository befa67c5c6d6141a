"""How the log names callers."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import itertools
from collections.abc import Mapping
from typing import Any

import pytest

from handler.server.auth.principal import ANONYMOUS, DEVELOPMENT, Principal, Pseudonyms

SECRET = "k" * 32
MAIL = "elif.nunez@example.com"
ISSUER = "https://idp.example"
ELIF = {"iss": ISSUER, "sub": MAIL}


def token(claims: Mapping[str, Any]) -> Principal:
    return Principal(kind="token", claims=claims)


def name_of(pseudonyms: Pseudonyms, principal: Principal) -> str:
    return asyncio.run(pseudonyms.of(principal))


def test_subject_is_a_keyed_digest_of_issuer_and_subject() -> None:
    name = name_of(Pseudonyms(key=SECRET), token(ELIF))

    digest = hmac.new(SECRET.encode(), f'["{ISSUER}","{MAIL}"]'.encode(), hashlib.sha256).hexdigest()
    assert name == f"hmac:{digest[:32]}"


def test_same_caller_has_the_same_name_wherever_the_key_is_the_same() -> None:
    first, second = Pseudonyms(key=SECRET), Pseudonyms(key=SECRET)

    assert name_of(first, token({**ELIF, "exp": 1, "scope": "a"})) == name_of(second, token({**ELIF, "exp": 2}))
    assert name_of(first, token(ELIF)) == name_of(first, Principal(kind="api_key", name="ops", claims=ELIF))
    assert name_of(first, token(ELIF)) != name_of(Pseudonyms(key=SECRET[1:] + "x"), token(ELIF))


def test_callers_that_differ_have_names_that_differ() -> None:
    claims: list[dict[str, Any]] = [
        ELIF,
        {"iss": "https://other.example", "sub": MAIL},
        {"sub": MAIL},
        {"iss": ISSUER, "sub": ""},
        {"iss": f'{ISSUER}","', "sub": MAIL},
        {"iss": ISSUER, "sub": 5},
        {"iss": ISSUER, "sub": "5"},
    ]
    pseudonyms = Pseudonyms(key=SECRET)

    for one, other in itertools.combinations(claims, 2):
        assert name_of(pseudonyms, token(one)) != name_of(pseudonyms, token(other))


def test_without_a_key_names_agree_within_one_instance_alone_and_say_so() -> None:
    first, second = Pseudonyms(), Pseudonyms()

    assert name_of(first, token(ELIF)) == name_of(first, token(ELIF))
    assert name_of(first, token(ELIF)) != name_of(second, token(ELIF))
    assert name_of(first, token(ELIF)).startswith("local-hmac:")


@pytest.mark.parametrize(
    ("claims", "name"),
    [(ELIF, f"{ISSUER} {MAIL}"), ({"sub": MAIL}, MAIL), ({"iss": ISSUER, "sub": 5}, f"{ISSUER} 5")],
)
def test_plain_names_are_issuer_and_subject_as_they_are(claims: Mapping[str, Any], name: str) -> None:
    assert name_of(Pseudonyms(key=SECRET, plain=True), token(claims)) == name


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(
    ("principal", "name"),
    [
        (ANONYMOUS, "anonymous"),
        (DEVELOPMENT, "development"),
        (Principal(kind="api_key", name="ci"), "ci"),
        (Principal(kind="api_key", name="ci", claims={"org": "acme"}), "ci"),
        (token({"client_id": "batch"}), "token"),
    ],
)
def test_callers_without_a_subject_are_named_by_their_key_or_kind(plain: bool, principal: Principal, name: str) -> None:
    assert name_of(Pseudonyms(key=SECRET, plain=plain), principal) == name
