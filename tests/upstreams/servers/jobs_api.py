"""An API of Strawberry whose jobs take some polls: ``python jobs_api.py plain:4001``."""

from __future__ import annotations

import enum

import strawberry
from shop import serve
from strawberry.asgi import GraphQL

POLLS = 3


@strawberry.enum
class Status(enum.Enum):
    CREATED = "created"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"


@strawberry.type
class Job:
    number: int
    status: Status
    row_count: int = 0
    polls: strawberry.Private[int] = 0
    fails: strawberry.Private[bool] = False


@strawberry.type
class UserError:
    message: str


@strawberry.type
class Started:
    job: Job | None
    user_errors: list[UserError]


jobs: list[Job] = []


@strawberry.type
class Query:
    @strawberry.field
    def export_job(self, number: int) -> Job | None:
        job = jobs[number]
        if job.status in (Status.CREATED, Status.RUNNING):
            job.polls += 1
            job.status = Status.RUNNING
            if job.polls == POLLS:
                job.status = Status.FAILED if job.fails else Status.COMPLETED
                job.row_count = 12_000
        return job


@strawberry.type
class Mutation:
    @strawberry.mutation
    def run_export(self, table: str, fails: bool = False) -> Started:
        if table == "secrets":
            return Started(job=None, user_errors=[UserError(message="no such table")])
        jobs.append(Job(number=len(jobs), status=Status.CREATED, fails=fails))
        return Started(job=jobs[-1], user_errors=[])

    @strawberry.mutation
    def cancel_export(self, number: int) -> Job:
        jobs[number].status = Status.CANCELED
        return jobs[number]


serve(lambda _: GraphQL(strawberry.Schema(Query, Mutation)))
