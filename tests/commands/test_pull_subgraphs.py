"""A subgraph hides fields by ``@inaccessible``, which its introspection does not tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.apis import Answer, subgraph
from tests.commands.running import Stile
from tests.support.api import Asked, Reply, running_api

FOLDER = "shop/parts"
SCHEMA = "type Query { parts(first: Int = 10): [Part!]! } type Part { id: ID! name: String! weight: Int }"
HIDING = SCHEMA.replace("weight: Int", "weight: Int @inaccessible")
LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@inaccessible"])\n'


def without_sdl(asked: Asked) -> Reply:
    whole: Answer = subgraph(LINK + HIDING, SCHEMA)
    return Reply(b"", 503) if "_service" in asked.json["query"] else whole(asked)


def test_field_that_is_no_longer_inaccessible_is_told_as_new(workplace: Path, stile: Stile) -> None:
    with running_api(subgraph(LINK + HIDING, SCHEMA)) as api:
        assert stile("init", FOLDER, "--from", api.url, "--access", "open").code == 0
        api.answer = subgraph(LINK + SCHEMA, SCHEMA)
        done = stile("pull", FOLDER, "--check")

    assert done.out.splitlines()[1:3] == ["  + Part.weight", "no policy is for the new Part.weight"]


def test_argument_that_is_no_longer_inaccessible_is_told_as_new(workplace: Path, stile: Stile) -> None:
    hiding = SCHEMA.replace("first: Int = 10", "first: Int = 10, drafts: Boolean @inaccessible")
    with running_api(subgraph(LINK + hiding, SCHEMA)) as api:
        assert stile("init", FOLDER, "--from", api.url, "--access", "open").code == 0
        api.answer = subgraph(LINK + hiding.replace(" @inaccessible", ""), SCHEMA)
        opened = stile("pull", FOLDER, "--check")
        api.answer = subgraph(LINK + SCHEMA + " type Other { a(b: Int): Int }", SCHEMA)
        other = stile("pull", FOLDER, "--check")

    assert "  + Query.parts(drafts:)" in opened.out.splitlines()
    assert [line for line in other.out.splitlines() if line.startswith("  + ")] == ["  + Other", "  + Other.a"]


@pytest.mark.parametrize("answer", [subgraph("type {", SCHEMA), without_sdl], ids=["unusable", "none"])
def test_inaccessible_field_is_not_opened_because_a_subgraph_gives_no_sdl(
    workplace: Path, stile: Stile, answer: Answer
) -> None:
    with running_api(subgraph(LINK + HIDING, SCHEMA)) as api:
        assert stile("init", FOLDER, "--from", api.url).code == 0
        before = (workplace / FOLDER / "schema.graphql").read_bytes()
        api.answer = answer
        done = stile("pull", FOLDER)

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"{api.url}: schema.graphql hides fields by @inaccessible, and the API is a subgraph")
    assert (workplace / FOLDER / "schema.graphql").read_bytes() == before


def test_introspection_of_a_subgraph_that_hides_nothing_is_taken_with_a_warning(workplace: Path, stile: Stile) -> None:
    with running_api(subgraph(LINK + SCHEMA, SCHEMA)) as api:
        assert stile("init", FOLDER, "--from", api.url).code == 0
        schema = workplace / FOLDER / "schema.graphql"
        schema.write_text(SCHEMA, encoding="utf-8")
        api.answer = without_sdl
        done = stile("pull", FOLDER)

    assert done.code == 0
    assert done.err.startswith(f"{api.url}: the API is a subgraph and gives no SDL that can be used")
