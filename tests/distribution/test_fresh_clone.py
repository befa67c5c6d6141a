"""`make run` in a fresh clone, without `make setup` before it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import urllib3

from handler import __version__
from tests.conftest import ROOT
from tests.distribution.builds import copy_tree
from tests.distribution.environments import require_index, run
from tests.support.upstream import free_port

CONFIG = "examples/endpoints/api/customers/config.yaml"


def locked(name: str) -> dict[str, str]:
    text = (ROOT / "requirements" / name).read_text("utf-8")
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE))


@pytest.mark.parametrize("lock", ["cli.txt", "demo.txt"])
def test_packages_of_the_demo_are_those_of_development_too(lock: str) -> None:
    assert locked(lock).items() <= locked("dev.txt").items()


def test_the_demo_needs_no_program_that_tests_or_checks() -> None:
    needed = set(locked("cli.txt")) | set(locked("demo.txt"))

    assert not needed & {"mypy", "moto", "pytest", "hypothesis", "ruff", "mcp", "coverage", "cfn-lint"}
    assert len(needed) < len(locked("dev.txt")) / 2
    assert f"`make run` does first | {len(needed)} |" in (ROOT / "docs" / "install.md").read_text("utf-8")


def test_a_fresh_clone_serves_the_demo_and_says_each_step(tmp_path: Path) -> None:
    require_index()
    clone = copy_tree(tmp_path / "clone")
    config = clone / CONFIG
    config.write_text(config.read_text("utf-8").replace("127.0.0.1:8001", f"127.0.0.1:{free_port()}"), "utf-8")
    port = free_port()

    lines = []
    with subprocess.Popen(
        ["make", "run", f"PYTHON={sys.executable}", f"ENDPOINTS=--port {port}"],
        cwd=clone,
        env={name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MAKEFLAGS", "MAKELEVEL")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout
        try:
            for line in process.stdout:
                lines.append(line)
                if "Ctrl-C ends it" in line:
                    break
            assert (clone / ".venv" / ".run-stamp").exists(), "".join(lines)
            answered = urllib3.request(
                "POST",
                f"http://127.0.0.1:{port}/api/customers/mcp",
                json={"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
                headers={"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"},
            )
        finally:
            os.killpg(process.pid, signal.SIGTERM)

    assert answered.status == 200, answered.data
    assert json.loads(answered.data)["result"]["tools"]
    steps = [line[:3] for line in lines if re.match(r"\d/3 ", line)]
    assert steps == ["1/3", "2/3", "3/3"]
    assert run(str(clone / ".venv" / "bin" / "stile"), "--version").stdout == f"stile {__version__}\n"
    packages = {path.name.partition("-")[0] for path in (clone / ".venv").glob("lib/python*/site-packages/*.dist-info")}
    assert not packages & {"mypy", "moto", "pytest", "hypothesis", "ruff"}
