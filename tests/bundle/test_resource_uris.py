"""What is of a template, and what its expressions stand for."""

from __future__ import annotations

import itertools
import re
import time

import pytest

from handler.bundle.resource_uris import EXPRESSION, pattern_of

TEMPLATES = ("x:", "x:{a}", "{a}-{b}", "x{a}{b}", "{a}-{b}-{c}", "{+a}/{b}", "{a}/{+b}", "{+a}-{b}/{+c}", "{a}--{b}-")


def values_by_backtracking(template: str, uri: str) -> dict[str, str] | None:
    """The same in the plain way, for which a URI that nearly matches takes as long as there are ways to split it."""
    text = "".join(re.escape(each) for each in EXPRESSION.split(template)[:1])
    for (plus, name), literal in zip(EXPRESSION.findall(template), EXPRESSION.split(template)[3::3], strict=True):
        text += f"(?P<{name}>{'.+' if plus else '[^/?#]+'}){re.escape(literal)}"
    found = re.fullmatch(text, uri)
    return None if found is None else found.groupdict()


@pytest.mark.parametrize("template", TEMPLATES)
def test_each_expression_takes_as_much_as_it_can_the_first_before_the_others(template: str) -> None:
    pattern = pattern_of(template)
    prefix = "x:" if template.startswith("x:") else ""

    for length in range(8):
        for letters in itertools.product("x-/", repeat=length):
            uri = prefix + "".join(letters)
            assert pattern.values_in(uri) == values_by_backtracking(template, uri), uri


def test_a_template_has_expressions() -> None:
    assert pattern_of("x:{a}").is_template
    assert not pattern_of("x:a").is_template


@pytest.mark.parametrize("template", ["x:{a}-{b}-{c}-{d}-{e}", "x:{+a}/{+b}/{+c}/{+d}/{e}", "x:{a}{b}{c}{d}{e}"])
def test_a_uri_that_nearly_matches_takes_no_longer(template: str) -> None:
    began = time.perf_counter()

    assert pattern_of(template).values_in("x:" + "-" * 1_900 + "?") is None
    assert pattern_of(template).values_in("y:" + "/-" * 900) is None
    assert time.perf_counter() - began < 1
