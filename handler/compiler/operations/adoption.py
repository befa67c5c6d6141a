"""Operations that become tools without ``@mcpTool``, by ``tools`` in ``config.yaml``.

Source: Apollo MCP Server, "Define tools", and Cosmo router, "MCP": every named operation is a tool.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from graphql import DocumentNode, OperationDefinitionNode, OperationType

from handler.compiler.operations.author_operations import McpTool
from handler.compiler.operations.used_coordinates import asked_of_the_schema
from handler.compiler.problems import Problems
from handler.compiler.schema.tool_options import NO_OPTIONS

ADOPTED = McpTool(name=None, description=None, options=NO_OPTIONS)
"""The tool of an operation without ``@mcpTool``: its name and description are the operation's."""

REMEDY = "expected @mcpTool on it, or tools: {operations: queries_and_mutations}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """The choice of operations that become tools. Without ``kinds``, none do."""

    kinds: Collection[str]  # query | mutation
    prescribed: Collection[str]  # names of the operations that a ``@tool(prescribed:)`` runs
    problems: Problems

    def tool_of(self, node: OperationDefinitionNode, document: DocumentNode) -> McpTool | None:
        """Return the tool of a named query or mutation without ``@mcpTool``; ``None`` if it does not become one."""
        taken = node.name is None or node.name.value in self.prescribed
        if not self.kinds or taken or node.operation is OperationType.SUBSCRIPTION:
            return None
        reason = self._reason_against(node, document)
        if reason:
            self.leaves_out(node, f'"{node.name.value if node.name else ""}" {reason}')
        return None if reason else ADOPTED

    def leaves_out(self, node: OperationDefinitionNode, sentence: str) -> bool:
        """Warn that an operation is not a tool. False, without a warning, if it had to become one by ``@mcpTool``."""
        if not self.kinds or has_mcp_tool(node):
            return False
        about = [node.name.value] if node.name else []
        self.problems.warn(node, sentence, code="left-out-operation", about=about)
        return True

    def _reason_against(self, node: OperationDefinitionNode, document: DocumentNode) -> str:
        if node.operation.value not in self.kinds:
            return f"is a {node.operation.value}, so it is not a tool: {REMEDY}"
        asked = asked_of_the_schema(document)
        return f"asks the API for {asked}, so it is not a tool" if asked else ""


def has_mcp_tool(node: OperationDefinitionNode) -> bool:
    """Tell if an operation has ``@mcpTool``."""
    return any(directive.name.value == "mcpTool" for directive in node.directives or ())
