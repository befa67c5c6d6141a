"""Values that a starter selects of a type."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass

from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLScalarType,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
    is_required_argument,
    is_specified_scalar_type,
)

from handler.commands.starters.names import is_secret
from handler.compiler.access.name_matching import spellings, words_in
from handler.compiler.checks.exposure import PLAIN_SCALAR

MAX_LEAVES = 8

ITEMS = ("nodes", "items", "results", "data", "records", "entries", "rows", "docs", "objects", "content")
"""Usual names of the list in a page."""

Composite = GraphQLObjectType | GraphQLInterfaceType


@dataclass(frozen=True, slots=True, kw_only=True)
class StarterSelection:
    """A selection of one item or of a page of items. ``text`` has no braces."""

    text: str
    item: str  # the name of the type that the values are of
    leaves: int
    paged: bool = False  # it has pageInfo


def leaves_of(type_: GraphQLNamedType | None, hidden: Container[str]) -> list[str]:
    """Return the fields of a type with one plain value each, the id first; empty for unions and leaf types."""
    if not isinstance(type_, Composite):
        return []
    found = [name for name, field in type_.fields.items() if is_usable(type_, name, hidden) and _is_plain(field)]
    found.sort(key=lambda name: name != "id")
    return found[:MAX_LEAVES]


def is_usable(type_: Composite, name: str, hidden: Container[str]) -> bool:
    """Tell if a field is not deprecated, hidden or secret, and needs no arguments."""
    field = type_.fields[name]
    needs = any(is_required_argument(argument) for argument in field.args.values())
    return not (
        needs
        or field.deprecation_reason is not None
        or is_secret(name)
        or f"{type_.name}.{name}" in hidden
        or name.startswith("__")
    )


def select_item(type_: GraphQLOutputType, hidden: Container[str]) -> StarterSelection | None:
    """Return the selection of one object; ``None`` if it has no plain values."""
    named = get_named_type(type_)
    leaves = leaves_of(named, hidden)
    return StarterSelection(text=" ".join(leaves), item=named.name, leaves=len(leaves)) if leaves else None


def select_items(type_: GraphQLOutputType, hidden: Container[str], *, cursor: bool) -> StarterSelection | None:
    """Return the selection of a list or a page of objects; ``None`` for any other type.

    ``cursor``: select ``pageInfo`` too, if the page has one, and the cursors of edges, by which answers are shortened.
    """
    nullable = get_nullable_type(type_)
    if is_list_type(nullable):
        return select_item(type_, hidden)
    if not isinstance(nullable, GraphQLObjectType):
        return None
    page = _page_info(nullable, hidden) if cursor else ""
    edges = _edges(nullable, hidden, cursor=bool(page))
    found = edges if page and edges and edges[0].startswith("edges { cursor ") else _items(nullable, hidden) or edges
    if found is None:
        return None
    text, inner = found
    total = "totalCount" if is_total(nullable, hidden) else ""
    whole = " ".join(filter(None, [total, text, page]))
    return StarterSelection(text=whole, item=inner.item, leaves=inner.leaves, paged=bool(page))


def is_total(page: GraphQLObjectType, hidden: Container[str]) -> bool:
    """Tell if a page counts all items."""
    return (
        "totalCount" in page.fields and is_usable(page, "totalCount", hidden) and _is_plain(page.fields["totalCount"])
    )


def is_plain_type(type_: GraphQLNamedType) -> bool:
    """Tell if a type has one value: a built-in scalar, an enum, or a scalar whose name says that."""
    if isinstance(type_, GraphQLEnumType) or is_specified_scalar_type(type_):
        return True
    if not isinstance(type_, GraphQLScalarType):
        return False
    return any(PLAIN_SCALAR.fullmatch(word) for word in words_in(type_.name) | spellings(type_.name))


def _is_plain(field: GraphQLField) -> bool:
    return is_leaf_type(get_nullable_type(field.type)) and is_plain_type(get_named_type(field.type))


def _items(page: GraphQLObjectType, hidden: Container[str]) -> tuple[str, StarterSelection] | None:
    for name in ITEMS:
        if name in page.fields and is_usable(page, name, hidden) and _is_list(page.fields[name]):
            inner = select_item(page.fields[name].type, hidden)
            if inner:
                return f"{name} {{ {inner.text} }}", inner
    return None


def _edges(page: GraphQLObjectType, hidden: Container[str], *, cursor: bool) -> tuple[str, StarterSelection] | None:
    if "edges" not in page.fields or not is_usable(page, "edges", hidden) or not _is_list(page.fields["edges"]):
        return None
    edge = get_named_type(page.fields["edges"].type)
    if not isinstance(edge, GraphQLObjectType) or "node" not in edge.fields or not is_usable(edge, "node", hidden):
        return None
    inner = select_item(edge.fields["node"].type, hidden)
    cursors = list(_plain_names(edge, ("cursor",), hidden)) if cursor else []
    return (f"edges {{ {' '.join([*cursors, 'node'])} {{ {inner.text} }} }}", inner) if inner else None


def _is_list(field: GraphQLField) -> bool:
    return is_list_type(get_nullable_type(field.type))


def _page_info(page: GraphQLObjectType, hidden: Container[str]) -> str:
    field = page.fields.get("pageInfo")
    info = get_named_type(field.type) if field and is_usable(page, "pageInfo", hidden) else None
    if not isinstance(info, GraphQLObjectType):
        return ""
    names = list(_plain_names(info, ("hasNextPage", "endCursor"), hidden))
    return f"pageInfo {{ {' '.join(names)} }}" if len(names) == 2 else ""


def _plain_names(type_: GraphQLObjectType, names: tuple[str, ...], hidden: Container[str]) -> Iterator[str]:
    for name in names:
        if name in type_.fields and is_usable(type_, name, hidden) and _is_plain(type_.fields[name]):
            yield name
