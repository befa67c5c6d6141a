"""Tools in Python, called by clients that send every parameter, with ``null`` for what is left out."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest

from handler.json_schema.sent_arguments import unstringified, without_refused_nulls
from stile import Field, Toolkit
from stile.testing import TestClient
from tests.code_tools.echo import client_of


@dataclass
class Page:
    first: int = 5
    after: str | None = None


@dataclass
class Card:
    kind: Literal["card"]
    number: str
    holder: str = "nobody"


@dataclass
class Cash:
    kind: Literal["cash"]
    rounded: bool = True


def test_null_is_a_parameter_left_out_where_its_hint_has_no_none() -> None:
    seen: list[Any] = []

    def find(name: str, limit: int = 5, note: str | None = "none", page: Page = Page(), pages: list[Page] = []) -> None:  # noqa: B006, B008
        seen.append((name, limit, note, page, pages))

    answer = client_of(find).call(
        "find", name="a", limit=None, note=None, page={"first": None, "after": None}, pages=[{"first": None}]
    )

    assert not answer.is_error, answer.text
    assert seen == [("a", 5, None, Page(5, None), [Page(5)])]


def test_null_is_left_out_of_the_alternative_that_it_stands_in() -> None:
    seen: list[Any] = []

    def pay(by: Card | Cash, tagged: Annotated[Card | Cash, Field(discriminator="kind")]) -> None:
        seen.append((by, tagged))

    card = {"kind": "card", "number": "1", "holder": None}
    answer = client_of(pay).call("pay", by={"kind": "cash", "rounded": None}, tagged=card)

    assert not answer.is_error, answer.text
    assert seen == [(Cash("cash"), Card("card", "1"))]


def test_null_for_a_parameter_without_default_is_a_violation() -> None:
    def find(name: str) -> None: ...

    assert "/name: expected string, got null" in client_of(find).call("find", name=None).text


def test_strict_tool_takes_arguments_as_they_came() -> None:
    def find(limit: int = 5) -> None: ...

    strict = Toolkit(strict=True)
    strict.add(find)

    assert TestClient(strict).call("find", limit=None).is_error
    assert not client_of(find).call("find", limit=None).is_error


def test_null_is_left_out_with_a_schema_of_the_authors() -> None:
    seen: list[Any] = []
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"const": 1}, "c": {"not": {"type": "null"}}, "d": {}},
    }

    def take(arguments: dict[str, Any]) -> None:
        seen.append(arguments)

    kit = Toolkit()
    kit.tool(take, input_schema=schema)
    TestClient(kit).call("take", a=None, b=None, c=None, d=None)

    assert seen == [{"d": None}]


ANY = {"type": "object"}
DEFINED = {"$ref": "#/$defs/N"}


@pytest.mark.parametrize(
    ("property_", "is_left_out"),
    [
        ({"type": "integer"}, True),
        ({"type": ["integer", "null"]}, False),
        ({"enum": ["a"]}, True),
        ({"enum": ["a", None]}, False),
        ({"const": None}, False),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, True),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, False),
        ({"oneOf": [{"type": "integer"}, DEFINED]}, False),
        ({"allOf": [{"type": ["string", "null"]}, {"type": "string"}]}, True),
        (DEFINED, False),
        ({"if": {"not": {"type": "null"}}, "then": {"type": "integer"}}, False),
        ({"if": {"type": "array"}, "then": {}, "else": {"type": "integer"}}, True),
        ({"if": {"type": "array"}, "then": {}, "else": {"type": ["integer", "null"]}}, False),
        ({}, False),
        (True, False),
        (False, True),
        ({"minimum": 1}, False),
    ],
)
def test_null_is_left_out_where_and_only_where_a_schema_refuses_it(property_: Any, *, is_left_out: bool) -> None:
    schema = {"type": "object", "properties": {"x": property_}, "$defs": {"N": {"type": "null"}}}

    assert without_refused_nulls({"x": None}, schema) == ({} if is_left_out else {"x": None})
    assert without_refused_nulls({"x": None}, {**schema, "required": ["x"]}) == {"x": None}


def test_null_stays_where_nothing_is_declared() -> None:
    value = {"free": {"a": None}, "other": None, "items": [None, {"b": None}]}

    assert without_refused_nulls(value, {"properties": {"free": ANY, "items": {"type": "array"}}}) == value


def test_null_is_left_out_below_a_recursive_schema() -> None:
    tree = {"type": "object", "properties": {"n": {"type": "integer"}, "below": {"$ref": "#/$defs/T"}}}
    schema = {"properties": {"tree": {"$ref": "#/$defs/T"}}, "$defs": {"T": tree}}
    value: Any = {"n": None, "below": None}
    for _ in range(50):
        value = {"n": 1, "below": value}

    left = without_refused_nulls({"tree": value}, schema)

    assert "None" not in str(left)


def test_schemas_that_lead_back_to_themselves_end() -> None:
    loop = {"anyOf": [{"$ref": "#/$defs/L"}, {"$ref": "#/$defs/L"}]}
    schema = {"properties": {"x": loop}, "$defs": {"L": loop}}

    assert without_refused_nulls({"x": None}, schema) is not None
    assert unstringified({"x": "{}"}, schema) == ({"x": "{}"}, [])


def test_json_text_is_read_at_every_depth_where_no_text_is_taken() -> None:
    seen: list[Any] = []

    def take(names: list[str], table: dict[str, list[int]], pages: list[Page], either: list[str] | str) -> None:
        seen.append((names, table, pages, either))

    client = client_of(take)
    answer = client.call("take", names='["a"]', table={"x": "[1]"}, pages=['{"first": 2}'], either='["b"]')

    assert not answer.is_error, answer.text
    assert seen == [(["a"], {"x": [1]}, [Page(2)], '["b"]')]
    refused = client.call("take", names='["a"', table={"x": "[1"}, pages=["{}"], either="")
    assert "/names: expected array, got a text that is not valid JSON" in refused.text
    assert "/table/x: expected array, got a text that is not valid JSON" in refused.text


def test_text_inside_a_text_is_not_read() -> None:
    def take(rows: list[list[int]]) -> None: ...

    assert not client_of(take).call("take", rows="[[1]]").is_error
    assert '/rows/0: expected array, got string "[1]"' in client_of(take).call("take", rows='["[1]"]').text


def test_lists_and_objects_alone_are_read_with_a_schema_of_the_authors() -> None:
    seen: list[Any] = []
    number = {"type": "integer"}
    rules: dict[str, Any] = {
        "rows": {"type": "array", "items": number},
        "free": {},
        "text_or_list": {"type": ["string", "array"]},
        "far": {"type": "object", "properties": {"rows": {"type": "array"}}},
    }

    def take(arguments: dict[str, Any]) -> None:
        seen.append(arguments)

    for strict in (False, True):
        kit = Toolkit(strict=strict)
        kit.tool(take, name="take", input_schema={"type": "object", "properties": {**rules, "n": number}})
        client = TestClient(kit)
        given: dict[str, Any] = {"free": "[1]", "text_or_list": "[1]", "far": {"rows": "[1]"}}

        assert client.call("take", **given, rows="[1]").is_error is strict
        assert client.call("take", n="7").is_error

    assert seen == [{"free": "[1]", "text_or_list": "[1]", "far": {"rows": [1]}, "rows": [1]}]


def test_text_of_too_many_values_is_refused() -> None:
    def take(rows: list[int]) -> None: ...

    refused = client_of(take).call("take", rows=f"[{'1,' * 10_000}1]")

    assert "/rows: 10,001 values" in refused.text


def test_schemas_that_many_values_have_are_looked_through_once() -> None:
    kinds = {
        f"K{number}": {
            "type": "object",
            "properties": {
                "kind": {"const": f"k{number}"},
                "n": {"type": "integer"},
                "items": {"type": "array", "items": {"$ref": "#/$defs/Any"}},
            },
            "required": ["kind"],
        }
        for number in range(60)
    }
    whole = {"$defs": {**kinds, "Any": {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in kinds]}}}
    value = {"kind": "k1", "items": [{"kind": "k2", "n": None} for _ in range(4_000)]}

    began = time.process_time()
    left = without_refused_nulls(value, {**whole, "$ref": "#/$defs/Any"})

    assert left == {"kind": "k1", "items": [{"kind": "k2"}] * 4_000}
    assert time.process_time() - began < 2  # a tenth of it, and 30 s where each value looks through all of them
