"""gql, a client that others wrote: what it downloads as the schema, and what it asks by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from gql import Client, GraphQLRequest
from gql.transport.exceptions import TransportQueryError
from gql.transport.requests import RequestsHTTPTransport
from graphql import GraphQLError, GraphQLSchema, build_schema

from handler.graph.index import read_index
from handler.graph.sdl import print_view
from handler.graph.view import build_view
from handler.policy.evaluation import hidden_from
from tests.audit.routes import audited_endpoint
from tests.clients.serving import serving
from tests.support.endpoints import PUBLIC, compiled, graphql_tool
from tests.support.outcomes import outcome_of
from tests.support.raw_http import Peer, answer, running_server
from tests.support.upstream import Upstream

EMPLOYEES = "/tools/employee-lookup/graphql"


def client_of(url: str, **options: Any) -> Client:
    return Client(transport=RequestsHTTPTransport(url=url), **options)


def downloaded(url: str) -> GraphQLSchema:
    client = client_of(url, fetch_schema_from_transport=True)
    with client:
        assert client.schema
        return client.schema


def test_schema_that_a_client_downloads_is_the_callers_view(upstream: Upstream, tmp_path: Path) -> None:
    endpoint = audited_endpoint(tmp_path, upstream.url)
    bundle = endpoint.bundle
    index = read_index(endpoint.index, sha256=bundle.index)
    anonymous = outcome_of(bundle.conditions, unrestricted=False)
    guards = {"/graphql": bundle.graphql.guards, EMPLOYEES: graphql_tool(endpoint, "employee-lookup").guards}

    with serving(endpoint) as url:
        given = {route: set(downloaded(url + route).type_map) for route in guards}
        fields = set(downloaded(url + EMPLOYEES).type_map["Employee"].fields)  # type: ignore[attr-defined]

    for route, own in guards.items():
        view = build_view(index, hidden_from(anonymous, bundle.guards, own))
        assert given[route] == set(build_schema(print_view(view)).type_map)
    assert "name" in fields
    assert not fields & {"ssn", "salary", "address"}


def test_client_refuses_by_the_schema_what_the_endpoint_would_refuse(upstream: Upstream, tmp_path: Path) -> None:
    salary = '{ employee(id: "empl_01") { name salary } }'

    with serving(audited_endpoint(tmp_path, upstream.url)) as url:
        knowing = client_of(url + EMPLOYEES, fetch_schema_from_transport=True)
        with knowing as session, pytest.raises(GraphQLError, match="Cannot query field 'salary'"):
            session.execute(GraphQLRequest(salary))
        unknowing = client_of(url + EMPLOYEES)
        with pytest.raises(TransportQueryError, match="Cannot query field 'salary'"):
            unknowing.execute(GraphQLRequest(salary))


def test_client_takes_the_schema_of_a_tool_that_only_writes(tmp_path: Path) -> None:
    bodies: list[bytes] = []

    def script(peer: Peer) -> None:
        while request := peer.read_request():
            bodies.append(request)
            peer.send(answer(b'{"data": {"set": 1}}', content_type="application/json"))

    sdl = 'extend schema @tool(name: "writer", graphql: {expose: true, types: "Mutation", fields: ".*"})'
    sdl += "type Query { a: Int } type Mutation { set(a: Int!): Int }"
    with running_server(script) as server:
        config = f"upstream: {{url: '{server.url}graphql'}}\n{PUBLIC}"
        endpoint = compiled(tmp_path, {"index.graphql": sdl, "config.yaml": config})
        with serving(endpoint) as url:
            client = client_of(f"{url}/tools/writer/graphql", fetch_schema_from_transport=True)
            with client as session:
                assert session.execute(GraphQLRequest("{ __typename }")) == {"__typename": "Query"}
                assert bodies == []
                data = session.execute(GraphQLRequest("mutation { set(a: 1) }"))
                with pytest.raises(GraphQLError, match="Unknown argument 'b'"):
                    session.execute(GraphQLRequest("mutation { set(a: 1, b: 2) }"))
                with pytest.raises(GraphQLError, match="Cannot query field 'a' on type 'Query'"):
                    session.execute(GraphQLRequest("{ a }"))
                with pytest.raises(TransportQueryError, match="there are no query fields here"):
                    session.execute(GraphQLRequest("{ _empty }"))

    assert data == {"set": 1}
    assert len(bodies) == 1


def test_client_gets_data_with_variables(upstream: Upstream, tmp_path: Path) -> None:
    request = GraphQLRequest("query ($id: ID!) { employee(id: $id) { name } }", variable_values={"id": "empl_01"})

    with serving(audited_endpoint(tmp_path, upstream.url)) as url:
        data = client_of(url + EMPLOYEES, fetch_schema_from_transport=True).execute(request)

    assert data["employee"]["name"]
