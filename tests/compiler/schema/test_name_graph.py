from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from handler.compiler.schema.name_graph import circles, handed_down, reachable
from tests.support.examples import examples

NAMES = [f"n{number}" for number in range(8)]


def random_graph(random: Random) -> dict[str, list[str]]:
    return {name: random.sample(NAMES, random.randint(0, 3)) for name in random.sample(NAMES, random.randint(0, 8))}


@settings(max_examples=examples(300), derandomize=True, deadline=None, database=None)
@given(st.randoms(use_true_random=False))
def test_a_part_leads_to_itself_and_stands_before_all_that_it_leads_to(random: Random) -> None:
    graph, start = random_graph(random), random.sample(NAMES, 3)

    parts = circles(graph, start)

    assert sorted(name for part in parts for name in part) == sorted(reachable(start, graph))
    for place, part in enumerate(parts):
        for name in part:
            assert set(part) <= reachable([name], graph)
        later = {name for other in parts[place + 1 :] for name in other}
        assert reachable(part, graph) - set(part) <= later


@settings(max_examples=examples(300), derandomize=True, deadline=None, database=None)
@given(st.randoms(use_true_random=False))
def test_each_has_what_all_that_lead_to_it_have(random: Random) -> None:
    graph = random_graph(random)
    own = {name: random.sample("abc", random.randint(0, 2)) for name in random.sample(NAMES, 4)}

    found = handed_down(own, graph)

    assert found == {
        name: {each for other in own if name in reachable([other], graph) for each in own[other]}
        for name in reachable(own, graph)
    }
