"""The context that a tool, prompt or resource in Python gets of the request that it answers."""

from __future__ import annotations

from collections import deque
from copy import deepcopy
from typing import Any

from handler.code_tools.functions.context import Context
from handler.server.mcp.calls.code_graphql import OwnRequests
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
    return Context(
        request_id=caller.request_id,
        protocol_version=call.request.revision,
        client_info=_client_info(call),
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
        progress_token=_progress_token(call),
        log_level=wanted_log_level(call.meta, call.request.revision),
        deadline=call.deadline,
        max_values=caller.endpoint.bundle.limits.max_values,
        max_result_bytes=caller.endpoint.bundle.limits.max_result_bytes,
        ask_graphql=requests.graphql,
        ask_operation=requests.operation,
        notify=LastMessages(call.notifications).add,
    )


def _client_info(call: Call) -> JSONObject:
    given = call.meta.get(CLIENT_INFO)
    return given if isinstance(given, dict) else {}


def _progress_token(call: Call) -> str | int | None:
    token: Any = call.meta.get("progressToken")
    if isinstance(token, str) and len(token) > MAX_TOKEN_CHARS:
        return None
    return token if isinstance(token, str | int) and not isinstance(token, bool) else None


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
