"""``stile connect``: the lines by which an MCP client connects to an endpoint, or the same in the client's file."""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from handler.bundle.model import ENDPOINT_NAME
from handler.commands.command_line import DONE, REFUSED, CommandRefused, UsageRefused, server_url
from handler.commands.console import announce, say, show_json, show_verbatim
from handler.commands.folders.atomic_writes import read_regular, replace_text
from handler.commands.folders.endpoints import add_compile_options, compile_or_complain, folder_of_endpoints
from handler.commands.local.callers import caller_argument
from handler.commands.local.listening import DEFAULT_PORT, HOST, port_number
from handler.commands.questions import agreed
from handler.page.clients import CLIENTS, Credential, credential_variable
from handler.strict_json import JSONObject, parse_json

EXAMPLES = ("stile connect cursor shop/orders --write", "stile connect codex https://HOST/shop/orders/mcp --as key:ada")
EXIT_CODES = {REFUSED: "the endpoint has problems, or the client's file stays as it is"}

PLACES = {"darwin": ("", "Library/Application Support"), "win32": ("APPDATA", "AppData/Roaming")}
"""Platform -> the variable that names the folder with the settings of programs, and the folder's default at home."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("client", choices=tuple(CLIENTS), metavar="CLIENT", help=f"one of {', '.join(CLIENTS)}")
    meaning = "the folder of an endpoint of `stile dev` (default: this folder), or the URL of a deployed endpoint"
    parser.add_argument("source", metavar="SOURCE", nargs="?", type=_source, default=".", help=meaning)
    parser.add_argument("--as", dest="key", metavar="key:NAME", type=caller_argument, help="an API key of the endpoint")
    parser.add_argument("--port", type=port_number, default=DEFAULT_PORT, help="of stile dev (default: %(default)s)")
    parser.add_argument("--write", action="store_true", help="show the change of the client's file, ask, and write it")
    parser.add_argument("--yes", action="store_true", help="with --write: do not ask; needed without a terminal")
    add_compile_options(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(options: argparse.Namespace) -> int:
    client = CLIENTS[options.client]
    if options.write and not client.file:
        raise UsageRefused(f"{client.title}: there is no file to write. Take the lines without --write.")
    if options.key and options.key.known:
        raise UsageRefused("--as takes key:NAME. Without it, the client signs in or is anonymous.")
    if isinstance(options.source, str) and (options.stage or options.endpoint):
        raise UsageRefused("--stage and --endpoint are for a folder: a URL names its endpoint.")
    url = options.source if isinstance(options.source, str) else _local_url(options)
    if not url:
        return REFUSED
    endpoint = "/".join(url.split("/")[-3:-1])
    name = endpoint.replace("/", "-")
    credential: Credential = "key" if options.key else ""
    variable = credential_variable(name, credential)
    line, members = client.line(name, url, credential), client.members(name, url, credential)
    base, file = _place(options.client)
    try:
        written = _write(base, file, members, options) if options.write else False
    except (OSError, TypeError, ValueError) as exc:
        raise CommandRefused(f"{file} stays as it is: {getattr(exc, 'strerror', exc)}") from exc
    if options.json:
        plain = {"client": options.client, "endpoint": endpoint, "url": url, "command": line, "members": members}
        show_json({**plain, "file": str(file) if client.file else "", "variable": variable, "written": written})
    elif not options.write:
        if client.file and not line:
            announce(f"{client.title} reads {file}:")
        show_verbatim(line or json.dumps(members, indent=2))
    if credential:
        announce(f"The lines name {variable}, and never have the key. {client.note}")
    return DONE


def _source(text: str) -> Path | str:
    """Return a folder, or the MCP URL of an endpoint."""
    if "://" not in text:
        return folder_of_endpoints(text)
    url = server_url(text).removesuffix("/mcp")
    if not ENDPOINT_NAME.fullmatch("/".join(urlsplit(url).path.split("/")[-2:])):
        raise argparse.ArgumentTypeError(f"{text}: expected the URL of an endpoint, as https://host/folder/name/mcp")
    return f"{url}/mcp"


def _local_url(options: argparse.Namespace) -> str:
    """Return the URL of the endpoint in ``stile dev``; an empty string after complaints about the folder."""
    compiled = compile_or_complain(options.source, stage=options.stage, endpoint=options.endpoint)
    if len(compiled) > 1:
        raise UsageRefused(f"{options.source} has several endpoints: name the folder of one.")
    if compiled and options.key:
        options.key.key(compiled[0].bundle)  # refuses the name of no key
    return f"http://{HOST}:{options.port}/{compiled[0].bundle.endpoint}/mcp" if compiled else ""


def _place(client: str) -> tuple[Path, Path]:
    """Return the folder below which a client's file is, and the file."""
    file = Path(CLIENTS[client].file)
    if client != "claude-desktop":
        return Path(), file
    variable, default = PLACES.get(sys.platform, ("XDG_CONFIG_HOME", ".config"))
    named = Path(os.environ.get(variable, ""))
    base = named if named.is_absolute() else Path.home() / default
    return base, base / "Claude" / file


def _write(base: Path, file: Path, members: JSONObject, options: argparse.Namespace) -> bool:
    """Show the change of a client's file, ask, and write it. Return whether it was written.

    Raises:
        OSError, TypeError, ValueError: the file cannot be changed safely, or nobody agreed.
    """
    before = _read(base, file)
    after = with_server(before, members)
    if before == after:
        say(f"{file} has these lines already.")
        return False
    # The file may have secrets of other servers, and those of the former entry.
    former = _former(before, members)
    old, new = (json.dumps(each, indent=2).splitlines() if each else [] for each in (former, members))
    for row in difflib.unified_diff(old, new, str(file), str(file), lineterm=""):
        show_verbatim(row)
    if not agreed(f"Write {file}?", yes=options.yes):
        raise ValueError("nobody agreed; without a terminal, --yes agrees")
    if _read(base, file) != before:
        raise ValueError("it was changed meanwhile")
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_text(file, after)
    say(f"{file}: written", "green")
    return True


def _former(text: str, members: JSONObject) -> JSONObject:
    """Return the entries of a client's file that ``members`` replaces; of values that differ, the names alone."""
    content, entries = json.loads(text or "{}"), {}
    for name, added in members.items():
        for server in {*added} & {*content.get(name, {})} if isinstance(added, dict) else ():
            former = content[name][server]
            values = former.items() if isinstance(former, dict) else ()
            entries[name] = {server: {key: value if added[server].get(key) == value else "…" for key, value in values}}
    return entries


def _read(base: Path, file: Path) -> str:
    """Return the text of a client's file below the folder ``base``; empty string if there is none."""
    return (read_regular(base, file) or b"").decode()


def with_server(text: str, members: JSONObject) -> str:
    """Return the JSON text of a client's file with the members of a server, which objects and lists in it gain.

    They stand at the beginning, and no other text changes. Only if another server has the name, all is laid out anew.

    Raises:
        TypeError, ValueError: the text is not valid, or not as the client documents it.
    """
    text = text if text.strip() else "{}\n"
    parse_json(text.encode())  # it refuses NaN, and takes the second of two members of one name
    content = json.loads(text, object_pairs_hook=_object)
    if not isinstance(content, dict):
        raise TypeError("expected a JSON object")
    indentation = re.search(r'\n([ \t]+)"', text)
    indent, newline = indentation[1] if indentation else "  ", "\r\n" if "\r\n" in text else "\n"
    for name, added in members.items():
        former = content.get(name, type(added)())
        if type(former) is not type(added):
            raise TypeError(f"{name} is not as the client documents it")
        others = [each for each in former if each not in added]
        present = [*added, *others] if isinstance(added, list) else {**former, **added}
        if present != former:
            line = newline + indent * (name in content)
            place = re.search(rf'"{name}"\s*:\s*[\[{{]' if name in content else "{", text)
            begin, end = (text[: place.end()], text[place.end() :]) if place else ("", text)
            piece = json.dumps(added if name in content else {name: added}, indent=indent)[1:-1].rstrip()
            draft = begin + piece.replace("\n", line) + (line if end.lstrip()[:1] in ("}", "]") else ",") + end
            content = {**content, name: present}
            if not place or json.loads(draft) != content:
                draft = json.dumps(content, ensure_ascii=False, indent=indent) + "\n"
            text = draft
    text.encode()  # refuses half a surrogate pair
    return text


def _object(pairs: Sequence[tuple[str, Any]]) -> JSONObject:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a member is there twice")
    return dict(pairs)
