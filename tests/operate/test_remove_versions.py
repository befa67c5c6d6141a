"""infra/remove_versions.sh with the AWS CLI, against moto's Lambda: what is served stays, whatever is asked."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from tests.conftest import ROOT
from tests.docs.reference import page
from tests.support.moto import Moto, running_moto
from tests.support.require import requires

SCRIPT = ROOT / "infra" / "remove_versions.sh"


@pytest.fixture(scope="module")
def aws() -> Iterator[Moto]:
    requires("aws", shutil.which("aws"), "the AWS CLI is not installed")
    with running_moto() as moto:
        yield moto


@pytest.fixture
def function(aws: Moto) -> str:
    """A function with five versions, and no alias."""
    name = f"stile-StileFunction-{uuid4().hex[:8]}"
    role = aws.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    aws.client("lambda").create_function(
        FunctionName=name, Runtime="python3.13", Role=role, Handler="h", Code={"ZipFile": code()}
    )
    publish(aws, name, 5)
    return name


def code() -> bytes:
    """A zip file of code as no other is: Lambda makes no version of a function that has not changed."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("lambda_function.py", uuid4().hex)
    return file.getvalue()


def publish(aws: Moto, function: str, number: int) -> None:
    for _ in range(number):
        aws.client("lambda").update_function_code(FunctionName=function, ZipFile=code(), Publish=True)


def add_alias(aws: Moto, function: str, name: str, version: str, **also: Any) -> None:
    weights = {"RoutingConfig": {"AdditionalVersionWeights": also}} if also else {}
    aws.client("lambda").create_alias(FunctionName=function, Name=name, FunctionVersion=version, **weights)


def versions(aws: Moto, function: str) -> list[str]:
    listed = aws.client("lambda").list_versions_by_function(FunctionName=function)["Versions"]
    return [each["Version"] for each in listed]


def run(aws: Moto, *words: str) -> tuple[int, str, str]:
    environ = {**os.environ, **aws.environ(), "AWS_DEFAULT_REGION": "us-east-1", "AWS_PAGER": ""}
    command = ["bash", str(SCRIPT), *words]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_sessions_of_the_page_are_what_the_script_prints(aws: Moto, function: str) -> None:
    add_alias(aws, function, "live", "5")
    text = page("operate/snapstart").section("## Costs")
    (session,) = re.findall(r"```console\n(\$ bash .*?)```", text, re.DOTALL)
    for shown in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, _, expected = shown.partition("\n")
        words = command.replace("stile-StileFunction-a1b2c3", function).split()[2:]
        assert run(aws, *words) == (0, expected, "")

    assert versions(aws, function) == ["$LATEST", "5"]


def test_nothing_is_removed_without_being_asked(aws: Moto, function: str) -> None:
    add_alias(aws, function, "live", "5")
    before = versions(aws, function)

    assert run(aws, function, "--keep", "1")[0] == 0
    assert versions(aws, function) == before


def test_versions_that_aliases_lead_to_stay(aws: Moto, function: str) -> None:
    add_alias(aws, function, "live", "2", **{"3": 0.1})
    add_alias(aws, function, "before", "1")

    code, out, _ = run(aws, function, "--keep", "1", "--remove")

    assert (code, out) == (0, "version 4: removed\n")
    assert versions(aws, function) == ["$LATEST", "1", "2", "3", "5"]


def test_ten_versions_are_ordered_as_numbers(aws: Moto, function: str) -> None:
    publish(aws, function, 6)
    add_alias(aws, function, "live", "11")

    run(aws, function, "--keep", "9", "--remove")

    assert versions(aws, function) == ["$LATEST", *map(str, range(3, 12))]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "expected the output FunctionName of the stack"),
        (["{}", "--remove"], "has no alias, so nobody knows which version is served: nothing was removed"),
        (["{}", "--keep", "0", "--remove"], "--keep 0: expected a number from 1 to 9999"),
        (["{}", "--keep"], "--keep: expected a number"),
        (["{}", "--keep", "", "--remove"], "expected a number from 1 to 9999"),
        (["{}", "other", "--remove"], "other: expected one function"),
        (["{}:live", "--remove"], "expected the name of a function, without a version"),
        (["{}", "--force"], "--force: expected FUNCTION"),
        (["absent", "--remove"], "Function not found"),
    ],
)
def test_what_the_script_cannot_do_is_said_and_removes_nothing(
    aws: Moto, function: str, words: list[str], sentence: str
) -> None:
    code, out, err = run(aws, *(word.format(function) for word in words))

    assert code != 0
    assert out == ""
    assert sentence in err
    assert versions(aws, function) == ["$LATEST", "1", "2", "3", "4", "5"]


def test_aws_that_cannot_be_reached_removes_nothing(aws: Moto, function: str) -> None:
    add_alias(aws, function, "live", "5")
    environ = {**os.environ, **aws.environ(), "AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_MAX_ATTEMPTS": "1"}
    command = ["bash", str(SCRIPT), function, "--remove"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)

    assert done.returncode != 0
    assert "removed" not in done.stdout
