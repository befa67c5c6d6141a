"""docs/long-work.md: followed word for word over the API of `examples.jobs`, and its facts held against the code."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from examples.jobs.__main__ import build_app
from handler.compiler.compile import compile_endpoint
from handler.compiler.tools.task_directive import MAX_TTL_S, MAX_WAIT_S
from handler.server.auth.sealed_state import RequestStates
from handler.server.mcp.tasks import MAX_ID_CHARS
from tests.commands.running import Ran, Stile
from tests.conftest import ROOT
from tests.docs.pages import Walk, read, section
from tests.support.api import Api, Asked, Reply, running_api
from tests.support.function import running_function
from tests.support.jobs import KEY, Site, running_jobs

PAGE = "docs/long-work.md"


@pytest.fixture
def api() -> Iterator[Api]:
    """The API of the page."""
    client = TestClient(build_app())

    def answer(asked: Asked) -> Reply:
        return Reply(body=client.post("/graphql", content=asked.body).json())

    with running_api(answer) as running:
        yield running


class OnTerminal(Stile):
    """A terminal shows the statuses of a job before its result."""

    def __call__(self, *arguments: str) -> Ran:
        ran = super().__call__(*arguments)
        return Ran(ran.code, ran.err + ran.out, "")


@pytest.fixture
def walked(tmp_path: Path, api: Api, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder after a walk of the page, whose pauses take no time."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    sleep = asyncio.sleep
    monkeypatch.setattr(asyncio, "sleep", lambda _: sleep(0))

    upstream: Any = api
    walk = Walk(tmp_path, upstream, OnTerminal(capsys))
    shutil.copytree(ROOT / "examples" / "jobs", tmp_path / "examples" / "jobs")
    assert walk.follow(PAGE) >= 10
    return tmp_path / "endpoints" / "shop" / "jobs"


def test_page_does_what_it_shows_and_each_mutation_is_sent_once(walked: Path, api: Api) -> None:
    asked = [each.json["operationName"] for each in api.asked]

    assert [name for name in asked if name in ("ExportProducts", "SalesReport")] == [
        "ExportProducts",
        "SalesReport",
        "SalesReport",
    ]


def test_a_client_with_tasks_cancels_the_export(walked: Path, api: Api) -> None:
    states = RequestStates([KEY])
    with (
        running_jobs() as jobs,
        running_function(compile_endpoint(walked), states=states, development=True) as function,
    ):
        site = Site(function, jobs, [0.0])
        tools = {each["name"]: each for each in site.ask("tools/list", {}).result["tools"]}
        task_id = site.start(name="export_products")
        acknowledged = site.ask("tasks/cancel", {"taskId": task_id}).result
        task = site.get(task_id).result
        report = site.start(name="sales_report", arguments={"month": "2026-10"})
        sent = len(api.asked)
        site.ask("tasks/cancel", {"taskId": report})
        legacy = site.function.call("export_products", {}).result

    assert tools.keys() == {"export_products", "export_products_status", "sales_report", "sales_report_status"}
    assert (acknowledged["resultType"], task["status"]) == ("complete", "cancelled")
    assert len(api.asked) == sent + 1  # the later start, and no cancellation of the report
    assert legacy["structuredContent"]["extensions"]["task"]["statusTool"] == "export_products_status"


def test_bulk_operation_that_does_not_start_gives_its_errors(walked: Path, api: Api) -> None:
    file = walked / "operations" / "export_products.graphql"
    file.write_text(file.read_text("utf-8").replace("{ products { edges { node { id title } } } }", "no"), "utf-8")
    with running_jobs() as jobs, running_function(
        compile_endpoint(walked), states=RequestStates([KEY]), development=True
    ) as function:  # fmt: skip
        result = Site(function, jobs, [0.0]).call("export_products").result

    assert result["resultType"] == "complete"
    assert result["structuredContent"]["data"]["bulkOperationRunQuery"]["userErrors"]


def test_limits_are_those_of_the_code() -> None:
    limits = section(read(PAGE), "Limits")

    assert f"{MAX_ID_CHARS:,} characters" in limits
    assert f"up to {MAX_TTL_S // 86_400} days" in limits
    assert re.search(rf"`wait` \| {MAX_WAIT_S} s", limits)
