"""The search: shapes that cost much are changed and grown, and those that cost more take their place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

from tests.work.genomes import Family, Gene, Shape, fitted, mutated, random_shape
from tests.work.known import KNOWN
from tests.work.measure import Bench, Cost

MAX_CPU_S = 1.0
MAX_BYTES = 100_000_000
"""What one request under 1 MiB may take of a warm process at default limits."""

KEPT = 8
"""Shapes of a family that others are made of."""

SUSPICIOUS = 0.6
"""A share of a bound from which a shape is measured again, in processes that never had it."""

FRESH_SHARE = 0.25


@dataclass(frozen=True)
class Found:
    """A shape, and what it costs."""

    shape: Shape
    cost: Cost
    size: int

    @property
    def share(self) -> float:
        """How much of a bound it takes: of that which it takes most of."""
        return max(self.cost.cpu_s / MAX_CPU_S, self.cost.peak_bytes / MAX_BYTES)

    @property
    def is_wrong(self) -> bool:
        """Whether it costs more than it may, or failed."""
        return self.share > 1 or bool(self.cost.failure)

    def __str__(self) -> str:
        return f"{self.cost}, {self.size / 1000:,.0f} KB: {self.shape}"


@dataclass
class Tally:
    """What came of a search: how many requests were measured, and the costliest, each confirmed."""

    cases: int = 0
    worst: list[Found] = field(default_factory=list)

    @property
    def wrong(self) -> list[Found]:
        return [found for found in self.worst if found.is_wrong]


def search(bench: Bench, families: Sequence[Family], *, cases: int, seed: str) -> Tally:
    """Search each family with as many requests as the others. The same seed begins with the same shapes."""
    tally = Tally()
    for family in families:
        found = _climb(bench, family, cases=cases // len(families), chance=Random(f"{seed}/{family.name}"))
        tally.cases += cases // len(families)
        tally.worst += [_confirmed(bench, each) for each in found[:3] if each.share > SUSPICIOUS] or found[:1]
    tally.worst.sort(key=lambda each: -each.share)
    return tally


def _climb(bench: Bench, family: Family, *, cases: int, chance: Random) -> list[Found]:
    """The costliest shapes of a family, the worst first: those that are known, random ones, and what grew of them."""
    best: list[Found] = []
    for shape in _shapes(family, cases, chance, best):
        case = shape.case()
        found = Found(shape, bench.measure(case), case.size)
        if all(found.shape != each.shape for each in best):
            best.append(found)
        best.sort(key=lambda each: -each.share)
        del best[KEPT:]
    return best


def _shapes(family: Family, cases: int, chance: Random, best: list[Found]) -> Iterable[Shape]:
    """What is known to have cost much, then each kind by itself, then what grows of the costliest."""
    known = [fitted(Shape(family, genome)) for genome in KNOWN.get(family.name, {}).values()]
    alone = [fitted(Shape(family, (Gene(kind, 1_000, chance.randrange(family.variants)),))) for kind in family.kinds]
    first = [*known, *alone][:cases]
    yield from first
    for _ in range(cases - len(first)):
        is_fresh = not best or chance.random() < FRESH_SHARE
        yield random_shape(family, chance) if is_fresh else mutated(chance.choice(best).shape, chance)


def _confirmed(bench: Bench, found: Found) -> Found:
    return Found(found.shape, bench.confirm(found.shape.case()), found.size)
