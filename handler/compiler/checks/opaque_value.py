"""A warning of scalars that may hold a whole object with any of its fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from graphql import GraphQLScalarType, get_named_type, is_specified_scalar_type

from handler.compiler.access.name_matching import spellings, words_in
from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.exposure import GuardedTool, guarded_tools, parts_of
from handler.compiler.checks.finding import Finding, check
from handler.text.sentences import some

PLAIN_SCALAR = re.compile(
    r"bigint|boolean|bytes?|color|country|currency|cursor|date|datetime|day|decimal|double|duration|email|float|guid|"
    r"hash|html|id|int|integer|interval|ip|ipv[46]|locale|long|money|month|numeric|phone|short|string|text|time|"
    r"timestamp|timestamptz|timetz|timezone|uri|url|uuid|void|year"
)
"""Words in the names of scalars that hold one value. Other scalars may hold anything."""


@check("opaque-value")
def opaque_value(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find fields and inputs of types with guarded fields whose values may have any form."""
    for tool in guarded_tools(endpoint):
        opaque = [*_outputs(tool), *_inputs(tool)]
        if opaque:
            sentence = f"{some(opaque)} may hold any value, including guarded fields of {some(sorted(tool.types))}"
            yield Finding(tool.at, sentence, tuple(opaque))


def _outputs(tool: GuardedTool) -> Iterator[str]:
    types = tool.types
    for coordinate, field in tool.shown.items():
        if coordinate.split(".")[0] in types and _is_opaque(get_named_type(field.type)):
            yield coordinate


def _inputs(tool: GuardedTool) -> Iterator[str]:
    for coordinate in tool.visible_inputs(tool.questions.about(tool.types)):
        owner, name, argument = parts_of(coordinate)
        holder: Any = tool.schema.type_map[owner]
        taken = holder.fields[name].args.get(argument) if argument else getattr(holder, "fields", {}).get(name)
        if taken and _is_opaque(get_named_type(taken.type)):
            yield coordinate


def _is_opaque(type_: object) -> bool:
    if not isinstance(type_, GraphQLScalarType) or is_specified_scalar_type(type_):
        return False
    return not any(PLAIN_SCALAR.fullmatch(word) for word in words_in(type_.name) | spellings(type_.name))
