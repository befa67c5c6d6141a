from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.compiler.regex_safety import MAX_PATTERN_CHARS, python_pattern
from handler.errors.authoring import PatternRefused

TAKEN = {
    r"^\d+\.\d{2}$": ("12.99", ["12.9", "12.99\n", "１２.99"]),
    r"^[a-z0-9]+(?:-[a-z0-9]+)*$": ("a-slug-2", ["-a", "a--b"]),
    r"^(USD|USN|EUR)$": ("USN", ["US", "usd"]),
    r"^(\w+\.)*\w+$": ("a.b.c", ["a..b", "ä"]),
    r"^https?://[^/]+/.*$": ("https://example.com/a/b", ["ftp://a/b"]),
    r"^(\d{1,3}\.){3}\d{1,3}$": ("192.0.2.1", ["192.0.2"]),
    r"^\d{3}\d{4}$": ("1234567", ["123"]),
    r"^[A-Z]{2}[A-Z0-9]{5,10}$": ("ABC1234", ["A1"]),
    r"^.{1,1000}$": ("anything", ["", "a\n"]),
    r"^(?:[01]\d|2[0-3]):[0-5]\d$": ("23:59", ["24:00"]),
    r"^[A-Za-z0-9+/]+={0,2}$": ("YWI=", ["YWI==="]),
    r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$": ("-10.5", ["01"]),
    r"^#\x41[\x30-\x39\-\]]$": ("#A-", ["#B1"]),
    r"^\$[^\d\s]+\/$": ("$ab/", ["$1/"]),
    r"^(-|$)": ("", ["a"]),
    "free": ("a free text", ["fre"]),
}


@pytest.mark.parametrize(("pattern", "fitting", "other"), [(key, *value) for key, value in TAKEN.items()])
def test_pattern_matches_as_it_does_in_clients(pattern: str, fitting: str, other: list[str]) -> None:
    made = python_pattern(pattern)

    assert re.search(made, fitting, re.ASCII)
    assert not [text for text in other if re.search(made, text, re.ASCII)]


SPACES = "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
NO_SPACES = (
    "\0\b\x1c\x1f!~a0_\x85\x9fäé\u167f\u1681\u180e\u1fff\u200b\u2027\u202a\u2030\u2060\u3001\ufefe\uff00\U0001f600"
)
LINE_ENDS = "\n\r\u2028\u2029"
WORDS = "a0_"

READ_BY_ECMASCRIPT = {
    r"^\s$": SPACES,
    r"^\S$": NO_SPACES,
    r"^[\s]$": SPACES,
    r"^[^\s]$": NO_SPACES,
    r"^[\S]$": NO_SPACES,
    r"^[^\S]$": SPACES,
    r"^[\s!]$": SPACES + "!",
    r"^[^\s!]$": NO_SPACES.replace("!", ""),
    r"^[\S\n]$": NO_SPACES + "\n",
    r"^.$": [each for each in SPACES + NO_SPACES if each not in LINE_ENDS],
    r"^[.]$": "",
    r"^\w$": WORDS,
    r"^\W$": [each for each in SPACES + NO_SPACES if each not in WORDS],
    r"^\d$": "0",
}
"""Which of the characters a pattern takes. Source: ECMA-262, sections 12.2, 12.3 and 22.2.2 (Pattern Semantics)."""


@pytest.mark.parametrize(("pattern", "taken"), READ_BY_ECMASCRIPT.items())
def test_characters_are_those_of_ecmascript(pattern: str, taken: str | list[str]) -> None:
    made = python_pattern(pattern)

    assert {each for each in SPACES + NO_SPACES if re.search(made, each, re.ASCII)} == set(taken)


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        (r"^\B$", "", True),
        (r"^a\Bb$", "ab", True),
        (r"^a\B-$", "a-", False),
        (r"^a\b-$", "a-", True),
        (r"^\\s$", "\\s", True),
        (r"^\\s$", "\\ ", False),
        (r"^[\\s]$", "s", True),
        (r"^\\Z$", "\\Z", True),
        (r"^\.$", "a", False),
    ],
)
def test_places_and_escaped_characters_are_those_of_ecmascript(pattern: str, text: str, matches: bool) -> None:
    assert bool(re.search(python_pattern(pattern), text, re.ASCII)) == matches


@pytest.mark.parametrize("pattern", [r"^\S+\s\S+$", r"^\S+(?:\s+\S+)*$", r"^\w+(?:\s\w+)*$", r"^[^\s@]+@[^\s@]+$"])
def test_spaces_between_others_match_in_one_way(pattern: str) -> None:
    assert python_pattern(pattern)


@pytest.mark.parametrize("pattern", ["^\\s*\u3000*$", "^.*\u2027*$", r"^\s*[\s-]*$", "^[\u1fff-\u2010]*\u2000*$"])
def test_other_spaces_count_where_two_parts_match_the_same(pattern: str) -> None:
    with pytest.raises(PatternRefused, match="two of its parts can match the same text"):
        python_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(a+)+$", "matching may take very long: a repeated part repeats itself"),
        ("(?:a|(?:b|c)+)+$", "matching may take very long: a repeated part repeats itself"),
        (r"^(\w+\s?)*$", "matching may take very long: a repeated part repeats itself"),
        ("(a|a)*$", "it may take very long: two of its alternatives can be empty"),
        ("(a*)*", "matching may take very long: a repeated part can be empty"),
        ("(a?)?(b?)?(c?)?$", "matching may take very long: a repeated part can be empty"),
        ("^(a|b|ab)*$", "it may take very long: two of its parts can match the same text"),
        ("a*a*$", "it may take very long: two of its parts can match the same text"),
        (".*.*.*=.*", "it may take very long: two of its parts can match the same text"),
        ("([^0]|ä)*$", "it may take very long: two of its parts can match the same text"),
        (r"^[^@\s]+@[^@\s]+\.[^@\s]+$", "it may take very long: two of its parts can match the same text"),
        ("(x{1,60}){1,60}", "it is too long with its repetitions written out"),
        ("(", "not a regular expression: missing ), unterminated subpattern at position 0"),
        ("[z-a]", "not a regular expression: bad character range z-a at position 1"),
        ("[a&&b]", "not a regular expression: Possible set intersection at position 2"),
        ("", f"expected 1 to {MAX_PATTERN_CHARS} characters"),
        ("a" * (MAX_PATTERN_CHARS + 1), f"expected 1 to {MAX_PATTERN_CHARS} characters"),
    ],
)
def test_pattern_that_is_none_or_may_be_slow_is_refused(pattern: str, reason: str) -> None:
    with pytest.raises(PatternRefused) as caught:
        python_pattern(pattern)

    assert str(caught.value) == reason


@pytest.mark.parametrize(
    "pattern",
    [
        "(?=a)b", "(?!a)b", "(?<=a)b", r"(a)\1", "(?i)a", "(?P<n>a)", "(?>a)", "a++", "a{2}{3}", "a{,3}", "a{1,", "{",
        "}", "]", "[[:alpha:]]", "[]a]", "[]", r"\p{L}", r"\A", r"\Z", r"\u0041", r"\-", r"\8", r"\x4", "*", "\\",
    ],
)  # fmt: skip
def test_pattern_that_clients_read_differently_is_refused(pattern: str) -> None:
    with pytest.raises(PatternRefused, match=r"not every client reads .* alike|not a regular expression"):
        python_pattern(pattern)


def test_refusal_shows_where_it_begins() -> None:
    with pytest.raises(PatternRefused) as caught:
        python_pattern("^a(?=b)")

    assert str(caught.value).startswith("not every client reads '(?=b)' alike: expected groups as (…) or (?:…), and ")


CHARS = "ab."
Tree = str | tuple[str, "Tree"] | tuple[str, "Tree", "Tree"]
TREES = st.recursive(
    st.sampled_from(CHARS),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["*", "+", "?", "{2}", "{1,2}"]), inner),
        st.tuples(st.sampled_from(["|", "&"]), inner, inner),
    ),
    max_leaves=6,
)


def written(tree: Tree) -> str:
    match tree:
        case str():
            return tree
        case (repeat, inner):
            return f"({written(inner)}){repeat}"
        case (("|"), left, right):
            return f"({written(left)}|{written(right)})"
        case (_, left, right):
            return written(left) + written(right)
    raise AssertionError(tree)


def ways(tree: Tree, text: str, start: int) -> Counter[int]:
    """End -> the number of ways to match from ``start`` to it, as a machine that tries them all would count."""
    match tree:
        case str():
            return Counter([start + 1] if start < len(text) and tree in (".", text[start]) else [])
        case ("*" | "+" as repeat, inner):
            found = Counter([start] if repeat == "*" else [])
            latest = Counter([start])
            for _ in range(len(text) + 1):
                latest = then(inner, text, latest)
                found += latest
            return found
        case ("?", inner):
            return Counter([start]) + ways(inner, text, start)
        case ("{2}", inner):
            return then(inner, text, ways(inner, text, start))
        case ("{1,2}", inner):
            once = ways(inner, text, start)
            return once + then(inner, text, once)
        case (("|"), left, right):
            return ways(left, text, start) + ways(right, text, start)
        case (_, left, right):
            return then(right, text, ways(left, text, start))
    raise AssertionError(tree)


def then(tree: Tree, text: str, ends: Counter[int]) -> Counter[int]:
    found: Counter[int] = Counter()
    for end, count in ends.items():
        for further, more in ways(tree, text, end).items():
            found[further] += count * more
    return found


TEXTS = [
    "".join("ab"[number >> place & 1] for place in range(length)) for length in range(6) for number in range(2**length)
]


@settings(max_examples=300, deadline=None)
@given(TREES)
def test_what_is_taken_matches_every_text_in_one_way_at_most(tree: Tree) -> None:
    try:
        made = python_pattern(f"^{written(tree)}$")
    except PatternRefused:
        return
    for text in TEXTS:
        count = ways(tree, text, 0)[len(text)]
        assert count <= 1, text
        assert bool(re.search(made, text)) == bool(count)
