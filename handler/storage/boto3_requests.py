"""Requests to S3 with boto3, for the commands: it repeats them, and it computes checksums."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from handler.aws.sigv4 import Credentials
from handler.errors.infrastructure import AwsError, StorageError
from handler.storage.s3 import S3Storage

MAX_ATTEMPTS = 4
MAX_CONNECTIONS = 16


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

MALFORMED = (LookupError, ValueError, TypeError, AttributeError)
"""The errors, beside those of botocore, of reading an answer that AWS would not give."""


class Boto3Requests:
    """Requests to the bucket of a storage. Threads may share them."""

    def __init__(self, objects: S3Storage, *, timeout_s: float) -> None:
        self._objects = objects
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._kept_client: tuple[Credentials, Any] | None = None

    def ask(self, request: Callable[[Any], Any]) -> tuple[Any, Failure | None]:
        """Return the members that ``request`` reads from the answer to boto3's client, or the failure.

        An answer without these members is not of S3: a proxy or a sign-in page has answered.

        Raises:
            StorageError: boto3 or credentials are missing.
        """
        location = self._objects.location
        try:
            import boto3  # noqa: TID251 (at deploy time only)
            from botocore.exceptions import BotoCoreError, ClientError
            from botocore.parsers import ResponseParserError
        except ImportError as exc:
            raise StorageError(
                location,
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
            raise StorageError(location, str(exc)) from exc
        except (ResponseParserError, *MALFORMED):
            return None, NOT_AN_ANSWER

    def client(self, session: Callable[[], Any]) -> Any:
        """Return boto3's client, cached until its credentials change: making one takes 40 times as long as a PUT."""
        with self._lock:
            credentials = self._objects.credentials.current()
            if self._kept_client is None or self._kept_client[0] is not credentials:
                self._kept_client = credentials, self._make_client(session(), credentials)
            return self._kept_client[1]

    def reason(self, failure: Failure, action: str) -> str:
        """Return the meaning of a failure, and its remedy. ``action``: the right that the request needs."""
        if failure.code == "403":  # the answer to a HEAD has no body, so it could be the credentials, too
            return f"{self._objects.advice('AccessDenied', action)}, and that the credentials are valid"
        return failure.sentence or self._objects.advice(failure.code, action)

    def _make_client(self, session: Any, credentials: Credentials) -> Any:
        from botocore.config import Config

        return session.client(
            "s3",
            region_name=self._objects.region,
            endpoint_url=self._objects.endpoint,
            aws_access_key_id=credentials.access_key,
            aws_secret_access_key=credentials.secret_key,
            aws_session_token=credentials.session_token,
            config=Config(
                s3={"addressing_style": "path"} if self._objects.endpoint else None,
                retries={"mode": "standard", "total_max_attempts": MAX_ATTEMPTS},
                connect_timeout=min(self._timeout_s, 10.0),
                read_timeout=self._timeout_s,
                max_pool_connections=MAX_CONNECTIONS,
            ),
        )
