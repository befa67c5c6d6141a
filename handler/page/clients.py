"""The usual MCP clients: the command, or the members of a file, by which each connects to a server at a URL.

A credential is never a part of them: they name the variable that has it. Sources: docs/clients.md.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Literal

from handler.cold.records import record
from handler.strict_json import JSONObject

Credential = Literal["", "key", "token"]

CREDENTIAL_HEADERS: Mapping[Credential, str] = {"": "", "key": "X-API-Key: ", "token": "Authorization: Bearer "}
"""Credential -> its header before the credential itself."""


@record(frozen=True, slots=True, kw_only=True)
class Client:
    """An MCP client. ``command``, its ``option`` for a credential, and ``reference`` are templates."""

    title: str
    command: str = ""
    option: str = ""
    file: str = ""
    servers: str = "mcpServers"  # the member of the file that has the servers by name
    reference: str = "${{{variable}}}"  # of the file to a variable
    note: str = "Set the environment variable before the client starts."  # about the credential

    def line(self, name: str, url: str, credential: Credential) -> str:
        """Return the command that adds a server to the client; empty string if there is none."""
        template = self.command + (self.option if credential else "")
        words = {"header": CREDENTIAL_HEADERS[credential], "variable": credential_variable(name, credential)}
        return template.format(name=name, url=shlex.quote(url), **words)

    def members(self, name: str, url: str, credential: Credential) -> JSONObject:
        """Return the members of the client's file for a server."""
        variable = credential_variable(name, credential)
        header, _, scheme = CREDENTIAL_HEADERS[credential].partition(": ")
        value = scheme + self.reference.format(variable=variable)
        entry: JSONObject = {"type": "http", "url": url, **({"headers": {header: value}} if credential else {})}
        if self.title == "Claude Desktop":  # it starts programs alone, and on Windows it breaks arguments at a space
            option = ["--header", f"{header}:{value}"] if credential else []
            entry = {"command": "npx", "args": ["-y", "mcp-remote", url, *option]}
        members: JSONObject = {self.servers: {name: entry}}
        if credential and self.title == "VS Code":
            members["inputs"] = [{"type": "promptString", "id": variable, "description": variable, "password": True}]
        return members


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client(
        title="Claude Code",
        command="claude mcp add --transport http {name} {url}",
        option=" --header '{header}${{{variable}}}'",
        file=".mcp.json",
    ),
    "claude-desktop": Client(
        title="Claude Desktop",
        file="claude_desktop_config.json",
        note="Claude Desktop knows no variables: only a member env beside args sets it, and then the file has it.",
    ),
    "vscode": Client(
        title="VS Code",
        file=".vscode/mcp.json",
        servers="servers",
        reference="${{input:{variable}}}",
        note="VS Code asks for it once, and keeps it in its secret storage.",
    ),
    "cursor": Client(title="Cursor", file=".cursor/mcp.json", reference="${{env:{variable}}}"),
    "codex": Client(
        title="Codex", command="codex mcp add {name} --url {url}", option=" --bearer-token-env-var {variable}"
    ),
    "inspector": Client(
        title="Inspector",
        command="npx @modelcontextprotocol/inspector --cli {url} --transport http --method tools/list",
        option=' --header "{header}${variable}"',
    ),
    "json": Client(title="JSON"),
}


def credential_variable(name: str, credential: Credential) -> str:
    """Return the variable that has the credential for a server; empty string without a credential."""
    return f"{name.replace('-', '_').upper()}_{credential.upper()}" if credential else ""


def client_lines(name: str, url: str, credential: Credential, indent: int | None = None) -> Iterator[tuple[str, ...]]:
    """Yield each client's title, its file, and the JSON in it; or the title, an empty string and a command."""
    for client in CLIENTS.values():
        if client.command:
            yield client.title, "", client.line(name, url, credential)
        elif client.file:
            yield client.title, client.file, json.dumps(client.members(name, url, credential), indent=indent)
