"""Root fields that suit starter tools, with the arguments and the selection of each."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLID,
    GraphQLInputType,
    GraphQLObjectType,
    GraphQLSchema,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
    is_required_argument,
)

from handler.commands.starters.names import is_about_the_caller, is_readable, is_secret, words_of
from handler.commands.starters.selection import StarterSelection, is_plain_type, select_item, select_items

PAGE_SIZES = ("first", "limit", "take", "pageSize", "perPage", "page_size", "per_page", "top", "count", "size")
NEXT_PAGES = ("after", "offset", "skip", "page")
DEFAULT_SIZE = 10

KEYS = ("id", "uuid", "nodeId", "slug", "handle", "code", "number", "name", "email", "key", "isbn", "sku")
"""Names of arguments that single out one object, the usual ones first."""

PLAIN = 16
"""The rank from which fields have one plain value."""

MIN_LEAVES = 2
"""Values of an object that is worth a lookup: the caller knows one of them."""

Kind = Literal["list", "lookup", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StarterArgument:
    """An argument that a starter takes as a variable, with the variable's type."""

    name: str
    type: str
    role: Literal["size", "next", "key", "needed"]
    description: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RootField:
    """A root field as a starter uses it. A lower ``rank`` suits better."""

    name: str
    kind: Kind
    rank: int
    takes: tuple[StarterArgument, ...]
    selection: str  # without braces; empty for a field with a plain value
    item: str  # the name of the type that it is about
    description: str | None


def root_fields(schema: GraphQLSchema, hidden: Container[str]) -> list[RootField]:
    """Return the query fields that suit starters, best first, and in the order of the schema if equally good."""
    query = schema.query_type
    if query is None:
        return []
    suited = [
        each
        for name, field in query.fields.items()
        if _is_for_everybody(name, field) and f"{query.name}.{name}" not in hidden
        for each in _as_starter(name, field, query, hidden)
    ]
    return sorted(suited, key=lambda each: each.rank)


def _is_for_everybody(name: str, field: GraphQLField) -> bool:
    arguments = field.args.items()
    return (
        is_readable(name)
        and field.deprecation_reason is None
        and not is_secret(name)
        and not is_about_the_caller(name)
        and not any(is_secret(argument) and is_required_argument(each) for argument, each in arguments)
    )


def _as_starter(
    name: str, field: GraphQLField, query: GraphQLObjectType, hidden: Container[str]
) -> Iterator[RootField]:
    """Yield the field in the first form that suits it; nothing if none does."""
    if get_named_type(field.type) is query:  # some servers nest the root for their clients
        return
    found = _list(name, field, hidden) or _lookup(name, field, hidden) or _other(name, field, hidden)
    if found:
        yield found


def _list(name: str, field: GraphQLField, hidden: Container[str]) -> RootField | None:
    size = _size(field.args)
    following = _next(field.args)
    cursor = following is not None and following.name == "after"
    selected = select_items(field.type, hidden, cursor=cursor)
    paging = [each for each in (size, following) if each]
    needed = _needed(field.args, {each.name for each in paging})
    if selected is None or needed is None or len(needed) > 1:
        return None
    if cursor and not selected.paged:  # a cursor that no answer gives is of no use
        paging = [each for each in paging if each.role != "next"]
    rank = (0 if size else 4) + 8 * len(needed) + _poverty(selected)
    return _made(name, field, "list", rank, (*needed, *paging), selected)


def _lookup(name: str, field: GraphQLField, hidden: Container[str]) -> RootField | None:
    selected = None if is_list_type(get_nullable_type(field.type)) else select_item(field.type, hidden)
    key = _key(field.args, selected.item) if selected else None
    if selected is None or key is None or selected.leaves < MIN_LEAVES:
        return None
    needed = _needed(field.args, {key.name})
    if needed is None or needed:
        return None
    rank = (0 if key.name == "id" else 1 if key.name in KEYS else 2) + _poverty(selected)
    return _made(name, field, "lookup", rank, (key,), selected)


def _other(name: str, field: GraphQLField, hidden: Container[str]) -> RootField | None:
    needed = _needed(field.args, set())
    if needed is None or len(needed) > 1 or is_list_type(get_nullable_type(field.type)):
        return None
    selected = select_item(field.type, hidden)
    if selected and not (needed and selected.leaves < MIN_LEAVES):
        return _made(name, field, "other", 8 * len(needed) + _poverty(selected), tuple(needed), selected)
    named = get_named_type(field.type)
    if not is_leaf_type(named) or not is_plain_type(named) or named is GraphQLID:  # an id alone says nothing
        return None
    plain = StarterSelection(text="", item=name, leaves=1)
    return _made(name, field, "other", PLAIN + 8 * len(needed), tuple(needed), plain)


def _made(
    name: str,
    field: GraphQLField,
    kind: Kind,
    rank: int,
    takes: tuple[StarterArgument, ...],
    selected: StarterSelection,
) -> RootField:
    return RootField(
        name=name,
        kind=kind,
        rank=rank,
        takes=takes,
        selection=selected.text,
        item=selected.item,
        description=field.description,
    )


def _poverty(selected: StarterSelection) -> int:
    """Return a penalty for an item with few values."""
    return max(0, 3 - selected.leaves)


def _size(arguments: Mapping[str, GraphQLArgument]) -> StarterArgument | None:
    for name in PAGE_SIZES:
        if name in arguments and get_nullable_type(arguments[name].type) is _named(arguments[name].type, "Int"):
            return _taken(name, arguments[name], "size", f"{arguments[name].type} = {DEFAULT_SIZE}")
    return None


def _next(arguments: Mapping[str, GraphQLArgument]) -> StarterArgument | None:
    for name in NEXT_PAGES:
        argument = arguments.get(name)
        if argument is None or is_required_argument(argument) or argument.deprecation_reason is not None:
            continue
        type_ = get_nullable_type(argument.type)
        if is_leaf_type(type_) and is_plain_type(get_named_type(type_)):
            # A variable without a default may be left out; one of a non-null type may not.
            return _taken(name, argument, "next", str(type_)) if not is_non_null_type(argument.type) else None
    return None


def _key(arguments: Mapping[str, GraphQLArgument], item: str) -> StarterArgument | None:
    """Return the argument that singles out one object, as a required variable."""
    own = set(words_of(item))
    usual = [name for name in KEYS if name in arguments]
    by_type = [name for name in arguments if words_of(name)[-1:] == ["id"] and own & set(words_of(name)[:-1])]
    for name in (*usual, *by_type):
        type_ = get_nullable_type(arguments[name].type)
        if is_leaf_type(type_) and is_plain_type(get_named_type(type_)) and not is_secret(name):
            return _taken(name, arguments[name], "key", f"{type_}!")
    return None


def _needed(arguments: Mapping[str, GraphQLArgument], taken: Container[str]) -> list[StarterArgument] | None:
    """Return the other arguments that must be given; ``None`` if one of them is not a plain value."""
    needed = {name: each for name, each in arguments.items() if name not in taken and is_required_argument(each)}
    types = [get_nullable_type(each.type) for each in needed.values()]
    if any(not is_leaf_type(type_) or not is_plain_type(get_named_type(type_)) for type_ in types):
        return None
    return [_taken(name, each, "needed", str(each.type)) for name, each in needed.items()]


def _taken(
    name: str, argument: GraphQLArgument, role: Literal["size", "next", "key", "needed"], type_: str
) -> StarterArgument:
    return StarterArgument(name=name, type=type_, role=role, description=argument.description)


def _named(type_: GraphQLInputType, name: str) -> object:
    """Return the named type behind a type if it has that name, else ``None``."""
    named = get_named_type(type_)
    return named if named.name == name else None
