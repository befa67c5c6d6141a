from __future__ import annotations

from graphql import parse, print_ast

from tests.corpora.documents import Operation, file_names, read_operations, uniquely_named
from tests.corpora.literals import Literal


def operations(*texts: str, place: str = "") -> list[Operation]:
    return read_operations(Literal(text=text, place=place) for text in texts)


def test_operation_brings_the_fragments_it_reaches_from_all_texts_and_no_others() -> None:
    (operation,) = operations(
        "query Q { a { ...A } }",
        "fragment A on T { x ...B } fragment Unused on T { u }",
        "fragment B on T { y ...A }",
    )

    expected = "query Q @mcpTool { a { ...A } } fragment A on T { x ...B } fragment B on T { y ...A }"
    assert operation.as_tool() == print_ast(parse(expected)) + "\n"


def test_fragment_that_nobody_defines_is_left_for_validation() -> None:
    (operation,) = operations("query Q { ...Lost }")

    assert "...Lost" in operation.as_tool()


def test_every_operation_of_a_text_gets_a_document_and_keeps_its_own_directives() -> None:
    found = operations("query A @inContext(country: CA) { a } mutation B { b }")

    assert [operation.as_tool().splitlines()[0] for operation in found] == [
        "query A @inContext(country: CA) @mcpTool {",
        "mutation B @mcpTool {",
    ]


def test_files_are_named_as_operations_or_else_as_their_places() -> None:
    found = operations("query Q { a }", "query Q { b }", "{ c }", "{ d }", place="ask")

    assert file_names(found) == ["Q.graphql", "Q_2.graphql", "ask.graphql", "ask_2.graphql"]
    assert sorted(file_names(found)) == file_names(found)


def test_unique_names_leave_the_rest_as_it_was() -> None:
    found = uniquely_named(operations("query Q { a }", "query Q { b }", "{ c }", place="ask"))

    assert [operation.as_tool().splitlines()[0] for operation in found] == [
        "query Q @mcpTool {",
        "query Q_2 @mcpTool {",
        "query ask @mcpTool {",
    ]
