"""Names taken apart into words, so that an input can be found to speak of a field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
"""A word of ``camelCase``, ``snake_case``, ``UPPER_CASE`` or an acronym: ``SSNGt`` is ``SSN`` and ``Gt``."""

MAX_AROUND = 8
"""How many words before and after a mention are looked at: enough for any name that somebody reads."""


def words_of(name: str) -> list[str]:
    """The words of a name, in lower case and the singular: ``emailsIn`` asks for one email after the other."""
    return [singular(word.lower()) for word in WORD.findall(name)]


def singular(word: str) -> str:
    """A word without the ending of a plural. Where it was none, the same is cut off everywhere."""
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    plural = word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 2
    return word[:-1] if plural else word


def joined(name: str) -> str:
    """The words without what parts them: ``taxid`` of ``taxId``, ``tax_id`` and ``TAX_IDS``."""
    return "".join(words_of(name)) or name


def mentions(name: str, field: str) -> Iterator[tuple[list[str], list[str]]]:
    """The words before and after each run of whole words of ``name`` that is the (joined) name of a field.

    ``bySalary``, ``salary_gt`` and ``SALARY_ASC`` mention ``salary``; ``salaryman`` and ``unsalaried`` do not.
    """
    words = words_of(name)
    if not words and name == field:
        yield [], []
    text = "".join(words)
    places = {edge: number for number, edge in enumerate([0, *accumulate(map(len, words))])}
    start = text.find(field)
    while start >= 0:
        first, last = places.get(start), places.get(start + len(field))
        if first is not None and last is not None:
            yield words[max(0, first - MAX_AROUND) : first], words[last : last + MAX_AROUND]
        start = text.find(field, start + 1)
