"""The error of a schema that cannot be had."""

from __future__ import annotations

MAX_QUOTED_CHARS = 200


class SourceRefused(Exception):
    """A schema that cannot be fetched, read or used. The message is one sentence: the source, then the cause."""

    def __init__(self, source: str, cause: str) -> None:
        super().__init__(f"{source}: {cause}")
        self.source = source
        self.cause = cause


class UsageRefused(Exception):
    """Options that do not fit each other. The message is one sentence."""


def quoted(text: str) -> str:
    """Return the beginning of another's text on one line, in quotation marks."""
    line = " ".join(text.split())
    return f'"{line}"' if len(line) <= MAX_QUOTED_CHARS else f'"{line[: MAX_QUOTED_CHARS - 1]}…"'
