"""The lives of jobs of one API, as clients with tasks and without them see those."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.jobs import Site

MAX_POLLS = 50


@dataclass(frozen=True, kw_only=True)
class Lives:
    """A tool that starts jobs, and the arguments for a job of each end. ``ended`` is the data of a job that ended well.

    ``refused`` are arguments that the API refuses in its answer, and ``refusal`` is the data of that.
    """

    tool: str
    ends_well: Mapping[str, Any]
    ended: Any
    fails: Mapping[str, Any]
    failure: str
    refused: Mapping[str, Any]
    refusal: Any
    cancelled: str = "cancelled"  # status of the task after a cancellation


def expect_lives(site: Site, lives: Lives) -> None:
    """Live through a job of each end."""
    ended = _ended(site, site.start(name=lives.tool, arguments=lives.ends_well))
    assert ended["status"] == "completed", ended
    assert ended["result"]["structuredContent"] == {"data": lives.ended}
    assert "isError" not in ended["result"]

    failed = _ended(site, site.start(name=lives.tool, arguments=lives.fails))
    assert (failed["status"], failed["result"]["isError"]) == ("completed", True)
    assert lives.failure in failed["result"]["content"][0]["text"]

    task_id = site.start(name=lives.tool, arguments=lives.ends_well)
    assert site.ask("tasks/cancel", {"taskId": task_id}).result["resultType"] == "complete"
    assert _ended(site, task_id)["status"] == lives.cancelled

    refused = site.call(lives.tool, lives.refused).result
    assert (refused["resultType"], refused["structuredContent"]) == ("complete", {"data": lives.refusal})

    _expect_life_without_tasks(site, lives)


def _expect_life_without_tasks(site: Site, lives: Lives) -> None:
    started = site.call(lives.tool, lives.ends_well, capabilities={}).result
    task = started["structuredContent"]["extensions"]["task"]
    for _ in range(MAX_POLLS):
        result = site.call(task["statusTool"], {"taskId": task["taskId"]}, capabilities={}).result
        if "task" not in result["structuredContent"].get("extensions", {}):
            break
        assert result["content"][0]["text"].startswith("The job is not finished")
    assert result["structuredContent"] == {"data": lives.ended}


def _ended(site: Site, task_id: str) -> Any:
    """The task after it has ended."""
    polls = [site.get(task_id).result]
    while polls[-1]["status"] == "working":
        assert len(polls) < MAX_POLLS
        polls.append(site.get(task_id).result)
    assert len({(each["taskId"], each["createdAt"]) for each in polls}) == 1
    return polls[-1]
