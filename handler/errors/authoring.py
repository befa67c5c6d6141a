"""Errors in an author's files, found when an endpoint is compiled or a module of tools is imported."""

from __future__ import annotations

from collections.abc import Sequence

from handler.cold.records import record
from handler.errors import StileError


@record(frozen=True, slots=True, kw_only=True)
class Problem:
    """One diagnostic: an error or a warning about an author's file.

    ``line`` and ``column`` count from 1; 0 means the whole file. ``code`` is stable and has its meaning in
    ``compiler/codes.py``. ``about`` has the coordinates and names that ``checks.ignore`` in ``config.yaml`` can pick.
    """

    file: str
    line: int = 0
    column: int = 0
    sentence: str
    code: str
    about: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.sentence}"

    def __lt__(self, other: Problem) -> bool:
        return self._place < other._place

    @property
    def _place(self) -> tuple[str, int, int, str]:
        return self.file, self.line, self.column, self.sentence


class CompileError(StileError):
    """An endpoint folder that cannot become a bundle. ``problems`` holds every problem, in file order."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)


class UnknownCoordinate(StileError):
    """A text that names nothing in a schema; the message says why. The reader of the text knows its location."""


class UnknownCaller(StileError):
    """A text that names no caller of an endpoint; the message says why. The reader of the text knows its location."""


class PatternRefused(StileError):
    """A regular expression that cannot be used to match values; the message says why."""


class PredicateRefused(StileError):
    """A condition of a policy that cannot be read; the message says why. ``offset``: in characters, from 0."""

    def __init__(self, reason: str, *, offset: int) -> None:
        super().__init__(reason)
        self.offset = offset


class KeyRefused(StileError):
    """A text that is not a public key for its algorithm; the message says why and shows none of the text."""


class ToolDefinitionError(StileError):
    """An invalid tool, prompt or resource in Python. ``label`` has the form ``tool search_docs``.

    ``line`` counts from 1; 0 if the location is unknown.
    """

    def __init__(self, label: str, sentence: str, *, file: str = "", line: int = 0) -> None:
        place = f"{file}:{line}: " if line else ""
        super().__init__(f"{place}{label}: {sentence}")
        self.label = label
        self.sentence = sentence
        self.file = file
        self.line = line


class KeyFileRefused(StileError):
    """A file with a secret of the user cannot be used."""

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"{file}, a secret of this user: {reason}")
        self.file = file
        self.reason = reason
