"""A warning of ``@mcpToolArg`` descriptions that models do not read."""

from __future__ import annotations

from collections.abc import Iterator

from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check
from handler.compiler.operations.tool_directives import TOOL_ARGUMENT


@check("unread-description")
def unread_description(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find ``@mcpToolArg`` on operations that are not tools, and on bound variables."""
    prescribed = {directive.prescribed for directive in endpoint.api.directives}
    for operation in endpoint.api.operations:
        is_tool = operation.tool is not None or operation.name in prescribed
        unsaid = f'"{operation.name}" is not a tool: expected @mcpTool on the {operation.kind}'
        for variable in operation.bound if is_tool else operation.node.variable_definitions or ():
            name = variable.variable.name.value
            why = f"@mcpBind fills ${name}" if is_tool else unsaid
            for directive in variable.directives or ():
                if directive.name.value == TOOL_ARGUMENT:
                    sentence = f"no model reads this description, as {why}"
                    yield Finding(directive, sentence, (operation.name,))
