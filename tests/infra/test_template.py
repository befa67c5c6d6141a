import re
from typing import Any

import pytest

from handler.errors import SettingsError
from handler.settings import LOG_SUBJECTS, read_settings
from tests.infra.cloudformation import read_template

BUCKET_ARN = {"Fn::GetAtt": "Storage.Outputs.BucketArn"}
BUNDLE_LOCATION = {"Fn::Sub": "s3://${Storage.Outputs.BucketName}/${BundlePrefix}"}


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    return read_template("template.yaml")


def function_properties(template: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = template["Resources"]["StileFunction"]["Properties"]
    return properties


def statements(template: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The statements of the function's role, by their ``Sid``."""
    policies = template["Resources"]["StileRole"]["Properties"]["Policies"]
    return {statement["Sid"]: statement for policy in policies for statement in policy["PolicyDocument"]["Statement"]}


def accepts(template: dict[str, Any], parameter: str, value: str) -> bool:
    pattern: str = template["Parameters"][parameter]["AllowedPattern"]
    return re.fullmatch(pattern, value) is not None


def test_the_function_runs_the_request_door_on_python_3_13_and_arm64(template: dict[str, Any]) -> None:
    properties = function_properties(template)

    assert properties["Runtime"] == "python3.13"
    assert properties["Architectures"] == ["arm64"]
    assert properties["Handler"] == "handler.lambda_function.handler"
    assert properties["CodeUri"] == "."
    assert template["Resources"]["StileFunction"]["Metadata"] == {"BuildMethod": "makefile"}


def test_the_function_gives_up_before_api_gateway_does(template: dict[str, Any]) -> None:
    assert function_properties(template)["Timeout"] == 29


def test_the_environment_names_the_settings_the_function_reads(template: dict[str, Any]) -> None:
    assert function_properties(template)["Environment"]["Variables"] == {
        "STILE_BUNDLES": BUNDLE_LOCATION,
        "STILE_PRELOAD": {"Ref": "Preload"},
        "STILE_REFRESH_S": {"Ref": "RefreshSeconds"},
        "STILE_CODE_MODULES": {"Ref": "CodeModules"},
        "STILE_PUBLIC_URL": {"Ref": "PublicUrl"},
        "STILE_ALLOWED_ORIGINS": {"Ref": "AllowedOrigins"},
        "STILE_UPSTREAM_HOSTS": {"Ref": "UpstreamHosts"},
        "STILE_ALLOW_LOCAL_UPSTREAMS": "false",
        "STILE_SECRETS": {"Ref": "SecretsPrefix"},
        "STILE_SECRET_ARNS": {"Ref": "SecretArns"},
        "STILE_ENV_SECRETS": {"Ref": "EnvSecrets"},
        "STILE_LOG_KEY": {"Ref": "LogKey"},
        "STILE_LOG_SUBJECT": {"Ref": "LogSubject"},
        "STILE_STATE_KEY": {"Ref": "StateKey"},
        "POWERTOOLS_LOG_LEVEL": {"Ref": "LogLevel"},
        "POWERTOOLS_SERVICE_NAME": "stile",
    }


def test_every_method_and_path_reaches_the_function(template: dict[str, Any]) -> None:
    events = function_properties(template)["Events"]

    assert [event["Type"] for event in events.values()] == ["HttpApi"]
    assert events["AnyRequest"]["Properties"] == {"ApiId": {"Ref": "HttpApi"}, "PayloadFormatVersion": "2.0"}


def test_the_api_is_throttled_and_its_access_log_holds_neither_headers_nor_query(
    template: dict[str, Any],
) -> None:
    api = template["Resources"]["HttpApi"]["Properties"]

    assert api["StageName"] == "$default"
    assert api["DefaultRouteSettings"]["ThrottlingRateLimit"] > 0
    assert api["DefaultRouteSettings"]["ThrottlingBurstLimit"] > 0
    assert set(re.findall(r"\$context\.([\w.]+)", api["AccessLogSettings"]["Format"])) == {
        "requestTimeEpoch",
        "requestId",
        "identity.sourceIp",
        "httpMethod",
        "path",
        "status",
        "responseLength",
        "responseLatency",
        "integrationLatency",
        "integrationErrorMessage",
    }


def test_the_function_may_read_bundles_and_write_its_log_and_nothing_else(template: dict[str, Any]) -> None:
    assert function_properties(template)["Role"] == {"Fn::GetAtt": "StileRole.Arn"}
    assert "ManagedPolicyArns" not in template["Resources"]["StileRole"]["Properties"]
    assert statements(template) == {
        "ReadBundles": {
            "Sid": "ReadBundles",
            "Effect": "Allow",
            "Action": "s3:GetObject",
            "Resource": {"Fn::Sub": "${Storage.Outputs.BucketArn}/${BundlePrefix}/*"},
        },
        "TellMissingFromForbidden": {
            "Sid": "TellMissingFromForbidden",
            "Effect": "Allow",
            "Action": "s3:ListBucket",
            "Resource": BUCKET_ARN,
        },
        "WriteLog": {
            "Sid": "WriteLog",
            "Effect": "Allow",
            "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
            "Resource": {"Fn::GetAtt": "FunctionLog.Arn"},
        },
    }


def secrets_policy(template: dict[str, Any]) -> list[dict[str, Any]]:
    """The statements of the policy on secrets."""
    resource = template["Resources"]["SecretsPolicy"]
    assert (resource["Type"], resource["Condition"]) == ("AWS::IAM::RolePolicy", "HasSecrets")
    assert resource["Properties"]["RoleName"] == {"Ref": "StileRole"}
    found: list[dict[str, Any]] = resource["Properties"]["PolicyDocument"]["Statement"]
    return found


def test_the_function_may_read_secrets_below_the_prefix_and_only_with_one(template: dict[str, Any]) -> None:
    account = "${AWS::Region}:${AWS::AccountId}"

    assert template["Conditions"]["HasSecrets"] == {"Fn::Not": [{"Fn::Equals": [{"Ref": "SecretsPrefix"}, ""]}]}
    assert template["Parameters"]["SecretsPrefix"]["Default"] == ""
    assert [(each["Effect"], each["Action"], each["Resource"]["Fn::Sub"]) for each in secrets_policy(template)] == [
        (
            "Allow",
            "secretsmanager:GetSecretValue",
            f"arn:${{AWS::Partition}}:secretsmanager:{account}:secret:${{SecretsPrefix}}/*",
        ),
        ("Allow", "ssm:GetParameter", f"arn:${{AWS::Partition}}:ssm:{account}:parameter/${{SecretsPrefix}}/*"),
    ]


def test_the_function_may_read_exactly_the_secrets_that_are_named_and_only_with_some(template: dict[str, Any]) -> None:
    resource = template["Resources"]["SecretArnsPolicy"]

    assert template["Conditions"]["HasSecretArns"] == {"Fn::Not": [{"Fn::Equals": [{"Ref": "SecretArns"}, ""]}]}
    assert (resource["Type"], resource["Condition"]) == ("AWS::IAM::RolePolicy", "HasSecretArns")
    assert resource["Properties"]["RoleName"] == {"Ref": "StileRole"}
    (statement,) = resource["Properties"]["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Action"]) == ("Allow", "secretsmanager:GetSecretValue")
    assert statement["Resource"] == {"Fn::Split": [",", {"Ref": "SecretArns"}]}


@pytest.mark.parametrize("prefix", ["stile", "prod/stile", "a_b-c"])
def test_a_secrets_prefix_is_one_that_the_function_takes(template: dict[str, Any], prefix: str) -> None:
    assert accepts(template, "SecretsPrefix", prefix)
    assert read_settings({"STILE_BUNDLES": "a", "STILE_SECRETS": prefix}).secrets_prefix == prefix


@pytest.mark.parametrize("prefix", ["/stile", "stile/", "a//b", "*", "a/*", "a?", "${x}", "../a", "a.b"])
def test_a_secrets_prefix_that_would_widen_the_role_is_refused(template: dict[str, Any], prefix: str) -> None:
    assert not accepts(template, "SecretsPrefix", prefix)
    with pytest.raises(SettingsError, match="STILE_SECRETS"):
        read_settings({"STILE_BUNDLES": "a", "STILE_SECRETS": prefix})


def test_no_action_has_a_wildcard(template: dict[str, Any]) -> None:
    actions = [statement["Action"] for statement in [*statements(template).values(), *secrets_policy(template)]]

    assert "*" not in str(actions)


@pytest.mark.parametrize("log", ["FunctionLog", "AccessLog"])
def test_logs_are_kept_for_a_limited_time(template: dict[str, Any], log: str) -> None:
    assert template["Resources"][log]["Properties"]["RetentionInDays"] == {"Ref": "LogRetentionDays"}


def test_the_function_writes_to_the_log_whose_retention_is_set(template: dict[str, Any]) -> None:
    assert function_properties(template)["LoggingConfig"] == {"LogGroup": {"Ref": "FunctionLog"}}


@pytest.mark.parametrize("prefix", ["endpoints", "prod/endpoints", "v1.2/a_b-c"])
def test_a_bundle_prefix_is_a_path_of_plain_names(template: dict[str, Any], prefix: str) -> None:
    assert accepts(template, "BundlePrefix", prefix)


@pytest.mark.parametrize("prefix", ["", "/endpoints", "endpoints/", "a//b", "*", "a/*", "a?", "${x}", "../a"])
def test_a_bundle_prefix_that_would_widen_the_role_is_refused(template: dict[str, Any], prefix: str) -> None:
    assert not accepts(template, "BundlePrefix", prefix)


@pytest.mark.parametrize("endpoints", ["", "api/customers", "api/customers,api/orders"])
def test_preload_is_a_list_of_endpoints(template: dict[str, Any], endpoints: str) -> None:
    assert accepts(template, "Preload", endpoints)


@pytest.mark.parametrize("endpoints", ["customers", "api/customers,", "api/customers, api/orders", "a/b/c"])
def test_preload_of_something_else_is_refused(template: dict[str, Any], endpoints: str) -> None:
    assert not accepts(template, "Preload", endpoints)


SETTINGS = {
    "PublicUrl": "STILE_PUBLIC_URL",
    "AllowedOrigins": "STILE_ALLOWED_ORIGINS",
    "UpstreamHosts": "STILE_UPSTREAM_HOSTS",
    "LogKey": "STILE_LOG_KEY",
    "StateKey": "STILE_STATE_KEY",
    "CodeModules": "STILE_CODE_MODULES",
    "SecretArns": "STILE_SECRET_ARNS",
    "EnvSecrets": "STILE_ENV_SECRETS",
}
SECRET_ARN = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:stile/COGNITO-AbC123"


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("PublicUrl", ""),
        ("PublicUrl", "https://mcp.example.com"),
        ("PublicUrl", "https://example.com/mcp/v1"),
        ("AllowedOrigins", ""),
        ("AllowedOrigins", "*"),
        ("AllowedOrigins", "https://a.example,http://localhost:3000"),
        ("UpstreamHosts", ""),
        ("UpstreamHosts", "api.example.com"),
        ("UpstreamHosts", "api.example.com,*.internal.example.com"),
        ("LogKey", ""),
        ("LogKey", "k" * 32),
        ("StateKey", ""),
        ("StateKey", "k" * 32),
        ("StateKey", f"{'n' * 32},{'o' * 40}"),
        ("CodeModules", ""),
        ("CodeModules", "shop_tools"),
        ("CodeModules", "acme.tools,shop_tools"),
        ("SecretArns", ""),
        ("SecretArns", SECRET_ARN),
        ("SecretArns", f"{SECRET_ARN},{SECRET_ARN.replace('COGNITO', 'ENTRA').replace('stile/', '')}"),
        ("SecretArns", SECRET_ARN.replace("aws", "aws-cn", 1).replace("eu-west-1", "cn-north-1")),
        ("SecretArns", SECRET_ARN.replace("aws", "aws-us-gov", 1).replace("eu-west-1", "us-gov-east-1")),
        ("EnvSecrets", ""),
        ("EnvSecrets", "shop/orders/COGNITO,shop/returns/COGNITO"),
    ],
)
def test_what_a_parameter_accepts_is_a_setting(template: dict[str, Any], parameter: str, value: str) -> None:
    assert accepts(template, parameter, value)
    read_settings({"STILE_BUNDLES": "folder", SETTINGS[parameter]: value})


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("PublicUrl", "mcp.example.com"),
        ("PublicUrl", "https://mcp.example.com?a"),
        ("PublicUrl", "https://mcp.example.com/#a"),
        ("AllowedOrigins", "a.example"),
        ("AllowedOrigins", "https://a.example/"),
        ("AllowedOrigins", "https://*.example"),
        ("AllowedOrigins", "https://a.example,b"),
        ("UpstreamHosts", "https://api.example.com"),
        ("UpstreamHosts", "*"),
        ("UpstreamHosts", "api.*.com"),
        ("LogKey", "k" * 31),
        ("StateKey", "k" * 31),
        ("StateKey", f"{'n' * 32},{'o' * 31}"),
        ("StateKey", ",".join(["k" * 32] * 3)),
        ("CodeModules", "shop-tools"),
        ("CodeModules", "acme..tools"),
        ("CodeModules", "acme tools"),
        ("SecretArns", "s3cret"),
        ("SecretArns", "stile/COGNITO"),
        ("SecretArns", SECRET_ARN.removesuffix("-AbC123")),
        ("SecretArns", SECRET_ARN.replace("COGNITO", "*")),
        ("SecretArns", SECRET_ARN.replace("COGNITO", "a.b")),
        ("SecretArns", SECRET_ARN.replace("AbC123", "??????")),
        ("SecretArns", SECRET_ARN.replace("123456789012", "*")),
        ("SecretArns", SECRET_ARN.replace("secretsmanager", "ssm")),
        ("SecretArns", f"{SECRET_ARN}:COGNITO::"),
        ("EnvSecrets", "COGNITO"),
        ("EnvSecrets", "shop/*/COGNITO"),
    ],
)
def test_what_is_no_setting_is_no_parameter(template: dict[str, Any], parameter: str, value: str) -> None:
    assert not accepts(template, parameter, value)
    with pytest.raises(SettingsError):
        read_settings({"STILE_BUNDLES": "folder", SETTINGS[parameter]: value})


def test_keys_are_shown_to_nobody(template: dict[str, Any]) -> None:
    assert template["Parameters"]["LogKey"]["NoEcho"] is True
    assert template["Parameters"]["StateKey"]["NoEcho"] is True
    assert template["Parameters"]["LogSubject"]["AllowedValues"] == [*LOG_SUBJECTS]


def test_every_parameter_and_output_says_what_it_is(template: dict[str, Any]) -> None:
    for entry in [*template["Parameters"].values(), *template["Outputs"].values()]:
        assert entry["Description"].endswith(".")


def test_outputs_name_what_clients_and_publishers_need(template: dict[str, Any]) -> None:
    outputs = template["Outputs"]

    assert set(outputs) == {"ApiUrl", "McpUrlPattern", "BundleLocation", "FunctionName"}
    assert (
        outputs["McpUrlPattern"]["Value"]["Fn::Sub"] == outputs["ApiUrl"]["Value"]["Fn::Sub"] + "/{folder}/{name}/mcp"
    )
    assert outputs["BundleLocation"]["Value"] == BUNDLE_LOCATION
