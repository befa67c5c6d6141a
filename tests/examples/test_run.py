"""What `make run` does. The demo's ports may be taken here, so most of it runs a copy of the examples."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3

from examples.run import ENDINGS
from examples.run import running as ending_with_this_block
from tests.conftest import ROOT
from tests.support.endpoints import write_endpoint
from tests.support.upstream import free_port

CONFIG = "examples/endpoints/api/customers/config.yaml"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the examples whose API has a port of its own."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    config = tmp_path / CONFIG
    text = config.read_text("utf-8")
    assert "http://127.0.0.1:8001/graphql" in text
    config.write_text(text.replace("127.0.0.1:8001", f"127.0.0.1:{free_port()}"), "utf-8")
    return tmp_path


@contextlib.contextmanager
def running(root: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "examples/run.py", *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def read_until(process: subprocess.Popen[str], word: str) -> str:
    assert process.stdout
    text = ""
    for line in process.stdout:
        text += line
        if word in line:
            return text
    assert process.stderr
    raise AssertionError(f"{word!r} was not printed: {text}{process.stderr.read()}")


def ports_in(text: str) -> list[int]:
    return [int(port) for port in dict.fromkeys(re.findall(r"http://127\.0\.0\.1:(\d+)/", text))]


def open_ports(ports: list[int]) -> list[int]:
    found = []
    for port in ports:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            found.append(port)
    return found


def children_of(process: subprocess.Popen[str]) -> list[int]:
    """The processes that it started, oldest first."""
    listed = processes_by_ps() if shutil.which("ps") else processes_by_proc()
    return sorted(pid for pid, parent in listed if parent == process.pid)


def processes_by_ps() -> Iterator[tuple[int, int]]:
    """Each process with its parent."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True)
    for line in listed.stdout.splitlines():
        pid, parent = line.split()
        yield int(pid), int(parent)


def processes_by_proc() -> Iterator[tuple[int, int]]:
    """The same on a small Linux, which has no ps."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            yield int(stat.parent.name), int(stat.read_text().rpartition(")")[2].split()[1])


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def call(url: str, tool: str, arguments: dict[str, object]) -> Any:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    headers = {"content-type": "application/json"}
    with urllib3.PoolManager() as http:
        answer = http.request("POST", url, body=json.dumps(message), headers=headers).json()
    return json.loads(answer["result"]["content"][0]["text"])


def test_the_demo_serves_its_tools_in_python(copied: Path) -> None:
    with running(copied, "--port", str(free_port())) as process:
        text = read_until(process, "Ctrl-C ends it")
        url = f"http://127.0.0.1:{ports_in(text)[-1]}/api/customers/mcp"

        assert "customer_summary, find_customers, orders_chart" in text
        page = call(url, "customers-in-state", {"variables": {"state": "WA", "first": 1}})
        node = page["data"]["customers"]["edges"][0]["node"]
        assert call(url, "customer_summary", {"email": node["email"]})["name"] == node["name"]


def test_the_demo_answers_and_ctrl_c_ends_both_processes(copied: Path) -> None:
    with running(copied, "--port", str(free_port())) as process:
        text = read_until(process, "Ctrl-C ends it")
        url = text.partition("claude mcp add --transport http api-customers ")[2].split()[0]
        ports = ports_in(text)

        assert len(open_ports(ports)) == 2
        assert call(url, "customer-by-email", {"variables": {"email": "nobody@example.com"}}) == {
            "data": {"customer": None}
        }

        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: all of the group gets it
        _, errors = process.communicate(timeout=120)

    assert process.returncode == 0
    assert "Traceback" not in errors
    assert open_ports(ports) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_script_alone_ends_both_processes(copied: Path, number: signal.Signals) -> None:
    with running(copied, "--port", str(free_port())) as process:
        ports = ports_in(read_until(process, "Ctrl-C ends it"))

        process.send_signal(number)
        _, errors = process.communicate(timeout=120)

    assert process.returncode == 0
    assert "Traceback" not in errors
    assert open_ports(ports) == []


@pytest.mark.parametrize("which", [0, 1])
def test_when_one_process_dies_the_other_one_ends_too(copied: Path, which: int) -> None:
    with running(copied, "--port", str(free_port())) as process:
        ports = ports_in(read_until(process, "Ctrl-C ends it"))
        upstream, dev = children_of(process)

        os.kill((upstream, dev)[which], signal.SIGKILL)
        _, errors = process.communicate(timeout=120)

    assert process.returncode != 0
    assert "Traceback" not in errors
    assert ("The demo's GraphQL API ended by itself" in errors) == (which == 0)
    assert open_ports(ports) == []


def test_a_taken_port_of_the_endpoint_is_one_sentence(copied: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with running(copied, "--port", str(port)) as process:
            out, errors = process.communicate(timeout=120)

    assert (process.returncode, out) == (1, "")
    assert errors == f"Port {port} on 127.0.0.1 is taken: end what uses it, or name another one: run.py --port N.\n"


def test_a_taken_port_of_the_api_is_one_sentence(copied: Path) -> None:
    port = int(re.findall(r"127\.0\.0\.1:(\d+)", (copied / CONFIG).read_text("utf-8"))[0])
    with (
        socket.create_server(("127.0.0.1", port)),
        running(copied, "--port", str(free_port())) as process,
    ):
        out, errors = process.communicate(timeout=120)

    assert (process.returncode, out) == (1, "")
    assert errors == (
        f"Port {port} on 127.0.0.1 is taken: end what uses it, "
        f"or give the demo's GraphQL API another one in {CONFIG}.\n"
    )


def test_a_port_that_is_none_is_wrong_usage(copied: Path) -> None:
    with running(copied, "--port", "70000") as process:
        _, errors = process.communicate(timeout=120)

    assert process.returncode == 2
    assert errors.endswith("--port 70000: expected a number from 0 to 65535\n")


def test_a_folder_of_your_own_is_served_without_the_demo(tmp_path: Path) -> None:
    write_endpoint(tmp_path, {"index.graphql": "type Query { a: Int }"})
    with running(ROOT, str(tmp_path), "--port", str(free_port())) as process:
        text = read_until(process, "Ctrl-C ends it")

        assert "/api/things/mcp" in text
        assert "GraphQL API" not in text
        assert len(children_of(process)) == 1

        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 0


def test_a_folder_without_endpoints_ends_as_the_command_does(tmp_path: Path) -> None:
    with running(ROOT, str(tmp_path), "--port", str(free_port())) as process:
        _, errors = process.communicate(timeout=120)

    assert process.returncode == 2
    assert "no endpoint here" in errors


def test_the_ports_are_those_that_the_readme_and_the_demo_name() -> None:
    listed = subprocess.run(
        [sys.executable, "examples/run.py", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert "(default: 8000)" in listed.stdout
    assert "http://127.0.0.1:8001/graphql" in (ROOT / CONFIG).read_text("utf-8")


def test_nothing_is_left_when_it_is_stopped_while_starting(copied: Path) -> None:
    with running(copied, "--port", str(free_port())) as process:
        deadline = time.monotonic() + 60
        while not (children := children_of(process)) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)

        assert children
        assert process.wait(120) == 0
        assert not any(is_running(child) for child in children)


def test_signals_of_whoever_uses_a_process_are_as_before() -> None:
    before = {each: signal.getsignal(each) for each in ENDINGS}

    with ending_with_this_block([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        assert process.poll() is None

    assert process.poll() is not None
    assert {each: signal.getsignal(each) for each in ENDINGS} == before
