"""The part of `stile check` about searches. The modules that search are imported only for endpoints that need them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from handler.bundle.tools import CatalogTool, CompanionTool
from handler.commands.folders.endpoints import Outcome
from handler.compiler.source.files import QUESTIONS

if TYPE_CHECKING:
    from handler.commands.finding.costs import ReadingCosts
    from handler.commands.finding.trial import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchReport:
    """An endpoint folder's searches. ``outcome`` has the mistakes in its questions, too."""

    outcome: Outcome
    trial: Trial | None = None  # ``None``: it has no questions
    costs: ReadingCosts | None = None  # ``None``: it has neither a catalog nor companions

    @property
    def recall(self) -> float:
        """The share of questions whose answers a model is shown; 1 if there are none."""
        return self.trial.recall if self.trial else 1.0

    def plain(self) -> dict[str, Any]:
        """Return the members of a report."""
        questions = [each.plain() for each in self.trial.answered] if self.trial else []
        return {"questions": questions, "reading": self.costs.plain() if self.costs else None}

    def sentences(self) -> Iterator[tuple[str, str]]:
        """Yield sentences for a person, each with its style."""
        yield from ((sentence, "") for sentence in (self.costs.sentences() if self.costs else ()))
        yield from self.trial.sentences() if self.trial else ()


def search_report(outcome: Outcome) -> SearchReport:
    """Report the searches of an endpoint folder.

    Raises:
        SettingsError: an environment variable that does not fit.
    """
    if outcome.compiled is None:
        return SearchReport(outcome=outcome)
    costs = trial = None
    if any(isinstance(tool, CatalogTool | CompanionTool) for tool in outcome.compiled.bundle.tools):
        from handler.commands.finding.costs import reading_costs

        costs = reading_costs(outcome.compiled)
    if (outcome.folder / QUESTIONS).exists():
        from handler.commands.finding.trial import tried

        trial = tried(outcome.compiled, outcome.folder)
        outcome = trial.outcome_of(outcome)
    return SearchReport(outcome=outcome, trial=trial, costs=costs)


def share(text: str) -> float:
    """Read a number from 0 to 1 for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number from 0 to 1")
    return value
