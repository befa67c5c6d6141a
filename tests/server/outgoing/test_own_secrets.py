"""Secrets of the owner's that settings name by their ARNs, from events to answers and the log."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from handler.aws.sigv4 import CredentialSource
from handler.http.client import HttpClient
from handler.server.auth.principal import Principal, Pseudonyms
from handler.server.function import build_handler
from handler.settings import read_settings
from handler.storage.local import FolderStorage
from handler.storage.location import open_storage
from tests.support.api import Api, Asked, Reply, running_api
from tests.support.endpoints import compiled
from tests.support.function import META, MODERN, Answer, Context, Function, closing, store
from tests.support.identities import HOLDER, KEY, api_key
from tests.support.issuers import signed_with_secret
from tests.support.moto import Moto
from tests.support.secrecy import SESSION, Output

LOG_KEY = SESSION.keep("the log key in AWS", "dYz1x0kU3mQ8s5vB7nR2tL6wJ4hF9gCe")
STATE_KEY = SESSION.keep("the state key in AWS", "hT6v9Xq2Zc7Lr1Tb6Wn8Kd3Hf5Jp0GsU")
NEW_STATE_KEY = SESSION.keep("the new state key in AWS", "qA6v9Xq2Zc7Lr1Tb6Wn8Kd3Hf5Jp0Gse")
TOKEN = SESSION.keep("the API's token in AWS", "a-token-of-the-api-0815")
CI_KEY = SESSION.keep("the key of an issuer in AWS", "a key of CI that nobody could guess")
NEW_CI_KEY = SESSION.keep("the new key of an issuer in AWS", "another key of CI that nobody could guess")
CLAIMS = {"iss": "https://idp.example", "sub": "4711"}
NAMES = {"log": "stile/log-key", "state": "stile/state-key", "TOKEN": "stile/TOKEN", "CI": "CI"}
VALUES = {"log": LOG_KEY, "state": STATE_KEY, "TOKEN": TOKEN, "CI": CI_KEY}
ME, PAID = {"data": {"me": "you"}}, {"data": {"pay": "paid"}}
YES = {"action": "accept", "content": {"confirm": True}}


def arn_of(name: str, *, region: str = "us-east-1") -> str:
    return f"arn:aws:secretsmanager:{region}:123456789012:secret:{NAMES.get(name, name)}-AbCd12"


@dataclass
class Vault:
    """Secrets Manager on loopback: texts by ARN, or the answer in their place."""

    held: dict[str, str | Reply] = field(default_factory=lambda: {arn_of(name): text for name, text in VALUES.items()})
    api: Api | None = None

    def answer(self, asked: Asked) -> Reply:
        found = self.held.get(asked.json["SecretId"], Reply({"__type": "ResourceNotFoundException"}, status=400))
        return found if isinstance(found, Reply) else Reply({"SecretString": found})

    @property
    def asked(self) -> list[str]:
        """The ARNs that were asked for."""
        assert self.api
        return [each.json["SecretId"] for each in self.api.asked]

    @property
    def environ(self) -> dict[str, str]:
        assert self.api
        return {
            "AWS_ENDPOINT_URL": self.api.url,
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "s" * 40,
        }


@pytest.fixture
def vault() -> Iterator[Vault]:
    held = Vault()
    with running_api(held.answer, takes_secrets=True) as held.api:
        yield held


@pytest.fixture
def api() -> Iterator[Api]:
    with running_api(lambda asked: Reply(PAID if b"mutation" in asked.body else ME)) as running:
        yield running


SDL = "type Query { me: String } type Mutation { pay: String }"
OPERATIONS = """
query Me @mcpTool(name: "me") { me }
mutation Pay @mcpTool(name: "pay", confirm: required) { pay }
mutation Tip @mcpTool(name: "tip", confirm: advisory) { pay }
"""
POLICIES = "[{type: Query, policyDefault: {condition: true}}, {type: Mutation, policyDefault: {condition: true}}]"


@pytest.fixture
def location(tmp_path: Path, folder_storage: FolderStorage, api: Api) -> str:
    """A folder with an endpoint that needs each of the secrets, and has a key with claims."""
    key = api_key(CLAIMS)
    config = f"""
upstream: {{url: '{api.url}', auth: {{bearer: env:TOKEN}}}}
graphql: on
identity:
  issuer: https://ci.example
  audience: shop
  keys: [{{algorithm: HS256, key: "env:CI"}}]
  api_keys: [{{name: {key.name}, sha256: {key.sha256}, claims: {json.dumps(CLAIMS)}}}]
access: {{anonymous: allow, policies: {POLICIES}}}
"""
    files = {"index.graphql": SDL, "operations/all.graphql": OPERATIONS, "config.yaml": config}
    store(folder_storage, compiled(tmp_path, files))
    return folder_storage.location


BY_ARN = {
    "STILE_LOG_KEY": arn_of("log"),
    "STILE_STATE_KEY": arn_of("state"),
    "STILE_SECRET_ARNS": f"{arn_of('TOKEN')}, {arn_of('CI')}",
}


@contextmanager
def instance(location: str, environ: Mapping[str, str]) -> Iterator[Function]:
    """One instance of the function with this environment."""
    given = {
        "STILE_BUNDLES": location,
        "STILE_ALLOW_LOCAL_UPSTREAMS": "true",
        "POWERTOOLS_SERVICE_NAME": f"stile-{uuid4()}",
        **environ,
    }
    settings = read_settings(given)
    with contextlib.closing(HttpClient(settings.addresses)) as http:
        credentials = CredentialSource(given, http=http)
        storage = open_storage(location, http=http, environ=given, credentials=credentials)
        handler = build_handler(settings, given, http=http, storage=storage, credentials=credentials)
        with closing(asyncio.get_event_loop()):
            yield Function(handler, path="/api/things/mcp", context=Context())


@contextmanager
def instances(location: str, environ: Mapping[str, str]) -> Iterator[tuple[Function, Function]]:
    """Two instances, as Lambda has them at the same time, each on its own loop."""

    def on(loop: asyncio.AbstractEventLoop, function: Function) -> Function:
        def handler(event: Any, context: Any) -> Any:
            asyncio.set_event_loop(loop)
            return function.handler(event, context)

        return Function(handler, path=function.path)

    with ExitStack() as stack:
        made = []
        for _ in range(2):
            function = stack.enter_context(instance(location, environ))
            made.append(on(asyncio.get_event_loop(), function))
        yield made[0], made[1]


def modern(function: Function, tool: str, **params: Any) -> Answer:
    """A call of a client whose user can be asked."""
    meta = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    sent = {"name": tool, "arguments": {}, "_meta": meta, **params}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": sent}
    routing = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": tool}
    return function.post(message, headers={**routing, **HOLDER})


def agreed(function: Function, asked: Answer) -> Answer:
    return modern(function, "pay", inputResponses={"confirm": YES}, requestState=asked.result["requestState"])


def bearer(secret: str, **claims: Any) -> dict[str, str]:
    content = {"iss": "https://ci.example", "aud": "shop", "sub": "ci", "exp": 4_000_000_000, **claims}
    token = signed_with_secret(content, header={"alg": "HS256"}, secret=secret.encode())
    return {"authorization": f"Bearer {token}"}


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    printed = capsys.readouterr().out
    SESSION.note(Output.HANDLER_LOG, printed)
    return [json.loads(line) for line in printed.splitlines()]


def errors(logged: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(line["variable"], line["reason"]) for line in logged if line["level"] == "ERROR"]


def test_function_reads_each_secret_by_its_arn_when_it_is_needed_and_once(
    location: str, vault: Vault, api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    with instance(location, {**vault.environ, **BY_ARN}) as function:
        assert function.request("tools/list").status == 200
        assert vault.asked == []
        for _ in range(3):
            assert function.call("me", {}).result["structuredContent"] == ME
        assert vault.asked == [arn_of("TOKEN")]
        for _ in range(3):
            assert function.call("me", {}, headers=HOLDER).status == 200
        assert vault.asked == [arn_of("TOKEN"), arn_of("log")]
        for _ in range(3):
            assert agreed(function, modern(function, "pay")).result["structuredContent"] == PAID
        assert vault.asked[2:] == [arn_of("state")]
        for number in range(3):
            assert function.call("me", {}, headers=bearer(CI_KEY, jti=number)).status == 200
        assert vault.asked[3:] == [arn_of("CI")]

    assert set(api.authorizations) == {f"Bearer {TOKEN}"}
    logged = lines(capsys)
    assert errors(logged) == []
    holder = asyncio.run(Pseudonyms(key=LOG_KEY).of(Principal(kind="api_key", claims=CLAIMS)))
    assert holder in {line["who"] for line in logged if "who" in line}
    assert not [line for line in logged if "local-hmac" in str(line)]


def test_instances_share_a_state_key_and_the_names_of_callers(
    location: str, vault: Vault, capsys: pytest.CaptureFixture[str]
) -> None:
    with instances(location, {**vault.environ, **BY_ARN}) as (first, second):
        assert agreed(second, modern(first, "pay")).result["structuredContent"] == PAID

    asked, answered = [line for line in lines(capsys) if line["message"] == "request"]
    assert asked["who"] == answered["who"]
    assert asked["who"].startswith("hmac:")


def test_variable_of_its_own_may_be_an_arn_too(location: str, vault: Vault, api: Api) -> None:
    environ = {"STILE_SECRET_TOKEN": arn_of("TOKEN"), "STILE_SECRET_CI": f" {arn_of('CI')}\n"}
    with instance(location, {**vault.environ, **environ}) as function:
        assert function.call("me", {}, headers=bearer(CI_KEY)).status == 200

    assert api.authorizations == [f"Bearer {TOKEN}"]


def test_role_of_the_template_reads_the_secrets_in_moto(
    location: str, moto: Moto, api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    with moto.unchecked():
        client = moto.client("secretsmanager")
        arns = {
            name: client.create_secret(Name=f"own/{name}", SecretString=f"{text}\n")["ARN"]
            for name, text in VALUES.items()
        }
    by_arn = {
        "STILE_LOG_KEY": arns["log"],
        "STILE_STATE_KEY": arns["state"],
        "STILE_SECRET_ARNS": f"{arns['TOKEN']},{arns['CI']}",
    }
    role = moto.add_user("reader-of-own-secrets", {"Action": "secretsmanager:GetSecretValue", "Resource": "*"})
    with instance(location, {**role, **by_arn}) as function:
        assert agreed(function, modern(function, "pay")).result["structuredContent"] == PAID
        assert function.call("me", {}, headers=bearer(CI_KEY)).status == 200
    assert set(api.authorizations) == {f"Bearer {TOKEN}"}
    assert errors(lines(capsys)) == []

    nobody = moto.add_user("reader-of-no-own-secrets", {"Action": "s3:GetObject", "Resource": "*"})
    with instance(location, {**nobody, **by_arn}) as function:
        answers = all_failing(function)
    assert_fail_closed(answers, arns.values(), lines(capsys), reason="HTTP status 403: ")


def all_failing(function: Function) -> list[Answer]:
    """Calls that need each of the secrets, twice."""
    return [
        answer
        for _ in range(2)
        for answer in (
            modern(function, "pay"),
            modern(function, "tip", arguments={"confirm": True}),
            function.call("me", {}),
            function.call("me", {}, headers=bearer(CI_KEY)),
        )
    ]


def assert_fail_closed(answers: list[Answer], arns: Any, logged: list[dict[str, Any]], *, reason: str) -> None:
    """What callers are told, and the log: each secret once, by its variable."""
    for pay, tip, me, token in (answers[:4], answers[4:]):
        for asking in (pay, tip):
            assert asking.code == "state-unavailable"
        assert me.code == "credential-unavailable"
        assert (token.status, token.headers["retry-after"]) == (503, "10")
    for answer in answers:
        for told in (*arns, "secretsmanager", "AccessDenied", "STILE_"):
            assert told.encode() not in answer.body
            assert told not in str(answer.headers)
    told = errors(logged)
    assert [variable for variable, _ in told] == [
        "STILE_LOG_KEY",
        "STILE_STATE_KEY",
        "STILE_SECRET_ARNS",
        "STILE_SECRET_ARNS",
    ]
    assert all(each.startswith(reason) for _, each in told)
    requests = [line for line in logged if line["message"] == "request"]
    assert requests[0]["who"].startswith("local-hmac:")
    assert requests[0]["who"] == requests[4]["who"]
    assert requests[2]["reason"].startswith("CredentialUnavailable: env:TOKEN: ")
    assert requests[2]["level"] == "WARNING"
    assert requests[3]["reason"] == "secret: STILE_SECRET_ARNS"


def test_denied_secrets_fail_closed_and_the_log_says_what_the_role_lacks(
    location: str, vault: Vault, api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    denied = Reply({"__type": "com.amazonaws#AccessDeniedException", "Message": "is not authorized"}, status=400)
    arns = [*vault.held]
    vault.held = dict.fromkeys(arns, denied)
    with instance(location, {**vault.environ, **BY_ARN}) as function:
        answers = all_failing(function)

    assert api.asked == []
    assert sorted(vault.asked) == sorted(arns)  # once, and not again with every request
    logged = lines(capsys)
    reason = (
        "AccessDeniedException: who reads it needs secretsmanager:GetSecretValue for it, and kms:Decrypt if it has a "
        "key of your own"
    )
    assert_fail_closed(answers, arns, logged, reason=reason)
    assert {line["arn"] for line in logged if line["level"] == "ERROR"} == {*arns}


BAD = SESSION.keep("a text that does not fit", "short-but-secret-4711")
NO_TEXT = "expected the secret itself as text, not a binary or empty secret, nor a JSON object of keys and values"


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        (BAD, "its text does not fit: expected {}"),
        (Reply({"SecretBinary": "YWJjZA=="}), NO_TEXT),
        (Reply({"SecretString": 5}), NO_TEXT),
        ("  \n", NO_TEXT),
        (json.dumps({"key": STATE_KEY}), NO_TEXT),
        (Reply(b"[]"), "HTTP status 200"),
        (Reply(b"<html>", status=502), "HTTP status 502"),
    ],
)
def test_text_that_does_not_fit_is_told_and_not_shown(
    location: str, vault: Vault, capsys: pytest.CaptureFixture[str], held: str | Reply, expected: str
) -> None:
    vault.held |= {arn_of("log"): held, arn_of("state"): held}
    with instance(location, {**vault.environ, **BY_ARN}) as function:
        asked = modern(function, "pay")

    assert asked.text.startswith("This tool has to ask your user first")
    logged = lines(capsys)
    assert errors(logged) == [
        ("STILE_LOG_KEY", expected.format("32 characters or more")),
        ("STILE_STATE_KEY", expected.format("one or two keys of 32 characters or more, separated by a comma")),
    ]
    assert logged[-1]["who"].startswith("local-hmac:")
    assert BAD not in str(logged)


@pytest.mark.parametrize("text", [",".join(["k" * 32] * 3), f"{'k' * 32},short"])
def test_state_keys_in_a_secret_are_one_or_two(location: str, vault: Vault, text: str) -> None:
    vault.held[arn_of("state")] = text
    with instance(location, {**vault.environ, **BY_ARN}) as function:
        assert modern(function, "pay").text.startswith("This tool has to ask your user first")


def test_state_key_is_replaced_without_a_gap(location: str, vault: Vault) -> None:
    with instances(location, {**vault.environ, **BY_ARN}) as (first, second):
        before = modern(first, "pay")
        vault.held[arn_of("state")] = f"{NEW_STATE_KEY},{STATE_KEY}"
        after = modern(second, "pay")

        assert agreed(second, before).result["structuredContent"] == PAID
        assert vault.asked.count(arn_of("state")) == 2
        assert agreed(first, after).result["structuredContent"] == PAID
        assert vault.asked.count(arn_of("state")) == 3
        assert agreed(first, before).result["structuredContent"] == PAID


def test_state_that_opens_with_no_key_has_the_secret_read_once_more_and_not_each_time(
    location: str, vault: Vault
) -> None:
    with instance(location, {**vault.environ, **BY_ARN}) as function:
        asked = modern(function, "pay")
        vault.held[arn_of("state")] = NEW_STATE_KEY
        forged = {"requestState": asked.result["requestState"][:-8] + "AAAAAAA="}
        for _ in range(5):
            refused = modern(function, "pay", inputResponses={"confirm": YES}, **forged)
            assert refused.json["error"]["code"] == -32602

        assert vault.asked.count(arn_of("state")) == 2
        assert agreed(function, asked).json["error"]["code"] == -32602  # whose key was taken away


def test_credential_that_the_api_refuses_is_read_again(location: str, vault: Vault, api: Api) -> None:
    with instance(location, {**vault.environ, **BY_ARN}) as function:
        function.call("me", {})
        vault.held[arn_of("TOKEN")] = SESSION.keep("the API's new token", "a-new-token-of-the-api-0816")
        api.answer = lambda asked: Reply() if "new-token" in asked.authorization else Reply(status=401)

        assert "errors" not in function.call("me", {}).text
    assert [each[-4:] for each in api.authorizations] == ["0815", "0815", "0816"]


def test_key_of_an_issuer_is_replaced_and_the_old_one_vouches_for_nothing_more(location: str, vault: Vault) -> None:
    old, new = bearer(CI_KEY), bearer(NEW_CI_KEY)
    with instance(location, {**vault.environ, **BY_ARN}) as function:
        assert function.call("me", {}, headers=old).status == 200
        vault.held[arn_of("CI")] = NEW_CI_KEY
        assert function.call("me", {}, headers=new).status == 200
        assert vault.asked.count(arn_of("CI")) == 2
        assert function.call("me", {}, headers=old).status == 401  # though its signature was checked before


def test_tokens_that_nobody_signed_do_not_have_a_key_read_each_time(location: str, vault: Vault) -> None:
    with instance(location, {**vault.environ, **BY_ARN}) as function:
        for number in range(6):
            assert function.call("me", {}, headers=bearer("forged" * 6, jti=number)).status == 401
        assert vault.asked.count(arn_of("CI")) == 2
        vault.held[arn_of("CI")] = Reply(status=503)
        assert function.call("me", {}, headers=bearer(CI_KEY)).status == 200


def test_batch_reads_a_secret_once(location: str, vault: Vault, api: Api) -> None:
    call = {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "me", "arguments": {}}}
    with instance(location, {**vault.environ, **BY_ARN}) as function:
        headers = {"mcp-protocol-version": "2025-03-26", **HOLDER}
        answer = function.post([{**call, "id": number} for number in range(5)], headers=headers)

    assert [json.loads(each["result"]["content"][0]["text"]) for each in answer.json] == [ME] * 5
    assert sorted(vault.asked) == sorted([arn_of("TOKEN"), arn_of("log")])
    assert api.authorizations == [f"Bearer {TOKEN}"] * 5


def test_graphql_routes_take_the_same_secrets(location: str, vault: Vault, api: Api) -> None:
    with instance(location, {**vault.environ, **BY_ARN}) as function:
        taken = function.graphql({"query": "{ me }"}, headers=bearer(CI_KEY))
        refused = function.graphql({"query": "{ me }"}, headers=bearer("forged" * 6))

    assert (taken.json, refused.status) == (ME, 401)
    assert api.authorizations == [f"Bearer {TOKEN}"]


def test_secret_of_another_region_is_asked_for_there(location: str, vault: Vault) -> None:
    there = arn_of("TOKEN", region="eu-west-1")
    vault.held[there] = TOKEN
    with instance(location, {**vault.environ, "STILE_SECRET_ARNS": there, "STILE_SECRET_CI": CI_KEY}) as function:
        function.call("me", {})

    assert vault.api
    assert "/eu-west-1/secretsmanager/aws4_request" in vault.api.asked[0].authorization


def test_plain_names_of_callers_need_no_key(location: str, vault: Vault) -> None:
    with instance(location, {**vault.environ, **BY_ARN, "STILE_LOG_SUBJECT": "plain"}) as function:
        function.call("me", {}, headers={"x-api-key": KEY})

    assert arn_of("log") not in vault.asked
