"""The stored plan of a prescribed tool's answers: see ``handler/answers/plan.py``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from graphql import (
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    parse,
)

from handler.answers.plan import Members, write_plan
from handler.graph.documents.answer_plan import TypedField, answer_plan


def planned_answer(text: str, schema: GraphQLSchema, *, settable: Iterable[str]) -> str:
    """Return the stored plan of a valid operation's answer. ``settable`` are the variables that a call gives."""
    return write_plan(plan_of(text, schema, settable=settable))


def plan_of(text: str, schema: GraphQLSchema, *, settable: Iterable[str]) -> Members:
    """Return the plan of a valid operation's answer."""
    roots = {"query": schema.query_type, "mutation": schema.mutation_type}
    names = {kind: type_.name for kind, type_ in roots.items() if type_}
    return answer_plan(parse(text, no_location=True), _SchemaTypes(schema), names, settable=settable)


class _SchemaTypes:
    """The types of a whole schema. What hides a field from a caller hides the tool."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._types = schema.type_map

    def kind(self, name: str) -> str:
        match self._types.get(name):
            case GraphQLObjectType() | GraphQLInterfaceType():
                return "object"
            case GraphQLUnionType():
                return "union"
            case _:
                return "leaf"

    def field(self, type_name: str, name: str) -> TypedField | None:
        fields = getattr(self._types.get(type_name), "fields", {})
        if name not in fields:
            return None
        return TypedField(str(fields[name].type), {each: str(value.type) for each, value in fields[name].args.items()})

    def inputs(self, name: str) -> Mapping[str, str]:
        type_ = self._types.get(name)
        if not isinstance(type_, GraphQLInputObjectType):
            return {}
        return {each: str(value.type) for each, value in type_.fields.items()}
