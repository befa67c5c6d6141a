"""The form of a check: a stable code, and a function from a compiled endpoint to warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.problems import At, Problems


@dataclass(frozen=True, slots=True)
class Finding:
    """One warning. ``about`` has the coordinates or names of tools and files that ``checks.ignore`` can select."""

    at: At
    sentence: str
    about: tuple[str, ...]


Find = Callable[[CompiledEndpoint], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class Check:
    """A rule that warns: its code, and the function that finds its warnings in an endpoint without errors."""

    code: str
    find: Find

    def __call__(self, endpoint: CompiledEndpoint) -> Iterator[Finding]:
        return self.find(endpoint)


def check(code: str) -> Callable[[Find], Check]:
    """Make a check from a function."""
    return lambda find: Check(code, find)


def run_checks(checks: Iterable[Check], endpoint: CompiledEndpoint, problems: Problems) -> None:
    """Report all findings of the checks."""
    for rule in checks:
        for found in rule(endpoint):
            problems.warn(found.at, found.sentence, code=rule.code, about=found.about)
