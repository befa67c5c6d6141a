"""Names taken apart into words, so that an input can be found to speak of a field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
"""A word of ``camelCase``, ``snake_case``, ``UPPER_CASE`` or an acronym: ``SSNGt`` is ``SSN`` and ``Gt``."""


def words_of(name: str) -> list[str]:
    """The words of a name, in lower case."""
    return [word.lower() for word in WORD.findall(name)]


def joined(name: str) -> str:
    """The words without what parts them: ``taxid`` of ``taxId``, ``tax_id`` and ``TAX_ID``."""
    return "".join(words_of(name)) or name


def mentions(name: str, field: str) -> Iterator[tuple[list[str], list[str]]]:
    """The words before and after each run of whole words of ``name`` that is the (joined) name of a field.

    ``bySalary``, ``salary_gt`` and ``SALARY_ASC`` mention ``salary``; ``salaryman`` and ``unsalaried`` do not.
    """
    words = words_of(name)
    if not words and name == field:
        yield [], []
    text = "".join(words)
    edges = [0, *accumulate(map(len, words))]
    start = text.find(field)
    while start >= 0:
        if start in edges and start + len(field) in edges:
            yield words[: edges.index(start)], words[edges.index(start + len(field)) :]
        start = text.find(field, start + 1)
