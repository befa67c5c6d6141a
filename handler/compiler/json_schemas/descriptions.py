"""Texts that models read: description templates, and what stands where an author wrote nothing.

Source: IBM API Connect for GraphQL, "directive @tool", "Tool descriptions".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from graphql import (
    ArgumentNode,
    DocumentNode,
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
    TypeInfo,
    TypeInfoVisitor,
    ValueNode,
    VariableNode,
    Visitor,
    get_named_type,
    is_specified_scalar_type,
    type_from_ast,
    visit,
)

from handler.compiler.json_schemas.comments import comment_above
from handler.compiler.operations.operations import AuthorOperation

GRAPHQL_TOOL = (
    "This tool runs a GraphQL request. Write one that is valid for the schema shown at the `query` parameter, "
    "select only the fields you need, and give changing values as variables. Nothing outside that schema can be "
    "asked for."
)

OPERATION_NAME = "Which operation of `query` to run, when it holds more than one."
VARIABLES = "Values for the variables that the operation declares, by name."

MAX_ENUM_CHARS = 1_000
"""What an enum's values mean is left out above this: "AF: Afghanistan" for each country takes 6 KB of every tool."""

OF_GRAPHQL_TOOLS: Mapping[str, str] = {
    "graphql_tool": "its text tells the model to write one",
    "schema_sdl": "nothing is put there",
}
"""Template variables that only a tool with ``@tool(graphql:)`` has a use for, and what becomes of each elsewhere."""

_TEMPLATE_NAME = re.compile(r"\{(\w+)\}")


def expand(text: str, values: Mapping[str, str]) -> str:
    """Replace ``{name}`` for the names in ``values``; every other brace stays as it is."""
    return _TEMPLATE_NAME.sub(lambda match: values.get(match[1], match[0]), text)


def expand_or(text: str | None, values: Mapping[str, str], default: str) -> str:
    """What a template becomes, or the default where nothing can be read of it. The default is a template too."""
    expanded = expand(text or "", values)
    return expanded if expanded.strip() else expand(default, values)


def names_in(text: str) -> list[str]:
    """The names that stand in braces."""
    return _TEMPLATE_NAME.findall(text)


def operation_description(
    operation: AuthorOperation, schema: GraphQLSchema, *, given: str | None, values: Mapping[str, str]
) -> str:
    """The description of a tool that runs an operation; empty where no text says anything.

    ``given`` is the text of the directive, the strongest. Then come the operation's description, a comment above the
    operation, and what the schema says of the root fields. Authors' texts are templates of ``values``.
    """
    own = (expand(text or "", values) for text in (given, operation.description, comment_above(operation.node)))
    return strongest(*own, _root_descriptions(operation, schema))


def _root_descriptions(operation: AuthorOperation, schema: GraphQLSchema) -> str:
    """What the schema says of the fields that an operation starts with, by their names if there are several."""
    root = schema.get_root_type(operation.node.operation)
    fields = root.fields if root else {}
    asked = [name for name in dict.fromkeys(_root_names(operation.document)) if name in fields]
    texts = {name: (fields[name].description or "").strip() for name in asked}
    if len(texts) == 1:
        return next(iter(texts.values()))
    return "\n".join(f"- {name}: {text}" for name, text in texts.items() if text)


def _root_names(document: DocumentNode) -> Iterator[str]:
    """The fields that the operation of a valid document starts with, in its order, those in fragments among them."""
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    waiting: list[Node] = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    while waiting:
        match waiting.pop():
            case FieldNode() as field:
                yield field.name.value
            case FragmentSpreadNode() as spread:
                waiting.append(fragments[spread.name.value])
            case OperationDefinitionNode() | FragmentDefinitionNode() | InlineFragmentNode() as holder:
                waiting += reversed(holder.selection_set.selections)


def variable_descriptions(
    operation: AuthorOperation, schema: GraphQLSchema, *, given: Mapping[str, str], values: Mapping[str, str]
) -> dict[str, str]:
    """What is said of each variable, and of ``variables`` as a whole: the strongest text there is, or an empty one.

    ``given`` are the texts of ``@tool(descriptions:)``, the strongest. Then come ``@mcpToolArg``, the variable's
    description, what the schema says of the argument or input field that the variable feeds, what it says of the
    variable's type, and a comment above the variable. Authors' texts are templates of ``values``.
    """
    fed = _descriptions_of_fed_inputs(operation, schema)
    found = {"variables": strongest(expand(given.get("variables", ""), values))}
    for node in operation.node.variable_definitions or ():
        name = node.variable.name.value
        found[name] = strongest(
            expand(given.get(name, ""), values),
            expand(operation.descriptions.get(name, ""), values),
            fed.get(name),
            type_description(get_named_type(type_from_ast(schema, node.type))),
            expand(comment_above(node), values),
        )
    return found


def type_description(type_: GraphQLNamedType | None) -> str:
    """What the schema says of a type. The specification's own scalars need no words."""
    if type_ is None or is_specified_scalar_type(type_):
        return ""
    return (type_.description or "").strip()


def enum_description(values: Mapping[str, GraphQLEnumValue]) -> str:
    """What an enum's values mean, or nothing if that is too long."""
    text = enum_text(values)
    return text if len(text) <= MAX_ENUM_CHARS else ""


def enum_text(values: Mapping[str, GraphQLEnumValue]) -> str:
    """A line for each value of which the schema says something: JSON Schema has no place for it."""
    lines = []
    for name, value in values.items():
        old = f"(deprecated: {value.deprecation_reason})" if value.deprecation_reason is not None else ""
        said = " ".join(f"{value.description or ''} {old}".split())
        lines += [f"- {name}: {said}"] if said else []
    return "\n".join(lines)


def strongest(*texts: str | None) -> str:
    """The first text that says something; a blank one says nothing."""
    return next((text for text in texts if text and text.strip()), "")


def joined(*texts: str | None) -> str:
    """The texts that say something, below each other."""
    return "\n".join(text for text in texts if text and text.strip())


def _descriptions_of_fed_inputs(operation: AuthorOperation, schema: GraphQLSchema) -> dict[str, str]:
    types = TypeInfo(schema)
    reader = _FedInputs(types)
    visit(operation.document, TypeInfoVisitor(types, reader))
    return reader.found


class _FedInputs(Visitor):
    """Variable -> the description of the first described argument or input field that takes its value."""

    def __init__(self, types: TypeInfo) -> None:
        super().__init__()
        self._types = types
        self.found: dict[str, str] = {}

    def enter_argument(self, node: ArgumentNode, *_: object) -> None:
        argument = self._types.get_argument()
        if argument and self._types.get_directive() is None:  # @include says nothing of what its condition means
            self._keep(node.value, argument.description)

    def enter_object_field(self, node: ObjectFieldNode, *_: object) -> None:
        holder = get_named_type(self._types.get_parent_input_type())
        if isinstance(holder, GraphQLInputObjectType) and node.name.value in holder.fields:
            self._keep(node.value, holder.fields[node.name.value].description)

    def _keep(self, value: ValueNode, description: str | None) -> None:
        said = strongest(description).strip()
        for name in _variables_in(value) if said else ():
            self.found.setdefault(name, said)


def _variables_in(value: ValueNode) -> Iterator[str]:
    match value:
        case VariableNode():
            yield value.name.value
        case ListValueNode():
            for item in value.values:
                yield from _variables_in(item)
