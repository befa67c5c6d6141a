from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from handler.aws.sigv4 import CredentialSource
from handler.errors.infrastructure import ObjectChanged, ObjectNotFound, StorageDenied, StorageError, WriteUnconfirmed
from handler.http.client import HttpClient
from handler.storage.folder_publishing import HISTORY, MAX_VERSIONS, FolderPublishStorage
from handler.storage.location import open_publish_storage, open_storage
from handler.storage.publishing import PublishStorage, possible_etags
from handler.storage.s3_publishing import S3PublishStorage
from tests.support.moto import Moto, running_moto
from tests.support.raw_http import Peer, answer, answering, running_server

KEY = "api/things/bundle.v1.json"
FACTS = {"stile-by": "arn:aws:iam::1:user/ada", "stile-at": "2026-01-02T03:04:05Z"}
ON_LOOPBACK = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "eu-central-1"}


@pytest.fixture(scope="module")
def http() -> Iterator[HttpClient]:
    client = HttpClient()
    yield client
    client.close()


@pytest.fixture(scope="module")
def bucket() -> Iterator[Moto]:
    with running_moto() as moto:
        moto.add_bucket("kept")
        moto.add_bucket("plain")
        kept = {"Status": "Enabled"}
        moto.client("s3").put_bucket_versioning(Bucket="kept", VersioningConfiguration=kept)
        yield moto


@pytest.fixture(params=["folder", "s3"])
def storage(request: pytest.FixtureRequest, tmp_path: Path, http: HttpClient) -> PublishStorage:
    """Each kind of storage that keeps versions, empty."""
    if request.param == "folder":
        return open_publish_storage(str(tmp_path / "bundles"), http=http, environ={})
    moto: Moto = request.getfixturevalue("bucket")
    return open_publish_storage(f"s3://kept/{tmp_path.name}", http=http, environ=moto.environ())


class TestConditions:
    def test_object_is_created_where_there_is_none(self, storage: PublishStorage) -> None:
        made = storage.put(KEY, b"one", expected=None, facts=FACTS)

        head, body = storage.get(KEY)
        assert body == b"one"
        assert (head.etag, head.version, head.sha256, head.size) == (made.etag, made.version, made.sha256, 3)
        assert head.facts == FACTS
        assert storage.head(KEY) == head

    def test_object_is_not_created_where_there_is_one(self, storage: PublishStorage) -> None:
        storage.put(KEY, b"one", expected=None, facts=FACTS)

        with pytest.raises(ObjectChanged) as caught:
            storage.put(KEY, b"two", expected=None, facts=FACTS)

        assert caught.value.location == f"{storage.location}/{KEY}"
        assert storage.get(KEY)[1] == b"one"

    def test_object_is_replaced_by_those_who_know_it(self, storage: PublishStorage) -> None:
        first = storage.put(KEY, b"one", expected=None, facts=FACTS)
        storage.put(KEY, b"two", expected=first.etag, facts={})

        with pytest.raises(ObjectChanged):
            storage.put(KEY, b"three", expected=first.etag, facts=FACTS)

        assert storage.get(KEY)[1] == b"two"
        assert storage.head(KEY).facts == {}

    def test_object_that_is_gone_is_not_replaced(self, storage: PublishStorage) -> None:
        first = storage.put(KEY, b"one", expected=None, facts=FACTS)
        storage.remove(KEY, expected=first.etag, facts=FACTS)

        with pytest.raises(ObjectChanged):
            storage.put(KEY, b"two", expected=first.etag, facts=FACTS)

    def test_object_is_removed_by_those_who_know_it(self, storage: PublishStorage) -> None:
        first = storage.put(KEY, b"one", expected=None, facts=FACTS)
        second = storage.put(KEY, b"two", expected=first.etag, facts=FACTS)

        with pytest.raises(ObjectChanged):
            storage.remove(KEY, expected=first.etag, facts=FACTS)
        assert storage.get(KEY)[1] == b"two"
        storage.remove(KEY, expected=second.etag, facts=FACTS)

        with pytest.raises(ObjectNotFound):
            storage.head(KEY)
        assert list(storage.etags()) == []

    def test_unreadable_file_in_a_folder_has_no_etag(self, tmp_path: Path) -> None:
        storage = FolderPublishStorage(tmp_path / "bundles")
        stored = storage.put(KEY, b"one", expected=None, facts={})
        (tmp_path / "bundles" / "outside").symlink_to(tmp_path.parent)
        (tmp_path / "bundles" / "out.json").symlink_to(__file__)

        assert storage.etags() == {KEY: stored.etag, "out.json": ""}

    def test_of_many_writers_one_at_a_time_succeeds(self, tmp_path: Path) -> None:
        storage = FolderPublishStorage(tmp_path)
        storage.put(KEY, b"0", expected=None, facts={})
        refused: list[int] = []

        def count() -> None:
            while True:
                head, body = storage.get(KEY)
                if int(body) == 40:
                    return
                try:
                    storage.put(KEY, str(int(body) + 1).encode(), expected=head.etag, facts={})
                except ObjectChanged:
                    refused.append(1)

        threads = [threading.Thread(target=count) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert storage.versions(KEY)[0].version == "41"


class TestVersions:
    def test_versions_are_listed_newest_first_and_can_be_read(self, storage: PublishStorage) -> None:
        first = storage.put(KEY, b"one", expected=None, facts=FACTS)
        second = storage.put(KEY, b"second", expected=first.etag, facts={})

        found = storage.versions(KEY)

        assert [each.version for each in found] == [second.version, first.version]
        assert [(each.is_current, each.is_removal, each.size) for each in found] == [
            (True, False, 6),
            (False, False, 3),
        ]
        old, body = storage.get(KEY, version=first.version)
        assert (body, old.facts) == (b"one", FACTS)
        assert storage.keeps_versions()

    def test_removed_object_keeps_its_versions_and_can_come_back(self, storage: PublishStorage) -> None:
        first = storage.put(KEY, b"one", expected=None, facts=FACTS)
        storage.remove(KEY, expected=first.etag, facts=FACTS)

        assert sorted(each.is_removal for each in storage.versions(KEY)) == [False, True]
        assert storage.get(KEY, version=first.version)[1] == b"one"
        storage.put(KEY, b"one", expected=None, facts={})

        assert storage.get(KEY)[1] == b"one"
        assert storage.versions(KEY)[0].is_current

    def test_version_that_nobody_stored_is_not_found(self, storage: PublishStorage) -> None:
        storage.put(KEY, b"one", expected=None, facts=FACTS)

        with pytest.raises(ObjectNotFound):
            storage.get(KEY, version="77" if "s3" not in storage.location else "00000000-0000-0000-0000-000000000000")
        assert storage.versions("api/others/bundle.v1.json") == []

    def test_keys_are_those_of_objects(self, storage: PublishStorage) -> None:
        storage.put(KEY, b"one", expected=None, facts=FACTS)
        storage.add(".index/abc", b"index")

        heads = {key: storage.head(key).etag for key in (".index/abc", KEY)}
        assert list(storage.etags().items()) == list(heads.items())
        assert storage.etags()[".index/abc"] in possible_etags(b"index")
        assert storage.etags()[".index/abc"] not in possible_etags(b"indey")

    def test_bucket_without_versioning_publishes_and_says_that_it_keeps_none(
        self, bucket: Moto, http: HttpClient
    ) -> None:
        storage = open_publish_storage("s3://plain/p", http=http, environ=bucket.environ())

        made = storage.put(KEY, b"one", expected=None, facts=FACTS)

        assert made.version == storage.head(KEY).version == ""
        assert not storage.keeps_versions()
        assert storage.versions(KEY) == []


class TestFolder:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> FolderPublishStorage:
        return FolderPublishStorage(tmp_path)

    def test_history_is_bounded(self, folder: FolderPublishStorage) -> None:
        etag = None
        for number in range(MAX_VERSIONS + 3):
            etag = folder.put(KEY, str(number).encode(), expected=etag, facts={}).etag

        assert [each.version for each in folder.versions(KEY)] == [str(n) for n in range(23, 3, -1)]

    def test_version_that_was_never_served_is_not_listed_and_is_replaced(
        self, folder: FolderPublishStorage, tmp_path: Path
    ) -> None:
        first = folder.put(KEY, b"one", expected=None, facts=FACTS)
        folder.put(KEY, b"never served", expected=first.etag, facts={})
        (tmp_path / KEY).write_bytes(b"one")  # as a process leaves it that is killed between the two writes

        assert [each.version for each in folder.versions(KEY)] == ["1"]
        assert folder.head(KEY).facts == FACTS
        folder.put(KEY, b"two", expected=first.etag, facts={})

        assert folder.get(KEY, version="2")[1] == b"two"

    def test_object_that_another_program_wrote_becomes_a_version(
        self, folder: FolderPublishStorage, tmp_path: Path
    ) -> None:
        folder.put(KEY, b"one", expected=None, facts=FACTS)
        (tmp_path / KEY).write_bytes(b"by hand")
        head = folder.head(KEY)

        folder.put(KEY, b"two", expected=head.etag, facts=FACTS)

        assert (head.version, head.facts) == ("", {})
        assert [folder.get(KEY, version=each)[1] for each in ("1", "2", "3")] == [b"one", b"by hand", b"two"]

    @pytest.mark.parametrize("line", [b"", b"{}", b"[]", b'{"at": "x", "sha256": "", "size": 0, "facts": {}}', b"\xff"])
    def test_history_that_was_changed_is_an_error_with_its_file(
        self, folder: FolderPublishStorage, tmp_path: Path, line: bytes
    ) -> None:
        folder.put(KEY, b"one", expected=None, facts=FACTS)
        (tmp_path / HISTORY / KEY / "1").write_bytes(line + b"\n")

        with pytest.raises(StorageError, match="this is not a version: remove the file"):
            folder.versions(KEY)

    def test_body_of_a_version_that_was_changed_is_refused(self, folder: FolderPublishStorage, tmp_path: Path) -> None:
        folder.put(KEY, b"one", expected=None, facts=FACTS)
        file = tmp_path / HISTORY / KEY / "1"
        file.write_bytes(file.read_bytes() + b"more")

        with pytest.raises(StorageError, match="does not match its digest"):
            folder.get(KEY, version="1")

    def test_folder_that_another_process_locks_is_waited_for_and_then_refused(
        self, folder: FolderPublishStorage, tmp_path: Path
    ) -> None:
        impatient = FolderPublishStorage(tmp_path)
        impatient.lock_timeout_s = 0.1
        descriptor = os.open(tmp_path, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            with pytest.raises(StorageError, match=r"another process has locked the folder for 0\.1 s"):
                impatient.put(KEY, b"one", expected=None, facts=FACTS)
        finally:
            os.close(descriptor)

        assert impatient.put(KEY, b"one", expected=None, facts=FACTS).version == "1"

    def test_history_holds_no_path_that_a_key_could_name(self, folder: FolderPublishStorage) -> None:
        folder.put(KEY, b"one", expected=None, facts=FACTS)

        for key in ("../x", f"{HISTORY}/../{KEY}"):
            with pytest.raises(StorageError, match="is not a key"):
                folder.put(key, b"", expected=None, facts={})

    def test_first_line_of_a_version_has_the_documented_members(
        self, folder: FolderPublishStorage, tmp_path: Path
    ) -> None:
        folder.put(KEY, b"one", expected=None, facts=FACTS)
        line, _, body = (tmp_path / HISTORY / KEY / "1").read_bytes().partition(b"\n")

        assert set(json.loads(line)) == {"at", "sha256", "size", "facts"}
        assert body == b"one"


REFUSED = answer(b"<Error><Code>PreconditionFailed</Code></Error>", status="412 Precondition Failed")


class TestAnswersOfS3:
    def at(self, url: str, http: HttpClient) -> S3PublishStorage:
        environ = ON_LOOPBACK | {"AWS_ENDPOINT_URL": url}
        credentials = CredentialSource(environ, http=http)
        storage = S3PublishStorage("bundles", "p", http=http, environ=environ, credentials=credentials)
        storage.timeout_s = 0.2
        return storage

    def test_write_whose_answer_is_lost_is_found_by_its_facts(self, bucket: Moto, http: HttpClient) -> None:
        real = open_publish_storage("s3://kept/lost", http=http, environ=bucket.environ())
        real.put(KEY, b"one", expected=None, facts=FACTS)

        # As boto3's own repetition meets it: the object is there, and it is this one.
        assert real.put(KEY, b"one", expected=None, facts=FACTS).facts == FACTS
        with pytest.raises(ObjectChanged):
            real.put(KEY, b"one", expected=None, facts={})

    def test_write_that_nobody_answers_is_unconfirmed(self, http: HttpClient) -> None:
        def script(peer: Peer) -> None:
            peer.read_request()
            peer.wait()

        with running_server(script) as server, pytest.raises(WriteUnconfirmed) as caught:
            self.at(server.url, http).put(KEY, b"one", expected=None, facts=FACTS)

        assert caught.value.location == f"s3://bundles/p/{KEY}"
        assert "timeout" in caught.value.reason

    def test_denied_requests_are_told_apart(self, http: HttpClient) -> None:
        denied = answer(b"<Error><Code>AccessDenied</Code></Error>", status="403 Forbidden")
        with running_server(answering(denied)) as server:
            storage = self.at(server.url, http)
            with pytest.raises(StorageDenied, match="s3:ListBucket"):
                storage.etags()
            with pytest.raises(StorageDenied, match="s3:PutObject and s3:GetObject"):
                storage.put(KEY, b"one", expected=None, facts=FACTS)
            with pytest.raises(StorageDenied, match="s3:DeleteObject"):
                storage.remove(KEY, expected='"1"', facts=FACTS)

    @pytest.mark.parametrize("code", ["KMS.DisabledException", "KMS.NotFoundException"])
    def test_key_that_cannot_be_used_is_told(self, http: HttpClient, code: str) -> None:
        refused = answer(f"<Error><Code>{code}</Code></Error>".encode(), status="400 Bad Request")
        with running_server(answering(refused)) as server:
            environ = {**ON_LOOPBACK, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.port}"}
            for read in (open_storage, open_publish_storage):
                with pytest.raises(StorageError, match=rf"S3 answered {code}; look at the key of the bucket"):
                    read("s3://bucket/prefix", http=http, environ=environ).read(KEY)

    def test_other_object_that_cannot_be_described_is_told(self, http: HttpClient) -> None:
        with running_server(answering(REFUSED, answer(status="403 Forbidden"))) as server, pytest.raises(ObjectChanged):
            self.at(server.url, http).put(KEY, b"one", expected=None, facts=FACTS)
