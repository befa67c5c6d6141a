"""The example over PostgreSQL: its README is done, word for word, and its callers get their own rows."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from examples.postgraphile.__main__ import find_programs
from examples.run import Refusal
from tests.conftest import ROOT
from tests.support.require import requires
from tests.support.upstream import free_port

MODULES = ROOT / ".stile" / "node-postgraphile" / "node_modules"
README = (ROOT / "examples" / "postgraphile" / "README.md").read_text("utf-8")
SESSIONS = re.findall(r"^```console\n\$ ([^\n]*)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
ADA, BEN = {"x-api-key": "stile_ada_of_the_example"}, {"x-api-key": "stile_ben_of_the_example"}
ADAS, BENS = ["A-1002", "A-1001"], ["B-2001"]


@dataclass(frozen=True)
class Example:
    """The example as it runs, in a copy with ports of its own."""

    root: Path
    port: int
    api_port: int

    def stile(self, *words: str) -> subprocess.CompletedProcess[str]:
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "handler", *words]
        return subprocess.run(command, cwd=self.root, env=environ, capture_output=True, text=True, check=False)

    def post(self, body: str, headers: Mapping[str, str], *, port: int = 0, path: str = "/shop/orders/mcp") -> Any:
        url = f"http://127.0.0.1:{port or self.port}{path}"
        sent = urllib.request.Request(url, body.encode(), {"content-type": "application/json", **headers})
        with urllib.request.urlopen(sent, timeout=60) as response:
            return json.load(response)

    def ask_api(self, headers: Mapping[str, str]) -> Any:
        """What the API itself answers."""
        query = '{"query": "{ allPurchasesList { number } }"}'
        return self.post(query, headers, port=self.api_port, path="/graphql")

    def numbers(self, headers: Mapping[str, str], **arguments: Any) -> list[str]:
        """The orders that a caller gets of ``my_orders``."""
        call = {"name": "my_orders", "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        result = self.post(json.dumps(message), headers)["result"]
        return [each["number"] for each in json.loads(result["content"][0]["text"])["data"]["allPurchasesList"]]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Example]:
    requires("node", shutil.which("node") and (MODULES / "postgraphile").is_dir(), "`make postgraphile` installs it")
    requires("postgres", has_postgresql(), "install PostgreSQL")
    root = tmp_path_factory.mktemp("copied")
    shutil.copytree(ROOT / "examples", root / "examples", ignore=shutil.ignore_patterns("__pycache__", ".env"))
    running = Example(root, free_port(), free_port())
    config = root / "examples/postgraphile/endpoints/shop/orders/config.yaml"
    text = config.read_text("utf-8")
    assert "127.0.0.1:8002/" in text
    config.write_text(text.replace("127.0.0.1:8002", f"127.0.0.1:{running.api_port}"), "utf-8")
    command = [sys.executable, "-m", "examples.postgraphile", f"--port={running.port}", f"--modules={MODULES}"]
    with (root / "output").open("w+") as output:
        process = subprocess.Popen(
            command,
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            wait_until_serving(process, root / "output")
            yield running
            process.send_signal(signal.SIGINT)
            assert process.wait(120) == 0
            assert not config.with_name(".env").exists()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def has_postgresql() -> bool:
    try:
        return find_programs().is_dir()
    except Refusal:
        return False


def wait_until_serving(process: subprocess.Popen[bytes], output: Path) -> None:
    for _ in range(1_800):
        if "Serving;" in output.read_text():
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
            break
    raise AssertionError(output.read_text())


def test_readme_has_the_parts_that_these_tests_do() -> None:
    assert len(SESSIONS) == 4
    assert "\nmake postgraphile\n" in README
    assert re.search(r"^postgraphile:.*\n\t.*-m examples\.postgraphile", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize(("command", "printed"), SESSIONS, ids=["ada", "ben", "search", "nobody"])
def test_session_prints_what_the_readme_shows(example: Example, command: str, printed: str) -> None:
    program, *words = shlex.split(command)
    assert program == ".venv/bin/stile"

    done = example.stile(*words)

    assert " ".join((done.stdout + done.stderr).split()) == " ".join(printed.split())


def test_request_of_the_readme_gets_adas_order_whatever_customer_it_says(example: Example) -> None:
    (command,) = re.findall(r"^```sh\n(curl .*?)^```", README, re.MULTILINE | re.DOTALL)
    words = shlex.split(command)
    headers = dict(word.split(": ", 1) for flag, word in pairwise(words) if flag == "-H")
    assert words[2] == "http://127.0.0.1:8000/shop/orders/mcp"
    assert headers["x-customer-id"] == "2"

    answer = example.post(words[-1], headers)

    data = json.loads(answer["result"]["content"][0]["text"])["data"]
    assert [each["number"] for each in data["allPurchasesList"]] == ADAS[:1]


def test_callers_at_once_get_their_own_rows(example: Example) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(example.numbers, [ADA, BEN] * 10))

    assert found == [ADAS, BENS] * 10


def test_api_answers_nobody_without_the_key_that_stile_has(example: Example) -> None:
    for headers in ({"x-customer-id": "1"}, {"x-customer-id": "1", "x-api-key": "wrong"}):
        with pytest.raises(urllib.request.HTTPError) as caught:
            example.ask_api(headers)
        caught.value.close()
        assert caught.value.code == 401


def test_request_without_a_customer_gets_no_row_of_the_database(example: Example) -> None:
    env = (example.root / "examples/postgraphile/endpoints/shop/orders/.env").read_text("utf-8")
    key = {"x-api-key": env.strip().partition("=")[2]}

    answer = example.post('{"query": "{ allPurchasesList { number } }"}', key, port=example.api_port, path="/graphql")

    assert answer == {"data": {"allPurchasesList": []}}
