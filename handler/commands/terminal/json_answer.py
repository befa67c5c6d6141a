"""The one JSON document that a command prints with ``--json``: its result, or its errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class JsonAnswer:
    """The sentences of a run with ``--json``, for its document. ``is_printed``: the command printed a document."""

    messages: list[str] = field(default_factory=list)
    problems: list[Mapping[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    is_printed: bool = False

    def error(self, exit_code: int) -> dict[str, Any]:
        """Return the error as JSON. ``problems`` have places in files; ``messages`` are the other sentences."""
        return {"exitCode": exit_code, "messages": list(self.messages), "problems": list(self.problems)}


_ANSWER: ContextVar[JsonAnswer | None] = ContextVar("_ANSWER", default=None)


@contextmanager
def answering(*, as_json: bool) -> Iterator[JsonAnswer | None]:
    """Give the answer of a run with ``--json`` until the block ends; ``None`` without the option."""
    answer = JsonAnswer() if as_json else None
    token = _ANSWER.set(answer)
    try:
        yield answer
    finally:
        _ANSWER.reset(token)


def current_answer() -> JsonAnswer | None:
    """Return the answer of this run; ``None`` without ``--json``."""
    return _ANSWER.get()


def note_complaint(message: str) -> None:
    """Keep a sentence for the document of errors."""
    answer = _ANSWER.get()
    if answer is not None:
        answer.messages.append(message)
