"""``requires_auth`` of tools in Python, by each kind of ``upstream.auth`` and each kind of caller.

Source: phake-mcp, "defineTool", ``requiresAuth``: the dispatcher "automatically rejects calls where
context.providerToken is absent ... before your handler runs"; RFC 6750, section 3.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.identity import Identity
from handler.compiler.compile import Compiled
from tests.commands.running import ran
from tests.server.outgoing.serving import FILES, ISSUER, endpoint, identity_with, with_token
from tests.support.api import Reply, running_api
from tests.support.codes import unknown_tool
from tests.support.endpoints import PUBLIC, compiled, write_endpoint
from tests.support.function import Answer, Context, Function, answer_of, event_for, running_function
from tests.support.identities import HOLDER, api_key
from tests.support.issuers import AUDIENCE
from tests.support.kits import with_kit

MODULE = "tests.support.acme_required"
REQUIRED = f"{MODULE}:kit"
URL = "https://api.example.com/graphql"
PASSTHROUGH = f"{{url: '{URL}', auth: {{passthrough: {{audience: '{AUDIENCE}'}}}}}}"
SIGV4 = f"{{url: '{URL}', auth: {{sigv4: {{service: execute-api, region: eu-central-1}}}}}}"
NONE = f"{{url: '{URL}'}}"
BEARER = f"{{url: '{URL}', auth: {{bearer: 'env:K'}}}}"
WELCOME, WITH_TOKEN = "welcome", "welcome, with a token for the API"


def exchange(token_url: str) -> str:
    client = f"token_url: '{token_url}', client_id: stile, client_secret: 'env:K'"
    return f"{{url: '{URL}', auth: {{token_exchange: {{{client}}}}}}}"


def called(folder: Path, upstream: str, headers: Mapping[str, str], *, modern: bool = True, **changes: Any) -> Answer:
    made = with_kit(endpoint(folder, upstream, identity=identity_with()), REQUIRED)
    issuers = (replace(ISSUER, **changes),) if changes else (ISSUER,)
    made = replace(made, bundle=replace(made.bundle, identity=replace(made.bundle.identity, issuers=issuers)))
    with running_function(made, code_modules=(MODULE,), secrets={"K": "the secret of the API"}) as function:
        return function.request("tools/call", {"name": "signed_in", "arguments": {}}, modern=modern, headers=headers)


@pytest.mark.parametrize("upstream", [PASSTHROUGH, SIGV4, NONE])
def test_caller_with_a_valid_token_is_never_refused(tmp_path: Path, upstream: str) -> None:
    assert called(tmp_path, upstream, with_token()).text == WELCOME


@pytest.mark.parametrize("upstream", [SIGV4, NONE])
def test_holder_of_a_key_is_a_known_caller_of_an_api_that_takes_no_token(tmp_path: Path, upstream: str) -> None:
    assert called(tmp_path, upstream, HOLDER).text == WELCOME


def test_holder_of_a_key_has_no_token_to_pass_on(tmp_path: Path) -> None:
    assert called(tmp_path, PASSTHROUGH, HOLDER).status == 401


def test_credential_of_the_endpoint_serves_whoever_is_known(tmp_path: Path) -> None:
    for headers in (HOLDER, with_token()):
        assert called(tmp_path, BEARER, headers).text == WITH_TOKEN
    assert called(tmp_path, BEARER, {}).status == 401


def test_token_that_was_exchanged_is_a_credential(tmp_path: Path) -> None:
    token = {"access_token": "for-the-api-alone", "token_type": "Bearer", "expires_in": 60}
    with running_api(lambda _: Reply(token), takes_secrets=True) as provider:
        assert called(tmp_path, exchange(provider.url), with_token()).text == WITH_TOKEN


@pytest.mark.parametrize("upstream", [PASSTHROUGH, SIGV4, NONE, BEARER, exchange("https://login.example/token")])
@pytest.mark.parametrize("modern", [True, False])
@pytest.mark.parametrize("issuer", ["https://login.example/", ""], ids=["named issuer", "issuer without a name"])
def test_anonymous_caller_is_challenged_where_there_is_an_issuer(
    tmp_path: Path, upstream: str, modern: bool, issuer: str
) -> None:
    answer = called(tmp_path, upstream, {}, modern=modern, issuer=issuer)

    assert answer.status == 401
    assert answer.code == "authentication-required"
    assert answer.headers["www-authenticate"].startswith('Bearer realm="api/things"')
    assert ("resource_metadata=" in answer.headers["www-authenticate"]) == bool(issuer)


FORBIDDEN = unknown_tool("signed_in")
TRUSTED = "a1b2c3d4e5"
AUTHORIZED = {"apiId": TRUSTED, "authorizer": {"jwt": {"claims": {"sub": "ada"}, "scopes": None}}}


class Gateway:
    """A published endpoint with the tool, behind API Gateway."""

    def __init__(self, function: Function) -> None:
        self.function = function

    def answer(self, method: str, caller: str, params: Mapping[str, Any] | None = None) -> Answer:
        headers = CALLERS[caller]()
        sent = {"content-type": "application/json", **headers}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}})
        event = event_for("POST", self.function.path, body=body, headers=sent)
        if caller == "authorizer":
            event["requestContext"] |= AUTHORIZED
        return answer_of(self.function.handler(event, Context()))

    def names(self, caller: str) -> list[str]:
        return [entry["name"] for entry in self.answer("tools/list", caller).result["tools"]]

    def found(self, caller: str) -> list[str]:
        """What the catalog finds."""
        answer = self.answer("tools/call", caller, {"name": "catalog", "arguments": {"type": "tools"}})
        return [entry["name"] for entry in json.loads(answer.text)["tools"]]

    def called(self, caller: str) -> Answer:
        return self.answer("tools/call", caller, {"name": "signed_in", "arguments": {}})


CALLERS: Mapping[str, Callable[[], Mapping[str, str]]] = {  # when asked: a token may expire before its test runs
    "anonymous": dict,
    "key": lambda: HOLDER,
    "token": with_token,
    "token for others": lambda: with_token(aud="https://other.example"),
    "authorizer": dict,
}


def configured(folder: Path, upstream: str, identity: str = "") -> Compiled:
    code = f"code: [{{use: '{REQUIRED}', condition: true}}]\ncatalog: true\n"
    files = {**FILES, "config.yaml": f"upstream: {upstream}\n{PUBLIC}{code}{identity}"}
    return compiled(folder, files, STILE_CODE_MODULES=MODULE)


@contextmanager
def gateway(folder: Path, upstream: str, *, claims: Mapping[str, Any] | None = None) -> Iterator[Gateway]:
    made = configured(folder, upstream, identity_with())
    issuers = (replace(ISSUER, audiences=(*ISSUER.audiences, "https://other.example")),)
    known = Identity(issuers=issuers, api_keys=(api_key(claims),), trusted_apis=(TRUSTED,))
    made = replace(made, bundle=replace(made.bundle, identity=known))
    with running_function(made, code_modules=(MODULE,), secrets={"K": "the secret of the API"}) as function:
        yield Gateway(function)


@pytest.mark.lambda_alone
@pytest.mark.parametrize("claims", [None, {"sub": "ops"}, {}], ids=["key skips policies", "key has claims", "no claim"])
@pytest.mark.parametrize(
    ("upstream", "have"),
    [
        (NONE, {"key", "token", "token for others", "authorizer"}),
        (SIGV4, {"key", "token", "token for others", "authorizer"}),
        (BEARER, {"key", "token", "token for others", "authorizer"}),
        (PASSTHROUGH, {"token", "token for others"}),
        ("EXCHANGE", {"token", "token for others"}),
    ],
)
def test_tool_is_listed_and_found_by_whom_it_may_serve_alone(
    tmp_path: Path, upstream: str, have: set[str], claims: Mapping[str, Any] | None
) -> None:
    """Lists are per caller, as for any other condition."""
    token = {"access_token": "for-the-api-alone", "token_type": "Bearer", "expires_in": 60}
    with running_api(lambda _: Reply(token), takes_secrets=True) as provider:
        mode = exchange(provider.url) if upstream == "EXCHANGE" else upstream
        with gateway(tmp_path, mode, claims=claims) as served:
            for caller in CALLERS:
                expected = {"signed_in"} if caller in have else set()
                assert {"signed_in"} & set(served.names(caller)) == expected, caller
                assert {"signed_in"} & set(served.found(caller)) == expected, caller
                answer = served.called(caller)
                if caller == "anonymous":
                    assert answer.status == 401
                    assert "resource_metadata=" in answer.headers["www-authenticate"]
                elif caller not in have:
                    assert answer.json["error"] == FORBIDDEN, caller
                elif upstream == PASSTHROUGH and caller == "token for others":  # the token may not be passed on
                    assert answer.code == "authentication-required"
                else:
                    assert answer.text.startswith(WELCOME), caller


def test_list_that_depends_on_who_asks_is_private(tmp_path: Path) -> None:
    made = configured(tmp_path, NONE, "identity: {trust_authorizer: [abc]}")
    with running_function(made, code_modules=(MODULE,)) as function:
        anonymous = function.request("tools/list", modern=True).result
    assert [entry["name"] for entry in anonymous["tools"]] == ["Me", "Pay"]
    with gateway(tmp_path / "known", NONE) as served:
        listed = served.function.request("tools/list", modern=True, headers=HOLDER).result
    assert [entry["name"] for entry in listed["tools"]] == ["Me", "Pay", "signed_in"]
    assert listed["cacheScope"] == "private"


@pytest.mark.parametrize("upstream", [NONE, SIGV4, BEARER])
def test_tool_is_unknown_where_nobody_can_be_known(tmp_path: Path, upstream: str) -> None:
    made = configured(tmp_path, upstream)
    with running_function(made, code_modules=(MODULE,), secrets={"K": "the secret of the API"}) as function:
        answer = function.call("signed_in", {})
    assert answer.json["error"] == FORBIDDEN


def test_explanation_names_what_the_caller_lacks(tmp_path: Path) -> None:
    write_endpoint(
        tmp_path / "known",
        {
            **FILES,
            "config.yaml": f"upstream: {NONE}\n{PUBLIC}code: [{{use: '{REQUIRED}', condition: true}}]\n"
            "identity: {trust_authorizer: [abc]}\n",
        },
    )

    done = ran("explain", str(tmp_path), "--as", "anonymous", "--json", STILE_CODE_MODULES=MODULE)

    (told,) = [each for each in json.loads(done.out)["endpoints"][0]["tools"] if each["name"] == "signed_in"]
    assert told["listed"] == "no"
    (because,) = told["because"]
    assert because.startswith("tool signed_in: ")
    assert because.endswith("acme_required.py:10: requires_auth asks for a caller with a credential")


DOUBT = 'nobody can call "signed_in": it has requires_auth, and no caller has a credential: expected '
EITHER, TOKENS = "an issuer, API keys or a trusted authorizer", "an issuer"


@pytest.mark.parametrize(
    ("upstream", "identity", "doubt"),
    [
        (NONE, "", EITHER),
        (SIGV4, "", EITHER),
        (exchange("https://login.example/token"), "", TOKENS),
        (exchange("https://login.example/token"), f"identity: {{api_keys: [{{name: a, sha256: {'a' * 64}}}]}}", TOKENS),
        (NONE, f"identity: {{api_keys: [{{name: a, sha256: {'a' * 64}}}]}}", ""),
        (NONE, "identity: {trust_authorizer: [abc]}", ""),
        (exchange("https://login.example/token"), identity_with(), ""),
        (PASSTHROUGH, identity_with(), ""),
        (BEARER, "", EITHER),
        (BEARER, "identity: {trust_authorizer: [abc]}", ""),
    ],
)
def test_tool_that_nobody_can_call_is_a_warning(tmp_path: Path, upstream: str, identity: str, doubt: str) -> None:
    code = f"code: [{{use: '{REQUIRED}', condition: 'true'}}]\naccess: {{anonymous: allow}}\n"
    files = {"config.yaml": f"upstream: {upstream}\n{code}{identity}"}
    made = compiled(tmp_path, files, STILE_CODE_MODULES=MODULE)

    doubts = [each for each in made.warnings if "requires_auth" in each.sentence]
    assert [each.sentence.removeprefix(DOUBT).partition(" in identity")[0] for each in doubts] == [doubt] * bool(doubt)
    assert all(each.file.endswith("acme_required.py") and each.line > 1 for each in doubts)
