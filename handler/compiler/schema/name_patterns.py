r"""Regular expressions of names, which RE2 compiles (linear in time for every pattern), and their alternatives.

Each ``|`` separates two alternatives, at the top of an expression and in its groups. A name takes an alternative if
the whole expression can match the name by way of the alternative. An optional part (``s?``) and the characters of a
class (``[ae]``) are not alternatives.

The pattern of an alternative is the expression without the other branches of the groups around the alternative. A
repeated group may match other branches before and after: ``(a|b)*`` becomes ``(a|b)*(?:a)(a|b)*``.

The text is split by the syntax of RE2, which compiles the patterns. The parse tree of Python's ``re`` joins equal
beginnings of alternatives, and ``re`` refuses ``\Q``, ``\p{L}`` and ``[[:alpha:]]``.

Source: https://github.com/google/re2/wiki/Syntax.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import re2

from handler.errors.authoring import PatternRefused
from handler.text.sentences import cut_text

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
        raise PatternRefused(f"{cut_text(reason.removesuffix(f': {expression}'))}{remedy}") from exc


def untaken(expression: str, names: Collection[str]) -> Iterator[Alternative]:
    """Yield the alternatives of a valid expression that no name takes, but not those inside a yielded one.

    All ``names`` match the expression. Beside a name, an empty alternative is not yielded: it makes a group optional.

    Raises:
        PatternRefused: too much work.
    """
    waiting = pattern_alternatives(expression)
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


_TOKEN = re.compile(
    r"(?P<quoted>\\Q(?P<literal>(?:[^\\]|\\(?!E))*)(?:\\E)?)"
    r"|(?P<flags>\(\?[a-zA-Z]*(?:-[a-zA-Z]+)?\))"
    r"|(?P<named>\(\?P?<[^>]*>)"
    r"|(?P<opening>\((?:\?[a-zA-Z]*(?:-[a-zA-Z]+)?:)?)"
    r"|(?P<closing>\))"
    r"|(?P<bar>\|)"
    r"|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]"
    r"|\\.|.",
    re.DOTALL,
)
_QUANTIFIER = re.compile(r"(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})?\??")
_ONCE = ("", "?", "??")


@dataclass(frozen=True, slots=True)
class Alternative:
    """One alternative of an expression, as written, and the rest of the pattern of the names that take it.

    The pattern matches all these names. In a group that is repeated a limited number of times, it can match further
    names: either more repetitions, which the expression does not match, or other branches.
    """

    text: str
    before: str = ""
    after: str = ""
    is_whole: bool = False  # the alternative is the whole expression

    @property
    def pattern(self) -> str:
        """A pattern of the names that take the alternative."""
        return f"{self.before}{self.text}{self.after}"

    def inside(self) -> Iterator[Alternative]:
        """Yield the alternatives of its groups, but not those in these alternatives."""
        waiting = [self]
        while waiting:
            for branches in _groups(waiting.pop()):
                if len(branches) == 1:
                    waiting += branches
                else:
                    yield from branches


def pattern_alternatives(expression: str) -> list[Alternative]:
    """Return the alternatives at the top of a valid expression: the expression itself if it has no bar there."""
    # Repetitions copy a group, and a name of a group may appear once.
    plain = "".join(
        "(?:" if token["named"] else re.escape(token["literal"]) if token["quoted"] else token[0]
        for token in _TOKEN.finditer(expression)
    )
    alternatives = _branches(plain)
    return alternatives if len(alternatives) > 1 else [Alternative(plain, is_whole=True)]


def _groups(outer: Alternative) -> Iterator[list[Alternative]]:
    """Yield the branches of each group of an alternative that is not inside another group."""
    text = outer.text
    opened: list[re.Match[str]] = []
    for token in _TOKEN.finditer(text):
        if token["opening"]:
            opened.append(token)
        elif token["closing"]:
            opening = opened.pop()
            if opened:
                continue
            quantifier = _QUANTIFIER.match(text, token.end())
            end = quantifier.end() if quantifier else token.end()
            others = "" if text[token.end() : end] in _ONCE else f"{text[opening.start() : token.end()]}*"
            yield _branches(
                text[opening.end() : token.start()],
                before=f"{outer.before}{text[: opening.start()]}{others}{opening[0]}",
                after=f"){others}{text[end:]}{outer.after}",
            )


def _branches(text: str, *, before: str = "", after: str = "") -> list[Alternative]:
    """Split an expression, or a group without its parentheses, at its own bars."""
    branches: list[Alternative] = []
    start, depth, flags, flags_before = 0, 0, "", ""
    for token in _TOKEN.finditer(f"{text}|"):
        match token.lastgroup:
            case "opening":
                depth += 1
            case "closing":
                depth -= 1
            case "flags" if not depth:  # they hold to the end of the group
                flags += token[0]
            case "bar" if not depth:
                branches.append(Alternative(text[start : token.start()], f"{before}{flags_before}", after))
                start, flags_before = token.end(), flags
    return branches
