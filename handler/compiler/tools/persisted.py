"""The GraphQL route ``/{folder}/{name}/graphql``: its mode, its own guards, and the persisted documents.

Persisted operations are validated against the schema that clients of the API see.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from graphql import (
    DocumentNode,
    FieldsOnCorrectTypeRule,
    GraphQLSchema,
    KnownArgumentNamesRule,
    KnownOperationTypesRule,
    KnownTypeNamesRule,
    PossibleFragmentSpreadsRule,
    ValuesOfCorrectTypeRule,
    build_schema,
    type_from_ast,
    validate,
)

from handler.bundle.tools import (
    CONFIRM_LEVELS,
    GraphQLEndpoint,
    Operation,
    PersistedDocument,
    PersistedOperation,
    PrescribedTool,
    Tool,
)
from handler.compiler.api_context import ApiContext
from handler.compiler.json_schemas.defaults import default_of
from handler.compiler.json_schemas.input_schema import Inputs, bound_schema, enforced_schema
from handler.compiler.operations.author_operations import AuthorOperation, Operations
from handler.compiler.operations.used_coordinates import coordinates_used
from handler.compiler.tools.variables import coordinates_bound, read_bindings
from handler.graph.sdl import print_view
from handler.graph.view import build_view
from handler.policy.evaluation import OPEN, Mask, hidden_from, union_of
from handler.strict_json import JSONObject

RULES = (
    FieldsOnCorrectTypeRule,
    KnownArgumentNamesRule,
    KnownOperationTypesRule,
    KnownTypeNamesRule,
    PossibleFragmentSpreadsRule,
    ValuesOfCorrectTypeRule,
)
"""The rules that a hidden coordinate can break. A view has no directives, so their rules are not among these."""

NOTHING = "schema { subscription: Subscription } type Subscription { nothing: Boolean }"
"""A schema for which no operation of a tool is valid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """The scopes, consent and conditions that an operation needs from its caller."""

    scopes: tuple[str, ...] = ()
    confirm: str = ""
    mask: Mask = OPEN


def graphql_endpoint(
    context: ApiContext, operations: Operations, *, tools: Iterable[Tool], mode: str
) -> GraphQLEndpoint:
    """Compile the endpoint's GraphQL route and persisted documents.

    An introspection query is not kept, with a warning: only requests get it, from the caller's view. Operations that
    ask about jobs, or cancel them, are left out, unless they are tools: their callers could give any job's id.
    """
    prescribed = [tool for tool in tools if isinstance(tool, PrescribedTool) and not tool.polls]
    demands = _demands_of(prescribed)
    left_out = operations.of_jobs - demands.keys()
    by_name = {operation.name: operation for operation in operations.valid if operation.name not in left_out}
    tool_of = {tool.operation.name: tool.name for tool in prescribed if _says_all(tool, demands[tool.operation.name])}
    documents = []
    for document in operations.documents:
        persisted: list[PersistedOperation] = []
        instead: list[str] = []  # the tools that stand for their operations
        anonymous = [document.anonymous] if document.anonymous else []
        for operation in (*(by_name[name] for name in document.operations if name in by_name), *anonymous):
            if operation.asks:
                sentence = (
                    f"it asks for {operation.asks}, so it is not kept as a persisted document: send it as a query"
                )
                context.problems.warn(operation.node, sentence, code="unkept-document", about=[operation.name])
            elif operation.name in tool_of:
                instead.append(tool_of[operation.name])
            else:
                persisted.append(persisted_of(context, operation, demands=demands.get(operation.name, Demands())))
        documents.append(PersistedDocument(id=document.id, operations=tuple(persisted), tools=tuple(instead)))
    return GraphQLEndpoint(
        mode=mode,
        guards=context.graphql_guards,
        conditions=context.conditions_of(context.graphql_guards),
        documents=tuple(documents),
    )


def _demands_of(tools: Iterable[PrescribedTool]) -> dict[str, Demands]:
    """Return operation -> the demands of all its tools: all scopes and conditions, and the strictest ``confirm``."""
    demands: dict[str, Demands] = {}
    for tool in tools:
        others = demands.get(tool.operation.name, Demands())
        scopes = tuple(dict.fromkeys((*others.scopes, *tool.options.scopes)))
        confirm = max(others.confirm, tool.options.confirm, key=CONFIRM_LEVELS.index)
        demands[tool.operation.name] = Demands(scopes=scopes, confirm=confirm, mask=others.mask | tool.mask)
    return demands


def _says_all(tool: PrescribedTool, demands: Demands) -> bool:
    """Return whether a tool can stand for its operation: its arguments and demands are those of the operation.

    An operation with ``confirm`` has an argument for that, which is not a variable, and so has one with a cursor.
    """
    return tool.flat and not tool.options.cursor and Demands(scopes=tool.options.scopes, mask=tool.mask) == demands


def sent(operation: AuthorOperation, schema: GraphQLSchema) -> Operation:
    """Return an author's operation as the function sends it."""
    variables = {node.variable.name.value: node for node in operation.node.variable_definitions or ()}
    defaults: JSONObject = {}
    for name, node in variables.items():
        type_: Any = type_from_ast(schema, node.type)
        if default := default_of(node.default_value, type_):
            defaults[name] = default["default"]
    return Operation(
        name=operation.name,
        kind=operation.kind,
        text=operation.text,
        sha256=hashlib.sha256(operation.text.encode()).hexdigest(),
        null_is_absent=tuple(sorted(operation.optional_conditions)),
        variables=tuple(variables),
        defaults=defaults,
    )


def persisted_of(context: ApiContext, operation: AuthorOperation, *, demands: Demands) -> PersistedOperation:
    """Compile an operation that is called by its name, without a tool's entry."""
    schema = context.schema
    coordinates = [*coordinates_used(operation.document, schema), *coordinates_bound(operation, schema)]
    mask = union_of(context.guards, coordinates) | demands.mask
    inputs = Inputs(operation, context.schema, context.guards, mask=mask)
    variables = context.definitions.shared(enforced_schema(inputs, scalars=context.scalars, flat=True))
    return PersistedOperation(
        operation=sent(operation, context.schema),
        variables=variables,
        mask=mask,
        conditions=context.guarded.conditions_in(variables),
        bindings=read_bindings(operation, context.schema, context.problems),
        bound=context.definitions.shared(bound_schema(inputs, scalars=context.scalars)),
        scopes=demands.scopes,
        confirm=demands.confirm,
    )


class ExternalSchema:
    """An endpoint's schema as its clients see it: without all that ``@sdl(visibility:)`` and ``@inaccessible`` hide."""

    def __init__(self, context: ApiContext) -> None:
        self._problems = context.problems
        view = build_view(context.index, hidden_from(OPEN, context.external_guards))
        sdl = print_view(view) if view.root_fields() else NOTHING
        self._schema = build_schema(sdl, assume_valid=True, assume_valid_sdl=True)

    def refuse(self, document: DocumentNode) -> bool:
        """Report the hidden coordinates in a valid document; true if there are any."""
        errors = validate(self._schema, document, rules=RULES, hide_suggestions=True)
        for error in errors:
            sentence = f"{error.message} @sdl(visibility:) or @inaccessible hides it from clients."
            self._problems.add(error, sentence, code="hidden-from-clients")
        return bool(errors)
