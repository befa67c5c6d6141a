"""Serving the endpoint by `stile dev` or `stile serve`, in a process of its own."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field

from tests.commands.running import started
from tests.first_use.workshop import Workshop
from tests.support.secrecy import SESSION, Output

WAIT_S = 60
READY = "Ctrl-C ends it."


@dataclass(frozen=True, slots=True)
class Server:
    """A server in a process of its own. ``url`` is ``None`` if it did not start; ``lines`` are there at its end."""

    process: subprocess.Popen[str]
    url: str | None
    lines: list[str] = field(default_factory=list)


@contextmanager
def serving(shop: Workshop, *words: str, environ: Mapping[str, str]) -> Iterator[Server]:
    """Serve until the block ends. Port 0 is added to the words."""
    log = shop.folder / "server.log"
    with chdir(shop.folder), log.open("w") as output:
        process = started(*words, "--port", "0", output=output.fileno(), environ=environ)
    port = _port(shop, process)
    server = Server(process, f"http://127.0.0.1:{port}" if port else None)
    try:
        yield server
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait(WAIT_S)
        text = log.read_text(encoding="utf-8")
        SESSION.note(Output.PROCESS, text)
        server.lines.extend(text.splitlines())


def _port(shop: Workshop, process: subprocess.Popen[str]) -> str | None:
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline and process.poll() is None:
        text = (shop.folder / "server.log").read_text(encoding="utf-8")
        if READY in text and (port := re.search(r"on port (\d+) of|http://127\.0\.0\.1:(\d+)", text)):
            return port[1] or port[2]
        time.sleep(0.02)
    return None
