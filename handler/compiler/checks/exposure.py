"""Warnings of fields and inputs that may reveal guarded fields."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from graphql import (
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLUnionType,
    get_named_type,
    is_specified_scalar_type,
)

from handler.bundle.tools import GraphQLTool
from handler.compiler.access.input_inference import Questions
from handler.compiler.access.name_matching import joined_spellings, mentions, spellings, stems_in
from handler.compiler.checks.finding import CompiledEndpoint, Finding, check
from handler.compiler.problems import At
from handler.compiler.schema.visibility import schema_fields, types_with_fields
from handler.graph.found_sdl import is_visible
from handler.graph.view import View
from handler.policy.evaluation import Mask, union_of
from handler.text.sentences import some

MIN_COMMON_TYPES = 10
MIN_COMMON_SHARE = 0.05
"""A name of fields is common if that many types have it, and that part of all types."""

PLAIN_SCALAR = re.compile(
    r"bigint|boolean|bytes?|color|country|currency|cursor|date|datetime|day|decimal|double|duration|email|float|guid|"
    r"hash|html|id|int|integer|interval|ip|ipv[46]|locale|long|money|month|numeric|phone|short|string|text|time|"
    r"timestamp|timestamptz|timetz|timezone|uri|url|uuid|void|year"
)
"""Words in the names of scalars that hold one value. Other scalars may hold anything."""


@check("same-name-exposure", remedy="Guard it too, or ignore the warning with a reason.")
def same_name_exposure(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """A field has the name of a guarded field on another type, and may reveal it.

    An aggregate's ``salary`` may be one person's.
    """
    for tool in guarded_tools(endpoint):
        by_spelling: dict[str, list[str]] = {}
        for coordinate in tool.fields.keys() - tool.guards.keys():
            for spelling in spellings(coordinate.split(".")[1]):
                by_spelling.setdefault(spelling, []).append(coordinate)
        revealing: dict[str, set[str]] = {}
        for type_name, name in tool.guarded:
            alike = {coordinate for spelling in spellings(name) for coordinate in by_spelling.get(spelling, ())}
            fields = {coordinate for coordinate in alike if tool.may_reveal(coordinate, type_name, name)}
            revealing |= {f"{type_name}.{name}": fields} if fields else {}
        if revealing:
            alike = set().union(*revealing.values())
            coordinates = [coordinate for coordinate in tool.fields if coordinate in alike]
            guarded = some(list(revealing))
            sentence = f"{some(coordinates)} may reveal {guarded}, which is guarded: the field name is the same"
            yield Finding(tool.at, sentence, tuple(coordinates))


@check("count-exposure", remedy="Hide the input by access.hide or a policy, or ignore the warning with a reason.")
def count_exposure(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """An input filters by a guarded field; counts of the results reveal the field's values.

    The results themselves have no field of that name.
    """
    for tool in guarded_tools(endpoint):
        filters: dict[str, str] = {}
        for type_name, name in tool.guarded:
            for coordinate in tool.visible_inputs(tool.questions.of_nothing_shown(name)):
                if tool.may_reveal(coordinate, type_name, name):
                    filters.setdefault(coordinate, f"{type_name}.{name}")
        if filters:
            guarded = some(list(dict.fromkeys(filters.values())))
            sentence = (
                f"{some(list(filters))} may filter by {guarded}, which is guarded: "
                "results are only counted, but counts reveal values"
            )
            yield Finding(tool.at, sentence, tuple(filters))


@check("similar-name-exposure", remedy="Hide the input, if it asks for the field.")
def similar_name_exposure(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """The words of an input begin with the name of a guarded field."""
    sentence = "may ask for {}, which is guarded: words in these names begin with the field name"
    for tool in guarded_tools(endpoint):
        yield from _undecided(tool, tool.questions.that_begin_with, sentence)


@check("mutation-data-exposure", remedy="Guard the input, if it reveals the field.")
def mutation_data_exposure(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """A mutation takes data by the name of a guarded field, and an answer may depend on it."""
    sentence = "may pass data with the name of {}, which is guarded: an answer may depend on that data"
    for tool in guarded_tools(endpoint):
        yield from _undecided(tool, tool.questions.that_write, sentence)


def _undecided(
    tool: GuardedTool, inputs_about: Callable[[str, Collection[str]], Iterable[str]], sentence: str
) -> Iterator[Finding]:
    """Find inputs that may be about a guarded field; their names do not decide it.

    ``inputs_about`` takes a field's name and the types that have it.
    """
    types: dict[str, list[str]] = {}
    for type_name, name in tool.guarded:
        types.setdefault(name, []).append(type_name)
    inputs = {
        name: [
            coordinate
            for coordinate in tool.visible_inputs(inputs_about(name, owners))
            if any(tool.may_reveal(coordinate, owner, name) for owner in owners)
        ]
        for name, owners in types.items()
    }
    coordinates = sorted(set().union(*inputs.values()))
    guarded = [f"{type_name}.{name}" for type_name, name in tool.guarded if inputs[name]]
    if coordinates:
        yield Finding(tool.at, f"{some(coordinates)} {sentence.format(some(guarded))}", tuple(coordinates))


@check("opaque-value", remedy="Hide it, or describe its values.")
def opaque_value(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """A field or input holds values of any form, with guarded fields among them perhaps."""
    for tool in guarded_tools(endpoint):
        values: dict[str, Any] = {
            coordinate: field for coordinate, field in tool.fields.items() if coordinate.split(".")[0] in tool.types
        }
        for coordinate in tool.visible_inputs(tool.questions.about(tool.types)):
            owner, _, member = coordinate.partition(".")
            name, _, argument = member.removesuffix(":)").partition("(")
            holder: Any = tool.schema.type_map[owner]
            values[coordinate] = (
                holder.fields[name].args.get(argument) if argument else getattr(holder, "fields", {}).get(name)
            )
        opaque = [
            coordinate for coordinate, value in values.items() if value and _is_opaque(get_named_type(value.type))
        ]
        if opaque:
            sentence = f"{some(opaque)} may hold any value, including guarded fields of {some(sorted(tool.types))}"
            yield Finding(tool.at, sentence, tuple(opaque))


def _is_opaque(type_: object) -> bool:
    if not isinstance(type_, GraphQLScalarType) or is_specified_scalar_type(type_):
        return False
    return not any(PLAIN_SCALAR.fullmatch(word) for word in stems_in(type_.name) | spellings(type_.name))


@check("lookup-by-id", remedy="Hide the root field, or guard it.")
def lookup_by_id(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """A root field looks up any object, some of a type that is guarded in part.

    It is a query field with arguments that returns an interface or union.
    """
    for tool in guarded_tools(endpoint):
        root: Any = tool.schema.query_type
        lookups: dict[str, set[str]] = {}  # field -> the guarded types that it may return
        for name in tool.view.members.get(root.name, ()) if root else ():
            field = root.fields[name]
            type_ = get_named_type(field.type)
            if field.args and isinstance(type_, GraphQLInterfaceType | GraphQLUnionType):
                below = tool.types & {each.name for each in tool.schema.get_possible_types(type_)}
                lookups |= {f"{root.name}.{name}": below} if below else {}
        if lookups:
            types = some(sorted(set().union(*lookups.values())))
            sentence = f"{some(list(lookups))} can return any {types}, and some fields of it are guarded"
            yield Finding(tool.at, sentence, tuple(lookups))


@dataclass(frozen=True, kw_only=True)
class GuardedTool:
    """A GraphQL tool with guarded fields, and its widest view."""

    at: At
    schema: GraphQLSchema
    questions: Questions
    view: View
    guards: Mapping[str, Mask]  # the endpoint's and the tool's own, with all that follows
    guarded: list[tuple[str, str]]  # type and name of every field that the author guarded

    @property
    def types(self) -> set[str]:
        """The types with a guarded field."""
        return {type_name for type_name, _ in self.guarded}

    @cached_property
    def fields(self) -> dict[str, Any]:
        """The visible fields by their coordinates, without root fields."""
        roots = (self.schema.query_type, self.schema.mutation_type)
        return {
            f"{type_.name}.{name}": field
            for type_, name, field in schema_fields(self.schema)
            if type_ not in roots and name in self.view.members.get(type_.name, ())
        }

    @cached_property
    def _common_names(self) -> set[str]:
        """The names of fields that many types have."""
        types = [type_ for type_ in types_with_fields(self.schema) if isinstance(type_, GraphQLObjectType)]
        counts = Counter(name for type_ in types for name in type_.fields)
        least = max(MIN_COMMON_TYPES, len(types) * MIN_COMMON_SHARE)
        return {name for name, count in counts.items() if count >= least}

    def may_reveal(self, coordinate: str, type_name: str, name: str) -> bool:
        """Return whether a coordinate with the name of a guarded field may be about that field.

        Many types have an ``id``. Such a name only counts beside the name of the guarded type.
        """
        return name not in self._common_names or not spellings(type_name).isdisjoint(_spellings_in(coordinate))

    def visible_inputs(self, coordinates: Iterable[str]) -> Iterator[str]:
        """Return the coordinates of inputs that the view has."""
        return (each for each in coordinates if not each.startswith("@") and is_visible(self.view, each))


def guarded_tools(endpoint: CompiledEndpoint) -> Iterator[GuardedTool]:
    """Yield the GraphQL tools that have guarded fields.

    A field is guarded if its author guards it or its type. Root fields do not count: their types hold no data. Fields
    that are guarded as a consequence do not count either, as all of GitHub's ``Node.id`` without a policy for
    ``Mutation``.
    """
    context = endpoint.api.context
    if context is None:
        return
    schema = context.schema
    roots = (schema.query_type, schema.mutation_type, schema.subscription_type)
    for each in endpoint.api.tools:
        if isinstance(each.tool, GraphQLTool):
            own = {place: union_of(context.guards, [place]) | mask for place, mask in each.tool.guards.items()}
            places = {
                place for guards in (context.own_guards, each.own_guards) for place, mask in guards.items() if mask
            }
            guarded = [
                (type_.name, name)
                for type_, name, _ in schema_fields(schema)
                if type_ not in roots and not places.isdisjoint((type_.name, f"{type_.name}.{name}"))
            ]
            if guarded:
                yield GuardedTool(
                    at=each.at,
                    schema=schema,
                    questions=context.consequences.questions,
                    view=context.view_of(each.tool.conditions, each.tool.guards),
                    guards={**context.guards, **own},
                    guarded=guarded,
                )


@cache
def _spellings_in(coordinate: str) -> frozenset[str]:
    """Return the spellings of all runs of words in a coordinate."""
    return frozenset(spelling for mention in mentions(coordinate) for spelling in joined_spellings(mention.words))
