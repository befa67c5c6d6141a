"""The neighbourhood of a coordinate: its standings are those of ``stile explain``, and it stays small."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from handler.commands.explaining import neighbourhood
from handler.commands.explaining.neighbourhood import Neighbourhood, find_neighbourhood
from handler.commands.explaining.standings import CoordinateStandings
from handler.commands.reach.reach import Reach, Visitor
from handler.compiler.compile import compile_explained
from handler.errors.authoring import CompileError
from handler.graph.index import SchemaIndex
from handler.server.auth.principal import ANONYMOUS, DEVELOPMENT, Principal
from tests.reach.endpoints import random_ruled_endpoint
from tests.support.endpoints import write_endpoint
from tests.support.examples import examples

MANY = 200


def coordinates_of(index: SchemaIndex) -> Iterator[str]:
    """All coordinates of a schema, in its order."""
    for name in index:
        yield name
        if index.kind(name) == "union":
            continue
        for member in index.members(name):
            yield f"{name}.{member}"
            known = index[name].fields.get(member)
            yield from (f"{name}.{member}({each}:)" for each in (known.arguments if known else ()))
    for name, directive in index.directives.items():
        yield f"@{name}"
        yield from (f"@{name}({each}:)" for each in directive.arguments)


def found(reach: Reach, coordinate: str, visitor: Visitor) -> Neighbourhood:
    assert reach.index is not None
    return find_neighbourhood(reach.index, coordinate, CoordinateStandings(reach, reach.index, visitor))


def compiled(folder: Path, sdl: str, config: str = "") -> Reach:
    files = {"index.graphql": sdl, **({"config.yaml": config} if config else {})}
    return Reach(*compile_explained(write_endpoint(folder, files, name="api/big"), environ={}))


@settings(max_examples=examples(20), deadline=None, phases=[Phase.explicit, Phase.generate])
@given(seed=st.integers(min_value=0, max_value=10**9))
def test_standings_are_those_of_explain_for_random_endpoints(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    try:
        reach = random_ruled_endpoint(str(seed), tmp_path_factory.mktemp("ruled"), "http://127.0.0.1:9/graphql").reach
    except CompileError:
        return
    assert reach.index is not None
    random = Random(seed)
    names = list(coordinates_of(reach.index))
    claims = [Principal(kind="token", name="t", claims=each) for each in ({}, {"sub": "1", "role": "a", "level": 3})]
    for principal in (ANONYMOUS, DEVELOPMENT, *claims):
        visitor = reach.visitor_of(principal, "someone")
        standings = CoordinateStandings(reach, reach.index, visitor)
        for name in random.sample(names, min(15, len(names))):
            explained = any(each.is_open for each in reach.passages(name, visitor))
            assert standings.is_reached(name) is explained, f"seed {seed}: {name} for {principal}"
        find_neighbourhood(reach.index, random.choice(names), standings)


def test_caller_who_is_answered_401_reaches_nothing(tmp_path: Path) -> None:
    reach = compiled(
        tmp_path,
        'schema @tool(name: "t", graphql: {expose: true, types: "Query", fields: "a"}) { query: Query }'
        "\ntype Query { a: Int }",
    )
    visitor = reach.visitor_of(DEVELOPMENT, "", refusal="access.anonymous is challenge")

    (box,) = found(reach, "Query.a", visitor).boxes
    assert box.standing.standing == box.rows[0].standing.standing == "unasked"


def test_large_neighbourhood_is_cut_and_says_how_much_is_left_out(tmp_path: Path) -> None:
    names = [f"T{number}" for number in range(MANY)]
    members = " ".join(f"{name.lower()}: {name}" for name in names)
    others = " ".join(f"type {name} {{ hub: Hub, of: [{name}] }}" for name in names)
    reach = compiled(
        tmp_path,
        'schema @tool(name: "t", graphql: {expose: true, types: ".*", fields: ".*"}) { query: Query }'
        f"\ntype Query {{ {members} }} type Hub {{ {members} }} {others}",
    )

    seen = found(reach, "Hub.t150", reach.visitor_of(DEVELOPMENT, ""))
    hub = next(box for box in seen.boxes if box.asked)
    assert (hub.rows[0].coordinate, hub.rows[0].asked) == ("Hub.t150", True)
    assert hub.more == f"and {MANY - neighbourhood.MAX_ROWS} more fields"
    assert seen.more[hub.column - 1] == f"and {MANY - neighbourhood.MAX_USERS} more types before Hub"
    assert len(seen.boxes) < 40
    shown_right = sum(box.column > hub.column for box in seen.boxes)
    assert shown_right <= neighbourhood.MAX_TARGETS
    assert [len(box.rows) for box in seen.boxes if box.name == "Query"] == [neighbourhood.MAX_USERS]


def test_way_of_the_caller_goes_before_a_shorter_hidden_one(tmp_path: Path) -> None:
    reach = compiled(
        tmp_path,
        'schema @tool(name: "t", graphql: {expose: true, types: ".*", fields: ".*"}) { query: Query }'
        "\ntype Query { near: Pay, far: Staff } type Staff { me: Person }"
        " type Person { pay: Pay } type Pay { net: Int }",
        "access:\n  policies:\n    - type: Query\n      policyDefault: {condition: true}\n"
        "      rules:\n        - {condition: false, fields: [near]}\n",
    )

    seen = found(reach, "Pay.net", reach.visitor_of(ANONYMOUS, "anonymous"))
    assert [(box.name, box.column) for box in seen.boxes] == [("Query", 0), ("Staff", 1), ("Person", 2), ("Pay", 3)]
    rows = {row.text: (row.standing.standing, row.standing.place) for row in seen.boxes[0].rows}
    assert rows == {"far: Staff": ("reached", ""), "near: Pay": ("ruled", "config.yaml:6")}
