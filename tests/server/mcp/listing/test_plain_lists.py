"""Lists of an endpoint without skills, hints and examples: as they were before Stile had any of these."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from handler.server.mcp.revisions import LEGACY, MODERN
from tests.support.endpoints import PUBLIC, compiled
from tests.support.every_method import ask
from tests.support.function import running_function

RECORDED = Path(__file__).with_name("plain_lists.json")
"""Results of each revision, recorded before skills, hints and examples, with the first members of open objects."""

SDL = """\
type Query { order(number: String!, kind: Kind = NEW, filter: Filter): Order }
type Mutation { cancel(number: String!): Order }
type Order { number: String! total: Float }
enum Kind { NEW OLD }
input Filter { below: Filter, total: Float = 1.5 }
"""
TOOLS = """\
extend schema @tool(name: "shop", title: "Shop", graphql: {expose: true, types: "Query|Mutation", fields: ".*"})
"""
OPERATIONS = """\
query Order($number: String!, $kind: Kind = NEW, $filter: Filter) @mcpTool(name: "order", title: "Find", meta: {a: 1}) {
  order(number: $number, kind: $kind, filter: $filter) { number total }
}
mutation Cancel($number: String!) @mcpTool(name: "cancel", title: "Cancel", confirm: advisory) {
  cancel(number: $number) { number }
}
"""
FILES = {
    "index.graphql": TOOLS + SDL,
    "operations/o.graphql": OPERATIONS,
    "prompts/p.md": "Ask.",
    "resources/r.md": "# R",
    "config.yaml": f"{PUBLIC}instructions: Be kind.\n",
}
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")


def answers(folder: Path) -> dict[str, Any]:
    """Each list and introduction of each revision, as texts of JSON without the server's version."""
    found = {}
    with running_function(compiled(folder, FILES)) as function:
        for revision in (*LEGACY, *MODERN):
            introduction = "server/discover" if revision in MODERN else "initialize"
            params = {} if revision in MODERN else {"protocolVersion": revision}
            for method, given in ((introduction, params), *((each, {}) for each in LISTS)):
                result = ask(function, revision, method, given).result
                left = {key: each for key, each in result.items() if key not in ("_meta", "serverInfo")}
                found[f"{revision} {method}"] = json.dumps(left, ensure_ascii=False)
    return found


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return answers(tmp_path_factory.mktemp("plain"))


def test_each_list_and_introduction_is_what_it_was(given: dict[str, Any]) -> None:
    assert given == json.loads(RECORDED.read_text("utf-8"))
