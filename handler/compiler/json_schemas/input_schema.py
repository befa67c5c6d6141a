"""The JSON Schemas of a prescribed tool's arguments: one to advertise, one to enforce.

Models read the advertised schema: a nullable ``Int`` is ``{"type": "integer"}`` and not required. The enforced schema
accepts all that GraphQL accepts: also ``null``, an integer for ``ID``, a single value for a list. It rejects
undeclared names.

Source: JSON Schema 2020-12; GraphQL specification, sections 3.5 to 3.12 (Input Coercion) and 6.1.2 (Coercing Variable
Values).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    InputValueDefinitionNode,
    VariableDefinitionNode,
    get_named_type,
)

from handler.compiler.json_schemas.defaults import default_of, fits, with_fitting_defaults
from handler.compiler.json_schemas.descriptions import enum_description, joined, strongest, type_description
from handler.compiler.json_schemas.input_writer import InputWriter, field_rules
from handler.compiler.json_schemas.inputs import Inputs
from handler.compiler.json_schemas.scalars import ANYTHING, NULL, Scalar, scalar_note, scalar_of
from handler.json_schema.input_types import named
from handler.policy.guarded_schema import guarded
from handler.strict_json import JSONObject


def advertised_schema(
    inputs: Inputs, *, scalars: Mapping[str, Scalar], descriptions: Mapping[str, str], flat: bool
) -> JSONObject:
    """Return the ``inputSchema`` of a tool's list entry, with the names of types: see ``json_schema/input_types.py``.

    ``flat``: the variables are the arguments (Cosmo's form); else they are nested in ``variables`` (StepZen's).
    ``scalars`` are the author's.
    """
    writer = _Advertised(inputs, inputs.filled_by_model, scalars)
    variables = writer.variables(descriptions)
    if flat:
        return with_fitting_defaults({"type": "object", **variables, **writer.definitions()})
    nested = _described({"type": "object", **variables}, descriptions.get("variables", ""))
    required = {"required": ["variables"]} if "required" in variables else {}
    outer = {"type": "object", "properties": {"variables": nested}, **required}
    return with_fitting_defaults({**outer, **writer.definitions()})


def enforced_schema(inputs: Inputs, *, scalars: Mapping[str, Scalar], flat: bool) -> JSONObject:
    """Return the schema that checks arguments before a request upstream. It uses ``json_schema/formats.py``."""
    writer = _Enforced(inputs, inputs.filled_by_model, scalars)
    closed = {"type": "object", **writer.variables(), "additionalProperties": False}
    if flat:
        return {**closed, **writer.definitions()}
    required = {"required": ["variables"]} if "required" in closed else {}
    # GraphQL over HTTP treats null variables as absent.
    variables = closed if required else {**closed, "type": ["object", "null"]}
    outer = {"type": "object", "properties": {"variables": variables}, **required, "additionalProperties": False}
    return {**outer, **writer.definitions()}


def bound_schema(inputs: Inputs, *, scalars: Mapping[str, Scalar]) -> JSONObject:
    """Return the schema that checks the values of an operation's bound variables."""
    writer = _Enforced(inputs, inputs.bound, scalars)
    return {"type": "object", **writer.variables(), **writer.definitions()}


class _Advertised(InputWriter):
    def _is_long_scalar(self, type_: GraphQLScalarType) -> bool:
        return "anyOf" in scalar_of(type_, self._scalars).advertised

    def variables(self, descriptions: Mapping[str, str]) -> JSONObject:
        properties: dict[str, JSONObject] = {}
        for name, type_ in self._types.items():
            nullable = name not in self._inputs.never_null
            schema = {**self._of(type_, nullable=nullable), **self._default(self._nodes[name], type_)}
            properties[name] = _described(schema, joined(descriptions.get(name, ""), self._note(type_)))
        return {"properties": properties, **self._required_variables()}

    def _of(self, type_: GraphQLInputType, *, nullable: bool = True) -> JSONObject:
        match type_:
            case GraphQLNonNull():
                return self._of(type_.of_type, nullable=False)
            case GraphQLList():
                return {"type": "array", "items": self._of(type_.of_type)}
            case GraphQLScalarType() if nullable and self._is_long_scalar(type_):
                # Some clients demand an optional argument, and refuse null, if only null is missing here.
                schema = self._named(type_)
                return {"anyOf": [*schema.get("anyOf", [schema]), NULL]}
            case _:
                return self._named(type_)

    def _definition(self, type_: Any) -> JSONObject:
        match type_:
            case GraphQLEnumType():
                listed: JSONObject = {"type": "string", "enum": list(self._inputs.values(type_))}
                schema = named(guarded(listed, self._inputs.guards(type_)), type_.name)
                said = enum_description(self._inputs.open_values(type_))
            case GraphQLInputObjectType():
                fields = self._inputs.fields(type_)
                properties = {
                    name: self._property(field, nullable=not type_.is_one_of) for name, field in fields.items()
                }
                known = {"type": "object", "properties": properties, **field_rules(type_, fields)}
                schema = named(guarded(known, self._inputs.guards(type_)), type_.name)
                said = ""
            case _:
                schema = scalar_of(type_, self._scalars).advertised
                said = ""
        # An inlined type is described by the property that holds it.
        return _described(schema, joined(type_.description, said)) if type_.name in self._defined else schema

    def _property(self, field: GraphQLInputField, *, nullable: bool) -> JSONObject:
        default = self._default(field.ast_node, field.type) if field.ast_node else {}
        named = get_named_type(field.type)
        text = strongest(field.description, "" if named.name in self._defined else type_description(named))
        return _described({**self._of(field.type, nullable=nullable), **default}, joined(text, self._note(field.type)))

    def _default(self, node: VariableDefinitionNode | InputValueDefinitionNode, type_: GraphQLInputType) -> JSONObject:
        found = default_of(node.default_value, type_)
        scalar = _nullable_type(type_)
        if not isinstance(scalar, GraphQLScalarType) or found.get("default") is None:
            return found
        # GraphQL accepts any literal for a custom scalar; a default that cannot be sent would mislead.
        return found if fits(found["default"], scalar_of(scalar, self._scalars).enforced) else {}

    def _note(self, type_: GraphQLInputType) -> str:
        """Return the note for every property of a type, also a described one; empty string if there is none."""
        match get_named_type(type_):
            case GraphQLEnumType() as named if named.name not in self._defined:
                return enum_description(self._inputs.open_values(named))
            case GraphQLScalarType() as named:
                return scalar_note(named, self._scalars)
            case _:
                return ""


class _Enforced(InputWriter):
    def _is_long_scalar(self, type_: GraphQLScalarType) -> bool:  # noqa: ARG002 - the base class declares it
        return False

    def variables(self) -> JSONObject:
        never_null = self._inputs.never_null
        properties = {
            name: self._value(_nullable_type(type_), nullable=False) if name in never_null else self._of(type_)
            for name, type_ in self._types.items()
        }
        return {"properties": properties, **self._required_variables()}

    def _of(self, type_: GraphQLInputType) -> JSONObject:
        return self._value(_nullable_type(type_), nullable=not isinstance(type_, GraphQLNonNull))

    def _value(self, type_: Any, *, nullable: bool) -> JSONObject:
        if not isinstance(type_, GraphQLList):
            return _nullable(self._named(type_)) if nullable else self._named(type_)
        named = get_named_type(type_)
        if isinstance(named, GraphQLInputObjectType):
            self._defined.add(named.name)  # used twice below
        return {
            "if": {"type": "array"},
            "then": {"items": self._item(type_.of_type)},
            "else": self._value(named, nullable=nullable),
        }

    def _item(self, type_: Any) -> JSONObject:
        """Return the schema of a list item. Nested lists are not coerced: servers differ on ``[1]`` for ``[[1]]``."""
        inner = _nullable_type(type_)
        if not isinstance(inner, GraphQLList):
            return self._of(type_)
        kinds = "array" if isinstance(type_, GraphQLNonNull) else ["array", "null"]
        return {"type": kinds, "items": self._item(inner.of_type)}

    def _definition(self, type_: Any) -> JSONObject:
        match type_:
            case GraphQLEnumType():
                return guarded({"enum": list(self._inputs.values(type_))}, self._inputs.guards(type_))
            case GraphQLInputObjectType():
                # The field given in a @oneOf object cannot be null.
                fields = self._inputs.fields(type_)
                properties = {
                    name: self._value(field.type, nullable=False) if type_.is_one_of else self._of(field.type)
                    for name, field in fields.items()
                }
                closed = {"type": "object", "properties": properties, "additionalProperties": False}
                return guarded({**closed, **field_rules(type_, fields)}, self._inputs.guards(type_))
            case _:
                return scalar_of(type_, self._scalars).enforced


def _nullable_type(type_: GraphQLInputType) -> Any:
    return type_.of_type if isinstance(type_, GraphQLNonNull) else type_


def _described(schema: JSONObject, description: str) -> JSONObject:
    return {**schema, "description": description} if description else schema


def _nullable(schema: JSONObject) -> JSONObject:
    if "enum" in schema:
        schema = {**schema, "enum": [*schema["enum"], None]}
    if "$ref" in schema:
        # Not anyOf: it gathers the violations of all branches before it yields the first.
        return {"if": {"not": {"type": "null"}}, "then": schema}
    if schema == ANYTHING:
        return {}
    if "type" not in schema:
        return schema
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return {**schema, "type": [*types, "null"]}
