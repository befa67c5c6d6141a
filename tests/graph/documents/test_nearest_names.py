"""The names that are nearest to a wrong one: graphql-core's suggestions, found with less work."""

from __future__ import annotations

from graphql.pyutils import suggestion_list
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.graph.documents.hints import MAX_COUNTED, MAX_NAME_CHARS, Names

NAME = st.text(alphabet="abABo_1", min_size=1, max_size=12)


@settings(deadline=None)
@given(NAME, st.lists(NAME, max_size=MAX_COUNTED, unique=True))
def test_few_names_are_suggested_as_graphql_core_does(wrong: str, names: list[str]) -> None:
    assert Names(names).suggested_for(wrong) == suggestion_list(wrong, names)


def test_one_edit_is_found_among_many_names() -> None:
    names = [f"external{number}RepositoryOwner" for number in range(2_000)]

    assert Names(names).suggested_for("external1234RepositoryOwnr")[0] == "external1234RepositoryOwner"


def test_long_names_are_near_to_none() -> None:
    name = "x" * MAX_NAME_CHARS

    assert Names([name]).suggested_for(name[1:]) == [name]
    assert Names([name]).suggested_for(f"{name}y") == []
    assert Names([f"{name}y"]).suggested_for(name) == []


def test_names_that_share_words_are_nearer_than_those_that_share_letters() -> None:
    names = ["usersByAge", "yabsrEebmail", "user", "orders", "emailOfUser"]

    assert Names(names).by_nearness("getUserByEmail")[2:4] == ["user", "yabsrEebmail"]
