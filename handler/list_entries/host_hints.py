"""Hints for single hosts in the ``_meta`` of a tool's list entry. Hosts that do not know a hint ignore it.

Nothing of a hint is a promise of the host: the server's own rules hold whether or not the host honours the hint.
"""

from __future__ import annotations

from handler.cold.records import record
from handler.strict_json import JSONObject

DEFAULT_CHARS = 50_000
"""Claude Code keeps results of this length in the conversation, and moves longer ones to a file."""

MOST_CHARS = 500_000
"""The longest result that Claude Code keeps in the conversation, whatever a server says."""

MAX_SEARCH_HINT_CHARS = 200


@record(frozen=True, slots=True, kw_only=True)
class HostHint:
    """One key of ``_meta``: the host that reads it, and the source that says so."""

    key: str
    host: str
    since: str  # version of the host; empty: the source does not say
    effect: str
    source: str
    read: str  # date


CLAUDE_CODE_MCP = 'Claude Code, "Connect Claude Code to tools via MCP"'

RESULT_SIZE = HostHint(
    key="anthropic/maxResultSizeChars",
    host="Claude Code",
    since="2.1.91",
    effect="a result up to this length stays in the conversation",
    source=f'{CLAUDE_CODE_MCP}, "Raise the limit for a specific tool"',
    read="2026-11-23",
)
ASK = HostHint(
    key="anthropic/requiresUserInteraction",
    host="Claude Code",
    since="2.1.199",
    effect="a person is asked before each call, in each mode and under all rules of the host",
    source=f'{CLAUDE_CODE_MCP}, "Require approval for a specific tool"',
    read="2026-11-23",
)
ALWAYS_LOAD = HostHint(
    key="anthropic/alwaysLoad",
    host="Claude Code",
    since="2.1.121",
    effect="the tool stays in the model's context if the host defers tools to its tool search",
    source=f"{CLAUDE_CODE_MCP}, on the scaling of tool search",
    read="2026-11-23",
)
SEARCH = HostHint(
    key="anthropic/searchHint",
    host="Claude Code",
    since="",
    effect="words by which the host's tool search finds the tool",
    source="the package @anthropic-ai/claude-agent-sdk, the option searchHint of a tool",
    read="2026-11-23",
)

HINTS = (RESULT_SIZE, ASK, ALWAYS_LOAD, SEARCH)


def size_hint(max_result_bytes: int) -> JSONObject:
    """Return the hint for a limit of results; none if hosts take results of that size anyway.

    0 stands for no limit. JSON has as many characters as bytes, or fewer.
    """
    size = max_result_bytes or MOST_CHARS
    return {RESULT_SIZE.key: min(size, MOST_CHARS)} if size > DEFAULT_CHARS else {}


def tool_hints(*, pinned: bool = False, asks: bool = False, search: str = "") -> JSONObject:
    """Return the hints of a tool that is pinned, whose calls each need a person, or that has words for a search."""
    return {
        **({ASK.key: True} if asks else {}),
        **({ALWAYS_LOAD.key: True} if pinned else {}),
        **({SEARCH.key: search} if search else {}),
    }


def search_hint_fault(text: str) -> str:
    """Return the fault of words for a tool search; an empty string if they are valid."""
    if not text.strip() or len(text) > MAX_SEARCH_HINT_CHARS or not text.isprintable():
        return f"expected one line of 1 to {MAX_SEARCH_HINT_CHARS} characters"
    return ""
