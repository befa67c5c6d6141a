"""The dependencies of the package, and those that the function's locks leave to the Lambda runtime."""

from __future__ import annotations

import re
import tomllib

import pytest

from handler import __version__
from tests.conftest import ROOT

RUNTIME = {"aws-lambda-powertools", "boto3", "graphql-core", "jsonschema", "mangum", "starlette"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

EXTRA_NAMED = re.compile(r"extra `([a-z]+)`")
"""The name of an extra in a message."""


def test_package_asks_for_all_that_it_imports_at_run_time() -> None:
    assert {re.split(r"[<>=\[]", each)[0] for each in PROJECT["dependencies"]} == RUNTIME


def test_extras_that_messages_name_exist_and_the_distribution_has_the_version_that_the_function_logs() -> None:
    assert (PROJECT["name"], PROJECT["version"]) == ("stile-mcp", __version__)
    assert PROJECT["scripts"] == {"stile": "handler.__main__:main"}
    sources = [path for package in ("handler", "stile") for path in sorted((ROOT / package).rglob("*.py"))]
    named = {extra for path in sources for extra in EXTRA_NAMED.findall(path.read_text("utf-8"))}
    assert named == {"cli", "code"}
    assert named <= set(PROJECT["optional-dependencies"])


@pytest.mark.parametrize("lock", ["run.txt", "run-code.txt", "run-jwt.txt"])
def test_locks_of_the_function_leave_boto3_to_the_lambda_runtime(lock: str) -> None:
    # AWS Lambda, "Runtime-included SDK versions": Python runtimes include boto3.
    locked = set(re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements" / lock).read_text("utf-8"), re.MULTILINE))

    assert locked >= RUNTIME - {"boto3"}
    assert not locked & {"boto3", "botocore", "s3transfer"}
