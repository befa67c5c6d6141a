"""A warning of tool names that some clients refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator

from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check

PORTABLE_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Names that every client and model vendor takes. MCP itself allows 128 characters, and dots."""


@check("unportable-name")
def unportable_name(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find names and aliases of tools that some clients refuse."""
    for each in endpoint.tools:
        for name in (each.tool.name, *each.tool.options.aliases):
            if not PORTABLE_NAME.fullmatch(name):
                sentence = f'some clients refuse the name "{name}": expected 1 to 64 letters, digits, _ or -'
                yield Finding(each.at, sentence, (name,))
