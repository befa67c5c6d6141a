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
from handler.errors.protocol import InvalidParams, McpError, StateRefused
from handler.errors.task_errors import UnknownTask
from handler.errors.upstream import UpstreamError
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

METHOD = "tasks"
"""Stands for the method in the binding, so that an id is not a ``requestState``, and the reverse."""

LOST = "The API answers that it has no status of this job, so its result cannot be had."

RESERVE_S = 2.0
"""Part of the time of a call that is left for its answer after the time to wait for the job."""

_TO_URL, _FROM_URL = str.maketrans("+/", "-_", "="), str.maketrans("-_+/=", "+/!!!")
"""Between base64 and its URL-safe form. A character of the other form becomes one that is in neither."""


@record(frozen=True, slots=True, kw_only=True)
class Job:
    """A job, as of the API's last answer about it."""

    id: str = ""
    tool: PrescribedTool
    task: Task
    status_tool: PrescribedTool
    values: JSONObject  # of the variables by which the API is asked about it
    created: int  # UNIX seconds
    ttl_s: int
    request: GraphQLRequest  # of the answer; before the first one, the next request
    response: JSONObject = field(default_factory=dict)
    status: str = ""  # the API's; empty: unknown

    @property
    def outcome(self) -> str:
        """The kind of the status: ``working`` if the author names it for no other outcome."""
        outcomes = ("completed", "failed", "cancelled")
        return next((outcome for outcome in outcomes if self.status in getattr(self.task, outcome)), "working")

    def facts(self, now: float) -> JSONObject:
        """Return the members of MCP's ``Task``."""
        times = [datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for at in (self.created, now)]
        return {
            "taskId": self.id,
            "status": self.outcome,
            **({"statusMessage": f"The API's status of the job is {self.status}."} if self.status else {}),
            "createdAt": times[0],
            "lastUpdatedAt": times[1],
            "ttlMs": self.ttl_s * 1_000,
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
    caller = call.caller
    try:
        async with before(caller.deadline):
            job = await _opened(caller, call.request.params.get("taskId"))
            call.note(tool=job.tool.name, decision="allowed")
            if call.request.method == "tasks/get":
                job = await _polled(caller, job)
                facts = job.facts(caller.services.clock())
                if not job.status:
                    error = {"code": McpError.INTERNAL_ERROR, "message": LOST}
                    return {**facts, "status": "failed", "statusMessage": LOST, "error": error}
                if job.outcome not in ("completed", "failed"):
                    return facts
                # Source: the extension, "Task Status": a task whose result has ``isError`` is completed.
                result = {"resultType": "complete", **await _final_result(call, job)}
                return {**facts, "status": "completed", "result": result}
            # The server asks nothing during a task, so an update has nothing for it.
            if call.request.method == "tasks/cancel" and job.task.cancel:
                await execute(caller, _request(caller, job.task.cancel, job.values, name=job.tool.name))
            return {}
    except UnknownTask as exc:
        raise InvalidParams(str(exc)) from exc
    except CallError as exc:
        call.fail(exc)
        advice = " This is not the end of the job: ask again later." if call.request.method == "tasks/get" else ""
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
    standard = sealed.translate(_FROM_URL) + "=" * (-len(sealed) % 4)
    try:
        binding = _binding(caller, tool, tool.task)
        state = await caller.services.states.open(standard, binding=binding, max_age_s=math.inf)
        job = _job(caller, tool, tool.task, **state)
    except (AccessError, StateRefused) as exc:
        raise UnknownTask from exc
    if caller.services.clock() > job.created + job.ttl_s:
        raise UnknownTask
    return replaced(job, id=task_id)


def _job(caller: Caller, tool: PrescribedTool, task: Task, *, values: JSONObject, created: int, ttl_s: int) -> Job:
    """Return a job without an id, if the caller may use the tool and ask about the job.

    Raises:
        UnknownTask, InsufficientScope: the caller may not.
        BindingMissing: the request lacks the value of a bound variable.
    """
    status_tool: PrescribedTool | Any = caller.endpoint.tools[task.status_tool]
    if not caller.endpoint.is_visible(status_tool, caller.evaluation):
        raise UnknownTask
    require_scopes(tool.name, tool.options.scopes, caller.principal)
    request = _request(caller, status_tool, values, name=tool.name)
    return Job(
        tool=tool, task=task, status_tool=status_tool, values=values, created=created, ttl_s=ttl_s, request=request
    )


def _request(
    caller: Caller, operation: PrescribedTool | PersistedOperation, values: JSONObject, *, name: str
) -> GraphQLRequest:
    """Return the request of an operation about a job.

    Raises:
        UnknownTask: a policy does not allow it to this caller.
        BindingMissing: the request lacks the value of a bound variable.
    """
    own = {variable: value for variable, value in values.items() if variable in operation.operation.variables}
    try:
        return persisted_request(caller, operation, own, name=name)
    except ValuesRefused as exc:
        raise UnknownTask from exc


def _binding(caller: Caller, tool: PrescribedTool, task: Task) -> Any:
    """Return the facts that an id is sealed for. A publish that changes none of them leaves the id valid."""
    asking: PrescribedTool | Any = caller.endpoint.tools[task.status_tool]
    bindings = [[each.variable, each.source, each.name, each.value] for each in asking.bindings]
    covered = [asking.operation.text, dict(task.variables), task.status, bindings]
    return [binding_of(caller, tool=each, method=METHOD, name=tool.name, arguments=covered) for each in (tool, asking)]


async def _polled(caller: Caller, job: Job) -> Job:
    """Ask the API about a job. The status is empty if the API does not know the job.

    Raises:
        CallError: there is no answer, or errors in place of a status.
    """
    response = await execute(caller, job.request)
    status = _status_at(response, job.task.status)
    if not status and response.get("errors"):
        raise GraphQLErrors(response["errors"], partial=response.get("data"))
    return replaced(job, response=response, status=status)


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


async def _final_result(call: Call, job: Job) -> JSONObject:
    """Return the ``CallToolResult`` of a job that has ended. It is an error if the job did not end well."""
    try:
        result = await result_of(call, job.status_tool, job.request, job.response)
        if job.outcome == "completed":
            return result
        end = "failed" if job.outcome == "failed" else "was cancelled"
        words = text_block(f"The job {end}: its status is {job.status}.")
        result = {**result, "content": [words, *result["content"]], "isError": True}
    except CallError as exc:
        call.fail(exc)
        result = failed_result(call, job.status_tool, exc)
    return with_failure_code(call, job.status_tool, result)


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
    state: Any = {"values": values, "created": int(caller.services.clock()), "ttl_s": task.ttl_s}
    try:
        job = _job(caller, tool, task, **state)
        sealed = await states.seal(state, binding=_binding(caller, tool, task))
    except (CallError, AccessError):
        return None
    job = replaced(job, id=f"{sealed.translate(_TO_URL)}.{tool.name}", status=_status_at(response, task.initial_status))
    if job.outcome != "working" or len(job.id) > MAX_ID_CHARS:
        return None
    if takes_tasks(call):
        return {"resultType": "task", **job.facts(job.created)}
    if task.wait_s and (ended := await _waited(caller, job)):
        return await _final_result(call, ended)
    return await _unfinished(call, replaced(job, request=request, response=response), tool)


async def _waited(caller: Caller, job: Job) -> Job | None:
    """Ask about a job until it ends; ``None`` if it goes on after the time of a call for that.

    A failure leaves the job to the caller, who must get its id.
    """
    interval_s = min(job.task.every_s, job.task.wait_s / 2)
    end = min(time.monotonic() + job.task.wait_s, caller.deadline - RESERVE_S)
    with suppress(CallError, TimeoutError):
        async with asyncio.timeout_at(end):
            while True:
                await asyncio.sleep(interval_s)
                polled = await _polled(caller, job)
                if polled.outcome != "working":
                    return polled
    return None


async def _unfinished(call: Call, job: Job, tool: PrescribedTool) -> JSONObject:
    """Return the result for a job that goes on: the API's answer, and how to ask again, in words and structure."""
    name = job.status_tool.name
    task = {**job.facts(call.caller.services.clock()), "statusTool": name}
    result = await result_of(call, tool, job.request, {**job.response, "extensions": {"task": task}})
    words = (
        f"The job is not finished{f', its status is {job.status}' if job.status else ''}. For its result, call {name} "
        f'with {{"taskId": "{job.id}"}} in {job.task.every_s} s or later. Do not start the job again.'
    )
    return {**result, "content": [text_block(words), *result["content"]]}


async def call_status_tool(call: Call, tool: PrescribedTool, arguments: JSONObject) -> JSONObject:
    """Call a tool that asks about the jobs of another tool. Return a ``CallToolResult``.

    Raises:
        InvalidArguments: the arguments do not fit the tool's schema.
        UnknownTask: the id is not of a job of that tool and this caller, or is too old.
        CallError: there is no answer, or none with a status.
    """
    arguments = call.read(tool, arguments)
    async with before(call.caller.deadline):
        job = await _opened(call.caller, arguments["taskId"])
        if job.status_tool.name != tool.name:
            raise UnknownTask
        job = await _polled(call.caller, job)
        if not job.status:
            raise UpstreamError(LOST)
        return await (_unfinished(call, job, tool) if job.outcome == "working" else _final_result(call, job))
