"""The templates of CloudFormation and the module of Terraform as facts of one form, so that both can be compared.

A fact is a place in the module -> an expression of HCL. Properties of the templates without a place in ``PLACES`` keep
their own names, so they are differences until they get one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import hcl2
import yaml

from tests.infra.cloudformation import CloudFormationLoader

TEMPLATES = ("template.yaml", "infra/storage.yaml", "infra/observability.yaml", "infra/domain.yaml")
MODULE = "infra/terraform"
NEVER = ("HasRelease", "ProvisionsConcurrency", "UsesSnapStart")
"""Conditions that no deployment by the module has, because it has no releases."""

REFERENCES = {
    "AWS::AccountId": "data.aws_caller_identity.current.account_id",
    "AWS::Partition": "data.aws_partition.current.partition",
    "AWS::Region": "data.aws_region.current.id",
    "AWS::StackName": "var.name",
    "AWS::URLSuffix": "data.aws_partition.current.dns_suffix",
    "AccessLog": "aws_cloudwatch_log_group.access.name",
    "ApiId": "aws_apigatewayv2_api.stile.id",
    "BundleBucket": "aws_s3_bucket.bundles[0].bucket",
    "BundleBucket.Arn": "aws_s3_bucket.bundles[0].arn",
    "Certificate": "aws_acm_certificate_validation.domain[0].certificate_arn",
    "Dashboard": "aws_cloudwatch_dashboard.stile.dashboard_name",
    "Domain": "aws_apigatewayv2_domain_name.domain[0].domain_name",
    "Domain.RegionalDomainName": (
        "aws_apigatewayv2_domain_name.domain[0].domain_name_configuration[0].target_domain_name"
    ),
    "Domain.RegionalHostedZoneId": (
        "aws_apigatewayv2_domain_name.domain[0].domain_name_configuration[0].hosted_zone_id"
    ),
    "FunctionLog": "aws_cloudwatch_log_group.function.name",
    "FunctionName": "aws_lambda_function.stile.function_name",
    "HttpApi": "aws_apigatewayv2_api.stile.id",
    "LogKey": "aws_secretsmanager_secret.log_key[0].arn",
    "StateKey": "aws_secretsmanager_secret.state_key[0].arn",
    "StileFunction": "aws_lambda_function.stile.function_name",
    "StileFunction.Arn": "aws_lambda_function.stile.arn",
    "StileRole": "aws_iam_role.function.name",
    "StileRole.Arn": "aws_iam_role.function.arn",
    "Topic": "aws_sns_topic.alarms[0].arn",
}
"""References and attributes of the templates -> those of the module. CloudFormation's ARN of a log ends in ":*"."""

INTEGRATION = r"paths\.\$default\.x-amazon-apigateway-any-method\.x-amazon-apigateway-integration"
PLACES = {
    r"StileFunction\.tracing": "aws_lambda_function.stile.tracing_config.mode",
    r"StileFunction": "aws_lambda_function.stile",
    r"StileFunctionAnyRequestPermission": "aws_lambda_permission.any_request",
    r"StileRole": "aws_iam_role.function",
    r"FunctionLog\.log_group_name": "aws_cloudwatch_log_group.function.name",
    r"FunctionLog": "aws_cloudwatch_log_group.function",
    r"AccessLog\.log_group_name": "aws_cloudwatch_log_group.access.name",
    r"AccessLog": "aws_cloudwatch_log_group.access",
    r"GatewayThrottles\.filter_pattern": "aws_cloudwatch_log_metric_filter.gateway_throttles.pattern",
    r"GatewayThrottles\.metric_transformations\.metric_(namespace|name|value)": (
        r"aws_cloudwatch_log_metric_filter.gateway_throttles.metric_transformation.\1"
    ),
    r"GatewayThrottles\.metric_transformations": (
        "aws_cloudwatch_log_metric_filter.gateway_throttles.metric_transformation"
    ),
    r"GatewayThrottles": "aws_cloudwatch_log_metric_filter.gateway_throttles",
    rf"HttpApi\.definition_body\.{INTEGRATION}\.type": "aws_apigatewayv2_integration.function.integration_type",
    rf"HttpApi\.definition_body\.{INTEGRATION}\.http_method": (
        "aws_apigatewayv2_integration.function.integration_method"
    ),
    rf"HttpApi\.definition_body\.{INTEGRATION}\.uri": "aws_apigatewayv2_integration.function.integration_uri",
    rf"HttpApi\.definition_body\.{INTEGRATION}": "aws_apigatewayv2_integration.function",
    r"HttpApi\.definition_body\.info\.title": "aws_apigatewayv2_api.stile.name",
    r"HttpApi\.stage_name": "aws_apigatewayv2_stage.default.name",
    r"HttpApi\.default_route_settings": "aws_apigatewayv2_stage.default.default_route_settings",
    r"HttpApi\.access_log_settings": "aws_apigatewayv2_stage.default.access_log_settings",
    r"HttpApi": "aws_apigatewayv2_api.stile",
    r"(Log|State)Key\.generate_secret_string": r"aws_secretsmanager_random_password.\1_key",
    r"(Log|State)Key": r"aws_secretsmanager_secret.\1_key",
    r"BundleBucket\.versioning_configuration": "aws_s3_bucket_versioning.bundles.versioning_configuration",
    r"BundleBucket\.bucket_encryption\.server_side_encryption_configuration\.server_side_encryption_by_default\.": (
        "aws_s3_bucket_server_side_encryption_configuration.bundles.rule.apply_server_side_encryption_by_default."
    ),
    r"BundleBucket\.bucket_encryption\.server_side_encryption_configuration": (
        "aws_s3_bucket_server_side_encryption_configuration.bundles.rule"
    ),
    r"BundleBucket\.public_access_block_configuration": "aws_s3_bucket_public_access_block.bundles",
    r"BundleBucket\.ownership_controls\.rules": "aws_s3_bucket_ownership_controls.bundles.rule",
    r"BundleBucket\.lifecycle_configuration\.rules\.([^.]+)\.expired_object_delete_marker": (
        r"aws_s3_bucket_lifecycle_configuration.bundles.rule.\1.expiration.expired_object_delete_marker"
    ),
    r"BundleBucket\.lifecycle_configuration\.rules": "aws_s3_bucket_lifecycle_configuration.bundles.rule",
    r"BundleBucket": "aws_s3_bucket.bundles",
    r"BundleBucketPolicy": "aws_s3_bucket_policy.bundles",
    r"Topic\.subscription": "aws_sns_topic_subscription.alarms",
    r"Topic": "aws_sns_topic.alarms",
    r"(\w+)Alarm\.metrics\.(\w+)\.metric_stat\.metric\.": r"aws_cloudwatch_metric_alarm.\1.metric_query.\2.metric.",
    r"(\w+)Alarm\.metrics\.(\w+)\.metric_stat\.": r"aws_cloudwatch_metric_alarm.\1.metric_query.\2.metric.",
    r"(\w+)Alarm\.metrics\.": r"aws_cloudwatch_metric_alarm.\1.metric_query.",
    r"(\w+)Alarm\.evaluate_low_sample_count_percentile": (
        r"aws_cloudwatch_metric_alarm.\1.evaluate_low_sample_count_percentiles"
    ),
    r"(\w+)Alarm": r"aws_cloudwatch_metric_alarm.\1",
    r"Dashboard": "aws_cloudwatch_dashboard.stile",
    r"Certificate\.domain_validation_options": "aws_route53_record.validation",
    r"Certificate": "aws_acm_certificate.domain",
    r"Domain\.domain_name_configurations": "aws_apigatewayv2_domain_name.domain.domain_name_configuration",
    r"Domain": "aws_apigatewayv2_domain_name.domain",
    r"Mapping": "aws_apigatewayv2_api_mapping.domain",
    r"Record\.alias_target\.dns_name": "aws_route53_record.domain.alias.name",
    r"Record\.alias_target\.hosted_zone_id": "aws_route53_record.domain.alias.zone_id",
    r"Record\.hosted_zone_id": "aws_route53_record.domain.zone_id",
    r"Record": "aws_route53_record.domain",
}
"""Resources and properties of the templates -> places in the module. The first that fits counts."""

INLINED = ("bucket_arn", "bucket_name", "bundle_format", "topic", "topics")
"""Local values of the module that stand for their expressions. Others are conditions."""

parsed_hcl = cache(hcl2.loads)


@cache
def parsed_yaml(text: str) -> dict[str, Any]:
    template: dict[str, Any] = yaml.load(text, CloudFormationLoader)
    return template


class Template:
    """The templates as one, with their functions written as expressions of HCL."""

    def __init__(self, root: Path) -> None:
        self.documents = [parsed_yaml((root / name).read_text("utf-8")) for name in TEMPLATES]
        # Parameters of nested stacks are those of the whole, which come last.
        self.parameters, self.conditions, self.resources, self.rules = (
            {name: entry for document in reversed(self.documents) for name, entry in document.get(kind, {}).items()}
            for kind in ("Parameters", "Conditions", "Resources", "Rules")
        )
        self.of_domain = set(self.documents[3]["Resources"]) | set(self.documents[3]["Outputs"])

    def facts(self) -> dict[str, str]:
        """All that the templates say."""
        return gathered(
            *self._parameters(),
            *((f"condition.{snake(name)}", self.expression(each)) for name, each in self.conditions.items()),
            *((place_of(path), expression) for path, expression in self._resources()),
            *self._permissions(),
            *self._outputs(),
            *self._unread(),
        )

    def _unread(self) -> Iterator[tuple[str, str]]:
        """Yield what no other fact has: sections, and entries that another template has with other values."""
        for name, document in zip(TEMPLATES, self.documents, strict=True):
            yield from ((f"{name} {section}", "") for section in document.keys() - SECTIONS)
            for parameter, declared in document.get("Parameters", {}).items():
                of_all = self.parameters[parameter]
                # What a nested stack gets was judged before.
                keys = declared.keys() if name == "infra/storage.yaml" else declared.keys() | of_all.keys()
                for key in keys - {"ConstraintDescription", "Description"}:
                    if declared.get(key) != of_all.get(key):
                        yield f"{name} {parameter}.{key}", literal(declared.get(key))
            for section, of_all in (
                ("Conditions", self.conditions),
                ("Resources", self.resources),
                ("Rules", self.rules),
            ):
                for entry, value in document.get(section, {}).items():
                    if value != of_all[entry]:
                        yield f"{name} {entry}", "another one"

    def _parameters(self) -> Iterator[tuple[str, str]]:
        for name, declared in self.parameters.items():
            variable = f"var.{snake(name)}"
            is_list = "List" in declared["Type"]
            if "Default" in declared:
                default = declared["Default"]
                yield f"variable.{snake(name)}.default", "[]" if is_list and not default else literal(default)
            types = {"String": "string", "Number": "number"}
            yield f"variable.{snake(name)}.type", types.get(declared["Type"], "list(string)")
            for condition in self._accepted(declared, variable, is_list=is_list):
                yield f"variable.{snake(name)}.accepts {condition}", ""
            yield from ((f"variable.{snake(name)}.{key}", "") for key in declared.keys() - OF_A_PARAMETER)
        for rule in self.rules.values():
            for each in rule["Assertions"]:
                sentence = re.sub(r"\b[A-Z]\w+", lambda name: snake(name[0]), each["AssertDescription"])
                condition = f" if {self.expression(rule['RuleCondition'])}" if "RuleCondition" in rule else ""
                yield f"rule.{sentence}", self.expression(each["Assert"]) + condition

    def _accepted(self, declared: Mapping[str, Any], variable: str, *, is_list: bool) -> Iterator[str]:
        if "AllowedValues" in declared:
            yield f"contains({self.expression(declared['AllowedValues'])}, {variable})"
        bounds = [f"{variable} {sign} {declared[key]}" for key, sign in BOUNDS.items() if key in declared]
        if bounds:
            yield " && ".join(bounds)
        if "MaxLength" in declared:
            yield f"length({variable}) <= {declared['MaxLength']}"
        if "AllowedPattern" in declared:
            pattern = f"regex({json.dumps(declared['AllowedPattern'])}, {'each' if is_list else variable})"
            yield f"alltrue([for each in {variable} : can({pattern})])" if is_list else f"can({pattern})"

    def _resources(self) -> Iterator[tuple[str, str]]:
        for name, resource in self.resources.items():
            if resource["Type"] == "AWS::IAM::RolePolicy":
                continue
            if resource.get("Condition") in NEVER:
                yield name, literal(resource["Type"])
                continue
            yield from ((f"{name} {key}", "") for key in resource.keys() - OF_A_RESOURCE)
            condition = self._condition(name, resource.get("Condition"))
            if condition:
                yield f"{name}.count", f"{condition} ? 1 : 0"
            if resource.get("DeletionPolicy", "").startswith("Retain"):
                yield f"{name}.kept", "true"
            properties = {
                each: value
                for each, value in resource.get("Properties", {}).items()
                if each not in ("AssumeRolePolicyDocument", "Policies", "PolicyDocument", "DashboardBody")
            }
            for path, expression in self._leaves(properties, name):
                if path == "HttpApi.access_log_settings.format":
                    for key, value in json.loads(properties["AccessLogSettings"]["Format"]).items():
                        yield f"access_log.{snake(key)}", literal(value)
                else:
                    yield path, expression
            for each in properties.get("Metrics", ()):
                if "ReturnData" not in each:  # which CloudFormation returns, and Terraform does not
                    yield f"{name}.metrics.{each['Id']}.return_data", "true"
            if "DashboardBody" in resource.get("Properties", {}):
                text, names = resource["Properties"]["DashboardBody"]["Fn::Sub"]
                yield f"{name}.dashboard_body", without_space(filled(text, self._written(names), str))

    def _condition(self, name: str, condition: str | None) -> str:
        domain = "local.has_domain" if name in self.of_domain else ""
        return " && ".join(filter(None, (domain, f"local.{snake(condition)}" if condition else "")))

    def _permissions(self) -> Iterator[tuple[str, str]]:
        for document, kind in (("StileRole", "AssumeRolePolicyDocument"), ("BundleBucketPolicy", "PolicyDocument")):
            policy = self.resources[document]["Properties"][kind]
            yield from self._statements(f"permission.{snake(document)}", policy)
        policies = [
            ({**policy, "RoleName": {"Ref": "StileRole"}}, condition)
            for entry in self.resources["StileRole"]["Properties"]["Policies"]
            for condition, policy in [entry["Fn::If"][:2] if "Fn::If" in entry else (None, entry)]
        ]
        policies += [
            (resource["Properties"], resource.get("Condition"))
            for resource in self.resources.values()
            if resource["Type"] == "AWS::IAM::RolePolicy"
        ]
        for policy, condition in policies:
            at = f"permission.{policy['PolicyName']}"
            yield f"{at}.role", self.expression(policy["RoleName"])
            if condition:
                yield f"{at}.count", f"local.{snake(condition)} ? 1 : 0"
            yield from self._statements(at, policy["PolicyDocument"])

    def _statements(self, at: str, policy: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        if policy.get("Version") != "2012-10-17":  # which Terraform writes
            yield f"{at}.version", literal(policy.get("Version"))
        for each in policy["Statement"]:
            sid = each.get("Sid", "")
            for name, value in each.items():
                if name in ("Action", "Resource"):
                    is_one = isinstance(value, str) or (isinstance(value, dict) and "Fn::Split" not in value)
                    yield f"{at}.{sid}.{name.lower()}s", self.expression([value] if is_one else value)
                elif name == "Principal":
                    ((kind, who),) = value.items() if isinstance(value, dict) else [(value, value)]
                    yield f"{at}.{sid}.principals", f'{literal(kind)} ["{who}"]'
                elif name == "Condition":
                    for test, tested in value.items():
                        for variable, against in tested.items():
                            yield f"{at}.{sid}.condition", f'"{test}" "{variable}" {self.expression([against])}'
                elif name != "Sid":
                    yield f"{at}.{sid}.{name.lower()}", literal(value)

    def _outputs(self) -> Iterator[tuple[str, str]]:
        for document in (self.documents[0], *self.documents[2:]):
            for name, output in document["Outputs"].items():
                if output.get("Condition") not in NEVER:
                    condition = self._condition(name, output.get("Condition"))
                    value = self.expression(output["Value"])
                    yield f"output.{snake(name)}", f"{condition} ? {value} : null" if condition else value

    def _leaves(self, value: Any, path: str) -> Iterator[tuple[str, str]]:
        match value:
            case {"Ref": "AWS::NoValue"}:
                return
            case {"Fn::If": [name, then, otherwise]} if name in NEVER or is_container(then) or is_container(otherwise):
                several = [dict(self._leaves(each, path)) for each in (then, otherwise)]
                if name in NEVER:
                    yield from several[1].items()
                    return
                for each in dict.fromkeys(key for leaves in several for key in leaves):
                    one, other = (leaves.get(each, "null") for leaves in several)
                    yield each, one if one == other else f"local.{snake(name)} ? {one} : {other}"
            case dict() if is_container(value):
                for name, each in value.items():
                    yield from self._leaves(each, f"{path}.{snake(name)}")
            case list() if is_container(value):
                for each in value:
                    if set(each) in ({"Name", "Value"}, {"Key", "Value"}):
                        yield f"{path}.{snake(each.get('Name') or each['Key'])}", self.expression(each["Value"])
                    elif "Id" in each:
                        rest = {name: one for name, one in each.items() if name != "Id"}
                        yield from self._leaves(rest, f"{path}.{each['Id']}")
                    else:
                        yield from self._leaves(each, path)
            case _:
                yield path, self.expression(value)

    def expression(self, value: Any) -> str:
        """Write a value as an expression of HCL."""
        match value:
            case {"Ref": "AWS::NoValue"}:
                return "null"
            case {"Ref": str(name)}:
                return self._reference(name)
            case {"Condition": str(name)}:
                return f"local.{snake(name)}"
            case dict():
                ((function, argument),) = value.items()
                return self._call(function.removeprefix("Fn::"), argument)
            case list():
                return f"[{', '.join(map(self.expression, value))}]"
        return literal(value)

    def _reference(self, name: str) -> str:
        if name in REFERENCES:
            return REFERENCES[name]
        if name in self.parameters:
            return f"var.{snake(name)}"
        if name.startswith("Storage.Outputs."):
            return self.expression(self.documents[1]["Outputs"][name.rpartition(".")[2]]["Value"])
        if name == "FunctionLog.Arn":
            return '"${aws_cloudwatch_log_group.function.arn}:*"'
        alarm = name.removesuffix(".Arn")
        index = "[0]" if "Condition" in self.resources[alarm] else ""
        return f"aws_cloudwatch_metric_alarm.{snake(alarm.removesuffix('Alarm'))}{index}.arn"

    def _call(self, function: str, argument: Any) -> str:
        match function, argument:
            case "If", [name, then, otherwise]:
                if name in NEVER:
                    return self.expression(otherwise)
                return f"local.{snake(name)} ? {self.expression(then)} : {self.expression(otherwise)}"
            case "Sub", _:
                text, names = argument if isinstance(argument, list) else (argument, {})
                return f'"{filled(text, self._written(names), lambda piece: json.dumps(piece)[1:-1])}"'
            case "GetAtt", str(name):
                return self._reference(name)
            case "FindInMap", [name, key, inner]:
                return literal(self.documents[1]["Mappings"][name][key][inner])
            case "Not", [{"Fn::Equals": [*pair]}]:
                return " != ".join(self._compared(pair))
            case "Equals", [*pair]:
                return " == ".join(self._compared(pair))
            case "Not", [{"Fn::Contains": [several, ""]}]:
                return f"length({self.expression(several)}) != 0"
            case "Contains", [several, ""]:
                return f"length({self.expression(several)}) == 0"
            case "And", [*several]:
                return f"({' && '.join(map(self.expression, several))})"
            case "Or", [*several]:
                return " || ".join(map(self.expression, several))
            case "Join", [" ", {"Fn::Split": [",", each]}]:
                return f'replace({self.expression(each)}, ",", " ")'
            case "Split", [between, each]:
                return f"split({literal(between)}, {self.expression(each)})"
        return json.dumps({function: argument})  # a difference, until it is written here

    def _compared(self, pair: Iterable[Any]) -> list[str]:
        match list(pair):
            case [{"Fn::Join": ["", several]}, ""]:
                return [f"length({self.expression(several)})", "0"]
            case values:
                return [self.expression(each) for each in values]

    def _written(self, names: Mapping[str, Any]) -> Any:
        return lambda name: self.expression(names[name]) if name in names else self._reference(name)


class Module:
    """The module as its files say it."""

    def __init__(self, folder: Path) -> None:
        self.documents = [
            parsed_hcl(path.read_text("utf-8")) for path in sorted(folder.glob("*.tf*")) if path.suffix != ".tfstate"
        ]
        self.locals = {
            name: value for each in self._all("locals") for name, value in each.items() if not name.startswith("__")
        }

    def _all(self, kind: str) -> list[dict[str, Any]]:
        return [each for document in self.documents for each in document.get(kind, [])]

    def facts(self) -> dict[str, str]:
        """All that the module says."""
        unread = (
            (kind, "") for document in self.documents for kind in document.keys() - BLOCKS if not kind.startswith("__")
        )
        return gathered(
            *self._variables(),
            *self._locals(),
            *self._resources(),
            *self._permissions(),
            *self._outputs(),
            *unread,
            *((f"data.{kind}", "") for kind, _ in named(self._all("data")) if kind not in DATA),
        )

    def _variables(self) -> Iterator[tuple[str, str]]:
        for name, declared in named(self._all("variable")):
            for key in {"type", "default"} & set(declared):
                yield f"variable.{name}.{key}", self._expression(declared[key])
            for each in declared.get("validation", []):
                condition, message = self._expression(each["condition"]), json.loads(each["error_message"])
                if message.startswith(f"{name}: expected "):
                    yield f"variable.{name}.accepts {condition}", ""
                else:
                    yield f"rule.{message}", condition

    def _locals(self) -> Iterator[tuple[str, str]]:
        for name, value in self.locals.items():
            if name == "access_log":
                yield from ((f"access_log.{snake(key)}", self._expression(each)) for key, each in value.items())
            elif name not in INLINED:
                yield f"condition.{name}", self._expression(value)

    def _resources(self) -> Iterator[tuple[str, str]]:
        for kind, resources in named([*self._all("resource"), *self._all("ephemeral")]):
            for name, resource in named([resources]):
                if kind != "aws_iam_role_policy":
                    yield from self._leaves(resource, f"{kind}.{name}")

    def _permissions(self) -> Iterator[tuple[str, str]]:
        documents = {
            name: document
            for kind, entries in named(self._all("data"))
            if kind == "aws_iam_policy_document"
            for name, document in named([entries])
        }
        by_kind = [
            (kind, name, each) for kind, entries in named(self._all("resource")) for name, each in named([entries])
        ]
        for kind, _, resource in by_kind:
            if kind == "aws_iam_role_policy":
                at = f"permission.{json.loads(resource['name'])}"
                yield f"{at}.role", self._expression(resource["role"])
                if "count" in resource:
                    yield f"{at}.count", self._expression(resource["count"])
            elif kind not in POLICIES:
                continue
            else:
                at = f"permission.{POLICIES[kind]}"
            policy = self._expression(resource["assume_role_policy" if kind == "aws_iam_role" else "policy"])
            found = re.fullmatch(r"data\.aws_iam_policy_document\.(\w+)(\[0\])?\.json", policy)
            assert found, f"{at}: {policy}: expected a policy document of the module"
            document = dict(documents.pop(found[1]))
            for statement in document.pop("statement"):
                yield from self._statement(at, statement)
            yield from ((f"{at}.{name}", "") for name in document if name != "count" and not name.startswith("__"))
        for name in documents:
            yield f"permission.{name}", "in no policy"

    def _statement(self, at: str, statement: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        sid = json.loads(statement.get("sid", '""'))
        for name, value in statement.items():
            if name == "principals":
                for each in value:
                    yield f"{at}.{sid}.principals", f"{each['type']} {self._expression(each['identifiers'])}"
            elif name == "condition":
                for each in value:
                    tested = f"{each['test']} {each['variable']} {self._expression(each['values'])}"
                    yield f"{at}.{sid}.condition", tested
            elif name != "sid" and not name.startswith("__"):
                yield f"{at}.{sid}.{name}", self._expression(value)

    def _outputs(self) -> Iterator[tuple[str, str]]:
        for name, output in named(self._all("output")):
            yield f"output.{name}", self._expression(output["value"])

    def _leaves(self, attributes: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
        for name, value in attributes.items():
            at = f"{path}.{snake(name.strip(chr(34)))}"
            if name.startswith("__") or name in ("assume_role_policy", "policy"):
                continue
            if name == "dynamic":
                for block, dynamic in named(value):
                    condition = self._expression(dynamic["for_each"]).removesuffix(" ? [1] : []")
                    for place, expression in self._leaves(dynamic["content"][0], f"{path}.{block}"):
                        yield place, f"{condition} ? {expression} : null"
            elif name in ("skip_destroy", "force_destroy"):
                yield f"{path}.kept", str(value is (name == "skip_destroy")).lower()
            elif is_blocks(value):
                for block in value:
                    key = f".{json.loads(block['id'])}" if "id" in block else ""
                    rest = {each: one for each, one in block.items() if each != "id"}
                    yield from self._leaves(rest, at + key)
                    if name == "metric_query" and "return_data" not in block:
                        yield f"{at}{key}.return_data", "false"
            elif isinstance(value, dict):
                yield from self._leaves(value, at)
            elif isinstance(value, str) and value.startswith('"<<-'):
                yield at, without_space(re.sub(r'^"<<-\w+\n|\w+"$', "", value))
            else:
                yield at, self._expression(value)

    def _expression(self, value: Any) -> str:
        if isinstance(value, list):
            return f"[{', '.join(map(self._expression, value))}]"
        if isinstance(value, bool | int | float):
            return literal(value)
        text = value[2:-1] if value.startswith("${") and value.endswith("}") else value
        text = re.sub(r"\blocal\.(\w+)", self._inlined, text)
        if re.fullmatch(r'"[^"\\$%]*"', text):
            return literal(text[1:-1])
        return " ".join(text.split())

    def _inlined(self, found: re.Match[str]) -> str:
        return self._expression(self.locals[found[1]]) if found[1] in INLINED else found[0]


SECTIONS = {
    "AWSTemplateFormatVersion",
    "Conditions",
    "Description",
    "Mappings",
    "Metadata",
    "Outputs",
    "Parameters",
} | {
    *("Resources", "Rules", "Transform"),
}
BLOCKS = {"data", "ephemeral", "locals", "output", "resource", "terraform", "variable"}
"""The parts of templates and of the module that facts are read of, or that say nothing of what is made."""

BOUNDS = {"MinValue": ">=", "MaxValue": "<="}
OF_A_PARAMETER = {"AllowedPattern", "AllowedValues", "ConstraintDescription", "Default", "Description", "Type"} | {
    *("MaxLength", *BOUNDS),
}
OF_A_RESOURCE = {"Condition", "DeletionPolicy", "Metadata", "Properties", "Type", "UpdateReplacePolicy"}
"""The keys that facts are read of, or that Terraform has no counterpart of."""

DATA = {"aws_caller_identity", "aws_iam_policy_document", "aws_partition", "aws_region"}
"""Sources of data that say nothing of what is made, or are read with their policies."""

POLICIES = {"aws_iam_role": "stile_role", "aws_s3_bucket_policy": "bundle_bucket_policy"}


def gathered(*facts: tuple[str, str]) -> dict[str, str]:
    """Return the facts by their places. Two of one place, such as statements without a name, are both there."""
    expressions: dict[str, list[str]] = {}
    for place, expression in facts:
        expressions.setdefault(place, []).append(expression)
    return {place: " and ".join(each) for place, each in expressions.items()}


def place_of(path: str) -> str:
    """Return the place in the module of a property of the templates."""
    for pattern, place in PLACES.items():
        found = re.match(pattern + (r"" if pattern.endswith(r"\.") else r"(?=\.|$)"), path)
        if found:
            kind, _, rest = (found.expand(place) + path[found.end() :]).partition(".")
            name, dot, attribute = rest.partition(".")
            return f"{kind}.{snake(name)}{dot}{attribute}"
    return path


def named(blocks: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the labels of blocks, with what is in them."""
    for block in blocks:
        yield from ((label.strip('"'), each) for label, each in block.items() if not label.startswith("__"))


def is_blocks(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(each, dict) and "__is_block__" in each for each in value)


def is_container(value: Any) -> bool:
    """Return whether a value has properties of its own, which a function of CloudFormation has not."""
    match value:
        case list():
            return any(map(is_container, value))
        case {"Fn::If": [_, *branches]}:
            return any(map(is_container, branches))
        case {"Ref": _} | {"Condition": _}:
            return len(value) != 1
        case dict():
            return not any(name.startswith("Fn::") for name in value)
    return False


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def literal(value: Any) -> str:
    """Write a text, a number or a truth value; a text that is a number is that number, as in the requests to AWS."""
    if isinstance(value, bool) or value in ("true", "false"):
        return str(value).lower()
    text = str(value)
    return text if re.fullmatch(r"-?\d+", text) else json.dumps(text, ensure_ascii=False)


def filled(text: str, written: Any, literally: Any) -> str:
    """Write the text of ``Fn::Sub``, with references as HCL has them."""
    pieces = re.split(r"\$\{([^!}][^}]*)\}", text)
    return "".join("${" + written(piece) + "}" if index % 2 else literally(piece) for index, piece in enumerate(pieces))


def without_space(text: str) -> str:
    return "".join(text.split())
