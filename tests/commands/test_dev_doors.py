"""Whom `stile dev` answers, as whom, and what of a request its terminal gets."""

from __future__ import annotations

import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import urllib3

from handler.bundle.model import MAX_ANSWER_S
from tests.commands.running import CONFIG, FILES
from tests.commands.test_dev import Dev, call_tool, running_dev
from tests.support.api import Asked, Reply, running_api
from tests.support.endpoints import write_endpoint
from tests.support.issuers import AUDIENCE, Provider, ec_key
from tests.support.raw_http import Peer, running_server

CALLS = 40
"""More than the event loop has threads of itself: as many as processors and four more, 32 at most."""

FORGED = "POST /shop/orders/mcp tools/list 200 ok"
HOSTILE = f"\x1b[2J\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\\r\n{FORGED}\u202e\x9b31m"


def ready(dev: Dev) -> Dev:
    dev.url = dev.wait_for(r"^(http://127\.0\.0\.1:\d+)/api/things/mcp")[1]
    dev.wait_for("Ctrl-C ends it")
    return dev


def post(url: str, message: Any, **headers: str) -> urllib3.BaseHTTPResponse:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, **message})
    sent = {"content-type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    with urllib3.PoolManager(retries=False, timeout=10) as http:
        return http.request("POST", url, body=body, headers=sent)


@pytest.fixture
def endpoint(workplace: Path) -> Path:
    return write_endpoint(workplace, FILES)


def test_rebound_page_reads_nothing(endpoint: Path) -> None:
    with running_dev(".") as dev, urllib3.PoolManager(retries=False) as http:
        port = ready(dev).url.rpartition(":")[2]
        for path in ("/api/things/graphql?query=%7Ba%7D", "/health", "/api/things/mcp"):
            answer = http.request("GET", f"{dev.url}{path}", headers={"host": f"evil.example:{port}"})
            assert (answer.status, b"evil" in answer.data) == (421, False)
        for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}"):
            assert http.request("GET", f"{dev.url}/health", headers={"host": host}).status == 200
        foreign = http.request("GET", f"{dev.url}/health", headers={"sec-fetch-site": "cross-site"})
        assert foreign.status == 403


def test_names_that_callers_write_neither_reach_the_terminal_nor_make_lines(endpoint: Path) -> None:
    with running_dev(".") as dev:
        post(f"{ready(dev).url}/api/things/mcp", {"method": "tools/call", "params": {"name": HOSTILE, "arguments": {}}})
        post(f"{dev.url}/api/things/mcp", {"method": HOSTILE})

        for _ in range(2):
            line = dev.wait_for(r"^(refused|error): POST /api/things/mcp ")[0]
            (shown,) = [each for each in dev.printed if each.startswith(line)][-1:]
            assert r"\x1b[2J\x1b]8;;https://evil.example" in shown
            assert r"\r\nPOST /shop/orders/mcp tools/list 200 ok\u202e\x9b31m" in shown
            assert shown.isprintable()
    assert not any(line.startswith("POST /shop/orders") for line in dev.printed)


def test_exception_that_quotes_a_caller_is_escaped(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STILE_CODE_MODULES", "quoting")
    module = 'from stile import Toolkit\nkit = Toolkit()\n@kit.tool\ndef one(text: str) -> str:\n    "One."\n'
    (workplace / "quoting.py").write_text(f"{module}    raise RuntimeError(text)\n", encoding="utf-8")
    config = 'access: {anonymous: allow}\ncode: [{use: "quoting:kit", condition: true}]\n'
    write_endpoint(workplace, {"config.yaml": config})
    with running_dev(".") as dev:
        params = {"name": "one", "arguments": {"text": HOSTILE}}
        post(f"{ready(dev).url}/api/things/mcp", {"method": "tools/call", "params": params})
        dev.wait_for(r"RuntimeError: \\x1b\[2J")

    assert "\x1b" not in "".join(dev.printed)


def test_as_many_requests_as_come_ask_the_api_at_the_same_time(workplace: Path) -> None:
    all_here = threading.Barrier(CALLS)

    def answer(_: Asked) -> Reply:
        all_here.wait(MAX_ANSWER_S)
        return Reply({"data": {"a": "x"}})

    with running_api(answer) as api:
        upstream = f"upstream: {{url: '{api.url}', timeout_s: {MAX_ANSWER_S}}}"
        write_endpoint(workplace, {**FILES, "config.yaml": re.sub(r"^upstream: .*$", upstream, CONFIG, flags=re.M)})
        with running_dev(".") as dev, ThreadPoolExecutor(CALLS) as pool:
            list(pool.map(call_tool, [ready(dev).url] * CALLS))

    assert not all_here.broken
    assert len(api.asked) == CALLS


SIGN_IN = """\
upstream: {url: "https://things.example/graphql"}
access: {policies: [{type: Query, policyDefault: {condition: "?$jwt"}}]}
identity: {issuer: NAME, audience: AUDIENCE, jwksendpoint: KEYS}
"""


def test_as_deployed_it_challenges_and_judges_callers_as_the_function_does(workplace: Path) -> None:
    provider = Provider("https://login.example", (ec_key(),))

    def keys(peer: Peer) -> None:
        while peer.read_request():
            body = provider.key_set()
            peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))

    with running_server(keys) as issuer:
        config = SIGN_IN.replace("NAME", provider.name).replace("AUDIENCE", AUDIENCE).replace("KEYS", issuer.url)
        write_endpoint(workplace, {**FILES, "config.yaml": config})
        with running_dev(".", "--as-deployed") as dev:
            url = f"{ready(dev).url}/api/things/mcp"
            listing = {"method": "tools/list", "params": {}}
            call = {"method": "tools/call", "params": {"name": "a", "arguments": {}}}
            metadata = f"{dev.url}/.well-known/oauth-protected-resource/api/things/mcp"

            anonymous, denied = post(url, listing), post(url, call)
            known = post(url, listing, authorization=f"Bearer {provider.token()}")
            forged = post(url, listing, authorization=f"Bearer {Provider(provider.name, (ec_key(),)).token()}")
            with urllib3.PoolManager(retries=False) as http:
                document = http.request("GET", metadata).json()

    assert "without a credential you are anonymous" in "\n".join(dev.printed)
    assert [each.status for each in (anonymous, denied, forged)] == [401] * 3
    assert f'resource_metadata="{metadata}"' in denied.headers["www-authenticate"]
    assert (document["resource"], document["authorization_servers"]) == (url, [provider.name])
    assert [tool["name"] for tool in known.json()["result"]["tools"]] == ["a"]


def test_otherwise_a_caller_without_a_credential_is_the_development_principal(workplace: Path) -> None:
    config = SIGN_IN.replace("NAME", "https://login.example").replace("AUDIENCE", AUDIENCE)
    write_endpoint(workplace, {**FILES, "config.yaml": config.replace("KEYS", "http://127.0.0.1:9/")})
    with running_dev(".") as dev:
        assert ready(dev).tools() == ["a"]
        assert "you are the development principal" in "\n".join(dev.printed)
