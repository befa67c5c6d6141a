"""One difference between two versions of an endpoint."""

from __future__ import annotations

from dataclasses import KW_ONLY, asdict, dataclass
from typing import Any

from handler.compiler.codes import CHANGE_CODES


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. ``code`` is a key of ``CHANGE_CODES``, ``about`` the tool, key or part that differs.

    ``coordinates`` are parts of the schema that differ alike, for the same ``callers``, through the same ``ways``.
    """

    code: str
    about: str
    sentence: str
    _: KW_ONLY
    coordinates: tuple[str, ...] = ()
    callers: tuple[str, ...] = ()  # witnesses in words
    ways: tuple[str, ...] = ()  # tools and routes
    rules: tuple[str, ...] = ()  # with their places, if they are known
    for_everybody: bool = False  # it opens something to callers without a credential
    ignored: str = ""  # the reason of the author who ignores it; empty: nobody does

    @property
    def breaking(self) -> bool:
        """True if the difference counts as breaking: its kind does, and no author ignores it."""
        return CHANGE_CODES[self.code].breaking and not self.ignored

    @property
    def opens(self) -> bool:
        """True if somebody may reach, use or decide more than before."""
        return CHANGE_CODES[self.code].opens

    @property
    def opening(self) -> bool:
        """True if ``publish`` needs ``--allow-open`` for it, also if an author ignores it."""
        return self.for_everybody or self.code == "root-opened"

    def line(self) -> str:
        """Return the difference as one line, with its code."""
        mark = ("open: " if self.opening else "") + ("breaking: " if self.breaking else "")
        reason = f" (ignored: {self.ignored})" if self.ignored else ""
        return f"{mark}{self.sentence} [{self.code}]{reason}"

    def as_json(self) -> dict[str, Any]:
        """Return the difference as JSON."""
        plain = asdict(self)
        everybody = plain.pop("for_everybody")
        verdicts = {"breaking": self.breaking, "opens": self.opens, "opening": self.opening}
        return {**plain, **verdicts, "opensToEverybody": everybody}
