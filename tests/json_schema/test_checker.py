"""What is said of values that do not fit a schema, and which schemas are refused."""

from __future__ import annotations

from typing import Any

import pytest

from handler.json_schema.checker import MAX_VIOLATIONS, Checker, refuse_bad_schema

TREE: dict[str, Any] = {
    "anyOf": [
        {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]},
        {"type": "array", "items": {"$ref": "#"}},
        {"type": "null"},
    ]
}


@pytest.mark.parametrize(
    ("schema", "value", "sentences"),
    [
        ({"type": ["string", "null"]}, 7, ["/: expected string or null, got integer 7"]),
        ({"const": "a"}, "b", ['/: expected "a", got string "b"']),
        ({"enum": ["a", None]}, 1.5, ['/: expected one of "a", null, got number 1.5']),
        ({"exclusiveMinimum": 0}, 0, ["/: expected more than 0, got integer 0"]),
        ({"exclusiveMaximum": 0}, 0, ["/: expected less than 0, got integer 0"]),
        ({"multipleOf": 5}, 7, ["/: expected a multiple of 5, got integer 7"]),
        ({"maxLength": 1}, "ab", ['/: expected a length of at most 1, got string "ab"']),
        ({"minItems": 1}, [], ["/: expected at least 1 items, got array"]),
        ({"maxItems": 0}, [1], ["/: expected at most 0 items, got array"]),
        ({"uniqueItems": True}, [1, 1], ["/: expected no item twice, got array"]),
        (
            {"properties": {"city": {}, "state": {}}, "minProperties": 1},
            {},
            ["/: expected at least 1 of city, state, got object"],
        ),
        ({"maxProperties": 1}, {"a": 1, "b": 2}, ["/: expected at most 1 of any members, got object"]),
        ({"not": {"type": "object"}}, {}, ['/: expected not {"type": "object"}, got object']),
        ({"additionalProperties": {"type": "integer"}}, {"a": "b"}, ['/a: expected integer, got string "b"']),
        ({"additionalProperties": False}, {"a/b~c": 1}, ["/a~1b~0c: unknown name; known here: none"]),
        ({"required": ["a", "b"]}, {}, ["/a: required, but missing", "/b: required, but missing"]),
        ({"items": {"type": "boolean"}}, [True, None], ["/1: expected boolean, got null"]),
        ({"required": ["it's", 'a "b"']}, {}, ["/it's: required, but missing", '/a "b": required, but missing']),
        (
            {"properties": {"a": {}}, "patternProperties": {"^x": {}}, "additionalProperties": False},
            {"a": 1, "xy": 1, "b": 1},
            ["/b: unknown name; known here: a"],
        ),
        (
            {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {"a": 1, "b": 2},
            ['/: expected oneOf [{"required": ["a"]}, {"required": ["b"]}], got object'],
        ),
        (TREE, {"size": "x"}, ['/size: expected integer, got string "x"']),
        (TREE, [{}], ["/0/size: required, but missing"]),
        (TREE, "x", ['/: expected object or array or null, got string "x"']),
        ({"type": "string"}, True, ["/: expected string, got boolean true"]),
        ({"type": "integer"}, 1.0, []),
        ({"pattern": "^a$", "$comment": "a note"}, "b", ['/: expected a text that matches ^a$, got string "b"']),
    ],
)
def test_sentence_names_the_place_what_was_expected_and_what_came(
    schema: dict[str, Any], value: Any, sentences: list[str]
) -> None:
    assert Checker(schema).violations(value) == sentences


def test_long_values_are_cut() -> None:
    (sentence,) = Checker({"type": "integer"}).violations("x" * 10_000)

    assert len(sentence) < 150
    assert sentence.endswith("…")


def test_violations_are_counted_only_so_far() -> None:
    found = Checker({"items": {"type": "string"}}).violations(list(range(1000)))

    assert len(found) == MAX_VIOLATIONS + 1
    assert found[-1] == "and more"


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("^a$", "a", True),
        ("^a$", "a\n", False),
        (r"^\d+$", "٣", False),
        (r"^\w+$", "é", False),
        ("^[$]$", "$", True),
        (r"^\$$", "$", True),
        ("a", "xax", True),
        ("^a+$", "a" * 1_001, False),
    ],
)
def test_pattern_is_read_as_ecmascript_reads_it(pattern: str, text: str, *, fits: bool) -> None:
    assert (Checker({"pattern": pattern}).violations(text) == []) is fits


def test_places_say_nothing_of_the_value() -> None:
    checker = Checker({"properties": {"a": {"const": "x"}}})

    assert checker.places({"a": "secret"}) == ["/a: const"]


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "text"}, "/type: 'text' is not valid"),
        ({"properties": {"a": {"pattern": "("}}}, r"pattern \(: unclosed group"),
        ({"properties": {"a": {"pattern": r"\p{No}{3}{"}}}, r"pattern \\p\{No\}\{3\}\{: "),
        ({"$ref": "https://example.com/a.json"}, "https://example.com/a.json is another document"),
        ({"items": {"$ref": "https://example.com/a.json#/b"}}, "is another document"),
    ],
)
def test_schema_that_cannot_be_checked_against_is_refused(schema: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        refuse_bad_schema(schema)


def test_schema_may_refer_to_what_it_holds() -> None:
    refuse_bad_schema(
        {
            "$defs": {"a": {"$id": "https://example.com/a.json", "type": "string"}},
            "properties": {"a": {"$ref": "https://example.com/a.json"}, "b": {"$ref": "#/$defs/a"}},
        }
    )
