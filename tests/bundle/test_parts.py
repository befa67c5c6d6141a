"""The parts of a stored bundle: one copy of each value, authors' objects as they were, bounded work for a reader."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.bundle.parts import MAX_LEVELS, MAX_WHOLE_CHARS, read_parts, with_parts
from handler.bundle.stored import read_bundle, write_bundle
from handler.bundle.tools import PrescribedTool
from handler.errors.infrastructure import BundleError
from handler.strict_json import JSONObject, parse_stored, to_json_bytes
from tests.bundle.test_model import HANDMADE, read
from tests.support.examples import examples

FILTER = {
    "type": "object",
    "properties": {f"field{n}": {"type": ["string", "null"], "description": f"Field {n}."} for n in range(50)},
}
"""A definition that is long enough to be shared."""

LOOKALIKES: list[Any] = [
    {"$part": 0},
    {"$part": [0]},
    {"$part": [[{"$part": 1}]]},
    {"$part": {"$part": 2}},
    {"$part": None},
    {"$part": True},
    {"$part": "x", "other": 1},
    {"parts": [1]},
]
"""Values of an author that look like ours."""


def shared(content: JSONObject) -> Any:
    """What comes back of a content that is written with many copies of a value, and of itself."""
    return read_parts(to_json_bytes(with_parts(content)).decode())


def copies(value: object, count: int = 300) -> JSONObject:
    return {"copies": [json.loads(json.dumps(value)) for _ in range(count)]}


def test_value_that_many_places_have_is_stored_once_and_read_as_one_object() -> None:
    stored = with_parts(copies(FILTER))

    assert stored["copies"] == [{"$part": len(stored["parts"]) - 1}] * 300
    assert to_json_bytes(stored).count(b'"field7"') == 1
    read = shared(copies(FILTER))
    assert read["copies"] == [FILTER] * 300
    assert all(each is read["copies"][0] for each in read["copies"])


def test_part_within_parts_is_stored_once() -> None:
    outer = [{"name": "a" * 80, "of": FILTER}, {"name": "b" * 80, "of": FILTER}]

    stored = with_parts({"copies": [outer[n % 2] for n in range(400)]})

    assert to_json_bytes(stored).count(b'"field7"') == 1
    assert [to_json_bytes(stored).count(b"a" * 80), len(stored["copies"])] == [1, 400]
    assert shared({"copies": outer * 200})["copies"] == outer * 200


def test_small_content_has_no_parts() -> None:
    assert with_parts(copies(FILTER, 10)) == copies(FILTER, 10)


@pytest.mark.parametrize("count", [1, 300], ids=["alone", "with parts"])
def test_object_of_an_author_that_looks_like_a_part_stays_as_it_is(count: int) -> None:
    content = {**copies(FILTER, count), "own": LOOKALIKES, "more": copies(LOOKALIKES)}

    assert shared(content)["own"] == LOOKALIKES
    assert shared(content)["more"] == copies(LOOKALIKES)


def test_lookalike_in_a_bundle_is_read_back_and_in_one_of_format_1_too() -> None:
    tool = HANDMADE.tools[0]
    assert isinstance(tool, PrescribedTool)
    arguments = {"type": "object", "properties": {"a": {"default": {"$part": 0}}}}
    bundle = replace(HANDMADE, tools=(replace(tool, arguments=arguments),))

    raw = write_bundle(bundle)

    assert read_bundle(raw, endpoint="api/things") == bundle
    content = json.loads(raw)["content"]
    content["tools"][0]["arguments"] = arguments
    assert read(content, version=1) == bundle


def test_numbers_that_are_equal_in_python_stay_apart() -> None:
    values = [0, 0.0, -0.0, 1, 1.0, True, False, None, "1"]

    assert repr(shared({**copies(FILTER), "own": values, "again": values[::-1]})["own"]) == repr(values)


def test_order_of_members_stays() -> None:
    orders = [{"a": FILTER, "b": 1}, {"b": 1, "a": FILTER}]

    assert to_json_bytes(shared({"copies": orders * 200})) == to_json_bytes({"copies": orders * 200})


def test_equal_contents_give_equal_bytes_however_their_objects_are_shared() -> None:
    same = {"copies": [FILTER] * 300}

    assert to_json_bytes(with_parts(same)) == to_json_bytes(with_parts(copies(FILTER)))
    assert to_json_bytes(with_parts(shared(same))) == to_json_bytes(with_parts(same))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["$part", "parts", "a", "b"]), inner),
    max_leaves=12,
)


@settings(max_examples=examples(1_000), deadline=None)
@given(values=st.lists(JSON, min_size=1, max_size=6), seed=st.integers(0, 2**32))
def test_any_content_is_read_back(values: list[Any], seed: int) -> None:
    made = random.Random(seed)
    long = [{"text": "x" * 500, "value": each} for each in values]
    content = {"drawn": [made.choice(long) if made.random() < 0.8 else made.choice(values) for _ in range(200)]}

    assert to_json_bytes(shared(content)) == to_json_bytes(content)


def test_lone_surrogates_are_read_back() -> None:
    content = copies({**FILTER, "title": "\ud83c 🎉"})

    assert shared(content) == content


@pytest.mark.parametrize(
    "reference", [1, 2, -1, 10**30, True, False, None, "0", 0.0, [], [1, 2], {}, {"a": 1}], ids=repr
)
def test_reference_to_no_part_is_refused(reference: object) -> None:
    with pytest.raises(BundleError, match=r"^\$part: expected a part that comes before its reference, got "):
        read({"parts": [1], "endpoint": {"$part": reference}})


@pytest.mark.parametrize(
    "parts",
    [[{"$part": 0}], [{"a": {"$part": 0}}], [{"a": {"$part": 1}}, {"b": {"$part": 0}}], [[{"$part": 2}], 1, 1]],
    ids=["itself", "in itself", "in a circle", "a later one"],
)
def test_part_refers_only_to_parts_before_it(parts: list[object]) -> None:
    with pytest.raises(BundleError, match=r"^\$part: expected a part that comes before its reference, got [012]$"):
        read({"parts": parts, "endpoint": "api/things"})


@pytest.mark.parametrize("fan", [2, 1_000])
def test_parts_that_stand_for_too_much_are_refused_before_anything_is_written_out(fan: int) -> None:
    parts: list[Any] = ["x" * 100]
    parts += [[{"$part": number}] * fan for number in range(60 if fan == 2 else 8)]

    with pytest.raises(BundleError, match=rf"^parts: they stand for more than {MAX_WHOLE_CHARS} characters$"):
        read({"parts": parts, "endpoint": {"$part": len(parts) - 1}})
    many = [{"$part": 1}] * 30_000
    with pytest.raises(BundleError, match=r"^parts: they stand for more than "):
        read({"parts": ["x" * 100_000, [{"$part": 0}] * 5], "conditions": many, "endpoint": "api/things"})


def test_parts_that_are_nested_too_deeply_are_refused() -> None:
    parts: list[object] = [1, *([{"$part": number}] for number in range(MAX_LEVELS - 1))]

    assert read_parts(to_json_bytes({"parts": parts, "deep": 1}).decode()) == {"deep": 1}
    with pytest.raises(BundleError, match=rf"^parts: more than {MAX_LEVELS} are nested$"):
        read({"parts": [*parts, [{"$part": MAX_LEVELS - 1}]], "endpoint": "api/things"})


def test_deep_content_is_read_back() -> None:
    deep: Any = FILTER
    for number in range(100):
        deep = [deep, {"text": f"{number}" * 50}]
    content = {"deep": [deep] * 20, "also": [[deep]]}

    assert with_parts(content)["parts"]
    assert shared(content) == content


@pytest.mark.parametrize(
    "content",
    [
        b'{"parts":[]}$part',
        b'{"parts":["$part"',
        b'{"parts":["$part",',
        b'{"parts":["$part",]',
        b'{"parts":["$part"},"endpoint":1}',
        b'{"parts":["$part"]}',
        b'{"parts":["$part"] ,"endpoint":1}',
        b'{"parts":["$part"],}',
        b'{"parts":["$part"],"endpoint":1',
        b'{"parts":[NaN,"$part"],"endpoint":1}',
        b'{"parts":["$part",' + b"[" * 100_000,
        b'"$part"',
        b'["$part"]',
        b'{"$part":[{"a":1}]}',
    ],
)
def test_damaged_parts_are_refused(content: bytes) -> None:
    with pytest.raises(BundleError):
        read(content)


def test_damaged_content_with_parts_is_always_a_bundle_error() -> None:
    raw = to_json_bytes(with_parts({**copies(FILTER), "own": LOOKALIKES}))
    assert b'"$part"' in raw

    for place in range(min(len(raw), 1_000)):
        for damaged in (raw[:place], raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :]):
            try:
                parse_stored(damaged, read_parts)
            except BundleError:
                continue
