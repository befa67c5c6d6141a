"""Regular expressions for names and texts, which RE2 compiles: linear in time for every pattern."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import re2

from handler.compiler.schema.alternatives import Alternative, alternatives_of
from handler.errors.authoring import PatternRefused
from handler.text.sentences import cut

Matcher = Callable[[str], object]
"""A function that returns the full match of a name, or ``None``."""

MAX_PATTERN_MEMORY = 1_000_000
MAX_WORK = 3_000_000
"""Characters of patterns to compile, and names to match, in the search for the alternatives of one expression."""

EXPECTED: Mapping[str, str] = {
    "missing )": r'expected a ")" for each "("',
    "unexpected )": r'expected a "(" for each ")"',
    "missing ]": r'expected a "]" for each "["',
    "no argument for repetition operator": '".*" matches any text',
    "bad repetition operator": "repeat a group, as in (a+)*",
    "invalid perl operator": "RE2 has groups (…) and (?:…), and no lookaheads",
    "invalid escape sequence": r"expected \d, \w, \s, \b or an escaped special character",
}
"""The beginning of RE2's reason -> a remedy."""

_NO_LETTERS = re.compile(r"\(\?[^:)]*[:)]|\\.|\W")
_LITERAL = re.compile(r"\w+")
_GROUPING = re.compile(r"\(\?:|[()^$]")


def matcher_of(expression: str) -> Matcher:
    """Compile an expression for whole names.

    Raises:
        PatternRefused: the expression is not valid, or takes too much memory.
    """
    matcher: Matcher = compile_linear(expression).fullmatch
    return matcher


def is_found(expression: str, text: str) -> bool:
    """Return whether a text has a match of an expression; ``False`` if the expression is not valid."""
    try:
        return compile_linear(expression).search(text) is not None
    except PatternRefused:
        return False


def compile_linear(expression: str) -> Any:
    """Compile an expression by RE2.

    Raises:
        PatternRefused: the expression is not valid, or takes too much memory.
    """
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_PATTERN_MEMORY
    try:
        return re2.compile(expression, options)
    except re2.error as exc:
        reason = exc.args[0].decode() if isinstance(exc.args[0], bytes) else str(exc.args[0])
        remedy = next((f"; {remedy}" for start, remedy in EXPECTED.items() if reason.startswith(start)), "")
        raise PatternRefused(f"{cut(reason.removesuffix(f': {expression}'))}{remedy}") from exc


def untaken(expression: str, names: Collection[str]) -> Iterator[Alternative]:
    """Yield the alternatives of a valid expression that no name takes, but not those inside a yielded one.

    All ``names`` match the expression. Beside a name, an empty alternative is not yielded: it makes a group optional.

    Raises:
        PatternRefused: too much work.
    """
    waiting = alternatives_of(expression)
    work = 0
    for alternative in waiting:
        literal = _GROUPING.sub("", alternative.pattern)
        is_literal = _LITERAL.fullmatch(literal) is not None
        work += len(alternative.pattern) + (0 if is_literal else len(names))
        if work > MAX_WORK:
            raise PatternRefused("it has too many alternatives to check each: write several patterns")
        if literal in names if is_literal else _matches_any(alternative.pattern, names):
            waiting += alternative.inside()
        elif alternative.text or not names:
            yield alternative


def letters_of(alternative: Alternative) -> str:
    """Return the letters, digits and ``_`` of an alternative's pattern: the name that it may have been meant for."""
    return _NO_LETTERS.sub("", alternative.pattern)


def _matches_any(pattern: str, names: Iterable[str]) -> bool:
    try:
        return any(map(matcher_of(pattern), names))
    except PatternRefused:  # too large with its copies of repeated groups
        return True
