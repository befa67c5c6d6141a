"""The gold list of questions on GitHub's schema, as ``github.yaml`` has them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

GROUPS = ("named", "described", "unsaid")
"""Groups of questions by the words that a question shares with its answers. See ``github.yaml``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, and the coordinates of which any one answers it."""

    group: str
    ask: str
    answers: tuple[str, ...]


def read_questions() -> tuple[Question, ...]:
    """Return all questions, in the order of the file."""
    groups = yaml.safe_load((Path(__file__).parent / "github.yaml").read_text(encoding="utf-8"))
    return tuple(
        Question(group=group, ask=each["ask"], answers=tuple(each["answers"]))
        for group, questions in groups.items()
        for each in questions
    )
