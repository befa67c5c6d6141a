"""A hidden member of a union is not named in what callers get, by whichever way they ask."""

from __future__ import annotations

from pathlib import Path

from tests.support.endpoints import PUBLIC, compiled
from tests.support.function import running_function
from tests.support.raw_http import Peer, answer, running_server

FILES = {
    "index.graphql": """
        extend schema @tool(name: "t", graphql: {expose: true, types: "Query", fields: ".*"})
        type Query { any: [Any!]! }
        type Mutation { set: Int }
        union Any = Customer | Employee
        type Customer { name: String }
        type Employee { name: String }
    """
}
QUERY = "{ any { __typename ... on Customer { name } } }"


def test_name_of_a_hidden_union_member_is_told_in_no_answer(tmp_path: Path) -> None:
    rows = b'{"data": {"any": [{"__typename": "Customer", "name": "Employee"}, {"__typename": "Employee"}]}}'

    def script(peer: Peer) -> None:
        while peer.read_request():
            peer.send(answer(rows, content_type="application/json"))

    with running_server(script) as server:
        config = f"upstream: {{url: '{server.url}'}}\ngraphql: on\n{PUBLIC}  hide: [Employee]\n"
        with running_function(compiled(tmp_path, {**FILES, "config.yaml": config})) as function:
            routed = [function.graphql({"query": QUERY}, route) for route in ("/graphql", "/tools/t/graphql")]
            called = function.query("t", QUERY)

    data = {"any": [{"__typename": "Customer", "name": "Employee"}, {"__typename": "Any"}]}
    assert [each.json for each in routed] == [{"data": data}, {"data": data}]
    assert '{"__typename":"Any"}' in called.text
