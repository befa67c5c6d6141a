from __future__ import annotations

import pytest
from graphql import OperationDefinitionNode, parse

from handler.compiler.json_schemas.descriptions import comment_above

OPERATION = """\
# The licence of this file.

#import "./fragments.graphql"
# Finds orders.
#   The newest first.
# eslint-disable-next-line
query Orders( # of a shop
  # which shop

  $shop: ID!
  # how many
  #
  # (100 at most)
  $first: Int # a trailing word
  $after: String  # another one
  #also this
  "described" $before: String $last: Int
) { orders }
"""


def operation_of(text: str) -> OperationDefinitionNode:
    (node,) = parse(text).definitions
    assert isinstance(node, OperationDefinitionNode)
    return node


def test_comment_lines_directly_above_an_operation_are_its_text() -> None:
    assert comment_above(operation_of(OPERATION)) == "Finds orders.\nThe newest first."


@pytest.mark.parametrize(
    ("variable", "expected"),
    [
        ("shop", ""),  # an empty line is between
        ("first", "how many\n\n(100 at most)"),
        ("after", ""),  # behind the variable before it
        ("before", "also this"),
        ("last", ""),
    ],
)
def test_comment_lines_directly_above_a_variable_are_its_text(variable: str, expected: str) -> None:
    nodes = {node.variable.name.value: node for node in operation_of(OPERATION).variable_definitions or ()}

    assert comment_above(nodes[variable]) == expected


@pytest.mark.parametrize("text", ["query Q { a }", "\n\nquery Q { a }", "# far\n\nquery Q { a }", "#\nquery Q { a }"])
def test_without_a_comment_there_is_no_text(text: str) -> None:
    assert comment_above(operation_of(text)) == ""


@pytest.mark.parametrize(
    "line", ["# Copyright 2026 Example", "#SPDX-License-Identifier: Apache-2.0", "# TODO: split it", "#FIXME slow"]
)
def test_line_for_the_authors_of_the_file_is_no_text(line: str) -> None:
    assert comment_above(operation_of(f"{line}\nquery Q {{ a }}")) == ""
    assert comment_above(operation_of(f"# Finds orders.\n{line}\nquery Q {{ a }}")) == "Finds orders."


@pytest.mark.parametrize("text", ["Todo lists of a user", "Whose copyright it is", "What is TODO"])
def test_line_that_only_has_such_a_word_is_text(text: str) -> None:
    assert comment_above(operation_of(f"# {text}\nquery Q {{ a }}")) == text


def test_node_that_stands_in_no_file_has_no_comment() -> None:
    (node,) = parse("# above\nquery Q { a }", no_location=True).definitions

    assert comment_above(node) == ""
