"""The schema index: read back as it was written, and nothing but ``BundleError`` for what is none."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from graphql import build_schema

from handler.compiler.compile import Compiled
from handler.compiler.schema.schema_index import build_index
from handler.errors.infrastructure import BundleError
from handler.graph.index import SchemaIndex, TypeSlice, named_type, read_index, write_index
from handler.graph.sdl import print_small_view, print_view
from handler.graph.view import BUILT_IN_SCALARS, build_view
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
    assert [named_type(text) for text in ("A", "A!", "[[A!]!]!")] == ["A", "A", "A"]


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


def lines_of(content: Any) -> list[Any]:
    """The lines of an index as values: the first one, and that of each type in its order."""
    _, raw = write_index(content)
    return [json.loads(line) for line in raw.split(b"\n")]


def read_lines(lines: list[Any]) -> SchemaIndex:
    return read("\n".join(map(json.dumps, lines)).encode())


def with_line(type_name: str, line: object) -> SchemaIndex:
    head, *lines = lines_of(CONTENT)
    return read_lines(
        [head, *(line if name == type_name else own for name, own in zip(head["types"], lines, strict=True))]
    )


def test_first_line_tells_the_outlines_of_types_and_each_other_line_the_rest_of_one() -> None:
    head, *lines = lines_of(CONTENT)

    assert {name: head["types"][name] for name in ("Query", "Change", "A", "In", "Int", "U", "S", "I", "E")} == {
        "Query": "object  A,In,Int,U,S",
        "Change": "object  I",
        "A": "object I ID,E",
        "In": "input  Int,In",
        "Int": "scalar  ",
        "U": "union  A",
        "S": "scalar  ",
        "I": "interface  ID",
        "E": "enum  ",
    }
    assert (head["roots"], head["missing"]) == ({"query": "Query", "mutation": "Change"}, [])
    assert lines[list(head["types"]).index("A")] == {"fields": {"id": {"type": "ID"}, "e": {"type": "E"}}}


def test_outlines_say_what_the_schema_says(demo: Compiled) -> None:
    index = read(demo.index)

    for name in index:
        references = index.references(name)
        assert list(index.targets(name)) == list(dict.fromkeys(type_ for _, _, type_ in references))
        assert (index.kind(name), index.interfaces(name)) == (index[name].kind, index[name].interfaces)
    assert all(name in index.users[target] for name in index for target in index.targets(name))
    assert sum(map(len, index.users.values())) == sum(len(index.targets(name)) for name in index)


def test_types_that_are_named_and_not_there_are_missing() -> None:
    index = index_of("type Query { a: Int s: Subscription } type Subscription { b: Int }")

    assert index.missing == {"Subscription"}
    assert build_view(index, ()).members["Query"] == ("a",)


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff", b"NaN", b"[" * 100_000, b'{"description":' * 10_000])
def test_what_is_not_json_is_no_index(raw: bytes) -> None:
    with pytest.raises(BundleError, match="schema index: invalid JSON"):
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
        {"fields": []},
        {"fields": {"a": {}}},
        {"fields": {"a": "Int"}},
        {"fields": {"a": {"type": 1}}},
        {"fields": {"a": {"type": "Int", "arguments": {"x": None}}}},
        {"fields": {"a": {"type": "Int", "arguments": {"x": {"type": "Int", "default": 3}}}}},
        {"description": None},
        {"inputs": {"a": {}}},
        {"values": {"A": []}},
        {"values": {"A": "ab"}},
        {"values": {"A": ["", None]}},
        {"members": {}},
        {"directives": ["@specifiedBy"]},
    ],
)
def test_malformed_type_is_found_when_it_is_asked_for(malformed: object) -> None:
    index = with_line("A", malformed)

    assert "A" in build_view(index, ()).members
    assert index["Query"].kind == "object"
    with pytest.raises(BundleError, match="the schema index's type A is malformed: publish again"):
        everything_of(index["A"])


def test_view_whose_names_are_above_a_bound_is_not_read() -> None:
    view = build_view(with_line("Query", None), ())
    names = "".join(name for name in view.members if name not in BUILT_IN_SCALARS)

    assert print_small_view(view, len(names) - 1) is None
    with pytest.raises(BundleError, match="the schema index's type Query is malformed: publish again"):
        print_small_view(view, 1000)


def everything_of(entry: TypeSlice) -> list[object]:
    return [*entry.fields.values(), *entry.inputs.values(), *entry.values.values()]


@pytest.mark.parametrize("outline", [None, 7, [], "", "object", "object ", "directive  ", "object   ", "object I ID E"])
def test_malformed_outline_is_found_when_a_view_is_made(outline: object) -> None:
    head, *lines = lines_of(CONTENT)
    index = read_lines([{**head, "types": {**head["types"], "A": outline}}, *lines])

    for ask in (index.kind, index.interfaces, index.targets, index.__getitem__, lambda _: build_view(index, ())):
        with pytest.raises(BundleError, match="the schema index's type A is malformed: publish again"):
            ask("A")


@pytest.mark.parametrize("line", [b"", b"{", b"\xff", b"NaN", b"[" * 100_000])
def test_line_that_is_not_json_is_a_malformed_type(line: bytes) -> None:
    _, raw = write_index(CONTENT)
    *others, _ = raw.split(b"\n")
    index = read(b"\n".join([*others, line]))

    last = list(index)[-1]
    with pytest.raises(BundleError, match=f"the schema index's type {last} is malformed: publish again"):
        index[last]


@pytest.mark.parametrize("change", [lambda lines: lines[:-1], lambda lines: [*lines, {}]])
def test_index_with_another_number_of_lines_than_types_is_refused(change: Callable[[list[Any]], list[Any]]) -> None:
    with pytest.raises(BundleError, match="the schema index is malformed: publish again"):
        read_lines(change(lines_of(CONTENT)))


def test_member_is_parsed_when_it_is_asked_for() -> None:
    index = with_line("A", {"fields": {"id": {"type": "ID"}, "e": {"type": 7}}})

    fields = index["A"].fields
    assert (list(fields), len(fields), "e" in fields, "f" in fields) == (["id", "e"], 2, True, False)
    assert fields["id"] is fields["id"]
    assert fields.get("f") is None
    with pytest.raises(BundleError, match="the schema index's type A is malformed: publish again"):
        fields["e"]


def test_index_with_any_part_replaced_is_read_or_refused() -> None:
    random = Random(1)
    refused = 0
    for _ in range(500):
        lines = lines_of(CONTENT)
        _replace_somewhere(lines, random)
        try:
            print_view(build_view(read_lines(lines), {"A.id", "I.id"}))
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
