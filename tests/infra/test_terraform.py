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
HOST = re.escape(r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$")
VENDED_LOGS = r"/aws/vendedlogs/apigateway/\$\{var\.name\}"
LISTED = {
    "The module has no releases: CloudFormation alone lets CodeDeploy move an alias while a stack is updated.": (
        r"Release(Alias|Application|Errors|Failures|Group|Role|Unserved|Version) = - not .*",
        r'condition\.has_release = - not var\.release != ""',
        r"condition\.provisions_concurrency = - not var\.provisioned_concurrency != 0",
        r'condition\.uses_snap_start = - not var\.snap_start == "on"',
        r"rule\.(provisioned_concurrency|snap_start) .* = - not .*",
        r"variable\.(canary|provisioned_concurrency|release|snap_start)\.(accepts .* = -|type = - not (number|string))",
        r'variable\.(canary|provisioned_concurrency|release|snap_start)\.default = - not ("Canary.*|0|""|"off")',
    ),
    "One module has all, where CloudFormation has stacks that are told names of each other.": (
        r'Storage\.template_url = - not "infra/storage\.yaml"',
        r"Storage\.parameters\.bucket_name = - not var\.bucket_name",
        r"Storage\.parameters\.code_modules = - not var\.code_modules",
        r"Storage\.parameters\.extras = - not var\.extras",
        r"Storage\.parameters\.kms_key_arn = - not var\.kms_key_arn",
        r"variable\.(api_id|function_name)\.(accepts .* = -|type = - not string)",
    ),
    "The domain is a part of the module, which domain_name turns on.": (
        r'condition\.has_domain = var\.domain_name != ""',
        r'variable\.domain_name\.default = ""',
        rf'variable\.domain_name\.accepts can\(regex\("{HOST}", var\.domain_name\)\) = -',
        rf'variable\.domain_name\.accepts can\(regex\("\^\$\|{HOST}", var\.domain_name\)\) = ',
        (
            r'rule\.certificate_arn names .* = var\.domain_name == "" \|\| var\.certificate_arn != "" \|\| '
            r'var\.hosted_zone_id != "" not var\.certificate_arn != "" \|\| var\.hosted_zone_id != ""'
        ),
    ),
    "Terraform has no name of a stack, so it asks for one, and Terraform's resources take their names from it.": (
        r'variable\.name\.(accepts .* = |default = "stile"|type = string)',
        rf'aws_cloudwatch_log_group\.access\.name = "({VENDED_LOGS})" not "\1-\$\{{.*"AWS::StackId".*',
        r'aws_cloudwatch_log_group\.function\.name = "(/aws/lambda/\$\{var\.name\})" not "\1-\$\{.*"AWS::StackId".*',
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
        r'aws_lambda_function\.stile\.(code_uri = - not "\."|filename = var\.zip)',
        r"aws_lambda_function\.stile\.source_code_hash = filebase64sha256\(var\.zip\)",
    ),
    "The format that Lambda has by itself, which Terraform asks for.": (
        r'aws_lambda_function\.stile\.logging_config\.log_format = "Text"',
    ),
    "A document of OpenAPI makes the routes of a stack, and resources make those of the module.": (
        r"aws_apigatewayv2_api\.stile\.auth\.enable_iam_authorizer = - not false",
        r'aws_apigatewayv2_api\.stile\.definition_body\.(info\.version = - not "1\.0"|openapi = - not "3\.0\.1")',
        r"aws_apigatewayv2_api\.stile\.definition_body\.paths\.\$default\.[a-z-]*\.is_default_route = - not true",
        r'aws_apigatewayv2_api\.stile\.protocol_type = "HTTP"',
        r"aws_apigatewayv2_(integration\.function|route\.any|stage\.default)\.api_id = aws_apigatewayv2_api\.stile\.id",
        r'aws_apigatewayv2_integration\.function\.integration_type = "AWS_PROXY" not "aws_proxy"',
        (
            r"aws_apigatewayv2_integration\.function\.integration_uri = aws_lambda_function\.stile\.invoke_arn not "
            r'"[^"]*:path/2015-03-31/functions/\$\{aws_lambda_function\.stile\.arn\}/invocations"'
        ),
        r'aws_apigatewayv2_route\.any\.route_key = "\$default"',
        r'aws_apigatewayv2_route\.any\.target = "integrations/\$\{aws_apigatewayv2_integration\.function\.id\}"',
        r"aws_apigatewayv2_stage\.default\.access_log_settings\.format = jsonencode\(local\.access_log\)",
        r"aws_apigatewayv2_stage\.default\.auto_deploy = true",
    ),
    "Terraform attaches policies one by one, and none of an empty list.": (
        (
            r"aws_iam_role\.function\.managed_policy_arns = - not "
            r"local\.has_managed_policies \? var\.managed_policy_arns : null"
        ),
        r"aws_iam_role_policy_attachment\.managed\.count = length\(var\.managed_policy_arns\)",
        r"aws_iam_role_policy_attachment\.managed\.policy_arn = var\.managed_policy_arns\[count\.index\]",
        r"aws_iam_role_policy_attachment\.managed\.role = aws_iam_role\.function\.name",
        r"condition\.has_managed_policies = - not length\(var\.managed_policy_arns\) != 0",
    ),
    "Terraform makes at once what does not refer to each other, so the module says what has to come first.": (
        r"aws_acm_certificate\.domain\.lifecycle\.create_before_destroy = true",
        r"aws_apigatewayv2_api_mapping\.domain\.depends_on = \[aws_apigatewayv2_stage\.default\]",
        r"aws_lambda_function\.stile\.depends_on = \[aws_iam_role_policy\.network\]",
        r"aws_s3_bucket_lifecycle_configuration\.bundles\.depends_on = \[aws_s3_bucket_versioning\.bundles\]",
        r"aws_s3_bucket_policy\.bundles\.depends_on = \[aws_s3_bucket_public_access_block\.bundles\]",
    ),
    "Properties of a bucket and the subscription of a topic are resources in Terraform.": (
        rf"aws_s3_bucket_({OF_THE_BUCKET})\.bundles\.bucket = aws_s3_bucket\.bundles\[0\]\.bucket",
        rf"aws_s3_bucket_({OF_THE_BUCKET})\.bundles\.count = local\.makes_bucket \? 1 : 0",
        r"aws_sns_topic_subscription\.alarms\.count = local\.makes_topic \? 1 : 0",
        r"aws_sns_topic_subscription\.alarms\.topic_arn = aws_sns_topic\.alarms\[0\]\.arn",
    ),
    "Terraform cannot leave both behind: it does not delete a bucket with endpoints, and a key can be restored.": (
        r"aws_s3_bucket_policy\.bundles\.kept = - not true",
        r"aws_secretsmanager_secret\.log_key\.kept = - not true",
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
        (
            r"aws_(acm_certificate_validation\.domain|route53_record\.validation)\.count = "
            r"local\.has_domain && local\.makes_certificate \? 1 : 0"
        ),
        r"aws_route53_record\.validation\.(domain_name = - not var\.domain_name|allow_overwrite = true|ttl = 300)",
        r"aws_route53_record\.validation\.(hosted_zone_id = - not var\.hosted_zone_id|zone_id = var\.hosted_zone_id)",
        (
            r"aws_route53_record\.validation\.(name|records|type) = "
            r"\[?tolist\(aws_acm_certificate\.domain\[0\]\.domain_validation_options\)\[0\]\.resource_record_\w+\]?"
        ),
        r"aws_acm_certificate_validation\.domain\.certificate_arn = aws_acm_certificate\.domain\[0\]\.arn",
        r"aws_acm_certificate_validation\.domain\.\w+_fqdns = \[aws_route53_record\.validation\[0\].fqdn]",
        r"aws_route53_record\.domain\.alias\.evaluate_target_health = false",
    ),
}
"""Reasons -> the differences that they explain: a place, the module's expression or "-", and that of the templates."""


def differences(root: Path) -> list[str]:
    template, module = Template(root).facts(), Module(root / MODULE).facts()
    return [
        f"{place} = {module.get(place, '-')}" + (f" not {template[place]}" if template.get(place) else "")
        for place in sorted(template.keys() | module.keys())
        if template.get(place) != module.get(place)
    ]


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


def test_no_listed_difference_is_gone() -> None:
    """One pattern stands for several differences, such as the names of all alarms."""
    assert len(listed_and_others()) == 139


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
    "condition of a rule": (
        "template.yaml",
        "!And [Fn::Contains: [!Ref SubnetIds",
        "!Or [Fn::Contains: [!Ref SubnetIds",
    ),
    "condition of a rule of alarms": (
        "infra/observability.yaml",
        '!Or [!Equals [!Ref TopicArn, ""]',
        "!And [!Equals [a, a]",
    ),
    "values that another template refuses": ("infra/observability.yaml", 'endpoint, "on", "off"]', 'endpoint, "on"]'),
    "key of a parameter": ("template.yaml", "  PublicUrl:\n", "  PublicUrl:\n    NoEcho: true\n"),
    "default of a list": (
        "template.yaml",
        '  SubnetIds:\n    Type: CommaDelimitedList\n    Default: ""',
        "  SubnetIds:\n    Type: CommaDelimitedList\n    Default: subnet-01234567",
    ),
    "parameter of the nested stack": ("template.yaml", "KmsKeyArn: !Ref KmsKeyArn\n", "KmsKeyArn: !Ref LogKeyArn\n"),
    "authorizer": ("template.yaml", "EnableIamAuthorizer: false", "EnableIamAuthorizer: true"),
    "route": ("template.yaml", "        paths:\n", "        paths:\n          /new: {get: {isDefaultRoute: false}}\n"),
    "function that a route calls": ("template.yaml", "functions/${StileFunction.Arn}/inv", "functions/other/inv"),
    "name of a log": ("template.yaml", "- /aws/lambda/${AWS::StackName}", "- /aws/new/${AWS::StackName}"),
    "second actor who may take the role": (
        "template.yaml",
        "          - Effect: Allow\n            Principal: {Service: lambda",
        (
            "          - {Effect: Allow, Principal: {AWS: '*'}, Action: sts:AssumeRole}\n"
            "          - Effect: Allow\n            Principal: {Service: lambda"
        ),
    ),
    "second condition of a statement": (
        "infra/storage.yaml",
        'Bool: {"aws:SecureTransport": "false"}',
        'Bool: {"aws:ViaAWSService": "false", "aws:SecureTransport": "false"}',
    ),
    "second subscription": (
        "infra/observability.yaml",
        "      Subscription:\n",
        "      Subscription:\n        - {Protocol: sms, Endpoint: !Ref Email}\n",
    ),
    "version of a policy": (
        "template.yaml",
        'PolicyName: log\n          PolicyDocument:\n            Version: "2012-10-17"',
        'PolicyName: log\n          PolicyDocument:\n            Version: "2008-10-17"',
    ),
    "condition of releases": ("template.yaml", "HasRelease: !Not [!Equals [", "HasRelease: !Or [!Equals ["),
    "condition that the module does not have": (
        "template.yaml",
        '!Not [!Equals [!Join ["", !Ref Managed',
        '!Not [!Equals [!Join [",", !Ref Managed',
    ),
    "resource that waits": ("template.yaml", "  FunctionLog:\n", "  FunctionLog:\n    DependsOn: HttpApi\n"),
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
    "attached policy": (
        "role.tf",
        "= var.managed_policy_arns[count.index]",
        '= "arn:aws:iam::aws:policy/AdministratorAccess"',
    ),
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
    "condition of a rule": ("variables.tf", '= var.topic_arn == "" || var.email == ""', '= var.topic_arn == ""'),
    "second actor who may take the role": (
        "role.tf",
        "    principals {\n",
        '    principals {\n      type        = "AWS"\n      identifiers = ["*"]\n    }\n\n    principals {\n',
    ),
    "statements from elsewhere": (
        "role.tf",
        'document" "log" {',
        'document" "log" {\nsource_policy_documents = [var.zip]\n',
    ),
    "changes that are not applied": (
        "main.tf",
        "  # Lambda refuses",
        "  lifecycle {\n    ignore_changes = [environment]\n  }\n\n  # Lambda refuses",
    ),
    "order": ("main.tf", "depends_on = [aws_iam_role_policy.network]", "depends_on = [aws_iam_role_policy.key]"),
    "secret that is read": (
        "main.tf",
        'resource "aws_apigatewayv2_api"',
        'data "aws_secretsmanager_secret_version" "new" {\nsecret_id = "a"\n}\nresource "aws_apigatewayv2_api"',
    ),
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
