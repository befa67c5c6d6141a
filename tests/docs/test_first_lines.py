"""README's first 60 lines answer thirteen questions, in 220 lines at most, and with figures and files that are true."""

from __future__ import annotations

import re

import pytest
import yaml

from handler import __version__
from handler.server.mcp.revisions import LEGACY, MODERN
from tests.conftest import DEMO, ROOT
from tests.docs.pages import blocks, read, section

README = read("README.md")
FIRST = README.splitlines()[:60]

MAX_LINES = 220

QUESTIONS = {
    "What is it?": r"^Stile lets AI agents use a GraphQL API through tools that the owner of the API chose\.",
    "For whom is it?": r"^- \*\*Use it\*\* if you own a GraphQL API, or operate one",
    "What is it not?": r"^- \*\*Stile is not\*\* an API, a GraphQL server or an agent",
    "How do I get it?": r"^- \*\*Get it\*\* .*\(docs/install\.md\)",
    "How do I try it?": r"^make run$",
    "How do I test it, and how long does it take?": r"^`make test` runs the tests: \w+ minutes on two processors",
    "How do I start from my own API?": r"^- \*\*Your own API\*\* .*\(#your-own-api-in-five-steps\)",
    "Who gets in?": r"^- \*\*Access\*\* is closed by default\..*\(#access\)",
    "How is it deployed?": r"^- \*\*Deploy\*\* with `sam build && sam deploy`, then `stile publish`.*\(#deploy\)",
    "What does it cost?": r"^- \*\*Cost\*\*: no server to keep running\..*\(#cost\)",
    "What is guarded, and what is not?": r"^- \*\*Guarded\*\*: types, fields, arguments and enum values",
    "What is it compared with?": r"^- \*\*Compared\*\* with .*\(docs/compared\.md\)",
    "Where do I go on?": r"^- \*\*Read on\*\* in the \[tutorial\]\(docs/tutorial\.md\)",
}
"""Each question of a first reader, and the line that answers it."""


@pytest.mark.parametrize(("question", "answer"), QUESTIONS.items(), ids=list(QUESTIONS))
def test_first_lines_answer(question: str, answer: str) -> None:
    found = [line for line in FIRST if re.search(answer, line)]

    assert len(found) == 1, f"{question} {answer}"


def test_what_is_not_guarded_stands_beside_what_is() -> None:
    guarded = next(number for number, line in enumerate(FIRST) if line.startswith("- **Guarded**"))

    assert FIRST[guarded + 1].startswith("- **Not guarded**: ")


def test_readme_is_short_and_has_one_picture_at_its_top() -> None:
    assert len(README.splitlines()) <= MAX_LINES
    (picture,) = [block for block in blocks("\n".join(FIRST)) if block.language == "text"]
    words = ["model", "tool", "fence", "API"]
    (line,) = [line for line in picture.text.splitlines() if "model" in line]
    assert [line.index(word) for word in words] == sorted(line.index(word) for word in words)


def test_policy_of_the_readme_is_the_demos() -> None:
    (policy,) = [block.text for block in blocks(section(README, "Access")) if block.language == "yaml"]

    assert yaml.safe_load(policy)["access"] == yaml.safe_load((DEMO / "config.yaml").read_text("utf-8"))["access"]


def test_cost_of_the_readme_is_the_measured_one() -> None:
    measured = (ROOT / "benchmarks" / "results" / "cold.md").read_text("utf-8")
    (times,) = re.findall(r"^\| tools/list, demo, S3 \| \d+ \| ([\d.]+) \|", measured, re.MULTILINE)

    assert f"{float(times):.0f}" == "3"
    assert README.count("about three times") == 2
    assert (ROOT / "benchmarks" / "results" / "cold.svg").exists()


def test_status_names_this_version_and_its_revisions() -> None:
    status = section(README, "Status and licence")

    assert f"Version {__version__}," in status
    assert re.findall(r"\d{4}-\d\d-\d\d", status) == [LEGACY[-1], LEGACY[0], *MODERN]
