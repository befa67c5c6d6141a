import re
from typing import Any

import pytest

from handler.bundle.stored import FORMAT_VERSION
from handler.commands.publish import EXTRAS_TAG, MODULES_TAG
from handler.commands.publishing.destination import FORMAT_TAG
from tests.conftest import ROOT
from tests.infra.cloudformation import read_template
from tests.infra.stack import Stack

OF_FUNCTION = {"Fn::FindInMap": ["Function", "Bundles", "Format"]}


@pytest.fixture(scope="module")
def storage() -> dict[str, Any]:
    return read_template("infra/storage.yaml")


@pytest.fixture
def bucket(storage: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = storage["Resources"]["BundleBucket"]["Properties"]
    return properties


def test_the_stack_nests_it_as_storage() -> None:
    nested = read_template("template.yaml")["Resources"]["Storage"]

    assert nested["Type"] == "AWS::CloudFormation::Stack"
    assert nested["Properties"] == {
        "TemplateURL": "infra/storage.yaml",
        "Parameters": {name: {"Ref": name} for name in read_template("infra/storage.yaml")["Parameters"]},
    }


def test_earlier_bundles_are_kept_for_a_rollback(bucket: dict[str, Any]) -> None:
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}


def test_replaced_bundles_are_forgotten_in_the_end(bucket: dict[str, Any]) -> None:
    rules = {rule["Id"]: rule for rule in bucket["LifecycleConfiguration"]["Rules"]}

    assert all(rule["Status"] == "Enabled" for rule in rules.values())
    assert rules["forget-replaced-versions"]["NoncurrentVersionExpiration"] == {
        "NoncurrentDays": 90,
        "NewerNoncurrentVersions": 5,
    }


def test_no_rule_expires_a_bundle_that_is_served(bucket: dict[str, Any]) -> None:
    for rule in bucket["LifecycleConfiguration"]["Rules"]:
        assert not {"ExpirationInDays", "ExpirationDate", "Transitions"} & set(rule)


def encryption(**parameters: str) -> Any:
    bucket = Stack("infra/storage.yaml", parameters).properties("BundleBucket")
    (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    return rule


def test_bundles_are_encrypted_at_rest_by_the_key_that_is_named() -> None:
    assert encryption() == {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
    assert encryption(KmsKeyArn="arn:a-key") == {
        "ServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": "arn:a-key"},
        "BucketKeyEnabled": True,
    }


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
def test_bucket_and_policy_outlive_the_stack_but_not_a_first_deploy_that_fails(
    storage: dict[str, Any], resource: str
) -> None:
    assert storage["Resources"][resource]["DeletionPolicy"] == "RetainExceptOnCreate"
    assert storage["Resources"][resource]["UpdateReplacePolicy"] == "Retain"


@pytest.mark.parametrize("resource", ["BundleBucket", "BundleBucketPolicy"])
def test_a_bucket_that_exists_takes_the_place_of_one_of_the_stack(storage: dict[str, Any], resource: str) -> None:
    assert storage["Conditions"]["MakesBucket"] == {"Fn::Equals": [{"Ref": "BucketName"}, ""]}
    assert storage["Resources"][resource]["Condition"] == "MakesBucket"


def test_the_stack_above_learns_name_and_arn(storage: dict[str, Any]) -> None:
    outputs = {name: output["Value"] for name, output in storage["Outputs"].items()}
    arn = {"Fn::Sub": "arn:${AWS::Partition}:s3:::${BucketName}"}

    assert outputs == {
        "BucketName": {"Fn::If": ["MakesBucket", {"Ref": "BundleBucket"}, {"Ref": "BucketName"}]},
        "BucketArn": {"Fn::If": ["MakesBucket", {"Fn::GetAtt": "BundleBucket.Arn"}, arn]},
        "BundleFormat": OF_FUNCTION,
    }


def test_tags_of_the_bucket_are_those_that_publish_reads(bucket: dict[str, Any]) -> None:
    def spaced(parameter: str) -> dict[str, Any]:
        return {"Fn::Join": [" ", {"Fn::Split": [",", {"Ref": parameter}]}]}

    assert {tag["Key"]: tag["Value"] for tag in bucket["Tags"]} == {
        EXTRAS_TAG: spaced("Extras"),
        MODULES_TAG: spaced("CodeModules"),
        FORMAT_TAG: OF_FUNCTION,
    }


def test_stack_says_the_format_that_the_function_reads() -> None:
    stack = Stack("infra/storage.yaml")

    (told,) = [tag["Value"] for tag in stack.properties("BundleBucket")["Tags"] if tag["Key"] == FORMAT_TAG]
    assert (told, stack.outputs["BundleFormat"]) == (str(FORMAT_VERSION), str(FORMAT_VERSION))


def test_no_publisher_may_write_the_tags() -> None:
    for file in ("infra/publisher_policy.json", "infra/publisher.yaml"):
        assert not re.search(r"s3:(PutBucketTagging|Put\*|\*)", (ROOT / file).read_text("utf-8"))
