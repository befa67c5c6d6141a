"""What makes clients and model vendors leave a tool out, or refuse the whole list: warnings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from handler.bundle import GraphQLTool, JSONObject, Tool
from handler.compiler.declaration import MadeTool
from handler.compiler.problems import Problems, some

PORTABLE_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What every client and model vendor takes; MCP itself allows 128 characters, and dots."""


def doubt_for_clients(made: Sequence[MadeTool], problems: Problems) -> None:
    """Warn of names that not every client takes, missing titles and descriptions, and tools that read and write."""
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
    untitled = [each for each in made if "title" not in _entry(each.tool)]
    _doubt_lack("title, which some clients and their directories ask for", untitled, problems)
    undescribed = [each for each in made if not each.described]
    _doubt_lack("description, so a model has to guess from the name: describe the operation", undescribed, problems)


def _doubt_lack(of: str, tools: Sequence[MadeTool], problems: Problems) -> None:
    if tools:
        names = some([f'"{each.tool.name}"' for each in tools])
        problems.warn(tools[0].at, f"{names} {'has' if len(tools) == 1 else 'have'} no {of}")


def _entry(tool: Tool) -> JSONObject:
    """What those see who see most of it."""
    return tool.listings[-1].entry or {} if isinstance(tool, GraphQLTool) else tool.entry
