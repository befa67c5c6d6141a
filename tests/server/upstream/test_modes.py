"""For each mode of ``upstream.auth``, what reaches the API proves which credential each call carried."""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from handler.errors.upstream import CredentialUnavailable
from handler.server.auth.own_secrets import REFUSED_PAUSE_S
from handler.server.outgoing.secret_store import Fetched, SingleFlightCache
from handler.server.upstream.api_access import api_access
from tests.server.outgoing.serving import Container, asking, endpoint, identity_with, with_token
from tests.support.api import Api, Asked, Reply, running_api
from tests.support.function import running_function
from tests.support.identities import HOLDER
from tests.support.issuers import AUDIENCE

SECRETS = {
    "K": "the-key-of-the-api-0815",
    "LOGIN": "the secret of the client, with &=+ in it",
    "ACTOR": "actor.token-4711",
}
ASKED, PAID = {"data": {"me": "you"}}, {"data": {"pay": "paid"}}
UNAUTHORIZED = Reply({"errors": [{"message": "no"}]}, status=401)
CALLER_NEEDED = "caller-token-required"


def upstream(api: Api, auth: str) -> str:
    return f"{{url: '{api.url}', auth: {auth}}}"


def oauth(mode: str, login: Api, more: str = "") -> str:
    return f"{{{mode}: {{token_url: '{login.url}', client_id: 'sti le', client_secret: env:LOGIN{more}}}}}"


def issuing(**more: Any) -> Reply:
    return Reply({"access_token": "issued-1234567890", "token_type": "Bearer", "expires_in": 600, **more})


def numbered(asked: Asked) -> Reply:
    """A token that tells for whose token it was given."""
    return issuing(access_token=f"for-{sha256(asked.form.get('subject_token', '').encode()).hexdigest()[:20]}")


def given_for(headers: Mapping[str, str]) -> str:
    """The ``Authorization`` that the API gets of a caller, with ``numbered``."""
    token = headers["authorization"].removeprefix("Bearer ")
    return f"Bearer for-{sha256(token.encode()).hexdigest()[:20]}"


# A token is made when its test runs: one that is made with the parameters may be too old by then.
@pytest.mark.parametrize("headers_of", [dict, HOLDER.copy, with_token], ids=["anonymous", "key", "token"])
@pytest.mark.parametrize(
    ("auth", "header", "value"),
    [
        ("none", "authorization", None),
        ("{bearer: env:K}", "authorization", f"Bearer {SECRETS['K']}"),
        ("{header: X-Api-Key, value: env:K}", "x-api-key", SECRETS["K"]),
        ("{header: authorization, value: env:K}", "authorization", SECRETS["K"]),
    ],
)
def test_one_secret_or_none_goes_with_every_call_and_nothing_of_the_callers(
    tmp_path: Path, auth: str, header: str, value: str | None, headers_of: Callable[[], dict[str, str]]
) -> None:
    caller = headers_of()
    with running_api() as api:
        with asking(tmp_path, upstream(api, auth), secrets=SECRETS) as function:
            assert "isError" not in function.call("Me", {}, headers=caller).result
            assert "isError" not in function.call("Pay", {}, headers=caller).result

        credentials = [{name: each.headers.get(name) for name in ("authorization", "x-api-key")} for each in api.asked]
    assert credentials == [{"authorization": None, "x-api-key": None} | {header: value}] * 2


def test_callers_token_is_passed_on_where_it_is_for_the_api_too(tmp_path: Path) -> None:
    audience = "https://api.example/orders"
    with running_api() as api:
        mode = f"{{passthrough: {{audience: {audience}}}}}"
        identity = identity_with([AUDIENCE, audience])
        with asking(tmp_path, upstream(api, mode), identity=identity) as function:
            mine = with_token(aud=[AUDIENCE, audience])
            assert "isError" not in function.call("Me", {}, headers=mine).result
            other = function.call("Me", {}, headers=with_token(aud=AUDIENCE))

        assert api.authorizations == [mine["authorization"]]
    assert other.result["isError"] is True
    assert f"the token of this caller is not for {audience}" in other.text


@pytest.mark.parametrize("caller", [{}, HOLDER], ids=["anonymous", "key"])
@pytest.mark.parametrize("mode", ["passthrough", "token_exchange"])
def test_caller_without_a_token_is_refused_where_the_api_is_asked_on_their_behalf(
    tmp_path: Path, mode: str, caller: Mapping[str, str]
) -> None:
    with running_api() as api, running_api(takes_secrets=True) as login:
        auth = f"{{passthrough: {{audience: '{AUDIENCE}'}}}}" if mode == "passthrough" else oauth(mode, login)
        with asking(
            tmp_path, upstream(api, auth), claims={"sub": "key"}, identity=identity_with(), secrets=SECRETS
        ) as function:
            answer = function.call("Me", {}, headers=caller)
            route = function.graphql(
                {"documentId": f"sha256:{sha256(b'query Me @mcpTool { me }').hexdigest()}"}, headers=caller
            )

        assert (api.asked, login.asked) == ([], [])
    assert (answer.result["isError"], answer.code) == (True, CALLER_NEEDED)
    assert function.lines[0]["reason"] == "CallerTokenRequired"
    assert (route.status, route.code) == (403, CALLER_NEEDED)


def test_client_gets_one_token_for_everybody_and_the_callers_stays_here(tmp_path: Path) -> None:
    with running_api() as api, running_api(lambda _: issuing(), takes_secrets=True) as login:
        more = ", scope: [a, 'b:c'], audience: 'https://a', resource: 'https://r/x?y=1'"
        with asking(tmp_path, upstream(api, oauth("client_credentials", login, more)), secrets=SECRETS) as function:
            for caller in ({}, HOLDER, with_token(), {}):
                assert "isError" not in function.call("Me", {}, headers=caller).result

        assert api.authorizations == ["Bearer issued-1234567890"] * 4
        (asked,) = login.asked
    pair = "sti+le:the+secret+of+the+client%2C+with+%26%3D%2B+in+it"
    assert asked.authorization == f"Basic {base64.b64encode(pair.encode()).decode()}"
    assert asked.form == {
        "grant_type": "client_credentials",
        "scope": "a b:c",
        "audience": "https://a",
        "resource": "https://r/x?y=1",
    }


def test_client_may_say_its_secret_in_the_form(tmp_path: Path) -> None:
    with running_api() as api, running_api(lambda _: issuing(), takes_secrets=True) as login:
        auth = oauth("client_credentials", login, ", client_auth: post")
        with asking(tmp_path, upstream(api, auth), secrets=SECRETS) as function:
            function.call("Me", {})

        assert login.asked[0].authorization == ""
        assert login.asked[0].form == {
            "grant_type": "client_credentials",
            "client_id": "sti le",
            "client_secret": SECRETS["LOGIN"],
        }


def test_callers_token_is_exchanged_and_never_reaches_the_api(tmp_path: Path) -> None:
    with running_api() as api, running_api(numbered, takes_secrets=True) as login:
        more = ", audience: orders, actor_token: env:ACTOR, actor_token_type: jwt, subject_token_type: jwt"
        with asking(tmp_path, upstream(api, oauth("token_exchange", login, more)), secrets=SECRETS) as function:
            mine = with_token()
            assert "isError" not in function.call("Me", {}, headers=mine).result

        assert api.authorizations == [given_for(mine)]
        (asked,) = login.asked
    assert asked.form == {
        "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
        "subject_token": mine["authorization"].removeprefix("Bearer "),
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "requested_token_type": "urn:ietf:params:oauth:token-type:access_token",
        "actor_token": SECRETS["ACTOR"],
        "actor_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "audience": "orders",
    }


def test_two_callers_interleaved_never_share_a_token(tmp_path: Path) -> None:
    with running_api() as api, running_api(numbered, takes_secrets=True) as login:
        with asking(tmp_path, upstream(api, oauth("token_exchange", login)), secrets=SECRETS) as function:
            ada, ben = with_token(sub="ada"), with_token(sub="ben")
            for caller in (ada, ben, ada, ben, ben, ada):
                function.call("Me", {}, headers=caller)

        assert api.authorizations == [given_for(each) for each in (ada, ben, ada, ben, ben, ada)]
        assert len(login.asked) == 2


def test_read_only_and_admin_tokens_of_one_subject_never_share_one(tmp_path: Path) -> None:
    with running_api() as api, running_api(numbered, takes_secrets=True) as login:
        with asking(tmp_path, upstream(api, oauth("token_exchange", login)), secrets=SECRETS) as function:
            reader, admin = with_token(sub="ada", scope="read"), with_token(sub="ada", scope="read admin")
            for caller in (admin, reader, admin):
                function.call("Me", {}, headers=caller)

        assert api.authorizations == [given_for(each) for each in (admin, reader, admin)]


def test_two_endpoints_of_one_configuration_never_share_a_token(tmp_path: Path) -> None:
    with running_api() as api, running_api(lambda _: issuing(), takes_secrets=True) as login:
        one = endpoint(tmp_path, upstream(api, oauth("client_credentials", login)))
        two = replace(one, bundle=replace(one.bundle, endpoint="api/others"))
        with running_function(one, two, secrets=SECRETS) as function:
            function.call("Me", {})
            function.post(
                {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "Me", "arguments": {}}},
                path="/api/others/mcp",
            )

        assert (len(api.asked), len(login.asked)) == (2, 2)


def test_callers_at_once_wait_for_one_exchange_each_and_share_none(tmp_path: Path) -> None:
    with running_api() as api, running_api(numbered, takes_secrets=True) as login:
        container = Container(endpoint(tmp_path, upstream(api, oauth("token_exchange", login))), secrets=SECRETS)
        ada, ben = container.caller("token-of-ada-123456"), container.caller("token-of-ben-123456")

        answers = container.ask(*[ada, ben] * 10)

        expected = [given_for({"authorization": f"Bearer {each.credential}"}) for each in (ada, ben)]
        assert sorted(api.authorizations) == sorted(expected * 10)
        assert len(login.asked) == 2
    assert answers == [ASKED] * 20


def test_callers_at_once_share_the_failure_of_one_exchange(tmp_path: Path) -> None:
    with running_api() as api, running_api(lambda _: Reply(status=500), takes_secrets=True) as login:
        container = Container(endpoint(tmp_path, upstream(api, oauth("client_credentials", login))), secrets=SECRETS)

        answers = container.ask(*[container.caller()] * 10)

        assert {str(each) for each in answers} == {str(CredentialUnavailable("any"))}
        assert (len(login.asked), api.asked) == (1, [])
        container.ask(container.caller())
        assert len(login.asked) == 2


@pytest.mark.parametrize(
    ("expires_in", "kept_s"),
    [(600, 570), (600.5, 570), ("600", 570), (None, 270), (10**9, 3570), (1e300, 3570), (30, 0), (1, 0), (0, 0),
     (-600, 0), ("soon", 0), ("-600", 0), ("9" * 5000, 0), (True, 0), ([], 0), ({}, 0)],
)  # fmt: skip
def test_token_is_kept_for_as_long_as_it_may_be_and_no_longer(tmp_path: Path, expires_in: Any, kept_s: int) -> None:
    with running_api() as api, running_api(lambda _: issuing(expires_in=expires_in), takes_secrets=True) as login:
        container = Container(endpoint(tmp_path, upstream(api, oauth("client_credentials", login))), secrets=SECRETS)

        container.ask(container.caller())
        container.clock.now += max(kept_s - 1, 0)
        container.ask(container.caller())
        before = len(login.asked)
        container.clock.now += 2
        container.ask(container.caller())

    assert before == (1 if kept_s else 2)
    assert len(login.asked) == before + 1
    assert api.authorizations == ["Bearer issued-1234567890"] * 3


def test_exchanged_token_ends_before_the_one_that_it_was_given_for(tmp_path: Path) -> None:
    with running_api() as api, running_api(numbered, takes_secrets=True) as login:
        container = Container(endpoint(tmp_path, upstream(api, oauth("token_exchange", login))), secrets=SECRETS)
        ada = container.caller("token-of-ada-123456", exp=container.clock.now + 100)

        container.ask(ada)
        container.clock.now += 69
        container.ask(ada)
        assert len(login.asked) == 1
        container.clock.now += 2
        container.ask(ada)

        assert len(login.asked) == 2


def test_no_more_tokens_are_kept_than_there_is_room_for(tmp_path: Path) -> None:
    kept: SingleFlightCache = SingleFlightCache(clock=lambda: 0, most=2)

    async def ask(key: str) -> str:
        async def fetch() -> Fetched:
            fetched.append(key)
            return Fetched(key, good_until=1)

        return await kept.get(key, fetch)

    fetched: list[str] = []
    for key in ("a", "b", "a", "c", "a", "b"):
        assert asyncio.run(ask(key)) == key
    assert (len(kept), fetched) == (2, ["a", "b", "c", "b"])


HUGE = Reply({"access_token": "a" * 100_000, "token_type": "Bearer"})
FAILURES: dict[str, tuple[Reply, str]] = {
    "errors": (Reply({"error": "invalid_scope", "error_description": "secret words"}, status=400), "invalid_scope"),
    "unknown errors": (Reply({"error": "secret words"}, status=400), "status 400 and no token"),
    "errors that are no text": (Reply({"error": ["x"]}, status=400), "status 400 and no token"),
    "HTML": (Reply(b"<html>Sign in</html>"), "status 200 and no token"),
    "a redirect": (Reply(status=302, headers={"location": "http://127.0.0.1:1/"}), "status 302 and no token"),
    "nothing": (Reply(b""), "status 200 and no token"),
    "a list": (Reply([]), "status 200 and no token"),
    "deep JSON": (Reply(b"[" * 50_000), "status 200 and no token"),
    "a huge body": (HUGE, "the answer is larger than 65536 bytes"),
    "a long token": (Reply({"access_token": "a" * 20_000, "token_type": "Bearer"}), "the answer has no access_token"),
    "no token": (Reply({"token_type": "Bearer"}), "the answer has no access_token"),
    "a token with a line break": (issuing(access_token="a\r\nx-role: admin"), "the answer has no access_token"),
    "a token that is no text": (issuing(access_token={"a": 1}), "the answer has no access_token"),
    "another type of token": (issuing(token_type="DPoP"), "the token is not a bearer token"),
    "a type that is no text": (issuing(token_type=1), "the token is not a bearer token"),
    "500": (Reply(b"oops", status=500), "status 500 and no token"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_token_endpoint_that_fails_is_an_error_that_tells_the_log_alone(tmp_path: Path, failure: str) -> None:
    reply, reason = FAILURES[failure]
    with running_api() as api, running_api(lambda _: reply, takes_secrets=True) as login:
        with asking(tmp_path, upstream(api, oauth("client_credentials", login)), secrets=SECRETS) as function:
            answer = function.call("Me", {})

        assert api.asked == []
    assert (answer.result["isError"], answer.text) == (True, str(CredentialUnavailable("any")))
    assert function.lines[0]["reason"].startswith("CredentialUnavailable: ")
    assert function.lines[0]["reason"].endswith(reason)
    assert function.lines[0]["decision"] == "allowed"


def test_exchanged_token_that_no_api_takes_is_refused(tmp_path: Path) -> None:
    refresh = issuing(issued_token_type="urn:ietf:params:oauth:token-type:refresh_token")
    with running_api() as api, running_api(lambda _: refresh, takes_secrets=True) as login:
        with asking(tmp_path, upstream(api, oauth("token_exchange", login)), secrets=SECRETS) as function:
            assert function.call("Me", {}, headers=with_token()).result["isError"] is True

        assert api.asked == []


def test_token_endpoint_that_says_nothing_has_the_deadline_of_the_call(tmp_path: Path) -> None:
    gone = threading.Event()

    def silent(_: Asked) -> Reply:
        gone.wait(20)
        return issuing()

    with running_api() as api, running_api(silent, takes_secrets=True) as login:
        config = f"{{url: '{api.url}', timeout_s: 0.3, auth: {oauth('client_credentials', login)}}}"
        with asking(tmp_path, config, secrets=SECRETS) as function:
            answer = function.call("Me", {})
        gone.set()

        assert api.asked == []
    assert answer.text == str(CredentialUnavailable("any"))
    assert "token endpoint: no complete answer within 0." in function.lines[0]["reason"]


def test_caller_whose_token_is_not_exchanged_is_told_to_sign_in_again(tmp_path: Path) -> None:
    refusal = Reply({"error": "invalid_grant", "error_description": "token of ada"}, status=400)
    with running_api() as api, running_api(lambda _: refusal, takes_secrets=True) as login:
        with asking(tmp_path, upstream(api, oauth("token_exchange", login)), secrets=SECRETS) as function:
            answer = function.call("Me", {}, headers=with_token())

        assert api.asked == []
    assert answer.text == str(CredentialUnavailable("any", refused=True))
    assert "sign in again" in answer.text
    assert function.lines[0]["reason"] == "CredentialUnavailable: token endpoint: invalid_grant"


def test_api_that_refuses_a_token_gets_a_new_one_for_a_query_and_a_mutation_is_not_repeated(tmp_path: Path) -> None:
    issued: list[str] = []

    def issue(_: Asked) -> Reply:
        issued.append(f"issued-token-{len(issued)}")
        return issuing(access_token=issued[-1])

    def answer(asked: Asked) -> Reply:
        return UNAUTHORIZED if asked.authorization == f"Bearer {revoked}" else Reply()

    with running_api(answer) as api, running_api(issue, takes_secrets=True) as login:
        container = Container(endpoint(tmp_path, upstream(api, oauth("client_credentials", login))), secrets=SECRETS)
        revoked = ""
        container.ask(container.caller())
        revoked = "issued-token-0"
        (renewed,) = container.ask(container.caller())
        container.clock.now += REFUSED_PAUSE_S
        revoked = "issued-token-1"
        (failed,) = container.ask(container.caller(), mutation=True)
        (next_one,) = container.ask(container.caller(), mutation=True)

        tokens = [each.removeprefix("Bearer issued-token-") for each in api.authorizations]
        assert tokens == ["0", "0", "1", "1", "2"]
    assert (renewed, next_one) == (ASKED, PAID)
    assert isinstance(failed, dict)
    refused, said = failed["errors"]
    assert refused["message"].startswith("The API refused the endpoint's own credential (status 401).")
    assert said == {"message": "no"}


def test_api_that_refuses_every_token_does_not_get_a_new_one_with_every_call(tmp_path: Path) -> None:
    with running_api(lambda _: UNAUTHORIZED) as api, running_api(lambda _: issuing(), takes_secrets=True) as login:
        container = Container(endpoint(tmp_path, upstream(api, oauth("client_credentials", login))), secrets=SECRETS)

        for _ in range(5):
            container.ask(container.caller())
        assert (len(api.asked), len(login.asked)) == (6, 2)
        container.clock.now += REFUSED_PAUSE_S
        container.ask(container.caller())

        assert (len(api.asked), len(login.asked)) == (8, 3)


@pytest.mark.parametrize("auth", ["none", "{bearer: env:K}"])
def test_refusal_of_what_cannot_be_renewed_is_answered_at_once(tmp_path: Path, auth: str) -> None:
    with running_api(lambda _: UNAUTHORIZED) as api:
        with asking(tmp_path, upstream(api, auth), secrets=SECRETS) as function:
            assert "no" in function.call("Me", {}).text

        assert len(api.asked) == 1


def test_tool_in_python_is_never_given_the_callers_own_token(tmp_path: Path) -> None:
    with running_api() as api, running_api(numbered, takes_secrets=True) as login:
        passed_on = upstream(api, f"{{passthrough: {{audience: '{AUDIENCE}'}}}}")
        for auth in (passed_on, upstream(api, oauth("token_exchange", login))):
            container = Container(endpoint(tmp_path, auth, identity=identity_with()), secrets=SECRETS)
            caller = container.caller("token-of-ada-123456", aud=AUDIENCE)

            with closing(container.services.http):
                access = asyncio.run(api_access(caller, required=False))

            assert caller.credential not in str([access.token, dict(access.headers)])
            assert (access.token is None) is (auth == passed_on)
            assert container.ask(caller) == [ASKED]
