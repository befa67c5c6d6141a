"""Parsing of a schema: results are graphql-core's, with less time and memory."""

from __future__ import annotations

import gc
from pathlib import Path
from random import Random
from typing import Any

import pytest
from graphql import (
    GraphQLSyntaxError,
    Lexer,
    Location,
    Source,
    SourceLocation,
    Token,
    TokenKind,
    get_location,
    parse,
    validate,
)

from handler.compiler import graphql_api
from handler.compiler.compile import compile_endpoint, uncollected
from handler.compiler.problems import Place, Problems
from handler.compiler.schema.schema import SdlLexer, parse_sdl
from handler.compiler.schema.schema_building import build_schema_of
from tests.graph.random_schemas import random_sdl
from tests.support.endpoints import write_endpoint
from tests.support.examples import examples

TEXTS = (
    *('"""', '"', '""', '\\"""', "\\", "\\n", "\\u0041", "\n", "\r\n", "\r", "\t", " ", "  ", ",", "\ufeff", "#", "."),
    *("...", "type", "_a1", "ä", "1", "-1.5e3", "1a", "{", "}", "(", ")", ":", "!", "@", "|", "&", "=", "[", "]", "$"),
    *("\ud800", "\udc00", "\U0001f600", "\x00", "\u2028", "\x0b", "'", '"""a\n  b"""', '"a b"', "# c\n", "?"),
)

SDL = """
"The first." type Query { "A field." a(b: [In!]!): [[T!]]! } extend type Query { t: T, u: U }
interface I { id: ID! } # more
type T implements I { id: ID! e: E } union U = T | Query scalar S enum E { X, "An end." Y } input In { x: Int = 3 }
"""


def tokens(lexer: Lexer) -> list[Any]:
    """The tokens of a text without comments, and the error that ends them."""
    found: list[Any] = []
    try:
        while lexer.advance().kind is not TokenKind.EOF:
            found.append(parts(lexer.token))
    except GraphQLSyntaxError as exc:
        found.append((exc.message, exc.locations))
    return [*found, parts(lexer.token)]


def parts(token: Token) -> tuple[Any, ...]:
    return token.kind, token.start, token.end, token.line, token.column, token.value


def test_tokens_are_those_of_graphql_core() -> None:
    random = Random("tokens")
    for _ in range(examples(20_000)):
        text = "".join(random.choices(TEXTS, k=random.randint(1, 12)))

        assert tokens(SdlLexer(Source(text))) == tokens(Lexer(Source(text))), text


@pytest.mark.parametrize(
    "text", ['"""', '"', '"""a"""' * 9_000, '"""' + '"' * 90_000, '"' + "a" * 90_000, '""' * 90_000]
)
def test_long_strings_are_read_as_by_graphql_core(text: str) -> None:
    assert tokens(SdlLexer(Source(text))) == tokens(Lexer(Source(text)))


def test_documents_and_places_are_those_of_graphql_core() -> None:
    random = Random("documents")
    for _ in range(examples(200)):
        source = Source(random.choice(("", "# first\n", "\r\n")) + random_sdl(random))
        for own, usual in zip(parse_sdl(source).definitions, parse(source).definitions, strict=True):
            assert own == usual
            assert own.loc == usual.loc
            first = own.loc.start_token if own.loc else None
            assert first
            assert SourceLocation(first.line, first.column) == get_location(source, first.start)


def test_operations_fit_a_schema_with_faults() -> None:
    problems = Problems()
    document = parse("interface X { id: ID! } type Y implements X { id: Int } type Query { y: Y }")

    schema, _ = build_schema_of(document, problems, entry=Place("index.graphql"), complete=True)

    assert [each.code for each in problems.warnings] == ["schema-fault"]
    assert schema
    assert validate(schema, parse("{ y { id } }")) == []


def places_in_memory() -> dict[int, Location]:
    return {id(each): each for each in gc.get_objects() if isinstance(each, Location)}


def test_memory_has_few_places_when_the_index_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored_index = graphql_api._stored_index
    folder = write_endpoint(tmp_path, {"index.graphql": SDL})
    earlier = places_in_memory()
    left: set[str | None] = set()

    def counting(*arguments: Any, **options: Any) -> bytes:
        new = [each for key, each in places_in_memory().items() if key not in earlier]
        left.update(each.start_token.value for each in new if each.source.name == "index.graphql")
        return stored_index(*arguments, **options)

    monkeypatch.setattr(graphql_api, "_stored_index", counting)

    with uncollected():
        compile_endpoint(folder)

    assert left == {"3", "I", "Query", "T"}  # a default, an interface and members of a union
