"""The socket that ``stile dev`` and ``stile serve`` listen on, and the lines with which clients connect."""

from __future__ import annotations

import errno
import json
import shlex
import socket
from collections.abc import Iterator

from handler.commands.command_line import whole_number
from handler.commands.console import complain


def listening_socket(host: str, port: int) -> socket.socket:
    """Open a listening socket with the protocol TCP.

    asyncio sets TCP_NODELAY only if a socket's protocol is TCP, and ``socket.create_server`` leaves the protocol 0:
    each answer on a kept connection would wait 40 ms for the acknowledgement of the previous packet.

    Raises:
        OSError: the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    server = socket.create_server((host, port), family=family)
    return socket.socket(server.family, server.type, socket.IPPROTO_TCP, fileno=server.detach())


port_number = whole_number(0, 65_535)


def open_listener(host: str, port: int) -> socket.socket | None:
    """Open a listening socket; ``None`` after a complaint if the address cannot be used."""
    try:
        return listening_socket(host, port)
    except OSError as exc:
        match exc.errno:
            case errno.EADDRINUSE:
                remedy = "is in use: stop the program that has it, or choose another port with --port."
            case errno.EACCES:
                remedy = "needs the rights of an administrator: choose a port above 1023 with --port."
            case _:
                remedy = f"cannot be used: {exc.strerror}"
        complain(f"Port {port} on {host} {remedy}")
        return None


TOKEN = "Authorization: Bearer TOKEN"  # noqa: S105 - a placeholder


def client_lines(name: str, url: str, *, with_token: bool) -> Iterator[tuple[str, str]]:
    """Yield each client with its command, or its file and the JSON in it; ``with_token``: with a header for a token.

    Claude Desktop starts programs, so that mcp-remote stands between it and a server at a URL.
    """
    header = {"headers": dict([TOKEN.split(": ", 1)])} if with_token else {}
    option = f" --header {shlex.quote(TOKEN)}" if with_token else ""
    bridge = {"command": "npx", "args": ["-y", "mcp-remote", url, *(["--header", TOKEN] if with_token else [])]}
    yield from {
        "Claude Code": f"claude mcp add --transport http {name} {url}{option}",
        "Claude Desktop": f"claude_desktop_config.json {json.dumps({'mcpServers': {name: bridge}})}",
        "VS Code": f".vscode/mcp.json {json.dumps({'servers': {name: {'type': 'http', 'url': url, **header}}})}",
        "Cursor": f".cursor/mcp.json {json.dumps({'mcpServers': {name: {'url': url, **header}}})}",
        "Inspector": f"npx @modelcontextprotocol/inspector --cli {url} --transport http --method tools/list{option}",
    }.items()
