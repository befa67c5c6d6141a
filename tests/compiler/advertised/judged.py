"""Shortened schemas held against the whole ones, the enforced ones, and graphql-core."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

from graphql import GraphQLSchema, OperationDefinitionNode
from graphql.execution.values import get_variable_values
from jsonschema import Draft202012Validator

from handler.bundle.tools import PrescribedTool
from handler.errors.calls import InvalidArguments
from handler.server.endpoints.arguments_validator import ArgumentsValidator
from handler.strict_json import JSONObject, objects_in, to_json_bytes
from tests.compiler.advertised.values import random_variables
from tests.support.vendors import refusals

VALUES = 12


@dataclass
class Found:
    """What was tried, and what was wrong."""

    tried: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return ", ".join(f"{count:,} {what}" for what, count in self.tried.items())


@dataclass(frozen=True, kw_only=True)
class Case:
    """One tool twice: with its whole schema, and with one of ``max_bytes``."""

    label: str
    whole: PrescribedTool
    short: PrescribedTool
    max_bytes: int
    recursive: bool
    schema: GraphQLSchema
    node: OperationDefinitionNode


def judge_case(case: Case, random: Random, found: Found, *, values: int = VALUES) -> None:
    """Hold a tool's shortened schema against its whole one, and count."""
    short, whole = case.short.entry["inputSchema"], case.whole.entry["inputSchema"]
    found.tried["schemas"] += 1
    found.tried["shortened"] += size(short) < size(whole)
    found.tried["with references"] += "$defs" in short
    found.tried["with open objects without members"] += any(_is_empty(each) for each in objects_in(short))
    found.faults += [f"{case.label}: {fault}" for fault in _faults(case, short, whole)]
    advertised, before = _takes(short), _takes(whole)
    for place in range(values):
        wrong = 0.0 if place % 2 else 0.08
        given = random_variables(case.schema, case.node, random, wrong=wrong)
        arguments = given if case.short.flat else {"variables": given}
        taken = not isinstance(get_variable_values(case.schema, case.node.variable_definitions or (), given), list)
        listed = advertised.is_valid(arguments)
        found.tried["values"] += 1
        found.tried["values that the advertised schema refuses"] += not listed
        if before.is_valid(arguments) and not listed:
            found.faults.append(f"{case.label}: refused by the shortened schema alone: {arguments}")
        if taken and not wrong and not _is_accepted(case.short, arguments):
            found.faults.append(f"{case.label}: refused, and GraphQL takes it: {arguments}")
        if taken and not wrong and not listed:
            found.faults.append(f"{case.label}: a right value is not advertised: {arguments}")


def size(schema: JSONObject) -> int:
    """Return the bytes of a schema."""
    return len(to_json_bytes(schema))


def _faults(case: Case, short: JSONObject, whole: JSONObject) -> list[str]:
    Draft202012Validator.check_schema(short)
    faults = refusals(short)
    if not case.recursive and leads_to_itself(short):
        faults.append("a reference leads to itself")
    if case.short.arguments != case.whole.arguments:
        faults.append("another schema is enforced")
    if size(short) > case.max_bytes and says_of_types(short):
        faults.append(f"{size(short)} bytes, more than {case.max_bytes}, and types are written out")
    if arguments_of(short, case).keys() != arguments_of(whole, case).keys():
        faults.append("the arguments differ")
    if "stile:" in str(short):
        faults.append("a keyword of ours")
    if any(not set(each["required"]) <= each.get("properties", {}).keys() for each in _schemas_with(short, "required")):
        faults.append("a member is required and not listed")
    return faults


def _is_empty(schema: JSONObject) -> bool:
    """Tell if a schema takes any object of a type, and none of the type's members is listed."""
    return schema.get("type") == "object" and "description" in schema and "properties" not in schema


def _schemas_with(schema: JSONObject, keyword: str) -> list[JSONObject]:
    return [each for each in objects_in(schema) if isinstance(each.get(keyword), list)]


def arguments_of(schema: JSONObject, case: Case) -> JSONObject:
    """Return the schemas of the variables."""
    outer: JSONObject = schema if case.short.flat else schema["properties"]["variables"]
    found: JSONObject = outer["properties"]
    return found


def says_of_types(schema: Any) -> bool:
    """Tell if a schema has members of an input object, or values of a long enum."""
    if not isinstance(schema, dict):
        return False
    below = [each for name, each in schema.get("properties", {}).items() if name != "variables"]
    below += [schema["properties"]["variables"]] if "variables" in schema.get("properties", {}) else []
    return any("properties" in each and each is not schema["properties"].get("variables") for each in below) or any(
        says_of_types(each) for each in (*below, *schema.get("$defs", {}).values(), schema.get("items"))
    )


def leads_to_itself(schema: JSONObject) -> bool:
    """Tell if a reference of a schema leads to its own definition."""
    graph = {name: set(_references(each)) for name, each in schema.get("$defs", {}).items()}
    while True:
        ends = {name for name, others in graph.items() if not others & graph.keys()}
        if not ends:
            return bool(graph)
        graph = {name: others for name, others in graph.items() if name not in ends}


def _references(schema: Any) -> list[str]:
    match schema:
        case {"$ref": str(target)}:
            return [target.removeprefix("#/$defs/")]
        case dict():
            return [name for each in schema.values() for name in _references(each)]
        case list():
            return [name for each in schema for name in _references(each)]
        case _:
            return []


def _takes(schema: JSONObject) -> Draft202012Validator:
    return Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)


def _is_accepted(tool: PrescribedTool, arguments: JSONObject) -> bool:
    try:
        ArgumentsValidator(tool.name, tool.arguments).check(arguments)
    except InvalidArguments:
        return False
    return True
