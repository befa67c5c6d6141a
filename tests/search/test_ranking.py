from __future__ import annotations

from handler.search.ranking import Ranked, Ranking
from handler.search.words import Vocabulary

TOOLS = (
    Ranked("a", ("updateProduct",), ("Change a product of the shop.",), ("productId", "price")),
    Ranked("b", ("create_order",), ("Order products for a customer.",), ("customerId",)),
    Ranked("c", ("weather",), ("The forecast of a city.",), ("city",)),
)


def keys(question: str, vocabulary: Vocabulary | None = None) -> list[str]:
    return [key for key, _ in Ranking(TOOLS, vocabulary).rank(question)]


def test_names_count_more_than_texts() -> None:
    assert keys("update product")[:2] == ["a", "b"]
    assert keys("Order something for somebody") == ["b"]


def test_names_of_arguments_count() -> None:
    assert keys("price") == ["a"]


def test_synonyms_of_an_author_count() -> None:
    assert keys("temperature") == []
    assert keys("temperature", Vocabulary(synonyms={"temperature": ["weather"]})) == ["c"]


def test_equal_scores_are_in_the_order_of_keys() -> None:
    twins = [Ranked(key, ("same",)) for key in "dcba"]

    assert [key for key, _ in Ranking(twins).rank("same")] == ["a", "b", "c", "d"]


def test_nothing_is_ranked_for_nothing() -> None:
    assert Ranking(()).rank("anything") == []
    assert Ranking(TOOLS).rank("") == []


def test_words_of_the_best_texts_count_a_little() -> None:
    told = [
        Ranked("a", ("other",), ("an invoice and the weather",)),
        Ranked("b", ("another",), ("an invoice and the ledger",)),
        Ranked("c", ("invoice",), ("the ledger",)),
        Ranked("d", ("more",), ("something else",)),
        Ranked("e", ("most",), ("something more",)),
    ]

    assert [key for key, _ in Ranking(told).rank("invoice")] == ["c", "b", "a"]
    assert all(0 < score <= 1 for _, score in Ranking(told).rank("invoice"))
