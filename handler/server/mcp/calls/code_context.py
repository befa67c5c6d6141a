"""The context that a tool, prompt or resource in Python gets of the request that it answers.

Its GraphQL requests to its own endpoint have the rights of its caller and no others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import replace
from typing import Any

from handler.bundle.operations import PersistedOperation
from handler.bundle.tools import CONFIRM_LEVELS
from handler.code_tools.context import Context
from handler.errors import MAX_SAID_CHARS
from handler.errors.calls import CallError, GraphQLErrors, ToolError
from handler.server.context.caller import Caller
from handler.server.graphql.documents import Document, Prepared, prepare_document, prepare_persisted, run
from handler.server.mcp.calls.input_required import answers_to
from handler.server.mcp.messages.method_call import Call
from handler.server.mcp.messages.revisions import CLIENT_INFO, wanted_log_level
from handler.server.upstream.api_access import api_access
from handler.strict_json import JSONObject, to_well_formed_json

UNTOLD = frozenset(
    {
        "x-amz-security-token",
        "x-amzn-oidc-accesstoken",
        "x-amzn-oidc-data",
        "x-auth-token",
        "x-authorization",
        "x-forwarded-access-token",
        "x-forwarded-authorization",
    }
)
"""Headers that identify the caller to others. Authors read the claims instead: these values are not theirs."""


MAX_TOKEN_CHARS = 1_000
"""The longest progress token that gets reports. Each report repeats the token."""

MAX_MESSAGES_BYTES = 1_000_000
"""The size of the progress and log messages of one call that are kept. Each may repeat the arguments of the call."""


async def context_of(call: Call, *, needs_credential: bool = False) -> Context:
    """Return the context of one call.

    Raises:
        CredentialUnavailable: the call needs the credential for the API, and it cannot be obtained.
        InvalidParams: the answers in the request are malformed, or not for this call.
    """
    caller, answers, requests = call.caller, await answers_to(call), OwnRequests(call.caller)
    access = await api_access(caller, required=needs_credential)
    client, token = call.meta.get(CLIENT_INFO), call.meta.get("progressToken")
    is_token = (isinstance(token, str) and len(token) <= MAX_TOKEN_CHARS) or type(token) is int
    return Context(
        request_id=caller.request_id,
        protocol_version=call.request.revision,
        client_info=client if isinstance(client, dict) else {},
        client_capabilities=call.client_capabilities,
        headers={name: value for name, value in caller.headers.items() if name not in UNTOLD},
        auth=deepcopy(caller.principal.claims),  # policies read ours, and a key's outlive the call
        scopes=caller.principal.scopes,
        auth_strategy=access.strategy,
        provider_token=access.token,
        tokenless=access.tokenless,
        resolved_headers=access.headers,
        input_responses=answers.responses,
        request_state=answers.state,
        progress_token=token if is_token else None,
        log_level=wanted_log_level(call.meta, call.request.revision),
        deadline=call.deadline,
        max_values=caller.endpoint.bundle.limits.max_values,
        max_result_bytes=caller.endpoint.bundle.limits.max_result_bytes,
        ask_graphql=requests.graphql,
        ask_operation=requests.operation,
        notify=LastMessages(call.notifications).add,
    )


class LastMessages:
    """The messages of a call. The oldest go first if there are too many, or if they are too large together."""

    def __init__(self, messages: deque[JSONObject]) -> None:
        self._messages = messages
        self._sizes = deque(map(_size_of, messages))  # of an earlier context of the call, such as that of a provider
        self._left = MAX_MESSAGES_BYTES - sum(self._sizes)

    def add(self, message: JSONObject) -> None:
        """Keep a message, unless it alone is too large, or cannot be sent."""
        size = _size_of(message)
        if size > MAX_MESSAGES_BYTES:
            return
        while self._sizes and (size > self._left or len(self._messages) == self._messages.maxlen):
            self._messages.popleft()
            self._left += self._sizes.popleft()
        self._messages.append(message)
        self._sizes.append(size)
        self._left -= size


def _size_of(message: JSONObject) -> int:
    """Return the approximate size of a message as JSON: a long text is not written for that.

    A message that is not JSON is too large: it is never sent, and may hold as much as any other.
    """
    params = message["params"]
    text = params.get("data", params.get("message"))
    if isinstance(text, str):
        return len(text)
    try:
        return len(to_well_formed_json(message))
    except (TypeError, ValueError, RecursionError):  # an author may log any value
        return MAX_MESSAGES_BYTES + 1


MAX_REQUESTS = 50
"""The most GraphQL requests that one call may send."""


class OwnRequests:
    """The GraphQL requests of one call, with the caller's view, policies, credentials and limits."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._sent = 0

    async def graphql(self, query: str, variables: Mapping[str, Any]) -> JSONObject:
        """Run a document and return ``data``.

        Raises:
            ToolError: the document is refused, the API gave no answer, or one with errors (``GraphQLErrors``).
        """
        if not self._caller.endpoint.bundle.index:
            raise ToolError("This tool asks a GraphQL API, and its endpoint does not have one.")
        document = Document(text=query, operation_name=None, variables=variables)
        with self._noting_refusal(text=query):
            try:
                prepared = await prepare_document(self._caller, document, tool=None, for_model=False)
            except CallError as exc:
                raise ToolError(str(exc)) from exc
            if prepared.kind != "query" and self._caller.endpoint.asks_for_consent:
                raise ToolError(
                    "Nothing was sent: writing needs consent at this endpoint, and a tool's document cannot ask for "
                    "consent. The tool may run an operation by its name if the operation needs no consent."
                )
        return await self._run(prepared)

    async def operation(self, name: str, variables: Mapping[str, Any]) -> JSONObject:
        """Run an operation of the endpoint's files by name, and return ``data``.

        Raises:
            ToolError: as ``graphql``, or the caller has no such operation.
            InsufficientScope, CredentialRequired: the caller lacks scopes of a tool that runs the operation.
        """
        operations = self._caller.endpoint.operations.get(name, ())
        with self._noting_refusal(sha256=operations[0].operation.sha256 if operations else ""):
            prepared = self._prepare_operation(name, variables)
        return await self._run(prepared)

    def _noting_refusal(self, **asked: str) -> AbstractContextManager[None]:
        """Note the fields that a refused request asks for, if the endpoint's author wants them in the log."""
        if self._caller.endpoint.bundle.log is None:
            return nullcontext()
        from handler.server.upstream.read_coordinates import noting_refusal

        return noting_refusal(self._caller, **asked)

    def _prepare_operation(self, name: str, variables: Mapping[str, Any]) -> Prepared:
        persisted = self._require_operation(name)
        unknown = [each for each in variables if each not in persisted.variables.get("properties", {})]
        if unknown:
            raise ToolError(f"operation {name}: it has no variable {unknown[0]:.{MAX_SAID_CHARS}} to give")
        try:
            prepared = prepare_persisted(self._caller, persisted, variables=variables)
        except CallError as exc:
            raise ToolError(str(exc)) from exc
        if prepared.consent_for:
            raise ToolError(
                f"Nothing was sent: operation {name} asks for consent, and only a call of its own gets that."
            )
        return prepared

    def _require_operation(self, name: str) -> PersistedOperation:
        """Return the operation of a name. A hidden operation and a missing one give the same error.

        An operation in several documents has the strictest ``confirm`` and all scopes of any of them.
        """
        evaluation = self._caller.evaluation
        operations = [
            each
            for each in self._caller.endpoint.operations.get(name, ())
            if name and evaluation.may_meet(each.mask, each.operation.variables)
        ]
        if not operations:
            raise ToolError(f"There is no operation {name:.{MAX_SAID_CHARS}}")
        confirm = max((each.confirm for each in operations), key=CONFIRM_LEVELS.index)
        scopes = dict.fromkeys(scope for each in operations for scope in each.scopes)
        return replace(operations[0], confirm=confirm, scopes=tuple(scopes))

    async def _run(self, prepared: Prepared) -> JSONObject:
        self._sent += 1
        if self._sent > MAX_REQUESTS:
            raise ToolError(f"One call may send {MAX_REQUESTS} GraphQL requests, and this one sent them.")
        try:
            response = await run(self._caller, prepared)
        except CallError as exc:
            raise ToolError(str(exc)) from exc
        data: JSONObject | None = response.get("data")
        if response.get("errors"):
            raise GraphQLErrors(response["errors"], partial=data)
        if data is None:
            raise ToolError("The API answered without data.")
        return data
