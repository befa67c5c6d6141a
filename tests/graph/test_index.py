"""The schema index: read back as it was written, and nothing but ``BundleError`` for what is none."""

from __future__ import annotations

import hashlib
import json
from random import Random
from typing import Any

import pytest
from graphql import build_schema

from handler.compiler.compile import Compiled
from handler.compiler.schema_index import build_index
from handler.errors import BundleError
from handler.graph.index import SchemaIndex, named, read_index, write_index
from handler.graph.view import build_view, print_view
from tests.support.schemas import index_of

SDL = '''
"""All of it"""
schema { query: Query mutation: Change }
type Query { a("which" x: In!, y: Int = 3): [A!]! @deprecated u: U s: S }
type Change { b: I }
interface I { id: ID }
type A implements I { id: ID e: E }
union U = A
enum E { ONE TWO @deprecated(reason: "old") }
input In @oneOf { a: Int b: [In!] }
scalar S @specifiedBy(url: "https://example.com")
'''
CONTENT: dict[str, Any] = build_index(build_schema(SDL))


def test_index_has_every_part_of_the_schema() -> None:
    index = index_of(SDL)

    assert index.description == '"""All of it"""'
    assert index.roots == {"query": "Query", "mutation": "Change"}
    assert list(index)[:2] == ["Query", "Change"]
    assert "A" in index
    assert "Nothing" not in index
    field = index["Query"].fields["a"]
    assert (field.type, field.directives) == ("[A!]!", " @deprecated")
    assert field.arguments["x"].description == '"""which"""'
    assert (field.arguments["x"].required, field.arguments["y"].required) == (True, False)
    assert field.arguments["y"].default == "3"
    assert index["A"].interfaces == ("I",)
    assert index["U"].members == ("A",)
    assert index["E"].values == {"ONE": ("", ""), "TWO": ("", ' @deprecated(reason: "old")')}
    assert index["In"].directives == " @oneOf"
    assert index["S"].directives == ' @specifiedBy(url: "https://example.com")'
    assert index.implementers == {"I": ("A",)}
    assert index["A"] is index["A"]


def test_named_type_stands_below_lists_and_non_nulls() -> None:
    assert [named(text) for text in ("A", "A!", "[[A!]!]!")] == ["A", "A", "A"]


def test_same_schema_gives_the_same_bytes(demo: Compiled) -> None:
    assert write_index(CONTENT) == write_index(build_index(build_schema(SDL)))
    assert hashlib.sha256(demo.index).hexdigest() == demo.bundle.index


def test_damaged_index_is_refused() -> None:
    digest, raw = write_index(CONTENT)

    for place in range(0, len(raw), 41):
        with pytest.raises(BundleError, match="the schema index does not match its digest: publish again"):
            read_index(raw[:place] + b"~" + raw[place + 1 :], sha256=digest)
    with pytest.raises(BundleError, match="does not match"):
        read_index(raw[:-1], sha256=digest)
    with pytest.raises(BundleError, match="does not match"):
        read_index(raw, sha256="0" * 64)


def read(raw: bytes) -> SchemaIndex:
    """With a digest that fits: somebody wrote this, and nothing was damaged on the way."""
    return read_index(raw, sha256=hashlib.sha256(raw).hexdigest())


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff", b"NaN", b"[" * 100_000, b'{"description":' * 10_000])
def test_what_is_not_json_is_no_index(raw: bytes) -> None:
    with pytest.raises(BundleError, match="schema index: this is no JSON"):
        read(raw)


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        "index",
        7,
        {},
        {"description": "", "roots": {}},
        {"description": 1, "roots": {}, "types": {}},
        {"description": "", "roots": [], "types": []},
        {"description": "", "roots": {"query": 1}, "types": {}},
        {"description": "", "roots": None, "types": {}},
        {"description": "", "roots": {}, "types": "Query"},
    ],
)
def test_content_of_another_shape_is_no_index(content: object) -> None:
    with pytest.raises(BundleError, match="the schema index is malformed: publish again"):
        read(json.dumps(content).encode())


@pytest.mark.parametrize(
    "malformed",
    [
        None,
        [],
        "object",
        {},
        {"kind": "directive"},
        {"kind": ["object"]},
        {"kind": "object", "fields": []},
        {"kind": "object", "fields": {"a": {}}},
        {"kind": "object", "fields": {"a": "Int"}},
        {"kind": "object", "fields": {"a": {"type": 1}}},
        {"kind": "object", "fields": {"a": {"type": "Int", "arguments": {"x": None}}}},
        {"kind": "object", "fields": {"a": {"type": "Int", "arguments": {"x": {"type": "Int", "default": 3}}}}},
        {"kind": "object", "interfaces": "Node"},
        {"kind": "object", "interfaces": [1]},
        {"kind": "object", "description": None},
        {"kind": "input", "inputs": {"a": {}}},
        {"kind": "enum", "values": {"A": []}},
        {"kind": "enum", "values": {"A": "ab"}},
        {"kind": "enum", "values": {"A": ["", None]}},
        {"kind": "union", "members": {}},
        {"kind": "scalar", "directives": ["@specifiedBy"]},
    ],
)
def test_malformed_type_is_found_when_it_is_asked_for(malformed: object) -> None:
    index = read(json.dumps({**CONTENT, "types": {**CONTENT["types"], "A": malformed}}).encode())

    assert index["Query"].kind == "object"
    with pytest.raises(BundleError, match="the schema index's type A is malformed: publish again"):
        index["A"]


def test_index_with_any_part_replaced_is_read_or_refused() -> None:
    random = Random(1)
    refused = 0
    for _ in range(500):
        content = json.loads(json.dumps(CONTENT))
        _replace_somewhere(content, random)
        try:
            print_view(build_view(read(json.dumps(content).encode()), {"A.id", "I.id"}))
        except BundleError:
            refused += 1
    assert refused > 100


def _replace_somewhere(content: Any, random: Random) -> None:
    place: Any = content
    while True:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        key = random.choice(list(keys))
        if not isinstance(place[key], dict | list) or not place[key] or random.random() < 0.2:
            place[key] = random.choice([None, 7, "x", [], {}, ["x"], [[]], {"x": 1}, {"type": "x"}])
            return
        place = place[key]
