"""The module, as the real `terraform` formats, validates, plans and applies it: AWS is moto's server on loopback."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from tests.docs.pages import blocks, read
from tests.infra.cloudformation import ROOT
from tests.infra.stack import Stack
from tests.infra.terraform import MODULE, snake
from tests.support.moto import REGION, Moto, running_moto
from tests.support.require import requires
from tests.support.upstream import running_upstream

PAGE = "docs/deploy-elsewhere.md"
TERRAFORM = shutil.which("terraform")
# Where Terraform's own installers put providers, as FOLDER/registry.terraform.io/hashicorp/aws/VERSION/PLATFORM.
MIRRORS = (
    os.environ.get("STILE_TERRAFORM_PLUGINS", ""),
    "~/.terraform.d/plugins",
    "/usr/local/share/terraform/plugins",
    "/usr/share/terraform/plugins",
    "/opt/tf-plugins",
)
LIFECYCLE = re.compile(r'^resource "aws_s3_bucket_lifecycle_configuration" .*?^}\n', re.MULTILINE | re.DOTALL)
"""What is planned, and not applied: moto gives back less than it got, and Terraform would wait for the rest."""

MAIN = """
variable "given" {
  type = any
}

provider "aws" {
  s3_use_path_style = true
}

module "stile" {
  source = "./stile"
  zip    = "${path.root}/function.zip"
%s
}

output "stile" {
  value = module.stile
}
"""
POLICIES = (
    *("bundles", "key", "keys", "log", "network"),
    *("secret-arns", "secrets", "stay-out-of-the-network", "traces"),
)
CALLS = """
import json, sys
from handler.lambda_function import handler
from tests.support.function import Context
for line in sys.stdin:
    print(json.dumps(handler(json.loads(line), Context())))
"""


@dataclass(frozen=True, slots=True)
class Root:
    """A folder of Terraform that uses a copy of the module."""

    folder: Path
    environ: Mapping[str, str]

    def run(self, *arguments: str, **variables: Any) -> subprocess.CompletedProcess[str]:
        (self.folder / "given.auto.tfvars.json").write_text(json.dumps({"given": variables}), "utf-8")
        return subprocess.run(
            [str(TERRAFORM), *arguments], cwd=self.folder, env=self.environ, capture_output=True, text=True, check=False
        )

    def done(self, *arguments: str, **variables: Any) -> str:
        completed = self.run(*arguments, **variables)
        assert completed.returncode == 0, completed.stdout + completed.stderr
        return completed.stdout


def numbers(text: str) -> tuple[int, ...]:
    """The first two numbers of the version in a text; none if it has no version."""
    found = re.search(r"(\d+)\.(\d+)\.\d", text)
    return tuple(map(int, found.groups())) if found else ()


@pytest.fixture(scope="module")
def moto() -> Iterator[Moto]:
    requires("terraform", TERRAFORM, "no program of this name is in PATH, so the module was not applied")
    shown = subprocess.run([str(TERRAFORM), "version"], capture_output=True, text=True, check=False).stdout
    requires(
        "terraform", numbers(shown) >= (1, 11), "the one in PATH is not 1.11 or later, so the module was not applied"
    )
    with running_moto() as running:
        yield running


@pytest.fixture(scope="module")
def plugins(moto: Moto) -> Path:
    """A folder with the provider for AWS, which these tests do not fetch."""
    found = [folder for each in MIRRORS if each and (folder := Path(each).expanduser()).is_dir()]
    provider = "registry.terraform.io/hashicorp/aws"
    with_provider = next(
        (each for each in found if any((5, 100) <= numbers(one.name) < (7, 0) for one in (each / provider).glob("*"))),
        None,
    )
    requires(
        "terraform",
        with_provider,
        f"no folder has {provider} of version 5.100 to 6, so the module was not applied; name one in "
        "STILE_TERRAFORM_PLUGINS",
    )
    assert with_provider is not None
    return with_provider


def root_of(folder: Path, moto: Moto, plugins: Path) -> Root:
    """Write a configuration that passes on each variable if it is given; otherwise the module's default counts."""
    shutil.copytree(ROOT / MODULE, folder / "stile", ignore=shutil.ignore_patterns(".*"))
    variables = re.findall(r'^variable "(\w+)"', (folder / "stile/variables.tf").read_text("utf-8"), re.MULTILINE)
    passed = "\n".join(f'  {name} = lookup(var.given, "{name}", null)' for name in variables if name != "zip")
    with ZipFile(folder / "function.zip", "w") as archive:
        archive.writestr("handler.py", "")
    (folder / "main.tf").write_text(MAIN % passed, "utf-8")
    environ = {
        **os.environ,
        **moto.environ(),
        "CHECKPOINT_DISABLE": "1",
        "TF_CLI_ARGS": "-no-color",
        "TF_CLI_CONFIG_FILE": os.devnull,
        "TF_IN_AUTOMATION": "1",
    }
    root = Root(folder, environ)
    root.done("init", f"-plugin-dir={plugins}")
    return root


@pytest.fixture(scope="module")
def root(moto: Moto, plugins: Path, tmp_path_factory: pytest.TempPathFactory) -> Root:
    return root_of(tmp_path_factory.mktemp("whole"), moto, plugins)


@dataclass(frozen=True, slots=True)
class Applied:
    """The module as it was applied, with alarms of each endpoint and secrets."""

    root: Root
    outputs: Mapping[str, Any]


@pytest.fixture(scope="module")
def applied(moto: Moto, plugins: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Applied]:
    root = root_of(tmp_path_factory.mktemp("applied"), moto, plugins)
    bucket = root.folder / "stile" / "bucket.tf"
    text, replaced = LIFECYCLE.subn("", bucket.read_text("utf-8"))
    assert replaced == 1
    bucket.write_text(text, "utf-8")
    variables = {"metrics": "endpoint", "secrets_prefix": "stile", "email": "team@example.com", "cache_megabytes": 64}
    root.done("apply", "-auto-approve", **variables)
    yield Applied(root, json.loads(root.done("output", "-json", **variables))["stile"]["value"])
    stopped = root.run("destroy", "-auto-approve", **variables)
    assert "BucketNotEmpty" in stopped.stderr, stopped.stdout + stopped.stderr
    client = moto.client("s3")
    (bucket,) = [each["Name"] for each in client.list_buckets()["Buckets"]]
    for each in client.list_object_versions(Bucket=bucket)["Versions"]:
        client.delete_object(Bucket=bucket, Key=each["Key"], VersionId=each["VersionId"])
    root.done("destroy", "-auto-approve", **variables)
    for words in (line.split() for block in blocks(read(PAGE)) for line in block.text.splitlines()):
        if words[:2] == ["terraform", "import"]:
            root.done(*words[1:], **variables)


def test_files_are_formatted(moto: Moto) -> None:
    done = subprocess.run(
        [str(TERRAFORM), "fmt", "-check", "-diff", MODULE], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout


def test_module_is_valid(root: Root) -> None:
    assert json.loads(root.done("validate", "-json"))["diagnostics"] == []


def test_configuration_of_the_page_is_valid(moto: Moto, plugins: Path, tmp_path: Path) -> None:
    (code,) = [block.text for block in blocks(read(PAGE)) if block.language == "hcl"]
    root = root_of(tmp_path, moto, plugins)
    (tmp_path / "main.tf").write_text(code.replace("../stile/infra/terraform", "./stile"), "utf-8")

    assert './stile"' in (tmp_path / "main.tf").read_text("utf-8")
    root.done("init", f"-plugin-dir={plugins}")
    assert json.loads(root.done("validate", "-json"))["diagnostics"] == []
    root.done("fmt", "-check")


def test_everything_that_can_be_turned_on_is_planned(root: Root) -> None:
    key = "arn:aws:kms:us-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"
    given = {
        "allowed_origins": "https://app.example.com",
        "default_endpoint": "off",
        "domain_name": "mcp.example.com",
        "hosted_zone_id": "Z0123456789ABC",
        "kms_key_arn": key,
        "managed_policy_arns": ["arn:aws:iam::aws:policy/ReadOnlyAccess"],
        "metrics": "on",
        "permissions_boundary": "arn:aws:iam::123456789012:policy/boundary",
        "reserved_concurrency": "20",
        "secret_arns": "arn:aws:secretsmanager:us-east-1:123456789012:secret:stile/COGNITO-a1b2c3",
        "secrets_prefix": "stile",
        "security_group_ids": ["sg-01234567"],
        "subnet_ids": ["subnet-01234567"],
        "topic_arn": "arn:aws:sns:us-east-1:123456789012:on-call",
        "tracing": "Active",
    }
    planned = root.done("plan", "-out=everything", **given)
    shown = json.loads(root.done("show", "-json", "everything"))
    (module,) = shown["planned_values"]["root_module"]["child_modules"]
    values = {
        each["address"].removeprefix("module.stile."): each["values"]
        for each in module["resources"]
        if "values" in each  # which ephemeral resources have not
    }

    assert "0 to change, 0 to destroy" in planned
    function = values["aws_lambda_function.stile"]
    assert function["reserved_concurrent_executions"] == 20
    assert function["vpc_config"][0]["subnet_ids"] == given["subnet_ids"]
    assert function["kms_key_arn"] == key
    policies = {values[name]["name"] for name in values if name.startswith("aws_iam_role_policy.")}
    assert policies == set(POLICIES)
    assert {
        "aws_acm_certificate.domain[0]",
        "aws_route53_record.domain[0]",
        "aws_apigatewayv2_api_mapping.domain[0]",
    } <= set(values)


@pytest.mark.parametrize(
    "refusals",
    [
        {
            "bundle_prefix: expected letters, digits": {"bundle_prefix": "*"},
            "kms_key_arn: expected the ARN of a key": {"kms_key_arn": "alias/mine"},
            "log_retention_days: expected one of 1, 3": {"log_retention_days": 31},
            "name: expected small letters": {"name": "Stile"},
            "secrets_prefix: expected letters, digits": {"secrets_prefix": "a/*"},
            "subnet_ids: expected ids of subnets": {"subnet_ids": ["*"], "security_group_ids": ["sg-01234567"]},
            "throttle_rate: expected a number from 1 to 10000": {"throttle_rate": 0},
        },
        {
            "subnet_ids and security_group_ids are both given, or neither.": {"subnet_ids": ["subnet-01234567"]},
            "certificate_arn names a certificate, or hosted_zone_id": {"domain_name": "mcp.example.com"},
            "topic_arn names a topic, or email an address": {
                "email": "a@b.example",
                "topic_arn": "arn:aws:sns:us-east-1:123456789012:a",
            },
        },
    ],
)
def test_values_that_a_template_refuses_are_refused(root: Root, refusals: dict[str, dict[str, Any]]) -> None:
    refused = root.run("plan", **{name: value for given in refusals.values() for name, value in given.items()})

    assert refused.returncode == 1
    sentences = " ".join(refused.stderr.replace("│", "").split())
    assert [each for each in refusals if each not in sentences] == []


def test_what_is_applied_has_the_names_and_values_of_the_templates(moto: Moto, applied: Applied) -> None:
    function = moto.client("lambda").get_function_configuration(FunctionName=applied.outputs["function_name"])
    secrets = {
        each["Name"][: -len("20261128174446185600000005")]
        for each in moto.client("secretsmanager").list_secrets()["SecretList"]
    }
    role = applied.outputs["role_arn"].rpartition("/")[2]
    alarms = moto.client("cloudwatch").describe_alarms()["MetricAlarms"]
    expected = Stack(
        "infra/observability.yaml", {"Metrics": "endpoint", "FunctionName": "stile", "ApiId": "a1b2c3d4e5"}
    )
    template = Stack("template.yaml", {"CacheMegabytes": 64, "Metrics": "endpoint", "SecretsPrefix": "stile"})
    variables = template.properties("StileFunction")["Environment"]["Variables"]

    set_by_stack = {"STILE_BUNDLES", "STILE_LOG_KEY", "STILE_STATE_KEY"}
    assert {
        name: value for name, value in function["Environment"]["Variables"].items() if name not in set_by_stack
    } == {name: str(value) for name, value in variables.items() if name not in set_by_stack}
    assert {function["Timeout"], function["MemorySize"]} == {29, 1024}
    assert secrets == {"stile-log-key-", "stile-state-key-"}
    assert set(moto.client("iam").list_role_policies(RoleName=role)["PolicyNames"]) == {
        "bundles",
        "keys",
        "log",
        "secrets",
    }
    assert {each["AlarmName"] for each in alarms} == {
        f"stile-{snake(name.removesuffix('Alarm')).replace('_', '-')}"
        for name in expected.of_type("AWS::CloudWatch::Alarm")
    }


def test_keys_are_in_no_state_and_in_no_plan(moto: Moto, applied: Applied) -> None:
    client = moto.client("secretsmanager")
    keys = [
        client.get_secret_value(SecretId=each["ARN"])["SecretString"] for each in client.list_secrets()["SecretList"]
    ]
    written = [path.read_text("utf-8", errors="replace") for path in applied.root.folder.glob("*") if path.is_file()]

    assert [len(key) for key in keys] == [48, 48]
    assert any('"aws_secretsmanager_secret_version"' in text for text in written)
    assert not [key for key in keys for text in written if key in text]


def test_calls_go_through_the_function_with_the_applied_environment(
    moto: Moto, applied: Applied, tmp_path: Path
) -> None:
    function = moto.client("lambda").get_function_configuration(FunctionName=applied.outputs["function_name"])
    # The API of this test is on loopback, which a function that is deployed refuses to ask.
    aws = {**os.environ, **moto.environ(), "STILE_ALLOW_LOCAL_UPSTREAMS": "true"}
    with running_upstream(tmp_path) as upstream:
        shutil.copytree(ROOT / "examples/endpoints/api/customers", tmp_path / "endpoints/api/customers")
        config = tmp_path / "endpoints/api/customers/config.yaml"
        config.write_text(config.read_text("utf-8").replace("http://127.0.0.1:8001/graphql", upstream.url), "utf-8")
        built = tmp_path / "bundles"
        build = [sys.executable, "-m", "handler", "build", str(tmp_path / "endpoints"), "--out", str(built)]
        done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        bucket, _, prefix = applied.outputs["bundle_location"].removeprefix("s3://").partition("/")
        # moto speaks http, and takes no condition of a bucket's policy, which refuses http.
        assert "OnlyOverTls" in moto.client("s3").get_bucket_policy(Bucket=bucket)["Policy"]
        moto.client("s3").delete_bucket_policy(Bucket=bucket)
        for path in filter(Path.is_file, built.rglob("*")):
            moto.client("s3").upload_file(str(path), bucket, f"{prefix}/{path.relative_to(built).as_posix()}")
        events = [(ROOT / f"events/{name}.json").read_text("utf-8") for name in ("tools-list", "tools-call-prescribed")]
        called = subprocess.run(
            [sys.executable, "-c", CALLS],
            cwd=ROOT,
            env={**function["Environment"]["Variables"], **aws},
            input="\n".join(json.dumps(json.loads(event)) for event in events),
            capture_output=True,
            text=True,
            check=False,
        )

    assert called.returncode == 0, called.stderr
    listed, answered = (json.loads(line) for line in called.stdout.splitlines() if line.startswith('{"statusCode"'))
    assert {listed["statusCode"], answered["statusCode"]} == {200}, called.stdout
    assert "customer-by-email" in listed["body"]
    assert "isError" not in answered["body"] or '"isError":false' in answered["body"].replace(" ", ""), answered["body"]
    assert REGION in applied.outputs["api_url"]
