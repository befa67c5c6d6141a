"""Warnings of tool lists that clients cut, or that fill a model's context."""

from __future__ import annotations

from collections.abc import Iterator

from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check
from handler.compiler.tools.declarations.listed_size import size_of
from handler.list_entries import BYTES_PER_TOKEN

MAX_LISTED = 40
"""Cursor shows its model the first 40 tools. OpenAI's API and clients built on VS Code take 128 in one request."""

MAX_LIST_TOKENS = 25_000
"""An eighth of a context of 200,000 tokens. A client sends the list with each of its model's turns."""

WAYS_OUT = "expected fewer, or catalog: true in config.yaml, or several endpoints"


@check("too-many-tools")
def too_many_tools(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find a list with more tools than clients take."""
    count = sum(not each.tool.options.hidden for each in endpoint.tools)
    if count > MAX_LISTED and not _is_shortened(endpoint):
        sentence = f"{count} tools are listed, and some clients take {MAX_LISTED} at most: {WAYS_OUT}"
        yield Finding(endpoint.context.entry, sentence, ())


@check("long-tool-list")
def long_tool_list(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find a list that takes a good part of a model's context."""
    tokens = sum(size_of(each) for each in endpoint.tools if not each.tool.options.hidden) // BYTES_PER_TOKEN
    if tokens > MAX_LIST_TOKENS and not _is_shortened(endpoint):
        what = f"about {tokens} tokens in every conversation, more than {MAX_LIST_TOKENS}"
        yield Finding(endpoint.context.entry, f"the tools take {what}: {WAYS_OUT}", ())


def _is_shortened(endpoint: CompiledEndpoint) -> bool:
    """Tell if a catalog keeps long lists short."""
    catalog = endpoint.context.config.catalog
    return catalog is not None and catalog.unlisted != "never"
