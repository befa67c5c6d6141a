"""The SDL of a view, of one type, or of some members of a type.

The forms are those of graphql-core's ``print_schema``, so that tests can compare both. graphql-core itself is not
loaded.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from handler.graph.index import Directive, Field, InputValue, TypeSlice
from handler.graph.view import BUILT_IN_SCALARS, View

NAMED_ROOTS: Mapping[str, str] = {"query": "Query", "mutation": "Mutation", "subscription": "Subscription"}
"""The names of root types in a schema without a ``schema`` definition."""


def print_view(view: View) -> str:
    """Return the SDL of a view: deterministic, and equal to the output of graphql-core's ``print_schema``."""
    directives = [_directive(name, directive) for name, directive in view.directives().items()]
    parts = [_schema_definition(view), *directives, *(print_type(view, name) for name in view.members)]
    return "\n\n".join(part for part in parts if part) + "\n" if any(parts) else ""


def print_type(view: View, name: str) -> str:
    """Return the SDL of one type of a view; empty string for a built-in scalar."""
    return _definition(view, name, view.index[name], view.members[name])


def print_directive(view: View, name: str) -> str:
    """Return the SDL of a visible directive that a request may carry."""
    return _directive(name, view.directives()[name])


def print_bare(view: View, name: str, members: Sequence[str]) -> str:
    """Return the SDL without descriptions and with these members only. A comment counts the members left out."""
    text = _definition(view, name, _bare(view.index[name], members), members)
    left_out = len(view.members[name]) - len(members)
    return text.removesuffix("}") + f"  # and {left_out} more\n}}" if left_out and text.endswith("}") else text


def _schema_definition(view: View) -> str:
    roots = {kind: name for kind, name in view.index.roots.items() if name in view.members}
    if not roots or (not view.index.description and all(_as_named(view, kind, roots) for kind in NAMED_ROOTS)):
        return ""
    body = "".join(f"  {kind}: {name}\n" for kind, name in roots.items())
    return f"{_described(view.index.description)}schema {{\n{body}}}"


def _as_named(view: View, kind: str, roots: Mapping[str, str]) -> bool:
    """Tell if the default name implies the root: without a definition, a type ``Mutation`` is taken for one."""
    name = NAMED_ROOTS[kind]
    return roots.get(kind) == (name if name in view.members else None)


def _bare(entry: TypeSlice, members: Sequence[str]) -> TypeSlice:
    def bare(value: InputValue) -> InputValue:
        return replace(value, description="")

    fields = {name: entry.fields[name] for name in members if name in entry.fields}
    return replace(
        entry,
        description="",
        fields={
            name: replace(field, description="", arguments={each: bare(at) for each, at in field.arguments.items()})
            for name, field in fields.items()
        },
        inputs={name: bare(value) for name, value in entry.inputs.items()},
        values={name: ("", directives) for name, (_, directives) in entry.values.items()},
    )


def _definition(view: View, name: str, entry: TypeSlice, members: Sequence[str]) -> str:
    head = _described(entry.description)
    match entry.kind:
        case "object" | "interface":
            keyword = "type" if entry.kind == "object" else "interface"
            lines = [_field_line(member, entry.fields[member], view.arguments(name, member)) for member in members]
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


def _directive(name: str, directive: Directive) -> str:
    head = _described(directive.description)
    repeatable = " repeatable" if directive.repeatable else ""
    return f"{head}directive @{name}{_arguments(directive.arguments, '')}{repeatable} on {' | '.join(directive.on)}"


def _field_line(name: str, field: Field, visible: Container[str]) -> str:
    arguments = {each: argument for each, argument in field.arguments.items() if each in visible}
    head = _described(field.description, "  ")
    return f"{head}  {name}{_arguments(arguments, '  ')}: {field.type}{field.directives}"


def _arguments(arguments: Mapping[str, InputValue], indentation: str) -> str:
    if not arguments:
        return ""
    if not any(argument.description for argument in arguments.values()):
        return "(" + ", ".join(_input_line(name, argument, "") for name, argument in arguments.items()) + ")"
    lines = [_input_line(name, argument, f"{indentation}  ") for name, argument in arguments.items()]
    return f"(\n{_paragraphs(lines)}\n{indentation})"


def _input_line(name: str, value: InputValue, indentation: str) -> str:
    default = f" = {value.default}" if value.default else ""
    return f"{_described(value.description, indentation)}{indentation}{name}: {value.type}{default}{value.directives}"


def _value_line(entry: TypeSlice, name: str) -> str:
    description, directives = entry.values[name]
    return f"{_described(description, '  ')}  {name}{directives}"


def _block(lines: list[str]) -> str:
    return " {\n" + _paragraphs(lines) + "\n}"


def _paragraphs(lines: list[str]) -> str:
    """Join members by line breaks; an empty line precedes each one with a description, except the first."""
    return "\n".join(
        f"\n{line}" if place and line.lstrip().startswith('"') else line for place, line in enumerate(lines)
    )


def _described(description: str, indentation: str = "") -> str:
    return indentation + description.replace("\n", f"\n{indentation}") + "\n" if description else ""
