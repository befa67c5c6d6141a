"""A bucket on loopback that does what each test says: what S3 does on bad days, down to the bytes."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import unquote

from handler.http.client import HttpClient
from handler.storage.location import open_publish_storage
from handler.storage.publishing import WritableStorage
from tests.support.raw_http import Peer, RawServer, answer, running_server

BUCKET, PREFIX = "stile-bundles", "endpoints"

Fault = Callable[[Peer, bytes], None]
"""Answers a request in place of the good answer, which it gets."""


class Objects:
    """Objects by their key, and the fault that all requests meet, if there is one."""

    def __init__(self) -> None:
        self.bodies: dict[str, bytes] = {}
        self.fault: Fault | None = None
        self.server: RawServer | None = None

    def environ(self) -> dict[str, str]:
        """The environment of a function that takes this for S3."""
        assert self.server
        url = self.server.url.rstrip("/")
        return {
            "AWS_ACCESS_KEY_ID": "id",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": url,
        }

    @property
    def location(self) -> str:
        return f"s3://{BUCKET}/{PREFIX}"

    @property
    def requests(self) -> int:
        """How many requests came."""
        assert self.server
        return len(self.server.requests)

    def forget_requests(self) -> None:
        assert self.server
        self.server.requests.clear()

    def write(self, key: str, body: bytes) -> None:
        self.bodies[key] = body

    def storage(self, http: HttpClient) -> WritableStorage:
        return open_publish_storage(self.location, http=http, environ=self.environ())

    def serve(self, peer: Peer) -> None:
        while request := peer.read_request():
            (self.fault or Peer.send)(peer, self._answer(request))

    def _answer(self, request: bytes) -> bytes:
        target = request.split(b" ", 2)[1].decode()
        if "list-type=2" in target:
            prefix = unquote(target.partition("&prefix=")[2].partition("&")[0])
            keys = (f"{PREFIX}/{key}" for key in sorted(self.bodies))
            listed = "".join(f"<Key>{key}</Key>" for key in keys if key.startswith(prefix))
            return answer(f"<ListBucketResult>{listed}</ListBucketResult>".encode())
        key = target.removeprefix(f"/{BUCKET}/{PREFIX}/")
        body = self.bodies.get(key)
        if body is None:
            return refusal("404 Not Found", "NoSuchKey")
        etag = f'"{hashlib.sha256(body).hexdigest()}"'
        if f"if-none-match: {etag}".encode() in request.lower():
            return b"HTTP/1.1 304 Not Modified\r\n\r\n"
        checksum = base64.b64encode(hashlib.sha256(body).digest()).decode()
        return answer(body, etag=etag, x_amz_checksum_sha256=checksum)


def refusal(status: str, code: str) -> bytes:
    """An error as S3 writes it."""
    return answer(f"<Error><Code>{code}</Code></Error>".encode(), status=status)


@contextmanager
def running_objects() -> Iterator[Objects]:
    """A bucket, while this lasts."""
    objects = Objects()
    with running_server(objects.serve) as server:
        objects.server = server
        yield objects
