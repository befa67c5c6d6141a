"""Events that no front door sent: schedules that keep the function warm, and what was wired to it by mistake.

Of an event, the log and the answer have its kind, by the marks that AWS documents, and nothing of its content.

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
from handler.bundle.model import Bundle, GraphQLTool
from handler.errors import BundleError, EndpointNotFound, FunctionLacks, StorageError, UnservedSource
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
"""Members that events of a kind have at their top, each of them enough; the first kind that has one counts."""

CONTEXT_MARKS: Mapping[str, tuple[str, ...]] = {
    "http": ("http", "elb", "httpMethod"),
    "vpc_lattice": ("serviceNetworkArn",),
    "websocket": ("connectionId",),
}
"""The same for members of ``requestContext``."""

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
"""The kinds of events with an ``eventSource``, their own or that of their records."""

POLLED = frozenset({"activemq", "documentdb", "dynamodb", "kafka", "kinesis", "rabbitmq", "sqs"})
"""Sources of which Lambda takes records away once the function has returned, whatever it returned."""

WARMERS: tuple[Mapping[str, Any], ...] = (
    {"stile": "warm"},
    {"detail-type": "Scheduled Event", "source": "aws.events"},
    {"detail-type": "Scheduled Event", "source": "aws.scheduler"},
    {"source": "serverless-plugin-warmup"},
    {"warmer": True},
)
"""Events that keep a function warm: ours, those of EventBridge's rules and of its Scheduler if they are given no input,
serverless-plugin-warmup, lambda-warmer."""

HTTP_ANSWERS: Mapping[str, tuple[int, str]] = {
    "http": (400, "this event cannot be read as an HTTP request"),
    "vpc_lattice": (501, "VPC Lattice is not a front door of this function"),
    "websocket": (501, "a WebSocket API is not a front door of this function"),
}
"""The kinds behind which an HTTP client waits."""


class OtherEvents:
    """Answers events that are not requests, with one line of the log for each. ``preload`` names what to keep warm."""

    def __init__(self, endpoints: Endpoints, preload: Iterable[str], logger: Logger) -> None:
        self._endpoints = endpoints
        self._preload = tuple(preload)
        self._logger = logger

    def answer(self, event: Any, context: Any) -> dict[str, Any]:
        """The answer to an event.

        Raises:
            UnservedSource: its source would lose records by any answer.
        """
        kind = kind_of(event)
        request_id = str(getattr(context, "aws_request_id", ""))
        outcome = "warm" if kind == "warm" else "refused" if kind in POLLED else "ignored"
        self._logger.info("event", kind=kind, outcome=outcome, request_id=request_id, stile=__version__)
        if kind in POLLED:
            raise UnservedSource(kind)
        if kind in HTTP_ANSWERS:
            return _http_answer(event, kind, request_id)
        if kind == "warm":
            asyncio.get_event_loop().run_until_complete(self._warm())
            return {"stile": "warm", "endpoints": self._endpoints.count}
        return {"stile": "ignored", "kind": kind}

    async def _warm(self) -> None:
        """Load what first requests need: the endpoints that are preloaded, as new as storage has them, and modules."""
        import handler.json_schema.answer_check
        import handler.policy.guarded_schema
        import handler.server.graphql.route
        import handler.server.health
        import handler.server.mcp.tools_call
        import handler.server.metadata_route
        import handler.server.oauth_proxy.routes  # noqa: F401 - for calls and all other routes

        for name in self._preload:
            with suppress(EndpointNotFound, StorageError, BundleError, FunctionLacks):  # each is in the log
                _import_for((await self._endpoints.find(name)).bundle)
        await self._endpoints.settle()


def _import_for(bundle: Bundle) -> None:
    """Import what only some endpoints need."""
    if bundle.graphql.mode == "on" or any(isinstance(tool, GraphQLTool) for tool in bundle.tools):
        import handler.graph.documents.check
        import handler.graph.documents.partial_schema
        import handler.graph.tool_entry  # noqa: F401
    if bundle.identity.issuers:
        with suppress(ImportError):  # which is in the function on request
            from jwt import algorithms  # noqa: F401


def kind_of(event: Any) -> str:
    """The kind of an event that is not a request; ``custom`` if nothing marks it."""
    if not isinstance(event, dict):
        return "custom"
    if any(all(event.get(name) == value for name, value in warmer.items()) for warmer in WARMERS):
        return "warm"
    return _source_of(event) or _marked(event, MARKS) or _marked(event.get("requestContext"), CONTEXT_MARKS) or "custom"


def _source_of(event: Mapping[str, Any]) -> str:
    records = event.get("Records")
    first = records[0] if isinstance(records, list) and records else event
    if not isinstance(first, dict):
        return ""
    source = first.get("eventSource", first.get("EventSource"))
    if "cf" in first:
        return "lambda_edge"
    return SOURCES.get(source, "") if isinstance(source, str) else ""


def _marked(members: Any, marks: Mapping[str, tuple[str, ...]]) -> str:
    if not isinstance(members, dict):
        return ""
    return next((kind for kind, names in marks.items() if any(name in members for name in names)), "")


def _http_answer(event: Mapping[str, Any], kind: str, request_id: str) -> dict[str, Any]:
    status, sentence = HTTP_ANSWERS[kind]
    headers = {"content-type": "application/json", "cache-control": "no-store", "x-request-id": request_id}
    answer = {"statusCode": status, "body": json.dumps({"error": sentence}), "isBase64Encoded": False}
    if isinstance(event.get("multiValueHeaders"), dict):
        return {**answer, "multiValueHeaders": {name: [value] for name, value in headers.items()}}
    return {**answer, "headers": headers}
