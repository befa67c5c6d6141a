"""Tools whose requests a model writes: ``@tool(graphql:)``, and the default tool of an endpoint without tools."""

from __future__ import annotations

from collections.abc import Mapping

from handler.bundle.tools import GraphQLTool, Listing
from handler.compiler.access.policies import guarded_roots, tool_rule
from handler.compiler.api_context import ApiContext
from handler.compiler.json_schemas.descriptions import (
    GRAPHQL_TOOL,
    OPERATION_NAME,
    VARIABLES,
    expand_or,
    fill_template,
)
from handler.compiler.schema.directives import ToolDirective, VisibilityPattern, value_of_argument
from handler.compiler.schema.merge import USUAL_ROOTS
from handler.compiler.schema.tool_options import NO_OPTIONS
from handler.compiler.schema.visibility import fold_types, hidden_by_patterns
from handler.compiler.tools.declaration import CompiledTool, ToolDeclaration, directive_declaration
from handler.graph.tool_entry import graphql_entry
from handler.graph.view import BUILT_IN_SCALARS
from handler.policy.evaluation import OPEN, Evaluation, Mask
from handler.policy.predicates import UNKNOWN
from handler.strict_json import JSONObject
from handler.text.sentences import some

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


def graphql_tool(context: ApiContext, directive: ToolDirective) -> CompiledTool | None:
    """Compile one ``@tool(graphql:)``; ``None`` after reporting an error."""
    problems, name = context.problems, directive.name
    if not directive.graphql:
        sentence = f'@tool "{name}" has no pattern: expected one that exposes something'
        problems.add(directive.node, sentence, code="nothing-exposed")
        return None
    if directive.options.examples:
        sentence = "examples are for tools that run one operation: expected them in the description"
        problems.add(value_of_argument(directive.node, "examples"), sentence, code="invalid-example")
    guards = hidden_by_patterns(context.schema, directive.graphql, problems)
    if guards is None:
        return None
    if not context.endpoint.takes_any_document:
        sentence = "lets models write requests, but with upstream.documents the API takes only known documents"
        problems.add(directive.node, f'"{name}" {sentence}: expected prescribed', code="known-documents-only")
    declaration = directive_declaration(directive, name_variables=context.name_variables)
    tool = _guarded_tool(context, declaration, own=guards)
    if not tool.runs:
        problems.add(directive.node, f'@tool "{name}": {_why_nothing(context, guards)}', code="nothing-exposed")
    return tool


def _why_nothing(context: ApiContext, hidden: Mapping[str, Mask]) -> str:
    """Say why a tool has no root field, although ``hidden`` may leave some."""
    roots = [root for root in (context.schema.query_type, context.schema.mutation_type) if root]
    fields = [f"{root.name}.{field}" for root in roots for field in root.fields]
    lost = [field for field in fields if field not in hidden and field in context.external_guards]
    if not lost:
        cause = context.problems.warned("unnamed-root-type", USUAL_ROOTS)
        return f"its patterns expose no field of a root type{cause}"
    return f"@sdl(visibility:) or @inaccessible hides {some(lost)} from every client: expose a root field there"


def default_tool(context: ApiContext, *, operations: bool) -> CompiledTool:
    """Compile the tool of an endpoint that declares none. ``operations``: it has operations that are not tools."""
    name = fill_template("{endpoint_folder}-{endpoint_name}", context.name_variables)
    problems, at = context.problems, context.endpoint.entry
    beside = " and no operation has @mcpTool" if operations else ""
    opens = f'so "{name}" lets models ask for all of Query; default_tool: false ends that'
    problems.warn(at, f"no tool is declared{beside}, {opens}", code="default-tool", about=[name])
    if not context.endpoint.takes_any_document:
        sentence = "no tool is declared, and upstream.documents rules out a default tool: expected @mcpTool or @tool"
        problems.add(at, sentence, code="known-documents-only")
    query = context.schema.query_type
    all_of_query = VisibilityPattern(at=at, expose=True, types=query.name if query else "Query", fields=".*")
    guards = hidden_by_patterns(context.schema, [all_of_query], problems) or {}
    declaration = ToolDeclaration(at=at, name=name, description=None, descriptions={}, options=NO_OPTIONS)
    return _guarded_tool(context, declaration, own=guards)


def _guarded_tool(context: ApiContext, declaration: ToolDeclaration, *, own: Mapping[str, Mask]) -> CompiledTool:
    options = declaration.options
    rule = tool_rule(declaration.name, options, context.conditions, context.problems)
    guards = guarded_roots(fold_types(context.schema, context.guards_with(own)), rule, context.index)
    conditions = context.conditions_of(guards)
    # Precomputed for anonymous and for unrestricted callers.
    anonymous = Evaluation(context.conditions, claims=None).outcome(conditions)
    views = {outcome: context.view_of(outcome, guards) for outcome in dict.fromkeys([anonymous, conditions])}
    someone = Evaluation(context.conditions, claims=UNKNOWN)
    possible = frozenset(each for each in conditions if someone.may_meet(frozenset({each}), ()))
    reached = views.get(possible) or context.view_of(possible, guards)
    whole = views[conditions]
    roots = whole.root_fields()
    if "query" in roots:
        options = options.continuing(default=context.endpoint.config.continues)
    if "mutation" in roots and options.annotations.get("readOnlyHint"):
        sentence = f'"{declaration.name}" lets models send mutations and says readOnlyHint: true'
        context.problems.add(declaration.at, sentence, code="not-read-only")
    template = options.listed(_template(context, declaration), limits=context.limits)
    tool = GraphQLTool(
        name=declaration.name,
        entry=template,
        arguments=options.completed(REQUEST),
        guards=guards,
        conditions=conditions,
        listings=tuple(
            Listing(outcome=outcome, **graphql_entry(template, view)._asdict()) for outcome, view in views.items()
        ),
        limits=options.limited(context.limits),
        options=options.served(output="text"),
        mask=rule.mask if rule else OPEN,
        reachable=bool(reached.root_fields()),
    )
    return CompiledTool(
        at=declaration.at,
        tool=tool,
        runs="; ".join(f"{kind} {', '.join(names)}" for kind, names in roots.items()),
        types=sum(name not in BUILT_IN_SCALARS for name in whole.members),
        reads="query" in roots,
        writes="mutation" in roots,
        companions=options.find and any(listing.large for listing in tool.listings),
        declaration=declaration,
        own_guards=own,
        view=options.view,
        rule=rule,
    )


def _template(context: ApiContext, declaration: ToolDeclaration) -> JSONObject:
    """Return the template of the tool's entry, completed for each view in ``graph/tool_entry.py``."""
    values = context.description_variables
    texts = {"query": "", "operationName": OPERATION_NAME, "variables": VARIABLES}
    texts |= {
        key: expand_or(text, values, texts[key]) for key, text in declaration.descriptions.items() if key in texts
    }
    properties = {name: {**ADVERTISED[name], "description": text} for name, text in texts.items()}
    return {
        "name": declaration.name,
        "description": expand_or(declaration.description, values, GRAPHQL_TOOL),
        "inputSchema": {"type": "object", "properties": properties, "required": ["query"]},
        "annotations": {},
    }
