"""Judge what an author reads after a mistake: does it say where, what is wrong there, and how to mend it?"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.first_use.workshop import Workshop


@dataclass(frozen=True, slots=True)
class Token:
    """The place of a text in a file, which the message has to name by file, line and column."""

    file: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One mistake, and the criteria for the message about it."""

    number: int
    title: str
    make: Callable[[Workshop], str]  # makes the mistake, and returns all that its author reads
    place: Token | tuple[Token, ...] | str  # a token, one of several, or a pattern for a place outside of files
    cause: str  # a pattern with the offending value
    remedy: str  # a pattern with a correct value, command or page


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The message about one mistake, and the criteria that it meets."""

    mistake: Mistake
    message: str
    place: bool
    cause: bool
    remedy: bool

    @property
    def score(self) -> int:
        """One point for each criterion."""
        return self.place + self.cause + self.remedy


def judged(mistake: Mistake, printed: str, shop: Workshop) -> Verdict:
    """Judge the lines about the place. If no line names the place, judge all lines."""
    wanted = _pattern_of(mistake.place, shop)
    lines = [line for line in printed.splitlines() if re.search(wanted, line)]
    message = printed if isinstance(mistake.place, str) or not lines else "\n".join(lines)
    return verdict_of(mistake, message, is_placed=bool(lines))


def verdict_of(mistake: Mistake, message: str, *, is_placed: bool) -> Verdict:
    """Judge one message."""
    return Verdict(
        mistake=mistake,
        message=message.strip(),
        place=is_placed,
        cause=bool(re.search(mistake.cause, message)),
        remedy=bool(re.search(mistake.remedy, message)),
    )


def _pattern_of(place: Token | tuple[Token, ...] | str, shop: Workshop) -> str:
    if isinstance(place, str):
        return place
    tokens = (place,) if isinstance(place, Token) else place
    places = "|".join(re.escape(shop.place_of(token.file, token.text)) for token in tokens)
    return f"^(/.*/)?({places}): "
