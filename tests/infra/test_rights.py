"""The function's calls to AWS beside its role: each call is allowed, and nothing is allowed that no call takes.

The function runs with the environment that the template makes of parameters, in this process every day, and as the
built artefact in AWS's emulator where there is one.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from handler.aws.sigv4 import CredentialSource
from handler.compiler.compile import compile_endpoint
from handler.http.client import HttpClient
from handler.server.function import build_handler
from handler.settings import read_settings
from handler.storage.location import open_publish_storage, open_storage
from tests.infra.emulator import find_emulator, running_emulator
from tests.infra.stack import Stack, statements
from tests.support.api import Api, running_api
from tests.support.aws_calls import AwsCalls, Call, allows, recording, rights
from tests.support.endpoints import PUBLIC, write_endpoint
from tests.support.function import META, MODERN, Context, closing, event_for, store
from tests.support.moto import REGION, Moto
from tests.support.require import requires
from tests.support.secrecy import SESSION

BUCKET = "bundles-by-right"
KEY_ARN = "arn:aws:kms:us-east-1:123456789012:key/0a1b2c3d-0000-4000-8000-000000000000"
SDL = "type Query { me: String } type Mutation { pay: String }"
OPERATIONS = (
    'query Me @mcpTool(name: "me") { me } mutation Pay @mcpTool(name: "pay", confirm: required, title: "Pay") { pay }'
)
DOOR = "a1b2c3d4e5"
CALLER = {"userArn": "arn:aws:sts::123456789012:assumed-role/agents/session-1", "accountId": "123456789012"}
"""A caller that AWS knows, whose digest in the log takes the log's key."""

CREDENTIALS = {"secrets": "secret:API", "parameters": "ssm:API", "named": "env:COGNITO"}
"""Endpoints, and where each has the credential for its API."""

PLATFORM = {
    "logs:CreateLogStream": "Lambda writes the log",
    "logs:PutLogEvents": "Lambda writes the log",
    "s3:ListBucket": "S3 asks for it itself, before it says that an object is missing",
    "kms:Decrypt": "S3, Secrets Manager and Lambda ask KMS for who asks them",
    "xray:PutTraceSegments": "Lambda's daemon sends traces",
    "xray:PutTelemetryRecords": "Lambda's daemon sends traces",
    "ec2:CreateNetworkInterface": "Lambda joins the network",
    "ec2:DescribeNetworkInterfaces": "Lambda joins the network",
    "ec2:DescribeSubnets": "Lambda joins the network",
    "ec2:DeleteNetworkInterface": "Lambda leaves the network",
    "ec2:AssignPrivateIpAddresses": "Lambda joins the network",
    "ec2:UnassignPrivateIpAddresses": "Lambda leaves the network",
}
"""Rights that no call of the function's own takes -> who takes it."""

Invoke = Callable[[Mapping[str, Any]], Any]


@dataclass
class Account:
    """AWS with a bucket, the secrets that the stack makes, and those that it was given. ``user`` may do everything."""

    moto: Moto
    user: Mapping[str, str]
    arns: dict[str, str] = field(default_factory=dict)

    def stack(self, **parameters: str) -> Stack:
        attributes = {
            "LogKey": self.arns["log"],
            "StateKey": self.arns["state"],
            "Storage.Outputs.BucketName": BUCKET,
            "Storage.Outputs.BucketArn": f"arn:aws:s3:::{BUCKET}",
        }
        return Stack("template.yaml", parameters, attributes=attributes, region=REGION)


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with running_api() as running:
        yield running


@pytest.fixture(scope="module")
def account(moto: Moto, api: Api, tmp_path_factory: pytest.TempPathFactory) -> Account:
    user = moto.add_user("function-by-right", {"Action": "*", "Resource": "*"})
    made = Account(moto, user)
    moto.add_bucket(BUCKET)
    with moto.unchecked():
        secrets = moto.client("secretsmanager")
        for short, name in (("log", "log"), ("state", "state"), ("COGNITO", "elsewhere/COGNITO")):
            text = SESSION.keep(f"the secret {name}", f"{name.replace('/', '-')}-0Zx9Qv7Lr1Tb6Wn8Kd3Hf5Jp0GsUmW2")
            made.arns[short] = secrets.create_secret(Name=f"by-right/{name}", SecretString=text)["ARN"]
        value = SESSION.keep("the credential of an API", "of-the-api-4Rf8Vb2Nm6")
        secrets.create_secret(Name="by-right/shop/secrets/API", SecretString=value)
        parameter = "/by-right/shop/parameters/API"
        moto.client("ssm").put_parameter(Name=parameter, Value=value, Type="SecureString")
    publish(user, api, tmp_path_factory.mktemp("endpoints"))
    return made


def publish(user: Mapping[str, str], api: Api, folder: Path) -> None:
    http = HttpClient()
    storage = open_publish_storage(f"s3://{BUCKET}/endpoints", http=http, environ=user)
    for name, credential in CREDENTIALS.items():
        config = f"""
upstream: {{url: "{api.url}", auth: {{bearer: "{credential}"}}}}
identity: {{trust_authorizer: [{DOOR}]}}
{PUBLIC}"""
        files = {"index.graphql": SDL, "operations/all.graphql": OPERATIONS, "config.yaml": config}
        store(storage, compile_endpoint(write_endpoint(folder, files, name=f"shop/{name}"), environ={}))
    http.close()


# The function


def environment(stack: Stack, calls: AwsCalls, user: Mapping[str, str]) -> dict[str, str]:
    """The variables of the stack's function, in an account that is at ``calls``. Its API is on this machine."""
    variables: dict[str, str] = stack.properties("StileFunction")["Environment"]["Variables"]
    return {**variables, **calls.environ(user), "STILE_ALLOW_LOCAL_UPSTREAMS": "true"}


@contextlib.contextmanager
def in_this_process(environ: Mapping[str, str]) -> Iterator[Invoke]:
    settings = read_settings(environ)
    with contextlib.closing(HttpClient(settings.addresses)) as http:
        credentials = CredentialSource(environ, http=http)
        storage = open_storage(settings.bundles, http=http, environ=environ, credentials=credentials)
        handler = build_handler(settings, environ, http=http, storage=storage, credentials=credentials)
        with closing(asyncio.get_event_loop()):
            yield lambda event: handler(event, Context())


@contextlib.contextmanager
def in_the_emulator(environ: Mapping[str, str], *, artifact: Path, arch: str, folder: Path) -> Iterator[Invoke]:
    binary = find_emulator(arch)
    requires("sam", binary, "`make sam-setup` installs the Lambda emulator with the SAM CLI")
    requires("python3.13", sys.version_info[:2] == (3, 13), "`make smoke` runs this with it, as Lambda does")
    assert binary is not None
    with running_emulator(binary, artifact, folder, environ) as emulator:
        yield emulator.invoke


@pytest.fixture(params=["process", "emulator"])
def running(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Mapping[str, str]], Any]:
    """The function in this process, or the built artefact in AWS's emulator."""
    if request.param == "process":
        return in_this_process
    artifact, arch = request.getfixturevalue("artifact"), request.getfixturevalue("arch")
    return partial(in_the_emulator, artifact=artifact, arch=arch, folder=tmp_path)


def call(invoke: Invoke, endpoint: str, tool: str, **params: Any) -> Any:
    """The result of a call of a client whose user can be asked."""
    meta = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    sent = {"name": tool, "arguments": {}, "_meta": meta, **params}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": sent}
    routing = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": tool}
    headers = {"content-type": "application/json", **routing}
    event = event_for("POST", f"/shop/{endpoint}/mcp", body=json.dumps(message), headers=headers)
    event["requestContext"] |= {"apiId": DOOR, "authorizer": {"iam": CALLER}}
    answer = invoke(event)
    assert answer["statusCode"] == 200, answer
    return json.loads(answer["body"])["result"]


def use_all_of_it(invoke: Invoke, endpoints: list[str]) -> None:
    """Make every request that needs something of AWS: bundles, one that is missing, both keys, and credentials."""
    for endpoint in endpoints:
        assert not call(invoke, endpoint, "me").get("isError")
    asked = call(invoke, endpoints[0], "pay")
    agreed = {"confirm": {"action": "accept", "content": {"confirm": True}}}
    done = call(invoke, endpoints[0], "pay", requestState=asked["requestState"], inputResponses=agreed)
    assert not done.get("isError"), done
    for path in ("/shop/missing/mcp", "/health", "/shop/secrets"):
        invoke(event_for("GET", path, body="", headers={}))


def parameters_of(account: Account) -> dict[str, str]:
    return {"SecretsPrefix": "by-right", "SecretArns": account.arns["COGNITO"]}


def made_by(account: Account, stack: Stack, running: Any, endpoints: list[str]) -> set[Call]:
    with recording(account.moto) as calls:
        with running(environment(stack, calls, account.user)) as invoke:
            use_all_of_it(invoke, endpoints)
        return set(calls.made)


def test_every_call_is_allowed_and_nothing_is_allowed_that_no_call_takes(account: Account, running: Any) -> None:
    stack = account.stack(**parameters_of(account))
    granted = rights(statements(stack, "StileRole"))

    made = made_by(account, stack, running, [*CREDENTIALS])

    assert [each for each in made if not any(allows(right, each) for right in granted)] == []
    unused = {right for right in granted if not any(allows(right, each) for each in made)}
    assert {right.action for right in unused} == {"logs:CreateLogStream", "logs:PutLogEvents", "s3:ListBucket"}


def test_a_stack_without_secrets_of_endpoints_needs_and_has_its_bundles_and_two_keys(account: Account) -> None:
    stack = account.stack()
    granted = {right for right in rights(statements(stack, "StileRole")) if right.action not in PLATFORM}

    with recording(account.moto) as calls, in_this_process(environment(stack, calls, account.user)) as invoke:
        call(invoke, "secrets", "pay")
    made = set(calls.made)

    assert {right for right in granted if any(allows(right, each) for each in made)} == granted
    assert [each for each in made if not any(allows(right, each) for right in granted)] == []
    assert {right.resource for right in granted} == {
        f"arn:aws:s3:::{BUCKET}/endpoints/*",
        account.arns["log"],
        account.arns["state"],
    }


@pytest.mark.parametrize(
    "parameters",
    [
        {"KmsKeyArn": KEY_ARN},
        {"SubnetIds": "subnet-0a1b2c3d", "SecurityGroupIds": "sg-0a1b2c3d"},
        {"Tracing": "Active"},
        {"Release": "a"},
        {"KmsKeyArn": KEY_ARN, "SubnetIds": "subnet-0a1b2c3d", "SecurityGroupIds": "sg-0a1b2c3d", "Tracing": "Active"},
    ],
)
def test_parameters_of_the_platform_add_rights_of_the_platform_alone(
    account: Account, parameters: dict[str, str]
) -> None:
    plain, more = (rights(statements(account.stack(**each), "StileRole")) for each in ({}, parameters))

    added = {right.action for right in set(more) - set(plain)}
    assert added <= set(PLATFORM)
    assert set(plain) <= set(more)
    assert bool(added) is (parameters != {"Release": "a"})


def test_every_right_of_the_platform_is_one_that_some_stack_has(account: Account) -> None:
    whole = {"KmsKeyArn": KEY_ARN, "SubnetIds": "subnet-0a1b2c3d", "SecurityGroupIds": "sg-0a1b2c3d"}
    granted = rights(statements(account.stack(**whole, Tracing="Active", **parameters_of(account)), "StileRole"))

    assert {right.action for right in granted} == {
        *PLATFORM,
        "s3:GetObject",
        "secretsmanager:GetSecretValue",
        "ssm:GetParameter",
    }


def test_a_right_on_everything_is_one_of_the_platform_that_has_no_resources(account: Account) -> None:
    whole = {"KmsKeyArn": KEY_ARN, "SubnetIds": "subnet-0a1b2c3d", "SecurityGroupIds": "sg-0a1b2c3d"}
    granted = rights(statements(account.stack(**whole, Tracing="Active", **parameters_of(account)), "StileRole"))

    assert {right.action.partition(":")[0] for right in granted if right.resource == "*"} == {"ec2", "xray"}
    assert [right for right in granted if "*" in right.action] == []


def test_a_call_beyond_the_role_is_seen(account: Account) -> None:
    """The other way round: with a role of another prefix, calls are left that nothing allows."""
    stack = account.stack(**parameters_of(account))
    narrow = rights(statements(account.stack(SecretsPrefix="other", BundlePrefix="other"), "StileRole"))

    made = made_by(account, stack, in_this_process, [*CREDENTIALS])

    beyond = {each.action for each in made if not any(allows(right, each) for right in narrow)}
    assert beyond == {"s3:GetObject", "secretsmanager:GetSecretValue", "ssm:GetParameter"}
