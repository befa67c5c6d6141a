"""An endpoint that takes identity assertions of two companies' providers, with assertions and clients."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jwt.algorithms import get_default_algorithms

from handler.server.auth.sealed_state import RequestStates
from tests.support.api import Reply, running_api
from tests.support.endpoints import compiled
from tests.support.function import Answer, Function, event_for, running_function, unsearched_answer_of
from tests.support.issuers import SigningKey, ec_key, rsa_key
from tests.support.secrecy import SESSION

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
URL = "https://mcp.example.com/api/things"
IDP, OTHER_IDP, UNRELATED = "https://idp.example", "https://other-idp.example", "https://unrelated.example"
SECRET = SESSION.keep("a client's secret", "stile_mB92K27uhbUJU1p1r-wW1g:FWFO%jX+k")
OLD_SECRET = SESSION.keep("a client's old secret", "stile_9hM4Qe0sLtVwXyZ1aBcDeF")
OTHER_SECRET = SESSION.keep("another client's secret", "stile_Zk81nPq72hTgLxw0sVdEuc")
STATE_KEY = SESSION.keep("a state key", "Jx7pQ0mWv3Rk9TzLb5YhNc2FdGs8UaEi")

KEY, OTHER_KEY, STRANGE_KEY = ec_key("one"), rsa_key("two"), ec_key("one")
HEADER = {"typ": "oauth-id-jag+jwt"}


def sha256(secret: str) -> str:
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
        made = compiled(folder, {**FILES, "config.yaml": json.dumps(config)})
        states = RequestStates([key] if key else [], clock=clock)
        with running_function(made, public_url=public_url, clock=clock, states=states) as function:
            yield function


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
    known = {**HEADER, "alg": key.algorithm, **(header or {})}
    shown = {name: value for name, value in known.items() if value is not None}
    head, payload = encoded(shown), encoded(claims(clock, **changes))
    return SESSION.keep("a token", f"{head}.{payload}.{signature_of(f'{head}.{payload}', key)}")


def encoded(part: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


def signature_of(text: str, key: SigningKey) -> str:
    """A signature by PyJWT, of a header that joserfc would refuse."""
    algorithm = get_default_algorithms()[key.algorithm]
    made = algorithm.sign(text.encode(), algorithm.prepare_key(key.key.as_pem(private=True).decode()))
    return base64.urlsafe_b64encode(made).decode().rstrip("=")


def exchange(
    function: Function, text: str, *, headers: Mapping[str, str] | None = None, **changes: str | None
) -> Answer:
    known = {"grant_type": JWT_BEARER, "assertion": text, "client_id": "desk", "client_secret": SECRET, **changes}
    form = urlencode({name: value for name, value in known.items() if value is not None})
    sent = {"content-type": "application/x-www-form-urlencoded", **(headers or {})}
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
