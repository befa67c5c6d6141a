"""Warnings of tools without a title or a description."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from handler.bundle.tools import CompanionTool, GraphQLTool, PrescribedTool, Tool
from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check
from handler.compiler.tools.declarations.declaration import CompiledTool
from handler.compiler.tools.declarations.listed_size import fullest_entry
from handler.text.sentences import some


@check("untitled-tool")
def untitled_tool(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find tools without a title."""
    tools = [each for each in endpoint.tools if "title" not in fullest_entry(each)]
    # StepZen's @tool has no title.
    untitled = [each for each in tools if not (endpoint.context.project.stepzen and _is_stepzens(each.tool))]
    yield from _lacking("title, which some clients and their directories ask for", untitled)


@check("undescribed-tool")
def undescribed_tool(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find tools without a description by the author or the API."""
    undescribed = [each for each in endpoint.tools if not each.described]
    yield from _lacking("description, so a model has to guess from the name: describe the operation", undescribed)


def _is_stepzens(tool: Tool) -> bool:
    return isinstance(tool, GraphQLTool | CompanionTool) or (isinstance(tool, PrescribedTool) and not tool.flat)


def _lacking(what: str, tools: Sequence[CompiledTool]) -> Iterator[Finding]:
    if tools:
        names = [each.tool.name for each in tools]
        quoted = some([f'"{name}"' for name in names])
        yield Finding(tools[0].at, f"{quoted} {'has' if len(tools) == 1 else 'have'} no {what}", tuple(names))
