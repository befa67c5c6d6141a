"""Publishing and going back while callers call: no call fails, and each is answered by a whole version."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from handler.http.client import HttpClient
from handler.storage.location import open_publish_storage
from tests.commands.running import Stile
from tests.life.publishing import CONFIG, SDL, add_empty_bucket, put, version_of
from tests.life.serving import serving_bucket
from tests.life.share import tried
from tests.support.api import Reply, running_api
from tests.support.moto import Moto

PER_SECOND = 50
CHANGES = tried(20, share=10)
SECONDS_OF_A_CHANGE = 1.5  # longer than the server keeps a bundle without asking
TIMEOUT_S = 20


class Callers:
    """Callers that begin so many calls a second, whether or not earlier ones have ended."""

    def __init__(self, url: str) -> None:
        self._url = urlsplit(url)
        self._ended = threading.Event()
        self.answers: Counter[str] = Counter()
        self.failures: list[str] = []
        self._lock = threading.Lock()

    def run(self) -> None:
        started = time.monotonic()
        with ThreadPoolExecutor(64) as threads:
            for number in range(1_000_000):
                if self._ended.is_set():
                    break
                threads.submit(self._call, number)
                time.sleep(max(0.0, started + (number + 1) / PER_SECOND - time.monotonic()))

    def end(self) -> None:
        self._ended.set()

    def _call(self, number: int) -> None:
        method, params = [
            ("tools/list", {}),
            ("tools/call", {"name": "all", "arguments": {"query": "{ a b }"}}),
        ][number % 2]
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        headers = {"content-type": "application/json", "mcp-protocol-version": "2025-11-25"}
        try:
            connection = HTTPConnection(self._url.hostname or "", self._url.port, timeout=TIMEOUT_S)
            connection.request("POST", "/api/things/mcp", json.dumps(message), headers)
            answer = connection.getresponse()
            body = answer.read().decode()
            connection.close()
        except OSError as exc:
            self._note("", repr(exc))
            return
        result = json.loads(body).get("result", {}) if answer.status == 200 else {}
        if not result or result.get("isError"):
            self._note("", f"{answer.status} {body}")
        else:
            names = [tool["name"] for tool in result.get("tools", ()) if tool["name"].startswith("tool-")]
            self._note(names[0] if names else "called", "")

    def _note(self, answered: str, failure: str) -> None:
        with self._lock:
            if failure:
                self.failures.append(failure)
            else:
                self.answers[answered] += 1


def test_no_call_fails_while_versions_are_published_and_rolled_back(
    open_moto: Moto, stile: Stile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in open_moto.environ().items():
        monkeypatch.setenv(name, value)
    location = add_empty_bucket(open_moto, "traffic")
    http = HttpClient()
    storage = open_publish_storage(location, http=http, environ=open_moto.environ())
    with running_api(lambda _: Reply({"data": {"a": "x", "b": 1}})) as api:
        config = CONFIG.replace("https://things.example/graphql", api.url)
        versions = [
            version_of(tmp_path, number, config=config, sdl=SDL + f"type Other{number} {{ a: Int }}\n")
            for number in (1, 2)
        ]
        put(storage, versions[0])
        with serving_bucket(location, open_moto.environ()) as url:
            callers = Callers(url)
            thread = threading.Thread(target=callers.run)
            thread.start()
            put(storage, versions[1])
            for _ in range(CHANGES):
                time.sleep(SECONDS_OF_A_CHANGE)
                assert stile("rollback", f"{location}/api/things", "--yes").code == 0
            time.sleep(SECONDS_OF_A_CHANGE)
            callers.end()
            thread.join()
            # Each later call of a version asks the server, so it has both seen and served the last one.
            served = stile("published", location, "--url", url, "--wait", "20")
    http.close()

    assert callers.failures == []
    assert served.code == 0, served.err
    assert callers.answers["tool-1"] > 0
    assert callers.answers["tool-2"] > 0
    assert callers.answers["called"] > PER_SECOND
