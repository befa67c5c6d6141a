"""What may tell a guarded field all the same, and cannot be decided here: warnings with coordinates."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from graphql import (
    GraphQLInterfaceType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLUnionType,
    get_named_type,
    is_specified_scalar_type,
)

from handler.compiler.access.input_inference import Questions
from handler.compiler.access.name_matching import spellings, words_in
from handler.compiler.context import Endpoint
from handler.compiler.operations.operations import AuthorOperation
from handler.compiler.problems import At, Problems, some
from handler.compiler.schema.visibility import fields_of
from handler.graph.view import View
from handler.policy.evaluation import HIDDEN, Mask, union_of

PLAIN_SCALAR = re.compile(
    r"bigint|boolean|bytes?|color|country|currency|cursor|date|datetime|day|decimal|double|duration|email|float|guid|"
    r"hash|html|id|int|integer|interval|ip|ipv[46]|locale|long|money|month|numeric|phone|short|string|text|time|"
    r"timestamp|timestamptz|timetz|timezone|uri|url|uuid|void|year"
)
"""Words of scalars that hold one value. Others may hold an object, with any of its fields in it."""


def doubt_request_tool(
    endpoint: Endpoint, guards: Mapping[str, Mask], view: View, *, at: At, problems: Problems
) -> None:
    """Warn of what a GraphQL tool leaves visible to somebody (``view``), and may tell what is guarded."""
    both = {**endpoint.guards, **{place: union_of(endpoint.guards, [place]) | mask for place, mask in guards.items()}}
    guarded = _guarded_fields(endpoint.schema, both)
    types = {type_name for type_name, _ in guarded}
    if not types:
        return
    shown = _shown_fields(endpoint.schema, view)
    _doubt_names(guarded, [coordinate for coordinate in shown if coordinate not in both], at, problems)
    questions = endpoint.consequences.questions
    _doubt_counts(guarded, questions, view, at, problems)
    _doubt_undecided(guarded, questions, view, at, problems)
    opaque = [*_opaque_outputs(shown, types), *_opaque_inputs(endpoint.schema, questions, view, types)]
    if opaque:
        problems.warn(at, f"{some(opaque)} may hold anything, also what is guarded on {some(sorted(types))}")
    paths = dict(_paths_by_id(endpoint.schema, view, types))
    if paths:
        found = some(sorted(set().union(*paths.values())))
        problems.warn(at, f"{some(list(paths))} can look up any {found}, whose fields are guarded in part")


def doubt_operation(operation: AuthorOperation, *, mask: Mask, problems: Problems) -> None:
    """Warn of an operation that nobody can use."""
    if not HIDDEN.isdisjoint(mask):
        problems.warn(operation.node, f'nobody can call "{operation.name}": it uses what is hidden from everybody')


def _doubt_names(guarded: Collection[tuple[str, str]], shown: Iterable[str], at: At, problems: Problems) -> None:
    """Warn of the same name on other types: an aggregate's ``salary`` may be one person's."""
    names = frozenset().union(*(spellings(name) for _, name in guarded))
    alike = [coordinate for coordinate in shown if not names.isdisjoint(spellings(coordinate.split(".")[1]))]
    found = frozenset().union(*(spellings(coordinate.split(".")[1]) for coordinate in alike))
    like = [f"{type_name}.{name}" for type_name, name in guarded if not found.isdisjoint(spellings(name))]
    if alike:
        problems.warn(at, f"{some(alike)} may tell what {some(like)} would, which is guarded: the name is the same")


def _doubt_counts(
    guarded: Collection[tuple[str, str]], questions: Questions, view: View, at: At, problems: Problems
) -> None:
    """Warn of inputs that name a guarded field, where nothing that is returned has one of that name: a mere count."""
    found: dict[str, str] = {}
    for type_name, name in guarded:
        for coordinate in _visible_inputs(view, questions.of_nothing_shown(name)):
            found.setdefault(coordinate, f"{type_name}.{name}")
    if found:
        like = some(list(dict.fromkeys(found.values())))
        problems.warn(at, f"{some(list(found))} may filter by {like}, which is guarded, what is only counted")


def _doubt_undecided(
    guarded: Collection[tuple[str, str]], questions: Questions, view: View, at: At, problems: Problems
) -> None:
    """Warn of inputs whose words only begin with a guarded field's name, and of a mutation's data of that name."""
    types: dict[str, list[str]] = {}
    for type_name, name in guarded:
        types.setdefault(name, []).append(type_name)
    for ask, sentence in (
        (questions.that_begin_with, "may ask for {}, which is guarded: words in these names begin with its letters"),
        (questions.that_write, "give mutations data by the name of {}, which is guarded: an answer may depend on it"),
    ):
        found = {name: list(_visible_inputs(view, ask(name, owners))) for name, owners in types.items()}
        coordinates = sorted({coordinate for each in found.values() for coordinate in each})
        like = [f"{type_name}.{name}" for type_name, name in guarded if found[name]]
        if coordinates:
            problems.warn(at, f"{some(coordinates)} {sentence.format(some(like))}")


def _guarded_fields(schema: GraphQLSchema, guards: Mapping[str, Mask]) -> list[tuple[str, str]]:
    """Type and name of every guarded field, but for those of root types: these hold nothing by themselves."""
    roots = (schema.query_type, schema.mutation_type, schema.subscription_type)
    return [
        (type_.name, name)
        for type_, name, _ in fields_of(schema)
        if type_ not in roots and (guards.get(f"{type_.name}.{name}") or guards.get(type_.name))
    ]


def _shown_fields(schema: GraphQLSchema, view: View) -> dict[str, Any]:
    """The fields that a view has, but for those of root types."""
    roots = (schema.query_type, schema.mutation_type)
    return {
        f"{type_.name}.{name}": field
        for type_, name, field in fields_of(schema)
        if type_ not in roots and name in view.members.get(type_.name, ())
    }


def _opaque_outputs(shown: Mapping[str, Any], types: Iterable[str]) -> list[str]:
    return [
        coordinate
        for coordinate, field in shown.items()
        if coordinate.split(".")[0] in types and _is_opaque(get_named_type(field.type))
    ]


def _opaque_inputs(schema: GraphQLSchema, questions: Questions, view: View, types: set[str]) -> Iterator[str]:
    for coordinate in _visible_inputs(view, questions.about(types)):
        owner, name, argument = _parts(coordinate)
        holder: Any = schema.type_map[owner]
        taken = holder.fields[name].args.get(argument) if argument else getattr(holder, "fields", {}).get(name)
        if taken and _is_opaque(get_named_type(taken.type)):
            yield coordinate


def _visible_inputs(view: View, coordinates: Iterable[str]) -> Iterator[str]:
    for coordinate in coordinates:
        owner, name, argument = _parts(coordinate)
        if name in view.members.get(owner, ()) and (not argument or argument in view.arguments(owner, name)):
            yield coordinate


def _parts(coordinate: str) -> tuple[str, str, str]:
    """Type, member and argument; the last one may be empty."""
    owner, _, member = coordinate.partition(".")
    name, _, argument = member.removesuffix(":)").partition("(")
    return owner, name, argument


def _is_opaque(type_: object) -> bool:
    if not isinstance(type_, GraphQLScalarType) or is_specified_scalar_type(type_):
        return False
    return not any(PLAIN_SCALAR.fullmatch(word) for word in words_in(type_.name) | spellings(type_.name))


def _paths_by_id(schema: GraphQLSchema, view: View, types: set[str]) -> Iterator[tuple[str, set[str]]]:
    """Fields of the query root that look anything up, and the guarded types among what they return."""
    root = schema.query_type
    if root is None:
        return
    for name in view.members.get(root.name, ()):
        type_ = get_named_type(root.fields[name].type)
        if root.fields[name].args and isinstance(type_, GraphQLInterfaceType | GraphQLUnionType):
            below = types & {each.name for each in schema.get_possible_types(type_)}
            if below:
                yield f"{root.name}.{name}", below
