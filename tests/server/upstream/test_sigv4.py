"""Requests that are signed with the function's role, for the services that take such requests and no others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from unittest import mock

import pytest
from botocore import auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotocoreCredentials

from handler.aws.sigv4 import CredentialSource
from handler.bundle.upstream import SIGNED_SERVICES, SigV4Auth
from handler.errors.upstream import CredentialUnavailable
from handler.http.client import HttpClient
from handler.server.outgoing.outgoing_services import OutgoingServices
from tests.server.outgoing.serving import asking, endpoint, with_token
from tests.support.api import Asked, Reply, running_api
from tests.support.function import Function, running_function
from tests.support.identities import HOLDER
from tests.support.secrecy import SESSION

ROLE = {
    "AWS_ACCESS_KEY_ID": "ASIAEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": SESSION.keep("a secret key of AWS", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
    "AWS_SESSION_TOKEN": "session-token/+==",
}


def signed_headers(asked: Asked) -> list[str]:
    return asked.authorization.partition("SignedHeaders=")[2].partition(",")[0].split(";")


def authorization_of(asked: Asked, url: str, service: str) -> str:
    """What botocore would have signed this request with: a server that checks has to find the same."""
    signer = auth.SigV4Auth(
        BotocoreCredentials(ROLE["AWS_ACCESS_KEY_ID"], ROLE["AWS_SECRET_ACCESS_KEY"], ROLE["AWS_SESSION_TOKEN"]),
        service,
        "eu-central-1",
    )
    own = ("host", "x-amz-date", "x-amz-security-token")
    headers = {name: asked.headers[name] for name in signed_headers(asked) if name not in own}
    theirs = AWSRequest(method="POST", url=url, headers=headers, data=asked.body)
    at = datetime.strptime(asked.headers["x-amz-date"], "%Y%m%dT%H%M%SZ")
    with mock.patch.object(auth, "get_current_datetime", return_value=at):
        signer.add_auth(theirs)
    return str(theirs.headers["Authorization"])


@contextmanager
def signing(folder: Path, url: str, service: str = "appsync", environ: Mapping[str, str] = ROLE) -> Iterator[Function]:
    upstream = (
        f"{{url: '{url}', headers: {{x-client: '  a   b '}}, forward_headers: [x-request-id], "
        f"auth: {{sigv4: {{service: {service}, region: eu-central-1}}}}}}"
    )
    with asking(
        folder, upstream, outgoing=OutgoingServices(aws=CredentialSource(environ, http=HttpClient()))
    ) as function:
        yield function


@pytest.mark.parametrize("service", SIGNED_SERVICES)
@pytest.mark.parametrize("path", ["/graphql", "/prod/gr%C3%A4ph?tenant=b&a=1&a=0"])
def test_request_is_signed_as_a_checking_server_wants_it(tmp_path: Path, service: str, path: str) -> None:
    with running_api() as api:
        url = api.url.replace("/graphql", path)
        with signing(tmp_path, url, service) as function:
            answer = function.call("Me", {}, headers={**with_token(), "x-request-id": "one"})

        (asked,) = api.asked
    assert "isError" not in answer.result
    assert asked.authorization == authorization_of(asked, url, service)
    assert asked.headers["x-amz-security-token"] == ROLE["AWS_SESSION_TOKEN"]
    assert {"content-type", "host", "x-client", "x-request-id"} <= {*signed_headers(asked)}
    assert (asked.headers["x-amz-content-sha256"] == "UNSIGNED-PAYLOAD") is (service == "vpc-lattice-svcs")


def test_whoever_calls_the_function_signs(tmp_path: Path) -> None:
    with running_api() as api, signing(tmp_path, api.url) as function:
        for caller in ({}, HOLDER, with_token()):
            assert "isError" not in function.call("Pay", {}, headers=caller).result

        assert all(each.startswith("AWS4-HMAC-SHA256 Credential=ASIAEXAMPLE/") for each in api.authorizations)


def test_refused_signature_is_not_repeated(tmp_path: Path) -> None:
    with running_api(lambda _: Reply({"errors": [{"message": "no"}]}, status=401)) as api:
        with signing(tmp_path, api.url) as function:
            assert "no" in function.call("Me", {}).text

        assert len(api.asked) == 1


@pytest.mark.parametrize("service", ["s3", "sts", "secretsmanager", "lambda", ""])
def test_bundle_that_names_another_service_gets_no_signature(tmp_path: Path, service: str) -> None:
    with running_api() as api:
        made = endpoint(tmp_path, f"{{url: '{api.url}'}}")
        upstream = replace(made.bundle.upstream, auth=SigV4Auth(service=service, region="eu-central-1"))
        hostile = replace(made, bundle=replace(made.bundle, upstream=upstream))
        with running_function(
            hostile, outgoing=OutgoingServices(aws=CredentialSource(ROLE, http=HttpClient()))
        ) as function:
            assert function.call("Me", {}).text == str(CredentialUnavailable("any"))

        assert api.asked == []


def test_function_without_a_role_says_so_to_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with running_api() as api:
        with signing(tmp_path, api.url, environ={"AWS_PROFILE": "nobody"}) as function:
            assert function.call("Me", {}).text == str(CredentialUnavailable("any"))

        assert api.asked == []
    assert function.lines[0]["reason"].startswith("CredentialUnavailable: sigv4: no AWS credentials")
