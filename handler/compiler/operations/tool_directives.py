"""Stile's directives on operations: ``@mcpTool``, and ``@mcpToolArg`` on variables."""

from __future__ import annotations

from graphql import OperationDefinitionNode, VariableDefinitionNode

from handler.compiler.operations.author_operations import McpTool
from handler.compiler.problems import Problems
from handler.compiler.schema.directives import ON_OPERATIONS, read_arguments
from handler.compiler.schema.tool_options import read_options

TOOL_ARGUMENT = "mcpToolArg"


def read_mcp_tool(node: OperationDefinitionNode, problems: Problems) -> McpTool | None:
    """Read ``@mcpTool`` of an operation; ``None`` without one, or after reporting that it is invalid."""
    directives = [directive for directive in node.directives or () if directive.name.value == "mcpTool"]
    for extra in directives[1:]:
        problems.add(extra, "@mcpTool may appear only once on an operation", code="repeated-directive")
    values = read_arguments(directives[0], problems) if directives else None
    if values is None:
        return None
    options = read_options(directives[0], values, problems)
    return McpTool(name=values.get("name"), description=values.get("description"), options=options)


def variable_description(variable: VariableDefinitionNode, problems: Problems) -> str:
    """Return ``@mcpToolArg``'s description of a variable, else the variable's own; empty string if both are blank.

    Source: Cosmo, ``@mcpToolArg``: "Directive location is VARIABLE_DEFINITION"; it is not repeatable.
    """
    directives = [directive for directive in variable.directives or () if directive.name.value == TOOL_ARGUMENT]
    for extra in directives[1:]:
        problems.add(extra, f"@{TOOL_ARGUMENT} may appear only once on a variable", code="repeated-directive")
    values = read_arguments(directives[0], problems) if directives else None
    texts = [values["description"] if values else "", variable.description.value if variable.description else ""]
    return next((text for text in texts if text.strip()), "")


def refuse_misplaced(node: OperationDefinitionNode, problems: Problems) -> None:
    """Report misplaced directives of Stile. Validation reports those on fields and fragments."""
    for directive in node.directives or ():
        name = directive.name.value
        if name in ON_OPERATIONS and name != "mcpTool":
            expected = f"it on a variable, as in $id: ID! @{name}(...)"
            problems.add(
                directive,
                f"@{name} is on a {node.operation.value}: expected {expected}",
                code="misplaced-directive",
            )
    for variable in node.variable_definitions or ():
        for directive in variable.directives or ():
            if directive.name.value == "mcpTool":
                problems.add(
                    directive,
                    "@mcpTool is on a variable: expected it on a query or mutation",
                    code="misplaced-directive",
                )
