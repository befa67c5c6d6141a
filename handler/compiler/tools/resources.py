"""Resources from all files in ``resources/``, and the reading of the author's files for clients."""

from __future__ import annotations

import base64
import posixpath
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from handler.bundle.content import FileResource
from handler.bundle.resource_uris import file_uri
from handler.compiler.access.policies import own_mask
from handler.compiler.compile_context import CompileContext
from handler.compiler.problems import Place, Problems
from handler.compiler.source.files import EndpointFiles
from handler.compiler.source.yaml_section import Section
from handler.policy.evaluation import Mask

RESOURCES_FOLDER = "resources"

MAX_RESOURCE_BYTES = 1_000_000
MAX_RESOURCES_BYTES = 4_000_000
"""Limit of an endpoint's resources together: every container keeps the bundle that holds them in memory."""

MAX_UNREAD = 10
"""The number of unread files in one folder that get a warning each."""

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
    resources: list[FileResource] = []
    for file in files.all_below(folder):
        content = read_file_content(files, file, max_bytes=MAX_RESOURCE_BYTES)
        if content is None:
            continue
        name = posixpath.relpath(file, folder)
        if any("\ud800" <= each <= "\udfff" for each in name):
            problems.add(Place(file), "its name is not UTF-8", code="invalid-file-name")
            continue
        resources.append(content.resource(file_uri(context.project.endpoint, name), {"name": name}, mask=mask))
    total = sum(resource.entry["size"] for resource in resources)
    if total > MAX_RESOURCES_BYTES:
        sentence = f"its files have {total} bytes together; the bundle that holds them takes {MAX_RESOURCES_BYTES}"
        problems.add(Place(folder), sentence, code="large-resources")
    return tuple(resources)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileContent:
    """The content of a file: ``text``, or ``blob`` if it is not text."""

    media_type: str
    text: str = ""
    blob: bytes = b""

    @property
    def served(self) -> bytes:
        """The bytes that clients get, without the byte order mark of a text."""
        return self.blob or self.text.encode()

    def resource(self, uri: str, texts: Mapping[str, str], *, mask: Mask, hidden: bool = False) -> FileResource:
        """Return the resource for the bundle. ``texts`` has its name, and may have a title and a description."""
        entry = {"uri": uri, **texts, "mimeType": self.media_type, "size": len(self.served)}
        blob = base64.b64encode(self.blob).decode("ascii")
        return FileResource(entry=entry, text=self.text, blob=blob, mask=mask, hidden=hidden)


def read_file_content(files: EndpointFiles, file: str, *, max_bytes: int) -> FileContent | None:
    """Read a file; ``None`` after reporting that it cannot be read."""
    suffix = posixpath.splitext(file)[1].lower()
    if suffix in TEXTS:
        text = files.read(file, max_bytes=max_bytes)
        return None if text is None else FileContent(media_type=TEXTS[suffix], text=text)
    raw = files.read_bytes(file, max_bytes=max_bytes)
    return None if raw is None else content_of(file, raw)


def content_of(name: str, content: str | bytes) -> FileContent:
    """Return the content of a file with this name, of whose bytes nothing is known."""
    suffix = posixpath.splitext(name)[1].lower()
    if isinstance(content, str):
        return FileContent(media_type=TEXTS.get(suffix, TEXT), text=content)
    if suffix not in BLOBS and b"\0" not in content:
        with suppress(UnicodeDecodeError):
            return FileContent(media_type=TEXT, text=content.decode("utf-8-sig"))
    return FileContent(media_type=BLOBS.get(suffix, BLOB), blob=content)


def warn_of_unread(files: Sequence[str], fault: str, problems: Problems) -> None:
    """Warn of the first files that are not read. ``fault`` is the sentence behind "it is not read"."""
    for file in files[:MAX_UNREAD]:
        problems.warn(Place(file), f"it is not read{fault}", code="unread-file", about=[file])


def mask_of(section: Section, context: CompileContext, *, default: Mask) -> Mask:
    """Return the mask of a section's ``condition``; the default without one."""
    return own_mask(section, context.conditions, context.problems) if "condition" in section else default
