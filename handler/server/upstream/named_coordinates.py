"""Names in an API's error message: the coordinate that the error is about, and names that are not in the document.

The patterns read untrusted text. Each takes time linear in the text, and callers cut the text first.
"""

from __future__ import annotations

import re
from collections.abc import Set

from handler.server.upstream.selected_fields import STRINGS

COMPLAINTS = (
    "are required but",
    "can never be of type",
    "cannot be spread",
    "cannot condition on",
    "cannot query field",
    "cannot represent",
    "conflict because",
    "does not accept argument",
    "does not exist",
    "doesn't accept argument",
    "doesn't exist",
    "expected value of type",
    "has an invalid value",
    "has invalid value",
    "has no argument",
    "invalid enum value",
    "is not defined by",
    "is not defined on",
    "is required for field",
    "is required, but",
    "is undefined",
    "missing required argument",
    "must have a selection",
    "must have selections",
    "must have sub",
    "must not have a selection",
    "must not have sub",
    "no subfields",
    "non-input type",
    "not found in type",
    "of required type",
    "selections can't be made",
    "unknown argument",
    "unknown directive",
    "unknown enum",
    "unknown field",
    "unknown input",
    "unknown type",
    "used in position",
)
"""Phrases, in lower case, of validation rules that a document breaks if it does not fit the schema."""

_NAME = r"[A-Za-z_][A-Za-z0-9_]{0,199}"

NAMED = re.compile(
    rf"""\b(?P<role>fields?|argument|type|enum|value|variable|object|inputobject|interface|union|fragment|directive)
    (?:\ named)?:?\ ?["'`$@]{{1,3}}(?P<name>{_NAME}(?:\.{_NAME})?)["'`!\]]""",
    re.IGNORECASE | re.VERBOSE,
)
"""A quoted name, and the kind of thing that it names."""

FOUND = re.compile(rf"\bfound:? [\"'`]?({_NAME})")
"""The enum value that a rule on literals found; most servers do not quote it."""

WHOLE = re.compile(rf"[\"'`]({_NAME}\.({_NAME})\({_NAME}:\))[\"'`]")
"""A quoted coordinate of an argument, in the words of newer servers."""

OWNER = re.compile(
    rf"""\b(?:on|in|by)\ (?:the\ )?(?:object\ |input\ |enum\ |interface\ )?(?:type:?\ |field\ )?
    ["'`](?P<name>{_NAME}(?:\.{_NAME})?)["'`]""",
    re.IGNORECASE | re.VERBOSE,
)
"""The type or field that a name should belong to."""

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

PUBLIC = re.compile(
    r"Query|Mutation|Subscription|Boolean|Float|Int|String|IDs?|GraphQL|GitHub|__(schema|type|typename)"
)
"""Names that every API has, and proper names of prose."""

NOUN = re.compile(r"argument|directive|enum|fields?|fragment|interface|object|type|union")
"""Words that a name follows, quoted or not."""

PROSE = re.compile(
    r"and|are|arguments?|at|by|costs?|count|depth|exceeds|for|from|has|have|in|is|it|limits?|must|names?|named|not|of"
    r"|on|or|system|than|that|to|type|was|weight|were|with"
)
"""Words that may follow a noun and are not names."""

SUGGESTION = re.compile(r"\b(did you mean|(maybe|perhaps) you meant|you might have meant)\b", re.IGNORECASE)


def names_in(document: str) -> frozenset[str]:
    """Return all names in a GraphQL document, keywords included and the content of strings excluded."""
    return frozenset(WORD.findall(STRINGS.sub(" ", document)))


def coordinate_in(message: str, *, names: Set[str]) -> str:
    """Return the first of ``names`` that a message is about, with its type if given: ``Query.orders(first:)``.

    Empty string if the message does not sound like a validation rule, or contains none of ``names``.
    """
    lowered = message.lower()
    if not any(complaint in lowered for complaint in COMPLAINTS):
        return ""
    whole = WHOLE.search(message)
    if whole and whole[2] in names:
        return whole[1]
    named = [(found["role"].lower(), found["name"]) for found in NAMED.finditer(message)]
    named += [("value", found[1]) for found in FOUND.finditer(message)]
    ours = [(role, name) for role, name in named if name.rpartition(".")[2] in names]
    if not ours:
        return ""
    role, name = ours[0]
    if role in ("variable", "directive"):
        return f"{'$' if role == 'variable' else '@'}{name}"
    found = OWNER.search(message)
    owner = found["name"] if found and found["name"] != name else ""
    if role == "argument":
        owner = owner or next((other for kind, other in named if kind == "field"), "")
        return f"{owner}({name}:)"
    if role == "field" and "is required" in lowered:
        name += next((f"({other}:)" for kind, other in named if kind == "argument"), "")
    return f"{owner}.{name}" if owner and "." not in name else name


def without_suggestions(message: str) -> str:
    """Cut a message before its suggestion of other names."""
    found = SUGGESTION.search(message)
    return message[: found.start()].rstrip(" \t\r\n(") if found else message


def without_names(message: str, *, but: Set[str]) -> str:
    """Replace schema names in a message by ``…``, except the names ``but`` of the caller's document.

    A word counts as a name if it is quoted, is spelt like a name (``unitPrice``, ``unit_price``, ``Order.total``), or
    follows the noun for its kind (``field total``).
    """
    before, end = "", 0

    def shown(found: re.Match[str]) -> str:
        nonlocal before, end
        ended = _ENDED.search(message, end, found.start())
        word, previous, before, end = found[0], "" if ended else before, found[0].lower(), found.end()
        if word in but or PUBLIC.fullmatch(word):
            return word
        named = NOUN.fullmatch(previous) and not PROSE.fullmatch(before)
        return "…" if named or _is_spelt_as_name(word) or _is_quoted(message, found) else word

    return WORD.sub(shown, message)


def _is_spelt_as_name(word: str) -> bool:
    return "_" in word or (word != word.upper() and word[1:] != word[1:].lower())


def _is_quoted(text: str, found: re.Match[str]) -> bool:
    """True if a quotation mark, bracket or joint is at an end of a word. An apostrophe in a word does not count."""
    start, end = found.span()
    before, after = text[max(start - 2, 0) : start], text[end : end + 2]
    opened = before[-1:] in _QUOTES and before[-1:] != "" and not before[:1].isalpha()
    closed = after[:1] in _QUOTES and after[:1] != "" and not after[1:].isalpha()
    return opened or closed or _is_joined(before[-1:], after)


def _is_joined(before: str, after: str) -> bool:
    return (after[:1] == "." and after[1:].isalpha()) or before == "."


_ENDED = re.compile(r"[.!?;](?=\s)")
_QUOTES = "\"'`“”‘’«»$@[]/"
