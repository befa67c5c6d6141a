"""Many callers of many tenants at once, through the whole application: nobody meets anything of another tenant.

``STILE_OPERATE_CALLS`` says how many calls there are.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import urllib3

from handler.bundle.identity import Identity
from handler.compiler.compile import Compiled, compile_endpoint
from handler.http.addresses import AddressRules
from handler.http.client import HttpClient
from handler.server.app import create_app
from handler.server.asgi.request_log import RequestLog
from handler.server.auth.tokens import TokenVerifier
from handler.server.context import Services
from handler.server.endpoints.registry import Endpoints
from handler.server.outgoing.circuit_breaker import MAX_FAILURES, PAUSE_S
from handler.server.outgoing.outgoing_services import OutgoingServices
from handler.server.outgoing.secret_store import SecretStore
from handler.storage.local import MemoryStorage
from tests.conftest import ROOT
from tests.operate.share import CALLS
from tests.operate.tenant_api import BREAKS, FAILS, REFUSES, address_of
from tests.server.outgoing.serving import ISSUER, PROVIDER, identity_with
from tests.support.endpoints import write_endpoint
from tests.support.function import META, MODERN, store
from tests.support.identities import api_key
from tests.support.names import name_of
from tests.support.upstream import free_port

AT_ONCE = 16
TENANTS = [f"tenant-{number}" for number in range(50)]
AWAY = "tenant-40"
"""The tenant at whose address nothing listens: its name leads elsewhere."""

PEOPLE = ("ann", "bob", "cy")
AUDIENCE = "https://api.example"
FILES = {
    "index.graphql": "type Query { me(tag: String!): String gold(tag: String!): String }",
    "operations/me.graphql": "query Me($tag: String!) @mcpTool { me(tag: $tag) }",
    "operations/gold.graphql": "query Gold($tag: String!) @mcpTool { gold(tag: $tag) }",
}
POLICIES = """\
access:
  policies:
    - type: Query
      policyDefault: {condition: "?$jwt"}
      rules: [{condition: '$jwt.tier:String == "gold"', fields: [gold]}]
"""


def is_gold(tenant: str) -> bool:
    return int(tenant.rpartition("-")[2]) % 2 == 0


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Where the APIs of all tenants are, in a process of their own."""
    found = free_port()
    command = [sys.executable, "-m", "tests.operate.tenant_api", str(len(TENANTS)), str(found)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "listening\n"
        yield found
        process.kill()


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names below api.example lead to loopback."""
    ask = socket.getaddrinfo

    def here(host: str | bytes, *more: Any, **named: Any) -> Any:
        label, _, domain = name_of(host).partition(".")
        if domain != "api.example":
            return ask(host, *more, **named)
        return ask("127.0.3.1" if label == AWAY else address_of(label), *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", here)


def endpoint(folder: Path, name: str, upstream: str) -> Compiled:
    """An endpoint whose callers have tokens, with this ``upstream``."""
    identity = identity_with(("https://api.example/mcp", AUDIENCE))
    config = f"upstream: {upstream}\n{POLICIES}{identity}"
    made = compile_endpoint(write_endpoint(folder, {**FILES, "config.yaml": config}, name=name))
    return replace(made, bundle=replace(made.bundle, identity=known_callers()))


def known_callers() -> Identity:
    return Identity(issuers=(ISSUER,), api_keys=(api_key({}),), trusted_apis=())


def endpoints(folder: Path, port: int) -> list[Compiled]:
    """One endpoint with tenants by host and exchanged tokens, and one with tenants by path and callers' own tokens."""
    exchange = f"{{token_url: 'http://127.0.0.1:{port}/token', client_id: c, client_secret: 'env:CLIENT'}}"
    by_host = f"http://{{claim:org.tenant}}.api.example:{port}/graphql"
    by_path = f"http://127.0.0.1:{port}/t/{{claim:org.tenant}}/graphql"
    pattern = "tenant_pattern: 'tenant-[0-9]+', timeout_s: 5"
    return [
        endpoint(folder, "by/host", f"{{url: '{by_host}', {pattern}, auth: {{token_exchange: {exchange}}}}}"),
        endpoint(
            folder, "by/path", f"{{url: '{by_path}', {pattern}, auth: {{passthrough: {{audience: '{AUDIENCE}'}}}}}}"
        ),
    ]


@dataclass
class Crowd:
    """The application with its callers, and what came of their calls."""

    app: RequestLog
    port: int
    lines: list[Mapping[str, Any]] = field(default_factory=list)
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    tokens: dict[tuple[str, str], str] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        for tenant in TENANTS:
            for person in PEOPLE:  # who have the same name everywhere
                tier = "gold" if is_gold(tenant) else "plain"
                aud = ["https://api.example/mcp", AUDIENCE]
                self.tokens[tenant, person] = PROVIDER.token(sub=person, aud=aud, org={"tenant": tenant}, tier=tier)

    def ask_all(self, calls: int) -> float:
        """Make calls at random, so many at once. How long that took, in seconds."""
        started = time.monotonic()
        asyncio.run(self._ask_all(calls))
        return time.monotonic() - started

    async def _ask_all(self, calls: int) -> None:
        left = itertools.islice(self.numbers, calls)

        async def ask_on() -> None:
            for number in left:
                random = Random(number)
                path = random.choice(("by/host", "by/path"))
                await self.ask(path, random.choice(TENANTS), random.choice(PEOPLE), number)

        await asyncio.gather(*(ask_on() for _ in range(AT_ONCE)))

    async def ask(self, path: str, tenant: str, person: str, number: int) -> None:
        """One call, or a list of tools, and what is wrong with its answer."""
        if number % 8 == 0:
            answer = await self.sent(path, self.tokens[tenant, person], "tools/list", {})
            names = {tool["name"] for tool in answer["result"]["tools"]}
            self.hold(names == ({"Me", "Gold"} if is_gold(tenant) else {"Me"}), f"{tenant} has {names}")
            return
        tool = "Gold" if number % 8 == 1 else "Me"
        call = {"name": tool, "arguments": {"tag": f"tag-{number}"}}
        answer = await self.sent(path, self.tokens[tenant, person], "tools/call", call)
        if tool == "Gold" and not is_gold(tenant):
            self.hold("error" in answer, f"{tenant} called Gold: {answer}")
            return
        assert "result" in answer, (answer, self.lines[-1])
        result = answer["result"]
        self.outcomes[tenant, "failed" if result.get("isError") else "ok"] += 1
        if not result.get("isError"):
            (said,) = result["structuredContent"]["data"].values()
            self.hold(said == f"{tenant} {person} tag-{number}", f"{tenant} {person} tag-{number} got {said}")

    def hold(self, right: bool, told: str) -> None:
        if not right:
            self.wrong.append(told)

    async def sent(self, path: str, token: str, method: str, params: Mapping[str, Any]) -> Any:
        """The JSON that one request is answered with."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}
        told = {"mcp-protocol-version": MODERN, "mcp-method": method, "content-type": "application/json"}
        told |= {"authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}
        told |= {"mcp-name": params["name"]} if "name" in params else {}
        body = [{"type": "http.request", "body": json.dumps(message).encode(), "more_body": False}]
        answer: list[bytes] = []

        async def receive() -> Any:
            return body.pop() if body else await asyncio.Event().wait()

        async def send(part: Any) -> None:
            answer.append(part.get("body", b""))

        await self.app(scope_of(f"/{path}/mcp", told), receive, send)
        return json.loads(b"".join(answer))

    def report(self) -> Any:
        """What the APIs have seen."""
        return urllib3.request("GET", f"http://127.0.0.1:{self.port}/report", retries=False).json()


def scope_of(path: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """The ASGI scope of a POST."""
    raw = [(name.encode(), value.encode()) for name, value in {"host": "stile.example", **headers}.items()]
    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "https"}
    more = {"path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "", "headers": raw}
    return {**scope, **more, "server": ("stile.example", 443), "client": ("203.0.113.7", 1)}


@contextmanager
def crowd(folder: Path, port: int) -> Iterator[Crowd]:
    """The application as one process has it, with names that STILE_UPSTREAM_HOSTS allows."""
    storage, lines = MemoryStorage(), list[Mapping[str, Any]]()
    store(storage, *endpoints(folder, port))
    http = HttpClient(AddressRules(local=True, hosts=("*.api.example", "127.0.0.1")))
    outgoing = OutgoingServices(secrets=SecretStore(environ={"CLIENT": "of-the-client-0001"}))
    known = Endpoints(storage, on_trouble=lambda *_: None)
    services = Services(
        endpoints=known, http=http, tokens=TokenVerifier(http, secrets={}), outgoing=outgoing, is_frozen=False
    )
    app = create_app(services, write_line=lambda facts, **_: lines.append(dict(facts)))
    yield Crowd(app, port, lines)
    http.close()


@pytest.mark.usefixtures("resolved")
def test_calls_of_fifty_tenants_never_cross(tmp_path: Path, port: int) -> None:
    with crowd(tmp_path, port) as everybody:
        took_s = everybody.ask_all(CALLS)
    report = everybody.report()

    assert everybody.wrong == []
    assert report["strangers"] == []
    assert len(everybody.lines) == CALLS
    assert {tenant for tenant, outcome in everybody.outcomes if outcome == "failed"} <= {BREAKS, FAILS, AWAY}
    assert {BREAKS, FAILS} & {tenant for tenant, outcome in everybody.outcomes if outcome == "ok"} == set()
    assert report["most_open"] <= 2 * AT_ONCE + 32 * AT_ONCE
    # The pauses bound what a tenant that hangs up is asked, for each of its callers at each of two addresses.
    pauses = 1 + took_s / PAUSE_S
    assert report["requests"].get(BREAKS, 0) <= 2 * len(PEOPLE) * (2 * MAX_FAILURES + AT_ONCE + 2 * pauses)


@pytest.mark.usefixtures("resolved")
def test_pause_for_a_tenant_is_none_for_the_same_person_elsewhere(tmp_path: Path, port: int) -> None:
    with crowd(tmp_path, port) as everybody:
        for number in range(1, 1 + 3 * MAX_FAILURES):
            for path in ("by/host", "by/path"):
                asyncio.run(everybody.ask(path, BREAKS, "ann", 8 * number + 2))
        everybody.outcomes.clear()
        for path in ("by/host", "by/path"):
            asyncio.run(everybody.ask(path, "tenant-1", "ann", 2))
    reasons = {str(line.get("reason")) for line in everybody.lines}

    assert everybody.outcomes == {("tenant-1", "ok"): 2}
    assert "CircuitOpen" in reasons
    assert everybody.wrong == []


@pytest.mark.usefixtures("resolved")
def test_refused_token_is_exchanged_again_for_its_tenant_alone(tmp_path: Path, port: int) -> None:
    with crowd(tmp_path, port) as everybody:
        for tenant in (REFUSES, "tenant-22", REFUSES, "tenant-22"):
            asyncio.run(everybody.ask("by/host", tenant, "bob", 2))

    assert everybody.outcomes == {(REFUSES, "ok"): 2, ("tenant-22", "ok"): 2}
