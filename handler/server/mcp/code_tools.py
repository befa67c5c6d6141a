"""Run the tools, prompts and resources that authors wrote in Python, with the context that they get of a request.

An author's module loads with the first call of it, jsonschema and pydantic with the first value that needs them. The
GraphQL requests of an author's code to its own endpoint have the rights of its caller and no others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from typing import Any

from handler.bundle.content import CodePrompt, CodeResource
from handler.bundle.tools import CONFIRM_LEVELS, CodeKit, CodeTool, PersistedOperation
from handler.code_tools import dispatch
from handler.code_tools.boundary import LOG, AuthorFailed, authors_code
from handler.code_tools.context import Context
from handler.code_tools.dispatch import failed, run_tool
from handler.code_tools.loading import Definition, as_published, load_kit
from handler.code_tools.results import error_result
from handler.code_tools.return_values import InputRequired, ToolCall
from handler.code_tools.sections import Listed
from handler.code_tools.toolkit import Toolkit
from handler.errors import MAX_SAID_CHARS
from handler.errors.calls import CallError, CodeChanged, GraphQLErrors, ToolError
from handler.errors.protocol import AuthenticationRequired, McpError
from handler.server.asgi.request_log import written
from handler.server.asgi.response_size import encoded
from handler.server.auth.principal import ANONYMOUS, require_scopes
from handler.server.context import Caller
from handler.server.endpoints.arguments_validator import refuse_excess
from handler.server.graphql_documents import (
    Prepared,
    noting_refusal,
    prepare_document,
    prepare_persisted,
    run,
)
from handler.server.mcp.input_required import answers_to, ask
from handler.server.mcp.jsonrpc import Call
from handler.server.mcp.revisions import CLIENT_INFO, wanted_log_level
from handler.server.upstream.api_access import api_access
from handler.strict_json import JSONObject, to_well_formed_json

NAMED = ("method", "tool", "prompt", "resource")
"""Facts of a request that the line has which is written before an author's code."""


async def call_code_tool(call: Call, tool: CodeTool, arguments: Mapping[str, Any]) -> JSONObject | ToolCall:
    """Call a code tool by its name or an alias. Return a result, also an ``input_required`` one, or another call.

    Raises:
        McpError: the tool raises it, or the caller lacks a credential.
        AccessError: the caller lacks scopes.
        Rejected: the tool asks for input that the client does not support.
    """
    name = call.request.params["name"]
    try:
        definition = _published(_loaded(call, tool.kit).find_tool(tool.name), tool.digest, f"Tool {name}")
        # The options in the code may be newer than the bundle's.
        principal, options = call.caller.principal, definition.options
        require_scopes(definition.name, options.scopes, principal)
        if options.requires_auth and principal == ANONYMOUS:
            raise AuthenticationRequired
        ctx = await context_of(call, needs_credential=options.requires_auth)
        if principal.claims is None:
            ctx.scopes = frozenset(options.scopes)  # a caller without claims needs no scopes
        value = await run_tool(definition.named(name), _own(call, name, arguments), ctx, on_failure=call.fail)
        return value if isinstance(value, ToolCall) else _with_options(await _answer(call, value), tool)
    except (AuthorFailed, CallError) as exc:
        return _failed(call, name, exc)


async def get_code_prompt(call: Call, prompt: CodePrompt, arguments: Mapping[str, Any]) -> JSONObject:
    """Run a code prompt. Return a ``GetPromptResult``, or an ``input_required`` result.

    Raises:
        McpError: the arguments do not fit, or the prompt failed; only the log gets an exception of the author's code.
        Rejected: the prompt asks for input that the client does not support.
    """
    from handler.code_tools.content import run_prompt  # most requests are calls of tools

    label = f"Prompt {prompt.name}"
    with _content_errors(call, label):
        prompts = _loaded(call, prompt.kit).prompts
        current = next((each for each in prompts if each.name == prompt.name), None)
        definition = _published(current, prompt.digest, label)
        return await _answer(call, await run_prompt(definition, arguments, await context_of(call)))


async def read_code_resource(call: Call, resource: CodeResource, uri: str) -> JSONObject:
    """Read a code resource at a URI of it. Return a ``ReadResourceResult``, or an ``input_required`` result.

    Raises:
        McpError: the resource failed; only the log gets an exception of the author's code.
        Rejected: the resource asks for input that the client does not support.
    """
    from handler.code_tools.content import run_resource  # as above

    own = resource.entry.get("uri") or resource.entry["uriTemplate"]
    label = f"Resource {own}"
    with _content_errors(call, label):
        resources = _loaded(call, resource.kit).resources
        current = next((each for each in resources if each.uri == own), None)
        definition = _published(current, resource.digest, label)
        return await _answer(call, await run_resource(definition, uri, await context_of(call)))


async def may_use(call: Call, tool: CodeTool) -> bool:
    """Return whether the toolkit lets this caller use a tool of its own; false if its code fails."""
    try:
        definition = _loaded(call, tool.kit).find_tool(tool.name)
        with authors_code():
            return definition is None or definition.allows(await context_of(call))  # a call to a missing tool says so
    except AuthorFailed as exc:
        _log(call, f"allow of tool {tool.name}", exc)
        return False


async def tools_of_kit(call: Call, kit: CodeKit) -> dict[str, Listed]:
    """Return the tools of a toolkit for this caller, by name, as the endpoint's configuration shows them.

    Raises:
        McpError: the toolkit's code failed.
    """
    try:
        toolkit = _loaded(call, kit.use)
        with authors_code():
            sections = await dispatch.sections_of(toolkit, await context_of(call))
    except AuthorFailed as exc:
        _log(call, f"toolkit {kit.use}", exc)
        raise McpError(McpError.INTERNAL_ERROR, "The tools could not be listed") from exc
    own, published = {tool.name for tool in toolkit.tools}, call.caller.endpoint.tools
    tools: dict[str, Listed] = {}
    for listed in sections["tools"]:
        entry, name = listed.entry, listed.entry["name"]
        if name not in own:
            if kit.category:
                entry = {**entry, "_meta": {**entry.get("_meta", {}), "category": kit.category}}
            tools[name] = Listed(entry=entry, hidden=bool(kit.hidden))
        elif name in published:  # tools of newer code await publishing
            tools[name] = listed
    return tools


async def call_provided_tool(
    call: Call, kit: CodeKit, name: str, arguments: Mapping[str, Any]
) -> JSONObject | ToolCall:
    """Call a tool that a toolkit's provider has for this caller, as ``call_code_tool`` does.

    Raises:
        McpError: as ``call_code_tool``, or the tool no longer exists.
    """
    try:
        loaded, ctx = _loaded(call, kit.use), await context_of(call)
        own = _own(call, name, arguments)
        value = await dispatch.call_tool(loaded, name, own, ctx, on_failure=call.fail)
        return value if isinstance(value, ToolCall) else await _answer(call, value)
    except (AuthorFailed, CallError) as exc:
        return _failed(call, name, exc)


def _failed(call: Call, name: str, exc: AuthorFailed | CallError) -> JSONObject:
    """Return a result with ``isError`` that says why a tool failed; only the log gets an exception of its code."""
    call.fail(exc)
    if isinstance(exc, CallError):
        return error_result(exc)
    _log(call, f"tool {name}", exc)
    return failed(call.caller.request_id)


def _own(call: Call, tool: str, arguments: Mapping[str, Any]) -> JSONObject:
    """Copy the arguments for the author to change: the state of a question is bound to the arguments as they came.

    Raises:
        InvalidArguments: the arguments are too many, or nested too deeply.
    """
    refuse_excess(tool, arguments, max_values=call.caller.endpoint.bundle.limits.max_values)
    return deepcopy(dict(arguments))


def _loaded(call: Call, use: str) -> Toolkit:
    caller, facts = call.caller, {"toolkit": use}
    facts |= {name: call.caller.facts[name] for name in NAMED if name in call.caller.facts}
    if facts not in call.begun:
        call.begun.append(facts)
        endpoint = {"endpoint": caller.endpoint.bundle.endpoint, "bundle": caller.endpoint.digest}
        caller.services.log_begun(written({"request_id": caller.request_id, **endpoint, **facts}))
    with authors_code():
        return load_kit(use, modules=call.caller.services.code_modules)


def _published(definition: Definition | None, digest: str, label: str) -> Definition:
    """Return the definition if it takes and returns the values of the bundle's definition.

    Raises:
        CodeChanged: the definition differs from the bundle, or is ``None``.
    """
    with authors_code():
        published = None if definition is None else as_published(definition, digest)
        if published is None:
            raise CodeChanged(label)
        return published


async def _answer(call: Call, value: JSONObject | InputRequired) -> JSONObject:
    """Return the result to send, which may ask questions.

    Raises:
        CallError: the result is too large, or the client cannot be asked.
        AuthorFailed: the questions are not valid, or the value is not JSON.
    """
    try:
        if isinstance(value, InputRequired):
            with authors_code():
                requests = value.input_requests()
            value = await ask(call, requests, state=value.state)
        encoded(value, refuse=ToolError, room=call.caller.room)
    except (TypeError, ValueError, RecursionError) as exc:
        raise AuthorFailed(exc) from exc
    return value


def _with_options(result: JSONObject, tool: CodeTool) -> JSONObject:
    """Return the result in the form, and with the metadata, of the tool's options in the bundle."""
    options = tool.options
    if options.output == "text":
        result = {name: value for name, value in result.items() if name != "structuredContent"}
    elif options.output == "structured" and "structuredContent" in result:
        result = {**result, "content": []}
    return {**result, "_meta": {**options.meta, **result.get("_meta", {})}} if options.meta else result


@contextmanager
def _content_errors(call: Call, label: str) -> Iterator[None]:
    """Turn the failure of a prompt or resource, whose results cannot express failure, into an error of JSON-RPC."""
    try:
        yield
    except (AuthorFailed, CallError) as exc:
        call.note(reason=type(exc).__name__)
        if isinstance(exc, CallError):
            raise McpError(McpError.INTERNAL_ERROR, str(exc)) from exc
        _log(call, label, exc)
        raise McpError(McpError.INTERNAL_ERROR, f"{label} failed") from exc


def _log(call: Call, label: str, exc: AuthorFailed) -> None:
    LOG.error("%s failed in request %s", label, call.caller.request_id, exc_info=exc)


HIDDEN_HEADERS = frozenset(
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
    caller, requests = call.caller, OwnRequests(call.caller)
    responses, state = await answers_to(call)
    access = await api_access(caller, required=needs_credential)
    client, token = call.request.meta.get(CLIENT_INFO), call.request.meta.get("progressToken")
    is_token = (isinstance(token, str) and len(token) <= MAX_TOKEN_CHARS) or type(token) is int
    return Context(
        request_id=caller.request_id,
        protocol_version=call.request.revision,
        client_info=client if isinstance(client, dict) else {},
        client_capabilities=call.client_capabilities,
        headers={name: value for name, value in caller.headers.items() if name not in HIDDEN_HEADERS},
        auth=deepcopy(caller.principal.claims),  # policies read ours, and a key's outlive the call
        scopes=caller.principal.scopes,
        auth_strategy=access.strategy,
        provider_token=access.token,
        tokenless=access.tokenless,
        resolved_headers=access.headers,
        input_responses=responses,
        request_state=state,
        progress_token=token if is_token else None,
        log_level=wanted_log_level(call.request.meta, call.request.revision),
        deadline=caller.deadline,
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
        with noting_refusal(self._caller, text=query):
            with _tool_errors():
                prepared = await prepare_document(self._caller, query, variables, for_model=False)
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
        with noting_refusal(self._caller, sha256=operations[0].operation.sha256 if operations else ""):
            persisted = self._require_operation(name)
            unknown = [each for each in variables if each not in persisted.variables.get("properties", {})]
            if unknown:
                raise ToolError(f"operation {name}: it has no variable {unknown[0]:.{MAX_SAID_CHARS}} to give")
            with _tool_errors():
                prepared = prepare_persisted(self._caller, persisted, variables=variables)
            if prepared.consent_for:
                raise ToolError(
                    f"Nothing was sent: operation {name} asks for consent, and only a call of its own gets that."
                )
        return await self._run(prepared)

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
        with _tool_errors():
            response = await run(self._caller, prepared)
        data: JSONObject | None = response.get("data")
        if response.get("errors"):
            raise GraphQLErrors(response["errors"], partial=data)
        if data is None:
            raise ToolError("The API answered without data.")
        return data


@contextmanager
def _tool_errors() -> Iterator[None]:
    """Turn the failure of a request into an error that an author's code may catch."""
    try:
        yield
    except CallError as exc:
        raise ToolError(str(exc)) from exc
