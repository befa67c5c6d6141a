"""Every result of every method, at every revision, is what the published schema of the revision says."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from mcp_types import methods as oracle

from handler.compiler.compile import Compiled
from handler.server.mcp.methods import METHODS
from handler.server.mcp.revisions import LEGACY, MODERN
from tests.support.every_method import CALLS, LEGACY_CALLS, MODERN_CALLS, ask, every_endpoint, running_every
from tests.support.function import Function
from tests.support.upstream import Upstream

CASES = [
    *itertools.product([*LEGACY, *MODERN], CALLS),
    *itertools.product(LEGACY, LEGACY_CALLS),
    *itertools.product(MODERN, MODERN_CALLS),
]
ALL_CALLS = {**CALLS, **LEGACY_CALLS, **MODERN_CALLS}

OF_EXTENSIONS = {"skills/list", "skills/get", "tasks/get", "tasks/update", "tasks/cancel", "subscriptions/listen"}
"""Methods that the published schemas do not have: tests/conformance and mcp/calls try them."""

_MODERN_KEYS = {"resultType", "ttlMs", "cacheScope", "inputRequests", "requestState", "supportedVersions"}
_SERVER_INFO = "io.modelcontextprotocol/serverInfo"

_STRUCTURED = {"title", "icons", "outputSchema", "structuredContent"}

ABSENT: Mapping[str, set[str]] = {
    "2024-11-05": {*_MODERN_KEYS, *_STRUCTURED, _SERVER_INFO, "execution", "completions"},
    "2025-03-26": {*_MODERN_KEYS, *_STRUCTURED, _SERVER_INFO, "execution"},
    "2025-06-18": {*_MODERN_KEYS, _SERVER_INFO, "execution"},
    "2025-11-25": {*_MODERN_KEYS, _SERVER_INFO},
    "2026-07-28": {"protocolVersion", "serverInfo", "execution"},
}
"""Keys that no result of a revision has, wherever: the oracle takes unknown ones, and old revisions for the newest."""


@pytest.fixture(scope="module")
def endpoint(upstream: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    return every_endpoint(tmp_path_factory.mktemp("every"), upstream.url)


@pytest.fixture
def function(endpoint: Compiled) -> Iterator[Function]:
    with running_every(endpoint) as running:
        yield running


@pytest.mark.parametrize(("revision", "name"), CASES)
def test_result_is_valid_at_its_revision(function: Function, revision: str, name: str) -> None:
    method, params = ALL_CALLS[name]
    params = {**params, "protocolVersion": revision} if method == "initialize" else params

    result = ask(function, revision, method, params).result

    oracle.validate_server_result(method, revision, result)
    assert not keys_in(result) & ABSENT[revision]
    assert ("resultType" in result) is (revision in MODERN)


def test_every_method_is_called() -> None:
    assert {method for method, _ in ALL_CALLS.values()} == METHODS.keys() - OF_EXTENSIONS


def test_calls_come_to_what_their_names_say(function: Function) -> None:
    results = {name: ask(function, MODERN[0], *CALLS[name]).result for name in CALLS}

    wrong = {"prescribed, misfit", "graphql, refused", "code, failing"}
    assert {name for name, result in results.items() if result.get("isError")} == wrong
    assert ask(function, MODERN[0], *MODERN_CALLS["asks first"]).result["resultType"] == "input_required"


@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "resources/list", "resources/templates/list"])
@pytest.mark.parametrize("cursor", ["", "x", "MA==", 0, 7, True, [], {}])
@pytest.mark.parametrize(("revision", "status"), [("2025-03-26", 200), ("2026-07-28", 400)])
def test_a_cursor_that_was_not_given_is_invalid(
    function: Function, method: str, cursor: Any, revision: str, status: int
) -> None:
    answer = ask(function, revision, method, {"cursor": cursor})

    assert (answer.status, answer.json["error"]["code"]) == (status, -32602)


@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "resources/list", "resources/templates/list"])
def test_lists_have_one_page(function: Function, method: str) -> None:
    assert "nextCursor" not in ask(function, MODERN[0], method, {}).result


def keys_in(value: Any, depth: int = 3) -> set[str]:
    """The keys of a result down to the entries of a list; further in, the names are authors'."""
    if depth == 0:
        return set()
    if isinstance(value, list):
        return set().union(*(keys_in(each, depth) for each in value))
    if not isinstance(value, dict):
        return set()
    inner = (keys_in(each, depth - 1) for key, each in value.items() if key != "structuredContent")
    return {*value, *(key for keys in inner for key in keys)}
