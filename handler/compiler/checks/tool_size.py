"""Warnings of descriptions that clients cut, and of tools that crowd out the conversation.

Source: clients in use. MCP does not limit either.
"""

from __future__ import annotations

from collections.abc import Iterator

from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check
from handler.compiler.tools.declarations.listed_size import entries_of, size_of
from handler.list_entries.listed_sizes import BYTES_PER_TOKEN

MAX_DESCRIPTION_BYTES = 2_048
"""Widely used clients silently cut a tool's description here."""

MAX_ENTRY_BYTES = 16_384
"""About 4,000 tokens. A client sends the list with each of its model's turns, so ten tools of this size take a fifth of
a context of 200,000 tokens before the first question."""


@check("long-description")
def long_description(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find descriptions that clients cut."""
    for each in endpoint.tools:
        texts = [entry.get("description", "") for entry in entries_of(each)]
        described = max((len(text.encode(errors="replace")) for text in texts), default=0)
        if described > MAX_DESCRIPTION_BYTES:
            what = f"a description of {described} bytes: clients cut it after {MAX_DESCRIPTION_BYTES}"
            yield Finding(each.at, f'"{each.tool.name}" has {what}', (each.tool.name,))


@check("large-tool")
def large_tool(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find entries of the tool list that take a good part of a model's context."""
    for each in endpoint.tools:
        whole = size_of(each)
        if whole > MAX_ENTRY_BYTES:
            sentence = (
                f'"{each.tool.name}" takes {whole} bytes of the list of tools, about {whole // BYTES_PER_TOKEN} tokens '
                f"in every conversation: more than {MAX_ENTRY_BYTES} bytes"
            )
            yield Finding(each.at, sentence, (each.tool.name,))
