"""Introspection, ``__search`` and ``__definitions``, answered from a view.

graphql-core would walk every type as often as a document reaches it. Here a type below a selection is answered once,
and the answer is used at every place that the document reaches, so the work grows with types times selections. The
bytes of the answer and the values that are made for it have bounds; both are counted while the answer is made. An
object whose fields are all skipped has two bytes, and takes as long as another one.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, cast

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentSpreadNode,
    GraphQLEnumType,
    GraphQLField,
    GraphQLIncludeDirective,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSkipDirective,
    GraphQLUnionType,
    InlineFragmentNode,
    NamedTypeNode,
    SchemaMetaFieldDef,
    SelectionSetNode,
    TypeMetaFieldDef,
    TypeNameMetaFieldDef,
    get_argument_values,
    get_directive_values,
    get_variable_values,
)

from handler.cold.records import record
from handler.errors.calls import DocumentRefused, Fault
from handler.graph.documents.introspection_fields import (
    DIRECTIVE_FIELDS,
    ITEM_FIELDS,
    Carried,
    Definition,
    Introspected,
    Item,
    find_definition,
)
from handler.graph.documents.locations import fault_at, printable
from handler.graph.documents.operation import fragments_of, only_operation
from handler.graph.documents.partial_schema import ViewSchemas
from handler.graph.documents.search_fields import DEFINED, SEARCH_FIELDS

MAX_BYTES = 5_000_000
"""The largest answer. GitHub's whole schema is 3.2 MB with every description; Lambda takes 6 MB."""

MAX_BYTES_OF_A_CALL = 100_000
"""The largest answer for a model, 25,000 tokens; clients cut or refuse more."""

MAX_VALUES = 300_000
"""Objects, members and list items of an answer. The usual clients' query has 20 bytes for each."""

MAX_QUESTION_CHARS = 1_000

MAX_RESULTS = 100
"""Results of one question over all of its pages. What ranks lower answers nothing."""

MAX_COORDINATES = 100
"""Coordinates of one ``__definitions``."""

DIGEST_BYTES = 12
PLACE_BYTES = 2

UNKNOWN_CURSOR = "after: expected the cursor of an earlier result of this very query, from this schema"

META_FIELDS: Mapping[str, GraphQLField] = {
    "__schema": SchemaMetaFieldDef,
    "__type": TypeMetaFieldDef,
    "__typename": TypeNameMetaFieldDef,
    **SEARCH_FIELDS,
}


def introspection_data(
    document: DocumentNode, schemas: ViewSchemas, variables: Mapping[str, Any], *, max_bytes: int = MAX_BYTES
) -> dict[str, Any]:
    """Return the data of a valid document with one operation and only introspection fields at its root.

    Raises:
        DocumentRefused: an answer larger than ``max_bytes``, as compact JSON without escapes.
        FieldFailed: an argument of ``__search`` or ``__definitions`` that their types allow and their rules do not.
    """
    operation = only_operation(document)
    schema = schemas.touched_by(document)
    root = schema.get_root_type(operation.operation)
    coerced = get_variable_values(schema, operation.variable_definitions or (), dict(variables))
    if root is None or isinstance(coerced, list):
        raise TypeError("only a document that was checked is answered")
    walk = _Walk(document, schemas, coerced, max_bytes)
    data, _ = walk.object(root, None, (operation.selection_set,))
    return cast("dict[str, Any]", data)


@record(frozen=True, slots=True)
class _Field:
    """A field under a response key: its definition, its arguments, and the selection sets below it."""

    key: str
    name: str
    nodes: Sequence[FieldNode]
    definition: GraphQLField
    arguments: Mapping[str, Any]
    below: tuple[SelectionSetNode, ...]


class FieldFailed(Exception):
    """A field error of a field that may not be ``null``, so the whole answer has no data.

    Source: GraphQL specification, sections 6.4.4 (Handling Execution Errors) and 7.1.2 (Errors).
    """

    def __init__(self, field: _Field, reason: ArgumentRefused) -> None:
        super().__init__(str(reason))
        self.faults = [fault_at(node, str(reason)) for node in field.nodes]  # one for each place
        places = [{"line": fault.line, "column": fault.column} for fault in self.faults if fault.line]
        path = [field.key, *([] if reason.item is None else [reason.item])]
        code = {"code": DocumentRefused.stile_code}
        self.error = {"message": str(reason), "locations": places, "path": path, "extensions": code}


Sized = tuple[Any, int]
"""A JSON value, and its approximate size in bytes."""


class _Walk:
    def __init__(self, document: DocumentNode, schemas: ViewSchemas, variables: Any, max_bytes: int) -> None:
        self._fragments = fragments_of(document)
        self._schemas = schemas
        self._view = Introspected(schemas.view)
        self._variables = variables
        self._max_bytes = max_bytes
        self._values_left = MAX_VALUES
        self._selected: dict[tuple[str, tuple[int, ...]], list[_Field]] = {}
        self._answers: dict[tuple[Any, tuple[int, ...]], Sized] = {}

    def object(self, type_: GraphQLObjectType, source: Any, sets: tuple[SelectionSetNode, ...]) -> Sized:
        """Return an object of an introspection type or of the query type."""
        identity = tuple(map(id, sets))
        if type_.name != "__Type":
            return self._object(type_, source, sets, identity)
        if (source, identity) not in self._answers:
            self._answers[source, identity] = self._object(type_, source, sets, identity)
        return self._answers[source, identity]

    def _object(
        self, type_: GraphQLObjectType, source: Any, sets: tuple[SelectionSetNode, ...], identity: tuple[int, ...]
    ) -> Sized:
        fields = self._selected.get((type_.name, identity))
        if fields is None:
            fields = self._selected[type_.name, identity] = self._fields(type_, sets)
        value, size = {}, 2
        self._spend(1 + len(fields))
        for each in fields:
            try:
                part, part_size = self._value(each.definition.type, self._resolved(type_, source, each), each.below)
            except ArgumentRefused as exc:
                raise FieldFailed(each, exc) from exc
            value[each.key] = part
            size += len(each.key) + part_size + 4
            self._refuse(size)
        return value, size

    def _resolved(self, type_: GraphQLObjectType, source: Any, field: _Field) -> Any:
        """Return the value of a field: from the view, or from graphql-core for its own types and directives."""
        view, name, arguments = self._view, field.name, field.arguments
        if name == "__typename":
            return type_.name
        match source:
            case str():
                return view.type(name, source, **arguments)
            case Item():
                self._spend(len(source.arguments or ()) if name == "args" else 0)  # deprecated ones, too
                return ITEM_FIELDS[name](source, **arguments)
            case Carried():
                return DIRECTIVE_FIELDS[name](source, **arguments)
            case Introspected():
                return source.schema(name)
            case SearchResult():
                return find_definition(view, source.coordinate) if name == "definition" else getattr(source, name)
            case None if name == "__schema":
                return view
            case None if name == "__type":
                return view.type_named(**arguments)
            case None if name == "__search":
                return search(self._schemas, **arguments)
            case None:
                return definitions(view, **arguments)
            case GraphQLUnionType() if name == "possibleTypes":
                return source.types  # graphql-core would ask a whole schema
            case _:
                return cast("Any", field.definition.resolve)(source, None, **arguments)

    def _value(self, type_: Any, value: Any, below: tuple[SelectionSetNode, ...]) -> Sized:
        if isinstance(type_, GraphQLNonNull):
            type_ = type_.of_type
        if value is None or isinstance(value, bool | float):
            return value, len(repr(value))
        if isinstance(type_, GraphQLList):
            return self._list(type_.of_type, value, below)
        if isinstance(type_, GraphQLObjectType):
            return self.object(type_, value, below)
        if isinstance(value, Definition):
            return self.object(DEFINED[value.type], value.source, below)
        text = str(type_.coerce_output_value(value) if isinstance(type_, GraphQLEnumType) else value)
        return text, len(text if text.isascii() else text.encode(errors="replace")) + 2

    def _list(self, type_: Any, values: Iterable[Any], below: tuple[SelectionSetNode, ...]) -> Sized:
        parts, size = [], 2
        for value in values:
            self._spend(1)
            part, part_size = self._value(type_, value, below)
            parts.append(part)
            size += part_size + 1
            self._refuse(size)
        return parts, size

    def _refuse(self, size: int) -> None:
        if size > self._max_bytes:
            raise _too_large(f"{self._max_bytes:,} bytes")

    def _spend(self, values: int) -> None:
        self._values_left -= values
        if self._values_left < 0:
            raise _too_large(f"{MAX_VALUES:,} values")

    def _fields(self, type_: GraphQLObjectType, sets: tuple[SelectionSetNode, ...]) -> list[_Field]:
        """Return the selection on an object, by response key."""
        nodes: dict[str, list[FieldNode]] = {}
        for selections in sets:
            self._collect(type_, selections, nodes, set())
        fields = []
        for key, (node, *others) in nodes.items():
            name = node.name.value
            definition = META_FIELDS.get(name) or type_.fields[name]
            arguments = get_argument_values(definition, node, self._variables)
            below = tuple(each.selection_set for each in (node, *others) if each.selection_set)
            fields.append(_Field(key, name, (node, *others), definition, arguments, below))
        return fields

    def _collect(
        self, type_: GraphQLObjectType, selections: SelectionSetNode, nodes: dict[str, list[FieldNode]], seen: set[str]
    ) -> None:
        for node in selections.selections:
            skip = get_directive_values(GraphQLSkipDirective, cast("Any", node), self._variables)
            include = get_directive_values(GraphQLIncludeDirective, cast("Any", node), self._variables)
            if (skip and skip["if"]) or (include and not include["if"]):
                continue
            match node:
                case FieldNode():
                    nodes.setdefault((node.alias or node.name).value, []).append(node)
                case InlineFragmentNode():
                    if node.type_condition is None or self._is_on(type_, node.type_condition):
                        self._collect(type_, node.selection_set, nodes, seen)
                case FragmentSpreadNode() if node.name.value not in seen:
                    seen.add(node.name.value)
                    fragment = self._fragments[node.name.value]
                    if self._is_on(type_, fragment.type_condition):
                        self._collect(type_, fragment.selection_set, nodes, seen)

    def _is_on(self, type_: GraphQLNamedType, condition: NamedTypeNode) -> bool:
        """Return whether a fragment applies: the query type and definitions are reached through abstract types."""
        return self._view.is_sub_type(condition.name.value, type_.name)


def _too_large(limit: str) -> DocumentRefused:
    less = "ask for one type at a time with __type(name:), and first for the names of its fields alone"
    return DocumentRefused(Fault(f"the answer would have more than {limit}: {less}"))


class ArgumentRefused(Exception):
    """An argument that its type allows and a rule does not. ``item`` is the position in the field's list, if any."""

    def __init__(self, message: str, *, item: int | None = None) -> None:
        super().__init__(message)
        self.item = item


@record(frozen=True, slots=True)
class SearchResult:
    """One ``__SearchResult``. The definition is found when it is asked for."""

    coordinate: str
    pathsToRoot: Sequence[Sequence[str]]  # noqa: N815 - as the field is named
    score: float
    cursor: str


def search(
    schemas: ViewSchemas,
    *,
    query: str,
    first: int,
    after: str | None = None,
    minScore: float | None = None,  # noqa: N803 - as the argument is named
) -> list[SearchResult]:
    """Return a page of the results of ``__search``.

    A cursor holds the position of its result and a digest of the question and of all results up to that position. The
    next page is found again from the question; nothing is kept. A cursor of another question, or of a view that ranks
    other definitions so far, is refused: it would skip or repeat results.

    Raises:
        ArgumentRefused: ``query`` is too long, ``first`` is negative, or ``after`` is not a cursor of this search.
    """
    if len(query) > MAX_QUESTION_CHARS:
        raise ArgumentRefused(f"query: expected at most {MAX_QUESTION_CHARS:,} characters")
    if first < 0:
        raise ArgumentRefused("first: expected 0 or a greater number")
    start = 0 if after is None else _place(after) + 1
    matches = schemas.search().search(query, min(start + first, MAX_RESULTS))
    cursors = list(_cursors(query, [match.coordinate for match in matches]))
    if after is not None and cursors[start - 1 : start] != [after]:
        raise ArgumentRefused(UNKNOWN_CURSOR)
    page = islice(zip(matches, cursors, strict=True), start, None)
    return [
        SearchResult(match.coordinate, match.paths, match.score, cursor)
        for match, cursor in page
        if minScore is None or match.score >= minScore
    ]


def definitions(view: Introspected, coordinates: Sequence[str]) -> Iterator[Definition]:
    """Yield the definitions of ``__definitions``, in the order of the coordinates.

    Raises:
        ArgumentRefused: too many coordinates, or a coordinate without a definition in this view.
    """
    if len(coordinates) > MAX_COORDINATES:
        raise ArgumentRefused(f"coordinates: expected at most {MAX_COORDINATES}")
    for item, coordinate in enumerate(coordinates):
        definition = find_definition(view, coordinate)
        if definition is None:
            raise ArgumentRefused(f"Unknown schema coordinate '{printable(coordinate)}'.", item=item)
        yield definition


def _cursors(query: str, coordinates: Sequence[str]) -> Iterator[str]:
    digest = hashlib.sha256(query.encode(errors="surrogatepass"))
    for place, coordinate in enumerate(coordinates):
        digest.update(f"\0{coordinate}".encode())
        raw = place.to_bytes(PLACE_BYTES, "big") + digest.digest()[:DIGEST_BYTES]
        yield base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _place(cursor: str) -> int:
    """Return the position that a cursor names. Its digest is compared with those of the results."""
    try:
        raw = base64.urlsafe_b64decode(f"{cursor}==")
    except ValueError:
        raw = b""
    place = int.from_bytes(raw[:PLACE_BYTES], "big")
    if len(raw) != PLACE_BYTES + DIGEST_BYTES or place >= MAX_RESULTS:
        raise ArgumentRefused(UNKNOWN_CURSOR)
    return place
