from typing import Any

import pytest

from tests.infra.cloudformation import read_template


@pytest.fixture(scope="module")
def storage() -> dict[str, Any]:
    return read_template("infra/storage.yaml")


@pytest.fixture
def bucket(storage: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = storage["Resources"]["BundleBucket"]["Properties"]
    return properties


def test_the_stack_nests_it_as_storage() -> None:
    nested = read_template("template.yaml")["Resources"]["Storage"]

    assert nested == {
        "Type": "AWS::CloudFormation::Stack",
        "Properties": {"TemplateURL": "infra/storage.yaml"},
    }


def test_earlier_bundles_are_kept_for_a_rollback(bucket: dict[str, Any]) -> None:
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}


def test_replaced_bundles_are_forgotten_in_the_end(bucket: dict[str, Any]) -> None:
    rules = {rule["Id"]: rule for rule in bucket["LifecycleConfiguration"]["Rules"]}

    assert all(rule["Status"] == "Enabled" for rule in rules.values())
    assert rules["forget-replaced-versions"]["NoncurrentVersionExpiration"] == {"NoncurrentDays": 90}


def test_no_rule_expires_a_bundle_that_is_served(bucket: dict[str, Any]) -> None:
    for rule in bucket["LifecycleConfiguration"]["Rules"]:
        assert not {"ExpirationInDays", "ExpirationDate", "Transitions"} & set(rule)


def test_bundles_are_encrypted_at_rest(bucket: dict[str, Any]) -> None:
    assert bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"] == [
        {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
    ]


def test_no_public_access_and_no_acls(bucket: dict[str, Any]) -> None:
    assert bucket["PublicAccessBlockConfiguration"] == {
        "BlockPublicAcls": True,
        "BlockPublicPolicy": True,
        "IgnorePublicAcls": True,
        "RestrictPublicBuckets": True,
    }
    assert bucket["OwnershipControls"]["Rules"] == [{"ObjectOwnership": "BucketOwnerEnforced"}]


def test_the_bucket_policy_grants_nothing_and_refuses_plain_http(storage: dict[str, Any]) -> None:
    policy = storage["Resources"]["BundleBucketPolicy"]["Properties"]

    assert policy["Bucket"] == {"Ref": "BundleBucket"}
    assert policy["PolicyDocument"]["Statement"] == [
        {
            "Sid": "OnlyOverTls",
            "Effect": "Deny",
            "Principal": "*",
            "Action": "s3:*",
            "Resource": [{"Fn::GetAtt": "BundleBucket.Arn"}, {"Fn::Sub": "${BundleBucket.Arn}/*"}],
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        }
    ]


@pytest.mark.parametrize("resource", ["BundleBucket", "BundleBucketPolicy"])
def test_bucket_and_policy_outlive_the_stack(storage: dict[str, Any], resource: str) -> None:
    assert storage["Resources"][resource]["DeletionPolicy"] == "Retain"
    assert storage["Resources"][resource]["UpdateReplacePolicy"] == "Retain"


def test_the_stack_above_learns_name_and_arn(storage: dict[str, Any]) -> None:
    outputs = {name: output["Value"] for name, output in storage["Outputs"].items()}

    assert outputs == {"BucketName": {"Ref": "BundleBucket"}, "BucketArn": {"Fn::GetAtt": "BundleBucket.Arn"}}
