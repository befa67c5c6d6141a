"""Hints for a refused document: the nearest names, and the types that the document got wrong.

Both come from the view alone, so hidden objects get the hints of unknown ones. The coordinates come from the messages
of graphql-core's errors; a message that names no visible coordinate gives no hint.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field as made_of
from itertools import chain, takewhile

from graphql.pyutils.natural_compare import natural_comparison_key
from graphql.pyutils.suggestion_list import LexicalDistance

from handler.cold.records import record
from handler.graph.index import named_type
from handler.graph.sdl import print_bare
from handler.graph.view import BUILT_IN_SCALARS, View

MAX_SDL_BYTES = 4_000
"""Size of all types shown with one refusal. A type that does not fit is shown with the members that do."""

MAX_NAMES = 5

MAX_NAME_CHARS = 100
"""Longer names are near to no other, and comparing them takes long."""

MAX_COUNTED = 20
"""Names whose edits are counted. No more are ever shown, and names with other letters are not nearer."""

IN_VARIABLE = r"(?:Variable '\$\w+' has invalid (?:default )?value(?: at .*?)?: )?"

WRONG = tuple(
    re.compile(pattern)
    for pattern in (
        r"Cannot query field '(?P<field>\w+)' on type '(?P<type>\w+)'\.",
        r"Unknown argument '(?P<argument>\w+)' on field '(?P<type>\w+)\.(?P<field>\w+)'\.",
        r"Argument '(?P<type>\w+)\.(?P<field>\w+)\((?P<argument>\w+):\)' of type '(?P<input>[^']*)' is required",
        r"Field '\w+' of type '(?P<type>[^']+)' must have a selection",
        IN_VARIABLE + r"Expected value of type '(?P<type>[^']+)' not to include unknown field '(?P<field>\w+)'",
        IN_VARIABLE + r"Expected value of type '(?P<type>[^']+)' to (?:include required field|be an object)",
        IN_VARIABLE + r"Value '(?P<field>\w+)' does not exist in '(?P<type>\w+)' enum",
        IN_VARIABLE + r"Enum '(?P<type>\w+)' cannot represent",
        IN_VARIABLE + r"Within OneOf Input Object type '(?P<type>\w+)'",
        r"Unknown type '(?P<unknown>\w+)'\.",
    )
)
"""Source: graphql-core 3.3, validation/rules and utilities/validate_input_value.py. Each has a test."""


def hints_for(messages: Sequence[str], view: View) -> tuple[list[str], str]:
    """Return a sentence for each of graphql-core's messages about one document, and the SDL of the types it got wrong.

    The sentence is empty for a message without a hint.
    """
    parts = [next((match.groupdict() for rule in WRONG if (match := rule.match(text))), {}) for text in messages]
    hints = _Hints(view)
    return [hints.sentence(each) for each in parts], hints.sdl(parts)


Parts = Mapping[str, str | None]
"""The groups of one of ``WRONG``."""


@record(frozen=True, slots=True)
class _Wrong:
    """The faults in one type: the members to show, and the names that were taken for members."""

    members: set[str] = made_of(default_factory=set)
    names: list[str] = made_of(default_factory=list)


class _Hints:
    """The hints of one refusal. ``Names`` are prepared once for all faults in one place."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._names: dict[str, Names] = {}

    def sentence(self, parts: Parts) -> str:
        view, name, field = self._view, named_type(parts.get("type") or ""), parts.get("field")
        if unknown := parts.get("unknown"):
            return _did_you_mean(unknown, self._members(""))
        if name not in view.members or not field:
            return ""
        if argument := parts.get("argument"):
            declared = view.arguments(name, field) if field in view.members[name] else {}
            return "" if argument in declared else _did_you_mean(argument, Names(declared))
        return _below_fragments(view, name, field) or _did_you_mean(field, self._members(name))

    def sdl(self, faults: Sequence[Parts]) -> str:
        """Return the types that were wrong, in their order, each with as many of its members as its room allows.

        Small types are complete; the others share the room that the small ones leave.
        """
        view = self._view
        wrong: dict[str, _Wrong] = {}
        for parts in faults:
            for name in (named_type(parts.get("type") or ""), named_type(parts.get("input") or "")):
                if name in view.members and view.index.kind(name) != "scalar":
                    one = {parts["field"] or ""} if parts.get("argument") and name == parts["type"] else set()
                    wrong.setdefault(name, _Wrong()).members.update(one or view.members[name])
            if (name := named_type(parts.get("type") or "")) in wrong and not parts.get("argument"):
                wrong[name].names.append(parts.get("field") or "")
        whole = {name: print_bare(view, name, self._in_order(name, each)) for name, each in wrong.items()}
        texts: dict[str, str] = {}
        room = MAX_SDL_BYTES
        for place, name in enumerate(sorted(whole, key=lambda name: len(whole[name]))):
            share = room // (len(whole) - place)
            fits = len(whole[name].encode()) <= share
            texts[name] = whole[name] if fits else self._nearest(name, wrong[name], share)
            room -= len(texts[name].encode()) + 2
        return "\n\n".join(texts[name] for name in wrong if texts[name])

    def _in_order(self, name: str, wrong: _Wrong) -> list[str]:
        return [member for member in self._view.members[name] if member in wrong.members]

    def _nearest(self, name: str, wrong: _Wrong, room: int) -> str:
        """Return a type with as many members as fit, first those nearest to each of the wrong names."""
        rankings = [self._members(name).by_nearness(each) for each in dict.fromkeys(wrong.names)]
        ranked = dict.fromkeys(chain.from_iterable(zip(*rankings, strict=True))) or self._in_order(name, wrong)
        members = [member for member in ranked if member in wrong.members]

        def size(count: int) -> int:
            return len(print_bare(self._view, name, members[:count]).encode())

        count = bisect_right(range(len(members) + 1), room, key=size, lo=1) - 1
        return print_bare(self._view, name, members[:count]) if count or not members else ""

    def _members(self, name: str) -> Names:
        """Return the members of a type, or for the empty string the types of the schema."""
        if name not in self._names:
            own = (each for each in self._view.members if each not in BUILT_IN_SCALARS)
            self._names[name] = Names(self._view.members[name] if name else own)
        return self._names[name]


def _below_fragments(view: View, name: str, field: str) -> str:
    """Return the hint for a field that only types below an interface or union have; else the empty string."""
    kind = view.index.kind(name)
    below = view.members[name] if kind == "union" else view.index.implementers.get(name, ())
    have = [each for each in below if field in view.members.get(each, ()) and each != name]
    if not have or kind not in ("interface", "union"):
        return ""
    return f"Ask for it in {_some(f'... on {each}' for each in have)}."


def _did_you_mean(name: str, visible: Names) -> str:
    near = visible.suggested_for(name)
    return f"Did you mean {_some(near)}?" if near else ""


def _some(names: Iterable[str]) -> str:
    *first, last = list(names)[:MAX_NAMES]
    return f"{', '.join(first)} or {last}" if first else last


class Names:
    """Names that a caller may use in one place, prepared for comparison with many wrong ones.

    Counting edits takes a tenth of a millisecond for a pair of names. Comparing the letters that names share takes a
    hundredth of that, so all names are compared by letters, and edits are counted only for the nearest.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._letters = {name: _letters_of(name[:MAX_NAME_CHARS]) for name in names}

    def suggested_for(self, wrong: str) -> list[str]:
        """Return the names that may have been meant, nearest first: graphql-core's suggestions among those compared."""
        if len(wrong) > MAX_NAME_CHARS:
            return []
        most = int(len(wrong) * 0.4) + 1
        distance = LexicalDistance(wrong)
        edits = {name: distance.measure(name, most) for name in self._sharing_letters(wrong, most)}
        near = {name: count for name, count in edits.items() if count is not None}
        return sorted(near, key=lambda name: (near[name], natural_comparison_key(name)))

    def by_nearness(self, wrong: str) -> list[str]:
        """Return all names: first those that share words with the wrong one, then those that share letters."""
        wrong = wrong[:MAX_NAME_CHARS]
        letters, words = _letters_of(wrong), _words_of(wrong)
        return sorted(
            self._letters,
            key=lambda name: (-len(words & _words_of(name)), _difference(letters, self._letters[name])),
        )

    def _sharing_letters(self, wrong: str, most: int) -> list[str]:
        """Return the nearest names that may be ``most`` edits away: an edit changes at most one letter.

        Names with the same letters in another order, as in numbers, are sorted by the length of the common prefix.
        """
        letters = _letters_of(wrong)
        apart = {
            name: _difference(letters, each) for name, each in self._letters.items() if len(name) <= MAX_NAME_CHARS
        }
        near = [name for name in apart if apart[name] <= most]
        return sorted(near, key=lambda name: (apart[name], -_alike(wrong, name)))[:MAX_COUNTED]


Letters = frozenset[tuple[str, int]]
"""Each letter of a name with the number of its earlier occurrences, so that sets count repeated letters."""


def _letters_of(name: str) -> Letters:
    name = name.lower()
    return frozenset((letter, name.count(letter, 0, place)) for place, letter in enumerate(name))


def _difference(one: Letters, other: Letters) -> int:
    """Return the least number of edits between names of these letters."""
    return max(len(one), len(other)) - len(one & other)


def _alike(one: str, other: str) -> int:
    """Return the length of the common prefix."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _words_of(name: str) -> frozenset[str]:
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)
    return frozenset(word.lower().removesuffix("s") for word in words)
