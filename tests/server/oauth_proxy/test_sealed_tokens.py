"""Access tokens for identity assertions at several instances and endpoints, and the configuration of assertions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from handler.compiler.compile import compile_endpoint
from handler.server.auth.sealed_state import RequestStates
from tests.server.oauth_proxy.asserting import (
    FILES,
    HEADER,
    JWT_BEARER,
    KEY,
    OTHER_IDP,
    OTHER_SECRET,
    POLICIES,
    SECRET,
    STATE_KEY,
    UNRELATED,
    URL,
    Clock,
    assertion,
    bearer,
    call,
    claims,
    exchange,
    identity,
    reason,
    serving,
    sha256,
    token,
)
from tests.support.api import Reply, running_api
from tests.support.endpoints import compiled, problems_of, reported, write_endpoint
from tests.support.function import running_function
from tests.support.issuers import signed_with_secret


@pytest.fixture
def clock() -> Clock:
    return Clock()


class TestAttacks:
    def test_secret_of_the_issuer_does_not_sign_assertions(self, tmp_path: Path, clock: Clock) -> None:
        secret = "kP3vT8yLq0ZsWm5RbXc7NdJf2GhUaE1o"  # the bundle has it
        known = identity()
        known[0]["keys"] = [
            {"algorithm": "ES256", "key": KEY.pem(), "keyid": "one"},
            {"algorithm": "HS256", "key": secret, "keyid": "two"},
        ]
        with serving(tmp_path, clock, identity=known) as function:
            header = {**HEADER, "alg": "HS256", "kid": "two"}
            answered = exchange(function, signed_with_secret(claims(clock), header=header, secret=secret.encode()))

            assert answered.json["error"] == "invalid_grant"
            assert reason(function) == "algorithm"

    def test_digest_of_nothing_lets_no_client_in(self, tmp_path: Path, clock: Clock) -> None:
        careless = [{"id": "desk", "sha256": sha256("")}]
        with serving(tmp_path, clock, assertion_clients=careless) as function:
            for secret in (None, ""):
                assert exchange(function, assertion(clock), client_secret=secret).status == 401

    def test_assertion_is_not_an_access_token(self, tmp_path: Path, clock: Clock) -> None:
        known = identity()
        known[0]["audience"] = URL  # as an owner may write it
        with serving(tmp_path, clock, identity=known) as function:
            for typ in ("oauth-id-jag+jwt", "application/OAuth-ID-JAG+jwt"):
                assert call(function, assertion(clock, header={"typ": typ})).status == 401
                assert reason(function) == "type"
            assert call(function, assertion(clock, header={"typ": "at+jwt"})).status == 200


class TestSealedToken:
    def test_token_is_for_one_url_and_key_and_for_every_instance(self, tmp_path: Path, clock: Clock) -> None:
        with serving(tmp_path / "first", clock) as function:
            held = token(function, clock)

        with serving(tmp_path / "url", clock, public_url="https://other.example.com") as function:
            assert call(function, held).status == 401
        with serving(tmp_path / "key", clock, key=STATE_KEY[::-1]) as function:
            assert call(function, held).status == 401
        with serving(tmp_path / "none", clock, key="") as function:
            assert call(function, held).status == 401
        with serving(tmp_path / "same", clock) as function:
            assert call(function, held).status == 200

    def test_token_of_another_endpoint_is_refused(self, tmp_path: Path, clock: Clock) -> None:
        config = json.dumps({"access": {"policies": POLICIES}, "identity": identity()})
        names = ("api/things", "api/others")
        both = [
            compile_endpoint(write_endpoint(tmp_path, {**FILES, "config.yaml": config}, name=name), environ={})
            for name in names
        ]
        states = RequestStates([STATE_KEY], clock=clock)
        with running_function(*both, public_url="https://mcp.example.com", clock=clock, states=states) as function:
            held = token(function, clock)
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            answers = [function.post(message, path=f"/{name}/mcp", headers=bearer(held)) for name in names]

        assert [answered.status for answered in answers] == [200, 401]
        assert reason(function) == "signature"

    def test_token_ends_when_its_client_is_removed(self, tmp_path: Path, clock: Clock) -> None:
        with serving(tmp_path / "first", clock) as function:
            held = token(function, clock)
        others = [{"id": "other-desk", "sha256": sha256(OTHER_SECRET)}]
        moved = [{"id": "desk", "sha256": sha256(SECRET), "issuer": OTHER_IDP}]

        for clients, word in ((others, "client"), (moved, "client"), ([], "malformed")):
            with serving(tmp_path / str(len(clients)) / word, clock, assertion_clients=clients) as later:
                assert call(later, held).status == 401
                assert reason(later) == word

    def test_token_is_not_sent_to_the_api(self, tmp_path: Path, clock: Clock) -> None:
        requests: list[bytes] = []

        def reply(request: Any) -> Reply:
            requests.append(str(request).encode())
            return Reply(b'{"data": {"a": 1}}')

        with running_api(reply) as api:
            auth = {"passthrough": {"audience": f"{URL}/mcp"}}
            known = identity()
            for each in known[:2]:
                each["audience"] = f"{URL}/mcp"
            config = {"access": {"policies": POLICIES}, "identity": known, "upstream": {"url": api.url, "auth": auth}}
            made = compiled(tmp_path, {**FILES, "config.yaml": json.dumps(config)})
            states = RequestStates([STATE_KEY], clock=clock)
            with running_function(made, public_url="https://mcp.example.com", clock=clock, states=states) as function:
                called = call(function, token(function, clock))

                assert "data" not in json.dumps(called.json.get("result", {}).get("structuredContent", {}))
                assert reason(function) == "CallerTokenRequired"
                assert not requests


class TestConfiguration:
    def test_metadata_tells_of_assertions_where_they_are_accepted(self, tmp_path: Path, clock: Clock) -> None:
        path = "/.well-known/oauth-authorization-server/api/things"
        with serving(tmp_path / "on", clock) as on:
            told = on.send("GET", path).json
        with serving(tmp_path / "off", clock, assertion_clients=[]) as off:
            untold = off.send("GET", path).json
            refused = exchange(off, assertion(clock))
        with serving(tmp_path / "unsealed", clock, key="") as unsealed:
            assert unsealed.send("GET", path).json == untold
            failed = exchange(unsealed, assertion(clock))

        assert told["authorization_grant_profiles_supported"] == ["urn:ietf:params:oauth:grant-profile:id-jag"]
        assert told["grant_types_supported"] == ["authorization_code", "refresh_token", JWT_BEARER]
        methods = "token_endpoint_auth_methods_supported"
        assert told[methods] == ["none", "client_secret_basic", "client_secret_post"]
        assert "authorization_grant_profiles_supported" not in untold
        assert JWT_BEARER not in untold["grant_types_supported"]
        assert untold[methods] == ["none"]
        assert refused.json["error"] in ("invalid_client", "unsupported_grant_type")
        assert (failed.status, failed.json["error"]) == (502, "temporarily_unavailable")
        assert reason(unsealed) == "no_state_key"

    @pytest.mark.parametrize(
        ("client", "code"),
        [
            ({"sha256": "a" * 64}, "invalid-value"),
            ({"id": "desk"}, "invalid-value"),
            ({"id": "desk", "sha256": "zx-Violet-77"}, "invalid-value"),
            ({"id": "desk", "sha256": ["a" * 64] * 3}, "invalid-value"),
            ({"id": "the-one", "sha256": "a" * 64}, "invalid-value"),
            ({"id": "desk", "sha256": "a" * 64, "secret": "x"}, "unknown-key"),
            ({"id": "desk", "sha256": "a" * 64, "issuer": UNRELATED}, "unknown-assertion-issuer"),
        ],
    )
    def test_client_that_cannot_work_is_a_problem(self, tmp_path: Path, client: dict[str, Any], code: str) -> None:
        config = json.dumps({"access": {"policies": POLICIES}, "identity": identity(assertion_clients=[client])})

        found = reported(tmp_path, {**FILES, "config.yaml": config})

        assert code in str(found)
        assert "Violet" not in "".join(map(str, problems_of(tmp_path, {**FILES, "config.yaml": config})))
