"""The page on differences has every code with its judgement, and the exit codes of the command."""

from __future__ import annotations

import re

import yaml

from handler.audience.caller_classes import MAX_CLASSES
from handler.commands import diff
from handler.commands.changes.endpoint_changes import MAX_MARKDOWN_CHARS
from handler.compiler.codes import CHANGE_CODES
from tests.docs.reference import page


def test_codes_of_the_page_are_those_of_the_comparison() -> None:
    written = [line for line in page("diff").section("## Codes").splitlines() if line.startswith("| `")]

    assert written == [
        f"| `{name}` | {code.meaning} | {'yes' if code.breaking else ''} | {'yes' if code.opens else ''} |"
        for name, code in CHANGE_CODES.items()
    ]


def test_exit_codes_of_the_page_are_those_of_the_command() -> None:
    rows = re.findall(r"^\| (\d) \| ([^|:]+)", page("diff").section("## Use it in CI"), re.MULTILINE)

    assert [(int(code), means.strip()) for code, means in rows] == [
        (code, means.partition(":")[0]) for code, means in diff.EXIT_CODES.items()
    ]


def test_bounds_of_the_page_are_those_of_the_comparison() -> None:
    text = page("diff").text

    assert f"more than {MAX_CLASSES:,}" in text
    assert f"at most {MAX_MARKDOWN_CHARS:,} characters" in " ".join(text.split())


def test_example_of_the_page_has_a_known_code() -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", page("diff").section("## Accept a difference"), re.DOTALL)

    (entry,) = yaml.safe_load(example)["diff"]["ignore"]
    assert entry["code"] in CHANGE_CODES
