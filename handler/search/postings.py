"""The places of each word in a schema (names, descriptions, the names of arguments), and their stored form.

The parts of a schema have numbers from 1: each type in the order of the types' names, and after it its members (fields,
inputs, values) in the index's order. A list of parts is stored as a text with one character for each step from a part
to the next, so that a common word costs about a byte a part.

A search of a view would otherwise split and stem all names and descriptions of the schema. The compiler does so once,
and stores the parts of each word in a section of the schema index, ``words``. The section depends on the schema alone.
Everything that counts in a view, such as the frequency of a word, is counted by the search over visible parts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

from handler.cold.records import record
from handler.graph.index import SchemaIndex, Text, expected_shape, read_names, text_in
from handler.search.words import Vocabulary
from handler.strict_json import JSONObject

END = "!"
"""Mark between a word and its lists of parts. No word has it, because a word consists of letters and digits."""

IN_NAMES, IN_TEXTS, IN_ARGUMENTS = range(3)
"""Places of a word's lists: parts by their names and by their descriptions, fields by the names of their arguments."""

RULES = 4
"""The rules of the section. A change of splitting, of a stem or of the form raises the number: a section by other rules
is not used."""

FIRST, BACKSLASH, LAST = ord("#"), ord("\\"), ord("~")
"""Characters of short steps: printable ASCII that JSON does not escape, without a space and ``END``."""

FIRST_WIDE, SURROGATES = 0xA1, range(0xD800, 0xE000)
"""Characters of longer steps."""


@record(frozen=True, slots=True)
class Postings:
    """The parts of a schema that have each word."""

    sizes: Sequence[int]  # the number of members of each type, in the order of the types' names
    entries: Mapping[str, str]  # word -> its lists of parts, of which the last may be absent
    names: Sequence[int]  # the number of different words in the name of each part; 0 for the part 0
    texts: Sequence[int]  # that of its description

    def parts(self, word: str, place: int) -> Iterable[int]:
        """Return the parts with a word in one of ``IN_NAMES``, ``IN_TEXTS`` and ``IN_ARGUMENTS``."""
        lists = self.entries.get(word, "").split(END)
        return read_steps(lists[place]) if place < len(lists) else ()

    def count(self, word: str) -> int:
        """Return the number of places that have a word."""
        return len(self.entries.get(word, "").replace(END, ""))


def find_postings(types: Mapping[str, Sequence[Text]], words_of: Callable[[str], Sequence[str]]) -> Postings:
    """Return the postings of a schema's types, each with its texts. ``words_of`` splits and stems a text."""
    lists: defaultdict[str, tuple[list[int], list[int], list[int]]] = defaultdict(lambda: ([], [], []))
    sizes, names, texts = [], [0], [0]
    part = 0
    for name in sorted(types):
        first = part + 1
        for member, argument, _, description in types[name]:
            part += not argument
            if not argument:
                names.append(len({*words_of(member or name)}))
                texts.append(len({*words_of(description)}))
            for word in words_of(argument or member or name):
                lists[word][IN_ARGUMENTS if argument else IN_NAMES].append(part)
            for word in words_of(description):
                lists[word][IN_TEXTS].append(part)
        sizes.append(part - first)
    entries = {word: END.join(map(write_steps, lists[word])).rstrip(END) for word in sorted(lists)}
    return Postings(sizes, entries, names, texts)


def write_steps(parts: Iterable[int]) -> str:
    """Return ascending numbers as a text. Repeated numbers count once."""
    return "".join(_character(part - last) for last, part in pairwise((0, *dict.fromkeys(parts))))


def read_steps(text: str) -> Iterator[int]:
    """Yield the numbers of a text of ``write_steps``."""
    return accumulate(map(_STEPS.__getitem__, text))


def _write_counts(counts: Iterable[int]) -> str:
    return "".join(_character(count + 1) for count in counts)


def _read_counts(text: str) -> list[int]:
    return [_STEPS[character] - 1 for character in text]


def _character(step: int) -> str:
    code = FIRST + step - 1
    code += code >= BACKSLASH
    if code > LAST:
        code += FIRST_WIDE - LAST - 1
    return chr(code + len(SURROGATES) if code >= SURROGATES.start else code)


class _Steps(dict[str, int]):
    """A character -> its step. A character is read at its first use."""

    def __missing__(self, character: str) -> int:
        code = ord(character)
        if code >= SURROGATES.stop:
            code -= len(SURROGATES)
        if code >= FIRST_WIDE:
            code -= FIRST_WIDE - LAST - 1
        code -= code > BACKSLASH
        step = self[character] = code - FIRST + 1
        return step


_STEPS = _Steps()


def write_words(types: Mapping[str, Sequence[Text]], synonyms: Mapping[str, Sequence[str]]) -> JSONObject:
    """Return the section for a schema's types, each with its texts, and an author's synonyms."""
    postings = find_postings(types, Vocabulary().words)
    ends = accumulate(size + 1 for size in postings.sizes)  # the number of the last part of each type
    return {
        "rules": RULES,
        "sizes": write_steps(ends),
        "counts": [_write_counts(postings.names), _write_counts(postings.texts)],
        "words": " ".join(f"{word}{END}{lists}" for word, lists in postings.entries.items()),
        **({"synonyms": {word: list(others) for word, others in synonyms.items()}} if synonyms else {}),
    }


def read_vocabulary(raw: Mapping[str, Any]) -> Vocabulary:
    """Read the author's synonyms from the section.

    Raises:
        BundleError: the section does not have the shape that the compiler writes.
    """
    with expected_shape("the schema index's words"):
        return Vocabulary({word: read_names(others) for word, others in raw.get("synonyms", {}).items()})


def read_postings(index: SchemaIndex) -> Postings:
    """Read the postings of an index, or find them if it has none by these rules, as an index of an older release.

    Raises:
        BundleError: the index does not have the shape that the compiler writes.
    """
    if index.words.get("rules") != RULES:
        index.read_all(index)
        return find_postings({name: index.texts(name) for name in index}, Vocabulary().words)
    with expected_shape("the schema index's words"):
        ends = [0, *read_steps(text_in(index.words, "sizes"))]
        sizes = [end - start - 1 for start, end in pairwise(ends)]
        entries = dict(entry.split(END, 1) for entry in text_in(index.words, "words").split(" ") if entry)
        names, texts = map(_read_counts, read_names(index.words["counts"]))
        if len(sizes) != len(tuple(index)) or not len(names) == len(texts) == ends[-1] + 1:
            raise ValueError("sizes")
        return Postings(sizes, entries, names, texts)
