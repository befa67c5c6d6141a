"""Copies of one snapshot, as Lambda restores them: under AWS's runtime client, which runs the hooks."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from benchmarks.runtime_api import RuntimeApi
from handler.bundle.identity import Identity
from handler.bundle.stored import bundle_key, index_key, write_bundle
from tests.conftest import ROOT
from tests.server.outgoing.serving import PROVIDER, endpoint, with_token
from tests.support.copied import COPIES, SHIM
from tests.support.function import LEGACY, event_for
from tests.support.issuers import issuer_of
from tests.support.objects import running_objects
from tests.support.raw_http import RawServer, answer, answering, running_server
from tests.support.require import requires
from tests.support.secrecy import SESSION, Output

HOUR_S = 3_600
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
LATER_S = max(COPIES.values())


@dataclass
class Seen:
    """What copies answered, what the function logged, and the servers that it asked."""

    answers: dict[str, Any] = field(default_factory=dict)
    lines: list[dict[str, Any]] = field(default_factory=list)
    servers: dict[str, RawServer] = field(default_factory=dict)
    accepted: dict[str, int] = field(default_factory=dict)
    has_shim: bool = False

    def drawn(self, kind: str, copies: tuple[str, ...] = tuple(COPIES)) -> set[Any]:
        return {self.answers[name]["drawn"][kind] for name in copies}


@pytest.fixture(scope="module")
def seen() -> Iterator[Seen]:
    found = Seen()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        environ = _started_servers(found, stack, folder)
        shim = _compiled_shim(folder)
        found.has_shim = bool(shim)
        _ask_copies(found, {**environ, **shim}, folder / "log")
        found.accepted = {name: server.accepted for name, server in found.servers.items()}
        yield found


def _started_servers(found: Seen, stack: ExitStack, folder: Path) -> dict[str, str]:
    """Start all servers that a call needs, and return the environment of a function that has just been started."""

    def serving(body: Any) -> RawServer:
        raw = answer(json.dumps(body).encode(), content_type="application/json")
        return stack.enter_context(running_server(answering(raw), takes_secrets=True))

    ends = (datetime.now(UTC) + timedelta(seconds=2 * LATER_S)).isoformat()
    given = {"AccessKeyId": "id", "SecretAccessKey": SESSION.keep("a key", "of-the-copies-0815")}
    login = SESSION.keep("a secret", "login-of-the-copies-4711")
    found.servers = {
        "container": serving({**given, "Token": "t", "Expiration": ends}),
        "secrets": serving({"SecretString": login}),
        "login": serving({"access_token": "issued-0815", "token_type": "Bearer", "expires_in": HOUR_S}),
        "keys": serving(json.loads(PROVIDER.key_set())),
        "api": serving({"data": {"me": "you"}}),
    }
    objects = stack.enter_context(running_objects())
    assert objects.server
    found.servers["storage"] = objects.server
    mode = f"{{token_url: '{found.servers['login'].url}', client_id: stile, client_secret: 'secret:LOGIN'}}"
    made = endpoint(folder, f"{{url: '{found.servers['api'].url}', auth: {{client_credentials: {mode}}}}}")
    issuer = issuer_of(PROVIDER, jwks_url=found.servers["keys"].url)
    identity = Identity(issuers=(issuer,), api_keys=(), trusted_apis=())
    objects.write(index_key(made.bundle.endpoint, made.bundle.index), made.index)
    objects.write(bundle_key("api/things"), write_bundle(dataclasses.replace(made.bundle, identity=identity)))
    return {
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": found.servers["container"].url,
        "AWS_ENDPOINT_URL_S3": objects.server.url.rstrip("/"),
        "AWS_ENDPOINT_URL_SECRETS_MANAGER": found.servers["secrets"].url.rstrip("/"),
        "AWS_REGION": "eu-central-1",
        "STILE_BUNDLES": objects.location,
        "STILE_PRELOAD": "api/things",
        "STILE_SECRETS": "stile",
    }


def _compiled_shim(folder: Path) -> dict[str, str]:
    compiler = shutil.which("cc")
    if not compiler:
        return {}
    (folder / "shim.c").write_text(SHIM, encoding="utf-8")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", "shim.so", "shim.c"], cwd=folder, check=True)
    return {"LD_PRELOAD": str(folder / "shim.so")}


def _ask_copies(found: Seen, environ: Mapping[str, str], log: Path) -> None:
    """Ask for a tool until each copy has answered."""
    event = json.dumps(_event())
    with RuntimeApi(deadline_s=LATER_S + 60) as api, log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "awslambdaric", "tests.support.copied.handler"],
            cwd=ROOT,
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(ROOT),
                "AWS_LAMBDA_RUNTIME_API": api.address,
                "AWS_LAMBDA_FUNCTION_NAME": "stile",
                "AWS_LAMBDA_INITIALIZATION_TYPE": "snap-start",
                "STILE_ALLOW_LOCAL_UPSTREAMS": "true",
                "WARMED_WITH": event,
                **environ,
            },
            stdout=output,
            stderr=output,
        )
        api.restore()
        give_up_at = time.monotonic() + 30
        while len(found.answers) < len(COPIES) and time.monotonic() < give_up_at and process.poll() is None:
            api.send(event.encode())
            outcome = api.outcome(timeout_s=20)
            answered = json.loads(outcome.body)
            assert outcome.succeeded, answered
            found.answers.setdefault(answered["copy"], answered)
    process.wait(timeout=10)  # the runtime API is gone, which ends the copies
    printed = log.read_text(encoding="utf-8")
    SESSION.note(Output.HANDLER_LOG, printed)
    found.lines = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]


def _event() -> Any:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "Me", "arguments": {}}}
    headers = {"content-type": "application/json", "mcp-protocol-version": LEGACY, "traceparent": TRACE}
    path = "/api/things/mcp"
    token = with_token(exp=int(time.time()) + 2 * LATER_S)
    return event_for("POST", path, body=json.dumps(message), headers={**headers, **token})


def test_each_copy_answers(seen: Seen) -> None:
    assert set(seen.answers) == set(COPIES)
    for each in seen.answers.values():
        assert each["answer"]["statusCode"] == 200
        assert json.loads(each["answer"]["body"])["result"]["content"][0]["text"] == '{"data":{"me":"you"}}'


@pytest.mark.parametrize("server", ["api", "container", "login", "secrets", "storage"])
def test_each_copy_has_a_connection_of_its_own(seen: Seen, server: str) -> None:
    assert seen.accepted[server] >= 1 + len(COPIES)


@pytest.mark.parametrize("server", ["container", "secrets", "login"])
def test_each_copy_asks_for_its_own_credentials(seen: Seen, server: str) -> None:
    assert len(seen.servers[server].requests) == 1 + len(COPIES)


def test_keys_of_issuers_are_fetched_again_when_they_are_old(seen: Seen) -> None:
    requires("cc", seen.has_shim, "a C compiler makes the library that moves the clock of a copy")
    assert len(seen.servers["keys"].requests) == 2  # when it was warmed, and days later


@pytest.mark.parametrize("kind", ["random", "uuid", "kernel"])
def test_no_two_copies_draw_one_number(seen: Seen, kind: str) -> None:
    assert len(seen.drawn(kind)) == len(COPIES)


def test_no_two_copies_draw_one_number_for_tls(seen: Seen) -> None:
    requires("cc", seen.has_shim, "a C compiler makes the library that gives all copies one process id")
    assert len(seen.drawn("tls")) == len(COPIES)


def test_no_two_copies_send_one_span_to_the_api(seen: Seen) -> None:
    sent = [request.partition(b"traceparent: ")[2].split(b"\r\n")[0] for request in seen.servers["api"].requests]
    assert len(set(sent)) == len(sent) >= 1 + len(COPIES)


def test_no_two_copies_name_a_caller_alike_by_a_made_up_key(seen: Seen) -> None:
    named = {line["who"] for line in seen.lines if "who" in line}
    assert all(each.startswith("local-hmac:") for each in named)
    assert len(named) == 1 + len(COPIES)
