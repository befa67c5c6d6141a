"""The sources of operations: files that an ``@sdl`` names, the folder of operations, and manifests in it.

Source: Cosmo router, MCP: a folder of operations is read with all folders below it, ``.graphql`` and ``.gql``. Files
that end in ``.graphqls`` hold schemas, by the convention of the servers that read them. Apollo, "Persisted Queries"
(format version 1); Relay, "Persisted Queries"; GraphQL over HTTP, "Persisted Documents" (an id with the prefix
``sha256:`` is the digest of its text).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain, islice
from typing import Any

from handler.compiler.compile_context import CompileContext
from handler.compiler.operations.author_operations import OperationText
from handler.compiler.problems import Place, Problems
from handler.compiler.schema.schema import AuthorSchema, ExecutableFile
from handler.compiler.source.files import EndpointFiles
from handler.compiler.source.json_places import InvalidJSON, PlacedJSON, read_placed_json

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
    texts: dict[tuple[str, str], OperationText] = {}
    files = operation_files(context.files, context.project.path(OPERATIONS_FOLDER), context.problems)
    in_folder = (_file(context.files, name, named_at=Place(name), persisted=True) for name in files)
    for text in chain(_named_by_sdl(context, author), in_folder, _in_manifests(context)):
        texts.setdefault((text.file, text.id), text)
    return list(texts.values())


def _named_by_sdl(context: CompileContext, author: AuthorSchema) -> Iterator[OperationText]:
    """Yield the texts of the files that ``@sdl`` names, each once. A file is persisted if one ``@sdl`` persists it."""
    files: dict[str, ExecutableFile] = {}
    for one in author.executables:
        first = files.setdefault(one.name, one)
        files[one.name] = replace(first, persisted=first.persisted or one.persisted)
    for one in files.values():
        yield _file(context.files, one.name, named_at=one.named_at, persisted=one.persisted)


def _file(files: EndpointFiles, name: str, *, named_at: Place, persisted: bool) -> OperationText:
    """Read a whole file as one text. Its id is ``sha256:`` and the SHA-256 of its bytes."""
    source = files.source(name, named_at=named_at)
    return OperationText(
        source=source,
        file=name,
        persisted=persisted,
        id=f"{SHA256}{files.sha256(name)}" if source else "",
        called_by_id=named_at.file != name,  # an ``@sdl`` names it
    )


def operation_files(
    files: EndpointFiles, folder: str, problems: Problems, *, suffixes: tuple[str, ...] = SUFFIXES
) -> list[str]:
    """Return the files of operations in or below ``folder``, by name. Unreadable folders are reported."""
    search = files.find(folder, suffixes=suffixes)
    for at, reason in search.faults:
        problems.add(Place(at), f"it {reason}", code="unreadable-file")
    names: list[str] = []
    for name in search.files:
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
        if text is None:
            continue
        try:
            manifest = read_placed_json(text, name)
        except InvalidJSON as exc:
            context.problems.add(exc.at, str(exc), code="invalid-manifest")
            continue
        yield from _Manifest(context=context, file=name, json=manifest).texts()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Manifest:
    """One manifest. Entries that are not valid are reported, and left out."""

    context: CompileContext
    file: str
    json: PlacedJSON

    def texts(self) -> Iterator[OperationText]:
        for path in self.json.repeated:
            self.context.problems.add(self.json.place(*path), f'"{path[-1]:.80}" appears twice', code="duplicate-key")
        match self.json.value:
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
                        yield from self._text((key,), {"id": key, "body": body}, id_at=(key,))
                    else:
                        self._refuse((key,), f'"{key:.80}": expected the text of an operation')
            case _:
                self._refuse((), "expected Apollo's manifest, or Relay's object of ids and texts")

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
                self.context.problems.add(self.json.place(*at, "id"), sentence, code="duplicate-id")
            else:
                yield from self._text((*at, "body"), entry, id_at=(*at, "id"))

    def _text(
        self, at: tuple[str | int, ...], entry: dict[str, Any], *, id_at: tuple[str | int, ...]
    ) -> Iterator[OperationText]:
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
        if not is_digest and not self.context.takes_any_document:
            sentence = "the API gets the SHA-256 of a text, and here the text has another id"
            self.context.problems.warn(self.json.place(*id_at), sentence, code="foreign-document-id", about=[id_])
        yield OperationText(
            source=self.json.embedded(*at, body=body),
            file=self.file,
            persisted=True,
            id=digest if is_digest else id_,
            called_by_id=True,
            shares_fragments=False,
            declares=(entry["type"], entry["name"]) if "name" in entry else None,
        )

    def _refuse(self, path: tuple[str | int, ...], sentence: str) -> None:
        self.context.problems.add(self.json.place(*path), sentence, code="invalid-manifest")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """An unread file and the sentence of its warning. ``tool``: it may declare a tool."""

    at: Place
    sentence: str
    tool: bool


def unread_files(files: EndpointFiles, folder: str, *, declared: bool, others: Sequence[str]) -> list[Unread]:
    """Return unread files that look like files of operations.

    ``folder`` is the folder of operations. All other folders except ``others`` are searched only if no tool is
    ``declared``: beside tools, an author may keep such files for a reason.
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
                at_tool = _place(name, text, tool)
                unread.append(Unread(at=at_tool, sentence=f"it is not read: {remedy}", tool=tool is not None))
    if not declared:
        but = (folder, *alike, *others)
        for name, text in _unread(files, ".", suffixes=(*SUFFIXES, SCHEMA_SUFFIX), but=but):
            if tool := _TOOL.search(text):
                remedy = f"operations belong in {folder}/" if tool[1] == "@mcpTool" else "name it in @sdl(files:)"
                sentence = f"it is not read, and has {tool[1]}: {remedy}"
                unread.append(Unread(at=_place(name, text, tool), sentence=sentence, tool=True))
    return unread


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


def _place(name: str, text: str, match: re.Match[str] | None) -> Place:
    if match is None:
        return Place(name)
    at = match.start(1)
    return Place(name, text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))


def _has_half_character(text: str) -> bool:
    return any("\ud800" <= each <= "\udfff" for each in text)
