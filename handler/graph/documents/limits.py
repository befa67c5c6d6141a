"""Limits of a document: its size, which is checked before validation (that could take a second), and its cost."""

from __future__ import annotations

from collections.abc import Mapping
from operator import add
from typing import Any, NamedTuple

from graphql import (
    DocumentNode,
    FieldNode,
    FloatValueNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    IntValueNode,
    ListValueNode,
    Node,
    ObjectValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    StringValueNode,
    ValueNode,
    VariableNode,
    parse_const_value,
)

from handler.bundle.tools import Limits
from handler.errors.calls import DocumentRefused
from handler.graph.documents.locations import fault_at, name_of, printable, quoted_name
from handler.graph.documents.operation import INTROSPECTION, expanded, fragments_of, only_operation
from handler.graph.documents.search_fields import SEARCH_FIELDS
from handler.graph.documents.used_fields import COMPOSITE, visible_field
from handler.graph.index import Field, InputValue, ListSize, SchemaIndex, named_type
from handler.graph.view import View

MAX_FRAGMENT_NESTING = 40
"""Nesting of fragments: enough for any client, and far below Python's own recursion limit."""

MAX_INTROSPECTION_DEPTH = 20
"""Levels below fields of introspection. The usual clients' query has 15: a type wrapped nine times."""

MAX_INTROSPECTION_FIELDS = 500
"""Fields below fields of introspection, fragments expanded. The usual clients' query has 240."""

MAX_SEARCHES = 10
"""Occurrences of ``__search`` and ``__definitions``. Each search takes some milliseconds."""

DEFAULT_LIST_SIZE = 10
"""Items of a list without a size."""

SIZE_ARGUMENTS = ("first", "last", "limit")
"""Arguments that set a page's size on a field without ``@listSize``."""

KEYS_ARGUMENT = "ids"
"""The argument with one key for each item of the list."""

MOST = 10**12
"""Upper bound of sizes: larger numbers need no distinction, and some have thousands of digits."""


def refuse_large(document: DocumentNode, limits: Limits) -> None:
    """Refuse a document that is large with its fragments expanded, or whose fragments cannot be expanded.

    Introspection has its own bounds, because authors do not think of it when they set limits.

    Raises:
        DocumentRefused: with the first limit that is exceeded, and the selection that exceeds it.
    """
    first: dict[str, FragmentDefinitionNode] = {}
    for node in document.definitions:
        if isinstance(node, FragmentDefinitionNode) and first.setdefault(node.name.value, node) is not node:
            # The second would not be measured. The words are graphql-core's.
            sentence = f"There can be only one fragment named '{printable(node.name.value)}'."
            raise DocumentRefused(fault_at(first[node.name.value].name, sentence))
    measure = _Measure(first, limits)
    for node in document.definitions:
        match node:
            case OperationDefinitionNode():
                measure.selections(node.selection_set, level=1, inside=(), schema=False)
            case FragmentDefinitionNode():
                measure.fragment(node, node.name.value, level=1, inside=())


class _Size(NamedTuple):
    """The size of a selection with its fragments expanded."""

    # heights
    depth: int = 0
    nesting: int = 0  # fragments in fragments
    schema_depth: int = 0  # below fields of introspection
    # counts
    fields: int = 0
    aliases: int = 0
    schemas: int = 0
    searches: int = 0  # __search and __definitions
    schema_fields: int = 0

    def beside(self, other: _Size) -> _Size:
        return _Size(*map(max, self[:3], other[:3]), *map(add, self[3:], other[3:]))

    def below(self, node: FieldNode, *, schema: bool) -> _Size:
        """Return the size of a field with this selection below it."""
        if schema:
            return self._replace(schema_depth=self.schema_depth + 1, schema_fields=self.schema_fields + 1)
        return self._replace(
            depth=self.depth + 1,
            fields=self.fields + 1,
            aliases=self.aliases + (node.alias is not None),
            schemas=self.schemas + (node.name.value == "__schema"),
            searches=self.searches + (node.name.value in SEARCH_FIELDS),
        )


class _Measure:
    """Sizes of the parts of one document, each fragment measured once. Stops at the first limit that is exceeded.

    ``level`` counts the fields above a part and ``inside`` names the fragments around it: both bound the recursion.
    ``schema`` is true in introspection: below its fields at the root, and in fragments on types that only those return.
    """

    def __init__(self, fragments: Mapping[str, FragmentDefinitionNode], limits: Limits) -> None:
        self._fragments = fragments
        self._limits = limits
        self._sizes: dict[str, _Size] = {}  # of fragments

    def selections(self, node: SelectionSetNode, *, level: int, inside: tuple[str, ...], schema: bool) -> _Size:
        size = _Size()
        for each in node.selections:
            match each:
                case FieldNode():
                    part = self._field(each, level, inside, schema=schema)
                case InlineFragmentNode():
                    part = self._inside(each, each.selection_set, level, (*inside, "..."), schema=schema)
                case FragmentSpreadNode():
                    part = self.fragment(each, each.name.value, level=level, inside=inside)
                case _:
                    raise TypeError(f"a selection is a field or a fragment, not {each.kind}")
            size = size.beside(part)
            self._refuse(size, each)
        return size

    def fragment(self, node: Node, name: str, *, level: int, inside: tuple[str, ...]) -> _Size:
        if name in inside:
            raise DocumentRefused(fault_at(node, f"fragment {quoted_name(name)} spreads itself"))
        if name not in self._fragments:
            raise DocumentRefused(fault_at(node, f"it has no fragment {quoted_name(name)}"))
        if name not in self._sizes:
            fragment = self._fragments[name]
            schema = fragment.type_condition.name.value.startswith("__")
            self._sizes[name] = self._inside(node, fragment.selection_set, level, (*inside, name), schema=schema)
        return self._sizes[name]

    def _field(self, node: FieldNode, level: int, inside: tuple[str, ...], *, schema: bool) -> _Size:
        self._refuse(_Size(schema_depth=level) if schema else _Size(depth=level), node)
        below = _Size()
        if node.selection_set is not None:
            enters = not schema and node.name.value in INTROSPECTION
            below = self.selections(
                node.selection_set, level=1 if enters else level + 1, inside=inside, schema=schema or enters
            )
        return below.below(node, schema=schema)

    def _inside(
        self, node: Node, selections: SelectionSetNode, level: int, inside: tuple[str, ...], *, schema: bool
    ) -> _Size:
        self._refuse(_Size(nesting=len(inside)), node)
        size = self.selections(selections, level=level, inside=inside, schema=schema)
        return size._replace(nesting=size.nesting + 1)

    def _refuse(self, size: _Size, at: Node) -> None:
        limits = self._limits
        for has, most, parts in (
            (size.depth, limits.max_depth, "levels of fields (max_depth)"),
            (size.fields, limits.max_fields, "fields, fragments expanded (max_fields)"),
            (size.aliases, limits.max_aliases, "aliases, fragments expanded (max_aliases)"),
            (size.nesting, MAX_FRAGMENT_NESTING, "fragments in each other"),
            (size.schemas, 1, "__schema"),
            (size.searches, MAX_SEARCHES, "__search and __definitions"),
            (size.schema_depth, MAX_INTROSPECTION_DEPTH, "levels below fields of introspection"),
            (
                size.schema_fields,
                MAX_INTROSPECTION_FIELDS,
                "fields below those of introspection, fragments expanded",
            ),
        ):
            if has > most:
                more = f"with {name_of(at)} it has more than {most} {parts}"
                raise DocumentRefused(fault_at(at, f"{more}: ask for less in one request"))


def refuse_costly(document: DocumentNode, view: View, *, variables: Mapping[str, Any], max_cost: int) -> set[str]:
    """Refuse a valid document of one operation whose answer could hold more than ``max_cost`` objects and list items.

    Return the names of those ``variables`` on which the cost depends.

    Every object and every list item counts one; other values are free. ``@cost`` of a type replaces the one; ``@cost``
    of a field counts once for each object that has the field. The length of a list is the largest of ``first``,
    ``last`` and ``limit`` and the length of ``ids`` in the request, else the author's assumption, else ten. On a field
    that returns an object, as connections are paged, these sizes apply to the lists right below it. A size above ten
    also applies to a list that stands below further objects, as in ``search(first: 50) { page { items } }``, if nothing
    nearer sets a size. A smaller size does not, because it may be about other lists there.

    ``variables`` are coerced, including defaults. Selections that ``@skip`` and ``@include`` leave out count, too.

    Raises:
        DocumentRefused: with the field that exceeds the limit, or that needs another slicing argument.
    """
    operation = only_operation(document)
    watched = _Watched(variables)
    counter = _Counter(document, view, watched, max_cost)
    counter.selections(operation.selection_set, view.index.roots.get(operation.operation.value, ""), _Under(times=1))
    return watched.names


class _Watched:
    """Values of variables, and the names of those that were asked for."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self.names: set[str] = set()

    def get(self, name: str) -> Any:
        self.names.add(name)
        return self._values.get(name)

    def __contains__(self, name: str) -> bool:
        self.names.add(name)
        return name in self._values


Variables = Mapping[str, Any] | _Watched


class _Under(NamedTuple):
    """The parent of a selection set: the number of its objects, and the sizes set for the lists below."""

    times: int
    paged: Sizes | None = None  # set by the field that returns these objects
    paged_above: int | None = None  # size that the nearest field above it sets, if it sets none

    def below(self, sizes: Sizes, *, is_list: bool, times: int) -> _Under:
        """Return the parent of a field's selections. A list uses up the sizes set above; an object passes them on."""
        if is_list:
            return _Under(times, paged=sizes if sizes.fields else None)
        above = self.paged_above
        if self.paged is not None and not self.paged.is_empty:
            above = None if self.paged.fields else self.paged.size
        return _Under(times, paged=sizes, paged_above=above if sizes.is_empty else None)


class _Counter:
    def __init__(self, document: DocumentNode, view: View, variables: Variables, max_cost: int) -> None:
        self._fragments = fragments_of(document)
        self._view = view
        self._variables = variables
        self._max_cost = max_cost
        self._cost = 0.0

    def selections(self, selections: SelectionSetNode, parent: str, under: _Under) -> None:
        for on, node in expanded(selections, parent, self._fragments):
            self._field(node, on, under)

    def _field(self, node: FieldNode, parent: str, under: _Under) -> None:
        field = visible_field(self._view, parent, node.name.value)
        if field is None:  # __typename
            return
        index, returned = self._view.index, named_type(field.type)
        sizes = sizes_of(node, self._view, parent, self._variables)
        lists = field.type.count("[")
        times = under.times
        if lists:
            length = _length(node, sizes, under) * DEFAULT_LIST_SIZE ** (lists - 1)
            times = min(times * length, MOST)  # lists of free values exceed no limit, however deep
        weight = index.weight(returned)
        if weight is None:
            weight = 1 if lists or index.kind(returned) in COMPOSITE else 0
        self._cost += times * weight + under.times * field.weight
        if self._cost > self._max_cost:
            more = f"with {name_of(node)} the answer could hold more than {self._max_cost} objects and items of lists"
            pages = ", ".join(SIZE_ARGUMENTS)
            raise DocumentRefused(fault_at(node, f"{more} (max_cost): ask for smaller pages ({pages}) or for less"))
        if node.selection_set:
            self.selections(node.selection_set, returned, under.below(sizes, is_list=bool(lists), times=times))


def _length(node: FieldNode, sizes: Sizes, under: _Under) -> int:
    """Return the length of a field's own list; a size in a request goes before an assumption."""
    paged = under.paged
    above = paged if paged and (not paged.fields or node.name.value in paged.fields) else None
    own = None if sizes.fields else sizes
    lengths = [each.requested for each in (own, above) if each] + [each.assumed for each in (own, above) if each]
    return next((each for each in lengths if each is not None), max(DEFAULT_LIST_SIZE, under.paged_above or 0))


class Sizes(NamedTuple):
    """The sizes set for the lists of one field: ``requested`` by arguments, ``assumed`` by the schema's author.

    ``fields`` name the lists below that the sizes are for; none: the field's own list, or else all lists right below.
    """

    requested: int | None
    assumed: int | None
    fields: tuple[str, ...]

    @property
    def size(self) -> int | None:
        """The size that is requested, or else assumed; ``None`` if there is neither."""
        return self.requested if self.requested is not None else self.assumed

    @property
    def is_empty(self) -> bool:
        """True if nothing is set."""
        return self.size is None and not self.fields


def sizes_of(node: FieldNode, view: View, type_name: str, variables: Variables) -> Sizes:
    """Return the sizes that a request and the schema set for the lists of a visible field.

    Hidden arguments have their defaults.

    Raises:
        DocumentRefused: the schema requires exactly one slicing argument, and another number is present.

    Source: "The GraphQL Cost Directives Specification" (IBM), "@listSize".
    """
    field = view.index[type_name].fields[node.name.value]
    declared = field.size or ListSize()
    paths = declared.slicing or [
        name
        for name, argument in field.arguments.items()
        if name in SIZE_ARGUMENTS or (name == KEYS_ARGUMENT and argument.type.startswith("["))
    ]
    if not paths and not declared.one_required:
        return Sizes(declared.default, declared.assumed, declared.fields)
    slicing = {path.partition(".")[0] for path in paths}
    given = ((each.name.value, each.value) for each in node.arguments or () if each.name.value in slicing)
    nodes = {name: value for name, value in given if not _is_absent(value, variables)}
    values = {path: _value_at(path, field, view.index, nodes, variables) for path in paths}
    if declared.one_required:
        arguments = view.arguments(type_name, node.name.value)
        visible = [path for path in values if path.partition(".")[0] in arguments]
        present = [requested for value, requested in values.values() if value is not None]
        if visible and (not present or sum(present) > 1):
            raise DocumentRefused(fault_at(node, f"{name_of(node)} needs exactly one of {', '.join(visible)}"))
    lengths = [_size(value) for value, _ in values.values()]
    requested = max((length for length in lengths if length is not None), default=declared.default)
    return Sizes(requested, declared.assumed, declared.fields)


def _value_at(
    path: str, field: Field, index: SchemaIndex, nodes: Mapping[str, ValueNode], variables: Variables
) -> tuple[Any, bool]:
    """Return the value at a path of a field's arguments as the API will read it, and true if no default set it.

    Source for absent ones: GraphQL specification, 3.10, "Input Coercion".
    """
    name, *below = path.split(".")
    argument = field.arguments.get(name)
    if argument is None:
        return None, False
    value = _plain(nodes[name], variables) if name in nodes else _default_of(argument)
    default, type_name = None, named_type(argument.type)
    for key in below:
        input_field = index[type_name].inputs.get(key) if type_name in index else None
        default = _default_of(input_field)
        value = value.get(key, default) if isinstance(value, Mapping) else None
        type_name = named_type(input_field.type) if input_field else ""
    # GraphQL coerces one value to a list of it.
    listed = value is not None and argument.type.startswith("[") and not isinstance(value, list)
    # Coerced variables hold defaults already, so an input field's default counts as such wherever it comes from.
    by_default = default is not None and _size(value) == _size(default)
    return [value] if listed else value, name in nodes and not by_default


def _is_absent(node: ValueNode, variables: Variables) -> bool:
    """Return whether an argument or input field counts as absent.

    Source: GraphQL specification, 3.10 (Input Objects) and 6.4.1 (Coercing Field Arguments).
    """
    return isinstance(node, VariableNode) and node.name.value not in variables


def _default_of(declared: InputValue | None) -> Any:
    if declared is None or not declared.default:
        return None
    return _plain(parse_const_value(declared.default, no_location=True), {})


def _plain(node: ValueNode | None, variables: Variables) -> Any:
    """Return a literal as a Python value, numbers as text; ``None`` for other literals."""
    match node:
        case VariableNode():
            return variables.get(node.name.value)
        case IntValueNode() | FloatValueNode() | StringValueNode():
            return node.value
        case ListValueNode():
            return [_plain(value, variables) for value in node.values]
        case ObjectValueNode():
            return {
                field.name.value: _plain(field.value, variables)
                for field in node.fields
                if not _is_absent(field.value, variables)
            }
        case _:
            return None


def _size(value: Any) -> int | None:
    """Return a page size, from a number, numeric text or the length of a list; ``None`` unless it is 1 or more."""
    if isinstance(value, list):
        return max(len(value), 1)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = min(value if isinstance(value, int) else float(value), MOST)
    except ValueError:
        return None
    return int(number) if number >= 1 else None
