"""Identity assertions (ID-JAG) of a company's provider: the token that a client gets for one, and each attack."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any
from urllib.parse import quote

import pytest

from handler.server.auth.sealed_state import RequestStates
from tests.server.oauth_proxy.asserting import (
    HEADER,
    IDP,
    KEY,
    OLD_SECRET,
    OTHER_IDP,
    OTHER_KEY,
    OTHER_SECRET,
    SECRET,
    STATE_KEY,
    STRANGE_KEY,
    UNRELATED,
    URL,
    Clock,
    assertion,
    bearer,
    call,
    claims,
    exchange,
    reason,
    serving,
    token,
)
from tests.support.function import Function
from tests.support.issuers import signed_with_secret, unsigned
from tests.support.secrecy import SESSION


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory, clock: Clock) -> Iterator[Function]:
    with serving(tmp_path_factory.mktemp("endpoint"), clock) as running:
        yield running


class TestExchange:
    def test_client_gets_a_token_that_calls_tools(self, function: Function, clock: Clock) -> None:
        answered = exchange(function, assertion(clock), scope="things:read things:write", resource=f"{URL}/mcp")

        assert answered.status == 200, answered.body
        assert answered.json | {"access_token": ""} == {
            "access_token": "",
            "token_type": "Bearer",
            "expires_in": 300,
            "scope": "things:read",
        }
        assert answered.headers["cache-control"] == "no-store"
        called = call(function, answered.json["access_token"])
        assert called.result["structuredContent"]["data"]["a"] == 1
        assert function.lines[-1]["principal"] == "token"

    @pytest.mark.parametrize("secret", [SECRET, OLD_SECRET])
    def test_client_authenticates_by_header_with_either_secret(
        self, function: Function, clock: Clock, secret: str
    ) -> None:
        credentials = base64.b64encode(f"desk:{quote(secret, safe='')}".encode()).decode()

        answered = exchange(
            function,
            assertion(clock),
            headers={"authorization": f"Basic {credentials}"},
            client_id=None,
            client_secret=None,
        )

        assert answered.status == 200, answered.body

    def test_client_of_another_provider_uses_that_provider(self, function: Function, clock: Clock) -> None:
        text = assertion(clock, key=OTHER_KEY, iss=OTHER_IDP, client_id="other-desk")

        answered = exchange(function, text, client_id="other-desk", client_secret=OTHER_SECRET)

        assert answered.status == 200, answered.body
        assert call(function, answered.json["access_token"]).status == 200

    def test_policies_see_the_claims_of_the_assertion(self, function: Function, clock: Clock) -> None:
        assert call(function, token(function, clock), "c").result["structuredContent"]["data"]["c"] == 3
        assert call(function, token(function, clock, department="support"), "c").json["error"]["code"] == -32602

    @pytest.mark.parametrize(
        ("granted", "asked", "scope"),
        [
            ("things:read", None, "things:read"),
            ("things:read things:write", "things:read", "things:read"),
            ("things:read", "things:read things:write", "things:read"),
            (None, None, None),
            ("", None, None),
        ],
    )
    def test_scopes_are_those_that_are_asked_for_and_granted(
        self, function: Function, clock: Clock, granted: str | None, asked: str | None, scope: str | None
    ) -> None:
        answered = exchange(function, assertion(clock, scope=granted), scope=asked)

        assert answered.json.get("scope") == scope
        assert call(function, answered.json["access_token"], "b").status == 403
        assert call(function, answered.json["access_token"], "c").status == 200

    def test_scp_of_the_assertion_grants_nothing(self, function: Function, clock: Clock) -> None:
        held = token(function, clock, scp=["things:write"])

        assert call(function, held, "b").status == 403

    def test_single_audience_and_resource_may_be_lists(self, function: Function, clock: Clock) -> None:
        assert token(function, clock, aud=[URL], resource=[f"{URL}/mcp"])

    @pytest.mark.parametrize(("lives_s", "expires_in"), [(40, 40), (299, 299), (301, 300), (3_600, 300)])
    def test_token_ends_after_300_s_and_with_the_assertion(
        self, function: Function, clock: Clock, lives_s: int, expires_in: int
    ) -> None:
        clock.now = float(int(clock.now))
        answered = exchange(function, assertion(clock, exp=int(clock.now) + lives_s))
        held = answered.json["access_token"]

        assert answered.json["expires_in"] == expires_in
        clock.now += expires_in - 1
        assert call(function, held).status == 200
        clock.now += 1
        assert call(function, held).status == 401
        assert reason(function) == "expired"

    @pytest.mark.parametrize("age_s", [-10, 0, 60])
    def test_assertion_of_the_last_60_s_is_accepted(self, function: Function, clock: Clock, age_s: int) -> None:
        clock.now = float(int(clock.now))

        assert token(function, clock, iat=int(clock.now) - age_s)


REFUSED: Mapping[str, tuple[dict[str, Any], str]] = {
    "another type": ({"header": {"typ": "JWT"}}, "type"),
    "the type of access tokens": ({"header": {"typ": "at+jwt"}}, "type"),
    "no type": ({"header": {"typ": None}}, "type"),
    "a type that is not a text": ({"header": {"typ": ["oauth-id-jag+jwt"]}}, "type"),
    "another audience": ({"aud": "https://mcp.example.com/api/others"}, "audience"),
    "the audience of access tokens": ({"aud": "api"}, "audience"),
    "the resource as the audience": ({"aud": f"{URL}/mcp"}, "audience"),
    "an audience with a slash at the end": ({"aud": f"{URL}/"}, "audience"),
    "several audiences": ({"aud": [URL, "https://elsewhere.example"]}, "audience"),
    "no audience": ({"aud": None}, "audience"),
    "Cognito's form of an audience": ({"aud": None, "token_use": "access", "client_id": URL}, "audience"),
    "another resource": ({"resource": "https://mcp.example.com/api/others/mcp"}, "resource"),
    "no resource": ({"resource": None}, "resource"),
    "several resources": ({"resource": [f"{URL}/mcp", "https://elsewhere.example"]}, "resource"),
    "an unknown issuer": ({"iss": UNRELATED}, "issuer"),
    "no issuer": ({"iss": None}, "issuer"),
    "the issuer of another client": ({"iss": OTHER_IDP, "key": OTHER_KEY}, "issuer"),
    "the name of one issuer and the key of another": ({"iss": IDP, "key": OTHER_KEY}, "algorithm"),
    "a key with a known id": ({"key": STRANGE_KEY}, "signature"),
    "another client": ({"client_id": "other-desk"}, "client"),
    "no client": ({"client_id": None}, "client"),
    "an azp instead of the client": ({"client_id": None, "azp": "desk"}, "client"),
    "no subject": ({"sub": None}, "subject"),
    "an empty subject": ({"sub": ""}, "subject"),
    "a subject that is not a text": ({"sub": {"id": 1}}, "subject"),
    "no jti": ({"jti": None}, "no_jti"),
    "a jti that is not a text": ({"jti": ["a"]}, "no_jti"),
    "a long jti": ({"jti": "j" * 257}, "no_jti"),
    "no expiry": ({"exp": None}, "no_expiry"),
    "an expiry that is not a number": ({"exp": "never"}, "times"),
    "no iat": ({"iat": None}, "too_old"),
    "an iat that is not a number": ({"iat": "now"}, "times"),
    "a key that holds it": ({"cnf": {"jkt": "x"}}, "narrowed"),
    "actions that it is for": ({"authorization_details": []}, "narrowed"),
    "scopes that are not a text": ({"scope": ["things:read"]}, "scope"),
    "scopes parted by a tab": ({"scope": "things:read\tthings:write"}, "scope"),
    "scopes parted by another space": ({"scope": "things:read\u00a0things:write"}, "scope"),
    "an extension": ({"header": {"crit": ["b64"]}}, "critical_header"),
    "very many claims": ({"groups": ["a group with a name"] * 300}, "too_large"),
}


class TestAttacks:
    @pytest.mark.parametrize("changes", [pytest.param(each, id=name) for name, each in REFUSED.items()])
    def test_assertion_is_refused_with(
        self, function: Function, clock: Clock, changes: tuple[dict[str, Any], str]
    ) -> None:
        answered = exchange(function, assertion(clock, **changes[0]))

        assert (answered.status, answered.json["error"]) == (400, "invalid_grant")
        assert reason(function) == changes[1]

    @pytest.mark.parametrize(
        ("times", "word"),
        [
            ({"iat": -61}, "too_old"),
            ({"iat": 11}, "not_yet_valid"),
            ({"nbf": 11}, "not_yet_valid"),
            ({"exp": 0}, "expired"),
            ({"exp": -1}, "expired"),
            ({"exp": 0.9}, "expired"),
            ({"iat": -120, "exp": -60}, "expired"),
        ],
    )
    def test_assertion_of_another_time_is_refused(
        self, function: Function, clock: Clock, times: Mapping[str, float], word: str
    ) -> None:
        clock.now = float(int(clock.now))

        moved: dict[str, Any] = {name: clock.now + value for name, value in times.items()}
        answered = exchange(function, assertion(clock, **moved))

        assert answered.json["error"] == "invalid_grant"
        assert reason(function) == word

    def test_forged_signatures_are_refused(self, function: Function, clock: Clock) -> None:
        known = claims(clock)
        forged = [
            unsigned(known, header={**HEADER, "alg": "none"}),
            unsigned(known, header={**HEADER, "alg": "ES256"}),
            signed_with_secret(known, header={**HEADER, "alg": "HS256"}, secret=KEY.pem().encode()),
            assertion(clock)[:-4] + "AAAA",
        ]

        for text in forged:
            assert exchange(function, text).json["error"] == "invalid_grant", text
        for text in ("", "a.b.c", "stile.x", "{}"):
            assert exchange(function, text or None).status == 400  # type: ignore[arg-type]

    def test_assertion_is_used_once(self, function: Function, clock: Clock) -> None:
        text = assertion(clock)
        assert exchange(function, text).status == 200

        credentials = base64.b64encode(f"desk:{quote(SECRET, safe='')}".encode()).decode()
        other = exchange(function, text, headers={"authorization": f"Basic {credentials}"}, client_secret=None)
        assert other.json["error"] == "invalid_grant"
        for _ in range(2):
            assert exchange(function, text).json["error"] == "invalid_grant"
            assert reason(function) == "replayed"
            clock.now += 59 / 2
        same_id = assertion(clock, jti="one")
        assert exchange(function, same_id).status == 200
        assert exchange(function, assertion(clock, jti="one", sub="eve")).json["error"] == "invalid_grant"
        clock.now += 30
        assert exchange(function, text).json["error"] == "invalid_grant"
        assert reason(function) == "too_old"

    def test_refused_request_does_not_use_an_assertion_up(self, function: Function, clock: Clock) -> None:
        text = assertion(clock)

        assert exchange(function, text, client_secret="a guess").status == 401
        assert exchange(function, text, scope="things:write").json["error"] == "invalid_scope"
        assert exchange(function, text).status == 200

    @pytest.mark.parametrize(
        "changes",
        [
            {"client_secret": None},
            {"client_secret": "stile_guess"},
            {"client_secret": OTHER_SECRET},
            {"client_id": None},
            {"client_id": "the-one", "client_secret": None},
            {"client_id": "the-one"},
            {"client_id": "nobody"},
            {
                "client_assertion": "a.b.c",
                "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            },
        ],
    )
    def test_client_that_does_not_prove_itself_is_refused(
        self, function: Function, clock: Clock, changes: dict[str, Any]
    ) -> None:
        answered = exchange(function, assertion(clock), **changes)

        assert (answered.status, answered.json["error"]) == (401, "invalid_client")

    @pytest.mark.parametrize(
        "authorization",
        [
            "Basic",
            "Basic !",
            "Basic ZGVzaw==",
            "Bearer x",
            "Basic 4oCc",
            f"Basic {base64.b64encode(b'desk:x').decode()}",
        ],
    )
    def test_header_that_proves_nothing_is_refused(self, function: Function, clock: Clock, authorization: str) -> None:
        answered = exchange(
            function, assertion(clock), headers={"authorization": authorization}, client_id=None, client_secret=None
        )

        assert (answered.status, answered.json["error"]) == (401, "invalid_client")
        assert answered.headers["www-authenticate"] == "Basic"

    def test_client_that_proves_itself_twice_is_refused(self, function: Function, clock: Clock) -> None:
        credentials = base64.b64encode(f"desk:{quote(SECRET, safe='')}".encode()).decode()
        headers = {"authorization": f"Basic {credentials}"}

        assert exchange(function, assertion(clock), headers=headers).json["error"] == "invalid_request"
        other = exchange(function, assertion(clock), headers=headers, client_id="other-desk", client_secret=None)
        assert other.json["error"] == "invalid_client"

    def test_client_uses_its_own_assertions_only(self, function: Function, clock: Clock) -> None:
        text = assertion(clock)

        answered = exchange(function, text, client_id="other-desk", client_secret=OTHER_SECRET)

        assert answered.json["error"] == "invalid_grant"

    def test_scopes_and_resources_beyond_the_assertion_are_refused(self, function: Function, clock: Clock) -> None:
        wider = exchange(function, assertion(clock), scope="things:write")
        elsewhere = exchange(function, assertion(clock), resource="https://mcp.example.com/api/others/mcp")

        assert wider.json["error"] == "invalid_scope"
        assert elsewhere.json["error"] == "invalid_target"


class TestSealedToken:
    def test_altered_token_is_refused(self, function: Function, clock: Clock) -> None:
        held = token(function, clock)
        raw = bytearray(base64.b64decode(held.removeprefix("stile.")))
        for place in (0, len(raw) // 2, len(raw) - 1):
            raw[place] ^= 1
            altered = SESSION.keep("a token", "stile." + base64.b64encode(raw).decode())
            raw[place] ^= 1
            assert call(function, altered).status == 401
        longer = bytes(raw).replace(b"things:read", b"things:readthings:write")
        for text in (
            "stile.",
            "stile.x",
            held.rstrip("=") + "A",
            held[:-1],
            "stile." + base64.b64encode(longer).decode(),
            held.upper(),
        ):
            assert call(function, text).status == 401
        assert call(function, held).status == 200

    def test_token_is_for_the_mcp_route_alone(self, function: Function, clock: Clock) -> None:
        held = token(function, clock)

        for path in ("/api/things/graphql", "/api/things/__graphql", "/api/things"):
            assert function.send("GET", f"{path}?query=%7Ba%7D", headers=bearer(held)).status == 401, path
        assert function.request("tools/list", headers=bearer(held)).status == 200

    def test_state_of_a_question_is_not_a_token(self, function: Function, clock: Clock) -> None:
        known = {**claims(clock), "exp": int(clock.now) + 300}
        for binding in ({"endpoint": "api/things"}, {"endpoint": "api/things", "method": "tools/call"}):
            with closing(asyncio.new_event_loop()) as loop:  # asyncio.run would leave the function without its own
                sealed = loop.run_until_complete(RequestStates([STATE_KEY], clock=clock).seal(known, binding=binding))
            assert call(function, f"stile.{sealed}").status == 401
