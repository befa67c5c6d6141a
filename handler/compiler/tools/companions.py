"""Companions: tools that search and describe the schema of a GraphQL tool that is too large for a description."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from handler.bundle.tools import CompanionTool, GraphQLTool, ToolOptions
from handler.compiler.problems import Problems, shown, where
from handler.compiler.tools.declarations.declaration import CompiledTool
from handler.strict_json import JSONObject

MAX_NAME_CHARS = 64
"""The longest name of a tool that every client and model vendor takes."""

MAX_COORDINATES = 50

TEXTS: Mapping[str, tuple[str, str]] = {
    "search": (
        "Search",
        "Find what to ask {name} for: the best matches of a question, the fields that lead to each, and SDL.",
    ),
    "describe": ("Describe", "Return the SDL of parts of the schema of {name}."),
}
"""What a companion does -> the beginning of its title, and its description."""

MAX_TOKENS: JSONObject = {"type": "integer", "minimum": 200, "maximum": 10_000}

ARGUMENTS: Mapping[str, JSONObject] = {
    "search": {
        "type": "object",
        "properties": {
            "question": {
                "type": "string",
                "minLength": 1,
                "maxLength": 1_000,
                "description": "In words",
            },
            "maxTokens": {**MAX_TOKENS, "description": "300 if absent"},
        },
        "required": ["question"],
        "additionalProperties": False,
    },
    "describe": {
        "type": "object",
        "properties": {
            "coordinates": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "maxItems": MAX_COORDINATES,
                "description": "Such as Order, Order.lines or Query.order(id:)",
            },
            "maxTokens": {**MAX_TOKENS, "description": "800 if absent"},
        },
        "required": ["coordinates"],
        "additionalProperties": False,
    },
}


def with_companions(
    tools: Sequence[CompiledTool], *, others: Iterable[CompiledTool], problems: Problems
) -> Iterator[CompiledTool]:
    """Yield the tools of an API, each GraphQL tool that needs companions before its own.

    A name that a tool of the author has is not taken: the companion is left out, with a warning.
    """
    taken = {
        name.casefold(): each for each in (*tools, *others) for name in (each.tool.name, *each.tool.options.aliases)
    }
    for each in tools:
        yield each
        if each.companions and isinstance(each.tool, GraphQLTool):
            for does in TEXTS:
                name = f"{each.tool.name}-{does}"
                refusal = _refusal(name, taken.get(name.casefold()))
                if refusal:
                    sentence = f'"{each.tool.name}" gets no companion "{name}": {refusal}; find: false asks for none'
                    problems.warn(each.at, sentence, code="no-companion", about=[name])
                else:
                    yield _compiled(each, each.tool, name=name, does=does)


def _refusal(name: str, taken_by: CompiledTool | None) -> str:
    if taken_by is not None:
        return f"a tool of that name is defined at {shown(where(taken_by.at))}"
    return f"it is longer than {MAX_NAME_CHARS} characters" if len(name) > MAX_NAME_CHARS else ""


def _compiled(made: CompiledTool, tool: GraphQLTool, *, name: str, does: str) -> CompiledTool:
    heading, description = TEXTS[does]
    entry: JSONObject = {
        "name": name,
        "title": f"{heading} {tool.entry.get('title', tool.name)}",
        "description": description.format(name=tool.name),
        "inputSchema": ARGUMENTS[does],
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    }
    options = ToolOptions(
        hidden=tool.options.hidden,
        pinned=tool.options.pinned,
        aliases=(),
        scopes=tool.options.scopes,
        output="text",
        confirm="",
        meta={},
    )
    companion = CompanionTool(name=name, entry=entry, of=tool.name, does=does, options=options)
    return CompiledTool(at=made.at, tool=companion, uses=(), runs=tool.name, types=made.types, reads=True, writes=False)
