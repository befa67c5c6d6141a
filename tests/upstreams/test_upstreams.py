"""Failures of real servers through the function: what the model reads, and what the maintainer finds in the log."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from handler.server.asgi.request_log import INFO, WARNING
from tests.upstreams.document import FILE, rendered
from tests.upstreams.job_starts import expect_one_start_of_each_variant, expect_one_start_over_each_way
from tests.upstreams.provoking import CASES, Seen, paid, provoke
from tests.upstreams.serving import SERVERS, Server, running

DOUBT = "The mutation was sent and may have been carried out"

Outcomes = dict[str, dict[str, Seen | str]]


@pytest.fixture(scope="session")
def outcomes() -> Outcomes:
    """What was seen so far."""
    return {}


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.program)
def test_failures_of_a_real_server_are_told_as_what_they_are(
    server: Server, tmp_path: Path, outcomes: Outcomes
) -> None:
    server.require()
    seen = outcomes[server.name] = {}
    with running(server) as urls:
        for number, (name, case) in enumerate(CASES.items()):
            if name in server.missing:
                seen[name] = server.missing[name]
                continue
            before = paid(urls["plain"])
            found = provoke(server, case, urls[case.variant], tmp_path / str(number))
            seen[name] = found
            EXPECTED[name](found)
            assert case.operation not in ("pay", "order") or _paid_once_more(urls["plain"], before)
        expect_one_start_of_each_variant(server, urls, tmp_path / "jobs")
        if server.name.startswith(("GraphQL Yoga", "Strawberry")):
            expect_one_start_over_each_way(server, urls, tmp_path / "ways")


def _paid_once_more(url: str, before: int) -> bool:
    """Whether a mutation was carried out, which may end after its caller has gone."""
    deadline = time.monotonic() + 10
    while paid(url) == before and time.monotonic() < deadline:
        time.sleep(0.1)
    return paid(url) == before + 1


def _error(found: Seen) -> dict[str, Any]:
    """The first error of a GraphQL response."""
    first: dict[str, Any] = json.loads(found.told)["errors"][0]
    return first


def _resolver_error_beside_data(found: Seen) -> None:
    assert not found.is_error
    assert json.loads(found.told)["data"] == {"fails": None, "total": 3}
    assert _error(found)["path"] == ["fails"]
    assert (found.level, found.reason.partition(":")[0]) == (INFO, "GraphQLErrors")


def _resolver_error_alone(found: Seen) -> None:
    assert found.is_error
    assert json.loads(found.told)["data"] is None
    assert (found.level, found.reason.partition(":")[0]) == (WARNING, "GraphQLErrors")


def _drift(coordinate: str) -> Callable[[Seen], None]:
    def check(found: Seen) -> None:
        assert found.is_error
        assert "its schema has changed since" in _error(found)["message"]
        assert '"sum"' not in found.told
        assert (found.level, found.reason) == (WARNING, f"Drift: {coordinate}")

    return check


def _carried_out(found: Seen) -> None:
    assert found.is_error
    assert _error(found)["message"].startswith("The API has run order, and its answer has errors")


def _new_value(found: Seen) -> None:
    assert "PURPLE" in found.told


def _limit(found: Seen) -> None:
    assert found.is_error
    assert any(digit.isdigit() for digit in _error(found)["message"])
    assert "schema has changed" not in found.told
    assert (found.level, found.reason.partition(":")[0]) == (WARNING, "UpstreamLimit")


def _refused(status: int) -> Callable[[Seen], None]:
    def check(found: Seen) -> None:
        assert found.is_error
        assert f"(status {status})" in found.told
        assert (found.level, found.reason, found.status) == (WARNING, f"UpstreamRefused: {status}", status)

    return check


def _refused_in_graphql(found: Seen) -> None:
    assert found.is_error
    assert "The API refused the endpoint's own credential (UNAUTHENTICATED)" in found.told
    assert (found.level, found.reason) == (WARNING, "UpstreamRefused: UNAUTHENTICATED")


def _answered(found: Seen) -> None:
    assert found.is_error
    assert "credential" not in found.told
    assert (found.level, found.reason) == (INFO, "GraphQLErrors: FORBIDDEN")


def _limited_in_graphql(found: Seen) -> None:
    assert found.is_error
    assert (found.level, found.reason) == (WARNING, "UpstreamLimit")


def _waits(reason: str, level: str) -> Callable[[Seen], None]:
    def check(found: Seen) -> None:
        assert found.is_error
        assert "The API asks to wait 30 s." in found.told
        assert (found.level, found.reason) == (level, reason)

    return check


def _doubtful(reason: str) -> Callable[[Seen], None]:
    def check(found: Seen) -> None:
        assert found.is_error
        assert DOUBT in found.told
        assert "try later" not in found.told.lower()
        assert (found.level, found.reason.partition(":")[0]) == (WARNING, reason)

    return check


def _cut(found: Seen) -> None:
    assert "Party \ufffd" in found.told or found.is_error
    assert "\\ud" not in found.told


EXPECTED: Mapping[str, Callable[[Seen], None]] = {
    "resolver error, nullable": _resolver_error_beside_data,
    "resolver error, non-null": _resolver_error_alone,
    "renamed field": _drift("Query.total"),
    "enum value gone, in a variable": _drift("Color.GREEN"),
    "input field gone, in a variable": _drift("Size.depth"),
    "argument of another type": _drift("Query.paint(mode:)"),
    "new required argument": _drift("Query.coat(layers:)"),
    "new enum value": _new_value,
    "depth limit": _limit,
    "401": _refused(401),
    "403": _refused(403),
    "429 with Retry-After": _waits("UpstreamLimit: 429", WARNING),
    "503 with Retry-After": _waits("UpstreamStatus: 503", WARNING),
    "200 and UNAUTHENTICATED": _refused_in_graphql,
    "200 and FORBIDDEN": _answered,
    "200 and THROTTLED": _limited_in_graphql,
    "slow mutation": _doubtful("UpstreamTimeout"),
    "dropped mutation": _doubtful("UpstreamBroken"),
    "null in a new order": _carried_out,
    "truncated emoji": _cut,
}


def test_every_failure_has_an_expectation() -> None:
    assert set(EXPECTED) == set(CASES)


def test_page_says_what_was_seen(outcomes: Outcomes) -> None:
    if [len(outcomes.get(server.name, {})) for server in SERVERS] != [len(CASES)] * len(SERVERS):
        pytest.skip("not all failures were provoked: `make upstreams` provokes them")
    page, written = rendered(outcomes), FILE.read_text("utf-8") if FILE.exists() else ""
    FILE.write_text(page, "utf-8")

    assert written == page, f"{FILE.name} was out of date, and has been written anew: read what has changed"
