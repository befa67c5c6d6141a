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
from dataclasses import dataclass, field
from typing import Any

import re2

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


@dataclass(slots=True)
class _Branch:
    """A part of a group between two bars. ``flags`` are those of earlier branches, which hold to the group's end."""

    start: int
    flags: str
    end: int = 0
    groups: list[_Group] = field(default_factory=list)


@dataclass(slots=True)
class _Group:
    """A group in parentheses, or the whole expression."""

    start: int
    opening: str
    branches: list[_Branch]
    flags: str = ""  # set by its branches so far
    closed_at: int = 0
    end: int = 0  # of its quantifier

    def next_branch(self, bar: re.Match[str]) -> None:
        """Begin the branch after a bar."""
        self.branches[-1].end = bar.start()
        self.branches.append(_Branch(start=bar.end(), flags=self.flags))

    def close(self, expression: str, at: int) -> None:
        """End the last branch, and read the quantifier."""
        self.branches[-1].end = self.closed_at = at
        quantifier = _QUANTIFIER.match(expression, at + 1)
        self.end = quantifier.end() if quantifier else at + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """One alternative of an expression.

    ``pattern`` matches all names that take the alternative. In a group that is repeated a limited number of times, it
    can match further names: either more repetitions, which the expression does not match, or other branches.
    """

    expression: str
    branch: _Branch
    before: str  # of the pattern
    after: str

    @property
    def is_whole(self) -> bool:
        """True if the alternative is the whole expression."""
        return self.text == self.expression

    @property
    def text(self) -> str:
        """The alternative as written."""
        return self.expression[self.branch.start : self.branch.end]

    @property
    def pattern(self) -> str:
        """A pattern of the names that take the alternative."""
        return f"{self.before}{self.branch.flags}{self.text}{self.after}"

    def inside(self) -> Iterator[Alternative]:
        """Yield the alternatives of its groups, but not those in these alternatives."""
        waiting = [self]
        while waiting:
            whole = waiting.pop()
            for group in whole.branch.groups:
                branches = [_through(whole, group, branch) for branch in group.branches]
                if len(branches) == 1:
                    waiting += branches
                else:
                    yield from branches


def alternatives_of(expression: str) -> list[Alternative]:
    """Return the alternatives at the top of a valid expression: the expression itself if it has no bar there."""
    # Repetitions copy a group, and a name of a group may appear once.
    plain = "".join(map(_plain, _TOKEN.finditer(expression)))
    whole = _parse(plain)
    return [Alternative(expression=plain, branch=branch, before="", after="") for branch in whole.branches]


def _through(outer: Alternative, group: _Group, branch: _Branch) -> Alternative:
    """Return the alternative that takes a branch of a group in ``outer``."""
    expression = outer.expression
    body = expression[group.start : group.closed_at + 1]
    others = "" if expression[group.closed_at + 1 : group.end] in _ONCE else f"{body}*"
    before = expression[outer.branch.start : group.start]
    after = expression[group.end : outer.branch.end]
    return Alternative(
        expression=expression,
        branch=branch,
        before=f"{outer.before}{outer.branch.flags}{before}{others}{group.opening}",
        after=f"){others}{after}{outer.after}",
    )


def _plain(token: re.Match[str]) -> str:
    if token["named"]:
        return "(?:"
    return re.escape(token["literal"]) if token["quoted"] else token[0]


def _parse(expression: str) -> _Group:
    whole = _Group(start=0, opening="", branches=[_Branch(start=0, flags="")])
    groups = [whole]
    for token in _TOKEN.finditer(expression):
        match token.lastgroup:
            case "opening":
                group = _Group(start=token.start(), opening=token[0], branches=[_Branch(start=token.end(), flags="")])
                groups[-1].branches[-1].groups.append(group)
                groups.append(group)
            case "closing":
                groups.pop().close(expression, token.start())
            case "bar":
                groups[-1].next_branch(token)
            case "flags":
                groups[-1].flags += token[0]
    whole.branches[-1].end = len(expression)
    return whole
