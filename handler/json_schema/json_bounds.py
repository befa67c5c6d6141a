"""Bounds on the number and nesting of values in a caller's JSON, checked before any other code walks it.

The JSON of an API may be much larger. Its bounds are checked on its bytes, before it is read.
"""

from __future__ import annotations

import re
from typing import Any

MAX_NESTING = 64
"""Levels of lists and objects in a caller's JSON: enough for any filter, and far below the depth at which validation
meets Python's own recursion limit."""

MAX_RESULT_BYTES = 48_000
"""The default limit of a result: 12,000 to 16,000 tokens of JSON. A host that cuts at 25,000 tokens passes it whole."""

MAX_VALUES = 10_000
"""Values that a call may have if its endpoint sets no limit."""


def excess_of(value: Any, *, max_values: float) -> str:
    """Return the bound that a value exceeds (its nesting, or the number of its values), after a JSON pointer.

    Every item of a list and every member of an object counts. The result is the empty string if the value is within
    bounds.
    """
    count = _count(value)
    if count is None:
        return f"/: nested more than {MAX_NESTING} deep"
    if count <= max_values:
        return ""
    from handler.text.sentences import pointer_of  # only a refusal needs it

    place: list[str] = []
    for name, part in value.items() if isinstance(value, dict) else ():
        if (own := count_values(part)) > max_values:  # the member that is too large by itself
            place, count = [name], own
            break
    limit = f"a call may have {max_values:,} (limits.max_values)"
    return f"{pointer_of(place)}: {count:,} values, counting items of lists and members of objects; {limit}"


USUAL_MAX_BYTES = 5_000_000
BYTES_PER_PART = 10
"""The least mean size of the parts of an answer that is as large as it may be: a list is one part, an object two, and a
member two if objects have more than ``FEW_MEMBERS``, because the names in wide objects mostly differ."""

FEW_MEMBERS = 64

MAX_DIGITS = 1_000
"""Digits of an integer, which is read and written in quadratic time."""

_SMALL = rb"[eE]-0*3[0-9]{2}"
"""The exponent of a number below 1e-299, which is read and written several times as slowly as another number."""

_MARKS = bytes(set(range(256)) - {*b'"[{:'})
_DIGITS = bytes(49 if byte in b"0123456789" else 44 if byte in b"\t\n\r ,-:[" else 0 for byte in range(256))


def excess_of_json(raw: bytes, *, max_bytes: int) -> str:
    """Return the reason why JSON of at most ``max_bytes`` is too costly to read; empty string if there is none."""
    most = max(max_bytes, USUAL_MAX_BYTES) // BYTES_PER_PART
    if len(raw) <= most:
        return ""
    if _parts(raw) > most:
        # The marks of JSON outside of its strings. Strings without marks go first, for ``sub`` makes many parts.
        marks = raw.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _MARKS).replace(b'""', b"")
        if _parts(re.sub(rb'"[^"]*"', b"", marks)) > most:
            return f"more than {most:,} lists, objects and members"
    if raw.count(b"e-") + raw.count(b"E-") > most // 2 and len(re.findall(_SMALL, raw)) > most // 2:
        return f"more than {most // 2:,} numbers below 1e-299"
    is_long = b"," + b"1" * (MAX_DIGITS + 1) in raw.translate(_DIGITS)
    return f"a number of more than {MAX_DIGITS:,} digits" if is_long else ""


def _parts(raw: bytes) -> int:
    objects = raw.count(b"{")
    return raw.count(b"[") + 2 * (objects + max(0, raw.count(b":") - FEW_MEMBERS * objects))


def nests_too_deeply(value: Any) -> bool:
    """Return whether lists and objects are nested more than ``MAX_NESTING`` deep."""
    return _count(value) is None


def count_values(value: Any) -> int:
    """Count the values in a value; 0 if it is nested too deeply to count."""
    return _count(value) or 0


def _count(value: Any) -> int | None:
    """Count the values in a value; ``None`` if it is nested more than ``MAX_NESTING`` deep."""
    count, level = 0, [value] if isinstance(value, (dict, list)) else []
    for _ in range(MAX_NESTING):
        parts = [part for each in level for part in (each.values() if isinstance(each, dict) else each)]
        count += len(parts)
        level = [part for part in parts if isinstance(part, (dict, list))]
        if not level:
            return count
    return None if level else count
