"""The upgrade page, walked in both orders: a new format of bundles never ends in a function that serves nothing and
says nothing.
"""

from __future__ import annotations

import dataclasses
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from handler.bundle.stored import bundle_key, older_bundle_keys
from handler.commands.publishing.destination import FORMAT_TAG
from tests.commands.running import FILES, Stile
from tests.support.endpoints import write_endpoint
from tests.support.function import Function
from tests.support.moto import Moto
from tests.support.started import logged, started_function

NAME = "api/things"
(OLDER,) = older_bundle_keys(NAME)


@pytest.fixture
def location(workplace: Path, stile: Stile, moto: Moto, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A bucket to which the older release has published, of a stack of the older release."""
    bucket = f"upgrade-{uuid.uuid4().hex[:12]}"
    moto.add_bucket(bucket)
    for name, value in moto.environ().items():
        monkeypatch.setenv(name, value)
    write_endpoint(workplace / "endpoints", FILES)
    with moto.unchecked():
        s3 = moto.client("s3")
        s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
        s3.put_bucket_tagging(Bucket=bucket, Tagging={"TagSet": [{"Key": FORMAT_TAG, "Value": "1"}]})
        assert stile("publish", "endpoints", f"s3://{bucket}/endpoints").code == 0
        raw = s3.get_object(Bucket=bucket, Key=f"endpoints/{bundle_key(NAME)}")["Body"].read()
        s3.put_object(Bucket=bucket, Key=f"endpoints/{OLDER}", Body=raw.replace(b'_version":2', b'_version":1', 1))
        s3.delete_object(Bucket=bucket, Key=f"endpoints/{bundle_key(NAME)}")
        yield f"s3://{bucket}/endpoints"


@pytest.fixture(params=["", NAME], ids=["loaded at a request", "preloaded"])
def preload(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def state(function: Function) -> tuple[int, int]:
    """The status of a call, and then of the health."""
    call = dataclasses.replace(function, path=f"/{NAME}/mcp").request("tools/list")
    return call.status, function.send("GET", "/health").status


def deployed(location: str, preload: str) -> tuple[int, int]:
    with started_function(location, STILE_PRELOAD=preload, STILE_REFRESH_S="0", **_aws()) as function:
        return state(function)


def _aws() -> dict[str, str]:
    return {name: text for name, text in os.environ.items() if name.startswith("AWS_")}


def test_publish_then_deploy_serves_the_new_bundle(location: str, preload: str, stile: Stile) -> None:
    published = stile("publish", "endpoints", location)
    compared = stile("published", location)

    for done in (published, compared):
        assert done.code == 0
        assert "The deployed function reads bundles of format 1." in " ".join((done.out + done.err).split())
    assert deployed(location, preload) == (200, 200)


def test_deploy_then_publish_says_so_until_the_publish(
    location: str, preload: str, stile: Stile, capsys: pytest.CaptureFixture[str]
) -> None:
    with started_function(location, STILE_PRELOAD=preload, STILE_REFRESH_S="0", **_aws()) as function:
        assert state(function) == (404, 503)
        assert function.send("GET", "/health").json["otherFormats"] == [1]
        lines = logged(capsys)
        assert stile("publish", "endpoints", location).code == 0
        assert state(function) == (200, 200)

    warnings = [line for line in lines if line["level"] == "WARNING" and "endpoints_missing" in line]
    assert warnings
    assert all("bundles of format 1 are there" in line["reason"] for line in warnings)
    assert any(line.get("requested_endpoint") == NAME for line in lines)


def test_publish_to_another_prefix_then_deploy_says_so(location: str, preload: str, stile: Stile) -> None:
    assert stile("publish", "endpoints", f"{location}s").code == 0

    assert deployed(location, preload) == (404, 503)


def test_withdrawn_endpoint_does_not_come_back_with_a_function_of_this_release(
    location: str, preload: str, stile: Stile, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its older format lies there no more, and the mark says that nothing is missing."""
    write_endpoint(Path("endpoints"), FILES, name="api/others")
    assert stile("publish", "endpoints", location).code == 0
    assert stile("remove", f"{location}/{NAME}", "--yes").code == 0
    capsys.readouterr()

    with started_function(location, STILE_PRELOAD=preload, **_aws()) as function:
        assert state(function) == (404, 200)
    assert [line for line in logged(capsys) if "endpoints_missing" in line] == []
