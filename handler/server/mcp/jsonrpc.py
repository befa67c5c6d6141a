"""The messages of MCP, read from headers and body, and the call of a method by one caller. Pure: no I/O.

The checks, in order; the first failure wins:

1. the body is JSON: one object, or a batch at 2025-03-26     JSON-RPC 2.0; MCP 2025-03-26, basic ("Batching")
2. no id: a notification; a result: a response, legacy only   MCP, basic ("Notifications", "Responses")
3. the id is a string or an integer, the method a string      MCP, basic ("Requests")
4. the era: legacy by the header and ``_meta``, or by neither MCP 2026-07-28, basic/versioning
5. modern: ``_meta`` names version and client capabilities    basic ("Request metadata")
6. modern: the routing headers equal the body                 basic/transports/streamable-http, "Standard headers"
7. the version is one we serve                                basic/versioning
8. modern: the level of log messages is one of MCP            server/utilities/logging ("Error Handling")

Two more need the endpoint: ``methods.py`` checks the method, ``tools_call.py`` the arguments repeated in headers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any

from handler.bundle.tools import Tool
from handler.cold.records import record, replaced
from handler.errors import MAX_SAID_CHARS, StileError
from handler.errors.calls import CallError, DeadlinePassed, GraphQLErrors, NotInCatalog, ToolError
from handler.errors.upstream import UpstreamError
from handler.server.asgi.headers import decoded
from handler.server.context import Caller
from handler.server.mcp.revisions import (
    BATCHING,
    CLIENT_CAPABILITIES,
    LEGACY,
    LOG_LEVEL,
    MODERN,
    PROTOCOL_VERSION,
    TASK_METHODS,
    has_batches,
    is_legacy,
    is_modern,
    revision_of_header,
)
from handler.strict_json import JSONObject, parse_json

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022
DENIED = -32001
"""The caller is denied an item of a batch. Outside a batch, the status would be 401 or 403."""

STILE_CODES: Mapping[int, str] = {
    PARSE_ERROR: "parse-error",
    INVALID_REQUEST: "invalid-request",
    METHOD_NOT_FOUND: "method-not-found",
    INVALID_PARAMS: "invalid-params",
    INTERNAL_ERROR: "internal-error",
    HEADER_MISMATCH: "header-mismatch",
    MISSING_CAPABILITY: "missing-capability",
    UNSUPPORTED_VERSION: "unsupported-version",
}
"""The stable codes of rejections that have no nearer one; the log has them as names, such as ``ParseError``."""

OWN_CODE = "own-error"
"""The stable code of an error with an author's own code of JSON-RPC."""

NAMED_METHODS: Mapping[str, str] = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    **dict.fromkeys(TASK_METHODS, "taskId"),
}
"""The methods with an ``Mcp-Name`` header, and the parameter that the header repeats."""

MAX_BATCH = 20
"""The most messages in one batch. A batch is answered as a whole, within the time of one request."""

VERSION = "mcp-protocol-version"

Id = str | int


@record(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, to be answered in ``revision``."""

    id: Id
    method: str
    params: Mapping[str, Any]
    revision: str

    @property
    def meta(self) -> Mapping[str, Any]:
        """The member ``_meta`` of the parameters; empty if it is absent or not an object."""
        return _object(self.params.get("_meta"))


@record(frozen=True, slots=True, kw_only=True)
class Notification:
    """A message without an answer: a notification, or a response, although the server sends no requests."""

    method: str


class Rejected(Exception):
    """A rejected message: the JSON-RPC error and the HTTP status of its answer.

    ``stile_code`` follows from ``code`` if it is empty. With the status 401, the answer names the place to get a token.
    """

    def __init__(
        self,
        code: int,
        message: str,
        *,
        id: Id | None = None,  # noqa: A002 - JSON-RPC's word
        status: int = 400,
        facts: object = None,
        stile_code: str = "",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.id = id
        self.status = status
        self.facts = facts
        self.stile_code = stile_code or STILE_CODES.get(code, OWN_CODE)

    @property
    def log_reason(self) -> str:
        """The name of ``code`` in the log, which gets no error message: a message may repeat the caller's words."""
        return STILE_CODES.get(self.code, "Mcp-Error").title().replace("-", "")

    @property
    def data(self) -> object:
        """The error's member ``data``: facts with the stable code. An author's own ``code``, or other JSON, stays."""
        if self.facts is None or isinstance(self.facts, dict):
            return {"code": self.stile_code, **(self.facts or {})}
        return self.facts


Item = Request | Notification | Rejected
"""One message of a batch. A rejected message is answered beside the others."""


def classify(headers: Mapping[str, str], body: bytes) -> Request | Notification | list[Item]:
    """Read one message, or a batch of them. ``headers`` have lower-case names.

    Raises:
        Rejected: at the first check that fails.
    """
    try:
        raw = parse_json(body)
    except ValueError as exc:
        raise Rejected(PARSE_ERROR, "Parse error: the body is not JSON") from exc
    if isinstance(raw, list):
        # Source: MCP 2025-03-26, basic ("Batching") and basic/lifecycle; later revisions have no batches.
        if not has_batches(revision_of_header(headers.get(VERSION))):
            sentence = "Invalid request: expected one JSON-RPC message, batches ended with 2025-03-26"
            raise Rejected(INVALID_REQUEST, sentence)
        if not 1 <= len(raw) <= MAX_BATCH:
            raise Rejected(INVALID_REQUEST, f"Invalid request: a batch has 1 to {MAX_BATCH} messages")
        return [_item(item) for item in raw]
    if not isinstance(raw, dict):
        raise Rejected(INVALID_REQUEST, "Invalid request: expected a JSON-RPC message")
    return _classified(raw, headers)


def _item(raw: Any) -> Item:
    if not isinstance(raw, dict):
        return Rejected(INVALID_REQUEST, "Invalid request: expected a JSON-RPC message")
    try:
        item = _classified(raw, {VERSION: BATCHING})
    except Rejected as exc:
        return exc
    if isinstance(item, Request) and item.method == "initialize":
        return Rejected(INVALID_REQUEST, "Invalid request: a batch cannot contain initialize", id=item.id)
    return item


def _classified(raw: Mapping[str, Any], headers: Mapping[str, str]) -> Request | Notification:
    header, method, identifier = headers.get(VERSION), raw.get("method"), raw.get("id")
    if "method" not in raw and ("result" in raw or "error" in raw):
        # MCP 2025-11-25, basic/transports ("Sending Messages to the Server"); 2026-07-28 has no such messages.
        if is_modern(revision_of_header(header)):
            sentence = "Invalid request: expected a request, and not a response: the server asked nothing"
            raise Rejected(INVALID_REQUEST, sentence)
        return Notification(method="response")
    if "id" in raw and (isinstance(identifier, bool) or not isinstance(identifier, str | int)):
        raise Rejected(INVALID_REQUEST, "Invalid request: the id must be a string or an integer")
    reject = partial(Rejected, id=identifier)
    if raw.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise reject(INVALID_REQUEST, 'Invalid request: expected "jsonrpc": "2.0" and a method')
    if identifier is None:
        return Notification(method=method)
    params = raw.get("params", {})
    if not isinstance(params, dict):
        raise reject(INVALID_PARAMS, "Invalid params: expected an object")
    request = Request(id=identifier, method=method, params=params, revision=revision_of_header(header))
    if is_legacy(header, request.meta):
        return request
    if PROTOCOL_VERSION not in request.meta:
        _require_served((header or "").strip(" \t"), among=(*MODERN, *LEGACY), reject=reject)
    return replaced(request, revision=_modern_revision(request, headers, reject=reject))


def _modern_revision(request: Request, headers: Mapping[str, str], *, reject: Callable[..., Rejected]) -> str:
    meta = request.meta
    version = meta.get(PROTOCOL_VERSION)
    if not isinstance(version, str) or not isinstance(meta.get(CLIENT_CAPABILITIES), dict):
        sentence = f"_meta needs {PROTOCOL_VERSION} (a string) and {CLIENT_CAPABILITIES} (an object)"
        raise reject(INVALID_PARAMS, f"Invalid params: {sentence}")
    routing: dict[str, object] = {VERSION: version, "mcp-method": request.method}
    if request.method in NAMED_METHODS:
        routing["mcp-name"] = request.params.get(NAMED_METHODS[request.method])
    for name, expected in routing.items():
        header = headers.get(name)
        if header is None:
            raise reject(HEADER_MISMATCH, f"Header mismatch: {name} is missing")
        value = decoded(header) if name == "mcp-name" else header.strip(" \t")
        if value != expected:
            raise reject(HEADER_MISMATCH, f"Header mismatch: {name} differs from the body")
    _require_served(version, among=MODERN, reject=reject)
    if LOG_LEVEL in meta:
        from handler.code_tools.context import LEVELS  # few requests ask for log messages

        if meta[LOG_LEVEL] not in LEVELS:
            raise reject(INVALID_PARAMS, f"Invalid params: {LOG_LEVEL} has to be one of {', '.join(LEVELS)}")
    return version


def _require_served(version: str, *, among: Sequence[str], reject: Callable[..., Rejected]) -> None:
    """Refuse a version that is not served. ``supported`` has those of ``server/discover``, the message all of them."""
    if version not in among:
        sentence = f"Unsupported protocol version {version:.{MAX_SAID_CHARS}}: expected {', '.join(among)}"
        facts = {"supported": list(MODERN), "requested": version[:MAX_SAID_CHARS]}
        raise reject(UNSUPPORTED_VERSION, sentence, facts=facts)


MAX_NOTIFICATIONS = 1_000


@record(frozen=True, slots=True, kw_only=True)
class Call:
    """One request of one caller."""

    request: Request
    caller: Caller
    notifications: deque[JSONObject] = field(default_factory=lambda: deque(maxlen=MAX_NOTIFICATIONS))
    """Progress and log messages to send before the answer. Only the last are kept: late progress says most."""
    failures: list[BaseException] = field(default_factory=list)
    """The failures of a tool so far, or of the API behind it. The last is the reason of a result with ``isError``."""
    begun: list[JSONObject] = field(default_factory=list)
    """The facts of authors' code that this request has begun."""

    @property
    def note(self) -> Callable[..., None]:
        """The function that adds facts to the request's line in the log."""
        return self.caller.note

    def fail(self, failure: Exception) -> None:
        """Keep a failure of the called tool, and note its decision and reason.

        A request that reached the API or an author's code was allowed, even if it failed.
        """
        by_api = failure.__cause__  # of a tool in Python whose request failed
        cause = by_api if isinstance(by_api, UpstreamError) and not isinstance(failure, UpstreamError) else failure
        self.failures.append(cause)
        reason = cause.log_reason if isinstance(cause, CallError) else type(cause).__name__
        if isinstance(failure, GraphQLErrors):  # the reason is noted where the errors are read
            self.note(decision="allowed")
        elif isinstance(failure, NotInCatalog):
            self.note(decision="denied", reason=reason)
        else:
            was_sent = not isinstance(failure, CallError) or isinstance(
                failure, UpstreamError | DeadlinePassed | ToolError
            )
            self.note(decision="allowed" if was_sent else "refused", reason=reason)

    @property
    def failure_code(self) -> str:
        """The stable code of the last failure; empty string if nothing failed."""
        if not self.failures:
            return ""
        last = self.failures[-1]
        return last.stile_code if isinstance(last, StileError) else StileError.stile_code

    def read(self, tool: Tool, arguments: JSONObject) -> JSONObject:
        """Return the arguments of a tool as its function needs them.

        Raises:
            InvalidArguments: the arguments do not fit the tool's schema.
        """
        return self.caller.endpoint.validator(tool, self.caller.evaluation).read(arguments)

    @property
    def client_capabilities(self) -> Mapping[str, Any]:
        """The client's capabilities; empty in the legacy era, in which the handshake has them and is not kept."""
        return _object(self.request.meta.get(CLIENT_CAPABILITIES)) if is_modern(self.request.revision) else {}


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
