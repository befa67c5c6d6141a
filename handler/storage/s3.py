"""The storage of bundles in an S3 bucket."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from handler.aws.sigv4 import Credentials, CredentialSource, domain_of, endpoint_of, region_of, sign
from handler.errors.infrastructure import AwsError, HttpError, ObjectNotFound, StorageError
from handler.http.client import HttpClient, HttpRequest, HttpResponse
from handler.storage.storage import READ_TIMEOUT_S, StoredObject, require_key


class S3Storage:
    """Objects in S3, or in a substitute at ``AWS_ENDPOINT_URL_S3``.

    Reads do without boto3, whose import takes longer than the rest of a cold start. Writes happen at deploy time, and
    boto3 does their retries and checksums.
    """

    def __init__(
        self, bucket: str, prefix: str, *, http: HttpClient, environ: Mapping[str, str], credentials: CredentialSource
    ) -> None:
        self.location = f"s3://{bucket}/{prefix}" if prefix else f"s3://{bucket}"
        self._bucket = bucket
        self._prefix = f"{prefix}/" if prefix else ""
        self._http = http
        self._credentials = credentials
        self._endpoint = endpoint_of(environ, "s3")
        self._region = region_of(environ, required=self._endpoint is None)
        self._kept_writer: tuple[Credentials, Any] | None = None

    def read(self, key: str, *, etag: str | None = None, timeout_s: float = READ_TIMEOUT_S) -> StoredObject | None:
        """See ``Storage``. A key that is too long for S3 is not found; S3 itself would answer with an error."""
        require_key(key, self.location)
        if len((self._prefix + key).encode()) > _MAX_KEY_BYTES:
            raise ObjectNotFound(f"{self.location}/{key}")
        headers = {"x-amz-checksum-mode": "ENABLED"} | ({"if-none-match": etag} if etag else {})
        request = HttpRequest(
            method="GET",
            url=self._url(key),
            headers=headers,
            timeout_s=timeout_s,
            max_bytes=_MAX_BYTES,
            repeatable=True,
            guarded=False,
        )
        try:
            response = self._http.send(self._signed(request))
        except (HttpError, AwsError) as exc:
            raise StorageError(self.location, str(exc)) from exc
        if response.status == 304:
            return None
        if response.status != 200:
            raise self._refusal(response, key)
        _require_checksum(response, f"{self.location}/{key}")
        return StoredObject(response.body, response.headers.get("etag", ""))

    def write(self, key: str, body: bytes) -> None:
        """See ``Storage``. boto3 retries for up to some minutes."""
        code = self._put(key, body)
        if code:
            raise StorageError(self.location, self._advice(code, "s3:PutObject"))

    def add(self, key: str, body: bytes) -> bool:
        """See ``Storage``.

        Source: Amazon S3, "Add preconditions to S3 operations with conditional requests".
        """
        for _ in range(_TRIES_IN_CONFLICT):
            code = self._put(key, body, IfNoneMatch="*")
            if code != "ConditionalRequestConflict":
                break
        if code and code != "PreconditionFailed":
            raise StorageError(self.location, self._advice(code, "s3:PutObject"))
        return not code

    def read_tags(self) -> dict[str, str]:
        """Read the tags of the bucket with boto3; empty if it has none.

        Raises:
            StorageError: access is denied, or S3 does not answer as it should.

        """
        answer, code = self._by_boto3(lambda client: client.get_bucket_tagging(Bucket=self._bucket))
        if code == "NoSuchTagSet":
            return {}
        if code == "AccessDenied":
            raise StorageError(self.location, f"access denied: s3:GetBucketTagging on arn:aws:s3:::{self._bucket}")
        if code:
            raise StorageError(self.location, self._advice(code, "s3:GetBucketTagging"))
        return {str(tag["Key"]): str(tag.get("Value", "")) for tag in answer["TagSet"]}

    def _put(self, key: str, body: bytes, **more: str) -> str:
        """Store an object, and return S3's error code; empty string if it is stored."""
        require_key(key, self.location)
        return self._by_boto3(
            lambda client: client.put_object(
                Bucket=self._bucket,
                Key=self._prefix + key,
                Body=body,
                ChecksumAlgorithm="SHA256",
                ContentType="application/json",
                **more,
            )
        )[1]

    def _by_boto3(self, ask: Callable[[Any], Any]) -> tuple[Any, str]:
        """Return the answer that ``ask`` gets from boto3's client, or S3's error code."""
        try:
            import boto3  # noqa: TID251 (at deploy time only)
            from botocore.exceptions import BotoCoreError, ClientError
        except ImportError as exc:
            raise StorageError(
                self.location,
                "boto3 is missing: install the wheel of Stile, which brings it, or run `make setup` in a clone",
            ) from exc
        try:
            return ask(self._writer(boto3.Session)), ""
        except ClientError as exc:
            return None, str(exc.response.get("Error", {}).get("Code", "")) or "an error without a code"
        except (BotoCoreError, AwsError) as exc:
            raise StorageError(self.location, str(exc)) from exc

    def warm(self) -> None:
        """See ``Storage``."""
        with contextlib.suppress(HttpError):
            self._http.open(self._url(""), timeout_s=READ_TIMEOUT_S)

    def _url(self, key: str) -> str:
        path = quote(self._prefix + key, safe="/-_.~")
        if self._endpoint:
            return f"{self._endpoint}/{self._bucket}/{path}"
        suffix = domain_of(self._region)
        if "." in self._bucket:  # the certificate covers one label in front of s3
            return f"https://s3.{self._region}.{suffix}/{self._bucket}/{path}"
        return f"https://{self._bucket}.s3.{self._region}.{suffix}/{path}"

    def _signed(self, request: HttpRequest) -> HttpRequest:
        credentials, now = self._credentials.current(), datetime.now(UTC)
        added = sign(request, service="s3", region=self._region, credentials=credentials, now=now)
        return replace(request, headers={**request.headers, **added})

    def _writer(self, session: Callable[[], Any]) -> Any:
        """Return boto3's client, cached until its credentials change: making one takes 40 times as long as a PUT."""
        credentials = self._credentials.current()
        if self._kept_writer is None or self._kept_writer[0] is not credentials:
            self._kept_writer = credentials, self._make_writer(session(), credentials)
        return self._kept_writer[1]

    def _make_writer(self, session: Any, credentials: Credentials) -> Any:
        from botocore.config import Config

        return session.client(
            "s3",
            region_name=self._region,
            endpoint_url=self._endpoint,
            aws_access_key_id=credentials.access_key,
            aws_secret_access_key=credentials.secret_key,
            aws_session_token=credentials.session_token,
            config=Config(s3={"addressing_style": "path"} if self._endpoint else None),
        )

    def _refusal(self, response: HttpResponse, key: str) -> StorageError:
        found = _CODE.search(response.body)
        code = found[1].decode() if found else f"HTTP status {response.status}"
        if code in _REFUSED_CREDENTIALS:
            self._credentials.forget()  # they may be renewed before they expire
        if response.status == 404 and code != "NoSuchBucket":
            return ObjectNotFound(f"{self.location}/{key}")
        if response.status == 403 and not found:
            code = "AccessDenied"
        return StorageError(self.location, self._advice(code, "s3:GetObject"))

    def _advice(self, code: str, action: str) -> str:
        """Return the meaning of S3's error code, and its remedy."""
        match code:
            case "NoSuchBucket":
                return f"there is no bucket {self._bucket}: check the location, or deploy the bucket first"
            case "AccessDenied" | "AllAccessDisabled":
                needs = f"{action} on arn:aws:s3:::{self._bucket}/{self._prefix}*"
                return f"access denied: check that the role has {needs} and s3:ListBucket on the bucket"
            case _ if code in _REFUSED_CREDENTIALS:
                return f"the AWS credentials were refused ({code}): renew or correct them"
            case "RequestTimeTooSkewed":
                return "the clock of this machine is wrong by more than 15 minutes"
            case "KeyTooLongError":
                return f"a key of more than {_MAX_KEY_BYTES:,} bytes: shorten the endpoint's name or the prefix"
            case "PermanentRedirect" | "TemporaryRedirect" | "AuthorizationHeaderMalformed":
                return f"the bucket is not in {self._region} ({code}): set AWS_REGION to its region"
            case _:
                return f"S3 answered {code}; try again later"


def _require_checksum(response: HttpResponse, location: str) -> None:
    """Compare the body with its stored checksum, if there is one.

    A checksum with a dash is of the parts of an upload; our own uploads have no parts.
    """
    stored = response.headers.get("x-amz-checksum-sha256", "")
    digest = base64.b64encode(hashlib.sha256(response.body).digest()).decode()
    if stored and "-" not in stored and stored != digest:
        raise StorageError(location, "the content does not match the checksum it was stored with")


_REFUSED_CREDENTIALS = frozenset({"ExpiredToken", "InvalidAccessKeyId", "InvalidToken", "SignatureDoesNotMatch"})
_TRIES_IN_CONFLICT = 3
"""S3 asks for a retry if two writers add the same object at once."""

_MAX_BYTES = 64 * 1024 * 1024
_MAX_KEY_BYTES = 1024
"""Source: the Amazon S3 guide, "Naming Amazon S3 objects"."""

_CODE = re.compile(rb"<Code>(\w+)</Code>")
