"""Hints of ``stile dev`` for a path without a route, such as one that a person types into a browser."""

from __future__ import annotations

from collections.abc import Mapping

from handler.text.sentences import nearest, some

MAX_NAMED = 10
MAX_NAME_CHARS = 200
NAME_PARTS = 2
"""The parts of an endpoint's name."""


def hint_for(path: str, served: Mapping[str, str]) -> str:
    """Return a clause about a path; ``served`` maps each endpoint's name to the URL for MCP clients."""
    name = "/".join([part for part in path.split("/") if part][:NAME_PARTS])
    if path == f"/{name}/mcp" and name in served:
        return f"MCP clients send POST requests to {served[name]}"
    near = nearest(name, list(served)) if 0 < len(name) <= MAX_NAME_CHARS else None
    if near:
        return f"did you mean {served[near]}?"
    return f"MCP clients find {some(list(served.values()), most=MAX_NAMED)}" if served else "no endpoint is served"
