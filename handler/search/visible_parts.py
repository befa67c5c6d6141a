"""The visible parts of a schema, and the words that they have.

Postings are those of the whole schema. Hidden parts are left out of each list before anything is counted, so that every
count is the view's own. Parts keep the numbers that they have in the postings (see ``postings``): only the order of
numbers is used, which does not depend on what is hidden.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import compress

from handler.graph.index import named
from handler.graph.view import View
from handler.search.postings import Postings
from handler.search.words import Vocabulary


class VisibleParts:
    """The visible types and members of a view, by number."""

    def __init__(self, view: View, postings: Postings) -> None:
        self.owners: list[str] = [""]  # part -> the type of a member; of a type, the type itself
        self._view = view
        self._postings = postings
        self._parts_of: dict[str, range] = {}  # a type and its members, the hidden ones too
        self._members_of: dict[str, list[tuple[str, str]]] = {}
        self._counts: dict[str, int] = {}
        self._recounted: set[int] = set()  # fields that have hidden arguments
        self._takers: defaultdict[str, list[int]] = defaultdict(list)  # word -> such fields
        for name, size in zip(sorted(view.index), postings.sizes, strict=True):
            self._parts_of[name] = range(len(self.owners), len(self.owners) + size + 1)
            self.owners += [name] * (size + 1)
        self._is_visible = bytearray(len(self.owners))
        for name, parts in self._parts_of.items():
            if name in view.members:
                self._is_visible[parts.start : parts.stop] = b"\1" * len(parts)
        for name in {coordinate.partition(".")[0] for coordinate in view.gone} & view.members.keys():
            self._cut(name)
        self._hides = self._is_visible.count(0) > 1 or bool(self._recounted)  # no part has the number 0

    @cached_property
    def types(self) -> frozenset[int]:
        """All types, the hidden ones too."""
        return frozenset(parts.start for parts in self._parts_of.values())

    @cached_property
    def members(self) -> Sequence[int]:
        """All members."""
        return [part for part in compress(range(len(self.owners)), self._is_visible) if part not in self.types]

    def parts_of(self, type_name: str) -> range:
        """Return a type and its members, the hidden ones too. The type is the first."""
        return self._parts_of[type_name]

    def member(self, part: int) -> tuple[str, str]:
        """Return the name of a member and its named type, which is empty for an enum value."""
        owner = self.owners[part]
        return self._names_of(owner)[part - self._parts_of[owner].start - 1]

    def named(self, word: str) -> list[int]:
        """Return the parts with a word in their names."""
        return self._seen(self._postings.named(word))

    def described(self, word: str) -> list[int]:
        """Return the parts with a word in their descriptions."""
        return self._seen(self._postings.described(word))

    def taking(self, word: str) -> list[int]:
        """Return the fields with a word in the name of an argument."""
        found = self._seen(self._postings.taking(word))
        if self._recounted:
            found = [part for part in found if part not in self._recounted] + self._takers.get(word, [])
        return found

    def count(self, word: str) -> int:
        """Return the number of places that have a word."""
        found = self._counts.get(word)
        if found is None and word in self._postings.entries:
            found = self._counts[word] = sum(len(find(word)) for find in (self.named, self.described, self.taking))
        return found or 0

    def most(self, word: str) -> int:
        """Return a number that ``count`` does not exceed. It depends on hidden parts."""
        return self._postings.count(word)

    def __contains__(self, word: object) -> bool:
        if not isinstance(word, str) or word not in self._postings.entries:
            return False
        return not self._hides or self.count(word) > 0

    def begun(self, start: str) -> Iterator[str]:
        """Yield the words of names that begin with a text."""
        for word in self._words[bisect_left(self._words, start) :]:
            if not word.startswith(start):
                return
            if self.named(word):
                yield word

    def lengths(self) -> tuple[list[int], list[int]]:
        """Return the number of different words in the name and in the description of each part, 0 for hidden ones."""
        of_names, of_texts = self._postings.lengths(len(self.owners))
        if self._hides:
            for hidden in compress(range(len(self.owners)), map((0).__eq__, self._is_visible)):
                of_names[hidden] = of_texts[hidden] = 0
        return of_names, of_texts

    @cached_property
    def _words(self) -> list[str]:
        return sorted(self._postings.entries)

    def _seen(self, parts: Iterable[int]) -> list[int]:
        if not self._hides:
            return list(parts)
        is_visible = self._is_visible
        return [part for part in parts if is_visible[part]]

    def _names_of(self, type_name: str) -> list[tuple[str, str]]:
        found = self._members_of.get(type_name)
        if found is None:
            texts = self._view.index.texts(type_name)
            found = [(member, named(type_)) for member, argument, type_, _ in texts if member and not argument]
            self._members_of[type_name] = found
        return found

    def _cut(self, type_name: str) -> None:
        """Leave out the hidden members of a visible type, and read anew what fields with hidden arguments take."""
        gone, part = self._view.gone, self._parts_of[type_name].start
        taken: dict[int, list[str]] = {}
        for member, argument, _, _ in self._view.index.texts(type_name):
            if argument:
                taken.setdefault(part, []).append(f"{type_name}.{member}({argument}:)")
            elif member:
                part += 1
                self._is_visible[part] = f"{type_name}.{member}" not in gone
        for field, arguments in taken.items():
            if self._is_visible[field] and not gone.isdisjoint(arguments):
                self._recounted.add(field)
                left = [each.partition("(")[2].removesuffix(":)") for each in arguments if each not in gone]
                for word in dict.fromkeys(word for each in left for word in Vocabulary().words(each)):
                    self._takers[word].append(field)
