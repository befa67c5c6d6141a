"""The APIs behind the endpoints here: they answer with what reached them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graphql import GraphQLSchema, build_schema, graphql_sync

from tests.support.api import Asked, Reply, running_api

HERE = Path(__file__).parent

Answers = Mapping[str, Any]


def person(_: object, *, by: Mapping[str, Any]) -> Answers:
    ((found_by, value),) = by.items()
    return {"foundBy": found_by, "value": f"{value['site']} {value['number']}" if found_by == "badge" else value}


def paint(_: object, *, color: str, coats: int, shades: list[str] | None = None, matt: bool | None = None) -> Answers:
    return {"color": color, "shades": shades or [], "coats": coats, "matt": bool(matt)}


def meet(_: object, **asked: Any) -> Answers:
    return asked


def remember(_: object, **told: Any) -> Answers:
    return told


def arrange(_: object, *, grid: list[list[int]], boxes: list[Mapping[str, Any]]) -> list[Answers]:
    return [
        {
            "label": box["label"],
            "area": box["size"]["width"] * box["size"]["height"],
            "cells": sum(map(len, grid)),
            "tags": box["tags"],
            "fragile": bool(box.get("fragile")),
        }
        for box in boxes
    ]


def things(_: object, where: Mapping[str, Any] | None = None) -> list[Answers]:
    """Three things, or those that a filter names in any depth."""
    named = set(_names_in(where or {}))
    return [{"name": name} for name in ("anvil", "bell", "chain") if name in named or not named]


def _names_in(where: Mapping[str, Any]) -> Iterator[str]:
    if compared := where.get("name"):
        yield compared["_eq"]
    for inner in [*(where.get("_and") or []), *(where.get("_or") or [])]:
        yield from _names_in(inner)


RESOLVERS = {each.__name__: each for each in (person, paint, meet, remember, arrange, things)}


@contextmanager
def running_echo(endpoint: Path) -> Iterator[str]:
    """The API whose schema an endpoint folder has; its URL."""
    schema = build_schema((endpoint / "schema.graphql").read_text("utf-8"))
    with running_api(lambda asked: _answer(schema, asked)) as api:
        yield api.url


def _answer(schema: GraphQLSchema, asked: Asked) -> Reply:
    sent = asked.json
    done = graphql_sync(schema, sent["query"], RESOLVERS, variable_values=sent.get("variables"))
    return Reply(done.formatted)
