"""The differences between the revisions of MCP. No other module compares revisions.

Source: MCP 2026-07-28, basic/versioning; the changelogs of the earlier revisions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from handler.strict_json import Entry, to_well_formed_json

MODERN = ("2026-07-28",)
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
TEXT_ONLY = ("2025-03-26", "2024-11-05")
FIRST = "2024-11-05"
ASSUMED = "2025-03-26"
"""The revision of a request that names none. Source: MCP 2025-06-18, basic/transports, "Protocol Version Header"."""

BATCHING = "2025-03-26"
"""The one revision in which a body may hold several messages."""

_META_PREFIX = "io.modelcontextprotocol/"
SKILLS = f"{_META_PREFIX}skills"
"""The extension of skills. Source: SEP-2640, "Extension Identifier"."""

APPS = f"{_META_PREFIX}ui"
"""The extension of pages in the chat. Source: MCP Apps (SEP-1865), "Extension Identifier"."""

TASKS = f"{_META_PREFIX}tasks"
"""The extension of tasks, for requests that carry the client's capabilities. Source: SEP-2663."""

TASK_METHODS = ("tasks/get", "tasks/update", "tasks/cancel")

PROTOCOL_VERSION = f"{_META_PREFIX}protocolVersion"
CLIENT_CAPABILITIES = f"{_META_PREFIX}clientCapabilities"
CLIENT_INFO = f"{_META_PREFIX}clientInfo"
LOG_LEVEL = f"{_META_PREFIX}logLevel"


def is_modern(revision: str) -> bool:
    """Return whether requests carry their own metadata, without a handshake."""
    return revision in MODERN


def is_legacy(header: str | None, meta: Mapping[str, Any]) -> bool:
    """Return whether a request is of a revision with a handshake: by its header, or by none, if ``_meta`` agrees."""
    version = None if header is None else header.strip(" \t")
    if PROTOCOL_VERSION in meta:
        return version in LEGACY and version == meta[PROTOCOL_VERSION]
    return version is None or version in LEGACY


def has_batches(revision: str) -> bool:
    """Return whether a body may hold several messages. Source: MCP 2025-03-26, basic ("Batching")."""
    return revision == BATCHING


def revision_of_header(header: str | None) -> str:
    """Return the revision by the header ``MCP-Protocol-Version`` alone: modern if its value is unknown."""
    if header is None:
        return ASSUMED
    version = header.strip(" \t")
    return version if version in LEGACY else MODERN[0]


def error_id(identifier: str | int | None, revision: str) -> dict[str, Any]:
    """Return the member ``id`` of an error. For an unreadable id, JSON-RPC has null, MCP's later schemas no member.

    Source: JSON-RPC 2.0, section 5; MCP 2025-11-25, schema ("JSONRPCErrorResponse").
    """
    has_null = revision in ("2025-06-18", "2025-03-26", "2024-11-05")
    return {} if identifier is None and not has_null else {"id": identifier}


def negotiate(asked: object) -> str:
    """Return the revision that ``initialize`` answers: the one asked for, else our latest that has the method."""
    return asked if isinstance(asked, str) and asked in LEGACY else LEGACY[0]


def wanted_log_level(meta: Mapping[str, Any], revision: str) -> str | None:
    """Return the lowest level of log messages that a request asks for; ``None`` if it asks for none.

    Before 2026-07-28 a method set the level for later requests, and this server keeps no such state.
    """
    level = meta.get(LOG_LEVEL)
    return level if is_modern(revision) and isinstance(level, str) else None


def shape(result: dict[str, Any], revision: str, server: Entry, *, introduces: bool) -> dict[str, Any]:
    """Return a result in the form of a revision.

    Since 2026-07-28 a result says that it is complete, and names the server: with a description, icons and a website
    only if it ``introduces`` the server. Members that the schema of an earlier revision does not have are left out or
    become text.
    """
    if is_modern(revision):
        (info,) = listed("serverInfo", [server], revision if introduces else "2025-06-18")
        meta = {**result.get("_meta", {}), f"{_META_PREFIX}serverInfo": info}
        return {"resultType": "complete", **result, "_meta": meta}
    if "structuredContent" in result and (revision in TEXT_ONLY or not isinstance(result["structuredContent"], dict)):
        result = _as_text(result)
    if revision not in TEXT_ONLY:
        return result
    return {key: _converted(key, value, revision) for key, value in result.items()}


def _as_text(result: dict[str, Any]) -> dict[str, Any]:
    """Move a tool result's structured content into a text block, unless one holds its JSON or its one wrapped value."""
    structured = result["structuredContent"]
    json = to_well_formed_json(structured).decode()
    texts = {block.get("text") for block in result["content"]}
    match structured:
        case {"result": str(value), **rest} if not rest:
            equal_texts = {json, value}
        case {"result": value, **rest} if not rest:
            equal_texts = {json, to_well_formed_json(value).decode()}
        case _:
            equal_texts = {json}
    more = [] if texts & equal_texts else [{"type": "text", "text": json}]
    others = {key: each for key, each in result.items() if key != "structuredContent"}
    return {**others, "content": [*result["content"], *more]}


def _converted(key: str, value: Any, revision: str) -> Any:
    """Return a member of a result in the form of a revision before 2025-06-18."""
    match key:
        case "content":
            return [_block(block, revision) for block in value]
        case "messages":
            return [{**message, "content": _block(message["content"], revision)} for message in value]
        case "contents":
            return [_without_meta(content) for content in value]
    return value


def _block(block: dict[str, Any], revision: str) -> dict[str, Any]:
    """Return a block without the additions of 2025-06-18: ``_meta``, ``lastModified`` and links, which become text."""
    members = _without_meta(block)
    if "annotations" in block:
        members["annotations"] = {key: each for key, each in block["annotations"].items() if key != "lastModified"}
    match block["type"]:
        case "resource":
            return {**members, "resource": _without_meta(block["resource"])}
        case "resource_link":
            described = f"\n{block['description']}" if block.get("description") else ""
            text = f"{block.get('title') or block['name']}: {block['uri']}{described}"
        case "audio" if revision == FIRST:
            text = f"A sound ({block['mimeType']}), which this revision of MCP cannot hold."
        case _:
            return members
    annotations = {key: each for key, each in members.items() if key == "annotations"}
    return {"type": "text", "text": text, **annotations}


def _without_meta(value: dict[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in value.items() if key != "_meta"}


def listed(key: str, entries: Iterable[Entry], revision: str) -> Iterator[Entry]:
    """Yield list entries with the members of a revision. Until 2025-11-25 an output schema is of type object.

    Source: the schema of each revision, ``Tool``, ``Prompt``, ``Resource``, ``ResourceTemplate``, ``Implementation``.
    """
    members = _MEMBERS[key].get(revision)
    if members is None:
        yield from entries
        return
    for entry in entries:
        is_object = entry.get("outputSchema", {"type": "object"}).get("type") == "object"
        yield entry.only(members if is_object else members - {"outputSchema"})


_SINCE: Mapping[str, Mapping[str, str]] = {
    "tools": {
        FIRST: "name description inputSchema",
        "2025-03-26": "annotations",
        "2025-06-18": "title outputSchema _meta",
        "2025-11-25": "icons",
    },
    "prompts": {FIRST: "name description arguments", "2025-06-18": "title _meta", "2025-11-25": "icons"},
    "resources": {
        FIRST: "uri name description mimeType size annotations",
        "2025-06-18": "title _meta",
        "2025-11-25": "icons",
    },
    "resourceTemplates": {
        FIRST: "uriTemplate name description mimeType annotations",
        "2025-06-18": "title _meta",
        "2025-11-25": "icons",
    },
    "skills": {FIRST: "uri frontmatter resources"},
    "serverInfo": {FIRST: "name version", "2025-06-18": "title", "2025-11-25": "description icons websiteUrl"},
}
"""The members of a list's entries and of ``serverInfo``, by the key and by the revision that introduced them."""

_MEMBERS: Mapping[str, Mapping[str, frozenset[str]]] = {
    key: {
        revision: frozenset(" ".join(names for first, names in since.items() if first <= revision).split())
        for revision in LEGACY
    }
    for key, since in _SINCE.items()
}


def notified(notification: dict[str, Any], revision: str) -> dict[str, Any]:
    """Return a notification in the form of a revision: progress had no ``message`` before 2025-03-26."""
    params = notification["params"]
    if revision != FIRST or notification["method"] != "notifications/progress" or "message" not in params:
        return notification
    return {**notification, "params": {key: each for key, each in params.items() if key != "message"}}


def capabilities_of(offered: Iterable[str], revision: str) -> dict[str, Any]:
    """Return the capabilities that a server declares.

    The first revision has completions with prompts, without a name of their own. Log messages are sent only if a
    request asks for a level (``wanted_log_level``). Extensions have the prefix of MCP's own; clients of earlier
    revisions know them, too.

    Source: MCP 2026-07-28, schema, ``ServerCapabilities``; SEP-2133 (extensions).
    """
    unsaid = {"completions": revision == FIRST, "logging": not is_modern(revision), TASKS: not is_modern(revision)}
    names = [name for name in offered if not unsaid.get(name)]
    extensions: dict[str, Any] = {name: {} for name in names if name.startswith(_META_PREFIX)}
    own: dict[str, Any] = {name: {} for name in names if name not in extensions}
    return {**own, "extensions": extensions} if extensions else own


def resource_not_found_code(revision: str) -> int:
    """Return the JSON-RPC code for a resource that does not exist.

    Source: MCP 2026-07-28 and 2025-11-25, server/resources, "Error Handling".
    """
    return -32602 if is_modern(revision) else -32002


def cacheable(result: dict[str, Any], revision: str, *, public: bool) -> dict[str, Any]:
    """Add how long and for whom a result may be cached. Source: MCP 2026-07-28, server/utilities/caching."""
    if not is_modern(revision):
        return result
    return {**result, "ttlMs": 60_000, "cacheScope": "public" if public else "private"}
