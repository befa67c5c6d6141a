"""Tools in Python that return the call of another tool, whose result or task is theirs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.identity import Identity
from tests.server.outgoing.serving import ISSUER, with_token
from tests.support.api import Reply
from tests.support.endpoints import PUBLIC, compiled
from tests.support.jobs import WITH_TASKS, Site, files_of, running_jobs, serving
from tests.support.modules import Modules, modules

__all__ = ["modules"]

KIT = """\
import datetime
from stile import Async, Context, Elicit, InputRequired, ToolCall, Toolkit

kit = Toolkit()


class Provider:
    def tools(self, ctx):
        return [{"name": "provided"}]

    def call(self, name, arguments, ctx):
        return ToolCall("export", arguments)


kit.add_provider(Provider())


def resume(tag, outcome, ctx):
    return ToolCall("export", {"filter": f"{tag} {outcome.value}"})


async def waited() -> str:
    return "done"


@kit.tool(resume=resume)
def later(ctx: Context) -> Async | ToolCall:
    "Wait, and export."
    return Async("work", waited())


@kit.tool
def ask(ctx: Context) -> InputRequired | ToolCall:
    "Ask for a filter, and export."
    answer = ctx.input_responses.get("filter", {}).get("content", {}).get("text")
    if answer is None:
        form = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        return InputRequired({"filter": Elicit("Which?", form)}, state={})
    return ToolCall("export", {"filter": answer})


@kit.tool
def call(name: str, arguments: dict) -> str | ToolCall:
    "Call a tool."
    return ToolCall(name, arguments)


@kit.tool
def odd(what: str):
    "Return a call that is not valid."
    return {
        "a date": ToolCall("export", {"filter": datetime.date(2026, 1, 1)}),
        "an object": ToolCall("export", {"filter": object()}),
        "a list": ToolCall("export", ["filter"]),
        "no name": ToolCall(["export"]),
    }[what]


@kit.tool
def typed() -> list[int]:
    "Break the output schema."
    return ToolCall("export")
"""
CONFIG = f'{PUBLIC}code: [{{use: "calling_tools:kit", condition: true}}]\n'
CAPABILITIES = {"elicitation": {}, **WITH_TASKS}


@contextmanager
def calling(folder: Path, modules: Modules, more_config: str = "", **files: str) -> Iterator[Site]:
    modules.write("calling_tools.py", KIT)
    with running_jobs() as jobs:
        made = compiled(
            folder / "endpoint", files_of(jobs.api.url, config=CONFIG + more_config, **files), **modules.environ
        )
        identity = Identity(issuers=(ISSUER,), api_keys=(), trusted_apis=())
        made = replace(made, bundle=replace(made.bundle, identity=identity))
        with serving(made, jobs, code_modules=("calling_tools",)) as site:
            yield site


def test_task_starts_with_what_the_user_answered(tmp_path: Path, modules: Modules) -> None:
    with calling(tmp_path, modules) as site:
        asked = site.call("ask", capabilities=CAPABILITIES).result
        assert (asked["resultType"], site.jobs.asked) == ("input_required", [])
        answer = {"filter": {"action": "accept", "content": {"text": "new"}}}
        params = {"name": "ask", "arguments": {}, "requestState": asked["requestState"], "inputResponses": answer}
        task = site.ask("tools/call", params, capabilities=CAPABILITIES).result
        site.jobs.status["job-1"] = "SUCCESS"
        done = site.get(task["taskId"]).result

        assert (task["resultType"], done["status"]) == ("task", "completed")
        assert not {"requestState", "inputRequests"} & task.keys()
        assert site.jobs.api.asked[0].json["variables"] == {"filter": "new"}
        assert site.jobs.asked == ["Export", "State"]
        line = next(line for line in site.function.lines if line.get("through"))
        assert (line["through"], line["tool"]) == ("ask", "export")


@pytest.mark.parametrize(
    ("name", "arguments", "variables"),
    [("provided", {"filter": "new"}, {"filter": "new"}), ("later", {}, {"filter": "work done"})],
)
def test_tool_of_a_provider_and_one_that_waits_may_call(
    name: str, arguments: Any, variables: Any, tmp_path: Path, modules: Modules
) -> None:
    with calling(tmp_path, modules) as site:
        assert site.call(name, arguments).result["resultType"] == "task"
        assert site.jobs.api.asked[0].json["variables"] == variables


def test_catalog_calls_a_tool_that_calls(tmp_path: Path, modules: Modules) -> None:
    with calling(tmp_path, modules, more_config="catalog: {hidden: false}\n") as site:
        arguments = {"name": "call", "arguments": {"name": "export", "arguments": {}}}
        task = site.call("catalog-call-mutation", arguments).result

        assert site.get(task["taskId"]).result["status"] == "working"
        line = next(line for line in site.function.lines if line.get("through"))
        assert (line["through"], line["tool"]) == ("catalog-call-mutation", "export")


def test_client_without_tasks_gets_the_result_of_the_other_tool(tmp_path: Path, modules: Modules) -> None:
    with calling(tmp_path, modules) as site:
        direct = site.call("export", capabilities={}).result
        called = site.call("call", {"name": "export", "arguments": {}}, capabilities={}).result

        assert called["structuredContent"]["extensions"]["task"]["statusTool"] == "export_status"
        assert called["content"][0]["text"].startswith("The job is not finished")
        assert called.keys() == direct.keys()


def test_tool_that_returns_calls_has_no_output_schema(tmp_path: Path, modules: Modules) -> None:
    with calling(tmp_path, modules) as site:
        tools = {each["name"]: each for each in site.ask("tools/list", {}).result["tools"]}

        assert not {"ask", "call"} & {name for name, tool in tools.items() if "outputSchema" in tool}
        assert "outputSchema" in tools["typed"]
        assert site.call("typed").result["isError"] is True
        assert site.jobs.asked == []


@pytest.mark.parametrize("what", ["an object", "a list", "no name"])
def test_call_that_is_not_valid_is_a_failure_and_nothing_is_sent(what: str, tmp_path: Path, modules: Modules) -> None:
    with calling(tmp_path, modules) as site:
        answer = site.call("odd", {"what": what})

        assert "error" in answer.json or answer.result["isError"] is True
        assert site.jobs.asked == []


def test_arguments_become_json(tmp_path: Path, modules: Modules) -> None:
    with calling(tmp_path, modules) as site:
        assert site.call("odd", {"what": "a date"}).result["resultType"] == "task"
        assert site.jobs.api.asked[0].json["variables"] == {"filter": "2026-01-01"}


@pytest.mark.parametrize("name", ["call", "ask", "things"])
def test_only_tools_of_operations_can_be_called(name: str, tmp_path: Path, modules: Modules) -> None:
    with calling(tmp_path, modules) as site:
        answer = site.call("call", {"name": name, "arguments": {}})

        assert "error" in answer.json or answer.result["isError"] is True
        assert site.jobs.asked == []


def test_tool_with_consent_is_not_called(tmp_path: Path, modules: Modules) -> None:
    with calling(tmp_path, modules, options="confirm: advisory") as site:
        arguments = {"name": "export", "arguments": {"confirm": True}}
        answer = site.call("call", arguments, capabilities=CAPABILITIES)

        assert answer.text == "call calls export: expected the tool of an operation, without confirm. Nothing was sent."
        assert (answer.result["isError"], answer.code, site.jobs.asked) == (True, "tool-error", [])


def test_arguments_are_held_against_the_schema_of_the_other_tool(tmp_path: Path, modules: Modules) -> None:
    with calling(tmp_path, modules) as site:
        answer = site.call("call", {"name": "export", "arguments": {"filter": 7, "x": 1}})

        assert (answer.code, site.jobs.asked) == ("invalid-arguments", [])


def test_errors_of_the_api_have_their_code(tmp_path: Path, modules: Modules) -> None:
    with calling(tmp_path, modules) as site:
        site.jobs.failing["Export"] = Reply(body={"data": None, "errors": [{"message": "no"}]})
        answer = site.call("call", {"name": "export", "arguments": {}})
        site.jobs.failing["Export"] = Reply(status=502, body=b"<html>")
        broken = site.call("call", {"name": "export", "arguments": {}})

        assert (answer.code, answer.result["isError"]) == ("api-errors", True)
        assert broken.result["isError"] is True
        assert "may have been carried out" in broken.text
        assert site.jobs.asked == ["Export", "Export"]


def test_caller_needs_the_rights_to_the_other_tool(tmp_path: Path, modules: Modules) -> None:
    with calling(tmp_path, modules, options="""scopes: ["jobs"], condition: "$jwt.role:String == 'staff'" """) as site:
        call = partial(site.call, "call", {"name": "export", "arguments": {}})
        guest, unscoped, staff = (
            with_token(exp=4_000_000_000, sub="ann", **claims)
            for claims in ({"scope": "jobs"}, {"role": "staff", "scope": "x"}, {"role": "staff", "scope": "jobs"})
        )

        assert call(headers=guest).json["error"]["message"] == "Unknown tool: export"
        assert call(headers=unscoped).status == 403
        assert site.jobs.asked == []
        assert call(headers=staff).result["resultType"] == "task"


def test_task_of_another_tool_is_for_its_caller(tmp_path: Path, modules: Modules) -> None:
    with calling(tmp_path, modules) as site:
        ann, bob = (with_token(exp=4_000_000_000, sub=name) for name in ("ann", "bob"))
        task_id = site.call("call", {"name": "export", "arguments": {}}, headers=ann).result["taskId"]

        assert site.get(task_id, headers=bob).json["error"]["code"] == -32602
        assert site.get(task_id, headers=ann).result["status"] == "working"
