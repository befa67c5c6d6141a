"""The served endpoints and their personas: the callers in whose name the page of ``stile dev`` can ask an endpoint.

Personas are the author, without policies; a caller without a credential; a bearer of the claims of each claims file;
and the holder of each API key. A claims file is a JSON object in the endpoint's folder or the folder above. It has one
of ``CLAIMS``, or one of the claims that the endpoint's rules read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from handler.audience.caller_classes import leaves_of, paths_in
from handler.audience.reach import Reach, Visitor, refusal_of
from handler.bundle.model import Bundle
from handler.bundle.tools import PrescribedTool
from handler.commands.folders.tool_costs import ToolRow, tool_rows
from handler.commands.local.callers import (
    KEY,
    MAX_CLAIMS_BYTES,
    NOBODY,
    SKIPS_POLICIES,
    NamedCaller,
    read_caller,
)
from handler.commands.local.dev_session import Workbench
from handler.commands.publishing.checks import check_warnings
from handler.compiler.compile import Compiled
from handler.errors.authoring import CompileError, Problem, UnknownCaller
from handler.server.asgi.responses import Refused

AUTHOR = "author"
FILE = "file:"

HEADER = "stile-caller"
"""The header by which the page names a persona."""

CLAIMS = frozenset(
    {"sub", "iss", "aud", "exp", "nbf", "iat", "jti", "scope", "scp", "client_id", "azp", "email", "roles", "groups"}
)
"""Claims of which a claims file has one. Source: RFC 7519, section 4.1; RFC 9068, section 2.2."""

MAX_FILES = 50
"""JSON files of a folder that are looked at, in order of their names."""

UNSOLVED = "the files of the endpoint have problems, so their rules are not known: solve the problems first"


class ServedEndpoint:
    """One version of an endpoint. Threads may share it: at worst, two make the same part at first."""

    def __init__(self, workbench: Workbench, folder: Path, compiled: Compiled) -> None:
        self._workbench = workbench
        self.folder = folder
        self.compiled = compiled

    @property
    def name(self) -> str:
        """The endpoint's name."""
        return self.compiled.bundle.endpoint

    @property
    def personas(self) -> list[Persona]:
        """The author, anonymous, the bearers of the claims files that are there now by their names, and API keys."""
        keys = [(_id(KEY, key.name), f"{KEY}{key.name}") for key in self.compiled.bundle.identity.api_keys]
        return [
            Persona(id=AUTHOR, label="author", kind="author", caller=SKIPS_POLICIES),
            Persona(id=NOBODY, label=NOBODY, kind="anonymous", caller=read_caller(NOBODY)),
            *_bearers(self.folder, self.compiled),
            *(Persona(id=id_, label=text, kind="key", caller=NamedCaller(text=text, known=None)) for id_, text in keys),
        ]

    @cached_property
    def reach(self) -> Reach:
        """The reach of callers without the rules behind closed entrances, which takes no further compilation."""
        return Reach(self.compiled, None)

    @cached_property
    def explained(self) -> Reach:
        """The reach of callers with the rules behind closed entrances.

        Raises:
            Refused: 503, the files have problems now; 404, the endpoint is not served any more.
        """
        try:
            explained = self._workbench.explained(self.name)
        except CompileError as exc:
            raise Refused("endpoint-unavailable", UNSOLVED) from exc
        if explained is None:
            raise Refused("endpoint-not-found", "there is no such endpoint")
        return Reach(*explained)

    @cached_property
    def rows(self) -> dict[str, ToolRow]:
        """The tools by name, with their costs."""
        return {row.name: row for row in tool_rows(self.compiled)}

    @cached_property
    def warnings(self) -> list[Problem]:
        """The warnings of ``stile check``."""
        return check_warnings(self.compiled, self.folder)


def visitor_of(reach: Reach, persona: Persona) -> Visitor:
    """Return a persona at an endpoint.

    Raises:
        Refused: 400, the endpoint has no such API key any more.
    """
    try:
        return reach.visitor(persona.caller)
    except UnknownCaller as exc:
        raise Refused("bad-request", str(exc)) from exc


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """A caller with an id, which fits a header, and a label that no other persona of the endpoint has.

    ``file`` is the path of the claims file, or empty.
    """

    id: str
    label: str
    kind: str  # author | anonymous | claims | key
    file: str = ""
    caller: NamedCaller

    def plain(self, bundle: Bundle) -> dict[str, Any]:
        """Return the persona as JSON, with the reason if the endpoint answers it 401."""
        refused = refusal_of(self.caller, bundle)
        return {"id": self.id, "label": self.label, "kind": self.kind, "file": self.file, "refused": refused}


def find_persona(personas: list[Persona], id_: str) -> Persona:
    """Return the persona with an id. Without an id it is the author.

    Raises:
        Refused: 400, there is none.
    """
    for persona in personas:
        if persona.id == (id_ or AUTHOR):
            return persona
    raise Refused("bad-request", "the endpoint has no persona of this id: /-/endpoints lists them")


def _bearers(folder: Path, compiled: Compiled) -> Iterator[Persona]:
    """Yield the bearers of the claims files in the folder and above, each id once, with different labels."""
    of_rules = {path[0] for leaf in leaves_of(compiled.bundle.conditions) for path in paths_in(leaf)}
    prescribed = (each.tool for each in compiled.made if isinstance(each.tool, PrescribedTool))
    bound = {binding.name for tool in prescribed for binding in tool.bindings if binding.source == "claim"}
    names = CLAIMS | of_rules | bound
    ids: set[str] = set()
    labels: set[str] = set()
    for place in (folder, folder.absolute().parent if folder == Path() else folder.parent):
        for file in _json_files(place):
            try:
                caller = read_caller(file.as_posix())
            except UnknownCaller:
                continue
            claims = caller.known.claims if caller.known else None
            id_ = _id(FILE, caller.text)
            if claims and names & claims.keys() and id_ not in ids:
                label = f"../{file.name}" if file.name in labels else file.name
                ids.add(id_)
                labels.add(file.name)
                yield Persona(id=id_, label=label, kind="claims", file=caller.text, caller=caller)


def _json_files(folder: Path) -> list[Path]:
    """Return the regular JSON files of a folder that are small enough for claims, and not hidden."""
    files = []
    try:
        for file in folder.iterdir():
            if file.name.endswith(".json") and not file.name.startswith("."):
                with suppress(OSError):
                    if file.is_file() and file.stat().st_size <= MAX_CLAIMS_BYTES:
                        files.append(file)
    except OSError:
        return []
    return sorted(files)[:MAX_FILES]


def _id(kind: str, name: str) -> str:
    """Return an id in ASCII: browsers send no other characters in a header."""
    return f"{kind}{quote(os.fsencode(name), safe='/')}"
