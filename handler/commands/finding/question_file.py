"""``questions.yaml`` beside ``config.yaml``: questions of models, and the parts of an endpoint that answer them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from handler.commands.local.callers import SKIPS_POLICIES, NamedCaller, read_caller
from handler.compiler.problems import Place, Problems
from handler.compiler.source.files import QUESTIONS, EndpointFiles
from handler.compiler.source.yaml_section import Section
from handler.compiler.source.yaml_tree import parse_yaml_list
from handler.errors.authoring import UnknownCaller

KEYS = ("ask", "expect", "tool", "as")


MAX_QUESTIONS = 1_000
MAX_EXPECTED = 50
"""Coordinates that one question expects. A search shows ten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorQuestion:
    """A question, and the coordinates and the tool that answer it, each with its place."""

    ask: str
    expect: tuple[tuple[str, Place], ...]
    tool: tuple[str, Place] | None
    caller: NamedCaller
    at: Place


def read_questions(folder: Path, problems: Problems) -> list[AuthorQuestion]:
    """Read the questions of an endpoint folder; none if it has no such file. Mistakes are reported."""
    files = EndpointFiles(folder, problems)
    text = files.read(QUESTIONS) if files.exists(QUESTIONS) else None
    top = Section(
        parse_yaml_list(text or "", QUESTIONS, problems, key="questions"),
        file=QUESTIONS,
        problems=problems,
        variables=None,
    )
    sections = top.sections("questions")
    if len(sections) > MAX_QUESTIONS:
        problems.add(top.place("questions"), f"it has more than {MAX_QUESTIONS:,} questions", code="invalid-value")
    return [_question(section, folder, problems) for section in sections[:MAX_QUESTIONS]]


def _question(section: Section, folder: Path, problems: Problems) -> AuthorQuestion:
    section.expect(*KEYS)
    ask = section.text("ask").strip()
    expect = tuple(section.texts("expect"))
    if len(expect) > MAX_EXPECTED:
        problems.add(section.place("expect"), f"expected {MAX_EXPECTED} coordinates at most", code="invalid-value")
        expect = expect[:MAX_EXPECTED]
    tool = (section.text("tool"), section.place("tool")) if "tool" in section else None
    if not ask:
        problems.add(section.place(), '"ask" is missing: expected a question in words', code="invalid-value")
    if not expect and tool is None:
        sentence = "expected coordinates as expect: [Query.orders], or the name of a tool as tool: overdue"
        problems.add(section.place(), sentence, code="invalid-value")
    caller = _caller(section, folder, problems)
    return AuthorQuestion(ask=ask, expect=expect, tool=tool, caller=caller, at=section.place())


def _caller(section: Section, folder: Path, problems: Problems) -> NamedCaller:
    if "as" not in section:
        return SKIPS_POLICIES
    try:
        return read_caller(section.text("as"), folder=folder)
    except UnknownCaller as exc:
        problems.add(section.place("as"), str(exc), code="invalid-value")
        return SKIPS_POLICIES
