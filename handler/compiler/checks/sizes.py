from __future__ import annotations

from handler.bundle.model import GraphQLTool, JSONObject, Tool
from handler.compiler.json_schemas.descriptions import MAX_ENUM_CHARS, enum_text
from handler.compiler.json_schemas.inputs import Inputs
from handler.compiler.problems import At, Problems
from handler.listed_sizes import is_listable
from handler.strict_json import Entry, to_json_bytes

MAX_DESCRIPTION_BYTES = 2_048
"""Widely used clients cut a tool's description here, without a word to anybody."""

MAX_ENTRY_BYTES = 16_384
"""About 4,000 tokens. A client sends the list along with each of its model's turns, so ten tools of this size take a
fifth of a context of 200,000 tokens before the first question."""


BYTES_PER_TOKEN = 4
"""A rule of thumb for English text and JSON; vendors' tokenizers differ."""


def size_of(tool: Tool) -> int:
    """The bytes of a tool's list entry, for those who see most of it."""
    return max((len(to_json_bytes(entry)) for entry in entries_of(tool)), default=0)


def doubt_size(tool: Tool, *, at: At, problems: Problems) -> None:
    """Warn of a description that clients cut, and of a list entry that crowds out the conversation.

    Source: MCP leaves both open; the numbers are those of clients in use.
    """
    entries = entries_of(tool)
    described = max((len(entry.get("description", "").encode(errors="replace")) for entry in entries), default=0)
    if described > MAX_DESCRIPTION_BYTES:
        problems.warn(
            at, f'"{tool.name}" has a description of {described} bytes: clients cut it after {MAX_DESCRIPTION_BYTES}'
        )
    if not all(is_listable(Entry(entry).brief.json) for entry in entries):
        sentence = "cannot be listed: its inputs are larger than an answer may be. Expected fewer or shorter ones"
        problems.add(at, f'"{tool.name}" {sentence}')
    whole = size_of(tool)
    if whole > MAX_ENTRY_BYTES:
        problems.warn(
            at,
            f'"{tool.name}" takes {whole} bytes of the list of tools, about {whole // BYTES_PER_TOKEN} tokens in every '
            f"conversation: more than {MAX_ENTRY_BYTES} bytes",
        )


def doubt_enums(inputs: Inputs, tool: str, *, at: At, problems: Problems) -> None:
    """Warn of each enum of which a tool does not say what its values mean, because that is too long."""
    for type_ in inputs.enums():
        size = len(enum_text(inputs.values(type_)))
        if size > MAX_ENUM_CHARS:
            problems.warn(
                at,
                f'"{tool}" does not say what the values of "{type_.name}" mean: that is {size} characters, more than '
                f"{MAX_ENUM_CHARS}",
            )


def entries_of(tool: Tool) -> list[JSONObject]:
    """The entries of the list that callers of different kinds see of a tool."""
    if not isinstance(tool, GraphQLTool):
        return [tool.entry]
    return [listing.entry for listing in tool.listings if listing.entry is not None]
