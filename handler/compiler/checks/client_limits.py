"""What makes clients and model vendors leave a tool out, or refuse the whole list: warnings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from handler.bundle.model import GraphQLTool, JSONObject, Tool
from handler.compiler.checks.parameter_types import untyped_in
from handler.compiler.checks.sizes import BYTES_PER_TOKEN, size_of
from handler.compiler.problems import NOWHERE, Problems, some
from handler.compiler.tools.declaration import CompiledTool

PORTABLE_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What every client and model vendor takes; MCP itself allows 128 characters, and dots."""

MAX_LISTED = 128
"""What OpenAI's API and clients built on VS Code take in one request; Cursor shows its model the first 40."""

MAX_LIST_TOKENS = 25_000
"""An eighth of a context of 200,000 tokens, which a client sends along with each of its model's turns."""

WAYS_OUT = "expected fewer: hidden: true for some with a catalog to find them, or several endpoints"


def doubt_for_clients(made: Sequence[CompiledTool], problems: Problems) -> None:
    """Warn of names and schemas that not every client takes, of missing titles and descriptions, and of a long list."""
    _doubt_list([each.tool for each in made if not each.tool.options.hidden], problems)
    for each in made:
        for name in (each.tool.name, *each.tool.options.aliases):
            if not PORTABLE_NAME.fullmatch(name):
                problems.warn(
                    each.at, f'some clients refuse the name "{name}": expected 1 to 64 letters, digits, _ or -'
                )
        if each.reads and each.writes:
            problems.warn(
                each.at, f'"{each.tool.name}" reads and writes, so clients ask before each call: expected two tools'
            )
        untyped = untyped_in(_entry(each.tool).get("inputSchema", {"type": "object"}))
        if untyped:
            problems.warn(
                each.at,
                f'"{each.tool.name}" takes values without a type ({some(untyped)}), for which some models refuse all '
                "tools: expected a type hint or a schema that says one",
            )
    untitled = [each for each in made if "title" not in _entry(each.tool)]
    _doubt_lack("title, which some clients and their directories ask for", untitled, problems)
    undescribed = [each for each in made if not each.described]
    _doubt_lack("description, so a model has to guess from the name: describe the operation", undescribed, problems)


def _doubt_lack(of: str, tools: Sequence[CompiledTool], problems: Problems) -> None:
    if tools:
        names = some([f'"{each.tool.name}"' for each in tools])
        problems.warn(tools[0].at, f"{names} {'has' if len(tools) == 1 else 'have'} no {of}")


def _doubt_list(listed: Sequence[Tool], problems: Problems) -> None:
    if len(listed) > MAX_LISTED:
        problems.warn(NOWHERE, f"{len(listed)} tools are listed, of which many clients take {MAX_LISTED}: {WAYS_OUT}")
    tokens = sum(map(size_of, listed)) // BYTES_PER_TOKEN
    if tokens > MAX_LIST_TOKENS:
        problems.warn(
            NOWHERE,
            f"the tools take about {tokens} tokens in every conversation, more than {MAX_LIST_TOKENS}: {WAYS_OUT}",
        )


def _entry(tool: Tool) -> JSONObject:
    """What those see who see most of it."""
    return tool.listings[-1].entry or {} if isinstance(tool, GraphQLTool) else tool.entry
