"""The health of the function, through its events, over buckets on loopback."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

from handler.bundle.stored import bundle_key, index_key, write_bundle
from handler.compiler.compile import Compiled
from handler.http.client import HttpClient
from handler.server.asgi.request_log import WARNING, level_of
from handler.server.endpoints.registry import DOUBTFUL_S, MAX_DOUBTFUL, CachePolicy, Endpoints
from handler.server.health import Health
from handler.storage.local import FolderStorage
from tests.server.endpoints.test_freshness import Clocks
from tests.support.bucket import BundleBucket
from tests.support.function import Function, running_function
from tests.support.moto import Moto
from tests.support.objects import Fault, Objects, refusal, running_objects
from tests.support.raw_http import Peer
from tests.support.started import errors, logged, started_function

NAMES = ("api/customers", "api/orders")
KEEPING = CachePolicy(refresh_s=60, max_stale_s=300)


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
def objects(demo: Compiled) -> Iterator[Objects]:
    """A bucket with two endpoints."""
    with running_objects() as running:
        running.write(index_key(demo.bundle.endpoint, demo.bundle.index), demo.index)
        for name in NAMES:
            running.write(bundle_key(name), bundle_of(demo, name))
        yield running


@pytest.fixture
def function(objects: Objects, clocks: Clocks) -> Iterator[Function]:
    http = HttpClient()
    with running_function(storage=objects.storage(http), keeping=KEEPING, instants=clocks) as running:
        yield running
    http.close()


def bundle_of(demo: Compiled, name: str) -> bytes:
    return write_bundle(dataclasses.replace(demo.bundle, endpoint=name))


def listed(function: Function, name: str) -> int:
    return dataclasses.replace(function, path=f"/{name}/mcp").request("tools/list").status


def health(function: Function) -> tuple[int, str, int, int, int]:
    """The status, in both forms, and how many endpoints serve, fail and lack."""
    answer = function.send("GET", "/health")
    told: dict[str, Any] = answer.json
    assert list(told) == ["status", "endpoints", "failing", "lacking", "oldestCheckS"]
    assert b"api" not in answer.body
    return answer.status, told["status"], told["endpoints"], told["failing"], told["lacking"]


def denied(peer: Peer, _: bytes) -> None:
    peer.send(refusal("403 Forbidden", "AccessDenied"))


def slowed(peer: Peer, _: bytes) -> None:
    peer.send(refusal("503 Slow Down", "SlowDown"))


def key_too_long(peer: Peer, _: bytes) -> None:
    peer.send(refusal("400 Bad Request", "KeyTooLongError"))


def cut_off(peer: Peer, good: bytes) -> None:
    peer.send(good[:-5])
    raise ConnectionAbortedError


FAULTS: dict[str, Fault] = {"denied": denied, "slowed": slowed, "cut off": cut_off}


class TestNothingHeld:
    def test_storage_with_endpoints_is_ok_and_one_with_nothing_in_it_degraded(
        self, function: Function, objects: Objects, clocks: Clocks
    ) -> None:
        assert health(function) == (200, "ok", 0, 0, 0)
        objects.bodies.clear()
        clocks.wait(61)

        assert health(function) == (200, "degraded", 0, 0, 0)
        assert objects.requests == 4

    @pytest.mark.parametrize("fault", FAULTS)
    def test_storage_that_cannot_be_read_is_not_ready(
        self, function: Function, objects: Objects, clocks: Clocks, fault: str
    ) -> None:
        objects.fault = FAULTS[fault]

        assert health(function) == (503, "not_ready", 0, 0, 0)
        assert function.lines[-1]["reason"].startswith("NotReady: s3://stile-bundles/endpoints: ")
        assert level_of(function.lines[-1]) == WARNING
        objects.fault = None
        assert health(function)[1] == "not_ready"
        clocks.wait(61)
        assert health(function) == (200, "ok", 0, 0, 0)

    def test_storage_is_asked_once_a_refresh_however_often_somebody_asks(
        self, function: Function, objects: Objects, clocks: Clocks
    ) -> None:
        for refresh in (1, 2, 3):
            for _ in range(10):
                health(function)
                function.send("HEAD", "/health")
                function.send("GET", "/health/live")
            assert objects.requests == 2 * refresh
            clocks.wait(61)

    def test_requests_at_one_time_share_one_question(self, objects: Objects, clocks: Clocks) -> None:
        http = HttpClient()
        objects.fault = denied

        async def reports() -> list[str]:
            endpoints = Endpoints(objects.storage(http), on_trouble=lambda *_: None, clock=clocks)
            judged = Health(endpoints)
            return [report.status for report in await asyncio.gather(*(judged.report() for _ in range(5)))]

        assert asyncio.run(reports()) == ["not_ready"] * 5
        assert objects.requests == 1
        http.close()

    def test_request_for_an_endpoint_makes_it_ready(self, function: Function, objects: Objects) -> None:
        objects.fault = denied
        assert health(function)[1] == "not_ready"
        objects.fault = None
        assert listed(function, NAMES[0]) == 200

        assert health(function) == (200, "ok", 1, 0, 0)


class TestFailing:
    def test_one_broken_bundle_beside_one_that_serves_is_degraded(self, function: Function, objects: Objects) -> None:
        objects.write(bundle_key(NAMES[1]), b"{}")
        assert [listed(function, name) for name in NAMES] == [200, 503]

        assert health(function) == (200, "degraded", 1, 1, 0)

    def test_only_broken_bundles_are_not_ready(self, function: Function, objects: Objects) -> None:
        for name in NAMES:
            objects.write(bundle_key(name), b"{}")
            listed(function, name)

        assert health(function) == (503, "not_ready", 0, 2, 0)
        assert function.lines[-1]["reason"] == "NotReady: no endpoint can be loaded"

    def test_broken_bundle_counts_until_it_is_whole_again_without_a_request_for_it(
        self, function: Function, objects: Objects, clocks: Clocks, demo: Compiled
    ) -> None:
        objects.write(bundle_key(NAMES[1]), b"{}")
        for name in NAMES:
            listed(function, name)
        for _ in range(20):
            clocks.wait(61)
            assert health(function)[1] == "degraded"
        objects.write(bundle_key(NAMES[1]), bundle_of(demo, NAMES[1]))
        clocks.wait(61)

        assert health(function) == (200, "ok", 2, 0, 0)

    def test_broken_bundle_leaves_the_count_with_a_request_for_it(
        self, function: Function, objects: Objects, demo: Compiled
    ) -> None:
        objects.write(bundle_key(NAMES[1]), b"{}")
        for name in NAMES:
            listed(function, name)
        objects.write(bundle_key(NAMES[1]), bundle_of(demo, NAMES[1]))
        assert listed(function, NAMES[1]) == 200

        assert health(function) == (200, "ok", 2, 0, 0)

    @pytest.mark.parametrize("fault", FAULTS)
    def test_last_good_bundle_counts_as_serving_and_as_failing(
        self, function: Function, objects: Objects, clocks: Clocks, fault: str
    ) -> None:
        listed(function, NAMES[0])
        objects.fault = FAULTS[fault]
        clocks.wait(61)

        assert health(function) == (200, "degraded", 1, 1, 0)
        assert listed(function, NAMES[0]) == 200
        objects.fault = None
        clocks.wait(61)
        assert health(function) == (200, "ok", 1, 0, 0)

    def test_last_good_bundle_over_a_broken_one_counts_likewise(
        self, function: Function, objects: Objects, clocks: Clocks
    ) -> None:
        listed(function, NAMES[0])
        objects.write(bundle_key(NAMES[0]), b"{}")
        clocks.wait(61)
        listed(function, NAMES[0])

        assert health(function) == (200, "degraded", 1, 1, 0)

    @pytest.mark.parametrize("index", [None, b"{}"], ids=["missing", "damaged"])
    def test_schema_that_cannot_be_loaded_counts_and_is_logged_until_it_can_be(
        self, function: Function, objects: Objects, clocks: Clocks, index: bytes | None
    ) -> None:
        (key,) = (key for key in objects.bodies if "/.index/" in key)
        good = objects.bodies.pop(key)
        if index is not None:
            objects.write(key, index)
        listed(function, NAMES[0])
        assert health(function) == (200, "ok", 1, 0, 0)

        for _ in range(3):
            assert function.query("employee-lookup", "{ __typename }").result["isError"]
        assert health(function) == (200, "degraded", 1, 1, 0)
        assert [line["trouble"] for line in function.lines if "trouble" in line] == [NAMES[0]]

        clocks.wait(61)
        assert health(function) == (200, "degraded", 1, 1, 0)
        objects.write(key, good)
        clocks.wait(61)
        assert health(function) == (200, "ok", 1, 0, 0)

    def test_health_alone_notices_a_storage_that_fails_later(
        self, function: Function, objects: Objects, clocks: Clocks
    ) -> None:
        for name in NAMES:
            listed(function, name)
        objects.forget_requests()
        clocks.wait(61)
        objects.fault = denied

        assert [health(function)[1] for _ in range(3)] == ["degraded"] * 3
        assert objects.requests == 1


class TestNames:
    def test_names_that_do_not_exist_do_not_count(self, function: Function, objects: Objects) -> None:
        listed(function, NAMES[0])
        for number in range(5):
            assert listed(function, f"api/none{number}") == 404

        assert health(function) == (200, "ok", 1, 0, 0)

    def test_name_that_no_object_can_have_does_not_count(self, function: Function, objects: Objects) -> None:
        """S3 answers 400 for a key of more than 1,024 bytes, and anybody can send such a path."""
        objects.fault = key_too_long

        assert [listed(function, f"{'a' * chars}/b") for chars in (1_100, 5_000)] == [404, 404]
        assert objects.requests == 1  # for the names of all endpoints, because none is held

        objects.fault = None
        assert listed(function, f"{'a' * 900}/b") == 404
        assert health(function) == (200, "ok", 0, 0, 0)

    def test_removed_endpoint_leaves_the_count(self, function: Function, objects: Objects, clocks: Clocks) -> None:
        for name in NAMES:
            listed(function, name)
        del objects.bodies[bundle_key(NAMES[0])]
        clocks.wait(61)

        assert health(function) == (200, "ok", 1, 0, 0)
        del objects.bodies[bundle_key(NAMES[1])]
        clocks.wait(61)
        assert health(function) == (200, "ok", 0, 0, 0)

    def test_broken_endpoint_that_is_removed_leaves_the_count(
        self, function: Function, objects: Objects, clocks: Clocks
    ) -> None:
        objects.write(bundle_key(NAMES[1]), b"{}")
        for name in NAMES:
            listed(function, name)
        del objects.bodies[bundle_key(NAMES[1])]
        clocks.wait(61)

        assert health(function) == (200, "ok", 1, 0, 0)

    def test_names_that_storage_said_nothing_of_are_bounded_and_forgotten(
        self, function: Function, objects: Objects, clocks: Clocks
    ) -> None:
        objects.write(bundle_key(NAMES[1]), b"{}")
        for name in NAMES:
            listed(function, name)
        objects.fault = slowed
        for number in range(MAX_DOUBTFUL + 20):
            assert listed(function, f"api/any{number}") == 503
        assert health(function) == (200, "degraded", 1, MAX_DOUBTFUL, 0)
        objects.fault = None
        clocks.wait(DOUBTFUL_S + 1)

        assert health(function) == (200, "degraded", 1, 1, 0)


def test_process_that_starts_from_a_snapshot_is_not_ready_until_storage_answers(
    objects: Objects, clocks: Clocks
) -> None:
    http = HttpClient()
    endpoints = Endpoints(objects.storage(http), on_trouble=lambda *_: None, clock=clocks)
    endpoints.load(NAMES[0])
    endpoints.doubt()
    objects.fault = denied
    report = asyncio.run(Health(endpoints).report())

    assert (report.status, report.counts["endpoints"], report.counts["failing"]) == ("not_ready", 0, 1)
    http.close()


class TestPreload:
    def test_endpoint_whose_preload_failed_is_known_from_the_start(
        self, objects: Objects, capsys: pytest.CaptureFixture[str]
    ) -> None:
        objects.fault = denied
        environ = {**objects.environ(), "STILE_REFRESH_S": "0", "STILE_ALLOW_LOCAL_UPSTREAMS": "true"}
        environ["STILE_PRELOAD"] = ",".join(NAMES)
        with started_function(objects.location, **environ) as function:
            assert [endpoint for _, endpoint, _ in errors(capsys)] == [*NAMES]
            assert health(function) == (503, "not_ready", 0, 2, 0)
            line = logged(capsys)[-1]
            objects.fault = None
            assert health(function) == (200, "degraded", 1, 1, 0)
            assert health(function) == (200, "ok", 2, 0, 0)

        assert (line["route"], line["outcome"], line["status"], line["level"]) == (
            "health",
            "not_ready",
            503,
            "WARNING",
        )

    def test_preloaded_endpoint_that_fails_counts_for_as_long_as_it_does(
        self, objects: Objects, clocks: Clocks
    ) -> None:
        objects.fault = denied
        http = HttpClient()
        endpoints = Endpoints(objects.storage(http), on_trouble=lambda *_: None, clock=clocks)
        with pytest.raises(Exception, match="access denied"):
            endpoints.load(NAMES[0])
        clocks.wait(DOUBTFUL_S + 1)

        assert [known.name for known in endpoints.known] == [NAMES[0]]
        http.close()

    def test_preloaded_endpoint_that_is_not_published_counts_as_failing(self, objects: Objects) -> None:
        environ = {**objects.environ(), "STILE_PRELOAD": "api/none"}
        with started_function(objects.location, **environ) as function:
            assert health(function) == (503, "not_ready", 0, 1, 0)


class TestForms:
    def test_head_is_answered_without_a_body(self, function: Function, objects: Objects) -> None:
        for path in ("/health", "/health/live"):
            answer = function.send("HEAD", path)
            assert (answer.status, answer.body) == (200, b"")
            assert answer.headers["content-type"] == "application/json"
            assert "content-length" not in answer.headers
        objects.fault = denied

        with started_function(objects.location, **objects.environ()) as fresh:
            assert (fresh.send("HEAD", "/health").status, fresh.send("HEAD", "/health").body) == (503, b"")

    @pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
    @pytest.mark.parametrize("path", ["/health", "/health/live"])
    def test_other_methods_are_405(self, function: Function, objects: Objects, method: str, path: str) -> None:
        assert function.send(method, path).status == 405
        assert objects.requests == 0

    def test_process_that_answers_is_live_whatever_storage_does(self, function: Function, objects: Objects) -> None:
        objects.fault = denied
        answer = function.send("GET", "/health/live")

        assert (answer.status, answer.json) == (200, {"status": "ok"})
        assert objects.requests == 0
        assert (function.lines[-1]["route"], function.lines[-1]["outcome"]) == ("health", "ok")

    def test_oldest_check_is_that_of_the_endpoint_that_storage_confirmed_first(
        self, function: Function, objects: Objects, clocks: Clocks
    ) -> None:
        listed(function, NAMES[0])
        clocks.wait(30)
        listed(function, NAMES[1])
        assert function.send("GET", "/health").json["oldestCheckS"] == 30
        clocks.wait(31)

        assert function.send("GET", "/health").json["oldestCheckS"] == 31


class TestAws:
    def test_role_without_get_object_is_not_ready_before_and_after_a_request(
        self, moto: Moto, bucket: BundleBucket
    ) -> None:
        nobody = moto.add_user("without-get-object", {"Action": ["s3:ListBucket"], "Resource": "*"})
        for preload in ("", NAMES[0]):
            with started_function(bucket.location, **nobody, STILE_PRELOAD=preload) as function:
                assert health(function)[:3] == (503, "not_ready", 0)
                assert listed(function, NAMES[0]) == 503
                assert health(function) == (503, "not_ready", 0, 1, 0)

    def test_role_of_the_template_is_ready_before_and_after_a_request(self, bucket: BundleBucket) -> None:
        with started_function(bucket.location, **bucket.role, STILE_ALLOW_LOCAL_UPSTREAMS="true") as function:
            assert health(function) == (200, "ok", 0, 0, 0)
            assert listed(function, NAMES[0]) == 200
            assert health(function) == (200, "ok", 1, 0, 0)

    def test_bucket_that_is_gone_is_not_ready(self, bucket: BundleBucket) -> None:
        with started_function("s3://stile-gone/endpoints", **bucket.writer) as function:
            assert health(function) == (503, "not_ready", 0, 0, 0)

    def test_name_that_no_file_can_have_does_not_count(self, folder_storage: FolderStorage) -> None:
        with running_function(storage=folder_storage) as function:
            assert listed(function, f"{'a' * 300}/b") == 404
            assert health(function) == (200, "degraded", 0, 0, 0)

    def test_folder_that_is_gone_is_not_ready_and_an_empty_one_is_degraded(self, folder_storage: FolderStorage) -> None:
        with started_function(folder_storage.location) as function:
            assert health(function) == (200, "degraded", 0, 0, 0)
        with started_function(f"{folder_storage.location}/gone") as function:
            assert health(function) == (503, "not_ready", 0, 0, 0)
