"""Stored schema indexes: each below its endpoint, mended by the next publish, kept by `gc`, and found where releases
before kept them.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from handler.bundle.stored import bundle_key, index_key, shared_index_key, write_bundle
from handler.commands import gc
from handler.commands.gc import discard_indexes, find_unused
from handler.commands.publishing.publication import Publication, plan_publish
from handler.compiler.compile import Compiled
from handler.errors.infrastructure import ObjectNotFound
from handler.http.client import HttpClient
from handler.storage import folder_publishing, s3_publishing
from handler.storage.location import open_publish_storage
from handler.storage.publishing import ObjectHead, PublishStorage
from tests.commands.running import Stile
from tests.life.between import Forward, Passing, Reply, running_between
from tests.life.publishing import FACTS, SDL, add_empty_bucket, put, version_of
from tests.support.endpoints import write_endpoint
from tests.support.function import running_function
from tests.support.moto import Moto

KEY = bundle_key("api/things")
LATER = timedelta(seconds=5)


def key_of(made: Compiled) -> str:
    return index_key(made.bundle.endpoint, made.bundle.index)


def body_at(storage: PublishStorage, key: str) -> bytes | None:
    try:
        found = storage.read(key)
    except ObjectNotFound:
        return None
    assert found
    return found.body


def store_as_before(storage: PublishStorage, made: Compiled) -> str:
    """Store an endpoint as older releases did: its schema index lies beside all endpoints. Give the index's key."""
    key = shared_index_key(made.bundle.index)
    storage.add(key, made.index)
    present = storage.head(KEY).etag if body_at(storage, KEY) else None
    storage.put(KEY, write_bundle(made.bundle), expected=present, facts=FACTS.stored())
    return key


@pytest.fixture
def aged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that is stored now counts as old: no object can be made older in S3."""
    monkeypatch.setattr(gc, "MIN_AGE", -LATER)


class TestRepair:
    @pytest.mark.parametrize("damage", [None, b"damaged"], ids=["missing", "damaged"])
    def test_next_publish_stores_an_index_again_that_is_not_whole_and_leaves_the_bundle(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path, damage: bytes | None
    ) -> None:
        made = version_of(tmp_path / "all", 1)
        put(storage, made)
        if damage is None:
            storage.discard(key_of(made), before=datetime.now(UTC) + LATER)
        else:
            storage.write(key_of(made), damage)
        assert stile("published", location).code == 1

        done = stile("publish", str(tmp_path / "all"), location)

        assert (done.code, done.err) == (0, "")
        assert done.out.splitlines()[:2] == [
            "api/things: repaired",
            f"  {key_of(made)} is missing or damaged, and is stored again",
        ]
        assert body_at(storage, key_of(made)) == made.index
        assert len(storage.versions(KEY)) == 1
        assert stile("published", location).code == 0
        assert stile("publish", str(tmp_path / "all"), location).out.splitlines()[0] == "api/things: unchanged"

    def test_dry_run_tells_it_and_stores_nothing(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        made = version_of(tmp_path / "all", 1)
        put(storage, made)
        storage.write(key_of(made), b"damaged")

        done = stile("publish", str(tmp_path / "all"), location, "--dry-run", "--json")

        (endpoint,) = json.loads(done.out)["endpoints"]
        assert (done.code, endpoint["what"], endpoint["breaking"]) == (0, "repaired", False)
        assert body_at(storage, key_of(made)) == b"damaged"

    @pytest.mark.parametrize(("damage", "what"), [(lambda body: body, "unchanged"), (bytes.upper, "repaired")])
    def test_index_of_which_s3_keeps_no_digest_is_read(
        self,
        open_moto: Moto,
        stile: Stile,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        damage: type[bytes],
        what: str,
    ) -> None:
        """Another program has copied the bucket."""
        location = add_empty_bucket(open_moto, "copied")
        for name, value in open_moto.environ().items():
            monkeypatch.setenv(name, value)
        made = version_of(tmp_path / "all", 1)
        assert stile("publish", str(tmp_path / "all"), location).code == 0
        bucket, _, prefix = location.removeprefix("s3://").partition("/")
        key = f"{prefix}/{key_of(made)}"
        open_moto.client("s3").put_object(Bucket=bucket, Key=key, Body=damage(made.index))

        assert [
            stile("publish", str(tmp_path / "all"), location).out.splitlines()[0].partition(" ")[2] for _ in range(2)
        ] == [what, "unchanged"]

    def test_substitute_of_s3_without_digests_is_published_to_and_compared_with(
        self, open_moto: Moto, stile: Stile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        location = add_empty_bucket(open_moto, "substitute")
        version_of(tmp_path / "all", 1)

        def rule(_: Passing, forward: Forward) -> Reply:
            reply = forward()
            return reply._replace(headers=tuple(each for each in reply.headers if "checksum" not in each[0].lower()))

        with running_between(open_moto.url) as between:
            between.begin(rule)
            for name, value in {**open_moto.environ(), "AWS_ENDPOINT_URL": between.url}.items():
                monkeypatch.setenv(name, value)
            said = [stile("publish", str(tmp_path / "all"), location) for _ in range(2)]

        assert [done.code for done in said] == [0, 0], said
        assert [done.out.split()[1] for done in said] == ["new", "unchanged"]


@pytest.mark.usefixtures("aged")
class TestPublishedBefore:
    def test_function_serves_it(self, location: str, storage: PublishStorage, tmp_path: Path) -> None:
        made = version_of(tmp_path, 1)
        store_as_before(storage, made)

        with running_function(storage=storage) as function:
            answer = dataclasses.replace(function, path="/api/things/mcp").call(
                "all", {"query": "{ __schema { queryType { name } } }"}
            )

        assert json.loads(answer.result["content"][0]["text"])["data"] == {"__schema": {"queryType": {"name": "Query"}}}

    def test_it_is_told_compared_and_rolled_back_to(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        old, new = (version_of(tmp_path / str(number), number) for number in (1, 2))
        shared = store_as_before(storage, old)

        assert stile("published", location).code == 0
        assert stile("diff", location, str(tmp_path / "1")).code == 0
        assert stile("publish", str(tmp_path / "2"), location, "--allow-breaking", "--allow-open").code == 0
        assert stile("rollback", f"{location}/api/things", "--yes").code == 0
        assert body_at(storage, key_of(old)) == old.index == new.index == body_at(storage, shared)

    def test_next_publish_stores_the_index_below_the_endpoint(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        made = version_of(tmp_path / "all", 1)
        shared = store_as_before(storage, made)

        told = [stile("publish", str(tmp_path / "all"), location).out.splitlines()[0] for _ in range(2)]

        assert told == ["api/things: repaired", "api/things: unchanged"]
        assert body_at(storage, key_of(made)) == body_at(storage, shared) == made.index

    def test_damaged_shared_index_does_not_reach_an_endpoint_that_is_published_since(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        made = version_of(tmp_path / "all", 1)
        shared = store_as_before(storage, made)
        stile("publish", str(tmp_path / "all"), location)

        storage.write(shared, b"damaged")

        assert stile("published", location).code == 0

    def test_gc_keeps_the_index_of_every_kept_version_and_deletes_the_others(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        sdls = (SDL, SDL + "type Two { a: Int }\n")
        kept = [store_as_before(storage, version_of(tmp_path, at, sdl=sdl)) for at, sdl in enumerate(sdls)]
        unused = [shared_index_key("0" * 64), index_key("api/things", "0" * 64)]
        strange = ["notes/.index/" + "0" * 64, "api/things/.index/notes"]
        for key in (*unused, *strange):
            storage.add(key, b"x")

        deleted = json.loads(stile("gc", location, "--delete", "--json").out)["indexes"]

        assert sorted(each["key"] for each in deleted) == sorted(unused)
        assert all(body_at(storage, key) for key in (*kept, *strange))

    def test_gc_of_one_endpoint_s_schema_leaves_that_of_another(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        """Only one of two endpoints with the same schema is published."""
        made = version_of(tmp_path, 1)
        put(storage, made)
        other = index_key("api/others", made.bundle.index)
        storage.add(other, made.index)

        stile("gc", location, "--delete")

        assert (body_at(storage, key_of(made)), body_at(storage, other)) == (made.index, None)


class _CollectedBetween:
    """A storage in which `gc` runs after each write of an index and before each write of a bundle."""

    def __init__(self, storage: PublishStorage) -> None:
        self._storage = storage
        self.deleted: list[str] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self._storage, name)

    def put(self, key: str, body: bytes, *, expected: str | None, facts: Mapping[str, str]) -> ObjectHead:
        self.deleted += discard_indexes(self._storage, find_unused(self._storage))
        return self._storage.put(key, body, expected=expected, facts=facts)


@pytest.mark.parametrize("place", ["folder", "bucket"])
def test_gc_between_the_index_and_its_bundle_deletes_other_indexes_and_not_this_one(
    open_moto: Moto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Both indexes are old and without a bundle: one is left from long ago, and the other is about to be named."""
    monkeypatch.setattr(gc, "MIN_AGE", timedelta(seconds=2))
    monkeypatch.setattr(s3_publishing, "FRESH", timedelta(seconds=1))
    assert not hasattr(folder_publishing, "FRESH")  # a folder makes each file fresh
    location = str(tmp_path / "out") if place == "folder" else add_empty_bucket(open_moto, "between")
    made = version_of(tmp_path, 1)
    http = HttpClient()
    storage = open_publish_storage(location, http=http, environ=open_moto.environ())
    left = index_key("api/things", "0" * 64)
    for key, body in ((key_of(made), made.index), (left, b"left")):
        storage.add(key, body)
    time.sleep(3.1)

    collected = _CollectedBetween(storage)
    publication = Publication(collected, force=False)  # type: ignore[arg-type] # a storage by its other attributes
    publication.publish(plan_publish([made], storage), FACTS)

    assert (publication.is_whole, collected.deleted) == (True, [left])
    assert (body_at(storage, key_of(made)), body_at(storage, KEY)) == (made.index, write_bundle(made.bundle))
    http.close()


def test_endpoints_with_the_same_schema_share_no_object(storage: PublishStorage, stile: Stile, tmp_path: Path) -> None:
    files = {"index.graphql": SDL, "config.yaml": "upstream: {url: 'https://things.example/graphql'}\n"}
    for name in ("shop/orders", "hr/people"):
        write_endpoint(tmp_path / "all", files, name=name)

    assert stile("publish", str(tmp_path / "all"), storage.location, "--create").code == 0

    owners = {key.rpartition("/.index/")[0] for key in storage.etags() if "/.index/" in key}
    assert owners == {"shop/orders", "hr/people"}
    assert all(key.startswith(("shop/orders/", "hr/people/")) for key in storage.etags())
