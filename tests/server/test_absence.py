"""Endpoints that are not there: the function says so, and which formats lie in their place, by names of keys alone."""

from __future__ import annotations

import dataclasses
import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

import pytest

from handler.bundle.stored import bundle_key, index_key, older_bundle_keys, withdrawal_key, write_bundle
from handler.compiler.compile import Compiled
from handler.http.client import HttpClient
from handler.server.endpoints.absence import Absence, find_absence
from handler.server.endpoints.registry import CachePolicy
from handler.storage.local import FolderStorage
from handler.storage.location import open_storage
from tests.server.endpoints.test_freshness import Clocks
from tests.server.test_health import denied
from tests.support.bucket import PREFIX, role_statements
from tests.support.emf import metrics_in
from tests.support.function import Function, running_function
from tests.support.moto import Moto
from tests.support.objects import Objects, running_objects
from tests.support.started import logged, started_function

NAME, OTHER = "api/customers", "api/orders"
(OLDER,) = older_bundle_keys(NAME)


@dataclasses.dataclass(frozen=True)
class Bucket:
    """A bucket in moto, and the environment of the role that the template gives the function."""

    moto: Moto
    name: str
    role: Mapping[str, str]

    @property
    def location(self) -> str:
        return f"s3://{self.name}/{PREFIX}"

    def write(self, key: str, body: bytes = b"") -> None:
        with self.moto.unchecked():
            self.moto.client("s3").put_object(Bucket=self.name, Key=f"{PREFIX}/{key}", Body=body)

    def remove(self, key: str) -> None:
        with self.moto.unchecked():
            self.moto.client("s3").delete_object(Bucket=self.name, Key=f"{PREFIX}/{key}")


@pytest.fixture
def bucket(moto: Moto) -> Bucket:
    name = f"absence-{uuid.uuid4().hex[:12]}"
    moto.add_bucket(name)
    return Bucket(moto, name, moto.add_user("function", *role_statements(name)))


@pytest.fixture
def bundle(served_demo: Compiled) -> bytes:
    return write_bundle(served_demo.bundle)


def of(demo: Compiled, name: str) -> bytes:
    return write_bundle(dataclasses.replace(demo.bundle, endpoint=name))


def started(location: str, **environ: str) -> AbstractContextManager[Function]:
    return started_function(location, STILE_ALLOW_LOCAL_UPSTREAMS="true", **environ)


def call(function: Function, name: str = NAME) -> int:
    return dataclasses.replace(function, path=f"/{name}/mcp").request("tools/list").status


def health(function: Function) -> tuple[int, dict[str, Any]]:
    answer = function.send("GET", "/health")
    return answer.status, {name: answer.json.get(name) for name in ("status", "endpoints", "failing", "otherFormats")}


def missing(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines on endpoints that are missing, each of which is a valid line of metrics."""
    found = [line for line in lines if line["message"] in ("endpoint missing", "no endpoint")]
    for line in found:
        assert line["level"] == "WARNING"
        assert line["endpoints_missing"] == 1
        assert [name for name, _ in metrics_in(json.dumps(line))] == ["endpoints_missing"]
    return found


class TestFunctionBeforeItsBundles:
    """The upgrade in the other order: the bucket has the format before, and a function of this release runs."""

    def test_calls_and_health_name_the_format_that_lies_there(
        self, bucket: Bucket, capsys: pytest.CaptureFixture[str]
    ) -> None:
        bucket.write(OLDER, b"never read")
        with started(bucket.location, **bucket.role) as function:
            assert call(function) == 404
            status, report = health(function)

        assert (status, report["status"], report["otherFormats"]) == (503, "not_ready", [1])
        lines = logged(capsys)
        (line,) = missing(lines)
        assert "format 2" in line["reason"]
        assert "format 1" in line["reason"]
        (request,) = [each for each in lines if each.get("route") == "mcp"]
        assert (request["requested_endpoint"], request.get("endpoint")) == (NAME, None)
        (asked,) = [each for each in lines if each.get("route") == "health"]
        assert (asked["level"], asked["reason"].partition(":")[0]) == ("WARNING", "NotReady")

    def test_preloaded_endpoint_is_named(self, bucket: Bucket, capsys: pytest.CaptureFixture[str]) -> None:
        bucket.write(OLDER, b"never read")
        with started(bucket.location, STILE_PRELOAD=NAME, **bucket.role) as function:
            assert health(function) == (
                503,
                {"status": "not_ready", "endpoints": 0, "failing": 1, "otherFormats": [1]},
            )

        (line,) = missing(logged(capsys))
        assert line["endpoint"] == NAME
        assert "format 1" in line["reason"]

    def test_publish_ends_it_without_a_restart(self, bucket: Bucket, bundle: bytes) -> None:
        bucket.write(OLDER, b"never read")
        with started(bucket.location, STILE_PRELOAD=NAME, STILE_REFRESH_S="0", **bucket.role) as function:
            assert call(function) == 404
            bucket.write(bundle_key(NAME), bundle)

            assert call(function) == 200
            assert health(function) == (
                200,
                {"status": "ok", "endpoints": 1, "failing": 0, "otherFormats": None},
            )


class TestPreloadedEndpoint:
    def test_beside_another_that_serves_it_is_degraded(
        self, bucket: Bucket, served_demo: Compiled, capsys: pytest.CaptureFixture[str]
    ) -> None:
        bucket.write(bundle_key(OTHER), of(served_demo, OTHER))
        with started(bucket.location, STILE_PRELOAD=f"{NAME},{OTHER}", **bucket.role) as function:
            status, report = health(function)

        assert (status, report["status"], report["endpoints"], report["failing"]) == (200, "degraded", 1, 1)
        assert [line["endpoint"] for line in missing(logged(capsys))] == [NAME]

    def test_alone_it_is_not_ready(self, bucket: Bucket) -> None:
        with started(bucket.location, STILE_PRELOAD=NAME, **bucket.role) as function:
            assert health(function)[0] == 503

    def test_after_stile_remove_it_is_not_missing(
        self, bucket: Bucket, served_demo: Compiled, capsys: pytest.CaptureFixture[str]
    ) -> None:
        bucket.write(bundle_key(OTHER), of(served_demo, OTHER))
        bucket.write(withdrawal_key(NAME), b"\xff" * 100)
        with started(bucket.location, STILE_PRELOAD=f"{NAME},{OTHER}", **bucket.role) as function:
            status, report = health(function)
            assert call(function) == 404

        assert (status, report["status"], report["failing"]) == (200, "ok", 0)
        assert missing(logged(capsys)) == []

    def test_mark_beside_a_bundle_changes_nothing(self, bucket: Bucket, bundle: bytes) -> None:
        bucket.write(bundle_key(NAME), bundle)
        bucket.write(withdrawal_key(NAME), b"}{")
        with started(bucket.location, STILE_PRELOAD=NAME, **bucket.role) as function:
            assert call(function) == 200

    def test_mark_of_another_endpoint_does_not_count(self, bucket: Bucket, capsys: pytest.CaptureFixture[str]) -> None:
        bucket.write(withdrawal_key(f"{NAME}s"))
        bucket.write(f"{NAME}/withdrawn/more")
        with started(bucket.location, STILE_PRELOAD=NAME, **bucket.role) as function:
            assert health(function)[0] == 503
        assert len(missing(logged(capsys))) == 1


class TestServedEndpoint:
    def test_that_is_gone_is_named_once(
        self, bucket: Bucket, served_demo: Compiled, bundle: bytes, capsys: pytest.CaptureFixture[str]
    ) -> None:
        bucket.write(bundle_key(NAME), bundle)
        bucket.write(bundle_key(OTHER), of(served_demo, OTHER))
        with started(bucket.location, STILE_REFRESH_S="0", STILE_MAX_STALE_S="0", **bucket.role) as function:
            assert (call(function), call(function, OTHER)) == (200, 200)
            bucket.remove(bundle_key(NAME))
            assert [call(function) for _ in range(3)] == [404, 404, 404]
            assert call(function, OTHER) == 200

        assert [line["endpoint"] for line in missing(logged(capsys))] == [NAME]

    def test_that_is_withdrawn_is_not_missing(
        self, bucket: Bucket, served_demo: Compiled, bundle: bytes, capsys: pytest.CaptureFixture[str]
    ) -> None:
        bucket.write(bundle_key(NAME), bundle)
        bucket.write(bundle_key(OTHER), of(served_demo, OTHER))
        with started(bucket.location, STILE_REFRESH_S="0", STILE_MAX_STALE_S="0", **bucket.role) as function:
            assert (call(function), call(function, OTHER)) == (200, 200)
            bucket.write(withdrawal_key(NAME))
            bucket.remove(bundle_key(NAME))
            assert call(function) == 404

        assert missing(logged(capsys)) == []


class TestNothingPublished:
    def test_empty_location_is_degraded_and_rings(self, bucket: Bucket, capsys: pytest.CaptureFixture[str]) -> None:
        with started(bucket.location, **bucket.role) as function:
            assert call(function) == 404
            assert health(function) == (
                200,
                {"status": "degraded", "endpoints": 0, "failing": 0, "otherFormats": None},
            )
        (line,) = missing(logged(capsys))
        assert "endpoint" not in line

    def test_other_prefix_does_not_count(self, bucket: Bucket, bundle: bytes) -> None:
        with bucket.moto.unchecked():
            bucket.moto.client("s3").put_object(Bucket=bucket.name, Key=f"other/{bundle_key(NAME)}", Body=bundle)
        with started(bucket.location, **bucket.role) as function:
            assert health(function)[1]["status"] == "degraded"

    def test_unknown_name_beside_published_ones_rings_nothing(
        self, bucket: Bucket, bundle: bytes, capsys: pytest.CaptureFixture[str]
    ) -> None:
        bucket.write(bundle_key(NAME), bundle)
        with started(bucket.location, **bucket.role) as function:
            assert call(function, "wp/admin") == 404
            assert health(function)[1]["status"] == "ok"
        assert missing(logged(capsys)) == []


@pytest.fixture
def objects() -> Iterator[Objects]:
    with running_objects() as running:
        yield running


def targets(objects: Objects) -> list[str]:
    assert objects.server
    return [request.split(b" ", 2)[1].decode() for request in objects.server.requests]


def test_served_endpoint_costs_no_list(objects: Objects, served_demo: Compiled, bundle: bytes) -> None:
    objects.write(bundle_key(NAME), bundle)
    objects.write(index_key(NAME, served_demo.bundle.index), served_demo.index)
    http = HttpClient()
    with running_function(storage=objects.storage(http), keeping=CachePolicy(refresh_s=0)) as function:
        for name in (NAME, NAME, OTHER, "made/up"):
            call(function, name)
        function.send("GET", "/health")
    http.close()

    assert [target for target in targets(objects) if "list-type" in target] == []


def test_objects_of_other_formats_are_never_read(objects: Objects) -> None:
    for number in (1, 3):
        objects.write(f"{NAME}/bundle.v{number}.json", b"{}")
    http = HttpClient()
    with running_function(storage=objects.storage(http)) as function:
        for name in (NAME, OTHER, "made/up"):
            call(function, name)
        assert health(function)[1]["otherFormats"] == [1, 3]
    http.close()

    asked = targets(objects)
    assert [target for target in asked if "v1" in target or "v3" in target] == []
    assert len([target for target in asked if "list-type" in target]) == 1


def test_names_are_listed_once_a_refresh_however_many_names_are_made_up(objects: Objects) -> None:
    http, clocks = HttpClient(), Clocks()
    with running_function(storage=objects.storage(http), keeping=CachePolicy(refresh_s=60), instants=clocks) as running:
        for number in range(20):
            call(running, f"made/up{number}")
            clocks.wait(4)
    http.close()

    assert len([target for target in targets(objects) if "list-type" in target]) == 2


def test_health_without_leave_to_list_is_not_ready(objects: Objects) -> None:
    http = HttpClient()

    def no_list(peer: Any, good: bytes) -> None:
        denied(peer, good) if b"ListBucketResult" in good else peer.send(good)

    objects.fault = no_list
    with running_function(storage=objects.storage(http)) as function:
        answer = function.send("GET", "/health")
        assert call(function) == 404
        assert "s3:ListBucket" in function.lines[0]["reason"]
    http.close()
    assert (answer.status, answer.json["status"]) == (503, "not_ready")


@pytest.mark.parametrize(
    ("keys", "absence"),
    [
        ([], Absence()),
        (
            ["bundle.v1.json", "bundle.v3.json"],
            Absence(
                formats=(
                    3,
                    1,
                )
            ),
        ),
        (["bundle.v1.json", "withdrawn"], Absence(formats=(1,), is_withdrawn=True)),
        ([f"bundle.v{number}.json" for number in range(3, 30)], Absence(formats=tuple(range(29, 19, -1)))),
        (["bundle.v01.json", "bundle.v99999.json", "bundle.vx.json", "bundle.v1.json.bak", "Withdrawn"], Absence()),
        ([".index/bundle.v1.json"], Absence()),
    ],
)
def test_names_of_keys_are_read_as_they_are(tmp_path: Any, bucket: Bucket, keys: list[str], absence: Absence) -> None:
    http = HttpClient()
    for key in keys:
        (tmp_path / NAME / key).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / NAME / key).write_bytes(b"x")
        bucket.write(f"{NAME}/{key}", b"x")
    in_s3 = open_storage(bucket.location, http=http, environ=bucket.role)
    for storage in (FolderStorage(tmp_path), in_s3):
        assert find_absence(storage, NAME, timeout_s=5) == absence
        assert find_absence(storage, OTHER, timeout_s=5) == Absence()
        assert find_absence(storage, timeout_s=5) == dataclasses.replace(absence, is_withdrawn=False)
    http.close()


@pytest.mark.parametrize(
    ("path", "logged_name"),
    [
        ("/api/nowhere/mcp", "api/nowhere"),
        ("/a%0ab/c%1b/mcp", "a\nb/c\x1b"),
        ("/%E2%80%AEx/y/mcp", "\\u202ex/y"),
        ("/" + "n" * 5_000 + "/y/mcp", "n" * 200),
    ],
)
def test_requested_name_is_bounded_ascii_and_no_dimension(
    tmp_path: Any, capsys: pytest.CaptureFixture[str], path: str, logged_name: str
) -> None:
    with started(str(tmp_path), AWS_LAMBDA_FUNCTION_VERSION="7", STILE_METRICS="on") as function:
        assert dataclasses.replace(function, path=path).request("tools/list").status == 404

    (line,) = [each for each in logged(capsys) if each["message"] == "request"]
    assert line["requested_endpoint"] == logged_name
    assert line["requests_unserved"] == 1
    assert "requested_endpoint" not in json.dumps(line["_aws"])


def test_release_counts_its_requests_by_version(
    tmp_path: Any, served_demo: Compiled, bundle: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / bundle_key(NAME)
    file.parent.mkdir(parents=True)
    file.write_bytes(bundle)
    with started(str(tmp_path), AWS_LAMBDA_FUNCTION_VERSION="7") as function:
        assert (call(function), call(function, OTHER)) == (200, 404)
        function.send("GET", f"/{OTHER}")  # as scanners do
    lines = [each for each in logged(capsys) if each["message"] == "request"]

    assert [line.get("requests_unserved") for line in lines] == [0, 1, None]
    counted = metrics_in(json.dumps(lines[0]))
    assert [[name for name, _ in place] for metric, place in counted if metric == "requests_unserved"] == [
        ["function"],
        ["function", "version"],
    ]


def test_many_schemas_and_older_bundles_do_not_hide_one_that_can_be_served(bucket: Bucket) -> None:
    with bucket.moto.unchecked():
        s3 = bucket.moto.client("s3")
        for number in range(1_050):
            s3.put_object(Bucket=bucket.name, Key=f"{PREFIX}/{NAME}/.index/{number:064}", Body=b"")
            s3.put_object(Bucket=bucket.name, Key=f"{PREFIX}/b/e{number:04}/bundle.v1.json", Body=b"")
    http = HttpClient()
    storage = open_storage(bucket.location, http=http, environ=bucket.role)

    assert find_absence(storage, timeout_s=5) == Absence(formats=(1,))
    bucket.write(f"{OTHER}z/bundle.v2.json", b"x")
    assert find_absence(storage, timeout_s=5).serves
    bucket.remove(f"{OTHER}z/bundle.v2.json")
    bucket.write("z/z/bundle.v2.json", b"x")
    assert find_absence(storage, timeout_s=5).serves
    http.close()
