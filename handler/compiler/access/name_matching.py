"""Split names into words and their singulars, to find the inputs that mention a field."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from itertools import islice, product
from typing import NamedTuple

PIECE = re.compile(r"(?P<capitals>[A-Z]+)(?P<small>[a-z]*)|[a-z]+|[0-9]+(?:s(?![a-z]))?")
"""Capitals and the small letters behind them, small letters, or digits. Other characters separate pieces."""

Word = tuple[str, ...]
"""A word in lower case and its singulars."""

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
    words = {word}
    for ending, singulars in ENDINGS:
        least = MIN_CHARS_OF_VOWELS if ending in ("a", "i") else 0
        if word.endswith(ending) and len(word) >= least and not (ending == "s" and word.endswith("ss")):
            words.update(f"{word[: -len(ending)]}{singular}" for singular in singulars)
    usable = (stem for stem in words if len(stem) >= MIN_CHARS or stem.isdigit() or stem == word)
    return tuple(sorted(usable, key=lambda stem: (len(stem), stem)))


_OPERATORS = """
above after any asc at average avg before below between by contains count desc distinct empty ends eq equal equals every
exists first fold from ge greater gt gte has ieq ilike in is last le less like lower lt lte matches max maximum min
minimum ne neq nil nin no none not null of on only or order over prefix range regex since some sort starts suffix sum
than to total under until upper where with without
"""
OPERATORS = frozenset(stem for word in _OPERATORS.split() for stem in stems(word))
"""Words for an operation on a field. They do not tell which field it is."""

_COMPARISONS = "asc desc eq ge gt gte ieq ilike in is le like lt lte ne neq nin"
COMPARISONS = tuple(_COMPARISONS.split())
"""Operators that generators write in capitals behind an acronym: ``taxIDGTE``."""

AMBIGUOUS = frozenset(("ge", "in", "is", "le", "ne", "nin"))
"""Comparisons that English words in capitals end in (``IDLE``, ``LOGIN``). They count in names with small letters."""

MAX_AROUND = 8
"""The number of words considered before and after a mention: enough for any readable name."""

MAX_WORDS = 12
"""Words of a mention: a readable field name does not have more."""

MAX_CHARS = 1_000
"""Characters of a mention: a field name is not longer."""

MAX_READINGS = 16
"""Readings of one name: each acronym may be read in two or three ways."""

MAX_SPELLINGS = 64
"""Spellings of one run of words. Beyond that, only the shortest singular of each word counts."""


class Mention(NamedTuple):
    """A run of whole words in a name, and the words around it."""

    words: tuple[Word, ...]
    before: tuple[Word, ...]
    after: tuple[Word, ...]


def readings(name: str) -> list[list[Word]]:
    """Return the ways to split a name into words: ``taxIDGT`` ends in ``IDGT`` or in ``ID`` and ``GT``.

    Small letters are not split: ``salarygt`` is one word.
    """
    mixed = not name.isupper()
    pieces = [_read_piece(piece, mixed=mixed) for piece in PIECE.finditer(name)]
    read = [[word for piece in way for word in piece] for way in islice(product(*pieces), MAX_READINGS)]
    return [[stems(word.lower()) for word in words] for words in read if words]


@cache
def spellings(name: str) -> frozenset[str]:
    """Join the words of a name, as plurals and singulars: ``taxid`` of ``taxId``, ``tax_id``, ``TAX_IDS``."""
    return frozenset(spelling for words in readings(name) for spelling in joined_spellings(words)) or frozenset([name])


@cache
def stems_in(name: str) -> frozenset[str]:
    """Return every word of a name and its singulars, by any reading."""
    return frozenset(stem for words in readings(name) for word in words for stem in word)


def joined_spellings(words: Sequence[Word]) -> Collection[str]:
    """Return the spellings of a run of words."""
    spellings_so_far = [""]
    for word in words:
        if len(spellings_so_far) * len(word) > MAX_SPELLINGS:
            return ["".join(each[0] for each in words)]
        spellings_so_far = [f"{beginning}{stem}" for beginning in spellings_so_far for stem in word]
    return spellings_so_far


def mentions(name: str, *, max_chars: int = MAX_CHARS) -> Iterator[Mention]:
    """Yield every run of whole words of a name that is not longer than ``max_chars`` in the singular.

    ``bySalary``, ``salary_gt`` and ``SALARY_ASC`` mention ``salary``; ``salaryman`` and ``unsalaried`` do not.
    """
    read = readings(name) or [[(name,)]]
    for words in dict.fromkeys(map(tuple, read)):
        for first in range(len(words)):
            chars = 0
            for last in range(first + 1, min(first + MAX_WORDS, len(words)) + 1):
                chars += len(words[last - 1][0])
                if chars > max_chars:
                    break
                before, after = words[max(0, first - MAX_AROUND) : first], words[last : last + MAX_AROUND]
                yield Mention(words[first:last], before, after)


def beginnings(name: str) -> Iterator[str]:
    """Yield a name from the beginning of each of its words on, in small letters and without separators."""
    words = [match[0].lower() for match in PIECE.finditer(name)]
    yield from ("".join(words[first:]) for first in range(len(words)))


def is_operation(name: str) -> bool:
    """Return whether all words of a name are operators."""
    return any(words and all(map(is_operator, words)) for words in readings(name))


def is_operator(word: Word) -> bool:
    """Return whether a word is an operator."""
    return not OPERATORS.isdisjoint(word)


def _read_piece(piece: re.Match[str], *, mixed: bool) -> list[list[str]]:
    """Return the ways to split a piece into words."""
    capitals, small = piece["capitals"] or "", piece["small"]
    if len(capitals) < 2:
        return [[piece[0]]]
    if not small:
        return _read_acronym(capitals, mixed=mixed)
    ways = [[*words, f"{capitals[-1]}{small}"] for words in _read_acronym(capitals[:-1], mixed=mixed)]
    if small in ("s", "es"):  # SSNs; IDIs may be one "ID is"
        ways = [words for words in ways if words[-1].lower() in OPERATORS]
        ways.append([f"{capitals}{small}"])
    elif small in OPERATORS:  # SSNgt
        ways += [[*words, small] for words in _read_acronym(capitals, mixed=mixed)]
    return ways


def _read_acronym(capitals: str, *, mixed: bool) -> list[list[str]]:
    """Return an acronym as one word, and split from each operator that it may end in."""
    parted = [
        [capitals[: -len(operator)], operator]
        for operator in COMPARISONS
        if capitals.endswith(operator.upper())
        and len(capitals) > len(operator)
        and (mixed or operator not in AMBIGUOUS)
    ]
    return [[capitals], *parted]
