"""`stile dev` and `stile serve` as processes, with a port of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.commands.running import started
from tests.conftest import ROOT
from tests.support.secrecy import SESSION, Output

WAIT_S = 120.0
CODE = Path(__file__).parent / "code"
LOCAL = {"STILE_ALLOW_LOCAL_UPSTREAMS": "true"}
READY = {"dev": r"Ctrl-C ends it", "serve": r"on port (\d+) of"}


class Server:
    """A running command, its origin, and the lines that it printed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.printed: list[str] = []
        self.url = ""
        self._readers = [threading.Thread(target=self._read, args=(each,)) for each in (process.stdout, process.stderr)]
        for reader in self._readers:
            reader.start()

    def _read(self, stream: Any) -> None:
        with stream:
            for line in stream:
                SESSION.note(Output.PROCESS, line)
                self.printed.append(line.rstrip("\n"))

    def wait_for(self, pattern: str) -> re.Match[str]:
        """The first match in all that was printed so far."""
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            ended = self.process.poll() is not None
            if found := re.search(pattern, "\n".join(self.printed), re.MULTILINE):
                return found
            if ended:
                break
            time.sleep(0.02)
        raise AssertionError(f"{pattern!r} was not printed: {self.printed}")

    def close(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for reader in self._readers:
            reader.join()


@contextmanager
def serving(command: str, *arguments: str, modules: str = "", **environ: str) -> Iterator[Server]:
    """``stile dev`` or ``stile serve`` on a free port, until it answers."""
    code = {"PYTHONPATH": f"{ROOT}:{CODE}", "STILE_CODE_MODULES": modules} if modules else {}
    server = Server(started(command, *arguments, "--port", "0", environ={**LOCAL, **code, **environ}))
    try:
        if command == "dev":
            server.wait_for(READY[command])
            server.url = server.wait_for(r"(http://127\.0\.0\.1:\d+)")[1]
        else:
            server.url = f"http://127.0.0.1:{server.wait_for(READY[command])[1]}"
        yield server
    finally:
        server.close()


@contextmanager
def function_of(folder: Path, **environ: str) -> Iterator[Server]:
    """The function over an endpoint, with its page, as requests of API Gateway reach it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.page.function_front", str(folder)],
        cwd=ROOT,
        env={**os.environ, **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    server = Server(process)
    try:
        server.url = server.wait_for(r"(http://127\.0\.0\.1:\d+)")[1]
        yield server
    finally:
        server.close()
