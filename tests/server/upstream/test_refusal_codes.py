"""Refusals as GraphQL says them: of the endpoint's credential, of the caller's token, of requests, and of rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from handler.server.asgi.request_log import INFO, WARNING, level_of
from handler.server.auth.own_secrets import REFUSED_PAUSE_S
from handler.server.upstream.refusal_codes import (
    ANSWER,
    AS_WRITTEN,
    CODES,
    CREDENTIAL,
    LIMIT,
    PLACES,
    WORDS,
    kind_of_error,
    refused_by,
)
from handler.storage.local import FolderStorage
from tests.server.outgoing.serving import Container, asking, endpoint, identity_with, with_token
from tests.server.upstream.test_modes import ASKED, PAID, SECRETS, issuing, oauth, upstream
from tests.support.api import Api, Asked, Reply, running_api
from tests.support.aws_calls import recording
from tests.support.function import Function, store
from tests.support.issuers import AUDIENCE
from tests.support.moto import Moto
from tests.support.secrecy import SESSION
from tests.support.started import started_function

OWN = "The API refused the endpoint's own credential ({}). No argument replaces it. This tool's maintainer has to fix"
ALL = [(kind, code) for kind, servers in CODES.items() for codes in servers.values() for code in codes]
WRITTEN = [*((code, kind) for kind, code in ALL), *AS_WRITTEN.items()]


def error(code: Any, *place: str, message: str = "No.") -> dict[str, Any]:
    """An error with a code at a place."""
    names = place or ("extensions", "code")
    return {"message": message, "path": ["me"], **reduce(lambda inner, name: {name: inner}, reversed(names), code)}


def refusal(code: Any = "UNAUTHENTICATED", *, data: Any = None, status: int = 200) -> Reply:
    return Reply({"data": data, "errors": [error(code)]}, status=status)


@pytest.fixture
def api() -> Iterator[Api]:
    with running_api() as api:
        yield api


@pytest.fixture
def function(tmp_path: Path, api: Api) -> Iterator[Function]:
    """The function whose endpoint has a credential of its own."""
    with asking(tmp_path, upstream(api, "{bearer: env:K}"), secrets=SECRETS) as function:
        yield function


def test_codes_are_of_one_kind_and_name_their_servers() -> None:
    codes = [code for _, code in ALL]

    assert len(set(codes)) == len(codes)
    assert all(code == code.upper() and "-" not in code for code in codes)
    assert all(words == words.lower() for phrases in WORDS.values() for words in phrases)
    assert all(servers for each in CODES.values() for servers in each)
    assert all(servers for each in WORDS.values() for servers in each.values())


@pytest.mark.parametrize(("code", "kind"), WRITTEN)
def test_code_has_its_kind_and_reaches_the_log_and_the_model_so(
    function: Function, api: Api, code: str, kind: str
) -> None:
    api.answer = lambda _: refusal(code)
    called = function.call("Me", {})

    (line,) = function.lines
    assert called.result["isError"] is True
    assert kind_of_error(error(code)) == (kind, code)
    assert (OWN.format(code) in called.text) is (kind == CREDENTIAL)
    reasons = {CREDENTIAL: f"UpstreamRefused: {code}", LIMIT: "UpstreamLimit", ANSWER: f"GraphQLErrors: {code}"}
    assert line["reason"] == reasons[kind]
    assert level_of(line) == (INFO if kind == ANSWER else WARNING)
    assert "no_data" not in line


@pytest.mark.parametrize(("words", "kind"), [(words, kind) for kind in WORDS for words in WORDS[kind]])
def test_words_alone_have_their_kind(function: Function, api: Api, words: str, kind: str) -> None:
    api.answer = lambda _: Reply(
        {"data": {"me": None}, "errors": [{"message": f"{words.capitalize()}.", "path": ["me"]}]}
    )
    called = function.call("Me", {})

    assert (OWN.format(words) in called.text) is (kind == CREDENTIAL)
    assert function.lines[0]["reason"].partition(":")[0] == (
        "UpstreamRefused" if kind == CREDENTIAL else "UpstreamLimit"
    )


ANSWERS: Mapping[str, tuple[str, str]] = {
    "Hasura, an expired token": (
        '{"errors":[{"extensions":{"path":"$","code":"invalid-jwt"},"message":"Could not verify JWT: JWTExpired"}]}',
        "UpstreamRefused: invalid-jwt",
    ),
    "Hasura, another secret": (
        '{"errors":[{"extensions":{"path":"$","code":"access-denied"},"message":"invalid x-hasura-admin-secret"}]}',
        "UpstreamRefused: access-denied",
    ),
    "Hasura, a rate": (
        '{"errors":[{"extensions":{"path":"$","code":"rate-limit-exceeded"},"message":"Rate limit exceeded"}]}',
        "UpstreamLimit",
    ),
    "Hot Chocolate": (
        (
            '{"data":{"me":null},"errors":[{"message":"The current user is not authorized to access this resource.",'
            '"locations":[{"line":1,"column":3}],"path":["me"],"extensions":{"code":"AUTH_NOT_AUTHENTICATED"}}]}'
        ),
        "UpstreamRefused: AUTH_NOT_AUTHENTICATED",
    ),
    "Spring for GraphQL": (
        (
            '{"data":{"me":null},"errors":[{"message":"Unauthorized","path":["me"],"locations":[],'
            '"extensions":{"classification":"UNAUTHORIZED"}}]}'
        ),
        "UpstreamRefused: UNAUTHORIZED",
    ),
    "Spring for GraphQL, a role": (
        (
            '{"data":{"me":null},"errors":[{"message":"Forbidden","path":["me"],"locations":[],'
            '"extensions":{"classification":"FORBIDDEN"}}]}'
        ),
        "GraphQLErrors",
    ),
    "AWS AppSync": (
        '{"errors":[{"errorType":"UnauthorizedException","message":"Token has expired."}]}',
        "UpstreamRefused: UnauthorizedException",
    ),
    "AWS AppSync, a field": (
        (
            '{"data":{"me":null},"errors":[{"path":["me"],"data":null,"errorType":"Unauthorized","errorInfo":null,'
            '"message":"Not Authorized to access me on type Query"}]}'
        ),
        "GraphQLErrors",
    ),
    "Saleor": (
        (
            '{"errors":[{"message":"Signature has expired","locations":[],"path":["me"],'
            '"extensions":{"exception":{"code":"ExpiredSignatureError"}}}],"data":{"me":null}}'
        ),
        "UpstreamRefused: ExpiredSignatureError",
    ),
    "Strawberry": (
        '{"data":{"me":null},"errors":[{"message":"User is not authenticated.","locations":[],"path":["me"]}]}',
        "UpstreamRefused: user is not authenticated",
    ),
    "Lighthouse": (
        '{"errors":[{"message":"Unauthenticated.","path":["me"],"extensions":{"guards":["api"]}}],"data":{"me":null}}',
        "UpstreamRefused: unauthenticated",
    ),
    "Linear": (
        (
            '{"errors":[{"message":"Authentication required","extensions":{"type":"authentication error",'
            '"code":"AUTHENTICATION_ERROR","statusCode":401}}]}'
        ),
        "UpstreamRefused: AUTHENTICATION_ERROR",
    ),
    "Shopify": (
        (
            '{"errors":[{"message":"Throttled","extensions":{"code":"THROTTLED"}}],"extensions":{"cost":'
            '{"requestedQueryCost":202,"throttleStatus":{"currentlyAvailable":118,"restoreRate":50.0}}}}'
        ),
        "UpstreamLimit",
    ),
    "Shopify, a scope": (
        (
            '{"data":{"me":null},"errors":[{"message":"Access denied for me field.","path":["me"],'
            '"extensions":{"code":"ACCESS_DENIED"}}]}'
        ),
        "GraphQLErrors: ACCESS_DENIED",
    ),
    "GitHub": (
        '{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded for user ID 1."}]}',
        "UpstreamLimit",
    ),
    "GitHub, a repository": (
        '{"data":{"me":null},"errors":[{"type":"FORBIDDEN","path":["me"],"message":"Resource not accessible"}]}',
        "GraphQLErrors",
    ),
    "a limit beside data": (
        '{"data":{"me":"you"},"errors":[{"message":"Too many requests","extensions":{"code":"RATE_LIMITED"}}]}',
        "UpstreamLimit",
    ),
}
"""Answers in the forms that the servers' documents and sources show, with status 200, and the log's reason for them."""


@pytest.mark.parametrize("server", ANSWERS)
def test_answer_of_a_known_server_is_logged_as_what_it_is(function: Function, api: Api, server: str) -> None:
    body, reason = ANSWERS[server]
    api.answer = lambda _: Reply(body.encode())
    text = function.call("Me", {}).text

    (line,) = function.lines
    assert line["reason"] == reason
    assert level_of(line) == (INFO if reason.startswith("GraphQLErrors") else WARNING)
    assert ("maintainer has to fix" in text) is reason.startswith("UpstreamRefused")
    assert "no_data" not in line


@pytest.mark.parametrize("place", PLACES, ids=".".join)
@pytest.mark.parametrize("written", ["UNAUTHENTICATED", "unauthenticated", "not-authenticated"])
def test_code_is_found_where_servers_write_it(place: tuple[str, ...], written: str) -> None:
    assert kind_of_error(error(written, *place)) == (CREDENTIAL, written)


@pytest.mark.parametrize("place", [("extensions", "status"), ("extensions", "http", "status"), ("code",)])
def test_status_within_an_error_is_a_code(place: tuple[str, ...]) -> None:
    assert refused_by([error(401, *place)]) == "401"
    assert not refused_by([error(True, *place), error(403, *place), error(401.0, *place)])


@pytest.mark.parametrize(
    "errors",
    [
        *(None, "UNAUTHENTICATED", {}, [], [None], [1], [[]], ["no"], [{}], [{"extensions": "UNAUTHENTICATED"}]),
        [{"extensions": {"code": ["UNAUTHENTICATED"]}}],
        [{"message": "the order says: unauthenticated"}],
        [error("FORBIDDEN", message="Not authenticated.")],
        [error("ACCESS_DENIED")],
        [error("UNAUTHENTICATED" * 1_000)],
        [{}] * 10 + [error("UNAUTHENTICATED")],
    ],
)
def test_other_errors_refuse_no_credential(errors: Any) -> None:
    assert refused_by(errors) == ""


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("data", [None, {}, {"me": None}, {"me": "you"}])
def test_own_credential_that_is_refused_is_told_whatever_else_is_answered(
    function: Function, api: Api, status: int, data: Any
) -> None:
    api.answer = lambda _: refusal(data=data, status=status)
    text = function.call("Me", {}).text

    assert OWN.format("UNAUTHENTICATED") in text
    assert "No." in text
    assert function.lines[0]["reason"] == "UpstreamRefused: UNAUTHENTICATED"


def test_mutation_that_is_refused_may_have_been_carried_out_unless_nothing_was_executed(
    function: Function, api: Api
) -> None:
    api.answer = lambda _: Reply({"data": None, "errors": [error("UNAUTHENTICATED")]})
    doubtful = function.call("Pay", {}).text
    api.answer = lambda _: Reply(
        {"errors": [{"message": "expired", "extensions": {"code": "invalid-jwt", "path": "$"}}]}
    )
    undone = function.call("Pay", {}).text

    assert "find out whether it was" in doubtful
    assert "find out" not in undone
    assert OWN.format("invalid-jwt") in undone


def test_callers_own_token_that_is_refused_is_the_callers_matter(tmp_path: Path, api: Api) -> None:
    api.answer = lambda _: refusal()
    passthrough = upstream(api, f"{{passthrough: {{audience: '{AUDIENCE}'}}}}")
    with asking(tmp_path, passthrough, identity=identity_with()) as function:
        text = function.call("Me", {}, headers=with_token(aud=AUDIENCE)).text

    assert "The API refused the token of this tool's caller (UNAUTHENTICATED). Tell your user to sign in again" in text
    assert function.lines[0]["reason"] == "CallerTokenRefused: UNAUTHENTICATED"
    assert level_of(function.lines[0]) == INFO
    assert len(api.asked) == 1


def test_endpoint_without_a_credential_has_none_that_could_be_refused(tmp_path: Path, api: Api) -> None:
    api.answer = lambda _: refusal()
    with asking(tmp_path, upstream(api, "none")) as function:
        text = function.call("Me", {}).text

    assert "credential" not in text
    (line,) = function.lines
    assert (line["reason"], line["no_data"]) == ("GraphQLErrors: UNAUTHENTICATED", True)


def test_query_is_sent_again_with_a_new_credential_and_a_mutation_is_not(tmp_path: Path) -> None:
    issued: list[str] = []

    def issue(_: Asked) -> Reply:
        issued.append(f"issued-token-{len(issued)}")
        return issuing(access_token=issued[-1])

    def answer(asked: Asked) -> Reply:
        return refusal() if asked.authorization == f"Bearer {revoked}" else Reply()

    with running_api(answer) as api, running_api(issue, takes_secrets=True) as login:
        container = Container(endpoint(tmp_path, upstream(api, oauth("client_credentials", login))), secrets=SECRETS)
        revoked = "issued-token-0"
        (renewed,) = container.ask(container.caller())
        container.clock.now += REFUSED_PAUSE_S
        revoked = "issued-token-1"
        (failed,) = container.ask(container.caller(), mutation=True)
        (next_one,) = container.ask(container.caller(), mutation=True)

        assert [each[-1] for each in api.authorizations] == ["0", "1", "1", "2"]
    assert (renewed, next_one) == (ASKED, PAID)
    assert isinstance(failed, dict)
    assert OWN.format("UNAUTHENTICATED") in failed["errors"][0]["message"]


HEADS: Mapping[str, bytes] = {
    "valid": b'{"data": null, "errors": [{"message": "no", "extensions": {"code": "UNAUTHENTICATED"}}]}',
    "after a byte order mark": b'\xef\xbb\xbf{"errors": [{"message": "no", "extensions": {"code": "invalid-jwt"}}]}',
}


@pytest.mark.parametrize("body", HEADS.values(), ids=HEADS)
def test_api_that_refuses_everything_has_the_secret_read_at_most_once_a_minute(
    tmp_path: Path, moto: Moto, folder_storage: FolderStorage, api: Api, body: bytes
) -> None:
    assert REFUSED_PAUSE_S == 60
    api.answer = lambda _: Reply(body)
    prefix = f"hostile-{len(body)}"
    name, value = f"{prefix}/api/things/K", SESSION.keep("a secret in AWS", "a-value-in-aws-9915-4711")
    with moto.unchecked():
        moto.client("secretsmanager").create_secret(Name=name, SecretString=value)
    store(folder_storage, endpoint(tmp_path, upstream(api, "{bearer: secret:K}")))
    read_only = {"Action": "secretsmanager:GetSecretValue", "Resource": "*"}
    with recording(moto) as calls:
        environ = calls.environ(moto.add_user("reader", read_only))
        local = {"STILE_ALLOW_LOCAL_UPSTREAMS": "true", "STILE_SECRETS": prefix}
        with started_function(folder_storage.location, **environ, **local) as function:
            told = [function.call("Me", {}).text for _ in range(12)]

    assert len(api.asked) == 13  # the first query was sent again, with the secret that was read anew
    assert [call.action for call in calls.made] == ["secretsmanager:GetSecretValue"] * 2
    assert all("The API refused the endpoint's own credential" in text for text in told)
    assert value not in "".join(told)


@pytest.mark.parametrize(
    "body", [b'{"errors": [', b'"errors"', b'["errors"]', b'{"errors": ' + b"[" * 5_000 + b"]" * 5_000 + b"}"]
)
def test_answer_that_cannot_be_read_refuses_nothing(tmp_path: Path, api: Api, body: bytes) -> None:
    api.answer = lambda _: Reply(body)
    with running_api(lambda _: issuing(), takes_secrets=True) as login:
        container = Container(endpoint(tmp_path, upstream(api, oauth("client_credentials", login))), secrets=SECRETS)
        container.ask(container.caller())

        assert (len(api.asked), len(login.asked)) == (1, 1)


@pytest.mark.parametrize(
    ("errors", "data", "failed"),
    [
        ([error("INTERNAL_SERVER_ERROR")], None, True),
        ([error("INTERNAL_SERVER_ERROR")], {"me": None}, True),
        ([{"message": "the stock system is down", "path": ["me"]}], None, True),
        ([error("FORBIDDEN"), error("INTERNAL_SERVER_ERROR")], None, True),
        ([error("INTERNAL_SERVER_ERROR")], {"me": "you"}, False),
        ([error("FORBIDDEN")], None, False),
        ([error("NOT_FOUND", "type")], {"me": None}, False),
        ([{"message": 'Variable "$a" got invalid value 1'}], None, False),
    ],
)
def test_errors_without_a_value_are_a_failure_unless_they_answer_the_request(
    function: Function, api: Api, errors: list[Any], data: Any, *, failed: bool
) -> None:
    api.answer = lambda _: Reply(json.loads(json.dumps({"data": data, "errors": errors})))
    function.call("Me", {})

    (line,) = function.lines
    assert line.get("no_data", False) is failed
    assert level_of(line) == (WARNING if failed else INFO)
