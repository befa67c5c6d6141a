"""Calls of one tool at ``stile serve``, one after another and many at once, beside FastMCP's own HTTP server.

python -m benchmarks.serve --peers .stile/familiar/bin/python

All servers are one process each under the same version of Python, and ask the same API on loopback. They take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import urllib3

from benchmarks.container import process_cpu_ms
from benchmarks.functions.cases import DEMO
from benchmarks.functions.peer_cases import APPS, locked_version
from benchmarks.report import machine, write_page
from benchmarks.runner import ROOT
from benchmarks.upstream import answering_upstream
from tests.support.upstream import free_port

STILE, FASTMCP, PASSING, API = "`stile serve`, a prescribed tool", "fastmcp {}", "Starlette, httpx2", "the API itself"

AT_ONCE = (1, 8, 32)
ROUNDS = 3
START_S = 30.0

SERIES: Mapping[int, Mapping[int, int]] = {0: {1: 300, 8: 600, 32: 960}, 50: {1: 20, 8: 160, 32: 640}}
"""Milliseconds that the API takes -> calls at once -> calls of a round."""

CALL = {"name": "customer-by-email", "arguments": {"variables": {"email": "a@b.example"}}}
REQUEST: Mapping[str, Any] = {
    "headers": {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2025-06-18",  # which all of them know
    },
    "body": json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL}),
    "expects": "octocat",  # stands in the answers of the API itself, too
}


@dataclass(frozen=True, slots=True)
class Pressed:
    """The calls of one server with so many at once: quantiles of each round, and processor time of all."""

    p50_ms: list[float] = field(default_factory=list)
    p99_ms: list[float] = field(default_factory=list)
    a_second: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)

    def add(self, taken_ms: Sequence[float], *, took_s: float, cpu_ms: float) -> None:
        """Add a round."""
        self.p50_ms.append(statistics.median(taken_ms))
        self.p99_ms.append(statistics.quantiles(taken_ms, n=100, method="inclusive")[98])
        self.a_second.append(len(taken_ms) / took_s)
        self.cpu_ms.append(cpu_ms / len(taken_ms))


@dataclass(frozen=True, slots=True)
class Server:
    """A running server."""

    url: str
    pid: int = 0

    def cpu_ms(self) -> float:
        """Return the processor time of the process so far."""
        return process_cpu_ms(self.pid) if self.pid else 0.0


@contextmanager
def running(command: Sequence[str], path: str, *, port: int, environ: Mapping[str, str]) -> Iterator[Server]:
    """A server, from when it listens until this ends."""
    known = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
    with subprocess.Popen(
        [*command], cwd=ROOT, env={**known, **environ}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            _wait(process, port)
            yield Server(f"http://127.0.0.1:{port}{path}", process.pid)
        finally:
            process.terminate()


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    give_up_at = time.monotonic() + START_S
    while time.monotonic() < give_up_at and process.poll() is None:
        try:
            urllib3.request("GET", f"http://127.0.0.1:{port}/health/live", retries=False, timeout=5)
        except urllib3.exceptions.HTTPError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit(f"{process.args!r} does not listen")


@contextmanager
def running_servers(upstream: str, work: Path, *, peers: Path | None) -> Iterator[Mapping[str, Server]]:
    """All servers, which ask one API."""
    folder = work / "endpoints" / "api" / "customers"
    if not folder.exists():
        shutil.copytree(DEMO, folder)
    (folder / "config.measured.yaml").write_text(f"upstream: {{url: {json.dumps(upstream)}}}\n", encoding="utf-8")
    with ExitStack() as stack:

        def started(command: Sequence[str], path: str, environ: Mapping[str, str]) -> Server:
            port = free_port()
            filled = [word.format(port=port) for word in command]
            return stack.enter_context(running(filled, path, port=port, environ=environ))

        stile = [sys.executable, "-m", "handler", "serve", str(folder.parent.parent), "--stage", "measured"]
        servers = {
            API: Server(upstream),
            STILE: started([*stile, "--port", "{port}"], "/api/customers/mcp", {"STILE_ALLOW_LOCAL_UPSTREAMS": "true"}),
        }
        if peers:
            for name, program in (
                (FASTMCP.format(locked_version("fastmcp", "fastmcp")), "serving_fastmcp.py"),
                (PASSING, "serving_starlette.py"),
            ):
                servers[name] = started([str(peers), str(APPS / program), "{port}"], "/mcp", {"UPSTREAM": upstream})
        yield servers


def pressed(server: Server, *, calls: int, at_once: int) -> tuple[Sequence[float], float, float]:
    """Return the milliseconds of each call, the seconds of all, and the server's processor time."""
    before_ms = server.cpu_ms()
    command = [
        sys.executable,
        "-m",
        "benchmarks.pressing",
        server.url,
        "--calls",
        str(calls),
        "--at-once",
        str(at_once),
    ]
    done = subprocess.run(command, cwd=ROOT, input=json.dumps(REQUEST), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{server.url}: {done.stderr}")
    told = json.loads(done.stdout)
    return told["ms"], told["took_s"], server.cpu_ms() - before_ms


def measured(
    servers: Mapping[str, Server], calls_of: Mapping[int, int], *, rounds: int
) -> Mapping[tuple[str, int], Pressed]:
    """Return what each server took for each number of calls at once, in turns forwards and backwards."""
    found = {(name, at_once): Pressed() for at_once in calls_of for name in servers}
    for at_once in calls_of:
        for server in servers.values():
            pressed(server, calls=2 * at_once, at_once=at_once)  # threads and connections are there then
    for number in range(rounds):
        for at_once, calls in calls_of.items():
            for name in list(servers)[:: 1 if number % 2 else -1]:
                taken_ms, took_s, cpu_ms = pressed(servers[name], calls=calls, at_once=at_once)
                found[name, at_once].add(taken_ms, took_s=took_s, cpu_ms=cpu_ms)
    return found


def table(found: Mapping[tuple[str, int], Pressed]) -> str:
    """Return the table of a series: medians of its rounds."""
    lines = [
        "| server | at once | p50, ms | p99, ms | calls a second | CPU a call, ms |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for (name, at_once), each in found.items():
        p50, p99, a_second, cpu = map(statistics.median, (each.p50_ms, each.p99_ms, each.a_second, each.cpu_ms))
        told = "" if name == API else f"{cpu:.2f}"
        lines.append(f"| {name} | {at_once} | {p50:.1f} | {p99:.1f} | {a_second:.0f} | {told} |")
    return "\n".join(lines) + "\n"


TEXT = """\
# Many calls at once

`make bench-serve`: `tools/call` over streamable HTTP, stateless and answered in JSON, of servers of one process each
on loopback, which ask one API. Medians of {rounds} rounds in turns. Clients, servers and API share the machine.
{machine}

- `stile serve` runs the demo as it stands, with its log, policies, and checks of arguments and answers.
- FastMCP serves with its own `run`, and its tool asks with httpx2, which comes with the package.
- Starlette passes the bytes on over httpx2, FastMCP's client, under uvicorn. A faster client would take less.
- Apollo MCP Server is a program in Rust that neither PyPI nor npm has, so it does not run here.

## An API that answers at once

{at_once}
## An API that answers after 50 ms

{slow}"""


def main() -> int:
    """Measure, and write ``benchmarks/results/serve.md``."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serve")
    parser.add_argument("--peers", type=Path, metavar="PYTHON", help="of an environment with FastMCP")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    tables = {}
    with tempfile.TemporaryDirectory() as work:
        for delay_ms, calls_of in SERIES.items():
            with (
                answering_upstream(delay_ms=delay_ms) as upstream,
                running_servers(upstream, Path(work), peers=given.peers) as servers,
            ):
                tables[delay_ms] = table(measured(servers, calls_of, rounds=given.rounds))
    told = machine(("uvicorn", "starlette"))
    text = TEXT.format(rounds=given.rounds, machine=told, at_once=tables[0], slow=tables[50])
    if given.write:
        write_page("serve", text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
