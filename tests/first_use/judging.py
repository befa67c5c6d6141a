"""Judge what an author reads after a mistake: does it say where, what is wrong there, and how to mend it?"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import Literal

from tests.conftest import ROOT
from tests.first_use.workshop import Workshop

Fault = Literal["place", "cause", "remedy", "traceback"]
"""What a message does not say, or a traceback through the product's own files."""

OWN_FRAME = re.compile(rf'^\s*File "{re.escape(str(ROOT))}/handler/', re.MULTILINE)
FULL = 3


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
    faults: Set[Fault] = frozenset()  # of the message as it is; whoever mends one takes it away


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The message about one mistake, and the criteria that it meets."""

    mistake: Mistake
    message: str
    place: bool
    cause: bool
    remedy: bool
    is_traceback: bool

    @property
    def score(self) -> int:
        """One point for each criterion."""
        return self.place + self.cause + self.remedy

    @property
    def faults(self) -> Set[Fault]:
        """The criteria that the message does not meet, and ``traceback`` if it shows the product's own frames."""
        met: Mapping[Fault, bool] = {
            "place": self.place,
            "cause": self.cause,
            "remedy": self.remedy,
            "traceback": not self.is_traceback,
        }
        return {fault for fault, is_met in met.items() if not is_met}


def judged(mistake: Mistake, printed: str, shop: Workshop) -> Verdict:
    """Judge the lines about the place. If no line names the place, judge all lines."""
    wanted = _pattern_of(mistake.place, shop)
    lines = [line for line in printed.splitlines() if re.search(wanted, line)]
    message = printed if isinstance(mistake.place, str) or not lines else "\n".join(lines)
    return verdict_of(mistake, message, is_placed=bool(lines), is_traceback=bool(OWN_FRAME.search(printed)))


def verdict_of(mistake: Mistake, message: str, *, is_placed: bool, is_traceback: bool = False) -> Verdict:
    """Judge one message."""
    return Verdict(
        mistake=mistake,
        message=message.strip(),
        place=is_placed,
        cause=bool(re.search(mistake.cause, message)),
        remedy=bool(re.search(mistake.remedy, message)),
        is_traceback=is_traceback,
    )


def _pattern_of(place: Token | tuple[Token, ...] | str, shop: Workshop) -> str:
    if isinstance(place, str):
        return place
    tokens = (place,) if isinstance(place, Token) else place
    places = "|".join(re.escape(shop.place_of(token.file, token.text)) for token in tokens)
    return f"^(/.*/)?({places}): "
