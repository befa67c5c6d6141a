"""Pages of the lists that clients ask for, so that none passes what Lambda takes.

A cursor says which list it is of and where that goes on, and nothing is remembered. It holds for the list that its
caller sees of this very bundle: of another one it would skip entries or repeat them.

Source: MCP 2026-07-28, server/utilities/pagination.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from typing import Any

from handler.bundle.model import JSONObject
from handler.errors import InvalidParams
from handler.listed_sizes import is_listable
from handler.server.asgi.response_size import Room
from handler.server.mcp.call import Call
from handler.strict_json import Entries, Entry

DIGEST_BYTES = 12
PLACE_BYTES = 4

UNKNOWN = "Invalid params: unknown cursor: it is of another list, or the list has changed. Ask again without a cursor"


def page_of(call: Call, key: str, listed: Entries) -> JSONObject:
    """The page of a list that a request asks for, as a result with the list under ``key``.

    Output schemas, which no model reads, are left out of a list that would not fit one page with them.

    Raises:
        InvalidParams: the cursor is not one of this list.
    """
    entries: Sequence[Entry] = listed
    if listed.size > call.caller.room.page_bytes:
        entries = _listable(call, [each.brief for each in listed])
    digest = _digest(call, key, entries)
    cursor = call.request.params.get("cursor")
    start = 0 if cursor is None else _place(cursor, digest)
    end = _end(entries, start, call.caller.room)
    following = {"nextCursor": _cursor(end, digest)} if end < len(entries) else {}
    return {key: Entries(entries[start:end]), **following}


def _listable(call: Call, entries: Sequence[Entry]) -> list[Entry]:
    """The entries that fit an answer; of others the log says that they are not listed."""
    room = call.caller.room
    listable = [each for each in entries if is_listable(each.json) and room.fits(each.json)]
    if len(listable) < len(entries):
        known = {each.digest for each in listable}
        call.note(too_large=", ".join(str(each.get("name")) for each in entries if each.digest not in known))
    return listable


def _end(entries: Sequence[Entry], start: int, room: Room) -> int:
    """Where a page ends. It has one entry at least."""
    left = room.page_bytes
    for place in range(start, len(entries)):
        left -= len(entries[place].json) + 1
        if left < 0 and place > start:
            return place
    return len(entries)


def _digest(call: Call, key: str, entries: Sequence[Entry]) -> bytes:
    bundle = call.caller.endpoint.bundle
    digest = hashlib.sha256(f"{bundle.endpoint} {bundle.sources} {key} ".encode())
    for each in entries:
        digest.update(each.digest)
    return digest.digest()[:DIGEST_BYTES]


def _cursor(place: int, digest: bytes) -> str:
    return base64.urlsafe_b64encode(place.to_bytes(PLACE_BYTES, "big") + digest).decode().rstrip("=")


def _place(cursor: Any, digest: bytes) -> int:
    """Where the page of a cursor begins.

    Raises:
        InvalidParams: it is not a cursor of the list with this digest.
    """
    try:
        raw = base64.urlsafe_b64decode(f"{cursor}==") if isinstance(cursor, str) else b""
    except ValueError:
        raw = b""
    place = int.from_bytes(raw[:PLACE_BYTES], "big")
    if not isinstance(cursor, str) or raw[PLACE_BYTES:] != digest or cursor != _cursor(place, digest):
        raise InvalidParams(UNKNOWN)
    return place
