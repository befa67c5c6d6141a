"""Schema coordinates: those that a text names, those that a view has, and the shortest documents that use them."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping

from handler.compiler.schema.coordinates import FORMS, require_name
from handler.errors.authoring import UnknownCoordinate
from handler.graph.index import InputValue, SchemaIndex, named_type
from handler.graph.view import View
from handler.text.sentences import did_you_mean

Edge = tuple[str, str]
"""A type and its field that leads on, or the empty string for an inline fragment on another type."""


def parts_of(coordinate: str) -> tuple[str, str, str]:
    """Return the type or ``@directive`` of a coordinate, its member and its argument, each empty if there is none."""
    path, _, argument = coordinate.removesuffix(":)").partition("(")
    owner, _, member = path.partition(".")
    return owner, member, argument


def view_has(view: View, coordinate: str) -> bool:
    """Return whether a view has a coordinate."""
    owner, member, argument = parts_of(coordinate)
    if owner.startswith("@"):
        directive = view.directives().get(owner.removeprefix("@"))
        return directive is not None and (not argument or argument in directive.arguments)
    if owner not in view.members or (member and member not in view.members[owner]):
        return False
    return not argument or argument in view.arguments(owner, member)


def find_document(view: View, coordinate: str) -> str | None:
    """Return a short valid document that uses a coordinate of a view; ``None`` if no document can."""
    return _Ways(view).document(coordinate) if view_has(view, coordinate) else None


class _Variables:
    """The variables that a document needs, with their types."""

    def __init__(self) -> None:
        self.types: dict[str, str] = {}

    def use(self, name: str, type_: str) -> str:
        """Declare a variable and return its use. Variables of one name get numbers."""
        free, number = name, 2
        while free in self.types:
            free, number = f"{name}{number}", number + 1
        self.types[free] = type_
        return f"${free}"

    def arguments(self, values: Mapping[str, InputValue], texts: Mapping[str, str]) -> str:
        """Return arguments in parentheses: those with texts, and required ones with variables; empty string if none."""
        parts = [
            f"{name}: {texts.get(name) or self.use(name, value.type)}"
            for name, value in values.items()
            if name in texts or value.required
        ]
        return f"({', '.join(parts)})" if parts else ""


class _Ways:
    """The ways through one view."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._index = view.index
        self._from: dict[str, Edge | None] = {}  # type -> the step before it; ``None``: a root

    def document(self, coordinate: str) -> str | None:
        owner, member, argument = parts_of(coordinate)
        if owner.startswith("@"):
            return self._with_directive(owner.removeprefix("@"), argument)
        if not self._is_composite(owner):
            return self._with_input(owner, member)
        if owner not in self._reached(owner):
            return None
        return self._with_field(owner, "" if self._index.kind(owner) == "union" else member, argument)

    def _with_field(
        self, owner: str, member: str, argument: str = "", value: str = "", variables: _Variables | None = None
    ) -> str:
        """Return a document with a field, or with ``__typename`` if ``member`` is empty."""
        variables = variables or _Variables()
        if not member:
            return self._whole(owner, "__typename", variables)
        arguments = self._view.arguments(owner, member)
        texts = {argument: value or variables.use(argument, arguments[argument].type)} if argument else {}
        inner = " { __typename }" if self._is_composite(named_type(self._index[owner].fields[member].type)) else ""
        return self._whole(owner, f"{member}{variables.arguments(arguments, texts)}{inner}", variables)

    def _with_input(self, name: str, member: str) -> str | None:
        """Return a document with an argument, of a field or a directive, that takes the input type or enum.

        If no argument takes the enum or scalar, a field returns it.
        """
        leading = self._leading_to(name)

        def value_of(type_: str, argument: str, variables: _Variables) -> str:
            """Return an input value that names the wanted member, or a variable if only the type is wanted."""
            owner = named_type(type_)
            if owner == name and not member:
                return variables.use(argument, type_)
            if self._index.kind(owner) == "enum":
                return member
            inputs = {each: self._view.input_field(owner, each) for each in self._view.members[owner]}
            step = leading[owner]
            if step is None:  # the wanted type itself
                texts = {member: variables.use(member, inputs[member].type)}
            else:
                texts = {step[1]: value_of(inputs[step[1]].type, step[1], variables)}
            for each, value in inputs.items():
                if value.required and each not in texts:
                    texts[each] = variables.use(each, value.type)
            return "{" + ", ".join(f"{each}: {text}" for each, text in texts.items()) + "}"

        for owner, each in self._fields():
            for argument, value in self._view.arguments(owner, each).items():
                if named_type(value.type) in leading:
                    variables = _Variables()
                    text = value_of(value.type, argument, variables)
                    return self._with_field(owner, each, argument, text, variables)
        for directive, definition in self._view.directives().items():
            for argument, value in definition.arguments.items():
                if named_type(value.type) in leading:
                    return self._with_directive(directive, argument, value_of)
        for owner, each in self._fields():
            if named_type(self._index[owner].fields[each].type) == name:
                return self._with_field(owner, each)
        return None

    def _fields(self) -> Iterator[Edge]:
        """Yield the fields that documents can reach."""
        for owner in self._reached():
            if self._index.kind(owner) != "union":
                yield from ((owner, member) for member in self._view.members[owner])

    def _with_directive(
        self, name: str, argument: str, value_of: Callable[[str, str, _Variables], str] | None = None
    ) -> str | None:
        directive, roots = self._view.directives()[name], self._view.root_fields()
        variables, texts = _Variables(), {}
        if argument:
            type_ = directive.arguments[argument].type
            texts[argument] = value_of(type_, argument, variables) if value_of else variables.use(argument, type_)
        text = f"@{name}{variables.arguments(directive.arguments, texts)}"
        kind = next((each for each in roots if each.upper() in directive.on), "")
        if kind:
            return _printed(kind, "__typename", variables, f" {text}")
        return _printed(next(iter(roots)), f"__typename {text}", variables) if "FIELD" in directive.on else None

    def _leading_to(self, name: str) -> dict[str, Edge | None]:
        """Return the input types that lead to an input type or enum -> the input field of the first step there."""
        leading: dict[str, Edge | None] = {name: None}
        waiting = deque([name])
        while waiting:
            target = waiting.popleft()
            for user in self._index.users.get(target, ()):
                if user in leading or user not in self._view.members or self._index.kind(user) != "input":
                    continue
                visible, steps = self._view.members[user], self._index.references(user)
                step = next((each for each, _, to in steps if to == target and each in visible), "")
                if step:
                    leading[user] = (target, step)
                    waiting.append(user)
        return leading

    def _reached(self, until: str = "") -> Mapping[str, Edge | None]:
        """Return the output types that documents can reach, nearest first, at least up to one of them."""
        self._from = {self._index.roots[kind]: None for kind in self._view.root_fields()}
        waiting = deque(self._from)
        while waiting and until not in self._from:
            owner = waiting.popleft()
            for step, target in self._steps(owner):
                if target in self._view.members and target not in self._from and self._is_composite(target):
                    self._from[target] = (owner, step)
                    waiting.append(target)
        return self._from

    def _steps(self, owner: str) -> Iterator[tuple[str, str]]:
        """Yield the fields of a type with the types that they return, and types for fragments with an empty name."""
        if self._index.kind(owner) == "union":
            yield from (("", each) for each in self._view.members[owner])
            return
        visible = self._view.members[owner]
        for member, argument, target in self._index.references(owner):
            if not argument and member in visible:
                yield member, target
        if owner not in self._index.roots.values():
            kin = (*self._index.implementers.get(owner, ()), *self._index.interfaces(owner))
            yield from (("", each) for each in kin if self._objects(owner) & self._objects(each))

    def _objects(self, name: str) -> set[str]:
        """Return the types of the objects that a type may stand for. A fragment is valid if its type shares one."""
        types = (name, *self._index.implementers.get(name, ()))
        return {each for each in types if each in self._view.members and self._index.kind(each) == "object"}

    def _whole(self, owner: str, selection: str, variables: _Variables) -> str:
        """Return the document that leads to a type and makes a selection there."""
        step = self._from[owner]
        while step is not None:
            before, member = step
            if member:
                arguments = variables.arguments(self._view.arguments(before, member), {})
                selection = f"{member}{arguments} {{ {selection} }}"
            else:
                selection = f"... on {owner} {{ {selection} }}"
            owner, step = before, self._from[before]
        kind = next(kind for kind, name in self._index.roots.items() if name == owner)
        return _printed(kind, selection, variables)

    def _is_composite(self, name: str) -> bool:
        return name in self._index and self._index.kind(name) in ("object", "interface", "union")


def _printed(kind: str, selection: str, variables: _Variables, directives: str = "") -> str:
    declarations = ", ".join(f"${name}: {type_}" for name, type_ in variables.types.items())
    if kind == "query" and not declarations and not directives:
        return f"{{ {selection} }}"
    return f"{kind}{f'({declarations})' if declarations else ''}{directives} {{ {selection} }}"


USUAL_ROOTS = {"Query": "query", "Mutation": "mutation"}
FORM = re.compile(r"(@?)(\w+)(?:\.(\w+))?(?:\((\w+):\))?", re.ASCII)


def resolve_in(index: SchemaIndex, text: str) -> str:
    """Return the coordinate of a schema that a text names. ``Query`` and ``Mutation`` mean the root types.

    Raises:
        UnknownCoordinate: the schema does not have it, or the text is not a coordinate.
    """
    form = FORM.fullmatch(text)
    if form is None:
        raise UnknownCoordinate(f"not a coordinate: expected {FORMS}")
    at, name, member, argument = form.groups()
    if at:
        if name not in index.directives:
            raise UnknownCoordinate(
                f'the schema has no directive "@{name}" for requests{did_you_mean(name, index.directives)}'
            )
        if argument:
            require_name(argument, index.directives[name].arguments, "argument", f"@{name}")
        return f"@{name}({argument}:)" if argument else f"@{name}"
    owner = name if name in index else index.roots.get(USUAL_ROOTS.get(name, ""), name)
    if owner not in index:
        raise UnknownCoordinate(f'the schema has no type "{name}"{did_you_mean(name, list(index))}')
    if member is None:
        return owner
    require_name(member, index.members(owner), "value" if index.kind(owner) == "enum" else "field", owner)
    if argument is None:
        return f"{owner}.{member}"
    fields = index[owner].fields
    require_name(argument, fields[member].arguments if member in fields else (), "argument", f"{owner}.{member}")
    return f"{owner}.{member}({argument}:)"
