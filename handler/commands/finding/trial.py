"""The trial of an endpoint's questions: at which rank and in how many tokens a model finds their answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

from handler.commands.finding.model_answers import MOST, Finder, SchemaAnswer, finder_for
from handler.commands.finding.question_file import AuthorQuestion, read_questions
from handler.commands.folders.endpoints import Outcome
from handler.commands.local.callers import SKIPS_POLICIES, NamedCaller
from handler.compiler.compile import Compiled
from handler.compiler.problems import Problems, shown
from handler.errors.access import AccessError
from handler.errors.authoring import Problem, UnknownCaller
from handler.graph.found_sdl import is_visible
from handler.text.sentences import did_you_mean, some


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedAnswer:
    """An expected answer, and its rank among the matches for a model, from 1; ``None``: it is not among the first."""

    name: str
    rank: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A question, and the ranks of all that answers it. ``tokens`` is the size of the answer that a model reads."""

    question: AuthorQuestion
    ranks: tuple[ExpectedAnswer, ...]
    tokens: int
    unknown: frozenset[str] = frozenset()  # expected names that nobody has
    refused: str = ""  # the reason if the endpoint does not let the caller in

    @property
    def is_found(self) -> bool:
        """Tell if a model is shown all expected answers."""
        return bool(self.ranks) and all(each.rank is not None for each in self.ranks)

    @property
    def missing(self) -> list[str]:
        """The expected answers that a search does not find, without those that are problems themselves."""
        return [each.name for each in self.ranks if each.rank is None and each.name not in self.unknown]

    def fault(self) -> str:
        """Return the sentence on answers that a model is not shown."""
        asked = f'"{self.question.ask}"' + (f" as {self.question.caller.text}" if self.question.caller.text else "")
        if self.refused:
            return f"{asked}: the endpoint does not let this caller in ({self.refused})"
        missing = self.missing
        return f"{asked}: a search does not find {some(missing, most=5)} among the first {MOST}"

    def plain(self) -> dict[str, Any]:
        """Return the member of a report."""
        return {
            "ask": self.question.ask,
            "as": self.question.caller.text,
            "found": self.is_found,
            "ranks": {each.name: each.rank for each in self.ranks},
            "tokens": self.tokens,
            "refused": self.refused,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The trial of the questions of an endpoint folder, and the mistakes in their file."""

    answered: tuple[Answered, ...]
    problems: tuple[Problem, ...]
    folder: Path

    @property
    def recall(self) -> float:
        """The share of questions whose answers a model is shown; 1 if there are none."""
        return sum(each.is_found for each in self.answered) / len(self.answered) if self.answered else 1.0

    def outcome_of(self, outcome: Outcome) -> Outcome:
        """Return the outcome of the folder with these problems."""
        return replace(outcome, problems=(*outcome.problems, *self.problems))

    def sentences(self) -> Iterator[tuple[str, str]]:
        """Yield sentences for a person, each with its style."""
        if not self.answered:
            return
        found = sum(each.is_found for each in self.answered)
        tokens = round(median(each.tokens for each in self.answered))
        style = "" if found == len(self.answered) else "yellow"
        yield f"Questions: {found} of {len(self.answered)} found, in about {tokens} tokens each (median).", style
        for each in self.answered:
            if each.missing or each.refused:
                yield f"{self.folder.as_posix()}/{shown(each.question.at)}: {each.fault()}", "yellow"


def tried(compiled: Compiled, folder: Path) -> Trial:
    """Ask the questions of an endpoint folder. Mistakes in the file, and names that nobody has, are problems."""
    problems = Problems()
    questions = read_questions(folder, problems)
    finders: dict[str, Finder] = {}
    with ExitStack() as stack:

        def finder_of(caller: NamedCaller) -> Finder:
            """Search each caller's views once for all of the caller's questions."""
            if caller.text not in finders:
                finders[caller.text] = stack.enter_context(finder_for(compiled, caller))
            return finders[caller.text]

        known = _Known(compiled, finder_of(SKIPS_POLICIES)) if questions else None
        unknown = [known.report_missing(question, problems) if known else frozenset() for question in questions]
        answered = tuple(
            replace(_answered(question, finder_of, problems), unknown=names)
            for question, names in zip(questions, unknown, strict=True)
        )
    return Trial(answered=answered, problems=problems.error().problems, folder=folder)


def _answered(question: AuthorQuestion, finder_of: Callable[[NamedCaller], Finder], problems: Problems) -> Answered:
    names = [*(name for name, _ in question.expect), *([question.tool[0]] if question.tool else [])]
    try:
        ranks, tokens = _ranks(finder_of(question.caller), question)
    except UnknownCaller as exc:
        problems.add(question.at, str(exc), code="invalid-value")
        return Answered(question=question, ranks=(), tokens=0, refused=str(exc))
    except AccessError as exc:
        ranks_of_none = tuple(ExpectedAnswer(name=name, rank=None) for name in names)
        return Answered(question=question, ranks=ranks_of_none, tokens=0, refused=str(exc))
    return Answered(question=question, ranks=tuple(ranks), tokens=tokens)


def _ranks(finder: Finder, question: AuthorQuestion) -> tuple[list[ExpectedAnswer], int]:
    found: list[ExpectedAnswer] = []
    tokens = 0
    if question.expect:
        answers = finder.in_schema(question.ask)
        found += [ExpectedAnswer(name=name, rank=_best_rank(answers, name)) for name, _ in question.expect]
        tokens += max((each.tokens for each in answers), default=0)
    if question.tool:
        answer = finder.among_tools(question.ask)
        name = question.tool[0]
        found.append(ExpectedAnswer(name=name, rank=answer.names.index(name) + 1 if name in answer.names else None))
        tokens += answer.tokens
    return found, tokens


def _best_rank(answers: Sequence[SchemaAnswer], coordinate: str) -> int | None:
    return min((rank for answer in answers for rank in _ranks_in(answer, coordinate)), default=None)


def _ranks_in(answer: SchemaAnswer, coordinate: str) -> Iterator[int]:
    """Yield the ranks of the matches that are the coordinate, a member of the type, or that lead through it."""
    for rank, match in enumerate(answer.matches[:MOST], start=1):
        way = {match.coordinate, match.coordinate.partition(".")[0], *(step for path in match.paths for step in path)}
        if coordinate in way:
            yield rank


class _Known:
    """The tools and coordinates that a caller who may everything has."""

    def __init__(self, compiled: Compiled, everything: Finder) -> None:
        self._tools = [tool.name for tool in compiled.bundle.tools]
        self._views = everything.views()

    def report_missing(self, question: AuthorQuestion, problems: Problems) -> frozenset[str]:
        """Report expected names that nobody has, and return them."""
        unknown = set[str]()
        if question.tool and question.tool[0] not in self._tools:
            name, at = question.tool
            unknown.add(name)
            problems.add(at, f'there is no tool "{name}"{did_you_mean(name, self._tools)}', code="unknown-tool")
        for coordinate, at in question.expect:
            if not any(is_visible(view, coordinate) for view in self._views):
                sentence = f'no tool shows "{coordinate}"{did_you_mean(coordinate, self._coordinates)}'
                problems.add(at, sentence, code="unknown-coordinate")
                unknown.add(coordinate)
        return frozenset(unknown)

    @cached_property
    def _coordinates(self) -> list[str]:
        return [
            coordinate
            for view in self._views
            for name, members in view.members.items()
            for coordinate in (name, *(f"{name}.{member}" for member in members))
        ]
