"""Mistakes that show when an endpoint is served: at the start, or in an answer and its line of the log.

`stile serve` is started with an API of the same network, secrets and a key that are nowhere, and a proxy in front.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import urllib3
from urllib3.exceptions import HTTPError

from tests.first_use.in_files import Make
from tests.first_use.judging import Mistake
from tests.first_use.serving import READY, WAIT_S, Server, serving
from tests.first_use.with_apis import SECRET
from tests.first_use.workshop import Workshop
from tests.support.secrecy import SESSION, Output

LIST = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}'
POSTED = {"content-type": "application/json", "accept": "application/json"}
KEY = {"STILE_SECRET_CORP": SECRET}


def _started(
    *options: str, change: tuple[str, str, str] | None = None, environ: Mapping[str, str] | None = None
) -> Make:
    """All that `stile serve` prints until it answers requests, or has ended."""

    def make(shop: Workshop) -> str:
        if change:
            shop.change(*change)
        state = {"XDG_STATE_HOME": str(shop.folder / "state")}  # where a key that the server makes may lie
        variables = {**state, **(KEY if environ is None else environ)}
        with serving(shop, "serve", "endpoints", *options, environ=variables) as server:
            if server.url:
                _wait(server)
        return "\n".join(server.lines)

    return make


def _wait(server: Server) -> None:
    with urllib3.PoolManager(retries=False, timeout=WAIT_S) as http:
        try:
            http.request("GET", f"{server.url}/health/live")
        except HTTPError:
            server.process.wait(WAIT_S)  # the server failed after its first line


def _asked(command: str, method: str, path: str, headers: Mapping[str, str]) -> Make:
    """The answer to one request, and the line of the log."""

    def make(shop: Workshop) -> str:
        body = LIST if method == "POST" else None
        with serving(shop, command, "endpoints", environ=KEY) as server:
            assert server.url
            with urllib3.PoolManager(retries=False, timeout=WAIT_S) as http:
                answer = http.request(method, server.url + path, body=body, headers=headers)
            SESSION.note(Output.ANSWER, answer.data)
            time.sleep(0.2)  # for the line of the log
        printed = "\n".join(server.lines).partition(READY)[2]
        return f"{printed}\n{answer.data.decode()}"

    return make


WITH_SERVERS = (
    Mistake(
        number=53,
        title="serving with an API in the same network",
        make=_started(change=("config.yaml", "https://api.corp.example/", "http://api.internal:8080/")),
        place=r"upstream\.url http://api\.internal:8080/graphql",
        cause=r"https is required|without TLS",
        remedy=r"--allow-http|STILE_ALLOW_LOCAL_UPSTREAMS",
        faults={"remedy"},
    ),
    Mistake(
        number=54,
        title="serving without the secret for the API",
        make=_started(change=("config.yaml", "/graphql\n", "/graphql\n  auth: {bearer: secret:TOKEN}\n")),
        place=r"secret:TOKEN|upstream\.auth",
        cause=r"STILE_SECRETS? is not set|TOKEN.*(is not set|is missing|cannot be read|is set neither)",
        remedy=r"STILE_SECRET_TOKEN",
        faults={"place", "cause", "remedy"},
    ),
    Mistake(
        number=55,
        title="serving a tool that asks first, without a state key",
        make=_started(change=("operations/news.graphql", 'title: "News"', 'title: "News", confirm: required')),
        place=r"STILE_STATE_KEY|\bnews\b",
        cause=r"state key|STILE_STATE_KEY",
        remedy=r"(?i)(set|need|give|same|share|unless|with)\w* [^.;]*STILE_STATE_KEY|STILE_STATE_KEY=",
        faults={"place", "cause", "remedy"},
    ),
    Mistake(
        number=56,
        title="serving without the key of tokens",
        make=_started(environ={}),
        place=r"corp/staff|identity",
        cause=r"STILE_SECRET_CORP.*(is not set|is missing)|(not set|missing).*STILE_SECRET_CORP",
        remedy=r"set (the variable|STILE_SECRET_CORP|it)|\.env|environment",
        faults={"place", "cause", "remedy"},
    ),
    Mistake(
        number=57,
        title="the URL of an endpoint as the server's public URL",
        make=_started("--public-url", "https://mcp.corp.example/corp/staff/mcp"),
        place=r"--public-url|STILE_PUBLIC_URL|public URL",
        cause=r"ends (in|with) |(path|URL|address) of (an|the|one) endpoint|names an endpoint",
        remedy=r"https://mcp\.corp\.example(?!/corp)",
        faults={"place", "cause", "remedy"},
    ),
    Mistake(
        number=58,
        title="a level of the log that does not exist",
        make=_started(environ={**KEY, "POWERTOOLS_LOG_LEVEL": "verbose"}),
        place=r"POWERTOOLS_LOG_LEVEL",
        cause=r"(?i)'?verbose",
        remedy=r"DEBUG|INFO",
        faults={"place", "remedy", "traceback"},
    ),
    Mistake(
        number=59,
        title="a proxy that passes on a name which the server does not know",
        make=_asked("serve", "POST", "/corp/staff/mcp", {**POSTED, "host": "mcp.corp.example"}),
        place=r"mcp\.corp\.example|\bHost\b",
        cause=r"answers only to|foreign host",
        remedy=r"--public-url|--allowed-host|STILE_PUBLIC_URL",
        faults={"place", "remedy"},
    ),
    Mistake(
        number=60,
        title="an environment variable that a client did not put into its header",
        make=_asked("dev", "POST", "/corp/staff/mcp", {**POSTED, "authorization": "Bearer ${STAFF_TOKEN}"}),
        place=r"\bAuthorization\b",
        cause=r"\$\{|(name|names) of a variable|a variable",
        remedy=r"Authorization: Bearer TOKEN",
        faults={"cause"},
    ),
)  # fmt: skip
