"""The demo, for ``make run``: the upstream on port 8001 and `stile dev` on port 8000, until Ctrl-C.

``python examples/run.py FOLDER`` serves FOLDER instead, which names its own upstream.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "examples" / "endpoints"
UPSTREAM_PORT = 8001
START_S = 20.0


def main() -> int:
    signal.signal(signal.SIGTERM, _interrupt)
    folder = sys.argv[1] if len(sys.argv) > 1 else None
    with contextlib.ExitStack() as running:
        try:
            if folder is None:
                running.enter_context(demo_upstream())
            return running.enter_context(started("-m", "handler", "dev", folder or str(DEMO))).wait()
        except KeyboardInterrupt:
            return 0
        except RuntimeError as exc:
            print(exc, file=sys.stderr)
            return 1


@contextlib.contextmanager
def demo_upstream() -> Iterator[None]:
    """The demo's GraphQL API, ready to answer."""
    if _answers(UPSTREAM_PORT):
        raise RuntimeError(f"port {UPSTREAM_PORT} is taken: the demo's GraphQL API needs it")
    database = ROOT / ".stile" / "demo.sqlite"
    arguments = ["-m", "examples.upstream", "--port", str(UPSTREAM_PORT), "--database", str(database)]
    with started(*arguments) as process:
        deadline = time.monotonic() + START_S
        while not _answers(UPSTREAM_PORT):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the demo's GraphQL API did not start")
            time.sleep(0.05)
        print(f"The demo's GraphQL API: http://127.0.0.1:{UPSTREAM_PORT}/graphql", flush=True)
        yield


@contextlib.contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Python process that ends with this block."""
    process = subprocess.Popen([sys.executable, *arguments], env={**os.environ, "PYTHONPATH": str(ROOT)})
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.2)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
