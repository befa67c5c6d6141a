"""AWS credentials and request signatures (Signature Version 4)."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import UTC, datetime
from operator import itemgetter
from urllib.parse import SplitResult, quote, urlsplit

from handler.cold.records import record
from handler.errors.infrastructure import AwsError, HttpError, SettingsError
from handler.http.client import HttpClient, HttpRequest

ENDPOINT_NAMES: Mapping[str, str] = {"s3": "S3", "secretsmanager": "SECRETS_MANAGER", "ssm": "SSM"}
"""Service -> its name in environment variables."""

UNSIGNED = "UNSIGNED-PAYLOAD"
_CONTAINER_URL = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
_CONTAINER_HOSTS = {"127.0.0.1", "localhost", "::1", "169.254.170.2", "169.254.170.23", "fd00:ec2::23"}
_RENEWED_BEFORE_S = 300.0
_REMEDY = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give the process a role"
_UNSIGNED = {
    "authorization",
    "baggage",
    "connection",
    "expect",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "traceparent",
    "tracestate",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "x-amzn-trace-id",
}
"""Headers that proxies on the way may change; the list is botocore's."""


@record(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Credentials to sign requests with. ``expires_at`` is in seconds since the epoch; ``None``: they do not expire."""

    access_key: str
    secret_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)
    expires_at: float | None = None


class CredentialSource:
    """A source of credentials, which renews them five minutes before they expire.

    A process has one source and one client.
    """

    def __init__(self, environ: Mapping[str, str], *, http: HttpClient, clock: Callable[[], float] = time.time) -> None:
        self._environ = environ
        self._http = http
        self._clock = clock
        self._current: Credentials | None = None

    def current(self) -> Credentials:
        """Return credentials that are valid for the next minutes.

        Raises:
            AwsError: no credentials are found.
        """
        current = self._current
        if current is None or (
            current.expires_at is not None and current.expires_at - self._clock() < _RENEWED_BEFORE_S
        ):
            self._current = current = find_credentials(self._environ, self._http)
        return current

    def forget(self) -> None:
        """Look for credentials again next time, even if the current ones have not expired."""
        self._current = None


def find_credentials(environ: Mapping[str, str], http: HttpClient) -> Credentials:
    """Find credentials in the environment, as Lambda sets them, or at its container URL; else with boto3.

    Raises:
        AwsError: no credentials are found.
    """
    access_key = environ.get("AWS_ACCESS_KEY_ID")
    secret_key = environ.get("AWS_SECRET_ACCESS_KEY")
    if access_key and secret_key:
        token = environ.get("AWS_SESSION_TOKEN") or None
        return Credentials(access_key=access_key, secret_key=secret_key, session_token=token)
    if url := environ.get(_CONTAINER_URL):
        return _credentials_of_container(url, environ, http)
    return _credentials_of_boto3(environ.get("AWS_PROFILE"))


def sign(request: HttpRequest, *, service: str, region: str, credentials: Credentials, now: datetime) -> dict[str, str]:
    """Return the headers of the signature; add them to ``request`` and change nothing else.

    ``now`` has a time zone. The URL is percent-encoded once, as it is sent.

    Source: AWS, "Create a signed AWS API request" (Signature Version 4); VPC Lattice, "SIGv4 authenticated requests",
    whose services take no signature of the body.
    """
    timestamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    digest = UNSIGNED if service == "vpc-lattice-svcs" else hashlib.sha256(request.body or b"").hexdigest()
    added = {"x-amz-content-sha256": digest, "x-amz-date": timestamp}
    if credentials.session_token:
        added["x-amz-security-token"] = credentials.session_token
    parts = urlsplit(request.url)
    headers = {"host": _host_header(parts), **{name.lower(): value for name, value in request.headers.items()}, **added}
    signed = {name: " ".join(headers[name].split()) for name in sorted(headers.keys() - _UNSIGNED)}
    names = ";".join(signed)
    path = (parts.path or "/") if service == "s3" else _canonical_path(parts.path)
    pairs = [pair.partition("=") for pair in parts.query.split("&") if pair]
    query = "&".join(f"{name}={value}" for name, _, value in sorted(pairs, key=itemgetter(0, 2)))
    fields = [f"{name}:{value}" for name, value in signed.items()]
    canonical = "\n".join((request.method.upper(), path, query, *fields, "", names, signed["x-amz-content-sha256"]))
    scope = f"{timestamp[:8]}/{region}/{service}/aws4_request"
    to_sign = f"AWS4-HMAC-SHA256\n{timestamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = f"AWS4{credentials.secret_key}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, to_sign.encode(), "sha256").hex()
    added["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={credentials.access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
    return added


def endpoint_of(environ: Mapping[str, str], service: str) -> str | None:
    """Return the environment's URL of a service (``AWS_ENDPOINT_URL_…``); ``None``: the service is at AWS.

    Raises:
        SettingsError: the URL is not valid.
    """
    for name in (f"AWS_ENDPOINT_URL_{ENDPOINT_NAMES[service]}", "AWS_ENDPOINT_URL"):
        if value := environ.get(name):
            parts = urlsplit(value)
            if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
                raise SettingsError(name, value, expected="an http or https address")
            return value.rstrip("/")
    return None


def region_of(environ: Mapping[str, str], *, required: bool) -> str:
    """Return the region of the environment or of the profile in AWS's files; if none is required, any region.

    Raises:
        SettingsError: a region is required, and none is set.
    """
    region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or ""
    if not region and required:
        region = _region_of_boto3(environ.get("AWS_PROFILE"))
    if required and not region:
        expected = "the region of the bucket and secrets, here or as region in ~/.aws/config"
        raise SettingsError("AWS_REGION", region, expected=expected)
    return region or "us-east-1"


def domain_of(region: str) -> str:
    """Return the domain of the hosts of services in a region."""
    return "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"


def _credentials_of_container(url: str, environ: Mapping[str, str], http: HttpClient) -> Credentials:
    """Return the credentials that the platform gives over HTTP, as to functions that start from a snapshot.

    Source: AWS SDKs and Tools reference guide, "Container credential provider".
    """
    parts = urlsplit(url)
    if parts.scheme != "https" and parts.hostname not in _CONTAINER_HOSTS:
        raise AwsError(f"{_CONTAINER_URL} names a host that credentials do not come from without https")
    token = environ.get("AWS_CONTAINER_AUTHORIZATION_TOKEN", "")
    request = HttpRequest(
        method="GET",
        url=url,
        headers={"authorization": token} if token else {},
        timeout_s=2,
        max_bytes=65_536,
        repeatable=True,
        guarded=False,  # the runtime names it, on its own link
    )
    try:
        response = http.send(request)
        answer = json.loads(response.body)
        return Credentials(
            access_key=str(answer["AccessKeyId"]),
            secret_key=str(answer["SecretAccessKey"]),
            session_token=str(answer["Token"]),
            expires_at=datetime.fromisoformat(answer["Expiration"]).timestamp(),
        )
    except HttpError as exc:
        raise AwsError(f"no AWS credentials: {exc}") from exc
    except (ValueError, TypeError, KeyError):  # no cause: it may quote the credentials
        raise AwsError("no AWS credentials: what the container was given is none") from None


def _credentials_of_boto3(profile: str | None) -> Credentials:
    try:
        import boto3  # noqa: TID251 (the fallback the ban speaks of)
        from botocore.exceptions import BotoCoreError
    except ImportError as exc:
        raise AwsError(f"no AWS credentials: {_REMEDY} (boto3, which knows more places, is missing)") from exc
    try:
        credentials = boto3.Session(profile_name=profile).get_credentials()
        frozen = credentials.get_frozen_credentials() if credentials else None
    except BotoCoreError as exc:
        raise AwsError(f"no AWS credentials: {exc}") from exc
    if frozen is None:
        raise AwsError(f"no AWS credentials: {_REMEDY}")
    expiry: datetime | None = getattr(credentials, "_expiry_time", None)  # botocore has no public attribute for it
    return Credentials(
        access_key=frozen.access_key,
        secret_key=frozen.secret_key,
        session_token=frozen.token,
        expires_at=expiry.timestamp() if expiry else None,
    )


def _region_of_boto3(profile: str | None) -> str:
    """Return the region in AWS's files; empty string if none. Lambda sets a variable, so no function comes here."""
    try:
        import boto3  # noqa: TID251 (if the environment sets no region)
        from botocore.exceptions import BotoCoreError
    except ImportError:
        return ""
    try:
        return boto3.Session(profile_name=profile).region_name or ""
    except BotoCoreError as exc:
        raise SettingsError("AWS_PROFILE", profile or "", expected=f"a profile in AWS's files ({exc})") from exc


def _host_header(url: SplitResult) -> str:
    """Return the ``host`` header that http.client sends."""
    host = url.hostname or ""
    host = f"[{host}]" if ":" in host else host
    default = {"http": 80, "https": 443}.get(url.scheme)
    return host if url.port in (None, default) else f"{host}:{url.port}"


def _canonical_path(path: str) -> str:
    """Return a path resolved and encoded again, as all services but S3 do, which uses the path as sent."""
    segments: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            del segments[-1:]
        elif segment not in ("", "."):
            segments.append(segment)
    last = "/" if segments and path.endswith("/") else ""
    return quote(f"/{'/'.join(segments)}{last}", safe="/~")
