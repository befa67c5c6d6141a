"""Keys that an issuer publishes: which of them count, when they are fetched, and what a bad answer does."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any

import pytest

from handler.errors.access import AccessError, CredentialRefused, KeysUnavailable
from handler.http.client import HttpClient
from handler.server.auth.jwks import (
    FRESH_S,
    MAX_BYTES,
    RETRY_PAUSE_S,
    STALE_S,
    TIMEOUT_S,
    UNKNOWN_KEY_PAUSE_S,
    KeySets,
    parse_key_set,
)
from handler.server.auth.tokens import TokenVerifier
from tests.support.issuers import (
    Provider,
    SigningKey,
    ec_key,
    ed_key,
    given,
    issuer_of,
    key_set_answer,
    rsa_key,
    serving_key_set,
)
from tests.support.local import LOCAL
from tests.support.raw_http import Peer, answer, answering

RSA, EC, ED, NEW_RSA = rsa_key(), ec_key(), ed_key(), rsa_key("new")
PROVIDER = Provider("https://login.example/", (RSA, EC, ED))
ROTATED = Provider("https://login.example/", (NEW_RSA,))
KEY_SET, NEW_KEY_SET = key_set_answer(PROVIDER.key_set()), key_set_answer(ROTATED.key_set())
FAILURE = answer(b"", status="500 Internal Server Error")
NOW = 1_000_000.0


@pytest.fixture
def http() -> Iterator[HttpClient]:
    with closing(HttpClient(LOCAL)) as client:
        yield client


def verified(token: str, url: str, http: HttpClient, **issuer: Any) -> Mapping[str, Any]:
    """The claims of a token that a key of the set behind ``url`` signed."""
    tokens = TokenVerifier(http, secrets={})
    return asyncio.run(tokens.verify(token, (issuer_of(PROVIDER, jwks_url=url, **issuer),), now=time.time()))


def reason_of(token: str, url: str, http: HttpClient, **issuer: Any) -> str:
    with pytest.raises(AccessError) as caught:
        verified(token, url, http, **issuer)
    return caught.value.reason


def of_set(*keys: Mapping[str, Any]) -> Callable[[Peer], None]:
    """A script that serves these keys."""
    return answering(key_set_answer(json.dumps({"keys": keys}).encode()))


class TestWhichKeysCount:
    @pytest.mark.parametrize("key", [RSA, EC, ED], ids=lambda key: key.algorithm)
    @pytest.mark.parametrize("algorithm", ["named", None])
    def test_key_verifies_with_or_without_naming_its_algorithm(
        self, http: HttpClient, key: SigningKey, algorithm: str | None
    ) -> None:
        entry = key.public() if algorithm else key.public(alg=None)
        with serving_key_set(of_set(entry)) as server:
            assert verified(PROVIDER.token(key), server.url, http)["sub"] == "user-1"

    def test_key_without_an_algorithm_is_for_every_one_of_its_type(self, http: HttpClient) -> None:
        longer = SigningKey("rsa", "RS512", RSA.key)
        with serving_key_set(of_set(RSA.public(alg=None))) as server:
            assert verified(PROVIDER.token(longer), server.url, http)["sub"] == "user-1"
        with serving_key_set(of_set(RSA.public())) as server:
            assert reason_of(PROVIDER.token(longer), server.url, http) == "unknown_key"

    def test_key_of_another_type_does_not_fit_the_algorithm(self, http: HttpClient) -> None:
        with serving_key_set(of_set(EC.public(kid="rsa", alg=None))) as server:
            assert reason_of(PROVIDER.token(RSA), server.url, http) == "unknown_key"

    def test_algorithm_that_the_author_did_not_allow_is_refused(self, http: HttpClient) -> None:
        with serving_key_set(of_set(RSA.public(), EC.public())) as server:
            assert verified(PROVIDER.token(EC), server.url, http, algorithms=("ES256",))["sub"] == "user-1"
            assert reason_of(PROVIDER.token(RSA), server.url, http, algorithms=("ES256",)) == "algorithm"

    @pytest.mark.parametrize(
        "more", [{"use": "enc"}, {"key_ops": ["encrypt"]}, {"key_ops": "verify"}, {"alg": "PS256"}, {"kid": 7}]
    )
    def test_key_that_is_for_something_else_is_ignored(self, http: HttpClient, more: dict[str, Any]) -> None:
        with serving_key_set(of_set(RSA.public(**more))) as server:
            assert reason_of(PROVIDER.token(RSA), server.url, http) == "unknown_key"

    @pytest.mark.parametrize("more", [{"use": None}, {"key_ops": ["verify"]}, {"x5c": ["MIIB"], "x5t": "a"}])
    def test_key_that_says_more_or_less_is_taken(self, http: HttpClient, more: dict[str, Any]) -> None:
        with serving_key_set(of_set(RSA.public(**more))) as server:
            assert verified(PROVIDER.token(RSA), server.url, http)["sub"] == "user-1"

    def test_keys_that_nobody_can_use_do_not_spoil_the_others(self, http: HttpClient) -> None:
        broken: list[dict[str, Any]] = [
            {},
            {"kty": "oct", "k": "c2VjcmV0", "kid": "rsa"},
            {"kty": "RSA", "kid": "rsa"},
            {"kty": "RSA", "n": 7, "e": "AQAB", "kid": "rsa"},
            {"kty": ["RSA"], "kid": "rsa"},
            {"kty": "unknown", "kid": "rsa"},
        ]
        with serving_key_set(of_set(*broken, RSA.public())) as server:
            assert verified(PROVIDER.token(RSA), server.url, http)["sub"] == "user-1"

    @pytest.mark.parametrize("more", [{"n": "AQAB"}, {"n": "*"}, {"e": ""}, {"e": "AA"}])
    def test_key_of_broken_numbers_is_refused(self, http: HttpClient, more: dict[str, Any]) -> None:
        with serving_key_set(of_set(RSA.public(**more))) as server:
            assert reason_of(PROVIDER.token(RSA), server.url, http) == "bad_key"

    @pytest.mark.filterwarnings("ignore:Key size")
    def test_rsa_key_that_is_too_short_is_refused(self, http: HttpClient) -> None:
        weak = rsa_key(bits=1024)
        with serving_key_set(of_set(weak.public())) as server:
            assert reason_of(PROVIDER.token(weak), server.url, http) == "bad_key"

    def test_point_that_is_not_on_the_curve_is_refused(self, http: HttpClient) -> None:
        with serving_key_set(of_set(EC.public(y=EC.public()["x"]))) as server:
            assert reason_of(PROVIDER.token(EC), server.url, http) == "bad_key"

    def test_token_without_a_key_id_means_the_only_key_that_fits(self, http: HttpClient) -> None:
        token = PROVIDER.token(RSA, header={"kid": None})
        with serving_key_set(of_set(RSA.public(), EC.public(), ED.public())) as server:
            assert verified(token, server.url, http)["sub"] == "user-1"
        with serving_key_set(of_set(RSA.public(kid=None))) as server:
            assert verified(token, server.url, http)["sub"] == "user-1"
        with serving_key_set(of_set(RSA.public(), NEW_RSA.public())) as server:
            assert reason_of(token, server.url, http) == "unknown_key"

    def test_id_of_two_keys_names_none_of_them_unless_one_alone_fits(self, http: HttpClient) -> None:
        with serving_key_set(of_set(RSA.public(), NEW_RSA.public(kid="rsa"))) as server:
            assert reason_of(PROVIDER.token(RSA), server.url, http) == "unknown_key"
        with serving_key_set(of_set(RSA.public(), EC.public(kid="rsa"))) as server:
            assert verified(PROVIDER.token(RSA), server.url, http)["sub"] == "user-1"

    def test_key_of_the_author_goes_before_the_key_set(self, http: HttpClient) -> None:
        with serving_key_set(answering(NEW_KEY_SET)) as server:
            assert verified(PROVIDER.token(RSA), server.url, http, keys=given(RSA))["sub"] == "user-1"
            assert server.requests == []
            assert verified(PROVIDER.token(NEW_RSA), server.url, http, keys=given(RSA))["sub"] == "user-1"

    def test_algorithm_of_a_key_of_the_author_is_not_one_of_the_key_set(self, http: HttpClient) -> None:
        token = PROVIDER.token(NEW_RSA)
        with serving_key_set(answering(NEW_KEY_SET)) as server:
            assert verified(token, server.url, http, keys=given(RSA), algorithms=("ES256", "RS256"))["sub"] == "user-1"
            assert reason_of(token, server.url, http, keys=given(RSA), algorithms=("ES256",)) == "unknown_key"

    def test_private_members_are_not_kept(self) -> None:
        private = {**RSA.key.as_dict(private=True), "kid": "rsa"}

        (key,) = parse_key_set(json.dumps({"keys": [private]}).encode())

        assert set(key.members) == {"kty", "n", "e"}


class Asked:
    """One set of keys, asked at times of the test's choice."""

    def __init__(self, url: str, http: HttpClient, *, timeout_s: float = TIMEOUT_S) -> None:
        self._sets = KeySets(http, timeout_s=timeout_s)
        self._url = url

    async def has(self, key_id: str, at: float) -> bool | str:
        """Whether the key is found, or why none can be. Where there is no set, nobody is refused for it."""
        try:
            await self._sets.find(self._url, algorithm="RS256", key_id=key_id, now=NOW + at)
        except (CredentialRefused, KeysUnavailable) as exc:
            return exc.reason
        return True


class TestWhenItIsFetched:
    def test_set_is_fetched_once_and_again_when_it_is_no_longer_fresh(self, http: HttpClient) -> None:
        with serving_key_set(answering(KEY_SET, NEW_KEY_SET)) as server:
            asked = Asked(server.url, http)

            async def scenario() -> None:
                assert [await asked.has("rsa", at) for at in (0, 1, FRESH_S - 1)] == [True] * 3
                assert len(server.requests) == 1
                assert await asked.has("new", FRESH_S) is True
                assert await asked.has("rsa", FRESH_S) == "unknown_key"

            asyncio.run(scenario())
            assert len(server.requests) == 2
        assert server.requests[0].startswith(b"GET / HTTP/1.1\r\n")
        assert b"authorization" not in server.requests[0].lower()

    def test_unknown_key_fetches_at_most_once_a_minute(self, http: HttpClient) -> None:
        with serving_key_set(answering(KEY_SET)) as server:
            asked = Asked(server.url, http)

            async def scenario() -> None:
                for at in (0, 1, 30, UNKNOWN_KEY_PAUSE_S - 1):
                    assert await asked.has(f"unknown{at}", at) == "unknown_key"
                assert len(server.requests) == 1
                await asked.has("unknown", UNKNOWN_KEY_PAUSE_S)
                await asked.has("another", UNKNOWN_KEY_PAUSE_S)
                assert len(server.requests) == 2

            asyncio.run(scenario())

    def test_new_key_of_an_issuer_is_found_before_the_old_set_has_aged(self, http: HttpClient) -> None:
        with serving_key_set(answering(KEY_SET, NEW_KEY_SET)) as server:
            asked = Asked(server.url, http)

            async def scenario() -> None:
                assert await asked.has("rsa", 0) is True
                assert await asked.has("new", UNKNOWN_KEY_PAUSE_S) is True

            asyncio.run(scenario())

    def test_requests_at_the_same_time_share_one_fetch(self, http: HttpClient) -> None:
        def slowly(peer: Peer) -> None:
            while peer.read_request():
                peer.drip(KEY_SET[:20], every_s=0.01)
                peer.send(KEY_SET[20:])

        with serving_key_set(slowly) as server:
            asked = Asked(server.url, http)

            async def scenario() -> None:
                assert await asyncio.gather(*(asked.has("rsa", 0) for _ in range(10))) == [True] * 10

            asyncio.run(scenario())
            assert len(server.requests) == 1

    def test_stale_keys_serve_for_a_day_while_the_issuer_is_down(self, http: HttpClient) -> None:
        with serving_key_set(answering(KEY_SET, FAILURE)) as server:
            asked = Asked(server.url, http)

            async def scenario() -> None:
                times = (0, FRESH_S, FRESH_S + RETRY_PAUSE_S - 1, STALE_S)
                assert [await asked.has("rsa", at) for at in times] == [True] * 4
                assert len(server.requests) == 3  # the third time is too soon to ask again
                assert await asked.has("rsa", STALE_S + 1) == "key_set"

            asyncio.run(scenario())

    def test_issuer_that_is_back_is_believed_again(self, http: HttpClient) -> None:
        with serving_key_set(answering(FAILURE, NEW_KEY_SET)) as server:
            asked = Asked(server.url, http)

            async def scenario() -> None:
                assert await asked.has("new", 0) == "key_set"
                assert await asked.has("new", RETRY_PAUSE_S - 1) == "key_set"
                assert len(server.requests) == 1
                assert await asked.has("new", RETRY_PAUSE_S) is True

            asyncio.run(scenario())

    def test_sets_that_are_held_are_bounded(self, http: HttpClient) -> None:
        with serving_key_set(answering(KEY_SET)) as server:
            sets = KeySets(http, max_sets=2)

            async def scenario() -> None:
                for path in ("a", "b", "a", "c", "a", "b"):
                    await sets.find(f"{server.url}{path}", algorithm="RS256", key_id="rsa", now=NOW)

            asyncio.run(scenario())
            paths = [request.split(b" ")[1] for request in server.requests]
        assert paths == [b"/a", b"/b", b"/c", b"/b"]


def _slow(peer: Peer) -> None:
    peer.read_request()
    peer.wait()


BAD_ANSWERS: Mapping[str, Callable[[Peer], None]] = {
    "slow": _slow,
    "huge": answering(key_set_answer(PROVIDER.key_set() + b" " * MAX_BYTES)),
    "redirecting": answering(answer(PROVIDER.key_set(), status="302 Found", location="https://login.example/keys")),
    "not JSON": answering(key_set_answer(b"<html>")),
    "nothing": answering(key_set_answer(b"")),
    "a list": answering(key_set_answer(b"[]")),
    "without keys": answering(key_set_answer(b'{"key": []}')),
    "keys that are no list": answering(key_set_answer(b'{"keys": {}}')),
    "nested": answering(key_set_answer(b'{"keys":' + b"[" * 9_000 + b"]" * 9_000 + b"}")),
    "failing": answering(FAILURE),
    "not found": answering(answer(PROVIDER.key_set(), status="404 Not Found")),
    "closing": lambda peer: peer.close(),
}


@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_bad_answer_lets_nobody_in_and_refuses_nobody(http: HttpClient, name: str) -> None:
    sets = KeySets(http, timeout_s=0.3)
    with serving_key_set(BAD_ANSWERS[name]) as server, pytest.raises(KeysUnavailable) as caught:
        asyncio.run(sets.find(server.url, algorithm="RS256", key_id="rsa", now=NOW))

    assert str(caught.value) == "the credential cannot be verified at the moment"


@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_bad_answer_leaves_the_keys_that_there_are(http: HttpClient, name: str) -> None:
    asked_before: list[bytes] = []

    def script(peer: Peer) -> None:
        if not asked_before:
            asked_before.append(peer.read_request())
            peer.send(key_set_answer(PROVIDER.key_set(), connection="close"))
        else:
            BAD_ANSWERS[name](peer)

    with serving_key_set(script) as server:
        asked = Asked(server.url, http, timeout_s=0.3)

        async def scenario() -> None:
            assert await asked.has("rsa", 0) is True
            assert await asked.has("rsa", FRESH_S) is True

        asyncio.run(scenario())
        assert server.accepted >= 2


def test_redirect_is_never_followed(http: HttpClient) -> None:
    attacker = rsa_key("rsa")
    with serving_key_set(of_set(attacker.public())) as elsewhere:
        with serving_key_set(answering(answer(b"", status="307 Moved", location=elsewhere.url))) as server:
            assert reason_of(PROVIDER.token(attacker), server.url, http) == "key_set"
        assert elsewhere.accepted == 0


def test_set_of_the_largest_size_is_taken(http: HttpClient) -> None:
    body = PROVIDER.key_set()
    with serving_key_set(answering(key_set_answer(body + b" " * (MAX_BYTES - len(body))))) as server:
        assert verified(PROVIDER.token(), server.url, http)["sub"] == "user-1"
