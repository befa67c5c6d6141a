"""Read the author's files of one endpoint, a folder that a stranger may have made: texts, ``.env``, the project file.

Source: the ``stepzen.config.json`` of StepZen's command line.
"""

from __future__ import annotations

import hashlib
import json
import os
import os.path
import posixpath
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from graphql import Source

from handler.bundle.model import ENDPOINT_NAME
from handler.compiler.problems import NOWHERE, Place, Problems, place_in
from handler.text.sentences import nearest

ENTRY = NOWHERE.file
SCHEMA_FILE = "schema.graphql"
"""The API's own schema, which `stile init` and `stile pull` write."""

CONFIG = "config.yaml"
ENV_FILE = ".env"
QUESTIONS = "questions.yaml"
SDL_SUFFIXES = (".graphql", ".gql", ".graphqls")
POLICY_TESTS = "policies.test.yaml"
TOOL_TESTS = "tools.test.yaml"
TESTS = (POLICY_TESTS, TOOL_TESTS)

MAX_FILE_BYTES = 8_000_000
"""Large enough for GitHub's schema (1.2 MB of SDL), small enough to refuse files that are not schemas."""

MAX_FOLDERS_DEEP = 16
MAX_FILES_FOUND = 10_000
"""Bounds of a search for files below a folder."""

NEVER_ENTERED = frozenset({"node_modules", "__pycache__", "venv"})
"""Folders of other tools that a search skips, like all hidden folders."""

LIKENESS = 0.9
"""The likeness of similar names: "Operations", "operation" and "opertions" are like "operations", "options" is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The result of a search below a folder: sorted names relative to the endpoint folder."""

    files: tuple[str, ...] = ()
    links: tuple[str, ...] = ()  # links to folders, which are not followed
    faults: tuple[tuple[str, str], ...] = ()  # folders that were not searched completely, each with the reason


class EndpointFiles:
    """The author's files of one endpoint. Each text is read once; files outside the folder are refused."""

    def __init__(self, folder: Path, problems: Problems) -> None:
        self.folder = folder
        self._problems = problems
        self._texts: dict[str, str | None] = {}
        self._digests: dict[str, str] = {}

    def exists(self, name: str) -> bool:
        """Return whether the folder has an entry of this name. It may be unreadable."""
        return os.path.lexists(self.folder / name)

    def all_below(self, below: str) -> list[str]:
        """List the names of the files at any depth below a folder, without hidden files and folders.

        A link to a folder counts as a file and is not followed.
        """
        top = self.folder / below
        paths = (path for path in top.rglob("*") if path.is_symlink() or not path.is_dir())
        return sorted(self._name(path) for path in paths if not any(map(_is_hidden, path.relative_to(top).parts)))

    def find(self, below: str, *, suffixes: tuple[str, ...] = ()) -> Found:
        """Find the files below a folder, without hidden ones, editors' copies and ``NEVER_ENTERED``.

        A folder whose name ends in one of ``suffixes`` counts as a file, which cannot be read. If ``below`` is a link
        out of the endpoint folder, its folders are not searched; its own files are found, and reading them fails.
        """
        files: list[str] = []
        links: list[str] = []
        faults: list[tuple[str, str]] = []
        top = self.folder / below
        if not self.has_folder(below):
            return Found(faults=((below, f"{_link(top)}is not a folder"),) if self._stands(below) else ())
        inside = _is_inside(self.folder, top)

        def note(failure: OSError) -> None:
            faults.append((self._name(Path(failure.filename)), f"cannot be read: {failure.strerror}"))

        for path, folders, names in os.walk(top, onerror=note):
            here = Path(path)
            visible = sorted(name for name in folders if not _is_hidden(name) and name not in NEVER_ENTERED)
            as_files = [name for name in visible if suffixes and name.lower().endswith(suffixes)]
            linked = [name for name in visible if name not in as_files and (here / name).is_symlink()]
            entered = [name for name in visible if name not in (*as_files, *linked)]
            if entered and len(here.relative_to(top).parts) >= MAX_FOLDERS_DEEP:
                faults.append((self._name(here), f"has more folders: expected at most {MAX_FOLDERS_DEEP} levels"))
                entered = []
            folders[:] = entered if inside else []
            files += [self._name(here / name) for name in (*names, *as_files) if not _is_copy(name)]
            links += [self._name(here / name) for name in linked]
            if len(files) > MAX_FILES_FOUND:
                faults.append((below, f"has more than {MAX_FILES_FOUND:,} files"))
                break
        return Found(files=tuple(sorted(files[:MAX_FILES_FOUND])), links=tuple(sorted(links)), faults=tuple(faults))

    def search(self, below: str, *, suffixes: tuple[str, ...] = ()) -> Found:
        """Find files as ``find`` does, and report folders that cannot be searched."""
        found = self.find(below, suffixes=suffixes)
        for name, reason in found.faults:
            self._problems.add(Place(name), f"it {reason}", code="unreadable-file")
        return found

    def folders(self, below: str) -> list[str]:
        """List the sorted names of a folder's folders and links to folders; empty if it cannot be read."""
        return [name for name in self._names_in(below) if (self.folder / below / name).is_dir()]

    def folders_like(self, name: str) -> list[str]:
        """List the folders beside ``name`` whose names may be slips for it."""
        above, expected = posixpath.split(name)
        beside = [each for each in self.folders(above) if each != expected]
        alike = [each for each in beside if get_close_matches(each.casefold(), [expected], cutoff=LIKENESS)]
        return [posixpath.join(above, each) for each in alike]

    def names_beside(self, name: str) -> list[str]:
        """List the sorted names in the folder of a file; empty if it cannot be read."""
        return self._names_in(posixpath.dirname(name))

    def has_folder(self, name: str) -> bool:
        """Return whether there is a folder of exactly this name: some file systems accept other spellings, too."""
        return (self.folder / name).is_dir() and (name == "." or self._stands(name))

    def is_read(self, name: str) -> bool:
        """Return whether ``read`` was called for a file."""
        return name in self._texts

    def glance(self, name: str) -> str:
        """Return the beginning of a file that is not part of the endpoint; an empty string if it is unreadable."""
        try:
            with _opened(self.folder, name) as file:
                return file.read(MAX_GLANCE_BYTES).decode("utf-8-sig", "replace")
        except Unreadable:
            return ""

    def read(self, name: str, *, named_at: Place | None = None, max_bytes: int = MAX_FILE_BYTES) -> str | None:
        """Return the text of a file, or report why it is unreadable and return ``None``.

        ``name`` is relative to the endpoint folder; ``named_at`` is where an author named it.
        """
        if name not in self._texts:
            self._texts[name] = None
            at = named_at or Place(name)
            try:
                raw = self.read_bytes(name, named_at=at, max_bytes=max_bytes)
                self._texts[name] = None if raw is None else raw.decode("utf-8-sig")
            except UnicodeDecodeError as exc:
                line = exc.object.count(b"\n", 0, exc.start) + 1
                reason = f"is not UTF-8: line {line} has a byte that cannot be read"
                self._report(Unreadable(reason), name, at)
            self._judge_merge(name)
        return self._texts[name]

    def _judge_merge(self, name: str) -> None:
        """Refuse a text with a mark of a merge; warn of a mark in prose, which may be about merges."""
        if mark := _MERGE_MARK.search(self._texts[name] or ""):
            at = place_in(Source(mark.string, name), mark.start())
            if name.endswith((*SDL_SUFFIXES, ".yaml", ".json", ENV_FILE)):
                self._texts[name] = None
                self._problems.add(at, _MERGE, code="unreadable-file")
            else:
                self._problems.warn(at, _MERGE, code="merge-mark", about=[name])

    def read_bytes(self, name: str, *, named_at: Place | None = None, max_bytes: int) -> bytes | None:
        """Return the bytes of a file, or report why it is unreadable and return ``None``."""
        try:
            raw = read_bytes(self.folder, name, max_bytes)
        except Unreadable as exc:
            self._report(exc, name, named_at or Place(name))
            return None
        self._digests[name] = hashlib.sha256(raw).hexdigest()
        return raw

    def source(self, name: str, *, named_at: Place | None = None) -> Source | None:
        """Read a file as a ``Source`` for graphql-core, which keeps the file's name for positions."""
        text = self.read(name, named_at=named_at)
        return None if text is None else Source(text, name)

    def places_of(self, piece: str) -> Iterator[Place]:
        """Yield the first place of a piece of one line in each text that was read, except ``.env``: it has secrets."""
        for name, text in sorted(self._texts.items()):
            at = -1 if text is None or posixpath.basename(name) == ENV_FILE else text.find(piece)
            if text is not None and at >= 0:
                yield Place(name, text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))

    def texts(self, *suffixes: str) -> dict[str, str]:
        """Return the texts that were read from files with one of these suffixes, by name."""
        return {name: text for name, text in sorted(self._texts.items()) if text and name.endswith(suffixes)}

    def sha256(self, name: str) -> str:
        """Return the SHA-256 of the bytes of a file that was read, in hexadecimal."""
        return self._digests[name]

    def digest_of(self, name: str) -> str | None:
        """Return the SHA-256 of a file, without reading it as part of the endpoint; ``None`` if it is unreadable."""
        try:
            return self._digests.get(name) or hashlib.sha256(read_bytes(self.folder, name, MAX_FILE_BYTES)).hexdigest()
        except Unreadable:
            return None

    def digest(self) -> str:
        """Return the SHA-256 of the names and texts of all files that were read. ``read_bytes`` counts by digest."""
        digest = hashlib.sha256()
        contents = {**self._digests, **self._texts}
        for name, content in sorted(contents.items()):
            digest.update(json.dumps([name, content]).encode())
        return digest.hexdigest()

    def _stands(self, name: str) -> bool:
        return posixpath.basename(name) in self._names_in(posixpath.dirname(name))

    def _names_in(self, below: str) -> list[str]:
        try:
            return sorted(path.name for path in (self.folder / below).iterdir())
        except OSError:
            return []

    def _name(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()

    def _report(self, reason: Unreadable, name: str, at: Place) -> None:
        if at.file == name:
            self._problems.add(at, f"it {reason}", code="unreadable-file")
            return
        above, missing = posixpath.split(name)
        hint = ""  # the way to mend the name of a missing file
        if not self._stands(name) and not above.startswith(("..", "/")) and missing.endswith(SDL_SUFFIXES):
            names = [each for each in self._names_in(above) if each.endswith(SDL_SUFFIXES) and each != ENTRY]
            stems = {posixpath.splitext(each)[0]: each for each in names}
            near = nearest(posixpath.splitext(missing)[0], list(stems))
            expected = ": expected a path that begins beside the file that names it"
            hint = f"; did you mean {posixpath.join(above, stems[near])}?" if near else expected
        if "\\" in name:
            hint = "; a path has / between its parts: " + name.replace("\\", "/")
        self._problems.add(at, f'"{name}" {reason}{hint}', code="unreadable-file")


def _is_inside(folder: Path, path: Path) -> bool:
    # Path.resolve() raises an error of its own for circular links; stat() has a better message.
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _is_hidden(part: str) -> bool:
    return part.startswith(".")


def _is_copy(name: str) -> bool:
    """Return whether a file is hidden or a copy that an editor keeps beside the one it has open."""
    return _is_hidden(name) or name.endswith("~") or (name.startswith("#") and name.endswith("#"))


def join(including: str, name: str) -> str:
    """Return the normalized path, relative to the endpoint folder, of a file that another file names."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(including), name))


MAX_GLANCE_BYTES = 200_000
"""The part of an unread file that ``glance`` returns."""


class Unreadable(Exception):
    """A file is unreadable. The message is the end of a sentence."""


def read_bytes(folder: Path, name: str, max_bytes: int) -> bytes:
    """Return the bytes of a file in a folder.

    Raises:
        Unreadable: it is missing, not a regular file, too large, or outside of the folder.
    """
    with _opened(folder, name) as file:
        size = os.fstat(file.fileno()).st_size
        if size > max_bytes:
            raise Unreadable(f"has {size} bytes; a file may have {max_bytes}")
        return file.read()


@contextmanager
def _opened(folder: Path, name: str) -> Iterator[BinaryIO]:
    """Open a regular file inside a folder; links within the folder are followed."""
    path = folder / name
    try:
        if not _is_inside(folder, path):
            raise Unreadable(f"{_link(path)}lies outside the endpoint folder")
        if not stat.S_ISREG(path.stat().st_mode):  # before opening it: a pipe would wait for a writer
            raise Unreadable("is not a file")
        with path.open("rb") as file:
            yield file
    except FileNotFoundError as exc:
        raise Unreadable(f"{_link(path)}does not exist") from exc
    except OSError as exc:
        raise Unreadable(f"cannot be read: {exc.strerror}") from exc
    except ValueError as exc:
        raise Unreadable("has a character that no file's name can have") from exc


def _link(path: Path) -> str:
    """Return the beginning of a sentence about the target of a link; an empty string if the path is not a link."""
    return f"is a link to {path.readlink()}, which " if path.is_symlink() else ""


_MERGE_MARK = re.compile(r"^(?:<{7}|>{7})(?: |$)", re.MULTILINE)
_MERGE = "a merge was not resolved here: keep one version of the lines, and remove the marks"
_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)")
_QUOTED = re.compile(r"""(["'])(.*?)\1\s*(?:#.*)?""")

_UNCLOSED = re.compile(r"""(["'])(?!.*\1)""")


class Variables:
    """The ``STEPZEN_`` variables of the environment, then of ``.env`` beside config.yaml.

    ``.env`` is read when a variable is first missing from the environment.

    Source: StepZen's command line, which loads ``.env`` and lets the environment win.
    """

    def __init__(self, environ: Mapping[str, str], files: EndpointFiles, env_file: str) -> None:
        self._environ = environ
        self._files = files
        self._env_file = env_file

    def find(self, name: str) -> str | None:
        """Find the value of a variable; ``None`` if it is not set or not valid text."""
        value = self._environ.get(name)
        if value is None:
            value = self._of_file.get(name)
        # Bytes of the environment that are not UTF-8 are half characters, which JSON cannot carry.
        return None if value is None or any("\ud800" <= each <= "\udfff" for each in value) else value

    @cached_property
    def _of_file(self) -> dict[str, str]:
        text = self._files.read(self._env_file) if self._files.exists(self._env_file) else None
        return parse_env(text or "")


def parse_env(text: str) -> dict[str, str]:
    """Parse the assignments of an ``.env`` file. Other lines are skipped, and values of several lines."""
    assignments: dict[str, str] = {}
    for match in filter(None, (_LINE.fullmatch(line.strip()) for line in text.splitlines())):
        value = match[2].strip()
        quoted = _QUOTED.fullmatch(value)
        if not _UNCLOSED.match(value):
            assignments[match[1]] = quoted[2] if quoted else re.split(r"(?:^|\s)#", value, maxsplit=1)[0].strip()
    return assignments


def env_fault(text: str, name: str) -> str:
    """Return the line and the fault of a variable that ``parse_env`` skips; empty string if no line begins with it."""
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(rf"\s*(?:export\s+)?{re.escape(name)}(?!\w)\s*(=?)\s*(.*)", line)
        if match and (not match[1] or _UNCLOSED.match(match[2])):
            fault = "the value has several lines, and one is read" if match[1] else "the line has no = behind the name"
            return f"{number}: {fault}: expected {name}=VALUE on one line"
    return ""


STEPZEN_CONFIG = "stepzen.config.json"

REFUSED_NAME = "folder/name"
"""The stand-in for an invalid name that was reported, so that its uses are not reported again."""

EXPECTED_NAME = "expected folder/name, each a letter and then letters, digits, _ or -"

MAX_ROOT_CHARS = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """An endpoint's ``folder/name``, and the folder below its own that holds its files."""

    endpoint: str
    root: str = "."
    stepzen: bool = False  # it is a project of StepZen's command line

    def path(self, name: str) -> str:
        """Return the path of a file in the root, relative to the endpoint folder."""
        return posixpath.normpath(posixpath.join(self.root, name))


def read_project(files: EndpointFiles, problems: Problems, *, name: str | None = None) -> Project:
    """Read ``stepzen.config.json``; without one, the last two parts of the folder's path are the name.

    A given ``name`` overrides both, as in ``stepzen deploy folder/name``.
    """
    if not files.exists(STEPZEN_CONFIG):
        name = name or "/".join(files.folder.resolve().parts[-2:])
        hint = "; --endpoint gives the folder another one"
        return Project(endpoint=_endpoint(name, Place(ENTRY), problems, hint=hint))
    text = files.read(STEPZEN_CONFIG)
    if text is None:
        return Project(endpoint=REFUSED_NAME, stepzen=True)
    content: Any = None
    try:
        content = json.loads(text)
    except json.JSONDecodeError as exc:
        at = Place(STEPZEN_CONFIG, exc.lineno, exc.colno)
        problems.add(at, f"invalid JSON: {exc.msg}", code="invalid-project-file")
        # An extra comma must not cause a second report that index.graphql is missing.
        match = re.search(r'"root"\s*:\s*"([^"\\]*)"', text)
        root = posixpath.normpath(match[1]) if match and _is_below(match[1]) else "."
        return Project(endpoint=REFUSED_NAME, root=root, stepzen=True)
    except (ValueError, RecursionError):  # a number or a nesting beyond what Python reads
        pass
    values = content if isinstance(content, dict) else {}
    root, name = values.get("root", "."), name or values.get("endpoint")
    if not isinstance(root, str) or not _is_below(root):
        sentence = '"root": expected a folder below this one, such as "src"'
        problems.add(_place_of("root", text), sentence, code="invalid-project-file")
        root = "."
    endpoint, at = REFUSED_NAME, _place_of("endpoint", text)
    if isinstance(name, str):
        endpoint = _endpoint(name, at, problems)
    else:
        problems.add(at, 'expected {"endpoint": "folder/name"}', code="invalid-project-file")
    return Project(endpoint=endpoint, root=posixpath.normpath(root), stepzen=True)


def _endpoint(name: str, at: Place, problems: Problems, *, hint: str = "") -> str:
    if ENDPOINT_NAME.fullmatch(name):
        return name
    problems.add(at, f'"{name}" is not an endpoint name: {EXPECTED_NAME}{hint}', code="invalid-endpoint-name")
    return REFUSED_NAME


def _place_of(key: str, text: str) -> Place:
    match = re.search(rf'"{key}"\s*:', text)
    return place_in(Source(text, STEPZEN_CONFIG), match.start()) if match else Place(STEPZEN_CONFIG)


def _is_below(root: str) -> bool:
    inside = not root.startswith("/") and posixpath.normpath(root).split("/")[0] != ".."
    return inside and root.isprintable() and len(root) <= MAX_ROOT_CHARS
