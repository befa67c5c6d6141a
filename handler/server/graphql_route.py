"""The GraphQL routes: from an HTTP request and its parameters to a GraphQL response or a refusal.

Source: GraphQL over HTTP, "Request" and "Persisted Documents".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpCall
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from handler.bundle.tools import CONFIRM, GraphQLTool
from handler.cold.records import record
from handler.errors import StileError
from handler.errors.access import AccessError
from handler.errors.calls import (
    CallError,
    DeadlinePassed,
    DocumentNotFound,
    DocumentRefused,
    Fault,
    InvalidArguments,
    ToolNotFound,
)
from handler.errors.consent_errors import ConsentImpossible, ConsentRequired
from handler.errors.upstream import UpstreamError
from handler.server.asgi.content_negotiation import GRAPHQL_RESPONSE, JSON, choose_graphql_type, declares_json
from handler.server.asgi.deadlines import before
from handler.server.asgi.request_log import note
from handler.server.asgi.response_size import encoded
from handler.server.asgi.responses import Refused, refusal_code
from handler.server.auth.principal import require_scopes
from handler.server.context import Caller, Services, find_endpoint, identify_caller, read_body
from handler.server.denials import deny, status_of
from handler.server.graphql_documents import (
    Prepared,
    choose_persisted,
    noting_refusal,
    prepare_document,
    prepare_persisted,
    run,
)
from handler.server.upstream.graphql_client import telling_answer
from handler.strict_json import JSONObject, parse_json, to_well_formed_json

METHODS = ("GET", "POST")


class GraphQLRoute:
    """``/{folder}/{name}/graphql`` and ``/{folder}/{name}/tools/{tool}/graphql``, for GET and POST.

    Source: GraphQL over HTTP.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        http_call = HttpCall(scope, receive)
        note(scope, route="tool" if "tool" in http_call.path_params else "graphql")
        await (await self._respond(http_call))(scope, receive, send)

    async def _respond(self, http_call: HttpCall) -> Response:
        media_type = choose_graphql_type(http_call.headers.get("accept"))
        try:
            # Source: GraphQL over HTTP, "Accept" and "POST".
            if http_call.method not in METHODS:
                raise Refused("method-not-allowed", "expected GET or POST", headers={"allow": ", ".join(METHODS)})
            if media_type is None:
                raise Refused("not-acceptable", f"answers are {GRAPHQL_RESPONSE} or {JSON}")
            if http_call.method == "POST" and not declares_json(http_call.headers.get("content-type", "")):
                raise Refused("unsupported-media-type", "expected Content-Type: application/json")
            response, body = await self._answer(http_call)
        except Exception as exc:  # noqa: BLE001 - the edge of a GraphQL request: an unknown error is noted as a failure
            return _refuse(http_call, exc, media_type or JSON)
        note(http_call.scope, outcome="errors" if "errors" in response else "ok")
        return Response(body, media_type=f"{media_type}; charset=utf-8")

    async def _answer(self, http_call: HttpCall) -> tuple[JSONObject, bytes]:
        """Return the GraphQL response, and its JSON."""
        endpoint = await find_endpoint(self._services, http_call)
        is_tool = "tool" in http_call.path_params
        if not is_tool and endpoint.bundle.graphql.mode == "off":
            raise Refused("graphql-off", "this endpoint serves no GraphQL")
        caller = await identify_caller(self._services, http_call, endpoint)
        tool = await _find_tool(http_call, caller) if is_tool else None
        if http_call.method == "GET":
            parameters = parse_url(http_call.scope["query_string"])
        else:
            parameters = parse_body(await read_body(http_call))
        async with before(caller.deadline):
            operations = caller.endpoint.documents.get(parameters.document_id or "", ())
            digests = [
                persisted.operation.sha256
                for persisted in operations
                if parameters.operation_name in (None, persisted.operation.name)
            ]
            sha256 = digests[0] if len(digests) == 1 else ""
            with noting_refusal(caller, text=parameters.query or "", sha256=sha256):
                prepared = await _prepare(http_call, caller, parameters, tool)
                note(http_call.scope, operation=prepared.kind)
                if prepared.kind == "mutation":
                    _refuse_mutation(http_call)
                if prepared.confirm == "required":
                    raise ConsentImpossible(prepared.consent_for)
                if prepared.confirm and not parameters.confirmed:
                    raise ConsentRequired(prepared.consent_for, say='"extensions": {"confirm": true}')
            note(http_call.scope, decision="allowed")
            response = await run(caller, prepared)
        with telling_answer(prepared.request):
            return response, encoded(response, refuse=UpstreamError, room=caller.room)


async def _find_tool(http_call: HttpCall, caller: Caller) -> GraphQLTool:
    """Return the GraphQL tool that the path names. A prescribed tool has no schema of its own to serve."""
    name = http_call.path_params["tool"]
    note(http_call.scope, tool=name)
    tool = await caller.find_tool(name)
    if not isinstance(tool, GraphQLTool):
        raise ToolNotFound(name)
    require_scopes(tool.name, tool.options.scopes, caller.principal)
    return tool


async def _prepare(http_call: HttpCall, caller: Caller, parameters: Parameters, tool: GraphQLTool | None) -> Prepared:
    if parameters.query is None:
        if tool:
            raise Malformed("a tool has no persisted documents: send query")
        persisted = choose_persisted(caller, parameters.document_id or "", parameters.operation_name)
        if persisted.operation.kind == "mutation":
            _refuse_mutation(http_call)
        return prepare_persisted(caller, persisted, variables=parameters.variables)
    if not tool and caller.endpoint.bundle.graphql.mode != "on":
        sentence = "this endpoint runs persisted documents only: send documentId instead of query"
        raise Refused("persisted-documents-only", sentence)
    text, name, variables = parameters.query, parameters.operation_name, parameters.variables
    try:
        return await prepare_document(caller, text, variables, operation_name=name, tool=tool, for_model=False)
    except DocumentRefused:
        if http_call.method == "GET":  # a mutation is refused as a mutation, whatever else is wrong with it
            from handler.graph.documents.operation import asks_for_mutation

            limits = (tool or caller.endpoint.bundle).limits
            if asks_for_mutation(text, name, max_tokens=limits.max_tokens):
                _refuse_mutation(http_call)
        raise


def _refuse_mutation(http_call: HttpCall) -> None:
    """Refuse a mutation by GET, which links and prefetching send."""
    if http_call.method == "GET":
        sentence = "a mutation cannot be sent by GET: send it by POST"
        raise Refused("mutation-by-get", sentence, headers={"allow": "POST"})


def _refuse(http_call: HttpCall, exc: Exception, media_type: str) -> Response:
    """Note a refusal, and build its response without data. The log gets the reason, but no words of the caller.

    The status is equal in every media type, but for the refusal of a well-formed request: 200 in ``application/json``.
    """
    status, code, well_formed = 500, StileError.stile_code, False
    faults: Sequence[Fault] = [Fault("Internal error")]
    headers: Mapping[str, str] | None = None
    if isinstance(exc, AccessError | ToolNotFound | DocumentNotFound | CallError):
        status, code, faults = status_of(exc), exc.stile_code, [Fault(str(exc))]
    match exc:
        case HTTPException():
            note(http_call.scope, decision="refused", outcome="rejected", reason=exc.detail)
            status, code, faults, headers = exc.status_code, refusal_code(exc), [Fault(exc.detail)], exc.headers
        case Malformed():
            note(http_call.scope, decision="refused", outcome="rejected", reason="malformed")
            status, code, faults = 400, "malformed-request", [Fault(str(exc))]
        case AccessError():
            _, headers = deny(http_call, exc)
        case ToolNotFound() | DocumentNotFound():
            note(http_call.scope, decision="denied", outcome="rejected", reason=type(exc).__name__)
            if isinstance(exc, ToolNotFound):
                faults = [Fault("there is no such tool")]
        case UpstreamError() | DeadlinePassed():
            note(http_call.scope, decision="allowed", outcome="errors", reason=exc.log_reason)
            well_formed = True
        case CallError():
            note(http_call.scope, decision="refused", outcome="refused", reason=exc.log_reason)
            well_formed = True
            if isinstance(exc, DocumentRefused):
                faults = exc.faults
            elif isinstance(exc, InvalidArguments):
                # Each violation begins with a JSON pointer, "/" for all variables, except the last of too many.
                faults = [Fault(re.sub(r"\A/(?=:)|\A(?=/)", "variables", each)) for each in exc.violations]
        case _:
            note(http_call.scope, outcome="failed", failure=exc)
    note(http_call.scope, code=code)
    # Source: GraphQL specification, section 7.1.2 (Errors).
    errors = [
        {
            "message": fault.message,
            **({"locations": [{"line": fault.line, "column": fault.column}]} if fault.line else {}),
            "extensions": {"code": code},
        }
        for fault in faults
    ]
    body = to_well_formed_json({"errors": errors})
    status = 200 if well_formed and media_type != GRAPHQL_RESPONSE else status
    return Response(body, status, headers, media_type=f"{media_type}; charset=utf-8")


TEXTS = ("query", "documentId", "operationName")
MAPS = ("variables", "extensions")


class Malformed(Exception):
    """A malformed GraphQL request; the message names the expected form."""


@record(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The parameters of a GraphQL request: either ``query`` or ``document_id`` is given."""

    query: str | None
    document_id: str | None
    operation_name: str | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    confirmed: bool = False  # extensions say that the caller's user agreed


def parse_url(query_string: bytes) -> Parameters:
    """Read the parameters of a GET request. Empty ``variables`` and ``extensions``, as forms send them, are absent.

    Raises:
        Malformed: a parameter is repeated, ``variables`` or ``extensions`` is not a JSON object, or as ``parse_body``.
    """
    values: dict[str, Any] = {}
    try:
        pairs = parse_qsl(query_string.decode(), keep_blank_values=True, errors="strict")
    except UnicodeDecodeError as exc:
        raise Malformed("the URL is not UTF-8") from exc
    for name, text in pairs:
        if name in values:
            raise Malformed(f"{name:.50} appears in the URL twice")
        try:
            values[name] = text if name not in MAPS else parse_json(text.encode()) if text else None
        except ValueError as exc:
            raise Malformed(f"{name}: expected JSON") from exc
    return _parameters(values)


def parse_body(body: bytes) -> Parameters:
    """Read the parameters of a POST request. Members that GraphQL over HTTP does not have are ignored.

    Raises:
        Malformed: the body is not a JSON object, or is a list of requests; a parameter is of a wrong type; neither or
            both of ``query`` and ``documentId`` are given.
    """
    try:
        values = parse_json(body)
    except ValueError as exc:
        raise Malformed("the body is not JSON") from exc
    if isinstance(values, list):
        raise Malformed("batches are not supported: send each request by itself")
    if not isinstance(values, dict):
        raise Malformed("expected a JSON object with a query")
    return _parameters(values)


def _parameters(values: Mapping[str, Any]) -> Parameters:
    for name in TEXTS:
        if not isinstance(values.get(name), str | None):
            raise Malformed(f"{name}: expected a text")
    for name in MAPS:
        if not isinstance(values.get(name), dict | None):
            raise Malformed(f"{name}: expected an object")
    query, document_id = values.get("query"), values.get("documentId")
    if query is None and document_id is None:
        raise Malformed("expected query, or the documentId of a persisted document")
    if query is not None and document_id is not None:
        raise Malformed("query and documentId exclude each other: send one of them")
    return Parameters(
        query=query,
        document_id=document_id,
        operation_name=values.get("operationName") or None,
        variables=values.get("variables") or {},
        confirmed=(values.get("extensions") or {}).get(CONFIRM) is True,
    )
