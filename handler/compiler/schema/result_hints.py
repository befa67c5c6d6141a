"""The size of results in a tool's ``_meta``, for hosts that would cut or set aside a longer one.

Claude Code, from 2.1.91, reads ``anthropic/maxResultSizeChars`` of an entry in ``tools/list``: without it, 50,000
characters stay in the conversation, with it 500,000 at most.

Source: Claude Code, "Connect Claude Code to tools via MCP" ("Raise the limit for a specific tool"), read in 2026.
"""

from __future__ import annotations

from handler.strict_json import JSONObject

CLAUDE_CODE = "anthropic/maxResultSizeChars"
DEFAULT_CHARS = 50_000
MOST_CHARS = 500_000


def result_hints(max_result_bytes: int) -> JSONObject:
    """Return the members of ``_meta`` for a limit of results; none if hosts take results of that size anyway.

    0 stands for no limit. JSON has as many characters as bytes, or fewer.
    """
    size = max_result_bytes or MOST_CHARS
    return {CLAUDE_CODE: min(size, MOST_CHARS)} if size > DEFAULT_CHARS else {}
