"""The built function under AWS's emulator, with the environment of the template and AWS's services on loopback."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.infra.emulator import Emulator, find_emulator, running_emulator
from tests.infra.stack import Stack
from tests.infra.test_emulator import CUSTOM
from tests.operate.answers import Received, received, unzipped
from tests.operate.doors import DOORS, FIRST, Request, requests
from tests.support.moto import Moto, running_moto
from tests.support.require import requires
from tests.support.upstream import Upstream

REQUESTS = requests()
BUCKET = "stile-bundles"
DEMO_URL = "http://127.0.0.1:8001/graphql"


@pytest.fixture(scope="module")
def aws() -> Iterator[Moto]:
    with running_moto() as running:
        yield running


@pytest.fixture(scope="module")
def published(aws: Moto, upstream: Upstream, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The place of the demo in the bucket, made by ``stile build``: ``stile publish`` refuses an API on loopback."""
    endpoints = tmp_path_factory.mktemp("endpoints")
    shutil.copytree(ROOT / "examples" / "endpoints", endpoints, dirs_exist_ok=True)
    config = endpoints / "api" / "customers" / "config.yaml"
    config.write_text(config.read_text("utf-8").replace(DEMO_URL, upstream.url), "utf-8")
    built = tmp_path_factory.mktemp("bundles")
    command = [sys.executable, "-m", "handler", "build", str(endpoints), "--out", str(built)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    files = [file for file in built.rglob("*") if file.is_file()]
    aws.add_bucket(BUCKET, {f"endpoints/{file.relative_to(built).as_posix()}": file.read_bytes() for file in files})
    return f"s3://{BUCKET}/endpoints"


def environment(aws: Moto) -> dict[str, str]:
    """The variables of the template, and what the platform adds. The API is on loopback, which is the one exception."""
    secrets = aws.client("secretsmanager")
    made = {
        name: secrets.create_secret(Name=name, SecretString=f"{name}-of-the-emulated-stack-00000000")["ARN"]
        for name in ("LogKey", "StateKey")
    }
    attributes = {**made, "Storage.Outputs.BucketName": BUCKET}
    stack = Stack("template.yaml", {"Preload": "api/customers"}, attributes=attributes)
    variables = stack.properties("StileFunction")["Environment"]["Variables"]
    return {**variables, **aws.environ(), "STILE_ALLOW_LOCAL_UPSTREAMS": "true"}


@dataclass(frozen=True)
class Emulated:
    """The emulator, and what it is asked."""

    emulator: Emulator

    def asked(self, door: str, request: Request, *, as_base64: bool = False) -> Received:
        response = self.emulator.invoke(DOORS[door](request, as_base64))
        assert "errorMessage" not in response, self.emulator.log.read_text()
        return received(response)

    def lines(self) -> list[dict[str, object]]:
        """What the function has logged."""
        text = self.emulator.log.read_text("utf-8")
        return [json.loads(line) for line in io.StringIO(text) if line.startswith('{"level')]


@pytest.fixture(scope="module")
def emulated(
    artifact: Path, arch: str, aws: Moto, published: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Emulated]:
    binary = find_emulator(arch)
    requires("sam", binary, "`make sam-setup` installs the Lambda emulator with the SAM CLI")
    requires("python3.13", sys.version_info[:2] == (3, 13), "`make operate` runs this with it, as Lambda does")
    assert binary is not None
    environ = environment(aws)
    assert environ["STILE_BUNDLES"] == published
    with running_emulator(binary, artifact, tmp_path_factory.mktemp("emulator"), environ) as running:
        yield Emulated(running)


@pytest.mark.parametrize("name", REQUESTS)
def test_every_door_gives_the_same_answer(emulated: Emulated, name: str) -> None:
    request = REQUESTS[name]
    expected = unzipped(emulated.asked(FIRST, request))

    assert 200 <= expected.status < 500
    for door in DOORS:
        for as_base64 in (False, True):
            assert unzipped(emulated.asked(door, request, as_base64=as_base64)) == expected, (door, as_base64)


@pytest.mark.parametrize("event", CUSTOM, ids=str)
def test_next_request_is_answered_after_an_event_that_is_none(emulated: Emulated, event: object) -> None:
    emulated.emulator.invoke(event)

    assert emulated.asked(FIRST, REQUESTS["tools-list"]).status == 200


def test_log_has_a_line_of_each_request_and_keys_of_the_stack_serve(emulated: Emulated) -> None:
    before = len(emulated.lines())
    emulated.asked(FIRST, REQUESTS["tools-call-flat"])
    line, *more = emulated.lines()[before:]

    assert more == []
    assert (line["level"], line["endpoint"], line["outcome"]) == ("INFO", "api/customers", "ok")
    assert "failed to" not in emulated.emulator.log.read_text("utf-8")
