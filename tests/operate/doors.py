"""One HTTP request as the events of every front door.

Source: AWS Lambda, "Invoking a Lambda function using an Amazon API Gateway endpoint" and "Lambda function URLs"; API
Gateway, "Lambda proxy integrations" of HTTP and REST APIs; Elastic Load Balancing, "Lambda functions as targets".
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode

from tests.conftest import ROOT
from tests.infra.test_events import EVENT_FILES, PREFIXES, Event

OF_THE_DOOR = ("host", "x-amzn-trace-id", "x-forwarded-for", "x-forwarded-port", "x-forwarded-proto", "content-length")
"""Headers that a front door writes."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """An HTTP request as a client sends it. A header that is sent several times has several values."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, tuple[str, ...]]
    body: bytes = b""


def sample(name: str) -> Event:
    """An event of ``events/``, to be filled."""
    event: Event = json.loads((ROOT / "events" / f"{name}.json").read_text(encoding="utf-8"))
    return event


def requests() -> dict[str, Request]:
    """The requests of all events of ``events/``, by the names of their files."""
    return {path.stem: request_of(path.stem, sample(path.stem)) for path in EVENT_FILES}


def request_of(name: str, event: Event) -> Request:
    """The request that a client sent for an event, whichever front door wrote that."""
    headers = event.get("multiValueHeaders") or {key: [value] for key, value in event["headers"].items()}
    path = event.get("rawPath") or event["path"]
    return Request(
        method=event.get("httpMethod") or event["requestContext"]["http"]["method"],
        path=path.removeprefix(PREFIXES.get(name, "")),
        query=event.get("rawQueryString", ""),
        headers={key.lower(): tuple(each) for key, each in headers.items() if key.lower() not in OF_THE_DOOR},
        body=event.get("body", "").encode(),
    )


def written(body: bytes, *, as_base64: bool) -> dict[str, Any]:
    """The body in an event. Without a body, its member is missing or ``null``."""
    if as_base64:
        return {"body": base64.b64encode(body).decode(), "isBase64Encoded": True}
    return {"body": body.decode() if body else None, "isBase64Encoded": False}


def headers_for(event: Event, request: Request) -> dict[str, list[str]]:
    """The headers of an event by the request and the front door, in the letter case of the sample."""
    told = event.get("multiValueHeaders") or {name: [value] for name, value in event["headers"].items()}
    case = {name.lower(): name for name in told}
    kept = {name: values for name, values in told.items() if name.lower() in OF_THE_DOOR[:-1]}
    return kept | {case.get(name, name): list(values) for name, values in request.headers.items()}


def last(headers: Mapping[str, list[str]]) -> dict[str, str]:
    """The headers as a map of texts, which has the last value of each."""
    return {name: values[-1] for name, values in headers.items()}


Door = Callable[[Request, bool], Event]
"""The event of a request, and if its body is Base64."""


def format_2(name: str, *, stage: str = "$default", prefix: str = "", own_domain: bool = False) -> Door:
    """An HTTP API by format 2.0, or a function URL. A named stage is in the path; values of a header are joined."""

    def event_for(request: Request, as_base64: bool) -> Event:
        event = sample(name)
        path = f"/{stage}{request.path}" if stage != "$default" else f"{prefix}{request.path}"
        joined = {key.lower(): ",".join(values) for key, values in headers_for(event, request).items()}
        if prefix:
            event |= {"routeKey": "ANY /{proxy+}", "pathParameters": {"proxy": request.path[1:]}}
        event["requestContext"]["http"] |= {"method": request.method, "path": path}
        event["requestContext"] |= {"stage": stage, **({"domainName": "mcp.example.com"} if own_domain else {})}
        shape = {"rawPath": path, "rawQueryString": request.query, "headers": joined}
        return {**event, **shape, **written(request.body, as_base64=as_base64)}

    return event_for


def format_1(name: str, *, prefix: str = "", in_path: bool = False) -> Door:
    """A REST API, or an HTTP API by format 1.0. ``in_path``: the paths have the prefix."""

    def event_for(request: Request, as_base64: bool) -> Event:
        event = sample(name)
        headers = headers_for(event, request)
        query = parse_qsl(request.query, keep_blank_values=True)
        several = {key: [value for each, value in query if each == key] for key, _ in query}
        path = f"{prefix}{request.path}" if in_path else request.path
        event["requestContext"] |= {"httpMethod": request.method, "path": f"{prefix}{request.path}"}
        if event.get("pathParameters"):
            event["pathParameters"] = {"proxy": request.path[1:]}
        event |= {"httpMethod": request.method, "path": path, "headers": last(headers), "multiValueHeaders": headers}
        event |= {"queryStringParameters": dict(query) or None, "multiValueQueryStringParameters": several or None}
        return {**event, **written(request.body, as_base64=as_base64)}

    return event_for


def load_balancer(name: str) -> Door:
    """An Application Load Balancer, which decodes no query, and has headers as texts or as lists."""

    def event_for(request: Request, as_base64: bool) -> Event:
        event = sample(name)
        headers = headers_for(event, request)
        query = [part.partition("=")[::2] for part in request.query.split("&") if part]
        event |= {"httpMethod": request.method, "path": request.path}
        if "multiValueHeaders" in event:
            several = {key: [value for each, value in query if each == key] for key, _ in query}
            event |= {"multiValueHeaders": headers, "multiValueQueryStringParameters": several}
        else:
            event |= {"headers": last(headers), "queryStringParameters": dict(query)}
        return {**event, **written(request.body, as_base64=as_base64), **({} if request.body else {"body": ""})}

    return event_for


DOORS: Mapping[str, Door] = {
    "HTTP API": format_2("tools-list"),
    "HTTP API with a named stage": format_2("tools-list", stage="prod"),
    "HTTP API with a named stage on its owner's domain": format_2("tools-list", stage="prod", own_domain=True),
    "HTTP API with a route, below a base path": format_2("tools-list", prefix="/tools", own_domain=True),
    "HTTP API by format 1.0 with a named stage": format_1("http-v1-stage-tools-list", prefix="/prod", in_path=True),
    "REST API": format_1("rest-v1-tools-list", prefix="/prod"),
    "REST API below a base path": format_1("rest-v1-base-path-tools-list", prefix="/tools", in_path=True),
    "function URL": format_2("function-url-tools-list"),
    "load balancer": load_balancer("alb-tools-list"),
    "load balancer with lists": load_balancer("alb-multi-value-tools-list"),
}
FIRST = "HTTP API"
"""The front door of the template."""


def with_values(request: Request, name: str, *values: str) -> Request:
    """The request with these values of a header, each in a line of its own."""
    return Request(
        method=request.method,
        path=request.path,
        query=request.query,
        headers={**request.headers, name: values},
        body=request.body,
    )


def query_of(**parameters: str) -> str:
    """A query string."""
    return urlencode(parameters)
