"""Events that are not from a front door: schedules that keep the function warm, and sources connected by mistake.

The log and the response contain the kind of an event, by the members that AWS documents, but not its content.

Source: the AWS Lambda guide, "Invoking Lambda with events from other AWS services".
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from aws_lambda_powertools import Logger

from handler import __version__
from handler.bundle.tools import GraphQLTool
from handler.errors.calls import EndpointNotFound
from handler.errors.infrastructure import BundleError, FunctionLacks, StorageError, UnservedSource
from handler.server.asgi.responses import STATUS_OF_REFUSAL
from handler.server.endpoints.registry import Endpoints

MARKS: Mapping[str, tuple[str, ...]] = {
    "authorizer": ("methodArn", "routeArn"),
    "http": ("httpMethod", "rawPath", "routeKey"),
    "vpc_lattice": ("raw_path",),
    "eventbridge": ("detail-type",),
    "cognito": ("triggerSource", "userPoolId"),
    "cloudformation": ("ResponseURL", "LogicalResourceId"),
    "cloudwatch_logs": ("awslogs",),
    "alarm": ("alarmArn",),
    "firehose": ("deliveryStreamArn",),
    "s3_batch": ("invocationSchemaVersion",),
}
"""Kind -> top-level members, each of which marks an event of the kind; the first match counts."""

CONTEXT_MARKS: Mapping[str, tuple[str, ...]] = {
    "http": ("http", "elb", "httpMethod"),
    "vpc_lattice": ("serviceNetworkArn",),
    "websocket": ("connectionId",),
}
"""Kind -> members of ``requestContext`` that mark an event of the kind."""

SOURCES: Mapping[str, str] = {
    "aws:s3": "s3",
    "aws:sns": "sns",
    "aws:ses": "ses",
    "aws:codecommit": "codecommit",
    "aws:sqs": "sqs",
    "aws:kinesis": "kinesis",
    "aws:dynamodb": "dynamodb",
    "aws:kafka": "kafka",
    "SelfManagedKafka": "kafka",
    "aws:amq": "activemq",
    "aws:rmq": "rabbitmq",
    "aws:docdb": "documentdb",
}
"""``eventSource`` of an event or of its records -> kind."""

POLLED = frozenset({"activemq", "documentdb", "dynamodb", "kafka", "kinesis", "rabbitmq", "sqs"})
"""Sources whose records Lambda removes after the function returns, whatever the function returns."""

WARMERS: tuple[Mapping[str, Any], ...] = (
    {"stile": "warm"},
    {"detail-type": "Scheduled Event", "source": "aws.events"},
    {"detail-type": "Scheduled Event", "source": "aws.scheduler"},
    {"source": "serverless-plugin-warmup"},
    {"warmer": True},
)
"""Events that keep a function warm: of Stile, of EventBridge's rules and its Scheduler without an input, of
serverless-plugin-warmup, of lambda-warmer."""

HTTP_ANSWERS: Mapping[str, tuple[str, str]] = {
    "http": ("bad-request", "this event cannot be read as an HTTP request"),
    "vpc_lattice": ("unserved-front-door", "VPC Lattice is not a front door of this function"),
    "websocket": ("unserved-front-door", "a WebSocket API is not a front door of this function"),
}
"""Kind -> code and error message, for kinds with a waiting HTTP client."""


def answer_event(
    event: Any, context: Any, *, endpoints: Endpoints, preload: Iterable[str], logger: Logger
) -> dict[str, Any]:
    """Log an event that is not a request, and return the response. ``preload``: endpoints to keep warm.

    Raises:
        UnservedSource: the event's source would lose records after any response.
    """
    kind = kind_of(event)
    request_id = str(getattr(context, "aws_request_id", ""))
    outcome = "warm" if kind == "warm" else "refused" if kind in POLLED else "ignored"
    logger.info("event", kind=kind, outcome=outcome, request_id=request_id, stile=__version__)
    if kind in POLLED:
        raise UnservedSource(kind)
    if kind in HTTP_ANSWERS:
        code, sentence = HTTP_ANSWERS[kind]
        body = json.dumps({"error": sentence, "code": code})
        headers = {"content-type": "application/json", "cache-control": "no-store", "x-request-id": request_id}
        answer = {"statusCode": STATUS_OF_REFUSAL[code], "body": body, "isBase64Encoded": False}
        if isinstance(event.get("multiValueHeaders"), dict):
            return {**answer, "multiValueHeaders": {name: [value] for name, value in headers.items()}}
        return {**answer, "headers": headers}
    if kind == "warm":
        asyncio.get_event_loop().run_until_complete(warm(endpoints, preload))
        return {"stile": "warm", "endpoints": endpoints.count}
    return {"stile": "ignored", "kind": kind}


async def warm(endpoints: Endpoints, preload: Iterable[str]) -> None:
    """Load the modules that first requests need, and the preloaded endpoints, refreshed if they are old."""
    import handler.json_schema.answer_check
    import handler.policy.guarded_schema
    import handler.server.graphql_route
    import handler.server.health
    import handler.server.mcp.tools_call
    import handler.server.oauth_proxy.routes

    for name in preload:
        with suppress(EndpointNotFound, StorageError, BundleError, FunctionLacks):  # ``on_trouble`` logs it
            endpoint = await endpoints.find(name)
            bundle, _ = endpoint.bundle, endpoint.server_info  # checked once
            if bundle.graphql.mode == "on" or any(isinstance(tool, GraphQLTool) for tool in bundle.tools):
                import handler.graph.documents.document_check
                import handler.graph.documents.partial_schema
                import handler.graph.tool_entry  # noqa: F401
            if bundle.identity.issuers:
                with suppress(ImportError):  # an extra, which may not be installed
                    from jwt import algorithms  # noqa: F401
    await endpoints.settle()


def kind_of(event: Any) -> str:
    """Return the kind of an event that is not a request; ``custom`` if no mark matches."""
    if not isinstance(event, dict):
        return "custom"
    if any(all(event.get(name) == value for name, value in warmer.items()) for warmer in WARMERS):
        return "warm"
    records = event.get("Records")
    first = records[0] if isinstance(records, list) and records else event
    if isinstance(first, dict):
        source = first.get("eventSource", first.get("EventSource"))
        if "cf" in first:
            return "lambda_edge"
        if isinstance(source, str) and source in SOURCES:
            return SOURCES[source]
    return _marked(event, MARKS) or _marked(event.get("requestContext"), CONTEXT_MARKS) or "custom"


def _marked(members: Any, marks: Mapping[str, tuple[str, ...]]) -> str:
    if not isinstance(members, dict):
        return ""
    return next((kind for kind, names in marks.items() if any(name in members for name in names)), "")
