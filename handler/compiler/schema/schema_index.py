"""The writer of the schema index, which ``graph/index.py`` reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from graphql import (
    DEFAULT_DEPRECATION_REASON,
    GraphQLArgument,
    GraphQLDirective,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLUnionType,
    StringValueNode,
    is_introspection_type,
    print_ast,
)
from graphql.language.block_string import is_printable_as_block_string

from handler.compiler.schema.directives import executable_directives, locations
from handler.graph.index import texts_in
from handler.search.postings import write_words
from handler.strict_json import JSONObject


def build_index(schema: GraphQLSchema, costs: Mapping[str, JSONObject] = MappingProxyType({})) -> JSONObject:
    """Return the schema index (see ``graph/index.py``), without subscriptions, which are not served.

    ``costs``: coordinate -> the cost part of a type's or field's entry.
    """
    roots = {"query": schema.query_type, "mutation": schema.mutation_type}
    return {
        "description": _description(schema.description),
        "roots": {kind: root.name for kind, root in roots.items() if root},
        "directives": {directive.name: _directive(directive) for directive in executable_directives(schema)},
        "types": {type_.name: _type(type_, costs) for type_ in _types_in_reading_order(schema)},
    }


def _types_in_reading_order(schema: GraphQLSchema) -> Iterator[GraphQLNamedType]:
    first = [root for root in (schema.query_type, schema.mutation_type) if root]
    yield from first
    for type_ in schema.type_map.values():
        if type_ not in first and type_ is not schema.subscription_type and not is_introspection_type(type_):
            yield type_


def _type(type_: GraphQLNamedType, costs: Mapping[str, JSONObject]) -> JSONObject:
    own = costs.get(type_.name, {})
    return {**_texts(type_.description, _type_directives(type_)), **_members(type_, costs), **own}


def _members(type_: GraphQLNamedType, costs: Mapping[str, JSONObject]) -> JSONObject:
    match type_:
        case GraphQLObjectType() | GraphQLInterfaceType():
            return {
                "kind": "object" if isinstance(type_, GraphQLObjectType) else "interface",
                "interfaces": [interface.name for interface in type_.interfaces],
                "fields": {
                    name: {**_field(field), **costs.get(f"{type_.name}.{name}", {})}
                    for name, field in type_.fields.items()
                },
            }
        case GraphQLInputObjectType():
            return {"kind": "input", "inputs": _inputs(type_.fields)}
        case GraphQLEnumType():
            values = {
                name: [_description(value.description), _deprecated(value.deprecation_reason)]
                for name, value in type_.values.items()
            }
            return {"kind": "enum", "values": values}
        case GraphQLUnionType():
            return {"kind": "union", "members": [member.name for member in type_.types]}
        case _:
            return {"kind": "scalar"}


def _directive(directive: GraphQLDirective) -> JSONObject:
    return {
        "on": locations(directive),
        "repeatable": directive.is_repeatable,
        **_texts(directive.description, ""),
        **({"arguments": _inputs(directive.args)} if directive.args else {}),
    }


def _field(field: GraphQLField) -> JSONObject:
    texts = _texts(field.description, _deprecated(field.deprecation_reason))
    arguments = {"arguments": _inputs(field.args)} if field.args else {}
    return {"type": str(field.type), **texts, **arguments}


def _inputs(values: Mapping[str, GraphQLArgument] | Mapping[str, GraphQLInputField]) -> JSONObject:
    return {name: _input(value) for name, value in values.items()}


def _input(value: GraphQLArgument | GraphQLInputField) -> JSONObject:
    node = value.ast_node.default_value if value.ast_node else None
    default = {"default": print_ast(node)} if node else {}
    return {
        "type": str(value.type),
        **default,
        **_texts(value.description, _deprecated(value.deprecation_reason)),
    }


def _texts(description: str | None, directives: str) -> JSONObject:
    texts = {"description": _description(description), "directives": directives}
    return {name: text for name, text in texts.items() if text}


def _description(text: str | None) -> str:
    """Print a description as SDL, not indented; empty string if there is none."""
    return print_ast(StringValueNode(value=text, block=is_printable_as_block_string(text))) if text else ""


def _deprecated(reason: str | None) -> str:
    if reason is None:
        return ""
    return " @deprecated" if reason == DEFAULT_DEPRECATION_REASON else f" @deprecated(reason: {_literal(reason)})"


def _type_directives(type_: GraphQLNamedType) -> str:
    match type_:
        case GraphQLScalarType() if type_.specified_by_url is not None:
            return f" @specifiedBy(url: {_literal(type_.specified_by_url)})"
        case GraphQLInputObjectType() if type_.is_one_of:
            return " @oneOf"
        case _:
            return ""


def _literal(text: str) -> Any:
    return print_ast(StringValueNode(value=text))


def with_words(content: JSONObject, synonyms: Mapping[str, Sequence[str]]) -> JSONObject:
    """Return the content of a schema index with its section of words. ``synonyms`` are the author's."""
    types = {name: texts_in(raw) for name, raw in content["types"].items()}
    return {**content, "words": write_words(types, synonyms)}
