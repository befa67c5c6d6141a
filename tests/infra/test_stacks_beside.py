"""The stacks beside the function's: a domain, a web ACL, a way out of a VPC, and a door for callers that AWS knows."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.infra.cloudformation import ROOT, read_template
from tests.infra.stack import Stack

TEMPLATES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "infra").glob("*.yaml"))
BESIDE = [name for name in TEMPLATES if name != "infra/storage.yaml"]
CERTIFICATE = "arn:aws:acm:eu-central-1:123456789012:certificate/0a1b2c3d-0000"
FUNCTION = "arn:aws:lambda:eu-central-1:123456789012:function:stile-StileFunction-a1"
STAGE = "arn:aws:apigateway:eu-central-1::/restapis/a1b2c3d4e5/stages/prod"
NETWORK = {"VpcId": "vpc-0a1b2c3d", "RouteTableIds": "rtb-0a1b2c3d"}


def test_templates_are_those_that_the_tests_know() -> None:
    names = ("agentcore", "domain", "iam_door", "network", "observability", "publisher", "storage", "waf")

    assert [f"infra/{name}.yaml" for name in names] == TEMPLATES


@pytest.mark.parametrize("name", BESIDE)
def test_every_parameter_and_output_says_what_it_is(name: str) -> None:
    template = read_template(name)

    for entry in [*template["Parameters"].values(), *template["Outputs"].values()]:
        assert entry["Description"].endswith(".")
    for parameter, entry in template["Parameters"].items():
        assert "NoEcho" not in entry, parameter
        assert ("AllowedPattern" in entry) <= ("ConstraintDescription" in entry or "MaxLength" in entry), parameter


@pytest.mark.parametrize("name", BESIDE)
def test_outputs_that_parameters_name_are_outputs(name: str) -> None:
    for parameter in read_template(name)["Parameters"].values():
        for output, place in re.findall(r"output (\w+) of (the function's|infra/\w+\.yaml)", parameter["Description"]):
            other = place if place.startswith("infra/") else "template.yaml"
            assert output in read_template(other)["Outputs"], parameter


# The domain


def domain(**parameters: str) -> Stack:
    return Stack("infra/domain.yaml", {"DomainName": "mcp.example.com", "ApiId": "a1b2c3d4e5", **parameters})


def test_the_domain_maps_the_root_where_oauth_clients_look_for_metadata() -> None:
    mapping = domain(CertificateArn=CERTIFICATE).properties("Mapping")

    assert mapping == {"DomainName": "Domain", "ApiId": "a1b2c3d4e5", "Stage": "$default"}  # no ApiMappingKey


def test_a_certificate_is_the_one_that_is_named_or_one_that_the_zone_validates() -> None:
    named, made = domain(CertificateArn=CERTIFICATE), domain(HostedZoneId="Z0123456789")
    (one,) = named.properties("Domain")["DomainNameConfigurations"]
    (other,) = made.properties("Domain")["DomainNameConfigurations"]

    assert (one["CertificateArn"], other["CertificateArn"]) == (CERTIFICATE, "Certificate")
    assert (sorted(named.resources), sorted(made.resources)) == (
        ["Domain", "Mapping"],
        ["Certificate", "Domain", "Mapping", "Record"],
    )
    (validated,) = made.properties("Certificate")["DomainValidationOptions"]
    assert validated == {"DomainName": "mcp.example.com", "HostedZoneId": "Z0123456789"}
    assert made.properties("Record")["AliasTarget"]["DNSName"] == "Domain.RegionalDomainName"
    assert domain().broken_rules


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("DomainName", "https://mcp.example.com"),
        ("DomainName", "*.example.com"),
        ("DomainName", "mcp.example.com/tools"),
        ("DomainName", "localhost"),
        ("HostedZoneId", "example.com"),
        ("CertificateArn", "*"),
        ("ApiId", "https://a1b2c3d4e5"),
    ],
)
def test_a_value_of_a_domain_that_is_not_valid_is_refused(parameter: str, value: str) -> None:
    assert domain(**{parameter: value}).refused == [parameter]


# The web ACL


def rules(**parameters: Any) -> dict[str, Any]:
    acl = Stack("infra/waf.yaml", parameters).properties("WebAcl")
    return {rule["Name"]: rule for rule in acl["Rules"]}


def test_the_web_acl_refuses_addresses_by_their_rate() -> None:
    rate = rules(RatePerFiveMinutes=500)["rate"]

    assert rate["Statement"]["RateBasedStatement"] == {
        "AggregateKeyType": "IP",
        "EvaluationWindowSec": 300,
        "Limit": "500",
    }
    assert "Block" in rate["Action"]


def test_metrics_of_two_web_acls_are_told_apart() -> None:
    acl = str(read_template("infra/waf.yaml")["Resources"]["WebAcl"])
    names = re.findall(r"'MetricName': (\{.*?\}|'[^']*')", acl)

    assert len(names) == 4
    assert all("AWS::StackName" in name for name in names)


def test_rules_on_bodies_and_queries_count_because_graphql_looks_like_what_they_refuse() -> None:
    counted = {
        override["Name"]
        for name in ("common", "sql")
        for override in rules()[name]["Statement"]["ManagedRuleGroupStatement"]["RuleActionOverrides"]
        if override["ActionToUse"] == {"Count": {}}
    }

    assert {"SizeRestrictions_BODY", "SQLi_BODY", "SQLiExtendedPatterns_BODY", "CrossSiteScripting_BODY"} <= counted
    assert {name.rpartition("_")[2] for name in counted} == {"BODY", "QUERYARGUMENTS", "QUERYSTRING", "HEADER"}
    assert list(rules(ManagedRules="off")) == ["rate"]


@pytest.mark.parametrize(
    ("resource", "stands"),
    [
        (STAGE, True),
        ("arn:aws:elasticloadbalancing:eu-central-1:123456789012:loadbalancer/app/stile/0123456789abcdef", True),
        ("arn:aws:apigateway:eu-central-1::/apis/a1b2c3d4e5/stages/$default", False),
        ("arn:aws:elasticloadbalancing:eu-central-1:123456789012:loadbalancer/net/stile/0123456789abcdef", False),
        (FUNCTION, False),
    ],
)
def test_the_web_acl_stands_where_aws_lets_one_and_nowhere_else(resource: str, stands: bool) -> None:
    stack = Stack("infra/waf.yaml", {"ResourceArn": resource})

    assert (stack.refused == []) is stands
    assert Stack("infra/waf.yaml", {"ResourceArn": resource, "Scope": "CLOUDFRONT"}).broken_rules
    assert "Association" not in Stack("infra/waf.yaml").resources


# The way out of a VPC


def test_the_function_reaches_s3_and_its_secrets_without_the_internet() -> None:
    stack = Stack("infra/network.yaml", {**NETWORK, "SubnetIds": "subnet-0a1b2c3d", "SecurityGroupIds": "sg-0a1b2c3d"})
    endpoints = {
        each["ServiceName"].rpartition(".")[2]: each["VpcEndpointType"]
        for each in stack.of_type("AWS::EC2::VPCEndpoint").values()
    }

    assert endpoints == {"s3": "Gateway", "secretsmanager": "Interface", "ssm": "Interface"}
    ingress = stack.properties("InterfaceIngress")
    assert (ingress["SourceSecurityGroupId"], ingress["FromPort"], ingress["ToPort"]) == ("sg-0a1b2c3d", 443, 443)
    assert "CidrIp" not in ingress
    assert list(Stack("infra/network.yaml", NETWORK).of_type("AWS::EC2::VPCEndpoint")) == ["S3Gateway"]
    assert Stack("infra/network.yaml", {**NETWORK, "SubnetIds": "subnet-0a1b2c3d"}).broken_rules


def test_the_gateway_leads_to_the_one_bucket_if_it_is_named() -> None:
    def allowed(**parameters: str) -> Any:
        (statement,) = Stack("infra/network.yaml", {**NETWORK, **parameters}).properties("S3Gateway")["PolicyDocument"][
            "Statement"
        ]
        return statement["Action"], statement["Resource"]

    assert allowed() == ("*", "*")
    assert allowed(BucketName="bundles") == (
        ["s3:GetObject", "s3:ListBucket"],
        ["arn:aws:s3:::bundles", "arn:aws:s3:::bundles/*"],
    )


# Callers that AWS knows


def door(kind: str) -> Stack:
    url = "https://abcdefghijklmnopqrstuvwxyz012345.lambda-url.eu-central-1.on.aws/"
    return Stack(
        "infra/iam_door.yaml",
        {"FunctionArn": FUNCTION, "Door": kind},
        attributes={"Url.FunctionUrl": url, "Api": "b2c3"},
    )


def test_the_api_for_callers_that_aws_knows_asks_every_request_for_a_signature() -> None:
    stack = door("http-api")

    (route,) = stack.of_type("AWS::ApiGatewayV2::Route").values()
    assert (route["RouteKey"], route["AuthorizationType"]) == ("$default", "AWS_IAM")
    assert stack.properties("Integration")["PayloadFormatVersion"] == "2.0"  # which has authorizer.iam
    assert stack.outputs["TrustAuthorizer"] == "b2c3"
    assert stack.outputs["SigningService"] == "execute-api"
    (statement,) = stack.properties("ApiCallers")["PolicyDocument"]["Statement"]
    assert statement["Action"] == "execute-api:Invoke"
    assert statement["Resource"].endswith(":b2c3/$default/*")


def test_the_function_url_for_callers_that_aws_knows_takes_no_other_and_its_first_label_is_trusted() -> None:
    stack = door("function-url")

    (url,) = stack.of_type("AWS::Lambda::Url").values()
    assert (url["AuthType"], url["TargetFunctionArn"]) == ("AWS_IAM", FUNCTION)
    assert stack.of_type("AWS::Lambda::Permission") == {}  # nobody but who has the policy
    assert stack.outputs["TrustAuthorizer"] == "abcdefghijklmnopqrstuvwxyz012345"
    assert stack.outputs["SigningService"] == "lambda"
    assert stack.outputs["DoorUrl"] == "https://abcdefghijklmnopqrstuvwxyz012345.lambda-url.eu-central-1.on.aws"
    actions = {each["Action"] for each in stack.properties("UrlCallers")["PolicyDocument"]["Statement"]}
    assert actions == {"lambda:InvokeFunctionUrl", "lambda:InvokeFunction"}


def gateway(**parameters: str) -> Stack:
    named = {
        "TargetName": "orders",
        "McpUrl": "https://b2c3.execute-api.eu-central-1.amazonaws.com/shop/orders/mcp",
        "CallersPolicyArn": "arn:aws:iam::123456789012:policy/stile-iam-ApiCallers",
    }
    return Stack("infra/agentcore.yaml", named | parameters)


def test_agentcore_gateway_signs_for_the_service_of_the_door_with_a_role_of_its_own() -> None:
    stack = gateway(SigningService="lambda")
    target, role = stack.properties("Target"), stack.properties("GatewayRole")

    assert target["TargetConfiguration"]["Mcp"]["McpServer"]["Endpoint"].endswith("/shop/orders/mcp")
    assert target["CredentialProviderConfigurations"] == [
        {
            "CredentialProviderType": "GATEWAY_IAM_ROLE",
            "CredentialProvider": {"IamCredentialProvider": {"Service": "lambda", "Region": "eu-central-1"}},
        }
    ]
    assert role["ManagedPolicyArns"] == ["arn:aws:iam::123456789012:policy/stile-iam-ApiCallers"]
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "bedrock-agentcore.amazonaws.com"}
    assert trust["Condition"]["StringEquals"] == {"aws:SourceAccount": "123456789012"}


@pytest.mark.parametrize(
    ("parameters", "kind"),
    [({}, "AWS_IAM"), ({"DiscoveryUrl": "https://idp.example/.well-known/openid-configuration"}, "CUSTOM_JWT")],
)
def test_agentcore_gateway_is_never_open(parameters: dict[str, str], kind: str) -> None:
    made = gateway(**parameters).properties("Gateway")

    assert made["AuthorizerType"] == kind
    assert ("AuthorizerConfiguration" in made) is bool(parameters)


@pytest.mark.parametrize(
    "url", ["http://b2c3.example/shop/orders/mcp", "https://b2c3.example/shop/orders", "https://b2c3.example/a/b/mcp?x"]
)
def test_a_target_is_the_url_of_an_endpoint(url: str) -> None:
    assert gateway(McpUrl=url).refused == ["McpUrl"]
