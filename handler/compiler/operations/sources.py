"""The sources of operations: files that an ``@sdl`` names, the folder of operations, and manifests in it.

Source: Cosmo router, MCP: a folder of operations is read with all folders below it, ``.graphql`` and ``.gql``. Files
that end in ``.graphqls`` hold schemas, by the convention of the servers that read them. Apollo, "Persisted Queries"
(format version 1); Relay, "Persisted Queries"; GraphQL over HTTP, "Persisted Documents" (an id with the prefix
``sha256:`` is the digest of its text).
"""

from __future__ import annotations

import json
import posixpath
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain, islice
from typing import Any

from graphql import Source

from handler.compiler.compile_context import CompileContext
from handler.compiler.operations.author_operations import OperationText
from handler.compiler.problems import EmbeddedText, Place, Problems, offset_in_literal, place_in
from handler.compiler.schema.schema import AuthorSchema, ExecutableFile
from handler.compiler.source.files import EndpointFiles
from handler.json_schema.json_bounds import count_values
from handler.strict_json import parse_json

OPERATIONS_FOLDER = "operations"

SUFFIXES = (".graphql", ".gql")
SCHEMA_SUFFIX = ".graphqls"
MANIFEST_SUFFIXES = ("persisted-query-manifest.json", "persisted_queries.json")
"""Names of manifests: those that Apollo's and Relay's compilers write by default."""

APOLLO = "apollo-persisted-query-manifest"
VERSION = 1
KINDS = ("query", "mutation", "subscription")

ID = re.compile(r"[\x21-\x7e]{1,256}")
SHA256 = "sha256:"

MAX_VALUES = 200_000
"""Values that a manifest may have: their places are kept."""

Path = tuple[str | int, ...]
"""The keys and indices that lead to a JSON value."""

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[][{},:]|[^][{},:"\s]+')

MAX_LOOKED_INTO = 1_000
"""The number of unread files in a folder that are searched."""

_OUTSIDE_COMMENTS = r"^[^#\n]*?"
_OPERATION = re.compile(
    _OUTSIDE_COMMENTS + r"(?<![\w.$@])(?:query|mutation|subscription)\b\s*(?:[A-Za-z_]\w*\s*)?(?:[{@]|\(\s*\$)",
    re.MULTILINE,
)
_TOOL_OF_OPERATION = re.compile(_OUTSIDE_COMMENTS + r"(@mcpTool)\b", re.MULTILINE)
_TOOL = re.compile(_OUTSIDE_COMMENTS + r"(?<!directive )(@(?:mcpTool|tool))\b", re.MULTILINE)


def operation_texts(context: CompileContext, author: AuthorSchema) -> list[OperationText]:
    """Return the texts of all sources, each once: a text that a source has is not taken from a later source too."""
    files: dict[str, ExecutableFile] = {}
    for one in author.executables:  # a file is persisted if one ``@sdl`` persists it
        first = files.setdefault(one.name, one)
        files[one.name] = replace(first, persisted=first.persisted or one.persisted)
    names = operation_files(context.files, context.project.path(OPERATIONS_FOLDER), context.problems)
    in_folder = (ExecutableFile(name, persisted=True, named_at=Place(name)) for name in names)
    texts: dict[tuple[str, str], OperationText] = {}
    whole_files = (_file(context.files, one) for one in chain(files.values(), in_folder))
    for text in chain(whole_files, _in_manifests(context)):
        texts.setdefault((text.file, text.id), text)
    return list(texts.values())


def _file(files: EndpointFiles, file: ExecutableFile) -> OperationText:
    """Read a whole file as one text. Its id is ``sha256:`` and the SHA-256 of its bytes."""
    source = files.source(file.name, named_at=file.named_at)
    return OperationText(
        source=source,
        file=file.name,
        persisted=file.persisted,
        id=f"{SHA256}{files.sha256(file.name)}" if source else "",
        called_by_id=file.named_at.file != file.name,  # an ``@sdl`` names it
    )


def operation_files(
    files: EndpointFiles, folder: str, problems: Problems, *, suffixes: tuple[str, ...] = SUFFIXES
) -> list[str]:
    """Return the files of operations in or below ``folder``, by name. Unreadable folders are reported."""
    names: list[str] = []
    for name in files.search(folder, suffixes=suffixes).files:
        if _has_half_character(name) and name.lower().endswith(suffixes):
            problems.add(Place(name), "its name is not UTF-8", code="invalid-file-name")
        elif name.lower().endswith(suffixes):
            names.append(name)
    return names


def _in_manifests(context: CompileContext) -> Iterator[OperationText]:
    """Yield the texts of the manifests in or below the folder of operations. All of them are persisted."""
    folder = context.project.path(OPERATIONS_FOLDER)
    for name in operation_files(context.files, folder, context.problems, suffixes=MANIFEST_SUFFIXES):
        text = context.files.read(name)
        if text is not None:
            yield from _Manifest(context, name, text).texts()


class _Manifest:
    """One manifest, and the places of its JSON values. Entries that are not valid are reported, and left out."""

    def __init__(self, context: CompileContext, file: str, text: str) -> None:
        self._context = context
        self._file = file
        self._text = text
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]  # offsets of their beginnings
        self._offsets: dict[Path, int] = {}  # of the values

    def texts(self) -> Iterator[OperationText]:
        """Yield the texts of the manifest. The last one of equal keys counts."""
        at, fault = Place(self._file), ""
        try:
            value = parse_json(self._text.encode())
            count = count_values(value)
            if count > MAX_VALUES or (count == 0 and value and isinstance(value, dict | list)):
                fault = f"nested too deeply, or more than {MAX_VALUES:,} values"
        except json.JSONDecodeError as exc:
            at, fault = Place(self._file, exc.lineno, exc.colno), f"invalid JSON: {exc.msg}"
        except ValueError as exc:
            fault = f"invalid JSON: {exc}"
        if fault:
            self._context.problems.add(at, fault, code="invalid-manifest")
            return
        for path in self._find_places():
            self._context.problems.add(self._place(path), f'"{path[-1]:.80}" appears twice', code="duplicate-key")
        match value:
            case {"format": _} as top:
                if top["format"] != APOLLO:
                    self._refuse(("format",), f'"format": expected {APOLLO}')
                elif isinstance(top.get("version"), bool) or top.get("version") != VERSION:
                    self._refuse(("version",), f'"version": expected {VERSION}')
                elif not isinstance(top.get("operations"), list):
                    self._refuse(("operations",), '"operations": expected a list')
                else:
                    yield from self._of_apollo(top["operations"])
            case {"operations": list()}:
                self._refuse((), f'"format" is missing: expected {APOLLO}')
            case dict() as texts:
                for key, body in texts.items():
                    if isinstance(body, str):
                        yield from self._texts_of({"id": key, "body": body}, (key,), id_at=(key,))
                    else:
                        self._refuse((key,), f'"{key:.80}": expected the text of an operation')
            case _:
                self._refuse((), "expected Apollo's manifest, or Relay's object of ids and texts")

    def _find_places(self) -> list[Path]:
        """Note the beginnings of all values of a valid text. Return the paths of keys that appear again."""
        repeated: dict[Path, None] = {}
        steps: list[str | int | None] = []  # of the containers that are open; ``None``: a key comes next
        for token in _TOKEN.finditer(self._text):
            match token[0][0]:
                case "}" | "]":
                    steps.pop()
                case ",":
                    steps[-1] = steps[-1] + 1 if isinstance(steps[-1], int) else None
                case ":":
                    pass
                case _ if steps and steps[-1] is None:
                    steps[-1] = json.loads(token[0])
                case first:
                    path = tuple(step for step in steps if step is not None)
                    repeated |= {path: None} if path in self._offsets else {}
                    self._offsets[path] = token.start()
                    if first in "{[":
                        steps.append(None if first == "{" else 0)
        return list(repeated)

    def _of_apollo(self, entries: list[Any]) -> Iterator[OperationText]:
        first: dict[str, int] = {}
        for number, entry in enumerate(entries):
            at = ("operations", number)
            if not isinstance(entry, dict):
                self._refuse(at, "expected an object with id, body, name and type")
                continue
            wrong = [key for key in ("id", "body", "name", "type") if not isinstance(entry.get(key), str)]
            for key in wrong:
                self._refuse((*at, key), f'"{key}": expected a text')
            if wrong:
                continue
            if entry["type"] not in KINDS:
                self._refuse((*at, "type"), f'"type": expected {" or ".join(KINDS)}')
            elif first.setdefault(entry["id"], number) != number:
                sentence = f'a second text has the id "{entry["id"]:.80}"'
                self._context.problems.add(self._place((*at, "id")), sentence, code="duplicate-id")
            else:
                yield from self._texts_of(entry, (*at, "body"), id_at=(*at, "id"))

    def _texts_of(self, entry: dict[str, Any], at: Path, *, id_at: Path) -> Iterator[OperationText]:
        """Yield the text of an entry whose body is ``at`` a path; nothing if it is not valid."""
        id_, body = entry["id"], entry["body"]
        if not ID.fullmatch(id_):
            self._refuse(id_at, "an id: expected 1 to 256 printable characters of ASCII without spaces")
            return
        if _has_half_character(body):
            self._refuse(at, "it has half a character: expected whole ones")
            return
        digest = SHA256 + sha256(body.encode()).hexdigest()
        if id_.startswith(SHA256) and id_ != digest:
            self._refuse(id_at, "the id is not the SHA-256 of the text: expected the text that the API has by this id")
            return
        is_digest = id_ in (digest, digest.removeprefix(SHA256))
        if not is_digest and not self._context.takes_any_document:
            sentence = "the API gets the SHA-256 of a text, and here the text has another id"
            self._context.problems.warn(self._place(id_at), sentence, code="foreign-document-id", about=[id_])
        start = self._offsets[at] + 1  # after the quotation mark

        def place_in_body(position: int) -> Place:
            return self._place_at(offset_in_literal(self._text, start, position))

        yield OperationText(
            source=EmbeddedText(body, self._file, place_in_body),
            file=self._file,
            persisted=True,
            id=digest if is_digest else id_,
            called_by_id=True,
            shares_fragments=False,
            declares=(entry["type"], entry["name"]) if "name" in entry else None,
        )

    def _refuse(self, path: Path, sentence: str) -> None:
        self._context.problems.add(self._place(path), sentence, code="invalid-manifest")

    def _place(self, path: Path) -> Place:
        """Return the place of a value; of the nearest value around it if there is none."""
        above = (path[:end] for end in range(len(path), -1, -1))
        return self._place_at(next((self._offsets[each] for each in above if each in self._offsets), 0))

    def _place_at(self, offset: int) -> Place:
        line = bisect_right(self._lines, offset)
        return Place(self._file, line, offset - self._lines[line - 1] + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """An unread file and the sentence of its warning. ``tool``: it may declare a tool."""

    at: Place
    sentence: str
    tool: bool


def unread_files(files: EndpointFiles, folder: str, *, declared: bool, others: Sequence[str]) -> list[Unread]:
    """Return unread files that look like files of operations.

    ``folder`` is the folder of operations. All other folders except ``others`` are searched if no tool is ``declared``.
    Beside tools, an author may keep such files: only ``@mcpTool`` beside the folder, or in place of it, is reported.
    """
    unread = [  # links are not followed, so any may lead to a tool
        Unread(at=Place(link), sentence="it is a link to a folder, which is not followed", tool=True)
        for link in files.find(folder, suffixes=SUFFIXES).links
    ]
    alike = files.folders_like(folder)
    for at in (folder, *alike):
        for name, text in _unread(files, at):
            tool = _TOOL_OF_OPERATION.search(text)
            if tool or _OPERATION.search(text):
                remedy = _remedy(name) if at == folder else f"operations belong in {folder}/"
                at_tool = place_in(Source(text, name), tool.start(1)) if tool else Place(name)
                unread.append(Unread(at=at_tool, sentence=f"it is not read: {remedy}", tool=tool is not None))
    for name, text in _unread(files, ".", suffixes=(*SUFFIXES, SCHEMA_SUFFIX), but=(folder, *alike, *others)):
        remedy, is_near = _home(name, folder, files)
        tool = _TOOL.search(text)
        if tool and (not declared or (is_near and tool[1] == "@mcpTool")):
            remedy = remedy if tool[1] == "@mcpTool" else "name it in @sdl(files:)"
            sentence = f"it is not read, and has {tool[1]}: {remedy}"
            unread.append(Unread(at=place_in(Source(text, name), tool.start(1)), sentence=sentence, tool=True))
    return unread


def unread_with(name: str, context: CompileContext) -> tuple[Place, str] | None:
    """Return the first unread file that has an operation of this name, and its remedy; ``None`` if there is none."""
    operation = re.compile(rf"{_OUTSIDE_COMMENTS}\b(?:query|mutation)\s+{re.escape(name)}\b", re.MULTILINE)
    files, folder = context.files, context.project.path(OPERATIONS_FOLDER)
    unread = (file for file, text in _unread(files, ".", suffixes=SUFFIXES) if operation.search(text))
    return next(((Place(file), _home(file, folder, files)[0]) for file in unread), None)


def _home(name: str, folder: str, files: EndpointFiles) -> tuple[str, bool]:
    """Return the remedy for a file outside of the folder of operations, and whether it is beside, or in place of it."""
    above, beside = posixpath.dirname(name), posixpath.dirname(folder)
    if above and posixpath.dirname(above) == beside and not files.exists(folder):
        return f"rename the folder {above} to {folder}", True
    return f"operations belong in {folder}/", above == beside


def _remedy(name: str) -> str:
    if name.lower().endswith(".json"):
        return f"a manifest of operations has a name that ends in {' or '.join(MANIFEST_SUFFIXES)}"
    why = f"{SCHEMA_SUFFIX} is for schemas: " if name.lower().endswith(SCHEMA_SUFFIX) else ""
    return f"{why}expected a name that ends in .graphql or .gql"


def _unread(
    files: EndpointFiles, folder: str, *, suffixes: tuple[str, ...] = (), but: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """Yield the unread files below a folder, each with the beginning of its text. Markdown is for people: skipped."""
    names = (name for name in files.find(folder).files if not any(name.startswith(f"{each}/") for each in but))
    names = (
        name
        for name in names
        if (name.lower().endswith(suffixes) if suffixes else not name.lower().endswith((".md", ".markdown")))
    )
    for name in islice((name for name in names if not files.is_read(name)), MAX_LOOKED_INTO):
        yield name, files.glance(name)


def _has_half_character(text: str) -> bool:
    return any("\ud800" <= each <= "\udfff" for each in text)
