"""Random schemas with words in their names and descriptions, and searches in their views."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from random import Random

from graphql import build_schema

from handler.compiler.schema.schema_index import build_index, with_words
from handler.graph.index import SchemaIndex, read_index, write_index
from handler.graph.view import View, build_view
from tests.graph.random_schemas import random_sdl

WORDS = (
    *("order", "invoice", "customer", "total", "paid", "late", "open", "state", "number", "address", "shipping"),
    *("item", "price", "owner", "list", "created", "pullRequest", "review", "label", "branch"),
)

QUESTIONS = (
    "Which orders are paid late?",
    "create an invoice of a customer",
    "total price",
    "pullrequest review",
    "pull request of an owner",
    "when was it shipped",
    "addres",
    "the",
    "stat",
    "list",
)


def index_of(sdl: str, synonyms: Mapping[str, Sequence[str]] | None = None) -> SchemaIndex:
    """Compile the index of a schema as an endpoint's is."""
    digest, stored = write_index(with_words(build_index(build_schema(sdl)), synonyms or {}))
    return read_index(stored, sha256=digest)


def view_of(sdl: str, *, hidden: Collection[str] = (), synonyms: Mapping[str, Sequence[str]] | None = None) -> View:
    """Return the view of a schema without hidden coordinates."""
    return build_view(index_of(sdl, synonyms), hidden)


def random_worded_sdl(random: Random) -> str:
    """A random valid schema whose fields have names of words, and half of them descriptions."""
    sdl = random_sdl(random)
    names = {f"f{number}": word for number, word in enumerate(random.sample(WORDS, 8))}
    for place, name in enumerate(("T0", "T1", "T2", "T3", "T4", "I0", "I1", "I2", "In0", "In1", "U0")):
        names[name] = f"{random.choice(WORDS).capitalize()}{random.choice(WORDS).capitalize()}{'ABCDEFGHIJK'[place]}"
    sdl = re.sub(r"\b(?:f\d|T\d|I\d|In\d|U0)\b", lambda found: names[found[0]], sdl)
    return re.sub(
        r"(?<=[{ ])(?=\w+(?:\([^)]*\))?: )(?![^()]*\))",
        lambda _: f'"{" ".join(random.choices(WORDS, k=random.randint(1, 6)))}" ' if random.random() < 0.5 else "",
        sdl,
    )
