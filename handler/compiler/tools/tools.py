"""The GraphQL tools that an endpoint declares, and checks of all its tools together."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphql import DirectiveNode, OperationDefinitionNode

from handler.bundle.short_list import OUTPUT
from handler.compiler.api_context import ApiContext
from handler.compiler.json_schemas.descriptions import template_names
from handler.compiler.operations.author_operations import Operations
from handler.compiler.operations.read import ADOPTED
from handler.compiler.problems import At, Problems, place_text, where
from handler.compiler.schema.directives import ToolDirective
from handler.compiler.tools.declaration import CompiledTool, argument_place
from handler.compiler.tools.graphql import graphql_tool
from handler.compiler.tools.prescribed import mcp_tool, prescribed_tool
from handler.list_entries import is_listable
from handler.strict_json import Entry

TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
"""Source: MCP 2026-07-28, server/tools, "Tool Names"; SEP-986."""

PATH_SEGMENTS = (".", "..")
"""Path segments with a meaning in URLs: a tool's GraphQL route contains its name."""


def make_tools(
    context: ApiContext, directives: Sequence[ToolDirective], *, operations: Operations
) -> list[CompiledTool]:
    """Compile every GraphQL tool of an endpoint: ``@tool`` as written, then ``@mcpTool``."""
    problems = context.problems
    tools: list[CompiledTool | None] = []
    for directive in directives:
        _refuse_variables(directive.name, name_node(directive.node), context)
        if directive.graphql is None and directive.prescribed is not None:
            tools.append(prescribed_tool(context, directive, operations=operations))
        elif directive.graphql is not None and directive.prescribed is None:
            tools.append(graphql_tool(context, directive))
        else:
            has_both = "both graphql and prescribed: expected one"
            fault = has_both if directive.prescribed is not None else "neither graphql nor prescribed"
            problems.add(directive.node, f'@tool "{directive.name}" has {fault}', code="unclear-tool")
    of_jobs = operations.of_jobs
    for operation in operations.valid:
        is_left_out = operation.tool is ADOPTED and operation.name in of_jobs
        if operation.tool and not is_left_out:
            _refuse_variables(operation.tool.name or "", name_node(operation.node), context)
            tools.append(mcp_tool(context, operation, declared=operation.tool))
    return [tool for tool in tools if tool]


def _refuse_variables(name: str, at: At, context: ApiContext) -> None:
    for unknown in [each for each in template_names(name) if each not in context.name_variables]:
        sentence = f'"{{{unknown}}}" is not allowed in a tool name: expected {{endpoint_folder}} or {{endpoint_name}}'
        context.problems.add(at, sentence, code="invalid-tool-name")


def judge_tools(tools: Sequence[CompiledTool], problems: Problems) -> None:
    """Check tools of all kinds together: valid and unique names and aliases, and entries that fit a response.

    Warn of names that differ only by case.
    """
    first: dict[str, str] = {}
    folded: dict[str, str] = {}
    for each in tools:
        at = name_node(each.at)
        for name in (each.tool.name, *each.tool.options.aliases):
            is_reported = name == each.tool.name and bool(template_names(name))  # by _refuse_variables
            if not is_reported and (not TOOL_NAME.fullmatch(name) or name in PATH_SEGMENTS):
                sentence = f'"{name}" is not a tool name: expected 1 to 128 letters, digits, _, - or .'
                problems.add(at, sentence, code="invalid-tool-name")
            if name in first:
                sentence = f'a tool named "{name}" is also defined at {first[name]}: rename one of them'
                problems.add(at, sentence, code="duplicate-tool")
            first.setdefault(name, place_text(where(at)))
            alike = folded.setdefault(name.casefold(), name)
            if alike != name:
                sentence = (
                    f'"{name}" and "{alike}" ({first[alike]}) differ by case only: people and some clients mix them up'
                )
                problems.warn(each.at, sentence, code="name-differs-by-case", about=[name, alike])
        inputs = [Entry(entry).only(frozenset(entry) - {OUTPUT}) for entry in each.entries]
        if not all(is_listable(entry.json) for entry in inputs):
            sentence = "cannot be listed, as its inputs exceed the size of a response: expected fewer or shorter inputs"
            problems.add(each.at, f'"{each.tool.name}" {sentence}', code="unlistable-tool")


def name_node(at: At) -> At:
    """Return the place of a tool's name, for the place of its declaration."""
    place = argument_place(at, "name")
    is_without_name = place is at or isinstance(place, DirectiveNode)
    return at.name or at if isinstance(at, OperationDefinitionNode) and is_without_name else place
