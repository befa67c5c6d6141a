"""Tool calls of an endpoint whose author wants more of them in the log. Imported only for such endpoints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any

from handler.bundle.tools import GraphQLTool, PrescribedTool
from handler.errors.access import AccessError
from handler.errors.calls import NotFound
from handler.server.mcp.jsonrpc import Call, Rejected
from handler.server.upstream.read_coordinates import note_refused
from handler.strict_json import JSONObject, to_well_formed_json
from handler.text.invisible import escaped
from handler.text.sentences import is_secret

MAX_VALUE_CHARS = 200
"""Characters of a logged value. A longer value is cut, and ends in an ellipsis."""

MAX_NUMBER = 2**53
MAX_DEPTH, MAX_MEMBERS = 6, 50
"""Levels of a logged value, and members of each: what is beyond them is not looked at, and would not fit."""


@contextmanager
def logged(call: Call, name: str, arguments: JSONObject) -> Iterator[None]:
    """Note the arguments that the author named, and the fields of a call that is refused inside."""
    log, tool = call.caller.endpoint.bundle.log, call.caller.endpoint.tools.get(name)
    own = [each for each in log.arguments if each.tool == tool.name] if log and tool else []
    if own and tool:
        values_read = call.caller.endpoint.validator(tool, call.caller.evaluation).meant(arguments)
        values: JSONObject = {}
        for each in own:
            holder = values_read.get(each.inside) if each.inside else values_read
            if isinstance(holder, dict) and each.name in holder:
                values[each.name] = shown_value(holder[each.name])
        if values:
            call.note(arguments=values)
    try:
        yield
    except (AccessError, NotFound, Rejected):
        if "coordinates" not in call.caller.facts:
            _note_refused(call, name, arguments)
        raise
    if call.caller.facts["decision"] == "refused":
        _note_refused(call, name, arguments)


def shown_value(value: Any) -> Any:
    """Return a value for the log: a number, a boolean, ``None``, or a bounded text without control characters.

    Lists and objects are JSON texts, in which members with the names of secrets are not shown.
    """
    match value:
        case None | bool():
            return value
        case int() | float() if -MAX_NUMBER <= value <= MAX_NUMBER:
            return value
        case int() | float():
            text = repr(value)
        case str():
            text = value[: MAX_VALUE_CHARS + 1]
        case _:
            text = to_well_formed_json(_without_secrets(value, depth=MAX_DEPTH)).decode()
    text = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in escaped(text))
    return text if len(text) <= MAX_VALUE_CHARS else f"{text[: MAX_VALUE_CHARS - 1]}…"


def _note_refused(call: Call, name: str, arguments: Mapping[str, Any]) -> None:
    match call.caller.endpoint.tools.get(name):
        case PrescribedTool(operation=operation):
            note_refused(call.caller, sha256=operation.sha256)
        case GraphQLTool() if isinstance(arguments.get("query"), str):
            note_refused(call.caller, text=arguments["query"])


def _without_secrets(value: Any, *, depth: int) -> Any:
    """Copy the beginning of a value, without members that have the names of secrets."""
    match value:
        case dict() | list() if depth == 0:
            return "…"
        case dict():
            members = islice(value.items(), MAX_MEMBERS)
            return {
                key[:MAX_VALUE_CHARS]: "(secret)" if is_secret(key) else _without_secrets(each, depth=depth - 1)
                for key, each in members
            }
        case list():
            return [_without_secrets(each, depth=depth - 1) for each in value[:MAX_MEMBERS]]
        case str():
            return value[:MAX_VALUE_CHARS]
        case _:
            return value
