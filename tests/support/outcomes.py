"""What holds for callers without claims."""

from __future__ import annotations

from collections.abc import Sequence

from handler.policy.evaluation import Evaluation, Mask
from handler.policy.predicates import Predicate


def outcome_of(conditions: Sequence[Predicate], *, unrestricted: bool) -> Mask:
    """The numbers of the conditions that hold for who brings no credential, or for who skips policies."""
    return Evaluation(conditions, claims=None, unrestricted=unrestricted).outcome()
