"""Whatever a client sends, a function gets what its hints say, or the client a sentence."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from handler.code_tools.dispatch import call_tool
from stile import Context, Toolkit
from tests.code_tools.test_hints import HINTS, Node, Options, Order
from tests.support.examples import examples

HINTED = [*(hint for hint, *_ in HINTS), Order, Options, Node, list[Order], dict[str, Node] | None]

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(["a", "b", "one", "7", "[1]", "true", "2026-01-31", "09:30:00", "PT90S", "2026-01-31T09:30:00Z"])
)
NAMES = st.sampled_from(["number", "note", "size", "color", "name", "children"]) | st.text(max_size=3)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=8
)


def client_of_hints() -> tuple[Toolkit, list[Any]]:
    """A toolkit with a tool for each hint, and what these get."""
    kit, seen = Toolkit(), []
    for at, hint in enumerate(HINTED):

        def take(value: Any) -> None:
            seen.append(value)

        take.__annotations__["value"] = hint
        kit.tool(f"take_{at}")(take)
    return kit, seen


KIT, SEEN = client_of_hints()


@pytest.mark.parametrize("at", range(len(HINTED)), ids=map(str, HINTED))
@settings(max_examples=examples(40), derandomize=True, deadline=None, database=None)
@given(value=VALUES)
@example(value="1e400")
@example(value=10**30)
@example(value="\ud800")
@example(value="[" * 50)
def test_call_is_refused_with_a_sentence_or_reaches_the_function(at: int, value: Any) -> None:
    SEEN.clear()
    result: Any = asyncio.run(call_tool(KIT, f"take_{at}", {"value": value}, Context()))

    if SEEN:
        assert result == {"content": []}
    else:
        assert result["isError"]
        assert result["content"][0]["text"].startswith(f"Invalid arguments for tool take_{at}: /value")
