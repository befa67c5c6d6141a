"""No request under 1 MiB costs more than a second of processor time, or 100 MB.

``STILE_WORK_CASES`` asks for a search; ``make work`` for a long one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random

import pytest

from tests.work.documents import WITHOUT_LIMITS
from tests.work.families import FAMILIES
from tests.work.genomes import MAX_BODY_BYTES, Gene, Shape, fitted, mutated, random_shape
from tests.work.known import KNOWN
from tests.work.measure import Bench, bench
from tests.work.search import Found, search

CASES = int(os.environ.get("STILE_WORK_CASES", "0"))

SEARCHED = tuple(FAMILIES)

searching = pytest.mark.skipif(not CASES, reason="STILE_WORK_CASES=120 measures and searches, as CI does")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with bench(tmp_path_factory.mktemp("work")) as made:
        yield made


@searching
@pytest.mark.parametrize(("family", "what"), [(family, what) for family in SEARCHED for what in KNOWN.get(family, {})])
def test_shape_that_once_cost_too_much_does_not_any_more(served: Bench, family: str, what: str) -> None:
    shape = fitted(Shape(FAMILIES[family], KNOWN[family][what]))

    found = Found(shape, served.measure(shape.case()), shape.case().size)

    assert not found.is_wrong, str(found)


@searching
def test_search_finds_no_request_that_costs_too_much(served: Bench) -> None:
    tally = search(served, [FAMILIES[name] for name in SEARCHED], cases=CASES, seed="slice")

    assert tally.cases >= len(SEARCHED)
    assert not tally.wrong, [str(found) for found in tally.wrong]


@searching
def test_what_costs_too_much_without_limits_is_measured_as_that(served: Bench) -> None:
    shape = fitted(Shape(WITHOUT_LIMITS, (Gene("known fields", 3_600, 0),)))

    assert Found(shape, served.measure(shape.case()), shape.case().size).is_wrong


def test_the_same_seed_makes_the_same_shapes() -> None:
    for family in FAMILIES.values():
        first, second = (mutated(random_shape(family, chance), chance) for chance in (Random(1), Random(1)))
        assert first == second
        assert first.case() == second.case()


def test_requests_are_as_large_as_may_arrive_and_no_larger() -> None:
    shape = fitted(Shape(FAMILIES["arguments"], (Gene("letters", 1_500_000),)))

    assert MAX_BODY_BYTES // 3 < len(shape.case().body) < MAX_BODY_BYTES
