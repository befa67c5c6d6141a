"""Ways to a schema coordinate inside an author's operation: through its fields, or through a variable's value."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from graphql import (
    DirectiveNode,
    DocumentNode,
    EnumValueNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    ListValueNode,
    ObjectValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    print_ast,
)

from handler.compiler.operations.author_operations import AuthorOperation
from handler.graph.index import InputValue, SchemaIndex, named


def names_of(index: SchemaIndex, coordinate: str) -> list[str]:
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
    wanted = set(names_of(index, coordinate))
    return next((path for each, path in _Walk(operation.document, index).named() if each in wanted), None)


def find_variable(
    operation: AuthorOperation, index: SchemaIndex, coordinate: str, *, usable: Callable[[str], bool]
) -> str | None:
    """Return the way to a coordinate through the value of a variable that callers fill, such as ``$where > salaryGt``.

    ``None`` if no value can name it. ``usable`` tells if the caller may use an input field.
    """
    for node in operation.filled_by_model:
        type_: Any = node.type
        while hasattr(type_, "type"):  # below lists and non-nulls
            type_ = type_.type
        waiting = [(type_.name.value, f"${node.variable.name.value}")]
        seen: set[str] = set()
        while waiting:
            name, path = waiting.pop(0)
            if name == coordinate:
                return path
            if name not in seen:
                seen.add(name)
                steps = list(_steps(index, name, path, usable))
                found = next((shown for each, _, shown in steps if each == coordinate), None)
                if found:
                    return found
                waiting += [(target, shown) for _, target, shown in steps]
    return None


def _steps(index: SchemaIndex, name: str, path: str, usable: Callable[[str], bool]) -> Iterator[tuple[str, str, str]]:
    """Yield the usable members of an input type or enum: coordinate, type and path; the type of a value is empty."""
    kind = index.kind(name) if name in index else ""
    for member in index.members(name) if kind in ("input", "enum") else ():
        if usable(f"{name}.{member}"):
            target = named(index[name].inputs[member].type) if kind == "input" else ""
            yield f"{name}.{member}", target, f"{path} > {member}"


class _Walk:
    """The walk through one operation. Fragments are followed where they are spread, each once for each path."""

    def __init__(self, document: DocumentNode, index: SchemaIndex) -> None:
        self._index = index
        self._fragments = {
            each.name.value: each for each in document.definitions if isinstance(each, FragmentDefinitionNode)
        }
        self._operations = [each for each in document.definitions if isinstance(each, OperationDefinitionNode)]
        self._seen: set[tuple[str, str]] = set()

    def named(self) -> Iterator[tuple[str, str]]:
        """Yield each named coordinate with the fields that lead there."""
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
                    if fragment and (each.name.value, owner) not in self._seen:
                        self._seen.add((each.name.value, owner))
                        inner = fragment.type_condition.name.value
                        yield from self._of_selections(fragment.selection_set, inner, trail)

    def _of_field(self, node: FieldNode, owner: str, trail: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        name = node.name.value
        if name.startswith("__") or owner not in self._index or name not in self._index.members(owner):
            return
        here = (*trail, name)
        path = " > ".join(here)
        made = self._index[owner].fields[name]
        yield f"{owner}.{name}", path
        for argument in node.arguments or ():
            known = made.arguments.get(argument.name.value)
            yield f"{owner}.{name}({argument.name.value}:)", f"{path}({argument.name.value}:)"
            yield from self._of_value(argument.value, known, f"{path}({argument.name.value}:)")
        below = named(made.type)
        yield below, path
        if node.selection_set:
            yield from self._of_selections(node.selection_set, below, here)

    def _of_directives(self, nodes: Collection[DirectiveNode] | None, path: str) -> Iterator[tuple[str, str]]:
        for node in nodes or ():
            known = self._index.directives.get(node.name.value)
            shown = f"{path} @{node.name.value}".strip()
            yield f"@{node.name.value}", shown
            for argument in node.arguments or ():
                yield f"@{node.name.value}({argument.name.value}:)", f"{shown}({argument.name.value}:)"
                value = known.arguments.get(argument.name.value) if known else None
                yield from self._of_value(argument.value, value, f"{shown}({argument.name.value}:)")

    def _of_value(self, node: Any, known: InputValue | None, path: str) -> Iterator[tuple[str, str]]:
        if known is None:
            return
        owner = named(known.type)
        match node:
            case ListValueNode():
                for each in node.values:
                    yield from self._of_value(each, known, path)
            case EnumValueNode():
                yield f"{owner}.{node.value}", f"{path} > {node.value}"
            case ObjectValueNode() if owner in self._index and self._index.kind(owner) == "input":
                for part in node.fields:
                    shown = f"{path} > {part.name.value}"
                    yield f"{owner}.{part.name.value}", shown
                    yield from self._of_value(part.value, self._index[owner].inputs.get(part.name.value), shown)
