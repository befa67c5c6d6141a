"""Ways to a schema coordinate inside an author's operation: through its fields, or through a variable's value."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from graphql import (
    DirectiveNode,
    DocumentNode,
    EnumValueNode,
    FieldNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    ListValueNode,
    ObjectValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    print_ast,
)

from handler.compiler.operations.author_operations import AuthorOperation
from handler.graph.documents.operation import fragments_of
from handler.graph.index import InputValue, SchemaIndex, named_type


def interface_coordinates(index: SchemaIndex, coordinate: str) -> list[str]:
    """Return a coordinate, and those of interfaces under which an operation can use it."""
    owner, dot, rest = coordinate.partition(".")
    if not dot or coordinate.startswith("@") or owner not in index:
        return [coordinate]
    member = rest.partition("(")[0]
    interfaces = [each for each in index.interfaces(owner) if each in index and member in index.members(each)]
    return [coordinate, *(f"{each}.{rest}" for each in interfaces)]


def find_path(operation: AuthorOperation, index: SchemaIndex, coordinate: str) -> str | None:
    """Return the fields that lead to a coordinate in an operation, such as ``me > paySlips > net``.

    ``None`` if the operation does not name the coordinate. Its variables are not looked at.
    """
    names = set(interface_coordinates(index, coordinate))
    return next((path for each, path in _Walk(operation.document, index).coordinates() if each in names), None)


def find_variable(
    operation: AuthorOperation, index: SchemaIndex, coordinate: str, *, usable: Callable[[str], bool]
) -> str | None:
    """Return the way to a coordinate through the value of a variable that callers fill, such as ``$where > salaryGt``.

    ``None`` if no value can name it. ``usable`` returns whether the caller may use an input field.
    """
    for node in operation.filled_by_model:
        type_: Any = node.type
        while hasattr(type_, "type"):  # below lists and non-nulls
            type_ = type_.type
        waiting = [(type_.name.value, f"${node.variable.name.value}")]
        visited: set[str] = set()
        for name, path in waiting:
            if name == coordinate:
                return path
            kind = index.kind(name) if name in index and name not in visited else ""
            visited.add(name)
            for member in index.members(name) if kind in ("input", "enum") else ():
                if usable(f"{name}.{member}"):
                    if f"{name}.{member}" == coordinate:
                        return f"{path} > {member}"
                    if kind == "input":
                        waiting.append((named_type(index[name].inputs[member].type), f"{path} > {member}"))
    return None


class _Walk:
    """The walk through one operation. Fragments are followed where they are spread, each once for each path."""

    def __init__(self, document: DocumentNode, index: SchemaIndex) -> None:
        self._index = index
        self._fragments = fragments_of(document)
        self._operations = [each for each in document.definitions if isinstance(each, OperationDefinitionNode)]
        self._visited: set[tuple[str, str]] = set()

    def coordinates(self) -> Iterator[tuple[str, str]]:
        """Yield each coordinate that the operation names, with the fields that lead there."""
        for operation in self._operations:
            root = self._index.roots.get(operation.operation.value, "")
            yield from self._of_directives(operation.directives, "")
            for variable in operation.variable_definitions or ():
                type_ = InputValue(print_ast(variable.type), "", "", "")
                yield from self._of_value(variable.default_value, type_, f"${variable.variable.name.value} = ")
            yield from self._of_selections(operation.selection_set, root, ())

    def _of_selections(
        self, selections: SelectionSetNode, owner: str, trail: tuple[str, ...]
    ) -> Iterator[tuple[str, str]]:
        yield owner, " > ".join(trail) or owner
        for each in selections.selections:
            yield from self._of_directives(each.directives, " > ".join(trail))
            match each:
                case FieldNode():
                    yield from self._of_field(each, owner, trail)
                case InlineFragmentNode():
                    inner = each.type_condition.name.value if each.type_condition else owner
                    yield from self._of_selections(each.selection_set, inner, trail)
                case FragmentSpreadNode():
                    fragment = self._fragments.get(each.name.value)
                    if fragment and (each.name.value, owner) not in self._visited:
                        self._visited.add((each.name.value, owner))
                        inner = fragment.type_condition.name.value
                        yield from self._of_selections(fragment.selection_set, inner, trail)

    def _of_field(self, node: FieldNode, owner: str, trail: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        name = node.name.value
        if name.startswith("__") or owner not in self._index or name not in self._index.members(owner):
            return
        path, field = " > ".join((*trail, name)), self._index[owner].fields[name]
        yield f"{owner}.{name}", path
        yield from self._of_arguments(node, f"{owner}.{name}", field.arguments, path)
        below = named_type(field.type)
        yield below, path
        if node.selection_set:
            yield from self._of_selections(node.selection_set, below, (*trail, name))

    def _of_directives(self, nodes: Collection[DirectiveNode] | None, path: str) -> Iterator[tuple[str, str]]:
        for node in nodes or ():
            name = f"@{node.name.value}"
            directive = self._index.directives.get(node.name.value)
            at = f"{path} {name}".strip()
            yield name, at
            yield from self._of_arguments(node, name, directive.arguments if directive else {}, at)

    def _of_arguments(
        self, node: FieldNode | DirectiveNode, owner: str, types: Mapping[str, InputValue], path: str
    ) -> Iterator[tuple[str, str]]:
        for argument in node.arguments or ():
            name = argument.name.value
            yield f"{owner}({name}:)", f"{path}({name}:)"
            yield from self._of_value(argument.value, types.get(name), f"{path}({name}:)")

    def _of_value(self, node: Any, type_: InputValue | None, path: str) -> Iterator[tuple[str, str]]:
        if type_ is None:
            return
        owner = named_type(type_.type)
        match node:
            case ListValueNode():
                for each in node.values:
                    yield from self._of_value(each, type_, path)
            case EnumValueNode():
                yield f"{owner}.{node.value}", f"{path} > {node.value}"
            case ObjectValueNode() if owner in self._index and self._index.kind(owner) == "input":
                for part in node.fields:
                    at = f"{path} > {part.name.value}"
                    yield f"{owner}.{part.name.value}", at
                    yield from self._of_value(part.value, self._index[owner].inputs.get(part.name.value), at)
