"""The rules of the extension of tasks for servers, each with the tests that hold it.

Source: modelcontextprotocol/ext-tasks, specification/2026-07-28/tasks.md. A rule is a sentence with MUST, shortened, or
with SHOULD where Stile keeps it. Rules for clients are left out.
"""

from __future__ import annotations

import base64
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.server.mcp.calls import test_task_ids as ids
from tests.server.mcp.calls import test_task_rights as rights
from tests.server.mcp.calls import test_tasks as tasks
from tests.support.api import Reply
from tests.support.endpoints import compiled
from tests.support.jobs import TASKS, WITH_TASKS, files_of, running_jobs, running_site, serving

METHODS = ("tasks/get", "tasks/update", "tasks/cancel")
STATUSES = ("QUEUED", "SUCCESS", "FAILED", "CANCELED", None)
"""The statuses of a job at the API. ``None``: the API does not know the job."""

MISSING: Mapping[str, Any] = {"requiredCapabilities": {"extensions": {TASKS: {}}}}


def test_declaration_is_for_its_request_alone(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        results = [site.call(capabilities=each).result for each in (WITH_TASKS, {}, WITH_TASKS, {})]

        assert [each["resultType"] for each in results] == ["task", "complete", "task", "complete"]
        assert not {"taskId", "status"} & results[1].keys()


@pytest.mark.parametrize("status", STATUSES)
def test_no_other_result_has_the_type_task(status: str | None, tmp_path: Path) -> None:
    with running_site(tmp_path, cancel='"Cancel"') as site:
        task_id = site.start()
        site.jobs.status = {"job-1": status} if status else {}
        answers = [site.ask(method, {"taskId": task_id}) for method in METHODS if status or method != "tasks/cancel"]
        answers += [site.call("export_status", {"taskId": task_id}), site.ask("tools/list", {})]

        assert {each.result["resultType"] for each in answers} == {"complete"}


@pytest.mark.parametrize("status", ["input_required", "failed", "completed", "cancelled", "task", "working"])
def test_status_of_the_api_does_not_name_the_status_of_the_task(status: str, tmp_path: Path) -> None:
    with running_jobs() as jobs:
        files = files_of(jobs.api.url)
        files["index.graphql"] = files["index.graphql"].replace("status: Status!", "status: String!")
        with serving(compiled(tmp_path, files), jobs) as site:
            task_id = site.start()
            jobs.failing["State"] = Reply(body={"data": {"job": {"status": status, "file": None, "rows": None}}})
            task = site.get(task_id).result

            assert (task["status"], task["resultType"]) == ("working", "complete")
            assert not {"inputRequests", "result", "error"} & task.keys()


def test_notification_of_a_cancelled_request_leaves_the_task(tmp_path: Path) -> None:
    with running_site(tmp_path, cancel='"Cancel"') as site:
        task_id = site.start()
        for params in ({"requestId": 1}, {"taskId": task_id}, {"requestId": task_id}):
            message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
            headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "notifications/cancelled"}
            assert site.function.post(message, headers=headers).status == 202

        assert site.get(task_id).result["status"] == "working"
        assert site.jobs.asked == ["Export", "State"]


def test_client_that_listens_to_tasks_without_the_extension_is_refused(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        params = {"notifications": {"taskIds": [site.start()]}}
        refused = site.ask("subscriptions/listen", params, capabilities={})

        assert (refused.status, refused.json["error"]["code"]) == (400, -32021)
        assert refused.json["error"]["data"].items() >= MISSING.items()
        assert site.ask("subscriptions/listen", params).json["error"]["code"] == -32601


@pytest.mark.parametrize("notifications", [None, 7, [], ["taskIds"], {}, {"toolsListChanged": True}])
def test_nobody_listens_to_anything_else(notifications: Any, tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        for capabilities in ({}, WITH_TASKS):
            answer = site.ask("subscriptions/listen", {"notifications": notifications}, capabilities=capabilities)

            assert (answer.status, answer.json["error"]["code"]) == (404, -32601)


@pytest.mark.parametrize("method", METHODS)
def test_unknown_id_is_an_invalid_parameter_of_each_method(method: str, tmp_path: Path) -> None:
    with running_site(tmp_path, cancel='"Cancel"') as site:
        for bad in ("unknown", "unknown.export", ".export"):
            assert site.ask(method, {"taskId": bad}).json["error"]["code"] == -32602
        assert site.jobs.asked == []


@pytest.mark.parametrize("responses", [None, 7, [], {}, {"x": 1}, {"x": {"action": "accept"}}])
def test_responses_to_what_nobody_asked_are_ignored(responses: Any, tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        task_id = site.start()
        result = site.ask("tasks/update", {"taskId": task_id, "inputResponses": responses}).result

        assert result.keys() - {"_meta"} == {"resultType"}
        assert site.jobs.asked == ["Export"]
        assert site.get(task_id).result["status"] == "working"


def test_id_ends_with_32_bytes_that_depend_on_the_key(tmp_path: Path) -> None:
    opened = []
    for number in range(10):
        with running_site(tmp_path / str(number), keys=(str(number) * 32,)) as site:
            opened.append(base64.urlsafe_b64decode(site.start().partition(".")[0] + "=="))

    assert len({each[:-32] for each in opened}) == 1
    assert {len({each[place] for each in opened}) > 1 for place in range(-32, 0)} == {True}


def test_error_says_what_is_missing(tmp_path: Path) -> None:
    with running_site(tmp_path, required="true") as site:
        answers = [site.call(capabilities={}), *(site.ask(each, {"taskId": "x"}, capabilities={}) for each in METHODS)]

        assert {each.json["error"]["code"] for each in answers} == {-32021}
        assert all(each.json["error"]["data"].items() >= MISSING.items() for each in answers)


RULES: Mapping[str, tuple[Callable[..., None], ...]] = {
    "The server declares the extension in its answer to server/discover": (
        tasks.test_discover_declares_the_extension_and_legacy_handshakes_do_not,
    ),
    "MUST NOT return CreateTaskResult to a client without the extension on its request, whatever it declared before": (
        test_declaration_is_for_its_request_alone,
        tasks.test_client_without_the_extension_is_told_how_to_ask,
    ),
    "MUST return -32021 with the extension if the request cannot be served without a task": (
        tasks.test_required_extension_is_demanded_before_anything_is_sent,
        test_error_says_what_is_missing,
    ),
    "MUST set resultType to task in CreateTaskResult": (
        tasks.test_call_returns_a_flat_task_and_the_mutation_is_sent_once,
    ),
    "MUST NOT set resultType to task in other results": (test_no_other_result_has_the_type_task,),
    "MUST NOT return CreateTaskResult until tasks/get would find the task": (
        tasks.test_task_is_found_at_once_and_completes_with_the_result_of_the_query,
    ),
    "SHOULD resolve questions to the user before CreateTaskResult": (tasks.test_consent_comes_before_the_task,),
    "tasks/get MUST return a working task as such": (
        tasks.test_task_is_found_at_once_and_completes_with_the_result_of_the_query,
        test_status_of_the_api_does_not_name_the_status_of_the_task,
    ),
    "tasks/get MUST return inputRequests with input_required, with unique keys: no task has that status": (
        test_status_of_the_api_does_not_name_the_status_of_the_task,
    ),
    "tasks/get MUST return the final result of a completed task": (
        tasks.test_task_is_found_at_once_and_completes_with_the_result_of_the_query,
        tasks.test_result_that_does_not_fit_the_schema_completes_with_an_error,
    ),
    "tasks/get MUST return a cancelled task as such": (tasks.test_cancel_sends_the_mutation_and_the_task_is_cancelled,),
    "tasks/get MUST return a failed task with its JSON-RPC error, and SHOULD with a statusMessage": (
        tasks.test_job_that_the_api_does_not_know_is_a_failed_task,
    ),
    "The status failed MUST NOT stand for other errors: a result with isError is completed": (
        tasks.test_failed_job_is_a_completed_task_with_an_error_result,
    ),
    "resultType MUST be complete in GetTaskResult, UpdateTaskResult and CancelTaskResult": (
        test_no_other_result_has_the_type_task,
    ),
    "The server may discard the task after its ttlMs, not before": (tasks.test_id_ends_with_its_time_to_live,),
    "tasks/update MUST be acknowledged with an empty result": (
        tasks.test_cancel_and_update_are_acknowledged_without_a_request_where_the_api_has_none,
        test_responses_to_what_nobody_asked_are_ignored,
    ),
    "SHOULD ignore inputResponses of keys that are not outstanding": (test_responses_to_what_nobody_asked_are_ignored,),
    "tasks/cancel MUST be acknowledged with an empty result": (
        tasks.test_cancel_sends_the_mutation_and_the_task_is_cancelled,
        tasks.test_cancel_and_update_are_acknowledged_without_a_request_where_the_api_has_none,
    ),
    "notifications/cancelled MUST NOT be used for the cancellation of tasks": (
        test_notification_of_a_cancelled_request_leaves_the_task,
    ),
    "subscriptions/listen with taskIds MUST be -32021 without the extension": (
        test_client_that_listens_to_tasks_without_the_extension_is_refused,
        test_nobody_listens_to_anything_else,
    ),
    "Mcp-Name MUST be the taskId": (tasks.test_header_has_to_repeat_the_id,),
    "tasks/get MUST be -32602 for an invalid or unknown taskId; tasks/update and tasks/cancel SHOULD be": (
        test_unknown_id_is_an_invalid_parameter_of_each_method,
        tasks.test_forged_and_altered_ids_are_unknown_in_the_same_words,
        tasks.test_id_that_is_no_text_is_refused,
        ids.test_id_that_a_caller_may_not_use_is_unknown,
    ),
    "Internal errors MUST be -32603": (
        tasks.test_failed_poll_is_an_error_after_which_the_job_may_be_asked_about_again,
        tasks.test_failed_cancellation_is_an_error_that_does_not_hide_what_may_have_happened,
    ),
    "tasks/get, tasks/update and tasks/cancel MUST be -32021 without the extension on the request": (
        tasks.test_client_without_the_extension_on_this_request_is_refused,
        test_error_says_what_is_missing,
    ),
    "Ids MUST have sufficient entropy": (
        test_id_ends_with_32_bytes_that_depend_on_the_key,
        tasks.test_key_is_needed_that_sealed_the_id,
        ids.test_id_that_a_caller_may_not_use_is_unknown,
    ),
    "MUST authenticate and authorize each request about a task": (
        rights.test_id_is_for_the_caller_who_started_the_job,
        rights.test_id_is_for_the_tenant_whose_claim_fills_a_variable,
        rights.test_right_that_a_policy_takes_away_ends_the_task_as_an_unknown_one,
        rights.test_scope_that_is_taken_away_ends_the_task_as_an_unknown_one,
        rights.test_cancel_needs_the_rights_of_its_own_operation,
        rights.test_withdrawn_tool_ends_its_tasks,
    ),
    "There is no tasks/list, and no tasks/result": (tasks.test_methods_of_the_earlier_tasks_do_not_exist,),
}
"""Rule -> the tests that fail without it."""


def test_each_rule_has_tests_and_each_test_here_has_a_rule() -> None:
    named = {test.__name__ for tests in RULES.values() for test in tests}
    own = {name for name, value in globals().items() if name.startswith("test_") and inspect.isfunction(value)}

    assert all(RULES.values())
    assert all(name.startswith("test_") for name in named)
    assert own - named == {"test_each_rule_has_tests_and_each_test_here_has_a_rule"}
