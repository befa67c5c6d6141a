"""The Lambda function in this process: events in, responses out."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from mangum import Mangum

from handler.compiler.compile import Compiled
from handler.http.addresses import AddressRules
from handler.http.client import HttpClient
from handler.server.app import create_app
from handler.server.asgi import content_negotiation as media_types
from handler.server.asgi.request_log import RequestLog
from handler.server.auth.tokens import TokenVerifier
from handler.server.context import Services
from handler.server.endpoints.registry import CachePolicy, Endpoints, Instant, now
from handler.server.outgoing.outgoing_services import OutgoingServices
from handler.server.outgoing.secret_store import SecretStore
from handler.storage.local import MemoryStorage
from handler.storage.publishing import WritableStorage
from tests.support.codes import code_in
from tests.support.http_door import http_door
from tests.support.local import LOCAL
from tests.support.secrecy import SESSION, Output

MODERN, LEGACY = "2026-07-28", "2025-11-25"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
}


DOMAIN = "abc123.execute-api.us-east-1.amazonaws.com"

DOOR, HTTP = "STILE_DOOR", "http"
"""The variable, and its value for tests over HTTP as ``stile serve`` answers, except those marked ``lambda_alone``."""


class Context:
    """What Lambda hands over beside the event."""

    aws_request_id = "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"
    function_name = "stile"
    memory_limit_in_mb = 1024

    def __init__(self, *, remaining_ms: int = 29_000) -> None:
        self._remaining_ms = remaining_ms

    def get_remaining_time_in_millis(self) -> int:
        return self._remaining_ms


@dataclass(frozen=True)
class Answer:
    """One HTTP response of the function."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def result(self) -> Any:
        """The result of a JSON-RPC answer, which must be one."""
        assert "result" in self.json, self.body
        return self.json["result"]

    @property
    def code(self) -> str:
        """The stable code of the answer's error; empty string if it has none."""
        return code_in(self.json)

    @property
    def text(self) -> str:
        """The one text block of a tool's result."""
        (block,) = self.result["content"]
        return str(block["text"])


@dataclass(frozen=True)
class Function:
    """Sends HTTP requests to the function as API Gateway does (payload format 2.0)."""

    handler: Callable[[Any, Any], Any]
    lines: list[dict[str, Any]] = field(default_factory=list)  # what was logged, where the test collects it
    path: str = "/api/customers/mcp"
    context: Context = field(default_factory=Context)

    def send(
        self, method: str, path: str | None = None, *, body: bytes | str = b"", headers: Mapping[str, str] | None = None
    ) -> Answer:
        event = event_for(method, path or self.path, body=body, headers=headers or {})
        return answer_of(self.handler(event, self.context))

    def post(self, message: Any, *, path: str | None = None, headers: Mapping[str, str] | None = None) -> Answer:
        """POST a JSON-RPC message (or the bytes of a bad one)."""
        body = message if isinstance(message, bytes | str) else json.dumps(message)
        return self.send("POST", path, body=body, headers={"content-type": "application/json", **(headers or {})})

    def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        modern: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """A JSON-RPC request of either era, at its newest revision."""
        sent = dict(params or {})
        routing = {"mcp-protocol-version": LEGACY}
        if modern:
            sent["_meta"] = META
            routing = {"mcp-protocol-version": MODERN, "mcp-method": method}
            named = sent.get("name", sent.get("uri"))
            routing |= {} if named is None else {"mcp-name": named}
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": sent}
        return self.post(message, headers={**routing, **(headers or {})})

    def call(self, tool: str, arguments: Mapping[str, Any], *, headers: Mapping[str, str] | None = None) -> Answer:
        return self.request("tools/call", {"name": tool, "arguments": arguments}, headers=headers)

    def graphql(self, parameters: Any, path: str = "/graphql", *, headers: Mapping[str, str] | None = None) -> Answer:
        """POST a GraphQL request to a route of the endpoint, for a GraphQL response."""
        accepted = {"accept": "application/graphql-response+json"}
        return self.post(
            parameters, path=self.path.removesuffix("/mcp") + path, headers={**accepted, **(headers or {})}
        )

    def get(
        self, parameters: Mapping[str, str], path: str = "/graphql", *, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """GET a GraphQL request from a route of the endpoint."""
        accepted = {"accept": "application/graphql-response+json"}
        url = f"{self.path.removesuffix('/mcp')}{path}?{urlencode(parameters)}"
        return self.send("GET", url, headers={**accepted, **(headers or {})})

    def query(self, tool: str, query: str, **more: Any) -> Answer:
        """Call a GraphQL tool."""
        return self.call(tool, {"query": query, **more})


def event_for(method: str, path: str, *, body: bytes | str, headers: Mapping[str, str]) -> dict[str, Any]:
    """An API Gateway HTTP API event, payload format 2.0."""
    SESSION.keep_headers(headers)
    path, _, query_string = path.partition("?")
    text, is_binary = body, False
    if isinstance(body, bytes):
        try:
            text = body.decode()
        except UnicodeDecodeError:
            text, is_binary = base64.b64encode(body).decode(), True
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query_string,
        "headers": {"host": DOMAIN, **headers},
        "requestContext": {
            "domainName": DOMAIN,
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "203.0.113.7"},
            "stage": "$default",
        },
        "body": text,
        "isBase64Encoded": is_binary,
    }


def answer_of(response: Mapping[str, Any]) -> Answer:
    """A Lambda proxy response, read as HTTP, which no secret may be in."""
    answer = unsearched_answer_of(response)
    SESSION.note(Output.ANSWER, str(answer.headers))
    SESSION.note(Output.ANSWER, answer.body)
    return answer


def unsearched_answer_of(response: Mapping[str, Any]) -> Answer:
    """The same where credentials are what the response is for."""
    body = response.get("body") or ""
    raw = base64.b64decode(body) if response.get("isBase64Encoded") else body.encode()
    return Answer(status=response["statusCode"], headers=response.get("headers", {}), body=raw)


@contextmanager
def event_loop() -> Iterator[None]:
    """The loop that Mangum runs invocations on."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    with closing(loop):
        yield


@contextmanager
def closing(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Close a loop in the end, with its threads."""
    try:
        yield
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        asyncio.set_event_loop(None)
        loop.close()


def store(storage: WritableStorage, *compiled: Compiled) -> None:
    """Publish compiled endpoints to a storage."""
    for one in compiled:
        SESSION.note(Output.INDEX, one.index)
        for key, content in one.objects():
            SESSION.note(Output.BUNDLE, content)
            storage.write(key, content)


class Log:
    """The lines that a function logs."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def write_line(self, facts: Mapping[str, Any], *, failure: BaseException | None) -> None:
        SESSION.note(Output.LINE, str(facts))
        if failure:
            SESSION.note(Output.LINE, "".join(traceback.format_exception(failure)))
        self.lines.append({**facts, "failure": failure})

    def write_trouble(self, name: str, trouble: Exception) -> None:
        SESSION.note(Output.LINE, str(trouble))
        self.lines.append({"trouble": name, "reason": str(trouble)})


@contextmanager
def running_function(
    *compiled: Compiled,
    storage: WritableStorage | None = None,
    keeping: CachePolicy | None = None,
    instants: Callable[[], Instant] = now,
    secrets: Mapping[str, str] | None = None,
    addresses: AddressRules = LOCAL,
    **services: Any,
) -> Iterator[Function]:
    """A function that serves these endpoints from memory, or all that is in ``storage``."""
    kept = storage or MemoryStorage()
    store(kept, *compiled)
    for secret in (secrets or {}).values():
        SESSION.keep("a secret that a bundle refers to", secret)
    log = Log()
    http = HttpClient(addresses)
    endpoints = Endpoints(kept, keeping=keeping, clock=instants, on_trouble=log.write_trouble)
    services.setdefault("outgoing", OutgoingServices(secrets=SecretStore(environ=secrets or {})))
    if os.environ.get(DOOR) == HTTP:
        services = {"public_url": f"https://{DOMAIN}", "is_frozen": False, **services}
    app = create_app(
        Services(
            endpoints=endpoints,
            http=http,
            tokens=TokenVerifier(http, secrets=secrets or {}),
            **services,
        ),
        write_line=log.write_line,
    )
    with _door(app) as handler:
        name = compiled[0].bundle.endpoint if compiled else "api/customers"
        yield Function(handler, log.lines, f"/{name}/mcp")
    http.close()


@contextmanager
def _door(app: RequestLog) -> Iterator[Callable[[Any, Any], Any]]:
    """The Lambda function, or with ``STILE_DOOR=http`` the server of ``stile serve``."""
    if os.environ.get(DOOR) == HTTP:
        yield http_door(app)
    else:
        with event_loop():
            yield Mangum(app, lifespan="off", text_mime_types=[*media_types.TEXTS])
