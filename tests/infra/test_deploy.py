"""`sam deploy` on a terminal, where Enter is the answer to each question, up to the change set."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from tests.infra.cloudformation import ROOT, read_template
from tests.infra.test_build_settings import settings
from tests.support.moto import Moto, running_moto
from tests.support.raw_http import Peer, answer, running_server
from tests.support.require import requires

SAM = ROOT / ".venv-sam" / "bin" / "sam"
UPLOADS = "uploads-of-sam"
STACK = "arn:aws:cloudformation:us-east-1:123456789012:stack/stile/1"
CHANGE_SET = "arn:aws:cloudformation:us-east-1:123456789012:changeSet/samcli/1"
QUESTION = re.compile(r"[\w.,?] ?(?:\x1b\[0m)? ?(?:\[[^\]\n]*\])?: ?\Z")
DEADLINE_S = 300


@dataclass
class CloudFormation:
    """What of CloudFormation a deploy meets until its change set is there. It keeps what change sets are made of."""

    change_sets: list[dict[str, str]] = field(default_factory=list)

    def serve(self, peer: Peer) -> None:
        while request := peer.read_request():
            asked = dict(parse_qsl(request.partition(b"\r\n\r\n")[2].decode(), keep_blank_values=True))
            peer.send(self.respond(asked))

    def respond(self, asked: Mapping[str, str]) -> bytes:
        action = asked["Action"]
        match action, asked.get("StackName"):
            case "DescribeStacks", "aws-sam-cli-managed-default":
                result = f"""<Stacks><member>
                    <StackName>aws-sam-cli-managed-default</StackName><StackStatus>CREATE_COMPLETE</StackStatus>
                    <CreationTime>2026-01-01T00:00:00Z</CreationTime>
                    <Tags><member><Key>ManagedStackSource</Key><Value>AwsSamCli</Value></member></Tags>
                    <Outputs><member><OutputKey>SourceBucket</OutputKey><OutputValue>{UPLOADS}</OutputValue></member>
                    </Outputs></member></Stacks>"""
            case "CreateChangeSet", _:
                self.change_sets.append(dict(asked))
                result = f"<Id>{CHANGE_SET}</Id><StackId>{STACK}</StackId>"
            case "DescribeChangeSet", _:
                result = """<Status>CREATE_COMPLETE</Status><Changes><member><Type>Resource</Type><ResourceChange>
                    <Action>Add</Action><LogicalResourceId>StileFunction</LogicalResourceId>
                    <ResourceType>AWS::Lambda::Function</ResourceType></ResourceChange></member></Changes>"""
            case "DescribeStacks", name:
                body = f"""<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code>
                    <Message>Stack with id {name} does not exist</Message></Error></ErrorResponse>"""
                return answer(body.encode(), status="400 Bad Request", content_type="text/xml")
            case _:
                result = ""
        body = f"<{action}Response><{action}Result>{result}</{action}Result></{action}Response>"
        return answer(body.encode(), content_type="text/xml")


@pytest.fixture(scope="module")
def moto() -> Iterator[Moto]:
    requires("sam", SAM.exists(), "`make sam-setup` installs it")
    with running_moto() as running:
        running.add_bucket(UPLOADS)
        yield running


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The template and what it names, as small as `sam deploy` takes it: what was built does not matter here."""
    (tmp_path / "infra").mkdir()
    for name in ("template.yaml", "samconfig.toml", "infra/storage.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def pressing_enter(command: list[str], folder: Path, environ: Mapping[str, str]) -> tuple[int, str]:
    """Run a command on a terminal and press Enter at each question; return its exit code and what the terminal got."""
    terminal, inner = pty.openpty()
    process = subprocess.Popen(
        command, cwd=folder, env={**os.environ, **environ}, stdin=inner, stdout=inner, stderr=inner
    )
    os.close(inner)
    shown, unanswered = "", ""
    asked: list[str] = []
    deadline = time.monotonic() + DEADLINE_S
    try:
        with contextlib.suppress(OSError):  # Linux's way to say that the other side was closed
            while time.monotonic() < deadline and not (asked[2:] and len(set(asked[-3:])) == 1):  # else in a circle
                if select.select([terminal], [], [], 0.2)[0]:
                    piece = os.read(terminal, 65_536).decode(errors="replace")
                    shown += piece
                    unanswered += piece
                elif QUESTION.search(unanswered):
                    os.write(terminal, b"\n")
                    asked.append(unanswered.splitlines()[-1])
                    unanswered = ""
        return process.wait(10), shown
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait(), shown
    finally:
        os.close(terminal)


def deployed(project: Path, moto: Moto, *options: str) -> tuple[dict[str, str], set[str]]:
    """The parameters and capabilities of the change set that a deploy ends with, which Enter does not carry out."""
    cloudformation = CloudFormation()
    with running_server(cloudformation.serve) as server:
        environ = {
            **moto.environ(),
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL_CLOUDFORMATION": server.url,
            "SAM_CLI_TELEMETRY": "0",
            "HOME": str(project),
            "TERM": "xterm",
        }
        code, shown = pressing_enter([str(SAM), "deploy", *options], project, environ)

    assert "Deploy this changeset? [y/N]" in shown, shown
    assert code == 0, shown
    (made,) = cloudformation.change_sets
    keys = {key.split(".")[2]: name for key, name in made.items() if key.endswith(".ParameterKey")}
    values = {name: made.get(f"Parameters.member.{number}.ParameterValue", "") for number, name in keys.items()}
    return values, {value for key, value in made.items() if key.startswith("Capabilities")}


@pytest.mark.parametrize("options", [[], ["--guided"]])
def test_enter_alone_leads_to_the_change_set(project: Path, moto: Moto, options: list[str]) -> None:
    defaults = {name: str(each["Default"]) for name, each in read_template("template.yaml")["Parameters"].items()}
    said = ("Architecture", "Extras", "CodeModules")  # in samconfig.toml; CloudFormation has the others' defaults

    values, capabilities = deployed(project, moto, *options)

    assert values == (defaults if options else {name: defaults[name] for name in said})
    assert capabilities == {"CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"}


def test_what_is_said_is_deployed_and_what_guided_writes_is_built(project: Path, moto: Moto) -> None:
    config = project / "samconfig.toml"
    text = config.read_text("utf-8")
    for key, value in (
        ("Architecture", '"x86_64"'),
        ("Extras", '["jwt", "code"]'),
        ("CodeModules", '["acme", "shop"]'),
    ):
        text = re.sub(rf"^{key} = .*$", f"{key} = {value}", text, flags=re.MULTILINE)
    text = re.sub(r"^code = .*$", 'code = ["lib/acme", "shop.py"]', text, flags=re.MULTILINE)
    built = (0, ["x86_64", "code,jwt", "lib/acme", "shop.py"])
    assert settings(project, text) == built

    values, _ = deployed(project, moto, "--guided")

    assert [values[name] for name in ("Architecture", "Extras", "CodeModules")] == ["x86_64", "jwt,code", "acme,shop"]
    assert "[default.deploy.parameters]" in config.read_text("utf-8")
    assert config.read_text("utf-8") != text
    assert settings(project, config.read_text("utf-8")) == built
