"""Warnings of toolkits in Python without a condition."""

from __future__ import annotations

from collections.abc import Iterator

from handler.bundle.tools import CodeTool
from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check
from handler.compiler.config.config import KitUse

EXPECTED = 'expected {{use: "{use}", condition: "…"}}, where true is for every admitted caller'


@check("closed-toolkit")
def closed_toolkit(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find toolkits that only API keys without claims may use."""
    for kit in _unsaid(endpoint) if not endpoint.grounds.policies else ():
        sentence = f"there are no access.policies, so only keys without claims may use {kit.use}"
        yield Finding(kit.at, f"{sentence}: {EXPECTED.format(use=kit.use)}", (kit.use,))


@check("open-toolkit")
def open_toolkit(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find toolkits with a tool that is open to anonymous callers because the condition is missing."""
    grounds = endpoint.grounds
    if not grounds.policies or not grounds.anonymous or grounds.by_policies_alone:
        return
    for kit in _unsaid(endpoint):
        tools = [each.tool for each in endpoint.code.tools if isinstance(each.tool, CodeTool)]
        unscoped = [tool.name for tool in tools if tool.kit == kit.use and not tool.options.scopes and not tool.mask]
        if unscoped:
            sentence = f"{kit.use} has no condition, so callers without a credential may call {unscoped[0]}"
            yield Finding(kit.at, f"{sentence}: {EXPECTED.format(use=kit.use)}", (kit.use,))


def _unsaid(endpoint: CompiledEndpoint) -> Iterator[KitUse]:
    yield from (kit for kit in endpoint.context.config.code.kits if "condition" not in kit.section)
