"""``stile publish`` stores an opening only with ``--allow-open``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.changes.test_openings import CONFIG, FREE, ORDERS, SCHEMA, files
from tests.commands.running import Stile
from tests.support.endpoints import write_endpoint


@pytest.fixture
def stored(workplace: Path, stile: Stile) -> Path:
    """A first publish of an endpoint that is open needs no option."""
    folder = write_endpoint(workplace / "endpoints", files(schema=FREE + SCHEMA, operations__o_graphql=ORDERS))
    assert stile("publish", "endpoints", "out", "--create").code == 0
    return folder


def test_opening_needs_its_own_option(stored: Path, stile: Stile) -> None:
    write_endpoint(stored.parents[1], files("true", schema=FREE + SCHEMA, operations__o_graphql=ORDERS))

    for words in ((), ("--allow-breaking",)):
        done = stile("publish", "endpoints", "out", *words)
        assert (done.code, done.err.splitlines()[0]) == (
            1,
            "Open to everybody, or a new root type: api/things. --allow-open publishes it.",
        )
        assert "  open: newly reachable through search: Query.margins, for everybody [reach-gained]" in done.out
    plan = json.loads(stile("publish", "endpoints", "out", "--dry-run", "--json").out)
    assert (plan["endpoints"][0]["opening"], plan["endpoints"][0]["breaking"]) == (True, False)
    assert stile("publish", "endpoints", "out", "--allow-open").code == 0


def test_opening_that_is_breaking_too_needs_both(stored: Path, stile: Stile) -> None:
    write_endpoint(stored.parents[1], files("true", schema=FREE + SCHEMA))
    (stored / "operations" / "o.graphql").unlink()

    assert stile("diff", "out", "endpoints").code == 6
    for words in ((), ("--allow-breaking",), ("--allow-open",)):
        lacking = [each for each in ("--allow-breaking", "--allow-open") if each not in words]
        done = stile("publish", "endpoints", "out", *words)
        assert (done.code, " ".join(lacking) + " publishes it." in done.err) == (1, True)
    assert stile("publish", "endpoints", "out", "--allow-open", "--allow-breaking").code == 0


def test_entry_that_accepts_an_opening_does_not_allow_it(stored: Path, stile: Stile) -> None:
    entry = "diff: {ignore: [{code: reach-gained, about: [Query.margins], reason: public}]}\n"
    config = CONFIG + entry
    write_endpoint(stored.parents[1], files("true", schema=FREE + SCHEMA, config=config, operations__o_graphql=ORDERS))

    assert stile("publish", "endpoints", "out").code == 1
    assert stile("publish", "endpoints", "out", "--allow-open").code == 0


def test_mutations_that_a_stepzen_project_keeps_need_the_option_once(workplace: Path, stile: Stile) -> None:
    key = f"identity: {{api_keys: [{{name: whole, sha256: {'f' * 64}}}]}}\n"
    project = {
        "stepzen.config.json": '{"endpoint": "api/miscellaneous"}',
        "index.graphql": 'schema @sdl(files: ["api.graphql"]) { query: Query }\n',
        "api.graphql": "type Query { dummy: String }\n",
        "config.yaml": f"upstream: {{url: https://things.example/graphql}}\n{key}",
    }
    folder = write_endpoint(workplace / "endpoints", project)
    assert stile("publish", "endpoints", "out", "--create").code == 0
    write_endpoint(
        workplace / "endpoints",
        {"api.graphql": project["api.graphql"] + "type Mutation { auth(email: String!): ID }\n"},
    )

    done = stile("publish", "endpoints", "out", "--allow-breaking")
    assert (done.code, "--allow-open publishes it" in done.err) == (1, True)
    assert (
        "the mutation type Mutation is new, for key:whole; keys without claims skip policies [root-opened]" in done.out
    )
    assert stile("publish", "endpoints", "out", "--allow-open").code == 0
    assert "unchanged" in stile("publish", str(folder), "out").out
