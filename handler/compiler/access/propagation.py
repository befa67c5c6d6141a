"""Spread guards from single coordinates over the schema.

Patterns, policies and ``access.hide`` guard single coordinates. Each mask, "hidden" or a condition, spreads from there
over the whole schema, independent of the part that a tool reaches:

1. down, from an interface's field to the same field of its implementers; and up, because selecting a field on an
   interface selects it on them. A mask that has come up does not go down again, else hiding one type's ``id`` would
   hide it on every type that has one;
2. to inputs by name: a caller who may not read ``salary`` may not filter by ``salaryGt`` or sort by ``SALARY_ASC``
   either. The cause does not matter, except that masks from rule 1's way up do not count;
3. to dependents: the field of a required argument, inputs of an input type with a guarded required field, fields that
   return a type that is hidden as a whole or has no members left, and defaults that name the coordinate. The caller has
   to give an input without its default, because the API would apply that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from dataclasses import field as with_default
from itertools import permutations

from graphql import (
    GraphQLArgument,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLSchema,
    get_named_type,
    is_required_argument,
    is_required_input_field,
)

from handler.compiler.access.input_inference import Questions
from handler.compiler.access.name_matching import spellings
from handler.compiler.conditions import Alternatives, ConditionTable, least, renumbered
from handler.compiler.json_schemas.defaults import coordinates_in
from handler.compiler.schema.coordinates import members_of
from handler.compiler.schema.directives import executable_directives
from handler.compiler.schema.name_graph import Graph, reachable
from handler.compiler.schema.visibility import schema_fields, types_with_fields
from handler.policy.evaluation import DEFAULT, OPEN, Mask


class Consequences:
    """The propagation of guards in one schema. Rule 2 leaves ``shown`` coordinates alone.

    If the members of a type have different masks, the type gets a condition of its own, added to ``conditions``.
    """

    def __init__(self, schema: GraphQLSchema, conditions: ConditionTable, *, shown: Collection[str] = ()) -> None:
        self._schema = schema
        self._conditions = conditions
        self._shown = frozenset(shown)
        self.excepted: set[str] = set()  # those of ``shown`` that rule 2 would have guarded
        self.losses = Losses()
        self.questions = Questions(schema)
        self._fields = {f"{type_.name}.{name}" for type_, name, _ in schema_fields(schema)}
        self._members = {
            type_.name: [f"{type_.name}.{name}" for name in members_of(type_)] for type_ in schema.type_map.values()
        }
        self._roots = {
            root.name for root in (schema.query_type, schema.mutation_type, schema.subscription_type) if root
        }
        self._needs = _dependents(_needs(schema))
        self._interfaces = _dependents(_filled(schema))

    def over(self, conditions: ConditionTable) -> Consequences:
        """Return the propagation in the same schema of masks over other conditions, with records of its own."""
        other = copy(self)
        other._conditions = conditions  # noqa: SLF001 - its own
        other.excepted, other.losses = set(), Losses()
        return other

    def of(self, own: Mapping[str, Mask]) -> dict[str, Mask]:
        """Return the guards with all guards that follow from them."""
        masks = _down(self._schema, own)
        self._spread(masks, self._needs)
        input_masks, causes = self.named_by_inputs(masks)
        losses = {coordinate: guarded for coordinate, guarded in causes.items() if coordinate not in self._shown}
        self.losses.add(losses, needs=self._needs, fields=self._fields, before=masks)
        for coordinate, mask in input_masks.items():
            if coordinate in self._shown:
                self.excepted.add(coordinate)
            else:
                masks[coordinate] = masks.get(coordinate, OPEN) | mask
        self._spread(masks, self._needs, self._interfaces)
        return {coordinate: mask for coordinate, mask in sorted(masks.items()) if mask}

    def named_by_inputs(self, guards: Mapping[str, Mask]) -> tuple[dict[str, Mask], dict[str, set[str]]]:
        """Return the masks of inputs that name a guarded field of a type they ask about, and these fields.

        Root fields do not count: their types hold no rows.
        """
        telling: dict[tuple[frozenset[str], int], dict[str, str]] = {}
        for type_, name, _ in schema_fields(self._schema):
            for condition in guards.get(f"{type_.name}.{name}", OPEN) if type_.name not in self._roots else ():
                telling.setdefault((spellings(name), condition), {})[type_.name] = name
        masks_of_inputs: dict[str, Mask] = {}
        causes: dict[str, set[str]] = {}
        for (_, condition), types in telling.items():
            for coordinate in self.questions.that_name(next(iter(types.values())), types):
                masks_of_inputs[coordinate] = masks_of_inputs.get(coordinate, OPEN) | {condition}
                causes.setdefault(coordinate, set()).update(f"{owner}.{name}" for owner, name in types.items())
        return masks_of_inputs, causes

    def _spread(self, masks: dict[str, Mask], *dependents: Mapping[str, Collection[str]]) -> None:
        """Give each mask to the dependents of its coordinate, until nothing changes."""
        lost = _LostTypes(self._members, masks)
        waiting = list(masks)
        while waiting:
            needed = waiting.pop()
            for dependent in (each for some in dependents for each in some.get(needed, ())):
                waiting += _add(masks, dependent, masks[needed])
            owner, _, member = needed.partition(".")
            if member and "(" not in member and owner not in self._roots:
                waiting += _add(masks, owner, lost.mask(owner))
            value = needed.removesuffix(DEFAULT)
            if f"{value}{DEFAULT}" in masks:  # neither the caller nor the API gives it
                field, argument, _ = value.partition("(")
                waiting += _add(masks, field if argument else owner, lost.mask(value))
        numbers = self._conditions.add(lost.system())
        for coordinate, mask in masks.items() if numbers else ():
            masks[coordinate] = renumbered(mask, numbers)


class _LostTypes:
    """Types of which every member is guarded: a caller who may use no member may not use the type.

    An input counts as such a type, with two members: the value of a caller, and the default.
    If the masks of members differ, "any of these members" is a condition of its own. Its number is provisional until
    all masks are known.
    """

    def __init__(self, members: Mapping[str, Sequence[str]], masks: Mapping[str, Mask]) -> None:
        self._members = members
        self._masks = masks
        self._numbers: dict[str, int] = {}

    def mask(self, type_name: str) -> Mask:
        """Return the mask of a type that follows from the masks of its members."""
        members = self._masks_of(type_name)
        common = frozenset[int].intersection(*members)
        if OPEN in members or common in members:
            return common
        return common | {self._numbers.setdefault(type_name, -1 - len(self._numbers))}

    def system(self) -> dict[int, tuple[str, Alternatives]]:
        """Return the conditions behind the provisional numbers, by the current masks."""
        return {number: (name, least(self._masks_of(name))) for name, number in self._numbers.items()}

    def _masks_of(self, type_name: str) -> set[Mask]:
        members = self._members.get(type_name, (type_name, f"{type_name}{DEFAULT}"))
        return {self._masks.get(coordinate, OPEN) for coordinate in members}


def _add(masks: dict[str, Mask], coordinate: str, more: Mask) -> list[str]:
    """Add to a coordinate's mask; return the coordinate if the mask has changed, else an empty list."""
    mask = masks.get(coordinate, OPEN)
    if more <= mask:
        return []
    masks[coordinate] = mask | more
    return [coordinate]


def _dependents(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    dependents: dict[str, list[str]] = {}
    for needed, dependent in pairs:
        dependents.setdefault(needed, []).append(dependent)
    return dependents


def _down(schema: GraphQLSchema, own: Mapping[str, Mask]) -> dict[str, Mask]:
    """Add the masks of interface fields and their arguments to those of the fields that implement them."""
    masks = dict(own)
    for type_ in types_with_fields(schema):
        for member in _members(type_.fields) if type_.interfaces else ():
            inherited = OPEN.union(*(own.get(f"{interface.name}.{member}", OPEN) for interface in type_.interfaces))
            if inherited:
                masks[f"{type_.name}.{member}"] = masks.get(f"{type_.name}.{member}", OPEN) | inherited
    return masks


def _members(fields: Mapping[str, object]) -> Iterator[str]:
    """Yield ``field`` and ``field(argument:)``, the ends of coordinates."""
    for name, field in fields.items():
        yield name
        yield from (f"{name}({argument}:)" for argument in getattr(field, "args", ()))


def _needs(schema: GraphQLSchema) -> Iterator[tuple[str, str]]:
    """Yield pairs of coordinates: a needed one, and one that cannot be used without it."""
    for type_, name, field in schema_fields(schema):
        yield get_named_type(field.type).name, f"{type_.name}.{name}"
    for coordinate, owner, value in _inputs(schema):
        yield get_named_type(value.type).name, coordinate
        default = value.ast_node.default_value if value.ast_node else None
        for needed in coordinates_in(default, value.type):
            yield from ((each, f"{coordinate}{DEFAULT}") for each in (needed, needed.partition(".")[0]))
        if is_required_argument(value) if isinstance(value, GraphQLArgument) else is_required_input_field(value):
            yield coordinate, owner
    yield from _shared_defaults(schema)


def _shared_defaults(schema: GraphQLSchema) -> Iterator[tuple[str, str]]:
    """Yield pairs of coordinates: a default of an argument, and what is lost with it by way of an interface."""
    for type_ in types_with_fields(schema):
        for interface in type_.interfaces:
            above = set(_members(interface.fields))
            for member in _members(type_.fields):
                name, argument, _ = member.partition("(")
                default = f"{type_.name}.{member}{DEFAULT}"
                if argument and member in above:  # both arguments have to have one type
                    yield from permutations((default, f"{interface.name}.{member}{DEFAULT}"))
                elif argument and name in above:  # a request for the interface's field cannot give the argument
                    yield default, f"{type_.name}.{name}"


def _inputs(schema: GraphQLSchema) -> Iterator[tuple[str, str, GraphQLArgument | GraphQLInputField]]:
    """Yield the coordinates of all arguments and input fields, each with that of its owner."""
    owners = [(f"{type_.name}.{name}", field.args) for type_, name, field in schema_fields(schema)]
    owners += [(f"@{directive.name}", directive.args) for directive in executable_directives(schema)]
    for owner, arguments in owners:
        yield from ((f"{owner}({name}:)", owner, argument) for name, argument in arguments.items())
    for type_ in schema.type_map.values():
        if isinstance(type_, GraphQLInputObjectType):
            yield from ((f"{type_.name}.{name}", type_.name, value) for name, value in type_.fields.items())


def _filled(schema: GraphQLSchema) -> Iterator[tuple[str, str]]:
    """Yield pairs of coordinates: a field or argument, and the one of an interface that it implements."""
    for type_ in types_with_fields(schema):
        own = set(_members(type_.fields)) if type_.interfaces else set()
        for interface in type_.interfaces:
            for member in own.intersection(_members(interface.fields)):
                yield f"{type_.name}.{member}", f"{interface.name}.{member}"


@dataclass(frozen=True, slots=True, order=True)
class TakenAlong:
    """Fields that are ``lost`` with ``guarded`` ones. Naming the ``show`` inputs in ``access.show`` restores them."""

    guarded: tuple[str, ...]
    lost: tuple[str, ...]
    show: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Losses:
    """The record of fields that were lost with inputs while guards spread."""

    _causes: dict[str, set[str]] = with_default(default_factory=dict)  # input -> guarded fields that it names
    _lost: dict[str, set[str]] = with_default(default_factory=dict)  # input -> fields that cannot be used without it

    def add(
        self, named: Mapping[str, Collection[str]], *, needs: Graph, fields: Collection[str], before: Mapping[str, Mask]
    ) -> None:
        """Record the fields that ``named`` inputs take along, unless they had a mask ``before`` for another reason."""
        for coordinate, causes in named.items():
            lost = {each for each in reachable([coordinate], needs) if each in fields and not before.get(each, OPEN)}
            if lost and coordinate not in before:
                self._causes.setdefault(coordinate, set()).update(causes)
                self._lost.setdefault(coordinate, set()).update(lost)

    def grouped(self) -> Iterator[TakenAlong]:
        """Yield all lost fields, grouped by the guarded fields that they are lost with."""
        groups: dict[tuple[str, ...], set[str]] = {}
        for coordinate, causes in self._causes.items():
            groups.setdefault(tuple(sorted(causes)), set()).add(coordinate)
        for guarded, show in sorted(groups.items()):
            lost = set().union(*(self._lost[each] for each in show))
            yield TakenAlong(guarded, tuple(sorted(lost)), tuple(sorted(show)))
