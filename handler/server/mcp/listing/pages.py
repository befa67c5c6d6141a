"""Pages of lists, so that no result is larger than Lambda allows.

A cursor holds a digest of its list and the next position; the server keeps nothing. A cursor is valid only for the
caller's list as it was: in another list it would skip or repeat entries. The digest is of nothing else, so that no
cursor changes with, or confirms a guess about, the parts of a bundle that are hidden from the caller.

Source: MCP 2026-07-28, server/utilities/pagination.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from typing import Any

from handler.errors.protocol import InvalidParams
from handler.list_entries.listed_sizes import is_listable
from handler.server.asgi.list_pages import page_end
from handler.server.mcp.messages.method_call import Call
from handler.strict_json import Entries, Entry, JSONObject

DIGEST_BYTES = 12
PLACE_BYTES = 4

UNKNOWN = "Invalid params: unknown cursor: it is of another list, or the list has changed. Ask again without a cursor"


def page_of(call: Call, key: str, listed: Entries) -> JSONObject:
    """Return the result with the page of a list that a request asks for, under ``key``.

    Output schemas, which no model reads, are left out of a list that would not fit one page with them.

    Raises:
        InvalidParams: the cursor is not a cursor of this list.
    """
    entries: Sequence[Entry] = listed
    page_bytes = call.caller.room.page_bytes
    if listed.size_to(page_bytes) > page_bytes:
        entries = _listable(call, [each.brief for each in listed])
    hashed = hashlib.sha256(f"{call.caller.endpoint.bundle.endpoint} {key} ".encode())
    for entry in entries:
        hashed.update(entry.digest)
    digest = hashed.digest()[:DIGEST_BYTES]
    cursor = call.request.params.get("cursor")
    start = 0 if cursor is None else _place(cursor, digest)
    end = page_end(entries, start, call.caller.room)
    following = {"nextCursor": _cursor(end, digest)} if end < len(entries) else {}
    return {key: Entries(entries[start:end]), **following}


def _listable(call: Call, entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries that fit an answer, and note the names of the others in the log."""
    room = call.caller.room
    listable = [
        each
        for each in entries
        if (each.size <= room.surely_small_bytes or (is_listable(each.json) and room.fits(each.json)))
    ]
    if len(listable) < len(entries):
        digests = {each.digest for each in listable}
        call.note(too_large=", ".join(str(each.get("name")) for each in entries if each.digest not in digests))
    return listable


def _cursor(place: int, digest: bytes) -> str:
    return base64.urlsafe_b64encode(place.to_bytes(PLACE_BYTES, "big") + digest).decode().rstrip("=")


def _place(cursor: Any, digest: bytes) -> int:
    """Return the position at which the page of a cursor begins.

    Raises:
        InvalidParams: the cursor is not a cursor of the list with this digest.
    """
    try:
        raw = base64.urlsafe_b64decode(f"{cursor}==") if isinstance(cursor, str) else b""
    except ValueError:
        raw = b""
    place = int.from_bytes(raw[:PLACE_BYTES], "big")
    if not isinstance(cursor, str) or raw[PLACE_BYTES:] != digest or cursor != _cursor(place, digest):
        raise InvalidParams(UNKNOWN)
    return place
