"""Destinations with bundles of the format before, which functions of the older release serve."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from handler.bundle.stored import bundle_key, older_bundle_keys
from tests.commands.running import FILES, Stile, change
from tests.support.endpoints import write_endpoint
from tests.support.moto import Moto

NAME = "api/things"
(OLDER,) = older_bundle_keys(NAME)


@pytest.fixture
def older(workplace: Path, stile: Stile) -> Path:
    """A destination to which the older release has published ``endpoints``."""
    write_endpoint(workplace / "endpoints", FILES)
    assert stile("publish", "endpoints", "--create", "out").code == 0
    present = workplace / "out" / bundle_key(NAME)
    (workplace / "out" / OLDER).write_bytes(present.read_bytes().replace(b'_version":2', b'_version":1', 1))
    present.unlink()
    for path in sorted((workplace / "out" / ".history").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    return workplace / "out"


def test_publish_compares_with_it_and_stores_the_new_one_beside_it(older: Path, workplace: Path, stile: Stile) -> None:
    before = (older / OLDER).read_bytes()
    change(workplace / "endpoints" / NAME / "operations" / "a.graphql", "{ a }", "{ b }")

    refused = stile("publish", "endpoints", "out")
    assert (refused.code, "changed  ~a" in refused.out, "--allow-breaking" in refused.err) == (1, True, True)
    assert OLDER in refused.out

    assert stile("publish", "endpoints", "out", "--allow-breaking", "--allow-open").code == 0
    assert (older / OLDER).read_bytes() == before
    assert stile("publish", "endpoints", "out").out.splitlines()[0] == f"{NAME}: unchanged"


def test_diff_compares_with_it(older: Path, workplace: Path, stile: Stile) -> None:
    assert stile("diff", str(older), "endpoints").code == 0

    change(workplace / "endpoints" / NAME / "operations" / "a.graphql", "{ a }", "{ b }")
    assert stile("diff", str(older), "endpoints").code == 6


@pytest.mark.parametrize("named", [(), (NAME,)])
def test_published_says_that_a_function_of_this_release_does_not_look_for_it(
    older: Path, stile: Stile, named: tuple[str, ...]
) -> None:
    done = stile("published", str(older), *named, "--json")

    (found,) = json.loads(done.out)["endpoints"]
    assert (done.code, found["format"], found["loads"]) == (1, 1, False)
    assert "publish again" in found["fault"]


def test_remove_withdraws_it_and_promises_no_rollback(older: Path, stile: Stile) -> None:
    done = stile("remove", f"{older}/{NAME}", "--yes")

    assert (done.code, (older / OLDER).exists()) == (0, False)
    assert "only a publish brings the endpoint back" in " ".join(done.out.split())
    assert "brings it back" not in done.out


def test_prune_withdraws_both_formats(older: Path, workplace: Path, stile: Stile) -> None:
    stile("publish", "endpoints", "out")
    (workplace / "endpoints" / "api").rename(workplace / "endpoints" / "other")

    assert stile("publish", "endpoints", "out", "--prune", "--allow-breaking").code == 0
    assert list((older / NAME).glob("bundle*")) == []


def test_gc_keeps_the_schema_that_it_names(older: Path, stile: Stile) -> None:
    (index,) = (older / NAME / ".index").iterdir()
    os.utime(index, (0, 0))

    done = stile("gc", str(older), "--delete")

    assert (done.code, index.exists()) == (0, True)


def test_diff_of_a_bucket_compares_with_it(
    older: Path, stile: Stile, moto: Moto, monkeypatch: pytest.MonkeyPatch
) -> None:
    moto.add_bucket("older")
    for name, value in moto.environ().items():
        monkeypatch.setenv(name, value)
    with moto.unchecked():
        for path in (each for each in older.rglob("*") if each.is_file()):
            key = f"endpoints/{path.relative_to(older).as_posix()}"
            moto.client("s3").put_object(Bucket="older", Key=key, Body=path.read_bytes())

        assert stile("diff", "s3://older/endpoints", "endpoints").code == 0
        change(Path("endpoints") / NAME / "operations" / "a.graphql", "{ a }", "{ b }")
        assert stile("diff", "s3://older/endpoints", "endpoints").code == 6
