"""Which coordinates a valid document touches, by itself and by its variables. It shares no code with the product."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphql import (
    ArgumentNode,
    DirectiveNode,
    DocumentNode,
    EnumValueNode,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    ListValueNode,
    NamedTypeNode,
    NameNode,
    Node,
    NullValueNode,
    ObjectValueNode,
    TypeInfo,
    TypeInfoVisitor,
    ValueNode,
    VariableDefinitionNode,
    VariableNode,
    Visitor,
    get_named_type,
    is_interface_type,
    type_from_ast,
    visit,
)


def touched(schema: GraphQLSchema, document: DocumentNode, variables: Mapping[str, Any]) -> set[str]:
    """The coordinates of types, fields, arguments, input fields and enum values that a document and its values name.

    A type condition names a type, and a directive itself. A field of an interface touches the same field of all that
    may stand for it, and of the interfaces it fills. Where no value is given, or perhaps none, the API applies a
    default: what that names is touched, too.
    """
    visitor = _Touching(schema, variables)
    visit(document, TypeInfoVisitor(visitor.info, visitor))
    return visitor.found


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
            owners = list(self._owners(parent, node.name.value))
            self.found |= {f"{owner}.{node.name.value}" for owner in owners}
            for owner in owners:
                self._touch_defaults(self._schema.type_map[owner].fields[node.name.value].args, node.arguments)  # type: ignore[attr-defined]

    def enter_inline_fragment(self, node: InlineFragmentNode, *_: object) -> None:
        self._touch_condition(node.type_condition)

    def enter_fragment_definition(self, node: FragmentDefinitionNode, *_: object) -> None:
        self._touch_condition(node.type_condition)

    def _touch_condition(self, node: NamedTypeNode | None) -> None:
        self.found |= {node.name.value} if node else set()

    def enter_directive(self, node: DirectiveNode, *_: object) -> None:
        self.found.add(f"@{node.name.value}")
        directive = self.info.get_directive()
        self._touch_defaults(directive.args if directive else {}, node.arguments)

    def _touch_defaults(self, arguments: Mapping[str, Any], given: Sequence[ArgumentNode] | None) -> None:
        values = {each.name.value: self._given(each.value) for each in given or ()}
        self.found |= set(named_by_defaults(arguments, values))

    def _given(self, value: ValueNode) -> ValueNode:
        """A value, or another one in place of a variable that has a value: then no default applies."""
        has_value = isinstance(value, VariableNode) and self._variables.get(value.name.value) is not None
        return ListValueNode(values=()) if has_value else value

    def enter_argument(self, node: ArgumentNode, *_: object) -> None:
        argument = self.info.get_argument()
        if argument:
            self.found |= {f"{place}({node.name.value}:)" for place in self._places()}
            self.found |= {get_named_type(argument.type).name}
            self.found |= set(named_by(argument.type, node.value))

    def _places(self) -> list[str]:
        """The directive that has the argument at hand, or the fields."""
        directive, parent, field = self.info.get_directive(), self.info.get_parent_type(), self.info.get_field_def()
        if directive:
            return [f"@{directive.name}"]
        name = next(name for name, each in parent.fields.items() if each is field)  # type: ignore[union-attr]
        return [f"{owner}.{name}" for owner in self._owners(parent, name)]

    def enter_variable_definition(self, node: VariableDefinitionNode, *_: object) -> None:
        type_ = type_from_ast(self._schema, node.type)
        if type_ is not None:
            self.found.add(get_named_type(type_).name)
            if node.default_value:
                self.found |= set(named_by(type_, node.default_value))
            self._touch_value(type_, self._variables.get(node.variable.name.value))

    def _owners(self, type_: Any, field: str) -> Iterator[str]:
        """A type, what may stand for it, and the interfaces that it fills, as far as they have a field."""
        near = [type_, *getattr(type_, "interfaces", ())]
        if is_interface_type(type_):
            below = self._schema.get_implementations(type_)
            near += [*below.objects, *below.interfaces]
        yield from (each.name for each in near if field in getattr(each, "fields", {}))

    def _touch_value(self, type_: Any, value: Any) -> None:
        named = get_named_type(type_)
        match value:
            case list():
                for each in value:
                    self._touch_value(type_, each)
            case dict() if isinstance(named, GraphQLInputObjectType):
                self.found |= set(named_by_defaults(named.fields, dict.fromkeys(value, NameNode(value=""))))
                for name, each in value.items():
                    self.found |= {named.name, f"{named.name}.{name}"}
                    self._touch_value(named.fields[name].type, each)
            case str() if isinstance(named, GraphQLEnumType):
                self.found |= {named.name, f"{named.name}.{value}"}
            case _:
                pass


def named_by_defaults(inputs: Mapping[str, Any], given: Mapping[str, Node]) -> Iterator[str]:
    """What the defaults name that the API may apply: a variable or null may stand for no value."""
    for name, value in inputs.items():
        default = value.ast_node.default_value if value.ast_node else None
        if default and (name not in given or isinstance(given[name], VariableNode | NullValueNode)):
            yield from named_by(value.type, default)


def named_by(type_: Any, node: ValueNode) -> Iterator[str]:
    """The types, input fields and enum values that a literal names."""
    named = get_named_type(type_)
    match node:
        case ListValueNode(values=values):
            for each in values or ():
                yield from named_by(type_, each)
        case ObjectValueNode(fields=fields) if isinstance(named, GraphQLInputObjectType):
            yield from named_by_defaults(named.fields, {each.name.value: each.value for each in fields or ()})
            for field in fields or ():
                yield from (named.name, f"{named.name}.{field.name.value}")
                yield from named_by(named.fields[field.name.value].type, field.value)
        case EnumValueNode(value=value):
            yield from (named.name, f"{named.name}.{value}")
        case _:
            pass
