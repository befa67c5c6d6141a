"""A view: the part of a schema that one caller may use through one tool. Pure data, no graphql-core.

Hidden coordinates come in as masks; what hiding one hides with it (interfaces, inputs) was decided by the compiler.
Here the rest follows: a type without visible members is gone and takes with it every field that needs it, a field that
goes takes the interface fields it fills, and then only what can be reached from the root types stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from handler.graph.index import Field, InputValue, SchemaIndex, TypeSlice, named

BUILT_IN_SCALARS = frozenset({"Int", "Float", "String", "Boolean", "ID"})

NAMED_ROOTS: Mapping[str, str] = {"query": "Query", "mutation": "Mutation", "subscription": "Subscription"}
"""The names that make a type a root type where no ``schema`` definition stands."""

Members = dict[str, tuple[str, ...]]
ArgumentsOf = Callable[[str, str], Mapping[str, InputValue]]
"""(type, field) -> the field's visible arguments."""


@dataclass(frozen=True, slots=True)
class View:
    """Visible types in the index's order, each with its visible members (fields, inputs, values or union members)."""

    index: SchemaIndex
    members: Mapping[str, tuple[str, ...]]
    arguments: ArgumentsOf

    def root_fields(self) -> dict[str, tuple[str, ...]]:
        """Operation kind -> the fields that a request may start with."""
        return {kind: self.members[name] for kind, name in self.index.roots.items() if name in self.members}


def build_view(index: SchemaIndex, hidden: Callable[[str], bool]) -> View:
    """Cut ``index`` down to what is visible and reachable. ``hidden`` judges a schema coordinate."""
    visible = _Visible(index, hidden)
    members = visible.members()
    reachable = _reachable(index, members, visible.arguments)
    return View(index, {name: members[name] for name in index if name in reachable}, visible.arguments)


def print_view(view: View) -> str:
    """The SDL of a view: deterministic, and what graphql-core's ``print_schema`` would print of it."""
    parts = [_schema_definition(view)] + [_definition(view, name) for name in view.members]
    return "\n\n".join(part for part in parts if part) + "\n" if any(parts) else ""


class _Visible:
    """Which members of each type are visible, before reachability."""

    def __init__(self, index: SchemaIndex, hidden: Callable[[str], bool]) -> None:
        self._index = index
        self._hidden = hidden
        self._kept: Members = {}

    def members(self) -> Members:
        """Every type that has something left. What goes may take more with it, so this repeats until nothing goes."""
        settled = {name: self._own(name) for name in self._index if not self._hidden(name)}
        while settled != self._kept:
            self._kept = settled
            parts = {name: self._settled(name, members) for name, members in settled.items()}
            settled = {name: left for name, left in parts.items() if left or self._index[name].kind == "scalar"}
        return settled

    def arguments(self, type_name: str, field_name: str) -> dict[str, InputValue]:
        field = self._index[type_name].fields[field_name]
        return {
            name: argument
            for name, argument in field.arguments.items()
            if self._usable(argument.type) and not self._argument_hidden(type_name, f"{field_name}({name}:)")
        }

    def _own(self, name: str) -> tuple[str, ...]:
        names = _member_names(self._index[name])
        if self._index[name].kind == "union":
            return names
        return tuple(member for member in names if not self._hidden(f"{name}.{member}"))

    def _settled(self, name: str, members: tuple[str, ...]) -> tuple[str, ...]:
        entry = self._index[name]
        match entry.kind:
            case "object" | "interface":
                return tuple(member for member in members if self._field_usable(name, member, entry.fields[member]))
            case "input":
                return self._settled_inputs(entry, members)
            case "union":
                return tuple(member for member in members if self._usable(member))
            case _:
                return members

    def _field_usable(self, type_name: str, field_name: str, field: Field) -> bool:
        if not self._usable(field.type) or not self._on_implementers(type_name, field_name):
            return False
        visible = self.arguments(type_name, field_name)
        return all(name in visible for name, argument in field.arguments.items() if argument.required)

    def _on_implementers(self, type_name: str, field_name: str) -> bool:
        """Whether no implementer lost the field: selecting it on an interface selects it on all of them."""
        return all(
            field_name in self._kept.get(name, ())
            for name in self._index.implementers.get(type_name, ())
            if field_name in self._index[name].fields
        )

    def _argument_hidden(self, type_name: str, argument: str) -> bool:
        places = (type_name, *self._index.implementers.get(type_name, ()))
        return any(self._hidden(f"{place}.{argument}") for place in places)

    def _settled_inputs(self, entry: TypeSlice, members: tuple[str, ...]) -> tuple[str, ...]:
        kept = tuple(member for member in members if self._usable(entry.inputs[member].type))
        lacks_required = any(value.required for name, value in entry.inputs.items() if name not in kept)
        return () if lacks_required else kept

    def _usable(self, type_text: str) -> bool:
        return named(type_text) in self._kept


def _member_names(entry: TypeSlice) -> tuple[str, ...]:
    return entry.members or tuple(entry.fields or entry.inputs or entry.values)


def _reachable(index: SchemaIndex, members: Members, arguments: ArgumentsOf) -> set[str]:
    """What a request can meet, from the root types on.

    An interface that a field returns brings its implementers. One that is there only because a type implements it
    brings none: nothing returns them.
    """
    found: set[str] = set()
    opened: set[str] = set()
    waiting = [(name, True) for name in index.roots.values()]
    while waiting:
        name, returned = waiting.pop()
        if name not in members:
            continue
        if returned and name in index.implementers and name not in opened:
            opened.add(name)
            waiting += [(implementer, True) for implementer in index.implementers[name]]
        if name not in found:
            found.add(name)
            waiting += [(neighbour, True) for neighbour in _neighbours(index, name, members[name], arguments)]
            waiting += [(interface, False) for interface in index[name].interfaces]
    return found


def _neighbours(index: SchemaIndex, name: str, members: tuple[str, ...], arguments: ArgumentsOf) -> Iterable[str]:
    """The types that a type's members name."""
    entry = index[name]
    match entry.kind:
        case "object" | "interface":
            for member in members:
                yield named(entry.fields[member].type)
                yield from (named(argument.type) for argument in arguments(name, member).values())
        case "input":
            yield from (named(entry.inputs[member].type) for member in members)
        case "union":
            yield from members


# Printing. The forms are graphql-core's (utilities/print_schema), so that both can be compared in tests.


def _schema_definition(view: View) -> str:
    roots = {kind: name for kind, name in view.index.roots.items() if name in view.members}
    if not roots or (not view.index.description and all(_as_named(view, kind, roots) for kind in NAMED_ROOTS)):
        return ""
    body = "".join(f"  {kind}: {name}\n" for kind, name in roots.items())
    return f"{_described(view.index.description)}schema {{\n{body}}}"


def _as_named(view: View, kind: str, roots: Mapping[str, str]) -> bool:
    """Whether the name alone says it: a type ``Mutation`` would be taken for the root, be it one or not."""
    name = NAMED_ROOTS[kind]
    return roots.get(kind) == (name if name in view.members else None)


def _definition(view: View, name: str) -> str:
    entry, members = view.index[name], view.members[name]
    head = _described(entry.description)
    match entry.kind:
        case "object" | "interface":
            keyword = "type" if entry.kind == "object" else "interface"
            lines = [_field_line(view, name, member) for member in members]
            return f"{head}{keyword} {name}{_implements(view, entry)}{entry.directives}{_block(lines)}"
        case "union":
            return f"{head}union {name}{entry.directives} = {' | '.join(members)}"
        case "enum":
            return f"{head}enum {name}{entry.directives}{_block([_value_line(entry, member) for member in members])}"
        case "input":
            lines = [_input_line(member, entry.inputs[member], "  ") for member in members]
            return f"{head}input {name}{entry.directives}{_block(lines)}"
        case _:
            return "" if name in BUILT_IN_SCALARS else f"{head}scalar {name}{entry.directives}"


def _implements(view: View, entry: TypeSlice) -> str:
    names = [name for name in entry.interfaces if name in view.members]
    return f" implements {' & '.join(names)}" if names else ""


def _field_line(view: View, type_name: str, field_name: str) -> str:
    field = view.index[type_name].fields[field_name]
    arguments = _arguments(view.arguments(type_name, field_name))
    return f"{_described(field.description, '  ')}  {field_name}{arguments}: {field.type}{field.directives}"


def _arguments(arguments: Mapping[str, InputValue]) -> str:
    if not arguments:
        return ""
    if not any(argument.description for argument in arguments.values()):
        return "(" + ", ".join(_input_line(name, argument, "") for name, argument in arguments.items()) + ")"
    lines = [_input_line(name, argument, "    ") for name, argument in arguments.items()]
    return "(\n" + _paragraphs(lines) + "\n  )"


def _input_line(name: str, value: InputValue, indentation: str) -> str:
    default = f" = {value.default}" if value.default else ""
    return f"{_described(value.description, indentation)}{indentation}{name}: {value.type}{default}{value.directives}"


def _value_line(entry: TypeSlice, name: str) -> str:
    description, directives = entry.values[name]
    return f"{_described(description, '  ')}  {name}{directives}"


def _block(lines: list[str]) -> str:
    return " {\n" + _paragraphs(lines) + "\n}"


def _paragraphs(lines: list[str]) -> str:
    """Members one below the other; one with a description is set off by an empty line, but for the first."""
    return "\n".join(
        f"\n{line}" if place and line.lstrip().startswith('"') else line for place, line in enumerate(lines)
    )


def _described(description: str, indentation: str = "") -> str:
    return indentation + description.replace("\n", f"\n{indentation}") + "\n" if description else ""
