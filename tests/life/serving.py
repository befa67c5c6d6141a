"""`stile serve` over a bucket, in a process of its own."""

from __future__ import annotations

import socket
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from handler.http.client import HttpClient, HttpRequest
from tests.commands.running import started
from tests.support.local import LOCAL
from tests.support.secrecy import SESSION, Output


@contextmanager
def serving_bucket(location: str, environ: Mapping[str, str]) -> Iterator[str]:
    """Serve the endpoints of a bucket, asked for new bundles every second; give the base URL."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    settings = {"STILE_REFRESH_S": "1", "STILE_ALLOW_LOCAL_UPSTREAMS": "true"}
    with tempfile.TemporaryFile("w+", encoding="utf-8") as log:  # a pipe that nobody reads would stop the server
        arguments = ("serve", location, "--port", str(port))
        process = started(*arguments, output=log.fileno(), environ={**environ, **settings})
        try:
            _wait_until_live(f"{url}/health/live")
            yield url
        finally:
            process.terminate()
            process.wait(60)
            log.seek(0)
            SESSION.note(Output.PROCESS, log.read())


def _wait_until_live(url: str) -> None:
    client, deadline = HttpClient(LOCAL), time.monotonic() + 60
    request = HttpRequest(method="GET", url=url, timeout_s=2, max_bytes=10_000)
    while time.monotonic() < deadline:
        try:
            if client.send(request).status == 200:
                client.close()
                return
        except Exception:  # noqa: BLE001 - it has not started yet
            time.sleep(0.1)
    raise AssertionError("the server did not start")
