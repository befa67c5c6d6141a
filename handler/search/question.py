"""A question as a search reads it: words, each with its weight and the words that may stand for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import filterfalse, islice
from string import ascii_lowercase

from handler.cold.records import record
from handler.search.phrases import MEANINGS, PHRASES
from handler.search.stems import doers, stem
from handler.search.words import MAX_CHARS, MAX_WORDS, Vocabulary, split


def _stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, words.split()))


WEAK_WORDS = _stems("display find get give know list look need return see show tell want")
"""Words that say to look, and seldom at what."""

WEAK = 0.3
"""Weight of a weak word."""

_OF_ALL = WEAK_WORDS | {stem("use")}
"""Verbs whose doer is everybody."""

MAX_GUESSED = 8
"""Unknown words of a question of which the meaning is guessed."""

MAX_COMPOUND_CHARS = 40
"""Characters of a word that may be a compound."""

MIN_PART_CHARS = 3
"""Characters of a part of a compound, and of a beginning that may stand for the words that begin with it."""

MIN_LAST_CHARS = 2
"""Characters of the last part of a compound: ``userid``."""

MAX_MISSPELT_CUTS = 2
"""Places of a misspelt compound that are tried."""

MIN_MISSPELT_CHARS, MAX_MISSPELT_CHARS = 5, 16
"""Characters of a word that may have a letter wrong."""

MAX_BEGUN = 8
"""Words that a beginning may stand for. A beginning of more words stands for none."""

_ASKS = re.compile(
    r"\W*(?:who|whom|whose|what|when|where|which|why|how|is|are|am|was|were|do|does|did|has|have|had|can|could|must|"
    r"should|will|would|(?:please\s+)?(?:display|fetch|find|get|give|list|look|return|see|show|tell))\b",
    re.IGNORECASE,
)
_ASKS_HOW_TO = re.compile(r"\W*(?:how\s+(?:to|do\s+(?:i|we|you)|can\s+(?:i|we|you))|can\s+you)\b", re.IGNORECASE)

_TELLS = re.compile(
    r"\W*(?:(?:how\s+(?:to|do\s+\w+|can\s+\w+)|please|can\s+you)\s+)?(\w+)\s+(?:an?|the|this|that|my|our|all)\b",
    re.IGNORECASE,
)
"""A verb and the beginning of its object."""

_READS = _stems(
    "browse calculate check compare compute count describe explain filter print query read search sort summarize view"
)
"""Verbs of reading."""

_NUMBER_OF = re.compile(
    r"\b(?:(?:count|different|distinct|the|total|whole)\s+){0,4}(?:counts?|numbers?)\s+of\b", re.IGNORECASE
)
"""Words that are read as "how many": what is counted follows."""

_HINTS = {
    re.compile(rf"\b{words}\b", re.IGNORECASE): _stems(names)
    for words, names in {
        "when": "date time datetime timestamp at",
        "whom?": "user person actor author by",
        "where": "location address place",
        r"how\s+many": "count total number",
        r"how\s+much": "amount total",
    }.items()
}
"""Question words, and the words in names of the fields that may answer them."""


_PLURAL = re.compile(r"\w+[^aius\W]s")
"""A noun in the plural, or a verb: ``status``, ``address`` and ``is`` are not."""

_ID = re.compile(r"\bids?\b|\b(?=\w*\d)(?=\w*[a-z])[\w-]{8,}\b", re.IGNORECASE)
"""The word, or a text that looks like an id."""


@record(frozen=True, slots=True)
class Question:
    """The words of a question in order. ``words``: stem -> the stems that count as it, its own first."""

    words: Mapping[str, tuple[str, ...]]
    weights: Mapping[str, float]
    hints: frozenset[str]
    asks: bool  # the question asks for facts, and does not ask to change anything
    tells: bool  # the question is a command to change something: "close an issue"
    plural: frozenset[str]  # stems of the words in the plural
    has_id: bool  # the question gives an id, or says that it does

    def is_many(self, name: str) -> bool:
        """Return whether the question is about many values of a type."""
        return any(stem(word) in self.plural for word in split(name))


def read_question(text: str, vocabulary: Vocabulary, known: Callable[[str], bool], begun: Begun) -> Question:
    """Read a question. ``known`` and ``begun`` have the words of the parts that are searched."""
    text = _NUMBER_OF.sub("how many", text[:MAX_CHARS])
    text = " ".join([text, *(name for pattern, name in PHRASES.items() if pattern.search(text))])
    stems = list(dict.fromkeys(vocabulary.asked(text)))[:MAX_WORDS]
    guessed = {word: _parts(word, known, begun) for word in islice(filterfalse(known, stems), MAX_GUESSED)}
    words = {}
    for at, word in enumerate(stems):
        others = (*vocabulary.synonyms(word), *filter(known, _compounds(stems, at)), *guessed.get(word, ()))
        persons = () if word in _OF_ALL else filter(known, doers(word))
        same = filter(known, MEANINGS.get(word, ()))
        words[word] = tuple(dict.fromkeys((word, *others, *persons, *same)))
    verb = _TELLS.match(text)
    return Question(
        words,
        {word: WEAK if word in WEAK_WORDS else 1.0 for word in words},
        frozenset(name for pattern, names in _HINTS.items() if pattern.search(text) for name in names),
        bool(_ASKS.match(text)) and not _ASKS_HOW_TO.match(text),
        verb is not None and stem(verb[1].lower()) not in WEAK_WORDS | _READS and not _ASKS.match(verb[1]),
        frozenset(stem(word) for word in split(text) if _PLURAL.fullmatch(word)),
        _ID.search(text) is not None,
    )


Begun = Callable[[str], Iterable[str]]
"""The known words that begin with a text."""


def _compounds(stems: list[str], at: int) -> Iterator[str]:
    """Yield the compounds of a word and its neighbours: ``pullrequest`` of ``pull request``."""
    return ("".join(stems[first : first + 2]) for first in (at - 1, at) if 0 <= first < len(stems) - 1)


def _parts(word: str, known: Callable[[str], bool], begun: Begun) -> tuple[str, ...]:
    """Return the parts of an unknown word, or else the words that it begins."""
    if not MIN_PART_CHARS <= len(word) <= MAX_COMPOUND_CHARS:
        return ()
    cuts = [(stem(word[:at]), stem(word[at:])) for at in range(MIN_PART_CHARS, len(word) - MIN_LAST_CHARS + 1)]
    for cut in cuts:
        if all(map(known, cut)):
            return cut
    words = tuple(islice(begun(word), MAX_BEGUN + 1))
    if 0 < len(words) <= MAX_BEGUN:
        return words
    if words := tuple(filter(known, _misspelt(word))):
        return words
    # A part of a compound may be misspelt; the longest known part goes first.
    tries = [(part, rest) for cut in cuts for part, rest in (cut, cut[::-1]) if known(part)]
    tries.sort(key=lambda each: -len(each[0]))
    for part, rest in tries[:MAX_MISSPELT_CUTS]:
        if words := tuple(filter(known, _misspelt(rest))):
            return (part, *dict.fromkeys(words))
    return ()


def _misspelt(word: str) -> Iterator[str]:
    """Yield the words of which a word lacks a letter, has one too many, a wrong one, or two in the wrong order."""
    if MIN_MISSPELT_CHARS <= len(word) <= MAX_MISSPELT_CHARS:
        for at in range(1, len(word)):
            head, tail = word[:at], word[at:]
            yield head + tail[1:]
            yield head + tail[1:2] + tail[:1] + tail[2:]
            yield from (f"{head}{letter}{tail}" for letter in ascii_lowercase)
            yield from (f"{head}{letter}{tail[1:]}" for letter in ascii_lowercase)
