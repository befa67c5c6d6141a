"""A warning of files that look like operations or tools but are not read."""

from __future__ import annotations

from collections.abc import Iterator

from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check
from handler.compiler.operations.operation_files import OPERATIONS_FOLDER
from handler.compiler.problems import Place
from handler.text.sentences import some

MAX_TOLD = 10
"""Unread files that get a warning of their own."""


@check("unread-file")
def unread_file(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find the unread files that their author may expect to be read."""
    unread = endpoint.api.unread
    for one in unread[:MAX_TOLD]:
        yield Finding(one.at, one.sentence, (one.at.file,))
    more = [one.at.file for one in unread[MAX_TOLD:]]
    if more:
        at = Place(endpoint.context.project.path(OPERATIONS_FOLDER))
        yield Finding(at, f"more files look like operations and are not read: {some(more)}", tuple(more))
