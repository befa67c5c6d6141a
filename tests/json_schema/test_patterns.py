"""Patterns of tools in Python: their meaning, and the time that they take."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.json_schema import formats
from handler.json_schema.checker import Checker, refuse_bad_schema
from handler.json_schema.formats import COPIES, MAX_MATCHED_CHARS, MAX_SHORT_CHARS, matches, refuse_bad_pattern
from tests.conftest import ROOT
from tests.support.examples import examples

SLOW = {
    "^(a+)+$": "a" * 999 + "!",
    "^(a|a)*$": "a" * 999 + "!",
    "^(a|aa)+$": "a" * 999 + "!",
    r"^(\w+\s?)*$": "a" * 999 + "!",
    "a*a*a*a*b": "a" * 1_000,
    "(.*)(.*)(.*)(.*)=": "a" * 1_000,
    r"^([a-z0-9]+[-_.]?)+@x$": "a" * 1_000,
    "(x+x+)+y": "x" * 1_000,
    "^(([a-z])+.)+[A-Z]([a-z])+$": "a" * 1_000,
    "(?:a?){50}a{50}$": "a" * 999 + "!",
    "^a*[a-z]{500}_": "a" * 1_000,
    "^[a-z]*[a-z]{99}_": "a" * 100,
}
"""Patterns that take a backtracking engine very long on a text that they do not match, with such a text."""


@pytest.mark.parametrize(("pattern", "text"), SLOW.items())
def test_pattern_takes_no_time_that_a_caller_can_choose(pattern: str, text: str) -> None:
    refuse_bad_pattern(pattern)
    started = time.process_time()

    assert not matches(pattern, text)
    assert Checker({"pattern": pattern}).violations(text)
    assert Checker({"patternProperties": {pattern: False}}).violations({text: 1}) == []

    assert time.process_time() - started < 0.3


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?=a)b", "look-around"),
        ("^(?!x)", "look-around"),
        (r"(a)\1", "backreferences are not supported"),
        (r"a\Z", "unrecognized escape sequence"),
        ("(", "unclosed group"),
        ("[z-a]", "the start must be <= the end"),
        ("[!--]", r"write \\- for a hyphen"),
        ("(?:a{0,1000}){0,50}$", "exceeds size limit"),
        ("((a?){100}){300}c", "exceeds size limit"),
        ("(?:a|b?){20000}c", "exceeds size limit"),
    ],
)
def test_pattern_that_no_linear_engine_runs_is_refused(pattern: str, reason: str) -> None:
    schemas: list[dict[str, Any]] = [{"properties": {"a": {"pattern": pattern}}}, {"patternProperties": {pattern: {}}}]
    for schema in schemas:
        with pytest.raises(ValueError, match=rf"^pattern .*: .*{reason}"):
            refuse_bad_schema(schema)


def test_largest_pattern_takes_a_moment() -> None:
    """The pattern that takes longest of those that fit is one of which a copy more does not."""
    refuse_bad_pattern("((a?){100}){70}c")
    with pytest.raises(ValueError, match="exceeds size limit"):
        refuse_bad_pattern(f"((a?){{100}}){{{70 * COPIES}}}c")
    started = time.process_time()

    assert not matches("((a?){100}){70}c", "a" * 1_000)

    assert time.process_time() - started < 2


def test_names_that_jsonschema_would_match_by_itself_are_refused() -> None:
    schema = {"patternProperties": {"^(a+)+$": {}}, "allOf": [{"unevaluatedProperties": False}]}

    with pytest.raises(ValueError, match="unevaluatedProperties is not supported beside patternProperties"):
        refuse_bad_schema(schema)


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        (r"^\d+\.\d{2}$", ["12.99"], ["12.9", "12.99\n", "１２.99"]),
        (r"(^\d+\.\d{2}$)", ["12.99"], ["12.9", "12.99\n", "１２.99"]),
        (r"^[a-z0-9]+(?:-[a-z0-9]+)*$", ["a-slug-2"], ["-a", "a--b"]),
        ("^(USD|USN|EUR)$", ["USN"], ["US", "usd"]),
        (r"^(\w+\.)*\w+$", ["a.b.c"], ["a..b", "ä"]),
        (r"^(\W)$", ["-", "ä"], ["a", "_"]),
        (r"^([^\w])$", ["-", "ä"], ["a", "_"]),
        (r"^([\D])$", ["-", "٣"], ["3"]),
        (r"^([\W\d])$", ["-", "3"], ["a"]),
        (r"^(a\b-)$", ["a-"], ["ab"]),
        (r"^(a\Bb)$", ["ab"], ["a-"]),
        (r"(\bab)", ["äab"], ["aab"]),
        (r"^([\b])$", ["\b"], ["b"]),
        (r"^([[])$", ["["], ["a"]),
        (r"^([a&&b~~]+)$", ["a&b~"], ["c"]),
        (r"^(\\d)$", ["\\d"], ["3", "d"]),
        (r"^([\\d])$", ["\\", "d"], ["3"]),
        (r"^\$[^\d\s]+\/$", ["$ab/"], ["$1/"]),
        (r"^\u0041\x42$", ["AB"], ["ab"]),
        ("^(-|$)", ["", "-a"], ["a"]),
        ("free", ["a free text"], ["fre"]),
    ],
)
def test_pattern_means_what_ecmascript_says(pattern: str, fitting: list[str], others: list[str]) -> None:
    assert [text for text in fitting if not matches(pattern, text)] == []
    assert [text for text in others if matches(pattern, text)] == []


def test_long_text_matches_no_pattern() -> None:
    assert matches("^a+$", "a" * MAX_MATCHED_CHARS)
    assert not matches("^a+$", "a" * (MAX_MATCHED_CHARS + 1))


CLASSES = st.sampled_from(
    ["[a-c]", "[^a]", "[-a]", "[a-]", r"[\w-]", r"[^\d]", r"[\]a]", "[.$]", "[(b]", "[^^]", "[ä-ü]"]
)
CHARS = st.one_of(st.sampled_from(["a", "b", "-", " ", "ä", "/", r"\d", r"\w", r"\.", r"\$", r"\-", "_", "٣"]), CLASSES)
FIXED = st.tuples(CHARS, st.sampled_from(["", "", "{2}", "{0}"])).map("".join)
VARYING = st.tuples(CHARS, st.sampled_from(["*", "+", "?", "{1,2}", "{2,}"])).map("".join)
ONE = st.tuples(st.lists(FIXED, max_size=3), st.one_of(st.just(""), VARYING), st.lists(FIXED, max_size=3))
SIMPLE = st.builds(
    lambda parts, end: f"^{''.join(parts[0])}{parts[1]}{''.join(parts[2])}{end}", ONE, st.sampled_from(["", "$"])
)
TEXTS = st.text(alphabet="abc-_ ä٣3/.$()]^ü\n\u2028", max_size=6)


@settings(max_examples=examples(2_000, share=4), deadline=None)
@given(SIMPLE, TEXTS)
def test_both_engines_read_a_simple_pattern_alike(pattern: str, text: str) -> None:
    simple = formats._simple_search(pattern)

    assert simple is not None
    assert (simple(text) is not None) == formats._linear_search(pattern)(text)


@pytest.mark.parametrize(
    "pattern",
    [
        "^a+b*$",
        "^(a)$",
        "a+",
        "^a|b",
        "^(?:a+)+$",
        "^a+?$",
        "^a++$",
        r"^\s$",
        r"^.*\b$",
        "^[a--]$",
        "^[a&&b]$",
        "^[a||b]$",
    ],
)
def test_other_patterns_are_for_the_linear_engine(pattern: str) -> None:
    assert formats._simple_search(pattern) is None


def test_a_simple_pattern_is_tried_in_few_ways() -> None:
    """The costliest form: each length of the varying part is followed by a part as long as the text."""
    text = "a" * MAX_SHORT_CHARS
    found: list[Any] = []
    started = time.process_time()

    for fixed in range(1, MAX_SHORT_CHARS):
        simple = formats._simple_search(f"^[a-z]*[a-z]{{{fixed}}}_$")
        found.append(simple and simple(text))

    assert found == [None] * (MAX_SHORT_CHARS - 1)
    assert time.process_time() - started < 1
    assert re.fullmatch("[a-z]*[a-z]{50}", text)


def test_a_simple_pattern_loads_no_package() -> None:
    script = (
        "import sys\n"
        "from handler.json_schema.formats import matches\n"
        "for pattern in ('^[A-Z]{2}$', '^([A-Z])$'):\n"
        "    matches(pattern, 'CA')\n"
        "    print([name for name in ('pydantic', 'pydantic_core') if name in sys.modules])\n"
    )

    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n['pydantic_core']\n"
