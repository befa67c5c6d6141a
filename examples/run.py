"""The demo, for ``make run``: its GraphQL API and `stile dev` on port 8000, until Ctrl-C.

``python examples/run.py FOLDER`` serves FOLDER instead, which names its own API.
"""

import argparse
import contextlib
import errno
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

ROOT = Path(__file__).resolve().parent.parent
CODE = ROOT / "examples" / "code"
DEMO = ROOT / "examples" / "endpoints"
DEMO_CONFIG = DEMO / "api" / "customers" / "config.yaml"
START_S = 60.0
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
STOP_S = 10.0

Process = subprocess.Popen[bytes]


class Refusal(Exception):
    """Why the demo cannot run, as a sentence."""


def main() -> int:
    options = parse_options()
    for stop in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop, interrupt)
    try:
        with contextlib.ExitStack() as running:
            require_free(options.port, f"name another one: {Path(sys.argv[0]).name} --port N")
            processes = [] if options.folder else [running.enter_context(demo_upstream())]
            folder = options.folder or DEMO
            stage = [] if options.folder else ["--stage", "code"]
            dev = running.enter_context(
                started("-m", "handler", "dev", str(folder), "--port", str(options.port), *stage)
            )
            return until_one_ends(dev, *processes)
    except KeyboardInterrupt:
        return 0
    except Refusal as exc:
        print(exc, file=sys.stderr)
        return 1


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", metavar="FOLDER", help="endpoint folders (default: the demo's)")
    parser.add_argument("--port", type=int, default=8000, help="port to serve MCP on (default: %(default)s)")
    options = parser.parse_args()
    if not 0 <= options.port <= 65_535:
        parser.error(f"--port {options.port}: expected a number from 0 to 65535")
    return options


@contextlib.contextmanager
def demo_upstream() -> Iterator[Process]:
    """The demo's GraphQL API where the demo's endpoint expects it, ready to answer."""
    url = yaml.safe_load(DEMO_CONFIG.read_text("utf-8"))["upstream"]["url"]
    port = urlsplit(url).port or 80
    require_free(port, f"give the demo's GraphQL API another one in {os.path.relpath(DEMO_CONFIG)}")
    database = ROOT / ".stile" / "demo.sqlite"
    with started("-m", "examples.upstream", "--port", str(port), "--database", str(database)) as process:
        wait_until_open(port, process)
        print(f"The demo's GraphQL API: {url}", flush=True)
        yield process


def require_free(port: int, advice: str) -> None:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as exc:
        why = "is taken" if exc.errno == errno.EADDRINUSE else f"cannot be used ({exc.strerror})"
        raise Refusal(f"Port {port} on 127.0.0.1 {why}: end what uses it, or {advice}.") from exc


@contextlib.contextmanager
def started(*arguments: str) -> Iterator[Process]:
    """A Python process that ends with this block."""
    environ = {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(CODE), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "STILE_CODE_MODULES": ",".join(["customer_tools", *filter(None, [os.environ.get("STILE_CODE_MODULES")])]),
    }
    with running([sys.executable, *arguments], env={**os.environ, **environ}) as process:
        yield process


@contextlib.contextmanager
def running(command: Sequence[str], **options: Any) -> Iterator[Process]:
    """A process that ends with this block. ``options`` are those of ``subprocess.Popen``."""
    process: Process | None = None
    try:
        with uninterrupted():  # a process that starts is nobody's until it has started
            process = subprocess.Popen(command, **options)
        yield process
    finally:
        # An impatient second Ctrl-C must not leave a process behind.
        before = {again: signal.signal(again, signal.SIG_IGN) for again in ENDINGS}
        if process is not None:
            end(process)
        for again, handler in before.items():
            signal.signal(again, handler)


def end(process: Process) -> None:
    """End a process, the hard way if it takes long."""
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Keep what would end this process until the block has ended."""
    came: list[int] = []
    before = {each: signal.signal(each, lambda number, _: came.append(number)) for each in ENDINGS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        if came:
            raise KeyboardInterrupt


def wait_until_open(port: int, process: Process) -> None:
    deadline = time.monotonic() + START_S
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise Refusal("The demo's GraphQL API did not start.")


def until_one_ends(dev: Process, *others: Process) -> int:
    """Wait; the exit code is that of `stile dev`, or 1 when another one ended although nobody asked it to."""
    while all(process.poll() is None for process in (dev, *others)):
        time.sleep(0.1)
    if dev.poll() is not None:
        return dev.returncode
    raise Refusal("The demo's GraphQL API ended by itself, so its endpoint ends too.")


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
