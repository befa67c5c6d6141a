"""Warnings of descriptions that clients cut, and of tools that crowd out the conversation.

Source: clients in use. MCP does not limit either.
"""

from __future__ import annotations

from collections.abc import Iterator

from handler.answers.plan import Members
from handler.bundle.tools import PrescribedTool
from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check
from handler.compiler.json_schemas.planned_answer import plan_of
from handler.compiler.tools.declarations.listed_size import entries_of, size_of
from handler.list_entries import BYTES_PER_TOKEN

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


@check("missing-cursor")
def missing_cursor(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find tools whose answers cannot be shortened, because a connection has no cursor for its new end."""
    context, limit = endpoint.api.context, endpoint.context.config.limits.max_result_bytes
    for each in endpoint.tools:
        tool, own = each.tool, each.tool.options.max_result_bytes
        if context and isinstance(tool, PrescribedTool) and (limit if own is None else own):
            plan = plan_of(tool.operation.text, context.schema, settable=tool.operation.variables)
            for path in _without_cursors(plan, (), set(), continues=bool(tool.options.cursor)):
                sentence = f'"{tool.name}" cannot shorten {path}: it selects endCursor, and not the cursors of edges'
                yield Finding(each.at, sentence, (tool.name,))


def _without_cursors(members: Members, path: tuple[str, ...], seen: set[int], *, continues: bool) -> Iterator[str]:
    """Yield the paths of connections of which a part could not name its end."""
    plans = {key: each.below for key, each in members.fields.items() if each.below and id(each.below) not in seen}
    seen.update(map(id, plans.values()))
    ends = [(plans[key], name) for key in members.page_info if key in plans for name in plans[key].info]
    ends = [(info, name) for info, name in ends if info.info[name].endswith("Cursor")]
    if members.offers_cursors and not any(plans[key].cursors for key in members.rows if key in plans):
        yield from (".".join(path) for info, name in ends[:1] if not (continues and name in info.nullable))
    for key, plan in plans.items():
        yield from _without_cursors(plan, (*path, key), seen, continues=continues)
