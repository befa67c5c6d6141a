"""The places of each word in a schema: names, descriptions, and the names of arguments.

The parts of a schema have numbers from 1: each type in the order of the types' names, and after it its members (fields,
inputs, values) in the index's order. A list of parts is stored as a text with one character for each step from a part
to the next, so that a common word costs about a byte a part.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from handler.cold.records import record
from handler.graph.index import Text

END = "!"
"""Mark between a word and its lists of parts. No word has it, because a word consists of letters and digits."""

FIRST, BACKSLASH, LAST = ord("#"), ord("\\"), ord("~")
"""Characters of short steps: printable ASCII that JSON does not escape, without a space and ``END``."""

FIRST_WIDE, SURROGATES = 0xA1, range(0xD800, 0xE000)
"""Characters of longer steps."""


@record(frozen=True, slots=True)
class Postings:
    """The parts of a schema that have each word."""

    sizes: Sequence[int]  # the number of members of each type, in the order of the types' names
    entries: Mapping[str, str]  # word -> lists of parts: by name, by description, by argument; the last may be absent

    def named(self, word: str) -> Iterable[int]:
        """Return the parts with a word in their names."""
        return self._parts(word, 0)

    def described(self, word: str) -> Iterable[int]:
        """Return the parts with a word in their descriptions."""
        return self._parts(word, 1)

    def taking(self, word: str) -> Iterable[int]:
        """Return the fields with a word in the name of an argument."""
        return self._parts(word, 2)

    def count(self, word: str) -> int:
        """Return the number of places that have a word."""
        return len(self.entries.get(word, "").replace(END, ""))

    def lengths(self, count: int) -> tuple[list[int], list[int]]:
        """Return the number of words in the name and in the description of each part. ``count``: of parts, and 0."""
        of_names: Counter[int] = Counter()
        of_texts: Counter[int] = Counter()
        for entry in self.entries.values():
            names, _, others = entry.partition(END)
            of_names.update(read_steps(names))
            of_texts.update(read_steps(others.partition(END)[0]))
        return [of_names[part] for part in range(count)], [of_texts[part] for part in range(count)]

    def _parts(self, word: str, place: int) -> Iterable[int]:
        lists = self.entries.get(word, "").split(END)
        return read_steps(lists[place]) if place < len(lists) else ()


def find_postings(types: Mapping[str, Sequence[Text]], words_of: Callable[[str], Sequence[str]]) -> Postings:
    """Return the postings of a schema's types, each with its texts. ``words_of`` splits and stems a text."""
    found: defaultdict[str, tuple[list[int], list[int], list[int]]] = defaultdict(lambda: ([], [], []))
    sizes = []
    part = 0
    for name in sorted(types):
        first = part + 1
        for member, argument, _, description in types[name]:
            part += not argument
            for word in words_of(argument or member or name):
                found[word][2 if argument else 0].append(part)
            for word in words_of(description):
                found[word][1].append(part)
        sizes.append(part - first)
    entries = {word: END.join(map(write_steps, found[word])).rstrip(END) for word in sorted(found)}
    return Postings(sizes, entries)


def write_steps(parts: Iterable[int]) -> str:
    """Return ascending numbers as a text. Repeated numbers count once."""
    written = []
    last = 0
    for part in dict.fromkeys(parts):
        written.append(_character(part - last))
        last = part
    return "".join(written)


def read_steps(text: str) -> Iterator[int]:
    """Yield the numbers of a text of ``write_steps``."""
    return accumulate(map(_STEPS.__getitem__, text))


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
