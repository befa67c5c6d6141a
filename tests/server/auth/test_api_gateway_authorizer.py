"""Callers that an API Gateway authorizer has verified: only what API Gateway writes into the event counts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.identity import Identity
from handler.server.auth.identification import authorized_claims
from tests.support.endpoints import compiled
from tests.support.function import META, MODERN, Answer, Context, Function, answer_of, event_for, running_function
from tests.support.identities import identified
from tests.support.issuers import Provider, rsa_key
from tests.support.raw_http import answering, running_server

API = "a1b2c3d4e5"
PROVIDER = Provider("https://login.example/", (rsa_key(),))


def http_api(authorizer: Any, *, api: str = API) -> dict[str, Any]:
    """What a version 2.0 event says of its caller."""
    return {"version": "2.0", "requestContext": {"apiId": api, "authorizer": authorizer}}


def rest_api(authorizer: Any, *, api: str = API) -> dict[str, Any]:
    return {"requestContext": {"apiId": api, "authorizer": authorizer}}


def claims_of(
    event: Mapping[str, Any], *, authorization: str = "", trusted: tuple[str, ...] = (API,), typed: bool = True
) -> Any:
    """``typed``: the authorizer is said to read the header ``Authorization``."""
    identity = Identity(issuers=(), api_keys=(), trusted_apis=trusted, typed_apis=trusted if typed else ())
    return authorized_claims(event, identity, authorization=authorization)


@pytest.mark.parametrize(
    ("event", "claims"),
    [
        (http_api({"jwt": {"claims": {"sub": "u"}, "scopes": None}}), {"sub": "u"}),
        (http_api({"jwt": {"claims": {"sub": "u"}, "scopes": ["a", "b"]}}), {"sub": "u", "scope": ["a", "b"]}),
        (http_api({"jwt": {"claims": {"scope": "a b c"}, "scopes": ["a"]}}), {"scope": "a b c"}),
        (http_api({"lambda": {"org": "acme", "level": 5}}), {"org": "acme", "level": 5}),
        (rest_api({"claims": {"sub": "u", "cognito:groups": "a,b"}}), {"sub": "u", "cognito:groups": "a,b"}),
        (rest_api({"principalId": "u", "org": "acme", "integrationLatency": 7}), {"principalId": "u", "org": "acme"}),
        ({**rest_api({"claims": {"sub": "u"}, "scopes": None}), "version": "1.0"}, {"sub": "u"}),
    ],
)
def test_claims_of_each_kind_of_authorizer_are_found(event: Mapping[str, Any], claims: Mapping[str, Any]) -> None:
    assert claims_of(event) == claims


@pytest.mark.parametrize(
    "event",
    [
        http_api({"jwt": {"claims": {"sub": "u"}}}, api="other"),
        http_api({"jwt": {"claims": {}}}),
        http_api({"jwt": {"claims": None}}),
        http_api({"jwt": None, "lambda": None}),
        http_api({"iam": {"userArn": "arn:aws:iam::1:user/u"}}),
        http_api({"claims": {"sub": "u"}}),
        http_api({"principalId": "u"}),
        http_api(None),
        http_api([]),
        rest_api({"integrationLatency": 7}),
        rest_api({"claims": "u"}),
        {"version": "2.0", "requestContext": {"authorizer": {"jwt": {"claims": {"sub": "u"}}}}},
        {"version": "2.0", "requestContext": []},
        {"requestContext": {"elb": {"targetGroupArn": "arn"}}},
        {},
    ],
)
def test_where_no_trusted_authorizer_speaks_there_are_no_claims(event: Mapping[str, Any]) -> None:
    assert claims_of(event) == {}


def test_without_a_trusted_api_nothing_is_believed() -> None:
    assert claims_of(http_api({"jwt": {"claims": {"sub": "u"}}}), trusted=()) == {}


FLATTENED: Mapping[str, tuple[Any, str]] = {
    "groups": (["admin", "staff"], "[admin staff]"),
    "one": (["admin"], "[admin]"),
    "none": ([], "[]"),
    "levels": ([1, 2], "[1 2]"),
    "verified": (True, "true"),
    "level": (5, "5"),
    "exp": (1_900_000_000, "1.9e+09"),
    "share": (0.5, "0.5"),
    "org": ({"id": "acme", "deep": [1]}, "map[deep:[1] id:acme]"),
    "text": ("[admin staff]", "[admin staff]"),
}


def test_types_come_back_from_the_token_that_the_authorizer_read() -> None:
    token = PROVIDER.token(**{name: value for name, (value, _) in FLATTENED.items()})
    event = http_api({"jwt": {"claims": {name: text for name, (_, text) in FLATTENED.items()}, "scopes": None}})
    typed = {name: value for name, (value, _) in FLATTENED.items()}

    assert claims_of(event, authorization=f"Bearer {token}") == typed
    assert claims_of(event, authorization=token) == typed  # authorizers take it without the scheme too


WITH_COMMAS: Mapping[str, tuple[Any, str]] = {
    "cognito:groups": (["admin", "staff"], "admin,staff"),
    "one": (["admin"], "admin"),
    "none": ([], ""),
    "verified": (True, "true"),
    "level": (5, "5"),
    "text": ("admin,staff", "admin,staff"),
}


def test_lists_that_a_cognito_authorizer_of_a_rest_api_verified_come_back_from_the_token() -> None:
    token = PROVIDER.token(**{name: value for name, (value, _) in WITH_COMMAS.items()})
    event = rest_api({"claims": {name: text for name, (_, text) in WITH_COMMAS.items()}})

    assert claims_of(event, authorization=token) == {name: value for name, (value, _) in WITH_COMMAS.items()}


def test_lists_come_back_in_the_form_of_their_api_alone() -> None:
    rest, http = ({"groups": text} for text in ("admin,staff", "[admin staff]"))
    token = PROVIDER.token(groups=["admin", "staff"])

    assert claims_of(http_api({"jwt": {"claims": rest}}), authorization=token) == rest
    assert claims_of({**rest_api({"claims": rest}), "version": "1.0"}, authorization=token) == rest
    assert claims_of(rest_api({"claims": http}), authorization=token) == http
    of_http_api = {**rest_api({"claims": http}), "version": "1.0"}
    assert claims_of(of_http_api, authorization=token) == {"groups": ["admin", "staff"]}


def test_list_that_the_rest_api_did_not_verify_is_not_taken_from_a_token() -> None:
    verified = {"groups": "staff", "sub": "user-1"}
    token = PROVIDER.token(groups=["staff", "admin"], sub=["user-1", "root"])

    assert claims_of(rest_api({"claims": verified}), authorization=token) == verified


FORGED: Mapping[str, tuple[Any, str]] = {
    "one group with a space in its name": (["project", "admin"], "[project admin]"),
    "a text in brackets": (["admin"], "[admin]"),
    "a text that reads as a Boolean": (True, "true"),
    "a text that reads as a number": (9, "9"),
    "a text that reads as a map": ({"role": "admin"}, "map[role:admin]"),
}


@pytest.mark.parametrize(("forged", "verified"), FORGED.values(), ids=FORGED)
def test_token_that_nobody_verified_gives_no_types(forged: Any, verified: str) -> None:
    """The authorizer may have read another place, and the header be the caller's invention."""
    claims = {"sub": "user-1", "project": verified}
    token = PROVIDER.token(project=forged)

    for event in (http_api({"jwt": {"claims": claims}}), {**rest_api({"claims": claims}), "version": "1.0"}):
        assert claims_of(event, authorization=f"Bearer {token}", typed=False) == claims


def test_types_are_taken_for_the_apis_alone_whose_authorizer_reads_the_header() -> None:
    identity = Identity(issuers=(), api_keys=(), trusted_apis=(API, "other"), typed_apis=("other",))
    token = f"Bearer {PROVIDER.token(level=5)}"
    found = [
        authorized_claims(http_api({"jwt": {"claims": {"level": "5"}}}, api=api), identity, authorization=token)
        for api in (API, "other")
    ]

    assert found == [{"level": "5"}, {"level": 5}]


def test_two_tokens_in_the_header_give_no_types() -> None:
    first, second = PROVIDER.token(level=5), PROVIDER.token(level=5)
    event = http_api({"jwt": {"claims": {"level": "5"}}})

    for both in (f"Bearer {first}, Bearer {second}", f"Bearer {first},{second}", f"{first} {second}"):
        assert claims_of(event, authorization=both) == {"level": "5"}


GUARDED = """\
upstream: {url: "http://127.0.0.1:9/"}
access: {policies: [{type: Query, policyDefault: {condition: '$jwt.groups:String has "admin"'}}]}
identity: {trust_authorizer: TRUST}
"""


@pytest.mark.parametrize(
    ("trust", "listed"),
    [
        ("[a1b2c3d4e5]", []),
        ("[{api: a1b2c3d4e5}]", []),
        ("[{api: a1b2c3d4e5, identity_source: authorization}]", ["mine"]),
        ("{api: a1b2c3d4e5, identity_source: $request.header.Authorization}", ["mine"]),
    ],
)
def test_condition_on_a_list_holds_by_a_token_only_where_the_author_says_that_it_is_verified(
    tmp_path: Path, trust: str, listed: list[str]
) -> None:
    config = GUARDED.replace("TRUST", trust)
    operation = 'query Mine @mcpTool(name: "mine", title: "Mine") { mine(sub: "x") }'
    files = {"index.graphql": SCHEMA, "operations/mine.graphql": operation, "config.yaml": config}
    claims = {"jwt": {"claims": {"sub": "user-1", "groups": "[project admin]"}, "scopes": None}}
    headers = {"authorization": f"Bearer {PROVIDER.token(groups=['project', 'admin'])}"}
    with running_function(compiled(tmp_path, files)) as function:
        answer = Gateway(function, []).call(context={"authorizer": claims}, headers=headers, method="tools/list")

    assert [tool["name"] for tool in answer.result["tools"]] == listed


def test_token_that_says_something_else_changes_nothing() -> None:
    verified = {"groups": "[staff]", "level": "5", "verified": "false", "sub": "user-1"}
    event = http_api({"jwt": {"claims": verified, "scopes": None}})
    lies: dict[str, Any] = {"groups": ["admin"], "level": 50, "verified": True, "sub": "root", "admin": True}

    assert claims_of(event, authorization=f"Bearer {PROVIDER.token(**lies)}") == verified
    other_kinds = {"level": 7, "verified": "yes", "exp": "soon", "sub": "user-1", "groups": None}
    event_of_them = http_api({"lambda": other_kinds, "jwt": {"claims": other_kinds}})
    assert claims_of(event_of_them, authorization=f"Bearer {PROVIDER.token(**lies)}") == other_kinds
    for other in ("", "Bearer", "Bearer a.b.c", "Basic dTpw", "Apikey stile_x"):
        assert claims_of(event, authorization=other) == verified


SCHEMA = "type Query { mine(sub: String!): String }"
OPERATION = 'query Mine($sub: String! @mcpBind(claim: "sub")) @mcpTool(name: "mine", title: "Mine") { mine(sub: $sub) }'
CONFIG = """\
upstream: {url: "%s"}
access: {policies: [{type: Query, policyDefault: {condition: true}}]}
identity: {trust_authorizer: [a1b2c3d4e5]}
"""
CALL = {"name": "mine", "arguments": {}}
VERIFIED = {"jwt": {"claims": {"sub": "user-1"}, "scopes": None}}


class Gateway:
    """The function behind API Gateway; ``sent`` are the subjects that reached the upstream."""

    def __init__(self, function: Function, requests: list[bytes]) -> None:
        self.function = function
        self._requests = requests

    @property
    def sent(self) -> list[str]:
        return [json.loads(request.partition(b"\r\n\r\n")[2])["variables"]["sub"] for request in self._requests]

    def call(
        self,
        *,
        context: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        **message: Any,
    ) -> Answer:
        """Call the tool; ``context`` is laid over the event's request context."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL, **message})
        headers = headers or {}
        # A signature is no secret that an answer could tell, and its words stand in requests to AWS as well.
        unsigned = {name: value for name, value in headers.items() if "AWS4-" not in value}
        event = event_for("POST", self.function.path, body=body, headers=unsigned)
        event["headers"] |= {"content-type": "application/json", **headers}
        event["requestContext"] |= {"apiId": API, **(context or {})}
        return answer_of(self.function.handler(event, Context()))


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    body = b'{"data":{"mine":"yours"}}'
    response = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)
    with running_server(answering(response)) as upstream:
        files = {"index.graphql": SCHEMA, "operations/mine.graphql": OPERATION, "config.yaml": CONFIG % upstream.url}
        with running_function(compiled(tmp_path, files)) as function:
            yield Gateway(function, upstream.requests)


def test_caller_whom_the_authorizer_verified_gets_in_with_its_claims(gateway: Gateway) -> None:
    answer = gateway.call(context={"authorizer": VERIFIED})

    assert not answer.result.get("isError")
    assert gateway.sent == ["user-1"]
    assert gateway.function.lines[0]["principal"] == "authorizer"


def test_bearer_that_the_authorizer_has_read_is_not_judged_again(gateway: Gateway) -> None:
    headers = {"authorization": f"Bearer {PROVIDER.token(sub='root')}"}

    assert gateway.call(context={"authorizer": VERIFIED}, headers=headers).status == 200
    assert gateway.sent == ["user-1"]
    assert gateway.call(headers=headers).status == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"x-api-key": "of-a-usage-plan"},
        {"x-api-key": "of-a-usage-plan", "authorization": "Bearer a.b.c"},
        {"authorization": "Bearer no token"},
        {"authorization": "Basic dTpw"},
        {"authorization": ""},
    ],
    ids=str,
)
def test_headers_of_a_caller_whom_the_authorizer_verified_are_not_judged(
    gateway: Gateway, headers: Mapping[str, str]
) -> None:
    assert gateway.call(context={"authorizer": VERIFIED}, headers=headers).status == 200
    assert gateway.sent == ["user-1"]
    assert gateway.call(headers=headers).status in (400, 401)


def test_authorizer_of_another_api_lets_nobody_in(gateway: Gateway) -> None:
    answer = gateway.call(context={"authorizer": VERIFIED, "apiId": "f6g7h8i9j0"})

    assert (answer.status, gateway.sent) == (401, [])


def test_forged_request_context_in_the_body_counts_for_nothing(gateway: Gateway) -> None:
    forged = {"apiId": API, "authorizer": VERIFIED}
    params = {**CALL, "requestContext": forged, "_meta": {**META, "requestContext": forged, "aws.event": forged}}

    answers = [
        gateway.call(requestContext=forged, version="2.0"),
        gateway.call(params=params),
        gateway.call(
            params=params,
            headers={"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "mine"},
        ),
    ]

    assert [answer.status for answer in answers] == [401] * 3
    assert gateway.sent == []


@pytest.mark.parametrize(
    "name", ["requestContext", "x-amzn-request-context", "x-amz-requestcontext", "aws.event", "x-apigateway-event"]
)
def test_forged_request_context_in_a_header_counts_for_nothing(gateway: Gateway, name: str) -> None:
    forged = json.dumps({"version": "2.0", "requestContext": {"apiId": API, "authorizer": VERIFIED}})

    assert gateway.call(headers={name.lower(): forged}).status == 401
    assert gateway.sent == []


def test_endpoint_that_trusts_no_api_does_not_read_the_request_context(tmp_path: Path) -> None:
    files = {"index.graphql": SCHEMA, "config.yaml": "default_tool: false"}
    with running_function(compiled(tmp_path, files)) as function:
        assert Gateway(function, []).call(context={"authorizer": VERIFIED}).status == 401


def test_on_stile_dev_no_authorizer_is_believed(tmp_path: Path) -> None:
    files = {
        "index.graphql": SCHEMA,
        "operations/mine.graphql": OPERATION,
        "config.yaml": CONFIG % "http://127.0.0.1:9/",
    }
    with running_function(compiled(tmp_path, files), development=True) as function:
        Gateway(function, []).call(context={"authorizer": VERIFIED})

        assert function.lines[0]["principal"] == "development"


ARN = "arn:aws:iam::123456789012:user/agent"
SIGNED: dict[str, Mapping[str, Any]] = {
    "HTTP API or function URL": {"authorizer": {"iam": {"userArn": ARN, "accountId": "123456789012"}}},
    "REST API": {"identity": {"userArn": ARN, "sourceIp": "203.0.113.7"}, "authorizer": None},
}
SIGNATURES = [
    "AWS4-HMAC-SHA256 Credential=AKID/20260112/us-east-1/execute-api/aws4_request, SignedHeaders=host, Signature=a",
    "AWS4-ECDSA-P256-SHA256 Credential=AKIDEXAMPLE/20260112/execute-api/aws4_request, SignedHeaders=host, Signature=a",
]


@pytest.fixture
def public(tmp_path: Path) -> Iterator[Gateway]:
    """One that lets anonymous callers in, and takes keys and tokens."""
    config = "access: {anonymous: allow, policies: [{type: Query, policyDefault: {condition: true}}]}"
    endpoint = compiled(tmp_path, {"index.graphql": SCHEMA, "config.yaml": config})
    with running_function(identified(endpoint, {}, issuers=["https://idp.example"])) as function:
        yield Gateway(function, [])


@pytest.mark.parametrize("signature", SIGNATURES)
@pytest.mark.parametrize("door", SIGNED)
def test_caller_whose_signature_aws_verified_is_anonymous(public: Gateway, door: str, signature: str) -> None:
    answer = public.call(context=SIGNED[door], headers={"authorization": signature}, method="tools/list")

    assert answer.status == 200
    assert public.function.lines[0]["principal"] == "anonymous"


@pytest.mark.parametrize(
    ("context", "authorization"),
    [
        ({}, SIGNATURES[0]),
        ({"authorizer": None, "identity": {"userArn": None}}, SIGNATURES[0]),
        ({"authorizer": {"iam": None}}, SIGNATURES[0]),
        ({"authorizer": {"iam": {"userArn": None}}}, SIGNATURES[0]),
        ({"authorizer": {"iam": {"userArn": [ARN]}}}, SIGNATURES[0]),
        ({"authorizer": {"iam": {"userArn": ""}}}, SIGNATURES[0]),
        ({"authorizer": {"iam": ARN}}, SIGNATURES[0]),
        ({"authorizer": {"lambda": {"iam": {"userArn": ARN}, "userArn": ARN}}}, SIGNATURES[0]),
        ({"authorizer": [ARN], "identity": [ARN]}, SIGNATURES[0]),
        (SIGNED["REST API"], "Bearer a.b.c"),
        (SIGNED["REST API"], "Basic dTpw"),
        (SIGNED["REST API"], f"Bearer {SIGNATURES[0]}"),
        (SIGNED["REST API"], "Apikey stile_wrong"),
        (SIGNED["REST API"], f"x {SIGNATURES[0]}"),
    ],
)
def test_credential_that_aws_has_not_verified_is_judged_as_ever(
    public: Gateway, context: Mapping[str, Any], authorization: str
) -> None:
    answer = public.call(context=context, headers={"authorization": authorization}, method="tools/list")

    assert answer.status in (400, 401)


def test_signature_beside_another_credential_hides_nothing_of_it(public: Gateway) -> None:
    headers = {"authorization": SIGNATURES[0], "x-api-key": "stile_wrong"}

    assert public.call(context=SIGNED["REST API"], headers=headers, method="tools/list").status == 400


def test_signed_caller_of_an_api_without_trust_is_asked_for_a_token_where_anonymous_callers_are(
    gateway: Gateway,
) -> None:
    context = {**SIGNED["REST API"], "apiId": "f6g7h8i9j0"}
    answer = gateway.call(context=context, headers={"authorization": SIGNATURES[0]})

    assert (answer.status, gateway.sent) == (401, [])
