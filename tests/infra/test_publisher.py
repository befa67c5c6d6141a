"""The role of GitHub Actions: who may take it, and that its rights are those of infra/publisher_policy.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.stored import shared_index_key
from handler.compiler.compile import compile_endpoint
from tests.infra.cloudformation import ROOT
from tests.infra.stack import Stack, accepted, parsed, statements
from tests.support.aws_calls import Call, allows, as_list
from tests.support.aws_calls import rights as rights_in
from tests.support.endpoints import PUBLIC, write_endpoint

MAIN = "repo:acme/tools:ref:refs/heads/main"
PROVIDER = "arn:aws:iam::123456789012:oidc-provider/token.actions.githubusercontent.com"
KEY = "arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d-0000-4000-8000-000000000000"


def stack_of(**parameters: str) -> Stack:
    return Stack("infra/publisher.yaml", {"Subject": MAIN, "BucketName": "bundles-of-acme", **parameters})


def rights(stack: Stack) -> list[dict[str, Any]]:
    return statements(stack, "PublisherRole")


def policy(*, prefix: str = "endpoints") -> list[dict[str, Any]]:
    """The statements of the file, for a bucket and a prefix."""
    text = (ROOT / "infra" / "publisher_policy.json").read_text("utf-8")
    text = text.replace("BUCKET/endpoints/", f"bundles-of-acme/{prefix}/").replace("BUCKET", "bundles-of-acme")
    found: list[dict[str, Any]] = json.loads(text)["Statement"]
    return found


@pytest.mark.parametrize("prefix", ["endpoints", "prod/endpoints", "endpoints/shop"])
def test_its_rights_are_those_of_the_file(prefix: str) -> None:
    assert rights(stack_of(BundlePrefix=prefix)) == policy(prefix=prefix)


def test_a_role_that_reads_has_what_compares_and_nothing_that_writes() -> None:
    assert rights(stack_of(Rights="read")) == [each for each in policy() if each["Sid"] in ("Compare", "List")]


@pytest.mark.parametrize(
    ("subject", "may"),
    [
        ("repo:acme/tools:pull_request", "read"),
        ("repo:acme@123456/tools@456789:pull_request", "read"),
        ("repo:acme/pull_request:ref:refs/heads/pull_request", "publish"),
        ("repo:acme/tools:environment:pull_request", "publish"),
    ],
)
def test_pull_requests_never_get_the_right_to_publish(subject: str, may: str) -> None:
    made, read = (stack_of(Subject=subject, Rights=which, KmsKeyArn=KEY) for which in ("publish", "read"))

    assert made.outputs["Rights"] == may
    assert (rights(made) == rights(read)) == (may == "read")


@pytest.mark.parametrize(
    ("which", "actions"), [("publish", ["kms:Decrypt", "kms:GenerateDataKey"]), ("read", ["kms:Decrypt"])]
)
def test_the_key_of_a_bucket_may_be_used_for_what_the_role_does(which: str, actions: list[str]) -> None:
    without, (key,) = rights(stack_of(Rights=which)), rights(stack_of(Rights=which, KmsKeyArn=KEY))[-1:]

    assert rights(stack_of(Rights=which, KmsKeyArn=KEY))[:-1] == without
    assert (key["Action"], key["Resource"]) == (actions, KEY)


@pytest.mark.parametrize("provider", ["", PROVIDER])
def test_only_jobs_of_the_subject_take_it_by_the_provider_that_is_there_or_made(provider: str) -> None:
    stack = stack_of(ProviderArn=provider)
    (trust,) = stack.properties("PublisherRole")["AssumeRolePolicyDocument"]["Statement"]

    assert trust["Action"] == "sts:AssumeRoleWithWebIdentity"
    assert trust["Principal"] == {"Federated": provider or "Provider"}
    assert trust["Condition"] == {
        "StringEquals": {"token.actions.githubusercontent.com:aud": "sts.amazonaws.com"},
        "StringLike": {"token.actions.githubusercontent.com:sub": MAIN},
    }
    made = stack.of_type("AWS::IAM::OIDCProvider")
    expected = {"Url": "https://token.actions.githubusercontent.com", "ClientIdList": ["sts.amazonaws.com"]}
    assert made == ({} if provider else {"Provider": expected})


@pytest.mark.parametrize(
    "subject",
    [
        MAIN,
        "repo:acme/tools:ref:refs/heads/release/*",
        "repo:acme/tools:ref:refs/tags/v*",
        "repo:acme/tools.py_1:environment:prod",
        "repo:acme/tools:pull_request",
        "repo:acme@123456/tools@456789:ref:refs/heads/main",
    ],
)
def test_a_subject_is_one_of_github(subject: str) -> None:
    assert stack_of(Subject=subject).refused == []


@pytest.mark.parametrize(
    "subject",
    [
        "*",
        "",
        "repo:*",
        "repo:*/*:ref:refs/heads/main",
        "repo:acme/*",
        "repo:acme/*:ref:refs/heads/main",
        "repo:acme*/tools:ref:refs/heads/main",
        "repo:acme/tools",
        "repo:acme/tools:*",
        "repo:acme/tools:ref:*",
        "repo:acme/tools:ref:refs/heads/*",
        "repo:acme/tools:ref:refs/heads/m?in",
        "repo:acme/tools:environment:*",
        "repo:acme/tools:pull_request*",
        "repo:ac?e/tools:pull_request",
        "repo:acme/tools:ref:refs/heads/main\nrepo:*",
        "repo:${aws:username}/tools:pull_request",
        "repo:acme@*/tools@1:pull_request",
    ],
)
def test_a_subject_of_more_than_one_repository_or_of_every_branch_is_refused(subject: str) -> None:
    assert not accepted(parsed("infra/publisher.yaml")["Parameters"]["Subject"], subject)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("BucketName", "*"),
        ("BucketName", "bundles/*"),
        ("BundlePrefix", "*"),
        ("BundlePrefix", "endpoints/"),
        ("BundlePrefix", "${aws:username}"),
        ("ProviderArn", PROVIDER.replace("token.actions.githubusercontent.com", "idp.example")),
        ("KmsKeyArn", "*"),
        ("Rights", "all"),
    ],
)
def test_a_value_that_would_widen_the_role_is_refused(parameter: str, value: str) -> None:
    assert stack_of(**{parameter: value}).refused == [parameter]


def test_a_role_has_no_rights_beside_the_bucket_and_no_wildcard_of_actions() -> None:
    for each in rights(stack_of()):
        assert all(one.startswith("arn:aws:s3:::bundles-of-acme") for one in as_list(each["Resource"]))
        assert "*" not in "".join(each["Action"])


FILES = {
    "index.graphql": "type Query { a: String } type Mutation { b: String }",
    "operations/a.graphql": 'query A @mcpTool(name: "a") { a }',
    "config.yaml": 'upstream: {url: "https://things.example/graphql"}\n' + PUBLIC,
}


def keys_of(folder: Path, name: str) -> list[str]:
    """The keys of an endpoint's objects, as a publish stores them and as the function reads them."""
    keys = [key for key, _ in compile_endpoint(write_endpoint(folder, FILES, name=name)).objects()]
    assert len(keys) == 2  # a schema and a bundle
    return keys


def test_a_publisher_of_one_prefix_has_rights_on_its_own_objects_and_on_none_of_another_endpoint(
    tmp_path: Path,
) -> None:
    """The two endpoints have the same schema, which one publisher could damage, store first or delete for the other."""
    own, others = keys_of(tmp_path, "shop/orders"), [*keys_of(tmp_path, "hr/people"), *keys_of(tmp_path, "shopping/x")]
    schema = next(key.rpartition("/")[2] for key in own if "/.index/" in key)
    granted = rights_in(policy(prefix="endpoints/shop"))

    def allowed(key: str) -> set[str]:
        resource = f"arn:aws:s3:::bundles-of-acme/endpoints/{key}"
        return {right.action for right in granted if allows(right, Call(right.action, resource))}

    on_objects = {"s3:GetObject", "s3:PutObject", "s3:GetObjectVersion", "s3:DeleteObject"}
    assert {key: allowed(key) for key in [*others, shared_index_key(schema)]} == {
        key: set() for key in [*others, shared_index_key(schema)]
    }
    assert [allowed(key) for key in own] == [on_objects | {"s3:DeleteObjectVersion"}, on_objects]
