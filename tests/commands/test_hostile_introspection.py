"""Introspections with anything in place of a part: SDL that can be read, or a refusal in one sentence."""

from __future__ import annotations

import copy
from typing import Any

from graphql import Source, build_schema, introspection_from_schema
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.commands.schema_source.schema_reading import sdl_of_introspection
from handler.commands.schema_source.source_options import SourceRefused
from handler.compiler.schema.schema import parse_sdl
from tests.commands.apis import SHOP

INTROSPECTION: Any = introspection_from_schema(build_schema(SHOP), input_value_deprecation=True)

TEXTS = st.one_of(
    st.text(), st.sampled_from(['"""', '"', "\\", "\n", "\x1b[2J", "\ud800", "Query", "LIST", "NON_NULL"])
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["name", "kind", "type", "ofType", "fields", "args"]) | TEXTS, inner, max_size=3
        ),
    ),
    max_leaves=6,
)


@settings(deadline=None, max_examples=200)
@given(data=st.data())
def test_any_part_of_an_introspection_may_be_anything(data: st.DataObject) -> None:
    found = copy.deepcopy(INTROSPECTION)
    for _ in range(data.draw(st.integers(1, 3))):
        _replace_a_part(found["__schema"], data)

    sdl = refusal = ""
    try:
        sdl = sdl_of_introspection(found, "an API")
    except SourceRefused as exc:
        refusal = str(exc)

    assert "\n" not in refusal
    assert len(refusal) < 500
    sdl.encode()
    assert not [each for each in sdl if not each.isprintable() and each not in "\n\t" and ord(each) < 0xA0]
    if sdl.strip():
        parse_sdl(Source(sdl))


def _replace_a_part(holder: Any, data: st.DataObject) -> None:
    """Go down to a part, and put any value in its place."""
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        inner = holder[key]
        if not isinstance(inner, dict | list) or not inner or data.draw(st.integers(0, 9)) == 0:
            holder[key] = data.draw(VALUES)
            return
        holder = inner
