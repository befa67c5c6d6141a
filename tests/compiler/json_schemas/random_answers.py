"""Random schemas, operations on them, and answers of graphql-core's own executor, whose resolvers fail now and then."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from graphql import (
    DocumentNode,
    GraphQLEnumType,
    GraphQLError,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLResolveInfo,
    GraphQLSchema,
    build_schema,
    execute_sync,
    get_named_type,
    is_abstract_type,
    is_composite_type,
    parse,
    validate,
)

OBJECTS = ("T0", "T1", "T2", "T3")
INTERFACES = ("I0", "I1")
FIELDS = tuple(f"f{number}" for number in range(7))
LEAVES = ("Int", "Float", "String", "Boolean", "ID", "E0", "S0")
OUTPUTS = (*LEAVES, *OBJECTS, *INTERFACES, "U0", "I0", "U0")
KEYS = ("a", "b", "c", "f0", "f1", "anyOf")
VARIABLES = ("v0", "v1")
CONDITIONS = ("$v0", "$v1", "true", "false")
MAX_DEPTH = 4

CUSTOM_SCALAR_VALUES: tuple[Any, ...] = (0, "", "12.50", True, [], [None], {"lat": 1.5})
VALUES = {
    "Int": (0, -7, 2**31 - 1),
    "Float": (0.0, 1.5, 3, -1e300),
    "String": ("", "a", "A"),
    "Boolean": (True, False),
    "ID": ("", "id", 7),
    "S0": CUSTOM_SCALAR_VALUES,
}


@dataclass(frozen=True)
class Asked:
    """A valid operation on a schema, and values for its variables."""

    schema: GraphQLSchema
    document: DocumentNode
    variables: dict[str, bool]


def random_request(random: Random) -> Asked:
    """An operation that is valid, by trying until one is: fields of one key have to agree."""
    schema = build_schema(random_sdl(random))
    while True:
        document = parse(_Writer(schema, random).operation())
        if not validate(schema, document):
            return Asked(schema, document, {name: random.random() < 0.5 for name in VARIABLES})


def random_answer(asked: Asked, random: Random, *, failures: float) -> dict[str, Any]:
    """What graphql-core answers. ``failures``: how likely a resolver raises, or gives null for what is not."""

    def resolve(_: object, info: GraphQLResolveInfo[Any]) -> Any:
        if random.random() < failures:
            raise GraphQLError("It failed.", extensions={"code": "FAILED"})
        return _value(info.return_type, asked.schema, random, failures=failures)

    result = execute_sync(asked.schema, asked.document, variable_values=asked.variables, field_resolver=resolve)
    return dict(result.formatted)


def random_sdl(random: Random) -> str:
    """Objects over a pool of fields, so that they fit their interfaces, some with stricter types than these."""
    pool = {name: _wrapped(random.choice(OUTPUTS), random) for name in FIELDS}
    own = {name: set(random.sample(FIELDS, random.randint(1, 3))) for name in (*INTERFACES, *OBJECTS)}
    implements = {name: random.sample(INTERFACES, random.randint(0, 2)) for name in OBJECTS}
    members = {
        "U0": random.sample(OBJECTS, random.randint(1, 4)),
        **{interface: [name for name in OBJECTS if interface in implements[name]] for interface in INTERFACES},
    }
    parts = [f"interface {name} {{ {_fields({field: pool[field] for field in own[name]})} }}" for name in INTERFACES]
    for name, interfaces in implements.items():
        fields = own[name].union(*(own[each] for each in interfaces))
        stricter = {field: _stricter(pool[field], members, random) for field in sorted(fields)}
        implementing = f" implements {' & '.join(interfaces)}" if interfaces else ""
        parts.append(f"type {name}{implementing} {{ {_fields(stricter)} }}")
    union = f"union U0 = {' | '.join(members['U0'])}"
    return "\n".join([*parts, f"type Query {{ {_fields(pool)} }}", union, "enum E0 { A B LONGER }", "scalar S0"])


def _stricter(type_: str, members: dict[str, list[str]], random: Random) -> str:
    """A type that may stand in an object where its interface has ``type_``."""
    for abstract, objects in members.items():
        if abstract in type_ and objects and random.random() < 0.3:
            type_ = type_.replace(abstract, random.choice(objects))
    return type_ + "!" if type_[-1] != "!" and random.random() < 0.2 else type_


def _fields(types: dict[str, str]) -> str:
    return " ".join(f"{name}: {type_}" for name, type_ in sorted(types.items()))


def _wrapped(name: str, random: Random) -> str:
    for _ in range(random.choice([0, 0, 0, 1, 1, 2])):
        name = f"[{name}{random.choice(['', '!'])}]"
    return name + random.choice(["", "!"])


class _Writer:
    """Writes one operation and the fragments that it spreads."""

    def __init__(self, schema: GraphQLSchema, random: Random) -> None:
        self._schema = schema
        self._random = random
        self._fragments: list[tuple[GraphQLNamedType, str]] = []
        self._composites = [self._schema.type_map[name] for name in (*OBJECTS, *INTERFACES, "U0")]

    def operation(self) -> str:
        assert self._schema.query_type
        selections = self._selections(self._schema.query_type, MAX_DEPTH)
        # Each is used, whatever else is.
        used = " ".join(f"{name}: __typename @skip(if: ${name})" for name in VARIABLES)
        fragments = (f"fragment F{n} on {on.name} {text}" for n, (on, text) in enumerate(self._fragments))
        variables = " ".join(f"${name}: Boolean!" for name in VARIABLES)
        return "\n".join([f"query ({variables}) {{ {used} ...F }}\nfragment F on Query {selections}", *fragments])

    def _selections(self, type_: GraphQLNamedType, depth: int) -> str:
        count = self._random.choice([1, 2, 2, 3, 4])
        return f"{{ {' '.join(self._selection(type_, depth) for _ in range(count))} }}"

    def _selection(self, type_: GraphQLNamedType, depth: int) -> str:
        kind = self._random.choice(["field"] * 5 + ["inline", "inline", "spread", "again", "__typename"])
        if kind == "__typename" or (
            kind == "field" and not isinstance(type_, GraphQLObjectType | GraphQLInterfaceType)
        ):
            return self._alias() + "__typename" + self._condition()
        if kind == "field":
            return self._field(type_, depth)
        fitting = [n for n, (on, _) in enumerate(self._fragments) if self._overlap(on, type_)]
        if kind == "again" and fitting:
            return f"...F{self._random.choice(fitting)}{self._condition()}"
        on = self._random.choice([each for each in self._composites if self._overlap(each, type_)] or [type_])
        if depth == 0:
            return "__typename"
        text = self._selections(on, depth - 1)
        if kind == "inline":
            wanted = "" if on is type_ else f" on {on.name}"
            return f"...{wanted}{self._condition()} {text}"
        self._fragments.append((on, text))
        return f"...F{len(self._fragments) - 1}{self._condition()}"

    def _field(self, type_: GraphQLNamedType, depth: int) -> str:
        assert isinstance(type_, GraphQLObjectType | GraphQLInterfaceType)
        fields = [
            (name, get_named_type(field.type))
            for name, field in type_.fields.items()
            if depth > 0 or not is_composite_type(get_named_type(field.type))
        ]
        if not fields:
            return "__typename"
        name, below = self._random.choice(fields)
        selections = " " + self._selections(below, depth - 1) if is_composite_type(below) else ""
        return f"{self._alias()}{name}{self._condition()}{selections}"

    def _alias(self) -> str:
        return f"{self._random.choice(KEYS)}: " if self._random.random() < 0.3 else ""

    def _condition(self) -> str:
        if self._random.random() < 0.8:
            return ""
        return f" @{self._random.choice(['skip', 'include'])}(if: {self._random.choice(CONDITIONS)})"

    def _overlap(self, one: GraphQLNamedType, other: GraphQLNamedType) -> bool:
        return bool(possible_types(self._schema, one) & possible_types(self._schema, other))


def possible_types(schema: GraphQLSchema, type_: GraphQLNamedType) -> set[str]:
    """The names of the objects that a value of a composite type may be."""
    return {each.name for each in schema.get_possible_types(type_)} if is_abstract_type(type_) else {type_.name}


def _value(type_: GraphQLOutputType, schema: GraphQLSchema, random: Random, *, failures: float) -> Any:
    match type_:
        case GraphQLNonNull():
            again = _value(type_.of_type, schema, random, failures=failures)
            while again is None and random.random() >= failures and _has_values(type_.of_type, schema):
                again = _value(type_.of_type, schema, random, failures=failures)
            return again
        case _ if random.random() < 0.2:
            return None
        case GraphQLList():
            return [_value(type_.of_type, schema, random, failures=failures) for _ in range(random.randint(0, 2))]
        case GraphQLEnumType():
            return random.choice(list(type_.values))
        case _ if is_composite_type(type_):
            possible = sorted(possible_types(schema, get_named_type(type_)))
            return {"__typename": random.choice(possible)} if possible else None
        case _:
            return random.choice(VALUES[get_named_type(type_).name])


def _has_values(type_: GraphQLOutputType, schema: GraphQLSchema) -> bool:
    return not is_abstract_type(type_) or bool(schema.get_possible_types(type_))
