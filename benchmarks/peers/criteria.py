"""What a tool's input schema gets right about the arguments of a GraphQL field, judged by what it accepts and says.

Each criterion gives ``None`` where an operation has nothing of its kind. Positions are the arguments and, below them,
input fields, each input type once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    get_named_type,
    value_from_ast_untyped,
)
from jsonschema import Draft202012Validator

JSONObject = dict[str, Any]
Inputs = Mapping[str, GraphQLArgument | GraphQLInputField]

EXAMPLES = {"Int": 1, "Float": 1.5, "Boolean": True}
OMITTED = object()
NESTED = 3
"""How often a recursive input is put into itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """One argument or input field, and the names that lead to it."""

    path: tuple[str, ...]
    value: GraphQLArgument | GraphQLInputField
    one_of: bool  # one of the fields of a @oneOf input

    @property
    def has_default(self) -> bool:
        return bool(self.value.ast_node and self.value.ast_node.default_value)

    @property
    def default(self) -> Any:
        """As JSON; enum values are their names."""
        assert self.value.ast_node
        assert self.value.ast_node.default_value
        return value_from_ast_untyped(self.value.ast_node.default_value)

    @property
    def takes_null(self) -> bool:
        return not self.one_of and not isinstance(self.value.type, GraphQLNonNull)


class Judged:
    """One tool's list entry beside the field that it is for."""

    def __init__(self, tool: JSONObject, field: GraphQLField) -> None:
        self.text: str = tool.get("description", "")
        self.field = field
        self.positions = list(_positions(field.args))
        self._schema: JSONObject = tool["inputSchema"]
        self._validator = Draft202012Validator(self._schema)

    def accepts(self, path: Sequence[str], value: Any) -> bool:
        """Whether arguments with a value at a position, and all that is required around it, are taken."""
        return self._validator.is_valid(_with(self.field.args, path, value))

    def said(self, keyword: str, position: Position) -> list[Any]:
        """What a position's schema has under a keyword: its own, or those it refers to or chooses from."""
        found = self._resolved(self._schema)
        for name in position.path:
            below = [each["properties"][name] for each in found if name in each.get("properties", {})]
            found = [each for inner in below for each in self._resolved(inner)]
        return [each[keyword] for each in found if keyword in each]

    def _resolved(self, schema: JSONObject) -> list[JSONObject]:
        """Items are among them, because names lead through lists."""
        further = [each for key in ("anyOf", "oneOf", "allOf") for each in schema.get(key, ())]
        further += [schema[key] for key in ("items", "then") if key in schema]
        if "$ref" in schema:
            further.append(_pointed_at(self._schema, schema["$ref"]))
        return [schema, *(each for inner in further for each in self._resolved(inner))]


def nullability(judged: Judged) -> bool | None:
    """Required is what GraphQL requires and nothing else, and null is refused wherever GraphQL refuses it."""
    return all(
        judged.accepts(position.path, OMITTED) is not _is_required(position.value)
        and (position.takes_null or not judged.accepts(position.path, None))
        and not any(judged.accepts(position.path, wrong) for wrong in _nulls_inside(position.value.type))
        for position in judged.positions
        if not position.one_of
    )


def nulls(judged: Judged) -> bool | None:
    """Null is accepted where GraphQL takes it."""
    taking = [position for position in judged.positions if position.takes_null]
    return all(judged.accepts(position.path, None) for position in taking) if taking else None


def defaults(judged: Judged) -> bool | None:
    """Each default is said, inside inputs too, and none that GraphQL does not have, but for null."""
    if not any(position.has_default for position in judged.positions):
        return None
    return all(
        position.default in judged.said("default", position)
        if position.has_default
        else all(default is None for default in judged.said("default", position))
        for position in judged.positions
    )


def enums(judged: Judged) -> bool | None:
    """Every value of an enum is accepted, and nothing else."""
    found = [(each, get_named_type(each.value.type)) for each in judged.positions]
    values = [(each, [*type_.values]) for each, type_ in found if isinstance(type_, GraphQLEnumType)]
    if not values:
        return None
    return all(
        all(judged.accepts(position.path, _listed(position.value.type, name)) for name in names)
        and not judged.accepts(position.path, _listed(position.value.type, "NO_SUCH_VALUE"))
        for position, names in values
    )


def recursion(judged: Judged) -> bool | None:
    """An input inside itself inside itself is accepted, and a value of the wrong type there is refused."""
    paths = [(*outer.path, *way * NESTED, _text_field(type_)) for outer, way, type_ in _loops(judged.positions)]
    if not paths:
        return None
    return all(judged.accepts(path, "x") and not judged.accepts(path, {"not": "text"}) for path in paths)


def one_of(judged: Judged) -> bool | None:
    """Of a @oneOf input exactly one field is accepted."""
    members = [position for position in judged.positions if position.one_of]
    if not members:
        return None
    above = members[0].path[:-1]
    examples = {position.path[-1]: _example(position.value.type) for position in members}
    return (
        all(judged.accepts(above, {name: value}) for name, value in examples.items())
        and not judged.accepts(above, examples)
        and not judged.accepts(above, {})
    )


def description(judged: Judged) -> bool | None:
    """The tool says what the schema says of the field."""
    return (judged.field.description or "") in judged.text


def descriptions(judged: Judged) -> bool | None:
    """What the schema says of each argument and input field is said at its place."""
    return all(
        any((position.value.description or "") in said for said in judged.said("description", position))
        for position in judged.positions
        if position.value.description
    )


CRITERIA: Mapping[str, Callable[[Judged], bool | None]] = {
    "nullability": nullability,
    "nulls": nulls,
    "defaults": defaults,
    "enums": enums,
    "recursion": recursion,
    "oneOf": one_of,
    "tool described": description,
    "arguments described": descriptions,
}


def _positions(
    inputs: Inputs, above: tuple[str, ...] = (), inside: tuple[str, ...] = (), *, one_of: bool = False
) -> Iterator[Position]:
    """``inside``: the input types that ``above`` leads through; one inside itself is not entered again."""
    for name, value in inputs.items():
        yield Position(path=(*above, name), value=value, one_of=one_of)
        type_ = get_named_type(value.type)
        if isinstance(type_, GraphQLInputObjectType) and type_.name not in inside:
            yield from _positions(type_.fields, (*above, name), (*inside, type_.name), one_of=type_.is_one_of)


def _loops(positions: Sequence[Position]) -> Iterator[tuple[Position, tuple[str, ...], GraphQLInputObjectType]]:
    """A position of a recursive input, the names that lead from there to the same input, and the input."""
    for outer in positions:
        type_ = get_named_type(outer.value.type)
        for inner in positions:
            way = inner.path[len(outer.path) :]
            below = way and inner.path[: len(outer.path)] == outer.path
            if below and isinstance(type_, GraphQLInputObjectType) and get_named_type(inner.value.type) is type_:
                yield outer, way, type_


def _with(inputs: Inputs, path: Sequence[str], value: Any, *, one_of: bool = False) -> JSONObject:
    """Values for what is never null, whether or not it has a default, and one at ``path``; for none there, ``OMITTED``.

    Lest a tool that requires what has a default fails everywhere for that.
    """
    others = {} if one_of else _never_null(inputs)
    name, *below = path
    type_ = inputs[name].type
    inner = get_named_type(type_)
    if below and isinstance(inner, GraphQLInputObjectType):
        value = _listed(type_, _with(inner.fields, below, value, one_of=inner.is_one_of))
    values = {**others, name: value}
    return {key: each for key, each in values.items() if each is not OMITTED}


def _example(type_: GraphQLInputType) -> Any:
    """A value with what is never null in it."""
    named = get_named_type(type_)
    if isinstance(named, GraphQLEnumType):
        return _listed(type_, next(iter(named.values)))
    if not isinstance(named, GraphQLInputObjectType):
        return _listed(type_, EXAMPLES.get(named.name, "x"))
    if named.is_one_of:
        name, field = next(iter(named.fields.items()))
        return _listed(type_, {name: _example(field.type)})
    return _listed(type_, _never_null(named.fields))


def _never_null(inputs: Inputs) -> JSONObject:
    return {name: _example(each.type) for name, each in inputs.items() if isinstance(each.type, GraphQLNonNull)}


def _listed(type_: GraphQLInputType, value: Any) -> Any:
    """A value in as many lists as its type says."""
    match type_:
        case GraphQLNonNull():
            return _listed(type_.of_type, value)
        case GraphQLList():
            return [_listed(type_.of_type, value)]
        case _:
            return value


def _nulls_inside(type_: GraphQLInputType) -> Iterator[Any]:
    """Lists with a null where there may be none."""
    match type_:
        case GraphQLNonNull():
            yield from _nulls_inside(type_.of_type)
        case GraphQLList():
            if isinstance(type_.of_type, GraphQLNonNull):
                yield [None]
            yield from ([inner] for inner in _nulls_inside(type_.of_type))


def _is_required(value: GraphQLArgument | GraphQLInputField) -> bool:
    return isinstance(value.type, GraphQLNonNull) and not (value.ast_node and value.ast_node.default_value)


def _text_field(type_: GraphQLInputObjectType) -> str:
    names: list[str] = [name for name, field in type_.fields.items() if get_named_type(field.type).name == "String"]
    return names[0]


def _pointed_at(schema: JSONObject, pointer: str) -> JSONObject:
    for part in pointer.removeprefix("#/").split("/"):
        schema = schema[part]
    return schema
