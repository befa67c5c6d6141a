"""The error of a schema that cannot be had."""

from __future__ import annotations

from handler.sentences import MAX_SHOWN_CHARS

MAX_QUOTED_CHARS = 200


class SourceRefused(Exception):
    """A schema that cannot be fetched, read or used. The message is one sentence: the source, then the cause."""

    def __init__(self, source: str, cause: str) -> None:
        super().__init__(f"{source}: {cause}")
        self.source = source
        self.cause = cause


def quoted(text: str) -> str:
    """Return the beginning of another's text on one line, in quotation marks."""
    line = " ".join(text.split())
    return f'"{line}"' if len(line) <= MAX_QUOTED_CHARS else f'"{line[: MAX_QUOTED_CHARS - 1]}…"'


def named(name: object) -> str:
    """Return the beginning of a name from another's document."""
    text = " ".join(str(name).split())
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[: MAX_SHOWN_CHARS - 1]}…"
