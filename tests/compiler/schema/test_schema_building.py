"""Parsing and validation of a schema: results are graphql-core's, with less time and memory."""

from __future__ import annotations

import gc
from random import Random
from typing import Any

import pytest
from graphql import (
    GraphQLError,
    GraphQLSyntaxError,
    Lexer,
    Source,
    SourceLocation,
    Token,
    TokenKind,
    build_ast_schema,
    get_location,
    parse,
    validate_schema,
)
from graphql.language.ast import FieldDefinitionNode, TypeDefinitionNode
from graphql.validation.specified_rules import specified_sdl_rules
from graphql.validation.validate import validate_sdl

from handler.compiler import graphql_api
from handler.compiler.compile import compile_endpoint
from handler.compiler.schema.schema import SdlLexer, parse_sdl
from handler.compiler.schema.schema_building import built_of, coded, schema_faults, validate_definitions
from tests.conftest import ROOT
from tests.graph.random_schemas import random_sdl
from tests.support.examples import examples

TEXTS = (
    *('"""', '"', '""', '\\"""', "\\", "\\n", "\\u0041", "\n", "\r\n", "\r", "\t", " ", "  ", ",", "\ufeff", "#", "."),
    *("...", "type", "_a1", "ä", "1", "-1.5e3", "1a", "{", "}", "(", ")", ":", "!", "@", "|", "&", "=", "[", "]", "$"),
    *("\ud800", "\udc00", "\U0001f600", "\x00", "\u2028", "\x0b", "'", '"""a\n  b"""', '"a b"', "# c\n", "?"),
)

PIECES = (
    'type Query { a(b: Int = 1, c: In = {x: 1, x: 2}): String "the field" d: Nope }',
    "type A implements I & J { id: ID! b: [A!]! b: Int }",
    "extend type A @d { e: E @d(x: 1, x: 2) @d }",
    "extend type Gone { a: Int }",
    "extend union A = Query",
    'interface I { id: ID! "more" more(of: In!): Int }',
    "interface J implements I { id: String }",
    "union U = A | B | A",
    "enum E { X Y @deprecated X }",
    "input In @oneOf { x: Int! = 1 y: [In] y: Out }",
    "input In2 { next: In2! }",
    '"""a directive""" directive @d(x: In, x: Int!) on FIELD_DEFINITION | OBJECT',
    "directive @d on ENUM",
    "schema { query: Query query: A mutation: Nope }",
    "extend schema @d @unknown(x: {y: 1, y: 2})",
    "scalar S @specifiedBy @specifiedBy(url: 3)",
    "type Query { __a: Int @deprecated(reason: null) }",
    "query Q { a }",
)

NAMED = """
type Nope { a: Int } type A { id: ID! } type B { id: ID } type Out { a: Int } union U = A enum E { X } scalar S
interface I { id: ID! } interface J { id: ID } input In { x: Int } type Query { a: Int }
"""
"""Definitions of all names in ``PIECES``."""


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


def described(errors: list[GraphQLError]) -> list[Any]:
    nodes = [[(node.kind, node.loc and (node.loc.start, node.loc.end)) for node in each.nodes or ()] for each in errors]
    return [(each.message, each.extensions, own) for each, own in zip(errors, nodes, strict=True)]


def random_pieces(random: Random) -> str:
    return "\n".join(random.choices(PIECES, k=random.randint(1, 7)))


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


def test_mistakes_are_those_of_graphql_core() -> None:
    random, rules = Random("mistakes"), coded(specified_sdl_rules)
    seen = set()
    for _ in range(examples(1_000)):
        document = parse(random_pieces(random))
        errors = described(validate_definitions(document, rules))
        seen |= {extensions["code"] for _, extensions, _ in errors}

        assert errors == described(validate_sdl(document, rules=rules))
    assert len(seen) > 8


def test_faults_are_those_of_graphql_core_and_operations_fit_all_the_same() -> None:
    random = Random("faults")
    seen = set()
    for _ in range(examples(1_000)):
        document = parse(NAMED + random_pieces(random))
        try:
            usual = validate_schema(build_ast_schema(document, assume_valid_sdl=True))
        except (TypeError, GraphQLError):
            continue
        schema = built_of(document)
        faults = schema_faults(schema)
        seen |= {fault.message for fault in faults}

        assert described(faults) == described([GraphQLError(each.message, each.nodes) for each in usual])
        assert validate_schema(schema) == []
    assert len(seen) > 8


def definitions() -> list[TypeDefinitionNode | FieldDefinitionNode]:
    return [each for each in gc.get_objects() if isinstance(each, TypeDefinitionNode | FieldDefinitionNode)]


def test_syntax_tree_is_gone_when_the_index_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    stored_index = graphql_api._stored_index
    earlier = {id(each): each for each in definitions()}
    left: list[str] = []

    def counting(*arguments: Any, **options: Any) -> bytes:
        left.extend(each.name.value for each in definitions() if id(each) not in earlier)
        return stored_index(*arguments, **options)

    monkeypatch.setattr(graphql_api, "_stored_index", counting)

    compile_endpoint(ROOT / "examples" / "endpoints" / "api" / "customers")

    assert left == []
