"""Two handlers in processes of their own, over two buckets: one goes on with what the other has begun."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from handler.http.client import HttpClient
from handler.storage.location import open_publish_storage
from tests.conftest import ROOT
from tests.docs.reference import page
from tests.infra.stack import Stack
from tests.support.endpoints import compiled
from tests.support.function import META, MODERN, Answer, answer_of, event_for, store
from tests.support.identities import HOLDER, identified
from tests.support.kits import TOOLS, with_kit
from tests.support.moto import Moto, running_moto
from tests.support.require import requires
from tests.support.secrecy import SESSION

FIRST, SECOND = "bundles-eu-west-1", "bundles-eu-central-1"
STATE, OTHER_STATE = SESSION.keep("a state key", "Rk9TzLb5YhNc2FdGs8UaEiJx7pQ0mWv3"), "another-" * 5
LOG, OTHER_LOG = SESSION.keep("a log key", "log-Lb5YhNc2FdGs8UaEiJx7pQ0mWv3Rk9Tz"), "yet-another-" * 4
SHARED = {"STILE_STATE_KEY": STATE, "STILE_LOG_KEY": LOG}
CLAIMS = {"iss": "https://idp.example", "sub": "ada"}
ACCEPTED = {"nights": {"action": "accept", "content": {"nights": 3}}}
PROGRAM = """
import json, sys
from handler.lambda_function import handler
from tests.support.function import Context
sys.stderr.write(json.dumps(handler(json.load(sys.stdin), Context())))
"""
FILES = {"index.graphql": "type Query { a: Int }", "config.yaml": "access: {anonymous: allow}"}


@dataclass(frozen=True)
class Region:
    """A stack: its bucket, and its settings."""

    moto: Moto
    bucket: str
    environ: Mapping[str, str]

    def call(self, tool: str = "book", **params: Any) -> tuple[Answer, dict[str, Any]]:
        """Call a tool in a process that ends after the answer, and return it with the line of the log."""
        meta = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}
        sent = {"name": tool, "arguments": {"room": "7"} if tool == "book" else {}, "_meta": meta, **params}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": sent})
        routing = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": tool}
        headers = {"content-type": "application/json", **routing, **HOLDER}
        environ = {**os.environ, **self.moto.environ(), "STILE_BUNDLES": f"s3://{self.bucket}/endpoints"}
        environ |= {"STILE_CODE_MODULES": TOOLS.partition(":")[0], **self.environ}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            input=json.dumps(event_for("POST", "/api/things/mcp", body=body, headers=headers)),
            cwd=ROOT,
            env=environ,
            capture_output=True,
            text=True,
            check=True,
        )
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return answer_of(json.loads(done.stderr)), lines[-1]


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Moto]:
    """AWS with one commit, published to two buckets."""
    made = with_kit(identified(compiled(tmp_path_factory.mktemp("endpoint"), FILES), CLAIMS), TOOLS)
    with running_moto() as moto:
        for bucket in (FIRST, SECOND, "empty"):
            moto.add_bucket(bucket)
        http = HttpClient()
        for bucket in (FIRST, SECOND):
            store(open_publish_storage(f"s3://{bucket}/endpoints", http=http, environ=moto.environ()), made)
        http.close()
        yield moto


def test_commands_of_the_page_make_keys_of_which_each_region_names_its_own_copy(aws: Moto) -> None:
    requires("aws", shutil.which("aws"), "the AWS CLI is not installed")
    keys, deploy = [block.text for block in page("operate/regions").blocks if block.kind == "sh"][:2]
    script = f'set -e; sam() {{ printf "%s\\n" "sam $*"; }}\n{{\n{keys}}} >/dev/null\n{deploy}'
    environ = {**os.environ, **aws.environ(), "AWS_PAGER": ""}
    done = subprocess.run(["bash", "-c", script], env=environ, capture_output=True, text=True, check=True)
    build, *deployed = done.stdout.splitlines()

    assert build == "sam build"
    for line, region in zip(deployed, ("eu-west-1", "eu-central-1"), strict=True):
        overrides = dict(each.split("=", 1) for each in line.partition("--parameter-overrides ")[2].split())
        assert Stack("template.yaml", overrides).refused == []
        for name, secret in (("StateKeyArn", "state"), ("LogKeyArn", "log")):
            assert f":{region}:" in overrides[name]
            assert f"secret:stile-shared/{secret}-" in overrides[name]


def test_other_region_goes_on_with_a_question_and_knows_the_caller_and_the_bundle(aws: Moto) -> None:
    asked, before = Region(aws, FIRST, SHARED).call()
    done, after = Region(aws, SECOND, SHARED).call(inputResponses=ACCEPTED, requestState=asked.result["requestState"])

    assert asked.result["resultType"] == "input_required"
    assert done.text == "7 for 3 nights, ['nights']"
    assert before["bundle"] == after["bundle"]
    assert before["who"] == after["who"]
    assert before["who"].startswith("hmac:")


def test_another_state_key_breaks_the_question_and_nothing_else(aws: Moto) -> None:
    asked, _ = Region(aws, FIRST, SHARED).call()
    other = Region(aws, SECOND, {**SHARED, "STILE_STATE_KEY": OTHER_STATE})
    done, _ = other.call(inputResponses=ACCEPTED, requestState=asked.result["requestState"])

    assert done.json["error"]["data"]["code"] == "state-refused"
    assert other.call()[0].result["resultType"] == "input_required"


def test_another_log_key_gives_the_caller_another_name(aws: Moto) -> None:
    names = {Region(aws, SECOND, {**SHARED, "STILE_LOG_KEY": key}).call()[1]["who"] for key in (LOG, OTHER_LOG)}

    assert len(names) == 2


def test_bucket_without_the_bundles_answers_404(aws: Moto) -> None:
    answer, line = Region(aws, "empty", SHARED).call()

    assert (answer.status, line["code"]) == (404, "endpoint-not-found")


def test_key_that_one_bucket_alone_has_is_refused_in_the_other(aws: Moto, tmp_path: Path) -> None:
    other = with_kit(compiled(tmp_path, {**FILES, "config.yaml": "access: {anonymous: allow}"}), TOOLS)
    aws.add_bucket("stale")
    http = HttpClient()
    store(open_publish_storage("s3://stale/endpoints", http=http, environ=aws.environ()), other)
    http.close()

    answers = {bucket: Region(aws, bucket, SHARED).call()[0].status for bucket in (FIRST, "stale")}

    assert answers == {FIRST: 200, "stale": 401}
