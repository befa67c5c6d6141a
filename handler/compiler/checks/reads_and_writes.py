"""A warning of tools that both read and write."""

from __future__ import annotations

from collections.abc import Iterator

from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check


@check("reads-and-writes")
def reads_and_writes(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find tools with queries and mutations: clients ask their user before each call."""
    for each in endpoint.tools:
        if each.reads and each.writes:
            sentence = f'"{each.tool.name}" reads and writes, so clients ask before each call: expected two tools'
            yield Finding(each.at, sentence, (each.tool.name,))
