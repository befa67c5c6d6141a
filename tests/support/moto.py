from __future__ import annotations

import contextlib
import functools
import json
import os
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from handler.http.client import HttpClient, HttpRequest
from tests.support.local import LOCAL
from tests.support.secrecy import SESSION

REGION = "us-east-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moto:
    """A running moto server: AWS as far as we need it, on loopback."""

    url: str
    iam: bool

    def environ(self, access_key: str = "testing", secret_key: str = "testing") -> dict[str, str]:
        """The environment of a process that takes this server for AWS."""
        return {
            "AWS_ACCESS_KEY_ID": access_key,
            "AWS_SECRET_ACCESS_KEY": secret_key,
            "AWS_REGION": REGION,
            "AWS_ENDPOINT_URL": self.url,
        }

    def client(self, service: str) -> Any:
        import boto3  # takes longer than most tests, and most that import this module start no server

        share_service_models()
        environ = self.environ()
        return boto3.client(
            service,
            region_name=REGION,
            endpoint_url=self.url,
            aws_access_key_id=environ["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=environ["AWS_SECRET_ACCESS_KEY"],
        )

    def add_bucket(self, name: str, objects: Mapping[str, bytes] | None = None) -> None:
        with self.unchecked():
            s3 = self.client("s3")
            s3.create_bucket(Bucket=name)
            for key, body in (objects or {}).items():
                s3.put_object(Bucket=name, Key=key, Body=body, ChecksumAlgorithm="SHA256")

    def add_user(self, name: str, *statements: Mapping[str, object]) -> dict[str, str]:
        """A user with one policy of these statements. Returns the environment that acts as this user.

        The name gets an ending, because a fixture may run twice when tests move from one worker to another.
        """
        name = f"{name}-{uuid.uuid4().hex[:8]}"
        policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **each} for each in statements]}
        with self.unchecked():
            iam = self.client("iam")
            iam.create_user(UserName=name)
            if statements:
                iam.put_user_policy(UserName=name, PolicyName="only", PolicyDocument=json.dumps(policy))
            key = iam.create_access_key(UserName=name)["AccessKey"]
        environ = self.environ(key["AccessKeyId"], key["SecretAccessKey"])
        SESSION.keep_environ(environ)
        return environ

    @contextlib.contextmanager
    def unchecked(self) -> Iterator[None]:
        """IAM off for the calls within, as for an administrator."""
        if not self.iam:
            yield
            return
        self._check_after("inf")
        try:
            yield
        finally:
            self._check_after("0")

    def _check_after(self, calls: str) -> None:
        url = f"{self.url}/moto-api/reset-auth"
        request = HttpRequest(method="POST", url=url, body=calls.encode(), timeout_s=5, max_bytes=10_000)
        client = HttpClient(LOCAL)
        assert client.send(request).status == 200
        client.close()


@functools.cache
def share_service_models() -> None:
    """Let all of boto3's sessions in this process read their models of services once.

    Commands and tests make hundreds of sessions, and each would read megabytes of JSON.
    """
    from botocore import session

    session.create_loader = functools.cache(session.create_loader)


@contextlib.contextmanager
def running_moto(*, iam: bool = False) -> Iterator[Moto]:
    """A moto server in a process of its own. With ``iam`` it checks signatures and policies as AWS does."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    environ = os.environ | ({"INITIAL_NO_AUTH_ACTION_COUNT": "0"} if iam else {})
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_until_open(port, process)
        yield Moto(url=f"http://127.0.0.1:{port}", iam=iam)
    finally:
        process.kill()  # on SIGTERM, it first frees its objects one by one, which may take minutes
        process.wait(timeout=60)


def _wait_until_open(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        assert process.poll() is None, "moto stopped at its start"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise AssertionError("moto did not start within 30 s")
