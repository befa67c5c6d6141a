from __future__ import annotations

from itertools import pairwise

from benchmarks.soak import ENDPOINTS, publication


def test_every_publish_changes_an_endpoint_and_all_have_their_turn() -> None:
    publications = [publication(number) for number in range(3 * ENDPOINTS)]

    for place in range(ENDPOINTS):
        fewer = [is_fewer for each, is_fewer in publications if each == place]
        assert len(fewer) == 3
        assert fewer[0]  # all begin with the larger one
        assert all(one != next_one for one, next_one in pairwise(fewer))
