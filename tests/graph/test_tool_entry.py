"""What a tool's list says of a schema that is too large to be shown."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

from handler.graph.documents.document_check import answer_introspection
from handler.graph.documents.partial_schema import ViewSchemas
from handler.graph.tool_entry import MAX_NAMES_BYTES, MAX_SDL_BYTES, graphql_entry
from tests.graph.shop import check
from tests.support.schemas import schemas_of

TEMPLATE: dict[str, Any] = {
    "name": "t",
    "description": "",
    "inputSchema": {"properties": {"query": {"type": "string", "description": ""}}},
    "annotations": {},
}


MANY = 600
"""Fields of a root type whose SDL and whose names are larger than what is shown of either."""


@cache
def large(roots: str, *, fields: int = MANY, hidden: tuple[str, ...] = ()) -> ViewSchemas:
    """A schema whose root types have many fields."""
    body = " ".join(f"field_{number}(first: Int! = 5): [Row!]!" for number in range(fields))
    types = f"type query_root {{ {body} }} type Changes {{ {body} }} type Row {{ a: Int }}"
    return schemas_of(f"schema {{ {roots} }} {types}", hidden)


def description_of(schemas: ViewSchemas) -> str:
    entry, _ = graphql_entry(TEMPLATE, schemas.view)
    assert entry is not None
    return str(entry["inputSchema"]["properties"]["query"]["description"])


@pytest.mark.parametrize(
    ("roots", "hidden"),
    [
        ("query: query_root", ()),
        ("query: query_root mutation: Changes", ()),
        ("query: query_root mutation: Changes", ("query_root",)),
    ],
)
def test_search_that_is_advised_finds_a_root_field_with_its_way(roots: str, hidden: tuple[str, ...]) -> None:
    schemas = large(roots, hidden=hidden)
    (request,) = re.findall(r"\{ __search\(.*?\}", description_of(schemas))
    request = request.replace("your question", "field 17")

    data = answer_introspection(check(f"{request} }}", schemas=schemas), schemas)["data"]

    coordinate = f"{'Changes' if hidden else 'query_root'}.field_17"
    assert {"coordinate": coordinate, "pathsToRoot": [[coordinate]]} in data["__search"]


@pytest.mark.parametrize("roots", ["query: query_root", "query: query_root mutation: Changes"])
def test_list_of_root_fields_is_bounded_and_says_how_many_more_there_are(roots: str) -> None:
    text = description_of(large(roots))
    lines = re.findall(r"^(?:query|mutation): (.*), and (\d+) more$", text, re.MULTILINE)

    assert len(lines) == roots.count(":")
    assert all(len(names.split(", ")) + int(more) == MANY for names, more in lines)
    assert MAX_NAMES_BYTES / 2 < sum(len(names) for names, _ in lines) <= MAX_NAMES_BYTES
    assert len(text.encode()) < MAX_SDL_BYTES / 2


def test_short_list_of_root_fields_is_whole() -> None:
    rows = " ".join(f"column_{number}: Int" for number in range(1_500))
    text = description_of(schemas_of(f"type Query {{ a: Row b: Row }} type Row {{ {rows} }}"))

    assert "\nquery: a, b\n" in text
    assert "more" not in text


def test_small_schema_is_shown() -> None:
    text = description_of(large("query: query_root", fields=3))

    assert "field_2(first: Int! = 5): [Row!]!" in text
    assert "__type" not in text
