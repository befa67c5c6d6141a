"""The parts of a stored bundle: JSON values that several places of its content share, each stored once.

A content with parts begins with ``"parts": [...]``. ``{"$part": 3}`` stands for part 3. A reference comes after its
part, so no part can contain itself. ``{"$part": [value]}`` stands for an object ``{"$part": value}`` of an author.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from handler.errors.infrastructure import BundleError
from handler.strict_json import JSONObject, strict_decoder, to_json_bytes

PART = "$part"

PARTS_START = '{"parts":['

MAX_WHOLE_CHARS = 2**30
"""Length of the JSON of a content that has a copy of each part wherever the part is used."""

MAX_LEVELS = 1_000
"""Parts in each other: more than ``with_parts`` writes, because Python's stack ends before."""


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


WORTHWHILE_CHARS = 64
"""A part must save more than this: for less, the look-up of its references costs the reader more."""

WORTHWHILE_CHARS_IN_ALL = 50_000
"""All parts together must save more than this: a small bundle is read faster without parts."""

REFERENCE_CHARS = len('{"$part":1234}')

REMEMBERED_CHARS = 1_000
"""Values with longer JSON are recognised by their identity, because many tools hold the same object."""

_Key = tuple[type, Any, tuple[int, ...]]
"""A type; a leaf, or the names of an object's members; and the numbers of the inner values."""


def with_parts(content: Any) -> JSONObject:
    """Return a record as a JSON object that begins with its parts. Equal records give equal objects.

    Raises:
        BundleError: without parts, the object would be larger than a reader accepts.
    """
    values = _Values()
    values.add(content)
    whole_chars = values.whole_chars
    if whole_chars > MAX_WHOLE_CHARS // 2:  # the lengths are approximate
        raise BundleError(f"the tools' schemas have more than {MAX_WHOLE_CHARS // 2:,} characters in all")
    shared, chars = values.written(WORTHWHILE_CHARS)
    return shared if whole_chars - chars > WORTHWHILE_CHARS_IN_ALL else values.written(whole_chars)[0]


@dataclass(slots=True)
class _Value:
    """One value of the content, however often the content has it."""

    key: _Key
    own_chars: int  # of its JSON, without the inner values
    whole_chars: int  # of its JSON, without parts
    uses: int = 0  # by different values


class _Values:
    """All different values of a content, inner values first."""

    def __init__(self) -> None:
        self._values: list[_Value] = []
        self._numbers: dict[_Key, int] = {}
        self._remembered: dict[int, tuple[Any, int]] = {}  # identity -> the value, kept alive, and its number

    def add(self, value: Any) -> int:
        """Return the number of a value."""
        is_text = type(value) is str  # most values are
        remembered = None if is_text else self._remembered.get(id(value))
        if remembered:
            return remembered[1]
        key: _Key = (str, value, ()) if is_text else self._key(value)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._values)
            _, own, inner = key
            own_chars = len(to_json_bytes(own)) + len(inner)
            for each in inner:
                self._values[each].uses += 1
            whole_chars = own_chars + sum(self._values[each].whole_chars for each in inner)
            self._values.append(_Value(key, own_chars, whole_chars))
        if self._values[number].whole_chars > REMEMBERED_CHARS:
            self._remembered[id(value)] = (value, number)
        return number

    @property
    def whole_chars(self) -> int:
        """The length of the content, which was added last, without parts."""
        return self._values[-1].whole_chars

    def written(self, worthwhile_chars: int) -> tuple[JSONObject, int]:
        """Return the content with its parts, and the length of its JSON."""
        parts: list[Any] = []
        json: list[Any] = []  # by number
        chars: list[int] = []
        chars_of_parts = 0
        for each in self._values:
            inner = each.key[2]
            json.append(_json(each.key, [json[number] for number in inner]))
            chars.append(each.own_chars + sum(chars[number] for number in inner))
            if (each.uses - 1) * chars[-1] - each.uses * REFERENCE_CHARS > worthwhile_chars:
                parts.append(json[-1])
                chars_of_parts += chars[-1]
                json[-1], chars[-1] = {PART: len(parts) - 1}, REFERENCE_CHARS
        content: JSONObject = json[-1]
        return {"parts": parts, **content} if parts else content, chars[-1] + chars_of_parts

    def _key(self, value: Any) -> _Key:
        match value:
            case dict():
                return dict, tuple(value), tuple(map(self.add, value.values()))
            case float():
                return float, repr(value), ()  # 0.0 and -0.0 are equal
            case str() | int() | None:
                return type(value), value, ()
            case frozenset():
                return list, None, tuple(map(self.add, sorted(value)))
            case tuple() | list():
                return list, None, tuple(map(self.add, value))
            case Mapping():
                return dict, tuple(value), tuple(map(self.add, value.values()))
            case _ if is_dataclass(value):
                members = {field.name: getattr(value, field.name) for field in fields(value)}
                return self._key({"kind": value.KIND, **members} if hasattr(value, "KIND") else members)
        raise TypeError(f"{type(value).__name__} is not JSON")


def _json(key: _Key, inner: list[Any]) -> Any:
    kind, own, _ = key
    if kind is dict:
        return {PART: inner} if own == (PART,) else dict(zip(own, inner, strict=True))
    if kind is list:
        return inner
    return float(own) if kind is float else own
