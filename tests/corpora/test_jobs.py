"""Jobs of published schemas as tasks, over an API on loopback that executes requests by the schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from graphql import GraphQLSchema, build_ast_schema, graphql_sync, parse

from handler.compiler.compile import compile_endpoint
from handler.server.auth.sealed_state import RequestStates
from tests.corpora.fetch import folder_of, is_fetched
from tests.support.api import Asked, Reply, running_api
from tests.support.endpoints import write_endpoint
from tests.support.function import running_function
from tests.support.job_lives import Lives, expect_lives
from tests.support.jobs import KEY, Jobs, Site
from tests.support.require import requires

POLLS = 3

GITHUB = """
mutation Migrate($ownerId: ID!, $sourceId: ID!, $repositoryName: String!, $sourceRepositoryUrl: URI!)
@mcpTool(name: "migrate_repository")
@mcpTask(
  poll: "MigrationState" cancel: "AbortMigration"
  variables: {id: "startRepositoryMigration.repositoryMigration.id"}
  status: "node.state" initialStatus: "startRepositoryMigration.repositoryMigration.state"
  completed: ["SUCCEEDED"] failed: ["FAILED", "FAILED_VALIDATION"] every: 30 ttl: 86400
) {
  startRepositoryMigration(
    input: {
      ownerId: $ownerId sourceId: $sourceId repositoryName: $repositoryName sourceRepositoryUrl: $sourceRepositoryUrl
    }
  ) { repositoryMigration { id state } }
}
query MigrationState($id: ID!) { node(id: $id) { ... on Migration { state failureReason migrationLogUrl } } }
mutation AbortMigration($id: ID!) { abortRepositoryMigration(input: {migrationId: $id}) { success } }
"""
VENDURE = """
mutation Reindex @mcpTool(name: "reindex")
@mcpTask(
  poll: "JobState" cancel: "CancelJob" variables: {id: "reindex.id"} status: "job.state" initialStatus: "reindex.state"
  completed: ["COMPLETED"] failed: ["FAILED"] cancelled: ["CANCELLED"]
) { reindex { id state } }
query JobState($id: ID!) { job(jobId: $id) { state progress result error } }
mutation CancelJob($id: ID!) { cancelJob(jobId: $id) { id } }
"""
LOG = "https://migrations.example/1.log"


class GitHub:
    """Migrations of repositories, as GitHub's API has them."""

    def __init__(self) -> None:
        self.migrations: list[dict[str, Any]] = []

    def startRepositoryMigration(self, _: Any, input: Mapping[str, Any]) -> Any:  # noqa: A002, N802 - the API's names
        if input["sourceId"] == "unknown":
            return {"repositoryMigration": None}
        made = {
            "__typename": "RepositoryMigration",
            "id": f"RM_{len(self.migrations)}",
            "state": "QUEUED",
            "polls": 0,
            "broken": input["repositoryName"] == "broken",
        }
        self.migrations.append(made)
        return {"repositoryMigration": made}

    def node(self, _: Any, id: str) -> Any:  # noqa: A002 - the API's name
        found = next(each for each in self.migrations if each["id"] == id)
        if found["state"] in ("QUEUED", "IN_PROGRESS"):
            found["polls"] += 1
            found["state"] = "IN_PROGRESS"
            if found["polls"] == POLLS:
                ends: dict[bool, dict[str, Any]] = {
                    True: {"state": "FAILED", "failureReason": "The archive is empty"},
                    False: {"state": "SUCCEEDED", "migrationLogUrl": LOG},
                }
                found.update(ends[found["broken"]])
        return found

    def abortRepositoryMigration(self, _: Any, input: Mapping[str, Any]) -> Any:  # noqa: A002, N802 - the API's names
        found = next(each for each in self.migrations if each["id"] == input["migrationId"])
        found.update(state="FAILED", failureReason="The migration was aborted")
        return {"success": True}


class Vendure:
    """Jobs of the search index, as Vendure's API has them."""

    FAILS, FAILS_AT_ONCE = 1, 3
    """Numbers of jobs."""

    def __init__(self) -> None:
        self.jobs: list[dict[str, Any]] = []

    def reindex(self, _: Any) -> Any:
        number = len(self.jobs)
        state = "FAILED" if number == self.FAILS_AT_ONCE else "PENDING"
        end = "FAILED" if number == self.FAILS else "COMPLETED"
        self.jobs.append({"id": str(number), "state": state, "end": end, "polls": 0, "progress": 0.0})
        return self.jobs[-1]

    def job(self, _: Any, jobId: str) -> Any:  # noqa: N803 - the API's name
        found = self.jobs[int(jobId)]
        if found["state"] in ("PENDING", "RUNNING"):
            found["polls"] += 1
            found["state"] = "RUNNING"
            if found["polls"] == POLLS:
                found.update(state=found["end"], progress=100.0)
                found.update({"result": {"indexed": 17}} if found["end"] == "COMPLETED" else {"error": "disk full"})
        return found

    def cancelJob(self, _: Any, jobId: str) -> Any:  # noqa: N802, N803 - the API's names
        self.jobs[int(jobId)]["state"] = "CANCELLED"
        return self.jobs[int(jobId)]


TO = {"ownerId": "O_1", "sourceId": "MS_1", "sourceRepositoryUrl": "https://git.example/a/b"}
SCHEMAS: Mapping[str, tuple[str, type[GitHub | Vendure], Lives]] = {
    "github": (
        GITHUB,
        GitHub,
        Lives(
            tool="migrate_repository",
            ends_well={**TO, "repositoryName": "b"},
            ended={"node": {"state": "SUCCEEDED", "failureReason": None, "migrationLogUrl": LOG}},
            fails={**TO, "repositoryName": "broken"},
            failure="its status is FAILED",
            refused={**TO, "repositoryName": "b", "sourceId": "unknown"},
            refusal={"startRepositoryMigration": {"repositoryMigration": None}},
            cancelled="completed",  # GitHub's jobs that were aborted have failed
        ),
    ),
    "vendure-admin": (
        VENDURE,
        Vendure,
        Lives(
            tool="reindex",
            ends_well={},
            ended={"job": {"state": "COMPLETED", "progress": 100, "result": {"indexed": 17}, "error": None}},
            fails={},
            failure="its status is FAILED",
            refused={},
            refusal={"reindex": {"id": "3", "state": "FAILED"}},
        ),
    ),
}


@pytest.mark.parametrize("corpus", SCHEMAS)
def test_jobs_of_a_published_schema_are_tasks_to_each_of_their_ends(corpus: str, tmp_path: Path) -> None:
    requires("node", is_fetched(corpus), "`make corpora` fetches the schema")
    operations, api_of, lives = SCHEMAS[corpus]
    sdl = (folder_of(corpus) / "index.graphql").read_text("utf-8")
    config = (folder_of(corpus) / "config.yaml").read_text("utf-8")
    with running_api() as api:
        api.answer = _executing(build_ast_schema(parse(sdl), assume_valid=True), api_of())
        files = {
            "index.graphql": sdl,
            "operations/jobs.graphql": operations,
            "config.yaml": config.replace("http://127.0.0.1:9/graphql", api.url),
        }
        made = compile_endpoint(write_endpoint(tmp_path, files))
        with running_function(made, states=RequestStates((KEY,))) as function:
            expect_lives(Site(function, Jobs(api), []), lives)


def _executing(schema: GraphQLSchema, root: object) -> Callable[[Asked], Reply]:
    """An API that validates and executes requests by a published schema, over the functions of an object."""

    def reply(asked: Asked) -> Reply:
        result = graphql_sync(
            schema,
            asked.json["query"],
            root_value=root,
            variable_values=asked.json.get("variables"),
            operation_name=asked.json.get("operationName"),
        )
        return Reply(body=result.formatted)

    return reply
