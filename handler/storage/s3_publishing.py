"""Publishing to an S3 bucket: conditional writes, facts as metadata of the object, and versions."""

from __future__ import annotations

import base64
import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from operator import itemgetter, methodcaller
from typing import Any, TypeVar

from handler.aws.sigv4 import Credentials
from handler.errors.infrastructure import (
    AwsError,
    ObjectChanged,
    ObjectNotFound,
    StorageDenied,
    StorageError,
    WriteUnconfirmed,
)
from handler.storage.publishing import FRESH, ObjectHead
from handler.storage.s3 import UNVERSIONED, S3Storage
from handler.storage.storage import require_key

T = TypeVar("T")

TIMEOUT_S = 30.0
"""The longest silence of S3 in one attempt: the end of an upload waits in buffers on the way."""

MALFORMED = (LookupError, ValueError, TypeError, AttributeError)
"""The errors, beside those of botocore, of reading an answer that AWS would not give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A request that S3 refused or did not answer. ``is_certain``: S3 has changed nothing."""

    code: str  # S3's, or the HTTP status if the answer had no body; empty string if there was no answer
    sentence: str  # empty string if S3's code says it
    is_certain: bool


NOT_AN_ANSWER = Failure(
    code="",
    sentence="the answer is not of S3: a proxy or a sign-in page may be in between; look at the network and the URL",
    is_certain=False,
)


class S3PublishStorage(S3Storage):
    """See ``PublishStorage``. Requests are boto3's, which repeats them and computes checksums; threads may share them.

    Source: Amazon S3, "Add preconditions to S3 operations with conditional requests".
    """

    timeout_s = TIMEOUT_S

    _lock = threading.Lock()  # of all storages: a process has one
    _kept_client: tuple[Credentials, Any] | None = None

    def write(self, key: str, body: bytes) -> None:
        """See ``PublishStorage``."""
        _, failure = self._put(key, body)
        self._require_done(failure, "s3:PutObject")

    def add(self, key: str, body: bytes) -> bool:
        """See ``PublishStorage``."""
        _, failure = self._put(key, body, IfNoneMatch="*")
        if failure and failure.code == _NOT_AS_EXPECTED:
            with suppress(ObjectNotFound):  # discarded meanwhile
                if self.head(key).modified >= datetime.now(UTC) - FRESH:
                    return False
            self.write(key, body)
            return False
        self._require_done(failure, "s3:PutObject")
        return True

    def head(self, key: str, *, version: str = "") -> ObjectHead:
        """See ``PublishStorage``."""
        return self._read(lambda client, place: _head_of(client.head_object(**place)), key, version=version)

    def get(self, key: str, *, version: str = "") -> tuple[ObjectHead, bytes]:
        """See ``PublishStorage``."""

        def whole(client: Any, place: Mapping[str, str]) -> tuple[ObjectHead, bytes]:
            answer = client.get_object(**place)
            return _head_of(answer), answer["Body"].read()

        return self._read(whole, key, version=version)

    def put(self, key: str, body: bytes, *, expected: str | None, facts: Mapping[str, str]) -> ObjectHead:
        """See ``PublishStorage``. A write may have been done though its answer was lost, so it is looked for."""
        condition = {"IfNoneMatch": "*"} if expected is None else {"IfMatch": expected}
        answer, failure = self._put(key, body, Metadata=dict(facts), **condition)
        if failure is None:
            stored: ObjectHead = answer
            return stored
        present = self._look(key, after=failure, action="s3:PutObject and s3:GetObject")
        if present and (present.sha256, present.facts) == (hashlib.sha256(body).hexdigest(), facts):
            return present
        raise self._not_done(key, failure, "s3:PutObject")

    def remove(self, key: str, *, expected: str, facts: Mapping[str, str]) -> None:  # noqa: ARG002 (S3 keeps none)
        """See ``PublishStorage``. In a versioned bucket, a delete marker hides the versions.

        The object is looked for afterwards: the answer to a removal is empty, so others could give it.
        """
        _, failure = self._in_conflict_again(methodcaller("delete_object", **self._place(key), IfMatch=expected))
        fault = failure or NOT_AN_ANSWER
        present = self._look(key, after=fault, action="s3:DeleteObject and s3:GetObject")
        if present and (failure or present.etag == expected):
            raise self._not_done(key, fault, "s3:DeleteObject")

    def etags(self) -> Mapping[str, str]:
        """See ``PublishStorage``."""
        read, action = itemgetter("Key", "ETag"), "s3:ListBucket"
        entries = sorted(self._listed("list_objects_v2", self.prefix, action=action, read=read))
        return {key.removeprefix(self.prefix): etag for key, etag in entries}

    def kept_keys(self) -> Sequence[str]:
        """See ``PublishStorage``."""
        read, action = itemgetter("Key"), "s3:ListBucketVersions"
        keys = self._listed("list_object_versions", self.prefix, action=action, read=read)
        return sorted({key.removeprefix(self.prefix) for key in keys})

    def discard(self, key: str, *, before: datetime) -> bool:
        """See ``PublishStorage``. Versions are removed by their ids, so that a new one stays."""
        versions = self.versions(key)
        if not versions or any(each.modified >= before for each in versions):
            return False
        for each in reversed(versions):
            request = methodcaller("delete_object", **self._place(key), VersionId=each.version)
            self._answer(request, "s3:DeleteObjectVersion")
        return not self.versions(key)

    def versions(self, key: str) -> Sequence[ObjectHead]:
        """See ``PublishStorage``."""
        full = self._place(key)["Key"]
        listed = self._listed("list_object_versions", full, action="s3:ListBucketVersions", read=_keyed_version)
        own = [each for name, each in listed if name == full and each.version != UNVERSIONED]
        return sorted(own, key=lambda each: (each.is_current, each.modified), reverse=True)

    def keeps_versions(self) -> bool:
        """See ``PublishStorage``."""
        request = methodcaller("get_bucket_versioning", Bucket=self.bucket)
        return bool(self._answer(request, "s3:GetBucketVersioning").get("Status") == "Enabled")

    def read_tags(self) -> dict[str, str]:
        """Read the tags of the bucket; empty if it has none.

        Raises:
            StorageError: access is denied, or S3 does not answer as it should.
        """
        bucket = self.bucket
        tags, failure = self._ask(
            lambda client: {
                str(tag["Key"]): str(tag.get("Value", "")) for tag in client.get_bucket_tagging(Bucket=bucket)["TagSet"]
            }
        )
        if failure and failure.code == "NoSuchTagSet":
            return {}
        if failure and failure.code == "AccessDenied":
            raise StorageError(self.location, f"access denied: s3:GetBucketTagging on arn:aws:s3:::{bucket}")
        self._require_done(failure, "s3:GetBucketTagging")
        return dict(tags)

    def _put(self, key: str, body: bytes, **more: Any) -> tuple[Any, Failure | None]:
        described = {"ChecksumAlgorithm": "SHA256", "ContentType": "application/json", **more}
        place = self._place(key)

        def put(client: Any) -> ObjectHead:
            answer = client.put_object(**place, Body=body, **described)
            return _head_of({"ContentLength": len(body), "LastModified": datetime.now(UTC), **more, **answer})

        stored, failure = self._in_conflict_again(put)
        digest = hashlib.sha256(body).hexdigest()
        if failure or stored.sha256 == digest:
            return stored, failure
        with suppress(StorageError):
            if self.head(key).etag == stored.etag:  # some substitutes of S3 compute no digest
                return replace(stored, sha256=digest), None
        return None, NOT_AN_ANSWER

    def _in_conflict_again(self, request: Callable[[Any], Any]) -> tuple[Any, Failure | None]:
        """Ask again if S3 says that two writers met: at most one of them then has its condition."""
        for _ in range(3):
            answer, failure = self._ask(request)
            if failure is None or failure.code != _CONFLICT:
                break
        return answer, failure

    def _read(self, request: Callable[[Any, Mapping[str, str]], T], key: str, *, version: str) -> T:
        place = {**self._place(key), "ChecksumMode": "ENABLED", **({"VersionId": version} if version else {})}
        answer, failure = self._ask(lambda client: request(client, place))
        if failure and failure.code in ("404", "405", "NoSuchKey", "NoSuchVersion", "MethodNotAllowed"):
            raise ObjectNotFound(f"{self.location}/{key}")
        self._require_done(failure, "s3:GetObjectVersion" if version else "s3:GetObject")
        content: T = answer
        return content

    def _look(self, key: str, *, after: Failure, action: str) -> ObjectHead | None:
        """Describe the object that is there after a failed write; ``None`` if there is none."""
        if after.is_certain and after.code not in _OTHER_OBJECT:
            self._require_done(after, action)
        try:
            return self.head(key)
        except ObjectNotFound:
            return None
        except StorageError as exc:
            if after.is_certain:
                raise ObjectChanged(f"{self.location}/{key}") from exc
            reason = self._reason(after, "s3:PutObject")
            raise WriteUnconfirmed(f"{self.location}/{key}", reason) from exc

    def _not_done(self, key: str, failure: Failure, action: str) -> StorageError:
        place = f"{self.location}/{key}"
        if failure.code in _OTHER_OBJECT:
            return ObjectChanged(place)
        return StorageError(place, self._reason(failure, action))

    def _listed(self, operation: str, prefix: str, *, action: str, read: Callable[[Any], T]) -> list[T]:
        """Return each entry of a list, as ``read`` reads it. A list that is not whole is not an answer of S3."""
        place = {"Bucket": self.bucket, "Prefix": prefix}

        def listed(client: Any) -> list[T]:
            pages = list(client.get_paginator(operation).paginate(**place))
            if not all(page["Name"] for page in pages) or pages[-1]["IsTruncated"]:
                raise ValueError("a page of another server, or the last ones are missing")
            kinds = ("Contents", "Versions", "DeleteMarkers")
            return [read(each) for page in pages for kind in kinds for each in page.get(kind, ())]

        return list(self._answer(listed, action))

    def _place(self, key: str) -> dict[str, str]:
        require_key(key, self.location)
        return {"Bucket": self.bucket, "Key": f"{self.prefix}{key}"}

    def _answer(self, request: Callable[[Any], Any], action: str) -> Any:
        answer, failure = self._ask(request)
        self._require_done(failure, action)
        return answer

    def _require_done(self, failure: Failure | None, action: str) -> None:
        if failure:
            is_denied = failure.code in ("403", "AccessDenied", "AllAccessDisabled")
            error = StorageDenied if is_denied else StorageError
            raise error(self.location, self._reason(failure, action))

    def _ask(self, request: Callable[[Any], Any]) -> tuple[Any, Failure | None]:
        """Return the members that ``request`` reads from the answer to boto3's client, or the failure.

        An answer without these members is not of S3: a proxy or a sign-in page has answered.

        Raises:
            StorageError: boto3 or credentials are missing.
        """
        try:
            import boto3  # noqa: TID251 (at deploy time only)
            from botocore.exceptions import BotoCoreError, ClientError
            from botocore.parsers import ResponseParserError
        except ImportError as exc:
            raise StorageError(
                self.location,
                "boto3 is missing: install the wheel of Stile, which brings it, or run `make setup` in a clone",
            ) from exc
        try:
            return request(self.client(boto3.Session)), None
        except ClientError as exc:
            code = str(exc.response.get("Error", {}).get("Code", "")) or "an error without a code"
            status = int(exc.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
            return None, Failure(code=code, sentence="", is_certain=400 <= status < 500)
        except BotoCoreError as exc:
            return None, Failure(code="", sentence=str(exc), is_certain=False)
        except AwsError as exc:
            raise StorageError(self.location, str(exc)) from exc
        except (ResponseParserError, *MALFORMED):
            return None, NOT_AN_ANSWER

    def client(self, session: Callable[[], Any]) -> Any:
        """Return boto3's client, cached until its credentials change: making one takes 40 times as long as a PUT."""
        from botocore.config import Config

        with self._lock:
            credentials = self.credentials.current()
            if self._kept_client is None or self._kept_client[0] is not credentials:
                client = session().client(
                    "s3",
                    region_name=self.region,
                    endpoint_url=self.endpoint,
                    aws_access_key_id=credentials.access_key,
                    aws_secret_access_key=credentials.secret_key,
                    aws_session_token=credentials.session_token,
                    config=Config(
                        s3={"addressing_style": "path"} if self.endpoint else None,
                        retries={"mode": "standard", "total_max_attempts": 4},
                        connect_timeout=min(self.timeout_s, 10.0),
                        read_timeout=self.timeout_s,
                        max_pool_connections=16,
                    ),
                )
                self._kept_client = credentials, client
            return self._kept_client[1]

    def _reason(self, failure: Failure, action: str) -> str:
        """Return the meaning of a failure, and its remedy. ``action``: the right that the request needs."""
        if failure.code == "403":  # the answer to a HEAD has no body, so it could be the credentials, too
            return f"{self.advice('AccessDenied', action)}, and that the credentials are valid"
        return failure.sentence or self.advice(failure.code, action)


def _head_of(answer: Mapping[str, Any]) -> ObjectHead:
    version = str(answer.get("VersionId", ""))
    checksum = str(answer.get("ChecksumSHA256", ""))  # S3's own; one with a dash is of the parts of an upload
    return ObjectHead(
        etag=answer["ETag"],
        version="" if version == UNVERSIONED else version,
        sha256="" if "-" in checksum else base64.b64decode(checksum).hex(),
        size=int(answer["ContentLength"]),
        modified=answer["LastModified"].astimezone(UTC),
        facts=dict(answer.get("Metadata", {})),
    )


def _keyed_version(entry: Mapping[str, Any]) -> tuple[str, ObjectHead]:
    return str(entry["Key"]), ObjectHead(
        version=str(entry["VersionId"]),
        modified=entry["LastModified"].astimezone(UTC),
        size=int(entry.get("Size", 0)),
        etag=str(entry["ETag"]) if "Size" in entry else "",  # a delete marker has neither
        sha256="",
        is_current=bool(entry["IsLatest"]),
    )


_NOT_AS_EXPECTED = "PreconditionFailed"
_CONFLICT = "ConditionalRequestConflict"
_OTHER_OBJECT = (_NOT_AS_EXPECTED, _CONFLICT, "NoSuchKey")
