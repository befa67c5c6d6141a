"""Tools whose requests a model writes: ``@tool(graphql:)``, and the default tool of an endpoint without tools."""

from __future__ import annotations

from collections.abc import Mapping

from handler.bundle.tools import GraphQLTool, Listing
from handler.compiler.context import Endpoint
from handler.compiler.json_schemas.descriptions import (
    GRAPHQL_TOOL,
    OPERATION_NAME,
    VARIABLES,
    expand,
    expand_or,
)
from handler.compiler.problems import NOWHERE, Place, Problems
from handler.compiler.schema.directives import ToolDirective, VisibilityPattern
from handler.compiler.schema.tool_options import NO_OPTIONS
from handler.compiler.schema.visibility import fold_types, hidden_by_patterns
from handler.compiler.source.files import ENTRY
from handler.compiler.tools.declaration import CompiledTool, Declaration
from handler.graph.tool_entry import graphql_entry
from handler.graph.view import BUILT_IN_SCALARS
from handler.policy.evaluation import Evaluation, Mask
from handler.strict_json import JSONObject

DEFAULT_TOOL_PATTERNS = (VisibilityPattern(at=NOWHERE, expose=True, types="Query", fields=".*"),)

REQUEST: JSONObject = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "operationName": {"type": ["string", "null"]},
        "variables": {"type": ["object", "null"]},
    },
    "required": ["query"],
    "additionalProperties": False,
}
"""The enforced arguments. ``null`` counts as absent, as in GraphQL over HTTP."""

ADVERTISED: Mapping[str, JSONObject] = {
    "query": {"type": "string"},
    "operationName": {"type": "string"},
    # Explicit, because some clients take an object without properties for an empty one.
    "variables": {"type": "object", "additionalProperties": True},
}
"""The advertised arguments, without descriptions."""


def graphql_tool(endpoint: Endpoint, directive: ToolDirective, problems: Problems) -> CompiledTool | None:
    """Compile one ``@tool(graphql:)``; ``None`` after reporting an error."""
    if not directive.graphql:
        problems.add(
            directive.node,
            f'@tool "{directive.name}" has no pattern: expected one that exposes something',
            code="nothing-exposed",
        )
        return None
    guards = hidden_by_patterns(endpoint.schema, directive.graphql, problems)
    if guards is None:
        return None
    if not endpoint.any_document:
        sentence = "lets models write requests, but with upstream.documents the API takes only known documents"
        problems.add(directive.node, f'"{directive.name}" {sentence}: expected prescribed', code="known-documents-only")
    declaration = Declaration(
        at=directive.node,
        name=expand(directive.name, endpoint.name_variables),
        description=directive.description,
        descriptions=directive.descriptions,
        options=directive.options,
    )
    made = _guarded_tool(endpoint, declaration, guards, problems)
    if not made.runs:
        problems.add(
            directive.node,
            f'@tool "{directive.name}": its patterns expose no field of a root type',
            code="nothing-exposed",
        )
    return made


def default_tool(endpoint: Endpoint, problems: Problems, *, operations: bool) -> CompiledTool:
    """Compile the tool of an endpoint that declares none. ``operations``: it has operations that are not tools."""
    name = expand("{endpoint_folder}-{endpoint_name}", endpoint.name_variables)
    at = Place(ENTRY)
    beside = " and no operation has @mcpTool" if operations else ""
    problems.warn(
        at,
        f'no tool is declared{beside}, so "{name}" lets models ask for all of Query; default_tool: false ends that',
        code="default-tool",
        about=[name],
    )
    if not endpoint.any_document:
        problems.add(
            at,
            "no tool is declared, and upstream.documents rules out a default tool: expected @mcpTool or @tool",
            code="known-documents-only",
        )
    guards = hidden_by_patterns(endpoint.schema, DEFAULT_TOOL_PATTERNS, problems) or {}
    declaration = Declaration(at=at, name=name, description=None, descriptions={}, options=NO_OPTIONS)
    return _guarded_tool(endpoint, declaration, guards, problems)


def _guarded_tool(
    endpoint: Endpoint, declaration: Declaration, own: Mapping[str, Mask], problems: Problems
) -> CompiledTool:
    guards = fold_types(endpoint.schema, endpoint.guards_with(own))
    conditions = endpoint.conditions_of(guards)
    # Precomputed for anonymous and for unrestricted callers.
    anonymous = Evaluation(endpoint.conditions, claims=None).outcome(conditions)
    views = {outcome: endpoint.view_of(outcome, guards) for outcome in dict.fromkeys([anonymous, conditions])}
    whole = views[conditions]
    template = _template(endpoint, declaration)
    options, roots = declaration.options, whole.root_fields()
    if "mutation" in roots and options.annotations.get("readOnlyHint"):
        problems.add(
            declaration.at,
            f'"{declaration.name}" lets models send mutations and says readOnlyHint: true',
            code="not-read-only",
        )
    tool = GraphQLTool(
        name=declaration.name,
        entry=template,
        arguments=options.confirmed(REQUEST),
        guards=guards,
        conditions=conditions,
        listings=tuple(
            Listing(outcome=outcome, entry=graphql_entry(template, view)) for outcome, view in views.items()
        ),
        limits=options.limited(endpoint.limits),
        options=options.served(output="text"),
    )
    return CompiledTool(
        at=declaration.at,
        tool=tool,
        uses=(),
        runs="; ".join(f"{kind} {', '.join(names)}" for kind, names in roots.items()),
        types=sum(name not in BUILT_IN_SCALARS for name in whole.members),
        reads="query" in roots,
        writes="mutation" in roots,
    )


def _template(endpoint: Endpoint, declaration: Declaration) -> JSONObject:
    """Return the template of the tool's entry, completed for each view in ``graph/tool_entry.py``."""
    values = endpoint.description_variables
    texts = {"query": "", "operationName": OPERATION_NAME, "variables": VARIABLES}
    texts |= {
        key: expand_or(text, values, texts[key]) for key, text in declaration.descriptions.items() if key in texts
    }
    properties = {name: {**ADVERTISED[name], "description": text} for name, text in texts.items()}
    entry = {
        "name": declaration.name,
        "description": expand_or(declaration.description, values, GRAPHQL_TOOL),
        "inputSchema": {"type": "object", "properties": properties, "required": ["query"]},
        "annotations": {},
    }
    return declaration.options.listed(entry)
