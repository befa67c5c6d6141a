"""Random schemas with an operation, and values for its variables: right ones, and ones that are wrong in places."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

CONFIG = r"scalars: {Money: {type: string, pattern: '^\d+\.\d{2}$'}}"

SCALARS: dict[str, list[Any]] = {
    "Int": [0, -1, 2**31 - 1, -(2**31)],
    "Float": [0, 1.5, -2, 1e300],
    "String": ["", "text", "5"],
    "Boolean": [True, False],
    "ID": ["", "a", "5"],
    "DateTime": ["2026-01-31T09:30:00Z", "2026-01-31T09:30:00.5+05:30"],
    "UUID": ["123e4567-e89b-12d3-a456-426614174000"],
    "BigInt": ["9223372036854775808", "-1"],
    "Money": ["12.99", "0.00"],
    "Opaque": ["text", 5, {"any": [1]}, True],
}
"""Values that the advertised schema allows."""

LENIENT: dict[str, list[Any]] = {
    "ID": [5, 2**60, 5.0],
    "Int": [5.0],
    "Float": [2**53],
    "DateTime": ["2026-01-31 09:30", "2026-01-31"],
    "UUID": ["{123E4567E89B12D3A456426614174000}"],
    "BigInt": [5, 2**70],
}
"""Values that are taken too."""

WRONG: list[Any] = [
    None, True, 0, 1.5, 2**31, -(2**31) - 1, 10**400, "", "A", "yesterday", "12.9", "12.99\n", "2026-02-30T00:00:00Z",
    [], [[]], [1], ["A"], [None], {}, {"x0": 1}, {"other": None}, [[1], ["A"]],
]  # fmt: skip
"""Values that are wrong in most places, whatever a place takes."""

ENUMS = {"E0": ["A", "B"], "E1": ["RED", "GREEN", "text"]}
OBJECTS = ("In0", "In1", "In2")
ONE_OF = "Key"
NAMED = (*SCALARS, *ENUMS, *OBJECTS, ONE_OF)


@dataclass(frozen=True)
class Type:
    """A type as it is written: a name, or a list of another type; with ``!`` or without."""

    name: str
    item: Type | None
    required: bool

    def __str__(self) -> str:
        return (f"[{self.item}]" if self.item else self.name) + ("!" if self.required else "")

    def nullable(self) -> Type:
        return Type(self.name, self.item, required=False)


@dataclass(frozen=True)
class Input:
    """A variable or an input field. No default is ``None``, for the default ``null`` is a text too."""

    type: Type
    default: str | None

    @property
    def needed(self) -> bool:
        return self.type.required and self.default is None

    def __str__(self) -> str:
        return str(self.type) + ("" if self.default is None else f" = {self.default}")


@dataclass(frozen=True)
class Operation:
    """An operation over one field that takes every variable."""

    objects: dict[str, dict[str, Input]]
    variables: dict[str, Input]

    @property
    def sdl(self) -> str:
        inputs = [
            f"input {name} {'@oneOf' if name == ONE_OF else ''} {{ {fields_text(fields)} }}"
            for name, fields in self.objects.items()
        ]
        enums = [f"enum {name} {{ {' '.join(values)} }}" for name, values in ENUMS.items()]
        arguments = ", ".join(f"{name}: {one.type}" for name, one in self.variables.items())
        scalars = [f"scalar {name}" for name in ("DateTime", "UUID", "BigInt", "Money", "Opaque")]
        return "\n".join([*scalars, *enums, *inputs, f"type Query {{ a({arguments}): Int }}"])

    @property
    def text(self) -> str:
        declared = ", ".join(f"${name}: {one}" for name, one in self.variables.items())
        used = ", ".join(f"{name}: ${name}" for name in self.variables)
        return f"query O({declared}) @mcpTool {{ a({used}) }}"


def fields_text(fields: dict[str, Input]) -> str:
    return " ".join(f"{name}: {one}" for name, one in fields.items())


@st.composite
def operations(draw: st.DrawFn) -> Operation:
    objects: dict[str, dict[str, Input]] = {
        # Without defaults and nullable, as the specification wants it; the first field ends every recursion.
        ONE_OF: {
            "x0": Input(draw(types(tuple(SCALARS), depth=0)).nullable(), None),
            "x1": Input(draw(types(NAMED)).nullable(), None),
        }
    }
    for number in reversed(range(len(OBJECTS))):
        fields: dict[str, Input] = {}
        for place in range(draw(st.integers(1, 3))):
            type_ = draw(types(NAMED))
            if type_.required and not type_.item and type_.name in OBJECTS[: number + 1]:
                type_ = type_.nullable()  # else no value would ever end
            fields[f"x{place}"] = draw(inputs(type_, {}))
        objects[OBJECTS[number]] = fields
    variables = {f"v{place}": draw(inputs(draw(types(NAMED)), objects)) for place in range(draw(st.integers(1, 4)))}
    variables["key"] = Input(Type(ONE_OF, None, required=draw(st.booleans())), None)
    return Operation(objects, variables)


@st.composite
def types(draw: st.DrawFn, names: tuple[str, ...], depth: int = 2) -> Type:
    item = draw(types(names, depth - 1)) if depth and draw(st.integers(0, 3)) == 0 else None
    return Type(draw(st.sampled_from(names)), item, draw(st.booleans()))


@st.composite
def inputs(draw: st.DrawFn, type_: Type, objects: dict[str, dict[str, Input]]) -> Input:
    """With a default now and then; one of an object needs to know its fields."""
    is_known = innermost(type_).name in (*SCALARS, *ENUMS, *objects)
    if draw(st.integers(0, 3)) or not is_known:
        return Input(type_, None)
    value = draw(values(type_, objects, plain=True))
    return Input(type_, literal(value, type_, objects))


def innermost(type_: Type) -> Type:
    return innermost(type_.item) if type_.item else type_


def literal(value: Any, type_: Type, objects: dict[str, dict[str, Input]]) -> str:
    """A value as GraphQL writes it."""
    if value is None:
        return "null"
    if type_.item:
        return "[" + ", ".join(literal(item, type_.item, objects) for item in value) + "]"
    if type_.name in ENUMS:
        return str(value)
    if type_.name in objects:
        fields = objects[type_.name]
        return (
            "{" + ", ".join(f"{key}: {literal(item, fields[key].type, objects)}" for key, item in value.items()) + "}"
        )
    return '{any: [1, "a"]}' if isinstance(value, dict) else json.dumps(value)


@st.composite
def values(draw: st.DrawFn, type_: Type, objects: dict[str, dict[str, Input]], *, plain: bool, depth: int = 3) -> Any:
    """A value of a type. ``plain``: as the advertised schema asks for it; else lenient, and wrong now and then."""
    if not plain and draw(st.integers(0, 11)) == 0:
        return draw(st.sampled_from(WRONG))
    if not plain and not type_.required and (depth <= 0 or draw(st.integers(0, 5)) == 0):
        return None
    if type_.item:
        if not plain and draw(st.integers(0, 3)) == 0:
            return draw(values(type_.item, objects, plain=plain, depth=depth - 1))
        count = draw(st.integers(0, 2)) if depth > 0 else 0
        return [draw(values(type_.item, objects, plain=plain, depth=depth - 1)) for _ in range(count)]
    if type_.name in ENUMS:
        return draw(st.sampled_from(ENUMS[type_.name]))
    if type_.name == ONE_OF:
        return draw(one_of_values(objects, plain=plain, depth=depth))
    if type_.name in objects:
        return draw(object_values(objects[type_.name], objects, plain=plain, depth=depth))
    return draw(st.sampled_from([*SCALARS[type_.name], *([] if plain else LENIENT.get(type_.name, []))]))


@st.composite
def one_of_values(draw: st.DrawFn, objects: dict[str, dict[str, Input]], *, plain: bool, depth: int) -> Any:
    fields = objects[ONE_OF]
    name = "x0" if depth <= 0 else draw(st.sampled_from(["x0", "x1"]))
    type_ = fields[name].type
    if plain:
        type_ = Type(type_.name, type_.item, required=True)
    given = {name: draw(values(type_, objects, plain=plain, depth=depth - 1))}
    if not plain and draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from([{}, {**given, "x0": None, "x1": None}, {name: None}]))
    return given


@st.composite
def object_values(
    draw: st.DrawFn, fields: dict[str, Input], objects: dict[str, dict[str, Input]], *, plain: bool, depth: int
) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name, one in fields.items():
        is_left_out = draw(st.booleans()) if not one.needed else (not plain and draw(st.integers(0, 15)) == 0)
        if not is_left_out and (depth > 0 or one.needed):  # what is needed never leads back to where it stands
            given[name] = draw(values(one.type, objects, plain=plain, depth=depth - 1))
    if not plain and draw(st.integers(0, 15)) == 0:
        given["other"] = 1
    return given
