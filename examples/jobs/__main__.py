"""A GraphQL API that runs jobs: ``python -m examples.jobs --port 8001``. Each question moves a job one step on."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import uvicorn
from graphql import build_schema, graphql_sync
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

SCHEMA = build_schema(Path(__file__).with_name("schema.graphql").read_text(encoding="utf-8"))
FILES = "https://files.shop.example"


class Jobs:
    """The root value: jobs by id, each with the statuses to come."""

    def __init__(self) -> None:
        self._jobs: dict[str, dict[str, Any]] = {}
        self._coming: dict[str, list[str]] = {}

    def bulkOperationRunQuery(self, _: Any, query: str) -> dict[str, Any]:  # noqa: N802 - the API's name
        if "{" not in query:
            return {"bulkOperation": None, "userErrors": [{"field": ["query"], "message": "Invalid bulk query"}]}
        job = self._start("BulkOperation", f"gid://shop/BulkOperation/{len(self._jobs) + 1}", "CREATED")
        self._coming[job["id"]] = ["RUNNING", "COMPLETED"]
        return {"bulkOperation": job, "userErrors": []}

    def bulkOperationCancel(self, _: Any, id: str) -> dict[str, Any]:  # noqa: A002, N802 - the API's names
        job = self._jobs.get(id)
        if job is None:
            return {
                "bulkOperation": None,
                "userErrors": [{"field": ["id"], "message": "No such bulk operation"}],
            }
        if self._coming[id]:
            job["status"], self._coming[id] = "CANCELING", ["CANCELED"]
        return {"bulkOperation": job, "userErrors": []}

    def createReport(self, _: Any, month: str) -> dict[str, Any]:  # noqa: N802 - the API's name
        job = self._start("Report", f"report-{len(self._jobs) + 1}", "waiting")
        is_month = month[-2:] in {f"{number:02}" for number in range(1, 13)}
        self._coming[job["id"]] = ["running", "done" if is_month else "error"]
        return job

    def node(self, _: Any, id: str) -> dict[str, Any] | None:  # noqa: A002 - the API's name
        job = self._jobs.get(id)
        if job and self._coming[id]:
            job["status"] = job["state"] = self._coming[id].pop(0)
            if job["status"] == "COMPLETED":
                job["url"] = f"{FILES}/{id.rpartition('/')[2]}.jsonl"
            if job["status"] == "done":
                job["pages"] = 12
        return job

    report = node

    def _start(self, kind: str, id_: str, status: str) -> dict[str, Any]:
        self._jobs[id_] = {"__typename": kind, "id": id_, "status": status, "state": status}
        return self._jobs[id_]


def build_app() -> Starlette:
    jobs = Jobs()

    async def answer(request: Request) -> JSONResponse:
        body = await request.json()
        variables, name = body.get("variables"), body.get("operationName")
        result = graphql_sync(SCHEMA, body["query"], jobs, variable_values=variables, operation_name=name)
        return JSONResponse(result.formatted)

    return Starlette(routes=[Route("/graphql", answer, methods=["POST"])])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m examples.jobs", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8001, help="port to listen on (default: %(default)s)")
    options = parser.parse_args()
    uvicorn.run(build_app(), host=options.host, port=options.port, ws="none", log_level="warning")


if __name__ == "__main__":
    main()
