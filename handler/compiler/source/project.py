"""Read an endpoint folder's project file: the endpoint's name, and the folder of the author's files.

Source: the ``stepzen.config.json`` of StepZen's command line.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
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
        return Project(
            endpoint=_endpoint(name, Place(ENTRY), problems, hint="; --endpoint gives the folder another one")
        )
    text = files.read(STEPZEN_CONFIG)
    if text is None:
        return Project(endpoint=REFUSED_NAME, stepzen=True)
    content = _content(text, problems)
    root = _root(content, text, problems)
    at = _place_of("endpoint", text)
    if content is None:
        return Project(endpoint=REFUSED_NAME, root=root, stepzen=True)
    if name:
        return Project(endpoint=_endpoint(name, at, problems), root=root, stepzen=True)
    if not isinstance(content.get("endpoint"), str):
        problems.add(at, 'expected {"endpoint": "folder/name"}', code="invalid-project-file")
        return Project(endpoint=REFUSED_NAME, root=root, stepzen=True)
    return Project(endpoint=_endpoint(content["endpoint"], at, problems), root=root, stepzen=True)


def _endpoint(name: str, at: Place, problems: Problems, *, hint: str = "") -> str:
    if ENDPOINT_NAME.fullmatch(name):
        return name
    problems.add(at, f'"{name}" is not an endpoint name: {EXPECTED_NAME}{hint}', code="invalid-endpoint-name")
    return REFUSED_NAME


def _content(text: str, problems: Problems) -> Mapping[str, Any] | None:
    try:
        content = json.loads(text)
    except json.JSONDecodeError as exc:
        problems.add(
            Place(STEPZEN_CONFIG, exc.lineno, exc.colno), f"invalid JSON: {exc.msg}", code="invalid-project-file"
        )
        return None
    except (ValueError, RecursionError):  # a number or a nesting beyond what Python reads
        content = None
    return content if isinstance(content, dict) else {}


def _root(content: Mapping[str, Any] | None, text: str, problems: Problems) -> str:
    if content is None:
        # An extra comma must not cause a second report that index.graphql is missing.
        match = re.search(r'"root"\s*:\s*"([^"\\]*)"', text)
        return posixpath.normpath(match[1]) if match and _is_below(match[1]) else "."
    root = content.get("root", ".")
    if isinstance(root, str) and _is_below(root):
        return posixpath.normpath(root)
    problems.add(
        _place_of("root", text), '"root": expected a folder below this one, such as "src"', code="invalid-project-file"
    )
    return "."


def _place_of(key: str, text: str) -> Place:
    match = re.search(rf'"{key}"\s*:', text)
    return place_in(Source(text, STEPZEN_CONFIG), match.start()) if match else Place(STEPZEN_CONFIG)


def _is_below(root: str) -> bool:
    inside = not root.startswith("/") and posixpath.normpath(root).split("/")[0] != ".."
    return inside and root.isprintable() and len(root) <= MAX_ROOT_CHARS
