"""The calls that a process makes to AWS: a server between it and moto, which notes the right that each call takes."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from http.client import HTTPResponse
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from tests.support.moto import REGION, Moto
from tests.support.raw_http import Peer, running_server

ACCOUNT = "123456789012"  # moto's
SERVICES = {"AmazonSSM": "ssm", "secretsmanager": "secretsmanager", "TrentService": "kms"}
"""The service of a JSON request, by what its target begins with."""

QUERIES = {
    "list-type": "s3:ListBucket",
    "versions": "s3:ListBucketVersions",
    "versioning": "s3:GetBucketVersioning",
    "tagging": "s3:GetBucketTagging",
}
METHODS = {"GET": "s3:GetObject", "HEAD": "s3:GetObject", "PUT": "s3:PutObject", "DELETE": "s3:DeleteObject"}
"""Source: the Amazon S3 guide, "Required permissions for Amazon S3 API operations"; ``HeadObject`` takes GetObject."""


class Call(NamedTuple):
    """A right that a call took, and the ARN of what it was for."""

    action: str
    resource: str


@dataclass
class AwsCalls:
    """AWS at ``url``, and the calls that were made to it."""

    url: str = ""
    made: list[Call] = field(default_factory=list)

    def environ(self, user: Mapping[str, str]) -> dict[str, str]:
        """The environment of a user of moto, whose calls are noted."""
        return {**user, "AWS_ENDPOINT_URL": self.url}


@contextmanager
def recording(moto: Moto) -> Iterator[AwsCalls]:
    calls = AwsCalls()
    address = urlsplit(moto.url)

    def forward(peer: Peer) -> None:
        while request := peer.read_request():
            calls.made.append(call_of(request))
            with socket.create_connection((str(address.hostname), address.port or 80), timeout=30) as upstream:
                upstream.sendall(request)
                peer.send(answer_to(request, upstream))

    with running_server(forward, takes_secrets=True) as server:
        calls.url = server.url.rstrip("/")
        yield calls


def answer_to(request: bytes, upstream: socket.socket) -> bytes:
    """The whole answer to a forwarded request, with the length of its body."""
    method = request.partition(b" ")[0].decode()
    response = HTTPResponse(upstream, method=method)
    response.begin()
    body = response.read()
    kept = [(name, value) for name, value in response.getheaders() if name.lower() not in HOP_BY_HOP]
    length = response.getheader("content-length") if method == "HEAD" else str(len(body))
    kept.append(("content-length", length or "0"))
    head = "".join(f"{name}: {value}\r\n" for name, value in kept)
    return f"HTTP/1.1 {response.status} {response.reason}\r\n{head}\r\n".encode("latin-1") + body


HOP_BY_HOP = frozenset({"connection", "content-length", "keep-alive", "transfer-encoding"})


def call_of(request: bytes) -> Call:
    """The right that a request takes."""
    head, _, body = request.partition(b"\r\n\r\n")
    line, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (each.partition(": ") for each in lines)}
    method, target, _ = line.split(" ", 2)
    if "x-amz-target" in headers:
        return json_call(headers["x-amz-target"], json.loads(body))
    if re.search(r"Credential=[^,]*/s3/", headers.get("authorization", "")):
        return s3_call(method, target)
    action = parse_qs(body.decode("latin-1")).get("Action", [f"{method} {target}"])[0]
    service = re.search(r"Credential=[^,]*/(\w+)/aws4_request", headers.get("authorization", ""))
    return Call(f"{service[1] if service else 'unknown'}:{action}", "")


def json_call(target: str, arguments: Mapping[str, Any]) -> Call:
    service, _, action = target.partition(".")
    service = SERVICES.get(re.sub(r"_?\d+$", "", service), service)
    name = arguments.get("SecretId") or arguments.get("Name") or ""
    if name.startswith("arn:"):
        return Call(f"{service}:{action}", name)
    kind = {"ssm": f"parameter{name}", "secretsmanager": f"secret:{name}-AbCdEf"}.get(service, name)
    return Call(f"{service}:{action}", f"arn:aws:{service}:{REGION}:{ACCOUNT}:{kind}")


def s3_call(method: str, target: str) -> Call:
    parts = urlsplit(target)
    asked = parse_qs(parts.query, keep_blank_values=True)
    bucket, _, key = unquote(parts.path).lstrip("/").partition("/")
    arn = f"arn:aws:s3:::{bucket}/{key}" if key else f"arn:aws:s3:::{bucket}"
    if not key:
        named = [right for word, right in QUERIES.items() if word in asked]
        return Call(named[0] if method == "GET" and named else f"unknown:{method} {target}", arn)
    version = "Version" if asked.get("versionId") else ""
    return Call(f"{METHODS.get(method, f'unknown:{method}')}{version}", arn)


def rights(statements: Sequence[Mapping[str, Any]]) -> list[Call]:
    """Each right that statements allow, with the pattern of what it is for."""
    return [
        Call(action, resource)
        for each in statements
        if each["Effect"] == "Allow"
        for action in as_list(each["Action"])
        for resource in as_list(each["Resource"])
    ]


def allows(right: Call, call: Call) -> bool:
    """Tell if a right is for a call. ``*`` in a resource stands for any text, as in IAM."""
    pattern = right.resource.replace("[", "[[]")
    return right.action == call.action and fnmatchcase(call.resource, pattern)


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
