"""Parts of the sentences that callers and authors read, and names that say that their value is a secret."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import inf
from typing import Any

MAX_SHOWN_CHARS = 80


def some(names: Sequence[str], *, most: int = 3) -> str:
    """Return the first names as a list, and the number of further names."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, such as ``1 tool`` or ``2 tools``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question for the end of a sentence; empty string if no known name is near."""
    near = nearest(name, list(known))
    return "" if near is None else f"; did you mean {near}?"


def nearest(name: str, known: Sequence[str], *, most_chars: float = inf, likeness: float = 0.6) -> str | None:
    """Return the known name that may have been meant; equal names but for case or ``_`` go before others.

    ``most_chars``: the characters of the name times the known names, above which only equal names are found.
    ``likeness``: from 0 to 1, of which a near name has so much at least.
    """
    from difflib import get_close_matches  # for mistakes alone

    names: dict[str, str] = {}
    for form in (str.lower, _plain):
        names = {form(each): each for each in reversed(known)}
        if form(name) in names:
            return names[form(name)]
    plain = _plain(cut_text(name))
    near = get_close_matches(plain, names, n=1, cutoff=likeness) if len(plain) * len(names) <= most_chars else []
    return names[near[0]] if near else None


def _plain(name: str) -> str:
    """Normalize a name, so that ``FIRST_NAME`` equals ``firstName``."""
    return name.lower().replace("_", "")


def pointer_of(path: Iterable[Any]) -> str:
    """Return a JSON pointer (RFC 6901), with ``/`` for the whole value, which reads better than an empty string."""
    pointer = ""
    for part in path:
        pointer = below(pointer, str(part))
    return pointer or "/"


def below(pointer: str, name: str) -> str:
    """Return the JSON pointer to a member of the value at ``pointer``."""
    return f"{pointer.rstrip('/')}/{cut_text(name).replace('~', '~0').replace('/', '~1')}"


def cut_text(text: str, most: int = MAX_SHOWN_CHARS) -> str:
    """Shorten a text to so many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


WORDS = frozenset(
    f"{word}{end}"
    for word in (
        *("accesskey", "apikey", "authorization", "cookie", "credential", "cvc", "cvv", "otp", "passcode"),
        *("passphrase", "passwd", "password", "pin", "privatekey", "pwd", "secret", "token"),
    )
    for end in ("", "s")
)

PAIRS = frozenset({("api", "key"), ("access", "key"), ("private", "key"), ("pass", "word"), ("pass", "phrase")})


def is_secret(name: str) -> bool:
    """Return whether a name, such as ``apiKey``, says that its value is a secret.

    Capitals, and all characters that are not letters, separate the words of a name.
    """
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
    return not WORDS.isdisjoint(words) or not PAIRS.isdisjoint(pairwise(words))
