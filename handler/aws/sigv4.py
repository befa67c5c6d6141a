"""AWS credentials and request signatures (Signature Version 4)."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import UTC, datetime
from urllib.parse import quote, urlsplit

from handler.cold.records import record
from handler.errors.infrastructure import AwsError, HttpError, SettingsError
from handler.http.client import HttpClient, HttpRequest


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
        self._held: Credentials | None = None

    def current(self) -> Credentials:
        """Return credentials that are valid for the next minutes.

        Raises:
            AwsError: no credentials are found.

        """
        held = self._held
        if held is None or (held.expires_at is not None and held.expires_at - self._clock() < _RENEWED_BEFORE_S):
            self._held = held = find_credentials(self._environ, self._http)
        return held

    def forget(self) -> None:
        """Look for credentials again next time, even if the current ones have not expired."""
        self._held = None


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
    digest = UNSIGNED if service == "vpc-lattice-svcs" else _sha256(request.body or b"")
    added = {"x-amz-content-sha256": digest, "x-amz-date": timestamp}
    if credentials.session_token:
        added["x-amz-security-token"] = credentials.session_token
    headers = _signed_headers(request, added)
    names = ";".join(headers)
    canonical = "\n".join(
        (
            request.method.upper(),
            _canonical_path(request.url, service),
            _canonical_query(request.url),
            *(f"{name}:{value}" for name, value in headers.items()),
            "",
            names,
            headers["x-amz-content-sha256"],
        )
    )
    scope = f"{timestamp[:8]}/{region}/{service}/aws4_request"
    to_sign = f"AWS4-HMAC-SHA256\n{timestamp}\n{scope}\n{_sha256(canonical.encode())}"
    signature = hmac.new(_key(credentials.secret_key, scope), to_sign.encode(), hashlib.sha256).hexdigest()
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
    if region or not required:
        return region or "us-east-1"
    expected = "the region of the bucket and secrets, here or as region in ~/.aws/config"
    raise SettingsError("AWS_REGION", region, expected=expected)


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
    headers = {"authorization": token} if token else {}
    request = HttpRequest(
        method="GET",
        url=url,
        headers=headers,
        timeout_s=2,
        max_bytes=65_536,
        repeatable=True,
        guarded=False,  # the runtime names it, on its own link
    )
    try:
        response = http.send(request)
        found = json.loads(response.body)
        return Credentials(
            access_key=str(found["AccessKeyId"]),
            secret_key=str(found["SecretAccessKey"]),
            session_token=str(found["Token"]),
            expires_at=datetime.fromisoformat(found["Expiration"]).timestamp(),
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
        raise AwsError(f"no AWS credentials: {_WHAT_TO_SET} (boto3, which knows more places, is missing)") from exc
    try:
        found = boto3.Session(profile_name=profile).get_credentials()
        frozen = found.get_frozen_credentials() if found else None
    except BotoCoreError as exc:
        raise AwsError(f"no AWS credentials: {exc}") from exc
    if frozen is None:
        raise AwsError(f"no AWS credentials: {_WHAT_TO_SET}")
    expiry: datetime | None = getattr(found, "_expiry_time", None)  # botocore has no public attribute for it
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


def _signed_headers(request: HttpRequest, added: Mapping[str, str]) -> dict[str, str]:
    """Return all headers that proxies do not change, by name; runs of white space become one space."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    headers = {"host": _host_header(request.url), **headers, **added}
    return {name: " ".join(headers[name].split()) for name in sorted(headers.keys() - _UNSIGNED)}


def _host_header(url: str) -> str:
    """Return the ``host`` header that http.client sends."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    default = {"http": 80, "https": 443}.get(parts.scheme)
    return host if parts.port in (None, default) else f"{host}:{parts.port}"


def _canonical_path(url: str, service: str) -> str:
    """Return the canonical path. S3 uses the path as sent; all other services resolve it and encode it again."""
    path = urlsplit(url).path
    if service == "s3":
        return path or "/"
    kept: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            del kept[-1:]
        elif segment not in ("", "."):
            kept.append(segment)
    last = "/" if kept and path.endswith("/") else ""
    return quote(f"/{'/'.join(kept)}{last}", safe="/~")


def _canonical_query(url: str) -> str:
    pairs = (pair.partition("=") for pair in urlsplit(url).query.split("&") if pair)
    return "&".join(f"{name}={value}" for name, value in sorted((name, value) for name, _, value in pairs))


def _key(secret_key: str, scope: str) -> bytes:
    key = f"AWS4{secret_key}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


ENDPOINT_NAMES: Mapping[str, str] = {"s3": "S3", "secretsmanager": "SECRETS_MANAGER", "ssm": "SSM"}
"""Service -> its name in environment variables."""

UNSIGNED = "UNSIGNED-PAYLOAD"
_CONTAINER_URL = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
_CONTAINER_HOSTS = {"127.0.0.1", "localhost", "::1", "169.254.170.2", "169.254.170.23", "fd00:ec2::23"}
_RENEWED_BEFORE_S = 300.0
_WHAT_TO_SET = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give the process a role"
_UNSIGNED = {  # proxies on the way may change these; the list is botocore's
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
