"""Identity assertions (ID-JAG) of a company's provider: the token that a client gets for one, and each attack."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from handler.server.auth.sealed_state import RequestStates
from tests.support.api import Reply, running_api
from tests.support.endpoints import compiled, reported
from tests.support.function import Answer, Function, running_function
from tests.support.issuers import Provider, SigningKey, ec_key, rsa_key, signed_with_secret, unsigned
from tests.support.secrecy import SESSION

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
URL = "https://mcp.example.com/api/things"
IDP, OTHER_IDP, UNRELATED = "https://idp.example", "https://other-idp.example", "https://unrelated.example"
SECRET = SESSION.keep("a client's secret", "stile_mB92K27uhbUJU1p1r-wW1g:FWFO%jX+k")
OLD_SECRET = SESSION.keep("a client's old secret", "stile_9hM4Qe0sLtVwXyZ1aBcDeF")
OTHER_SECRET = SESSION.keep("another client's secret", "stile_Zk81nPq72hTgLxw0sVdEuc")
STATE_KEY = SESSION.keep("a state key", "Jx7pQ0mWv3Rk9TzLb5YhNc2FdGs8UaEi")

KEY, OTHER_KEY, STRANGE_KEY = ec_key("one"), rsa_key("two"), ec_key("one")
COMPANY = Provider(IDP, (KEY,))
OTHER = Provider(OTHER_IDP, (OTHER_KEY,))

HEADER = {"typ": "oauth-id-jag+jwt"}


def sha256(secret: str) -> str:
    import hashlib

    return hashlib.sha256(secret.encode()).hexdigest()


def identity(**changes: Any) -> list[dict[str, Any]]:
    """What config.yaml says of the callers."""

    def issuer(name: str, key: SigningKey) -> dict[str, Any]:
        return {"issuer": name, "audience": "api", "keys": [{"algorithm": key.algorithm, "key": key.pem()}]}

    proxy = {
        "authorize_url": "https://login.example/authorize",
        "token_url": "https://login.example/token",
        "client_id": "the-one",
        "redirect_uris": ["https://client.example/callback"],
        "assertion_clients": [
            {"id": "desk", "sha256": [sha256(SECRET), sha256(OLD_SECRET)]},
            {"id": "other-desk", "sha256": sha256(OTHER_SECRET), "issuer": OTHER_IDP},
        ],
        **changes,
    }
    trusted = {"api_keys": [{"name": "k", "sha256": "0" * 64}]}
    return [{**issuer(IDP, KEY), "oauth_proxy": proxy}, issuer(OTHER_IDP, OTHER_KEY), trusted]


FILES = {
    "index.graphql": "type Query { a: Int b: Int c: Int }",
    "operations/a.graphql": 'query A @mcpTool(name: "a", scopes: ["things:read"]) { a }',
    "operations/b.graphql": 'query B @mcpTool(name: "b", scopes: ["things:write"]) { b }',
    "operations/c.graphql": 'query C @mcpTool(name: "c") { c }',
}
POLICIES = [
    {
        "type": "Query",
        "rules": [
            {"fields": ["a", "b"], "condition": True},
            {"fields": ["c"], "condition": '$jwt.department:String == "sales"'},
        ],
    }
]


class Clock:
    """The time of a function, in UNIX seconds."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


@contextmanager
def serving(
    folder: Path, clock: Clock, *, key: str = STATE_KEY, public_url: str = "https://mcp.example.com", **changes: Any
) -> Iterator[Function]:
    with running_api(lambda _: Reply(b'{"data": {"a": 1, "b": 2, "c": 3}}')) as api:
        config = {
            "access": {"policies": POLICIES},
            "identity": changes.pop("identity", identity(**changes)),
            "upstream": {"url": api.url},
        }
        first = compiled(folder, {**FILES, "config.yaml": json.dumps(config)})
        second = compiled(folder / "second", {**FILES, "config.yaml": json.dumps(config)})
        states = RequestStates([key] if key else [], clock=clock)
        with running_function(first, public_url=public_url, clock=clock, states=states) as function:
            yield function
        assert second


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def function(tmp_path: Path, clock: Clock) -> Iterator[Function]:
    with serving(tmp_path, clock) as running:
        yield running


_ids = iter(range(1_000_000))


def claims(clock: Clock, **changes: Any) -> dict[str, Any]:
    now = int(clock.now)
    known = {
        "iss": IDP,
        "sub": "ada",
        "aud": URL,
        "resource": f"{URL}/mcp",
        "client_id": "desk",
        "jti": f"id-{next(_ids)}",
        "iat": now,
        "exp": now + 3_600,
        "scope": "things:read",
        "department": "sales",
        **changes,
    }
    return {name: value for name, value in known.items() if value is not None}


def assertion(clock: Clock, *, header: Mapping[str, Any] | None = None, key: SigningKey = KEY, **changes: Any) -> str:
    return COMPANY.token(key, header={**HEADER, "kid": None, **(header or {})}, **claims(clock, **changes))


def exchange(
    function: Function, text: str, *, headers: Mapping[str, str] | None = None, **changes: str | None
) -> Answer:
    known = {"grant_type": JWT_BEARER, "assertion": text, "client_id": "desk", "client_secret": SECRET, **changes}
    form = urlencode({name: value for name, value in known.items() if value is not None})
    sent = {"content-type": "application/x-www-form-urlencoded", **(headers or {})}
    from tests.support.function import event_for, unsearched_answer_of

    event = event_for("POST", "/api/things/oauth/token", body=form, headers=sent)
    answered = unsearched_answer_of(function.handler(event, function.context))
    if answered.status == 200:
        SESSION.keep("an access token", answered.json["access_token"])
    return answered


def token(function: Function, clock: Clock, **changes: Any) -> str:
    answered = exchange(function, assertion(clock, **changes))
    assert answered.status == 200, answered.body
    return str(answered.json["access_token"])


def bearer(text: str) -> dict[str, str]:
    return {"authorization": f"Bearer {text}"}


def call(function: Function, text: str, tool: str = "a") -> Answer:
    return function.call(tool, {}, headers=bearer(text))


def reason(function: Function) -> str:
    return str(function.lines[-1]["reason"])


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
        assert called.result["structuredContent"] == {"data": {"a": 1}}
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
        assert call(function, token(function, clock), "c").result["structuredContent"] == {"data": {"c": 3}}
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

        answered = exchange(function, assertion(clock, **{name: clock.now + value for name, value in times.items()}))

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

    def test_secret_of_the_issuer_does_not_sign_assertions(self, tmp_path: Path, clock: Clock) -> None:
        secret = SESSION.keep("an issuer's secret", "kP3vT8yLq0ZsWm5RbXc7NdJf2GhUaE1o")
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

    def test_assertion_is_used_once(self, function: Function, clock: Clock) -> None:
        text = assertion(clock)
        assert exchange(function, text).status == 200

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
        self, function: Function, clock: Clock, changes: dict[str, str | None]
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

    def test_assertion_is_not_an_access_token(self, tmp_path: Path, clock: Clock) -> None:
        known = identity()
        known[0]["audience"] = URL  # as an owner may write it
        with serving(tmp_path, clock, identity=known) as function:
            for typ in ("oauth-id-jag+jwt", "application/OAuth-ID-JAG+jwt"):
                assert call(function, assertion(clock, header={"typ": typ})).status == 401
                assert reason(function) == "type"
            assert call(function, assertion(clock, header={"typ": "at+jwt"})).status == 200


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
            held + "A",
            held[:-1],
            "stile." + base64.b64encode(longer).decode(),
            held.upper(),
        ):
            assert call(function, text).status == 401
        assert call(function, held).status == 200

    def test_token_of_another_endpoint_url_or_key_is_refused(
        self, tmp_path: Path, function: Function, clock: Clock
    ) -> None:
        held = token(function, clock)
        with serving(tmp_path / "url", clock, public_url="https://other.example.com") as other:
            assert call(other, held).status == 401
        with serving(tmp_path / "key", clock, key=STATE_KEY[::-1]) as other:
            assert call(other, held).status == 401
        with serving(tmp_path / "none", clock, key="") as other:
            assert call(other, held).status == 401
        with serving(tmp_path / "same", clock) as other:
            assert call(other, held).status == 200  # another instance of the same function

    def test_token_of_another_endpoint_is_refused(self, tmp_path: Path, clock: Clock) -> None:
        config = json.dumps({"access": {"policies": POLICIES}, "identity": identity()})
        things = compiled(tmp_path / "a", {**FILES, "config.yaml": config})
        others = compiled(tmp_path / "b", {**FILES, "config.yaml": config}, name="api/others")
        states = RequestStates([STATE_KEY], clock=clock)
        given: dict[str, Any] = {"public_url": "https://mcp.example.com", "clock": clock, "states": states}
        with running_function(things, others, **given) as function:
            held = token(function, clock)

            listed = function.post(
                {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, path="/api/others/mcp", headers=bearer(held)
            )

            assert listed.status == 401
            assert reason(function) == "signature"

    def test_token_is_for_the_mcp_route_alone(self, function: Function, clock: Clock) -> None:
        held = token(function, clock)

        for path in ("/api/things/graphql", "/api/things/__graphql", "/api/things"):
            assert function.send("GET", f"{path}?query=%7Ba%7D", headers=bearer(held)).status == 401, path
        assert function.request("tools/list", headers=bearer(held)).status == 200

    def test_token_ends_when_its_client_is_removed(self, tmp_path: Path, function: Function, clock: Clock) -> None:
        held = token(function, clock)
        others = [{"id": "other-desk", "sha256": sha256(OTHER_SECRET)}]
        moved = [{"id": "desk", "sha256": sha256(SECRET), "issuer": OTHER_IDP}]

        for clients, word in ((others, "client"), (moved, "client"), ([], "malformed")):
            with serving(tmp_path / str(len(clients)) / word, clock, assertion_clients=clients) as later:
                assert call(later, held).status == 401
                assert reason(later) == word

    def test_state_of_a_question_is_not_a_token(self, function: Function, clock: Clock) -> None:
        import asyncio

        known = {**claims(clock), "exp": int(clock.now) + 300}
        for binding in ({"endpoint": "api/things"}, {"endpoint": "api/things", "method": "tools/call"}):
            sealed = asyncio.run(RequestStates([STATE_KEY], clock=clock).seal(known, binding=binding))
            assert call(function, f"stile.{sealed}").status == 401

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
    def test_metadata_tells_of_assertions_where_they_are_accepted(
        self, tmp_path: Path, function: Function, clock: Clock
    ) -> None:
        path = "/.well-known/oauth-authorization-server/api/things"
        told = function.send("GET", path).json
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
            ({"id": "desk", "sha256": "a secret"}, "invalid-value"),
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
