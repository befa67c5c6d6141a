from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from unittest import mock

import pytest
from botocore import auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotocoreCredentials

from handler.aws.sigv4 import Credentials, CredentialSource, find_credentials, sign
from handler.errors.infrastructure import AwsError
from handler.http.client import HttpClient, HttpRequest
from tests.support.raw_http import answer, answering, running_server

NOW = datetime(2026, 3, 1, 9, 30, 15, tzinfo=UTC)
LASTING = Credentials(access_key="AKIDEXAMPLE", secret_key="wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
TEMPORARY = Credentials(access_key="ASIAEXAMPLE", secret_key="another/secret", session_token="token+/==")


def request(
    url: str, *, method: str = "GET", headers: Mapping[str, str] | None = None, body: bytes | None = None
) -> HttpRequest:
    return HttpRequest(method=method, url=url, headers=headers or {}, body=body, timeout_s=1, max_bytes=1)


def botocore_authorization(sent: HttpRequest, service: str, credentials: Credentials, now: datetime) -> str:
    """What botocore puts into ``authorization`` for the same request."""
    signer = (auth.S3SigV4Auth if service == "s3" else auth.SigV4Auth)(
        BotocoreCredentials(credentials.access_key, credentials.secret_key, credentials.session_token),
        service,
        "eu-central-1",
    )
    digest = sign(sent, service=service, region="eu-central-1", credentials=credentials, now=now)
    headers = dict(sent.headers) | {"X-Amz-Content-SHA256": digest["x-amz-content-sha256"]}
    theirs = AWSRequest(method=sent.method, url=sent.url, headers=headers, data=sent.body or b"")
    naive = now.astimezone(UTC).replace(tzinfo=None)
    with mock.patch.object(auth, "get_current_datetime", return_value=naive):
        signer.add_auth(theirs)
    return str(theirs.headers["Authorization"])


@pytest.mark.parametrize("service", ["s3", "secretsmanager", "execute-api", "appsync", "vpc-lattice-svcs"])
@pytest.mark.parametrize("credentials", [LASTING, TEMPORARY], ids=["lasting", "temporary"])
@pytest.mark.parametrize(
    "url",
    [
        "https://bucket.s3.eu-central-1.amazonaws.com/",
        "https://bucket.s3.eu-central-1.amazonaws.com/api/customers/bundle.v2.json",
        "https://h.example/with%20space/%C3%BCber/100%25/a+b/(x)~_-.!*'",
        "https://h.example/a//b///c/",
        "https://h.example/a/./b/../c/..",
        "https://h.example/../../a",
        "https://h.example/lower%c3%bc",
        "https://h.example/?b=2&a=1&a=0&B=3&empty=&alone&space=%20&plus=%2B",
        "https://h.example/?a-b=1&a=2&a%20=3",
        "https://h.example:443/default-port",
        "https://h.example:8443/other-port",
        "http://h.example:80/plain",
        "http://127.0.0.1:5000/bucket/key",
        "https://UPPER.Example/x",
        "http://[::1]:9000/six",
    ],
)
def test_a_get_is_signed_as_botocore_signs_it(url: str, credentials: Credentials, service: str) -> None:
    sent = request(url)

    added = sign(sent, service=service, region="eu-central-1", credentials=credentials, now=NOW)

    assert added["authorization"] == botocore_authorization(sent, service, credentials, NOW)


@pytest.mark.parametrize("service", ["s3", "secretsmanager", "ssm", "appsync", "execute-api", "vpc-lattice-svcs"])
@pytest.mark.parametrize("credentials", [LASTING, TEMPORARY], ids=["lasting", "temporary"])
@pytest.mark.parametrize(
    ("method", "body"), [("GET", None), ("POST", b"{}"), ("PUT", bytes(range(256))), ("HEAD", None), ("post", b"x")]
)
@pytest.mark.parametrize(
    "now",
    [
        NOW,
        datetime(2024, 2, 29, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(2026, 1, 1, 0, 30, tzinfo=timezone(timedelta(hours=2))),
    ],
)
def test_methods_bodies_headers_and_times_are_signed_as_botocore_does(
    method: str, body: bytes | None, service: str, credentials: Credentials, now: datetime
) -> None:
    headers = {
        "Content-Type": "application/x-amz-json-1.1",
        "X-Amz-Target": "  secretsmanager.GetSecretValue   twice  ",
        "User-Agent": "not signed",
        "Authorization": "not signed either",
        "Connection": "keep-alive",
    }
    sent = request("https://h.example/p?q=1", method=method, headers=headers, body=body)

    added = sign(sent, service=service, region="eu-central-1", credentials=credentials, now=now)

    assert added["authorization"] == botocore_authorization(sent, service, credentials, now)


def test_lattice_takes_no_signature_of_the_body() -> None:
    sent = request("https://h.example/", method="POST", body=b"{}")

    added = sign(sent, service="vpc-lattice-svcs", region="eu-central-1", credentials=LASTING, now=NOW)

    assert added["x-amz-content-sha256"] == "UNSIGNED-PAYLOAD"


@pytest.mark.parametrize("service", ["s3", "secretsmanager"])
def test_an_address_without_a_path_is_signed_with_the_slash_that_goes_out(service: str) -> None:
    bare, slashed = (
        sign(request(url), service=service, region="eu-central-1", credentials=LASTING, now=NOW)
        for url in ("https://h.example", "https://h.example/")
    )

    assert bare == slashed


def test_the_example_of_the_s3_documentation_comes_out() -> None:
    sent = request("https://examplebucket.s3.amazonaws.com/test.txt", headers={"Range": "bytes=0-9"})
    credentials = Credentials(access_key="AKIAIOSFODNN7EXAMPLE", secret_key="wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    now = datetime(2013, 5, 24, tzinfo=UTC)

    added = sign(sent, service="s3", region="us-east-1", credentials=credentials, now=now)

    assert added == {
        "authorization": (
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        ),
        "x-amz-content-sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "x-amz-date": "20130524T000000Z",
    }


def test_a_session_token_is_sent_and_signed() -> None:
    added = sign(request("https://h.example/"), service="s3", region="eu-central-1", credentials=TEMPORARY, now=NOW)

    assert added["x-amz-security-token"] == "token+/=="
    assert ";x-amz-security-token," in added["authorization"]


def test_credentials_do_not_show_their_secrets() -> None:
    shown = repr(TEMPORARY)

    assert "ASIAEXAMPLE" in shown
    assert "another/secret" not in shown
    assert "token" not in shown.replace("session_token", "")


def test_credentials_of_the_environment_come_first() -> None:
    environ = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "token"}

    assert find_credentials(environ, HttpClient()) == Credentials(
        access_key="id", secret_key="secret", session_token="token"
    )


def test_an_empty_session_token_is_none() -> None:
    environ = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": ""}

    assert find_credentials(environ, HttpClient()).session_token is None


def test_credentials_of_the_environment_need_no_boto3() -> None:
    code = (
        "import sys; from handler.aws.sigv4 import find_credentials\n"
        "find_credentials({'AWS_ACCESS_KEY_ID': 'a', 'AWS_SECRET_ACCESS_KEY': 'b'}, None)\n"
        "print(sorted({'boto3', 'botocore'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout.strip() == "[]"


@pytest.fixture
def no_aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A process without any credentials. Returns the file that boto3 reads them from."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    file = tmp_path / "credentials"
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return file


def test_boto3_finds_what_the_environment_lacks(no_aws: Path) -> None:
    no_aws.write_text(
        "[default]\naws_access_key_id = filed\naws_secret_access_key = s\n[other]\n"
        "aws_access_key_id = other\naws_secret_access_key = s\naws_session_token = t\n"
    )

    assert find_credentials({}, HttpClient()) == Credentials(access_key="filed", secret_key="s")
    assert find_credentials({"AWS_PROFILE": "other"}, HttpClient()) == Credentials(
        access_key="other", secret_key="s", session_token="t"
    )


@pytest.mark.usefixtures("no_aws")
def test_no_credentials_anywhere_says_what_to_set() -> None:
    with pytest.raises(AwsError, match="no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"):
        find_credentials({"AWS_ACCESS_KEY_ID": "alone"}, HttpClient())


@pytest.mark.usefixtures("no_aws")
def test_an_unknown_profile_is_named() -> None:
    with pytest.raises(AwsError, match="nobody"):
        find_credentials({"AWS_PROFILE": "nobody"}, HttpClient())


def test_credentials_are_found_again_five_minutes_before_they_expire(no_aws: Path, tmp_path: Path) -> None:
    script = tmp_path / "issue.py"
    script.write_text(
        "import json, datetime, pathlib\n"
        "count = pathlib.Path(__file__).with_name('count')\n"
        "n = int(count.read_text()) + 1 if count.exists() else 1\n"
        "count.write_text(str(n))\n"
        "expiry = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)\n"
        "print(json.dumps({'Version': 1, 'AccessKeyId': f'issued{n}', 'SecretAccessKey': 's',"
        " 'SessionToken': 't', 'Expiration': expiry.isoformat()}))\n"
    )
    (tmp_path / "config").write_text(f"[default]\ncredential_process = {sys.executable} {script}\n")
    passed_s = 0.0
    source = CredentialSource({}, http=HttpClient(), clock=lambda: time.time() + passed_s)

    first = source.current()
    assert first.expires_at is not None
    assert source.current() is first
    passed_s = 54 * 60
    assert source.current() is first
    passed_s = 56 * 60

    assert source.current().access_key != first.access_key


@pytest.fixture
def http() -> Iterator[HttpClient]:
    client = HttpClient()
    yield client
    client.close()


GIVEN = {
    "AccessKeyId": "container",
    "SecretAccessKey": "s",
    "Token": "t",
    "Expiration": "2100-01-01T00:00:00Z",
}


def from_container(http: HttpClient, *answers: bytes) -> tuple[Credentials, list[bytes]]:
    """What a container's endpoint gives, and what it was asked."""
    with running_server(answering(*answers)) as server:
        environ = {
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{server.url}2021-04-23/credentials",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN": "of-the-container",
        }
        return find_credentials(environ, http), server.requests


def test_credentials_come_from_the_container_as_after_a_snapshot(http: HttpClient) -> None:
    found, requests = from_container(http, answer(json.dumps(GIVEN).encode()))

    assert found == Credentials(
        access_key="container",
        secret_key="s",
        session_token="t",
        expires_at=datetime(2100, 1, 1, tzinfo=UTC).timestamp(),
    )
    assert requests[0].startswith(b"GET /2021-04-23/credentials HTTP/1.1")
    assert b"authorization: of-the-container" in requests[0].lower()


@pytest.mark.parametrize("body", [b"", b"nonsense", b"[]", b"{}", json.dumps({**GIVEN, "Expiration": "soon"}).encode()])
def test_container_that_gives_no_credentials_is_told_without_what_it_gave(http: HttpClient, body: bytes) -> None:
    with pytest.raises(AwsError, match="what the container was given is none") as caught:
        from_container(http, answer(body))

    assert caught.value.__cause__ is None


def test_container_that_does_not_answer_is_named(http: HttpClient) -> None:
    environ = {"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:1/"}
    with pytest.raises(AwsError, match=r"no AWS credentials: 127\.0\.0\.1: connection refused"):
        find_credentials(environ, http)


def test_container_at_another_host_has_to_have_https(http: HttpClient) -> None:
    environ = {"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://credentials.invalid/"}
    with pytest.raises(AwsError, match="without https"):
        find_credentials(environ, http)


def test_credentials_of_a_container_are_renewed_before_they_end_and_when_they_are_forgotten(http: HttpClient) -> None:
    now = 1_000_000.0
    end = datetime.fromtimestamp(now + 600, UTC).isoformat()
    body = json.dumps({**GIVEN, "Expiration": end}).encode()
    with running_server(answering(answer(body))) as server:
        source = CredentialSource({"AWS_CONTAINER_CREDENTIALS_FULL_URI": server.url}, http=http, clock=lambda: now)
        source.current()
        source.current()
        assert len(server.requests) == 1
        now += 301
        source.current()
        assert len(server.requests) == 2
        now -= 301
        source.forget()
        source.current()
        assert len(server.requests) == 3
