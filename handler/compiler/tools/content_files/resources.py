"""Resources from all files in ``resources/``, as text or, if binary, as base64."""

from __future__ import annotations

import base64
import posixpath

from handler.bundle.content import FileResource
from handler.bundle.resource_uris import file_uri
from handler.compiler.compile_context import CompileContext
from handler.compiler.problems import Place
from handler.compiler.tools.content_files.file_contents import read_file_content
from handler.policy.evaluation import Mask

RESOURCES_FOLDER = "resources"

MAX_RESOURCE_BYTES = 1_000_000
MAX_RESOURCES_BYTES = 4_000_000
"""Limit of an endpoint's resources together: every container keeps the bundle that holds them in memory."""


def read_resources(context: CompileContext, *, mask: Mask) -> tuple[FileResource, ...]:
    """Read the resources in or below their folder, by name. ``mask`` guards each of them."""
    files, problems = context.files, context.problems
    folder = context.project.path(RESOURCES_FOLDER)
    found: list[FileResource] = []
    for file in files.all_below(folder):
        content = read_file_content(files, file, max_bytes=MAX_RESOURCE_BYTES)
        if content is None:
            continue
        name = posixpath.relpath(file, folder)
        if any("\ud800" <= each <= "\udfff" for each in name):
            problems.add(Place(file), "its name is not UTF-8", code="invalid-file-name")
            continue
        entry = {
            "uri": file_uri(context.project.endpoint, name),
            "name": name,
            "mimeType": content.media_type,
            "size": len(content.served),
        }
        blob = base64.b64encode(content.blob).decode("ascii")
        found.append(FileResource(entry=entry, text=content.text, blob=blob, mask=mask))
    total = sum(resource.entry["size"] for resource in found)
    if total > MAX_RESOURCES_BYTES:
        sentence = f"its files have {total} bytes together; the bundle that holds them takes {MAX_RESOURCES_BYTES}"
        problems.add(Place(folder), sentence, code="large-resources")
    return tuple(found)
