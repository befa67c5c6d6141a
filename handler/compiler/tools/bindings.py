"""``@mcpBind``: variables that neither a model nor its user fills.

The compiler fixes each value's source and schema. The caller is known only at request time.
"""

from __future__ import annotations

from typing import Any

from graphql import (
    GraphQLNonNull,
    GraphQLSchema,
    NullValueNode,
    Undefined,
    ValueNode,
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
from handler.compiler.operations.read import only_directive
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
    bindings = [_binding(node, type_from_ast(schema, node.type), problems) for node in operation.bound]
    return tuple(binding for binding in bindings if binding)


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


def _binding(node: VariableDefinitionNode, type_: Any, problems: Problems) -> Binding | None:
    name = node.variable.name.value
    directive = only_directive(node, DIRECTIVE, f"${name}", problems)
    values = read_arguments(directive, problems) if directive else None
    if directive is None or values is None:
        return None
    arguments = directive.arguments or ()
    if len(arguments) != 1:
        problems.add(directive, f"@mcpBind fills ${name} from one of claim, header or value", code="invalid-binding")
        return None
    (argument,) = arguments
    match argument.name.value:
        case "value":
            if _fits(argument.value, type_):
                return Binding(variable=name, source="value", name="", value=json_of(argument.value, type_), read_as="")
            literal, example = (
                cut(" ".join(print_ast(argument.value).split())),
                EXAMPLES.get(str(get_named_type(type_))),
            )
            expected = f"expected a value of type {type_}" + (f", such as {example}" if example else "")
            sentence = f"${name} is {type_}, which {literal} does not fit: {expected}"
            problems.add(argument.value, sentence, code="wrong-value")
            return None
        case "header":
            header = (values["header"] or "").lower()
            inner = type_.of_type if isinstance(type_, GraphQLNonNull) else type_
            fault = "it may hold a credential" if header in CREDENTIALS else header_fault(header)
            if fault:
                fault = f'@mcpBind cannot take the header "{header:.60}": {fault}'
            elif is_list_type(inner) or is_input_object_type(inner):
                fault = f"${name} is {type_}: a header holds one value"
            read_as = READ_AS.get(str(inner), "string")
            binding = Binding(variable=name, source="header", name=header, value=None, read_as=read_as)
        case _:
            claim = values["claim"] or ""
            fault = "" if claim.strip() else f"@mcpBind on ${name}: the claim has no name"
            binding = Binding(variable=name, source="claim", name=claim, value=None, read_as="")
    if fault:
        problems.add(directive, fault, code="invalid-binding")
    return None if fault else binding


def _fits(node: ValueNode, type_: Any) -> bool:
    is_null = isinstance(node, NullValueNode) and isinstance(type_, GraphQLNonNull)
    return not is_null and value_from_ast(node, type_) is not Undefined
