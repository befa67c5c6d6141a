"""Headers of claims say what was verified, those that are forwarded what the client sent, and neither is the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handler.errors.upstream import ClaimMissing, HeaderRefused
from tests.server.outgoing.serving import asking, endpoint, with_token
from tests.support.api import Api, running_api
from tests.support.function import running_function
from tests.support.identities import HOLDER


def upstream(api: Api) -> str:
    return (
        f"{{url: '{api.url}', headers: {{X-Client: stile, x-hasura-role: 'claim:role', x-org: 'claim:org.id'}}, "
        "forward_headers: [X-Request-Id, traceparent]}"
    )


GOOD = {"role": "user", "org": {"id": 7}}


def told(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.startswith(("x-", "trace"))}


@pytest.mark.parametrize(
    ("value", "text"),
    [("user", "user"), ("größer", "größer"), ("a b", "a b"), (7, "7"), (1.5, "1.5"), (-0.0, "-0.0"), (True, "true"),
     (False, "false"), (0, "0"), (10**30, "1" + "0" * 30)],
)  # fmt: skip
def test_claim_is_told_as_a_header(tmp_path: Path, value: Any, text: str) -> None:
    with running_api() as api, asking(tmp_path, upstream(api)) as function:
        caller = with_token(role=value, org={"id": "o"})
        assert "isError" not in function.call("Me", {}, headers=caller).result

        assert told(api.asked[0].headers) == {"x-client": "stile", "x-hasura-role": text, "x-org": "o"}
        assert api.asked[0].authorization == ""


def test_claims_of_a_key_are_told_too_and_names_with_dots_come_first(tmp_path: Path) -> None:
    with running_api() as api, asking(tmp_path, upstream(api), claims={**GOOD, "org.id": "dotted"}) as function:
        function.call("Me", {}, headers=HOLDER)

        assert told(api.asked[0].headers) == {"x-client": "stile", "x-hasura-role": "user", "x-org": "dotted"}


@pytest.mark.parametrize(
    "value",
    ["user\r\nx-hasura-role: admin", "a\nb", "a\rb", "a\0b", "a\x7fb", "日本", "", " admin", "admin ", "\u2028",
     "a\x85b", ["user"], {"a": 1}, "x" * 5_000, "\ud800"],
)  # fmt: skip
def test_claim_that_no_header_can_carry_is_refused_and_nothing_is_sent(tmp_path: Path, value: Any) -> None:
    with running_api() as api, asking(tmp_path, upstream(api), claims={**GOOD, "role": value}) as function:
        answer = function.call("Pay", {}, headers=HOLDER)

        assert api.asked == []
    assert (answer.result["isError"], answer.text) == (True, str(ClaimMissing("role", misfit=True)))
    assert function.lines[0]["reason"] == "ClaimMissing"


@pytest.mark.parametrize("claims", [{"role": "user"}, {**GOOD, "org": "7"}, {**GOOD, "org": {"id": None}}])
def test_missing_claim_is_refused_by_its_name(tmp_path: Path, claims: Mapping[str, Any]) -> None:
    with running_api() as api, asking(tmp_path, upstream(api), claims=claims) as function:
        answer = function.call("Me", {}, headers=HOLDER)

        assert api.asked == []
    assert answer.code == "claim-missing"
    assert "the verified claim org.id" in answer.text


@pytest.mark.parametrize(
    ("caller", "development"), [({}, False), (HOLDER, False), ({}, True)], ids=["anonymous", "key", "development"]
)
def test_caller_without_claims_is_refused(tmp_path: Path, caller: Mapping[str, str], development: bool) -> None:
    with running_api() as api, asking(tmp_path, upstream(api), development=development) as function:
        assert function.call("Me", {}, headers=caller).text == str(ClaimMissing("role"))
        assert api.asked == []


@pytest.mark.parametrize("name", ["x-hasura-role", "X-Hasura-Role", "x_hasura_role", "x-client", "x-org"])
def test_caller_who_sends_such_a_header_changes_nothing(tmp_path: Path, name: str) -> None:
    with running_api() as api, asking(tmp_path, upstream(api), claims=GOOD) as function:
        function.call("Me", {}, headers={**HOLDER, name: "admin"})

        assert told(api.asked[0].headers) == {"x-client": "stile", "x-hasura-role": "user", "x-org": "7"}
        assert "admin" not in str(api.asked[0].headers)


def test_header_is_forwarded_as_it_came_and_no_other(tmp_path: Path) -> None:
    sent = {"X-Request-ID": "one/two", "x-other": "no", "cookie": "a=b", "x-forwarded-for": "1.2.3.4"}
    with running_api() as api, asking(tmp_path, upstream(api), claims=GOOD) as function:
        function.call("Me", {}, headers={**HOLDER, **sent})

        headers = api.asked[0].headers
    assert headers["x-request-id"] == "one/two"
    assert not {"x-other", "cookie", "x-forwarded-for", "traceparent", "x-api-key"} & headers.keys()


def test_bundle_that_nobody_checked_gets_no_credential_of_a_caller_forwarded(tmp_path: Path) -> None:
    with running_api() as api:
        made = endpoint(tmp_path, f"{{url: '{api.url}'}}")
        asked_for = ("authorization", "x-api-key", "cookie", "proxy-authorization", "x-request-id")
        forwarding = replace(made.bundle, upstream=replace(made.bundle.upstream, forward_headers=asked_for))
        with running_function(replace(made, bundle=forwarding)) as function:
            for credential in (with_token(), HOLDER):
                sent = {**credential, "cookie": "a=b", "proxy-authorization": "Basic eA==", "x-request-id": "one"}
                assert "isError" not in function.call("Me", {}, headers=sent).result

        for asked in api.asked:
            assert {*asked_for} & asked.headers.keys() == {"x-request-id"}
        assert len(api.asked) == 2


@pytest.mark.lambda_alone
@pytest.mark.parametrize("value", ["a\r\nx-hasura-role: admin", "a\0", "x" * 5_000])
def test_header_that_cannot_be_forwarded_is_refused_and_nothing_is_sent(tmp_path: Path, value: str) -> None:
    with running_api() as api, asking(tmp_path, upstream(api), claims=GOOD) as function:
        answer = function.call("Me", {}, headers={**HOLDER, "x-request-id": value})

        assert api.asked == []
    assert answer.text == str(HeaderRefused("x-request-id"))
