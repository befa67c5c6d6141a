"""Variables that no model fills: those of ``@mcpBind``, and files, which cannot be arguments.

The compiler fixes the source and schema of a bound value. The caller is known only at request time.

Source: the GraphQL multipart request specification, which sends files beside the JSON of a request.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from graphql import (
    GraphQLInputObjectType,
    GraphQLNonNull,
    GraphQLSchema,
    NullValueNode,
    Undefined,
    VariableDefinitionNode,
    get_named_type,
    is_input_object_type,
    is_list_type,
    is_required_input_field,
    print_ast,
    type_from_ast,
    value_from_ast,
)

from handler.bundle.tools import Binding
from handler.compiler.api_context import ApiContext
from handler.compiler.config.upstream import header_fault
from handler.compiler.config.values import claim_fault
from handler.compiler.json_schemas.defaults import coordinates_in, json_of
from handler.compiler.json_schemas.scalars import Scalar
from handler.compiler.operations.author_operations import AuthorOperation
from handler.compiler.operations.read import only_directive
from handler.compiler.problems import Problems
from handler.compiler.schema.directives import read_arguments
from handler.policy.evaluation import DEFAULT, hidden_from_everybody
from handler.text.sentences import cut_text, some

DIRECTIVE = "mcpBind"
CREDENTIALS = frozenset({"authorization", "cookie", "proxy-authorization", "x-api-key"})

READ_AS = {"Int": "integer", "Float": "number", "Boolean": "boolean"}
"""GraphQL type -> JSON type of a header's value; for all other types the value stays text."""

EXAMPLES = {"ID": '"e5"', "String": '"text"', "Int": "5", "Float": "0.5", "Boolean": "true"}
"""GraphQL type -> a constant."""

UPLOAD = "Upload"


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
        if not coordinate.endswith(DEFAULT)
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
            is_null = isinstance(argument.value, NullValueNode) and isinstance(type_, GraphQLNonNull)
            if not is_null and value_from_ast(argument.value, type_) is not Undefined:
                return Binding(variable=name, source="value", name="", value=json_of(argument.value, type_), read_as="")
            literal, example = (
                cut_text(" ".join(print_ast(argument.value).split())),
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
            fault = claim_fault(claim) and f"@mcpBind on ${name}: {claim_fault(claim)}"
            binding = Binding(variable=name, source="claim", name=claim, value=None, read_as="")
    if fault:
        problems.add(argument.value, fault, code="invalid-binding")
    return None if fault else binding


def types_of_files(schema: GraphQLSchema, own: Mapping[str, Scalar]) -> frozenset[str]:
    """Return the input types whose values need a file; empty if the author defines the scalar ``Upload``."""
    if UPLOAD in own or UPLOAD not in schema.type_map:
        return frozenset()
    names = {UPLOAD}
    inputs = [type_ for type_ in schema.type_map.values() if isinstance(type_, GraphQLInputObjectType)]
    before = 0
    while len(names) > before:
        before = len(names)
        for type_ in inputs:
            fields = [field for field in type_.fields.values() if get_named_type(field.type).name in names]
            if len(fields) == len(type_.fields) or any(map(is_required_input_field, fields)):
                names.add(type_.name)
    return frozenset(names)


def judge_files(context: ApiContext, operation: AuthorOperation, types: Mapping[str, Any]) -> None:
    """Report variables that need a file; warn of left-out files. ``types`` are those of the variables."""
    problems = context.problems
    for node in operation.node.variable_definitions or () if context.types_of_files else ():
        name, type_ = node.variable.name.value, types[node.variable.name.value]
        paths = list(_files_below(name, type_, hidden=hidden_from_everybody(context.guards)))
        is_needed = isinstance(type_, GraphQLNonNull) and not node.default_value
        if is_needed and get_named_type(type_).name in context.types_of_files:
            at = f" at {paths[0]}" if paths and paths[0] != name else ""
            sentence = f'${name} takes an "{UPLOAD}"{at}: no file can be given as an argument'
            problems.add(node, sentence, code="upload-argument")
        elif paths:
            sentence = f'no file can be given as an argument: {some(paths)}, an "{UPLOAD}", is left out'
            problems.warn(node, sentence, code="upload-left-out", about=paths)


def _files_below(name: str, type_: Any, *, hidden: Callable[[str], bool]) -> Iterator[str]:
    """Yield the paths to files below a variable, shortest first, with each input object visited once."""
    waiting = deque([(name, get_named_type(type_))])
    visited: set[str] = set()
    while waiting:
        path, below = waiting.popleft()
        if below.name == UPLOAD:
            yield path
        elif isinstance(below, GraphQLInputObjectType) and below.name not in visited:
            visited.add(below.name)
            fields = {key: field for key, field in below.fields.items() if not hidden(f"{below.name}.{key}")}
            waiting.extend((f"{path}.{key}", get_named_type(field.type)) for key, field in fields.items())
