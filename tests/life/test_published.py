"""`stile published`, `rollback`, `remove` and `gc`, on a folder and on a versioned bucket."""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from handler.bundle.stored import FORMAT_VERSION, bundle_key, index_key, write_bundle
from handler.commands import gc
from handler.errors.infrastructure import ObjectNotFound
from handler.http.client import HttpClient
from handler.storage.folder_publishing import FolderPublishStorage
from handler.storage.location import open_publish_storage
from handler.storage.publishing import PublishStorage
from tests.commands.running import Stile, ran_on_terminal
from tests.life.between import Forward, Passing, Reply, running_between
from tests.life.publishing import CONFIG, FACTS, SDL, add_empty_bucket, put, version_of
from tests.support.endpoints import write_endpoint
from tests.support.moto import Moto

KEY = bundle_key("api/things")
OWN_FORMAT = b'"format_version":%d' % FORMAT_VERSION


def present(storage: PublishStorage) -> bytes | None:
    try:
        found = storage.read(KEY)
    except ObjectNotFound:
        return None
    assert found
    return found.body


class TestPublished:
    def test_report_has_the_facts_of_each_endpoint(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        head = put(storage, version_of(tmp_path, 1))

        done = stile("published", location, "--json")

        (endpoint,) = json.loads(done.out)["endpoints"]
        assert done.code == 0, done.err
        assert endpoint["digest"]
        del endpoint["digest"]
        assert endpoint == {
            "endpoint": "api/things",
            "version": head.version,
            "at": FACTS.at,
            "by": FACTS.by,
            "commit": FACTS.commit,
            "release": FACTS.release,
            "restores": "",
            "format": FORMAT_VERSION,
            "tools": ["all", "tool-1"],
            "bytes": head.size,
            "loads": True,
            "fault": "",
        }
        told = stile("published", location)
        assert "api/things" in told.out
        assert "user/ada" in told.out

    def test_damaged_schema_is_told_and_the_next_publish_mends_it(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        made = version_of(tmp_path / "before", 1)
        put(storage, made)
        storage.write(index_key(made.bundle.endpoint, made.bundle.index), b"damaged")

        told = stile("published", location)
        version_of(tmp_path / "after", 2)
        stile("publish", str(tmp_path / "after"), location, "--allow-breaking", "--allow-open")

        assert "is damaged: publish again" in told.out + told.err
        assert stile("published", location).code == 0

    def test_stored_version_that_cannot_be_read_is_told_before_it_is_replaced(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        raw = write_bundle(version_of(tmp_path, 1).bundle)
        storage.write(KEY, raw.replace(OWN_FORMAT, b'"format_version":99'))

        told = stile("publish", str(tmp_path), location)

        assert "cannot be read: format_version 99 is unknown" in told.out
        assert (told.code, stile("published", location).code) == (0, 0)

    def test_endpoints_that_a_function_would_not_load_are_told(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        raw = write_bundle(version_of(tmp_path, 1).bundle)  # its index is not stored
        broken = {
            "api/things": raw,
            "api/damaged": b"{}",
            "api/newer": raw.replace(OWN_FORMAT, b'"format_version":9'),
            "api/other": raw,
        }
        for name, body in broken.items():
            storage.put(bundle_key(name), body, expected=None, facts={})

        done = stile("published", location, "--json")
        faults = {each["endpoint"]: each["fault"] for each in json.loads(done.out)["endpoints"]}

        assert done.code == 1
        assert "schema index" in faults["api/things"]
        assert "not a bundle" in faults["api/damaged"]
        assert "format_version 9 is unknown" in faults["api/newer"]
        assert "expected api/other" in faults["api/other"]

    @pytest.mark.parametrize(
        "url",
        [
            "http://example.com",
            "http://localhost:99999",
            "https://[::1",
            "ftp://localhost",
            "https://ada:hidden@example.com",
            "http://ada:hidden@example.com",
            "https://example.com/?a=1",
            "https://exa mple.com",
            "https://",
            "",
        ],
    )
    def test_url_that_would_tell_a_credential_or_is_not_valid_is_refused(self, stile: Stile, url: str) -> None:
        done = stile("published", ".", "--url", url)

        assert done.code == 2
        assert "hidden" not in done.err

    def test_versions_are_listed_the_newest_first(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        heads = [put(storage, version_of(tmp_path, number)) for number in (1, 2)]
        stile("remove", f"{location}/api/things", "--yes")
        put(storage, version_of(tmp_path, 3))

        (endpoint,) = json.loads(stile("published", location, "--versions", "--json").out)["endpoints"]
        versions = endpoint["versions"]

        # S3 counts seconds, so a removal has no place among the versions of its second.
        assert sorted(each["removal"] for each in versions) == [False, False, False, True]
        kept = [each for each in versions if not each["removal"]]
        assert [each["version"] for each in kept[1:]] == [heads[1].version, heads[0].version]
        assert [each["current"] for each in kept] == [True, False, False]

    def test_endpoint_that_is_not_published_is_named(
        self, location: str, storage: PublishStorage, stile: Stile
    ) -> None:
        storage.write("x", b"")

        done = stile("published", location, "api/nothing")

        assert (done.code, "api/nothing: not published" in done.err) == (1, True)
        assert stile("published", location, "nonsense").code == 2


def test_stored_fact_writes_no_line_of_its_own(stile: Stile, tmp_path: Path) -> None:
    """Whoever may write the object writes its facts."""
    storage = FolderPublishStorage(tmp_path / "bundles")
    put(storage, version_of(tmp_path, 1), facts=FACTS)
    (_, raw), etag = storage.get(KEY), storage.head(KEY).etag
    storage.put(KEY, raw, expected=etag, facts={"stile-by": "ada%0aapi/things: removed%1b%5b2J"})

    for command in ("published", "remove", "rollback"):
        place = (str(tmp_path / "bundles"), *(["--versions"] if command == "published" else []))
        done = stile(command, *(place if command == "published" else (f"{place[0]}/api/things",)))

        assert "\napi/things: removed" not in done.out, command
        assert "\x1b[2J" not in done.out


class TestRollback:
    def test_older_bytes_become_a_new_version(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        first = put(storage, version_of(tmp_path, 1))
        before = present(storage)
        put(storage, version_of(tmp_path, 2))

        done = stile("rollback", f"{location}/api/things", "--yes")

        assert done.code == 0, done.err
        assert "tool-1" in done.out  # the diff
        assert present(storage) == before
        (endpoint,) = json.loads(stile("published", location, "--json").out)["endpoints"]
        assert endpoint["restores"] == first.version
        assert endpoint["commit"] == FACTS.commit
        assert endpoint["version"] != first.version
        assert endpoint["at"] > FACTS.at

    def test_nothing_happens_without_a_terminal_and_yes(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        put(storage, version_of(tmp_path, 1))
        put(storage, version_of(tmp_path, 2))
        before = present(storage)

        for command in ("rollback", "remove"):  # tests/commands/test_terminals.py has a terminal
            done = stile(command, f"{location}/api/things")

            assert (done.code, "--yes" in done.err) == (1, True)
        assert present(storage) == before

    def test_version_can_be_named_and_a_second_rollback_goes_forward_again(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        bodies, heads = [], []
        for number in (1, 2, 3):
            heads.append(put(storage, version_of(tmp_path, number)))
            bodies.append(present(storage))

        assert stile("rollback", f"{location}/api/things", "--to", heads[0].version, "--yes").code == 0
        assert present(storage) == bodies[0]
        assert stile("rollback", f"{location}/api/things", "--yes").code == 0
        assert present(storage) == bodies[2]
        for unknown in ("nope", ""):  # an empty one is of a variable that is not set
            done = stile("rollback", f"{location}/api/things", "--to", unknown, "--yes")
            assert (done.code, "names no single version" in done.err) == (1, True)
        assert present(storage) == bodies[2]

    def test_present_version_again_changes_nothing(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        head = put(storage, version_of(tmp_path, 1))

        done = stile("rollback", f"{location}/api/things", "--to", head.version)

        assert (done.code, "unchanged" in done.out) == (0, True)
        alone = stile("rollback", f"{location}/api/things", "--yes")
        assert (alone.code, "no other version is kept" in alone.err) == (1, True)

    def test_removed_endpoint_comes_back(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        put(storage, version_of(tmp_path, 1))
        before = present(storage)

        removed = stile("remove", f"{location}/api/things", "--yes")
        assert (removed.code, present(storage)) == (0, None)
        assert stile("remove", f"{location}/api/things", "--yes").code == 1

        assert stile("rollback", f"{location}/api/things", "--yes").code == 0
        assert present(storage) == before

    def test_version_that_a_function_would_not_load_is_refused(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        first = version_of(tmp_path, 1)
        raw = write_bundle(first.bundle)
        newer = storage.put(KEY, raw.replace(OWN_FORMAT, b'"format_version":9'), expected=None, facts={})
        lacking = storage.put(KEY, raw, expected=newer.etag, facts={})
        put(storage, version_of(tmp_path, 2, sdl=SDL + "type Other { a: Int }\n"))
        before = present(storage)

        for version, why in ((newer.version, "cannot read it"), (lacking.version, "is missing")):
            done = stile("rollback", f"{location}/api/things", "--to", version, "--yes")

            assert (done.code, why in done.err) == (1, True), done.err
        assert present(storage) == before

    def test_version_of_an_older_format_cannot_be_gone_back_to(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        """A function of this release does not look for it: its name says the format."""
        older = storage.put("api/things/bundle.v1.json", b"{}", expected=None, facts={}).version
        put(storage, version_of(tmp_path, 1))
        before = present(storage)

        for more in ((), ("--to", older)):
            done = stile("rollback", f"{location}/api/things", "--yes", *more)

            assert (done.code, present(storage)) == (0 if "unchanged" in done.out else 1, before)
        assert f"{KEY}: no other version" in stile("rollback", f"{location}/api/things", "--yes").err

    def test_broken_present_version_can_be_left(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        put(storage, version_of(tmp_path, 1))
        before = present(storage)
        storage.put(KEY, b"{broken", expected=storage.head(KEY).etag, facts={})

        assert stile("rollback", f"{location}/api/things", "--yes").code == 0
        assert present(storage) == before

    @pytest.mark.parametrize(("answer", "code"), [("n", 1), ("", 1), ("y", 0)])
    def test_person_at_a_terminal_is_asked(self, tmp_path: Path, answer: str, code: int) -> None:
        storage = FolderPublishStorage(tmp_path / "bundles")
        put(storage, version_of(tmp_path, 1))
        first = present(storage)
        put(storage, version_of(tmp_path, 2))
        second = present(storage)

        ended, shown = ran_on_terminal("rollback", str(tmp_path / "bundles" / "api" / "things"), typed=f"{answer}\n")

        assert ended == code, shown
        assert "in place of the present one?" in shown
        assert present(storage) == (first if code == 0 else second)

    @pytest.mark.parametrize("place", ["s3://bucket", "things", "/api/things/", "out/api", "s3://b/api/th ings"])
    def test_place_without_an_endpoint_is_refused(self, stile: Stile, place: str) -> None:
        done = stile("remove", place, "--yes")

        assert done.code in (1, 2)
        assert done.err


class TestGc:
    SDLS = (SDL, SDL + "type Two { a: Int }\n", SDL + "type Three { a: Int }\n")

    def published_three(self, storage: PublishStorage, tmp_path: Path) -> list[str]:
        """Publish three versions with a schema each; give the keys of their indexes, the last of which is unused."""
        made = [version_of(tmp_path, number, sdl=sdl) for number, sdl in enumerate(self.SDLS)]
        for each in made[:2]:
            put(storage, each)
        storage.add(index_key(made[2].bundle.endpoint, made[2].bundle.index), made[2].index)
        return [index_key(each.bundle.endpoint, each.bundle.index) for each in made]

    @pytest.fixture
    def aged(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Everything that is stored now counts as old: no object can be made older in S3."""
        monkeypatch.setattr(gc, "MIN_AGE", timedelta(seconds=-5))

    def test_young_index_is_not_listed(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        self.published_three(storage, tmp_path)

        assert json.loads(stile("gc", location, "--json").out)["indexes"] == []

    @pytest.mark.usefixtures("aged")
    def test_only_an_index_that_no_version_names_is_deleted(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        keys = self.published_three(storage, tmp_path)

        listed = json.loads(stile("gc", location, "--json").out)
        assert [(each["key"], each["deleted"]) for each in listed["indexes"]] == [(keys[2], False)]
        assert storage.read(keys[2])

        deleted = json.loads(stile("gc", location, "--delete", "--json").out)
        assert [(each["key"], each["deleted"]) for each in deleted["indexes"]] == [(keys[2], True)]
        assert [key for key in storage.etags() if key in keys] == sorted(keys[:2])
        assert "No schema" in stile("gc", location).out

    @pytest.mark.usefixtures("aged")
    def test_index_of_a_removed_endpoint_stays(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        keys = self.published_three(storage, tmp_path)
        stile("remove", f"{location}/api/things", "--yes")

        stile("gc", location, "--delete")

        assert storage.read(keys[0])
        assert stile("rollback", f"{location}/api/things", "--yes").code == 0

    @pytest.mark.usefixtures("aged")
    def test_unreadable_version_ends_it_before_anything_is_deleted(
        self, location: str, storage: PublishStorage, stile: Stile, tmp_path: Path
    ) -> None:
        keys = self.published_three(storage, tmp_path)
        storage.put(bundle_key("api/odd"), b"{}", expected=None, facts={})

        done = stile("gc", location, "--delete")

        assert (done.code, "the present version: this is not a bundle; nothing is deleted" in done.err) == (1, True)
        assert storage.read(keys[2])

    def test_index_that_a_publish_adds_meanwhile_stays(self, location: str, storage: PublishStorage) -> None:
        """A publish adds the index after `gc` has looked, and before `gc` deletes."""
        body = b"an index"
        storage.add(".index/x", body)
        seen = datetime.now(UTC) + timedelta(seconds=1.1)  # S3 counts seconds
        time.sleep(2.2)

        storage.write(".index/x", body)

        assert storage.discard(".index/x", before=seen) is False
        assert storage.read(".index/x")
        assert storage.discard(".index/x", before=datetime.now(UTC) + timedelta(seconds=2)) is True
        assert storage.discard(".index/x", before=datetime.now(UTC) + timedelta(seconds=2)) is False

    def test_index_that_is_deleted_while_a_publish_looks_at_it_is_stored(self, open_moto: Moto) -> None:
        """The publish has learnt that the index is there, and asks for its age."""
        http = HttpClient()
        location = add_empty_bucket(open_moto, "meanwhile")
        direct = open_publish_storage(location, http=http, environ=open_moto.environ())
        direct.add(".index/x", b"x")

        def rule(passing: Passing, forward: Forward) -> Reply:
            if passing.method == "HEAD":
                assert direct.discard(".index/x", before=datetime.now(UTC) + timedelta(hours=1))
            return forward()

        with running_between(open_moto.url) as between:
            between.begin(rule)
            environ = {**open_moto.environ(), "AWS_ENDPOINT_URL": between.url}
            open_publish_storage(location, http=http, environ=environ).add(".index/x", b"x")

        found = direct.read(".index/x")
        http.close()
        assert found
        assert found.body == b"x"

    def test_bucket_without_versions_is_refused(
        self, open_moto: Moto, stile: Stile, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name, value in open_moto.environ().items():
            monkeypatch.setenv(name, value)
        open_moto.add_bucket("unversioned")

        done = stile("gc", "s3://unversioned/endpoints")

        assert (done.code, "keeps no versions" in done.err) == (1, True)

    def test_prune_says_that_there_is_no_way_back(
        self, open_moto: Moto, stile: Stile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        for name, value in open_moto.environ().items():
            monkeypatch.setenv(name, value)
        open_moto.add_bucket("unversioned-too", {"endpoints/api/gone/bundle.v2.json": b"{}"})
        write_endpoint(tmp_path, {"index.graphql": SDL, "config.yaml": CONFIG})

        done = stile("publish", str(tmp_path), "s3://unversioned-too/endpoints", "--prune", "--dry-run")

        assert "keeps no versions: only a publish brings a withdrawn endpoint back" in done.out

    def test_prune_needs_no_answer_about_versions(
        self, open_moto: Moto, stile: Stile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """Some substitutes of S3 do not know the question."""
        open_moto.add_bucket("untold", {"endpoints/api/gone/bundle.v2.json": b"{}"})
        write_endpoint(tmp_path, {"index.graphql": SDL, "config.yaml": CONFIG})

        def rule(passing: Passing, forward: Forward) -> Reply:
            if passing.method == "GET" and passing.path.endswith("?versioning"):
                return Reply(501, (), b"<Error><Code>NotImplemented</Code></Error>")
            return forward()

        with running_between(open_moto.url) as between:
            between.begin(rule)
            for name, value in {**open_moto.environ(), "AWS_ENDPOINT_URL": between.url}.items():
                monkeypatch.setenv(name, value)
            done = stile("publish", str(tmp_path), "s3://untold/endpoints", "--prune", "--dry-run")

        assert ("api/gone" in done.out, done.err) == (True, "")


def test_added_again_an_old_file_counts_as_new(tmp_path: Path) -> None:
    storage = FolderPublishStorage(tmp_path)
    storage.add(".index/x", b"x")
    os.utime(tmp_path / ".index" / "x", (0, 0))

    assert storage.add(".index/x", b"x") is False
    assert storage.discard(".index/x", before=datetime.now(UTC) - timedelta(days=7)) is False
