"""Secrets by reference: an endpoint reads its own, from the environment or AWS, and never another one."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pytest

from handler.aws.json_client import AwsJson
from handler.aws.sigv4 import CredentialSource
from handler.errors.infrastructure import SecretUnavailable
from handler.errors.upstream import CredentialUnavailable
from handler.http.client import HttpClient
from handler.server.auth.own_secrets import MAX_RETRY_S, REFUSED_PAUSE_S, RETRY_S, STALE_S, TTL_S, OwnSecrets
from handler.server.outgoing.outgoing_services import outgoing_services
from handler.server.outgoing.secret_store import STALE_STEP_S, SecretStore
from handler.settings import SecretArn, read_settings
from tests.infra.cloudformation import read_template
from tests.server.outgoing.serving import Clock
from tests.support.api import Api, Asked, Reply, running_api
from tests.support.moto import Moto
from tests.support.secrecy import SESSION

PREFIX = "prod/stile"
VALUE = SESSION.keep("a secret in AWS", "a-value-in-aws-0815-4711")
ENVIRON = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "s" * 40, "AWS_REGION": "eu-central-1"}


def statements() -> list[dict[str, object]]:
    """The template's policy on secrets. Of these services moto judges the actions and no resources."""
    policy = read_template("template.yaml")["Resources"]["SecretsPolicy"]["Properties"]["PolicyDocument"]
    return [{**statement, "Resource": "*"} for statement in policy["Statement"]]


@pytest.fixture(scope="module")
def role(moto: Moto) -> Mapping[str, str]:
    """The environment of the function's role, and in AWS secrets of two endpoints and of others."""
    with moto.unchecked():
        for name in (f"{PREFIX}/api/things/K", f"{PREFIX}/api/others/K", "other/K"):
            moto.client("secretsmanager").create_secret(Name=name, SecretString=f"{VALUE}-{name}\n")
        moto.client("secretsmanager").create_secret(Name=f"{PREFIX}/api/things/BINARY", SecretBinary=b"a")
        moto.client("secretsmanager").create_secret(Name=f"{PREFIX}/api/things/LINES", SecretString="a\nb: c")
        parameter = f"/{PREFIX}/api/things/K.2"
        moto.client("ssm").put_parameter(Name=parameter, Value=f"{VALUE}-ssm", Type="SecureString")
    return moto.add_user("reader-of-secrets", *statements())


@pytest.fixture
def http() -> Iterator[HttpClient]:
    with closing(HttpClient()) as client:
        yield client


def aws_of(http: HttpClient, environ: Mapping[str, str]) -> AwsJson:
    return AwsJson(http, environ, credentials=CredentialSource(environ, http=http))


def read(store: SecretStore, secret: str, *, endpoint: str = "api/things") -> str:
    return asyncio.run(store.read(secret, endpoint=endpoint))


def reason(store: SecretStore, secret: str, *, endpoint: str = "api/things") -> str:
    with pytest.raises(CredentialUnavailable) as caught:
        read(store, secret, endpoint=endpoint)
    return caught.value.reason


def test_role_of_the_template_reads_secrets_and_parameters_of_the_endpoint(
    role: Mapping[str, str], http: HttpClient
) -> None:
    store = SecretStore(aws=aws_of(http, role), prefix=PREFIX)

    assert read(store, "secret:K") == f"{VALUE}-{PREFIX}/api/things/K"
    assert read(store, "secret:K", endpoint="api/others") == f"{VALUE}-{PREFIX}/api/others/K"
    assert read(store, "ssm:K.2") == f"{VALUE}-ssm"


def test_role_without_the_policy_reads_nothing(moto: Moto, http: HttpClient) -> None:
    nobody = moto.add_user("reader-of-nothing", {"Action": "s3:GetObject", "Resource": "*"})

    assert reason(SecretStore(aws=aws_of(http, nobody), prefix=PREFIX), "secret:K") == "secret:K: HTTP status 403"


@pytest.mark.parametrize(
    ("secret", "told"),
    [
        ("secret:NONE", "secret:NONE: ResourceNotFoundException"),
        ("ssm:NONE", "ssm:NONE: ParameterNotFound"),
        ("secret:BINARY", "secret:BINARY is empty, too long, or has what no header can carry"),
        ("secret:LINES", "secret:LINES is empty, too long, or has what no header can carry"),
    ],
)
def test_secret_that_is_missing_or_none_is_told_to_the_log(
    role: Mapping[str, str], http: HttpClient, secret: str, told: str
) -> None:
    assert reason(SecretStore(aws=aws_of(http, role), prefix=PREFIX), secret) == told


@pytest.mark.parametrize(
    "secret",
    [
        "secret:../others/K",
        "secret:..",
        "ssm:/other/K",
        "secret:api/others/K",
        "env:../K",
        "secret:K*",
        "secret:",
        "env:",
    ],
)
def test_reference_that_would_leave_the_endpoint_is_refused_and_nothing_is_asked(http: HttpClient, secret: str) -> None:
    with running_api() as aws:
        store = SecretStore(aws=aws_at(aws, http), prefix=PREFIX, environ={"": "a", "../K": "b"})

        assert reason(store, secret) == "a malformed reference"
        assert aws.asked == []


def test_reference_to_the_environment_reads_what_is_called_a_secret_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "the key of the function")
    store = SecretStore(environ={"K": "k"})

    assert read(store, "env:K") == "k"
    assert (
        reason(store, "env:AWS_SECRET_ACCESS_KEY")
        == "env:AWS_SECRET_ACCESS_KEY: there is no such variable for api/things"
    )


def test_endpoint_reads_no_variable_that_the_owner_gave_to_another(http: HttpClient) -> None:
    settings = read_settings(
        {
            "STILE_BUNDLES": "folder",
            "STILE_SECRET_K": "k",
            "STILE_SECRET_L": "l",
            "STILE_ENV_SECRETS": "api/things/K, api/others/L",
        }
    )
    store = outgoing_services(settings, AwsJson(http, {}, credentials=CredentialSource({}, http=http))).secrets

    assert (read(store, "env:K"), read(store, "env:L", endpoint="api/others")) == ("k", "l")
    for secret, endpoint in (("env:L", "api/things"), ("env:K", "api/others"), ("env:K", "other/things")):
        assert reason(store, secret, endpoint=endpoint) == f"{secret}: there is no such variable for {endpoint}"


def test_without_a_prefix_nothing_is_read_from_aws(http: HttpClient) -> None:
    with running_api() as aws:
        assert reason(SecretStore(aws=aws_at(aws, http)), "secret:K") == "secret:K: STILE_SECRETS is not set"
        assert aws.asked == []


def test_stand_ins_of_an_author_are_for_one_endpoint_and_come_first(http: HttpClient) -> None:
    mine = {"api/things": {"A_B": "mine", "K": "k"}}
    with running_api() as aws:
        store = SecretStore(
            aws=aws_at(aws, http), prefix=PREFIX, environ={"K": "environ"}, stand_ins=lambda name: mine.get(name, {})
        )

        assert [read(store, each) for each in ("env:K", "secret:K", "ssm:a-b".upper().replace("SSM", "ssm"))] == [
            "k",
            "k",
            "mine",
        ]
        assert read(store, "env:K", endpoint="api/others") == "environ"
        assert aws.asked == []


def aws_at(api: Api, http: HttpClient) -> AwsJson:
    return aws_of(http, {**ENVIRON, "AWS_ENDPOINT_URL": api.url})


def secret_reply(value: str) -> Reply:
    return Reply({"SecretString": value})


def test_secret_is_asked_for_signed_and_kept_for_a_while(http: HttpClient) -> None:
    clock = Clock()
    with running_api(lambda _: secret_reply("one"), takes_secrets=True) as aws:
        store = SecretStore(aws=aws_at(aws, http), prefix=PREFIX, clock=clock)

        for passed_s in (0, TTL_S - 1, 2):
            clock.now += passed_s
            assert read(store, "secret:K") == "one"

        assert len(aws.asked) == 2
    asked = aws.asked[0]
    assert asked.json == {"SecretId": f"{PREFIX}/api/things/K"}
    assert asked.headers["x-amz-target"] == "secretsmanager.GetSecretValue"
    assert "/eu-central-1/secretsmanager/aws4_request" in asked.authorization


def test_parameter_is_asked_for_decrypted(http: HttpClient) -> None:
    with running_api(lambda _: Reply({"Parameter": {"Value": "one"}})) as aws:
        assert read(SecretStore(aws=aws_at(aws, http), prefix=PREFIX), "ssm:K") == "one"

        assert aws.asked[0].json == {"Name": f"/{PREFIX}/api/things/K", "WithDecryption": True}
        assert aws.asked[0].headers["x-amz-target"] == "AmazonSSM.GetParameter"


def test_refused_secret_is_read_again_and_not_with_every_refusal(http: HttpClient) -> None:
    clock = Clock()
    values = iter("abc")
    with running_api(lambda _: secret_reply(next(values))) as aws:
        store = SecretStore(aws=aws_at(aws, http), prefix=PREFIX, clock=clock)
        first = read(store, "secret:K")

        assert store.refuse("secret:K", first, endpoint="api/things") is True
        assert read(store, "secret:K") == "b"
        assert store.refuse("secret:K", first, endpoint="api/things") is True  # there is a newer one
        assert store.refuse("secret:K", "b", endpoint="api/things") is False
        assert read(store, "secret:K") == "b"
        clock.now += REFUSED_PAUSE_S
        assert store.refuse("secret:K", "b", endpoint="api/things") is True
        assert read(store, "secret:K") == "c"


@pytest.mark.parametrize("secret", ["env:K", "a-literal"])
def test_what_stands_fast_is_not_read_again_when_it_is_refused(secret: str) -> None:
    assert SecretStore(environ={"K": "k"}).refuse(secret, "k", endpoint="api/things") is False


@pytest.mark.parametrize(
    "failure", [Reply(status=503), Reply({"__type": "ThrottlingException"}, status=400)], ids=["503", "throttled"]
)
def test_secret_serves_for_a_while_when_aws_does_not_answer(http: HttpClient, failure: Reply) -> None:
    clock = Clock()
    with running_api(lambda _: secret_reply("one")) as aws:
        store = SecretStore(aws=aws_at(aws, http), prefix=PREFIX, clock=clock)
        read(store, "secret:K")
        aws.answer = lambda _: failure
        clock.now += TTL_S
        assert read(store, "secret:K") == read(store, "secret:K") == "one"
        assert len(aws.asked) == 2
        clock.now += STALE_STEP_S
        assert read(store, "secret:K") == "one"
        clock.now += STALE_S

        assert reason(store, "secret:K").startswith("secret:K: ")


def test_secret_that_was_taken_away_does_not_serve_any_more(http: HttpClient) -> None:
    clock = Clock()
    with running_api(lambda _: secret_reply("one")) as aws:
        store = SecretStore(aws=aws_at(aws, http), prefix=PREFIX, clock=clock)
        read(store, "secret:K")
        aws.answer = lambda _: Reply({"__type": "com.amazonaws#AccessDeniedException", "Message": "words"}, status=400)
        clock.now += TTL_S

        assert reason(store, "secret:K") == "secret:K: AccessDeniedException"


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", json.dumps({"__type": "a b"}).encode(), json.dumps({"__type": 1}).encode()]
)
def test_answer_that_is_none_of_aws_is_told_by_its_status(http: HttpClient, body: bytes) -> None:
    with running_api(lambda _: Reply(body, status=400)) as aws:
        store = SecretStore(aws=aws_at(aws, http), prefix=PREFIX)

        assert reason(store, "secret:K") == "secret:K: HTTP status 400"


def test_aws_that_is_not_there_or_not_set_up_is_told_to_the_log(http: HttpClient) -> None:
    gone = aws_of(http, {**ENVIRON, "AWS_ENDPOINT_URL_SECRETS_MANAGER": "http://127.0.0.1:1"})
    nowhere = aws_of(http, {name: value for name, value in ENVIRON.items() if name != "AWS_REGION"})

    assert reason(SecretStore(aws=gone, prefix=PREFIX), "secret:K") == "secret:K: secretsmanager: connection refused"
    assert "AWS_REGION" in reason(SecretStore(aws=nowhere, prefix=PREFIX), "ssm:K")


def test_many_at_once_wait_for_one_reading(http: HttpClient) -> None:
    with running_api(lambda _: secret_reply("one")) as aws:
        store = SecretStore(aws=aws_at(aws, http), prefix=PREFIX)

        async def read_all() -> list[str]:
            return await asyncio.gather(*(store.read("secret:K", endpoint="api/things") for _ in range(20)))

        assert asyncio.run(read_all()) == ["one"] * 20
        assert len(aws.asked) == 1


def test_reading_that_is_given_up_is_begun_anew_by_who_waits(http: HttpClient) -> None:
    go = threading.Event()

    def slow(_: Asked) -> Reply:
        go.wait(5)
        return secret_reply("one")

    with running_api(slow) as aws:
        store = SecretStore(aws=aws_at(aws, http), prefix=PREFIX)

        async def give_up() -> Any:
            first = asyncio.create_task(store.read("secret:K", endpoint="api/things"))
            while not aws.asked:
                await asyncio.sleep(0.01)
            second = asyncio.create_task(store.read("secret:K", endpoint="api/things"))
            await asyncio.sleep(0)
            first.cancel()
            go.set()
            return await second

        assert asyncio.run(give_up()) == "one"


ARN = SecretArn(
    variable="STILE_SECRET_ARNS",
    arn="arn:aws:secretsmanager:eu-west-1:123456789012:secret:stile/K-AbC123",
    region="eu-west-1",
    name="stile/K",
)


@dataclass
class Owner:
    """The owner's secrets in one process, and what its log is told."""

    own: OwnSecrets
    aws: Api
    clock: Clock
    told: list[str]

    def read(self, **more: Any) -> str:
        return asyncio.run(self.own.read(ARN, **more))

    def reason(self, **more: Any) -> str:
        with pytest.raises(SecretUnavailable) as caught:
            self.read(**more)
        assert caught.value.variable == "STILE_SECRET_ARNS"
        return caught.value.reason


@pytest.fixture
def owner(http: HttpClient) -> Iterator[Owner]:
    clock, told = Clock(), list[str]()
    with running_api(lambda _: secret_reply("one"), takes_secrets=True) as aws:
        own = OwnSecrets(
            aws_at(aws, http),
            clock=clock,
            on_trouble=lambda secret, reason: told.append(f"{secret.variable}: {reason}"),
        )
        yield Owner(own, aws, clock, told)


def test_secret_of_the_owner_is_asked_for_in_the_region_of_its_arn_and_kept(owner: Owner) -> None:
    for passed_s in (0, TTL_S - 1, 2):
        owner.clock.now += passed_s
        assert owner.read() == "one"

    assert [each.json for each in owner.aws.asked] == [{"SecretId": ARN.arn}] * 2
    assert "/eu-west-1/secretsmanager/aws4_request" in owner.aws.asked[0].authorization


def test_failed_read_is_tried_again_after_a_pause_that_grows(owner: Owner) -> None:
    owner.aws.answer = lambda _: Reply({"__type": "ResourceNotFoundException"}, status=400)
    for pause_s in (RETRY_S, 2 * RETRY_S, 4 * RETRY_S, MAX_RETRY_S, MAX_RETRY_S):
        owner.aws.asked.clear()
        assert owner.reason() == owner.reason() == "ResourceNotFoundException"
        owner.clock.now += pause_s - 1
        owner.reason()
        assert len(owner.aws.asked) == 1
        owner.clock.now += 1

    assert owner.told == ["STILE_SECRET_ARNS: ResourceNotFoundException"]
    owner.aws.answer = lambda _: secret_reply("one")
    assert owner.read() == "one"
    owner.aws.answer = lambda _: Reply({"__type": "ResourceNotFoundException"}, status=400)
    owner.clock.now += TTL_S
    owner.reason()
    owner.clock.now += RETRY_S
    assert len(owner.told) == 2
    owner.aws.answer = lambda _: secret_reply("two")
    assert owner.read() == "two"


def test_secret_of_the_owner_serves_for_a_while_when_aws_does_not_answer_and_none_that_it_refuses(owner: Owner) -> None:
    owner.read()
    owner.aws.answer = lambda _: Reply(status=503)
    owner.clock.now += TTL_S
    assert owner.read() == owner.read() == "one"
    assert len(owner.aws.asked) == 2
    owner.clock.now += STALE_S
    assert owner.reason() == "HTTP status 503"

    owner.aws.answer = lambda _: secret_reply("one")
    owner.clock.now += MAX_RETRY_S
    owner.read()
    owner.aws.answer = lambda _: Reply({"__type": "AccessDeniedException"}, status=400)
    owner.clock.now += TTL_S
    assert owner.reason().startswith("AccessDeniedException: who reads it needs secretsmanager:GetSecretValue")


def test_refused_secret_of_the_owner_is_read_again_and_not_with_every_refusal(owner: Owner) -> None:
    assert owner.own.refuse("a text", "a text") is False
    assert owner.own.refuse(ARN, owner.read()) is True
    owner.aws.answer = lambda _: Reply(status=503)
    assert owner.read() == "one"  # whoever is refused cannot take it from the others
    assert owner.own.refuse(ARN, "one") is False
    owner.clock.now += REFUSED_PAUSE_S
    owner.aws.answer = lambda _: secret_reply("two")
    assert owner.own.refuse(ARN, "one") is True
    assert owner.read() == "two"
    assert owner.own.refuse(ARN, "one") is True  # there is a newer one


def test_many_at_once_wait_for_one_reading_of_the_owners_secret(owner: Owner) -> None:
    async def read_all() -> list[Any]:
        return await asyncio.gather(*(owner.own.read(ARN) for _ in range(20)), return_exceptions=True)

    assert asyncio.run(read_all()) == ["one"] * 20
    assert len(owner.aws.asked) == 1
    owner.own.clear()
    owner.aws.answer = lambda _: Reply(status=503)
    assert {str(each) for each in asyncio.run(read_all())} == {"STILE_SECRET_ARNS: HTTP status 503"}
    assert len(owner.aws.asked) == 2


def test_reading_of_the_owners_secret_that_is_given_up_is_begun_anew_by_who_waits(owner: Owner) -> None:
    go = threading.Event()

    def slow(_: Asked) -> Reply:
        go.wait(5)
        return secret_reply("one")

    owner.aws.answer = slow

    async def give_up() -> str:
        first = asyncio.create_task(owner.own.read(ARN))
        while not owner.aws.asked:
            await asyncio.sleep(0.01)
        second = asyncio.create_task(owner.own.read(ARN))
        await asyncio.sleep(0)
        first.cancel()
        go.set()
        return await second

    assert asyncio.run(give_up()) == "one"


def test_reference_reads_the_owners_secret_for_the_endpoint_that_may(owner: Owner) -> None:
    store = SecretStore(own=owner.own, environ={"api/things/K": ARN})

    assert read(store, "env:K") == "one"
    assert reason(store, "env:K", endpoint="api/others") == "env:K: there is no such variable for api/others"
    owner.aws.answer = lambda _: secret_reply("a\nb: c")
    assert store.refuse("env:K", "one", endpoint="api/things") is True
    assert reason(store, "env:K") == "env:K is empty, too long, or has what no header can carry"


def test_stand_in_of_an_author_may_be_an_arn(owner: Owner) -> None:
    mine = {"K": ARN.arn, "L": ARN.arn[:-7]}
    store = SecretStore(own=owner.own, stand_ins=lambda _: mine)

    assert read(store, "secret:K") == "one"
    assert store.refuse("secret:K", "one", endpoint="api/things") is True
    assert store.refuse("env:L", "one", endpoint="api/things") is True
    assert reason(store, "env:L").startswith("env:L: STILE_SECRET_L='…': expected a secret, or arn:aws:secretsmanager:")


def test_reading_of_the_owners_secret_ends_in_time(owner: Owner, http: HttpClient) -> None:
    go = threading.Event()

    def slow(_: Asked) -> Reply:
        go.wait(2)  # in time for the request, and not for the reading
        return secret_reply("late")

    owner.aws.answer = slow
    impatient = OwnSecrets(aws_at(owner.aws, http), clock=owner.clock, max_read_s=0.2)
    with pytest.raises(SecretUnavailable, match="STILE_SECRET_ARNS: no answer"):
        asyncio.run(impatient.read(ARN))
    go.set()
