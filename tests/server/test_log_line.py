"""The members that each line of the log has, the same on each version of Python."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

from handler.server.log import make_logger, write_line


def test_line_of_a_task_has_the_documented_members_and_its_facts(capsys: pytest.CaptureFixture[str]) -> None:
    logger = make_logger({"POWERTOOLS_SERVICE_NAME": "line-of-a-task"})

    async def request() -> None:
        logger.info("request", route="health")

    asyncio.run(request())

    line: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert set(line) - {"xray_trace_id"} == {"level", "location", "message", "route", "service", "timestamp"}


def test_line_does_not_name_the_task_that_python_adds_to_records() -> None:
    record = logging.makeLogRecord({"msg": "request", "levelname": "INFO", "taskName": "Task-5"})
    logger = make_logger({"POWERTOOLS_SERVICE_NAME": "line-without-task"})

    assert "taskName" not in json.loads(logger.registered_formatter.format(record))


def test_line_of_a_request_is_the_one_that_powertools_writes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_X_AMZN_TRACE_ID", "Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=0")
    logger = make_logger({"POWERTOOLS_SERVICE_NAME": "line-of-powertools"})
    logger.append_keys(team="orders")
    facts = {"route": "mcp", "status": 200, "text": "\ud800", "calls": [{"tool": None}], "absent": None}

    write_line(logger, facts, failure=None)
    logger.thread_safe_append_keys(longer="way")
    write_line(logger, facts, failure=None)
    logger.thread_safe_clear_keys()

    ours, theirs = ([*json.loads(line).items()] for line in capsys.readouterr().out.splitlines())
    assert [name for name, _ in ours] == [
        *("level", "location", "message", "timestamp", "service", "team", "route", "status", "text", "calls"),
        "memory_mb",
        "xray_trace_id",
    ]
    assert [each for each in theirs if each[0] not in ("longer", "timestamp")] == [
        each for each in ours if each[0] != "timestamp"
    ]


def test_second_handler_gets_the_same_facts() -> None:
    logger = make_logger({"POWERTOOLS_SERVICE_NAME": "line-of-two-handlers"})
    record = logging.makeLogRecord({"msg": "request", "levelname": "INFO", "facts": {"route": "mcp", "status": 200}})
    logger.thread_safe_append_keys(longer="way")
    slow = [json.loads(logger.registered_formatter.format(record)) for _ in range(2)]
    logger.thread_safe_clear_keys()
    lines = [*slow, json.loads(logger.registered_formatter.format(record))]

    assert [(line["route"], line["status"]) for line in lines] == [("mcp", 200)] * 3
    assert not any("facts" in line for line in lines)
