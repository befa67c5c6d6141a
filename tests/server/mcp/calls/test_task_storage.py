"""The life of a job stores nothing: bucket and folders have the same objects before and after it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from handler.http.client import HttpClient
from handler.storage.local import FolderStorage
from handler.storage.location import open_publish_storage
from tests.support.bucket import NAME, PREFIX, role_statements
from tests.support.endpoints import compiled
from tests.support.function import store
from tests.support.jobs import KEY, Jobs, Site, files_of, running_jobs
from tests.support.local import LOCAL
from tests.support.moto import Moto
from tests.support.started import started_function

ENVIRON = {"STILE_STATE_KEY": KEY, "STILE_ALLOW_LOCAL_UPSTREAMS": "true"}


def _live(location: str, jobs: Jobs, environ: Mapping[str, str]) -> None:
    """Start jobs, ask about them until they end, cancel and update some, and ask with ids that are not valid."""
    with started_function(location, **ENVIRON, **environ) as function:
        site = Site(function, jobs, [])
        for number, end in enumerate(("SUCCESS", "FAILED", "CANCELED", "SUCCESS")):
            jobs.first_id = f"job-{number}"
            task_id = site.start()
            assert site.get(task_id).result["status"] == "working"
            assert site.get(f"{task_id}x").json["error"]["code"] == -32602
            for method in ("tasks/update", "tasks/cancel"):
                assert site.ask(method, {"taskId": task_id}).result["resultType"] == "complete"
            jobs.status[jobs.first_id] = end
            ended = site.get(task_id).result["status"]
            assert ended == ("cancelled" if end == "CANCELED" else "completed")
        without = site.call(capabilities={}).result["structuredContent"]["extensions"]["task"]
        site.call("export_status", {"taskId": without["taskId"]}, capabilities={})


def _files(*folders: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for folder in folders for file in folder.rglob("*") if file.is_file()}


def _objects(moto: Moto) -> dict[str, str]:
    """Object of any bucket -> a digest of its content and the time of its last change."""
    with moto.unchecked():
        s3 = moto.client("s3")
        return {
            f"{bucket['Name']}/{found['Key']}": f"{found['ETag']} {found['LastModified']}"
            for bucket in s3.list_buckets()["Buckets"]
            for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket["Name"])
            for found in page.get("Contents", [])
        }


@pytest.fixture
def places(tmp_path: Path, workplace: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that a process writes to: the current one, the home, and the one for temporary files."""
    folders = [workplace]
    for name in ("HOME", "TMPDIR"):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.setenv(name, str(folder))
        folders.append(folder)
    monkeypatch.setattr("tempfile.tempdir", None)
    return folders


def test_job_stores_nothing_in_folders(places: list[Path], tmp_path: Path) -> None:
    bundles = tmp_path / "bundles"
    with running_jobs() as jobs:
        store(FolderStorage(bundles), compiled(tmp_path / "made", files_of(jobs.api.url, cancel='"Cancel"')))
        before = _files(bundles, *places)
        assert before
        _live(str(bundles), jobs, {})

        assert _files(bundles, *places) == before


def test_job_stores_nothing_in_a_bucket_and_needs_no_right_to(moto: Moto, places: list[Path], tmp_path: Path) -> None:
    name = f"{NAME}-of-tasks"
    location = f"s3://{name}/{PREFIX}"
    moto.add_bucket(name)
    writer = moto.add_user(
        "publisher", {"Action": ["s3:PutObject", "s3:GetObject"], "Resource": f"arn:aws:s3:::{name}/{PREFIX}/*"}
    )
    reader = moto.add_user("function", *role_statements(name))
    with running_jobs() as jobs:
        http = HttpClient(LOCAL)
        made = compiled(tmp_path / "made", files_of(jobs.api.url, cancel='"Cancel"'))
        store(open_publish_storage(location, http=http, environ=writer), made)
        http.close()
        before, files = _objects(moto), _files(*places)
        assert any(key.startswith(name) for key in before)
        _live(location, jobs, reader)

        assert (_objects(moto), _files(*places)) == (before, files)
