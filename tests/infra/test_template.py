import re
from typing import Any

import pytest

from handler.errors.infrastructure import SettingsError
from handler.settings import LOG_SUBJECTS, METRICS, read_settings
from tests.infra.cloudformation import read_template
from tests.infra.stack import Stack
from tests.infra.stack import statements as statements_of
from tests.support.moto import Moto

LOG_KEY = {"Fn::If": ["MakesLogKey", {"Ref": "LogKey"}, {"Ref": "LogKeyArn"}]}
STATE_KEY = {"Fn::If": ["MakesStateKey", {"Ref": "StateKey"}, {"Ref": "StateKeyArn"}]}
BUNDLE_LOCATION = {"Fn::Sub": "s3://${Storage.Outputs.BucketName}/${BundlePrefix}"}


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    return read_template("template.yaml")


def function_properties(template: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = template["Resources"]["StileFunction"]["Properties"]
    return properties


def statements() -> dict[str, dict[str, Any]]:
    """The statements of the function's role unless told, by their ``Sid``."""
    return {statement["Sid"]: statement for statement in statements_of(Stack("template.yaml"), "StileRole")}


def accepts(template: dict[str, Any], parameter: str, value: str) -> bool:
    pattern: str = template["Parameters"][parameter]["AllowedPattern"]
    return re.fullmatch(pattern, value) is not None


def test_the_function_runs_the_request_door_on_python_3_13_and_arm64_unless_told(template: dict[str, Any]) -> None:
    properties = function_properties(template)

    assert properties["Runtime"] == "python3.13"
    assert properties["Architectures"] == [{"Ref": "Architecture"}]
    assert template["Parameters"]["Architecture"]["Default"] == "arm64"
    assert properties["Handler"] == "handler.lambda_function.handler"
    assert properties["CodeUri"] == "."
    assert template["Resources"]["StileFunction"]["Metadata"]["BuildMethod"] == "makefile"


def test_the_function_gives_up_before_api_gateway_does(template: dict[str, Any]) -> None:
    assert function_properties(template)["Timeout"] == 29


def test_the_environment_names_the_settings_the_function_reads(template: dict[str, Any]) -> None:
    assert function_properties(template)["Environment"]["Variables"] == {
        "STILE_BUNDLES": BUNDLE_LOCATION,
        "STILE_PRELOAD": {"Ref": "Preload"},
        "STILE_CATALOG": {"Ref": "Catalog"},
        "STILE_REFRESH_S": {"Ref": "RefreshSeconds"},
        "STILE_MAX_STALE_S": {"Ref": "MaxStaleSeconds"},
        "STILE_CACHE_MB": {"Ref": "CacheMegabytes"},
        "STILE_CODE_MODULES": {"Ref": "CodeModules"},
        "STILE_PUBLIC_URL": {"Ref": "PublicUrl"},
        "STILE_ALLOWED_ORIGINS": {"Ref": "AllowedOrigins"},
        "STILE_PAGE": {"Ref": "Page"},
        "STILE_UPSTREAM_HOSTS": {"Ref": "UpstreamHosts"},
        "STILE_ALLOW_LOCAL_UPSTREAMS": "false",
        "STILE_SECRETS": {"Ref": "SecretsPrefix"},
        "STILE_SECRET_ARNS": {"Ref": "SecretArns"},
        "STILE_ENV_SECRETS": {"Ref": "EnvSecrets"},
        "STILE_LOG_KEY": LOG_KEY,
        "STILE_LOG_SUBJECT": {"Ref": "LogSubject"},
        "STILE_STATE_KEY": STATE_KEY,
        "STILE_METRICS": {"Ref": "Metrics"},
        "POWERTOOLS_LOG_LEVEL": {"Ref": "LogLevel"},
        "POWERTOOLS_SERVICE_NAME": "stile",
    }


def test_every_method_and_path_reaches_the_function() -> None:
    stack = Stack("template.yaml")
    ((path, methods),) = stack.properties("HttpApi")["DefinitionBody"]["paths"].items()
    ((method, route),) = methods.items()
    integration = route["x-amazon-apigateway-integration"]
    permission = stack.properties("StileFunctionAnyRequestPermission")

    assert (path, method, route["isDefaultRoute"]) == ("$default", "x-amazon-apigateway-any-method", True)
    assert (integration["type"], integration["payloadFormatVersion"]) == ("aws_proxy", "2.0")
    assert integration["uri"].endswith("/functions/StileFunction.Arn/invocations")
    assert (permission["FunctionName"], permission["Principal"]) == ("StileFunction", "apigateway.amazonaws.com")
    assert permission["SourceArn"].endswith(":HttpApi/*/*")


def test_the_api_is_throttled_and_its_access_log_holds_neither_headers_nor_query(
    template: dict[str, Any],
) -> None:
    api = template["Resources"]["HttpApi"]["Properties"]

    assert api["StageName"] == "$default"
    limits = Stack("template.yaml").properties("HttpApi")["DefaultRouteSettings"]
    assert limits == {"ThrottlingRateLimit": "40", "ThrottlingBurstLimit": "80"}
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
        "awsEndpointRequestId",
        "integrationErrorMessage",
    }


def test_the_api_authorizes_nobody_and_says_so(template: dict[str, Any]) -> None:
    assert template["Resources"]["HttpApi"]["Properties"]["Auth"] == {"EnableIamAuthorizer": False}


def test_the_function_may_read_bundles_and_its_keys_and_write_its_log_and_nothing_else_unless_told(
    template: dict[str, Any],
) -> None:
    assert function_properties(template)["Role"] == {"Fn::GetAtt": "StileRole.Arn"}
    role = template["Resources"]["StileRole"]["Properties"]
    none = {"Ref": "AWS::NoValue"}
    assert role["ManagedPolicyArns"] == {"Fn::If": ["HasManagedPolicies", {"Ref": "ManagedPolicyArns"}, none]}
    assert role["PermissionsBoundary"] == {"Fn::If": ["HasBoundary", {"Ref": "PermissionsBoundary"}, none]}
    assert [template["Parameters"][name]["Default"] for name in ("ManagedPolicyArns", "PermissionsBoundary")] == [
        "",
        "",
    ]
    assert statements() == {
        "ReadBundles": {
            "Sid": "ReadBundles",
            "Effect": "Allow",
            "Action": "s3:GetObject",
            "Resource": "Storage.Outputs.BucketArn/endpoints/*",
        },
        "TellMissingFromForbidden": {
            "Sid": "TellMissingFromForbidden",
            "Effect": "Allow",
            "Action": "s3:ListBucket",
            "Resource": "Storage.Outputs.BucketArn",
        },
        "ReadKeys": {
            "Sid": "ReadKeys",
            "Effect": "Allow",
            "Action": "secretsmanager:GetSecretValue",
            "Resource": ["LogKey", "StateKey"],
        },
        "WriteLog": {
            "Sid": "WriteLog",
            "Effect": "Allow",
            "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
            "Resource": "FunctionLog.Arn",
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


@pytest.mark.parametrize("log", ["FunctionLog", "AccessLog"])
def test_logs_are_kept_for_a_limited_time(template: dict[str, Any], log: str) -> None:
    assert template["Resources"][log]["Properties"]["RetentionInDays"] == {"Ref": "LogRetentionDays"}


@pytest.mark.parametrize("log", ["FunctionLog", "AccessLog"])
def test_logs_outlive_the_stack_and_are_not_in_the_way_of_the_next_one_of_its_name(
    template: dict[str, Any], log: str
) -> None:
    resource = template["Resources"][log]
    name, values = resource["Properties"]["LogGroupName"]["Fn::Sub"]

    assert (resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) == ("RetainExceptOnCreate", "Retain")
    assert name.endswith("/${AWS::StackName}-${Id}")
    assert "AWS::StackId" in str(values["Id"])


def test_the_function_writes_to_the_log_whose_retention_is_set(template: dict[str, Any]) -> None:
    assert function_properties(template)["LoggingConfig"] == {"LogGroup": {"Ref": "FunctionLog"}}


@pytest.mark.parametrize("prefix", ["endpoints", "prod/endpoints", "v1.2/a_b-c"])
def test_a_bundle_prefix_is_a_path_of_plain_names(template: dict[str, Any], prefix: str) -> None:
    assert accepts(template, "BundlePrefix", prefix)


@pytest.mark.parametrize("prefix", ["", "/endpoints", "endpoints/", "a//b", "*", "a/*", "a?", "${x}", "../a"])
def test_a_bundle_prefix_that_would_widen_the_role_is_refused(template: dict[str, Any], prefix: str) -> None:
    assert not accepts(template, "BundlePrefix", prefix)


@pytest.mark.parametrize("parameter", ["Preload", "Catalog"])
@pytest.mark.parametrize("endpoints", ["", "api/customers", "api/customers,api/orders"])
def test_preload_and_catalog_are_lists_of_endpoints(template: dict[str, Any], parameter: str, endpoints: str) -> None:
    assert accepts(template, parameter, endpoints)


@pytest.mark.parametrize("parameter", ["Preload", "Catalog"])
@pytest.mark.parametrize("endpoints", ["customers", "api/customers,", "api/customers, api/orders", "a/b/c"])
def test_something_else_is_not_preloaded_or_listed(template: dict[str, Any], parameter: str, endpoints: str) -> None:
    assert not accepts(template, parameter, endpoints)


def test_a_catalog_has_at_most_50_endpoints(template: dict[str, Any]) -> None:
    """The function refuses to start with more."""
    assert accepts(template, "Catalog", ",".join(f"api/a{number}" for number in range(50)))
    assert not accepts(template, "Catalog", ",".join(f"api/a{number}" for number in range(51)))


SETTINGS = {
    "PublicUrl": "STILE_PUBLIC_URL",
    "AllowedOrigins": "STILE_ALLOWED_ORIGINS",
    "UpstreamHosts": "STILE_UPSTREAM_HOSTS",
    "CodeModules": "STILE_CODE_MODULES",
    "SecretArns": "STILE_SECRET_ARNS",
    "EnvSecrets": "STILE_ENV_SECRETS",
    "LogKeyArn": "STILE_LOG_KEY",
    "StateKeyArn": "STILE_STATE_KEY",
}
KEYS = ("LogKeyArn", "StateKeyArn")
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
        ("CodeModules", ""),
        ("CodeModules", "shop_tools"),
        ("CodeModules", "acme.tools,shop_tools"),
        ("SecretArns", ""),
        ("SecretArns", SECRET_ARN),
        ("SecretArns", f"{SECRET_ARN},{SECRET_ARN.replace('COGNITO', 'ENTRA').replace('stile/', '')}"),
        ("SecretArns", SECRET_ARN.replace("aws", "aws-cn", 1).replace("eu-west-1", "cn-north-1")),
        ("SecretArns", SECRET_ARN.replace("aws", "aws-us-gov", 1).replace("eu-west-1", "us-gov-east-1")),
        *((key, SECRET_ARN) for key in KEYS),
        *((key, SECRET_ARN.replace("aws", "aws-cn", 1).replace("eu-west-1", "cn-north-1")) for key in KEYS),
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
        *((key, SECRET_ARN.replace("stile/COGNITO", "rds!db")) for key in KEYS),
        *((key, SECRET_ARN.replace("aws", "aws-iso", 1).replace("eu-west-1", "us-iso-east-1")) for key in KEYS),
        *((key, SECRET_ARN.replace("eu-west-1", "ireland")) for key in KEYS),
        ("EnvSecrets", "COGNITO"),
        ("EnvSecrets", "shop/*/COGNITO"),
    ],
)
def test_what_is_no_setting_is_no_parameter(template: dict[str, Any], parameter: str, value: str) -> None:
    assert not accepts(template, parameter, value)
    with pytest.raises(SettingsError):
        read_settings({"STILE_BUNDLES": "folder", SETTINGS[parameter]: value})


ARN = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:"


@pytest.mark.parametrize("key", ["LogKey", "StateKey"])
def test_the_stack_makes_a_key_unless_it_is_given_one(template: dict[str, Any], key: str) -> None:
    resource = template["Resources"][key]

    assert (resource["Type"], resource["Condition"]) == ("AWS::SecretsManager::Secret", f"Makes{key}")
    assert template["Conditions"][f"Makes{key}"] == {"Fn::Equals": [{"Ref": f"{key}Arn"}, ""]}
    assert resource["Properties"]["GenerateSecretString"] == {"PasswordLength": 48, "ExcludePunctuation": True}
    assert "Name" not in resource["Properties"]  # a stack that is made again would meet it


@pytest.mark.parametrize("key", ["LogKey", "StateKey"])
def test_keys_that_are_generated_are_settings(template: dict[str, Any], moto: Moto, key: str) -> None:
    asked = template["Resources"][key]["Properties"]["GenerateSecretString"]
    with moto.unchecked():
        made = moto.client("secretsmanager").get_random_password(**asked)["RandomPassword"]

    assert re.fullmatch("[A-Za-z0-9]{48}", made)
    read = read_settings({"STILE_BUNDLES": "folder", "STILE_LOG_KEY": made, "STILE_STATE_KEY": made})
    assert (read.log_key, read.state_keys) == (made, (made,))


def test_the_key_of_a_log_is_kept_as_the_log_is(template: dict[str, Any]) -> None:
    policies = {key: template["Resources"][key]["DeletionPolicy"] for key in ("LogKey", "StateKey")}

    assert policies == {"LogKey": "RetainExceptOnCreate", "StateKey": "Delete"}


@pytest.mark.parametrize("parameter", ["LogKeyArn", "StateKeyArn"])
def test_a_key_of_ones_own_is_one_secret(template: dict[str, Any], parameter: str) -> None:
    for arn in ("", f"{ARN}stile/log-AbCdEf", f"{ARN}stile-log_2-a1B2c3"):
        assert accepts(template, parameter, arn), arn
    for other in ("k" * 32, f"{ARN}*", f"{ARN}stile/*-AbCdEf", f"{ARN}stile", ARN, f"{ARN}a-AbCdEf,{ARN}b-AbCdEf"):
        assert not accepts(template, parameter, other), other


@pytest.mark.parametrize("bucket", ["stile-storage-1-bundlebucket-a1b2c3", "a.b.c"])
def test_a_bucket_that_exists_is_given_by_its_name(template: dict[str, Any], bucket: str) -> None:
    assert accepts(template, "BucketName", bucket)
    assert accepts(template, "BucketName", "")


@pytest.mark.parametrize("bucket", ["*", "a*b", "s3://bucket", "bucket/prefix", "${x}", "Upper", "a?b", "-a"])
def test_a_bucket_name_that_would_widen_the_role_is_refused(template: dict[str, Any], bucket: str) -> None:
    assert not accepts(template, "BucketName", bucket)


def test_no_parameter_is_asked_for_again_and_again(template: dict[str, Any]) -> None:
    """`sam deploy --guided` takes Enter for a default, and for nothing where a value is hidden."""
    for name, parameter in template["Parameters"].items():
        assert "Default" in parameter, name
        assert "NoEcho" not in parameter, name


@pytest.mark.parametrize(
    ("parameter", "variable", "field"),
    [("MaxStaleSeconds", "STILE_MAX_STALE_S", "max_stale_s"), ("CacheMegabytes", "STILE_CACHE_MB", "cache_mb")],
)
def test_a_number_is_a_setting_from_its_least_to_its_greatest(
    template: dict[str, Any], parameter: str, variable: str, field: str
) -> None:
    limits = template["Parameters"][parameter]

    assert limits["Default"] == getattr(read_settings({"STILE_BUNDLES": "folder"}), field)
    for value in (limits["MinValue"], limits["MaxValue"]):
        assert getattr(read_settings({"STILE_BUNDLES": "folder", variable: str(value)}), field) == value


def test_who_is_logged_is_a_setting(template: dict[str, Any]) -> None:
    assert template["Parameters"]["LogSubject"]["AllowedValues"] == [*LOG_SUBJECTS]


def test_metrics_are_a_setting(template: dict[str, Any]) -> None:
    assert {*template["Parameters"]["Metrics"]["AllowedValues"]} == {*METRICS}


def test_every_parameter_and_output_says_what_it_is(template: dict[str, Any]) -> None:
    for entry in [*template["Parameters"].values(), *template["Outputs"].values()]:
        assert entry["Description"].endswith(".")


def test_outputs_name_what_clients_and_publishers_need(template: dict[str, Any]) -> None:
    outputs = template["Outputs"]

    assert set(outputs) == {
        "ApiUrl",
        "McpUrlPattern",
        "ApiId",
        "BundleLocation",
        "BundleFormat",
        "FunctionName",
        "FunctionArn",
        "ServedRelease",
        "ServedVersion",
        "LogGroup",
        "RoleArn",
    }
    assert (
        outputs["McpUrlPattern"]["Value"]["Fn::Sub"] == outputs["ApiUrl"]["Value"]["Fn::Sub"] + "/{folder}/{name}/mcp"
    )
    assert outputs["BundleLocation"]["Value"] == BUNDLE_LOCATION
