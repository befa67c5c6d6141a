"""The storage of bundles in an S3 bucket."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from urllib.parse import quote

from handler.aws.sigv4 import CredentialSource, domain_of, endpoint_of, region_of, sign
from handler.cold.records import replaced
from handler.errors.infrastructure import AwsError, HttpError, ObjectNotFound, StorageError
from handler.http.client import HttpClient, HttpRequest, HttpResponse
from handler.storage.storage import READ_TIMEOUT_S, StoredObject, require_key


class S3Storage:
    """Objects in S3, or in a substitute at ``AWS_ENDPOINT_URL_S3``.

    Reads do without boto3, whose import takes longer than the rest of a cold start. ``S3PublishStorage`` writes.
    """

    def __init__(
        self, bucket: str, prefix: str, *, http: HttpClient, environ: Mapping[str, str], credentials: CredentialSource
    ) -> None:
        self.location = f"s3://{bucket}/{prefix}" if prefix else f"s3://{bucket}"
        self.bucket = bucket
        self.prefix = f"{prefix}/" if prefix else ""
        self._http = http
        self.credentials = credentials
        self.endpoint = endpoint_of(environ, "s3")
        self.region = region_of(environ, required=self.endpoint is None)

    def read(self, key: str, *, etag: str | None = None, timeout_s: float = READ_TIMEOUT_S) -> StoredObject | None:
        """See ``Storage``. A key that is too long for S3 is not found; S3 itself would answer with an error."""
        require_key(key, self.location)
        if len((self.prefix + key).encode()) > _MAX_KEY_BYTES:
            raise ObjectNotFound(f"{self.location}/{key}")
        headers = {"x-amz-checksum-mode": "ENABLED"} | ({"if-none-match": etag} if etag else {})
        response = self._get(self._url(self.prefix + key), headers, timeout_s=timeout_s)
        if response.status == 304:
            return None
        if response.status != 200:
            raise self._refusal(response, key, action="s3:GetObject")
        stored = response.headers.get("x-amz-checksum-sha256", "")
        digest = base64.b64encode(hashlib.sha256(response.body).digest()).decode()
        if stored and "-" not in stored and stored != digest:  # with a dash, of the parts of an upload: not one of ours
            raise StorageError(f"{self.location}/{key}", "the content does not match the checksum it was stored with")
        version = response.headers.get("x-amz-version-id", "")
        return StoredObject(response.body, response.headers.get("etag", ""), "" if version == UNVERSIONED else version)

    def list_keys(self, endpoint: str = "", *, timeout_s: float = READ_TIMEOUT_S) -> Iterator[str]:
        """See ``Storage``. Names of folders begin with a letter, and "@" comes after digits and before all letters.

        Source: Amazon S3 API, "ListObjectsV2".
        """
        prefix = self.prefix + (endpoint and f"{endpoint}/")
        after = f"{prefix}@"
        while True:
            query = f"list-type=2&prefix={quote(prefix, safe='')}&start-after={quote(after, safe='')}"
            response = self._get(f"{self._url('')}?{query}", {}, timeout_s=timeout_s)
            if response.status != 200:
                raise self._refusal(response, prefix, action="s3:ListBucket")
            if b"<ListBucketResult" not in response.body:
                raise StorageError(self.location, "the answer is not a list of keys: a proxy may be in between")
            keys = [key.decode(errors="replace") for key in re.findall(rb"<Key>([^<]+)</Key>", response.body)]
            yield from (key.removeprefix(self.prefix) for key in keys)
            if not keys or b"<IsTruncated>true<" not in response.body:
                return
            folder, index, _ = keys[-1].partition("/.index/")
            after = f"{folder}/@" if index else keys[-1]

    def warm(self) -> None:
        """See ``Storage``."""
        with contextlib.suppress(HttpError):
            self._http.open(self._url(""), timeout_s=READ_TIMEOUT_S)

    def _get(self, url: str, headers: Mapping[str, str], *, timeout_s: float) -> HttpResponse:
        request = HttpRequest(
            method="GET",
            url=url,
            headers=headers,
            timeout_s=timeout_s,
            max_bytes=64 * 1024 * 1024,
            repeatable=True,
            guarded=False,
        )
        try:
            credentials, now = self.credentials.current(), datetime.now(UTC)
            added = sign(request, service="s3", region=self.region, credentials=credentials, now=now)
            return self._http.send(replaced(request, headers={**headers, **added}))
        except (HttpError, AwsError) as exc:
            raise StorageError(self.location, str(exc)) from exc

    def _url(self, full_key: str) -> str:
        path = quote(full_key, safe="/-_.~")
        if self.endpoint:
            return f"{self.endpoint}/{self.bucket}/{path}"
        suffix = domain_of(self.region)
        if "." in self.bucket:  # the certificate covers one label in front of s3
            return f"https://s3.{self.region}.{suffix}/{self.bucket}/{path}"
        return f"https://{self.bucket}.s3.{self.region}.{suffix}/{path}"

    def _refusal(self, response: HttpResponse, key: str, *, action: str) -> StorageError:
        match = re.search(rb"<Code>([\w.]+)</Code>", response.body)
        code = match[1].decode() if match else f"HTTP status {response.status}"
        if code in _REFUSED_CREDENTIALS:
            self.credentials.forget()  # they may be renewed before they expire
        if response.status == 404 and code != "NoSuchBucket":
            return ObjectNotFound(f"{self.location}/{key}")
        if response.status == 403 and not match:
            code = "AccessDenied"
        return StorageError(self.location, self.advice(code, action))

    def advice(self, code: str, action: str) -> str:
        """Return the meaning of S3's error code, and its remedy."""
        match code:
            case "NoSuchBucket":
                return f"there is no bucket {self.bucket}: check the location, or deploy the bucket first"
            case "AccessDenied" | "AllAccessDisabled":
                denied = f"access denied: check that the role has {action} on arn:aws:s3:::{self.bucket}"
                if "Bucket" in action:  # a right on buckets
                    return denied
                key = "kms:GenerateDataKey and kms:Decrypt" if action == "s3:PutObject" else "kms:Decrypt"
                needs = f"{denied}/{self.prefix}* and s3:ListBucket on the bucket"
                return f"{needs}, and {key} if the bucket has a key of its own"
            case _ if code in _REFUSED_CREDENTIALS:
                return f"the AWS credentials were refused ({code}): renew or correct them"
            case "RequestTimeTooSkewed":
                return "the clock of this machine is wrong by more than 15 minutes"
            case "KeyTooLongError":
                return f"a key of more than {_MAX_KEY_BYTES:,} bytes: shorten the endpoint's name or the prefix"
            case "PermanentRedirect" | "TemporaryRedirect" | "AuthorizationHeaderMalformed":
                return f"the bucket is not in {self.region} ({code}): set AWS_REGION to its region"
            case _:
                next_step = "look at the key of the bucket" if code.startswith("KMS.") else "try again later"
                return f"S3 answered {code}; {next_step}"


UNVERSIONED = "null"
"""S3's version id of objects that were stored without versioning."""

_REFUSED_CREDENTIALS = frozenset({"ExpiredToken", "InvalidAccessKeyId", "InvalidToken", "SignatureDoesNotMatch"})
_MAX_KEY_BYTES = 1024
"""Source: the Amazon S3 guide, "Naming Amazon S3 objects"."""
