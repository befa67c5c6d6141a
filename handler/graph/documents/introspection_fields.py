"""A view in terms of introspection: the fields of ``__Schema``, ``__Type`` and the others, and definitions.

Everything is read from the view when a request reaches it. Building graphql-core's objects of a whole schema first
would take longer than the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property
from typing import Any, cast

from graphql import (
    DEFAULT_DEPRECATION_REASON,
    DirectiveLocation,
    GraphQLNamedType,
    GraphQLSchema,
    StringValueNode,
    TypeKind,
    parse_const_value,
    specified_directives,
    specified_scalar_types,
)

from handler.cold.records import record
from handler.graph.documents.search_fields import DEFINED, DEFINITION, SEARCH_TYPES
from handler.graph.found_sdl import COORDINATE
from handler.graph.index import Directive, Field, InputValue, TypeSlice, named_type
from handler.graph.view import BUILT_IN_SCALARS, View

EMPTY = TypeSlice(
    "object",
    description="",
    directives="",
    interfaces=(),
    fields={"_empty": Field("Boolean", {}, '"""There is nothing to ask for here: send a mutation."""', "", None, 0)},
    inputs={},
    values={},
    members=(),
)
"""The query type of a view with only mutations. Clients refuse a schema without one, and one without fields.

Introspection shows its field, and no request can select the field.
"""


@record(frozen=True, slots=True)
class Item:
    """A field, an argument, an input or an enum value. Only visible arguments of a field are included."""

    name: str
    description: str  # printed
    directives: str
    type: str = ""
    default: str = ""
    arguments: Mapping[str, InputValue] | None = None

    @property
    def deprecation(self) -> str | None:
        """The reason of the deprecation; ``None`` if the item is not deprecated."""
        if "@deprecated" not in self.directives:
            return None
        reason = argument_of(self.directives, "reason")
        return reason or ("" if "(" in self.directives else DEFAULT_DEPRECATION_REASON)


@record(frozen=True, slots=True)
class Carried:
    """A directive of the API's own that a request may carry."""

    name: str
    directive: Directive


class Introspected:
    """The introspection of a view. A type of the view is the text that names it: ``[Order!]``.

    Types and directives that every schema has are graphql-core's own objects, which answer for themselves.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._items: dict[tuple[str, bool], list[Item]] = {}

    @property
    def query(self) -> str:
        """The name of the query type, even if the view has none."""
        return self._view.index.roots.get("query", "Query")

    def type_named(self, name: str) -> Any:
        """Return the type of this name; ``None`` if there is none."""
        return core_type(name) if name in self._types or name in SEARCH_TYPES else None

    def kind(self, name: str) -> str:
        """Return the kind of a type of the view, one of ``KINDS``."""
        return self._slice(name).kind

    def member(self, name: str, member: str) -> Item | None:
        """Return a field, an input or an enum value of a type of the view; ``None`` if there is none."""
        entry = self._slice(name)
        names = () if entry.kind == "union" else self._names(name, entry)
        return self._item(name, entry, member) if member in names else None

    def directives(self) -> Mapping[str, Directive]:
        """Return the directives of the API's own that a request may carry."""
        return self._view.directives()

    def is_sub_type(self, abstract: str, name: str) -> bool:
        """Return whether a type of the view is ``abstract`` itself or one of its possible types."""
        possible = DEFINED if abstract == DEFINITION else self._possible_names(abstract)
        return abstract == name or name in possible

    # Fields by their names in introspection.

    def schema(self, field: str) -> Any:
        """Return a field of ``__Schema``."""
        match field:
            case "description":
                return text_of(self._view.index.description)
            case "types":
                return [core_type(name) for name in self._types]
            case "queryType":
                return self.query
            case "mutationType":
                name = self._view.index.roots.get("mutation", "")
                return name if name in self._view.members else None
            case "directives":
                own = (Carried(*each) for each in self._view.directives().items())
                return [*own, *specified_directives]
            case _:  # there are no subscriptions
                return None

    def type(self, field: str, text: str, **options: bool) -> Any:
        """Return a field of ``__Type``."""
        if text.endswith("!"):
            return {"kind": TypeKind.NON_NULL, "ofType": core_type(text[:-1])}.get(field)
        if text.endswith("]"):
            return {"kind": TypeKind.LIST, "ofType": core_type(text[1:-1])}.get(field)
        entry = self._slice(text)
        match field:
            case "kind":
                return TypeKind["INPUT_OBJECT" if entry.kind == "input" else entry.kind.upper()]
            case "name":
                return text
            case "description":
                return text_of(entry.description)
            case "specifiedByURL":
                return argument_of(entry.directives, "url") if entry.kind == "scalar" else None
            case "isOneOf":
                return "@oneOf" in entry.directives if entry.kind == "input" else None
            case "interfaces":
                names = [name for name in entry.interfaces if name in self._view.members]
                return names if entry.kind in ("object", "interface") else None
            case "possibleTypes":
                return list(self._possible_names(text)) if entry.kind in ("interface", "union") else None
            case _:
                return self._members(field, text, **options)

    def _members(self, field: str, name: str, *, includeDeprecated: bool = False) -> list[Item] | None:  # noqa: N803
        """Return the members of a type, made once; ``None`` if types of its kind have no such members."""
        entry = self._slice(name)
        if entry.kind not in MEMBERS.get(field, ()):
            return None
        key = (name, includeDeprecated)
        if key not in self._items:
            items = (self._item(name, entry, member) for member in self._names(name, entry))
            self._items[key] = _current(items, includeDeprecated=includeDeprecated)
        return self._items[key]

    def _names(self, name: str, entry: TypeSlice) -> tuple[str, ...]:
        return tuple(EMPTY.fields) if entry is EMPTY else self._view.members[name]

    def _item(self, name: str, entry: TypeSlice, member: str) -> Item:
        match entry.kind:
            case "input":
                return input_item(member, self._view.input_field(name, member))
            case "enum":
                return Item(member, *entry.values[member])
            case _:
                field = entry.fields[member]
                arguments = {} if entry is EMPTY else self._view.arguments(name, member)
                return Item(member, field.description, field.directives, type=field.type, arguments=arguments)

    def _slice(self, name: str) -> TypeSlice:
        return self._view.index[name] if name in self._view.members else EMPTY

    def _possible_names(self, name: str) -> tuple[str, ...]:
        view = self._view
        if name not in view.members:
            return ()
        if view.index.kind(name) == "union":
            return view.members[name]
        below = view.index.implementers.get(name, ())
        return tuple(each for each in below if each in view.members and view.index.kind(each) == "object")

    @cached_property
    def _types(self) -> Mapping[str, None]:
        """The names of all types in graphql-core's order: its own scalars are at their first use."""
        names: dict[str, None] = {}
        for name in self._view.members:
            if name not in BUILT_IN_SCALARS:
                names[name] = None
                if not names.keys() >= BUILT_IN_SCALARS:
                    names |= dict.fromkeys(self._built_ins_of(name))
        for directive in self._view.directives().values():
            types = (named_type(argument.type) for argument in directive.arguments.values())
            names |= dict.fromkeys(name for name in types if name in BUILT_IN_SCALARS)
        if self.query not in names:
            names |= {self.query: None, "Boolean": None}
        return names | dict.fromkeys(in_every_schema())

    def _built_ins_of(self, name: str) -> list[str]:
        if BUILT_IN_SCALARS.isdisjoint(self._view.index.targets(name)):
            return []
        members, gone = set(self._view.members[name]), self._view.gone
        return [
            type_
            for member, argument, type_ in self._view.index.references(name)
            if type_ in BUILT_IN_SCALARS and member in members and f"{name}.{member}({argument}:)" not in gone
        ]


MEMBERS: Mapping[str, tuple[str, ...]] = {
    "fields": ("object", "interface"),
    "inputFields": ("input",),
    "enumValues": ("enum",),
}
"""Introspection field -> the kinds of types that have such members."""


def input_item(name: str, value: InputValue) -> Item:
    """Return an argument or an input field."""
    return Item(name, value.description, value.directives, type=value.type, default=value.default)


def _arguments(arguments: Mapping[str, InputValue] | None, **options: bool) -> list[Item]:
    return _current((input_item(*each) for each in (arguments or {}).items()), **options)


def _current(items: Iterable[Item], *, includeDeprecated: bool = False) -> list[Item]:  # noqa: N803 - as GraphQL has it
    return [item for item in items if includeDeprecated or item.deprecation is None]


ITEM_FIELDS: Mapping[str, Callable[..., Any]] = {
    "name": lambda item: item.name,
    "description": lambda item: text_of(item.description),
    "type": lambda item: core_type(item.type),
    "args": lambda item, **options: _arguments(item.arguments, **options),
    "defaultValue": lambda item: item.default or None,
    "isDeprecated": lambda item: item.deprecation is not None,
    "deprecationReason": lambda item: item.deprecation,
}
"""The fields of ``__Field``, ``__InputValue`` and ``__EnumValue``, each with its value for an ``Item``."""

DIRECTIVE_FIELDS: Mapping[str, Callable[..., Any]] = {
    "name": lambda carried: carried.name,
    "description": lambda carried: text_of(carried.directive.description),
    "isRepeatable": lambda carried: carried.directive.repeatable,
    "locations": lambda carried: [DirectiveLocation[location] for location in carried.directive.on],
    "args": lambda carried, **options: _arguments(carried.directive.arguments, **options),
}
"""The fields of ``__Directive``, each with its value for a ``Carried``."""


@record(frozen=True, slots=True)
class Definition:
    """One member of ``__SchemaDefinition``: the name of its introspection type, and the source of the fields below."""

    type: str
    source: Any


def find_definition(view: Introspected, coordinate: str) -> Definition | None:
    """Return the definition of a coordinate; ``None`` if a view has none, whether or not its schema has one."""
    match = COORDINATE.fullmatch(coordinate)
    if match is None:
        return None
    if name := match["directive"]:
        own = view.directives().get(name)
        core = next((each for each in specified_directives if each.name == name), None)
        if argument := match["taken"]:
            return _argument(own.arguments if own else core.args if core else {}, argument)
        return Definition("__Directive", Carried(name, own) if own else core) if own or core else None
    type_, member, argument = view.type_named(match["type"]), match["member"], match["argument"]
    if type_ is None or not member:
        return None if type_ is None else Definition("__Type", type_)
    if isinstance(type_, GraphQLNamedType):  # of introspection: graphql-core's form of a member has its name beside it
        fields, values = getattr(type_, "fields", {}), getattr(type_, "values", {})
        if member in fields:
            field = fields[member]
            return _argument(field.args, argument) if argument else Definition("__Field", (member, field))
        return Definition("__EnumValue", (member, values[member])) if member in values and not argument else None
    item = view.member(type_, member)
    if item is None or argument:
        return _argument(item.arguments or {}, argument) if item else None
    return Definition({"input": "__InputValue", "enum": "__EnumValue"}.get(view.kind(type_), "__Field"), item)


def _argument(arguments: Mapping[str, Any], name: str) -> Definition | None:
    value = arguments.get(name)
    item = input_item(name, value) if isinstance(value, InputValue) else (name, value)
    return Definition("__InputValue", item) if value else None


@cache
def in_every_schema() -> Mapping[str, GraphQLNamedType]:
    """Return graphql-core's own types that every schema has, in its order."""
    return GraphQLSchema().type_map


@cache
def all_of_core() -> Mapping[str, GraphQLNamedType]:
    """Return these types, all built-in scalars, and the types of ``__search`` and ``__definitions``."""
    return {**specified_scalar_types, **in_every_schema(), **SEARCH_TYPES}


def core_type(text: str) -> Any:
    """Return a type by its text: graphql-core's object for a type that it has, else the text."""
    return all_of_core().get(text, text)


def text_of(printed: str) -> str | None:
    """Return the text of a printed description; ``None`` if it is empty.

    Most descriptions are block strings as graphql-core prints them, which need no parser.
    """
    if not printed:
        return None
    body = printed[3:-3]
    if not printed.startswith('"""') or "\\" in body or "\r" in body:
        return _string(printed)
    # A printed block string has no common indentation; an empty first or last line is only there for the quotes.
    return body.removeprefix("\n").removesuffix("\n")


def argument_of(directives: str, name: str) -> str | None:
    """Return the text of a printed directive's only argument; ``None`` if it has no argument of this name."""
    _, opening, literal = directives.partition(f"({name}: ")
    return _string(literal.removesuffix(")")) if opening else None


def _string(literal: str) -> str:
    return cast("StringValueNode", parse_const_value(literal, no_location=True)).value
