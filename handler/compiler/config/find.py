"""Read ``find`` of ``config.yaml``: words that an author gives to search."""

from __future__ import annotations

from collections.abc import Mapping

from handler.compiler.config.table import MAX_WORDS
from handler.compiler.source.yaml_section import Section
from handler.search.words import STOP_WORDS, split


def read_find(section: Section) -> Mapping[str, tuple[str, ...]]:
    """Return the words of questions, each with the words that it also finds."""
    section.expect()
    words = section.section("words")
    if len(words.keys()) > MAX_WORDS:
        section.refuse("words", f"at most {MAX_WORDS} words")
        return {}
    found = {word: tuple(other for other, _ in words.texts(word)) for word in words.keys()}  # noqa: SIM118
    for word, others in found.items():
        if len(list(split(word))) != 1:
            words.refuse(word, "one word as the key, such as turnover")
        elif not STOP_WORDS.isdisjoint(split(word)):
            words.refuse(word, "a word about a subject: searches leave this one out")
        elif not others or not all(any(split(other)) for other in others):
            words.refuse(word, "a list of words, such as [revenue]")
    return found
