"""Prompts from files: ``prompts/NAME.md``, with front matter in YAML and a text for each message."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from graphql import Source

from handler.bundle.content import PromptMessage, TextPrompt
from handler.compiler.access.code_access import own_mask
from handler.compiler.compile_context import CompileContext
from handler.compiler.problems import Place, Problems, place_in, shown
from handler.compiler.source.files import EndpointFiles
from handler.compiler.source.yaml_section import Section
from handler.compiler.source.yaml_tree import read_front_matter
from handler.policy.evaluation import Mask
from handler.strict_json import JSONObject
from handler.text.sentences import did_you_mean, some

PROMPTS_FOLDER = "prompts"

SUFFIX = ".md"

MAX_TOLD = 10
"""The number of unread files that get a warning each."""

MAX_PROMPT_BYTES = 100_000
"""A longer text does not begin a conversation: it should be a resource."""

NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
ARGUMENT_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

_ROLE = re.compile(r"^## (user|assistant)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_BRACES = re.compile(r"(\\?)\{\{(?:[ \t]*([A-Za-z0-9_-]+)[ \t]*\}\})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Argument:
    name: str
    description: str
    required: bool
    values: tuple[str, ...]  # empty: any text
    at: Place

    @property
    def entry(self) -> JSONObject:
        described = {"description": self.description} if self.description else {}
        return {"name": self.name, **described, "required": self.required}


def read_prompts(context: CompileContext, *, default: Mask) -> list[tuple[TextPrompt, Place]]:
    """Read the prompts of their folder, by file name, each with the place of its name.

    ``default`` is the mask of a prompt without a ``condition``.
    """
    reader = _Reader(context, default=default)
    files = _prompt_files(context.files, context.project.path(PROMPTS_FOLDER), problems=context.problems)
    found = [read for file in files if (read := reader.prompt(file))]
    first: dict[str, Place] = {}
    for prompt, at in found:
        if prompt.name in first:
            context.problems.add(
                at,
                f'a prompt named "{prompt.name}" is also defined at {shown(first[prompt.name])}',
                code="duplicate-prompt",
            )
        first.setdefault(prompt.name, at)
    return found


def _prompt_files(files: EndpointFiles, folder: str, *, problems: Problems) -> list[str]:
    """Return the files of prompts, by name. Warn of other files in the folder."""
    found = files.find(folder, suffixes=(SUFFIX,))
    for at, reason in found.faults:
        problems.add(Place(at), f"it {reason}", code="unreadable-file")
    prompts = [file for file in found.files if posixpath.dirname(file) == folder and file.lower().endswith(SUFFIX)]
    others = sorted({*found.files, *found.links}.difference(prompts))
    for file in others[:MAX_TOLD]:
        problems.warn(
            Place(file),
            f"it is not read: prompts are the files of {folder}/ itself that end in {SUFFIX}",
            code="unread-file",
            about=[file],
        )
    if len(others) > MAX_TOLD:
        problems.warn(
            Place(folder),
            f"more files are not read: {some(others[MAX_TOLD:])}",
            code="unread-file",
            about=others[MAX_TOLD:],
        )
    return prompts


class _Reader:
    """Reader of the prompts of one endpoint."""

    def __init__(self, context: CompileContext, *, default: Mask) -> None:
        self._files = context.files
        self._conditions = context.conditions
        self._problems = context.problems
        self._default = default

    def prompt(self, file: str) -> tuple[TextPrompt, Place] | None:
        """Read a file's prompt and the place of its name; ``None`` after reporting an unreadable file."""
        text = self._files.read(file, max_bytes=MAX_PROMPT_BYTES)
        if text is None:
            return None
        source = Source(text.replace("\r\n", "\n"), file)
        node, body_at = read_front_matter(source, self._problems)
        said = Section(node, file=source.name, problems=self._problems, variables=None)
        said.expect("name", "title", "description", "arguments", "condition")
        name = self._name(said, file)
        arguments = self._arguments(said)
        texts = {"title": said.text("title"), "description": said.text("description")}
        entry: JSONObject = {"name": name, **{key: value for key, value in texts.items() if value}}
        if arguments:
            entry["arguments"] = [each.entry for each in arguments]
        prompt = TextPrompt(
            name=name,
            entry=entry,
            messages=self._messages(source, body_at, arguments),
            completions={each.name: each.values for each in arguments if each.values},
            mask=self._mask(said),
        )
        return prompt, said.place("name") if "name" in said else Place(file)

    def _name(self, said: Section, file: str) -> str:
        name = said.text("name", PurePosixPath(file).stem)
        if not NAME.fullmatch(name):
            at = said.place("name") if "name" in said else Place(file)
            self._problems.add(
                at,
                f'"{name:.80}" is not a prompt name: expected 1 to 128 letters, digits, _, - or .',
                code="invalid-prompt-name",
            )
        return name

    def _mask(self, said: Section) -> Mask:
        return own_mask(said, self._conditions, self._problems) if "condition" in said else self._default

    def _arguments(self, said: Section) -> list[_Argument]:
        found: dict[str, _Argument] = {}
        for each in said.sections("arguments"):
            each.expect("name", "description", "required", "values")
            name = each.text("name")
            if not ARGUMENT_NAME.fullmatch(name):
                each.refuse("name", "1 to 64 letters, digits, _ or -")
            elif name in found:
                sentence = f'an argument named "{name}" is also defined at {shown(found[name].at)}'
                self._problems.add(each.place("name"), sentence, code="duplicate-prompt-argument")
            else:
                found[name] = _Argument(
                    name=name,
                    description=each.text("description"),
                    required=each.boolean("required", default=False),
                    values=self._values(each),
                    at=each.place("name"),
                )
        return list(found.values())

    def _values(self, argument: Section) -> tuple[str, ...]:
        found: list[str] = []
        for text, at in argument.texts("values"):
            if not text or text in found:
                self._problems.add(
                    at, "expected a text" if not text else f'"{text:.80}" appears twice', code="invalid-completion"
                )
            found.append(text)
        return tuple(found)

    def _messages(self, source: Source, start: int, arguments: Sequence[_Argument]) -> tuple[PromptMessage, ...]:
        used: set[str] = set()
        messages = []
        for role, at, end in _parts(source.body, start):
            text = self._template(source, at, end, known=[each.name for each in arguments], used=used).strip()
            if not text:
                self._problems.add(place_in(source, at), f"there is no text for the {role}", code="empty-prompt")
            messages.append(PromptMessage(role=role, text=text))
        for argument in arguments:
            if argument.name not in used:
                self._problems.warn(
                    argument.at,
                    f"no text has {{{{{argument.name}}}}}, so the argument has no effect",
                    code="unused-prompt-argument",
                    about=[argument.name],
                )
        return tuple(messages)

    def _template(self, source: Source, start: int, end: int, *, known: Sequence[str], used: set[str]) -> str:
        """Convert a part of the text for ``bundle/content.py``, and report each mistake at its place."""

        def checked(found: re.Match[str]) -> str:
            escape, name = found[1], found[2]
            if escape:
                return found[0]
            if name in known:
                used.add(name)
            else:
                sentence = r"expected {{argument}}; write \{{ for literal braces"
                if name is not None:
                    sentence = f'there is no argument "{name:.80}"{did_you_mean(name, known)}'
                self._problems.add(place_in(source, start + found.start()), sentence, code="invalid-placeholder")
            return f"{{{{{name}}}}}"

        return _BRACES.sub(checked, source.body[start:end])


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
