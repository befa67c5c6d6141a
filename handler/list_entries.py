"""A tool's list entry, as both halves read it: arguments in headers, sizes, and hints for hosts.

Clients repeat marked arguments in HTTP headers, so that proxies can route by them without reading bodies. A schema
marks them with ``x-mcp-header``. Clients drop a tool whose schema uses the mark in a forbidden way.

Sources: MCP 2026-07-28, basic/transports/streamable-http ("Custom Headers from Tool Parameters"); AWS Lambda quotas,
"Invocation payload", 6 MB, in which the body of a response is JSON text inside JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from handler.cold.records import record
from handler.strict_json import JSONObject, to_json_bytes

ANNOTATION = "x-mcp-header"
TYPES = ("string", "integer", "boolean")
_FIELD_NAME = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"

_VALUES = frozenset({"const", "default", "enum", "examples"})
"""Keywords that hold values, not schemas."""

_NAMED = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties"})
"""Keywords that hold schemas by name."""


@record(frozen=True, slots=True)
class Mirrored:
    """An argument repeated in a header: its name after ``Mcp-Param-``, and the properties that lead to it."""

    name: str
    path: tuple[str, ...]

    def value_in(self, arguments: Any) -> Any:
        """Return the argument's value; ``None`` if the call does not have it."""
        value = arguments
        for key in self.path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value


def mirrored_in(schema: Mapping[str, Any]) -> list[Mirrored]:
    """Return the arguments that an input schema marks.

    Raises:
        ValueError: a mark in a forbidden place or form.
    """
    arguments = [_mirrored(path, each) for path, each in _schemas(schema, ()) if ANNOTATION in each]
    names = [each.name.lower() for each in arguments]
    for each in arguments:
        if names.count(each.name.lower()) > 1:
            raise ValueError(f"{ANNOTATION} {each.name} stands at two properties, in whatever case")
    return arguments


def _mirrored(path: tuple[str, ...] | None, schema: Mapping[str, Any]) -> Mirrored:
    if not path:
        raise ValueError(f"{ANNOTATION} may stand at properties only, which nothing but properties leads to")
    where, name = "/".join(path), schema[ANNOTATION]
    if not isinstance(name, str) or not re.fullmatch(_FIELD_NAME, name):
        raise ValueError(f"{where}: expected {ANNOTATION} to be the end of a header's name, such as Region")
    if schema.get("type") not in TYPES:
        raise ValueError(f"{where}: {ANNOTATION} is for one of the types {', '.join(TYPES)}")
    if schema.get("format") == "password" or schema.get("writeOnly") is True:
        raise ValueError(f"{where}: {ANNOTATION} would put a secret where logs and proxies see it")
    return Mirrored(name, path)


def _schemas(schema: Any, path: tuple[str, ...] | None) -> Iterator[tuple[tuple[str, ...] | None, Mapping[str, Any]]]:
    """Yield a schema and its subschemas, each with the properties that lead to it; ``None`` if other keywords do."""
    if not isinstance(schema, Mapping):
        return
    yield path, schema
    for keyword, value in schema.items():
        if keyword == "properties" and isinstance(value, Mapping):
            for name, each in value.items():
                yield from _schemas(each, None if path is None else (*path, name))
        elif keyword not in _VALUES:
            by_name = keyword in _NAMED and isinstance(value, Mapping)
            for each in value if isinstance(value, list) else value.values() if by_name else [value]:
                yield from _schemas(each, None)


MAX_LISTED_BYTES = 6_000_000
"""Size of one entry in Lambda's JSON; the rest of the response fits beside it."""

BYTES_PER_TOKEN = 4
"""A rule of thumb for English text and JSON; vendors' tokenizers differ."""

LIST_BUDGET = 24_000
"""Tokens of a caller's list of tools: an eighth of a context of 200,000, as clients send the list at every turn."""


def is_listable(json: bytes) -> bool:
    """Return whether an entry with this JSON fits a response of its own."""
    return 2 * len(json) <= MAX_LISTED_BYTES or len(to_json_bytes(json.decode())) <= MAX_LISTED_BYTES


def answer_tokens(result: JSONObject, answer: bytes) -> int:
    """Return the approximate tokens that a model reads of a tool's result: those of its texts.

    ``answer``: the message with the result, which counts whole if the result has no text.
    """
    texts = (text for block in result["content"] if isinstance(text := block.get("text"), str))
    size = sum(len(text) if text.isascii() else len(text.encode(errors="surrogatepass")) for text in texts)
    return (size or len(answer)) // BYTES_PER_TOKEN


DEFAULT_CHARS = 50_000
"""Claude Code keeps results of this length in the conversation, and moves longer ones to a file."""

MOST_CHARS = 500_000
"""The longest result that Claude Code keeps in the conversation, whatever a server says."""

MAX_SEARCH_HINT_CHARS = 200


# The keys, all of Claude Code. Source of the first three: its documentation, "Connect Claude Code to tools via MCP",
# read on 2026-11-23. Hosts that do not know a hint ignore it, and the server's own rules hold whether or not a host
# honours a hint.
RESULT_SIZE = "anthropic/maxResultSizeChars"  # "Raise the limit for a specific tool"
ASK = "anthropic/requiresUserInteraction"  # "Require approval for a specific tool"
ALWAYS_LOAD = "anthropic/alwaysLoad"  # on the scaling of tool search
SEARCH = "anthropic/searchHint"  # source: the package @anthropic-ai/claude-agent-sdk, the option searchHint of a tool

HINTS = (RESULT_SIZE, ASK, ALWAYS_LOAD, SEARCH)


def size_hint(max_result_bytes: int) -> JSONObject:
    """Return the hint for a limit of results; none if hosts take results of that size anyway.

    0 stands for no limit. JSON has as many characters as bytes, or fewer.
    """
    size = max_result_bytes or MOST_CHARS
    return {RESULT_SIZE: min(size, MOST_CHARS)} if size > DEFAULT_CHARS else {}


def tool_hints(*, pinned: bool = False, asks: bool = False, search: str = "") -> JSONObject:
    """Return the hints of a tool that is pinned, whose calls each need a person, or that has words for a search."""
    return {
        **({ASK: True} if asks else {}),
        **({ALWAYS_LOAD: True} if pinned else {}),
        **({SEARCH: search} if search else {}),
    }


def search_hint_fault(text: str) -> str:
    """Return the fault of words for a tool search; an empty string if they are valid."""
    if not text.strip() or len(text) > MAX_SEARCH_HINT_CHARS or not text.isprintable():
        return f"expected one line of 1 to {MAX_SEARCH_HINT_CHARS} characters"
    return ""
