"""The ways to a match are ordered by what a caller can supply."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from handler.graph.found_sdl import found_text
from handler.search.schema_search import SchemaSearch
from tests.search.schemas import view_of

BOARD = """
type Query {
  node(id: ID!): Node
  nodes(ids: [ID!]!): [Node]!
  ticket(id: ID!): Ticket
  ticketByKey(key: Key!): Ticket
  tickets(label: String): TicketPage!
  oldTickets: [Ticket!]! @deprecated
  project(slug: String!): Project
  builds(filter: BuildFilter!): [Build!]!
  runOrError(name: String!): RunOrError!
  me: User!
}
type Mutation { closeTicket(id: ID!): Ticket }
input BuildFilter { projectId: Int! label: String }
input Key { ticketId: String! }
interface Node { id: ID! }
type Project implements Node { id: ID! slug: String! boards: [Board!]! builds: [Build!]! }
type Board implements Node { id: ID! heading: String project: Project! }
type Build implements Node { id: ID! duration: Int }
type TicketPage { items: [Ticket!]! next: String }
type Ticket implements Node { id: ID! severity: Int comments: [Comment!]! }
type Comment implements Node { id: ID! sentiment: Int ticket: Ticket! }
type User implements Node { id: ID! nickname: String comments: [Comment!]! boards: [Board!]! }
type Run implements Node { id: ID! throughput: Int }
type Failure { message: String }
union RunOrError = Run | Failure
"""


def ways(question: str, coordinate: str, sdl: str = BOARD, hidden: Collection[str] = ()) -> list[str]:
    matches = SchemaSearch(view_of(sdl, hidden=hidden)).search(question, 20)
    return [" > ".join(path) for match in matches if match.coordinate == coordinate for path in match.paths]


def test_list_comes_before_lookups_by_an_id_that_the_question_does_not_have() -> None:
    first, second, last = ways("severity", "Ticket.severity")

    assert first == "Query.tickets > TicketPage.items > Ticket.severity"
    assert second == "Query.oldTickets > Ticket.severity"
    assert last == "Query.ticket > Ticket.severity"


@pytest.mark.parametrize("question", ["severity of the ticket with id 7", "severity of a81bc81b-dead-4e5d"])
def test_lookup_comes_first_if_the_question_has_an_id(question: str) -> None:
    assert ways(question, "Ticket.severity")[0] == "Query.ticket > Ticket.severity"


def test_ids_are_seen_in_required_input_objects_by_their_names() -> None:
    assert ways("duration", "Build.duration")[0] == "Query.project > Project.builds > Build.duration"


def test_union_of_a_result_and_its_errors_is_no_detour() -> None:
    assert ways("throughput", "Run.throughput")[0] == "Query.runOrError > Run.throughput"


def test_values_are_reached_from_the_type_that_they_belong_to() -> None:
    assert ways("heading", "Board.heading")[0] == "Query.project > Project.boards > Board.heading"
    assert ways("heading", "Board.heading", BOARD.replace("project: Project! }", "}"))[0] == (
        "Query.me > User.boards > Board.heading"
    )


def test_words_of_the_question_choose_the_way() -> None:
    sdl = "type Query { archive(key: Int!): Page live(key: Int!): Page } type Page { id: ID! caption: Int }"

    assert ways("caption in the archive", "Page.caption", sdl)[0].startswith("Query.archive")
    assert ways("live caption", "Page.caption", sdl)[0].startswith("Query.live")


def test_plural_asks_for_a_list() -> None:
    sdl = "type Query { invoice(number: Int): Invoice openInvoices: [Invoice!]! } type Invoice { id: ID! due: Int }"

    assert ways("due date of an invoice", "Invoice.due", sdl)[0].startswith("Query.invoice ")
    assert ways("due dates of invoices", "Invoice.due", sdl)[0].startswith("Query.openInvoices")


def test_ways_have_different_root_fields() -> None:
    paths = ways("sentiment", "Comment.sentiment")

    assert len(paths) == len({path.partition(" ")[0] for path in paths}) == 3


def test_mutations_are_ways_to_what_no_query_reaches() -> None:
    sdl = "type Query { a: Int } type Mutation { start: Job stop: Job } type Job { id: ID! progress: Int }"

    assert ways("progress", "Job.progress", sdl) == ["Mutation.start > Job.progress", "Mutation.stop > Job.progress"]
    assert not any("Mutation" in way for way in ways("severity", "Ticket.severity"))


def test_hidden_steps_are_on_no_way() -> None:
    paths = ways("severity", "Ticket.severity", hidden=["Query.tickets", "Query.oldTickets"])

    assert paths != []
    assert not any(path.startswith(("Query.tickets", "Query.oldTickets")) for path in paths)


def test_no_way_goes_from_a_type_by_its_interface_to_another_type() -> None:
    sdl = """
      type Query { cat: Cat node(id: ID!): Animal }
      interface Animal { id: ID! }
      type Cat implements Animal { id: ID! purrs: Int }
      type Dog implements Animal { id: ID! barks: Int }
    """

    assert ways("barks", "Dog.barks", sdl) == ["Query.node > Dog.barks"]


def test_field_of_an_interface_is_reached_by_its_implementers() -> None:
    sdl = (
        "type Query { cat: Cat } interface Animal { weight: Int } type Cat implements Animal { weight: Int purrs: Int }"
    )

    assert ways("animal", "Animal", sdl) == ["Query.cat > Animal"]


def test_way_to_a_field_of_an_interface_that_only_other_interfaces_lead_to() -> None:
    sdl = """
      type Query { box: Box }
      interface Shape { id: ID! twin: Figure outline: Int }
      interface Figure { id: ID! twin: Figure }
      type Box implements Shape & Figure { id: ID! twin: Box outline: Int }
    """

    assert ways("outline of a shape", "Shape.outline", sdl) + ways("figure", "Figure", sdl) == [
        "Query.box > Shape.outline",
        "Query.box > Figure",
    ]


@pytest.mark.parametrize("field", ["next", "next(id: ID!)"])
def test_long_chain_of_types_has_a_way_to_its_end(field: str) -> None:
    links = " ".join(f"type L{place} {{ id: ID! {field}: L{place + 1} }}" for place in range(2_000))
    (way,) = ways("treasure", "L2000.treasure", f"type Query {{ first: L0 }} {links} type L2000 {{ treasure: Int }}")

    assert way.startswith("Query.first > L0.next > L1.next")
    assert way.count(" > ") == 2_001


def test_answer_names_other_ways_with_root_fields_that_are_new() -> None:
    view = view_of(BOARD)
    matches = [(each.coordinate, each.paths) for each in SchemaSearch(view).search("severity", 1)]
    text = found_text(view, matches, max_bytes=3_000)

    assert text.startswith(
        "Found, best first:\n"
        "- Query.tickets > TicketPage.items > Ticket.severity\n"
        "Other ways:\n"
        "- Query.oldTickets > Ticket.severity\n"
        "- Query.ticket > Ticket.severity\n"
    )
    assert "  tickets(label: String" in text
    assert "  ticket(id: ID!): Ticket" not in text
    assert text.count("- ") - found_text(view, matches, max_bytes=800).count("- ") == 1


def test_weak_matches_are_named_without_sdl() -> None:
    view = view_of(BOARD)
    matches = [
        ("Ticket.severity", [("Query.tickets", "Ticket.severity")]),
        ("User.nickname", [("Query.me", "User.nickname")]),
    ]
    text = found_text(view, matches, max_bytes=3_000, strong=1)

    assert "- Query.me > User.nickname" in text
    assert "nickname: String" not in text
    assert "nickname: String" in found_text(view, matches, max_bytes=3_000)
