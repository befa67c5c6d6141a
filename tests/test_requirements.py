"""The dependencies of the package, and those that the function's locks leave to the Lambda runtime."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.conftest import ROOT

COMMAND = {"argcomplete", "google-re2", "pyyaml", "rich", "uvicorn", "watchfiles"}
EXTRAS = {"pydantic": "run-code.txt", "pyjwt": "run-jwt.txt"}
RUNTIME = {"aws-lambda-powertools", "boto3", "graphql-core", "jsonschema", "mangum", "starlette"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_package_asks_for_all_that_the_function_and_the_command_import() -> None:
    needed = {re.split(r"[<>=\[]", each)[0].lower() for each in PROJECT["dependencies"]}

    assert needed == RUNTIME | COMMAND | set(EXTRAS)
    assert "optional-dependencies" not in PROJECT


def test_command_has_two_names_and_its_version_stands_in_one_place() -> None:
    assert PROJECT["scripts"] == dict.fromkeys(("stile", PROJECT["name"]), "handler.__main__:main")
    assert PROJECT["dynamic"] == ["version"]
    assert "version" not in PROJECT


@pytest.mark.parametrize("lock", ["run.txt", "run-code.txt", "run-jwt.txt"])
def test_locks_of_the_function_leave_boto3_to_the_lambda_runtime(lock: str) -> None:
    # AWS Lambda, "Runtime-included SDK versions": Python runtimes include boto3.
    locked = set(re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements" / lock).read_text("utf-8"), re.MULTILINE))

    assert locked >= RUNTIME - {"boto3"}
    assert not locked & {"boto3", "botocore", "s3transfer"}


@pytest.mark.parametrize("lock", ["run.txt", "run-code.txt", "run-jwt.txt"])
def test_locks_of_the_function_hold_an_extra_only_if_they_are_named_for_it(lock: str) -> None:
    locked = set(re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements" / lock).read_text("utf-8"), re.MULTILINE))

    assert locked & (COMMAND | set(EXTRAS)) == {name for name, own in EXTRAS.items() if own == lock}
