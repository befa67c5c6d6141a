from __future__ import annotations

from collections.abc import Sequence

import pytest

from handler.graph.index import SchemaIndex, read_index, write_index
from handler.graph.view import build_view
from handler.search.corpus import MAX_KEPT_BYTES
from handler.search.question import MAX_GUESSED
from handler.search.schema_search import MAX_PLACES, SchemaSearch
from handler.search.words import MAX_CHARS
from tests.search.schemas import view_of

SHOP = """
type Query { orders(status: Status): [Order!]! customer(id: ID!): Customer node: Node }
type Mutation { cancelOrder(input: CancelInput!): CancelPayload }
input CancelInput { "The reason given by the buyer" reason: String orderId: ID! }
type CancelPayload { order: Order }
interface Node { id: ID! }
type Order implements Node {
  id: ID!
  "What the buyer owes, in cents"
  total: Int
  customer: Customer
  pullRequest: String
}
type Customer implements Node { id: ID! userId: ID revenue: Int orders: [Order!]! }
enum Status { OPEN "Sent to the buyer" SHIPPED }
"""


def found(question: str, limit: int = 5, **synonyms: Sequence[str]) -> list[str]:
    search = SchemaSearch(view_of(SHOP, synonyms=synonyms))
    return [match.coordinate for match in search.search(question, limit)]


def test_a_field_is_found_by_its_name_and_by_its_description() -> None:
    assert found("order totals")[0] == "Order.total"
    assert found("what does the buyer owe in cents")[0] == "Order.total"


def test_enum_values_and_arguments_count() -> None:
    assert "Status.SHIPPED" in found("shipping")
    assert "Query.orders" in found("orders by status")


def test_the_payload_and_the_input_of_one_mutation_are_found_as_the_mutation() -> None:
    assert found("cancel an order")[0] == "Mutation.cancelOrder"
    assert found("reason of the buyer")[0] == "Mutation.cancelOrder"
    assert not any(name.startswith("Cancel") for name in found("cancel", 40))


@pytest.mark.parametrize("question", ["pullrequest", "pull request", "PullRequests", "pul requst", "pullreqest"])
def test_compounds_are_found_split_joined_and_misspelt(question: str) -> None:
    assert found(question)[0] == "Order.pullRequest"


@pytest.mark.parametrize("question", ["revnue", "reveenue", "reevnue", "revenwe"])
def test_a_word_is_found_with_a_letter_wrong(question: str) -> None:
    assert found(question)[0] == "Customer.revenue"


@pytest.mark.parametrize("question", ["remove stock places", "delete the stock places"])
def test_name_with_the_words_of_the_question_alone_is_first(question: str) -> None:
    """A text that repeats the words, and a name with further ones, count less."""
    sdl = """
        type Query { stockPlaces: [StockPlace!]! }
        type StockPlace { id: ID! name: String }
        type Deletion { message: String }
        type Mutation {
          deleteProducts(ids: [ID!]!): [Deletion!]!
          deleteStockPlaces(ids: [ID!]!): [Deletion!]!
          "Removes stock places from the shop"
          removeStockPlacesFromShop(shop: ID!): [StockPlace!]!
        }
    """
    assert SchemaSearch(view_of(sdl)).search(question, 5)[0].coordinate == "Mutation.deleteStockPlaces"


@pytest.mark.parametrize("question", ["userid", "user id", "UserIDs", "user_id"])
def test_ids_are_found_split_and_joined(question: str) -> None:
    assert found(question)[0] == "Customer.userId"


@pytest.mark.parametrize("question", ["column 7", "column7", "Column_7", "columns 7", "7"])
def test_numbers_count(question: str) -> None:
    columns = " ".join(f"column_{number}: Int" for number in range(1_200))
    search = SchemaSearch(view_of(f"type Query {{ row: Row }} type Row {{ {columns} }}"))

    assert search.search(question, 5)[0].coordinate == "Row.column_7"


@pytest.mark.parametrize(
    "question", ["Who cancels an order?", "show me the canceled orders", "find canceling of orders"]
)
def test_a_question_for_facts_is_seldom_answered_by_a_mutation(question: str) -> None:
    def score(question: str) -> float:
        matches = SchemaSearch(view_of(SHOP)).search(question, 20)
        return next(match.score for match in matches if match.coordinate == "Mutation.cancelOrder")

    assert score(question) < score("cancel an order")


@pytest.mark.parametrize("question", ["count the number of orders", "the total number of orders", "number of orders"])
def test_number_of_things_is_asked_as_how_many(question: str) -> None:
    search = SchemaSearch(view_of(SHOP))

    assert search.search(question, 9) == search.search("how many orders", 9)


@pytest.mark.parametrize("field", ["paymentDate", "paymentDatetime", "paymentTimestamp"])
def test_when_is_answered_by_a_time(field: str) -> None:
    search = SchemaSearch(view_of(f"type Query {{ order: Order }} type Order {{ paymentAmount: Int {field}: Int }}"))

    assert search.search("when was the payment", 5)[0].coordinate == f"Order.{field}"


def test_last_word_of_a_name_says_what_a_type_is() -> None:
    sdl = "type Query { a: CommentAuthor b: AuthorComment } type CommentAuthor { x: ID } type AuthorComment { x: ID }"
    search = SchemaSearch(view_of(sdl))

    def types(question: str) -> list[str]:
        return [each.coordinate for each in search.search(question, 9) if "." not in each.coordinate]

    assert types("comments") == ["AuthorComment", "CommentAuthor"]
    assert types("authors") == ["CommentAuthor", "AuthorComment"]


def test_most_frequent_words_of_a_question_do_not_count_if_they_have_too_many_places() -> None:
    fields = " ".join(f"common_{number}: Int" for number in range(MAX_PLACES + 1))
    search = SchemaSearch(view_of(f"type Query {{ {fields} rareThing: Int commonRare: Int }}"))

    assert search.search("a common rare thing", 9) == search.search("a rare thing", 9)
    assert len(search.search("common", 9)) == 9


def test_meanings_of_few_unknown_words_are_guessed() -> None:
    unknown = " ".join(f"zzq{letter}" for letter in "bcdfghjklmnp"[:MAX_GUESSED])

    assert found(f"{unknown[:-5]} revnue") == found("revnue") != []
    assert found(f"{unknown} revnue") == []


def test_synonyms_are_only_an_authors() -> None:
    assert found("turnover") == []
    assert found("turnover", turnover=["revenue"])[0] == "Customer.revenue"
    assert found("turnovers", turnover=["gross revenue"])[0] == "Customer.revenue"


def test_verbs_are_found_as_those_who_do_them() -> None:
    search = SchemaSearch(view_of("type Query { match: Match wins: Int } type Match { winnerAge: Int user: ID }"))

    assert "Match.winnerAge" in {match.coordinate for match in search.search("who won", 9)}
    assert "Match.user" not in {match.coordinate for match in search.search("what is used", 9)}


def test_few_results_are_followed_by_the_types_next_to_them() -> None:
    sdl = """
      type Query { invoice: Invoice }
      type Invoice { lines: [Line!] dueOn: Day }
      type Line { product: Product }
      type Product { weight: Int }
      scalar Day
    """
    results = [match.coordinate for match in SchemaSearch(view_of(sdl)).search("weight", 9)]

    assert results == ["Product.weight", "Product", "Line"]


def test_a_further_result_of_a_large_type_counts_more_than_one_of_a_small_type() -> None:
    fields = " ".join(f"other{number}: Int" for number in range(60))
    sdl = f"""
      type Query {{ large: Large small: Small }}
      type Large {{ cloneUrl: ID cloneKey: ID {fields} }}
      type Small {{ copyUrl: ID copyKey: ID }}
    """
    search = SchemaSearch(view_of(sdl))

    def share(question: str) -> float:
        first, second, *_ = (
            match for match in search.search(question, 20) if match.coordinate.endswith(("Url", "Key"))
        )
        return second.score / first.score

    assert share("clone") > share("copy") == 0.5


def test_a_path_leads_from_a_root_field_to_the_match() -> None:
    search = SchemaSearch(view_of(SHOP))
    paths = {match.coordinate: match.paths for match in search.search("buyer order total customer shipped", 20)}

    assert paths["Order.total"][0] == ("Query.orders", "Order.total")
    assert paths["Order"][0] == ("Query.orders", "Order")
    assert paths["Status.SHIPPED"] == (("Query.orders", "Query.orders(status:)", "Status.SHIPPED"),)
    assert paths["Query.orders"] == (("Query.orders",),)


def test_scores_are_between_0_and_1_and_the_best_is_first() -> None:
    scores = [match.score for match in SchemaSearch(view_of(SHOP)).search("order total of a customer", 20)]

    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_fewer_results_are_the_first_of_more() -> None:
    assert found("order of a customer", 3) == found("order of a customer", 10)[:3]


@pytest.mark.parametrize(
    "question",
    ["", " ", "?!…", "\x00\x1b", "the", "注文", "заказ", "𝒪𝓇𝒹𝑒𝓇", "a" * 100_000, "ﷺ" * 50_000, "ab " * 40_000],
)
def test_any_text_is_a_question(question: str) -> None:
    assert isinstance(found(question), list)


def test_only_the_beginning_of_a_long_question_counts() -> None:
    filler = "x " * MAX_CHARS

    assert found(f"total {filler}")[0] == "Order.total"
    assert found(f"{filler} total") == []


def test_an_index_without_stored_words_is_searched_alike() -> None:
    view = view_of(SHOP)
    old = _without_words(view.index)

    assert SchemaSearch(build_view(old, ())).search("order totals", 9) == SchemaSearch(view).search("order totals", 9)


def test_what_is_kept_of_earlier_questions_is_bounded() -> None:
    words = [f"{first}{second}zop" for first in "bcdfghkl" for second in "aeiou"]
    fields = " ".join(f"{'_'.join(words)}_{number}: Int" for number in range(1_300))
    search = SchemaSearch(view_of(f"type Query {{ {fields} }}", synonyms={}))
    kept = [search.kept_bytes]
    for word in words:
        search.search(word, 5)
        kept.append(search.kept_bytes)

    assert kept[0] == 0
    assert max(kept) <= MAX_KEPT_BYTES < kept[1] * len(words)


def _without_words(_: SchemaIndex) -> SchemaIndex:
    from graphql import build_schema

    from handler.compiler.schema.schema_index import build_index

    digest, stored = write_index(build_index(build_schema(SHOP)))
    assert b'"words"' not in stored
    return read_index(stored, sha256=digest)
