"""``@mcpBind``: variables that neither a model nor its user fills.

The compiler fixes each value's source and schema. The caller is known only at request time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphql import (
    DirectiveNode,
    GraphQLNonNull,
    GraphQLSchema,
    NullValueNode,
    Undefined,
    VariableDefinitionNode,
    get_named_type,
    is_input_object_type,
    is_list_type,
    print_ast,
    type_from_ast,
    value_from_ast,
)

from handler.bundle.operations import Binding
from handler.compiler.config.upstream import header_fault
from handler.compiler.json_schemas.defaults import coordinates_in, json_of
from handler.compiler.operations.author_operations import AuthorOperation
from handler.compiler.problems import Problems
from handler.compiler.schema.directives import read_arguments
from handler.text.sentences import cut

DIRECTIVE = "mcpBind"
CREDENTIALS = frozenset({"authorization", "cookie", "proxy-authorization", "x-api-key"})

READ_AS = {"Int": "integer", "Float": "number", "Boolean": "boolean"}
"""GraphQL type -> JSON type of a header's value; for all other types the value stays text."""

EXAMPLES = {"ID": '"e5"', "String": '"text"', "Int": "5", "Float": "0.5", "Boolean": "true"}
"""GraphQL type -> a constant."""


def read_bindings(operation: AuthorOperation, schema: GraphQLSchema, problems: Problems) -> tuple[Binding, ...]:
    """Read the bindings of an operation's variables. Invalid bindings are reported."""
    found = [_binding(node, schema, problems) for node in operation.bound]
    return tuple(binding for binding in found if binding)


def coordinates_bound(operation: AuthorOperation, schema: GraphQLSchema) -> list[str]:
    """Return the input fields and enum values in an operation's bound constants."""
    return [
        coordinate
        for node in operation.bound
        for directive in node.directives or ()
        for argument in (directive.arguments or () if directive.name.value == DIRECTIVE else ())
        if argument.name.value == "value"
        for coordinate in coordinates_in(argument.value, type_from_ast(schema, node.type))
    ]


def _binding(node: VariableDefinitionNode, schema: GraphQLSchema, problems: Problems) -> Binding | None:
    directives = [directive for directive in node.directives or () if directive.name.value == DIRECTIVE]
    name, directive = node.variable.name.value, directives[0]
    for extra in directives[1:]:
        problems.add(extra, f"@mcpBind may appear only once on ${name}", code="repeated-directive")
    values = read_arguments(directive, problems)
    if values is None:
        return None
    given = [argument.name.value for argument in directive.arguments or ()]
    if len(given) != 1:
        problems.add(directive, f"@mcpBind fills ${name} from one of claim, header or value", code="invalid-binding")
        return None
    variable = _BoundVariable(name=name, type=type_from_ast(schema, node.type), directive=directive)
    match given[0]:
        case "value":
            return _constant(variable, problems)
        case "header":
            return _from_header(variable, values["header"], problems=problems)
        case _:
            return _from_claim(variable, values["claim"], problems=problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class _BoundVariable:
    """A variable and the directive that binds it."""

    name: str
    type: Any
    directive: DirectiveNode


def _constant(variable: _BoundVariable, problems: Problems) -> Binding | None:
    name, type_ = variable.name, variable.type
    (argument,) = variable.directive.arguments or ()
    if value_from_ast(argument.value, type_) is Undefined or (
        isinstance(argument.value, NullValueNode) and isinstance(type_, GraphQLNonNull)
    ):
        example = EXAMPLES.get(str(get_named_type(type_)), "")
        expected = f"expected a value of type {type_}{example and f', such as {example}'}"
        sentence = (
            f"${name} is {type_}, which {cut(' '.join(print_ast(argument.value).split()))} does not fit: {expected}"
        )
        problems.add(argument.value, sentence, code="wrong-value")
        return None
    return Binding(variable=name, source="value", name="", value=json_of(argument.value, type_), read_as="")


def _from_header(variable: _BoundVariable, header: str | None, *, problems: Problems) -> Binding | None:
    name, type_, directive = variable.name, variable.type, variable.directive
    inner = type_.of_type if isinstance(type_, GraphQLNonNull) else type_
    header = (header or "").lower()
    fault = "it may hold a credential" if header in CREDENTIALS else header_fault(header)
    if fault:
        problems.add(directive, f'@mcpBind cannot take the header "{header:.60}": {fault}', code="invalid-binding")
        return None
    if is_list_type(inner) or is_input_object_type(inner):
        problems.add(directive, f"${name} is {type_}: a header holds one value", code="invalid-binding")
        return None
    read_as = READ_AS.get(str(inner), "string")
    return Binding(variable=name, source="header", name=header, value=None, read_as=read_as)


def _from_claim(variable: _BoundVariable, claim: str | None, *, problems: Problems) -> Binding | None:
    if not claim or not claim.strip():
        sentence = f"@mcpBind on ${variable.name}: the claim has no name"
        problems.add(variable.directive, sentence, code="invalid-binding")
        return None
    return Binding(variable=variable.name, source="claim", name=claim, value=None, read_as="")
