"""What hiding a field hides with it.

Guards are decided for single coordinates: by patterns, policies and ``access.hide``. From there they spread over the
whole schema, whatever a tool reaches of it, and so does every mask, be it "hidden" or a condition:

1. down, from an interface's field to the same field of its implementers; and up, because selecting a field on an
   interface selects it on them. What has come up does not go down again, else hiding one type's ``id`` would hide it
   on every type that has one;
2. to inputs by name: who may not read ``salary`` may not filter by ``salaryGt`` or sort by ``SALARY_ASC`` either;
3. to what cannot be used without it: the field of a required argument, what takes an input type with a required
   field, what has a default that names it, what returns a type that is hidden as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from graphql import (
    GraphQLArgument,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLSchema,
    get_named_type,
    is_required_argument,
    is_required_input_field,
)

from handler.compiler.default_values import coordinates_in
from handler.compiler.naming import joined
from handler.compiler.questions import Questions
from handler.compiler.visibility import fields_of, types_with_fields
from handler.policy import OPEN, Mask


class Consequences:
    """What follows from guards in one schema. ``shown`` are coordinates that rule 2 leaves alone."""

    def __init__(self, schema: GraphQLSchema, *, shown: Collection[str] = ()) -> None:
        self._schema = schema
        self._shown = frozenset(shown)
        self.questions = Questions(schema)
        self._dependents: dict[str, list[str]] = {}
        for needed, dependent in _needs(schema):
            self._dependents.setdefault(needed, []).append(dependent)

    def of(self, own: Mapping[str, Mask]) -> dict[str, Mask]:
        """The guards with all that follows from them."""
        masks = _down(self._schema, own)
        for coordinate, mask in self.named_by_inputs(masks).items():
            if coordinate not in self._shown:
                masks[coordinate] = masks.get(coordinate, OPEN) | mask
        self._spread(masks)
        return {coordinate: mask for coordinate, mask in sorted(masks.items()) if mask}

    def named_by_inputs(self, guards: Mapping[str, Mask]) -> dict[str, Mask]:
        """The inputs that name a guarded field of what they ask for. Root fields hold nothing to be asked for."""
        roots = (self._schema.query_type, self._schema.mutation_type, self._schema.subscription_type)
        telling: dict[tuple[str, int], set[str]] = {}
        for type_, name, _ in fields_of(self._schema):
            for condition in guards.get(f"{type_.name}.{name}", OPEN) if type_ not in roots else ():
                telling.setdefault((joined(name), condition), set()).add(type_.name)
        found: dict[str, Mask] = {}
        for (name, condition), types in telling.items():
            for coordinate in self.questions.that_name(name, types):
                found[coordinate] = found.get(coordinate, OPEN) | {condition}
        return found

    def _spread(self, masks: dict[str, Mask]) -> None:
        """Give each mask to what needs its coordinate, until everything has what it needs."""
        waiting = list(masks)
        while waiting:
            needed = waiting.pop()
            for dependent in self._dependents.get(needed, ()):
                mask = masks.get(dependent, OPEN)
                if not masks[needed] <= mask:
                    masks[dependent] = mask | masks[needed]
                    waiting.append(dependent)


def _down(schema: GraphQLSchema, own: Mapping[str, Mask]) -> dict[str, Mask]:
    """Add to the masks of each field and its arguments those of the interface fields it fills."""
    masks = dict(own)
    for type_ in types_with_fields(schema):
        for member in _members(type_.fields) if type_.interfaces else ():
            inherited = OPEN.union(*(own.get(f"{interface.name}.{member}", OPEN) for interface in type_.interfaces))
            if inherited:
                masks[f"{type_.name}.{member}"] = masks.get(f"{type_.name}.{member}", OPEN) | inherited
    return masks


def _members(fields: Mapping[str, object]) -> Iterator[str]:
    """``field`` and ``field(argument:)``, the ends of their coordinates."""
    for name, field in fields.items():
        yield name
        yield from (f"{name}({argument}:)" for argument in getattr(field, "args", ()))


def _needs(schema: GraphQLSchema) -> Iterator[tuple[str, str]]:
    """Pairs of coordinates: what is needed, and what cannot be used without it."""
    for type_, name, field in fields_of(schema):
        own = f"{type_.name}.{name}"
        yield get_named_type(field.type).name, own
        for argument, value in field.args.items():
            yield from _needs_of_input(f"{own}({argument}:)", value)
            if is_required_argument(value):
                yield f"{own}({argument}:)", own
        for interface in type_.interfaces:
            members = set(_members({name: interface.fields[name]} if name in interface.fields else {}))
            yield from (
                (f"{type_.name}.{member}", f"{interface.name}.{member}")
                for member in _members({name: field})
                if member in members
            )
    for input_type in schema.type_map.values():
        if isinstance(input_type, GraphQLInputObjectType):
            for name, value in input_type.fields.items():
                yield from _needs_of_input(f"{input_type.name}.{name}", value)
                if is_required_input_field(value):
                    yield f"{input_type.name}.{name}", input_type.name


def _needs_of_input(own: str, value: GraphQLArgument | GraphQLInputField) -> Iterator[tuple[str, str]]:
    yield get_named_type(value.type).name, own
    default = value.ast_node.default_value if value.ast_node else None
    yield from ((coordinate, own) for coordinate in coordinates_in(default, value.type))
