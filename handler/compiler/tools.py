from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from graphql import Node

from handler.bundle import GraphQLTool, JSONObject, Listing, Operation, PrescribedTool, Tool
from handler.compiler.descriptions import (
    GRAPHQL_TOOL,
    OPERATION_NAME,
    VARIABLES,
    expand,
    names_in,
    prescribed_description,
    query_description,
)
from handler.compiler.directives import ToolDirective, VisibilityPattern
from handler.compiler.doubts import doubt_operation, doubt_request_tool
from handler.compiler.endpoint import Endpoint
from handler.compiler.files import ENTRY
from handler.compiler.input_schema import advertised_schema, enforced_schema
from handler.compiler.operations import AuthorOperation, McpTool, Operations, coordinates_used
from handler.compiler.output_schema import output_schema
from handler.compiler.problems import NOWHERE, At, Place, Problems, place_of, suggestion
from handler.compiler.visibility import fold_types, hidden_by_patterns
from handler.graph.document import print_executable
from handler.graph.view import View, print_view
from handler.policy import Mask, outcome_of, union_of

TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What every client and model vendor takes. Source: MCP 2026-07-28, server/tools ("Tool Names"); SEP-986."""

NAME_VARIABLES = ("endpoint_folder", "endpoint_name")

DEFAULT_TOOL_PATTERNS = (VisibilityPattern(at=NOWHERE, expose=True, types="Query", fields=".*"),)


def make_tools(
    endpoint: Endpoint,
    directives: Sequence[ToolDirective],
    operations: Operations,
    problems: Problems,
    *,
    default_tool: bool,
) -> tuple[Tool, ...]:
    """Every tool of an endpoint: ``@tool`` as written, then ``@mcpTool``; the default one if there is none."""
    made: list[tuple[Node | Place, Tool]] = []
    for directive in directives:
        tool = _directive_tool(endpoint, directive, operations, problems)
        made += [(directive.node, tool)] if tool else []
    made += [
        (operation.node, _mcp_tool(endpoint, operation, problems)) for operation in operations.valid if operation.tool
    ]
    if not made and not directives and default_tool:
        made = [(Place(ENTRY), _default_tool(endpoint, problems))]
    _refuse_names(made, problems)
    return tuple(tool for _, tool in made)


def _directive_tool(
    endpoint: Endpoint, directive: ToolDirective, operations: Operations, problems: Problems
) -> Tool | None:
    for unknown in [name for name in names_in(directive.name) if name not in NAME_VARIABLES]:
        problems.add(
            directive.node,
            f'"{{{unknown}}}" cannot stand in a tool name: expected {{endpoint_folder}} or {{endpoint_name}}',
        )
    match directive:
        case ToolDirective(graphql=None, prescribed=str()):
            return _prescribed_tool(endpoint, directive, operations, problems)
        case ToolDirective(graphql=tuple(), prescribed=None):
            return _graphql_tool(endpoint, directive, problems)
        case _:
            problems.add(directive.node, f'@tool "{directive.name}": give either graphql or prescribed')
            return None


def _prescribed_tool(
    endpoint: Endpoint, directive: ToolDirective, operations: Operations, problems: Problems
) -> PrescribedTool | None:
    name = directive.prescribed or ""
    found = {operation.name: operation for operation in operations.valid}
    operation = found.get(name)
    if operation is None:
        if operations.complete and name not in operations.refused:
            hint = suggestion(name, [*found, *operations.refused])
            problems.add(directive.node, f'@tool "{directive.name}": the operation "{name}" does not exist{hint}')
        return None
    if not operation.persisted:
        why = "is not persisted: set persist: true"
        problems.add(directive.node, f'@tool "{directive.name}": the operation "{name}" {why}')
        return None
    variables = [node.variable.name.value for node in operation.node.variable_definitions or ()]
    _doubt_descriptions(directive, [*variables, "variables"], problems)
    return _operation_tool(
        endpoint,
        operation,
        name=expand(directive.name, endpoint.name_variables),
        description=directive.description,
        descriptions={**operation.descriptions, **directive.descriptions},
        flat=False,
        problems=problems,
    )


def _doubt_descriptions(directive: ToolDirective, parameters: Sequence[str], problems: Problems) -> None:
    for name in directive.descriptions:
        if name not in parameters:
            hint = suggestion(name, parameters)
            problems.warn(directive.node, f'@tool "{directive.name}" has no parameter "{name}" to describe{hint}')


def _mcp_tool(endpoint: Endpoint, operation: AuthorOperation, problems: Problems) -> PrescribedTool:
    declared = operation.tool or McpTool(name=None, description=None)
    return _operation_tool(
        endpoint,
        operation,
        name=declared.name or operation.name,
        description=declared.description,
        descriptions=operation.descriptions,
        flat=True,
        problems=problems,
    )


def _operation_tool(  # noqa: PLR0913 - the two kinds of authors' text meet here
    endpoint: Endpoint,
    operation: AuthorOperation,
    *,
    name: str,
    description: str | None,
    descriptions: Mapping[str, str],
    flat: bool,
    problems: Problems,
) -> PrescribedTool:
    mask = union_of(endpoint.guards, coordinates_used(operation.document, endpoint.schema))
    doubt_operation(endpoint, operation, mask=mask, problems=problems)
    values = _description_variables(endpoint)
    text = description or operation.description or prescribed_description(operation.name, operation.kind)
    expanded = {key: expand(value, values) for key, value in descriptions.items()}
    entry = {
        "name": name,
        "description": expand(text, values),
        "inputSchema": advertised_schema(operation, endpoint.schema, descriptions=expanded, flat=flat),
        "outputSchema": output_schema(operation.document, endpoint.schema),
        "annotations": _annotations(writes=operation.kind == "mutation"),
    }
    return PrescribedTool(
        name=name,
        entry=entry,
        arguments=enforced_schema(operation, endpoint.schema, flat=flat),
        flat=flat,
        mask=mask,
        operation=Operation(name=operation.name, kind=operation.kind, text=print_executable(operation.document)),
    )


def _default_tool(endpoint: Endpoint, problems: Problems) -> GraphQLTool:
    at = Place(ENTRY)
    guards = hidden_by_patterns(endpoint.schema, DEFAULT_TOOL_PATTERNS, problems) or {}
    name = expand("{endpoint_folder}-{endpoint_name}", endpoint.name_variables)
    problems.warn(
        at, f'no tool is declared, so "{name}" lets models ask for all of Query; default_tool: false ends that'
    )
    return _guarded_tool(endpoint, name, guards, problems, at=at, description=None, descriptions={})


def _graphql_tool(endpoint: Endpoint, directive: ToolDirective, problems: Problems) -> GraphQLTool | None:
    guards = hidden_by_patterns(endpoint.schema, directive.graphql or (), problems)
    if guards is None:
        return None
    tool = _guarded_tool(
        endpoint,
        expand(directive.name, endpoint.name_variables),
        guards,
        problems,
        at=directive.node,
        description=directive.description,
        descriptions=directive.descriptions,
    )
    _doubt_descriptions(directive, list(tool.arguments["properties"]), problems)
    if all(listing.entry is None for listing in tool.listings):
        problems.add(directive.node, f'@tool "{directive.name}": its patterns expose no field of a root type')
    return tool


def _guarded_tool(  # noqa: PLR0913 - the default tool and a declared one meet here
    endpoint: Endpoint,
    name: str,
    own: Mapping[str, Mask],
    problems: Problems,
    *,
    at: At,
    description: str | None,
    descriptions: Mapping[str, str],
) -> GraphQLTool:
    guards = fold_types(endpoint.schema, endpoint.consequences.of(own))
    doubt_request_tool(endpoint, guards, at=at, problems=problems)

    def entry_for(outcome: Mask) -> JSONObject | None:
        view = endpoint.view_of(outcome, guards)
        return _graphql_entry(endpoint, name, view, description=description, descriptions=descriptions)

    return GraphQLTool(name=name, arguments=_request_schema(), guards=guards, listings=_listings(endpoint, entry_for))


def _listings(endpoint: Endpoint, entry_for: Callable[[Mask], JSONObject | None]) -> tuple[Listing, ...]:
    """The finished entries: for what everybody may see, and for what an unrestricted caller may."""
    outcomes = {outcome_of(endpoint.conditions, unrestricted=unrestricted): None for unrestricted in (False, True)}
    return tuple(Listing(outcome=outcome, entry=entry_for(outcome)) for outcome in outcomes)


def _graphql_entry(
    endpoint: Endpoint, name: str, view: View, *, description: str | None, descriptions: Mapping[str, str]
) -> JSONObject | None:
    roots = view.root_fields()
    if not roots:
        return None
    sdl = print_view(view)
    values = {**_description_variables(endpoint), "schema_sdl": sdl}
    texts = {
        "query": query_description(sdl, roots),
        "operationName": OPERATION_NAME,
        "variables": VARIABLES,
        **{key: expand(text, values) for key, text in descriptions.items()},
    }
    properties = {
        "query": {"type": "string", "description": texts["query"]},
        "operationName": {"type": "string", "description": texts["operationName"]},
        "variables": {"type": "object", "description": texts["variables"]},
    }
    return {
        "name": name,
        "description": expand(description or GRAPHQL_TOOL, values),
        "inputSchema": {"type": "object", "properties": properties, "required": ["query"]},
        "annotations": _annotations(writes="mutation" in roots),
    }


def _request_schema() -> JSONObject:
    """A GraphQL tool's enforced arguments: ``null`` is as good as absent, as in GraphQL over HTTP."""
    properties = {
        "query": {"type": "string"},
        "operationName": {"type": ["string", "null"]},
        "variables": {"type": ["object", "null"]},
    }
    return {"type": "object", "properties": properties, "required": ["query"], "additionalProperties": False}


def _annotations(*, writes: bool) -> JSONObject:
    """Source: MCP 2026-07-28, schema ``ToolAnnotations``."""
    return {"readOnlyHint": False, "destructiveHint": True} if writes else {"readOnlyHint": True}


def _description_variables(endpoint: Endpoint) -> dict[str, str]:
    return {
        **endpoint.name_variables,
        "graphql_tool": GRAPHQL_TOOL,
        "schema_description": endpoint.schema.description or "",
    }


def _refuse_names(made: Sequence[tuple[Node | Place, Tool]], problems: Problems) -> None:
    first: dict[str, Place] = {}
    for at, tool in made:
        place = at if isinstance(at, Place) else place_of(at)
        if not TOOL_NAME.fullmatch(tool.name):
            problems.add(at, f'"{tool.name}" is no tool name: expected 1 to 64 letters, digits, _ or -')
        if tool.name in first:
            other = first[tool.name]
            problems.add(at, f'a tool named "{tool.name}" stands at {other.file}:{other.line}:{other.column} too')
        first.setdefault(tool.name, place)
