"""Tools that run one operation of the author: ``@tool(prescribed:)`` and ``@mcpTool``."""

from __future__ import annotations

from graphql import is_composite_type

from handler.bundle.tools import MAX_CONSENT_CHARS, PrescribedTool
from handler.compiler.context import Endpoint
from handler.compiler.json_schemas.descriptions import (
    expand,
    operation_description,
    variable_descriptions,
)
from handler.compiler.json_schemas.input_schema import advertised_schema, bound_schema, enforced_schema
from handler.compiler.json_schemas.inputs import Inputs
from handler.compiler.json_schemas.output_schema import output_schema
from handler.compiler.operations.operations import AuthorOperation, McpTool, Operations
from handler.compiler.operations.used_coordinates import coordinates_used
from handler.compiler.problems import Problems
from handler.compiler.schema.directives import ToolDirective
from handler.compiler.tools.bindings import coordinates_bound, read_bindings
from handler.compiler.tools.declaration import CompiledTool, Declaration
from handler.compiler.tools.persisted import asked_of_the_schema, sent
from handler.compiler.tools.uploads import judge_files
from handler.graph.tool_entry import default_annotations
from handler.policy.evaluation import hidden_from_everybody, union_of
from handler.policy.guarded_schema import conditions_in
from handler.sentences import did_you_mean


def prescribed_tool(
    endpoint: Endpoint, directive: ToolDirective, operations: Operations, problems: Problems
) -> CompiledTool | None:
    """Compile one ``@tool(prescribed:)``; ``None`` after reporting an error."""
    operation = _persisted_operation(directive, operations, problems)
    if operation is None:
        return None
    declaration = Declaration(
        at=directive.node,
        name=expand(directive.name, endpoint.name_variables),
        description=directive.description,
        descriptions=directive.descriptions,
        options=directive.options,
    )
    return _operation_tool(endpoint, operation, declaration, flat=False, problems=problems)


def mcp_tool(endpoint: Endpoint, operation: AuthorOperation, declared: McpTool, problems: Problems) -> CompiledTool:
    """Compile an operation with ``@mcpTool``."""
    declaration = Declaration(
        at=operation.node,
        name=expand(declared.name or operation.name, endpoint.name_variables),
        description=declared.description,
        descriptions={},
        options=declared.options,
    )
    return _operation_tool(endpoint, operation, declaration, flat=True, problems=problems)


def _persisted_operation(
    directive: ToolDirective, operations: Operations, problems: Problems
) -> AuthorOperation | None:
    name = directive.prescribed or ""
    found = {operation.name: operation for operation in operations.valid}
    operation = found.get(name)
    if operation is None:
        if operations.complete and name not in operations.refused:
            hint = did_you_mean(name, [*found, *operations.refused])
            problems.add(
                directive.node,
                f'@tool "{directive.name}": the operation "{name}" does not exist{hint}',
                code="unknown-operation",
            )
        return None
    if not operation.persisted:
        why = "is not persisted: set persist: true"
        problems.add(
            directive.node, f'@tool "{directive.name}": the operation "{name}" {why}', code="unpersisted-operation"
        )
        return None
    return operation


def _operation_tool(
    endpoint: Endpoint, operation: AuthorOperation, declaration: Declaration, *, flat: bool, problems: Problems
) -> CompiledTool:
    used = coordinates_used(operation.document, endpoint.schema)
    needed = tuple(dict.fromkeys([*used, *coordinates_bound(operation, endpoint.schema)]))
    mask = union_of(endpoint.guards, needed)
    inputs = Inputs(operation, endpoint.schema, endpoint.guards, mask=mask, left_out=endpoint.types_of_files)
    _refuse_options(operation, declaration, flat=flat, problems=problems)
    asked = asked_of_the_schema(operation.document)
    if asked:
        problems.add(
            declaration.at,
            f'"{declaration.name}" asks the API for {asked}, which reveals hidden types',
            code="schema-query",
        )
    if endpoint.types_of_files:
        variables = {node.variable.name.value: node for node in operation.node.variable_definitions or ()}
        taken = {name: (node, inputs.types[name]) for name, node in variables.items()}
        judge_files(taken, endpoint.types_of_files, problems, hidden=hidden_from_everybody(endpoint.guards))
    options, values = declaration.options, endpoint.description_variables | {"schema_sdl": ""}
    description = operation_description(operation, endpoint.schema, given=declaration.description, values=values)
    texts = variable_descriptions(operation, endpoint.schema, given=declaration.descriptions, values=values)
    entry = {
        "name": declaration.name,
        "description": description or f"Runs the GraphQL {operation.kind} {operation.name}.",
        "inputSchema": advertised_schema(inputs, scalars=endpoint.scalars, descriptions=texts, flat=flat),
        "outputSchema": output_schema(operation.document, endpoint.schema, endpoint.guards, mask=mask),
        "annotations": default_annotations(writes=operation.kind == "mutation"),
    }
    arguments = enforced_schema(inputs, scalars=endpoint.scalars, flat=flat)
    sendable = sent(operation, endpoint.schema)
    if options.confirm and len(sendable.text) > MAX_CONSENT_CHARS:
        size = f"{len(sendable.text):,} characters: a user can be asked about {MAX_CONSENT_CHARS:,} at most"
        problems.add(
            options.node or declaration.at,
            f'"{declaration.name}" says confirm, and its operation has {size}',
            code="long-consent",
        )
    tool = PrescribedTool(
        name=declaration.name,
        entry=options.listed(entry),
        arguments=options.confirmed(arguments),
        flat=flat,
        mask=mask,
        conditions=conditions_in(arguments),
        operation=sendable,
        bindings=read_bindings(operation, endpoint.schema, problems),
        bound=bound_schema(inputs, scalars=endpoint.scalars),
        options=options.served(output="both"),
    )
    return CompiledTool(
        at=declaration.at,
        tool=tool,
        uses=needed,
        runs=f"{operation.kind} {operation.name}",
        types=sum(is_composite_type(endpoint.schema.get_type(coordinate)) for coordinate in used),
        reads=operation.kind == "query",
        writes=operation.kind == "mutation",
        described=bool(description),
        operation=operation,
        declaration=declaration,
    )


def _refuse_options(operation: AuthorOperation, declaration: Declaration, *, flat: bool, problems: Problems) -> None:
    at, name = declaration.options.node or declaration.at, declaration.name
    if declaration.options.limits:
        problems.add(
            at,
            f'"{name}" runs one operation: limits are for tools whose requests a model writes',
            code="limits-of-an-operation",
        )
    if declaration.options.confirm == "advisory" and flat and "confirm" in operation.variables:
        problems.add(
            at,
            f'"{name}" has a variable "confirm", a name that confirm takes for its own argument: rename it',
            code="reserved-variable",
        )
    if declaration.options.annotations.get("readOnlyHint") and operation.kind == "mutation":
        problems.add(at, f'"{name}" sends a mutation and says readOnlyHint: true', code="not-read-only")
