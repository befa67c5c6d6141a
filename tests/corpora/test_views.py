"""Views of real schemas: documents get the errors, and questions the answers, that the whole view's SDL gives."""

from __future__ import annotations

import json
from functools import cache
from random import Random
from typing import Any

import pytest
from graphql import (
    GraphQLSchema,
    execute_sync,
    get_introspection_query,
    is_interface_type,
    is_object_type,
    parse,
    print_ast,
    validate,
)

from handler.graph.documents.document_check import answer_introspection
from handler.graph.documents.introspection import MAX_BYTES
from handler.graph.documents.partial_schema import ViewSchemas
from handler.graph.sdl import print_view
from handler.graph.view import build_view
from tests.corpora.attempts import Tried
from tests.graph.documents.random_documents import random_document
from tests.graph.shop import LIMITS, check
from tests.support.schemas import index_of, schema_of_sdl

CORPORA = ("github-named", "shopify-storefront", "vendure-admin", "dagster-named")

DOCUMENTS = 320
"""For each of them; as many again are the operations that others wrote."""

STANDARD = get_introspection_query(
    specified_by_url=True,
    directive_is_repeatable=True,
    schema_description=True,
    input_value_deprecation=True,
    one_of=True,
)


@cache
def part_of(schema: GraphQLSchema, seed: int) -> tuple[ViewSchemas, GraphQLSchema]:
    """A view of most of a schema, and graphql-core's reading of its SDL."""
    random = Random(seed)
    types = [type_ for type_ in schema.type_map.values() if is_object_type(type_) or is_interface_type(type_)]
    hidden = {f"{type_.name}.{random.choice(list(type_.fields))}" for type_ in random.sample(types, len(types) // 10)}
    view = build_view(index_of(schema), hidden)
    return ViewSchemas(view), schema_of_sdl(print_view(view))


def errors_of(schema: GraphQLSchema, text: str) -> list[Any]:
    errors = validate(schema, parse(text), max_errors=100, hide_suggestions=True)
    return [(error.message, error.locations) for error in errors]


@pytest.mark.parametrize("corpus", CORPORA)
def test_errors_of_documents_are_those_of_the_whole_view(tried: Tried, corpus: str) -> None:
    made = tried(corpus)
    schemas, whole = part_of(made.schema, 1)
    random = Random(corpus)
    texts = [random_document(made.schema, random, mistakes=random.choice([0, 0.03, 0.1])) for _ in range(DOCUMENTS)]
    texts += [tool.operation.text for tool in made.tools]

    wrong = 0
    for text in texts:
        expected = errors_of(whole, text)
        assert errors_of(schemas.touched_by(parse(text)), text) == expected, text
        wrong += bool(expected)
    assert 50 < wrong < len(texts) - 5


@pytest.mark.parametrize("corpus", CORPORA)
def test_operation_that_lost_a_field_is_told_so_as_by_the_whole_view(tried: Tried, corpus: str) -> None:
    """The operations that others wrote are valid; each loses a name, wherever that stands."""
    made = tried(corpus)
    schemas, whole = part_of(made.schema, 2)
    random = Random(corpus)

    for tool in made.tools:
        words = print_ast(parse(tool.operation.text)).split(" ")
        place = random.choice([n for n, word in enumerate(words) if word.strip().isidentifier()])
        text = " ".join([*words[:place], "nothing\n", *words[place + 1 :]])
        try:
            parse(text)
        except Exception:  # noqa: BLE001 - the name was a keyword
            continue
        assert errors_of(schemas.touched_by(parse(text)), text) == errors_of(whole, text), text


@pytest.mark.parametrize("corpus", CORPORA)
def test_standard_introspection_is_answered_as_from_the_sdl_within_bounds(tried: Tried, corpus: str) -> None:
    schemas, whole = part_of(tried(corpus).schema, 1)

    actual = answer_introspection(check(STANDARD, schemas=schemas, limits=LIMITS), schemas)

    assert json.dumps(actual["data"]) == json.dumps(execute_sync(whole, parse(STANDARD)).data)
    assert len(json.dumps(actual, separators=(",", ":")).encode()) < MAX_BYTES * 1.1
