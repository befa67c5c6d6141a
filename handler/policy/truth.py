"""Truth values of predicates and conditions, each a set of four facts.

A predicate on an unknown variable may hold and may fail, and does neither surely. A comparison with a missing claim has
none of the four facts: neither the comparison nor its negation holds. Access is given on ``SURELY_HOLDS`` alone.
"""

from __future__ import annotations

from collections.abc import Iterable

Truth = int
"""The sum of the facts that are true. ``&`` of ``enum.Flag`` takes many times as long as ``&`` of integers."""

MAY_HOLD, SURELY_HOLDS, MAY_FAIL, SURELY_FAILS = 1, 2, 4, 8
"""*May*: for some values of the unknown variables. *Surely*: for all of them. What is sure is also possible."""

HOLDS: Truth = MAY_HOLD | SURELY_HOLDS
FAILS: Truth = MAY_FAIL | SURELY_FAILS
NEITHER: Truth = 0
DEPENDS: Truth = MAY_HOLD | MAY_FAIL

_ALL = HOLDS | FAILS


def negation(truth: Truth) -> Truth:
    """Return the truth of ``not``: the facts of holding and of failing change places."""
    return (truth & HOLDS) << 2 | truth >> 2


def conjunction(truths: Iterable[Truth]) -> Truth:
    """Return the truth of ``and``: it holds as all of its parts do, and fails as any of them does."""
    common, some = _ALL, 0
    for truth in truths:
        common &= truth
        some |= truth
    return common & HOLDS | some & FAILS


def disjunction(truths: Iterable[Truth]) -> Truth:
    """Return the truth of ``or``: it holds as any of its parts does, and fails as all of them do."""
    common, some = _ALL, 0
    for truth in truths:
        common &= truth
        some |= truth
    return some & HOLDS | common & FAILS
