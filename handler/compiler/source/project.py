"""Read an endpoint folder's project file: the endpoint's name, and the folder of the author's files.

Source: the ``stepzen.config.json`` of StepZen's command line.
"""

from __future__ import annotations

import json
import posixpath
import re
from dataclasses import dataclass
from typing import Any

from graphql import Source

from handler.bundle.model import ENDPOINT_NAME
from handler.compiler.problems import Place, Problems, place_in
from handler.compiler.source.files import ENTRY, EndpointFiles

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
