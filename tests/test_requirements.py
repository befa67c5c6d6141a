"""The dependencies of the package, and those that the function's locks leave to the Lambda runtime."""

from __future__ import annotations

import re
import tomllib

import pytest

from handler import __version__
from tests.conftest import ROOT

RUNTIME = {"aws-lambda-powertools", "boto3", "graphql-core", "jsonschema", "mangum", "starlette"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

INSTALLED = re.compile(r"install '?([a-z-]+)\[([a-z]+)\]")
"""A distribution and its extra, in a message that says what to install."""


def test_package_asks_for_all_that_it_imports_at_run_time() -> None:
    assert {re.split(r"[<>=\[]", each)[0] for each in PROJECT["dependencies"]} == RUNTIME


def test_distribution_has_the_name_that_messages_install_and_the_version_that_the_function_logs() -> None:
    assert (PROJECT["name"], PROJECT["version"]) == ("stile-mcp", __version__)
    assert PROJECT["scripts"] == {"stile": "handler.__main__:main"}
    sources = [path for package in ("handler", "stile") for path in sorted((ROOT / package).rglob("*.py"))]
    named = [name for path in sources for name in INSTALLED.findall(path.read_text("utf-8"))]
    assert {name for name, _ in named} == {"stile-mcp"}
    assert {extra for _, extra in named} <= set(PROJECT["optional-dependencies"])


@pytest.mark.parametrize("lock", ["run.txt", "run-code.txt", "run-jwt.txt"])
def test_locks_of_the_function_leave_boto3_to_the_lambda_runtime(lock: str) -> None:
    # AWS Lambda, "Runtime-included SDK versions": Python runtimes include boto3.
    locked = set(re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements" / lock).read_text("utf-8"), re.MULTILINE))

    assert locked >= RUNTIME - {"boto3"}
    assert not locked & {"boto3", "botocore", "s3transfer"}
