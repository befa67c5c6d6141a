"""Jobs of the API as tasks, over an API on loopback that runs jobs."""

from __future__ import annotations

import asyncio
import base64
import random
import re
import string
import time
from pathlib import Path
from typing import Any

import pytest

from handler.server.log import values_of
from tests.support.api import Reply
from tests.support.endpoints import compiled
from tests.support.jobs import KEY, START, TASKS, WITH_TASKS, files_of, running_jobs, running_site, serving
from tests.support.sdk import Mode, sdk_client

UNKNOWN = "Unknown task: this taskId is not one that you may use, or it is too old."
NO_EXTENSION: dict[str, Any] = {}
WITHOUT = [{}, {"extensions": {}}, {"extensions": {TASKS: None}}, {"extensions": [TASKS]}, {"tasks": {}}]


def test_call_returns_a_flat_task_and_the_mutation_is_sent_once(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        answer = site.call(arguments={"filter": "new"})

        task_id = answer.result["taskId"]
        assert {name: value for name, value in answer.result.items() if name not in ("taskId", "_meta")} == {
            "resultType": "task",
            "status": "working",
            "statusMessage": "The API's status of the job is QUEUED.",
            "createdAt": "2027-01-15T08:00:00Z",
            "lastUpdatedAt": "2027-01-15T08:00:00Z",
            "ttlMs": 3_600_000,
            "pollIntervalMs": 5_000,
        }
        assert re.fullmatch(r"[A-Za-z0-9._-]{40,2000}", task_id)
        assert site.jobs.asked == ["Export"]


def test_task_is_found_at_once_and_completes_with_the_result_of_the_query(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        task_id = site.start()
        working = site.get(task_id).result
        site.jobs.status["job-1"] = "RUNNING"
        site.now[0] += 600
        later = site.get(task_id).result
        site.jobs.status["job-1"] = "SUCCESS"
        done = site.get(task_id).result

        assert [each["status"] for each in (working, later, done)] == ["working", "working", "completed"]
        assert {each["resultType"] for each in (working, later, done)} == {"complete"}
        assert "result" not in working
        assert (later["createdAt"], later["lastUpdatedAt"]) == ("2027-01-15T08:00:00Z", "2027-01-15T08:10:00Z")
        assert later["statusMessage"] == "The API's status of the job is RUNNING."
        job = {"status": "SUCCESS", "file": site.jobs.file, "rows": []}
        assert done["result"]["structuredContent"] == {"data": {"job": job}}
        assert done["result"]["resultType"] == "complete"
        assert "isError" not in done["result"]
        assert done["taskId"] == task_id
        assert site.jobs.asked == ["Export", "State", "State", "State"]


def test_failed_job_is_a_completed_task_with_an_error_result(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        task_id = site.start()
        site.jobs.status["job-1"] = "FAILED"
        done = site.get(task_id).result

        assert done["status"] == "completed"
        assert done["result"]["isError"] is True
        assert done["result"]["content"][0]["text"] == "The job failed: its status is FAILED."
        assert done["result"]["_meta"]["stile/code"] == "api-errors"


def test_cancel_sends_the_mutation_and_the_task_is_cancelled(tmp_path: Path) -> None:
    with running_site(tmp_path, cancel='"Cancel"') as site:
        task_id = site.start()
        ack = site.ask("tasks/cancel", {"taskId": task_id}).result
        after = site.get(task_id).result
        again = site.ask("tasks/cancel", {"taskId": task_id}).result

        assert {**ack, "_meta": 0} == {"resultType": "complete", "_meta": 0} == {**again, "_meta": 0}
        assert after["status"] == "cancelled"
        assert not {"result", "error"} & after.keys()
        assert site.jobs.asked == ["Export", "Cancel", "State", "Cancel"]


def test_cancel_and_update_are_acknowledged_without_a_request_where_the_api_has_none(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        task_id = site.start()
        site.jobs.api.asked.clear()

        assert site.ask("tasks/cancel", {"taskId": task_id}).result["resultType"] == "complete"
        update = {"taskId": task_id, "inputResponses": {"x": {}}}
        assert site.ask("tasks/update", update).result["resultType"] == "complete"
        assert site.jobs.asked == []


def test_final_answer_is_an_ordinary_result(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        site.jobs.first_status = "SUCCESS"
        result = site.call().result

        assert result["resultType"] == "complete"
        export = {"job": {"id": "job-1", "status": "SUCCESS"}, "problem": None}
        assert result["structuredContent"] == {"data": {"export": export}}


@pytest.mark.parametrize("first_id", [None, "", "x" * 3_000])
def test_answer_without_an_id_that_can_be_sealed_is_an_ordinary_result(first_id: str | None, tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        site.jobs.first_id = first_id

        assert site.call().result["resultType"] == "complete"
        assert site.jobs.asked == ["Export"]


def test_function_without_a_state_key_has_no_tasks(tmp_path: Path) -> None:
    with running_site(tmp_path, keys=()) as site:
        assert TASKS not in site.ask("server/discover", {}).result["capabilities"].get("extensions", {})
        assert site.call().result["resultType"] == "complete"
        assert site.get("x").json["error"]["code"] == -32601


def test_discover_declares_the_extension_and_legacy_handshakes_do_not(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        assert site.ask("server/discover", {}).result["capabilities"]["extensions"] == {TASKS: {}}
        opened = site.function.request("initialize", {"protocolVersion": "2025-11-25"}).result
        assert TASKS not in str(opened)


@pytest.mark.parametrize("method", ["tasks/list", "tasks/result"])
def test_methods_of_the_earlier_tasks_do_not_exist(method: str, tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        answer = site.ask(method, {"taskId": site.start()})

        assert (answer.status, answer.json["error"]["code"]) == (404, -32601)


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
@pytest.mark.parametrize("capabilities", WITHOUT)
def test_client_without_the_extension_on_this_request_is_refused(
    method: str, capabilities: dict[str, Any], tmp_path: Path
) -> None:
    with running_site(tmp_path, cancel='"Cancel"') as site:
        task_id = site.start()
        answer = site.ask(method, {"taskId": task_id}, capabilities=capabilities)

        assert (answer.status, answer.json["error"]["code"]) == (400, -32021)
        assert answer.json["error"]["data"]["requiredCapabilities"] == {"extensions": {TASKS: {}}}
        assert site.jobs.asked == ["Export"]


def test_header_has_to_repeat_the_id(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        task_id = site.start()
        answer = site.get(task_id, headers={"mcp-name": f"{task_id}x"})

        assert (answer.status, answer.json["error"]["code"]) == (400, -32020)


def test_forged_and_altered_ids_are_unknown_in_the_same_words(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        task_id = site.start()
        chance, alphabet = random.Random(7), string.ascii_letters + string.digits + "-_.=+/"
        altered = []
        for _ in range(300):
            place, other = chance.randrange(len(task_id)), chance.choice(alphabet)
            altered.append(task_id[:place] + other + task_id[place + 1 :])
        bad = [each for each in altered if each != task_id]
        bad += [
            "",
            "x",
            ".export",
            "export",
            f"{task_id}=",
            f"={task_id}",
            task_id.replace(".", "=."),
            f"{task_id}_status",
        ]
        bad += [
            task_id[:-1],
            "a" * 5_000,
            "é.export",
            task_id.swapcase(),
            *(chance.randbytes(60).hex() for _ in range(20)),
        ]
        standard = task_id.replace("-", "+").replace("_", "/")
        bad += [standard] if standard != task_id else []
        errors = {str(site.get(each, headers={"mcp-name": header_of(each)}).json["error"]) for each in bad}

        assert errors == {str({"code": -32602, "message": UNKNOWN, "data": {"code": "unknown-task"}})}
        assert site.jobs.asked == ["Export"]


def header_of(text: str) -> str:
    """A header value; text beyond ASCII in the form that MCP has for it."""
    return text if text.isascii() and text else f"=?base64?{base64.b64encode(text.encode()).decode()}?="


@pytest.mark.parametrize("bad", [None, 7, ["x"], {}])
def test_id_that_is_no_text_is_refused(bad: Any, tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        assert site.get(bad).json["error"]["code"] in (-32602, -32020)


def test_instance_whose_clock_is_behind_updates_no_task_before_its_creation(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        task_id = site.start()
        site.now[0] = START - 30
        task = site.get(task_id).result

        assert (task["createdAt"], task["lastUpdatedAt"]) == ("2027-01-15T08:00:00Z", "2027-01-15T08:00:00Z")


def test_id_ends_with_its_time_to_live(tmp_path: Path) -> None:
    with running_site(tmp_path, ttl="120") as site:
        task_id = site.start()
        site.now[0] = START + 120
        assert site.get(task_id).result["status"] == "working"
        site.now[0] = START + 121
        assert site.get(task_id).json["error"]["message"] == UNKNOWN


def test_id_of_another_tool_or_endpoint_is_unknown(tmp_path: Path) -> None:
    second = (
        'mutation Second @mcpTool(name: "second") @mcpTask(poll: "State" variables: {id: "export.job.id"} '
        'status: "job.status" completed: ["SUCCESS"]) { export { job { id } } }'
    )
    with running_jobs() as jobs:
        made = compiled(tmp_path / "a", files_of(jobs.api.url, more=second))
        with serving(made, jobs) as site:
            task_id = site.start()
            sealed, _, _ = task_id.partition(".")
            assert site.get(f"{sealed}.second").json["error"]["message"] == UNKNOWN
            other = site.call("second_status", {"taskId": task_id})
            assert (other.result["isError"], other.code) == (True, "unknown-task")


def test_id_survives_a_publish_of_other_things_and_ends_with_the_query(tmp_path: Path) -> None:
    with running_jobs() as jobs:
        with serving(compiled(tmp_path / "a", files_of(jobs.api.url)), jobs) as site:
            task_id = site.start()
        changed = files_of(jobs.api.url, ttl="9000", every="9", more="query Other @mcpTool { count }")
        with serving(compiled(tmp_path / "b", changed), jobs) as site:
            assert site.get(task_id).result["ttlMs"] == 3_600_000
        files = files_of(jobs.api.url)
        files["operations/o.graphql"] = files["operations/o.graphql"].replace("{ status file rows }", "{ status }")
        with serving(compiled(tmp_path / "c", files), jobs) as site:
            assert site.get(task_id).json["error"]["message"] == UNKNOWN
        files["operations/o.graphql"] = "query Other @mcpTool { count }"
        with serving(compiled(tmp_path / "d", files), jobs) as site:
            assert site.get(task_id).json["error"]["code"] == -32601


def test_key_is_needed_that_sealed_the_id(tmp_path: Path) -> None:
    with running_jobs() as jobs:
        made = compiled(tmp_path, files_of(jobs.api.url))
        with serving(made, jobs) as site:
            task_id = site.start()
        with serving(made, jobs, keys=("n" * 32, KEY)) as site:
            assert site.get(task_id).result["status"] == "working"
        with serving(made, jobs, keys=("n" * 32,)) as site:
            assert site.get(task_id).json["error"]["message"] == UNKNOWN


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=502, body=b"<html>"),
        Reply(status=429, body={"errors": [{"message": "slow down"}]}),
        Reply(body={"data": None, "errors": [{"message": "try later"}]}),
        Reply(body={"data": {"job": None}, "errors": [{"message": "try later", "path": ["job"]}]}),
        Reply(body=b"{"),
    ],
    ids=["bad gateway", "too many", "errors", "errors at the job", "broken"],
)
def test_failed_poll_is_an_error_after_which_the_job_may_be_asked_about_again(reply: Reply, tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        task_id = site.start()
        site.jobs.failing["State"] = reply
        failed = site.get(task_id)
        del site.jobs.failing["State"]

        assert failed.json["error"]["code"] == -32603
        assert failed.json["error"]["message"].endswith("This is not the end of the job: ask again later.")
        assert site.get(task_id).result["status"] == "working"


def test_job_that_the_api_does_not_know_is_a_failed_task(tmp_path: Path) -> None:
    lost = "The job failed: its status is unknown to the API."
    with running_site(tmp_path) as site:
        task_id = site.start()
        site.jobs.status.clear()
        task = site.get(task_id).result

        assert (task["status"], task["error"]) == ("failed", {"code": -32603, "message": lost})
        assert task["statusMessage"] == lost
        assert "result" not in task
        asked = site.call("export_status", {"taskId": task_id})
        assert (asked.result["isError"], asked.result["content"][0]["text"]) == (True, lost)


def test_broken_connection_of_the_mutation_starts_no_second_job(tmp_path: Path) -> None:
    with running_site(tmp_path, wait="2", every="1") as site:
        site.jobs.failing["Export"] = Reply(status=502, body=b"<html>")

        for capabilities in (WITH_TASKS, NO_EXTENSION):
            assert site.call(capabilities=capabilities).result["isError"] is True
        assert site.jobs.asked == ["Export", "Export"]


def test_large_result_is_cut_to_the_limit_of_the_tool(tmp_path: Path) -> None:
    with running_site(tmp_path, options="limits: {max_result_bytes: 2000}") as site:
        task_id = site.start()
        site.jobs.status["job-1"] = "SUCCESS"
        site.jobs.rows = ["row"] * 5_000
        result = site.get(task_id).result["result"]

        assert len(result["content"][0]["text"]) <= 2_000
        assert "truncated" in result["structuredContent"]["extensions"]["stile"]


def test_result_that_does_not_fit_the_schema_completes_with_an_error(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        task_id = site.start()
        site.jobs.failing["State"] = Reply(body={"data": {"job": {"status": "SUCCESS", "file": 7, "rows": None}}})
        done = site.get(task_id).result

        assert (done["status"], done["result"]["isError"]) == ("completed", True)
        assert done["result"]["_meta"]["stile/code"] == "answer-misfit"


def test_client_without_the_extension_is_told_how_to_ask(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        result = site.call(capabilities=NO_EXTENSION).result
        task = result["structuredContent"]["extensions"]["task"]

        assert result["resultType"] == "complete"
        assert task["statusTool"] == "export_status"
        assert result["content"][0]["text"] == (
            f'The job is not finished, its status is QUEUED. For its result, call export_status with {{"taskId": '
            f'"{task["taskId"]}"}} in 5 s or later. Do not start the job again.'
        )
        running = site.call("export_status", {"taskId": task["taskId"]}, capabilities=NO_EXTENSION).result
        assert running["structuredContent"]["extensions"]["task"] == task
        site.jobs.status["job-1"] = "SUCCESS"
        done = site.call("export_status", {"taskId": task["taskId"]}, capabilities=NO_EXTENSION).result
        assert done["structuredContent"]["data"]["job"]["file"] == site.jobs.file
        assert site.get(task["taskId"]).result["status"] == "completed"


def test_legacy_client_gets_its_result_by_the_status_tool(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        started = site.function.call("export", {}).result
        task_id = started["structuredContent"]["extensions"]["task"]["taskId"]
        site.jobs.status["job-1"] = "FAILED"
        done = site.function.call("export_status", {"taskId": task_id})

        assert done.result["isError"] is True
        assert site.jobs.asked == ["Export", "State"]


def test_status_tool_takes_the_sealed_id_only(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        site.call()
        tools = {each["name"]: each for each in site.ask("tools/list", {}).result["tools"]}

        assert [*tools] == ["export", "export_status"]
        assert [*tools["export_status"]["inputSchema"]["properties"]] == ["taskId"]
        assert site.call("export_status", {"taskId": "job-1"}).code == "unknown-task"
        assert site.call("export_status", {"id": "job-1"}).code == "invalid-arguments"
        assert site.jobs.asked == ["Export"]


def test_hidden_status_tool_is_callable(tmp_path: Path) -> None:
    with running_site(tmp_path, statusTool="hidden") as site:
        assert [each["name"] for each in site.ask("tools/list", {}).result["tools"]] == ["export"]
        task_id = site.start()
        assert site.call("export_status", {"taskId": task_id}).result["resultType"] == "complete"


def test_wait_ends_within_the_call_if_the_job_does(tmp_path: Path) -> None:
    with running_site(tmp_path, wait="20", every="1") as site:
        site.jobs.first_status = "RUNNING"
        answer = site.jobs.answer

        def finish(asked: Any) -> Reply:
            if asked.json["operationName"] == "State":
                site.jobs.status["job-1"] = "SUCCESS"
            return answer(asked)

        site.jobs.api.answer = finish
        result = site.call(capabilities=NO_EXTENSION).result

        assert result["structuredContent"]["data"]["job"]["status"] == "SUCCESS"
        assert site.jobs.asked == ["Export", "State"]


@pytest.mark.parametrize("problem", ["p" * 3_000, 7], ids=["too large", "another type"])
def test_answer_that_cannot_be_returned_leaves_the_id(problem: Any, tmp_path: Path) -> None:
    with running_site(tmp_path, options="limits: {max_result_bytes: 600}") as site:
        job = {"id": "job-1", "status": "QUEUED"}
        site.jobs.failing["Export"] = Reply(body={"data": {"export": {"job": job, "problem": problem}}})
        result = site.call(capabilities=NO_EXTENSION).result
        words, failure = (each["text"] for each in result["content"])
        task_id = words.partition('"taskId": "')[2].partition('"')[0]

        assert result["isError"] is True
        assert words.endswith("Do not start the job again.")
        assert "The mutation was carried out" in failure
        assert site.call("export_status", {"taskId": task_id}).code == "api-errors"  # this API knows no such job


def test_slow_query_does_not_prolong_the_wait(tmp_path: Path) -> None:
    with running_site(tmp_path, wait="1", every="1") as site:
        answer = site.jobs.answer

        def finish_late(asked: Any) -> Reply:
            if asked.json["operationName"] == "State":
                time.sleep(3)
                site.jobs.status["job-1"] = "SUCCESS"
            return answer(asked)

        site.jobs.api.answer = finish_late
        result = site.call(capabilities=NO_EXTENSION).result

        assert result["structuredContent"]["extensions"]["task"]["status"] == "working"


def test_job_that_the_api_does_not_know_yet_is_left_to_the_caller(tmp_path: Path) -> None:
    with running_site(tmp_path, wait="1", every="1") as site:
        site.jobs.failing["State"] = Reply(body={"data": {"job": None}})
        result = site.call(capabilities=NO_EXTENSION).result

        assert result["structuredContent"]["extensions"]["task"]["status"] == "working"


def test_failure_while_waiting_leaves_the_id(tmp_path: Path) -> None:
    with running_site(tmp_path, wait="1", every="1") as site:
        site.jobs.failing["State"] = Reply(status=502, body=b"<html>")
        result = site.call(capabilities=NO_EXTENSION).result

        assert result["structuredContent"]["extensions"]["task"]["status"] == "working"
        assert site.jobs.asked == ["Export", "State"]


def test_required_extension_is_demanded_before_anything_is_sent(tmp_path: Path) -> None:
    with running_site(tmp_path, required="true") as site:
        answer = site.call(capabilities=NO_EXTENSION)
        legacy = site.function.call("export", {})

        assert (answer.status, answer.json["error"]["code"]) == (400, -32021)
        assert answer.json["error"]["data"]["requiredCapabilities"] == {"extensions": {TASKS: {}}}
        assert legacy.json["error"]["code"] == -32021
        assert site.jobs.asked == []
        assert site.start()


def test_consent_comes_before_the_task(tmp_path: Path) -> None:
    capabilities = {"elicitation": {}, **WITH_TASKS}
    with running_site(tmp_path, options="confirm: required") as site:
        asked = site.call(capabilities=capabilities).result
        assert (asked["resultType"], site.jobs.asked) == ("input_required", [])
        yes = {"confirm": {"action": "accept", "content": {"confirm": True}}}
        params = {"name": "export", "arguments": {}, "requestState": asked["requestState"], "inputResponses": yes}
        task = site.ask("tools/call", params, capabilities=capabilities).result

        assert task["resultType"] == "task"
        assert not {"requestState", "inputRequests"} & task.keys()
        assert site.get(task["taskId"]).result["status"] == "working"


def test_tool_of_the_schema_may_start_a_job(tmp_path: Path) -> None:
    with running_jobs() as jobs:
        files = files_of(jobs.api.url)
        files["operations/o.graphql"] = files["operations/o.graphql"].replace('@mcpTool(name: "export" )', "")
        files[
            "index.graphql"
        ] = f"""extend schema @sdl(executables: [{{document: "operations/o.graphql", persist: true}}])
            @tool(name: "export", prescribed: "Export")
            {files["index.graphql"]}"""
        with serving(compiled(tmp_path, files), jobs) as site:
            task_id = site.start(arguments={"variables": {"filter": "new"}})
            jobs.status["job-1"] = "SUCCESS"

            assert site.get(task_id).result["status"] == "completed"
            assert jobs.api.asked[0].json["variables"] == {"filter": "new"}


@pytest.mark.parametrize("value", ["\ud800", "é\n\0", 7, 7.5, True, "x" * 900])
def test_id_of_any_form_comes_back_to_the_api_as_it_is(value: Any, tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        site.jobs.failing["Export"] = Reply(body={"data": {"export": {"job": {"id": value, "status": "X\ud800\n"}}}})
        site.jobs.failing["State"] = Reply(body={"data": {"job": {"status": "RUNNING", "file": None, "rows": None}}})

        assert site.get(site.start()).result["status"] == "working"
        assert site.jobs.api.asked[-1].json["variables"] == {"id": value}


@pytest.mark.parametrize("job", [None, [], {}, {"id": None}, {"id": ["1"]}, {"id": {"a": 1}}, "1"])
def test_answer_of_another_form_is_an_ordinary_result(job: Any, tmp_path: Path) -> None:
    with running_site(tmp_path, options="output_schema: off") as site:
        site.jobs.failing["Export"] = Reply(body={"data": {"export": {"job": job, "problem": "none"}}})

        assert site.call().result["structuredContent"]["data"]["export"]["problem"] == "none"


def test_failed_cancellation_is_an_error_that_does_not_hide_what_may_have_happened(tmp_path: Path) -> None:
    with running_site(tmp_path, cancel='"Cancel"') as site:
        task_id = site.start()
        site.jobs.failing["Cancel"] = Reply(status=502, body=b"<html>")
        error = site.ask("tasks/cancel", {"taskId": task_id}).json["error"]

        assert error["code"] == -32603
        assert "may have been carried out" in error["message"]
        assert site.jobs.asked == ["Export", "Cancel"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_official_client_finds_all_answers_within_the_output_schema(mode: Mode, tmp_path: Path) -> None:
    async def ask() -> list[Any]:
        async with sdk_client(site.function, mode=mode) as client:
            await client.list_tools()
            started = await client.call_tool("export", {})
            assert started.structured_content
            task = {"taskId": started.structured_content["extensions"]["task"]["taskId"]}
            running = await client.call_tool("export_status", task)
            site.jobs.status["job-1"] = "SUCCESS"
            return [started, running, await client.call_tool("export_status", task)]

    with running_site(tmp_path) as site:
        results = asyncio.run(ask())

    assert [each.is_error for each in results] == [False] * 3
    assert results[-1].structured_content["data"]["job"]["status"] == "SUCCESS"


def test_log_has_the_state_of_the_job_and_never_its_id(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        lines = site.function.lines
        ids = [site.start()]
        ids.append(site.call(capabilities=NO_EXTENSION).result["structuredContent"]["extensions"]["task"]["taskId"])
        for status in ("RUNNING", "SUCCESS", "FAILED", "CANCELED"):
            site.jobs.status["job-1"] = status
            site.get(ids[0])
        site.call("export_status", {"taskId": ids[1]}, capabilities=NO_EXTENSION)
        site.ask("tasks/cancel", {"taskId": ids[0]})
        site.get("x")

    states = ["started", "started", "working", "completed", "failed", "cancelled", "cancelled", None, None]
    assert [each.get("task") for each in lines] == states
    assert [each["tool"] for each in lines[:8]] == ["export"] * 6 + ["export_status", "export"]
    assert not [each for each in lines if "job-1" in str(each) or any(task_id[:40] in str(each) for task_id in ids)]
    assert [number for number, line in enumerate(lines) if "tasks_failed" in values_of(line)] == [4]


def test_log_of_a_call_that_waits_has_the_end_of_the_job(tmp_path: Path) -> None:
    with running_site(tmp_path, wait="1", every="1") as site:
        site.call(capabilities=NO_EXTENSION)
        site.jobs.failing["State"] = Reply(body={"data": {"job": {"status": "SUCCESS", "file": None, "rows": None}}})
        site.call(capabilities=NO_EXTENSION)

        assert [each["task"] for each in site.function.lines] == ["started", "completed"]
