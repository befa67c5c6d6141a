from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import boto3
import pytest

from handler.aws.sigv4 import CredentialSource
from handler.errors.infrastructure import ObjectNotFound, SettingsError, StorageError
from handler.http.client import HttpClient
from handler.storage.local import FolderStorage, MemoryStorage
from handler.storage.location import open_publish_storage, open_storage
from handler.storage.publishing import PublishStorage, WritableStorage
from handler.storage.s3 import S3Storage
from handler.storage.s3_publishing import S3PublishStorage
from handler.storage.storage import StoredObject
from tests.support.moto import Moto, running_moto
from tests.support.raw_http import answer, answering, running_server

KEY = "api/customers/bundle.v2.json"
ON_LOOPBACK = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "eu-central-1"}


@pytest.fixture(scope="module")
def http() -> Iterator[HttpClient]:
    client = HttpClient()
    yield client
    client.close()


@pytest.fixture(scope="module")
def open_moto() -> Iterator[Moto]:
    """AWS without permissions, for any credentials."""
    with running_moto() as moto:
        moto.add_bucket("stile-bundles")
        yield moto


@pytest.fixture(params=["folder", "published folder", "memory", "s3", "s3 without prefix"])
def storage(request: pytest.FixtureRequest, tmp_path: Path, http: HttpClient) -> WritableStorage:
    """Each kind of storage in turn, empty."""
    if request.param == "folder":
        return FolderStorage(tmp_path)
    if request.param == "published folder":
        return open_publish_storage(str(tmp_path), http=http, environ={})
    if request.param == "memory":
        return MemoryStorage()
    moto: Moto = request.getfixturevalue("open_moto")
    bucket = tmp_path.name.replace("_", "-").lower()[-40:].strip("-")
    moto.add_bucket(bucket)
    suffix = "" if request.param.endswith("without prefix") else "/prod/bundles/"
    return open_publish_storage(f"s3://{bucket}{suffix}", http=http, environ=moto.environ())


class TestEveryStorage:
    def test_what_is_written_is_read(self, storage: WritableStorage) -> None:
        storage.write(KEY, b'{"a": 1}')

        found = storage.read(KEY)
        assert found is not None
        assert found.body == b'{"a": 1}'
        assert found.etag

    @pytest.mark.parametrize("body", [b"", bytes(range(256)) * 5000], ids=["empty", "a megabyte"])
    def test_any_bytes_come_back(self, storage: WritableStorage, body: bytes) -> None:
        storage.write(KEY, body)

        assert body_at(storage, KEY) == body

    @pytest.mark.parametrize(
        "key",
        [
            "flat",
            ".index/" + "0f" * 32,
            "a/b/c/d/e",
            "with space/plus+/percent%2F/tilde~",
            "ünï/çøde",
            "q?a=1&b/#x",
            "a.b..c/...",
            "(x)!*'@:=,;$",
        ],
    )
    def test_any_key_of_names_works(self, storage: WritableStorage, key: str) -> None:
        storage.write(key, key.encode())

        assert body_at(storage, key) == key.encode()

    @pytest.mark.parametrize(
        "key",
        [
            "", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/./b", "a/..", "a\\b", "..\\a",
            "a\0b", "\0", "a\nb", "a\x7f",
        ],
    )  # fmt: skip
    def test_a_key_that_could_leave_the_storage_is_refused(self, storage: WritableStorage, key: str) -> None:
        for use in both_uses(storage, key):
            with pytest.raises(StorageError, match="is not a key") as caught:
                use()

            assert not isinstance(caught.value, ObjectNotFound)
            assert caught.value.location == storage.location

    def test_a_missing_object_is_not_found(self, storage: WritableStorage) -> None:
        storage.write(KEY, b"{}")

        for key in ("api/customers/other.json", "api/customers", f"{KEY}/below", "nowhere/at/all"):
            with pytest.raises(ObjectNotFound) as caught:
                storage.read(key)

            assert caught.value.location == f"{storage.location}/{key}"
            assert caught.value.reason == "no such object"

    def test_an_object_of_the_same_etag_is_not_read_again(self, storage: WritableStorage) -> None:
        storage.write(KEY, b"one")
        first = storage.read(KEY)
        assert first is not None

        assert storage.read(KEY, etag=first.etag) is None

    def test_a_changed_object_is_read_though_its_size_is_the_same(self, storage: WritableStorage) -> None:
        storage.write(KEY, b"one")
        first = storage.read(KEY)
        assert first is not None
        storage.write(KEY, b"two")

        second = storage.read(KEY, etag=first.etag)
        assert second is not None
        assert second.body == b"two"
        assert second.etag != first.etag

    def test_an_etag_of_nowhere_changes_nothing(self, storage: WritableStorage) -> None:
        storage.write(KEY, b"one")

        assert storage.read(KEY, etag='"unknown"') == storage.read(KEY)

    def test_a_conditional_read_of_a_missing_object_is_not_found(self, storage: WritableStorage) -> None:
        with pytest.raises(ObjectNotFound):
            storage.read(KEY, etag='"unknown"')

    def test_the_body_stays_out_of_the_representation(self, storage: WritableStorage) -> None:
        storage.write(KEY, b"confidential")

        assert "confidential" not in repr(storage.read(KEY))


def both_uses(storage: WritableStorage, key: str) -> list[Callable[[], object]]:
    return [lambda: storage.read(key), lambda: storage.write(key, b"")]


def body_at(storage: WritableStorage, key: str) -> bytes:
    found = storage.read(key)
    assert found is not None
    return found.body


class TestFolder:
    def test_readers_never_see_half_an_object(self, tmp_path: Path) -> None:
        storage = FolderStorage(tmp_path)
        bodies = [bytes([n]) * 300_000 for n in range(4)]
        storage.write(KEY, bodies[0])
        seen: set[bytes] = set()

        def read() -> None:
            seen.update(body_at(storage, KEY) for _ in range(100))

        readers = [threading.Thread(target=read) for _ in range(3)]
        for reader in readers:
            reader.start()
        for body in bodies * 5:
            storage.write(KEY, body)
        for reader in readers:
            reader.join()

        assert seen <= set(bodies)

    def test_writing_leaves_nothing_beside_the_object(self, tmp_path: Path) -> None:
        FolderStorage(tmp_path).write(KEY, b"{}")

        assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / KEY]

    def test_the_umask_decides_who_may_read(self, tmp_path: Path) -> None:
        before = os.umask(0o027)
        try:
            FolderStorage(tmp_path).write("a", b"")
        finally:
            os.umask(before)

        assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640

    def test_a_write_that_fails_leaves_the_old_object_and_no_litter(self, tmp_path: Path) -> None:
        (tmp_path / "taken").mkdir()
        (tmp_path / "taken" / "inside").touch()
        storage = FolderStorage(tmp_path)

        with pytest.raises(StorageError) as caught:
            storage.write("taken", b"{}")

        assert caught.value.location == f"{tmp_path}/taken"
        assert [path.name for path in tmp_path.iterdir()] == ["taken"]

    def test_a_key_below_a_file_cannot_be_written(self, tmp_path: Path) -> None:
        storage = FolderStorage(tmp_path)
        storage.write("file", b"{}")

        with pytest.raises(StorageError):
            storage.write("file/below", b"{}")

    def test_a_name_too_long_is_not_there_and_cannot_be_written(self, tmp_path: Path) -> None:
        storage = FolderStorage(tmp_path)

        with pytest.raises(ObjectNotFound):
            storage.read("n" * 300)
        with pytest.raises(StorageError, match="File name too long"):
            storage.write("n" * 300, b"{}")

    def test_a_missing_folder_is_made_by_writing_and_an_error_to_read(self, tmp_path: Path) -> None:
        storage = FolderStorage(tmp_path / "new")

        with pytest.raises(StorageError, match="no such folder") as caught:
            storage.read(KEY)
        assert not isinstance(caught.value, ObjectNotFound)
        storage.write(KEY, b"{}")

        assert body_at(storage, KEY) == b"{}"

    def test_a_link_that_leads_out_is_refused(self, tmp_path: Path) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "secret").write_text("secret")
        folder = tmp_path / "inside"
        folder.mkdir()
        (folder / "file").symlink_to(outside / "secret")
        (folder / "api").symlink_to(outside)
        storage = FolderStorage(folder)

        for key in ("file", "api/secret"):
            with pytest.raises(StorageError, match="leads out of the folder"):
                storage.read(key)
        with pytest.raises(StorageError, match="leads out of the folder"):
            storage.write("api/new", b"{}")
        assert [path.name for path in outside.iterdir()] == ["secret"]

    def test_a_link_that_stays_inside_is_followed(self, tmp_path: Path) -> None:
        storage = FolderStorage(tmp_path)
        storage.write("real", b"{}")
        (tmp_path / "link").symlink_to("real")

        assert body_at(storage, "link") == b"{}"

    def test_links_in_a_circle_are_a_storage_error(self, tmp_path: Path) -> None:
        (tmp_path / "a").symlink_to("b")
        (tmp_path / "b").symlink_to("a")

        with pytest.raises(StorageError):
            FolderStorage(tmp_path).read("a")

    def test_a_pipe_is_no_object(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")

        with pytest.raises(ObjectNotFound):
            FolderStorage(tmp_path).read("pipe")

    def test_the_folder_itself_may_be_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "link").symlink_to("real")
        storage = FolderStorage(tmp_path / "link")
        storage.write(KEY, b"{}")

        assert body_at(storage, KEY) == b"{}"

    def test_an_unreadable_file_is_a_storage_error(self, tmp_path: Path) -> None:
        storage = FolderStorage(tmp_path)
        storage.write("a", b"{}")
        (tmp_path / "a").chmod(0)
        user = os.geteuid()
        try:
            if user == 0:
                os.seteuid(65_534)  # root reads everything
            with pytest.raises(StorageError, match="Permission denied"):
                storage.read("a")
        finally:
            os.seteuid(user)


class TestLocations:
    @pytest.mark.parametrize("location", ["bundles", "/var/bundles", "./a b", "s3:/bucket"])
    def test_a_path_is_a_folder(self, location: str, http: HttpClient) -> None:
        opened = open_storage(location, http=http, environ={})

        assert isinstance(opened, FolderStorage)
        assert opened.location == location

    @pytest.mark.parametrize(
        ("location", "shown"),
        [
            ("s3://bucket", "s3://bucket"),
            ("s3://bucket/", "s3://bucket"),
            ("s3://my.bucket-1/a/b/", "s3://my.bucket-1/a/b"),
        ],
    )
    def test_an_s3_address_is_a_bucket_and_a_prefix(self, location: str, shown: str, http: HttpClient) -> None:
        opened = open_storage(location, http=http, environ=ON_LOOPBACK)

        assert isinstance(opened, S3Storage)
        assert opened.location == shown

    @pytest.mark.parametrize(
        "location",
        [
            "", "s3://", "s3:///prefix", "s3://Bucket/x", "s3://b/x", "s3://a..b/x", "s3://-bucket/x",
            "s3://bucket/../x", "s3://bucket//x", "s3://bucket/a/./b", "s3://bucket/a\\b", "s3://bu cket/x",
            "http://bucket/x", "file:///tmp", "gs://bucket/x", "a\0b", "s3://user@bucket/x", "s3://bucket:80/x",
        ],
    )  # fmt: skip
    def test_nonsense_is_refused(self, location: str, http: HttpClient) -> None:
        with pytest.raises(StorageError):
            open_storage(location, http=http, environ=ON_LOOPBACK)

    def test_a_bucket_of_aws_needs_a_region(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, http: HttpClient
    ) -> None:
        monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))

        with pytest.raises(SettingsError) as caught:
            open_storage("s3://bucket", http=http, environ={})

        assert caught.value.name == "AWS_REGION"

    @pytest.mark.parametrize(("profile", "region"), [(None, "eu-central-1"), ("other", "eu-north-1")])
    def test_region_comes_from_the_files_of_aws(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, http: HttpClient, profile: str | None, region: str
    ) -> None:
        (tmp_path / "config").write_text("[default]\nregion = eu-central-1\n[profile other]\nregion = eu-north-1\n")
        monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))

        opened = open_storage("s3://bucket", http=http, environ={"AWS_PROFILE": profile} if profile else {})

        assert isinstance(opened, S3Storage)
        assert opened._url("k") == f"https://bucket.s3.{region}.amazonaws.com/k"

    def test_profile_that_is_not_there_is_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, http: HttpClient
    ) -> None:
        monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))

        with pytest.raises(SettingsError, match="AWS_PROFILE='nobody'"):
            open_storage("s3://bucket", http=http, environ={"AWS_PROFILE": "nobody"})

    @pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"])
    @pytest.mark.parametrize("value", ["nonsense", "ftp://host", "http://", "http://host?x=1"])
    def test_an_endpoint_that_is_no_address_is_refused(self, name: str, value: str, http: HttpClient) -> None:
        with pytest.raises(SettingsError) as caught:
            open_storage("s3://bucket", http=http, environ={name: value})

        assert (caught.value.name, caught.value.value) == (name, value)

    @pytest.mark.parametrize(
        ("bucket", "region", "expected"),
        [
            ("bundles", "eu-central-1", "https://bundles.s3.eu-central-1.amazonaws.com/p/a%20b/c"),
            ("my.bundles", "eu-central-1", "https://s3.eu-central-1.amazonaws.com/my.bundles/p/a%20b/c"),
            ("bundles", "cn-north-1", "https://bundles.s3.cn-north-1.amazonaws.com.cn/p/a%20b/c"),
        ],
    )
    def test_the_address_of_an_object(self, bucket: str, region: str, expected: str, http: HttpClient) -> None:
        environ = {"AWS_DEFAULT_REGION": region}
        storage = S3Storage(bucket, "p", http=http, environ=environ, credentials=CredentialSource(environ, http=http))

        assert storage._url("p/a b/c") == expected

    def test_the_endpoint_of_s3_comes_before_the_general_one(self, http: HttpClient) -> None:
        with running_server(answering(answer(b"{}", ETag='"1"'))) as server:
            environ = ON_LOOPBACK | {"AWS_ENDPOINT_URL_S3": server.url, "AWS_ENDPOINT_URL": "http://h.invalid"}
            found = open_storage("s3://bucket/p", http=http, environ=environ).read("k")

        assert found == StoredObject(b"{}", '"1"')
        assert server.requests[0].startswith(b"GET /bucket/p/k HTTP/1.1\r\n")


class TestS3:
    def test_objects_of_another_prefix_do_not_meet(self, open_moto: Moto, http: HttpClient) -> None:
        one, two = (
            open_publish_storage(f"s3://stile-bundles/{prefix}", http=http, environ=open_moto.environ())
            for prefix in ("one", "two")
        )
        one.write(KEY, b"1")

        with pytest.raises(ObjectNotFound):
            two.read(KEY)

    def test_a_write_says_what_it_stores(self, open_moto: Moto, http: HttpClient) -> None:
        open_publish_storage("s3://stile-bundles/typed", http=http, environ=open_moto.environ()).write("k", b"{}")

        stored = open_moto.client("s3").head_object(Bucket="stile-bundles", Key="typed/k", ChecksumMode="ENABLED")
        assert stored["ContentType"] == "application/json"
        assert stored["ChecksumSHA256"] == base64.b64encode(hashlib.sha256(b"{}").digest()).decode()

    def test_many_writes_share_a_client(self, http: HttpClient) -> None:
        storage = published_at("s3://bundles/p", http)

        clients = [storage.client(boto3.Session) for _ in range(3)]

        assert clients[0] is clients[1] is clients[2]

    def test_credentials_that_change_make_another_client(self, http: HttpClient) -> None:
        storage = published_at("s3://bundles/p", http)

        before = storage.client(boto3.Session)
        storage.credentials.forget()

        assert storage.client(boto3.Session) is not before

    @pytest.mark.parametrize("conflicts", [1, 2])
    def test_object_that_two_add_at_once_is_added_again(self, http: HttpClient, conflicts: int) -> None:
        stored = answer(
            b"", ETag='"1"', x_amz_checksum_sha256=base64.b64encode(hashlib.sha256(b"{}").digest()).decode()
        )
        with running_server(answering(*[CONFLICT] * conflicts, stored)) as server:
            assert at_server(server.url, http).add("k", b"{}") is True
            assert len(server.requests) == conflicts + 1
            assert all(b"if-none-match: *" in request.lower() for request in server.requests)

    def test_object_that_others_add_without_end_is_an_error(self, http: HttpClient) -> None:
        with running_server(answering(*[CONFLICT] * 3)) as server, pytest.raises(StorageError, match="RequestConflict"):
            at_server(server.url, http).add("k", b"{}")

    def test_reading_asks_for_the_checksum_and_sends_the_etag(self, http: HttpClient) -> None:
        with running_server(answering(answer(b"{}"))) as server:
            at_server(server.url, http).read("k", etag='"abc"')

        head = server.requests[0].lower()
        assert b"\r\nx-amz-checksum-mode: enabled\r\n" in head
        assert b'\r\nif-none-match: "abc"\r\n' in head
        assert b"signedheaders=host;if-none-match;x-amz-checksum-mode;x-amz-content-sha256;x-amz-date" in head

    def test_content_that_does_not_match_its_checksum_is_refused(self, http: HttpClient) -> None:
        other = base64.b64encode(hashlib.sha256(b"other").digest()).decode()
        raw = answer(b"{}", x_amz_checksum_sha256=other)

        error = refusal(raw, http)

        assert error.reason == "the content does not match the checksum it was stored with"

    def test_the_checksum_of_parts_is_not_compared(self, http: HttpClient) -> None:
        other = base64.b64encode(hashlib.sha256(b"other").digest()).decode() + "-2"
        with running_server(answering(answer(b"{}", x_amz_checksum_sha256=other))) as server:
            assert body_at(at_server(server.url, http), "k") == b"{}"

    @pytest.mark.parametrize(
        ("status", "code", "reason"),
        [
            ("403 Forbidden", "AccessDenied", "s3:GetObject on arn:aws:s3:::bundles/p/* and s3:ListBucket"),
            ("403 Forbidden", "", "s3:GetObject on arn:aws:s3:::bundles/p/* and s3:ListBucket"),
            ("403 Forbidden", "SignatureDoesNotMatch", "credentials were refused (SignatureDoesNotMatch)"),
            ("403 Forbidden", "InvalidAccessKeyId", "credentials were refused (InvalidAccessKeyId)"),
            ("400 Bad Request", "ExpiredToken", "credentials were refused (ExpiredToken)"),
            ("403 Forbidden", "RequestTimeTooSkewed", "the clock of this machine is wrong"),
            ("404 Not Found", "NoSuchBucket", "there is no bucket bundles"),
            ("301 Moved", "PermanentRedirect", "the bucket is not in eu-central-1"),
            ("500 Internal Server Error", "InternalError", "S3 answered InternalError"),
            ("503 Slow Down", "SlowDown", "S3 answered SlowDown"),
            ("502 Bad Gateway", "", "S3 answered HTTP status 502"),
            ("206 Partial", "", "S3 answered HTTP status 206"),
            ("400 Bad Request", "KeyTooLongError", "a key of more than 1,024 bytes"),
        ],
    )
    def test_each_refusal_says_what_to_do(self, status: str, code: str, reason: str, http: HttpClient) -> None:
        body = f"<?xml version='1.0'?><Error><Code>{code}</Code></Error>" if code else ""

        error = refusal(answer(body.encode(), status=status), http)

        assert not isinstance(error, ObjectNotFound)
        assert error.location == "s3://bundles/p"
        assert reason in error.reason

    @pytest.mark.parametrize("body", [b"<Error><Code>NoSuchKey</Code></Error>", b"", b"not here"])
    def test_a_404_without_a_reason_is_not_found(self, body: bytes, http: HttpClient) -> None:
        assert isinstance(refusal(answer(body, status="404 Not Found"), http), ObjectNotFound)

    def test_a_server_nobody_runs_is_a_storage_error(self, http: HttpClient) -> None:
        with running_server(answering(answer())) as server:
            url = server.url

        with pytest.raises(StorageError, match="connection refused"):
            at_server(url, http).read("k")
        with pytest.raises(StorageError, match="Could not connect to the endpoint"):
            at_server(url, http).write("k", b"{}")

    def test_a_missing_bucket_is_named(self, open_moto: Moto, http: HttpClient) -> None:
        storage = open_publish_storage("s3://nobodys-bucket", http=http, environ=open_moto.environ())

        for use in both_uses(storage, KEY):
            with pytest.raises(StorageError, match="there is no bucket nobodys-bucket") as caught:
                use()
            assert not isinstance(caught.value, ObjectNotFound)

    def test_no_credentials_are_a_storage_error_that_says_what_to_set(
        self, http: HttpClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
        monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        storage = open_publish_storage("s3://bundles", http=http, environ={"AWS_REGION": "eu-central-1"})

        for use in both_uses(storage, KEY):
            with pytest.raises(StorageError, match="no AWS credentials: set AWS_ACCESS_KEY_ID"):
                use()

    def test_writing_without_boto3_says_what_to_install(self) -> None:
        code = (
            "import sys; sys.modules['boto3'] = None\n"
            "from handler.http.client import HttpClient\n"
            "from handler.storage.location import open_publish_storage\n"
            f"open_publish_storage('s3://bundles', http=HttpClient(), environ={ON_LOOPBACK!r}).write('k', b'')"
        )
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

        assert ran.returncode == 1
        assert (
            "StorageError: s3://bundles: boto3 is missing: install the wheel of Stile, which brings it, " in ran.stderr
        )

    def test_reading_imports_neither_boto3_nor_botocore(self, open_moto: Moto) -> None:
        open_moto.client("s3").put_object(Bucket="stile-bundles", Key="cold/k", Body=b"{}")
        code = (
            "import os, sys\n"
            "from handler.http.client import HttpClient\n"
            "from handler.storage.location import open_storage\n"
            "storage = open_storage('s3://stile-bundles/cold', http=HttpClient(), environ=os.environ)\n"
            "print(storage.read('k').body, sorted({'boto3', 'botocore'} & set(sys.modules)))"
        )
        environ = os.environ | open_moto.environ()
        ran = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)

        assert ran.stdout.strip() == "b'{}' []"


CONFLICT = answer(b"<Error><Code>ConditionalRequestConflict</Code></Error>", status="409 Conflict")


def published_at(location: str, http: HttpClient) -> S3PublishStorage:
    storage = open_publish_storage(location, http=http, environ=ON_LOOPBACK)
    assert isinstance(storage, S3PublishStorage)
    return storage


def at_server(url: str, http: HttpClient) -> PublishStorage:
    return open_publish_storage("s3://bundles/p", http=http, environ=ON_LOOPBACK | {"AWS_ENDPOINT_URL": url})


def refusal(raw: bytes, http: HttpClient) -> StorageError:
    with running_server(answering(raw)) as server, pytest.raises(StorageError) as caught:
        at_server(server.url, http).read("k")
    return caught.value


@pytest.fixture(scope="module")
def guarded(moto: Moto) -> Moto:
    """AWS with permissions checked, and a bucket of two prefixes."""
    moto.add_bucket("guarded", {f"prod/{KEY}": b"{}", f"other/{KEY}": b"{}"})
    return moto


@pytest.fixture(scope="module")
def reader(guarded: Moto) -> dict[str, str]:
    """The environment of a process with the function's role."""
    return guarded.add_user(
        "reader-of-guarded",
        {"Action": "s3:GetObject", "Resource": "arn:aws:s3:::guarded/prod/*"},
        {"Action": "s3:ListBucket", "Resource": "arn:aws:s3:::guarded"},
    )


class TestPermissions:
    def test_the_role_reads_below_its_prefix(self, reader: dict[str, str], http: HttpClient) -> None:
        storage = open_publish_storage("s3://guarded/prod", http=http, environ=reader)

        assert body_at(storage, KEY) == b"{}"
        with pytest.raises(ObjectNotFound):
            storage.read("api/customers/missing.json")

    def test_the_role_reads_nothing_else(self, reader: dict[str, str], http: HttpClient) -> None:
        storage = open_publish_storage("s3://guarded/other", http=http, environ=reader)

        with pytest.raises(StorageError, match="access denied") as caught:
            storage.read(KEY)
        assert not isinstance(caught.value, ObjectNotFound)

    def test_the_role_does_not_write(self, reader: dict[str, str], http: HttpClient) -> None:
        storage = open_publish_storage("s3://guarded/prod", http=http, environ=reader)

        with pytest.raises(StorageError, match="s3:PutObject on arn:aws:s3:::guarded/prod/"):
            storage.write(KEY, b"{}")

    def test_a_publisher_writes(self, guarded: Moto, http: HttpClient) -> None:
        environ = guarded.add_user(
            "publisher-of-guarded",
            {"Action": ["s3:PutObject", "s3:GetObject"], "Resource": "arn:aws:s3:::guarded/prod/*"},
        )
        storage = open_publish_storage("s3://guarded/prod", http=http, environ=environ)
        storage.write("a b/ü%/+.json", b"new")

        assert body_at(storage, "a b/ü%/+.json") == b"new"

    def test_a_wrong_secret_is_called_that(self, reader: dict[str, str], http: HttpClient) -> None:
        environ = reader | {"AWS_SECRET_ACCESS_KEY": "wrong"}
        storage = open_publish_storage("s3://guarded/prod", http=http, environ=environ)

        for use in both_uses(storage, KEY):
            with pytest.raises(StorageError, match="the AWS credentials were refused"):
                use()
