"""The writer of the schema index, which ``graph/index.py`` reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import cast

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
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
from graphql.utilities.print_schema import print_deprecated, print_specified_by_url

from handler.compiler.schema.directives import executable_directives, locations
from handler.graph.index import texts_in
from handler.search.postings import write_words
from handler.strict_json import JSONObject


def build_index(schema: GraphQLSchema, costs: Mapping[str, JSONObject] = MappingProxyType({})) -> JSONObject:
    """Return the schema index (see ``graph/index.py``), without subscriptions, which are not served.

    ``costs``: coordinate -> the cost part of a type's or field's entry.
    """
    roots = {"query": schema.query_type, "mutation": schema.mutation_type}
    first: list[GraphQLNamedType] = [root for root in roots.values() if root]
    others = (type_ for type_ in schema.type_map.values() if type_ not in first)
    served = (type_ for type_ in others if type_ is not schema.subscription_type and not is_introspection_type(type_))
    return {
        "description": _description(schema.description),
        "roots": {kind: root.name for kind, root in roots.items() if root},
        "directives": {
            each.name: {
                "on": locations(each),
                "repeatable": each.is_repeatable,
                **_texts(each.description),
                **_arguments(each.args),
            }
            for each in executable_directives(schema)
        },
        "types": {type_.name: {**_type(type_, costs), **costs.get(type_.name, {})} for type_ in (*first, *served)},
    }


def _type(type_: GraphQLNamedType, costs: Mapping[str, JSONObject]) -> JSONObject:
    texts = _texts(type_.description)
    match type_:
        case GraphQLObjectType() | GraphQLInterfaceType():
            return {
                **texts,
                "kind": "object" if isinstance(type_, GraphQLObjectType) else "interface",
                "interfaces": [interface.name for interface in type_.interfaces],
                "fields": {
                    name: {
                        "type": str(field.type),
                        **_texts(field.description, print_deprecated(field.deprecation_reason)),
                        **_arguments(field.args),
                        **costs.get(f"{type_.name}.{name}", {}),
                    }
                    for name, field in type_.fields.items()
                },
            }
        case GraphQLInputObjectType():
            texts = _texts(type_.description, " @oneOf" if type_.is_one_of else "")
            return {**texts, "kind": "input", "inputs": _inputs(type_.fields)}
        case GraphQLEnumType():
            values = {
                name: [_description(value.description), print_deprecated(value.deprecation_reason)]
                for name, value in type_.values.items()
            }
            return {**texts, "kind": "enum", "values": values}
        case GraphQLUnionType():
            return {**texts, "kind": "union", "members": [member.name for member in type_.types]}
        case _:
            specified = print_specified_by_url(cast("GraphQLScalarType", type_))
            return {**_texts(type_.description, specified), "kind": "scalar"}


def _arguments(arguments: Mapping[str, GraphQLArgument]) -> JSONObject:
    return {"arguments": _inputs(arguments)} if arguments else {}


def _inputs(values: Mapping[str, GraphQLArgument] | Mapping[str, GraphQLInputField]) -> JSONObject:
    inputs = {}
    for name, value in values.items():
        node = value.ast_node.default_value if value.ast_node else None
        default = {"default": print_ast(node)} if node else {}
        texts = _texts(value.description, print_deprecated(value.deprecation_reason))
        inputs[name] = {"type": str(value.type), **default, **texts}
    return inputs


def _texts(description: str | None, directives: str = "") -> JSONObject:
    texts = {"description": _description(description), "directives": directives}
    return {name: text for name, text in texts.items() if text}


def _description(text: str | None) -> str:
    """Print a description as SDL, not indented; empty string if there is none."""
    if not text:
        return ""
    return print_ast(StringValueNode(value=text, block=is_printable_as_block_string(text)))


def with_words(content: JSONObject, synonyms: Mapping[str, Sequence[str]]) -> JSONObject:
    """Return the content of a schema index with its section of words. ``synonyms`` are the author's."""
    types = {name: texts_in(raw) for name, raw in content["types"].items()}
    return {**content, "words": write_words(types, synonyms)}
