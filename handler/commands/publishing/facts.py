"""The facts that are stored with each published bundle: its publisher, the time, and the commit."""

from __future__ import annotations

import getpass
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote, unquote

from handler import __version__
from handler.aws.sigv4 import ENDPOINT_NAMES
from handler.storage.s3_publishing import MALFORMED

PREFIX = "stile-"
MAX_CHARS = 256
"""The limit of a stored fact. S3 takes 2 KB of metadata for an object."""

GIT_TIMEOUT_S = 10
STS_TIMEOUT_S = 5
DIRTY = "+changes"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishFacts:
    """The facts of one publication; unknown ones are empty strings."""

    by: str = ""  # the ARN of the credentials, or a name on this machine
    at: str = ""  # UTC, ISO 8601, to the second
    commit: str = ""  # of the endpoint folder's repository; "+changes" follows if files differ from it
    release: str = ""  # of Stile
    restores: str = ""  # the version that a rollback stored again

    def stored(self) -> dict[str, str]:
        """Return the facts as a storage takes them: printable ASCII, without those that are not known."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {f"{PREFIX}{name}": _ascii(value) for name, value in values.items() if value}

    def plain(self) -> dict[str, str]:
        """Return the facts as JSON, without the time, which older objects have from their storage."""
        return {"by": self.by, "commit": self.commit, "release": self.release, "restores": self.restores}


def read_facts(stored: Mapping[str, str]) -> PublishFacts:
    """Return the facts of a stored object, each in one line. Objects of older releases have none."""
    values = {each.name: unquote(stored.get(f"{PREFIX}{each.name}", "")) for each in fields(PublishFacts)}
    return PublishFacts(**{name: " ".join(value.split()) for name, value in values.items()})


def gather_facts(folder: Path | None, destination: str, environ: Mapping[str, str]) -> PublishFacts:
    """Return the facts of a publication that happens now. ``folder``: the endpoints; ``None`` if none is published."""
    by = _caller_arn(environ) if destination.startswith("s3://") else ""
    commit = _git(folder, "rev-parse", "HEAD") if folder else ""
    return PublishFacts(
        by=by or _local_name(folder),
        at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        commit=commit + (DIRTY if commit and _git(folder, "status", "--porcelain", "--", ".") else ""),
        release=__version__,
    )


def _caller_arn(environ: Mapping[str, str]) -> str:
    """Return the ARN of the credentials; empty string without an answer of STS.

    STS is not asked if S3 alone has a substitute: the credentials are the substitute's.
    """
    general, own = environ.get("AWS_ENDPOINT_URL"), environ.get("AWS_ENDPOINT_URL_STS")
    if environ.get(f"AWS_ENDPOINT_URL_{ENDPOINT_NAMES['s3']}") and not (general or own):
        return ""
    import boto3  # noqa: TID251 (at deploy time only)
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError
    from botocore.parsers import ResponseParserError

    region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or None
    quick = Config(connect_timeout=STS_TIMEOUT_S, read_timeout=STS_TIMEOUT_S, retries={"total_max_attempts": 1})
    try:
        client = boto3.Session().client("sts", region_name=region, endpoint_url=own or general, config=quick)
        return str(client.get_caller_identity().get("Arn", ""))
    except (BotoCoreError, ClientError, ResponseParserError, *MALFORMED):
        return ""


def _local_name(folder: Path | None) -> str:
    """Return the author's name in git, or the name of the user at this machine."""
    name = _git(folder, "config", "user.email") if folder else ""
    if name:
        return name
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"


def _git(folder: Path | None, *words: str) -> str:
    """Return the output of git in a folder; empty string if git or the repository is missing."""
    try:
        process = subprocess.run(  # noqa: S603 - fixed words
            ["git", *words],  # noqa: S607 - the author's own git
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=GIT_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return process.stdout.strip() if process.returncode == 0 else ""


def _ascii(value: str) -> str:
    """Encode characters that HTTP headers cannot carry, and end a long value between two characters."""
    encoded = [quote(character, safe=_SAFE) for character in " ".join(value.split())]
    while sum(map(len, encoded)) > MAX_CHARS:
        encoded.pop()
    return "".join(encoded)


_SAFE = " !#$&'()*+,/:;<=>?@[]^_`{|}~-."
