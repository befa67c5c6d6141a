"""The environment of the function as the template gives it, once its references are resolved."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.infra.cloudformation import read_template

PSEUDO = {
    "AWS::AccountId": "123456789012",
    "AWS::Partition": "aws",
    "AWS::Region": "us-east-1",
    "AWS::StackName": "stile",
    "AWS::URLSuffix": "amazonaws.com",
}


@dataclass(frozen=True)
class Stack:
    """A template with its parameters, and the values that CloudFormation would know of its resources."""

    template: Mapping[str, Any]
    parameters: Mapping[str, str]
    resources: Mapping[str, str] = field(default_factory=dict)

    def function_environment(self, function: str = "StileFunction") -> dict[str, str]:
        """The variables of a function."""
        variables = self.template["Resources"][function]["Properties"]["Environment"]["Variables"]
        return {name: str(value) for name, value in self.resolve(variables).items() if value is not None}

    def resolve(self, value: Any) -> Any:
        """A value of the template without its functions. ``AWS::NoValue`` is ``None``."""
        match value:
            case {"Ref": str() as name}:
                return self._named(name)
            case dict() if len(value) == 1 and next(iter(value)).startswith("Fn::"):
                ((function, argument),) = value.items()
                return self._functions()[function](argument)
            case dict():
                return {name: self.resolve(each) for name, each in value.items()}
            case list():
                return [self.resolve(each) for each in value]
        return value

    def holds(self, condition: str) -> bool:
        """Whether a condition of the template is true."""
        return bool(self.resolve(self.template["Conditions"][condition]))

    def _named(self, name: str) -> Any:
        if name == "AWS::NoValue":
            return None
        known = {**PSEUDO, **self.resources, **self.parameters}
        return known.get(name, name)

    def _functions(self) -> dict[str, Callable[[Any], Any]]:
        return {
            "Fn::Sub": self._substituted,
            "Fn::GetAtt": lambda name: self._named(name if isinstance(name, str) else ".".join(name)),
            "Fn::If": lambda given: self.resolve(given[1] if self.holds(given[0]) else given[2]),
            "Fn::Equals": lambda given: self.resolve(given[0]) == self.resolve(given[1]),
            "Fn::Not": lambda given: not self._true(given[0]),
            "Fn::And": lambda given: all(map(self._true, given)),
            "Fn::Or": lambda given: any(map(self._true, given)),
            "Fn::Join": lambda given: given[0].join(self._texts(given[1])),
            "Fn::Split": lambda given: str(self.resolve(given[1])).split(given[0]),
            "Fn::Select": lambda given: self.resolve(given[1])[int(given[0])],
        }

    def _true(self, condition: Any) -> bool:
        return self.holds(condition["Condition"]) if "Condition" in condition else bool(self.resolve(condition))

    def _texts(self, value: Any) -> list[str]:
        found = self.resolve(value)
        return found.split(",") if isinstance(found, str) else [str(each) for each in found]

    def _substituted(self, given: Any) -> str:
        text, more = (given, {}) if isinstance(given, str) else (given[0], self.resolve(given[1]))
        return re.sub(r"\$\{([\w:.]+)\}", lambda found: str({**more}.get(found[1], self._named(found[1]))), text)


def stack_of(parameters: Mapping[str, str], resources: Mapping[str, str]) -> Stack:
    """The stack of template.yaml with these parameters, and each other parameter's default."""
    template = read_template("template.yaml")
    defaults = {name: str(parameter.get("Default", "")) for name, parameter in template["Parameters"].items()}
    assert parameters.keys() <= defaults.keys()
    return Stack(template, {**defaults, **parameters}, resources)
