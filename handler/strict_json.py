"""Strict JSON, JSON that is joined from parts written before, and the forms of a text within JSON."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cached_property
from typing import Any, NoReturn, TypeVar

from handler.errors.infrastructure import BundleError

T = TypeVar("T")

JSONObject = dict[str, Any]


def parse_json(raw: bytes, read: Callable[[str], Any] | None = None) -> Any:
    """Parse JSON strictly: Python's reader alone would accept ``NaN``, ``Infinity`` and ``1e999``.

    ``read``: parses with the decoder of ``strict_decoder``.

    Raises:
        ValueError: invalid JSON, or nested too deeply to be read.
    """
    try:
        # Decoded here: from bytes, Python would guess UTF-16 and UTF-32 too.
        return (read or _READER.decode)(raw.decode())
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc
    except ValueError as exc:
        if str(exc).startswith("Exceeds the limit"):  # Python's own message names Python functions
            raise ValueError("a number has too many digits") from exc
        raise


def find_json(raw: bytes) -> Any:
    """Return the value of strict JSON; ``None`` if it is invalid, or null."""
    try:
        return parse_json(raw)
    except ValueError:
        return None


def objects_in(value: Any) -> Iterator[JSONObject]:
    """Yield each object in a JSON value at any depth, those around others first."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects_in(part)


def strict_decoder(object_hook: Callable[[JSONObject], Any] | None = None) -> json.JSONDecoder:
    """Return a decoder as ``parse_json`` has it. ``object_hook`` replaces each object."""
    return json.JSONDecoder(object_hook=object_hook, parse_constant=_refuse, parse_float=_finite)


def parse_stored(raw: bytes, read: Callable[[str], Any] | None = None) -> Any:
    """Parse JSON that the compiler wrote. ``read``: as in ``parse_json``.

    Raises:
        BundleError: invalid JSON.
    """
    try:
        return parse_json(raw, read)
    except ValueError as exc:
        raise BundleError("invalid JSON") from exc


def inside(part: str, reader: Callable[[Any], T], raw: Any) -> T:
    """Read ``raw``, and put ``part`` in front of the path of an error."""
    try:
        return reader(raw)
    except BundleError as exc:
        raise exc.inside(part) from exc


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text:.20} is too large a number")
    return number


def to_json_bytes(value: Any) -> bytes:
    """Write compact UTF-8 JSON in the order of ``value``. A lone surrogate, which UTF-8 has not, stays escaped."""
    try:
        return _WRITER.encode(value).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def to_well_formed_json(value: Any) -> bytes:
    """Write JSON for clients: like ``to_json_bytes``, with U+FFFD for a lone surrogate, which many clients refuse.

    JSON that is compared, digested, stored or sent on keeps the surrogate.
    """
    text = _WRITER.encode(value)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return well_formed(text).encode()


def well_formed(text: str) -> str:
    """Replace each lone surrogate in a text. Two adjacent halves of a pair become its character."""
    if text.isascii():  # as most are, and then no pattern has to be compiled
        return text
    if re.search("[\ud800-\udbff][\udc00-\udfff]", text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


class Entry(dict[str, Any]):
    """An object in a list that is sent repeatedly. The object never changes, so its JSON is made once."""

    @classmethod
    def of(cls, value: JSONObject) -> Entry:
        """Return an object as an entry: itself if it is one."""
        return value if isinstance(value, Entry) else cls(value)

    @cached_property
    def json(self) -> bytes:
        """The JSON, by ``to_well_formed_json``."""
        return to_well_formed_json(self)

    @property
    def size(self) -> int:
        """The length of the JSON in bytes."""
        return self._measured[0]

    @property
    def digest(self) -> bytes:
        """The SHA-256 of the JSON."""
        return self._measured[1]

    @cached_property
    def _measured(self) -> tuple[int, bytes]:
        # Without keeping the JSON: entries of a list of many pages share objects, and their JSON does not.
        json = vars(self).get("json") or to_well_formed_json(self)
        return len(json), hashlib.sha256(json).digest()

    def only(self, members: frozenset[str]) -> Entry:
        """Return the entry with these members only, made once for each set of members."""
        if self.keys() <= members:
            return self
        return self.kept(members, lambda entry: Entry({name: each for name, each in entry.items() if name in members}))

    def kept(self, key: Hashable, make: Callable[[Entry], Entry]) -> Entry:
        """Return another form of the entry, made once for each key."""
        if key not in self._forms:
            self._forms[key] = make(self)
        return self._forms[key]

    @cached_property
    def _forms(self) -> dict[Hashable, Entry]:
        return {}


class Entries(list[Any]):
    """A list whose JSON is joined from the JSON of its entries."""

    @property
    def json(self) -> bytes:
        """The JSON, by ``to_well_formed_json``."""
        return b"[%b]" % b",".join(map(_json_of, self))

    def size_to(self, most: int) -> int:
        """Return the length of the JSON in bytes, or that of its beginning if this is above ``most`` already."""
        size = 1
        for each in self:
            size += len(_json_of(each)) + 1
            if size > most:
                break
        return size


def _json_of(entry: Any) -> bytes:
    return entry.json if isinstance(entry, Entry) else to_well_formed_json(entry)


def spliced(value: Mapping[str, Any]) -> bytes:
    """Write an object as ``to_well_formed_json`` does, without encoding ``Entries`` in it or in its objects again.

    ``Entries``, and objects that have some, become the last members.
    """
    ready: dict[str, bytes] = {}
    for name, each in value.items():
        if isinstance(each, Entries):
            ready[name] = each.json
        elif isinstance(each, dict) and any(isinstance(inner, Entries) for inner in each.values()):
            ready[name] = spliced(each)
    others = to_well_formed_json({name: each for name, each in value.items() if name not in ready})
    members = [others[1:-1], *(b"%b:%b" % (to_well_formed_json(name), json) for name, json in ready.items())]
    return b"{%b}" % b",".join(filter(None, members))


# Made once: json.loads and json.dumps make new ones for each text if their options are not the defaults.
_READER = strict_decoder()
_WRITER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def json_pattern(text: str) -> str:
    """Return a pattern of a text within JSON, where a server may escape any character, as PHP does with slashes."""
    short = {"/": r"\/", '"': r"\"", "\\": r"\\", "\n": r"\n", "\r": r"\r", "\t": r"\t"}
    forms = ((sorted({short.get(each, each), each}, key=len, reverse=True), ord(each)) for each in text)
    return "".join(rf"(?:{'|'.join(map(re.escape, plain))}|\\u(?i:{code:04x}))" for plain, code in forms)
