"""What a model can do about a refusal: the nearest names, and the types that it got wrong.

Both come from the view alone, so what is hidden is answered as what does not exist. The words of graphql-core's errors
are read for the coordinates in them; those that name nothing visible give no hint.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from graphql.pyutils import suggestion_list

from handler.graph.index import named
from handler.graph.view import BUILT_IN_SCALARS, View, print_bare
from handler.records import dataclass

MAX_SDL_BYTES = 4_000
"""All types that are shown with one refusal. A type that does not fit is shown with the members that do."""

MAX_NAMES = 5
MAX_NAME_CHARS = 100
"""Longer names are near to nothing, and comparing them takes long."""

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


@dataclass(frozen=True, slots=True)
class Hints:
    """Sentences to put behind those of the errors, in their order, and the SDL of the types that were wrong."""

    sentences: tuple[str, ...]
    sdl: str


def hints_for(messages: Sequence[str], view: View) -> Hints:
    """Hints for the messages of graphql-core about one document; an empty sentence where there is none."""
    found = [next((match.groupdict() for rule in WRONG if (match := rule.match(text))), {}) for text in messages]
    sentences = tuple(_sentence(view, parts) for parts in found)
    wrong: dict[str, set[str | None]] = {}
    for parts in found:
        for name in (named(parts.get("type") or ""), named(parts.get("input") or "")):
            if name in view.members and view.index.kind(name) != "scalar":
                one = {parts["field"]} if parts.get("argument") and name == parts["type"] else None
                wrong.setdefault(name, set()).update(one or view.members[name])
    return Hints(sentences, _sdl(view, wrong))


def _sentence(view: View, parts: Mapping[str, str | None]) -> str:
    name, field = named(parts.get("type") or ""), parts.get("field")
    if unknown := parts.get("unknown"):
        return _did_you_mean(unknown, (each for each in view.members if each not in BUILT_IN_SCALARS))
    if name not in view.members or not field:
        return ""
    if argument := parts.get("argument"):
        declared = view.arguments(name, field) if field in view.members[name] else {}
        return "" if argument in declared else _did_you_mean(argument, declared)
    return _below_fragments(view, name, field) or _did_you_mean(field, view.members[name])


def _below_fragments(view: View, name: str, field: str) -> str:
    """Where a field is not one of an interface or a union, but of types below it."""
    kind = view.index.kind(name)
    below = view.members[name] if kind == "union" else view.index.implementers.get(name, ())
    have = [each for each in below if field in view.members.get(each, ()) and each != name]
    if not have or kind not in ("interface", "union"):
        return ""
    return f"Ask for it in {_some(f'... on {each}' for each in have)}."


def _did_you_mean(name: str, visible: Iterable[str]) -> str:
    near = suggestion_list(name, list(visible)) if len(name) <= MAX_NAME_CHARS else []
    return f"Did you mean {_some(near)}?" if near else ""


def _some(names: Iterable[str]) -> str:
    *first, last = list(names)[:MAX_NAMES]
    return f"{', '.join(first)} or {last}" if first else last


def _sdl(view: View, wrong: Mapping[str, set[str | None]]) -> str:
    """The types, each with the members that are asked for, until there is no room for another member."""
    parts: list[str] = []
    room = MAX_SDL_BYTES
    for name, members in wrong.items():
        part = _fitting(view, name, [member for member in view.members[name] if member in members], room)
        if not part:
            break
        parts.append(part)
        room -= len(part.encode()) + 2
    return "\n\n".join(parts)


def _fitting(view: View, name: str, members: Sequence[str], room: int) -> str:
    """A type without descriptions, with as many of its members as fit; empty if none does."""

    def printed(count: int) -> str:
        return print_bare(view, name, members[:count])

    fits, too_many = 0, len(members) + 1
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        fits, too_many = (middle, too_many) if len(printed(middle).encode()) <= room else (fits, middle)
    return printed(fits) if fits or not members else ""
