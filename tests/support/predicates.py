"""Conditions as authors write them, and the truth of predicates."""

from __future__ import annotations

from typing import Any

from handler.compiler.access.predicate_parser import parse_predicate
from handler.compiler.problems import Place, Problems
from handler.policy.predicates import Predicate, Truth, compile_predicate

Claims = dict[str, Any] | None


def truth_of(predicate: Predicate, claims: Claims, variables: dict[str, Any] | None) -> Truth:
    """The truth of a predicate for these claims and variables."""
    return compile_predicate(predicate)(claims, variables)


def predicate_of(text: str) -> Predicate:
    """The tree of a condition that has no mistake."""
    problems = Problems()
    found = parse_predicate(text, place_in_one_line, problems)
    problems.raise_if_any()
    if found is None:
        raise ValueError("no tree, and no problem either")
    return found


def place_in_one_line(offset: int) -> Place:
    """Where a character stands in a file that is nothing but the condition."""
    return Place("condition", 1, offset + 1)
