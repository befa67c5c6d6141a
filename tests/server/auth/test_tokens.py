"""Callers with tokens: what a good one is, and what attackers try."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.identity import Issuer, VerificationKey
from handler.errors.access import CredentialRefused, KeysUnavailable
from handler.http.client import HttpClient
from handler.json_schema.json_bounds import MAX_NESTING
from handler.server.asgi.request_log import WARNING, level_of
from handler.server.auth.jwks import FRESH_S, STALE_S
from handler.server.auth.tokens import MAX_CHECKED, MAX_TOKEN_CHARS, TokenVerifier
from handler.strict_json import JSONObject, to_json_bytes
from tests.support.codes import graphql_errors
from tests.support.endpoints import compiled
from tests.support.function import Function, running_function
from tests.support.issuers import (
    AUDIENCE,
    Provider,
    SigningKey,
    ec_key,
    ed_key,
    given,
    issuer_of,
    key_set_answer,
    rsa_key,
    serving_key_set,
    signed,
    signed_with_secret,
    unsigned,
)
from tests.support.local import LOCAL
from tests.support.raw_http import answering
from tests.support.secrecy import SESSION

RSA, EC, ED, OTHER_RSA = rsa_key(), ec_key(), ed_key(), rsa_key("other")
PROVIDER = Provider("https://login.example/", (RSA, EC, ED))
OTHER = Provider("https://other.example/", (OTHER_RSA,))
SECRET = SESSION.keep("a secret that a bundle refers to", "a secret that nobody could guess at all")

Claims = Mapping[str, Any]


ISSUER = issuer_of(PROVIDER, keys=given(RSA, EC, ED))
OTHER_ISSUER = issuer_of(OTHER, keys=given(OTHER_RSA))


def verified(
    token: str, *issuers: Issuer, now: float | None = None, secrets: Mapping[str, str] | None = None
) -> JSONObject:
    """The claims of a token, in a container that has just started."""
    with closing(HttpClient(LOCAL)) as http:
        tokens = TokenVerifier(http, secrets=secrets or {})
        return asyncio.run(tokens.verify(token, issuers or (ISSUER,), now=time.time() if now is None else now))


def reason_of(token: str, *issuers: Issuer, now: float | None = None, secrets: Mapping[str, str] | None = None) -> str:
    """Why a token is refused, which it must be."""
    with pytest.raises(CredentialRefused) as caught:
        verified(token, *issuers, now=now, secrets=secrets)
    assert str(caught.value) == "the credential was refused"
    return caught.value.reason


@pytest.mark.parametrize("key", [RSA, EC, ED], ids=lambda key: key.algorithm)
def test_token_of_each_kind_of_key_gives_its_claims(key: SigningKey) -> None:
    assert verified(PROVIDER.token(key, org={"id": "acme"}))["org"] == {"id": "acme"}


@pytest.mark.parametrize("algorithm", ["RS384", "RS512"])
def test_token_with_a_longer_digest_is_taken_from_a_key_for_it(algorithm: str) -> None:
    key = rsa_key("long", algorithm=algorithm)
    issuer = issuer_of(PROVIDER, keys=given(key))

    assert verified(PROVIDER.token(key), issuer)["sub"] == "user-1"
    assert reason_of(PROVIDER.token(SigningKey("long", "RS256", key.key)), issuer) == "algorithm"


class TestSignature:
    def test_token_without_a_signature_is_refused(self) -> None:
        for header in ({"alg": "none"}, {"alg": "none", "kid": "rsa"}, {"alg": "RS256", "kid": "rsa"}):
            assert reason_of(unsigned(PROVIDER.claims(), header=header)) == "malformed"

    @pytest.mark.parametrize("name", ["none", "None", "NONE", "nOnE", ""])
    def test_algorithm_none_is_refused_with_any_signature(self, name: str) -> None:
        token = signed_with_secret(PROVIDER.claims(), header={"alg": name, "kid": "rsa"}, secret=b"any")

        assert reason_of(token) == "algorithm"

    def test_public_key_is_no_secret_for_hs256(self) -> None:
        for secret in (RSA.pem(), RSA.pem().strip(), json.dumps(RSA.public())):
            token = signed_with_secret(PROVIDER.claims(), header={"alg": "HS256", "kid": "rsa"}, secret=secret.encode())
            assert reason_of(token) == "algorithm"
            beside = replace(ISSUER, keys=(*ISSUER.keys, VerificationKey(id="hs", algorithm="HS256", key=SECRET)))
            assert reason_of(token, beside) == "unknown_key"

    @pytest.mark.parametrize("algorithm", ["RS384", "PS256", "ES384", "HS512"])
    def test_algorithm_that_no_key_is_for_is_refused(self, algorithm: str) -> None:
        token = signed_with_secret(PROVIDER.claims(), header={"alg": algorithm, "kid": "rsa"}, secret=b"any")

        assert reason_of(token) == "algorithm"

    def test_key_of_another_algorithm_does_not_verify_a_token(self) -> None:
        assert reason_of(PROVIDER.token(EC, header={"kid": "rsa"})) == "unknown_key"
        assert reason_of(PROVIDER.token(EC, header={"kid": "rsa", "alg": "ES256"})) == "unknown_key"

    def test_other_key_under_a_known_id_is_refused(self) -> None:
        assert reason_of(PROVIDER.token(rsa_key("rsa"))) == "signature"
        assert reason_of(PROVIDER.token(ec_key("ec"))) == "signature"
        assert reason_of(PROVIDER.token(ed_key("ed"))) == "signature"

    def test_unknown_key_id_is_refused(self) -> None:
        assert reason_of(PROVIDER.token(header={"kid": "nobody"})) == "unknown_key"

    @pytest.mark.parametrize("key", [RSA, EC, ED], ids=lambda key: key.algorithm)
    def test_changed_claims_are_refused(self, key: SigningKey) -> None:
        header, _, signature = PROVIDER.token(key).split(".")
        claims = base64.urlsafe_b64encode(json.dumps(PROVIDER.claims(admin=True)).encode()).decode().rstrip("=")

        assert reason_of(f"{header}.{claims}.{signature}") == "signature"

    @pytest.mark.parametrize("key", [RSA, EC, ED], ids=lambda key: key.algorithm)
    def test_truncated_token_is_refused_wherever_it_ends(self, key: SigningKey) -> None:
        token = PROVIDER.token(key)

        reasons = {reason_of(token[:length]) for length in range(0, len(token), 7)}

        assert reasons == {"malformed", "signature"}


class TestHeader:
    def test_key_that_a_token_brings_along_is_not_looked_at(self) -> None:
        attacker = rsa_key("attacker")
        with serving_key_set(answering(key_set_answer(Provider("x", (attacker,)).key_set()))) as server:
            for header in (
                {"jku": server.url},
                {"x5u": server.url},
                {"jwk": attacker.public()},
                {"x5c": ["MIIB"]},
            ):
                assert reason_of(PROVIDER.token(attacker, header=header)) == "unknown_key"
                for known in ("rsa", None):
                    assert reason_of(PROVIDER.token(attacker, header={"kid": known, **header})) == "signature"
            assert server.accepted == 0

    def test_headers_that_name_other_keys_do_no_harm_to_a_good_token(self) -> None:
        header = {"jku": "https://attacker.example/", "x5u": "https://attacker.example/", "x5t": "abc"}

        assert verified(PROVIDER.token(header=header))["sub"] == "user-1"

    @pytest.mark.parametrize("crit", [["exp"], ["b64"], [], "b64", None])
    def test_token_that_asks_for_an_extension_is_refused(self, crit: object) -> None:
        issuer = issuer_of(PROVIDER, keys=(VerificationKey(id="", algorithm="HS256", key=SECRET),))
        header = {"alg": "HS256", "crit": crit, "b64": True, "exp": 1}

        assert reason_of(signed_with_secret(PROVIDER.claims(), header=header, secret=SECRET.encode()), issuer) == (
            "critical_header"
        )

    @pytest.mark.parametrize("header", [{"kid": 7}, {"kid": ["rsa"]}, {"alg": None}, {"alg": ["RS256"]}])
    def test_header_of_another_form_is_refused(self, header: Mapping[str, Any]) -> None:
        known = {"alg": "RS256", "kid": "rsa", **header}

        assert reason_of(signed_with_secret(PROVIDER.claims(), header=known, secret=b"any")) == "malformed"

    def test_token_without_a_key_id_is_taken_from_the_only_key_for_it(self) -> None:
        assert verified(PROVIDER.token(header={"kid": None}))["sub"] == "user-1"

        twins = issuer_of(PROVIDER, keys=given(RSA, OTHER_RSA))
        assert reason_of(PROVIDER.token(header={"kid": None}), twins) == "unknown_key"

    def test_key_without_an_id_is_the_only_one_whatever_a_token_says(self) -> None:
        issuer = issuer_of(PROVIDER, keys=(replace(given(RSA)[0], id=""),))

        assert verified(PROVIDER.token(header={"kid": "whatever"}), issuer)["sub"] == "user-1"
        assert verified(PROVIDER.token(header={"kid": None}), issuer)["sub"] == "user-1"


class TestSize:
    def test_token_up_to_the_limit_is_taken_and_a_larger_one_refused(self) -> None:
        taken = PROVIDER.token(text="x" * 11_500)
        assert len(taken) < MAX_TOKEN_CHARS
        assert verified(taken)["sub"] == "user-1"

        assert reason_of(PROVIDER.token(text="x" * 12_500)) == "too_large"

    def test_token_of_a_megabyte_is_refused_before_it_is_read(self) -> None:
        assert reason_of(PROVIDER.token(text="x" * 1_000_000)) == "too_large"
        assert reason_of("." * 1_000_000) == "too_large"

    def test_nesting_that_python_cannot_read_is_refused(self) -> None:
        token = signed(b'{"a":' + b"[" * 5_000 + b"]" * 5_000 + b"}", header={"alg": "RS256"}, key=RSA.key)

        assert reason_of(token) == "malformed"

    def test_claims_may_nest_as_deep_as_any_json_that_callers_send(self) -> None:
        deepest: dict[str, Any] = {}
        for _ in range(MAX_NESTING - 2):
            deepest = {"a": deepest}

        assert verified(PROVIDER.token(org=deepest))["org"] == deepest
        assert reason_of(PROVIDER.token(org={"a": deepest})) == "malformed"

    @pytest.mark.parametrize(
        "token", ["", "a", "a.b", "a.b.c.d", "a.b.c.d.e", "..", "e30.e30.", "e30=.e30.e30", "é.é.é", "e30.e30.e30 "]
    )
    def test_text_that_is_no_token_is_refused(self, token: str) -> None:
        assert reason_of(token) == "malformed"

    @pytest.mark.parametrize("payload", [b"[]", b"7", b"null", b'"a"', b"{", b"\xff", b'{"exp":NaN}', b'{"exp":1e999}'])
    def test_payload_that_is_no_object_of_json_is_refused(self, payload: bytes) -> None:
        assert reason_of(signed(payload, header={"alg": "RS256", "kid": "rsa"}, key=RSA.key)) == "malformed"


class TestIssuer:
    def test_token_of_an_unknown_issuer_is_refused(self) -> None:
        for name in ("https://attacker.example/", "https://login.example", "", None, ["https://login.example/"], 7):
            assert reason_of(PROVIDER.token(iss=name)) == "issuer"

    def test_each_issuer_vouches_for_its_own_tokens(self) -> None:
        assert verified(PROVIDER.token(), ISSUER, OTHER_ISSUER)["iss"] == PROVIDER.name
        assert verified(OTHER.token(), ISSUER, OTHER_ISSUER)["iss"] == OTHER.name

    def test_key_of_one_issuer_never_vouches_for_another(self) -> None:
        assert reason_of(OTHER.token(iss=PROVIDER.name), ISSUER, OTHER_ISSUER) == "unknown_key"
        assert reason_of(OTHER.token(iss=PROVIDER.name, header={"kid": "rsa"}), ISSUER, OTHER_ISSUER) == "signature"

    def test_issuer_without_a_name_takes_any_but_those_of_the_others(self) -> None:
        nameless = replace(OTHER_ISSUER, issuer="")

        assert verified(OTHER.token(iss="anything"), nameless, ISSUER)["iss"] == "anything"
        assert "iss" not in verified(OTHER.token(iss=None), nameless, ISSUER)
        assert reason_of(OTHER.token(iss=PROVIDER.name), nameless, ISSUER) == "unknown_key"

    def test_without_an_issuer_every_token_is_refused(self) -> None:
        with closing(HttpClient(LOCAL)) as http, pytest.raises(CredentialRefused) as caught:
            asyncio.run(TokenVerifier(http, secrets={}).verify(PROVIDER.token(), (), now=time.time()))

        assert caught.value.reason == "issuer"


class TestClaims:
    @pytest.mark.parametrize("audience", [AUDIENCE, [AUDIENCE], ["https://else.example", AUDIENCE]])
    def test_audience_may_be_a_text_or_a_list(self, audience: object) -> None:
        assert verified(PROVIDER.token(aud=audience))["aud"] == audience

    @pytest.mark.parametrize(
        "audience", [None, "", [], "https://else.example", [f"{AUDIENCE}/"], [[AUDIENCE]], {AUDIENCE: 1}, 7]
    )
    def test_token_for_somebody_else_is_refused(self, audience: object) -> None:
        assert reason_of(PROVIDER.token(aud=audience)) == "audience"

    def test_one_of_several_audiences_is_enough(self) -> None:
        issuer = replace(ISSUER, audiences=("one", AUDIENCE))

        assert verified(PROVIDER.token(aud="one"), issuer)["aud"] == "one"
        assert verified(PROVIDER.token(aud="anyone"), replace(ISSUER, audiences=()))["aud"] == "anyone"

    def test_access_token_of_cognito_is_for_its_client(self) -> None:
        cognito: dict[str, Any] = {"aud": None, "client_id": AUDIENCE, "token_use": "access"}

        assert verified(PROVIDER.token(**cognito))["client_id"] == AUDIENCE
        assert reason_of(PROVIDER.token(**{**cognito, "client_id": "else"})) == "audience"
        assert reason_of(PROVIDER.token(**{**cognito, "token_use": "id"})) == "audience"
        assert reason_of(PROVIDER.token(**{**cognito, "aud": "else"})) == "audience"

    def test_token_expires_with_the_leeway(self) -> None:
        token = PROVIDER.token(iat=None, exp=1_000_000)

        assert verified(token, now=1_000_029.9)["exp"] == 1_000_000
        assert reason_of(token, now=1_000_030) == "expired"
        assert reason_of(token, replace(ISSUER, leeway_s=0), now=1_000_000) == "expired"

    def test_token_without_an_expiry_is_refused(self) -> None:
        assert reason_of(PROVIDER.token(exp=None)) == "no_expiry"

    @pytest.mark.parametrize("name", ["nbf", "iat"])
    def test_token_is_not_valid_before_its_time(self, name: str) -> None:
        claims: dict[str, Any] = {"iat": None, name: 1_000_000.5}
        token = PROVIDER.token(**claims)

        assert verified(token, now=999_971)[name] == 1_000_000.5
        assert reason_of(token, now=999_970) == "not_yet_valid"

    @pytest.mark.parametrize("name", ["exp", "nbf", "iat"])
    @pytest.mark.parametrize("value", ["2030-01-01", "1900000000", True, [], {}, -1, 10**12, 10**400, 1e300])
    def test_time_that_is_no_sensible_number_is_refused(self, name: str, value: object) -> None:
        claims: dict[str, Any] = {name: value}

        assert reason_of(PROVIDER.token(**claims)) == "times"

    @pytest.mark.parametrize("name", ["exp", "nbf", "iat"])
    def test_time_that_is_null_is_refused(self, name: str) -> None:
        token = signed({**PROVIDER.claims(), name: None}, header={"alg": "RS256", "kid": "rsa"}, key=RSA.key)

        assert reason_of(token) == "times"

    def test_subject_has_to_be_the_one_that_is_asked_for(self) -> None:
        issuer = replace(ISSUER, subject="user-1")

        assert verified(PROVIDER.token(), issuer)["sub"] == "user-1"
        for other in ("user-2", None, ["user-1"]):
            assert reason_of(PROVIDER.token(sub=other), issuer) == "subject"

    def test_required_claims_have_to_be_there(self) -> None:
        issuer = replace(ISSUER, required_claims=("email", "org"))

        assert verified(PROVIDER.token(email="a", org=""), issuer)["email"] == "a"
        assert reason_of(PROVIDER.token(email="a"), issuer) == "missing_claim"


class TestSecret:
    ISSUER = issuer_of(PROVIDER, keys=(VerificationKey(id="", algorithm="HS256", key="env:LOGIN"),))

    @pytest.fixture
    def token(self) -> str:
        return signed_with_secret(PROVIDER.claims(), header={"alg": "HS256"}, secret=SECRET.encode())

    def test_reference_stands_for_the_secret_of_that_name(self, token: str) -> None:
        assert verified(token, self.ISSUER, secrets={"LOGIN": SECRET})["sub"] == "user-1"
        assert reason_of(token, self.ISSUER, secrets={"LOGIN": SECRET + "x"}) == "signature"

    def test_secret_that_is_not_set_lets_nobody_in(self, token: str) -> None:
        for secrets in ({}, {"LOGIN": ""}, {"OTHER": SECRET}):
            assert reason_of(token, self.ISSUER, secrets=secrets) == "no_secret"
        empty = signed_with_secret(PROVIDER.claims(), header={"alg": "HS256"}, secret=b"")
        assert reason_of(empty, self.ISSUER, secrets={"LOGIN": ""}) == "no_secret"
        itself = signed_with_secret(PROVIDER.claims(), header={"alg": "HS256"}, secret=b"env:LOGIN")
        assert reason_of(itself, self.ISSUER) == "no_secret"

    def test_literal_secret_of_any_length_works_where_an_author_tries_it(self) -> None:
        issuer = issuer_of(PROVIDER, keys=(VerificationKey(id="", algorithm="HS256", key="sesame-open-test"),))
        token = signed_with_secret(PROVIDER.claims(), header={"alg": "HS256"}, secret=b"sesame-open-test")

        assert verified(token, issuer)["sub"] == "user-1"

    def test_public_key_in_place_of_a_secret_is_refused(self) -> None:
        token = signed_with_secret(PROVIDER.claims(), header={"alg": "HS256"}, secret=RSA.pem().encode())

        assert reason_of(token, self.ISSUER, secrets={"LOGIN": RSA.pem()}) == "bad_key"


class TestMemory:
    @pytest.fixture
    def tokens(self) -> Iterator[TokenVerifier]:
        with closing(HttpClient(LOCAL)) as http:
            yield TokenVerifier(http, secrets={"LOGIN": SECRET})

    def test_remembered_signature_does_not_outlive_the_token(self, tokens: TokenVerifier) -> None:
        token = PROVIDER.token(iat=None, exp=1_000_000)

        async def scenario() -> None:
            for now in (999_990, 999_995, 1_000_029):
                assert (await tokens.verify(token, (ISSUER,), now=now))["sub"] == "user-1"
            with pytest.raises(CredentialRefused):
                await tokens.verify(token, (ISSUER,), now=1_000_030)

        asyncio.run(scenario())

    def test_changed_bundle_is_asked_again(self, tokens: TokenVerifier) -> None:
        token = PROVIDER.token()
        now = time.time()

        async def refused(issuer: Issuer) -> str:
            with pytest.raises(CredentialRefused) as caught:
                await tokens.verify(token, (issuer,), now=now)
            return caught.value.reason

        async def scenario() -> None:
            await tokens.verify(token, (ISSUER,), now=now)
            assert await refused(replace(ISSUER, keys=given(EC, ED))) == "algorithm"
            assert await refused(replace(ISSUER, keys=given(rsa_key("rsa")))) == "signature"
            assert await refused(replace(ISSUER, audiences=("else",))) == "audience"
            assert await refused(replace(ISSUER, required_claims=("email",))) == "missing_claim"
            assert await refused(replace(ISSUER, issuer="https://else.example")) == "issuer"
            await tokens.verify(token, (ISSUER,), now=now)

        asyncio.run(scenario())

    def test_other_token_is_not_taken_for_the_remembered_one(self, tokens: TokenVerifier) -> None:
        token = PROVIDER.token()

        async def scenario() -> None:
            await tokens.verify(token, (ISSUER,), now=time.time())
            with pytest.raises(CredentialRefused):
                await tokens.verify(f"{token[:-8]}AAAAAAAA", (ISSUER,), now=time.time())

        asyncio.run(scenario())

    def test_warm_calls_do_not_check_the_signature_again_while_its_keys_are_believed(self) -> None:
        bodies = [PROVIDER.key_set(), Provider("x", (OTHER_RSA,)).key_set()]
        with (
            serving_key_set(answering(*map(key_set_answer, bodies))) as server,
            closing(HttpClient(LOCAL)) as http,
        ):
            tokens = TokenVerifier(http, secrets={})
            issuer = issuer_of(PROVIDER, jwks_url=server.url)
            now = time.time()
            token = PROVIDER.token(exp=now + 10_000)

            async def scenario() -> None:
                for later in (0, 1, FRESH_S - 1):
                    await tokens.verify(token, (issuer,), now=now + later)
                assert len(server.requests) == 1
                with pytest.raises(CredentialRefused) as caught:  # its key is in the set no more
                    await tokens.verify(token, (issuer,), now=now + FRESH_S)
                assert caught.value.reason == "unknown_key"

            asyncio.run(scenario())

    def test_remembered_signature_ends_with_the_key_set_that_vouched_for_it(self) -> None:
        bodies = [PROVIDER.key_set(), Provider(PROVIDER.name, (EC,)).key_set()]
        with (
            serving_key_set(answering(*map(key_set_answer, bodies))) as server,
            closing(HttpClient(LOCAL)) as http,
        ):
            tokens, issuer = TokenVerifier(http, secrets={}), issuer_of(PROVIDER, jwks_url=server.url)
            now = time.time()
            withdrawn, kept = (PROVIDER.token(key, exp=now + 10_000) for key in (RSA, EC))

            async def scenario() -> None:
                await tokens.verify(kept, (issuer,), now=now)
                await tokens.verify(withdrawn, (issuer,), now=now + FRESH_S - 1)
                await tokens.verify(kept, (issuer,), now=now + FRESH_S + 1)  # the set is fetched, without the key
                with pytest.raises(CredentialRefused) as caught:
                    await tokens.verify(withdrawn, (issuer,), now=now + FRESH_S + 3)
                assert caught.value.reason == "unknown_key"
                await tokens.verify(kept, (issuer,), now=now + FRESH_S + 3)

            asyncio.run(scenario())
            assert len(server.requests) == 2

    def test_signature_checked_late_is_remembered_no_longer_than_its_key_set(self) -> None:
        bodies = [PROVIDER.key_set(), Provider(PROVIDER.name, (EC,)).key_set()]
        with (
            serving_key_set(answering(*map(key_set_answer, bodies))) as server,
            closing(HttpClient(LOCAL)) as http,
        ):
            tokens, issuer = TokenVerifier(http, secrets={}), issuer_of(PROVIDER, jwks_url=server.url)
            now = time.time()
            early, late = (PROVIDER.token(RSA, exp=now + 10_000, n=n) for n in range(2))

            async def scenario() -> None:
                await tokens.verify(early, (issuer,), now=now)
                await tokens.verify(late, (issuer,), now=now + FRESH_S - 1)
                with pytest.raises(CredentialRefused):
                    await tokens.verify(late, (issuer,), now=now + FRESH_S + 1)

            asyncio.run(scenario())
            assert len(server.requests) == 2

    def test_key_set_that_cannot_be_fetched_again_vouches_for_a_day(self) -> None:
        with (
            serving_key_set(
                answering(key_set_answer(PROVIDER.key_set()), key_set_answer(b"", status="500 No"))
            ) as server,
            closing(HttpClient(LOCAL)) as http,
        ):
            tokens, issuer = TokenVerifier(http, secrets={}), issuer_of(PROVIDER, jwks_url=server.url)
            now = time.time()
            token = PROVIDER.token(exp=now + 2 * STALE_S)

            async def scenario() -> None:
                for later in (0, FRESH_S, STALE_S):
                    await tokens.verify(token, (issuer,), now=now + later)
                with pytest.raises(KeysUnavailable):
                    await tokens.verify(token, (issuer,), now=now + STALE_S + 1)

            asyncio.run(scenario())

    def test_memory_is_bounded_and_keeps_what_was_used_last(self, tokens: TokenVerifier) -> None:
        issuer = issuer_of(PROVIDER, keys=(VerificationKey(id="", algorithm="HS256", key="env:LOGIN"),))
        claims = PROVIDER.claims()

        async def scenario() -> None:
            for number in range(MAX_CHECKED + 10):
                token = signed_with_secret({**claims, "n": number}, header={"alg": "HS256"}, secret=SECRET.encode())
                await tokens.verify(token, (issuer,), now=time.time())

        asyncio.run(scenario())
        assert len(tokens._checked) == MAX_CHECKED


SCHEMA = """
schema @tool(name: "all", graphql: {expose: true, types: "Query", fields: ".*"}) { query: Query }
type Query { a: Int }
"""


@pytest.fixture
def function(tmp_path: Path) -> Iterator[Function]:
    """An endpoint that anonymous callers may use too, so that a bad token could be taken for none."""
    key = "".join(f"        {line}\n" for line in RSA.pem().splitlines())
    config = f"""\
upstream: {{url: "http://127.0.0.1:9/"}}
graphql: on
access: {{anonymous: allow, policies: [{{type: Query, policyDefault: {{condition: true}}}}]}}
identity:
  issuer: {PROVIDER.name}
  audience: {AUDIENCE}
  keys:
    - algorithm: RS256
      keyid: rsa
      key: |
{key}"""
    with running_function(compiled(tmp_path, {"index.graphql": SCHEMA, "config.yaml": config})) as running:
        yield running


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


ASKED = {"query": "{ __schema { queryType { name } } }"}


METADATA = "https://abc123.execute-api.us-east-1.amazonaws.com/.well-known/oauth-protected-resource/api/things/mcp"


class TestOverHttp:
    @pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER "])
    def test_caller_with_a_token_gets_in_on_every_route(self, function: Function, scheme: str) -> None:
        headers = {"authorization": f"{scheme} {PROVIDER.token()}"}

        assert function.request("tools/list", headers=headers).status == 200
        assert function.graphql(ASKED, headers=headers).status == 200
        assert function.graphql(ASKED, "/tools/all/graphql", headers=headers).status == 200
        assert [line["principal"] for line in function.lines] == ["token"] * 3

    def test_every_refusal_says_the_same_to_the_caller_and_a_word_to_the_log(self, function: Function) -> None:
        bad = {
            "expired": PROVIDER.token(exp=1),
            "audience": PROVIDER.token(aud="else"),
            "unknown_key": PROVIDER.token(header={"kid": "x"}),
            "signature": PROVIDER.token(rsa_key("rsa")),
            "issuer": PROVIDER.token(iss="else"),
            "malformed": "a.b.c",
            "too_large": PROVIDER.token(text="x" * 1_000_000),
        }

        answers = [function.request("tools/list", headers=bearer(token)) for token in bad.values()]
        over_graphql = [function.graphql(ASKED, headers=bearer(token)) for token in bad.values()]

        assert {(answer.status, answer.body, answer.headers["www-authenticate"]) for answer in answers} == {
            (
                401,
                b'{"error":"unauthorized","message":"the credential was refused","code":"credential-refused"}',
                f'Bearer realm="api/things", error="invalid_token", resource_metadata="{METADATA}"',
            )
        }
        assert {(answer.status, answer.body) for answer in over_graphql} == {
            (401, to_json_bytes(graphql_errors("the credential was refused", "credential-refused")))
        }
        assert [line["reason"] for line in function.lines] == [*bad, *bad]

    def test_nothing_of_a_token_is_in_the_log(self, function: Function) -> None:
        for token in (PROVIDER.token(sub="user-77"), PROVIDER.token(sub="user-77", aud="else")):
            function.request("tools/list", headers=bearer(token))

        logged = str(function.lines)
        assert "user-77" not in logged
        assert "eyJ" not in logged

    def test_token_in_the_query_string_is_never_read(self, function: Function) -> None:
        good, bad = PROVIDER.token(), PROVIDER.token(aud="else")
        for token in (good, bad):
            answer = function.get({**ASKED, "access_token": token, "authorization": f"Bearer {token}"})
            assert answer.status == 200

        assert [line["principal"] for line in function.lines] == ["anonymous"] * 2

    def test_token_in_a_body_a_cookie_or_another_header_is_never_read(self, function: Function) -> None:
        token = PROVIDER.token()
        function.graphql({**ASKED, "extensions": {"authorization": f"Bearer {token}"}, "access_token": token})
        function.graphql(ASKED, headers={"cookie": f"access_token={token}", "x-authorization": f"Bearer {token}"})

        assert [line["principal"] for line in function.lines] == ["anonymous"] * 2

    def test_two_credentials_are_refused_even_if_one_is_good(self, function: Function) -> None:
        answer = function.request("tools/list", headers={**bearer(PROVIDER.token()), "x-api-key": "stile_x"})
        twice = function.request("tools/list", headers=bearer(f"{PROVIDER.token()}, Bearer {PROVIDER.token()}"))

        assert (answer.status, twice.status) == (400, 400)


def test_claims_fill_bound_variables(tmp_path: Path) -> None:
    operation = 'query A($x: Int! @mcpBind(claim: "org.level")) @mcpTool(name: "a", title: "A") { a(x: $x) }'
    asked: list[bytes] = []
    with serving_key_set(answering(key_set_answer(b'{"data":{"a":1}}'))) as upstream:
        config = f"""\
upstream: {{url: "{upstream.url}"}}
access: {{policies: [{{type: Query, policyDefault: {{condition: true}}}}]}}
identity: {{issuer: {PROVIDER.name}, audience: {AUDIENCE}, keys: [{{algorithm: HS256, key: "env:LOGIN"}}]}}
"""
        files = {
            "index.graphql": "type Query { a(x: Int!): Int }",
            "operations/a.graphql": operation,
            "config.yaml": config,
        }
        with running_function(compiled(tmp_path, files), secrets={"LOGIN": SECRET}) as function:
            for org in ({"level": 7}, {"level": "x"}, {}):
                token = signed_with_secret(PROVIDER.claims(org=org), header={"alg": "HS256"}, secret=SECRET.encode())
                asked.append(function.call("a", {}, headers=bearer(token)).body)
        sent = [json.loads(request.partition(b"\r\n\r\n")[2])["variables"] for request in upstream.requests]

    assert sent == [{"x": 7}]
    assert [b'"isError":true' in body for body in asked] == [False, True, True]


@pytest.mark.parametrize("missing", ["jwt", "cryptography"])
def test_packages_that_cannot_be_imported_refuse_no_token(
    function: Function, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "jwt"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)

    listed = function.request("tools/list", headers=bearer(PROVIDER.token()))
    asked = function.graphql(ASKED, headers=bearer(PROVIDER.token()))

    assert listed.json["error"] == "temporarily_unavailable"
    for answer in (listed, asked):
        assert (answer.status, answer.code) == (503, "verifier-missing")
    for answer in (listed, asked):
        assert "www-authenticate" not in answer.headers
        assert "retry-after" not in answer.headers
    assert {line["reason"].partition(":")[0] for line in function.lines} == {"no_verifier"}
    assert level_of(function.lines[-1]) == WARNING
