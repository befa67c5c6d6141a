"""Warnings of texts that a model reads differently from their author or importer.

Invisible characters can hold instructions or turn a text around. Text that looks like the markup that clients put
around a description can end the description for a model.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from handler.bundle.tools import GraphQLTool, PrescribedTool
from handler.compiler.checks.finding import CompiledEndpoint, Finding, check
from handler.compiler.problems import At, Place, where
from handler.compiler.source.files import CONFIG, EndpointFiles
from handler.compiler.tools.resources import RESOURCES_FOLDER
from handler.compiler.tools.views import SUFFIX, VIEWS_FOLDER
from handler.text import invisible
from handler.text.sentences import some

MAX_PIECES = 50
"""Pieces of one text that are considered: a warning names the first places only."""

WIDTHS = (1_000, 24, 8)
"""Characters on either side that a file must share with a text to be taken for its source, in order of trial."""

SCHEMAS = (".graphql", ".graphqls", ".gql")

TURN = re.compile(
    r"</?(?:system|assistant|human|(?:tool|function)_(?:calls?|results?))(?:\s[^<>]{0,80})?>"
    r"|<\|\w{1,40}\|>|\[/?INST\]|<</?SYS>>",
    re.IGNORECASE,
)
"""The marks of turns in a conversation, and of calls in one, that models know."""

TAG = re.compile(r"<(/?)([A-Za-z][\w:-]{0,40})(?:\s[^<>]{0,200})?>")


_ESCAPE = re.compile(r"\\[^n\"]|\x7f")
"""The form that each invisible character has in ASCII JSON, and some others have too."""

_MARK = re.compile(r"<|\[/?INST", re.IGNORECASE)
"""The beginning of each mark and tag."""

Finder = Callable[[str], Iterable[tuple[int, str]]]
"""The doubtful pieces of a text: the place of each, counted from 0, and its name in a sentence."""


@check("invisible-characters", remedy="Remove the characters.")
def invisible_text(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """A text that models read has characters that nobody sees. They can hold instructions.

    Report each file once, at the first of them.
    """
    yield from _find(_invisible, _ESCAPE, "which is invisible, or reverses the text around it", endpoint)


@check("prompt-markup", remedy="Reword the text.")
def prompt_markup(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """A text that models read looks like the markup of a conversation.

    Report each file once, at the first such text.
    """
    yield from _find(_markup, _MARK, "which a model may take for the end of the text or for another speaker", endpoint)


def _find(pieces_in: Finder, marks: re.Pattern[str], why: str, endpoint: CompiledEndpoint) -> Iterator[Finding]:
    names_at: dict[str, dict[Place, tuple[str, list[str]]]] = {}  # by file
    for value, subject, at in _readable(endpoint):
        if not marks.search(json.dumps(value, default=str)):  # in less time than each of its texts
            continue
        for text in dict.fromkeys(_texts_in(value)):
            for offset, name in islice(pieces_in(text), MAX_PIECES):
                place, of = _place_of(text, offset, endpoint.context.files) or (where(at), subject)
                _, names = names_at.setdefault(place.file, {}).setdefault(place, (of, []))
                names.append(name)
    for places in names_at.values():
        in_order = sorted(places.items(), key=lambda each: (each[0].line, each[0].column))
        (place, (of, _)), *others = in_order
        pieces = some(list(dict.fromkeys(name for _, (_, names) in in_order for name in names)))
        lines = some(list(dict.fromkeys(f"line {other.line}" for other, _ in others if other.line != place.line)))
        yield Finding(place, f"{of} has {pieces} here{lines and f', or in {lines}'}, {why}", (place.file,))


def _readable(endpoint: CompiledEndpoint) -> Iterator[tuple[Any, str, At]]:
    """Yield the JSON values with texts that models read, each with its subject and the place of its declaration."""
    config, project, content, code = endpoint.context.config, endpoint.context.project, endpoint.content, endpoint.code
    for tool in endpoint.tools:  # with texts of the API's schema
        # The entry of a prescribed tool has texts for other callers, and a catalog shows more of the input schema.
        unlisted = [tool.tool.entry, tool.tool.whole] if isinstance(tool.tool, PrescribedTool) else []
        different = {id(each): each for each in (*tool.entries, *unlisted)}
        yield list(different.values()), f'"{tool.tool.name}"', tool.at
    for prompt in content.prompts:
        messages = [message.text for message in prompt.messages]
        texts = [prompt.entry, dict(prompt.completions), messages]
        yield texts, f'the prompt "{prompt.name}"', content.places[prompt.name]
    for resource in content.resources:
        place = Place(f"{project.path(RESOURCES_FOLDER)}/{resource.entry['name']}")
        yield [resource.entry, resource.text], "a resource", place
    for page in content.pages:
        if not page.hidden:  # the built-in view is not the author's
            place = Place(f"{project.path(VIEWS_FOLDER)}/{page.entry['name']}{SUFFIX}")
            yield [page.entry, page.text], "a page", place
    for entry in (*(prompt.entry for prompt in code.prompts), *(resource.entry for resource in code.resources)):
        yield entry, f'"{entry["name"]}"', config.code.at
    for skill in (*content.skills, *code.skills):
        for file in skill.files:
            yield [file.entry, file.text], f'the skill "{skill.skill.name}"', skill.places[file.uri]
    yield config.instructions, '"instructions"', Place(project.path(CONFIG))
    yield config.server, '"server"', Place(project.path(CONFIG))
    if endpoint.api.graphql.mode == "on" or any(isinstance(each.tool, GraphQLTool) for each in endpoint.tools):
        for name, text in endpoint.context.files.texts(*SCHEMAS).items():  # models may look up any type by its name
            yield text, "the schema", Place(name)


def _texts_in(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            yield from _texts_in(list(value.values()))
        case list() | tuple():
            for each in value:
                yield from _texts_in(each)


def _place_of(text: str, offset: int, files: EndpointFiles) -> tuple[Place, str] | None:
    """Find a character's place in a file, with its subject; ``None`` if no file has the text around it."""
    begin, end = text.rfind("\n", 0, offset) + 1, text.find("\n", offset)
    end = len(text) if end < 0 else end
    for width in WIDTHS:  # templates add text around a description, and enum values precede theirs
        first = max(begin, offset - width)
        piece = text[first : min(end, offset + 1 + width)].rstrip(" ")
        place = next(files.places_of(piece.lstrip(" ")), None)
        if place is not None:
            column = place.column + offset - first - (len(piece) - len(piece.lstrip(" ")))
            return Place(place.file, place.line, column), "a text that models read"
    return None


def _invisible(text: str) -> Iterator[tuple[int, str]]:
    lines = text.replace("\r\n", " \n")  # as some editors end them
    return ((offset, invisible.code_point(character)) for offset, character in invisible.invisible_characters(lines))


def _markup(text: str) -> Iterator[tuple[int, str]]:
    """Yield marks of a turn, and closing tags without an opening one. Placeholders such as <name> are neither."""
    if "<" not in text and "[" not in text:
        return
    yield from ((turn.start(), f'"{turn[0]:.40}"') for turn in TURN.finditer(text))
    opened: Counter[str] = Counter()
    for tag in TAG.finditer(text):
        name = tag[2].lower()
        opened[name] += -1 if tag[1] else 1
        if opened[name] < 0:
            opened[name] = 0
            yield tag.start(), f'"</{tag[2]:.40}>"'
