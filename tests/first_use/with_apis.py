"""Mistakes that show when a tool asks its API, or when a client connects."""

from __future__ import annotations

import time
from collections.abc import Callable

import urllib3

from tests.first_use.judging import Mistake
from tests.first_use.serving import READY, WAIT_S, serving
from tests.first_use.workshop import Workshop
from tests.support.api import Asked, Reply, running_api
from tests.support.issuers import signed_with_secret
from tests.support.secrecy import SESSION, Output
from tests.support.upstream import free_port

SECRET = "a-secret-of-forty-bytes-for-tests-alone."

API = r"http://127\.0\.0\.1:\d+/graphql"
PAGE = Reply(b"<!doctype html><title>Sign in</title>\n<p>more", 200, {"content-type": "text/html"})
CHANGED = Reply(
    {
        "errors": [
            {
                "message": "Cannot query field 'headline' on type 'Announcement'.",
                "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"},
            }
        ]
    },
    400,
)


def _refused(shop: Workshop) -> str:
    shop.ask(f"http://127.0.0.1:{free_port()}/graphql")
    return shop.stile("call", "endpoints", "news")


def _answered(reply: Reply | Callable[[Asked], Reply]) -> Callable[[Workshop], str]:
    def make(shop: Workshop) -> str:
        answer = reply if callable(reply) else lambda _: reply
        with running_api(answer) as api:
            shop.ask(f"{api.url}/graphql")
            return shop.stile("call", "endpoints", "news")

    return make


def _slow(shop: Workshop) -> str:
    def answer(_: Asked) -> Reply:
        time.sleep(1)
        return Reply()

    with running_api(answer) as api:
        shop.ask(f"{api.url}/graphql\n  timeout_s: 0.2")
        return shop.stile("call", "endpoints", "news")


def _secret_missing(shop: Workshop) -> str:
    with running_api() as api:
        shop.ask(f"{api.url}/graphql\n  auth: {{bearer: 'secret:TOKEN'}}")
        return shop.stile("call", "endpoints", "news")


def _with_token(**wrong: str) -> Callable[[Workshop], str]:
    """Serve the endpoint, and send a token in which something is wrong."""

    def make(shop: Workshop) -> str:
        now = int(time.time())
        claims = {"iss": "https://id.corp.example", "aud": "https://mcp.corp.example", "exp": now + 600, **wrong}
        if wrong.get("exp"):
            claims["exp"] = now - 600
        token = signed_with_secret(claims, header={"alg": "HS256", "typ": "at+jwt"}, secret=SECRET.encode())
        environ = {} if "key" in wrong else {"STILE_SECRET_CORP": SECRET}
        return _served(shop, "POST", "/corp/staff/mcp", {"authorization": f"Bearer {token}"}, environ)

    return make


def _served(shop: Workshop, method: str, path: str, headers: dict[str, str], environ: dict[str, str]) -> str:
    """All that the log of `stile dev` says, and the answer to one request."""
    body = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}' if method == "POST" else None
    sent = {"content-type": "application/json", "accept": "application/json", **headers}
    with serving(shop, "dev", "endpoints", environ=environ) as server:
        assert server.url
        with urllib3.PoolManager(retries=False, timeout=WAIT_S) as http:
            answer = http.request(method, server.url + path, body=body, headers=sent)
        SESSION.note(Output.ANSWER, answer.data)
        time.sleep(0.3)  # for the line of the log
    told = "\n".join(server.lines).partition(READY)[2]
    return f"{told}\n{answer.data.decode()}"


WITH_APIS = (
    Mistake(
        number=30,
        title="nothing listens at upstream.url",
        make=_refused,
        place=API,
        cause="connection refused",
        remedy="start the API, or correct upstream.url",
    ),
    Mistake(
        number=31,
        title="the API takes no request without a credential",
        make=_answered(Reply({"message": "token is missing"}, 401)),
        place=API,
        cause="401(?s:.*)token is missing|token is missing(?s:.*)401",
        remedy=r"config\.yaml has no upstream\.auth",
    ),
    Mistake(
        number=32,
        title="upstream.url is a web page",
        make=_answered(PAGE),
        place=API,
        cause=r'answered 200 with text/html: "Sign in',
        remedy=r"is upstream\.url the URL of the GraphQL API",
    ),
    Mistake(
        number=33,
        title="the API has moved",
        make=_answered(Reply(b"", 301, {"location": "https://new.corp.example/graphql"})),
        place=API,
        cause=r"redirect",
        remedy=r"https://new\.corp\.example/graphql",
    ),
    Mistake(
        number=34,
        title="the API is slower than upstream.timeout_s",
        make=_slow,
        place=API,
        cause=r"0\.2 s",
        remedy=r"upstream\.timeout_s|Ask for less",
    ),
    Mistake(
        number=35,
        title="the API's schema has changed",
        make=_answered(CHANGED),
        place=API,
        cause=r"Announcement\.headline|'headline' on type 'Announcement'",
        remedy=r"stile pull",
    ),
    Mistake(
        number=36,
        title="the secret for the API is not set",
        make=_secret_missing,
        place=r"secret:TOKEN|upstream\.auth",
        cause=r"TOKEN.* (is not set|is missing|is set neither)",
        remedy=r"STILE_SECRET_TOKEN.*\.env",
    ),
    Mistake(
        number=37,
        title="the key of tokens is not set",
        make=_with_token(key="missing"),
        place=r"identity|corp/staff",
        cause="STILE_SECRET_CORP",
        remedy=r"\.env|environment",
    ),
    Mistake(
        number=38,
        title="an expired token",
        make=_with_token(exp="past"),
        place=r"corp/staff",
        cause=r"expired .*(\d+ (s|min)|at \d{4})|exp\b.*\d{4}",
        remedy="ask its issuer for a new one",
    ),
    Mistake(
        number=39,
        title="a token for another audience",
        make=_with_token(aud="https://other.corp.example"),
        place=r"corp/staff",
        cause=r"https://other\.corp\.example",
        remedy=r"https://mcp\.corp\.example",
    ),
    Mistake(
        number=53,
        title="the URL of an endpoint without /mcp",
        make=lambda shop: _served(shop, "POST", "/corp/staff", {}, {"STILE_SECRET_CORP": SECRET}),
        place="/corp/staff",
        cause=r"Not Found|no such",
        remedy=r"/corp/staff/mcp",
    ),
)
