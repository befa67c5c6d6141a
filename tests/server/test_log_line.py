"""The members that each line of the log has, the same on each version of Python."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

from handler.server.log import make_logger


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
