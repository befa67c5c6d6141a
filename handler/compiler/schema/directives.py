"""Stile's directives: their GraphQL definitions, and readers of their arguments.

Source: IBM API Connect for GraphQL, "directive @tool" and "directive @sdl"; Cosmo, ``@mcpTool`` and ``@mcpToolArg``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphql import (
    ArgumentNode,
    DirectiveLocation,
    DirectiveNode,
    GraphQLDirective,
    GraphQLError,
    GraphQLSchema,
    ListValueNode,
    Node,
    ObjectFieldNode,
    ObjectValueNode,
    ValueNode,
    VariableNode,
    build_schema,
    is_specified_directive,
)
from graphql.execution.values import get_argument_values
from graphql.language.ast import QUERY_DOCUMENT_KEYS

from handler.compiler.problems import At, Problems
from handler.compiler.schema.tool_options import SHARED_ARGUMENTS, TYPES, AuthorOptions, read_author_options
from handler.text.sentences import did_you_mean, some

DEFINITIONS = build_schema(
    TYPES
    + '''
    """A name and the text that goes with it."""
    input StepZen_NamedValue { name: String! value: String description: String }

    """Which fields are exposed or hidden: regular expressions that match whole names."""
    input StepZen_VisibilityPattern { expose: Boolean! types: String! fields: String! }

    """A file of operations."""
    input StepZen_ExecutableDocument { document: String! persist: Boolean! = false }

    directive @sdl(
      files: [String!]! = []
      executables: [StepZen_ExecutableDocument!]! = []
      visibility: [StepZen_VisibilityPattern!]! = []
    ) repeatable on SCHEMA

    directive @tool(
      name: String!
      description: String
      descriptions: [StepZen_NamedValue!]! = []
      graphql: [StepZen_VisibilityPattern!]
      prescribed: String
      find: Boolean! = true
      SHARED_ARGUMENTS
    ) repeatable on SCHEMA

    directive @mcpTool(
      name: String
      description: String
      SHARED_ARGUMENTS
    ) on QUERY | MUTATION

    directive @mcpTask(
      poll: String!
      variables: Stile_JSON!
      status: String!
      initialStatus: String
      completed: [String!]!
      failed: [String!]! = []
      cancelled: [String!]! = []
      cancel: String
      every: Int! = 5
      ttl: Int! = 3600
      wait: Int! = 0
      required: Boolean! = false
      statusTool: Stile_StatusTool! = listed
    ) on MUTATION

    directive @mcpToolArg(description: String!) on VARIABLE_DEFINITION

    directive @mcpBind(claim: String, header: String, value: Stile_JSON) repeatable on VARIABLE_DEFINITION

    type Query { unused: Int }
'''.replace("SHARED_ARGUMENTS", SHARED_ARGUMENTS)
)

ON_SCHEMA = ("sdl", "tool")
ON_OPERATIONS = ("mcpTool", "mcpTask", "mcpToolArg", "mcpBind")

BELONGS: Mapping[str, str] = {
    "sdl": 'the schema, as in extend schema @sdl(files: ["customer.graphql"])',
    "tool": 'the schema, as in extend schema @tool(name: "customer", graphql: {expose: true, types: "Query", '
    'fields: "customer"})',
    "mcpTool": "a query or mutation in a file of operations",
    "mcpTask": "a mutation in a file of operations, which starts a job",
    "mcpToolArg": "a variable of an operation in a file of operations, as in $id: ID! @mcpToolArg(...)",
    "mcpBind": "a variable of an operation in a file of operations, as in $id: ID! @mcpBind(...)",
}
"""Directive of Stile -> its location, as the end of a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibilityPattern:
    """Regular expressions for whole names of ``types`` and ``fields``; ``expose``: show or hide the matches."""

    at: At
    expose: bool
    types: str
    fields: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDirective:
    """One ``@tool`` as written."""

    node: DirectiveNode
    name: str
    description: str | None
    descriptions: dict[str, str]
    graphql: tuple[VisibilityPattern, ...] | None
    prescribed: str | None
    options: AuthorOptions


def read_tool(node: DirectiveNode, problems: Problems) -> ToolDirective | None:
    """Read one ``@tool``; ``None`` after reporting invalid arguments."""
    values = read_arguments(node, problems)
    if values is None:
        return None
    return ToolDirective(
        node=node,
        name=values["name"],
        description=values.get("description"),
        descriptions=_descriptions(node, values, problems),
        graphql=None if values.get("graphql") is None else patterns_of(node, "graphql", values),
        prescribed=values.get("prescribed"),
        options=read_author_options(node, values, problems),
    )


def _descriptions(node: DirectiveNode, values: Mapping[str, Any], problems: Problems) -> dict[str, str]:
    """Return parameter -> description. Some editors write ``description`` instead of the documented ``value``."""
    descriptions: dict[str, str] = {}
    for at, entry in zip(argument_items(node, "descriptions"), values["descriptions"], strict=False):
        name, value, instead = entry["name"], entry.get("value"), entry.get("description")
        if value is None and instead is not None:
            sentence = f'the description of "{name}" is given as description: expected value'
            problems.warn(at, sentence, code="description-key")
        elif value is None:
            problems.add(at, f'the description of "{name}" has no value', code="empty-description")
        if name in descriptions:
            problems.add(at, f'"{name}" is described twice', code="duplicate-description")
        descriptions[name] = (instead if value is None else value) or ""
    return descriptions


def patterns_of(node: DirectiveNode, name: str, values: Mapping[str, Any]) -> tuple[VisibilityPattern, ...]:
    """Return the visibility patterns in an argument. ``values`` are those of all arguments."""
    places = zip(argument_items(node, name), values[name], strict=False)
    return tuple(VisibilityPattern(at=at, **value) for at, value in places)


def argument_items(node: DirectiveNode, name: str) -> list[ValueNode]:
    """Return the nodes of a list argument's items. A single value counts as a list."""
    values = [argument.value for argument in node.arguments or () if argument.name.value == name]
    return [item for value in values for item in (value.values if isinstance(value, ListValueNode) else (value,))]


def value_of_argument(node: DirectiveNode, name: str) -> Node:
    """Return the node of an argument's value; the directive if it lacks the argument."""
    return next((argument.value for argument in node.arguments or () if argument.name.value == name), node)


def read_arguments(node: DirectiveNode, problems: Problems) -> dict[str, Any] | None:
    """Read the arguments of a directive of Stile; ``None`` after reporting invalid ones, or for other directives."""
    definition = DEFINITIONS.get_directive(node.name.value)
    if definition is None:
        return None
    unknown = [argument for argument in node.arguments or () if argument.name.value not in definition.args]
    for argument in unknown:
        name = argument.name.value
        remedy = did_you_mean(name, definition.args) or f": expected {some([*definition.args])}"
        problems.add(argument, f'@{node.name.value} has no argument "{name}"{remedy}', code="unknown-argument")
    nodes = list(nodes_in(node))
    members: list[Sequence[ArgumentNode | ObjectFieldNode]] = [node.arguments or ()]
    members += [each.fields for each in nodes if isinstance(each, ObjectValueNode)]
    repeated = [
        each
        for siblings in members
        for place, each in enumerate(siblings)
        if each.name.value in [other.name.value for other in siblings[:place]]
    ]
    for extra in repeated:
        problems.add(extra, f'"{extra.name.value}" appears twice', code="duplicate-argument")
    variables = [each for each in nodes if isinstance(each, VariableNode)]
    for variable in variables:  # get_argument_values would take the default, as if the argument were not written
        sentence = f"@{node.name.value} has ${variable.name.value} here: expected a value, which no request changes"
        problems.add(variable, sentence, code="wrong-value")
    if variables:
        return None
    try:
        values = get_argument_values(definition, node)
    except GraphQLError as exc:
        if unknown and exc.message.endswith("was not provided."):  # under its own name
            return None
        enum = re.search(r"(?:Enum|in) '(Stile_\w+)'", exc.message)
        hint = f" Expected {' or '.join(getattr(DEFINITIONS.type_map[enum[1]], 'values', ()))}." if enum else ""
        problems.add(exc if exc.nodes else node, f"@{node.name.value}: {exc.message}{hint}", code="wrong-value")
        return None
    return None if unknown or repeated else values


def nodes_in(*nodes: Node) -> Iterator[Node]:
    """Yield nodes and all nodes below them, in document order."""
    waiting = list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        yield node
        for key in reversed(QUERY_DOCUMENT_KEYS.get(node.kind, ())):
            part = getattr(node, key)
            waiting += [part] if isinstance(part, Node) else reversed(part or ())


_EXECUTABLE = "QUERY MUTATION FIELD FRAGMENT_DEFINITION FRAGMENT_SPREAD INLINE_FRAGMENT VARIABLE_DEFINITION"
EXECUTABLE_LOCATIONS = tuple(map(DirectiveLocation.__getitem__, _EXECUTABLE.split()))
"""Source: GraphQL specification, section 3.13 (ExecutableDirectiveLocation). Subscriptions are not served."""

FOR_PARTS = ("defer", "stream", "live")
"""Directives that request an incremental response. A tool has one response."""


def executable_directives(schema: GraphQLSchema) -> Iterator[GraphQLDirective]:
    """Yield the directives that the author's schema defines for requests, in its order.

    Definitions that the compiler adds for other systems are left out; they have no ``loc``.
    """
    for directive in schema.directives:
        added = directive.ast_node is not None and directive.ast_node.loc is None
        if not (added or is_specified_directive(directive) or directive.name in FOR_PARTS) and locations(directive):
            yield directive


def locations(directive: GraphQLDirective) -> list[str]:
    """Return the names of a directive's executable locations."""
    return [location.name for location in EXECUTABLE_LOCATIONS if location in directive.locations]
