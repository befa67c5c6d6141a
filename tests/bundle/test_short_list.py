"""Lists of tools above their budget: what stays, what a shortened schema accepts, and what one tool more changes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from handler.bundle.short_list import MOST_UNUSED, outer_levels, short_list
from handler.compiler.compile import compile_endpoint
from handler.strict_json import Entries, Entry, JSONObject, to_json_bytes
from tests.conftest import DEMO
from tests.support.examples import examples
from tests.support.local_entries import local_entries
from tests.support.vendors import untyped

NAMES = ("a", "b", "errors", "data", "description", "properties", "a name that is long enough to cost something")
LEAVES: tuple[JSONObject, ...] = (
    {},
    {"type": "string"},
    {"type": "integer", "description": "An amount in cents."},
    {"type": "string", "enum": ["A", "B"]},
    {"anyOf": [{"type": "string"}, {"type": "null"}]},
    {"const": {"a": 1}},
    {"type": "string", "pattern": "^x"},
)
VALUES: tuple[Any, ...] = (None, "x", "A", "", 5, 1.5, True, {"a": 1}, [], ["x"], {}, {"a": "x", "z": None})


def some_schema(rng: Random, depth: int, names: Sequence[str] = ()) -> JSONObject:
    """A schema with the keywords of ours, and with those of an author that make it stricter elsewhere."""
    if names and rng.random() < 0.2:
        return {"$ref": f"#/$defs/{rng.choice(names)}"}
    if not depth or rng.random() < 0.2:
        return deepcopy(rng.choice(LEAVES))
    below = partial(some_schema, rng, depth - 1, names)
    match rng.randrange(6):
        case 0:
            return {rng.choice(["anyOf", "anyOf", "oneOf"]): [below() for _ in range(rng.randint(1, 3))]}
        case 1:
            prefix = {"prefixItems": [below()]} if rng.random() < 0.2 else {}
            return {"type": "array", "items": below(), **prefix}
        case 2 if rng.random() < 0.3:
            return {"type": "object", "not": {"properties": {"a": below()}, "required": ["a"]}}
        case _:
            properties = {name: below() for name in rng.sample(NAMES, rng.randint(0, 4))}
            return {
                "type": rng.choice(["object", "object", ["object", "null"]]),
                "properties": properties,
                "required": rng.sample([*properties], rng.randint(0, len(properties))),
                **rng.choice(
                    [
                        {},
                        {},
                        {"additionalProperties": False},
                        {"additionalProperties": below()},
                        {"additionalProperties": False, "patternProperties": {"^z": {}}},
                    ]
                ),
            }


def with_definitions(rng: Random) -> JSONObject:
    names = ["One", "Two"]
    members = {"data": some_schema(rng, 4, names), "errors": {"type": "array", "items": some_schema(rng, 1)}}
    definitions = {"Two": some_schema(rng, 2), "One": some_schema(rng, 2, ["Two"])}
    return {"type": "object", "properties": members, "required": ["data"], "$defs": definitions}


def some_value(rng: Random, schema: Any, definitions: JSONObject) -> Any:
    """A value that mostly fits."""
    if rng.random() < 0.05:
        return deepcopy(rng.choice(VALUES))
    match schema:
        case {"$ref": str(reference)}:
            return some_value(rng, definitions[reference.removeprefix("#/$defs/")], definitions)
        case {"anyOf": choices} | {"oneOf": choices}:
            return some_value(rng, rng.choice(choices), definitions)
        case {"const": value}:
            return value
        case {"enum": values}:
            return rng.choice(values)
        case {"items": items}:
            return [some_value(rng, items, definitions) for _ in range(rng.randint(0, 2))]
        case {"properties": properties}:
            kept = [name for name in properties if name in schema["required"] or rng.random() < 0.7]
            more = {"z": 1} if rng.random() < 0.2 else {}
            return {**{name: some_value(rng, properties[name], definitions) for name in kept}, **more}
        case {"type": "integer"}:
            return 5
        case {"type": "object"}:
            return {}
        case {"type": _}:
            return "x"
    return deepcopy(rng.choice(VALUES))


def test_cut_schema_accepts_what_the_whole_one_accepts_and_is_an_object() -> None:
    rng, accepted, cut = Random(27), 0, 0
    for _ in range(examples(1_600)):
        schema = with_definitions(rng)
        whole, size = Draft202012Validator(schema), len(to_json_bytes(schema))
        values = [some_value(rng, schema, schema["$defs"]) for _ in range(12)]
        fitting = [value for value in values if whole.is_valid(value)]
        before = deepcopy(schema)
        for max_bytes in sorted(rng.randint(20, size) for _ in range(4)):
            short = outer_levels(schema, max_bytes)
            Draft202012Validator.check_schema(short)
            assert short["type"] == "object"
            assert "$ref" not in json.dumps(short)
            assert len(to_json_bytes(short)) <= max(max_bytes, len('{"type":"object"}'))
            for value in fitting:
                assert Draft202012Validator(short).is_valid(value), (schema, max_bytes, short, value)
            accepted += len(fitting)
            cut += "properties" in short
        assert schema == before

    assert accepted > 1_000
    assert cut > 100


@pytest.mark.parametrize("max_bytes", [30, 60, 90, 200])
def test_schema_of_several_forms_keeps_its_type_at_the_root(max_bytes: int) -> None:
    forms = [
        {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]} for name in ("one", "two")
    ]
    cut = outer_levels({"type": "object", "anyOf": forms}, max_bytes)

    assert cut["type"] == "object"
    assert len(to_json_bytes(cut)) <= max(max_bytes, len('{"type":"object","anyOf":[{"type":"object"}]}'))


def test_schemas_that_lead_to_themselves_end() -> None:
    for definition in (
        {"$ref": "#/$defs/Own"},
        {"anyOf": [{"$ref": "#/$defs/Own"}, {"type": "null"}]},
        {"type": "object", "properties": {"own": {"$ref": "#/$defs/Own"}}},
    ):
        schema = {"type": "object", "properties": {"own": {"$ref": "#/$defs/Own"}}, "$defs": {"Own": definition}}

        assert len(to_json_bytes(outer_levels(schema, 3_000))) <= 3_000

    unknown = {"type": "object", "properties": {"a": {"$ref": "https://other.example/a"}}}
    assert outer_levels(unknown, 3_000) == {"type": "object", "properties": {"a": {}}}


OBJECT = {"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}, "required": ["a"]}
TEXT_ELSEWHERE = {"$id": "https://own.example/", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": OBJECT}}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "object", "anyOf": [OBJECT, {"required": ["b"]}]}, {"a": "x"}),
        ({"type": "object", "oneOf": [{"$ref": "#/$defs/A"}], "$defs": {"A": OBJECT}}, {"a": "x"}),
        ({"type": "object", "$ref": "#/$defs/A", "$defs": {"A": {"properties": OBJECT["properties"]}}}, {"a": "x"}),
        ({"type": "object", "$ref": "#/$defs/A", "$defs": {"A": {"description": "any"}}}, {"a": "x"}),
        (
            {"type": "object", "properties": {"b": TEXT_ELSEWHERE}, "$defs": {"A": {"type": "null"}}},
            {"b": {"a": {"a": "x"}}},
        ),
        (
            {
                "$id": "https://own.example/a",
                "type": "object",
                "properties": {"a": {"$ref": "A"}},
                "$defs": {"A": {"type": "null"}, "B": {"$id": "A", "type": "string"}},
            },
            {"a": "x"},
        ),
        (
            {
                "type": "object",
                "properties": {
                    f"v{place}": {"description": "any", "anyOf": [{"const": each} for each in (1, True, 0, False)]}
                    for place in range(8)
                },
            },
            {f"v{place}": place < 4 for place in range(8)},
        ),
    ],
    ids=["anyOf", "oneOf", "reference", "reference-to-a-leaf", "own-definitions", "reference-by-id", "one-and-true"],
)
def test_cut_schema_of_an_author_is_an_object_and_no_stricter(schema: JSONObject, value: Any) -> None:
    Draft202012Validator(schema).validate(value)

    for max_bytes in range(len(to_json_bytes(schema)) + 60):
        short = outer_levels(schema, max_bytes)

        assert short["type"] == "object"
        assert Draft202012Validator(short).is_valid(value), short


def test_part_that_does_not_fit_is_any_value_of_its_types() -> None:
    inner = {"type": "object", "properties": {"b": {"anyOf": [{"type": "string", "maxLength": 9}, {"type": "null"}]}}}
    choices = [{"$ref": "#/$defs/A"}, {**inner, "description": "another"}, {"type": "null"}]
    schema = {"type": "object", "properties": {f"a{n}": {"anyOf": choices} for n in range(4)}, "$defs": {"A": inner}}

    shorts = [outer_levels(schema, max_bytes) for max_bytes in range(100, len(to_json_bytes(schema)) + 400)]

    assert {len(short.get("properties", ())) for short in shorts} == set(range(5))
    assert [fault for short in shorts for fault in untyped(short)] == []


class Seen(dict[str, Any]):
    """A part of a schema that counts the looks at it."""

    looks = 0

    def keys(self) -> Any:
        Seen.looks += 1
        return super().keys()


def test_choices_within_choices_are_read_a_few_times_each() -> None:
    choices = [{"$ref": "#/$defs/Own"}] * 8
    own = Seen(description="any", anyOf=[*choices, {"type": "string"}])

    outer_levels({"type": "object", "properties": {"a": {"$ref": "#/$defs/Own"}}, "$defs": {"Own": own}}, 4_000)

    assert 1 < Seen.looks < 20_000


def entry(rng: Random, number: int, *, width: int = 6, depth: int = 3, text: int = 60) -> Entry:
    """A tool whose arguments have types with descriptions, and whose output has levels."""

    def output(level: int) -> JSONObject:
        names = [f"field_{place}_{level}" for place in range(rng.randint(1, width))]
        inner = {
            name: output(level - 1) if level and place < 2 else {"type": "string"} for place, name in enumerate(names)
        }
        return {"type": "object", "properties": inner, "required": names}

    members = {
        f"member{place}": {"type": "string", "description": "d" * rng.randint(1, text)}
        for place in range(rng.randint(0, 9))
    }
    where = {"type": "object", "properties": members, "description": "Rows to find."}
    return Entry(
        {
            "name": f"tool{number}",
            "description": "t" * rng.randint(10, 200),
            "inputSchema": {
                "type": "object",
                "properties": {
                    "where": {
                        "type": "object",
                        "properties": {"all": {"type": "array", "items": where}},
                        "description": "W.",
                    },
                    "region": {"type": "string", "x-mcp-header": "Region", "description": "The region."},
                },
                "required": ["where"],
            },
            "outputSchema": {
                "type": "object",
                "properties": {
                    "data": {"anyOf": [output(rng.randint(0, depth)), {"type": "null"}]},
                    "errors": {
                        "type": "array",
                        "items": {"type": "object", "properties": {"message": {"type": "string"}}},
                    },
                },
                "required": ["data"],
            },
            "annotations": {"readOnlyHint": True},
        }
    )


def alike(number: int) -> Entry:
    return Entry({**entry(Random(1), 0), "name": f"tool{number:04}"})


SETS = {
    "random": [entry(Random(number), number) for number in range(400)],
    "alike": [alike(number) for number in range(400)],
    "wide": [entry(Random(number), number, width=60, depth=1) for number in range(120)],
    "deep": [entry(Random(number), number, width=3, depth=7) for number in range(120)],
    "one large": [
        *(entry(Random(number), number, depth=1) for number in range(60)),
        entry(Random(5), 60, width=14, depth=4),
        *(entry(Random(number), number, depth=1) for number in range(61, 300)),
    ],
    "long texts": [entry(Random(number), number, text=400) for number in range(200)],
}


@pytest.mark.parametrize("tokens", [3_000, 12_000, 24_000])
@pytest.mark.parametrize("name", SETS)
def test_one_tool_more_shortens_a_list_by_a_twentieth_at_most(name: str, tokens: int) -> None:
    entries, before, is_cut = SETS[name], 0, False
    for count in range(1, len(entries) + 1):
        listed = short_list(entries[:count], 4 * tokens)
        size = len(Entries(listed).json)
        assert size >= 0.95 * before, (count, before, size)
        is_cut = is_cut or len(listed[0]) < len(entries[0])
        before = size

    assert is_cut  # the set passes all thresholds


@pytest.mark.parametrize("name", SETS)
def test_list_keeps_its_budget_as_long_as_names_and_arguments_do_and_uses_it(name: str) -> None:
    entries, max_bytes = SETS[name], 48_000
    kinds = set()
    for count in range(1, len(entries) + 1, 3):
        whole, listed = entries[:count], short_list(entries[:count], max_bytes)
        size, least = len(Entries(listed).json), len(Entries(short_list(whole, 1)).json)
        if len(Entries(whole).json) <= max_bytes:
            assert listed is whole or [*listed] == whole
            kinds.add("whole")
        elif least < (1 - MOST_UNUSED) * max_bytes:
            assert 0.94 * max_bytes <= size <= max_bytes
            kinds.add("shortened")
        else:
            assert size == least
            kinds.add("least")

    assert kinds == {"whole", "shortened", "least"}


def without_texts(schema: Any) -> Any:
    """A schema without the descriptions inside its arguments."""
    if isinstance(schema, list):
        return [without_texts(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: without_texts(each) for name, each in schema.items() if name != "description"}


@pytest.mark.parametrize("count", [30, 60, 100, 400])
def test_arguments_and_texts_of_tools_stay(count: int) -> None:
    whole = SETS["random"][:count]

    listed = short_list(whole, 48_000)

    for one, other in zip(listed, whole, strict=True):
        assert {**one, "inputSchema": {}, "outputSchema": {}} == {**other, "inputSchema": {}, "outputSchema": {}}
        assert without_texts(one["inputSchema"]) == without_texts(other["inputSchema"])
        for name, argument in other["inputSchema"]["properties"].items():
            assert one["inputSchema"]["properties"][name]["description"] == argument["description"]


def test_arguments_below_variables_keep_their_texts() -> None:
    inner = {
        "type": "object",
        "properties": {"deep": {"type": "string", "description": "Goes."}},
        "description": "Stays.",
    }
    variables = {"type": "object", "properties": {"where": inner}, "description": "Variables."}
    one = Entry({"name": "a", "inputSchema": {"type": "object", "properties": {"variables": variables}}})

    (least,) = short_list([one], 1)

    shown = least["inputSchema"]["properties"]["variables"]
    assert (shown["description"], shown["properties"]["where"]["description"]) == ("Variables.", "Stays.")
    assert shown["properties"]["where"]["properties"] == {"deep": {"type": "string"}}


def test_descriptions_go_after_output_schemas_and_small_schemas_stay_whole() -> None:
    whole = SETS["random"][:60]
    seen = set()
    for max_bytes in range(8_000, 120_000, 2_000):
        listed = short_list(whole, max_bytes)
        outputs = [one.get("outputSchema") for one in listed]
        texts = [one["inputSchema"] == other["inputSchema"] for one, other in zip(listed, whole, strict=True)]
        assert all(texts) or not any(outputs)
        sizes = [len(to_json_bytes(each["outputSchema"])) for each in whole]
        kept = [size for size, one, other in zip(sizes, outputs, whole, strict=True) if one == other["outputSchema"]]
        lost = [size for size, one, other in zip(sizes, outputs, whole, strict=True) if one != other["outputSchema"]]
        assert not kept or not lost or max(kept) <= max(lost)
        seen.add((all(texts), any(outputs)))

    assert seen == {(True, True), (False, False)} or seen == {(True, True), (True, False), (False, False)}


def test_list_depends_on_its_entries_alone() -> None:
    whole = SETS["random"][:80]
    again = [Entry(json.loads(each.json)) for each in whole]
    for first in (1, 9_000, 60_000):  # an earlier list leaves no trace
        short_list(again[:50], first)

    assert Entries(short_list(again, 48_000)).json == Entries(short_list(whole, 48_000)).json


def test_tools_of_the_demo_are_shortened_and_accept_what_they_accepted(tmp_path: Path) -> None:
    whole = [Entry(each) for each in local_entries(compile_endpoint(DEMO))]

    for max_bytes in range(500, len(Entries(whole).json), 700):
        for one, other in zip(short_list(whole, max_bytes), whole, strict=True):
            assert one["name"] == other["name"]
            assert one["inputSchema"].keys() == other["inputSchema"].keys()
            if "outputSchema" in one:
                Draft202012Validator.check_schema(one["outputSchema"])
