"""The JSON Schemas of a prescribed tool's arguments: one to advertise, one to enforce.

Models read the advertised schema: a nullable ``Int`` is ``{"type": "integer"}`` and not required. The enforced schema
accepts all that GraphQL accepts: also ``null``, an integer for ``ID``, a single value for a list. It rejects
undeclared names.

Source: JSON Schema 2020-12; GraphQL specification, sections 3.5 to 3.12 (Input Coercion) and 6.1.2 (Coercing Variable
Values).
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLEnumValue,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLScalarType,
    GraphQLSchema,
    InputValueDefinitionNode,
    VariableDefinitionNode,
    VariableNode,
    get_named_type,
    get_nullable_type,
    type_from_ast,
)

from handler.compiler.json_schemas.defaults import default_of, fits, with_fitting_defaults
from handler.compiler.json_schemas.descriptions import enum_description, joined_texts, strongest, type_description
from handler.compiler.json_schemas.scalars import ANYTHING, NULL, Scalar, scalar_note, scalar_of
from handler.compiler.operations.author_operations import AuthorOperation
from handler.compiler.operations.used_coordinates import typed_nodes
from handler.json_schema.input_types import leaves_first, with_type_name
from handler.policy.evaluation import DEFAULT, HIDDEN, OPEN, Mask, hidden_from_everybody
from handler.policy.guarded_schema import guarded
from handler.strict_json import JSONObject

MAX_INLINE_DEPTH = 8
"""Input objects nested deeper than this are references: easier to read, and a recursive type needs one."""

LONG_ENUM_BYTES = 200
"""Shorter enums are repeated at each use: a reference costs the reader more than it saves."""


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
        return with_fitting_defaults({**variables, **writer.definitions()})
    nested = _described(variables, descriptions.get("variables", ""))
    required = {"required": ["variables"]} if "required" in variables else {}
    outer = {"type": "object", "properties": {"variables": nested}, **required}
    return with_fitting_defaults({**outer, **writer.definitions()})


def enforced_schema(inputs: Inputs, *, scalars: Mapping[str, Scalar], flat: bool) -> JSONObject:
    """Return the schema that checks arguments before a request upstream. It uses ``json_schema/formats.py``."""
    writer = _Enforced(inputs, inputs.filled_by_model, scalars)
    closed = {**writer.variables(), "additionalProperties": False}
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
    return {**writer.variables(), **writer.definitions()}


class Inputs:
    """The variables of one operation, their types, and the usable members of the input objects and enums below them.

    ``mask`` is the operation's: every caller with variables meets it. ``access/propagation.py`` hides a type
    without usable members, and its uses. Fields and variables whose type is in ``left_out`` are left out.
    """

    def __init__(
        self,
        operation: AuthorOperation,
        schema: GraphQLSchema,
        guards: Mapping[str, Mask],
        *,
        mask: Mask,
        left_out: Container[str] = (),
    ) -> None:
        hidden = hidden_from_everybody(guards)
        self._guards = guards
        self._mask = mask
        nodes = [*operation.filled_by_model, *operation.bound]
        self.types: dict[str, Any] = {node.variable.name.value: type_from_ast(schema, node.type) for node in nodes}
        self._members: dict[str, tuple[str, ...]] = {}
        for type_ in self.defined:
            is_enum = isinstance(type_, GraphQLEnumType)
            members = type_.values if is_enum else type_.fields
            self._members[type_.name] = tuple(
                member
                for member in members
                if not hidden(f"{type_.name}.{member}")
                and (is_enum or get_named_type(members[member].type).name not in left_out)
            )
        self._operation, self._schema = operation, schema
        self.bound = operation.bound
        self.filled_by_model: list[VariableDefinitionNode] = []
        for node in operation.filled_by_model:
            type_name = get_named_type(self.types[node.variable.name.value]).name
            if not hidden(type_name) and type_name not in left_out:
                self.filled_by_model.append(node)

    @cached_property
    def never_null(self) -> frozenset[str]:
        """The variables in places where GraphQL rejects null, also nullable ones that have a default.

        Source: GraphQL specification, section 5.8.5 (All Variable Usages Are Allowed).
        """
        nodes = typed_nodes(self._operation.document, self._schema) if self.types else ()
        non_null_places = frozenset(
            node.name.value
            for node, types in nodes
            if isinstance(node, VariableNode) and isinstance(types.get_input_type(), GraphQLNonNull)
        )
        return non_null_places - self._operation.optional_conditions

    @property
    def visible(self) -> list[str]:
        """The variables that a model may know."""
        return [node.variable.name.value for node in self.filled_by_model]

    @property
    def defined(self) -> list[Any]:
        """The input objects and enums in or below the types."""
        return _types_below(self.types.values(), lambda type_: type_.fields)

    def fields(self, type_: GraphQLInputObjectType) -> dict[str, GraphQLInputField]:
        """Return the usable fields. One whose default is guarded is not null; without the default it is required."""
        names = self._members[type_.name]
        return {name: self._field(f"{type_.name}.{name}{DEFAULT}", type_.fields[name]) for name in names}

    def _field(self, default: str, field: GraphQLInputField) -> GraphQLInputField:
        mask = self._guards.get(default, OPEN) - self._mask
        if not mask:
            return field
        changed = copy(field)
        changed.type = field.type if isinstance(field.type, GraphQLNonNull) else GraphQLNonNull(field.type)
        if mask >= HIDDEN and field.ast_node:
            changed.ast_node = replace(field.ast_node, default_value=None)
        return changed

    def values(self, type_: GraphQLEnumType) -> dict[str, GraphQLEnumValue]:
        """Return the usable values."""
        return {name: type_.values[name] for name in self._members[type_.name]}

    def guards(self, type_: GraphQLInputObjectType | GraphQLEnumType) -> dict[str, Mask]:
        """Return member, or its default -> conditions beyond the operation's mask, for those that need any."""
        names = [each for name in self._members[type_.name] for each in (name, f"{name}{DEFAULT}")]
        masks = {name: self._guards.get(f"{type_.name}.{name}", OPEN) - self._mask for name in names}
        return {name: mask for name, mask in masks.items() if mask and HIDDEN.isdisjoint(mask)}

    def open_values(self, type_: GraphQLEnumType) -> dict[str, GraphQLEnumValue]:
        """Return the values that every caller of the operation can give."""
        guarded = self.guards(type_)
        return {name: value for name, value in self.values(type_).items() if name not in guarded}

    def enums(self) -> list[GraphQLEnumType]:
        """Return the enums in the types of variables that a model fills."""
        types = [self.types[node.variable.name.value] for node in self.filled_by_model]
        return [type_ for type_ in _types_below(types, self.fields) if isinstance(type_, GraphQLEnumType)]


def _types_below(
    types: Iterable[Any], fields_of: Callable[[GraphQLInputObjectType], Mapping[str, GraphQLInputField]]
) -> list[Any]:
    """Return the input objects and enums in or below some types."""
    below: dict[str, Any] = {}
    waiting = list(types)
    while waiting:
        type_ = get_named_type(waiting.pop())
        if isinstance(type_, GraphQLInputObjectType | GraphQLEnumType) and type_.name not in below:
            below[type_.name] = type_
            if isinstance(type_, GraphQLInputObjectType):
                waiting += [field.type for field in fields_of(type_).values()]
    return list(below.values())


class _Writer:
    """Writer of the schemas of one operation's variables. Shared, recursive and deep types go into ``$defs``."""

    shares_scalars = False
    """Scalars with long schemas go into ``$defs`` too."""

    def __init__(self, inputs: Inputs, nodes: Sequence[VariableDefinitionNode], scalars: Mapping[str, Scalar]) -> None:
        self._inputs = inputs
        self._scalars = scalars
        self._nodes = {node.variable.name.value: node for node in nodes}
        self._types: dict[str, Any] = {name: inputs.types[name] for name in self._nodes}
        self._defined = self._not_inlined()
        self._referred: dict[str, GraphQLNamedType] = {}

    def definitions(self) -> JSONObject:
        """Return ``$defs`` with every referenced type, transitively; empty if there are no references."""
        schemas: dict[str, JSONObject] = {}
        while missing := [type_ for name, type_ in self._referred.items() if name not in schemas]:
            schemas |= {type_.name: self._definition(type_) for type_ in missing}
        return {"$defs": leaves_first(schemas)} if schemas else {}

    def _not_inlined(self) -> set[str]:
        """Return the names of the types that are used more than once or nested too deep."""
        visited: set[str] = set()
        names: set[str] = set()
        waiting = deque((type_, 0) for type_ in self._definable(self._types.values()))
        while waiting:
            type_, depth = waiting.popleft()
            is_object = isinstance(type_, GraphQLInputObjectType)
            if type_.name in visited or (is_object and depth >= MAX_INLINE_DEPTH):
                names.add(type_.name)
            if isinstance(type_, GraphQLInputObjectType) and type_.name not in visited:
                below = self._definable(field.type for field in self._inputs.fields(type_).values())
                waiting.extend((inner, depth + 1) for inner in below)
            visited.add(type_.name)
        return names

    def _definable(self, types: Iterable[Any]) -> Iterator[GraphQLNamedType]:
        for type_ in types:
            match get_named_type(type_):
                case GraphQLInputObjectType() as below:
                    yield below
                case GraphQLEnumType() as below:
                    values = self._inputs.values(below)
                    if len(json.dumps([*values, enum_description(values)])) > LONG_ENUM_BYTES:
                        yield below
                case GraphQLScalarType() as below if self._is_defined_scalar(below):
                    yield below

    def _is_defined_scalar(self, type_: GraphQLScalarType) -> bool:
        return self.shares_scalars and "anyOf" in scalar_of(type_, self._scalars).advertised

    def _object(self, properties: JSONObject) -> JSONObject:
        """Return the schema of an object of the variables."""
        names = [
            name
            for name, node in self._nodes.items()
            if isinstance(self._types[name], GraphQLNonNull) and not node.default_value
        ]
        return {"type": "object", "properties": properties, **_required(names)}

    def _named(self, type_: Any) -> JSONObject:
        """Return the schema of a named type's values except ``null``: a reference or the definition."""
        if type_.name in self._defined:
            self._referred[type_.name] = type_
            return {"$ref": f"#/$defs/{type_.name}"}
        return self._definition(type_)

    def _definition(self, type_: Any) -> JSONObject:
        raise NotImplementedError


class _Advertised(_Writer):
    shares_scalars = True

    def variables(self, descriptions: Mapping[str, str]) -> JSONObject:
        properties: dict[str, JSONObject] = {}
        for name, type_ in self._types.items():
            nullable = name not in self._inputs.never_null
            schema = {**self._of(type_, nullable=nullable), **self._default(self._nodes[name], type_)}
            properties[name] = _described(schema, joined_texts(descriptions.get(name, ""), self._note(type_)))
        return self._object(properties)

    def _of(self, type_: GraphQLInputType, *, nullable: bool = True) -> JSONObject:
        match type_:
            case GraphQLNonNull():
                return self._of(type_.of_type, nullable=False)
            case GraphQLList():
                return {"type": "array", "items": self._of(type_.of_type)}
            case GraphQLScalarType() if nullable and self._is_defined_scalar(type_):
                # Some clients demand an optional argument, and refuse null, if only null is missing here.
                schema = self._named(type_)
                return {"anyOf": [*schema.get("anyOf", [schema]), NULL]}
            case _:
                return self._named(type_)

    def _definition(self, type_: Any) -> JSONObject:
        values = ""
        match type_:
            case GraphQLEnumType():
                listed: JSONObject = {"type": "string", "enum": list(self._inputs.values(type_))}
                schema = with_type_name(guarded(listed, self._inputs.guards(type_)), type_.name)
                values = enum_description(self._inputs.open_values(type_))
            case GraphQLInputObjectType():
                fields = self._inputs.fields(type_)
                properties = {
                    name: self._property(field, nullable=not type_.is_one_of) for name, field in fields.items()
                }
                members = {"type": "object", "properties": properties, **_field_rules(type_, fields)}
                schema = with_type_name(guarded(members, self._inputs.guards(type_)), type_.name)
            case _:
                schema = scalar_of(type_, self._scalars).advertised
        # An inlined type is described by the property that holds it.
        return _described(schema, joined_texts(type_.description, values)) if type_.name in self._defined else schema

    def _property(self, field: GraphQLInputField, *, nullable: bool) -> JSONObject:
        default = self._default(field.ast_node, field.type) if field.ast_node else {}
        below = get_named_type(field.type)
        text = strongest(field.description, "" if below.name in self._defined else type_description(below))
        return _described(
            {**self._of(field.type, nullable=nullable), **default}, joined_texts(text, self._note(field.type))
        )

    def _default(self, node: VariableDefinitionNode | InputValueDefinitionNode, type_: GraphQLInputType) -> JSONObject:
        default = default_of(node.default_value, type_)
        scalar = get_nullable_type(type_)
        if not isinstance(scalar, GraphQLScalarType) or default.get("default") is None:
            return default
        # GraphQL accepts any literal for a custom scalar; a default that cannot be sent would mislead.
        return default if fits(default["default"], scalar_of(scalar, self._scalars).enforced) else {}

    def _note(self, type_: GraphQLInputType) -> str:
        """Return the note for every property of a type, also a described one; empty string if there is none."""
        match get_named_type(type_):
            case GraphQLEnumType() as enum if enum.name not in self._defined:
                return enum_description(self._inputs.open_values(enum))
            case GraphQLScalarType() as scalar:
                return scalar_note(scalar, self._scalars)
            case _:
                return ""


class _Enforced(_Writer):
    def variables(self) -> JSONObject:
        never_null = self._inputs.never_null
        return self._object(
            {
                name: self._value(get_nullable_type(type_), nullable=False) if name in never_null else self._of(type_)
                for name, type_ in self._types.items()
            }
        )

    def _of(self, type_: GraphQLInputType) -> JSONObject:
        return self._value(get_nullable_type(type_), nullable=not isinstance(type_, GraphQLNonNull))

    def _value(self, type_: Any, *, nullable: bool) -> JSONObject:
        if not isinstance(type_, GraphQLList):
            return _nullable(self._named(type_)) if nullable else self._named(type_)
        below = get_named_type(type_)
        if isinstance(below, GraphQLInputObjectType):
            self._defined.add(below.name)  # used twice below
        return {
            "if": {"type": "array"},
            "then": {"items": self._item(type_.of_type)},
            "else": self._value(below, nullable=nullable),
        }

    def _item(self, type_: Any) -> JSONObject:
        """Return the schema of a list item. Nested lists are not coerced: servers differ on ``[1]`` for ``[[1]]``."""
        inner = get_nullable_type(type_)
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
                return guarded({**closed, **_field_rules(type_, fields)}, self._inputs.guards(type_))
            case _:
                return scalar_of(type_, self._scalars).enforced


def _field_rules(type_: GraphQLInputObjectType, fields: Mapping[str, GraphQLInputField]) -> JSONObject:
    """Return the keywords for the members that an input object needs."""
    names = [
        name
        for name, field in fields.items()
        if isinstance(field.type, GraphQLNonNull) and not (field.ast_node and field.ast_node.default_value)
    ]
    return {**_required(names), **({"minProperties": 1, "maxProperties": 1} if type_.is_one_of else {})}


def _required(names: list[str]) -> JSONObject:
    return {"required": names} if names else {}


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


class SharedDefinitions:
    """Keeps one object of all equal definitions: memory and the work of later steps do not grow with tools times types.

    Nothing may change a schema that it has returned.
    """

    def __init__(self) -> None:
        self._definitions: dict[str, Any] = {}  # by their JSON
        self._groups: dict[tuple[tuple[str, int], ...], JSONObject] = {}  # by names and identities of definitions

    def shared(self, schema: JSONObject) -> JSONObject:
        """Return an equal schema whose ``$defs`` are the objects that equal schemas have."""
        if "$defs" not in schema:
            return schema
        group = {name: self._definitions.setdefault(json.dumps(each), each) for name, each in schema["$defs"].items()}
        key = tuple((name, id(each)) for name, each in group.items())
        return {**schema, "$defs": self._groups.setdefault(key, group)}
