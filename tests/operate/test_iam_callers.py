"""Callers whose AWS signature is verified, behind every front door: only what AWS writes into the event counts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.docs.reference import page
from tests.operate.doors import DOORS, Request, query_of
from tests.support.endpoints import compiled
from tests.support.function import META, MODERN, Answer, Context, Function, answer_of, running_function
from tests.support.raw_http import answering, running_server

API = "a1b2c3d4e5"
ACCOUNT = "123456789012"
AGENT = f"arn:aws:sts::{ACCOUNT}:assumed-role/agents/session-1"
OTHER = f"arn:aws:sts::{ACCOUNT}:assumed-role/others/session-1"
SIGNATURE = "AWS4-HMAC-SHA256 Credential=AKID/20260112/us-east-1/execute-api/aws4_request, Signature=a"
CONFIG = f"upstream: {{url: '%s'}}\n{page('security/tokens').yaml('access')}"
OPERATION = 'query Mine($sub: String! @mcpBind(claim: "sub")) @mcpTool(name: "mine") { mine(sub: $sub) }'
FILES = {
    "operations/mine.graphql": OPERATION,
    "index.graphql": "type Query { mine(sub: String!): String }",
}
BALANCERS = [door for door in DOORS if door.startswith("load balancer")]
VERIFYING = [door for door in DOORS if door not in BALANCERS]
BY_IDENTITY = [door for door in VERIFYING if door.startswith("REST") or "1.0" in door]
CALL = {"name": "mine", "arguments": {}, "_meta": META}
HEADERS = (
    "x-amzn-iam-user-arn", "x-amzn-request-context", "x-amzn-requestcontext", "x-amzn-lambda-context",
    "x-amz-user-arn", "x-apigateway-event", "x-apigateway-context", "x-amzn-apigateway-api-id",
    "x-amz-security-token", "x-amzn-oidc-data", "x-amzn-oidc-identity", "aws.event", "requestcontext", "authorizer",
    "iam", "iam.role", "iam-role", "userarn", "x-forwarded-user", "x-authenticated-user",
)  # fmt: skip


def facts(door: str, arn: str) -> dict[str, Any]:
    """What the request context of a door with IAM authorization has."""
    found = {"userArn": arn, "accountId": ACCOUNT, "userId": "AROAEXAMPLE:session-1"}
    return {"identity": found} if door in BY_IDENTITY else {"authorizer": {"iam": found}}


@dataclass(frozen=True)
class Door:
    """The function behind a front door."""

    name: str
    function: Function
    sent: list[bytes]

    def call(self, context: Mapping[str, Any], **more: Any) -> Answer:
        """Call the tool with these members of the request context."""
        request = replace(request_for(**more), path=self.function.path)
        event = DOORS[self.name](request, False)
        known = event["requestContext"]
        identity = {**known.get("identity", {}), **context.get("identity", {})}
        if "elb" not in known:
            known |= {"apiId": API}
        known |= {**context, **({"identity": identity} if identity else {})}
        return answer_of(self.function.handler(event, Context()))

    @property
    def subjects(self) -> list[str]:
        """The ``sub`` of each request that reached the API."""
        return [json.loads(each.partition(b"\r\n\r\n")[2])["variables"]["sub"] for each in self.sent]


def request_for(
    headers: Mapping[str, str] | None = None, params: Mapping[str, Any] | None = None, query: str = "", **message: Any
) -> Request:
    """A call of the tool with more headers, parameters, members of the message, or a query string."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**CALL, **(params or {})}, **message}
    told = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    told |= {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "mine", **(headers or {})}
    return Request(
        method="POST",
        path="",
        query=query,
        headers={name: (value,) for name, value in told.items()},
        body=json.dumps(body).encode(),
    )


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Function, list[bytes]]]:
    body = b'{"data":{"mine":"yours"}}'
    response = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)
    with running_server(answering(response)) as upstream:
        files = {**FILES, "config.yaml": CONFIG % upstream.url}
        with running_function(compiled(tmp_path_factory.mktemp("signed"), files)) as function:
            yield function, upstream.requests


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest, served: tuple[Function, list[bytes]]) -> Door:
    function, sent = served
    sent.clear()
    return Door(request.param, function, sent)


@pytest.mark.parametrize("door", VERIFYING, indirect=True)
def test_policy_by_role_lets_the_role_in_and_no_other(door: Door) -> None:
    answers = [door.call(facts(door.name, arn), headers={"authorization": SIGNATURE}) for arn in (AGENT, OTHER)]

    assert not answers[0].result.get("isError")
    assert "result" not in answers[1].json or answers[1].result["isError"]
    assert door.subjects == [AGENT]


def test_facts_in_a_header_do_not_count(door: Door) -> None:
    context = json.dumps({"apiId": API, **facts(door.name, AGENT)})

    for header in HEADERS:
        for value in (AGENT, "agents", context):
            assert door.call({}, headers={header: value, "authorization": SIGNATURE}).status in (400, 401), header
            assert door.call({}, headers={header: value}).status in (400, 401), header
    assert door.sent == []


def test_facts_in_a_body_or_query_do_not_count(door: Door) -> None:
    context = {"apiId": API, "identity": facts("REST API", AGENT)["identity"], **facts("HTTP API", AGENT)}
    forged = {"requestContext": context, "aws.event": {"requestContext": context}, "iam": {"role": "agents"}, **context}

    assert door.call({}, params={"_meta": {**META, **forged}}).status == 401
    assert door.call({}, params=forged).status == 401
    assert door.call({}, requestContext=context, iam={"role": "agents"}).status == 401
    assert door.call({}, query=query_of(requestContext=json.dumps(context), userArn=AGENT)).status == 401
    assert door.sent == []


@pytest.mark.parametrize("door", BALANCERS, indirect=True)
def test_behind_a_load_balancer_there_is_no_signer_whatever_the_event_has(door: Door) -> None:
    for each in ("HTTP API", "REST API"):
        assert door.call(facts(each, AGENT)).status == 401
    assert door.sent == []


@pytest.mark.parametrize("door", BY_IDENTITY, indirect=True)
def test_lambda_authorizer_whose_context_looks_like_a_signer_names_none(door: Door) -> None:
    """The context stands in ``authorizer`` itself, and an authorizer may take it from a token of the caller's."""
    forged = {"authorizer": {"iam": {"userArn": AGENT, "accountId": ACCOUNT}}}

    assert door.call(forged, headers={"authorization": SIGNATURE}).status == 401
    assert door.call(forged).status == 401
    assert door.sent == []


def test_door_without_iam_authorization_names_no_signer(door: Door) -> None:
    absent: list[Any] = [None, "", "null", [], {}, 0]
    for nothing in absent:
        empty = {"identity": {"userArn": nothing}, "authorizer": {"iam": nothing}}
        assert door.call(empty, headers={"authorization": SIGNATURE}).status == 401, nothing
        assert door.call({**empty, "authorizer": None}, headers={"authorization": SIGNATURE}).status == 401, nothing
    assert door.sent == []


def test_signer_of_another_api_is_not_believed(door: Door) -> None:
    others: list[Any] = ["f6g7h8i9j0", "", None, "A1B2C3D4E5", f"{API} ", [API]]
    for api in others:
        context = {**facts(door.name, AGENT), "apiId": api}
        assert door.call(context, headers={"authorization": SIGNATURE}).status == 401, api
    assert door.sent == []


def test_claims_of_an_authorizer_never_name_a_signer(door: Door) -> None:
    claims = {"sub": "u", "iam": {"role": "agents", "account": ACCOUNT}, "iam.role": "agents", "iam.account": ACCOUNT}
    for authorizer in ({"jwt": {"claims": claims}}, {"lambda": claims}, {"claims": claims}, claims):
        answer = door.call({"authorizer": authorizer})
        assert answer.status == 401 or "result" not in answer.json or answer.result["isError"]
    assert door.sent == []
