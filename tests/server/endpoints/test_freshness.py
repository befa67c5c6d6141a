"""When storage is asked again, and what is answered meanwhile. Over HTTP, with clocks that only the test moves."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterator

import pytest

from handler.bundle.stored import bundle_key, index_key, read_bundle, write_bundle
from handler.compiler.compile import Compiled
from handler.http.client import HttpClient
from handler.server.endpoints.registry import BESIDE_S, CachePolicy, Instant, now
from handler.storage.storage import READ_TIMEOUT_S
from tests.support.function import Function, running_function
from tests.support.objects import Fault, Objects, refusal, running_objects
from tests.support.raw_http import Peer

NAME = "api/customers"
KEY = bundle_key(NAME)
KEEPING = CachePolicy(refresh_s=60, max_stale_s=300)


class Clocks:
    """Both clocks of a machine."""

    def __init__(self) -> None:
        self.monotonic, self.wall = 1_000.0, 1_700_000_000.0

    def __call__(self) -> Instant:
        return Instant(self.monotonic, self.wall)

    def wait(self, seconds: float) -> None:
        self.monotonic += seconds
        self.wall += seconds

    def set_wall(self, by_s: float) -> None:
        self.wall += by_s

    def freeze(self, seconds: float) -> None:
        """As Lambda does between requests: the wall clock goes on."""
        self.wall += seconds


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
def objects(demo: Compiled) -> Iterator[Objects]:
    with running_objects() as running:
        publish(running, demo)
        yield running


@pytest.fixture
def function(objects: Objects, clocks: Clocks) -> Iterator[Function]:
    http = HttpClient()
    with running_function(storage=objects.storage(http), keeping=KEEPING, instants=clocks) as running:
        yield running
    http.close()


def publish(objects: Objects, compiled: Compiled, *, tools: int | None = None) -> None:
    """Put an endpoint in, with its first tools alone if a number says so."""
    objects.write(index_key(compiled.bundle.endpoint, compiled.bundle.index), compiled.index)
    objects.write(KEY, write_bundle(dataclasses.replace(compiled.bundle, tools=compiled.bundle.tools[:tools])))


def count(function: Function) -> int:
    """How many tools are listed, or the status that came instead."""
    answer = function.request("tools/list")
    return len(answer.result["tools"]) if answer.status == 200 else answer.status


def troubles(function: Function) -> list[str]:
    return [line["reason"] for line in function.lines if "trouble" in line]


class TestInTime:
    def test_young_bundle_serves_without_asking(self, function: Function, objects: Objects, clocks: Clocks) -> None:
        assert count(function) > 1
        clocks.wait(59)
        count(function)

        assert objects.requests == 1

    def test_old_bundle_serves_once_more_and_storage_is_asked_before_the_answer(
        self, function: Function, objects: Objects, clocks: Clocks, demo: Compiled
    ) -> None:
        before = count(function)
        publish(objects, demo, tools=1)
        clocks.wait(61)

        assert count(function) == before
        assert objects.requests == 2
        assert count(function) == 1
        assert objects.requests == 2

    def test_older_bundle_is_asked_for_before_it_serves(
        self, function: Function, objects: Objects, clocks: Clocks, demo: Compiled
    ) -> None:
        count(function)
        publish(objects, demo, tools=1)
        clocks.wait(301)

        assert count(function) == 1

    def test_question_beside_a_call_runs_while_the_api_is_asked(
        self, objects: Objects, clocks: Clocks, served_demo: Compiled
    ) -> None:
        publish(objects, served_demo)
        http = HttpClient()
        call = ("customer-by-email", {"variables": {"email": "elif.nunez@example.com"}})
        with running_function(storage=objects.storage(http), keeping=KEEPING, instants=clocks) as function:
            function.call(*call)
            clocks.wait(61)
            result = function.call(*call).result
        http.close()

        assert json.loads(result["content"][0]["text"])["data"]["customer"]["id"] == "cust_0001"
        assert objects.requests == 2

    def test_unchanged_bundle_is_not_sent_again(self, function: Function, objects: Objects, clocks: Clocks) -> None:
        count(function)
        sent: list[bytes] = []

        def note_and_send(peer: Peer, good: bytes) -> None:
            sent.append(good)
            peer.send(good)

        objects.fault = note_and_send
        clocks.wait(61)
        count(function)

        assert sent == [b"HTTP/1.1 304 Not Modified\r\n\r\n"]

    def test_withdrawn_endpoint_is_gone_after_one_more_answer(
        self, function: Function, objects: Objects, clocks: Clocks
    ) -> None:
        before = count(function)
        del objects.bodies[KEY]
        clocks.wait(61)

        assert count(function) == before
        assert count(function) == 404
        assert troubles(function) == []

    def test_withdrawn_endpoint_is_gone_at_once_when_it_was_not_asked_for_in_a_while(
        self, function: Function, objects: Objects, clocks: Clocks
    ) -> None:
        count(function)
        del objects.bodies[KEY]
        clocks.wait(301)

        assert count(function) == 404

    def test_endpoint_that_was_missing_is_found_half_a_minute_after_it_is_there(
        self, function: Function, objects: Objects, clocks: Clocks, demo: Compiled
    ) -> None:
        del objects.bodies[KEY]
        assert count(function) == 404
        publish(objects, demo)
        clocks.wait(29)
        assert count(function) == 404
        clocks.wait(2)

        assert count(function) > 1

    def test_missing_index_is_loaded_once_it_is_there(
        self, function: Function, objects: Objects, demo: Compiled
    ) -> None:
        call = ("employee-lookup", "{ __schema { queryType { name } } }")
        index = objects.bodies.pop(index_key(demo.bundle.endpoint, demo.bundle.index))
        without = function.query(*call).result
        objects.write(index_key(demo.bundle.endpoint, demo.bundle.index), index)

        assert without["isError"] is True
        assert without["content"][0]["text"] == "The schema cannot be loaded at the moment. Try later."
        assert "isError" not in function.query(*call).result

    def test_bundle_that_is_swapped_between_two_requests_answers_each_with_one_version(
        self, function: Function, objects: Objects, clocks: Clocks, demo: Compiled
    ) -> None:
        whole = count(function)
        seen = []
        for turn in range(6):
            publish(objects, demo, tools=None if turn % 2 else 1)
            clocks.wait(301)
            seen.append(count(function))

        assert seen == [1, whole] * 3

    def test_first_request_to_each_of_many_endpoints_costs_one_question(
        self, function: Function, objects: Objects, demo: Compiled
    ) -> None:
        names = [f"many/e{number}" for number in range(30)]
        for name in names:
            objects.write(bundle_key(name), write_bundle(dataclasses.replace(demo.bundle, endpoint=name)))
        for name in (*names, *names):
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            assert function.post(body, path=f"/{name}/mcp").status == 200

        assert objects.requests == len(names)


class TestClocks:
    def test_time_in_which_the_process_was_frozen_counts(
        self, function: Function, objects: Objects, clocks: Clocks, demo: Compiled
    ) -> None:
        count(function)
        publish(objects, demo, tools=1)
        clocks.freeze(301)

        assert count(function) == 1

    def test_clock_that_is_set_forward_asks_too_early_and_once(
        self, function: Function, objects: Objects, clocks: Clocks
    ) -> None:
        count(function)
        clocks.set_wall(1e8)

        assert count(function) > 1
        assert count(function) > 1
        assert objects.requests == 2

    def test_clock_that_is_set_back_makes_nothing_young_again(
        self, function: Function, objects: Objects, clocks: Clocks, demo: Compiled
    ) -> None:
        count(function)
        publish(objects, demo, tools=1)
        clocks.set_wall(-1e8)
        clocks.wait(301)

        assert count(function) == 1
        clocks.wait(61)
        assert count(function) == 1
        assert objects.requests == 3

    def test_both_clocks_of_this_machine_go_forward(self) -> None:
        earlier = now()
        time.sleep(0.01)

        assert 0.01 <= now().age_s(earlier) < 60
        assert now().age_s(None) == float("inf")


def _slowly(peer: Peer, good: bytes) -> None:
    peer.send(good[:20])
    time.sleep(BESIDE_S + 0.5)
    peer.send(good[20:])


def _never(peer: Peer, good: bytes) -> None:
    peer.wait()


def _cut_off(peer: Peer, good: bytes) -> None:
    peer.send(good[:-10])
    raise ConnectionAbortedError  # which ends the connection


def _with_other_bytes(peer: Peer, good: bytes) -> None:
    peer.send(good.replace(b"customer-lookup", b"customer-looted"))


def _refused(status: str, code: str) -> Fault:
    return lambda peer, _: peer.send(refusal(status, code))


FAULTS = {
    "503": (_refused("503 Slow Down", "SlowDown"), "S3 answered SlowDown; try again later"),
    "403": (_refused("403 Forbidden", "AccessDenied"), "access denied: check that the role has s3:GetObject"),
    "credentials that expired": (
        _refused("400 Bad Request", "ExpiredToken"),
        "credentials were refused (ExpiredToken)",
    ),
    "slow": (_slowly, "no complete answer within"),
    "never": (_never, "no complete answer within"),
    "cut off": (_cut_off, "connection closed before the answer was complete"),
    "other bytes": (_with_other_bytes, "the content does not match the checksum it was stored with"),
}
BUNDLES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "half a bundle": (lambda raw: raw[: len(raw) // 2], "this is not a whole bundle"),
    "an unknown format": (
        lambda raw: raw.replace(b'"format_version":2', b'"format_version":99'),
        "format_version 99 is unknown",
    ),
    "another endpoint's": (
        lambda raw: write_bundle(dataclasses.replace(read_bundle(raw, endpoint=NAME), endpoint="api/orders")),
        "this is the bundle of api/orders, expected api/customers",
    ),
}


class TestFaults:
    @pytest.mark.parametrize("fault", FAULTS)
    def test_last_good_bundle_serves_the_log_says_it_once_a_refresh_and_it_recovers(
        self, function: Function, objects: Objects, clocks: Clocks, demo: Compiled, fault: str
    ) -> None:
        before = count(function)
        publish(objects, demo, tools=1)
        objects.fault, reason = FAULTS[fault]
        for refresh in (1, 2):
            clocks.wait(61)
            assert [count(function) for _ in range(3)] == [before] * 3
            assert len(troubles(function)) == refresh
            assert reason in troubles(function)[-1]
        objects.fault = None
        clocks.wait(61)
        count(function)

        assert count(function) == 1
        assert len(troubles(function)) == 2

    @pytest.mark.parametrize("damage", BUNDLES)
    def test_bad_bundle_never_replaces_a_good_one_and_the_next_good_one_does(
        self, function: Function, objects: Objects, clocks: Clocks, demo: Compiled, damage: str
    ) -> None:
        before = count(function)
        spoil, reason = BUNDLES[damage]
        publish(objects, demo, tools=1)
        objects.bodies[KEY] = spoil(objects.bodies[KEY])
        for _ in range(2):
            clocks.wait(301)
            assert [count(function), count(function)] == [before, before]
        assert [reason in line for line in troubles(function)] == [True, True]
        publish(objects, demo, tools=1)
        clocks.wait(301)

        assert count(function) == 1

    @pytest.mark.parametrize("fault", [name for name in FAULTS if name not in ("slow", "never")])
    def test_cold_endpoint_is_503_with_the_reason_in_the_log_and_served_when_the_fault_is_gone(
        self, function: Function, objects: Objects, fault: str
    ) -> None:
        objects.fault, reason = FAULTS[fault]
        assert count(function) == 503
        assert reason in troubles(function)[0]
        objects.fault = None

        assert count(function) > 1

    @pytest.mark.parametrize("damage", BUNDLES)
    def test_cold_endpoint_with_a_bad_bundle_is_503(
        self, function: Function, objects: Objects, demo: Compiled, damage: str
    ) -> None:
        spoil, reason = BUNDLES[damage]
        objects.bodies[KEY] = spoil(objects.bodies[KEY])
        assert count(function) == 503
        assert reason in troubles(function)[0]
        publish(objects, demo)

        assert count(function) > 1

    def test_slow_storage_has_longer_where_the_answer_needs_it(self, function: Function, objects: Objects) -> None:
        objects.fault = _slowly

        assert READ_TIMEOUT_S > BESIDE_S + 0.5
        assert count(function) > 1

    def test_silent_storage_holds_an_answer_back_for_a_second(
        self, function: Function, objects: Objects, clocks: Clocks
    ) -> None:
        count(function)
        objects.fault = _never
        clocks.wait(61)
        started = time.monotonic()
        count(function)

        assert BESIDE_S * 0.9 < time.monotonic() - started < READ_TIMEOUT_S
