"""Records read by their annotations: each field is read, and an error names the place."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from functools import reduce
from operator import getitem
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.bundle import content, identity, model, tools, upstream
from handler.bundle.stored import read_record
from handler.cold.records import record
from handler.errors.infrastructure import BundleError
from tests.bundle.test_model import AUTHS, HANDMADE, content_of, read

NOT_STORED = {upstream.SecretReference}


@record(frozen=True, slots=True, kw_only=True)
class Leaf:
    KIND = "leaf"

    size: int


@record(frozen=True, slots=True, kw_only=True)
class Knot:
    KIND = "knot"

    leaves: tuple[Leaf, ...]


Part = Leaf | Knot


@record(frozen=True, slots=True, kw_only=True)
class Tree:
    name: str
    parts: tuple[Part, ...]
    by_name: Mapping[str, Mapping[str, Leaf]]
    notes: Mapping[str, tuple[str, ...]]
    first: Leaf | None
    since: int = 7


WHOLE = {
    "name": "oak",
    "parts": [{"kind": "leaf", "size": 1}, {"kind": "knot", "leaves": [{"size": 2}, {"size": 3}]}],
    "by_name": {"a": {"b": {"size": 4}}},
    "notes": {"en": ["old", "tall"]},
    "first": {"size": 5},
    "since": 9,
}


def test_record_is_read_by_its_annotations() -> None:
    assert read_record(Tree, WHOLE) == Tree(
        name="oak",
        parts=(Leaf(size=1), Knot(leaves=(Leaf(size=2), Leaf(size=3)))),
        by_name={"a": {"b": Leaf(size=4)}},
        notes={"en": ("old", "tall")},
        first=Leaf(size=5),
        since=9,
    )


def test_field_with_a_default_may_be_missing_and_null_is_no_value() -> None:
    assert read_record(Tree, {**WHOLE, "first": None}).first is None
    assert read_record(Tree, {name: value for name, value in WHOLE.items() if name != "since"}).since == 7
    with pytest.raises(BundleError, match=r"^since: expected an integer, got nothing$"):
        read_record(Tree, {**WHOLE, "since": None})


@pytest.mark.parametrize(
    ("member", "value", "message"),
    [
        ("parts", [{"kind": "leaf"}], "parts[0].size: expected an integer, got nothing"),
        ("parts", [{"kind": "root"}], "parts[0].kind: expected one of leaf, knot, got 'root'"),
        ("parts", [WHOLE["parts"], 1], "parts[0]: expected an object, got list"),
        (
            "parts",
            [{"kind": "knot", "leaves": [{"size": 1}, {"size": "2"}]}],
            "parts[0].leaves[1].size: expected an integer, got str",
        ),
        ("by_name", {"a": {"b": 1}}, "by_name[a][b]: expected an object, got int"),
        ("notes", {"en": ["old", 1]}, "notes[en][1]: expected a string, got int"),
        ("first", 1, "first: expected an object, got int"),
    ],
)
def test_error_names_the_place(member: str, value: object, message: str) -> None:
    with pytest.raises(BundleError) as caught:
        read_record(Tree, {**WHOLE, member: value})

    assert str(caught.value) == message
    assert caught.value.path == message.partition(": ")[0]


def test_record_with_an_annotation_that_has_no_reader_is_never_read() -> None:
    with pytest.raises(KeyError, match=r"list\[str\]"):
        read_record(Unreadable, {"names": []})


@record(frozen=True, slots=True, kw_only=True)
class Unreadable:
    names: list[str]


LOG = tools.CallLog(
    coordinates=True,
    reads={"0" * 64: ("Order.total", "Query.order")},
    arguments=(tools.LoggedArgument(tool="order", name="id", inside="variables"),),
)
SKILL = content.Skill(entry={"uri": "skill://a/SKILL.md", "frontmatter": {"name": "a"}}, mask=frozenset({1}))
TENANT = upstream.TenantPart(before="https://", claim="org", after=".example.com/graphql", pattern="[a-z]+")
assert HANDMADE.identity.oauth_proxy is not None
CLIENT = identity.AssertionClient(id="desk", sha256=("c" * 64,), issuer="https://id.example.com")
PROXY = replace(HANDMADE.identity.oauth_proxy, assertion_clients=(CLIENT,))
(PRESCRIBED,) = (each for each in HANDMADE.tools if isinstance(each, tools.PrescribedTool))
TASK = tools.Task(
    status_tool="thing-status",
    variables={"id": "thing.id"},
    status="thing.status",
    initial_status="",
    outcomes={"DONE": "completed", "STOPPED": "cancelled"},
    cancel=PRESCRIBED.persisted(),
    every_s=5,
    ttl_s=3_600,
    wait_s=0,
    required=False,
)
BUNDLES = (
    HANDMADE,
    replace(HANDMADE, tools=(replace(PRESCRIBED, task=TASK, polls="things"),)),
    replace(HANDMADE, identity=replace(HANDMADE.identity, oauth_proxy=PROXY)),
    replace(HANDMADE, skills=(SKILL,), log=LOG, upstream=replace(HANDMADE.upstream, tenant=TENANT)),
    *(replace(HANDMADE, upstream=replace(HANDMADE.upstream, auth=auth)) for auth in AUTHS),
)


def test_samples_have_each_record_of_a_bundle() -> None:
    declared = {
        each
        for module in (content, identity, model, tools, upstream)
        for each in vars(module).values()
        if isinstance(each, type) and is_dataclass(each) and each.__module__ == module.__name__
    }

    assert {type(value) for bundle in BUNDLES for value, _, _ in _records(bundle)} == declared - NOT_STORED


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.upstream.auth.KIND)
def test_value_of_a_wrong_type_is_refused_for_each_field_of_each_record(bundle: model.Bundle) -> None:
    text = json.dumps(content_of(bundle))
    for value, keys, path in _records(bundle):
        for field in fields(value):
            if field.type == "Any":
                continue
            whole = json.loads(text)
            reduce(getitem, keys, whole)[field.name] = "x" if "bool" in str(field.type) else True
            with pytest.raises(BundleError) as caught:
                read(whole)
            assert caught.value.path == f"{path}.{field.name}".lstrip(".")


@settings(deadline=None)
@given(st.data())
def test_any_value_at_any_place_is_read_or_refused(data: st.DataObject) -> None:
    whole = content_of(HANDMADE)
    for _ in range(data.draw(st.integers(1, 3))):
        keys = data.draw(st.sampled_from(list(_places(whole))))
        reduce(getitem, keys[:-1], whole)[keys[-1]] = data.draw(JSON)

    with suppress(BundleError):
        bundle = read(whole)
        assert read(content_of(bundle)) == bundle


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["kind", "a"]) | st.text(), inner),
    max_leaves=4,
)


def _records(value: Any, keys: tuple[Any, ...] = (), path: str = "") -> Iterator[tuple[Any, tuple[Any, ...], str]]:
    """Yield each record in a value, the keys that lead to it in JSON, and its path in errors."""
    if is_dataclass(value):
        yield value, keys, path
        for field in fields(value):
            yield from _records(getattr(value, field.name), (*keys, field.name), f"{path}.{field.name}".lstrip("."))
    elif isinstance(value, tuple):
        for place, item in enumerate(value):
            yield from _records(item, (*keys, place), f"{path}[{place}]")


def _places(value: Any, keys: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if keys:
        yield keys
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from _places(item, (*keys, key))
