"""The dependencies of the package, and those that the function's locks leave to the Lambda runtime."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.conftest import ROOT

RUNTIME = {"aws-lambda-powertools", "boto3", "graphql-core", "jsonschema", "mangum", "starlette"}


def test_package_asks_for_all_that_it_imports_at_run_time() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

    assert {re.split(r"[<>=\[]", each)[0] for each in project["dependencies"]} == RUNTIME


@pytest.mark.parametrize("lock", ["run.txt", "run-code.txt", "run-jwt.txt"])
def test_locks_of_the_function_leave_boto3_to_the_lambda_runtime(lock: str) -> None:
    # AWS Lambda, "Runtime-included SDK versions": Python runtimes include boto3.
    locked = set(re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements" / lock).read_text("utf-8"), re.MULTILINE))

    assert locked >= RUNTIME - {"boto3"}
    assert not locked & {"boto3", "botocore", "s3transfer"}
