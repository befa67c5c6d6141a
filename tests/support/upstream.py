import json
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import urllib3

from examples.upstream.database import connect
from tests.support.secrecy import SESSION, Output

ROOT = Path(__file__).parents[2]
START_TIMEOUT_S = 120
STOP_TIMEOUT_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """The demo upstream of ``examples/upstream`` as it runs, and what reached it."""

    url: str
    database: Path
    log: Path

    def requests(self) -> list[dict[str, Any]]:
        """Every request since the last ``clear()``, oldest first, health checks left out.

        Each has ``at``, ``method``, ``path``, ``query_string``, ``headers`` (lower-case names) and ``body``.
        """
        logged = [json.loads(line) for line in self.log.read_text("utf-8").splitlines()]
        return [request for request in logged if request["path"] != "/health"]

    def clear(self) -> None:
        """Forget the requests so far."""
        SESSION.note(Output.UPSTREAM, self.log.read_bytes())
        self.log.write_text("")

    def query_rows(self, sql: str, *params: object) -> list[sqlite3.Row]:
        """Rows straight from the database, past the API."""
        with closing(connect(self.database)) as connection:
            return connection.execute(sql, params).fetchall()


@contextmanager
def running_upstream(folder: Path) -> Iterator[Upstream]:
    """Run the demo upstream on a free port, with its database, its log and its output in ``folder``."""
    port = free_port()
    upstream = Upstream(
        url=f"http://127.0.0.1:{port}/graphql",
        database=folder / "demo.sqlite",
        log=folder / "requests.jsonl",
    )
    command = [sys.executable, "-m", "examples.upstream", f"--port={port}"]
    command += [f"--database={upstream.database}", f"--log={upstream.log}"]
    with (folder / "upstream.out").open("w+") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
        try:
            if not became_healthy(process, f"http://127.0.0.1:{port}/health"):
                raise RuntimeError(f"the demo upstream did not start:\n{Path(output.name).read_text()}")
            yield upstream
        finally:
            stop(process)
            upstream.clear()


def free_port() -> int:
    """Port that no other test is given for a minute, though nothing listens there yet.

    The side that closes a connection first keeps its address in TIME_WAIT. The kernel then gives the port to
    nobody who asks for any port, and a server that asks for this port by its number (SO_REUSEADDR) gets it.
    """
    with socket.socket() as listener, socket.socket() as client:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        client.connect(listener.getsockname())
        accepted, _ = listener.accept()
        accepted.close()
        client.recv(1)
        port: int = listener.getsockname()[1]
        return port


def became_healthy(process: subprocess.Popen[bytes], url: str) -> bool:
    deadline = time.monotonic() + START_TIMEOUT_S
    with urllib3.PoolManager() as pool:
        while process.poll() is None and time.monotonic() < deadline:
            try:
                return pool.request("GET", url, retries=False, timeout=1).status == 200
            except urllib3.exceptions.HTTPError:
                time.sleep(0.05)
    return False


def stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
