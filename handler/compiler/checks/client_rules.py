"""Warnings of tools that some clients or models refuse, or that users are asked about at each call.

Source: Gemini API, ``Schema`` ("type: must be specified when not using one_of, any_of or all_of"); OpenAI, "Structured
Outputs" ("Supported schemas"): an array has items.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from handler.bundle.tools import CompanionTool, GraphQLTool, PrescribedTool
from handler.compiler.checks.finding import CompiledEndpoint, Finding, check
from handler.compiler.tools.declaration import CompiledTool
from handler.text.sentences import some

PORTABLE_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Names that every client and model vendor takes. MCP itself allows 128 characters, and dots."""


@check(
    "unportable-name",
    meaning="Some clients refuse the name of a tool.",
    remedy="Use 1 to 64 letters, digits, _ or -.",
)
def unportable_name(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find names and aliases of tools that some clients refuse."""
    for each in endpoint.tools:
        for name in (each.tool.name, *each.tool.options.aliases):
            if not PORTABLE_NAME.fullmatch(name):
                sentence = f'some clients refuse the name "{name}": expected 1 to 64 letters, digits, _ or -'
                yield Finding(each.at, sentence, (name,))


@check(
    "reads-and-writes",
    meaning="A tool can read and write, so clients ask their user before each call.",
    remedy="Make two tools of it.",
)
def reads_and_writes(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find tools with queries and mutations: clients ask their user before each call."""
    for each in endpoint.tools:
        if each.reads and each.writes:
            sentence = f'"{each.tool.name}" reads and writes, so clients ask before each call: expected two tools'
            yield Finding(each.at, sentence, (each.tool.name,))


SAYING_A_TYPE = ("type", "$ref", "anyOf", "oneOf", "allOf")


@check(
    "untyped-parameter",
    meaning="A parameter of a tool has no type, for which some models refuse all tools.",
    remedy="Add a type hint, or a schema that says one.",
)
def untyped_parameter(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find tools that take values without a type."""
    for each in endpoint.tools:
        schema = each.fullest_entry.get("inputSchema", {"type": "object"})
        definitions = ((f"/$defs/{name}", definition) for name, definition in schema.get("$defs", {}).items())
        untyped = [at for pointer, root in (("", schema), *definitions) for at in _untyped(root, pointer)]
        if untyped:
            sentence = (
                f'"{each.tool.name}" takes values without a type ({some(untyped)}), for which some models refuse all '
                "tools: expected a type hint or a schema that says one"
            )
            yield Finding(each.at, sentence, (each.tool.name,))


def _untyped(schema: Any, pointer: str) -> Iterator[str]:
    """Yield the parts of a schema without a type, as JSON pointers. ``[]`` stands for the items of an array."""
    if not isinstance(schema, dict) or not any(keyword in schema for keyword in SAYING_A_TYPE):
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


@check(
    "untitled-tool",
    meaning="A tool has no title, which some clients show.",
    remedy="Add a title.",
)
def untitled_tool(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find tools without a title."""
    untitled = [each for each in endpoint.tools if "title" not in each.fullest_entry]
    if endpoint.context.project.stepzen:  # StepZen's @tool has no title
        untitled = [each for each in untitled if not isinstance(each.tool, GraphQLTool | CompanionTool)]
        untitled = [each for each in untitled if not isinstance(each.tool, PrescribedTool) or each.tool.flat]
    yield from _lacking("title, which some clients and their directories ask for", untitled)


@check(
    "undescribed-tool",
    meaning="A tool has no description of its purpose.",
    remedy="Describe the operation.",
)
def undescribed_tool(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find tools without a description by the author or the API."""
    undescribed = [each for each in endpoint.tools if not each.described]
    yield from _lacking("description, so a model has to guess from the name: describe the operation", undescribed)


def _lacking(part: str, tools: Sequence[CompiledTool]) -> Iterator[Finding]:
    if tools:
        names = [each.tool.name for each in tools]
        quoted = some([f'"{name}"' for name in names])
        yield Finding(tools[0].at, f"{quoted} {'has' if len(tools) == 1 else 'have'} no {part}", tuple(names))
