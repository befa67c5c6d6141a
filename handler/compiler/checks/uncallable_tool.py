"""A warning of tools that nobody can call."""

from __future__ import annotations

from collections.abc import Iterator

from handler.bundle.tools import PrescribedTool
from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check
from handler.policy.evaluation import HIDDEN


@check("uncallable-tool")
def uncallable_tool(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find tools whose operation uses something that is hidden from everybody."""
    for each in endpoint.api.tools:
        if each.operation and isinstance(each.tool, PrescribedTool) and not HIDDEN.isdisjoint(each.tool.mask):
            sentence = f'nobody can call "{each.operation.name}": it uses a part of the schema that is always hidden'
            yield Finding(each.operation.node, sentence, (each.operation.name,))
