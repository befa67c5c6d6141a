"""Starter tools as files of operations."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from graphql import GraphQLSchema, StringValueNode, parse, print_ast

from handler.commands.starters.names import tool_words, words_of
from handler.commands.starters.root_fields import PLAIN, Kind, RootField, StarterArgument, root_fields
from handler.text.invisible import escaped

MAX_TRIED = 4
"""Candidates of each kind that are written for a trial."""

MIN_STARTERS, MAX_STARTERS = 2, 3
MAX_DESCRIPTION_CHARS = 300

KINDS: Sequence[Kind] = ("list", "lookup", "other")
VERBS = {"list": "list", "lookup": "get", "other": "get"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Starter:
    """A starter tool and the file that declares it."""

    tool: str
    field: RootField
    text: str

    @property
    def file(self) -> str:
        """Return the file's path in the endpoint folder."""
        return f"operations/{self.tool}.graphql"


def candidates(schema: GraphQLSchema, hidden: Container[str]) -> list[Starter]:
    """Return starters for the root fields that suit best, a few of each kind, each with a name of its own."""
    found: dict[str, Starter] = {}
    fields = root_fields(schema, hidden)
    for kind in KINDS:
        for field in [each for each in fields if each.kind == kind][:MAX_TRIED]:
            starter = _starter(field)
            found.setdefault(starter.tool, starter)
    return list(found.values())


def chosen(starters: Iterable[Starter]) -> list[Starter]:
    """Return up to three starters: a list, a lookup of what the list has, and one about another type.

    Plain values stand in if there would be fewer than two.
    """
    left = sorted(starters, key=lambda each: each.field.rank)
    picked: list[Starter] = []
    for kind in ("list", "lookup"):
        of_kind = [each for each in left if each.field.kind == kind]
        if picked:
            of_kind.sort(key=lambda each: each.field.item != picked[0].field.item)
        picked += of_kind[:1]
    while len(picked) < MAX_STARTERS:
        about = {each.field.item for each in picked}
        others = [
            each for each in left if each not in picked and (each.field.rank < PLAIN or len(picked) < MIN_STARTERS)
        ]
        if not others:
            break
        picked.append(min(others, key=lambda each: (each.field.item in about, each.field.rank)))
    return picked


def _starter(field: RootField) -> Starter:
    words = tool_words(field.name, VERBS[field.kind])
    title = " ".join([words[0].capitalize(), *words[1:]])
    name = "_".join(words)
    text = _block_string(_description(field, title))
    variables = ", ".join(_variable(taken) for taken in field.takes)
    given = ", ".join(f"{taken.name}: ${taken.name}" for taken in field.takes)
    heading = f"query {''.join(word.capitalize() for word in words)}{f'({variables})' if variables else ''}"
    heading += f" @mcpTool(name: {_string(name)}, title: {_string(title)})"
    body = f"{field.name}{f'({given})' if given else ''}{f' {{ {field.selection} }}' if field.selection else ''}"
    # The parser lays the selection out, one field a line.
    laid_out = print_ast(parse(f"{{ {body} }}"))
    return Starter(tool=name, field=field, text=f"{text}\n{heading} {laid_out}\n")


def _variable(taken: StarterArgument) -> str:
    return f"${taken.name}: {taken.type} @mcpToolArg(description: {_string(_meaning(taken))})"


def _meaning(taken: StarterArgument) -> str:
    written = _one_line(taken.description)
    if written:
        return written
    match taken.role:
        case "size":
            return "The number of items to return"
        case "next" if taken.name == "after":
            return "The endCursor of the page before"
        case "next":
            return f"The {' '.join(words_of(taken.name))} at which the items begin"
        case _:
            return f"The {' '.join(words_of(taken.name))}"


def _description(field: RootField, title: str) -> str:
    written = _one_line(field.description)
    if written:
        return written
    keys = [" ".join(words_of(taken.name)) for taken in field.takes if taken.role in ("key", "needed")]
    return f"{title}{f' by {keys[0]}' if keys else ''}."


def _one_line(text: str | None) -> str:
    """Return the first paragraph of a description on one line; empty string if there is none."""
    first = (text or "").strip().partition("\n\n")[0]
    line = escaped(" ".join(first.split()))
    return line if len(line) <= MAX_DESCRIPTION_CHARS else f"{line[: MAX_DESCRIPTION_CHARS - 1]}…"


def _block_string(text: str) -> str:
    return print_ast(StringValueNode(value=text, block=True))


def _string(text: str) -> str:
    return print_ast(StringValueNode(value=text, block=False))
