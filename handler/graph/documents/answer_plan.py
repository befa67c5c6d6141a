"""The plan of the answer to a document, from the types of its schema: see ``handler/answers/plan.py``.

Fields under one response key may be those of several types. GraphQL has them agree on lists and leaf types, so one plan
serves all of them; where arguments or roles differ, the value stays whole.

Source: GraphQL specification, 5.3.2 (Field Selection Merging); GraphQL Cursor Connections Specification.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from graphql import (
    DocumentNode,
    FieldNode,
    IntValueNode,
    ObjectValueNode,
    ValueNode,
    VariableNode,
    parse,
    print_ast,
    value_from_ast_untyped,
)

from handler.answers.plan import COUNTS, FILTER, OFFSETS, PAGES, SIZES, TOKENS, Argument, Member, Members
from handler.graph.documents.operation import Selected, fields_by_key, fragments_of, only_operation
from handler.graph.documents.used_fields import COMPOSITE, visible_field
from handler.graph.index import named_type
from handler.graph.view import View
from handler.strict_json import JSONObject

CONDITIONS = {"skip", "include"}
"""Directives that may omit a field and do not change its value."""

ROLES: Mapping[str, str] = {
    **{name: name for name in ("first", "last", "after", "before")},
    **dict.fromkeys(OFFSETS, "offset"),
    **dict.fromkeys(PAGES, "page"),
}
"""Arguments that page, and their roles."""

SORTS = ("sort", "order", "reverse", "direction")
"""Beginnings of arguments that sort."""

NUMBERS = frozenset({"Int", "Float", "Boolean"})
"""Types that a cursor does not have."""

MAX_DEPTH = 60

INFO = frozenset({"endCursor", "startCursor", "hasNextPage", "hasPreviousPage"})


def plan_of_text(text: str, view: View, *, settable: Iterable[str] | None = None) -> Members:
    """Return the plan of the answer to a valid document of one operation.

    ``settable`` are the variables that a call gives; ``None``: the caller writes the document, with any argument.
    """
    return plan_of_document(parse(text, no_location=True), view, settable=settable)


def plan_of_document(
    document: DocumentNode,
    view: View,
    *,
    settable: Iterable[str] | None,
    is_hidden: Callable[[str], object] = lambda _: False,
) -> Members:
    """Return the plan as ``plan_of_text`` does, without input fields whose coordinate ``is_hidden``."""
    operation = only_operation(document)
    defaults = {
        node.variable.name.value: _number(node.default_value)
        for node in operation.variable_definitions or ()
        if node.default_value
    }
    walk = _Walk(document, view, defaults, None if settable is None else frozenset(settable), is_hidden)
    root = view.index.roots[operation.operation.value]
    return walk.members([(root, operation.selection_set)], 0) or Members(fields={})


def defaults_of_text(text: str) -> JSONObject:
    """Return the defaults of the variables of a valid document of one operation."""
    operation = only_operation(parse(text, no_location=True))
    return {
        node.variable.name.value: value_from_ast_untyped(node.default_value)
        for node in operation.variable_definitions or ()
        if node.default_value
    }


class _Walk:
    def __init__(
        self,
        document: DocumentNode,
        view: View,
        defaults: Mapping[str, int | None],
        settable: frozenset[str] | None,
        is_hidden: Callable[[str], object],
    ) -> None:
        self._view = view
        self._defaults = defaults
        self._settable = settable
        self._is_hidden = is_hidden
        self._fragments = fragments_of(document)
        self._known: dict[frozenset[tuple[str, int]], Members | None] = {}

    def members(self, selected: Selected, depth: int) -> Members | None:
        """Return the plan of the objects in one place; ``None`` if nothing in it may be cut."""
        key = frozenset((name, id(selections)) for name, selections in selected)
        if key not in self._known:
            self._known[key] = self._members(selected, depth) if depth < MAX_DEPTH else None
        return self._known[key]

    def _members(self, selected: Selected, depth: int) -> Members | None:
        nodes = fields_by_key(selected, self._fragments)
        roles = _Roles(self._view, nodes)
        fields = {
            key: member
            for key, same in nodes.items()
            if (member := self._member(same, depth, is_cursor=roles.is_cursor(key)))
        }
        plan = replace(roles.plan(fields), fields=fields)
        return plan if fields or plan.cursors or plan.info or plan.tokens else None

    def _member(self, nodes: Sequence[tuple[str, FieldNode]], depth: int, *, is_cursor: bool) -> Member | None:
        """Return the plan of the value under one response key; ``None`` if it stays as it is."""
        fields = [visible_field(self._view, parent, node.name.value) for parent, node in nodes]
        shapes = {(each.type.count("["), self._leaf(each.type)) if each else None for each in fields}
        directives = {each.name.value for _, node in nodes for each in node.directives or ()}
        if len(shapes) != 1 or None in shapes or not directives <= CONDITIONS:
            return None
        ((lists, leaf),) = (shape for shape in shapes if shape)
        below = None
        if not leaf:
            sets = [
                (named_type(each.type), node.selection_set)
                for each, (_, node) in zip(fields, nodes, strict=True)
                if each and node.selection_set
            ]
            below = self.members(sets, depth + 1)
        string = leaf == "String" and not is_cursor
        if not (lists or below or string):
            return None
        paging = self._paging(nodes)
        is_list = lists or (below and (below.rows or below.counts))
        if paging and not is_list and all(role.startswith(FILTER) for role in paging):
            paging = {}  # arguments of a field without pages narrow no list
        return None if paging is None else Member(depth=lists, below=below, string=string, paging=paging)

    def _leaf(self, type_: str) -> str:
        """Return the name of a leaf type; an empty string for a type with fields."""
        name = named_type(type_)
        return name if _is_leaf(self._view, name) else ""

    def _paging(self, nodes: Sequence[tuple[str, FieldNode]]) -> dict[str, Argument] | None:
        """Return the arguments that page a field, by role; ``None`` if its selections give different ones."""
        selections = {tuple(sorted(map(print_ast, node.arguments or ()))) for _, node in nodes}
        parent, node = nodes[0]
        arguments = self._view.arguments(parent, node.name.value)
        if len(selections) != 1:
            return None if any(name in ROLES for name in arguments) else {}
        values = {each.name.value: each.value for each in node.arguments or ()}
        by_role: dict[str, Argument] = {}
        for name, declared in arguments.items():
            for role, argument in self._arguments(name, named_type(declared.type), values.get(name)):
                is_key = declared.required and role.startswith(FILTER)
                if self._usable(role, argument) and not (role in by_role and by_role[role].given) and not is_key:
                    by_role[role] = argument
        return by_role

    def _arguments(self, name: str, type_: str, value: ValueNode | None) -> Iterator[tuple[str, Argument]]:
        """Yield the roles of an argument, or of the fields of an input object."""
        inputs = [each for each in _inputs(self._view, type_) if not self._is_hidden(f"{type_}.{each}")]
        if not any(inner in ROLES or inner in SIZES for inner in inputs):  # a filter counts whole, or what is settable
            fields = value.fields if isinstance(value, ObjectValueNode) and self._settable is not None else ()
            inputs = [each.name.value for each in fields]
        if not inputs:
            yield from _with_roles(name, self._argument(name, value))
        for inner in inputs:
            path = f"{name}.{inner}"
            if isinstance(value, VariableNode):
                yield from _with_roles(inner, Argument(path, (value.name.value, inner)))
            elif isinstance(value, ObjectValueNode):
                values = {each.name.value: each.value for each in value.fields}
                yield from _with_roles(inner, self._argument(path, values.get(inner)))
            elif value is None:
                yield from _with_roles(inner, Argument(path, given=False))

    def _argument(self, name: str, value: ValueNode | None) -> Argument:
        if isinstance(value, VariableNode):
            return Argument(name, (value.name.value,), value=self._defaults.get(value.name.value))
        return Argument(name, given=False) if value is None else Argument(name, value=_number(value))

    def _usable(self, role: str, argument: Argument) -> bool:
        """Return whether a caller can give an argument, or its value says which end of a list is asked for."""
        if self._settable is None or role in ("first", "last"):
            return self._settable is None or argument.given
        return bool(argument.variable) and argument.variable[0] in self._settable


class _Roles:
    """The roles of an object's response keys, if all the types that it may have agree."""

    def __init__(self, view: View, by_key: Mapping[str, Sequence[tuple[str, FieldNode]]]) -> None:
        self._view = view
        self._names = {key: {node.name.value for _, node in nodes} for key, nodes in by_key.items()}
        self._parents = {parent for nodes in by_key.values() for parent, _ in nodes}

    def is_cursor(self, key: str) -> bool:
        """Return whether a string under a key is a cursor."""
        return any(_is_token(name) or name.lower().endswith("cursor") for name in self._names[key])

    def plan(self, fields: Mapping[str, Member]) -> Members:
        """Return the roles of the keys, without the plans of their values."""
        info = {key: name for key in self._names if (name := self._name(key)) in INFO and self._fits(name)}
        if info and (self._all_have("hasNextPage") or self._all_have("endCursor")):
            return Members(fields={}, info=info, nullable=self._nullable(info))
        rows = self._keys("edges", "nodes")
        page_info = tuple(key for key, each in fields.items() if each.below and not each.depth and _ends(each.below))
        if not rows and (page_info or self._all_have("pageInfo")):
            lists = [key for key, each in fields.items() if each.depth == 1 and each.below]
            rows = tuple(lists) if len(lists) == 1 else ()
        edge = self._all_have("node")
        edges = [visible_field(self._view, parent, "edges") for parent in self._parents]
        tokens = () if edge else tuple(key for key in self._names if self._is_end(key))
        counts = tuple(key for key in self._names if self._counts(self._name(key)))
        offered = {name for parent in self._parents for name in self._view.members.get(parent, ())}
        return Members(
            fields={},
            rows=tuple(key for key in rows if key in fields and fields[key].depth == 1),
            cursors=self._keys("cursor") if edge and self._fits("cursor") else (),
            page_info=page_info,
            tokens=tokens,
            nullable=self._nullable(tokens),
            counts=counts,
            offers_counts=tuple(sorted(name for name in offered if self._counts(name))),
            offers_cursors=all(each and visible_field(self._view, named_type(each.type), "cursor") for each in edges),
        )

    def _counts(self, name: str) -> bool:
        fields = [visible_field(self._view, parent, name) for parent in self._parents]
        return _plain(name) in COUNTS and all(each and each.type.rstrip("!") == "Int" for each in fields)

    def _is_end(self, key: str) -> bool:
        name = self._name(key)
        types = {named_type(each.type) for parent in self._parents if (each := visible_field(self._view, parent, name))}
        return _is_token(name) and self._fits(name) and all(_is_leaf(self._view, each) for each in types)

    def _nullable(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Return the keys whose fields may be null in all types."""
        fields = {key: [visible_field(self._view, parent, self._name(key)) for parent in self._parents] for key in keys}
        return tuple(
            key for key, typed in fields.items() if not any(each and each.type.endswith("!") for each in typed)
        )

    def _keys(self, *names: str) -> tuple[str, ...]:
        return tuple(key for key in self._names if self._name(key) in names)

    def _name(self, key: str) -> str:
        """Return the name of the field under a key; an empty string if it differs by type."""
        names = self._names[key]
        return next(iter(names)) if len(names) == 1 else ""

    def _all_have(self, name: str) -> bool:
        return all(visible_field(self._view, parent, name) for parent in self._parents)

    def _fits(self, name: str) -> bool:
        """Return whether a field of a connection has the type that its specification gives it."""
        fields = [visible_field(self._view, parent, name) for parent in self._parents]
        types = {named_type(each.type) for each in fields if each}
        return types == {"Boolean"} if name.startswith("has") else not types & NUMBERS


def _is_token(name: str) -> bool:
    return _plain(name) in TOKENS


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def _ends(members: Members) -> bool:
    """Return whether an object without lists names the end of a list beside it."""
    return bool(members.info or members.tokens) and not any(each.depth for each in members.fields.values())


def _with_roles(name: str, argument: Argument) -> Iterator[tuple[str, Argument]]:
    if name in ROLES:
        yield ROLES[name], argument
    if name in SIZES:
        yield "size", argument
    if name not in ROLES and name not in SIZES and not _plain(name).startswith(SORTS):
        yield f"{FILTER}{argument.name}", argument


def _number(value: ValueNode) -> int | None:
    """Return a literal whole number; ``None`` for another value."""
    return int(value.value) if isinstance(value, IntValueNode) and len(value.value) < 16 else None


def _is_leaf(view: View, name: str) -> bool:
    """Return whether a type has no fields. The API may have types that the view has not, and those are leaves."""
    return name not in view.index or view.index.kind(name) not in COMPOSITE


def _inputs(view: View, name: str) -> Iterator[str]:
    """Yield the visible fields of an input object."""
    if name in view.index and view.index.kind(name) == "input":
        yield from (each for each in view.index[name].inputs if each in view.members.get(name, ()))
