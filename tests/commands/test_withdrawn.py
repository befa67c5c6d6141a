"""The mark that `stile remove` leaves: it tells a withdrawn endpoint from a missing one."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest

from handler.bundle.stored import bundle_key, withdrawal_key
from tests.commands.running import FILES, Stile
from tests.support.endpoints import write_endpoint
from tests.support.moto import Moto

NAME = "api/things"
MARK = withdrawal_key(NAME)


@pytest.fixture
def place(workplace: Path, stile: Stile) -> Path:
    write_endpoint(workplace / "endpoints", FILES)
    assert stile("publish", "endpoints", "--create", "out").code == 0
    return workplace / "out"


def test_remove_leaves_it_and_publish_takes_it_away(place: Path, stile: Stile) -> None:
    assert stile("remove", f"{place}/{NAME}", "--yes").code == 0
    assert (place / MARK).read_bytes() == b""
    assert not (place / bundle_key(NAME)).exists()

    assert stile("publish", "endpoints", "out", "--allow-breaking", "--allow-open").code == 0
    assert not (place / MARK).exists()


def test_rollback_takes_it_away(place: Path, stile: Stile) -> None:
    stile("remove", f"{place}/{NAME}", "--yes")

    assert stile("rollback", f"{place}/{NAME}", "--yes").code == 0
    assert not (place / MARK).exists()
    assert (place / bundle_key(NAME)).exists()


def test_prune_leaves_none(place: Path, workplace: Path, stile: Stile) -> None:
    (workplace / "endpoints" / "api").rename(workplace / "endpoints" / "other")

    assert stile("publish", "endpoints", "out", "--prune", "--allow-breaking", "--allow-open").code == 0
    assert not (place / MARK).exists()


def test_it_is_no_endpoint(place: Path, stile: Stile) -> None:
    stile("remove", f"{place}/{NAME}", "--yes")

    listed = stile("published", str(place), "--json")
    assert (listed.code, json.loads(listed.out)["endpoints"]) == (0, [])
    assert stile("published", str(place), NAME).code == 1
    assert stile("gc", str(place), "--delete").code == 0
    assert (place / MARK).exists()
    again = stile("remove", f"{place}/{NAME}", "--yes")
    assert (again.code, "is not published" in again.err) == (1, True)


@pytest.mark.parametrize("may_mark", [True, False])
def test_remove_in_a_bucket_withdraws_without_the_right_to_mark_too(
    workplace: Path, stile: Stile, moto: Moto, monkeypatch: pytest.MonkeyPatch, may_mark: bool
) -> None:
    bucket = f"withdrawn-{uuid.uuid4().hex[:12]}"
    moto.add_bucket(bucket)
    objects = [f"arn:aws:s3:::{bucket}/endpoints/*"]
    rights = ["s3:GetObject", "s3:DeleteObject", *(["s3:PutObject"] if may_mark else [])]
    remover = moto.add_user(
        "remover",
        {"Action": rights, "Resource": objects},
        {"Action": ["s3:ListBucket", "s3:GetBucketVersioning"], "Resource": f"arn:aws:s3:::{bucket}"},
    )
    publisher = moto.add_user(
        "publisher",
        {"Action": ["s3:GetObject", "s3:PutObject"], "Resource": objects},
        {"Action": ["s3:ListBucket"], "Resource": f"arn:aws:s3:::{bucket}"},
    )

    def keys() -> list[str]:
        with moto.unchecked():
            return [each["Key"] for each in moto.client("s3").list_objects_v2(Bucket=bucket).get("Contents", [])]

    def ran(environ: dict[str, str], *words: str) -> tuple[int, str]:
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        done = stile(*words)
        return done.code, " ".join(done.out.split())

    write_endpoint(workplace / "endpoints", FILES)
    location = f"s3://{bucket}/endpoints"
    assert ran(publisher, "publish", "endpoints", location)[0] == 0
    assert ran(remover, "remove", f"{location}/{NAME}", "--yes")[0] == 0
    assert (f"endpoints/{MARK}" in keys()) is may_mark
    assert f"endpoints/{bundle_key(NAME)}" not in keys()

    # This publisher may not remove the mark, which does nothing beside the bundle, and hides its loss.
    code, said = ran(publisher, "publish", "endpoints", location, "--allow-breaking", "--allow-open", "--json")
    assert code == 0
    assert (f"{MARK} stays" in said) is may_mark
    assert any("s3:DeleteObject" in each for each in json.loads(said)["warnings"]) is may_mark
    assert f"endpoints/{bundle_key(NAME)}" in keys()
