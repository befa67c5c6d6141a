"""Lines to paste into clients, one for each."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator

TOKEN = "Authorization: Bearer TOKEN"  # noqa: S105 - a placeholder

CLIENTS = ("Claude Code", "Claude Desktop", "VS Code", "Cursor", "Inspector")


def client_lines(name: str, url: str, *, with_token: bool) -> Iterator[tuple[str, str]]:
    """Yield each client with its command, or its file and the JSON in it; ``with_token``: with a header for a token.

    Claude Desktop starts programs, so that mcp-remote stands between it and a server at a URL.
    """
    header = {"headers": dict([TOKEN.split(": ", 1)])} if with_token else {}
    option = f" --header {shlex.quote(TOKEN)}" if with_token else ""
    arguments = ["-y", "mcp-remote", url, *(["--header", TOKEN] if with_token else [])]
    lines = (
        f"claude mcp add --transport http {name} {url}{option}",
        f"claude_desktop_config.json {json.dumps({'mcpServers': {name: {'command': 'npx', 'args': arguments}}})}",
        f".vscode/mcp.json {json.dumps({'servers': {name: {'type': 'http', 'url': url, **header}}})}",
        f".cursor/mcp.json {json.dumps({'mcpServers': {name: {'url': url, **header}}})}",
        f"npx @modelcontextprotocol/inspector --cli {url} --transport http --method tools/list{option}",
    )
    yield from zip(CLIENTS, lines, strict=True)
