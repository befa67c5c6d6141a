"""The sizes of the pages of a list."""

from __future__ import annotations

from collections.abc import Sequence

from handler.server.asgi.response_size import Room
from handler.strict_json import Entries, Entry


def page_end(entries: Sequence[Entry], start: int, room: Room) -> int:
    """Return the position after a page, which has at least one entry."""
    left = room.page_bytes
    for place in range(start, len(entries)):
        left -= entries[place].size + 1
        if left < 0 and place > start:
            return place
    return len(entries)


def page_count(entries: Sequence[Entry], room: Room) -> int:
    """Return the number of pages of a list that begins without a cursor."""
    listed: Sequence[Entry] = entries
    if Entries(entries).size_to(room.page_bytes) > room.page_bytes:
        listed = [each.brief for each in entries]
    count = end = 0
    while end < len(listed):
        count, end = count + 1, page_end(listed, end, room)
    return max(count, 1)
