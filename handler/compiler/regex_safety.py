"""Translation of an author's regular expressions from ECMAScript to Python, without slow (ambiguous) patterns.

A client reads a pattern as ECMAScript. The function runs it with Python's ``re``, which backtracks. Syntax that both
languages can express is translated. All other syntax is refused, and so are ambiguous patterns, by which a text can
match in two ways. In an unambiguous pattern, ``re`` tries at most as many ways for each beginning of a text as the
pattern has positions, so the time grows with the length of the text and not with the number of its parts.

Source: ECMA-262, section 22.2 (with the flag ``u``); V. Glushkov, 1961 (positions of an expression); R. Book et al.,
"Ambiguity in graphs and expressions", 1971.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handler.errors.authoring import PatternRefused

MAX_PATTERN_CHARS = 200
MAX_COPIES = 64
"""The check expands ``x{1,64}`` into copies and takes ``x{1,65}`` as ``x+``, which is stricter."""

MAX_PLACES = 400
MAX_PAIRS = 40_000
"""Beyond these limits the check itself takes too long."""

_ESCAPE = r"\\(?:[dDwWsSbBnrtfv^$\\.*+?()\[\]{}|/]|x[0-9A-Fa-f]{2})"
_TOKEN = re.compile(
    rf"{_ESCAPE}"
    rf"|\[\^?(?:{_ESCAPE}|\\-|[^\\\[\]])+\]"
    r"|(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??(?![*+?{])"
    r"|\((?:\?:)?(?!\?)"
    r"|[^\\\[\]{}(*+?]",
    re.DOTALL,
)
"""One token of the syntax that Python and ECMAScript share after translation."""

SPACES = r"\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""ECMAScript's ``\\s``: WhiteSpace and LineTerminator. Python's ASCII ``\\s`` has six of these characters."""

NO_SPACES = (
    r"\x00-\x08\x0e-\x1f!-\x9f\xa1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e\u2030-\u205e\u2060-\u2fff"
    r"\u3001-\ufefe\uff00-\U0010ffff"
)

TRANSLATED = {
    "$": r"\Z",  # Python's $ also matches before a final line feed
    ".": r"[^\n\r\u2028\u2029]",
    r"\s": f"[{SPACES}]",
    r"\S": f"[^{SPACES}]",
    r"\B": r"(?!\b)",  # before Python 3.14, Python's \B does not match in an empty text
}
TRANSLATED_IN_CLASS = {r"\s": SPACES, r"\S": NO_SPACES}

_ESCAPED = re.compile(r"\\.", re.DOTALL)

_APART = (0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF)
_BITS: Mapping[int, int] = {code: 1 << place for place, code in enumerate((*range(256), *_APART))}
OTHERS: int = 1 << len(_BITS)
ALL_CHARS = 2 * OTHERS - 1
"""Character sets are integers: one bit for each of the first 256 characters and each further space, one for all
others together."""


def python_pattern(pattern: str) -> str:
    r"""Translate a pattern for Python's ``re`` with ``re.ASCII``: ECMAScript's ``\d``, ``\w`` and ``\b`` are ASCII.

    Raises:
        PatternRefused: the pattern is not valid, differs between languages, or may take very long.
    """
    if not 0 < len(pattern) <= MAX_PATTERN_CHARS:
        raise PatternRefused(f"expected 1 to {MAX_PATTERN_CHARS} characters")
    parts = list(_tokens(pattern))
    _parse(pattern)  # untranslated, so that an error has the author's positions
    translated = "".join(_translated(part) for part in parts)
    _Places(_parse(translated)).refuse_ambiguity()
    return translated


def _translated(part: str) -> str:
    if part.startswith("["):
        return _ESCAPED.sub(lambda found: TRANSLATED_IN_CLASS.get(found[0], found[0]), part)
    return TRANSLATED.get(part, part)


def _tokens(pattern: str) -> Iterator[str]:
    at = 0
    while at < len(pattern):
        found = _TOKEN.match(pattern, at)
        if found is None:
            raise PatternRefused(
                f"not every client reads {pattern[at : at + 10]!r} alike: expected groups as (…) or (?:…), "
                r"and of escapes \d \w \s \b \n \r \t \f \v \xHH and those of special characters"
            )
        yield found[0]
        at = found.end()


def _parse(pattern: str) -> Any:
    """Return the parse tree of ``re``: pairs of an operator and its arguments."""
    parser = importlib.import_module("re._parser")  # the parser of re.compile: no public API returns the tree
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(pattern, re.ASCII)
            return parser.parse(pattern, re.ASCII)
    except (re.error, FutureWarning, OverflowError, RecursionError) as exc:
        raise PatternRefused(f"not a regular expression: {exc}") from exc


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a pattern: the positions where it can begin and end; ``empty`` if it can match nothing."""

    first: tuple[int, ...]
    last: tuple[int, ...]
    empty: bool


NOTHING = _Part((), (), empty=True)


class _Places:
    """The positions of a pattern that match a character, and the positions that can follow each."""

    def __init__(self, tree: Any) -> None:
        self._chars: list[int] = []
        self._next: list[set[int]] = []
        self._whole = self._sequence(tree)

    def refuse_ambiguity(self) -> None:
        """Refuse a pattern if a text can take two paths through its positions.

        Raises:
            PatternRefused: the pattern is ambiguous, or too complex to check.
        """
        waiting = [pair for places in (self._whole.first, *self._next) for pair in self._pairs(places, places)]
        seen = set(waiting)
        last = set(self._whole.last)
        while waiting:
            one, other = waiting.pop()
            if {one, other} <= last or not self._next[one].isdisjoint(self._next[other]):
                raise PatternRefused("it may take very long: two of its parts can match the same text")
            new = set(self._pairs(self._next[one], self._next[other])) - seen
            seen |= new
            waiting += new
            if len(seen) > MAX_PAIRS:
                raise PatternRefused("too complex to check")

    def _pairs(self, left: Iterable[int], right: Iterable[int]) -> Iterator[tuple[int, int]]:
        """Yield each pair of different positions that one character can match."""
        rights = list(right)
        for one in left:
            for other in rights:
                if one != other and self._chars[one] & self._chars[other]:
                    yield min(one, other), max(one, other)

    def _sequence(self, tree: Any) -> _Part:
        whole = NOTHING
        for operator, argument in tree:
            whole = self._joined(whole, self._part(str(operator), argument))
        return whole

    def _part(self, operator: str, argument: Any) -> _Part:
        match operator:
            case "AT" | "ASSERT_NOT":  # ^ $ \b \B only remove paths
                return NOTHING
            case "SUBPATTERN":
                return self._sequence(argument[3])
            case "BRANCH":
                return self._branch([self._sequence(branch) for branch in argument[1]])
            case "MAX_REPEAT" | "MIN_REPEAT":
                return self._repeated(int(argument[0]), int(argument[1]), argument[2])
            case _:
                return self._place(_characters(operator, argument))

    def _place(self, chars: int) -> _Part:
        if len(self._chars) == MAX_PLACES:
            raise PatternRefused("it is too long with its repetitions written out")
        self._chars.append(chars)
        self._next.append(set())
        here = (len(self._chars) - 1,)
        return _Part(here, here, empty=False)

    def _branch(self, branches: Sequence[_Part]) -> _Part:
        if sum(branch.empty for branch in branches) > 1:
            raise PatternRefused("it may take very long: two of its alternatives can be empty")
        first = tuple(place for branch in branches for place in branch.first)
        last = tuple(place for branch in branches for place in branch.last)
        return _Part(first, last, empty=any(branch.empty for branch in branches))

    def _repeated(self, least: int, most: int, tree: Any) -> _Part:
        if most <= MAX_COPIES:
            return self._copies(least, most, tree)
        body = self._body(tree)
        self._follow(body.last, body.first)
        return _Part(body.first, body.last, empty=least == 0)

    def _copies(self, least: int, most: int, tree: Any) -> _Part:
        rest = NOTHING
        for _ in range(most - least):
            joined = self._joined(self._body(tree), rest)
            rest = _Part(joined.first, joined.last, empty=True)
        whole = NOTHING
        for _ in range(least):
            whole = self._joined(whole, self._sequence(tree) if least == most == 1 else self._body(tree))
        return self._joined(whole, rest)

    def _body(self, tree: Any) -> _Part:
        body = self._sequence(tree)
        if body.empty:
            raise PatternRefused("matching may take very long: a repeated part can be empty")
        return body

    def _joined(self, one: _Part, other: _Part) -> _Part:
        self._follow(one.last, other.first)
        return _Part(
            (*one.first, *other.first) if one.empty else one.first,
            (*one.last, *other.last) if other.empty else other.last,
            empty=one.empty and other.empty,
        )

    def _follow(self, places: Iterable[int], following: Sequence[int]) -> None:
        for place in places:
            if not self._next[place].isdisjoint(following):
                raise PatternRefused("matching may take very long: a repeated part repeats itself")
            self._next[place].update(following)


def _characters(operator: str, argument: Any) -> int:
    match operator:
        case "LITERAL":
            return _bit(argument)
        case "NOT_LITERAL":
            return ALL_CHARS & ~_BITS.get(argument, 0)
        case "IN":
            return _class(argument)
        case "RANGE":
            return _range(*argument)
        case "CATEGORY":
            return sum(bit for code, bit in _BITS.items() if _matches(str(argument), chr(code))) | _others(
                str(argument)
            )
        case _:
            raise PatternRefused(f"{operator.lower()} is not taken here")


def _class(items: Sequence[tuple[Any, Any]]) -> int:
    found = 0
    for operator, argument in items:
        if str(operator) != "NEGATE":
            found |= _characters(str(operator), argument)
    negated = str(items[0][0]) == "NEGATE"
    # OTHERS stays set: the set cannot tell which of the other characters a class excludes.
    return (ALL_CHARS & ~found) | OTHERS if negated else found


def _bit(code: int) -> int:
    return _BITS.get(code, OTHERS)


def _range(first: int, last: int) -> int:
    known = [bit for code, bit in _BITS.items() if first <= code <= last]
    return sum(known) | (OTHERS if len(known) < last - first + 1 else 0)


CATEGORIES = {
    "DIGIT": r"\d",
    "NOT_DIGIT": r"\D",
    "WORD": r"\w",
    "NOT_WORD": r"\W",
}


def _matches(category: str, char: str) -> bool:
    return re.match(CATEGORIES[category.removeprefix("CATEGORY_")], char, re.ASCII) is not None


def _others(category: str) -> int:
    return OTHERS if "NOT_" in category else 0
