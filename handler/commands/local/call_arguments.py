"""The arguments of a call, from the command line and from files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from handler.bundle.tools import CONFIRM, PrescribedTool, Tool
from handler.commands.command_line import UsageRefused
from handler.server.auth.principal import TOKEN
from handler.strict_json import JSONObject, parse_json

STDIN = "-"


def arguments_for(tool: Tool | None, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return tool arguments: texts if the tool's schema takes strings, else their JSON, or texts for it to refuse.

    ``tool`` is ``None`` if only a toolkit knows the tool.
    """
    if tool is None:
        return {name: _value(text, {}) for name, text in pairs}
    nested = isinstance(tool, PrescribedTool) and not tool.flat
    schema = tool.arguments["properties"]["variables"] if nested else tool.arguments
    properties = schema.get("properties", {})
    values = {name: _value(text, properties.get(name, {})) for name, text in pairs}
    if not nested:
        return values
    beside = {CONFIRM} if tool.options.confirm == "advisory" and CONFIRM not in properties else set()
    confirmed = {name: _value(text, {"type": "boolean"}) for name, text in pairs if name in beside}
    return {"variables": {name: value for name, value in values.items() if name not in beside}, **confirmed}


def merged(file: JSONObject, pairs: JSONObject) -> JSONObject:
    """Add the arguments of the command line to those of a file; the variables of both are one object."""
    former, latter = file.get("variables"), pairs.get("variables")
    both = {"variables": {**former, **latter}} if isinstance(former, dict) and isinstance(latter, dict) else {}
    return {**file, **pairs, **both}


def arguments_file(name: str) -> JSONObject:
    """Read the arguments in a file for argparse; ``-`` is standard input."""
    content = _content_of(name)
    try:
        arguments = parse_json(content)
    except ValueError as exc:
        raise argparse.ArgumentTypeError(f"{name}: invalid JSON: {exc}") from exc
    if not isinstance(arguments, dict):
        raise argparse.ArgumentTypeError(f"{name}: expected a JSON object, as tools/call has it in arguments")
    return arguments


def token_file(name: str) -> str:
    """Read the token in a file for argparse; ``-`` is standard input."""
    try:
        text = _content_of(name).decode("ascii", "replace").strip()
    except argparse.ArgumentTypeError:  # the name may be the token itself, so it is not repeated
        expected = "expected a file with a token, or - for standard input: there is no file that can be read"
        raise argparse.ArgumentTypeError(expected) from None
    if not TOKEN.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{name}: expected a token, as Authorization: Bearer has it")
    return text


def _content_of(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    except OSError as exc:
        raise argparse.ArgumentTypeError(f"{name}: cannot be read ({exc.strerror})") from exc


def pair(word: str) -> tuple[str, str]:
    """Read an argument ``K=V`` for argparse."""
    name, equals, text = word.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{word!r}: expected K=V")
    return name, text


def require_single(pairs: Sequence[tuple[str, Any]]) -> None:
    """Refuse a name that stands in two pairs.

    Raises:
        UsageRefused: as above.
    """
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise UsageRefused(f'"{name}" is given twice: expected K=V once for each name.')


def _value(text: str, schema: Mapping[str, Any]) -> Any:
    types = schema.get("type", [])
    return text if "string" in types and "object" not in types else json_or_text(text)  # any scalar takes JSON


def json_or_text(text: str) -> Any:
    """Return the value of a text that is JSON; otherwise the text."""
    try:
        return parse_json(text.encode())
    except ValueError:
        return text
