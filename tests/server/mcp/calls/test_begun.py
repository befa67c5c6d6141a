"""The line that an author's code begins, the memory and the ids of both logs, in a process that a tool may end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from handler.storage.local import FolderStorage
from tests.conftest import ROOT
from tests.docs.reference import page
from tests.operate.insights import found_by
from tests.support.endpoints import compiled
from tests.support.function import event_for, running_function, store
from tests.support.kits import PLUGINS, with_catalog, with_kit

KILLER = "tests.support.acme_killer:kit"
SECRET = "not-for-the-log"
PROGRAM = """
import json, sys
from handler.lambda_function import handler
from tests.support.function import Context
for line in sys.stdin:
    event, context = json.loads(line), Context()
    context.aws_request_id = event["lambda_id"]
    handler(event, context)
"""
ENDPOINT = "api/things"
FILES = {"index.graphql": "type Query { a: Int }", "config.yaml": "access: {anonymous: allow}"}


def lines_of(folder: Path, *calls: tuple[str, dict[str, Any]], memory: str = "10240", **environ: str) -> Any:
    """The exit code of a function in a process of its own after these calls, and the lines of its log.

    A shell starts it: a process begins with the memory of the process that it is made from.
    """
    endpoint = with_kit(compiled(folder / "source", FILES), KILLER)
    store(FolderStorage(folder), endpoint)
    events = []
    for number, (tool, arguments) in enumerate(calls):
        params = {"name": tool, "arguments": arguments}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        event = event_for(
            "POST", f"/{endpoint.bundle.endpoint}/mcp", body=body, headers={"content-type": "application/json"}
        )
        event["requestContext"]["requestId"] = f"gateway-{number}"
        events.append(json.dumps({**event, "lambda_id": f"lambda-{number}"}))
    code_modules = "tests.support.acme_killer"
    environ = {"STILE_BUNDLES": str(folder), "STILE_CODE_MODULES": code_modules, "STILE_METRICS": "on", **environ}
    environ |= {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": memory, "AWS_LAMBDA_FUNCTION_NAME": "stile"}
    command = ["/bin/sh", "-c", '"$@"; exit $?', "-", sys.executable, "-c", PROGRAM]
    done = subprocess.run(
        command,
        input="\n".join(events),
        cwd=ROOT,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def test_killed_instance_leaves_the_line_of_the_call_that_ended_it_and_the_runbook_finds_it(tmp_path: Path) -> None:
    code, lines = lines_of(tmp_path, ("steady", {}), ("kill", {"secret": SECRET}), ("steady", {}))
    query = page("operate/runbook").section("## Find the call that ended an instance").split("```")[1]

    assert code == 128 + signal.SIGKILL
    assert [(line["message"], line["request_id"]) for line in lines] == [
        ("begun", "lambda-0"),
        ("request", "lambda-0"),
        ("begun", "lambda-1"),
    ]
    assert {name: lines[-1][name] for name in ("level", "endpoint", "method", "tool", "toolkit")} == {
        "level": "INFO",
        "endpoint": ENDPOINT,
        "method": "tools/call",
        "tool": "kill",
        "toolkit": KILLER,
    }
    assert lines[-1]["bundle"] == lines[1]["bundle"]
    assert not any(SECRET in str(line) for line in lines)
    assert [(row["request_id"], row["called"]) for row in found_by(query, lines)] == [("lambda-1", ["kill"])]


def test_line_has_the_ids_of_the_gateway_and_of_the_function_and_its_memory(tmp_path: Path) -> None:
    code, (begun, line) = lines_of(tmp_path, ("steady", {}))

    assert code == 0
    assert (line["gateway_request_id"], line["request_id"]) == ("gateway-0", "lambda-0")
    assert 10 < begun["memory_mb"] <= line["memory_mb"] < 1_000
    assert line["memory_percent"] == line["memory_mb"] * 100 // 10_240
    assert line["level"] == "INFO"
    assert "memory_percent" in str(line["_aws"])


def test_leak_is_a_warning_with_the_name_of_the_tool_before_the_memory_is_used_up(tmp_path: Path) -> None:
    _, lines = lines_of(tmp_path, *[("leak", {})] * 6, memory="256")
    requests = [line for line in lines if line["message"] == "request"]
    warnings = [line for line in requests if line["level"] == "WARNING"]

    assert [line["memory_mb"] for line in requests] == sorted(line["memory_mb"] for line in requests)
    assert requests[-1]["memory_mb"] - requests[0]["memory_mb"] > 150
    assert warnings == [line for line in requests if line["memory_percent"] >= 90] != []
    assert {(line["endpoint"], line["tool"]) for line in warnings} == {(ENDPOINT, "leak")}
    assert requests[0]["level"] == "INFO"


def test_log_of_warnings_alone_has_no_line_of_what_begins(tmp_path: Path) -> None:
    assert lines_of(tmp_path, ("steady", {}), POWERTOOLS_LOG_LEVEL="WARNING") == (0, [])


# What is begun, in this process

BLOCKS = "tests.support.acme_blocks:kit"
CALL = "catalog-call-mutation"  # the tool of the catalog for tools that may write


@pytest.mark.parametrize(
    ("use", "method", "params", "begun"),
    [
        (BLOCKS, "tools/call", {"name": "counted"}, [{"tool": "counted"}]),
        (BLOCKS, "tools/call", {"name": CALL, "arguments": {"name": "counted"}}, [{"tool": "counted"}]),
        (BLOCKS, "tools/call", {"name": "catalog", "arguments": {"query": "page"}}, []),
        (BLOCKS, "tools/call", {"name": "absent"}, []),
        (BLOCKS, "prompts/get", {"name": "show"}, [{"prompt": "show"}]),
        (BLOCKS, "resources/read", {"uri": "acme://pages/7"}, [{"resource": "acme://pages/{number}"}]),
        (BLOCKS, "tools/list", {}, []),
        (BLOCKS, "ping", {}, []),
        (PLUGINS, "tools/list", {}, [{}]),
        (PLUGINS, "tools/call", {"name": "help_me"}, [{"tool": "help_me"}]),
        (
            PLUGINS,
            "tools/call",
            {"name": CALL, "arguments": {"name": "help_me"}},
            [{"tool": CALL}, {"tool": "help_me"}],
        ),
    ],
)
def test_each_request_that_runs_authors_code_has_its_line(
    tmp_path: Path, use: str, method: str, params: dict[str, Any], begun: list[dict[str, str]]
) -> None:
    lines: list[Any] = []
    endpoint = with_catalog(with_kit(compiled(tmp_path, FILES), use), hidden=False)
    modules = (use.partition(":")[0],)
    with running_function(endpoint, code_modules=modules, log_begun=lines.append) as function:
        function.request(method, params)
        (line,) = function.lines
    names = {"tool", "prompt", "resource"}

    assert [{name: each[name] for name in names & each.keys()} for each in lines] == begun
    assert {(each["request_id"], each["toolkit"], each["method"]) for each in lines} <= {
        (line["request_id"], use, method)
    }


def test_items_of_a_batch_have_a_line_each(tmp_path: Path) -> None:
    lines: list[Any] = []
    endpoint = with_kit(compiled(tmp_path, FILES), BLOCKS)
    items = [
        {"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": {"name": name}}
        for name in ("counted", "wrapped")
    ]
    with running_function(endpoint, code_modules=("tests.support.acme_blocks",), log_begun=lines.append) as function:
        function.post(items, headers={"mcp-protocol-version": "2025-03-26"})

    assert [(each["tool"], each["endpoint"]) for each in lines] == [("counted", ENDPOINT), ("wrapped", ENDPOINT)]
    assert {each["request_id"] for each in lines} == {function.lines[0]["request_id"]}


def test_name_that_a_caller_sends_is_bounded_and_escaped(tmp_path: Path) -> None:
    lines: list[Any] = []
    endpoint = with_kit(compiled(tmp_path, FILES), PLUGINS)
    with running_function(endpoint, code_modules=("tests.support.acme_plugins",), log_begun=lines.append) as function:
        function.call("\ud800" + "x" * 5_000, {})

    (line,) = lines
    assert len(line["tool"]) <= 210
    assert line["tool"].startswith("\\ud800x")
