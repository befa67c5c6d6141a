"""Warnings of tools and lists that clients cut or refuse, that fill a model's context, or that ask users often.

Source: clients in use, as MCP does not limit sizes; Gemini API, ``Schema`` ("type: must be specified when not using
one_of, any_of or all_of"); OpenAI, "Structured Outputs" ("Supported schemas"): an array has items.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from handler.answers.plan import Members
from handler.bundle.short_list import short_list
from handler.bundle.tools import CodeTool, CompanionTool, GraphQLTool, PrescribedTool
from handler.compiler.checks.finding import CompiledEndpoint, Finding, check
from handler.compiler.tools.declaration import CompiledTool
from handler.graph.documents.answer_plan import plan_of_text
from handler.list_entries import BYTES_PER_TOKEN, LIST_BUDGET
from handler.strict_json import Entries, Entry
from handler.text.sentences import some

MAX_DESCRIPTION_BYTES = 2_048
"""Widely used clients silently cut a tool's description here."""

MAX_ENTRY_BYTES = 16_384
"""About 4,000 tokens. A client sends the list with each of its model's turns, so ten tools of this size take a fifth of
a context of 200,000 tokens before the first question."""

MAX_LISTED = 40
"""Cursor shows its model the first 40 tools. OpenAI's API and clients built on VS Code take 128 in one request."""

WAYS_OUT = "expected fewer, or catalog: true in config.yaml, or several endpoints"

PORTABLE_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Names that every client and model vendor takes. MCP itself allows 128 characters, and dots."""


@check("long-description", remedy="Shorten it.")
def long_description(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """A description is longer than clients show to a model."""
    for each in endpoint.tools:
        texts = [entry.get("description", "") for entry in each.entries]
        size = max((len(text.encode(errors="replace")) for text in texts), default=0)
        if size > MAX_DESCRIPTION_BYTES:
            fault = f"a description of {size} bytes: clients cut it after {MAX_DESCRIPTION_BYTES}"
            yield Finding(each.at, f'"{each.tool.name}" has {fault}', (each.tool.name,))


@check("large-tool", remedy="Shorten descriptions, or take fewer inputs.")
def large_tool(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """A tool's entry takes a good part of a model's context."""
    for each in endpoint.tools:
        size = each.listed_bytes
        if size > MAX_ENTRY_BYTES:
            sentence = (
                f'"{each.tool.name}" takes {size} bytes of the list of tools, about {size // BYTES_PER_TOKEN} tokens '
                f"in every conversation: more than {MAX_ENTRY_BYTES} bytes"
            )
            yield Finding(each.at, sentence, (each.tool.name,))


@check("missing-cursor", remedy="Select edges { cursor }, or set `limits: {continue: true}`.")
def missing_cursor(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """A connection is selected with endCursor and without the cursors of its edges, so it cannot be shortened."""
    context, limit = endpoint.api.context, endpoint.context.config.limits.max_result_bytes
    for each in endpoint.tools:
        tool, own = each.tool, each.tool.options.max_result_bytes
        if context and isinstance(tool, PrescribedTool) and (limit if own is None else own):
            if "Cursor" not in tool.operation.text:  # it selects none
                continue
            plan = plan_of_text(tool.operation.text, context.whole_view, settable=tool.operation.variables)
            for path in _without_cursors(plan, (), set(), continues=bool(tool.options.cursor)):
                sentence = f'"{tool.name}" cannot shorten {path}: it selects endCursor, and not the cursors of edges'
                yield Finding(each.at, sentence, (tool.name,))


def _without_cursors(members: Members, path: tuple[str, ...], visited: set[int], *, continues: bool) -> Iterator[str]:
    """Yield the paths of connections of which a part could not name its end."""
    plans = {key: each.below for key, each in members.fields.items() if each.below and id(each.below) not in visited}
    visited.update(map(id, plans.values()))
    ends = [(plans[key], name) for key in members.page_info if key in plans for name in plans[key].info]
    ends = [(info, name) for info, name in ends if info.info[name].endswith("Cursor")]
    if members.offers_cursors and not any(plans[key].cursors for key in members.rows if key in plans):
        yield from (".".join(path) for info, name in ends[:1] if not (continues and name in info.nullable))
    for key, plan in plans.items():
        yield from _without_cursors(plan, (*path, key), visited, continues=continues)


@check("too-many-tools", remedy="Set `catalog: true` in config.yaml, or make several endpoints.")
def too_many_tools(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """More tools are listed than many clients take."""
    count = sum(not each.tool.options.hidden for each in endpoint.tools)
    if count > MAX_LISTED and not _is_shortened(endpoint):
        sentence = f"{count} tools are listed, and some clients take {MAX_LISTED} at most: {WAYS_OUT}"
        yield Finding(endpoint.context.entry, sentence, ())


@check("long-tool-list", remedy="Set `catalog: true` in config.yaml, or make several endpoints.")
def long_tool_list(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """The names and arguments of all tools are above the budget of a list."""
    entries = [Entry.of(each.fullest_entry) for each in endpoint.tools if not each.tool.options.hidden]
    budget = endpoint.context.config.list_budget or LIST_BUDGET
    listed = short_list(list(filter(None, entries)), budget * BYTES_PER_TOKEN)
    tokens = len(Entries(listed).json) // BYTES_PER_TOKEN
    if tokens > budget and not _is_shortened(endpoint):
        size = f"about {tokens} tokens in every conversation, more than {budget}"
        yield Finding(endpoint.context.entry, f"names and arguments of the tools take {size}: {WAYS_OUT}", ())


def _is_shortened(endpoint: CompiledEndpoint) -> bool:
    """Return whether a catalog keeps long lists short."""
    catalog = endpoint.context.config.catalog
    return catalog is not None and catalog.unlisted != "never"


@check("unportable-name", remedy="Use 1 to 64 letters, digits, _ or -.")
def unportable_name(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Some clients refuse the name of a tool."""
    for each in endpoint.tools:
        for name in (each.tool.name, *each.tool.options.aliases):
            if not PORTABLE_NAME.fullmatch(name):
                sentence = f'some clients refuse the name "{name}": expected 1 to 64 letters, digits, _ or -'
                yield Finding(each.at, sentence, (name,))


@check("reads-and-writes", remedy="Make two tools of it.")
def reads_and_writes(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """A tool can read and write, so clients ask their user before each call."""
    for each in endpoint.tools:
        if each.reads and each.writes:
            sentence = f'"{each.tool.name}" reads and writes, so clients ask before each call: expected two tools'
            yield Finding(each.at, sentence, (each.tool.name,))


@check("untyped-parameter", remedy="Add a type hint, or a schema that says one.")
def untyped_parameter(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """A parameter of a tool has no type, for which some models refuse all tools."""
    for each in endpoint.tools:
        schema = each.fullest_entry.get("inputSchema", {"type": "object"})
        definitions = ((f"/$defs/{name}", definition) for name, definition in schema.get("$defs", {}).items())
        untyped = [at for pointer, root in (("", schema), *definitions) for at in _untyped(root, pointer)]
        if untyped:
            sentence = (
                f'"{each.tool.name}" takes values without a type ({some(untyped)}), for which some models refuse all '
                "tools: expected a type hint or a schema that says one"
            )
            if "/ctx" in untyped and isinstance(each.tool, CodeTool):
                sentence += "; ctx: Context takes the context"
            yield Finding(each.at, sentence, (each.tool.name,))


def _untyped(schema: Any, pointer: str) -> Iterator[str]:
    """Yield the parts of a schema without a type, as JSON pointers. ``[]`` stands for the items of an array."""
    if not isinstance(schema, dict) or not any(
        keyword in schema for keyword in ("type", "$ref", "anyOf", "oneOf", "allOf")
    ):
        yield pointer
        return
    for name, each in schema.get("properties", {}).items():
        yield from _untyped(each, f"{pointer}/{name}")
    if schema.get("type") == "array":
        yield from _untyped(schema.get("items"), f"{pointer}[]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from _untyped(schema["additionalProperties"], f"{pointer}/*")
    for keyword in ("anyOf", "oneOf", "allOf"):
        for each in schema.get(keyword, ()):
            yield from _untyped(each, pointer)


@check("untitled-tool", remedy="Add a title.")
def untitled_tool(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """A tool has no title, which some clients show."""
    untitled = [each for each in endpoint.tools if "title" not in each.fullest_entry]
    if endpoint.context.project.stepzen:  # StepZen's @tool has no title
        untitled = [each for each in untitled if not isinstance(each.tool, GraphQLTool | CompanionTool)]
        untitled = [each for each in untitled if not isinstance(each.tool, PrescribedTool) or each.tool.flat]
    yield from _lacking("title, which some clients and their directories ask for", untitled)


@check("undescribed-tool", remedy="Describe the operation.")
def undescribed_tool(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """A tool has no description of its purpose."""
    undescribed = [each for each in endpoint.tools if not each.described]
    yield from _lacking("description, so a model has to guess from the name: describe the operation", undescribed)


def _lacking(part: str, tools: Sequence[CompiledTool]) -> Iterator[Finding]:
    if tools:
        names = [each.tool.name for each in tools]
        quoted = some([f'"{name}"' for name in names])
        yield Finding(tools[0].at, f"{quoted} {'has' if len(tools) == 1 else 'have'} no {part}", tuple(names))
