"""Tasks: jobs of the API that outlive the call which starts them. The server keeps nothing of a job.

The id of a task travels through the client. It has the values by which the API knows the job, sealed for this endpoint,
the tool, the caller, the caller's claims that reach the API, and the query for the status with its paths and bindings.

Source: the extension ``io.modelcontextprotocol/tasks`` of MCP (SEP-2663).
"""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import suppress
from dataclasses import field
from datetime import UTC, datetime
from typing import Any

from handler.bundle.tools import PersistedOperation, PrescribedTool, Task
from handler.cold.records import record, replaced
from handler.errors import MAX_SAID_CHARS
from handler.errors.access import AccessError
from handler.errors.calls import CallError, GraphQLErrors, ValuesRefused
from handler.errors.cursor_errors import UnknownTask
from handler.errors.protocol import InvalidParams, McpError, StateRefused
from handler.server.asgi.deadlines import before
from handler.server.auth.principal import require_scopes
from handler.server.context import Caller
from handler.server.mcp.graphql_results import failed_result, result_of, text_block, with_failure_code
from handler.server.mcp.input_required import binding_of
from handler.server.mcp.jsonrpc import MISSING_CAPABILITY, Call, Rejected
from handler.server.mcp.revisions import TASKS
from handler.server.upstream.bound_variables import persisted_request
from handler.server.upstream.graphql_client import execute
from handler.server.upstream.graphql_request import GraphQLRequest
from handler.strict_json import JSONObject

MAX_ID_CHARS = 2_000
"""Clients repeat the id in the header ``Mcp-Name``."""

LOST = "unknown to the API"
"""Stands for the status of a job that the API does not know, or no longer."""

_TO_URL, _FROM_URL = str.maketrans("+/", "-_", "="), str.maketrans("-_+/=", "+/!!!")
"""Between base64 and its URL-safe form. A character of the other form becomes one that is in neither."""


@record(frozen=True, slots=True, kw_only=True)
class Job:
    """A job, as of the API's last answer about it."""

    id: str
    tool: PrescribedTool
    task: Task
    asking: PrescribedTool  # the status tool
    state: JSONObject  # sealed in the id: values of variables by name, created in UNIX seconds, and ttl_s
    request: GraphQLRequest  # of the answer; before the first one, the query for the status
    response: JSONObject = field(default_factory=dict)
    status: str = ""  # the API's; empty: unknown

    @property
    def outcome(self) -> str:
        """The kind of the status: ``working`` if the author names it for no other outcome."""
        return "failed" if self.status == LOST else self.task.outcomes.get(self.status, "working")

    def facts(self, now: float) -> JSONObject:
        """Return the members of MCP's ``Task``."""
        created = self.state["created"]
        updated = max(now, created)  # the clock of another instance may be behind
        times = [datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for at in (created, updated)]
        return {
            "taskId": self.id,
            "status": self.outcome,
            **({"statusMessage": f"The API's status of the job is {self.status}."} if self.status else {}),
            "createdAt": times[0],
            "lastUpdatedAt": times[1],
            "ttlMs": self.state["ttl_s"] * 1_000,
            "pollIntervalMs": self.task.every_s * 1_000,
        }


async def answer_task_request(call: Call) -> JSONObject:
    """Answer ``tasks/get``, ``tasks/update`` or ``tasks/cancel``.

    Raises:
        Rejected: the client does not declare the extension on this request.
        InvalidParams: the task is unknown; the error is equal for all reasons.
        McpError: the API could not be asked, or gave errors. The job may be asked about again.
    """
    require_extension(call)
    call.note(decision="refused")
    caller, method = call.caller, call.request.method
    try:
        async with before(caller.deadline):
            job = await _opened(caller, call.request.params.get("taskId"))
            call.note(tool=job.tool.name, decision="allowed")
            if method == "tasks/cancel" and job.task.cancel:
                await execute(caller, _request(caller, job.task.cancel, job.state, name=job.tool.name))
            if method != "tasks/get":  # the server asks nothing during a task, so an update has nothing for it
                return {}
            job = await _polled(caller, job)
            facts = job.facts(caller.services.clock())
            if job.outcome in ("working", "cancelled"):
                return facts
            if job.status == LOST:
                sentence = f"The job failed: its status is {LOST}."
                error = {"code": McpError.INTERNAL_ERROR, "message": sentence}
                return {**facts, "statusMessage": sentence, "error": error}
            # Source: the extension, "Task Status": a task whose result has ``isError`` is completed.
            return {**facts, "status": "completed", "result": {"resultType": "complete", **await _result(call, job)}}
    except (UnknownTask, ValuesRefused) as exc:
        raise InvalidParams(str(UnknownTask())) from exc
    except CallError as exc:
        call.fail(exc)
        advice = " This is not the end of the job: ask again later." if method == "tasks/get" else ""
        raise McpError(McpError.INTERNAL_ERROR, f"{exc}{advice}") from exc


def takes_tasks(call: Call) -> bool:
    """Return whether the client declares the extension on this request."""
    extensions = call.client_capabilities.get("extensions")
    return isinstance(extensions, dict) and isinstance(extensions.get(TASKS), dict)


def require_extension(call: Call) -> None:
    """Refuse a client that does not declare the extension on this request.

    Raises:
        Rejected: it does not.
    """
    if not takes_tasks(call):
        sentence = f"Missing required client capability: expected the extension {TASKS} on this request"
        needed: JSONObject = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
        raise Rejected(MISSING_CAPABILITY, sentence, id=call.request.id, facts=needed)


async def _opened(caller: Caller, task_id: Any) -> Job:
    """Return the job of an id.

    Raises:
        UnknownTask: the id is not of this caller, whose rights are those of now, or is too old.
        BindingMissing: the request lacks the value of a bound variable.
    """
    sealed, _, name = task_id.partition(".") if isinstance(task_id, str) and len(task_id) <= MAX_ID_CHARS else [""] * 3
    tool = caller.endpoint.tools.get(name)
    if not isinstance(tool, PrescribedTool) or tool.task is None or tool.name != name:
        raise UnknownTask
    asking: PrescribedTool | Any = caller.endpoint.tools[tool.task.status_tool]
    standard = sealed.translate(_FROM_URL) + "=" * (-len(sealed) % 4)
    try:
        binding = _binding(caller, tool, tool.task)
        state = await caller.services.states.open(standard, binding=binding, max_age_s=math.inf)
        require_scopes(tool.name, tool.options.scopes, caller.principal)
        request = _request(caller, asking, state, name=tool.name)
    except (AccessError, StateRefused, ValuesRefused) as exc:
        raise UnknownTask from exc
    is_old = caller.services.clock() > state["created"] + state["ttl_s"]
    if is_old or not caller.endpoint.is_visible(asking, caller.evaluation):
        raise UnknownTask
    return Job(id=task_id, tool=tool, task=tool.task, asking=asking, state=state, request=request)


def _request(
    caller: Caller, operation: PrescribedTool | PersistedOperation, state: JSONObject, *, name: str
) -> GraphQLRequest:
    names = operation.operation.variables
    values = {variable: value for variable, value in state["values"].items() if variable in names}
    return persisted_request(caller, operation, values, name=name)


def _binding(caller: Caller, tool: PrescribedTool, task: Task) -> Any:
    """Return the facts that an id is sealed for. A publish that changes none of them leaves the id valid."""
    asking: PrescribedTool | Any = caller.endpoint.tools[task.status_tool]
    covered = task.covered(asking)
    return [binding_of(caller, tool=each, method="tasks", name=tool.name, arguments=covered) for each in (tool, asking)]


async def _polled(caller: Caller, job: Job) -> Job:
    """Ask the API about a job.

    Raises:
        CallError: there is no answer, or errors in place of a status.
    """
    response = await execute(caller, job.request)
    status = _status_at(response, job.task.status)
    if not status and response.get("errors"):
        raise GraphQLErrors(response["errors"], partial=response.get("data"))
    job = replaced(job, response=response, status=status or LOST)
    caller.note(task=job.outcome)
    return job


def _leaf_at(response: JSONObject, path: str) -> str | float:
    """Return the value at a path of response keys; an empty string if it is null or not a leaf."""
    value: Any = response.get("data")
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str | int | float) else ""


def _status_at(response: JSONObject, path: str) -> str:
    """Return the status at a path as authors write it, cut to the length of a sentence's part."""
    value = _leaf_at(response, path)
    return (str(value).lower() if isinstance(value, bool) else str(value))[:MAX_SAID_CHARS]


async def _result(call: Call, job: Job) -> JSONObject:
    """Return the ``CallToolResult`` of a job that has ended. It is an error if the job did not end well."""
    try:
        result = await result_of(call, job.asking, job.request, job.response)
        if job.outcome == "completed":
            return result
        end = "failed" if job.outcome == "failed" else "was cancelled"
        words = text_block(f"The job {end}: its status is {job.status}.")
        result = {**result, "content": [words, *result["content"]], "isError": True}
    except CallError as exc:
        result = failed_result(call, job.asking, exc)
    return with_failure_code(call, job.asking, result)


async def result_of_start(
    call: Call, tool: PrescribedTool, task: Task, request: GraphQLRequest, response: JSONObject
) -> JSONObject | None:
    """Return the result of a mutation that has started a job: a task, or a result for clients without tasks.

    ``None`` if the answer is the result: it is final, its id is missing or too long, or the caller may not ask.
    """
    caller, states = call.caller, call.caller.services.states
    values = {name: _leaf_at(response, path) for name, path in task.variables.items()}
    if "" in values.values():
        return None
    state: JSONObject = {"values": values, "created": int(caller.services.clock()), "ttl_s": task.ttl_s}
    try:
        sealed = await states.seal(state, binding=_binding(caller, tool, task))
        job = await _opened(caller, f"{sealed.translate(_TO_URL)}.{tool.name}")  # as the first question will find it
    except CallError:
        return None
    job = replaced(job, status=_status_at(response, task.initial_status))
    if job.outcome != "working":
        return None
    if not takes_tasks(call) and (ended := await _waited(caller, job)).outcome != "working" and ended.status != LOST:
        return await _result(call, ended)
    call.note(task="started")
    if takes_tasks(call):
        return {"resultType": "task", **job.facts(state["created"])}
    return await _unfinished(call, replaced(job, request=request, response=response), tool)


async def _waited(caller: Caller, job: Job) -> Job:
    """Ask about a job until it ends, for the time of a call for that. A failure leaves the job to the caller."""
    end = min(time.monotonic() + job.task.wait_s, caller.deadline - 2.0)  # the rest is for the answer
    caller = replaced(caller, deadline=end)  # a request over a kept connection cannot be cancelled
    with suppress(CallError, TimeoutError):
        async with asyncio.timeout_at(end):
            while job.task.wait_s and job.outcome == "working":
                await asyncio.sleep(min(job.task.every_s, job.task.wait_s / 2))
                job = await _polled(caller, job)
    return job


async def _unfinished(call: Call, job: Job, tool: PrescribedTool) -> JSONObject:
    """Return the result for a job that goes on: the API's answer, and how to ask again, in words and structure."""
    name = job.asking.name
    task = {**job.facts(call.caller.services.clock()), "statusTool": name}
    try:
        result = await result_of(call, tool, job.request, {**job.response, "extensions": {"task": task}})
    except CallError as exc:  # the caller needs the id all the same
        result = failed_result(call, tool, exc)
    words = (
        f"The job is not finished{f', its status is {job.status}' if job.status else ''}. For its result, call {name} "
        f'with {{"taskId": "{job.id}"}} in {job.task.every_s} s or later. Do not start the job again.'
    )
    return {**result, "content": [text_block(words), *result["content"]]}


async def call_status_tool(call: Call, tool: PrescribedTool, task_id: str) -> JSONObject:
    """Call a tool that asks about the jobs of another tool. Return a ``CallToolResult``.

    Raises:
        UnknownTask: the id is not of a job of that tool and this caller, or is too old.
        CallError: there is no answer.
    """
    job = await _opened(call.caller, task_id)
    if job.asking.name != tool.name:
        raise UnknownTask
    job = await _polled(call.caller, job)
    return await (_unfinished(call, job, tool) if job.outcome == "working" else _result(call, job))
