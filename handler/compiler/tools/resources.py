"""Resources from all files in ``resources/``, as text or, if binary, as base64."""

from __future__ import annotations

import base64
import posixpath
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from handler.bundle.content import FileResource
from handler.bundle.resource_uris import file_uri
from handler.compiler.compile_context import CompileContext
from handler.compiler.problems import Place
from handler.compiler.source.files import EndpointFiles
from handler.policy.evaluation import Mask

RESOURCES_FOLDER = "resources"

MAX_RESOURCE_BYTES = 1_000_000
MAX_RESOURCES_BYTES = 4_000_000
"""Limit of an endpoint's resources together: every container keeps the bundle that holds them in memory."""

TEXTS: Mapping[str, str] = {
    ".css": "text/css",
    ".csv": "text/csv",
    ".gql": "application/graphql",
    ".graphql": "application/graphql",
    ".htm": "text/html",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".md": "text/markdown",
    ".svg": "image/svg+xml",
    ".tsv": "text/tab-separated-values",
    ".txt": "text/plain",
    ".xml": "application/xml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}
"""Suffix -> media type of text, which must be UTF-8."""

BLOBS: Mapping[str, str] = {
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".mp3": "audio/mpeg",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".wav": "audio/wav",
    ".webp": "image/webp",
    ".zip": "application/zip",
}
"""Suffix -> media type of binary files."""

TEXT, BLOB = "text/plain", "application/octet-stream"
"""Media types of files with other suffixes, by content."""


def read_resources(context: CompileContext, *, mask: Mask) -> tuple[FileResource, ...]:
    """Read the resources in or below their folder, by name. ``mask`` guards each of them."""
    files, problems = context.files, context.problems
    folder = context.project.path(RESOURCES_FOLDER)
    found: list[FileResource] = []
    for file in files.all_below(folder):
        content = _read(files, file)
        if content is None:
            continue
        name = posixpath.relpath(file, folder)
        if any("\ud800" <= each <= "\udfff" for each in name):
            problems.add(Place(file), "its name is not UTF-8", code="invalid-file-name")
            continue
        size = len(content.text.encode()) + len(content.blob)
        entry = {
            "uri": file_uri(context.project.endpoint, name),
            "name": name,
            "mimeType": content.media_type,
            "size": size,
        }
        blob = base64.b64encode(content.blob).decode("ascii")
        found.append(FileResource(entry=entry, text=content.text, blob=blob, mask=mask))
    total = sum(resource.entry["size"] for resource in found)
    if total > MAX_RESOURCES_BYTES:
        sentence = f"its files have {total} bytes together; the bundle that holds them takes {MAX_RESOURCES_BYTES}"
        problems.add(Place(folder), sentence, code="large-resources")
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Content:
    """The content of a file: ``text``, or ``blob`` if it is not text."""

    media_type: str
    text: str = ""
    blob: bytes = b""


def _read(files: EndpointFiles, file: str) -> _Content | None:
    """Read a file; ``None`` after reporting that it cannot be read."""
    suffix = posixpath.splitext(file)[1].lower()
    if suffix in TEXTS:
        text = files.read(file, max_bytes=MAX_RESOURCE_BYTES)
        return None if text is None else _Content(media_type=TEXTS[suffix], text=text)
    raw = files.read_bytes(file, max_bytes=MAX_RESOURCE_BYTES)
    if raw is None:
        return None
    if suffix not in BLOBS and b"\0" not in raw:
        with suppress(UnicodeDecodeError):
            return _Content(media_type=TEXT, text=raw.decode("utf-8-sig"))
    return _Content(media_type=BLOBS.get(suffix, BLOB), blob=raw)
