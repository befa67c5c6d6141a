"""The singulars of words in identifiers: every form that a word may be the plural of."""

from __future__ import annotations

from functools import cache

ENDINGS = (
    ("s", ("",)),
    ("es", ("", "is")),
    ("ies", ("y", "ie")),
    ("sses", ("s",)),
    ("zzes", ("z",)),
    ("ves", ("f", "fe")),
    ("ices", ("ex", "ix")),
    ("men", ("man",)),
    ("people", ("person",)),
    ("children", ("child",)),
    ("brethren", ("brother",)),
    ("oxen", ("ox",)),
    ("feet", ("foot",)),
    ("teeth", ("tooth",)),
    ("geese", ("goose",)),
    ("mice", ("mouse",)),
    ("lice", ("louse",)),
    ("dice", ("die",)),
    ("pence", ("penny",)),
    ("eaux", ("eau",)),
    ("ae", ("a",)),
    ("mata", ("ma",)),
    ("ora", ("us",)),
    ("era", ("us",)),
    ("a", ("um", "on")),
    ("i", ("us", "o")),
)
"""Ending of plurals -> endings of the singular: English, its irregular words, Latin and Greek."""

MIN_CHARS = 2
"""Characters of a singular. An ending alone is not a plural."""

MIN_CHARS_OF_VOWELS = 4
"""Characters of a plural in ``a`` or ``i``: ``data`` and ``radii`` are plurals, ``api`` is not."""


@cache
def stems(word: str) -> tuple[str, ...]:
    """Return a word in lower case and every singular that it may have, the shortest one first.

    Two words are alike if they share a stem. ``statuses`` has the stems ``statuse`` and ``status``.
    """
    found = {word}
    for ending, singulars in ENDINGS:
        if _ends_as_plural(word, ending):
            found.update(f"{word[: -len(ending)]}{singular}" for singular in singulars)
    return tuple(
        sorted((stem for stem in found if len(stem) >= MIN_CHARS or stem.isdigit() or stem == word), key=_order)
    )


def _ends_as_plural(word: str, ending: str) -> bool:
    if not word.endswith(ending) or (ending == "s" and word.endswith("ss")):
        return False
    return len(ending) > 1 or ending == "s" or len(word) >= MIN_CHARS_OF_VOWELS


def _order(stem: str) -> tuple[int, str]:
    return len(stem), stem
