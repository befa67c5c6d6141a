"""The endpoints that are published at a location."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from handler.bundle.stored import bundle_key
from handler.errors.infrastructure import StorageError

DENIED = ("AccessDenied", "AccessDeniedException")


SERVED = (bundle_key("*/*"),)
"""The pattern of the bundles that a function of this release looks for."""


def endpoints_in_bucket(location: str, *, patterns: Sequence[str] = SERVED) -> list[str] | None:
    """Return the names of the endpoints at ``s3://bucket/prefix``; ``None`` if the credentials may not list them.

    ``patterns``: those of the keys of their bundles.

    Raises:
        StorageError: S3 does not answer, or refuses for another reason.
    """
    import boto3  # noqa: TID251 - takes longer than the other commands
    from botocore.exceptions import BotoCoreError, ClientError

    bucket, _, prefix = location.removeprefix("s3://").strip("/").partition("/")
    below = f"{prefix}/" if prefix else ""
    try:
        pages = boto3.Session().client("s3").get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=below)
        keys = [each["Key"].removeprefix(below) for page in pages for each in page.get("Contents", ())]
    except ClientError as exc:
        if exc.response.get("Error", {}).get("Code") in DENIED:
            return None
        raise StorageError(location, str(exc)) from exc
    except BotoCoreError as exc:
        raise StorageError(location, str(exc)) from exc
    found = (PurePosixPath(key) for key in keys)
    return sorted({key.parent.as_posix() for key in found if any(map(key.match, patterns))})
