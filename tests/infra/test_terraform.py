"""The module of Terraform has what the templates have: environment, permissions, alarms, defaults and the rest."""

from __future__ import annotations

import re
import shutil
from functools import cache
from pathlib import Path

import pytest

from tests.infra.cloudformation import ROOT
from tests.infra.terraform import MODULE, TEMPLATES, Module, Template

OF_THE_BUCKET = (
    "lifecycle_configuration|ownership_controls|public_access_block|server_side_encryption_configuration|versioning"
)
LISTED = {
    "The module has no releases: CloudFormation alone lets CodeDeploy move an alias while a stack is updated.": (
        r"Release(Alias|Application|Errors|Failures|Group|Role|Unserved|Version) = -",
        r"condition\.(has_release|provisions_concurrency|uses_snap_start) = -",
        r"rule\.(provisioned_concurrency|snap_start) .* = -",
        r"variable\.(canary|provisioned_concurrency|release|snap_start)\..* = -",
    ),
    "One module has all, where CloudFormation has stacks that are told names of each other.": (
        r"Storage\.(template_url|parameters\.(bucket_name|code_modules|extras|kms_key_arn)) = -",
        r"variable\.(api_id|function_name)\.(accepts .*|type) = -",
    ),
    "The domain is a part of the module, which domain_name turns on.": (
        r'condition\.has_domain = var\.domain_name != ""',
        r'variable\.domain_name\.default = ""',
        r"variable\.domain_name\.accepts can\(regex\(.*",
    ),
    "Terraform has no name of a stack, so it asks for one, and Terraform's resources take their names from it.": (
        r'variable\.name\.(accepts .* = |default = "stile"|type = string)',
        r'aws_cloudwatch_log_group\.access\.name = "/aws/vendedlogs/apigateway/\$\{var\.name\}"',
        r'aws_cloudwatch_log_group\.function\.name = "/aws/lambda/\$\{var\.name\}"',
        r'aws_cloudwatch_log_metric_filter\.gateway_throttles\.name = "\$\{var\.name\}-gateway-throttles"',
        r'aws_cloudwatch_metric_alarm\.\w+\.alarm_name = "\$\{var\.name\}-[a-z-]+"',
        r"aws_(cloudwatch_dashboard\.stile\.dashboard|lambda_function\.stile\.function)_name = var\.name",
        (
            r"aws_(iam_role\.function|s3_bucket\.bundles|secretsmanager_secret\.\w+|sns_topic\.alarms)\."
            r'(name|bucket)_prefix = "\$\{var\.name\}-[a-z-]*"'
        ),
    ),
    "`sam build` builds the function for a stack, and `make zip` for the module.": (
        r"variable\.zip\.type = string",
        r"aws_lambda_function\.stile\.(code_uri = -|filename = var\.zip)",
        r"aws_lambda_function\.stile\.source_code_hash = filebase64sha256\(var\.zip\)",
    ),
    "The format that Lambda has by itself, which Terraform asks for.": (
        r'aws_lambda_function\.stile\.logging_config\.log_format = "Text"',
    ),
    "A document of OpenAPI makes the routes of a stack, and resources make those of the module.": (
        r"aws_apigatewayv2_api\.stile\.(auth|definition_body)\..* = -",
        r'aws_apigatewayv2_api\.stile\.protocol_type = "HTTP"',
        r"aws_apigatewayv2_(integration\.function|route\.any|stage\.default)\.api_id = aws_apigatewayv2_api\.stile\.id",
        r'aws_apigatewayv2_integration\.function\.integration_type = "AWS_PROXY"',
        r"aws_apigatewayv2_integration\.function\.integration_uri = aws_lambda_function\.stile\.invoke_arn",
        r'aws_apigatewayv2_route\.any\.route_key = "\$default"',
        r'aws_apigatewayv2_route\.any\.target = "integrations/\$\{aws_apigatewayv2_integration\.function\.id\}"',
        r"aws_apigatewayv2_stage\.default\.access_log_settings\.format = jsonencode\(local\.access_log\)",
        r"aws_apigatewayv2_stage\.default\.auto_deploy = true",
    ),
    "Terraform attaches policies one by one, and none of an empty list.": (
        r"aws_iam_role\.function\.managed_policy_arns = -",
        r"aws_iam_role_policy_attachment\.managed\.for_each = toset\(var\.managed_policy_arns\)",
        r"aws_iam_role_policy_attachment\.managed\.policy_arn = each\.value",
        r"aws_iam_role_policy_attachment\.managed\.role = aws_iam_role\.function\.name",
        r"condition\.has_managed_policies = -",
    ),
    "Properties of a bucket and the subscription of a topic are resources in Terraform.": (
        rf"aws_s3_bucket_({OF_THE_BUCKET})\.bundles\.bucket = aws_s3_bucket\.bundles\[0\]\.bucket",
        rf"aws_s3_bucket_({OF_THE_BUCKET})\.bundles\.count = local\.makes_bucket \? 1 : 0",
        r"aws_sns_topic_subscription\.alarms\.count = local\.makes_topic \? 1 : 0",
        r"aws_sns_topic_subscription\.alarms\.topic_arn = aws_sns_topic\.alarms\[0\]\.arn",
    ),
    "Terraform cannot leave both behind: it does not delete a bucket with endpoints, and a key can be restored.": (
        r"aws_s3_bucket_policy\.bundles\.kept = -",
        r"aws_secretsmanager_secret\.log_key\.kept = -",
        r"aws_secretsmanager_secret\.log_key\.recovery_window_in_days = 30",
        r"aws_secretsmanager_secret\.state_key\.recovery_window_in_days = 0",
    ),
    "Secrets Manager generates the keys of a stack; Terraform asks it for them, and keeps them out of its state.": (
        r"aws_secretsmanager_random_password\.(log|state)_key\.count = local\.makes_\1_key \? 1 : 0",
        r"aws_secretsmanager_secret_version\.(log|state)_key\.count = local\.makes_\1_key \? 1 : 0",
        r"aws_secretsmanager_secret_version\.(log|state)_key\.secret_id = aws_secretsmanager_secret\.\1_key\[0\]\.id",
        (
            r"aws_secretsmanager_secret_version\.(log|state)_key\.secret_string_wo = "
            r"ephemeral\.aws_secretsmanager_random_password\.\1_key\[0\]\.random_password"
        ),
        r"aws_secretsmanager_secret_version\.(log|state)_key\.secret_string_wo_version = 1",
    ),
    "CloudFormation validates a certificate by itself, and Terraform by a record and a resource that waits.": (
        r"aws_route53_record\.validation\..*",
        r"aws_acm_certificate_validation\.domain\..*",
        r"aws_route53_record\.domain\.alias\.evaluate_target_health = false",
    ),
}
"""Reasons -> the differences that they explain, each as a place with the module's expression, or "-" for none."""


def differences(root: Path) -> list[str]:
    template, module = Template(root).facts(), Module(root / MODULE).facts()
    places = sorted(template.keys() | module.keys())
    return [f"{place} = {module.get(place, '-')}" for place in places if template.get(place) != module.get(place)]


@cache
def listed_and_others() -> list[str]:
    return differences(ROOT)


def unlisted(root: Path) -> list[str]:
    patterns = [pattern for each in LISTED.values() for pattern in each]
    return [each for each in differences(root) if not any(re.fullmatch(pattern, each) for pattern in patterns)]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in TEMPLATES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / MODULE, tmp_path / MODULE, ignore=shutil.ignore_patterns(".*"))
    return tmp_path


def test_module_and_templates_differ_in_what_is_listed_alone() -> None:
    assert unlisted(ROOT) == []


@pytest.mark.parametrize("pattern", [pattern for each in LISTED.values() for pattern in each])
def test_each_listed_difference_is_there(pattern: str) -> None:
    assert any(re.fullmatch(pattern, each) for each in listed_and_others())


def test_facts_cover_environment_permissions_alarms_and_defaults() -> None:
    places = set(Template(ROOT).facts()) & set(Module(ROOT / MODULE).facts())

    assert len([each for each in places if ".environment.variables." in each]) == 21
    assert len({each.split(".")[1] for each in places if each.startswith("permission.")}) == 11
    assert len({each.split(".")[1] for each in places if each.startswith("aws_cloudwatch_metric_alarm.")}) == 18
    assert len([each for each in places if each.startswith("variable.") and each.endswith(".default")]) == 51


ALARM = """
  {name}:
    Type: AWS::CloudWatch::Alarm{condition}
    Properties: {{Namespace: AWS/Lambda, MetricName: Errors, Threshold: 5}}
"""
OUTPUTS = "\nOutputs:\n"
IN_A_TEMPLATE = {
    "section": ("template.yaml", "\nParameters:\n", "\nGlobals: {Function: {Timeout: 5}}\n\nParameters:\n"),
    "default that another template has": ("infra/observability.yaml", "Default: function", "Default: endpoint"),
    "condition that another template has": (
        "infra/storage.yaml",
        "HasKmsKey: !Not [!Equals",
        "HasKmsKey: !Or [!Equals",
    ),
    "variable of the environment": (
        "template.yaml",
        "STILE_PAGE: !Ref Page",
        "STILE_PAGE: !Ref Page\n          STILE_NEW: a",
    ),
    "value of the environment": ("template.yaml", 'UPSTREAMS: "false"', 'UPSTREAMS: "true"'),
    "action": ("template.yaml", "Action: s3:GetObject", "Action: [s3:GetObject, s3:PutObject]"),
    "resource of a statement": ("template.yaml", "Resource: !GetAtt FunctionLog.Arn", 'Resource: "*"'),
    "statement": (
        "template.yaml",
        "- Sid: ReadBundles",
        "- {Sid: New, Effect: Allow, Action: s3:*, Resource: '*'}\n              - Sid: ReadBundles",
    ),
    "condition of a policy": ("template.yaml", "Condition: HasSecretArns", "Condition: HasSecrets"),
    "actor who may take the role": ("template.yaml", "Service: lambda.amazonaws.com", "Service: ec2.amazonaws.com"),
    "statement of the bucket": ("infra/storage.yaml", "Effect: Deny", "Effect: Allow"),
    "alarm": ("infra/observability.yaml", OUTPUTS, ALARM.format(name="NewAlarm", condition="") + OUTPUTS),
    "alarm of releases": (
        "template.yaml",
        OUTPUTS,
        ALARM.format(name="ReleaseNew", condition="\n    Condition: HasRelease") + OUTPUTS,
    ),
    "period": ("infra/observability.yaml", "Period: 21600", "Period: 3600"),
    "default": ("template.yaml", "Default: 128\n", "Default: 256\n"),
    "default of an alarm": ("infra/observability.yaml", "Default: 10000\n", "Default: 20000\n"),
    "parameter": ("template.yaml", "\n  PublicUrl:\n", "\n  NewOne: {Type: String, Default: a}\n  PublicUrl:\n"),
    "pattern": ("template.yaml", "{1,61}[a-z0-9]$", "{1,62}[a-z0-9]$"),
    "timeout": ("template.yaml", "Timeout: 29", "Timeout: 30"),
    "condition": ("template.yaml", "!Equals [!Ref Tracing, Active]", "!Equals [!Ref Tracing, PassThrough]"),
    "rule": ("template.yaml", "are both given, or neither.", "are both given."),
    "output": ("template.yaml", OUTPUTS, f"{OUTPUTS}  NewOne: {{Value: !Ref HttpApi}}\n"),
    "resource": (
        "template.yaml",
        OUTPUTS,
        f"\n  NewOne: {{Type: AWS::SNS::Topic, Properties: {{DisplayName: a}}}}\n{OUTPUTS}",
    ),
    "field of the access log": ("template.yaml", '"path":"$context.path",', ""),
    "widget": ("infra/observability.yaml", '"title": "Refused"', '"title": "Denied"'),
}
IN_THE_MODULE = {
    "module": (
        "role.tf",
        'resource "aws_iam_role" ',
        'module "new" {\nsource = "./new"\n}\n\nresource "aws_iam_role" ',
    ),
    "variable of the environment": ("main.tf", "variables = {", 'variables = {\nSTILE_NEW = "a"'),
    "value of the environment": ("main.tf", '= "false"', '= "true"'),
    "action": ("role.tf", '["s3:GetObject"]', '["s3:GetObject", "s3:PutObject"]'),
    "resource of a statement": ("role.tf", '["${aws_cloudwatch_log_group.function.arn}:*"]', '["*"]'),
    "statement": (
        "role.tf",
        'document" "log" {',
        'document" "log" {\nstatement {\nsid = "New"\neffect = "Allow"\nactions = ["s3:*"]\nresources = ["*"]\n}\n',
    ),
    "policy": (
        "role.tf",
        'resource "aws_iam_role_policy" "log" {',
        'resource "aws_iam_policy" "new" {\npolicy = "{}"\nname = "a"\n}\nresource "aws_iam_role_policy" "log" {',
    ),
    "attached policy": ("role.tf", "= each.value", '= "arn:aws:iam::aws:policy/AdministratorAccess"'),
    "condition of a policy": ("role.tf", "count = local.has_secret_arns", "count = local.has_secrets"),
    "actor who may take the role": ("role.tf", "lambda.amazonaws.com", "ec2.amazonaws.com"),
    "statement of the bucket": ("bucket.tf", '"Deny"', '"Allow"'),
    "alarm": (
        "alarms.tf",
        'resource "aws_cloudwatch_dashboard"',
        'resource "aws_cloudwatch_metric_alarm" "new" {\nthreshold = 5\n}\nresource "aws_cloudwatch_dashboard"',
    ),
    "period": ("alarms.tf", "21600", "3600"),
    "default": ("variables.tf", "= 128\n", "= 256\n"),
    "default of an alarm": ("variables.tf", "= 10000\n", "= 20000\n"),
    "variable": ("variables.tf", 'variable "preload"', 'variable "new_one" {\ndefault = "a"\n}\nvariable "preload"'),
    "pattern": ("variables.tf", "{1,61}[a-z0-9]$", "{1,62}[a-z0-9]$"),
    "timeout": ("main.tf", "= 29", "= 30"),
    "condition": ("main.tf", 'var.tracing == "Active"', 'var.tracing == "PassThrough"'),
    "rule": ("variables.tf", "are both given, or neither.", "are both given."),
    "output": ("outputs.tf", 'output "api_id"', 'output "new_one" {\nvalue = 1\n}\noutput "api_id"'),
    "resource": (
        "main.tf",
        'resource "aws_apigatewayv2_api"',
        'resource "aws_sns_topic" "new" {\nname = "a"\n}\nresource "aws_apigatewayv2_api"',
    ),
    "field of the access log": ("main.tf", 'path              = "$context.path"', ""),
    "widget": ("alarms.tf", '"title": "Refused"', '"title": "Denied"'),
}


@pytest.mark.parametrize("what", IN_A_TEMPLATE)
def test_change_of_a_template_alone_is_seen(copy: Path, what: str) -> None:
    changed(copy, *IN_A_TEMPLATE[what])

    assert unlisted(copy)


@pytest.mark.parametrize("what", IN_THE_MODULE)
def test_change_of_the_module_alone_is_seen(copy: Path, what: str) -> None:
    name, old, new = IN_THE_MODULE[what]
    changed(copy, f"{MODULE}/{name}", old, new)

    assert unlisted(copy)


def changed(copy: Path, name: str, old: str, new: str) -> None:
    text = (copy / name).read_text("utf-8")
    assert old in text, old
    (copy / name).write_text(text.replace(old, new, 1), "utf-8")
