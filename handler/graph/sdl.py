"""The SDL of a view, of one type, or of some members of a type.

The forms are those of graphql-core's ``print_schema``, so that tests can compare both. graphql-core itself is not
loaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from handler.graph.index import Directive, Field, InputValue
from handler.graph.view import BUILT_IN_SCALARS, View


def print_view(view: View) -> str:
    """Return the SDL of a view: deterministic, and equal to the output of graphql-core's ``print_schema``."""
    parts = list(_parts(view))
    return "\n\n".join(parts) + "\n" if parts else ""


def print_small_view(view: View, max_bytes: int) -> str | None:
    """Return the SDL of a view; ``None`` if it is longer, which is known before all of it is printed."""
    if sum(map(len, {*view.members} - BUILT_IN_SCALARS)) > max_bytes:  # the names alone
        return None
    parts, left = list[str](), max_bytes + len("\n")
    for part in _parts(view):
        left -= len(part.encode()) + len("\n\n")
        if left < 0:
            return None
        parts.append(part)
    return "\n\n".join(parts) + "\n" if parts else ""


def _parts(view: View) -> Iterator[str]:
    """Yield the definitions of a view."""
    printer = _Printer(view)
    yield from filter(None, [printer.schema()])
    yield from (printer.directive(name, directive) for name, directive in view.directives().items())
    yield from filter(None, (printer.type(name, members) for name, members in view.members.items()))


def print_directive(view: View, name: str) -> str:
    """Return the SDL of a visible directive that a request may carry."""
    return _Printer(view).directive(name, view.directives()[name])


def print_bare(view: View, name: str, members: Sequence[str]) -> str:
    """Return the SDL without descriptions and with these members only. A comment counts the members left out."""
    text = _Printer(view, describes=False).type(name, members)
    left_out = len(view.members[name]) - len(members)
    return text.removesuffix("}") + f"  # and {left_out} more\n}}" if left_out and text.endswith("}") else text


def keyword_of(kind: str) -> str:
    """Return the word before the name of a type of this kind."""
    return "type" if kind == "object" else kind


class _Printer:
    def __init__(self, view: View, *, describes: bool = True) -> None:
        self._view = view
        self._describes = describes

    def schema(self) -> str:
        """Return the definition of the root types; empty string if their names imply them."""
        view = self._view
        roots = {kind: name for kind, name in view.index.roots.items() if name in view.members}
        names = {"query": "Query", "mutation": "Mutation", "subscription": "Subscription"}
        implied = {kind: name for kind, name in names.items() if name in view.members}
        if not roots or (roots == implied and not view.index.description):
            return ""
        body = "".join(f"  {kind}: {name}\n" for kind, name in roots.items())
        return f"{self._described(view.index.description)}schema {{\n{body}}}"

    def directive(self, name: str, directive: Directive) -> str:
        head = self._described(directive.description)
        repeatable = " repeatable" if directive.repeatable else ""
        arguments = self._arguments(directive.arguments, "")
        return f"{head}directive @{name}{arguments}{repeatable} on {' | '.join(directive.on)}"

    def type(self, name: str, members: Sequence[str]) -> str:
        view, entry = self._view, self._view.index[name]
        head = f"{self._described(entry.description)}{keyword_of(entry.kind)} {name}"
        match entry.kind:
            case "object" | "interface":
                above = [each for each in entry.interfaces if each in view.members]
                implements = f" implements {' & '.join(above)}" if above else ""
                fields = [self._field(member, entry.fields[member], view.arguments(name, member)) for member in members]
                return f"{head}{implements}{entry.directives}{_block(fields)}"
            case "union":
                return f"{head}{entry.directives} = {' | '.join(members)}"
            case "enum":
                values = ((member, *entry.values[member]) for member in members)
                lines = [f"{self._described(text, '  ')}  {member}{directives}" for member, text, directives in values]
                return f"{head}{entry.directives}{_block(lines)}"
            case "input":
                inputs = [self._input(member, view.input_field(name, member), "  ") for member in members]
                return f"{head}{entry.directives}{_block(inputs)}"
            case _:
                return "" if name in BUILT_IN_SCALARS else f"{head}{entry.directives}"

    def _field(self, name: str, field: Field, arguments: Mapping[str, InputValue]) -> str:
        head = self._described(field.description, "  ")
        return f"{head}  {name}{self._arguments(arguments, '  ')}: {field.type}{field.directives}"

    def _arguments(self, arguments: Mapping[str, InputValue], indentation: str) -> str:
        if not arguments:
            return ""
        if not (self._describes and any(argument.description for argument in arguments.values())):
            return "(" + ", ".join(self._input(name, argument, "") for name, argument in arguments.items()) + ")"
        lines = [self._input(name, argument, f"{indentation}  ") for name, argument in arguments.items()]
        return f"(\n{_paragraphs(lines)}\n{indentation})"

    def _input(self, name: str, value: InputValue, indentation: str) -> str:
        head = self._described(value.description, indentation)
        default = f" = {value.default}" if value.default else ""
        return f"{head}{indentation}{name}: {value.type}{default}{value.directives}"

    def _described(self, description: str, indentation: str = "") -> str:
        if not (description and self._describes):
            return ""
        return indentation + description.replace("\n", f"\n{indentation}") + "\n"


def _block(lines: Sequence[str]) -> str:
    return " {\n" + _paragraphs(lines) + "\n}"


def _paragraphs(lines: Sequence[str]) -> str:
    """Join members by line breaks; an empty line precedes each one with a description, except the first."""
    return "\n".join(
        f"\n{line}" if place and line.lstrip().startswith('"') else line for place, line in enumerate(lines)
    )
