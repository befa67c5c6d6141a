"""Jobs of real servers as tasks, to each of their ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from handler.server.auth.sealed_state import RequestStates
from tests.support.api import Api, Reply
from tests.support.endpoints import PUBLIC, compiled
from tests.support.function import running_function
from tests.support.job_lives import Lives, expect_lives
from tests.support.jobs import KEY, Jobs, Site
from tests.upstreams.serving import Server, running

YOGA_SDL = """
type Query { node(id: ID!): Node }
type Mutation { startReport(month: String!, broken: Boolean): StartReportResult! abortReport(report: ID!): Report }
union StartReportResult = Report | Problem
interface Node { id: ID! }
type Report implements Node { id: ID! state: String! progress: Float! url: String }
type Problem { message: String! }
"""
YOGA = """
mutation Report($month: String!, $broken: Boolean) @mcpTool(name: "report")
@mcpTask(
  poll: "ReportState" cancel: "AbortReport" variables: {report: "startReport.id"}
  status: "node.state" initialStatus: "startReport.state"
  completed: ["ready"] failed: ["broken"] cancelled: ["aborted"]
) { startReport(month: $month, broken: $broken) { ... on Report { id state } ... on Problem { message } } }
query ReportState($report: ID!) { node(id: $report) { ... on Report { state progress url } } }
mutation AbortReport($report: ID!) { abortReport(report: $report) { id } }
"""
STRAWBERRY_SDL = """
type Query { exportJob(number: Int!): Job }
type Mutation { runExport(table: String!, fails: Boolean! = false): Started! cancelExport(number: Int!): Job! }
type Started { job: Job userErrors: [UserError!]! }
type UserError { message: String! }
type Job { number: Int! status: Status! rowCount: Int! }
enum Status { CREATED RUNNING COMPLETED FAILED CANCELED }
"""
STRAWBERRY = """
mutation Export($table: String!, $fails: Boolean! = false) @mcpTool(name: "export")
@mcpTask(
  poll: "ExportJob" cancel: "CancelExport" variables: {number: "started.job.key"} status: "exportJob.status"
  completed: ["COMPLETED"] failed: ["FAILED"] cancelled: ["CANCELED"]
) { started: runExport(table: $table, fails: $fails) { job { key: number } userErrors { message } } }
query ExportJob($number: Int!) { exportJob(number: $number) { status rowCount } }
mutation CancelExport($number: Int!) { cancelExport(number: $number) { number } }
"""

JOBS = {
    "GraphQL Yoga": (
        Server(name="GraphQL Yoga", program="jobs.cjs", sdl=YOGA_SDL, operations={"report": YOGA}, variants=("plain",)),
        Lives(
            tool="report",
            ends_well={"month": "2026-11"},
            ended={"node": {"state": "ready", "progress": 1, "url": "https://files.example/2026-11.csv"}},
            fails={"month": "2026-11", "broken": True},
            failure="its status is broken",
            refused={"month": "November"},
            refusal={"startReport": {"message": '"November" is not a month'}},
        ),
    ),
    "Strawberry": (
        Server(
            name="Strawberry",
            program="jobs_api.py",
            sdl=STRAWBERRY_SDL,
            operations={"export": STRAWBERRY},
            variants=("plain",),
        ),
        Lives(
            tool="export",
            ends_well={"table": "orders"},
            ended={"exportJob": {"status": "COMPLETED", "rowCount": 12_000}},
            fails={"table": "orders", "fails": True},
            failure="its status is FAILED",
            refused={"table": "secrets"},
            refusal={"started": {"job": None, "userErrors": [{"message": "no such table"}]}},
        ),
    ),
}


@pytest.mark.parametrize("name", JOBS)
def test_jobs_of_a_server_are_tasks_to_each_of_their_ends(name: str, tmp_path: Path) -> None:
    server, lives = JOBS[name]
    server.require()
    with running(server) as urls:
        files = {
            "index.graphql": server.sdl,
            "config.yaml": f"upstream: {{url: '{urls['plain']}'}}\n{PUBLIC}",
            **{f"operations/{name}.graphql": text for name, text in server.operations.items()},
        }
        with running_function(compiled(tmp_path, files), states=RequestStates((KEY,))) as function:
            expect_lives(Site(function, Jobs(Api(lambda _: Reply())), []), lives)
