"""The formats of texts in arguments, each with its check. jsonschema by itself checks none.

GraphQL servers differ in the ``DateTime`` values that they accept: some want an offset, some refuse one, some accept a
date alone. A check therefore refuses values that hardly any server accepts, and leaves the rest to the API.

Source: JSON Schema 2020-12, validation, section 7.3; RFC 3339, section 5.6.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from functools import lru_cache
from typing import Any, NamedTuple

_DATE = r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::(?:[0-5][0-9]|60)(?:[.,][0-9]+)?)?"
_OFFSET = r"(?:[Zz]|[+-][0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2})?)?)?"

# AppSync's dates and times may carry an offset.
DATE = _DATE + _OFFSET
TIME = _TIME + _OFFSET
DATE_TIME = f"{_DATE}(?:[Tt ]{_TIME} ?{_OFFSET})?"
UUID = r"(?i:(?:urn:uuid:)?\{?[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}\}?)"
URI = r"[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f\x7f]+"
DECIMAL_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
# Strings, so that a cold start compiles only the patterns that a call needs; `re` caches compiled ones.

MAX_MATCHED_CHARS = 1_000
"""Longer texts match no pattern of an author."""

MAX_SHORT_CHARS = 100

COPIES = 8
"""A pattern is refused if this many copies of it exceed the size that the linear engine takes."""

_ESCAPE = r"\\[dw!-/:-@\[-`{-~]"
_CLASS = rf"\[(?![^\]]*(?:--|&&|~~|\|\|))\^?(?:{_ESCAPE}|[^\\\[\]])+\]"
_CHAR = rf"(?:{_ESCAPE}|{_CLASS}|[^\\()\[\]{{}}*+?|^$])"
_FIXED = rf"(?:{_CHAR}(?:\{{[0-9]{{1,3}}\}})?)*"
SIMPLE = rf"{_FIXED}(?:{_CHAR}(?:[?*+]|\{{[0-9]{{1,3}},[0-9]{{0,3}}\}}){_FIXED})?"
"""A sequence of characters and classes, of which one at most has a varying length: Python's ``re`` tries each length
once. Python and the linear engine read this syntax alike."""

_CLASS_OR_ESCAPE = r"\\.|\[\^?\]?(?:\\.|[^\]])*\]"
_IN_RUST: Mapping[str, str] = {
    r"\d": "[0-9]",
    r"\D": "[^0-9]",
    r"\w": "[0-9A-Za-z_]",
    r"\W": "[^0-9A-Za-z_]",
    r"\b": r"(?-u:\b)",
    r"\B": r"(?-u:\B)",
}
_IN_RUST_CLASS: Mapping[str, str] = {**_IN_RUST, r"\b": r"\x08", "[": r"\[", "&": r"\&", "~": r"\~"}


def matches(pattern: str, text: str) -> bool:
    r"""Return whether a text has a match of an author's pattern. ``$`` is the very end; ``\d`` and ``\w`` are ASCII.

    Raises:
        ValueError: ``refuse_bad_pattern`` refuses the pattern.
    """
    if len(text) <= MAX_SHORT_CHARS and (simple := _simple_search(pattern)):
        return simple(text) is not None
    return len(text) <= MAX_MATCHED_CHARS and _linear_search(pattern)(text)


def refuse_bad_pattern(pattern: str) -> None:
    """Check a pattern that an author wrote.

    Raises:
        ValueError: the pattern is not valid, cannot be matched in linear time, or takes too much memory.
    """
    _linear_search(pattern)
    _linear_search(pattern, copies=COPIES)


@lru_cache(maxsize=1_000)
def _simple_search(pattern: str) -> Callable[[str], object] | None:
    """Return the search by ``re``, which loads in no time; ``None`` if it could try many ways to match a short text."""
    if not re.fullmatch(rf"\^{SIMPLE}\$?", pattern, re.DOTALL):
        return None
    ends = f"{pattern[:-1]}\\Z" if re.fullmatch(rf"\^{SIMPLE}\$", pattern, re.DOTALL) else pattern
    try:
        return re.compile(ends, re.ASCII).match
    except re.error:
        return None


@lru_cache(maxsize=1_000)
def _linear_search(pattern: str, *, copies: int = 1) -> Callable[[str], bool]:
    """Return the search by Rust's engine, which takes linear time and comes with pydantic."""
    from pydantic_core import SchemaError, SchemaValidator  # loads as long as a third of a cold call takes

    rust = re.sub(_CLASS_OR_ESCAPE, lambda part: _in_rust(part[0]), pattern, flags=re.DOTALL)
    repeated = rust if copies == 1 else f"(?:{rust}){{{copies}}}"
    try:
        return SchemaValidator({"type": "str", "strict": True, "pattern": repeated}).isinstance_python
    except SchemaError as exc:
        reason = str(exc).rpartition("\n")[2].strip().removeprefix("error: ").removeprefix("SchemaError: ")
        raise ValueError(f"pattern {pattern}: {reason}") from exc


def _in_rust(part: str) -> str:
    if not part.startswith("["):
        return _IN_RUST.get(part, part)
    if "--" in part:
        raise ValueError(rf"pattern {part}: write \- for a hyphen")
    start = 2 if part.startswith("[^") else 1
    return part[:start] + re.sub(r"\\.|[\[&~]", lambda sign: _IN_RUST_CLASS.get(sign[0], sign[0]), part[start:])


class Format(NamedTuple):  # a dataclass takes half a millisecond more of a cold start
    """The check of a format, and the expectation to report for a text that fails it."""

    fits: Callable[[str], bool]
    expected: str


def _matching(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text) is not None


def _in_calendar(pattern: str) -> Callable[[str], bool]:
    def fits(text: str) -> bool:
        match = re.fullmatch(pattern, text)
        return match is not None and _is_read_by(date, int(match[1]), int(match[2]), int(match[3]))

    return fits


def _address(kind: str) -> Callable[[str], bool]:
    def fits(text: str) -> bool:
        import ipaddress  # only a schema with such a format needs it

        return _is_read_by(getattr(ipaddress, kind), text)

    return fits


def _is_read_by(reader: Callable[..., object], *values: Any) -> bool:
    try:
        reader(*values)
    except ValueError:
        return False
    return True


def _is_email(text: str) -> bool:
    name, _, host = text.rpartition("@")
    return bool(name and host) and not any(each.isspace() for each in text)


STANDARD_FORMATS: Mapping[str, Format] = {
    "date": Format(_in_calendar(DATE), "a date, as 2026-01-31"),
    "date-time": Format(_in_calendar(DATE_TIME), "a date and time, as 2026-01-31T09:30:00Z"),
    "email": Format(_is_email, "an email address, as name@example.com"),
    "ipv4": Format(_address("IPv4Address"), "an IPv4 address, as 192.0.2.1"),
    "ipv6": Format(_address("IPv6Address"), "an IPv6 address, as 2001:db8::1"),
    "time": Format(_matching(TIME), "a time of day, as 09:30:00Z"),
    "uri": Format(_matching(URI), "a URL with its scheme, as https://example.com/"),
    "uuid": Format(_matching(UUID), "a UUID, as 123e4567-e89b-12d3-a456-426614174000"),
}
"""Formats of JSON Schema, which may be advertised."""


def _fits_or_moment(name: str) -> Callable[[str], bool]:
    return lambda text: STANDARD_FORMATS[name].fits(text) or STANDARD_FORMATS["date-time"].fits(text)


FORMATS: Mapping[str, Format] = {
    **STANDARD_FORMATS,
    "any-date": Format(_fits_or_moment("date"), STANDARD_FORMATS["date"].expected),
    "any-time": Format(_fits_or_moment("time"), "a time, as 09:30:00Z or 2026-01-31T09:30:00Z"),
    "any-uri": Format(_matching(r"[^\s\x00-\x1f\x7f]+"), STANDARD_FORMATS["uri"].expected),
    "decimal-number": Format(_matching(DECIMAL_NUMBER), "a decimal number, as 12.5"),
    "whole-number": Format(_matching(r"[+-]?[0-9]+"), "a whole number, as 12"),
}
"""JSON Schema's formats and ours; ours are in enforced schemas only. A ``Date`` is a moment in many APIs written in
JavaScript, a ``Time`` in most APIs written in Go, and a ``URL`` may be relative in .NET."""
