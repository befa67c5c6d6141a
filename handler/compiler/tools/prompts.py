"""Prompts from files: ``prompts/NAME.md``, with front matter in YAML and a text for each message."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath

from graphql import Source

from handler.bundle.content import PromptMessage, TextPrompt
from handler.compiler.compile_context import CompileContext
from handler.compiler.problems import Place, Problems, place_in, place_text
from handler.compiler.source.yaml_section import Section
from handler.compiler.source.yaml_tree import read_front_matter
from handler.compiler.tools.resources import MAX_UNREAD, mask_of, warn_of_unread
from handler.policy.evaluation import Mask
from handler.strict_json import JSONObject
from handler.text.sentences import did_you_mean, some

PROMPTS_FOLDER = "prompts"

SUFFIX = ".md"

MAX_PROMPT_BYTES = 100_000
"""A longer text does not begin a conversation: it should be a resource."""

NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
ARGUMENT_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

_ROLE = re.compile(r"^## (user|assistant)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_BRACES = re.compile(r"(\\?)\{\{(?:[ \t]*([A-Za-z0-9_-]+)[ \t]*\}\})?")


def read_prompts(context: CompileContext, *, default: Mask) -> list[tuple[TextPrompt, Place]]:
    """Read the prompts of their folder, by file name, each with the place of its name. Warn of other files.

    ``default`` is the mask of a prompt without a ``condition``.
    """
    folder, problems = context.project.path(PROMPTS_FOLDER), context.problems
    search = context.files.search(folder, suffixes=(SUFFIX,))
    files = [file for file in search.files if posixpath.dirname(file) == folder and file.lower().endswith(SUFFIX)]
    others = sorted({*search.files, *search.links}.difference(files))
    warn_of_unread(others, f": prompts are the files of {folder}/ itself that end in {SUFFIX}", problems)
    more = others[MAX_UNREAD:]
    if more:
        problems.warn(Place(folder), f"more files are not read: {some(more)}", code="unread-file", about=more)
    prompts = [pair for file in files if (pair := _prompt(context, file, default=default))]
    first: dict[str, Place] = {}
    for prompt, at in prompts:
        if first.setdefault(prompt.name, at) is not at:
            sentence = f'a prompt named "{prompt.name}" is also defined at {place_text(first[prompt.name])}'
            problems.add(at, sentence, code="duplicate-prompt")
    return prompts


def _prompt(context: CompileContext, file: str, *, default: Mask) -> tuple[TextPrompt, Place] | None:
    """Read a file's prompt and the place of its name; ``None`` after reporting an unreadable file."""
    problems, text = context.problems, context.files.read(file, max_bytes=MAX_PROMPT_BYTES)
    if text is None:
        return None
    source = Source(text.replace("\r\n", "\n"), file)
    node, body_at = read_front_matter(source, problems)
    front = Section(node, file=source.name, problems=problems, variables=None)
    front.expect("name", "title", "description", "arguments", "condition")
    name, at = front.text("name", PurePosixPath(file).stem), front.place("name") if "name" in front else Place(file)
    if not NAME.fullmatch(name):
        sentence = f'"{name:.80}" is not a prompt name: expected 1 to 128 letters, digits, _, - or .'
        problems.add(at, sentence, code="invalid-prompt-name")
    arguments = _arguments(front, problems)
    texts = {"title": front.text("title"), "description": front.text("description")}
    entry: JSONObject = {"name": name, **{key: value for key, value in texts.items() if value}}
    if arguments:
        entry["arguments"] = [argument.entry for argument in arguments.values()]
    prompt = TextPrompt(
        name=name,
        entry=entry,
        messages=_messages(source, body_at, arguments, problems),
        completions={name: argument.values for name, argument in arguments.items() if argument.values},
        mask=mask_of(front, context, default=default),
    )
    return prompt, at


@dataclass(frozen=True, slots=True, kw_only=True)
class _Argument:
    """An argument's entry in the list of prompts, its place, and its completions."""

    entry: JSONObject
    at: Place
    values: tuple[str, ...]  # empty: any text


def _arguments(front: Section, problems: Problems) -> dict[str, _Argument]:
    arguments: dict[str, _Argument] = {}
    for each in front.sections("arguments"):
        each.expect("name", "description", "required", "values")
        name = each.text("name")
        if not ARGUMENT_NAME.fullmatch(name):
            each.refuse("name", "1 to 64 letters, digits, _ or -")
        elif name in arguments:
            sentence = f'an argument named "{name}" is also defined at {place_text(arguments[name].at)}'
            problems.add(each.place("name"), sentence, code="duplicate-prompt-argument")
        else:
            text = each.text("description")
            description = {"description": text} if text else {}
            entry = {"name": name, **description, "required": each.boolean("required", default=False)}
            values: list[str] = []
            for value, at in each.texts("values"):
                if not value or value in values:
                    sentence = f'"{value:.80}" appears twice' if value else "expected a text"
                    problems.add(at, sentence, code="invalid-completion")
                values.append(value)
            arguments[name] = _Argument(entry=entry, at=each.place("name"), values=tuple(values))
    return arguments


def _messages(
    source: Source, start: int, arguments: Mapping[str, _Argument], problems: Problems
) -> tuple[PromptMessage, ...]:
    """Convert the text to templates for ``bundle/content.py``, and report each mistake at its place."""
    unused = dict(arguments)
    messages: list[PromptMessage] = []

    def placeholder(match: re.Match[str], at: int) -> str:
        escape, name = match[1], match[2]
        if escape:
            return match[0]
        unused.pop(name, None)
        if name not in arguments:
            sentence = r"expected {{argument}}; write \{{ for literal braces"
            if name is not None:
                sentence = f'there is no argument "{name:.80}"{did_you_mean(name, list(arguments))}'
            problems.add(place_in(source, at + match.start()), sentence, code="invalid-placeholder")
        return f"{{{{{name}}}}}"

    for role, at, end in _parts(source.body, start):
        text = _BRACES.sub(partial(placeholder, at=at), source.body[at:end]).strip()
        if not text:
            problems.add(place_in(source, at), f"there is no text for the {role}", code="empty-prompt")
        messages.append(PromptMessage(role=role, text=text))
    for name, argument in unused.items():
        sentence = f"no text has {{{{{name}}}}}, so the argument has no effect"
        problems.warn(argument.at, sentence, code="unused-prompt-argument", about=[name])
    return tuple(messages)


def _parts(body: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Yield each message's role, and the start and end of its text.

    Headings are roles only if nothing precedes the first, so that other Markdown may have a heading "User".
    """
    headings = list(_ROLE.finditer(body, start))
    if not headings or body[start : headings[0].start()].strip():
        yield "user", start, len(body)
        return
    ends = [each.start() for each in headings[1:]] + [len(body)]
    for heading, end in zip(headings, ends, strict=True):
        yield heading[1].lower(), heading.end(), end
