"""Random schemas that are valid, with hidden coordinates, and which of their coordinates a view should have.

The oracle works on graphql-core's schema and shares nothing with the product but the rules:

- a type with nothing left is gone, and so is what needs it: fields and arguments of it, members that return it;
- a required argument or input field that is gone takes its field, or its input type, along;
- a field or argument that is gone from an implementer is gone from the interface;
- a directive goes with a required argument of its own, and its arguments go with their types;
- a request meets what its fields return, the implementers and members of that, and their interfaces; an interface that
  is there only because a type names it does not bring its other implementers, and the types that directives take.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from graphql import (
    GraphQLArgument,
    GraphQLDirective,
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    get_named_type,
    is_required_argument,
    is_required_input_field,
    is_specified_directive,
)

OBJECTS = ("T0", "T1", "T2", "T3", "T4")
INTERFACES = ("I0", "I1", "I2")
FIELDS = tuple(f"f{number}" for number in range(8))
OUTPUTS = (*OBJECTS, *INTERFACES, "U0", "E0", "S0", "String")
INPUTS = ("In0", "In1", "E0", "E1", "S0", "Int")
LOCATIONS = ("FIELD", "FRAGMENT_SPREAD", "INLINE_FRAGMENT", "MUTATION", "QUERY", "VARIABLE_DEFINITION")
DEFAULTS = {"E0": "KEPT", "E1": "KEPT", "Int": "7", "In0": "{}"}


def random_sdl(random: Random) -> str:
    """A valid schema of eight composite types over a pool of fields, so that implementers fit their interfaces."""
    pool = {name: _field(name, random) for name in FIELDS}
    types = {name: set(random.sample(FIELDS, random.randint(1, 3))) for name in (*INTERFACES, *OBJECTS)}
    implements: dict[str, list[str]] = {"I1": random.choice([[], ["I0"]])}
    for name in OBJECTS:
        chosen = random.sample(INTERFACES, random.randint(0, 2))
        implements[name] = sorted({*chosen, *(above for one in chosen for above in implements.get(one, []))})
    for name, interfaces in implements.items():
        types[name] |= {field for interface in interfaces for field in types[interface]}
    roots = {"Query": random.sample(FIELDS, 4), "Mutation": random.sample(FIELDS, 2)}
    parts = [_composite(name, implements.get(name, []), fields, pool) for name, fields in {**types, **roots}.items()]
    members = random.sample(OBJECTS, random.randint(1, 3))
    return "\n".join([*parts, f"union U0 = {' | '.join(members)}", *_inputs(random), *_directives(random)])


def _field(name: str, random: Random) -> str:
    arguments = [f"a{number}: {_input(random)}" for number in range(random.choice([0, 0, 1, 2]))]
    output = random.choice(OUTPUTS)
    return f"{name}{'(' + ', '.join(arguments) + ')' if arguments else ''}: {random.choice([output, f'[{output}!]!'])}"


def _input(random: Random) -> str:
    name = random.choice(INPUTS)
    default = f" = {DEFAULTS[name]}" if name in DEFAULTS and random.random() < 0.3 else ""
    return random.choice([name, f"{name}!"]) + default


def _directives(random: Random) -> list[str]:
    return [
        f"directive @d{number}(a: {_input(random)}, b: {_input(random)}){' repeatable' * random.randint(0, 1)} on "
        + " | ".join(sorted(random.sample(LOCATIONS, random.randint(1, 3))))
        for number in range(random.randint(0, 2))
    ]


def _composite(name: str, interfaces: list[str], fields: object, pool: dict[str, str]) -> str:
    keyword = "interface" if name in INTERFACES else "type"
    implements = f" implements {' & '.join(interfaces)}" if interfaces else ""
    assert isinstance(fields, set | list)
    return f"{keyword} {name}{implements} {{ {' '.join(pool[field] for field in sorted(fields))} }}"


def _inputs(random: Random) -> list[str]:
    own = random.choice(["In1", "[In0!]", "E1", "E1 = KEPT", "S0!"])
    return [
        "scalar S0",
        f"enum E0 {{ KEPT {random.choice(['', 'A B'])} }}",
        "enum E1 { KEPT A }",
        # Without a required field: so that its default {} stays right.
        f"input In0 {{ x: Int y: {own.replace('S0!', 'S0')} }}",
        f"input In1 {{ x: {own} z: E1 }}",
    ]


def coordinates_of(schema: GraphQLSchema) -> set[str]:
    """Every coordinate of a schema's own types and directives, the names of these among them."""
    return {coordinate for type_ in _own_types(schema) for coordinate in _coordinates(type_)} | {
        coordinate for directive in _own_directives(schema) for coordinate in (f"@{directive.name}", *_taken(directive))
    }


def expected_coordinates(schema: GraphQLSchema, hidden: set[str]) -> set[str]:
    """What a view without ``hidden`` should have."""
    gone = _gone(schema, hidden)
    met = _met(schema, gone)
    asked = {type_.name for type_ in met} & {root.name for root in _roots(schema)}
    return {
        coordinate
        for directive in _own_directives(schema)
        if asked and f"@{directive.name}" not in gone
        for coordinate in (f"@{directive.name}", *_taken(directive))
        if coordinate not in gone
    } | {
        coordinate
        for type_ in met
        for coordinate in _coordinates(type_)
        if coordinate not in gone and coordinate.partition("(")[0] not in gone
    }


def _own_directives(schema: GraphQLSchema) -> list[GraphQLDirective]:
    return [directive for directive in schema.directives if not is_specified_directive(directive)]


def _taken(directive: GraphQLDirective) -> dict[str, GraphQLArgument]:
    return {f"@{directive.name}({name}:)": argument for name, argument in directive.args.items()}


def _roots(schema: GraphQLSchema) -> list[GraphQLObjectType]:
    return [root for root in (schema.query_type, schema.mutation_type) if root]


def _own_types(schema: GraphQLSchema) -> list[GraphQLNamedType]:
    built_in = {"String", "Int", "Float", "Boolean", "ID"}
    return [type_ for name, type_ in schema.type_map.items() if not name.startswith("__") and name not in built_in]


def _coordinates(type_: GraphQLNamedType) -> Iterator[str]:
    yield type_.name
    match type_:
        case GraphQLObjectType() | GraphQLInterfaceType():
            for name, field in type_.fields.items():
                yield f"{type_.name}.{name}"
                yield from (f"{type_.name}.{name}({argument}:)" for argument in field.args)
        case GraphQLInputObjectType():
            yield from (f"{type_.name}.{name}" for name in type_.fields)
        case GraphQLEnumType():
            yield from (f"{type_.name}.{name}" for name in type_.values)


def _gone(schema: GraphQLSchema, hidden: set[str]) -> set[str]:
    gone: set[str] = set(hidden)
    before = -1
    while len(gone) != before:
        before = len(gone)
        for type_ in _own_types(schema):
            gone |= set(_consequences(schema, type_, gone))
        for directive in _own_directives(schema):
            taken = _taken(directive)
            gone |= {place for place, argument in taken.items() if get_named_type(argument.type).name in gone}
            if any(is_required_argument(argument) for place, argument in taken.items() if place in gone):
                gone.add(f"@{directive.name}")
    return gone


def _consequences(schema: GraphQLSchema, type_: GraphQLNamedType, gone: set[str]) -> Iterator[str]:
    match type_:
        case GraphQLObjectType() | GraphQLInterfaceType():
            yield from _field_consequences(type_, gone)
            empty = all(f"{type_.name}.{name}" in gone for name in type_.fields)
        case GraphQLInputObjectType():
            parts = {name: f"{type_.name}.{name}" for name in type_.fields}
            yield from (part for name, part in parts.items() if get_named_type(type_.fields[name].type).name in gone)
            lost = [name for name, part in parts.items() if part in gone]
            empty = len(lost) == len(parts) or any(is_required_input_field(type_.fields[name]) for name in lost)
        case GraphQLEnumType():
            empty = all(f"{type_.name}.{name}" in gone for name in type_.values)
        case GraphQLUnionType():
            empty = all(member.name in gone for member in type_.types)
        case _:
            empty = False
    if empty:
        yield type_.name


def _field_consequences(type_: GraphQLObjectType | GraphQLInterfaceType, gone: set[str]) -> Iterator[str]:
    for name, field in type_.fields.items():
        own = f"{type_.name}.{name}"
        arguments = {f"{own}({argument}:)": value for argument, value in field.args.items()}
        yield from (place for place, value in arguments.items() if get_named_type(value.type).name in gone)
        lost = any(is_required_argument(value) for place, value in arguments.items() if place in gone)
        if lost or type_.name in gone or get_named_type(field.type).name in gone:
            yield own
        for interface in type_.interfaces:
            if own in gone and name in interface.fields:
                yield f"{interface.name}.{name}"
            yield from (
                place.replace(type_.name, interface.name, 1)
                for place in arguments
                if place in gone and name in interface.fields
            )


def _met(schema: GraphQLSchema, gone: set[str]) -> set[GraphQLNamedType]:
    returned: set[GraphQLNamedType] = set(_roots(schema))
    left = [directive for directive in _own_directives(schema) if f"@{directive.name}" not in gone]
    taken = [taken for directive in left for taken in _taken(directive).items()]
    named = {get_named_type(argument.type) for place, argument in taken if place not in gone}
    named = named if any(root.name not in gone for root in _roots(schema)) else set()
    before = (-1, -1)
    while before != (len(returned), len(named)):
        before = (len(returned), len(named))
        for type_ in returned | named:
            if type_.name not in gone:
                named |= set(getattr(type_, "interfaces", ()))
                returned |= set(_named_by_members(type_, gone))
        for type_ in [type_ for type_ in returned if isinstance(type_, GraphQLInterfaceType)]:
            if type_.name not in gone:
                below = schema.get_implementations(type_)
                returned |= {*below.objects, *below.interfaces}
    own = _own_types(schema)
    return {type_ for type_ in returned | named if type_ in own and type_.name not in gone}


def _named_by_members(type_: GraphQLNamedType, gone: set[str]) -> Iterator[GraphQLNamedType]:
    match type_:
        case GraphQLUnionType():
            yield from type_.types
        case GraphQLInputObjectType():
            for name, value in type_.fields.items():
                if f"{type_.name}.{name}" not in gone:
                    yield get_named_type(value.type)
        case GraphQLObjectType() | GraphQLInterfaceType():
            for name in [name for name in type_.fields if f"{type_.name}.{name}" not in gone]:
                yield get_named_type(type_.fields[name].type)
                arguments = type_.fields[name].args.items()
                yield from (get_named_type(v.type) for a, v in arguments if f"{type_.name}.{name}({a}:)" not in gone)
