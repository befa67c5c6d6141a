"""Words of names, descriptions and questions: split at case, digits and underscores, and brought to stems."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from handler.search.stems import stem

MAX_CHARS = 2_000
"""Characters of a question that count."""

MAX_WORDS = 32
"""Different words of a question that count."""

MAX_WORD_CHARS = 64
"""Characters of a word of other scripts that count: one character may stand for eighteen."""

_RUNS = re.compile(r"[^\W_]+")
_PARTS = re.compile(r"[A-Z]+s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")
"""Scripts that put no spaces between words: Thai, Lao, Khmer, Chinese, Japanese; Korean joins particles to words."""

_SPACES = {code: " " for code in range(128) if not chr(code).isalnum()}

STOP_WORDS = frozenset(
    """
    a about all also am an and any anybody anyone anything are as at be been before being but by can could did
    do does e each either etc every everybody everyone everything for from g had has have having he her here
    hers him his how i if in into is it its itself just let many may me might more most much must my no nor
    not of on one only or other our out over own please s shall she should so some somebody someone something
    such t than that the their them then there these they this those through to too under until up us very via
    was we were what when where which while who whom whose why will with within without would you your
    """.split()  # noqa: SIM905 - a table of words
)
"""Words that say nothing about the subject of a question. A question of nothing else is asked with them."""


def split(text: str) -> Iterator[str]:
    """Yield the words of a text in lower case, in order."""
    for run in _RUNS.findall(text):
        if run.isascii():
            for part in _PARTS.findall(run):
                yield part.lower()
        else:
            yield from _of_other_scripts(run)


def _of_other_scripts(run: str) -> Iterator[str]:
    """Yield pairs of characters where a script has no spaces, and other words without their accents."""
    place = 0
    for unspaced in _UNSPACED.finditer(run):
        yield from _without_accents(run[place : unspaced.start()])
        text, place = unspaced[0], unspaced.end()
        yield from (text[at : at + 2] for at in range(max(1, len(text) - 1)))
    yield from _without_accents(run[place:])


def _without_accents(run: str) -> Iterator[str]:
    import unicodedata

    plain = unicodedata.normalize("NFKD", run[:MAX_WORD_CHARS].casefold())
    text = "".join(char for char in plain if not unicodedata.combining(char))
    yield from _RUNS.findall(text)  # one character may stand for several words, or for a digit in parentheses


class Vocabulary:
    """Stems of words, and an author's synonyms. The stems of words in ``words`` are kept."""

    def __init__(self, synonyms: Mapping[str, Sequence[str]] | None = None) -> None:
        self._known = _Stems()
        self._synonyms: dict[str, tuple[str, ...]] = {}  # forms of one word add up
        for word, others in (synonyms or {}).items():
            for root in self.asked(word):
                stems = (each for other in others for each in self.asked(other))
                self._synonyms[root] = tuple(dict.fromkeys((*self.synonyms(root), *stems)))

    def words(self, text: str) -> list[str]:
        """Return the stems of a text's words, in order, without stop words. Stems are kept: not for questions."""
        return [word for token in text.translate(_SPACES).split() for word in self._known[token]]

    def asked(self, text: str) -> list[str]:
        """Return the stems of a question's words, in order. Stop words count if there are no others."""
        text = text[:MAX_CHARS]
        return [stem(word) for word in split(text) if word not in STOP_WORDS] or [stem(word) for word in split(text)]

    def synonyms(self, word: str) -> tuple[str, ...]:
        """Return the stems that an author gives for the stem of a question's word."""
        return self._synonyms.get(word, ())


class _Stems(dict[str, tuple[str, ...]]):
    """Text without spaces and ASCII punctuation -> the stems of its words. A schema repeats most of its words."""

    def __init__(self) -> None:
        super().__init__()
        self._of_part = _OfPart()

    def __missing__(self, token: str) -> tuple[str, ...]:
        parts: Iterable[str] = (token,)
        if not token.isascii():
            parts = split(token)
        elif not (token.islower() and token.isalpha()):
            parts = _PARTS.findall(token)
        stems = self[token] = tuple(filter(None, map(self._of_part.__getitem__, parts)))
        return stems


class _OfPart(dict[str, str]):
    """A word in any case -> its stem; empty for a stop word."""

    def __missing__(self, part: str) -> str:
        word = part.lower()
        root = self[part] = "" if word in STOP_WORDS else self[word] if word != part else stem(word)
        return root
