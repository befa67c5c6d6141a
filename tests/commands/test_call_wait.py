"""`stile call --wait`, over an API on loopback that runs jobs."""

from __future__ import annotations

import asyncio
import json
import shlex
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands.running import Stile, started
from tests.support.api import Asked, Reply
from tests.support.endpoints import PUBLIC, write_endpoint
from tests.support.jobs import Jobs, files_of, running_jobs

QUEUED = "The API's status of the job is QUEUED.\n"


@pytest.fixture
def jobs(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Jobs]:
    monkeypatch.setenv("XDG_STATE_HOME", str(workplace / "state"))
    with running_jobs() as running:
        write_endpoint(workplace, files_of(running.api.url))
        yield running


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses of the command, none of which takes time."""
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def pause(delay: float) -> None:
        pauses.append(delay)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", pause)
    return pauses


def end_with(jobs: Jobs, *statuses: str | Reply | None) -> None:
    """Give each question its status, or its whole answer. ``None``: the API has forgotten the job."""
    answer, coming = jobs.answer, list(statuses)

    def later(asked: Asked) -> Reply:
        if asked.json["operationName"] == "State":
            match coming.pop(0):
                case Reply() as reply:
                    return reply
                case None:
                    jobs.status.clear()
                case status:
                    jobs.status["job-1"] = status
        return answer(asked)

    jobs.api.answer = later


def test_result_of_the_job_is_printed_at_its_end(jobs: Jobs, stile: Stile, pauses: list[float]) -> None:
    end_with(jobs, "RUNNING", "RUNNING", "SUCCESS")

    done = stile("call", ".", "export", "--wait")

    assert done.code == 0
    assert json.loads(done.out)["data"]["job"]["status"] == "SUCCESS"
    assert done.err == f"{QUEUED}The API's status of the job is RUNNING.\n"
    assert pauses == [5, 5, 5]
    assert jobs.asked == ["Export", "State", "State", "State"]


def test_json_is_the_result_of_the_job(jobs: Jobs, stile: Stile, pauses: list[float]) -> None:
    end_with(jobs, "SUCCESS")

    done = stile("call", ".", "export", "--wait", "--json")

    assert json.loads(done.out)["structuredContent"]["data"]["job"]["status"] == "SUCCESS"
    assert done.err == QUEUED


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        ("FAILED", "The job failed: its status is FAILED."),
        ("CANCELED", "The API's status of the job is CANCELED."),
        (None, "The job failed: its status is unknown to the API."),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_job_that_did_not_end_well_is_exit_1(
    jobs: Jobs, stile: Stile, pauses: list[float], status: str | None, sentence: str, as_json: bool
) -> None:
    end_with(jobs, status)

    done = stile("call", ".", "export", "--wait", *(["--json"] if as_json else []))

    assert done.code == 1
    assert sentence in (done.out if as_json else done.err)


def test_failed_question_is_asked_again(jobs: Jobs, stile: Stile, pauses: list[float]) -> None:
    end_with(jobs, *[Reply(status=502, body=b"<html>")] * 2, "QUEUED", "SUCCESS")

    done = stile("call", ".", "export", "--wait")

    assert done.code == 0
    failed = "The API answered with status 502 and no GraphQL response. Try later."
    assert done.err == f"{QUEUED}{failed} This is not the end of the job: ask again later.\n{QUEUED}"
    assert jobs.asked == ["Export", *["State"] * 4]


def test_job_of_a_tool_behind_a_catalog(jobs: Jobs, stile: Stile, workplace: Path, pauses: list[float]) -> None:
    write_endpoint(workplace, files_of(jobs.api.url, config=f"{PUBLIC}catalog: {{list: pinned}}\n"))
    call = ("call", ".", "catalog-call-mutation", "name=export", "arguments={}")
    first = stile(*call)
    end_with(jobs, "SUCCESS")

    assert first.code == 0, first.err
    assert stile(*shlex.split(first.err.rpartition("job: ")[2])[1:]).code == 0
    end_with(jobs, "SUCCESS")
    assert json.loads(stile(*call, "--wait").out)["data"]["job"]["status"] == "SUCCESS"


def test_final_answer_needs_no_wait(jobs: Jobs, stile: Stile, pauses: list[float]) -> None:
    jobs.first_status = "SUCCESS"

    done = stile("call", ".", "export", "--wait")

    assert (done.code, done.err, pauses) == (0, "", [])


def test_later_command_waits_for_the_job_of_an_earlier_one(jobs: Jobs, stile: Stile, pauses: list[float]) -> None:
    first = stile("call", ".", "export", "--as", "anonymous")
    command = shlex.split(first.err.removeprefix("To wait for the end of the job: "))
    end_with(jobs, "SUCCESS")
    asked = stile(*command[1:-1])
    other = stile(*[word for word in command[1:] if word not in ("--as", "anonymous")])
    end_with(jobs, "RUNNING", "SUCCESS")
    waited = stile(*command[1:])

    assert (first.code, command[:2], command[-1]) == (0, ["stile", "call"], "--wait")
    assert json.loads(asked.out)["data"] == json.loads(waited.out)["data"]
    assert (other.code, "Unknown task" in other.err) == (1, True)
    assert jobs.asked == ["Export", "State", "State", "State"]


@pytest.mark.parametrize("task_id", ["x", "", "x.export", "x.export_status", "a b.é"])
def test_unknown_id_is_exit_1(jobs: Jobs, stile: Stile, task_id: str) -> None:
    done = stile("call", ".", "export_status", f"taskId={task_id}", "--wait")

    assert (done.code, "Unknown task" in done.err, jobs.asked) == (1, True, [])


def test_required_extension_names_the_option(jobs: Jobs, stile: Stile, workplace: Path, pauses: list[float]) -> None:
    write_endpoint(workplace, files_of(jobs.api.url, required="true"))
    without = stile("call", ".", "export")
    end_with(jobs, "SUCCESS")

    assert without.code == 1
    assert without.err.endswith(": use --wait\n")
    assert stile("call", ".", "export", "--wait").code == 0
    assert jobs.asked == ["Export", "State"]


def test_consent_comes_first(jobs: Jobs, stile: Stile, workplace: Path, pauses: list[float]) -> None:
    write_endpoint(workplace, files_of(jobs.api.url, options="confirm: required"))
    asks = stile("call", ".", "export", "--wait")
    end_with(jobs, "SUCCESS")

    assert (asks.code, jobs.asked) == (1, [])
    assert stile("call", ".", "export", "--wait", "--yes").code == 0


def test_job_is_known_within_the_command_if_no_key_can_be_kept(
    jobs: Jobs, stile: Stile, workplace: Path, monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> None:
    (workplace / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_STATE_HOME", str(workplace / "file"))
    end_with(jobs, "SUCCESS")

    assert stile("call", ".", "export", "--wait").code == 0


def test_ctrl_c_leaves_the_job_and_the_command_for_it(jobs: Jobs, stile: Stile, pauses: list[float]) -> None:
    process: Any = started("call", ".", "export", "--wait", environ={"STILE_ALLOW_LOCAL_UPSTREAMS": "true"})
    line = process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    command = shlex.split(err.strip().removeprefix("The job goes on. To wait for its end: "))
    end_with(jobs, "SUCCESS")

    assert (line, out, process.returncode) == (QUEUED, "", 130)
    assert stile(*command[1:]).code == 0
    assert jobs.asked == ["Export", "State"]
