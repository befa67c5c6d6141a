"""A job of 20 minutes that clients end by tasks, through a function that has 29 s for each request.

A question about the job moves the clock of the API and of the function. The clients leave out their waits.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from handler.server.auth.sealed_state import RequestStates
from tests.clients.clients import ENVIRONMENTS, NPM_LOCK, REQUIREMENTS, Program
from tests.clients.inspector import MODULES, NODE
from tests.conftest import ROOT
from tests.support.api import Asked, Reply
from tests.support.endpoints import compiled
from tests.support.front import running_front
from tests.support.jobs import KEY, START, Jobs, files_of, running_jobs
from tests.support.require import requires

EVERY_S, JOB_S = 50, 1_200

CLIENTS = (
    Program(
        name="strands-agents",
        mode=str(EVERY_S),
        program="tasks.py",
        runtime=ENVIRONMENTS / "packages-mcp2" / "bin" / "python",
        package="strands-agents",
        lock=REQUIREMENTS / "packages-mcp2.txt",
        needs="packages",
    ),
    Program(
        name="@modelcontextprotocol/ext-tasks",
        mode=str(EVERY_S),
        program="tasks.mjs",
        runtime=NODE,
        package="@modelcontextprotocol/ext-tasks",
        lock=NPM_LOCK,
        needs="node",
        packages=MODULES,
    ),
)


@dataclass
class Clock:
    """The time of the function, which goes on with each question about the job; the job has an end by it."""

    jobs: Jobs
    now: float = START

    def answer(self, asked: Asked) -> Reply:
        if asked.json["operationName"] == "State":
            self.now += EVERY_S
            self.jobs.status["job-1"] = "SUCCESS" if self.now - START >= JOB_S else "RUNNING"
        return self.jobs.answer(asked)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Jobs]]:
    """The URL of a function before an API whose jobs take 20 minutes, and the API."""
    with running_jobs() as jobs:
        clock = Clock(jobs)
        jobs.api.answer = clock.answer
        made = compiled(tmp_path, files_of(jobs.api.url, every=str(EVERY_S)))
        states = RequestStates((KEY,), clock=lambda: clock.now)
        with running_front(made, states=states, clock=lambda: clock.now) as url:
            yield f"{url}/mcp", jobs


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_client_ends_a_job_of_20_minutes(client: Program, served: tuple[str, Jobs], tmp_path: Path) -> None:
    requires(client.needs, client.installed, f"`make clients` installs {client.name}")
    url, jobs = served

    done = client.run(url, [("export", {"filter": "new"})], home=tmp_path)

    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout.splitlines()[-1])
    assert printed["waited"] == JOB_S
    assert printed["structured"] == {"data": {"job": {"status": "SUCCESS", "file": jobs.file, "rows": []}}}
    assert jobs.asked == ["Export"] + ["State"] * (JOB_S // EVERY_S)


def test_page_of_proofs_has_the_versions() -> None:
    page = (ROOT / "docs" / "proofs.md").read_text("utf-8")

    for client in CLIENTS:
        assert f"{client.name} {client.version}" in " ".join(page.split())
