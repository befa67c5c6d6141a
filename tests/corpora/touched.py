"""Which coordinates a valid document touches, by itself and by its variables. It shares no code with the product."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from graphql import (
    ArgumentNode,
    DocumentNode,
    EnumValueNode,
    FieldNode,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLSchema,
    ListValueNode,
    ObjectValueNode,
    TypeInfo,
    TypeInfoVisitor,
    ValueNode,
    VariableDefinitionNode,
    Visitor,
    get_named_type,
    is_abstract_type,
    is_input_object_type,
    is_interface_type,
    is_object_type,
    is_required_argument,
    is_required_input_field,
    type_from_ast,
    visit,
)


def touched(schema: GraphQLSchema, document: DocumentNode, variables: Mapping[str, Any]) -> set[str]:
    """The coordinates of types, fields, arguments, input fields and enum values that a document and its values name.

    A field of an interface touches the same field of all that may stand for it, and of the interfaces it fills.
    """
    visitor = _Touching(schema, variables)
    visit(document, TypeInfoVisitor(visitor.info, visitor))
    return visitor.found


def with_what_is_lost(schema: GraphQLSchema, hidden: Collection[str]) -> set[str]:
    """``hidden`` with what cannot be used without it, and the inputs of fields that look up or compare by it.

    An input of a field is one of these if the letters of a hidden field stand in its name, and the field returns the
    type of that, a list or page of it, or an interface or union that it may stand for.
    """
    gone = set(hidden)
    while True:
        more = {name for name, type_ in schema.type_map.items() if _has_nothing_left(type_, gone)}
        more |= {coordinate for coordinate, field in _fields(schema) if _is_lost(coordinate, field, gone)}
        more |= {_above(coordinate, each) for coordinate in gone for each in _interfaces(schema, coordinate)}
        more |= {coordinate for coordinate, _ in _fields(schema) if _fills_any(schema, coordinate, gone)}
        more |= set(_telling(schema, gone))
        if more <= gone:
            return gone
        gone |= more


def _fields(schema: GraphQLSchema) -> Iterator[tuple[str, GraphQLField]]:
    for name, type_ in schema.type_map.items():
        if (is_object_type(type_) or is_interface_type(type_)) and not name.startswith("__"):
            yield from ((f"{name}.{each}", field) for each, field in type_.fields.items())


def _has_nothing_left(type_: Any, gone: Collection[str]) -> bool:
    members = [*getattr(type_, "fields", ()), *getattr(type_, "values", ())]
    if is_input_object_type(type_):
        required = (name for name, field in type_.fields.items() if is_required_input_field(field))
        if any(f"{type_.name}.{name}" in gone for name in required):
            return True
    return bool(members) and all(f"{type_.name}.{name}" in gone for name in members)


def _is_lost(coordinate: str, field: GraphQLField, gone: Collection[str]) -> bool:
    required = [name for name, argument in field.args.items() if is_required_argument(argument)]
    return get_named_type(field.type).name in gone or any(f"{coordinate}({name}:)" in gone for name in required)


def _interfaces(schema: GraphQLSchema, coordinate: str) -> list[Any]:
    owner, _, member = coordinate.partition(".")
    found = getattr(schema.type_map[owner], "interfaces", ())
    return [each for each in found if member.partition("(")[0] in each.fields]


def _fills_any(schema: GraphQLSchema, coordinate: str, gone: Collection[str]) -> bool:
    return any(_above(coordinate, each) in gone for each in _interfaces(schema, coordinate))


def _above(coordinate: str, interface: Any) -> str:
    return f"{interface.name}.{coordinate.partition('.')[2]}"


def _telling(schema: GraphQLSchema, gone: Collection[str]) -> Iterator[str]:
    secrets: dict[str, set[str]] = {}
    for coordinate in gone:
        owner, _, name = coordinate.partition(".")
        if name and "(" not in name:
            secrets.setdefault(owner, set()).add(_letters(name))
    for coordinate, field in _fields(schema):
        rows = _rows(schema, get_named_type(field.type))
        names = set().union(*(secrets.get(row, set()) for row in rows))
        for asked in _inputs(coordinate, field) if names else ():
            last = _letters(asked.removesuffix(":)").replace("(", ".").split(".")[-1])
            if any(name in last for name in names):
                yield asked


def _letters(name: str) -> str:
    return name.replace("_", "").lower()


def _rows(schema: GraphQLSchema, type_: Any) -> set[str]:
    """A type, those on a page of it, and all that may stand for them."""
    found = {type_}
    for name in ("nodes", "items", "edges"):
        held = getattr(type_, "fields", {}).get(name)
        found |= {get_named_type(held.type)} if held else set()
    found |= {get_named_type(each.fields["node"].type) for each in list(found) if "node" in getattr(each, "fields", {})}
    below = {one for each in found if is_abstract_type(each) for one in schema.get_possible_types(each)}
    return {each.name for each in found | below}


def _inputs(coordinate: str, field: GraphQLField) -> Iterator[str]:
    """The arguments of a field, and all inputs below them."""
    yield from (f"{coordinate}({name}:)" for name in field.args)
    seen = {get_named_type(argument.type) for argument in field.args.values()}
    waiting = list(seen)
    while waiting:
        type_: Any = waiting.pop()
        yield from (f"{type_.name}.{name}" for name in [*getattr(type_, "fields", ()), *getattr(type_, "values", ())])
        new = {get_named_type(each.type) for each in getattr(type_, "fields", {}).values()} - seen
        seen |= new
        waiting += new


class _Touching(Visitor):
    def __init__(self, schema: GraphQLSchema, variables: Mapping[str, Any]) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.info = TypeInfo(schema)
        self._schema = schema
        self._variables = variables

    def enter_field(self, node: FieldNode, *_: object) -> None:
        parent, field = self.info.get_parent_type(), self.info.get_field_def()
        if parent and field and not node.name.value.startswith("__"):
            self.found |= {parent.name, get_named_type(field.type).name}
            self.found |= {f"{owner}.{node.name.value}" for owner in self._owners(parent, node.name.value)}

    def enter_argument(self, node: ArgumentNode, *_: object) -> None:
        parent, field, argument = self.info.get_parent_type(), self.info.get_field_def(), self.info.get_argument()
        if parent and field and argument:
            name = next(name for name, each in parent.fields.items() if each is field)  # type: ignore[union-attr]
            self.found |= {f"{owner}.{name}({node.name.value}:)" for owner in self._owners(parent, name)}
            self.found |= {get_named_type(argument.type).name}
            self._touch_literal(argument.type, node.value)

    def enter_variable_definition(self, node: VariableDefinitionNode, *_: object) -> None:
        type_ = type_from_ast(self._schema, node.type)
        if type_ is not None:
            self.found.add(get_named_type(type_).name)
            if node.default_value:
                self._touch_literal(type_, node.default_value)
            self._touch_value(type_, self._variables.get(node.variable.name.value))

    def _owners(self, type_: Any, field: str) -> Iterator[str]:
        """A type, what may stand for it, and the interfaces that it fills, as far as they have a field."""
        near = [type_, *getattr(type_, "interfaces", ())]
        if is_interface_type(type_):
            below = self._schema.get_implementations(type_)
            near += [*below.objects, *below.interfaces]
        yield from (each.name for each in near if field in getattr(each, "fields", {}))

    def _touch_literal(self, type_: Any, node: ValueNode) -> None:
        named = get_named_type(type_)
        match node:
            case ListValueNode(values=values):
                for each in values or ():
                    self._touch_literal(type_, each)
            case ObjectValueNode(fields=fields) if isinstance(named, GraphQLInputObjectType):
                for field in fields or ():
                    self.found |= {named.name, f"{named.name}.{field.name.value}"}
                    self._touch_literal(named.fields[field.name.value].type, field.value)
            case EnumValueNode(value=value):
                self.found |= {named.name, f"{named.name}.{value}"}
            case _:
                pass

    def _touch_value(self, type_: Any, value: Any) -> None:
        named = get_named_type(type_)
        match value:
            case list():
                for each in value:
                    self._touch_value(type_, each)
            case dict() if isinstance(named, GraphQLInputObjectType):
                for name, each in value.items():
                    self.found |= {named.name, f"{named.name}.{name}"}
                    self._touch_value(named.fields[name].type, each)
            case str() if isinstance(named, GraphQLEnumType):
                self.found |= {named.name, f"{named.name}.{value}"}
            case _:
                pass
