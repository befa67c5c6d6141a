"""A GraphQL API on loopback that runs jobs: a mutation starts one, a query tells its status, a mutation cancels it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphql import build_schema, graphql_sync

from handler.compiler.compile import Compiled
from handler.server.auth.sealed_state import RequestStates
from tests.support.api import Api, Asked, Reply, running_api
from tests.support.endpoints import PUBLIC, compiled
from tests.support.function import META, MODERN, Answer, Function, running_function

TASKS = "io.modelcontextprotocol/tasks"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
WITH_TASKS: Mapping[str, Any] = {"extensions": {TASKS: {}}}
KEY = "k" * 32
START = 1_800_000_000

SDL = """
type Query { job(id: ID!, by: String): Job count: Int }
type Mutation { export(filter: String): Started cancelJob(id: ID!): Job }
type Started { job: Job problem: String }
type Job { id: ID! status: Status! file: String rows: [String!] }
enum Status { QUEUED RUNNING SUCCESS FAILED CANCELED }
"""
EXPORT = """
mutation Export($filter: String) @mcpTool(name: "export" OPTIONS) @mcpTask(
  poll: "State" variables: {id: "export.job.id"} status: "job.status" initialStatus: "export.job.status"
  completed: ["SUCCESS"] failed: ["FAILED"] cancelled: ["CANCELED"] ARGUMENTS
) { export(filter: $filter) { job { id status } problem } }
"""
STATE = "query State($id: ID!) { job(id: $id) { status file rows } }"
CANCEL = "mutation Cancel($id: ID!) { cancelJob(id: $id) { id } }"


@dataclass
class Jobs:
    """The jobs of the API by id, the operations that it was asked, and failures to come by operation."""

    api: Api
    status: dict[str, str] = field(default_factory=dict)
    file: str = "https://files.example/1"
    rows: list[str] = field(default_factory=list)
    first_status: str = "QUEUED"
    first_id: str | None = "job-1"
    failing: dict[str, Reply] = field(default_factory=dict)

    @property
    def asked(self) -> list[str]:
        """The names of the operations, in their order."""
        return [each.json["operationName"] for each in self.api.asked]

    def answer(self, asked: Asked) -> Reply:
        body = asked.json
        if body["operationName"] in self.failing:
            return self.failing[body["operationName"]]
        result = graphql_sync(
            build_schema(SDL), body["query"], root_value=self, variable_values=body.get("variables", {}),
            operation_name=body["operationName"],
        )  # fmt: skip
        return Reply(body=result.formatted)

    def export(self, _: Any, filter: str | None = None) -> Any:  # noqa: A002 - the API's name
        if self.first_id is None:
            return {"job": None, "problem": f"no rows of {filter}"}
        self.status[self.first_id] = self.first_status
        return {"job": {"id": self.first_id, "status": self.first_status}}

    def job(self, _: Any, id: str, by: str | None = None) -> Any:  # noqa: A002 - the API's name
        status = self.status.get(id)
        return status and {"id": id, "status": status, "file": self.file, "rows": self.rows}

    def cancelJob(self, _: Any, id: str) -> Any:  # noqa: A002, N802 - the API's names
        self.status[id] = "CANCELED"
        return {"id": id}


@dataclass
class Site:
    """A function in front of the jobs, whose clock stands still until a test moves it."""

    function: Function
    jobs: Jobs
    now: list[float]

    def ask(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        capabilities: Mapping[str, Any] = WITH_TASKS,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """A request of a modern client."""
        sent = {**params, "_meta": {**META, CAPABILITIES: capabilities}}
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": sent}
        named = params.get("name", params.get("taskId"))
        routing = {"mcp-protocol-version": MODERN, "mcp-method": method, "mcp-name": str(named)}
        return self.function.post(message, headers={**routing, **(headers or {})})

    def call(self, name: str = "export", arguments: Mapping[str, Any] | None = None, **more: Any) -> Answer:
        return self.ask("tools/call", {"name": name, "arguments": arguments or {}}, **more)

    def start(self, **more: Any) -> str:
        """The id of a new task."""
        result = self.call(**more).result
        assert result["resultType"] == "task", result
        return str(result["taskId"])

    def get(self, task_id: Any, **more: Any) -> Answer:
        return self.ask("tasks/get", {"taskId": task_id}, **more)


def files_of(url: str, *, config: str = PUBLIC, options: str = "", more: str = "", **arguments: str) -> dict[str, str]:
    """The files of the endpoint; arguments are those of ``@mcpTask``."""
    written = " ".join(f"{name}: {value}" for name, value in arguments.items())
    return {
        "index.graphql": SDL,
        "operations/o.graphql": EXPORT.replace("OPTIONS", options).replace("ARGUMENTS", written)
        + STATE
        + CANCEL
        + more,
        "config.yaml": f"upstream: {{url: '{url}'}}\n{config}",
    }


@contextmanager
def running_jobs() -> Iterator[Jobs]:
    with running_api() as api:
        jobs = Jobs(api)
        api.answer = jobs.answer
        yield jobs


@contextmanager
def running_site(folder: Path, *, keys: tuple[str, ...] = (KEY,), **files: str) -> Iterator[Site]:
    """A site whose endpoint has these files."""
    with running_jobs() as jobs, serving(compiled(folder, files_of(jobs.api.url, **files)), jobs, keys=keys) as site:
        yield site


@contextmanager
def serving(made: Compiled, jobs: Jobs, *, keys: tuple[str, ...] = (KEY,), **services: Any) -> Iterator[Site]:
    """A site that serves a compiled endpoint."""
    now = [float(START)]
    states = RequestStates(keys, clock=lambda: now[0])
    with running_function(made, states=states, clock=lambda: now[0], **services) as function:
        yield Site(function, jobs, now)
