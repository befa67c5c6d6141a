"""An API over loopback that answers random schemas: it holds rows, and filters, sorts and looks them up as inputs mean.

Every value stands nowhere else, and has a second one in its place: an API that is told to answer with the second values
of some fields shows in its answers whether these fields were used, be it to print them or to choose rows by them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLResolveInfo,
    GraphQLSchema,
    build_schema,
    execute_sync,
    get_directive_values,
    parse,
    validate,
)

from tests.leaks.schemas import LEAVES, Input, Schema, named, print_types
from tests.support.raw_http import Peer, answer, running_server

ROWS = 4
"""Rows of each object type."""

MAX_STEPS = 2
"""How many links a filter follows to a field that the row does not have itself."""

Pair = tuple[Any, Any]


@dataclass(eq=False, slots=True)
class Row:
    """One object: values and linked rows by field, each twice. A link has a number, too, by which it is ranked."""

    type: str
    values: dict[str, Pair] = field(default_factory=dict)
    links: dict[str, tuple[list[Row], list[Row]]] = field(default_factory=dict)


class Api:
    """The rows of one schema, and how requests are answered from them. ``varied`` are fields with second values."""

    def __init__(self, schema: Schema, *, seed: int, without: Collection[str] = ()) -> None:
        """``without`` are fields that this API does not have any more, as after a change of its schema."""
        self.schema = schema
        self.varied: frozenset[str] = frozenset()
        self.requests = 0
        self.rows = _random_rows(schema, Random(seed))
        self.root = self.rows[schema.query][0]
        self._executable = _executable(schema, without)
        self._known: dict[str, tuple[DocumentNode | None, list[Any]]] = {}

    def answer(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Validate and execute one request, with suggestions in errors as most servers have them."""
        self.requests += 1
        text = body["query"]
        if text not in self._known:  # the same text comes with other values of fields, and with nothing enforced
            self._known[text] = self._valid(text)
        document, errors = self._known[text]
        if document is None:
            return {"errors": errors}
        result = execute_sync(
            self._executable,
            document,
            root_value=self.root,
            variable_values=body.get("variables"),
            operation_name=body.get("operationName"),
            field_resolver=self._resolve,
            type_resolver=lambda row, *_: row.type,
        )
        return dict(result.formatted)

    def _valid(self, text: str) -> tuple[DocumentNode | None, list[Any]]:
        """A document that is valid, or what is wrong with it."""
        try:
            document = parse(text)
        except GraphQLError as error:
            return None, [error.formatted]
        errors = validate(self._executable, document)
        return (None, [error.formatted for error in errors]) if errors else (document, [])

    def read(self, row: Row, name: str) -> Any:
        """A value of a row, or a link's number."""
        return row.values[name][f"{row.type}.{name}" in self.varied]

    def linked(self, row: Row, link: str) -> list[Row]:
        return row.links.get(link, ([], []))[f"{row.type}.{link}" in self.varied]

    def _resolve(self, row: Any, info: GraphQLResolveInfo[Any], **arguments: Any) -> Any:
        name, owner = info.field_name, info.parent_type.name
        if isinstance(row, dict):  # of a page
            return row[name]
        if owner == self.schema.mutation and name not in ("touchPersons", "promotePersons"):
            first = self.rows[self.schema.possible(_payload(info))[0]][0]
            return {"person": first, "note": None} if owner != first.type and name == "createPerson" else first
        if name == "flaky":
            raise GraphQLError(f"{owner}.flaky cannot be computed.")
        made = self.schema.types[owner].fields[name]
        if named(made.type) in LEAVES:
            return self.read(row, name)
        given = {each.name.value for each in info.field_nodes[0].arguments or ()}
        asked = {each: arguments[each] for each in given if each in arguments}
        every = self.rows["Person"] if owner == self.schema.mutation else self.linked(row, name)
        rows = self.select(every, made.inputs, asked)
        for inputs, values in self._carried(info):
            rows = self.select(rows, inputs, values)
        if named(made.type).endswith("Connection"):
            edges = [{"node": each, "cursor": f"at-{place}"} for place, each in enumerate(rows)]
            sums = dict.fromkeys(self.schema.types[named(made.type)].fields, 7)
            return {**sums, "nodes": rows, "edges": edges, "totalCount": len(rows)}
        if named(made.type).endswith("Touched"):
            return {"affected": len(rows)}
        return rows if "[" in made.type else next(iter(rows), None)

    def _carried(self, info: GraphQLResolveInfo[Any]) -> Iterator[tuple[Mapping[str, Input], Mapping[str, Any]]]:
        """The directives of an operation and of one field in it: their arguments, and the values of those given."""
        for node in (info.operation, info.field_nodes[0]):
            for name, inputs in self.schema.directives.items():
                directive = self._executable.get_directive(name)
                values = directive and get_directive_values(directive, node, info.variable_values)
                if values:
                    yield inputs, values

    def select(self, rows: Sequence[Row], inputs: Mapping[str, Input], given: Mapping[str, Any]) -> list[Row]:
        """The rows that arguments ask for, in their order. Defaults of arguments change nothing."""
        chosen = [row for row in rows if self._fits(row, inputs, given)]
        for name, value in given.items():
            if inputs[name].op in ("order", "order_by"):
                chosen = self._sorted(chosen, inputs[name], value)
        first = next((value for name, value in given.items() if inputs[name].op == "first"), None)
        return chosen[: first if first is None else max(first, 0)]

    def _fits(self, row: Row, inputs: Mapping[str, Input], given: Mapping[str, Any]) -> bool:
        return all(self._fits_one(row, inputs[name], value) for name, value in given.items() if value is not None)

    def _fits_one(self, row: Row, asked: Input, value: Any) -> bool:
        match asked.op:
            case "none" | "first" | "order" | "order_by":
                return True
            case "where":
                return self._fits(row, self._inputs(asked), value)
            case "and":
                return all(self._fits(row, self._inputs(asked), each) for each in _as_list(value))
            case "not":
                return not self._fits(row, self._inputs(asked), value)
            case "nested":
                return any(self._fits(each, self._inputs(asked), value) for each in self.linked(row, asked.link))
            case op:
                return any(_compares(op, each, value) for each in self.found(row, asked))

    def _inputs(self, asked: Input) -> Mapping[str, Input]:
        return self.schema.types[named(asked.type)].inputs

    def found(self, row: Row, asked: Input) -> Iterator[Any]:
        """The values that an input compares: of the row, of those behind a link that it names, or of any near ones."""
        rows = self.linked(row, asked.link) if asked.link else [row]
        for _ in range(MAX_STEPS + 1):
            having = [each for each in rows if asked.noun in each.values]
            if having or asked.link:
                yield from (value for each in having for value in _as_list(self.read(each, asked.noun)))
                return
            # A link that is denied is not what such a question names, so it is followed as it is.
            rows = [below for each in rows for links in each.links.values() for below in links[0]]

    def _sorted(self, rows: list[Row], asked: Input, value: Any) -> list[Row]:
        values = self.schema.types[named(asked.type)].inputs
        if asked.op == "order_by":
            orders = [(self.schema.types[named(values["field"].type)].inputs[value["field"]], value.get("direction"))]
        else:
            orders = [(values[each], each.rpartition("_")[2]) for each in _as_list(value)]
        for sort, direction in reversed(orders):
            if sort.op == "sort":
                rows = sorted(rows, key=lambda row, by=sort: self._rank(row, by), reverse=direction == "DESC")  # type: ignore[misc]
        return rows

    def _rank(self, row: Row, sort: Input) -> tuple[bool, Any]:
        values = [value for value in self.found(row, sort) if value is not None]
        return (True, min(values)) if values else (False, 0)


def _payload(info: GraphQLResolveInfo[Any]) -> str:
    return "Person" if info.field_name == "createPerson" else named(str(info.return_type))


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _compares(op: str, held: Any, value: Any) -> bool:
    match op:
        case "gt":
            return bool(held > value)
        case "lt":
            return bool(held < value)
        case "has":
            return value in held
        case "in":
            return held in value
        case _:
            return bool(held == value)


def _executable(schema: Schema, without: Collection[str]) -> GraphQLSchema:
    roots = f"schema {{ query: {schema.query} mutation: {schema.mutation} }}\n"
    lines = print_types(schema).splitlines()
    gone = tuple(f'  "about-{coordinate.replace(".", "-")}" ' for coordinate in without)
    kept = [line for line in lines if not (gone and line.startswith(gone))]
    return build_schema(roots + "\n".join(kept), assume_valid=True)


def _random_rows(schema: Schema, random: Random) -> dict[str, list[Row]]:
    made = _Values(random)
    objects = [name for name, type_ in schema.types.items() if type_.kind == "object" and name not in schema.roots]
    rows = {name: [Row(name) for _ in range(ROWS)] for name in objects}
    rows[schema.query] = [Row(schema.query)]
    for name, same in rows.items():
        for row in same:
            for each, defined in schema.types[name].fields.items():
                type_ = named(defined.type)
                row.values[each] = made.pair(defined.type if type_ in LEAVES else "Int")
                target = type_.removesuffix("Connection")
                possible = [one for other in schema.possible(target) for one in rows.get(other, [])]
                if possible and name == schema.query:
                    row.links[each] = (possible, possible)
                elif possible:
                    count = 2 if defined.type.startswith("[") or type_ != target else 1
                    links = [random.sample(possible, min(count, len(possible))) for _ in range(2)]
                    row.links[each] = (links[0], links[1])
    return rows


class _Values:
    """Values that stand nowhere else. Numbers have six digits and end in 0: what asks for more or less ends in 5."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._numbers = iter(random.sample(range(10_000, 100_000), 6_000))

    def pair(self, type_: str) -> Pair:
        return self._one(type_), self._one(type_)

    def _one(self, type_: str) -> Any:
        number = 10 * next(self._numbers)
        match named(type_):
            case "Grade":
                return self._random.choice("ABC")
            case "Int":
                return number
            case _:
                text = f"secret-{number}"
                return [text, f"secret-{number + 1}"] if "[" in type_ else text


class Loopback:
    """Where the API of the schema under test listens."""

    def __init__(self) -> None:
        self.api: Api | None = None
        self.url = ""

    def serve(self, peer: Peer) -> None:
        while request := peer.read_request():
            assert self.api
            body = json.loads(request.partition(b"\r\n\r\n")[2])
            peer.send(answer(json.dumps(self.api.answer(body)).encode(), content_type="application/json"))


@contextmanager
def running_loopback() -> Iterator[Loopback]:
    """A server that answers with whatever API it is given."""
    loopback = Loopback()
    with running_server(loopback.serve) as server:
        loopback.url = f"{server.url}graphql"
        yield loopback
