"""The GraphQL tools that an endpoint declares, and checks of all its tools together."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphql import DirectiveNode, OperationDefinitionNode

from handler.compiler.api_context import ApiContext
from handler.compiler.json_schemas.descriptions import names_in
from handler.compiler.operations.author_operations import Operations
from handler.compiler.problems import At, Problems, shown, where
from handler.compiler.schema.directives import ToolDirective, value_of_argument
from handler.compiler.tools.declaration import CompiledTool, entries_of
from handler.compiler.tools.graphql import graphql_tool
from handler.compiler.tools.prescribed import mcp_tool, prescribed_tool
from handler.list_entries import is_listable
from handler.strict_json import Entry

TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
"""Source: MCP 2026-07-28, server/tools, "Tool Names"; SEP-986."""

PATH_SEGMENTS = (".", "..")
"""Path segments with a meaning in URLs: a tool's GraphQL route contains its name."""

NAME_VARIABLES = ("endpoint_folder", "endpoint_name")


def make_tools(
    context: ApiContext, directives: Sequence[ToolDirective], *, operations: Operations
) -> list[CompiledTool]:
    """Compile every GraphQL tool of an endpoint: ``@tool`` as written, then ``@mcpTool``."""
    made: list[CompiledTool] = []
    for directive in directives:
        tool = _directive_tool(context, directive, operations=operations)
        made += [tool] if tool else []
    for operation in operations.valid:
        if operation.tool:
            _refuse_variables(operation.tool.name or "", name_node(operation.node), problems=context.problems)
            made.append(mcp_tool(context, operation, declared=operation.tool))
    return made


def _directive_tool(context: ApiContext, directive: ToolDirective, *, operations: Operations) -> CompiledTool | None:
    problems = context.problems
    _refuse_variables(directive.name, name_node(directive.node), problems=problems)
    match directive:
        case ToolDirective(graphql=None, prescribed=str()):
            return prescribed_tool(context, directive, operations=operations)
        case ToolDirective(graphql=tuple(), prescribed=None):
            return graphql_tool(context, directive)
        case ToolDirective(graphql=tuple()):
            problems.add(
                directive.node,
                f'@tool "{directive.name}" has both graphql and prescribed: expected one',
                code="unclear-tool",
            )
        case _:
            problems.add(
                directive.node, f'@tool "{directive.name}" has neither graphql nor prescribed', code="unclear-tool"
            )
    return None


def _refuse_variables(name: str, at: At, *, problems: Problems) -> None:
    for unknown in [each for each in names_in(name) if each not in NAME_VARIABLES]:
        sentence = f'"{{{unknown}}}" is not allowed in a tool name: expected {{endpoint_folder}} or {{endpoint_name}}'
        problems.add(at, sentence, code="invalid-tool-name")


def judge_tools(made: Sequence[CompiledTool], problems: Problems) -> None:
    """Check tools of all kinds together: unique names and aliases, and entries that fit a response."""
    _refuse_names(made, problems)
    for each in made:
        if not all(is_listable(Entry(entry).brief.json) for entry in entries_of(each)):
            sentence = "cannot be listed, as its inputs exceed the size of a response: expected fewer or shorter inputs"
            problems.add(each.at, f'"{each.tool.name}" {sentence}', code="unlistable-tool")


def name_node(at: At) -> At:
    """Return the place of a tool's name, for the place of its declaration."""
    match at:
        case DirectiveNode():
            return value_of_argument(at, "name")
        case OperationDefinitionNode():
            directives = [each for each in at.directives or () if each.name.value == "mcpTool"]
            named = value_of_argument(directives[0], "name") if directives else at
            return (at.name or at) if named in (at, *directives) else named
        case _:
            return at


def _refuse_names(made: Sequence[CompiledTool], problems: Problems) -> None:
    """Report invalid and duplicate names and aliases; warn of names that differ only by case."""
    first: dict[str, str] = {}
    folded: dict[str, str] = {}
    for each in made:
        for name in (each.tool.name, *each.tool.options.aliases):
            is_told = name == each.tool.name and bool(names_in(name))  # by _refuse_variables
            if not is_told and (not TOOL_NAME.fullmatch(name) or name in PATH_SEGMENTS):
                problems.add(
                    name_node(each.at),
                    f'"{name}" is not a tool name: expected 1 to 128 letters, digits, _, - or .',
                    code="invalid-tool-name",
                )
            if name in first:
                sentence = f'a tool named "{name}" is also defined at {first[name]}: rename one of them'
                problems.add(name_node(each.at), sentence, code="duplicate-tool")
            first.setdefault(name, shown(where(name_node(each.at))))
            alike = folded.setdefault(name.casefold(), name)
            if alike != name:
                sentence = (
                    f'"{name}" and "{alike}" ({first[alike]}) differ by case only: people and some clients mix them up'
                )
                problems.warn(each.at, sentence, code="name-differs-by-case", about=[name, alike])
