"""Descriptions that models read: templates, and defaults for tools and variables that an author does not describe.

Source: IBM API Connect for GraphQL, "directive @tool", "Tool descriptions".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from textwrap import shorten

from graphql import (
    ArgumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLEnumValue,
    GraphQLInputObjectType,
    GraphQLNamedType,
    GraphQLSchema,
    InlineFragmentNode,
    ListValueNode,
    Node,
    ObjectFieldNode,
    OperationDefinitionNode,
    TokenKind,
    ValueNode,
    VariableNode,
    get_named_type,
    is_specified_scalar_type,
    type_from_ast,
)

from handler.compiler.operations.author_operations import AuthorOperation
from handler.compiler.operations.used_coordinates import typed_nodes
from handler.graph.documents.operation import fragments_of

GRAPHQL_TOOL = (
    "Run a GraphQL request that is valid for the schema at `query`. Select only the fields you need, and give changing "
    "values as variables."
)

OPERATION_NAME = "The operation of `query` to run, if it holds several."
VARIABLES = "Values of the operation's variables, by name."

MAX_ENUM_CHARS = 1_000
"""The longest description of enum values: "AF: Afghanistan" for each country takes 6 KB of every tool."""

OF_GRAPHQL_TOOLS: Mapping[str, str] = {
    "graphql_tool": "the inserted text tells the model to write a request",
    "schema_sdl": "nothing is inserted",
}
"""Template variables that only ``@tool(graphql:)`` uses, each with its effect in other tools."""

NOT_ABOUT_IT = re.compile(r"\s*(?:import\b|eslint-|prettier-|Copyright\b|SPDX-|TODO\b|FIXME\b)")
"""Lines for other tools or for the maintainers of the file, not for models."""

MAX_NAMED, MAX_SELECTIONS_CHARS = 40, 150
"""Fields and characters of a description that is made of an operation's selections."""

_Holder = OperationDefinitionNode | FieldNode
_Fragments = Mapping[str, FragmentDefinitionNode]

_TEMPLATE_NAME = re.compile(r"\{(\w+)\}")


def fill_template(text: str, values: Mapping[str, str]) -> str:
    """Replace ``{name}`` for the names in ``values``; all other braces stay."""
    return _TEMPLATE_NAME.sub(lambda match: values.get(match[1], match[0]), text)


def expand_or(text: str | None, values: Mapping[str, str], default: str) -> str:
    """Expand a template, or the ``default`` template if the result is blank."""
    expanded = fill_template(text or "", values)
    return expanded if expanded.strip() else fill_template(default, values)


def template_names(text: str) -> list[str]:
    """Return the names in braces."""
    return _TEMPLATE_NAME.findall(text)


def operation_description(
    operation: AuthorOperation, schema: GraphQLSchema, *, given: str | None, values: Mapping[str, str]
) -> str:
    """Return the description of a tool that runs an operation; empty string if all sources are blank.

    The first source that is not blank wins: ``given`` (the directive's text), the operation's description, a comment
    above the operation, the schema's descriptions of the root fields. Authors' texts are templates of ``values``.
    """
    own = (fill_template(text or "", values) for text in (given, operation.description, comment_above(operation.node)))
    return strongest(*own, _root_descriptions(operation, schema))


def _root_descriptions(operation: AuthorOperation, schema: GraphQLSchema) -> str:
    """Return the schema's descriptions of an operation's root fields; with names if there are several fields."""
    root = schema.get_root_type(operation.node.operation)
    texts: dict[str, str] = {}
    for field in _fields_below(operation.node, fragments_of(operation.document)):
        if root and field.name.value in root.fields:
            texts.setdefault(field.name.value, (root.fields[field.name.value].description or "").strip())
    if len(texts) == 1:
        return next(iter(texts.values()))
    return "\n".join(f"- {name}: {text}" for name, text in texts.items() if text)


def selections_description(operation: AuthorOperation) -> str:
    """Return the description of a tool without another one: root fields, arguments and the first selections.

    The names are those of the tool's arguments and of its answer.
    """
    fragments = fragments_of(operation.document)
    roots = list(islice(_fields_below(operation.node, fragments), MAX_NAMED))
    names = [_response_name(field) for field in roots]
    below = islice(_names_below(roots[0] if len(roots) == 1 else operation.node, fragments), MAX_NAMED)
    arguments = f"({', '.join(operation.variables)})" if operation.variables else ""
    selections = ", ".join(name for name in dict.fromkeys(below) if name not in (*names, "__typename"))
    text = f"{operation.kind.capitalize()} {', '.join(dict.fromkeys(names))}{arguments}"
    return shorten(f"{text}: {selections}." if selections else f"{text}.", MAX_SELECTIONS_CHARS, placeholder=" …")


def _names_below(holder: _Holder, fragments: _Fragments) -> Iterator[str]:
    """Yield the names of the values of an answer, level by level, each with the name of the object that has it."""
    level: Sequence[tuple[str, _Holder]] = [("", holder)]
    while level:
        fields = [
            (owner, field) for owner, each in level for field in islice(_fields_below(each, fragments), MAX_NAMED)
        ]
        yield from (f"{owner}{_response_name(field)}" for owner, field in fields if not field.selection_set)
        level = [(f"{_response_name(field)}.", field) for _, field in fields if field.selection_set][:MAX_NAMED]


def _fields_below(holder: _Holder, fragments: _Fragments) -> Iterator[FieldNode]:
    """Yield the fields that an operation, a field or a fragment selects, those of each fragment once."""
    waiting: list[Node] = list(reversed(holder.selection_set.selections)) if holder.selection_set else []
    left = dict(fragments)
    while waiting:
        match waiting.pop():
            case FieldNode() as field:
                yield field
            case FragmentSpreadNode(name=name) if name.value in left:
                waiting += reversed(left.pop(name.value).selection_set.selections)
            case InlineFragmentNode(selection_set=below):
                waiting += reversed(below.selections)


def _response_name(field: FieldNode) -> str:
    return (field.alias or field.name).value


def variable_descriptions(
    operation: AuthorOperation, schema: GraphQLSchema, *, given: Mapping[str, str], values: Mapping[str, str]
) -> dict[str, str]:
    """Return the descriptions of each variable and of ``variables`` as a whole; empty string if all sources are blank.

    The first source that is not blank wins: ``given`` (the texts of ``@tool(descriptions:)``), ``@mcpToolArg``, the
    variable's description, the schema's description of the argument or input field that takes the variable, that of
    the variable's type, a comment above the variable. Authors' texts are templates of ``values``.
    """
    of_inputs = _descriptions_of_inputs(operation, schema)
    texts = {"variables": strongest(fill_template(given.get("variables", ""), values))}
    for node in operation.node.variable_definitions or ():
        name = node.variable.name.value
        texts[name] = strongest(
            fill_template(given.get(name, ""), values),
            fill_template(operation.descriptions.get(name, ""), values),
            of_inputs.get(name),
            type_description(get_named_type(type_from_ast(schema, node.type))),
            fill_template(comment_above(node), values),
        )
    return texts


def _descriptions_of_inputs(operation: AuthorOperation, schema: GraphQLSchema) -> dict[str, str]:
    """Return variable -> description of the first described argument or input field that takes its value."""
    texts: dict[str, str] = {}
    for node, types in typed_nodes(operation.document, schema) if operation.node.variable_definitions else ():
        text: str | None = None
        match node:
            case ArgumentNode():
                argument = types.get_argument()
                # @include does not describe its condition.
                text = argument.description if argument and types.get_directive() is None else None
            case ObjectFieldNode():
                holder = get_named_type(types.get_parent_input_type())
                if isinstance(holder, GraphQLInputObjectType) and node.name.value in holder.fields:
                    text = holder.fields[node.name.value].description
        if isinstance(node, ArgumentNode | ObjectFieldNode) and text and text.strip():
            for name in _variables_in(node.value):
                texts.setdefault(name, text.strip())
    return texts


def _variables_in(value: ValueNode) -> Iterator[str]:
    match value:
        case VariableNode():
            yield value.name.value
        case ListValueNode():
            for item in value.values:
                yield from _variables_in(item)


def type_description(type_: GraphQLNamedType | None) -> str:
    """Return the schema's description of a type; empty string for ``None`` and the specification's scalars."""
    if type_ is None or is_specified_scalar_type(type_):
        return ""
    return (type_.description or "").strip()


def enum_description(values: Mapping[str, GraphQLEnumValue]) -> str:
    """Return the description of an enum's values; empty string if it is longer than ``MAX_ENUM_CHARS``."""
    text = enum_text(values)
    return text if len(text) <= MAX_ENUM_CHARS else ""


def enum_text(values: Mapping[str, GraphQLEnumValue]) -> str:
    """Return one line for each described or deprecated value, because JSON Schema has no keyword for them."""
    lines = []
    for name, value in values.items():
        old = f"(deprecated: {value.deprecation_reason})" if value.deprecation_reason is not None else ""
        text = " ".join(f"{value.description or ''} {old}".split())
        lines += [f"- {name}: {text}"] if text else []
    return "\n".join(lines)


def strongest(*texts: str | None) -> str:
    """Return the first text that is not blank; empty string if all are."""
    return next((text for text in texts if text and text.strip()), "")


def joined_texts(*texts: str | None) -> str:
    """Join the texts that are not blank, one below the other."""
    return "\n".join(text for text in texts if text and text.strip())


def comment_above(node: Node) -> str:
    """Return the text of the ``#`` lines directly above a node; empty string if there are none.

    An empty line ends the comment. A comment behind code on its line does not count.
    """
    lines: list[str] = []
    token = node.loc.start_token if node.loc else None
    while token and (above := token.prev) and above.kind is TokenKind.COMMENT and above.line == token.line - 1:
        if above.prev and above.prev.line == above.line:
            break
        lines.insert(0, above.value or "")
        token = above
    return "\n".join(line.strip() for line in lines if not NOT_ABOUT_IT.match(line)).strip()
