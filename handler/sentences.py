"""Parts of the sentences that callers and authors read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

MAX_SHOWN_CHARS = 80


def some(names: Sequence[str], *, most: int = 3) -> str:
    """Return the first names as a list, and the number of further names."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def counted(count: int, what: str) -> str:
    """Return a count with its noun, such as ``1 tool`` or ``2 tools``."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question for the end of a sentence; empty string if no known name is near."""
    near = get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def pointer_of(path: Iterable[Any]) -> str:
    """Return a JSON pointer (RFC 6901), with ``/`` for the whole value, which reads better than an empty string."""
    pointer = ""
    for part in path:
        pointer = below(pointer, str(part))
    return pointer or "/"


def below(pointer: str, name: str) -> str:
    """Return the JSON pointer to a member of the value at ``pointer``."""
    return f"{pointer.rstrip('/')}/{cut(name).replace('~', '~0').replace('/', '~1')}"


def cut(text: str) -> str:
    """Shorten a text to ``MAX_SHOWN_CHARS``."""
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[: MAX_SHOWN_CHARS - 1]}…"
