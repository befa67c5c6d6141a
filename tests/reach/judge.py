"""The view that is enforced, seen from outside: through the answers of the function, and through views alone.

No part of ``handler/audience`` is used here, nor of the rules behind guards.
"""

from __future__ import annotations

import json
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLSchema,
    TypeInfo,
    build_client_schema,
    get_introspection_query,
    is_abstract_type,
    parse,
    validate,
)
from graphql.language import DocumentNode
from graphql.type import get_named_type

from handler.bundle.tools import GraphQLTool
from handler.compiler.operations.used_coordinates import coordinates_used
from handler.graph.view import View
from handler.policy.evaluation import Evaluation
from handler.server.auth.principal import ANONYMOUS, Principal
from handler.server.endpoints.endpoint import Endpoint
from tests.leaks.policies import Caller
from tests.support.function import Function

PLACEHOLDER = "_empty"
"""The field of a query type of which nothing else is visible."""

INTROSPECTION = get_introspection_query(descriptions=False, input_value_deprecation=False)


def principal_of(caller: Caller) -> Principal:
    """The caller as the function identifies them."""
    if not caller.key:
        return ANONYMOUS
    return Principal(kind="api_key", name=caller.name, claims=caller.claims, unrestricted=caller.claims is None)


def introspected(function: Function, tool: str, caller: Caller) -> GraphQLSchema | None:
    """The schema that the function shows a caller; ``None`` if it shows none."""
    path = f"/tools/{tool}/graphql" if tool else "/graphql"
    answer = function.graphql({"query": INTROSPECTION}, path, headers=caller.headers)
    data = answer.json.get("data") if answer.status == 200 else None
    return build_client_schema(data, assume_valid=True) if data else None


def is_of_no_object(schema: GraphQLSchema, coordinate: str) -> bool:
    """Whether the type of a coordinate is one that no object has, so that no valid document may select it."""
    owner = schema.get_type(coordinate.partition(".")[0])
    return is_abstract_type(owner) and not schema.get_possible_types(owner)


def has(schema: GraphQLSchema | None, coordinate: str) -> bool:
    """Whether a schema has a coordinate."""
    if schema is None:
        return False
    if coordinate.startswith("@"):
        name, _, argument = coordinate.removeprefix("@").removesuffix(":)").partition("(")
        directive = schema.get_directive(name)
        return directive is not None and (not argument or argument in directive.args)
    owner, _, rest = coordinate.partition(".")
    member, _, argument = rest.removesuffix(":)").partition("(")
    type_: Any = schema.get_type(owner)
    if schema.query_type and type_ is schema.query_type and schema.query_type.fields.keys() <= {PLACEHOLDER}:
        return False  # a schema needs a query type, even if nothing of it is visible
    if type_ is None or not member:
        return type_ is not None
    known = getattr(type_, "fields", None) or getattr(type_, "values", {})
    return member in known and (not argument or argument in known[member].args)


def shows(view: View, coordinate: str) -> bool:
    """Whether a view that is enforced has a coordinate."""
    if coordinate.startswith("@"):
        name, _, argument = coordinate.removeprefix("@").removesuffix(":)").partition("(")
        known = view.directives()
        return name in known and (not argument or argument in known[name].arguments)
    owner, _, rest = coordinate.partition(".")
    member, _, argument = rest.removesuffix(":)").partition("(")
    there = owner in view.members and (not member or member in view.members[owner])
    return there and (not argument or argument in view.arguments(owner, member))


def enforced_view(endpoint: Endpoint, tool: str, evaluation: Evaluation) -> View:
    """The view that judges a caller's documents."""
    found = endpoint.tools[tool] if tool else None
    of_tool = found if isinstance(found, GraphQLTool) else None
    conditions = (of_tool or endpoint.bundle.graphql).conditions
    return endpoint.schema.view(of_tool, evaluation.outcome(conditions))


def fault_of_document(text: str, coordinate: str, schema: GraphQLSchema) -> str:
    """Why a document is not a way to a coordinate in a schema; empty if it is one."""
    document = parse(text)
    errors = validate(schema, document)
    if errors:
        return f"{text} is not valid: {errors[0].message}"
    return "" if _names(document, coordinate, schema) else f"{text} does not name {coordinate}"


def _names(document: DocumentNode, coordinate: str, schema: GraphQLSchema) -> bool:
    used = set(coordinates_used(document, schema))
    if coordinate in used:
        return True
    owner = coordinate.partition(".")[0]
    if isinstance(schema.get_type(owner), GraphQLEnumType):  # a value that is only returned has no name in a document
        return owner in _types_in(document, schema)
    if "." in coordinate or coordinate.startswith("@"):
        # coordinates_used takes fields' own names; an argument of a field without a node is named in the text.
        return coordinate.endswith(":)") and f"{coordinate.partition('(')[2].removesuffix(')')} " in str(
            _text(document)
        )
    return coordinate in _types_in(document, schema)


def _text(document: DocumentNode) -> str:
    source = document.loc.source.body if document.loc else ""
    return str(source)


def _types_in(document: DocumentNode, schema: GraphQLSchema) -> set[str]:
    """The types that a document returns, and those of its variables."""
    from graphql import TypeInfoVisitor, Visitor, visit

    types = TypeInfo(schema)
    found: set[str] = set()

    class Collector(Visitor):
        def enter(self, node: Any, *_: Any) -> None:
            for type_ in (types.get_type(), types.get_parent_type(), types.get_input_type()):
                if type_ is not None:
                    found.add(get_named_type(type_).name)
            if node.kind == "named_type":
                found.add(node.name.value)

    visit(document, TypeInfoVisitor(types, Collector()))
    return found


def listed(function: Function, caller: Caller) -> dict[str, str]:
    """Tool -> its entry as JSON, for the tools that the function lists to a caller."""
    answer = function.request("tools/list", headers=caller.headers)
    return {entry["name"]: json.dumps(entry) for entry in answer.result["tools"]} if answer.status == 200 else {}
