"""Names in a foreign error message: the coordinate that it complains of, and those that nobody here has asked for.

Its patterns read foreign text. Each takes time in proportion to that, and callers cut it before.
"""

from __future__ import annotations

import re
from collections.abc import Set

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
"""The words of rules of validation, in lower case, in which a document does not fit a schema."""

_NAME = r"[A-Za-z_][A-Za-z0-9_]{0,199}"

NAMED = re.compile(
    rf"""\b(?P<role>fields?|argument|type|enum|value|variable|object|inputobject|interface|union|fragment|directive)
    (?:\ named)?:?\ ?["'`$@]{{1,3}}(?P<name>{_NAME}(?:\.{_NAME})?)["'`!\]]""",
    re.IGNORECASE | re.VERBOSE,
)
"""A quoted name, and what it is of."""

FOUND = re.compile(rf"\bfound:? [\"'`]?({_NAME})")
"""The value of an enumeration that a rule of literals met, which most servers do not quote."""

OWNER = re.compile(
    rf"""\b(?:on|in|by)\ (?:the\ )?(?:object\ |input\ |enum\ |interface\ )?(?:type:?\ |field\ )?
    ["'`](?P<name>{_NAME}(?:\.{_NAME})?)["'`]""",
    re.IGNORECASE | re.VERBOSE,
)
"""The type, or the field, that a name would have to be of."""

STRINGS = re.compile(r'"""(?:[^"\\]|\\"""|\\|"(?!""))*(?:""")?|"(?:[^"\\\n]|\\.)*"?')
"""Strings of a document. One that does not end is one too: to look for ends in vain takes the square of the time."""

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

PUBLIC = re.compile(
    r"Query|Mutation|Subscription|Boolean|Float|Int|String|IDs?|GraphQL|GitHub|__(schema|type|typename)"
)
"""Names that every API has, and the proper ones of prose."""

NOUN = re.compile(r"argument|directive|enum|fields?|fragment|interface|object|type|union")
"""Words after which a name stands, quoted or not."""

PROSE = re.compile(
    r"and|are|arguments?|at|by|costs?|count|depth|exceeds|for|from|has|have|in|is|it|limits?|must|names?|named|not|of"
    r"|on|or|system|than|that|to|type|was|weight|were|with"
)
"""Words that stand after those and are none."""

SUGGESTION = re.compile(r"\b(did you mean|(maybe|perhaps) you meant|you might have meant)\b", re.IGNORECASE)


def names_in(document: str) -> frozenset[str]:
    """All names in a GraphQL document, its keywords included; what stands in strings is none."""
    return frozenset(WORD.findall(STRINGS.sub(" ", document)))


def coordinate_in(message: str, *, names: Set[str]) -> str:
    """The first of ``names`` that a message complains of, with its type where that is told: ``Query.orders(first:)``.

    Empty: the message does not complain as a rule of validation does, or of nothing that is named here.
    """
    lowered = message.lower()
    if not any(complaint in lowered for complaint in COMPLAINTS):
        return ""
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
    return f"{owner}.{name}" if owner and "." not in name else name


def without_suggestions(message: str) -> str:
    """A message up to where it suggests other names."""
    found = SUGGESTION.search(message)
    return message[: found.start()].rstrip(" \t\r\n(") if found else message


def without_names(message: str, *, but: Set[str]) -> str:
    """A message in which names of a schema are ``…``, other than those that the caller's document has.

    Taken for a name is what is quoted, is spelt like one (``unitPrice``, ``unit_price``, ``Order.total``), or stands
    after the word for what it would be (``field total``).
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
    """Whether a word has a quotation mark, a bracket or a joint at one of its ends; an apostrophe in a word is none."""
    start, end = found.span()
    before, after = text[max(start - 2, 0) : start], text[end : end + 2]
    opened = before[-1:] in _QUOTES and before[-1:] != "" and not before[:1].isalpha()
    closed = after[:1] in _QUOTES and after[:1] != "" and not after[1:].isalpha()
    return opened or closed or _is_joined(before[-1:], after)


def _is_joined(before: str, after: str) -> bool:
    return (after[:1] == "." and after[1:].isalpha()) or before == "."


_ENDED = re.compile(r"[.!?;](?=\s)")
_QUOTES = "\"'`“”‘’«»$@[]/"
