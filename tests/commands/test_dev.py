from __future__ import annotations

import gzip
import json
import queue
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import urllib3

from tests.commands.running import CONFIG, FILES, Stile, change, interrupt, ran_on_terminal, started
from tests.support.api import Reply, running_api
from tests.support.endpoints import write_endpoint
from tests.support.raw_http import Peer, running_server
from tests.support.secrecy import SESSION, Output

WAIT_S = 60.0


class Dev:
    """A running ``stile dev``, what it printed, and its HTTP side."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.printed: list[str] = []
        self._lines: queue.Queue[str] = queue.Queue()
        for stream in (process.stdout, process.stderr):
            threading.Thread(target=self._read, args=(stream,), daemon=True).start()
        self._http = urllib3.PoolManager(retries=False, timeout=60)
        self.url = ""

    def _read(self, stream: Any) -> None:
        for line in stream:
            SESSION.note(Output.PROCESS, line)
            self._lines.put(line.rstrip("\n"))

    def wait_for(self, pattern: str) -> re.Match[str]:
        """The first line from now on that the pattern is found in."""
        deadline = time.monotonic() + WAIT_S
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"{pattern!r} was not printed: {self.printed}") from None
            self.printed.append(line)
            if found := re.search(pattern, line):
                return found

    def quiet_for(self, seconds: float) -> bool:
        time.sleep(seconds)
        return self._lines.empty()

    def all_printed(self) -> str:
        """Everything, once it has ended."""
        while not self._lines.empty():
            self.printed.append(self._lines.get())
        return "\n".join(self.printed)

    def tools(self, name: str = "api/things") -> list[str] | int:
        """The names of the tools served, or the status of a refusal."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
        headers = {"content-type": "application/json", "accept": "application/json"}
        response = self._http.request("POST", f"{self.url}/{name}/mcp", body=body, headers=headers)
        if response.status != 200:
            return response.status
        return [tool["name"] for tool in response.json()["result"]["tools"]]

    def close(self) -> None:
        self._http.clear()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            assert stream
            stream.close()


@contextmanager
def running_dev(*arguments: str) -> Iterator[Dev]:
    dev = Dev(started("dev", *arguments, "--port", "0"))
    try:
        yield dev
    finally:
        dev.close()


@pytest.fixture
def endpoint(workplace: Path) -> Path:
    return write_endpoint(workplace, FILES)


@pytest.fixture
def dev(endpoint: Path) -> Iterator[Dev]:
    """`stile dev` over one endpoint."""
    with running_dev(".") as running:
        running.url = running.wait_for(r"^(http://127\.0\.0\.1:\d+)/api/things/mcp: 1 tool: a$")[1]
        running.wait_for("Ctrl-C ends it")
        yield running


def test_it_prints_the_url_and_a_line_for_each_client(dev: Dev) -> None:
    url = f"{dev.url}/api/things/mcp"
    lines = {line[2:17].strip(): line[18:] for line in dev.printed if line.startswith("  ")}
    files = {client: line.split(" ", 1) for client, line in lines.items() if line.startswith((".", "claude_"))}

    assert list(lines) == ["Claude Code", "Claude Desktop", "VS Code", "Cursor", "Codex", "Inspector"]
    assert lines["Claude Code"] == f"claude mcp add --transport http api-things {url}"
    assert lines["Codex"] == f"codex mcp add api-things --url {url}"
    assert lines["Inspector"].startswith(f"npx @modelcontextprotocol/inspector --cli {url} --transport http ")
    assert {client: (file, json.loads(text)) for client, (file, text) in files.items()} == {
        "Claude Desktop": (
            "claude_desktop_config.json",
            {"mcpServers": {"api-things": {"command": "npx", "args": ["-y", "mcp-remote", url]}}},
        ),
        "VS Code": (".vscode/mcp.json", {"servers": {"api-things": {"type": "http", "url": url}}}),
        "Cursor": (".cursor/mcp.json", {"mcpServers": {"api-things": {"type": "http", "url": url}}}),
    }
    assert dev.tools() == ["a"]


def test_saving_a_file_takes_over(dev: Dev, endpoint: Path) -> None:
    change(endpoint / "operations" / "a.graphql", '"a"', '"better"')

    dev.wait_for(r"/api/things/mcp: 1 tool: better$")
    assert dev.tools() == ["better"]


def test_a_mistake_is_shown_while_the_last_good_version_is_served_until_it_is_solved(dev: Dev, endpoint: Path) -> None:
    change(endpoint / "operations" / "a.graphql", "{ a }", "{ totl }")

    dev.wait_for(r"^api/things/operations/a\.graphql:1:\d+: .*totl")
    dev.wait_for(r"^http\S+/api/things/mcp: still the last good version$")
    assert dev.tools() == ["a"]

    change(endpoint / "config.yaml", "upstream:", "upstrem:")

    dev.wait_for(r"^api/things/config\.yaml:1:1: .*upstrem")
    dev.wait_for(r"^api/things/operations/a\.graphql:1:\d+: .*totl")
    assert dev.tools() == ["a"]

    change(endpoint / "config.yaml", "upstrem:", "upstream:")
    dev.wait_for("still the last good version")
    change(endpoint / "operations" / "a.graphql", "{ totl }", "{ a }")

    dev.wait_for(r"/api/things/mcp: 1 tool: a$")
    change(endpoint / "operations" / "a.graphql", '"a"', '"after"')
    dev.wait_for(r"1 tool: after$")
    assert dev.tools() == ["after"]


def test_new_endpoints_appear_and_removed_ones_are_withdrawn(dev: Dev, workplace: Path) -> None:
    write_endpoint(workplace, FILES, name="shop/orders")

    dev.wait_for(r"/shop/orders/mcp: 1 tool: a$")
    assert dev.tools("shop/orders") == ["a"]

    shutil.rmtree(workplace / "shop")

    dev.wait_for(r"^shop/orders: withdrawn$")
    assert dev.tools("shop/orders") == 404
    assert dev.tools() == ["a"]


def test_the_whole_folder_may_go_and_come_back(dev: Dev, workplace: Path) -> None:
    (workplace / "api").rename(workplace / ".away")
    dev.wait_for(r"^api/things: withdrawn$")

    (workplace / ".away").rename(workplace / "api")

    dev.wait_for(r"/api/things/mcp: 1 tool: a$")
    assert dev.tools() == ["a"]


def test_files_that_tools_and_editors_keep_there_are_nothing_to_it(dev: Dev, workplace: Path, endpoint: Path) -> None:
    for name in ("node_modules/p/q", ".git/a/b", ".venv/a/b", ".stile/a/b"):
        write_endpoint(workplace, {"index.graphql": "no schema"}, name=name)
    (endpoint / "operations" / ".a.graphql.swp").write_bytes(b"\x00\xff")

    assert dev.quiet_for(1.5)
    assert dev.tools() == ["a"]


def test_half_saved_files_never_end_the_reloading(dev: Dev, endpoint: Path) -> None:
    operation = endpoint / "operations" / "a.graphql"
    whole = operation.read_bytes()
    for part in (b"", whole[:9], b"\xff\xfe\x00", whole[:-3]):
        operation.write_bytes(part)
        time.sleep(0.15)
    operation.unlink()
    time.sleep(0.15)
    operation.mkdir()
    time.sleep(0.15)
    operation.rmdir()
    operation.write_bytes(whole.replace(b'"a"', b'"whole"'))

    dev.wait_for(r"1 tool: whole$")
    assert dev.tools() == ["whole"]


def test_many_saves_at_once_end_with_the_last_one(dev: Dev, endpoint: Path) -> None:
    operation = endpoint / "operations" / "a.graphql"
    for number in range(60):
        operation.write_text(f'query A @mcpTool(name: "a{number}") {{ a }}', encoding="utf-8")
        time.sleep(0.01)

    dev.wait_for(r"1 tool: a59$")
    assert dev.tools() == ["a59"]


def test_an_endpoint_that_is_wrong_from_the_start_is_served_once_it_is_right(workplace: Path) -> None:
    endpoint = write_endpoint(workplace, {**FILES, "config.yaml": "upstrem: {}"})
    with running_dev("api") as dev:
        dev.wait_for(r"^api/things/config\.yaml:1:1: ")
        dev.wait_for(r"^api/things: not served until this is solved$")
        (endpoint / "config.yaml").write_text(CONFIG, encoding="utf-8")

        dev.url = dev.wait_for(r"^(http://127\.0\.0\.1:\d+)/api/things/mcp: 1 tool: a$")[1]
        assert dev.tools() == ["a"]


def test_a_stage_is_laid_over_and_its_file_watched(workplace: Path) -> None:
    stage = "default_tool: true\n"
    endpoint = write_endpoint(workplace, {**FILES, "config.test.yaml": stage})
    with running_dev(".", "--stage", "test") as dev:
        dev.wait_for("Ctrl-C ends it")
        (endpoint / "config.test.yaml").write_text("default_tol: true\n", encoding="utf-8")

        dev.wait_for(r"^api/things/config\.test\.yaml:1:1: ")


def test_ctrl_c_ends_it_with_exit_0_and_no_traceback(dev: Dev) -> None:
    dev.tools()  # leaves a kept connection behind

    before = time.monotonic()
    assert interrupt(dev.process) == 0
    assert time.monotonic() - before < 30
    printed = dev.all_printed()
    assert "Traceback" not in printed
    assert "Error" not in printed


def test_sigterm_ends_it_at_once(dev: Dev) -> None:
    assert interrupt(dev.process, signal.SIGTERM) in (0, -signal.SIGTERM)


def test_ctrl_c_does_not_wait_for_an_api_that_says_nothing(workplace: Path) -> None:
    called = threading.Event()

    def script(peer: Peer) -> None:
        peer.read_request()
        called.set()
        peer.wait()

    with running_server(script) as api:
        write_endpoint(workplace, {**FILES, "config.yaml": f"upstream: {{url: '{api.url}', timeout_s: 60}}"})
        with running_dev(".") as dev:
            dev.url = dev.wait_for(r"^(http://127\.0\.0\.1:\d+)/api/things/mcp")[1]
            with in_background(lambda: call_tool(dev.url)):
                assert called.wait(60)

                before = time.monotonic()
                assert interrupt(dev.process) == 0
                assert time.monotonic() - before < 30  # the API may take 60 s
            assert "Traceback" not in dev.all_printed()


def call_tool(url: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a", "arguments": {}}}
    headers = {"content-type": "application/json"}
    with urllib3.PoolManager(retries=False, timeout=60) as http:
        try:
            http.request("POST", f"{url}/api/things/mcp", body=json.dumps(message), headers=headers)
        except urllib3.exceptions.HTTPError:
            return  # the server went away, which is the test


@contextmanager
def in_background(work: Callable[[], None]) -> Iterator[None]:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield
    thread.join(60)


def test_a_port_that_is_taken_is_one_sentence_and_exit_1(endpoint: Path, stile: Stile) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        done = stile("dev", ".", "--port", str(port))

    assert (done.code, done.out) == (1, "")
    assert (
        done.err
        == f"Port {port} on 127.0.0.1 is in use: stop the program that has it, or choose another port with --port.\n"
    )


@pytest.mark.parametrize("port", ["70000", "-1", "http"])
def test_a_port_that_is_none_is_wrong_usage(endpoint: Path, stile: Stile, port: str) -> None:
    done = stile("dev", ".", f"--port={port}")

    assert done.code == 2
    assert f"'{port}': expected a number from 0 to 65535" in done.err


def test_a_folder_without_endpoints_is_wrong_usage(workplace: Path, stile: Stile) -> None:
    assert stile("dev", ".").code == 2


def test_a_page_of_another_site_is_refused(dev: Dev) -> None:
    headers = {"content-type": "application/json", "origin": "https://evil.example.com"}
    with urllib3.PoolManager(retries=False) as http:
        assert http.request("POST", f"{dev.url}/api/things/mcp", body=b"{}", headers=headers).status == 403


def test_each_request_is_one_line(dev: Dev) -> None:
    dev.tools()

    dev.wait_for(r"^POST /api/things/mcp tools/list 200 ok \([\d.]+ ms\)$")


def test_coordinate_that_drifted_is_in_the_line(workplace: Path) -> None:
    unknown = {"message": 'Cannot query field "a" on type "Query".', "locations": [{"line": 1}]}
    with running_api(lambda _: Reply({"errors": [unknown]})) as api:
        files = {
            "index.graphql": "type Query { a: Int }",
            "operations/a.graphql": 'query A @mcpTool(name: "a") { a }',
            "config.yaml": f"upstream: {{url: '{api.url}'}}",
        }
        write_endpoint(workplace, files)
        with running_dev(".") as dev:
            dev.url = dev.wait_for(r"^(http://127\.0\.0\.1:\d+)/api/things/mcp")[1]
            call_tool(dev.url)
            dev.wait_for(r"tools/call a 200 tool_error Drift: Query\.a ")


def test_a_terminal_gets_colours(workplace: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        write_endpoint(workplace, FILES)

        code, shown = ran_on_terminal("dev", ".", "--port", str(taken.getsockname()[1]))

    assert code == 1
    assert shown.startswith("\x1b[31mPort ")


def test_large_list_is_compressed_for_clients_that_take_it(dev: Dev, endpoint: Path) -> None:
    change(endpoint / "operations" / "a.graphql", "query A", f'"{"d" * 70_000}" query A')
    dev.wait_for(r"1 tool: a$")

    def listed(encoding: str) -> urllib3.HTTPResponse:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        headers = {"content-type": "application/json", "accept-encoding": encoding}
        found = urllib3.request(
            "POST", f"{dev.url}/api/things/mcp", body=body, headers=headers, decode_content=False, retries=False
        )
        assert isinstance(found, urllib3.HTTPResponse)
        return found

    plain, packed = listed("identity"), listed("gzip")

    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) * 50 < int(plain.headers["content-length"])
    assert gzip.decompress(packed.data) == plain.data


def test_operations_in_folders_below_are_taken_over_when_they_come_change_and_go(dev: Dev, endpoint: Path) -> None:
    file = endpoint / "operations" / "new" / "deep" / "b.gql"
    file.parent.mkdir(parents=True)
    file.write_text('query B @mcpTool(name: "b") { b }\n', encoding="utf-8")

    dev.wait_for(r"/api/things/mcp: 2 tools: a, b$")
    change(file, '"b"', '"changed"')
    dev.wait_for(r"/api/things/mcp: 2 tools: a, changed$")
    change(file, "{ b }", "{ c }")
    dev.wait_for(r"^api/things/operations/new/deep/b\.gql:1:\d+: Cannot query field 'c'")
    dev.wait_for("still the last good version")
    shutil.rmtree(endpoint / "operations" / "new")

    dev.wait_for(r"/api/things/mcp: 1 tool: a$")
    assert dev.tools() == ["a"]
