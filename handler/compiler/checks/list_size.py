"""Warnings of tool lists that clients cut, or that fill a model's context."""

from __future__ import annotations

from collections.abc import Iterator

from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check
from handler.compiler.tools.listed_size import BYTES_PER_TOKEN, size_of

MAX_LISTED = 128
"""The limit of OpenAI's API and of clients built on VS Code for one request. Cursor shows its model the first 40."""

MAX_LIST_TOKENS = 25_000
"""An eighth of a context of 200,000 tokens. A client sends the list with each of its model's turns."""

WAYS_OUT = "expected fewer; hide some with hidden: true and add a catalog, or make several endpoints"


@check("too-many-tools")
def too_many_tools(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find a list with more tools than clients take."""
    count = sum(not each.tool.options.hidden for each in endpoint.tools)
    if count > MAX_LISTED:
        sentence = f"{count} tools are listed, and many clients take {MAX_LISTED} at most: {WAYS_OUT}"
        yield Finding(endpoint.context.entry, sentence, ())


@check("long-tool-list")
def long_tool_list(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find a list that takes a good part of a model's context."""
    tokens = sum(size_of(each.tool) for each in endpoint.tools if not each.tool.options.hidden) // BYTES_PER_TOKEN
    if tokens > MAX_LIST_TOKENS:
        what = f"about {tokens} tokens in every conversation, more than {MAX_LIST_TOKENS}"
        yield Finding(endpoint.context.entry, f"the tools take {what}: {WAYS_OUT}", ())
