"""The MCP route: from an HTTP request to an answer, an error or a denial, for one message or a batch."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpCall
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from handler.cold.records import replaced
from handler.errors import MAX_SAID_CHARS
from handler.errors.access import AccessError, CredentialRequired
from handler.errors.calls import CallError, DeadlinePassed, NotFound, ResourceNotFound, ToolNotFound
from handler.list_entries import answer_tokens
from handler.server.asgi.content_negotiation import EVENT_STREAM, JSON, accepted_kinds, media_type_of
from handler.server.asgi.deadlines import before
from handler.server.asgi.request_log import note, written
from handler.server.asgi.response_size import ANSWER_TOO_LARGE, LAMBDA, TOO_LARGE, Room
from handler.server.asgi.responses import Refused, json_response
from handler.server.asgi.trace_context import continue_trace
from handler.server.context import Caller, Services, find_endpoint, identify_caller, read_body
from handler.server.mcp.jsonrpc import (
    DENIED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    Call,
    Item,
    Notification,
    Rejected,
    Request,
    classify,
)
from handler.server.mcp.methods import answer_call
from handler.server.mcp.revisions import BATCHING, error_id, is_modern, resource_not_found_code, revision_of_header
from handler.strict_json import Entries, JSONObject, spliced, to_json_bytes, to_well_formed_json

MAX_URI_CHARS = 2_000
"""The most characters of an unknown URI that an error repeats."""

MIN_COMPRESSED_BYTES = 65_536
"""The size from which a list is compressed. Below it, compressing takes more time than it saves on the way."""


class McpRoute:
    """``POST /{folder}/{name}/mcp``. Source: MCP 2026-07-28, basic/transports/streamable-http."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        note(scope, route="mcp")
        response = await self._respond(HttpCall(scope, receive))
        await response(scope, receive, send)

    async def _respond(self, http_call: HttpCall) -> Response:
        request: Request | None = None
        try:
            if media_type_of(http_call.headers.get("content-type", "")) != JSON:
                raise Refused("unsupported-media-type", "expected Content-Type: application/json")
            if not accepted_kinds(http_call.headers.get("accept", "")) & {JSON, "application/*", "*/*"}:
                raise Refused("not-acceptable", "answers are application/json")
            endpoint = await find_endpoint(self._services, http_call)
            caller = await identify_caller(self._services, http_call, endpoint)
            message = classify(caller.headers, await read_body(http_call))
            if isinstance(message, list):
                return await _answer_batch(http_call, message, caller)
            note(http_call.scope, method=message.method)
            if isinstance(message, Notification):
                return Response(status_code=202)
            request = message
            call = _call_of(request, caller)
            return _response(http_call, call, await _answer(call))
        except (Rejected, NotFound) as exc:
            error = _rejected(exc, request, note=partial(note, http_call.scope))
            note(http_call.scope, code=error.stile_code)
            response = _error_response(error, _revision_of(http_call, request), well_formed=request is not None)
            if error.status == 401:
                from handler.server.denials import challenge_headers

                response.headers.update(challenge_headers(http_call, CredentialRequired()))
            return response
        except AccessError as exc:
            from handler.server.denials import denial_response

            return denial_response(http_call, exc)
        except HTTPException:
            raise
        except Exception as exc:  # noqa: BLE001 - the edge of an MCP request: the log gets the cause, the caller a sentence
            internal = Rejected(INTERNAL_ERROR, "Internal error", id=request.id if request else None)
            note(http_call.scope, outcome="failed", failure=exc, code=internal.stile_code)
            return _error_response(internal, _revision_of(http_call, request))


def _call_of(request: Request, caller: Caller) -> Call:
    """Build the call. The message's own trace takes precedence over the HTTP request's."""
    call = Call(request=request, caller=caller)
    trace = continue_trace(call.request.meta)
    if trace is None:
        return call
    call.note(trace_id=trace.id)
    return replaced(call, caller=replaced(caller, trace=trace))


async def _answer(call: Call) -> JSONObject:
    """Return the message that answers a request with its result."""
    tool = call.request.params.get("name")
    if call.request.method == "tools/call" and isinstance(tool, str):
        call.note(tool=tool)
    result = await answer_call(call)
    last = call.failures[-1] if call.failures else None
    failed = last.log_outcome if isinstance(last, CallError) else CallError.log_outcome
    ended = failed if result.get("isError") else "ok"
    call.note(outcome="asked" if result.get("resultType") == "input_required" else ended)
    return {"jsonrpc": "2.0", "id": call.request.id, "result": result}


def _response(http_call: HttpCall, call: Call, message: JSONObject) -> Response:
    """Build the response with an answer: JSON, or an event stream with the notifications of the call before it."""
    room = call.caller.room
    if call.notifications and EVENT_STREAM in accepted_kinds(http_call.headers.get("accept", "")):
        from handler.server.mcp.event_stream import event_stream

        events = event_stream(call.request, call.notifications, message, room=room)
        if events is not None:
            _note_tokens(call, message["result"], events)
            return Response(events, media_type=EVENT_STREAM, headers={"x-accel-buffering": "no"})
    if any(isinstance(member, Entries) for member in message["result"].values()):
        body = spliced(message)
        if len(body) < MIN_COMPRESSED_BYTES:
            return Response(body, media_type=JSON)
        from handler.server.asgi.responses import list_response

        return list_response(http_call, body)
    body = to_well_formed_json(message)
    # No method measures a result that always fits Lambda's room.
    if room is not LAMBDA and not room.fits(body):
        raise Rejected(INTERNAL_ERROR, TOO_LARGE, id=call.request.id, stile_code=ANSWER_TOO_LARGE)
    _note_tokens(call, message["result"], body)
    return Response(body, media_type=JSON)


def _note_tokens(call: Call, result: JSONObject, body: bytes) -> None:
    """Note the approximate tokens of a tool's result."""
    if call.request.method == "tools/call" and "content" in result:
        call.note(answer_tokens=answer_tokens(result, body))


async def _answer_batch(http_call: HttpCall, items: Sequence[Item], caller: Caller) -> Response:
    """Answer all items at once, in the order of the requests. A denied or failed item gets an error of its own.

    Progress and log messages are not sent: the answer is an array.

    Source: MCP 2025-03-26, basic/transports ("Sending Messages to the Server").
    """
    budget = BatchBudget(caller.deadline, room=caller.room)
    calls: list[JSONObject] = []
    answers: list[bytes] = []
    for item in items:
        if isinstance(item, Notification):
            continue
        facts: JSONObject = {"method": item.method} if isinstance(item, Request) else {}
        refusal = budget.refusal() if isinstance(item, Request) else ""
        if not refusal:
            body = await _item_json(http_call, item, replaced(caller, facts=facts))
            refusal = "" if budget.takes(body) else LEFT_OUT
        if refusal:
            facts.update(outcome="rejected", reason="BatchExceeded", code=EXCEEDED)
            error = Rejected(INTERNAL_ERROR, refusal, id=item.id, stile_code=EXCEEDED)
            body = to_well_formed_json(_error_body(error, BATCHING))
        answers.append(body)
        calls.append(written(facts))
    note(http_call.scope, method="batch", outcome="ok", calls=calls)
    if not answers:
        return Response(status_code=202)
    return Response(b"[%b]" % b",".join(answers), media_type=JSON)


async def _item_json(http_call: HttpCall, item: Request | Rejected, caller: Caller) -> bytes:
    """Answer an item of a batch. ``caller`` has the facts of this item."""
    try:
        if isinstance(item, Rejected):
            raise item
        call = _call_of(item, caller)
        async with before(caller.deadline):
            message = await _answer(call)
    except (Rejected, NotFound) as exc:
        error = _rejected(exc, item, note=caller.note)
    except DeadlinePassed as exc:
        error = Rejected(INTERNAL_ERROR, str(exc), id=item.id, stile_code=exc.stile_code)
        caller.note(outcome="rejected", reason=type(exc).__name__)
    except AccessError as exc:
        error = Rejected(DENIED, str(exc), id=item.id, stile_code=exc.stile_code)
        caller.note(decision="denied", outcome="denied", reason=exc.reason)
    except Exception as exc:  # noqa: BLE001 - the edge of an item of a batch: the other items are answered
        error = Rejected(INTERNAL_ERROR, "Internal error", id=item.id)
        note(http_call.scope, failure=exc)
        caller.note(outcome="failed")
    else:
        body = to_well_formed_json(message)
        _note_tokens(call, message["result"], body)
        return body
    caller.note(code=error.stile_code)
    return to_well_formed_json(_error_body(error, BATCHING))


def _rejected(
    reason: Rejected | NotFound, request: Request | Rejected | None, *, note: Callable[..., None]
) -> Rejected:
    """Note the rejection of a message, and return it as a JSON-RPC error.

    Source: MCP 2026-07-28, server/resources ("Error Handling").
    """
    if isinstance(reason, Rejected):
        note(outcome="rejected", reason=reason.log_reason)
        return reason
    note(decision="denied", outcome="rejected", reason=type(reason).__name__)
    code, facts = INVALID_PARAMS, None
    if isinstance(reason, ResourceNotFound) and isinstance(request, Request):
        code, facts = resource_not_found_code(request.revision), {"uri": reason.name[:MAX_URI_CHARS]}
    elif isinstance(reason, ToolNotFound):
        facts = {"tool": reason.name[:MAX_SAID_CHARS]}
    return Rejected(code, str(reason), id=request.id if request else None, facts=facts, stile_code=reason.stile_code)


def _revision_of(http_call: HttpCall, request: Request | None) -> str:
    return request.revision if request else revision_of_header(http_call.headers.get("mcp-protocol-version"))


def _error_response(error: Rejected, revision: str, *, well_formed: bool = False) -> Response:
    """Build the response for a JSON-RPC error.

    Legacy clients read errors of a well-formed request from status 200, and clients of both eras internal errors. From
    status 401, all clients learn that they have to sign in.
    """
    legacy = well_formed and not is_modern(revision)
    status = 200 if (legacy and error.status != 401) or error.code == INTERNAL_ERROR else error.status
    return json_response(_error_body(error, revision), status=status)


def _error_body(error: Rejected, revision: str) -> JSONObject:
    members = {"code": error.code, "message": error.message, "data": error.data}
    return {"jsonrpc": "2.0", **error_id(error.id, revision), "error": members}


MAX_WORK_S = 0.3
"""Processor time of the event loop's thread after which no further item starts. A batch and its last item together
stay below a second, even on a core half as fast.
"""

ROOM_FOR_ERRORS = 20_000
"""Bytes reserved for the errors of items that are not answered."""

EXCEEDED = "batch-exceeded"
"""The stable code of an item that is not answered."""

ALONE = "Send this request by itself."
FULL = f"Not answered, because the answers before it fill the response. {ALONE}"
LEFT_OUT = (
    "This request was carried out, but its answer is left out, because the answers before it leave no room. "
    "Send it by itself only if it changes nothing."
)
TOO_LATE = f"Not answered, because the time of the batch is over. {ALONE}"
TOO_MUCH_WORK = f"Not answered, because the requests before it used up the work of the batch. {ALONE}"


class BatchBudget:
    """The budget of one batch. ``deadline`` is a time of ``monotonic``; ``work_s`` returns processor time so far."""

    def __init__(
        self,
        deadline: float,
        *,
        room: Room = LAMBDA,
        monotonic: Callable[[], float] = time.monotonic,
        work_s: Callable[[], float] = time.thread_time,
    ) -> None:
        self._deadline = deadline
        self._monotonic = monotonic
        self._work_s = work_s
        self._work_ends = work_s() + MAX_WORK_S
        self._bytes_left = room.max_bytes - ROOM_FOR_ERRORS

    def refusal(self) -> str:
        """Return the reason why no further item may start; empty string if one may."""
        if self._bytes_left < 0:
            return FULL
        if self._monotonic() >= self._deadline:
            return TOO_LATE
        return TOO_MUCH_WORK if self._work_s() >= self._work_ends else ""

    def takes(self, answer: bytes) -> bool:
        """Return whether an answer fits beside those before it. After the first that does not fit, no item starts."""
        self._bytes_left -= len(to_json_bytes(answer.decode()))  # its size as a string in Lambda's answer
        return self._bytes_left >= 0
