"""A template with its parameters put in, as CloudFormation would make it: conditions, rules and functions resolved."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, reduce
from typing import Any

from tests.infra.cloudformation import read_template

PSEUDO = {
    "AWS::AccountId": "123456789012",
    "AWS::Partition": "aws",
    "AWS::StackId": "arn:aws:cloudformation:eu-central-1:123456789012:stack/stile/0a1b2c3d-0000",
    "AWS::StackName": "stile",
    "AWS::URLSuffix": "amazonaws.com",
}
NO_VALUE = object()
parsed = cache(read_template)
OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "Equals": lambda one, other: str(one) == str(other),
    "Not": lambda one: not one,
    "And": lambda *several: all(several),
    "Or": lambda *several: any(several),
    "Contains": lambda several, one: one in several,
    "Join": lambda between, texts: between.join(texts),
    "Split": lambda between, text: text.split(between),
    "Select": lambda index, several: several[int(index)],
}


class Stack:
    """What a template makes of parameters. ``attributes``: values of ``Ref`` and ``GetAtt``; others are their names."""

    def __init__(
        self,
        name: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        attributes: Mapping[str, str] | None = None,
        region: str = "eu-central-1",
    ) -> None:
        template = parsed(name)
        given = {name: str(value) for name, value in (parameters or {}).items()}
        assert set(given) <= set(template["Parameters"]), set(given) - set(template["Parameters"])
        self.refused = [each for each, text in given.items() if not accepted(template["Parameters"][each], text)]
        self._attributes = attributes or {}
        self._values: dict[str, Any] = {**PSEUDO, "AWS::Region": region}
        for each, declared in template["Parameters"].items():
            text = given.get(each, str(declared.get("Default", "")))
            self._values[each] = text.split(",") if "List" in declared["Type"] else text
        self._mappings = template.get("Mappings", {})
        self._conditions = template.get("Conditions", {})
        self.broken_rules = [
            told
            for rule in template.get("Rules", {}).values()
            if self.resolved(rule.get("RuleCondition", True))
            for told in (each["AssertDescription"] for each in rule["Assertions"] if not self.resolved(each["Assert"]))
        ]
        self.resources: dict[str, Any] = {
            name: self.resolved(each) for name, each in template["Resources"].items() if self._is_made(each)
        }
        outputs = template.get("Outputs", {})
        self.outputs = {name: self.resolved(each["Value"]) for name, each in outputs.items() if self._is_made(each)}

    def properties(self, name: str) -> Any:
        return self.resources[name]["Properties"]

    def of_type(self, kind: str) -> dict[str, Any]:
        """The properties of the resources of one type, by their names."""
        return {name: each["Properties"] for name, each in self.resources.items() if each["Type"] == kind}

    def _is_made(self, entry: Mapping[str, Any]) -> bool:
        return "Condition" not in entry or bool(self.resolved({"Condition": entry["Condition"]}))

    def resolved(self, value: Any) -> Any:
        match value:
            case {"Ref": "AWS::NoValue"}:
                return NO_VALUE
            case {"Ref": str(name)} if len(value) == 1:
                return self._values.get(name, self._attributes.get(name, name))
            case {"Condition": str(name)} if len(value) == 1:
                return self.resolved(self._conditions[name])
            case dict() if len(value) == 1 and next(iter(value)).startswith("Fn::"):
                ((function, argument),) = value.items()
                return self._call(function.removeprefix("Fn::"), argument)
            case dict():
                members = {name: self.resolved(each) for name, each in value.items()}
                return {name: each for name, each in members.items() if each is not NO_VALUE}
            case list():
                return [each for each in map(self.resolved, value) if each is not NO_VALUE]
        return value

    def _call(self, function: str, argument: Any) -> Any:
        if function == "If":
            name, then, otherwise = argument
            return self.resolved(then if self.resolved({"Condition": name}) else otherwise)
        if function == "Sub":
            text, names = argument if isinstance(argument, list) else (argument, {})
            return self._filled(text, {name: self.resolved(each) for name, each in names.items()})
        if function == "GetAtt":
            return self._attributes.get(argument, argument)
        if function == "FindInMap":
            name, *keys = argument
            return reduce(lambda entry, key: entry[key], keys, self._mappings[name])
        return OPERATIONS[function](*map(self.resolved, argument))

    def _filled(self, text: str, names: Mapping[str, str]) -> str:
        def put(found: re.Match[str]) -> str:
            name = found[1]
            value = names.get(name, self._values.get(name, self._attributes.get(name, name)))
            return ",".join(value) if isinstance(value, list) else str(value)

        return re.sub(r"\$\{([^!}][^}]*)\}", put, text)


def accepted(declared: Mapping[str, Any], text: str) -> bool:
    """Tell if CloudFormation takes this text for a parameter."""
    if "AllowedValues" in declared:
        return text in map(str, declared["AllowedValues"])
    if declared["Type"] == "Number":
        return float(declared.get("MinValue", text)) <= float(text) <= float(declared.get("MaxValue", text))
    texts = text.split(",") if "List" in declared["Type"] else [text]
    pattern = declared.get("AllowedPattern", ".*")
    return len(text) <= int(declared.get("MaxLength", 4096)) and all(re.fullmatch(pattern, each) for each in texts)


def statements(stack: Stack, role: str) -> list[dict[str, Any]]:
    """The statements of a role, of its own policies and of those beside it."""
    inline = stack.properties(role).get("Policies", [])
    beside = [each for each in stack.of_type("AWS::IAM::RolePolicy").values() if each["RoleName"] == role]
    return [statement for policy in [*inline, *beside] for statement in policy["PolicyDocument"]["Statement"]]
