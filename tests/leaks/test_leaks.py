"""No path leaks: whatever a caller asks for in whatever way, nothing denied comes back, and no answer depends on it.

``STILE_LEAK_CASES`` asks for another number of cases; ``make leaks`` for many.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

import pytest

from handler.bundle.model import Bundle
from handler.bundle.tools import GraphQLTool
from handler.policy.evaluation import Mask
from tests.leaks.cases import ROUTES, Weakened, run_cases
from tests.support.examples import examples, in_full

CASES = int(os.environ.get("STILE_LEAK_CASES", examples(5000, share=12)))
CASES_OF_A_SCHEMA = 50
PARTS = max(CASES // 625, 1)
"""Of the search, so that one worker does not search long after the others are done; one finds cases of each route."""

LEAST_OPEN = 0.3
"""Of cases that must leak with nothing enforced, or they would show little."""

LEAST_ANSWERED = 0.15
"""Of cases that must reach the API: refusing everything leaks nothing, too."""


@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_denied_leaks_and_without_enforcement_it_does(part: int) -> None:
    cases = CASES // PARTS
    tally = run_cases(cases, schemas=max(cases // CASES_OF_A_SCHEMA, 1), seed=f"leaks {part}")

    print(f"\n{tally}")  # noqa: T201 - both counts are what this test is for
    assert not tally.enforced, "\n\n".join(map(str, tally.enforced[:3]))
    assert tally.open >= LEAST_OPEN * tally.cases
    assert tally.reached >= LEAST_ANSWERED * tally.cases
    assert set(tally.kinds) == set(ROUTES)


def only(guards: Mapping[str, Mask], kinds: str) -> dict[str, Mask]:
    """The guards of ``fields`` and types, or those of ``inputs``."""
    inputs = {place for place in guards if "(" in place or place.partition(".")[0].endswith(INPUT_TYPES)}
    inputs |= {place for place in guards if place.startswith("@")}
    return {place: mask for place, mask in guards.items() if (place in inputs) == (kinds == "inputs")}


INPUT_TYPES = ("Filter", "Order", "OrderField", "OrderBy")


def without_guards_of(kinds: str) -> Weakened:
    """A bundle that guards nothing but the other kinds."""
    kept = {"fields": "inputs", "inputs": "fields"}[kinds]

    def weakened(bundle: Bundle) -> Bundle:
        tools = tuple(
            replace(tool, guards=only(tool.guards, kept)) if isinstance(tool, GraphQLTool) else tool
            for tool in bundle.tools
        )
        return replace(bundle, guards=only(bundle.guards, kept), tools=tools)

    return weakened


def without_guards_of_directives(bundle: Bundle) -> Bundle:
    def left(guards: Mapping[str, Mask]) -> dict[str, Mask]:
        return {place: mask for place, mask in guards.items() if not place.startswith("@")}

    tools = tuple(
        replace(tool, guards=left(tool.guards)) if isinstance(tool, GraphQLTool) else tool for tool in bundle.tools
    )
    return replace(bundle, guards=left(bundle.guards), tools=tools)


def without_guard_of_introspection(bundle: Bundle) -> Bundle:
    return replace(bundle, graphql=replace(bundle.graphql, guards={}))


@in_full
@pytest.mark.parametrize(
    ("weakened", "found", "enough"),
    [
        (without_guards_of("inputs"), "the answer depends on what is denied", 200),
        (without_guards_of("fields"), "stands in the answer", 20),
        (without_guards_of_directives, "the answer depends on what is denied", 20),
        (without_guard_of_introspection, "was answered", 1),
    ],
    ids=["inputs", "fields", "directives", "introspection"],
)
def test_what_is_not_guarded_is_found_to_leak(weakened: Weakened, found: str, enough: int) -> None:
    tally = run_cases(4000, schemas=80, seed="b", weakened=weakened, stop_after=examples(enough, share=20))

    assert any(found in leak.what for leak in tally.enforced), tally


def test_leak_is_printed_with_all_that_shows_it_again() -> None:
    tally = run_cases(100, schemas=5, seed="weakened", weakened=without_guards_of("fields"), stop_after=1)
    text = str(tally.enforced[0])

    assert text.startswith("seed 'weakened-")
    assert all(f"--- {part}\n" in text for part in ("index.graphql", "config.yaml", "caller", "request"))


@in_full
def test_same_seed_gives_the_same_cases() -> None:
    first, second = (run_cases(40, schemas=2, seed="same") for _ in range(2))

    assert str(first) == str(second)
