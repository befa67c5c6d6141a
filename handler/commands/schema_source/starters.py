"""Starter tools: the root fields of a schema that suit first tools, each as a file with an operation."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLID,
    GraphQLInputType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLScalarType,
    GraphQLSchema,
    StringValueNode,
    get_named_type,
    get_nullable_type,
    is_list_type,
    is_non_null_type,
    is_required_argument,
    is_specified_scalar_type,
    parse,
    print_ast,
)

from handler.compiler.access.name_matching import spellings, stems_in
from handler.compiler.checks.exposure import PLAIN_SCALAR
from handler.text.invisible import escaped
from handler.text.sentences import cut_text, is_secret

MAX_TRIED = 4
"""Candidates of each kind that are written for a trial."""

MIN_STARTERS, MAX_STARTERS = 2, 3
MAX_DESCRIPTION_CHARS = 300

VERB_OF_KIND = {"list": "list", "lookup": "get", "other": "get"}

PAGE_SIZES = ("first", "limit", "take", "pageSize", "perPage", "page_size", "per_page", "top", "count", "size")
NEXT_PAGES = ("after", "offset", "skip", "page")
DEFAULT_SIZE = 10

KEYS = ("id", "uuid", "nodeId", "slug", "handle", "code", "number", "name", "email", "key", "isbn", "sku")
"""Names of arguments that single out one object, the usual ones first."""

PLAIN = 16
"""The rank from which fields have one plain value."""

MIN_LEAVES, MAX_LEAVES = 2, 8
"""Values of an object that is worth a lookup, as the caller knows one of them; values that a starter selects."""

ITEMS = ("nodes", "items", "results", "data", "records", "entries", "rows", "docs", "objects", "content")
"""Usual names of the list in a page."""

MAX_NAME_CHARS = 48
"""Longer names make unreadable tools."""

PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

VERBS = frozenset({"browse", "count", "fetch", "find", "get", "list", "lookup", "query", "search", "show"})

ABOUT_THE_CALLER = frozenset({"current", "me", "my", "self", "viewer", "whoami"})
"""Words of fields that answer about a signed-in user, and fail for all others."""

_SIGN_IN = """
auth authentication captcha csrf hash jwt login logout mfa nonce oauth private register saml salt session sessions
signature signin signout signup sso totp
"""
SECRET = frozenset(_SIGN_IN.split())
"""Words of fields about sign-in, and of values that are not for everybody, beside the names of secrets."""

SECRET_PAIRS = frozenset({("api", "keys"), ("credit", "card"), ("log", "in"), ("sign", "in"), ("sign", "up")})

PERSONAL: Mapping[str, str] = {
    "health": "allerg befund biometr blood diagnos disabilit disease enfermedad genetic health illness krank maladie "
    "medic nhs pregnan prescri psych salud sante symptom therap treatment vaccin",
    "insurance": "insur seguro versicher",
    "identity papers": "aadhaar ausweis bsn cnp citizenid cpf curp dni driverlicen driverslicen drivinglicen idcard "
    "identitycard idnumber nationalid nie nin nino nric pasaporte passport personnummer pesel ppsn reisepass rut sin "
    "socialsec ssn",
    "tax": "codicefiscal ein itin nif steuer taxcode taxfile taxid taxno taxnum taxpayer tin utr vatid vatno vatnum",
    "bank": "accountno accountnum bank bankacc bic cardno cardnum creditscore debt iban income konto payroll payslip "
    "routingn salair salar sortcode swift wage",
    "person": "birth criminal dob ethnic gender geburt marital naissance nacimiento nationality political religi sex "
    "sexual tradeunion",
    "notes and contact": "anmerkung bemerkung fax memo mobileno mobilenum nota note notiz phone remark tel telefon",
}
"""Kind of personal data -> words of names, if they have up to four letters; else parts of names without separators."""

_PERSONAL = " ".join(PERSONAL.values()).split()

_FILLERS = "a all an by fetch find for from get given i id it list of one query retrieve return single the"
FILLERS = frozenset(_FILLERS.split())
"""Words, without an s at their end, that say nothing of a field beside its name."""

Kind = Literal["list", "lookup", "other"]


@dataclass(frozen=True, slots=True)
class StarterArgument:
    """An argument that a starter takes as a variable, with the variable's type."""

    name: str
    type: str
    role: Literal["size", "next", "key", "needed"]
    description: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StarterSelection:
    """A selection of one item or of a page of items. ``text`` has no braces; it is empty for a plain value."""

    text: str
    item: str  # the name of the type that the values are of
    leaves: Sequence[str]
    about: str | None  # the type's description
    paged: bool = False  # it has pageInfo


@dataclass(frozen=True, kw_only=True)
class Starter:
    """A root field as a starter tool, and the file that declares it. A lower ``rank`` suits better."""

    field: str
    kind: Kind
    rank: int
    takes: tuple[StarterArgument, ...]
    selection: StarterSelection
    about: str | None  # the field's description

    @cached_property
    def _words(self) -> Sequence[str]:
        """The words of the field, after a verb if the field has none."""
        verb, words = VERB_OF_KIND[self.kind], words_of(self.field)
        if words[0] in VERBS:
            return words
        words = words[1:] if words[0] == "all" and len(words) > 1 else words
        return [verb, *(words[:-1] if words[-1] == verb and len(words) > 1 else words)]

    @property
    def tool(self) -> str:
        """The name of the tool."""
        return "_".join(self._words)

    @property
    def file(self) -> str:
        """The file's path in the endpoint folder."""
        return f"operations/{self.tool}.graphql"

    @property
    def text(self) -> str:
        """The text of the file."""
        title = " ".join([self._words[0].capitalize(), *self._words[1:]])
        variables = ", ".join(
            f"${argument.name}: {argument.type} @mcpToolArg(description: {_string(_meaning(argument))})"
            for argument in self.takes
        )
        heading = f"query {''.join(map(str.capitalize, self._words))}{f'({variables})' if variables else ''}"
        heading += f" @mcpTool(name: {_string(self.tool)}, title: {_string(title)})"
        arguments = ", ".join(f"{argument.name}: ${argument.name}" for argument in self.takes)
        selection = f" {{ {self.selection.text} }}" if self.selection.text else ""
        body = f"{{ {self.field}{f'({arguments})' if arguments else ''}{selection} }}"
        # The parser lays the selection out, one field a line.
        return f"{_string(self._description(title), block=True)}\n{heading} {print_ast(parse(body))}\n"

    def _description(self, title: str) -> str:
        """Return the field's description. One that repeats the names gets the type, its description and its values."""
        keys = [" ".join(words_of(argument.name)) for argument in self.takes if argument.role in ("key", "needed")]
        about = _one_line(self.about) or f"{title}{f' by {keys[0]}' if keys else ''}."
        names = (*self._words, *words_of(self.field), *words_of(self.selection.item), *" ".join(keys).split())
        words = {word.rstrip("s") for word in re.findall(r"[^\W\d_]+", about.lower())}
        if words - {name.rstrip("s") for name in names} - FILLERS:
            return about
        article = "Each" if self.kind == "list" else "The"
        verb = "has" if self.selection.text else "is of the type"
        has = f"{article} {self.selection.item} {verb} {', '.join(self.selection.leaves)}."
        sentences = (f"{about.rstrip('.')}.", _one_line(self.selection.about), has)
        return " ".join(filter(None, sentences))


def candidates(schema: GraphQLSchema, hidden: Container[str]) -> list[Starter]:
    """Return starters for the query fields that suit best, a few of each kind, each with a name of its own."""
    query = schema.query_type
    starters = []
    for name, field in query.fields.items() if query else ():
        # Some servers nest the root for their clients.
        nests_root = get_named_type(field.type) is query
        if not nests_root and _is_for_everybody(name, field) and f"{query}.{name}" not in hidden:
            starter = _list(name, field, hidden) or _lookup(name, field, hidden) or _other(name, field, hidden)
            starters += [starter] if starter else []
    by_tool: dict[str, Starter] = {}
    for kind in VERB_OF_KIND:
        of_kind = sorted((each for each in starters if each.kind == kind), key=lambda each: each.rank)
        for starter in of_kind[:MAX_TRIED]:
            by_tool.setdefault(starter.tool, starter)
    return list(by_tool.values())


def best_starters(starters: Iterable[Starter]) -> list[Starter]:
    """Return up to three starters: a list, a lookup of what the list has, and one about another type.

    Plain values stand in if there would be fewer than two.
    """
    ranked = sorted(starters, key=lambda each: each.rank)
    picks: list[Starter] = []
    for kind in ("list", "lookup"):
        of_kind = [each for each in ranked if each.kind == kind]
        if picks:
            of_kind.sort(key=lambda each: each.selection.item != picks[0].selection.item)
        picks += of_kind[:1]
    while len(picks) < MAX_STARTERS:
        about = {each.selection.item for each in picks}
        others = [each for each in ranked if each not in picks and (each.rank < PLAIN or len(picks) < MIN_STARTERS)]
        if not others:
            break
        picks.append(min(others, key=lambda each: (each.selection.item in about, each.rank)))
    return picks


def _meaning(argument: StarterArgument) -> str:
    words = " ".join(words_of(argument.name))
    match argument.role:
        case "size":
            meaning = "The number of items to return"
        case "next" if argument.name == "after":
            meaning = "The endCursor of the page before"
        case "next":
            meaning = f"The {words} at which the items begin"
        case "key" | "needed":
            meaning = f"The {words}"
    return _one_line(argument.description) or meaning


def _one_line(text: str | None) -> str:
    """Return the first paragraph of a description on one line; empty string if there is none."""
    first = (text or "").strip().partition("\n\n")[0]
    return cut_text(escaped(" ".join(first.split())), MAX_DESCRIPTION_CHARS)


def _string(text: str, *, block: bool = False) -> str:
    return print_ast(StringValueNode(value=text, block=block))


def _is_for_everybody(name: str, field: GraphQLField) -> bool:
    """Return whether a field makes a readable tool, and is neither deprecated nor about secrets or the caller."""
    words = words_of(name)
    return (
        len(name) <= MAX_NAME_CHARS
        and not name.startswith("_")
        and bool(words)
        and words[0][0].isalpha()
        and field.deprecation_reason is None
        and not looks_secret(name)
        and words[0] not in ABOUT_THE_CALLER
        and not any(looks_secret(argument) and is_required_argument(each) for argument, each in field.args.items())
    )


def _list(name: str, field: GraphQLField, hidden: Container[str]) -> Starter | None:
    paging = _paging(field.args)
    cursor = any(each.name == "after" for each in paging)
    selection = select_items(field.type, hidden, cursor=cursor)
    needed = _needed(field.args, {each.name for each in paging})
    if selection is None or needed is None or len(needed) > 1:
        return None
    if cursor and not selection.paged:  # a cursor that no answer gives is of no use
        paging = [each for each in paging if each.role != "next"]
    rank = (0 if any(each.role == "size" for each in paging) else 4) + 8 * len(needed) + _poverty(selection)
    takes = (*needed, *paging)
    return Starter(field=name, kind="list", rank=rank, takes=takes, selection=selection, about=field.description)


def _lookup(name: str, field: GraphQLField, hidden: Container[str]) -> Starter | None:
    selection = None if is_list_type(get_nullable_type(field.type)) else select_item(field.type, hidden)
    key = _key(field.args, selection.item) if selection else None
    if selection is None or key is None or len(selection.leaves) < MIN_LEAVES or _needed(field.args, {key.name}) != []:
        return None
    rank = (0 if key.name == "id" else 1 if key.name in KEYS else 2) + _poverty(selection)
    return Starter(field=name, kind="lookup", rank=rank, takes=(key,), selection=selection, about=field.description)


def _other(name: str, field: GraphQLField, hidden: Container[str]) -> Starter | None:
    needed = _needed(field.args, set())
    if needed is None or len(needed) > 1 or is_list_type(get_nullable_type(field.type)):
        return None
    selection = select_item(field.type, hidden)
    if selection and not (needed and len(selection.leaves) < MIN_LEAVES):
        rank = _poverty(selection)
    elif _is_plain(field.type) and get_named_type(field.type) is not GraphQLID:  # an id alone says nothing
        values = [str(get_named_type(field.type))]
        rank, selection = PLAIN, StarterSelection(text="", item=name, leaves=values, about=None)
    else:
        return None
    rank, takes = rank + 8 * len(needed), tuple(needed)
    return Starter(field=name, kind="other", rank=rank, takes=takes, selection=selection, about=field.description)


def _poverty(selection: StarterSelection) -> int:
    """Return a penalty for an item with few values."""
    return max(0, 3 - len(selection.leaves))


def _paging(arguments: Mapping[str, GraphQLArgument]) -> list[StarterArgument]:
    """Return the arguments for the size of a page and for its beginning, as far as there are some."""
    paging = []
    for name, argument in ((name, arguments[name]) for name in PAGE_SIZES if name in arguments):
        if str(get_nullable_type(argument.type)) == "Int":
            paging.append(StarterArgument(name, f"{argument.type} = {DEFAULT_SIZE}", "size", argument.description))
            break
    for name, argument in ((name, arguments[name]) for name in NEXT_PAGES if name in arguments):
        if not is_required_argument(argument) and argument.deprecation_reason is None and _is_plain(argument.type):
            # A variable without a default may be left out; one of a non-null type may not.
            if not is_non_null_type(argument.type):
                paging.append(StarterArgument(name, str(argument.type), "next", argument.description))
            break
    return paging


def _key(arguments: Mapping[str, GraphQLArgument], item: str) -> StarterArgument | None:
    """Return the argument that singles out one object, as a required variable."""
    own = set(words_of(item))
    usual = [name for name in KEYS if name in arguments]
    by_type = [name for name in arguments if words_of(name)[-1:] == ["id"] and own & set(words_of(name)[:-1])]
    for name in (*usual, *by_type):
        argument = arguments[name]
        if _is_plain(argument.type) and not looks_secret(name):
            return StarterArgument(name, f"{get_nullable_type(argument.type)}!", "key", argument.description)
    return None


def _needed(arguments: Mapping[str, GraphQLArgument], others: Container[str]) -> list[StarterArgument] | None:
    """Return the required arguments that are not ``others``; ``None`` if one of them is not a plain value."""
    needed = {name: each for name, each in arguments.items() if name not in others and is_required_argument(each)}
    if not all(_is_plain(each.type) for each in needed.values()):
        return None
    return [StarterArgument(name, str(each.type), "needed", each.description) for name, each in needed.items()]


def select_item(type_: GraphQLOutputType, hidden: Container[str]) -> StarterSelection | None:
    """Return the selection of one object, its id first; ``None`` if it has no plain values, or looks secret."""
    item = get_named_type(type_)
    if not isinstance(item, GraphQLObjectType | GraphQLInterfaceType) or looks_secret(item.name):
        return None
    leaves = sorted(_plain_names(item, item.fields, hidden), key=lambda name: name != "id")[:MAX_LEAVES]
    if not leaves:
        return None
    return StarterSelection(text=" ".join(leaves), item=item.name, leaves=leaves, about=item.description)


def select_items(type_: GraphQLOutputType, hidden: Container[str], *, cursor: bool) -> StarterSelection | None:
    """Return the selection of a list or a page of objects; ``None`` for any other type.

    ``cursor``: select ``pageInfo`` too, if the page has one, and the cursors of edges, by which answers are shortened.
    """
    page = get_nullable_type(type_)
    if is_list_type(page):
        return select_item(type_, hidden)
    if not isinstance(page, GraphQLObjectType):
        return None
    info_field = _usable(page, "pageInfo", hidden) if cursor else None
    info = get_named_type(info_field.type) if info_field else None
    places = _plain_names(info, ("hasNextPage", "endCursor"), hidden) if isinstance(info, GraphQLObjectType) else []
    paged = len(places) == 2
    edges = _edges(page, hidden, cursor=paged)
    items = edges if paged and edges and edges[0].startswith("edges { cursor ") else _items(page, hidden) or edges
    if items is None:
        return None
    text, inner = items
    total = _plain_names(page, ("totalCount",), hidden)
    whole = " ".join([*total, text, *([f"pageInfo {{ {' '.join(places)} }}"] if paged else [])])
    return replace(inner, text=whole, paged=paged)


def _items(page: GraphQLObjectType, hidden: Container[str]) -> tuple[str, StarterSelection] | None:
    for name in ITEMS:
        field = _usable(page, name, hidden)
        inner = select_item(field.type, hidden) if field and is_list_type(get_nullable_type(field.type)) else None
        if inner:
            return f"{name} {{ {inner.text} }}", inner
    return None


def _edges(page: GraphQLObjectType, hidden: Container[str], *, cursor: bool) -> tuple[str, StarterSelection] | None:
    edges = _usable(page, "edges", hidden)
    edge = get_named_type(edges.type) if edges and is_list_type(get_nullable_type(edges.type)) else None
    node = _usable(edge, "node", hidden) if isinstance(edge, GraphQLObjectType) else None
    inner = select_item(node.type, hidden) if node else None
    if inner is None or not isinstance(edge, GraphQLObjectType):
        return None
    cursors = _plain_names(edge, ("cursor",), hidden) if cursor else []
    return f"edges {{ {' '.join([*cursors, 'node'])} {{ {inner.text} }} }}", inner


def _plain_names(
    type_: GraphQLObjectType | GraphQLInterfaceType, names: Iterable[str], hidden: Container[str]
) -> list[str]:
    """Return those of the names whose fields have a plain value."""
    fields = {name: _usable(type_, name, hidden) for name in names}
    return [name for name, field in fields.items() if field and _is_plain(field.type)]


def _usable(type_: GraphQLObjectType | GraphQLInterfaceType, name: str, hidden: Container[str]) -> GraphQLField | None:
    """Return a field that is not deprecated, hidden or secret, and needs no arguments; ``None`` if it is otherwise."""
    field = type_.fields.get(name)
    if field is None or field.deprecation_reason is not None or any(map(is_required_argument, field.args.values())):
        return None
    return None if looks_secret(name) or f"{type_.name}.{name}" in hidden or name.startswith("__") else field


def _is_plain(type_: GraphQLInputType | GraphQLOutputType) -> bool:
    """Return whether a type has one value: a built-in scalar, an enum, or a scalar whose name says that."""
    leaf = get_nullable_type(type_)
    if not isinstance(leaf, GraphQLScalarType):
        return isinstance(leaf, GraphQLEnumType)
    words = stems_in(leaf.name) | spellings(leaf.name)
    return is_specified_scalar_type(leaf) or any(PLAIN_SCALAR.fullmatch(word) for word in words)


def words_of(name: str) -> list[str]:
    """Return the words of a name in lower case."""
    return [piece.lower() for piece in PIECE.findall(name)]


def looks_secret(name: str) -> bool:
    """Return whether a name looks like a credential, a step of a sign-in or personal data."""
    words = words_of(name)
    singular = {*words, *(word.removesuffix("s") for word in words)}
    if any(each in (singular if len(each) <= 4 else "".join(words)) for each in _PERSONAL):
        return True
    return is_secret(name) or not SECRET.isdisjoint(words) or not SECRET_PAIRS.isdisjoint(pairwise(words))
