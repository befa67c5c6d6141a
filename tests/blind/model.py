"""APIs with data, and the meaning of each of their inputs: what they compare, sort or sum up, in whatever style."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from random import Random
from statistics import mean
from typing import Any

from graphql import ExecutionResult, GraphQLSchema, build_schema, graphql_sync

Row = Mapping[str, Any]
Key = Callable[[Row], Any]
Meaning = tuple[Any, ...]
"""What an input does, by its first word:

- ``op field operator``, ``ops field`` (an object of operators): compare a field of the row;
- ``where type``, ``all type``, ``any type``, ``not type``: a filter, a list of filters, the opposite of one;
- ``link link quantifier type``: filter linked rows; ``sum link function field``: compare an aggregate of them;
- ``order enum``, ``ordering enum`` (an object of a field and a direction), ``columns type`` (an object of directions);
- ``key field``, ``key-of link type``, ``key-sums link function``: members of ``columns``;
- ``distinct enum``, ``group enum``; ``options type``: an object of such inputs; ``first``, ``data`` and ``none``.
"""

ROWS = 24
MOST = 1_000_000
"""Hidden numbers are below: a guess is hardly ever right."""

FUNCTIONS: Mapping[str, Callable[[Sequence[Any]], Any]] = {"max": max, "min": min, "sum": sum, "avg": mean}


@dataclass(frozen=True, kw_only=True)
class Entity:
    """Rows of one type, with links to others: ``link -> (entity, whether it is a list)``."""

    name: str
    shown: tuple[str, ...]
    hidden: tuple[str, ...]
    links: Mapping[str, tuple[str, bool]]

    @property
    def fields(self) -> tuple[str, ...]:
        return (*self.shown, *self.hidden)


@dataclass(kw_only=True)
class Root:
    """A field of a root type, which answers with rows of an entity."""

    entity: str
    arguments: Mapping[str, tuple[str, Meaning]]  # name -> type, and meaning
    returns: str
    selection: str
    answer: Callable[[World, Sequence[Row]], Any]
    written: bool = False


@dataclass(kw_only=True)
class World:
    """The rows of an API. Two worlds of one seed differ in hidden fields only."""

    rows: Mapping[str, Sequence[Row]]

    def linked(self, entity: Entity, row: Row, link: str) -> list[Row]:
        target, is_list = entity.links[link]
        place = int(row["id"][1:])
        rows = self.rows[target]
        return [each for at, each in enumerate(rows) if at % len(rows) in _linked_places(place, len(rows), is_list)]


def _linked_places(place: int, count: int, is_list: bool) -> set[int]:
    return {(place * 5 + step) % count for step in (1, 2, 3)} if is_list else {(place * 7 + 1) % count}


@dataclass(kw_only=True)
class Api:
    """A schema of one style."""

    style: str
    entities: Mapping[str, Entity]
    type_of: Mapping[str, str]  # entity -> its type
    kinds: Mapping[str, str]  # field -> String or Int
    hide: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    inputs: dict[str, dict[str, tuple[str, Meaning]]] = field(default_factory=dict)
    enums: dict[str, dict[str, Meaning]] = field(default_factory=dict)
    roots: dict[str, Root] = field(default_factory=dict)

    def input(self, name: str, members: Mapping[str, tuple[str, Meaning]]) -> str:
        self.inputs[name] = dict(members)
        return name

    def enum(self, name: str, values: Mapping[str, Meaning]) -> str:
        self.enums[name] = dict(values)
        return name

    @property
    def sdl(self) -> str:
        parts = list(self.lines)
        for name, members in self.inputs.items():
            parts.append(f"input {name} {{ {' '.join(f'{each}: {type_}' for each, (type_, _) in members.items())} }}")
        parts += [f"enum {name} {{ {' '.join(values)} }}" for name, values in self.enums.items()]
        for kind, written in (("Query", False), ("Mutation", True)):
            fields = [self._printed(name, root) for name, root in self.roots.items() if root.written is written]
            parts += [f"type {kind} {{ {' '.join(fields)} }}"] if fields else []
        return "\n".join(parts)

    def _printed(self, name: str, root: Root) -> str:
        arguments = ", ".join(f"{each}: {type_}" for each, (type_, _) in root.arguments.items())
        return f"{name}{f'({arguments})' if arguments else ''}: {root.returns}"

    def world(self, seed: str, hidden_seed: str, *, changed: str = "") -> World:
        """Rows from a seed. ``hidden_seed`` decides the hidden fields, or only those called ``changed``."""
        rows: dict[str, list[Row]] = {}
        for name, entity in self.entities.items():
            rows[name] = []
            for place in range(ROWS):
                row: dict[str, Any] = {"id": f"{name[0]}{place}"}
                for each in entity.fields:
                    other = each in entity.hidden and changed in ("", f"{name}.{each}")
                    random = Random(f"{self.style} {hidden_seed if other else seed} {name} {place} {each}")
                    row[each] = (
                        random.randrange(MOST)
                        if self.kinds[each] == "Int"
                        else "".join(random.choices("abcdefghijklmnop", k=8))
                    )
                rows[name].append(row)
        return World(rows=rows)

    def schema(self, world: World) -> GraphQLSchema:
        """The executable schema over a world."""
        schema = build_schema(self.sdl)
        for name, root in self.roots.items():
            type_: Any = schema.mutation_type if root.written else schema.query_type
            type_.fields[name].resolve = self._resolver(root, world)
        return schema

    def _resolver(self, root: Root, world: World) -> Callable[..., Any]:
        def resolve(_: Any, __: Any, **arguments: Any) -> Any:
            return root.answer(world, self.select(world, root, arguments))

        return resolve

    def shown(self, world: World, entity: Entity, row: Row) -> dict[str, Any]:
        """A row as it is selected from, with its links."""

        def linked(link: str) -> Callable[..., Any]:
            target, is_list = entity.links[link]

            def resolve(*_: Any, **__: Any) -> Any:
                rows = [self.shown(world, self.entities[target], each) for each in world.linked(entity, row, link)]
                return rows if is_list else rows[0]

            return resolve

        return {**row, "__typename": self.type_of[entity.name], **{link: linked(link) for link in entity.links}}

    def select(self, world: World, root: Root, arguments: Mapping[str, Any]) -> list[Row]:
        """The rows that a root field's arguments choose, in their order."""
        entity, rows = self.entities[root.entity], list(world.rows[root.entity])
        given = [(root.arguments[name][1], value) for name, value in arguments.items() if value is not None]
        given = [each for meaning, value in given for each in self._opened(meaning, value)]
        rows = [row for row in rows if all(self.holds(world, entity, row, *each) for each in given)]
        for meaning, value in reversed(given):
            for key, descending in reversed(list(self._keys(world, entity, meaning, value))):
                rows.sort(key=key, reverse=descending)
        for meaning, value in given:
            if meaning[0] in ("distinct", "group"):
                fields = [self.enums[meaning[1]][each][1] for each in value]
                rows = list({tuple(row[each] for each in fields): row for row in reversed(rows)}.values())[::-1]
        sizes = [value for meaning, value in given if meaning[0] == "first"]
        return rows[: min(sizes)] if sizes else rows

    def _opened(self, meaning: Meaning, value: Any) -> Iterator[tuple[Meaning, Any]]:
        if meaning[0] == "options":
            members = self.inputs[meaning[1]]
            for name, each in value.items():
                if each is not None:
                    yield from self._opened(members[name][1], each)
        else:
            yield meaning, value

    def holds(self, world: World, entity: Entity, row: Row, meaning: Meaning, value: Any) -> bool:
        """Whether a row fits what an input says."""
        if value is None:
            return True
        match meaning:
            case ("op", name, operator):
                return compared(row[name], operator, value)
            case ("ops", name):
                return all(compared(row[name], each, wanted) for each, wanted in value.items())
            case ("where", type_):
                return all(
                    self.holds(world, entity, row, self.inputs[type_][name][1], each) for name, each in value.items()
                )
            case ("all" | "any" as word, type_):
                verdicts = [self.holds(world, entity, row, ("where", type_), each) for each in value]
                return all(verdicts) if word == "all" else any(verdicts)
            case ("not", type_):
                return not self.holds(world, entity, row, ("where", type_), value)
            case ("link", link, quantifier, type_):
                target = self.entities[entity.links[link][0]]
                linked = world.linked(entity, row, link)
                verdicts = [self.holds(world, target, each, ("where", type_), value) for each in linked]
                return {"some": any(verdicts), "every": all(verdicts), "none": not any(verdicts)}[quantifier]
            case ("quantified", link, type_):
                links = [(("link", link, each, type_), wanted) for each, wanted in value.items()]
                return all(self.holds(world, entity, row, *each) for each in links)
            case ("sum", link, function, name):
                total = _total(world, entity, link, function, name)(row)
                return all(compared(total, each, wanted) for each, wanted in value.items())
        return True

    def _keys(self, world: World, entity: Entity, meaning: Meaning, value: Any) -> Iterator[tuple[Key, bool]]:
        match meaning:
            case ("order", enum):
                for each in value if isinstance(value, list) else [value]:
                    yield from self._of_value(world, entity, self.enums[enum][each])
            case ("ordering", enum):
                for key, _ in self._of_value(world, entity, self.enums[enum][value["field"]]):
                    yield key, value.get("direction") == "DESC"
            case ("columns", type_):
                for each in value if isinstance(value, list) else [value]:
                    yield from self._columns(world, entity, type_, each)

    def _of_value(self, world: World, entity: Entity, meaning: Meaning) -> Iterator[tuple[Key, bool]]:
        match meaning:
            case ("by", name, descending):
                yield itemgetter(name), descending
            case ("by-link", link, name, descending):
                yield _of_linked(world, entity, link, itemgetter(name)), descending

    def _columns(
        self, world: World, entity: Entity, type_: str, value: Mapping[str, Any]
    ) -> Iterator[tuple[Key, bool]]:
        for name, each in value.items():
            match self.inputs[type_][name][1]:
                case ("key", column):
                    yield itemgetter(column), str(each).lower().startswith("desc")
                case ("key-of", link, below):
                    target = self.entities[entity.links[link][0]]
                    for key, descending in self._columns(world, target, below, each):
                        yield _of_linked(world, entity, link, key), descending
                case ("key-sums", link, function):
                    for column, direction in each.items():
                        total = _total(world, entity, link, function, column)
                        yield total, str(direction).lower().startswith("desc")


def _of_linked(world: World, entity: Entity, link: str, key: Key) -> Key:
    return lambda row: key(world.linked(entity, row, link)[0])


def _total(world: World, entity: Entity, link: str, function: str, column: str) -> Key:
    return lambda row: FUNCTIONS[function]([each[column] for each in world.linked(entity, row, link)])


def compared(value: Any, operator: str, wanted: Any) -> bool:
    """Whether a value compares as an operator says, in whatever words an API has for that."""
    if wanted is None:
        return True
    match OPERATORS[operator.lower().strip("_")]:
        case "eq":
            return bool(value == wanted)
        case "gt":
            return bool(value > wanted)
        case "lt":
            return bool(value < wanted)
        case "in":
            return value in wanted
        case "contains":
            return str(wanted) in str(value)
        case _:
            return str(value).startswith(str(wanted))


OPERATORS = {
    **dict.fromkeys(("eq", "equals", "equalto", "is"), "eq"),
    **dict.fromkeys(("gt", "greaterthan", "min", "from", "above", "over"), "gt"),
    **dict.fromkeys(("lt", "lessthan", "max", "until", "below", "under"), "lt"),
    **dict.fromkeys(("in",), "in"),
    **dict.fromkeys(("contains", "like", "includes"), "contains"),
    **dict.fromkeys(("startswith", "prefix"), "prefix"),
}


def answer_of(schema: GraphQLSchema, body: Mapping[str, Any]) -> dict[str, Any]:
    """What an API answers to one request."""
    result: ExecutionResult = graphql_sync(schema, body["query"], variable_values=body.get("variables") or {})
    answer: dict[str, Any] = {"data": result.data}
    if result.errors:
        answer["errors"] = [{"message": each.message} for each in result.errors]
    return answer
