"""The folder of operations as a source of them, and unread files that look like operations.

Source: Cosmo router, MCP: a folder of operations is read with all folders below it, ``.graphql`` and ``.gql``. Files
that end in ``.graphqls`` hold schemas, by the convention of the servers that read them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from handler.compiler.compile_context import CompileContext
from handler.compiler.operations.author_operations import OperationText
from handler.compiler.problems import Place, Problems
from handler.compiler.schema.schema import AuthorSchema
from handler.compiler.source.files import EndpointFiles

OPERATIONS_FOLDER = "operations"

SUFFIXES = (".graphql", ".gql")
SCHEMA_SUFFIX = ".graphqls"
MANIFEST_SUFFIXES = ("persisted-query-manifest.json", "persisted_queries.json")
"""Names of manifests: those that Apollo's and Relay's compilers write by default."""

READABLE = "expected a name that ends in .graphql or .gql"
READABLE_JSON = f"a manifest of operations has a name that ends in {' or '.join(MANIFEST_SUFFIXES)}"

MAX_LOOKED_INTO = 1_000
"""The number of unread files in a folder that are searched."""

_SAID = r"^[^#\n]*?"  # on one line, outside comments
_OPERATION = re.compile(
    _SAID + r"(?<![\w.$@])(?:query|mutation|subscription)\b\s*(?:[A-Za-z_]\w*\s*)?(?:[{@]|\(\s*\$)", re.MULTILINE
)
_TOOL_OF_OPERATION = re.compile(_SAID + r"(@mcpTool)\b", re.MULTILINE)
_TOOL = re.compile(_SAID + r"(?<!directive )(@(?:mcpTool|tool))\b", re.MULTILINE)


def texts_in_folder(context: CompileContext, _: AuthorSchema) -> Iterator[OperationText]:
    """Yield the texts of the files in or below the folder of operations. All of them are persisted."""
    folder = context.project.path(OPERATIONS_FOLDER)
    for name in operation_files(context.files, folder, context.problems):
        yield text_of_file(context.files, name, named_at=Place(name), persisted=True)


def text_of_file(files: EndpointFiles, name: str, *, named_at: Place, persisted: bool) -> OperationText:
    """Read a whole file as one text. Its id is ``sha256:`` and the SHA-256 of its bytes."""
    source = files.source(name, named_at=named_at)
    return OperationText(
        source=source,
        file=name,
        persisted=persisted,
        id=f"sha256:{files.sha256(name)}" if source else "",
        called_by_id=named_at.file != name,  # an ``@sdl`` names it
    )


def operation_files(
    files: EndpointFiles, folder: str, problems: Problems, *, suffixes: tuple[str, ...] = SUFFIXES
) -> list[str]:
    """Return the files of operations in or below ``folder``, by name. Unreadable folders are reported."""
    found = files.find(folder, suffixes=suffixes)
    for at, reason in found.faults:
        problems.add(Place(at), f"it {reason}", code="unreadable-file")
    names = [name for name in found.files if name.lower().endswith(suffixes)]
    for name in names:
        if not _is_utf8(name):
            problems.add(Place(name), "its name is not UTF-8", code="invalid-file-name")
    return [name for name in names if _is_utf8(name)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """An unread file and the sentence of its warning. ``tool``: it may declare a tool."""

    at: Place
    sentence: str
    tool: bool


def unread_files(files: EndpointFiles, folder: str, *, declared: bool, others: Sequence[str]) -> list[Unread]:
    """Find unread files that look like files of operations.

    ``folder`` is the folder of operations. All other folders except ``others`` are searched only if no tool is
    ``declared``: beside tools, an author may keep such files for a reason.
    """
    alike = files.folders_like(folder)
    unread = [*_behind_links(files, folder), *(one for each in (folder, *alike) for one in _meant(files, each, folder))]
    if not declared:
        unread += _declaring(files, folder, but=(folder, *alike, *others))
    return unread


def _behind_links(files: EndpointFiles, folder: str) -> Iterator[Unread]:
    """Yield links to folders. Links are not followed, so any may lead to a tool."""
    for link in files.find(folder, suffixes=SUFFIXES).links:
        yield Unread(at=Place(link), sentence="it is a link to a folder, which is not followed", tool=True)


def _meant(files: EndpointFiles, at: str, folder: str) -> Iterator[Unread]:
    """Yield unread files with operations below ``at``, which is the folder of operations or has a similar name."""
    for name, text in _unread(files, at):
        tool = _TOOL_OF_OPERATION.search(text)
        if tool or _OPERATION.search(text):
            sentence = f"it is not read: {_remedy(name, at, folder)}"
            yield Unread(at=_place(name, text, tool), sentence=sentence, tool=tool is not None)


def _declaring(files: EndpointFiles, folder: str, *, but: Sequence[str]) -> Iterator[Unread]:
    """Yield the unread GraphQL files, in any folder, that declare a tool."""
    for name, text in _unread(files, ".", suffixes=(*SUFFIXES, SCHEMA_SUFFIX), but=but):
        if tool := _TOOL.search(text):
            remedy = f"operations belong in {folder}/" if tool[1] == "@mcpTool" else "name it in @sdl(files:)"
            sentence = f"it is not read, and has {tool[1]}: {remedy}"
            yield Unread(at=_place(name, text, tool), sentence=sentence, tool=True)


def _is_utf8(name: str) -> bool:
    return not any("\ud800" <= each <= "\udfff" for each in name)


def _unread(
    files: EndpointFiles, folder: str, *, suffixes: tuple[str, ...] = (), but: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """Yield the unread files below a folder, each with the beginning of its text. Markdown is for people: skipped."""
    names = (name for name in files.find(folder).files if not any(name.startswith(f"{each}/") for each in but))
    wanted = (name for name in names if _is_wanted(name, suffixes) and not files.is_read(name))
    for name in islice(wanted, MAX_LOOKED_INTO):
        yield name, files.glance(name)


def _is_wanted(name: str, suffixes: tuple[str, ...]) -> bool:
    return name.lower().endswith(suffixes) if suffixes else not name.lower().endswith((".md", ".markdown"))


def _remedy(name: str, at: str, folder: str) -> str:
    if at != folder:
        return f"operations belong in {folder}/"
    if name.lower().endswith(".json"):
        return READABLE_JSON
    return f"{SCHEMA_SUFFIX} is for schemas: {READABLE}" if name.lower().endswith(SCHEMA_SUFFIX) else READABLE


def _place(name: str, text: str, found: re.Match[str] | None) -> Place:
    if found is None:
        return Place(name)
    at = found.start(1)
    return Place(name, text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))
