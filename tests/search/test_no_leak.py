"""Nothing that a search tells depends on what is hidden from its caller."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from graphql import build_schema
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.graph.sdl import print_view
from handler.graph.view import View, build_view
from handler.policy.evaluation import DEFAULT
from handler.search.schema_search import Match, SchemaSearch
from tests.graph.random_schemas import coordinates_of
from tests.search.schemas import QUESTIONS, index_of, random_worded_sdl, view_of
from tests.support.examples import examples, in_full

LIMIT = 40


def drawn(seed: int) -> tuple[View, Sequence[str]]:
    """A view of a random schema without some coordinates, and the coordinates."""
    random = Random(seed)
    sdl = random_worded_sdl(random)
    coordinates = sorted(coordinates_of(build_schema(sdl)))
    hidden = random.sample(coordinates, random.randint(1, 6))
    return view_of(sdl, hidden=hidden), hidden


def answers(view: View) -> list[Sequence[Match]]:
    search = SchemaSearch(view)
    return [search.search(question, LIMIT) for question in QUESTIONS]


@settings(deadline=None, max_examples=examples(150))
@given(st.integers(0, 2**32))
def test_a_view_answers_as_the_schema_compiled_without_the_hidden_parts(seed: int) -> None:
    view, _ = drawn(seed)
    if not view.root_fields().get("query"):
        return

    assert answers(view) == answers(view_of(print_view(view)))


@pytest.mark.parametrize("most", [3, 8, 20])
def test_words_that_do_not_count_are_chosen_by_visible_places(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr("handler.search.schema_search.MAX_PLACES", most)
    for seed in range(20):
        view, _ = drawn(seed)
        if view.root_fields().get("query"):
            assert answers(view) == answers(view_of(print_view(view)))


def test_ways_need_what_a_caller_has_to_give_without_a_hidden_default() -> None:
    sdl = """
      type Query { first(shelfId: Shelf! = TOP): Box second(number: Int!, size: Int!): Box }
      type Box { id: ID! volume: Int }
      enum Shelf { TOP LOW }
    """
    views = [view_of(sdl, hidden=hidden) for hidden in ([], ["Shelf.TOP", f"Query.first(shelfId:){DEFAULT}"])]
    ways = [SchemaSearch(view).search("volume", 1)[0].paths for view in views]

    assert [paths[0][0] for paths in ways] == ["Query.first", "Query.second"]
    assert answers(views[1]) == answers(view_of(print_view(views[1])))


def test_a_hidden_root_type_takes_the_place_of_no_type_on_the_way() -> None:
    places = ("east", "north", "south", "west", "left", "right", "upper", "lower", "inner", "outer")
    roots = " ".join(f"{place}: Page{place}" for place in places)
    types = " ".join(f"type Page{place} {{ held: Held{place} }} type Held{place} {{ box: Box }}" for place in places)
    sdl = f"type Query {{ {roots} }} {types} type Box {{ id: ID! volume: Int }} type Mutation {{ pack: Int }}"
    view = view_of(sdl, hidden=["Mutation", "Mutation.pack"])
    alone = view_of(print_view(view))

    for place in places:
        question = f"volume {place}"
        assert SchemaSearch(view).search(question, LIMIT) == SchemaSearch(alone).search(question, LIMIT)


def test_words_of_a_hidden_argument_are_known_to_no_search() -> None:
    sdl = "type Query { orders(salaryBonus: Int, bonusOnly: Boolean, first: Int): Int }"
    search = SchemaSearch(view_of(sdl, hidden=["Query.orders(salaryBonus:)"]))
    without = SchemaSearch(view_of(sdl.replace("salaryBonus: Int, ", "")))

    assert [len(search.search(each, 10)) for each in ("salary", "salry", "first", "bonus")] == [0, 0, 1, 1]
    assert search.search("bonus", 10) == without.search("bonus", 10)


@in_full
def test_the_comparison_sees_statistics_of_hidden_parts() -> None:
    """A search that counts everything, and leaves out hidden results at the end, differs."""
    differ = 0
    for seed in range(60):
        view, _ = drawn(seed)
        if not view.root_fields().get("query"):
            continue
        whole = answers(build_view(view.index, ()))
        left_out = [[match for match in matches if _is_visible(view, match.coordinate)][:LIMIT] for matches in whole]
        differ += left_out != answers(view)

    assert differ > 20


@pytest.mark.parametrize("seed", range(20))
def test_no_result_and_no_path_names_a_hidden_coordinate(seed: int) -> None:
    view, hidden = drawn(seed)

    named = {
        part
        for matches in answers(view)
        for match in matches
        for path in match.paths
        for part in (*path, match.coordinate)
    }

    assert not named & {*view.gone, *hidden}


def test_a_hidden_types_words_are_known_to_no_search() -> None:
    """A misspelt, shortened or compound word is completed from visible words alone."""
    sdl = "type Query { person: Person secret: Salary } type Person { name: String } type Salary { salaryBonus: Int }"
    view = view_of(sdl, hidden=["Salary"])

    for question in ("salary", "salry", "sala", "salarybonus", "bonus"):
        assert SchemaSearch(view).search(question, 10) == []
        assert SchemaSearch(build_view(index_of(sdl), ())).search(question, 10) != []


def _is_visible(view: View, coordinate: str) -> bool:
    type_name, _, member = coordinate.partition(".")
    return type_name in view.members and (not member or member in view.members[type_name])
