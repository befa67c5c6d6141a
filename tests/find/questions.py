"""The gold lists of questions: on GitHub's schema, on those of other corpora, and steps over operations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

GROUPS = ("named", "described", "unsaid")
"""Groups of questions by the words that a question shares with its answers. See ``github.yaml``."""

STEPS_OF = "vendure-admin"
"""The corpus whose operations the steps need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, and the coordinates of which any one answers it."""

    group: str
    ask: str
    answers: tuple[str, ...]


def read_questions() -> tuple[Question, ...]:
    """Return all questions, in the order of the file."""
    return tuple(question for group, questions in _read("github").items() for question in _questions(group, questions))


def read_questions_by_corpus() -> dict[str, tuple[Question, ...]]:
    """Return the questions on other schemas by corpus, which is their group."""
    return {corpus: _questions(corpus, questions) for corpus, questions in _read("others").items()}


def read_steps() -> tuple[Question, ...]:
    """Return the steps, whose answers are operations of the corpus ``STEPS_OF``."""
    return _questions(STEPS_OF, _read("tools"))


def _questions(group: str, questions: Iterable[Mapping[str, Any]]) -> tuple[Question, ...]:
    return tuple(Question(group=group, ask=each["ask"], answers=tuple(each["answers"])) for each in questions)


def _read(name: str) -> Any:
    return yaml.safe_load((Path(__file__).parent / f"{name}.yaml").read_text(encoding="utf-8"))
