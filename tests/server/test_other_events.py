"""Events that are not requests of a front door: warmers, other services, and what cannot be read.

Source: the AWS Lambda guide, the events of each service; events/ has one of several kinds.
"""

from __future__ import annotations

import copy
import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import yaml

from handler.errors.infrastructure import UnservedSource
from handler.server.other_events import POLLED, kind_of
from handler.storage.local import FolderStorage
from tests.conftest import ROOT
from tests.server.asgi.test_public_url import function_url, http_api, http_api_1, load_balancer, rest_api
from tests.server.test_cold_start import CALLING
from tests.server.test_function_settings import imported, lines
from tests.support.codes import code_in
from tests.support.endpoints import READABLE, compiled
from tests.support.function import Context, store

Handler = Callable[[Any, Any], Any]

SECRET = "what-only-the-event-has"
DEEP: Any = json.loads("[" * 900 + "]" * 900)

IGNORED: dict[str, tuple[Any, str]] = {
    "nothing": ({}, "custom"),
    "null": (None, "custom"),
    "a text": (SECRET, "custom"),
    "a list": ([{"requestContext": {"http": {}}}], "custom"),
    "true": (True, "custom"),
    "a number": (5, "custom"),
    "deep": (DEEP, "custom"),
    "deep context": ({"requestContext": {"a": DEEP}}, "custom"),
    "huge": ({"a": [SECRET] * 100_000}, "custom"),
    "S3": ({"Records": [{"eventSource": "aws:s3", "s3": {"object": {"key": SECRET}}}]}, "s3"),
    "SNS": ({"Records": [{"EventSource": "aws:sns", "Sns": {"Message": SECRET}}]}, "sns"),
    "SES": ({"Records": [{"eventSource": "aws:ses", "ses": {}}]}, "ses"),
    "CloudFront": ({"Records": [{"cf": {"request": {"uri": "/", "headers": {}}}}]}, "lambda_edge"),
    "no records": ({"Records": []}, "custom"),
    "records of nothing": ({"Records": [None]}, "custom"),
    "records of an unknown source": ({"Records": [{"eventSource": SECRET}]}, "custom"),
    "records that are none": ({"Records": "aws:sqs"}, "custom"),
    "a source that is a list": ({"Records": [{"eventSource": ["aws:sqs"]}]}, "custom"),
    "EventBridge": ({"detail-type": SECRET, "source": "aws.ec2", "detail": {}}, "eventbridge"),
    "Cognito": ({"version": "1", "triggerSource": "PreSignUp_SignUp", "userPoolId": "a"}, "cognito"),
    "CloudFormation": ({"RequestType": "Create", "ResponseURL": "https://example.com/"}, "cloudformation"),
    "CloudWatch Logs": ({"awslogs": {"data": SECRET}}, "cloudwatch_logs"),
    "Firehose": ({"deliveryStreamArn": "arn:aws:firehose", "records": []}, "firehose"),
    "another value of the warmer": ({"stile": "warmer"}, "custom"),
    "an authorizer's request": (
        {
            "type": "REQUEST",
            "methodArn": "arn:aws:execute-api",
            "resource": "/",
            "path": "/health",
            "httpMethod": "GET",
            "headers": {},
            "requestContext": {"httpMethod": "GET"},
        },
        "authorizer",
    ),
}

BATCHES: dict[str, Any] = {
    "sqs": {"Records": [{"eventSource": "aws:sqs", "body": SECRET, "messageId": "1"}]},
    "kinesis": {"Records": [{"eventSource": "aws:kinesis"}]},
    "dynamodb": {"Records": [{"eventSource": "aws:dynamodb"}]},
    "kafka": {"eventSource": "aws:kafka", "records": {}},
    "activemq": {"eventSource": "aws:amq", "messages": []},
    "rabbitmq": {"eventSource": "aws:rmq", "rmqMessagesByQueue": {}},
    "documentdb": {"eventSource": "aws:docdb", "events": []},
}


@pytest.fixture
def location(tmp_path: Any, folder_storage: FolderStorage) -> str:
    store(folder_storage, compiled(tmp_path, {"index.graphql": "type Query { a: Int }", "config.yaml": READABLE}))
    return folder_storage.location


class Started:
    """The function, started when its first event comes: its logger keeps the stream that there is then."""

    def __init__(self, started: ExitStack, monkeypatch: pytest.MonkeyPatch, location: str) -> None:
        self._start: Callable[[], Handler] = lambda: started.enter_context(
            imported(monkeypatch, STILE_BUNDLES=location)
        )
        self._handler: Handler | None = None

    def __call__(self, event: Any, context: Any) -> Any:
        self._handler = self._handler or self._start()
        return self._handler(event, context)


@pytest.fixture
def handler(monkeypatch: pytest.MonkeyPatch, location: str) -> Iterator[Handler]:
    with ExitStack() as started:
        yield Started(started, monkeypatch, location)


@pytest.mark.parametrize("name", IGNORED)
def test_event_of_another_service_is_answered_by_its_kind(
    handler: Handler, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    event, kind = IGNORED[name]

    answer = handler(event, Context())

    assert answer == {"stile": "ignored", "kind": kind}
    printed = lines(capsys)
    (line,) = printed
    assert (line["level"], line["message"], line["kind"], line["outcome"]) == ("INFO", "event", kind, "ignored")
    assert line["request_id"] == Context.aws_request_id
    assert SECRET not in json.dumps(printed)


@pytest.mark.parametrize("kind", BATCHES)
def test_records_of_a_source_that_would_lose_them_are_refused(
    handler: Handler, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    with pytest.raises(UnservedSource) as refused:
        handler(BATCHES[kind], Context())

    assert refused.value.source == kind
    (line,) = lines(capsys)
    assert (line["level"], line["kind"], line["outcome"]) == ("INFO", kind, "refused")


def test_every_polled_source_has_a_case() -> None:
    assert set(BATCHES) == POLLED


@pytest.mark.parametrize(
    "event",
    [
        {"stile": "warm"},
        {"version": "0", "detail-type": "Scheduled Event", "source": "aws.events", "detail": {}},
        {"version": "0", "detail-type": "Scheduled Event", "source": "aws.scheduler", "detail": "{}"},
        {"source": "serverless-plugin-warmup"},
        {"warmer": True, "concurrency": 3},
    ],
)
def test_warmer_loads_what_first_requests_need(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], location: str, event: Any
) -> None:
    with imported(monkeypatch, STILE_BUNDLES=location, STILE_PRELOAD="api/things,api/nobody") as handler:
        capsys.readouterr()
        answer = handler(event, Context())

    assert answer == {"stile": "warm", "endpoints": 1}
    assert [(line["kind"], line["outcome"]) for line in lines(capsys)] == [("warm", "warm")]
    assert {f"handler.{name}" for name in CALLING} <= set(sys.modules)


def test_schedule_of_the_page_warms() -> None:
    page = (ROOT / "docs" / "front-doors.md").read_text(encoding="utf-8")
    (schedule,) = re.findall(r"^Events:\n.*?^```", page, re.MULTILINE | re.DOTALL)

    assert kind_of(json.loads(yaml.safe_load(schedule[:-3])["Events"]["Warm"]["Properties"]["Input"])) == "warm"


def test_warmer_takes_up_what_was_published_since(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, folder_storage: FolderStorage
) -> None:
    files = {"index.graphql": "type Query { a: Int }", "config.yaml": READABLE}
    environ = {"STILE_BUNDLES": folder_storage.location, "STILE_PRELOAD": "api/things", "STILE_REFRESH_S": "0"}
    with imported(monkeypatch, **environ) as handler:
        before = handler({"stile": "warm"}, Context())
        store(folder_storage, compiled(tmp_path, files))
        after = handler({"stile": "warm"}, Context())

    assert (before["endpoints"], after["endpoints"]) == (0, 1)


DOORS: dict[str, Any] = {
    "HTTP API": http_api("GET", "/health"),
    "HTTP API by format 1.0": http_api_1("GET", "/health"),
    "REST API": rest_api("GET", "/health"),
    "function URL": function_url("GET", "/health"),
    "load balancer": load_balancer("GET", "/health"),
    "load balancer with lists": {
        **{name: value for name, value in load_balancer("GET", "/health").items() if name != "headers"},
        "multiValueHeaders": {"host": ["mcp.example.com"]},
    },
}

BROKEN: dict[str, Callable[[dict[str, Any]], Any]] = {
    "context": lambda event: event.update(requestContext=None),
    "context of text": lambda event: event.update(requestContext="elb http"),
    "context that is empty": lambda event: event.update(requestContext={}),
    "no context": lambda event: event.pop("requestContext"),
    "headers": lambda event: event.update({name: "x" for name in event if name.lower().endswith("headers")}),
    "header": lambda event: event.update({name: {"host": 5} for name in event if name.lower().endswith("headers")}),
    "host": lambda event: event.update(
        {
            name: {"host": ["a:b:c"] if name.startswith("multi") else "a:b:c"}
            for name in event
            if name.lower().endswith("headers")
        }
    ),
    "body": lambda event: event.update(body="a", isBase64Encoded=True),
    "body that is a list": lambda event: event.update(body=[1]),
    "half a surrogate pair": lambda event: event.update(body="\ud800"),
    "path": lambda event: [each.update(path=5) for each in (event, event["requestContext"].get("http", {}))],
    "no path": lambda event: [each.pop("path", 0) for each in (event, event["requestContext"].get("http", {}))],
    "method": lambda event: [
        each.pop("method", 0) or each.pop("httpMethod", 0) for each in (event, event["requestContext"].get("http", {}))
    ],
    "method that is a list": lambda event: [
        each.update(method=[], httpMethod=[]) for each in (event, event["requestContext"].get("http", {}))
    ],
    "http": lambda event: event["requestContext"].update(http=[]),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", BROKEN)
def test_event_that_cannot_be_read_is_a_bad_request(
    handler: Handler, capsys: pytest.CaptureFixture[str], door: str, name: str
) -> None:
    event = copy.deepcopy(DOORS[door])
    assert handler(event, Context())["statusCode"] == 200
    capsys.readouterr()
    BROKEN[name](event)

    answer = handler(event, Context())

    (line,) = lines(capsys)
    assert line["level"] == "INFO"
    if "status" in line:  # nothing that this door needs is broken
        assert (answer["statusCode"], "exception" in line) == (line["status"], False)
        assert line["status"] in (200, 400, 404, 405)
        return
    assert (line["message"], line["kind"], line["outcome"]) == ("event", "http", "ignored")
    assert answer["statusCode"] == 400
    assert code_in(json.loads(answer["body"])) == "bad-request"
    assert ("multiValueHeaders" in answer) is isinstance(event.get("multiValueHeaders"), dict)


@pytest.mark.parametrize("name", [path.stem for path in (ROOT / "events").glob("other-vpc-lattice*.json")])
def test_lattice_gets_an_answer_that_it_can_pass_on(handler: Handler, name: str) -> None:
    event = json.loads((ROOT / "events" / f"{name}.json").read_text(encoding="utf-8"))

    answer = handler(event, Context())

    assert kind_of(event) == "vpc_lattice"
    assert (answer["statusCode"], answer["headers"]["content-type"]) == (501, "application/json")
    assert code_in(json.loads(answer["body"])) == "unserved-front-door"


def test_web_socket_gets_an_answer_that_it_can_pass_on(handler: Handler) -> None:
    event = {"requestContext": {"routeKey": "$connect", "connectionId": "a", "stage": "prod"}, "headers": {}}

    assert handler(event, Context())["statusCode"] == 501
