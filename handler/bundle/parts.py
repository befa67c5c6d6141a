"""The parts of a stored bundle: JSON values that several places of its content share, each stored once.

A content with parts begins with ``"parts": [...]``. ``{"$part": 3}`` stands for part 3. A reference comes after its
part, so no part can contain itself. ``{"$part": [value]}`` stands for an object ``{"$part": value}`` of an author.
"""

from __future__ import annotations

from typing import Any

from handler.errors.infrastructure import BundleError
from handler.strict_json import JSONObject, strict_decoder

PART = "$part"

PARTS_START = '{"parts":['

MAX_WHOLE_CHARS = 2**30
"""Length of the JSON of a content that has a copy of each part wherever the part is used."""

MAX_LEVELS = 1_000
"""Parts in each other: more than ``sharing.py`` writes, because Python's stack ends before."""


def read_parts(content: str) -> Any:
    """Parse a content. Each part is one object, which all places share: nothing may change it.

    Raises:
        BundleError: a reference to a part that does not come before it, or parts that stand for too much.
        ValueError: invalid JSON.
    """
    parts = _Parts()
    if not content.startswith(PARTS_START):
        return parts.read(content)
    end = parts.take_list(content, len(PARTS_START))
    return parts.read(f"{{{content[end:]}")


class _Parts:
    """The parts that have been read. Lengths and levels are those of values with their parts written out."""

    def __init__(self) -> None:
        self._values: list[Any] = []
        self._whole: list[tuple[int, int]] = []  # length and levels of each
        self._referred_chars = self._referred_levels = 0  # of the value being read
        self._decoder = strict_decoder(self._resolved)

    def read(self, text: str) -> Any:
        """Parse a value that is not a part."""
        value = self._decoder.decode(text)
        self._measured(len(text))
        return value

    def take_list(self, text: str, start: int) -> int:
        """Read the parts from this place on. Return the place of the next member."""
        after = ","
        while after == ",":
            value, end = self._decoder.raw_decode(text, start)
            self._whole.append(self._measured(end - start))
            self._values.append(value)
            after, start = text[end : end + 1], end + 1
        if text[end : end + 2] != "],":
            raise BundleError("expected a list, and a member after it", path="parts")
        return end + 2

    def _measured(self, own_chars: int) -> tuple[int, int]:
        """Return the length and the levels of the value that was just read."""
        chars, levels = own_chars + self._referred_chars, 1 + self._referred_levels
        self._referred_chars = self._referred_levels = 0
        if chars > MAX_WHOLE_CHARS:
            raise BundleError(f"they stand for more than {MAX_WHOLE_CHARS} characters", path="parts")
        if levels > MAX_LEVELS:
            raise BundleError(f"more than {MAX_LEVELS} are nested", path="parts")
        return chars, levels

    def _resolved(self, found: JSONObject) -> Any:
        if len(found) != 1 or PART not in found:
            return found
        number = found[PART]
        if type(number) is int and 0 <= number < len(self._values):
            chars, levels = self._whole[number]
            self._referred_chars += chars
            self._referred_levels = max(levels, self._referred_levels)
            return self._values[number]
        if type(number) is list and len(number) == 1:
            return {PART: number[0]}
        raise BundleError(f"expected a part that comes before its reference, got {number!r:.40}", path=PART)
