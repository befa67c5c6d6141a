"""The API behind the suite's tools for tasks. Its jobs go on for a number of polls, not of seconds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from graphql import build_schema, graphql_sync

from tests.support.api import Asked, Reply, running_api

FOLDER = Path(__file__).parent / "endpoints" / "test" / "tasks"


@dataclass
class Job:
    """A job of the API. One without ``end`` is forgotten when it has no polls left."""

    id: str
    end: str | None
    polls: int
    text: str | None

    @property
    def status(self) -> str | None:
        return "RUNNING" if self.polls > 0 else self.end


class Jobs:
    """The resolvers of the root fields."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._ids = map(str, itertools.count(1))

    def start(self, _: object, polls: int, end: str | None = None, text: str | None = None) -> Job:
        job = Job(next(self._ids), end, polls, text)
        self._jobs[job.id] = job
        return job

    def job(self, _: object, id: str) -> Job | None:  # noqa: A002 - the schema's
        job = self._jobs[id]
        job.polls -= 1
        return job if job.status else None

    def cancel(self, _: object, id: str) -> Job:  # noqa: A002 - the schema's
        job = self._jobs[id]
        if job.polls > 0:
            job.end, job.polls = "CANCELLED", 0
        return job


@contextmanager
def running_job_api() -> Iterator[str]:
    """Serve the API; give its URL."""
    schema, jobs = build_schema((FOLDER / "schema.graphql").read_text("utf-8")), Jobs()

    def answer(asked: Asked) -> Reply:
        values = asked.json.get("variables")
        return Reply(graphql_sync(schema, asked.json["query"], jobs, variable_values=values).formatted)

    with running_api(answer) as api:
        yield api.url
