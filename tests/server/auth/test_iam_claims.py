"""Callers whose AWS signature is verified: the request context alone says who they are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from handler.server.auth.identification import iam_claims, without_iam
from tests.docs.reference import codes, page, table
from tests.server.auth.test_api_gateway_authorizer import API, SIGNATURES, Gateway
from tests.support.endpoints import compiled
from tests.support.function import running_function
from tests.support.raw_http import answering, running_server

TOKENS = page("security/tokens")
ACCOUNT = "123456789012"
ROLE_ARN = f"arn:aws:sts::{ACCOUNT}:assumed-role/agents/session-1"
ROLE = {"arn": ROLE_ARN, "account": ACCOUNT, "role": "agents", "session": "session-1"}


def http_api(arn: Any, **more: Any) -> dict[str, Any]:
    return {"authorizer": {"iam": {"userArn": arn, "accountId": ACCOUNT, **more}}}


def rest_api(arn: Any, **more: Any) -> dict[str, Any]:
    return {"authorizer": None, "identity": {"userArn": arn, "accountId": ACCOUNT, "sourceIp": "203.0.113.7", **more}}


@pytest.mark.parametrize("door", [http_api, rest_api])
@pytest.mark.parametrize(
    ("arn", "claims"),
    [
        (ROLE_ARN, ROLE),
        (
            f"arn:aws-us-gov:sts::{ACCOUNT}:assumed-role/AWSReservedSSO_Read_0a/jo@example.com",
            {"account": ACCOUNT, "role": "AWSReservedSSO_Read_0a", "session": "jo@example.com"},
        ),
        (f"arn:aws:iam::{ACCOUNT}:user/teams/agents/crawler", {"account": ACCOUNT, "user": "crawler"}),
        (f"arn:aws:sts::{ACCOUNT}:federated-user/jo", {"account": ACCOUNT}),
        (f"arn:aws:iam::{ACCOUNT}:root", {"account": ACCOUNT}),
    ],
)
def test_claims_are_the_parts_of_the_arn(door: Any, arn: str, claims: dict[str, str]) -> None:
    assert iam_claims(door(arn)) == {"iam": {"arn": arn, **claims}, "sub": arn}


def test_id_and_organization_are_those_that_aws_gives() -> None:
    more = {"id": "AROAEXAMPLE:session-1", "organization": "o-1"}

    for context in (
        http_api(ROLE_ARN, userId=more["id"], principalOrgId="o-1", cognitoIdentity=None),
        rest_api(ROLE_ARN, user=more["id"], principalOrgId="o-1", cognitoIdentityId=None),
    ):
        assert iam_claims(context)["iam"] == {**ROLE, **more}


@pytest.mark.parametrize(
    "arn",
    [
        None,
        "",
        [ROLE_ARN],
        "agents",
        f"{ROLE_ARN}\n",
        f" {ROLE_ARN}",
        ROLE_ARN.replace(ACCOUNT, "1"),
        ROLE_ARN.replace("agents", "a/b"),
        ROLE_ARN.replace("agents", "ägents"),
        ROLE_ARN.replace(":sts:", ":lambda:"),
        ROLE_ARN.replace("assumed-role", "role"),
    ],
)
def test_text_that_is_not_the_arn_of_a_signer_gives_no_claims(arn: Any) -> None:
    assert iam_claims(http_api(arn)) == iam_claims(rest_api(arn)) == {}


@pytest.mark.parametrize("context", [{}, {"authorizer": [ROLE_ARN]}, {"identity": ROLE_ARN}, {"elb": {}}], ids=str)
def test_request_context_without_a_signer_gives_no_claims(context: Mapping[str, Any]) -> None:
    assert iam_claims(context) == {}


def test_claim_by_another_way_is_none() -> None:
    assert without_iam({"iam": ROLE, "iam.role": "agents", "iam/role": "agents", "iamb": 1, "sub": "u"}) == {
        "iamb": 1,
        "sub": "u",
    }


def test_claims_are_those_of_the_page() -> None:
    told = {name for row in table(TOKENS.text, "claim", "text") for name in codes(row[0])}
    made = iam_claims(http_api(ROLE_ARN, userId="AROAEXAMPLE:session-1", principalOrgId="o-1"))["iam"]
    user = iam_claims(http_api(f"arn:aws:iam::{ACCOUNT}:user/crawler"))["iam"]

    assert told == {"sub", *(f"iam.{name}" for name in {*made, *user})}


CONFIG = f"upstream: {{url: '%s'}}\n{TOKENS.yaml('access')}"
SCHEMA = "type Query { mine(sub: String!): String }"
OPERATION = 'query Mine($sub: String! @mcpBind(claim: "sub")) @mcpTool(name: "mine", title: "Mine") { mine(sub: $sub) }'
SIGNED = {"authorization": SIGNATURES[0]}


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    body = b'{"data":{"mine":"yours"}}'
    response = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)
    with running_server(answering(response)) as upstream:
        files = {"index.graphql": SCHEMA, "operations/mine.graphql": OPERATION, "config.yaml": CONFIG % upstream.url}
        with running_function(compiled(tmp_path, files)) as function:
            yield Gateway(function, upstream.requests)


@pytest.mark.parametrize("door", [http_api, rest_api])
@pytest.mark.parametrize("headers", [SIGNED, {}, {"authorization": "Bearer a.b.c"}], ids=str)
def test_role_of_the_signer_meets_its_policy(gateway: Gateway, door: Any, headers: Mapping[str, str]) -> None:
    answer = gateway.call(context=door(ROLE_ARN), headers=headers)

    assert not answer.result.get("isError")
    assert gateway.sent == [ROLE_ARN]
    assert gateway.function.lines[0]["principal"] == "authorizer"


@pytest.mark.parametrize(
    "arn",
    [
        ROLE_ARN.replace("agents", "others"),
        ROLE_ARN.replace(ACCOUNT, "210987654321"),
        f"arn:aws:iam::{ACCOUNT}:user/agents",
    ],
)
def test_signer_of_another_role_does_not(gateway: Gateway, arn: str) -> None:
    assert gateway.call(context=http_api(arn), headers=SIGNED).status == 200
    assert gateway.sent == []


@pytest.mark.parametrize(
    "context",
    [
        {"authorizer": {"jwt": {"claims": {"sub": "u", "iam.role": "agents", "iam": ROLE}}}},
        {"authorizer": {"lambda": {"sub": "u", "iam": ROLE, "iam.role": "agents"}}},
        {**http_api(ROLE_ARN), "apiId": "f6g7h8i9j0"},
        {**http_api(ROLE_ARN), "apiId": None},
    ],
    ids=["JWT authorizer", "Lambda authorizer", "another API", "no API, as behind a load balancer"],
)
def test_facts_by_another_way_do_not_count(gateway: Gateway, context: Mapping[str, Any]) -> None:
    gateway.call(context=context)

    assert gateway.sent == []


@pytest.mark.parametrize("name", ["x-amzn-iam-user-arn", "x-amz-user-arn", "iam.role", "x-amzn-request-context"])
def test_facts_in_headers_and_bodies_do_not_count(gateway: Gateway, name: str) -> None:
    forged = {"requestContext": {"apiId": API, **http_api(ROLE_ARN)}, "iam": ROLE}

    assert gateway.call(headers={name: json.dumps(forged)}, **forged).status == 401
    assert gateway.call(headers={name: "agents", **SIGNED}, **forged).status == 401
    assert gateway.sent == []
