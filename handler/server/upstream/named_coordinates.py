"""Names in an API's error message: the coordinate that the error is about, and names that are not in the document.

The patterns read untrusted text. Each takes time linear in the text, and callers cut the text first.

Stile sends only values that the published schema allows. So an API that refuses an enum value or an input field of them
has another schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from typing import TYPE_CHECKING, Any

from handler.server.upstream.graphql_request import STRINGS, GraphQLRequest

if TYPE_CHECKING:
    from handler.graph.documents.used_fields import Node
    from handler.graph.index import SchemaIndex

COMPLAINTS = re.compile(
    "are required but|can never be of type|cannot (be spread|condition on|query field|represent)|conflict because"
    "|(does not|doesn't) (accept argument|exist)|expected value of type|has (an )?invalid value|has no argument"
    "|invalid enum value|is not defined (by|on)|is required(, but| for field)|is undefined"
    "|missing required argument|must (not )?have (a selection|sub)|must have selections|no subfields|non-input type"
    "|not found in type|of required type|selections can't be made|unknown (argument|directive|enum|field|input|type)"
    "|used in position",
    re.IGNORECASE,
)
"""Phrases of validation rules that a document breaks if it does not fit the schema."""

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

OF_VALUES = re.compile(
    rf"{COMPLAINTS.pattern}|does not contain the value|is not a valid|is not defined|no value found|not found", re.I
)
"""Phrases about values that do not fit the schema."""

QUOTED = re.compile(r"[\"'`](\w+)[\"'`]")
_WITHIN = r"(?:\w{1,200}\.){0,60}"
REQUIRED = re.compile(
    r"[\"'`](\w+)[\"'`] of required type\b|\brequired field [\"'`](\w+)[\"'`]"
    rf"|\bfor {_WITHIN}({_NAME}) \(Expected value to not be null\)"
)
OF_RUBY = re.compile(
    rf"""Variable\ \$\w+\ of\ type\ [\w\[\]!]+\ was\ provided\ invalid\ value(?:\ for\ {_WITHIN}(?P<field>\w+))?
    \ \((?:Expected\ "(?P<value>{_NAME})"\ to\ be\ one\ of:|Field\ is\ not\ defined\ on\ (?P<owner>{_NAME})\b)""",
    re.VERBOSE,
)
"""graphql-ruby's words about an enum value or an input field."""

OTHER_TYPE = re.compile(r" at [\"'`][\w.\[\]]{1,1000}\.(\w+)[\[\]\d]{0,99}[\"'`]; (\w+) cannot represent")
BUILT_IN = frozenset({"Boolean", "Float", "ID", "Int", "String"})

_ENDED = re.compile(r"[.!?;](?=\s)")
_QUOTES = "\"'`“”‘’«»$@[]/"


def document_names(document: str) -> frozenset[str]:
    """Return all names in a GraphQL document, keywords included and the content of strings excluded."""
    return frozenset(WORD.findall(STRINGS.sub(" ", document)))


def coordinate_in(message: str, *, names: Set[str]) -> str:
    """Return the first of ``names`` that a message is about, with its type if given: ``Query.orders(first:)``.

    Empty string if the message does not sound like a validation rule, or contains none of ``names``.
    """
    if not COMPLAINTS.search(message):
        return ""
    whole = WHOLE.search(message)
    if whole and whole[2] in names:
        return whole[1]
    mentions = [(match["role"].lower(), match["name"]) for match in NAMED.finditer(message)]
    mentions += [("value", match[1]) for match in FOUND.finditer(message)]
    role, name = next(((role, name) for role, name in mentions if name.rpartition(".")[2] in names), ("", ""))
    if not name:
        return ""
    if role in ("variable", "directive"):
        return f"{'$' if role == 'variable' else '@'}{name}"
    match = OWNER.search(message)
    owner = match["name"] if match and match["name"] != name else ""
    if role == "argument":
        owner = owner or next((other for kind, other in mentions if kind == "field"), "")
        return f"{owner}({name}:)"
    if role == "field" and "is required" in message.lower():
        name += next((f"({other}:)" for kind, other in mentions if kind == "argument"), "")
    return f"{owner}.{name}" if owner and "." not in name else name


def without_suggestions(message: str) -> str:
    """Cut a message before its suggestion of other names."""
    suggestion = SUGGESTION.search(message)
    return message[: suggestion.start()].rstrip(" \t\r\n(") if suggestion else message


def without_names(message: str, *, but: Set[str]) -> str:
    """Replace schema names in a message by ``…``, except the names ``but`` of the caller's document.

    A word counts as a name if it is quoted, is spelt like a name (``unitPrice``, ``unit_price``, ``Order.total``), or
    follows the noun for its kind (``field total``).
    """
    before, end = "", 0

    def shown(match: re.Match[str]) -> str:
        nonlocal before, end
        ended = _ENDED.search(message, end, match.start())
        word, previous, before, end = match[0], "" if ended else before, match[0].lower(), match.end()
        if word in but or PUBLIC.fullmatch(word):
            return word
        follows_noun = NOUN.fullmatch(previous) and not PROSE.fullmatch(before)
        is_spelt_as_name = "_" in word or (word != word.upper() and word[1:] != word[1:].lower())
        return "…" if follows_noun or is_spelt_as_name or _is_quoted(message, match) else word

    return WORD.sub(shown, message)


def _is_quoted(text: str, match: re.Match[str]) -> bool:
    """True if a quotation mark, bracket or joint is at an end of a word. An apostrophe in a word does not count."""
    start, end = match.span()
    before, after = text[max(start - 2, 0) : start], text[end : end + 2]
    opened = before[-1:] in _QUOTES and before[-1:] != "" and not before[:1].isalpha()
    closed = after[:1] in _QUOTES and after[:1] != "" and not after[1:].isalpha()
    return opened or closed or before[-1:] == "." or (after[:1] == "." and after[1:].isalpha())


def in_document(coordinate: str, error: Mapping[str, Any], text: str, index: SchemaIndex) -> str:
    """Complete a coordinate whose owner the API does not name: by the error's locations, or if only one is possible."""
    from handler.graph.documents.used_fields import fields_in, parse, print_ast  # loads graphql-core

    name = coordinate.partition("(")[0]
    if not name or "." in name or name.startswith("@") or name in index:
        return coordinate
    locations = error.get("locations")
    points = [
        (point["line"], point["column"])
        for point in (locations if isinstance(locations, list) else [])
        if isinstance(point, dict) and type(point.get("line")) is type(point.get("column")) is int
    ]
    candidates: dict[str, bool] = {}  # coordinate -> the error is about this place
    for parent, node in fields_in(parse(text), index):
        places: dict[str, Node] = {f"{parent}.{coordinate}": node} if node.name.value == name else {}
        if name.startswith("$"):
            uses = [argument for argument in node.arguments or () if re.search(rf"\{name}\b", print_ast(argument))]
            places = {f"{parent}.{node.name.value}({argument.name.value}:)": argument for argument in uses}
        for full, place in places.items():
            start, end = place.loc.start_token, place.loc.end_token  # type: ignore[union-attr] # parsed with locations
            last = (end.line, end.column) if place is not node else (start.line, start.column)
            is_there = any((start.line, start.column) <= point <= last for point in points)
            candidates[full] = is_there or candidates.get(full, False)
    likely = [full for full, is_there in candidates.items() if is_there] or [*candidates]
    return likely[0] if len(likely) == 1 else coordinate


def in_values(message: str, operation: GraphQLRequest, index: SchemaIndex) -> str:
    """Return the coordinate that an API's refusal of a variable's value is about; empty string if it is not drift."""
    from handler.graph.documents.used_fields import OperationDefinitionNode, parse, print_ast  # loads graphql-core
    from handler.graph.index import named_type

    text = without_suggestions(message)
    rule = text.rpartition("; ")[2]  # behind graphql-js's echo of the value
    parts: set[tuple[str, str]] = set()
    operations = [node for node in parse(operation.text).definitions if isinstance(node, OperationDefinitionNode)]
    for variable in (variable for node in operations for variable in node.variable_definitions or ()):
        value = operation.variables.get(variable.variable.name.value)
        parts |= set(_parts_of(value, named_type(print_ast(variable.type)), index))
    if required := REQUIRED.search(rule):
        owners = {owner for owner, name in parts if not name}
        name = next(filter(None, required.groups()))
        return f"{owners.pop()}.{name}" if len(owners) == 1 else name
    if of_ruby := OF_RUBY.match(text):
        refused = of_ruby["value"] or of_ruby["field"]
        used = (part for part in sorted(parts) if part[1] == refused and of_ruby["owner"] in (None, part[0]))
        return ".".join(next(used, ()))
    if other := OTHER_TYPE.search(text):
        types = {
            f"{owner}.{name}": named_type(index[owner].inputs[name].type) for owner, name in parts if name == other[1]
        }
        return next((each for each, type_ in types.items() if other[2] != type_ in BUILT_IN), "")
    if not OF_VALUES.search(rule):
        return ""
    words, quoted = set(WORD.findall(rule)), set(QUOTED.findall(rule))
    matches = ((owner, name) for owner, name in parts if name in (words if index.kind(owner) == "enum" else quoted))
    return next((f"{owner}.{name}" for owner, name in sorted(matches) if owner in words), "")


def _parts_of(value: Any, type_name: str, index: SchemaIndex) -> Iterator[tuple[str, str]]:
    """Yield the enum values and input fields in a value, each with its type, and each input type with no field."""
    from handler.graph.index import named_type

    kind = index.kind(type_name) if type_name in index else ""
    if isinstance(value, list):
        for item in value:
            yield from _parts_of(item, type_name, index)
    elif kind == "enum" and isinstance(value, str):
        yield type_name, value
    elif kind == "input" and isinstance(value, dict):
        yield type_name, ""
        inputs = index[type_name].inputs
        for name in value.keys() & inputs.keys():
            yield type_name, name
            yield from _parts_of(value[name], named_type(inputs[name].type), index)
