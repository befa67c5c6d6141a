"""List sizes and weights of types and fields, from ``@listSize``, ``@cost`` and ``limits.list_sizes``.

Both directives are read before the schema loses the directives of other systems.

Source: "The GraphQL Cost Directives Specification" (IBM); Apollo Federation and Hot Chocolate take the same directives.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from graphql import (
    DefinitionNode,
    DirectiveNode,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    get_named_type,
    value_from_ast_untyped,
)

from handler.compiler.config.table import MAX_LIST_SIZE
from handler.compiler.problems import Problems
from handler.compiler.schema.coordinates import resolve
from handler.compiler.schema.vendor_directives import coordinates_of
from handler.compiler.source.yaml_section import Section
from handler.errors.authoring import UnknownCoordinate
from handler.strict_json import JSONObject
from handler.text.sentences import did_you_mean

LIST_SIZE = ("listSize", "federation__listSize")
COST = ("cost", "federation__cost")


def declared_costs(definitions: Iterable[DefinitionNode], problems: Problems) -> dict[str, JSONObject]:
    """Return coordinate of a field or type -> its cost entry for the schema index. Invalid values are warnings."""
    costs: dict[str, JSONObject] = {}
    for node in definitions:
        for coordinate, part in coordinates_of(node).items():
            for directive in getattr(part, "directives", None) or ():
                entry = _said(directive, part, problems)
                if entry:
                    costs.setdefault(coordinate, {}).update(entry)
    return costs


def with_list_sizes(
    costs: Mapping[str, JSONObject], sizes: Section, schema: GraphQLSchema, problems: Problems
) -> dict[str, JSONObject]:
    """Add ``limits.list_sizes`` to the costs; it overrides the assumed sizes of fields."""
    merged = dict(costs)
    for text in sizes.keys():  # noqa: SIM118 - a Section is not a dict
        size = sizes.integer(text)
        try:
            coordinate = resolve(schema, text)
        except UnknownCoordinate as exc:
            problems.add(sizes.key_place(text), f'limits.list_sizes "{text:.80}": {exc}', code="unknown-coordinate")
            continue
        if not _has_a_list(schema, coordinate):
            sentence = "expected a field that returns a list, or an object with one"
            problems.add(sizes.key_place(text), f'limits.list_sizes "{text:.80}": {sentence}', code="not-a-list")
            continue
        own = merged.get(coordinate, {})
        merged[coordinate] = {**own, "size": {**own.get("size", {}), "assumed": size}}
    return merged


def _said(directive: DirectiveNode, part: Any, problems: Problems) -> JSONObject:
    name = directive.name.value
    values = {argument.name.value: value_from_ast_untyped(argument.value) for argument in directive.arguments or ()}
    if name in COST and "weight" in values:
        return _weight(directive, values["weight"], problems)
    if name in LIST_SIZE and part.kind == "field_definition":
        return {"size": _size(directive, values, part, problems)}
    return {}


def _weight(directive: DirectiveNode, text: Any, problems: Problems) -> JSONObject:
    """Read a weight, which the specification defines as text, so that it may be a fraction."""
    try:
        weight = float(text)
    except (TypeError, ValueError):
        weight = math.nan
    if not 0 <= weight <= MAX_LIST_SIZE:
        problems.warn(
            directive, f'@cost: weight "{text!s:.40}" is not a number from 0 on, so it is ignored', code="invalid-cost"
        )
        return {}
    return {"weight": weight}


def _size(directive: DirectiveNode, given: Mapping[str, Any], field: Any, problems: Problems) -> JSONObject:
    slicing = _texts(given.get("slicingArguments"))
    arguments = [argument.name.value for argument in field.arguments or ()]
    for path in slicing:
        name = path.partition(".")[0]
        if name not in arguments:
            sentence = f'@listSize: "{field.name.value}" has no argument "{name:.60}"{did_you_mean(name, arguments)}'
            problems.warn(directive, sentence, code="unknown-slicing-argument")
    size = {
        "assumed": _count(given.get("assumedSize")),
        "default": _count(given.get("slicingArgumentDefaultValue")),  # Hot Chocolate's
        "slicing": [path for path in slicing if path.partition(".")[0] in arguments],
        "fields": _texts(given.get("sizedFields")),
        "one": given.get("requireOneSlicingArgument") is not False and bool(slicing),
    }
    return {name: value for name, value in size.items() if value is not None and value is not False and value != []}


def _texts(value: Any) -> list[str]:
    """Return the texts of a list; a single text counts as a list."""
    values = value if isinstance(value, list) else [value]
    return [text for text in values if isinstance(text, str)]


def _count(value: Any) -> int | None:
    return min(value, MAX_LIST_SIZE) if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _has_a_list(schema: GraphQLSchema, coordinate: str) -> bool:
    type_name, _, field_name = coordinate.partition(".")
    type_ = schema.get_type(type_name)
    if not isinstance(type_, GraphQLObjectType | GraphQLInterfaceType) or field_name not in type_.fields:
        return False
    returned: Any = type_.fields[field_name].type
    below = getattr(get_named_type(returned), "fields", {})
    return _is_list(returned) or any(_is_list(field.type) for field in below.values())


def _is_list(type_: Any) -> bool:
    return isinstance(type_.of_type if isinstance(type_, GraphQLNonNull) else type_, GraphQLList)
