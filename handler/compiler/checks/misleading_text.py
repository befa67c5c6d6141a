"""Warnings of texts that a model reads differently from the person who wrote or imported them.

Invisible characters can hold instructions or turn a text around. Text that looks like the markup that clients put
around a description can end the description for a model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from handler.bundle.tools import GraphQLTool, PrescribedTool
from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check
from handler.compiler.problems import At, Place, where
from handler.compiler.source.files import CONFIG, EndpointFiles
from handler.compiler.tools.compiled_code import CompiledCode
from handler.compiler.tools.content import CompiledContent
from handler.compiler.tools.content_files.resources import RESOURCES_FOLDER
from handler.compiler.tools.content_files.skill_format import CompiledSkill
from handler.compiler.tools.content_files.view_pages import SUFFIX, VIEWS_FOLDER
from handler.compiler.tools.declarations.declaration import CompiledTool
from handler.compiler.tools.declarations.listed_size import entries_of
from handler.text import invisible
from handler.text.sentences import some

MAX_FOUND = 50
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


@dataclass(frozen=True, slots=True)
class ReadText:
    """A text that models read, with its subject and the place where that is declared."""

    text: str
    of: str
    at: At


@check("invisible-characters")
def invisible_characters(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find invisible characters: once for each file, at the first of them."""
    yield from _found(_invisible, "which is invisible, or reverses the text around it", endpoint)


@check("prompt-markup")
def prompt_markup(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find text that looks like a client's markup: once for each file, at the first such text."""
    yield from _found(_markup, "which a model may take for the end of the text or for another speaker", endpoint)


def _texts(endpoint: CompiledEndpoint) -> Iterator[ReadText]:
    """Yield all texts that models read."""
    config, project = endpoint.context.config, endpoint.context.project
    yield from _tool_texts(endpoint.tools)
    yield from _content_texts(endpoint.content, folder=project.path(RESOURCES_FOLDER))
    yield from _page_texts(endpoint.content, folder=project.path(VIEWS_FOLDER))
    yield from _code_texts(endpoint.code, at=config.code.at)
    yield ReadText(config.instructions, '"instructions"', Place(project.path(CONFIG)))
    if endpoint.api.graphql.mode == "on" or any(isinstance(each.tool, GraphQLTool) for each in endpoint.tools):
        for name, text in endpoint.context.files.texts(*SCHEMAS).items():  # models may look up any type by its name
            yield ReadText(text, "the schema", Place(name))


def _tool_texts(made: Iterable[CompiledTool]) -> Iterator[ReadText]:
    """Yield all texts of the tool list's entries, including those from the API's schema."""
    for each in made:
        # The entry of a prescribed tool has texts for other callers, and a catalog shows more of the input schema.
        unlisted = [each.tool.entry, each.tool.whole] if isinstance(each.tool, PrescribedTool) else []
        for text in dict.fromkeys(text for entry in (*entries_of(each), *unlisted) for text in _texts_in(entry)):
            yield ReadText(text, f'"{each.tool.name}"', each.at)


def _content_texts(content: CompiledContent, *, folder: str) -> Iterator[ReadText]:
    """Yield the texts of prompts, of resources in a folder and of skills, and the texts of their list entries."""
    for prompt in content.prompts:
        messages = [message.text for message in prompt.messages]
        for text in (*_texts_in([prompt.entry, dict(prompt.completions)]), *messages):
            yield ReadText(text, f'the prompt "{prompt.name}"', content.places[prompt.name])
    for resource in content.resources:
        for text in (*_texts_in(resource.entry), resource.text):
            yield ReadText(text, "a resource", Place(f"{folder}/{resource.entry['name']}"))
    yield from _skill_texts(content.skills)


def _page_texts(content: CompiledContent, *, folder: str) -> Iterator[ReadText]:
    for page in content.pages:
        if not page.hidden:  # the built-in view is not the author's
            for text in (*_texts_in(page.entry), page.text):
                yield ReadText(text, "a page", Place(f"{folder}/{page.entry['name']}{SUFFIX}"))


def _skill_texts(skills: Iterable[CompiledSkill]) -> Iterator[ReadText]:
    for skill in skills:
        for file in skill.files:
            for text in (*_texts_in(file.entry), file.text):
                yield ReadText(text, f'the skill "{skill.skill.name}"', skill.places[file.uri])


def _code_texts(code: CompiledCode, *, at: Place) -> Iterator[ReadText]:
    """Yield the texts of the list entries of prompts and resources in Python. ``at``: the place of ``code``."""
    entries = [*(prompt.entry for prompt in code.prompts), *(resource.entry for resource in code.resources)]
    for entry in entries:
        for text in _texts_in(entry):
            yield ReadText(text, f'"{entry["name"]}"', at)
    yield from _skill_texts(code.skills)


Finder = Callable[[str], Iterable[tuple[int, str]]]
"""The doubtful pieces of a text: the place of each, counted from 0, and its name in a sentence."""


def _found(find: Finder, why: str, endpoint: CompiledEndpoint) -> Iterator[Finding]:
    found: dict[str, dict[Place, tuple[str, list[str]]]] = {}
    for read in _texts(endpoint):
        for offset, name in islice(find(read.text), MAX_FOUND):
            place, of = _located(read, offset, endpoint.context.files)
            _, names = found.setdefault(place.file, {}).setdefault(place, (of, []))
            names.append(name)
    for places in found.values():
        in_order = sorted(places.items(), key=lambda each: (each[0].line, each[0].column))
        (place, (of, _)), *others = in_order
        named = some(list(dict.fromkeys(name for _, (_, names) in in_order for name in names)))
        lines = some(list(dict.fromkeys(f"line {other.line}" for other, _ in others if other.line != place.line)))
        yield Finding(place, f"{of} has {named} here{lines and f', or in {lines}'}, {why}", (place.file,))


def _located(read: ReadText, offset: int, files: EndpointFiles) -> tuple[Place, str]:
    """Find a character's place in a file, with its subject; if no file has the text around it, that of ``read``."""
    begin, end = read.text.rfind("\n", 0, offset) + 1, read.text.find("\n", offset)
    end = len(read.text) if end < 0 else end
    for width in WIDTHS:  # templates add text around a description, and enum values precede theirs
        first = max(begin, offset - width)
        piece = read.text[first : min(end, offset + 1 + width)].rstrip(" ")
        written = next(files.places_of(piece.lstrip(" ")), None)
        if written is not None:
            column = written.column + offset - first - (len(piece) - len(piece.lstrip(" ")))
            return Place(written.file, written.line, column), "a text that models read"
    return where(read.at), read.of


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


def _texts_in(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for each in value.values():
                yield from _texts_in(each)
        case list() | tuple():
            for each in value:
                yield from _texts_in(each)
