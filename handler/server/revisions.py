"""What differs between the revisions of MCP. Nothing outside this module compares revisions.

Source: MCP 2026-07-28, basic/versioning; the changelogs of the earlier revisions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from handler import __version__
from handler.json_shape import to_well_formed_json

MODERN = ("2026-07-28",)
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
TEXT_ONLY = ("2025-03-26", "2024-11-05")
NULL_IDS = ("2025-06-18", "2025-03-26", "2024-11-05")
FIRST = "2024-11-05"
ASSUMED = "2025-03-26"
"""What a request without any version speaks. Source: MCP 2025-06-18, basic/transports, "Protocol Version Header"."""

BATCHING = "2025-03-26"
"""The one revision in which a body may hold several messages."""

SERVER_INFO = {"name": "stile", "version": __version__}
LIST_TTL_MS = 60_000

_META_PREFIX = "io.modelcontextprotocol/"
PROTOCOL_VERSION = f"{_META_PREFIX}protocolVersion"
CLIENT_CAPABILITIES = f"{_META_PREFIX}clientCapabilities"
CLIENT_INFO = f"{_META_PREFIX}clientInfo"
LOG_LEVEL = f"{_META_PREFIX}logLevel"


def is_modern(revision: str) -> bool:
    """Whether requests carry their own metadata and there is no handshake."""
    return revision in MODERN


def has_batches(revision: str) -> bool:
    """Whether a body may hold several messages. Source: MCP 2025-03-26, basic ("Batching")."""
    return revision == BATCHING


def revision_told(header: str | None) -> str:
    """The revision that the header ``MCP-Protocol-Version`` names, where a body cannot be asked."""
    if header is None:
        return ASSUMED
    version = header.strip(" \t")
    return version if version in LEGACY else MODERN[0]


def error_id(identifier: str | int | None, revision: str) -> dict[str, Any]:
    """The member ``id`` of an error. Where it cannot be read, JSON-RPC says null; MCP's later schemas leave it out.

    Source: JSON-RPC 2.0, section 5; MCP 2025-11-25, schema ("JSONRPCErrorResponse").
    """
    return {} if identifier is None and revision not in NULL_IDS else {"id": identifier}


def negotiate(asked: object) -> str:
    """The revision that ``initialize`` answers: the one asked for, else our latest that has the method."""
    return asked if isinstance(asked, str) and asked in LEGACY else LEGACY[0]


def wanted_log_level(meta: Mapping[str, Any], revision: str) -> str | None:
    """The least level of the log messages that a request asks for; ``None``: it wants none.

    Before 2026-07-28 a method said it for all that followed, which nothing here remembers.
    """
    level = meta.get(LOG_LEVEL)
    return level if is_modern(revision) and isinstance(level, str) else None


def shape(result: dict[str, Any], revision: str) -> dict[str, Any]:
    """A result as a revision has it.

    Since 2026-07-28 it says that it is complete, and who answers. Before 2025-06-18 there was only text.
    """
    if "structuredContent" in result and not result["content"] and revision in TEXT_ONLY:
        text = to_well_formed_json(result["structuredContent"]).decode()
        result = {**result, "content": [{"type": "text", "text": text}]}
    if not is_modern(revision):
        return result
    meta = {**result.get("_meta", {}), f"{_META_PREFIX}serverInfo": SERVER_INFO}
    return {"resultType": "complete", **result, "_meta": meta}


def capabilities_of(offered: Iterable[str], revision: str) -> dict[str, Any]:
    """What a server says that it offers.

    In the first revision completions had no name, and were there with prompts. Messages are for who asks for a level
    with a request (``wanted_log_level``).
    """
    unsaid = {"completions": revision == FIRST, "logging": not is_modern(revision)}
    return {name: {} for name in offered if not unsaid.get(name)}


def resource_not_found_code(revision: str) -> int:
    """The JSON-RPC code for a resource that is not there.

    Source: MCP 2026-07-28 and 2025-11-25, server/resources, "Error Handling".
    """
    return -32602 if is_modern(revision) else -32002


def cacheable(result: dict[str, Any], revision: str, *, public: bool) -> dict[str, Any]:
    """How long and for whom a list may be kept. Source: MCP 2026-07-28, server/utilities/caching."""
    if not is_modern(revision):
        return result
    return {**result, "ttlMs": LIST_TTL_MS, "cacheScope": "public" if public else "private"}
