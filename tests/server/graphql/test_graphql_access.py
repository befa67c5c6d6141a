"""Who gets in at the GraphQL routes, and what introspection and Federation's fields tell whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.support.codes import graphql_errors
from tests.support.endpoints import compiled, reported
from tests.support.function import Function, running_function
from tests.support.raw_http import Peer, answer, running_server

KEY = "stile_0123456789"
HOLDER = {"x-api-key": KEY}
IDENTITY = f"identity: {{api_keys: [{{name: ops, sha256: {sha256(KEY.encode()).hexdigest()}}}]}}\n"

SCHEMA = """
type Query { a: Int, secret: Int, _service: Service!, _entities(representations: [Any!]!): [Int]! }
type Service { sdl: String }
scalar Any
"""
TOOL = 'extend schema @tool(name: "t", graphql: %s)\n'
EVERYTHING = '{expose: true, types: "Query", fields: ".*"}'

A = {"query": "{ a }"}
SCHEMA_QUERY = {"query": "{ __schema { queryType { name } } }"}
TYPE_QUERY = {"query": '{ __type(name: "Query") { fields { name } } }'}
SERVICE_QUERY = {"query": "{ _service { sdl } }"}


@contextmanager
def served(
    folder: Path, access: str, *, index: str = SCHEMA, **services: Any
) -> Iterator[tuple[Function, list[bytes]]]:
    """The endpoint in mode ``on``, with what reached its API."""
    received: list[bytes] = []

    def script(peer: Peer) -> None:
        while request := peer.read_request():
            received.append(request)
            peer.send(answer(b'{"data": {"a": 1}}', content_type="application/json"))

    with running_server(script) as server:
        config = f"upstream: {{url: '{server.url}'}}\ngraphql: on\n{access}"
        with running_function(compiled(folder, {"index.graphql": index, "config.yaml": config}), **services) as running:
            yield running, received


def access(rules: str = "", *, default: str = "true", anonymous: str = "allow") -> str:
    return (
        f"access: {{anonymous: {anonymous}, policies: [{{type: Query, rules: [{rules}], "
        f"policyDefault: {{condition: {default}}}}}]}}\n"
    )


OPEN = access()


def rule(fields: str, condition: str) -> str:
    return f"{{condition: {condition}, fields: [{fields}]}}"


# Who calls


@pytest.mark.parametrize("path", ["/graphql", "/tools/t/graphql"])
@pytest.mark.parametrize("accept", ["application/json", "application/graphql-response+json"])
def test_anonymous_caller_is_challenged_where_the_endpoint_says_so_whatever_is_open(
    tmp_path: Path, path: str, accept: str
) -> None:
    with served(tmp_path, access(anonymous="challenge") + IDENTITY, index=TOOL % EVERYTHING + SCHEMA) as (
        function,
        received,
    ):
        refused = function.graphql(A, path, headers={"accept": accept})
        assert (refused.status, received) == (401, [])
        assert refused.headers["www-authenticate"] == 'Bearer realm="api/things"'
        assert refused.json == graphql_errors("a credential is required", "credential-required")
        assert function.graphql(A, path, headers=HOLDER).json == {"data": {"a": 1}}


@pytest.mark.parametrize("path", ["/graphql", "/tools/t/graphql", "/tools/no-such-tool/graphql"])
def test_without_access_nobody_gets_in_and_no_name_is_told(tmp_path: Path, path: str) -> None:
    with served(tmp_path, "", index=TOOL % EVERYTHING + SCHEMA) as (function, received):
        assert function.graphql(A, path).status == 401
        assert function.get({"documentId": "sha256:0"}, path).status == 401
        assert received == []


@pytest.mark.parametrize("header", [{"x-api-key": "stile_wrong"}, {"authorization": "Bearer x.y.z"}])
def test_bad_credential_is_refused_where_none_would_do(tmp_path: Path, header: Mapping[str, str]) -> None:
    with served(tmp_path, OPEN + IDENTITY) as (function, received):
        refused = function.graphql(A, headers=header)

    assert (refused.status, received) == (401, [])
    assert refused.headers["www-authenticate"].endswith('error="invalid_token"')


def test_credential_never_reaches_the_api(tmp_path: Path) -> None:
    with served(tmp_path, OPEN + IDENTITY) as (function, received):
        assert function.graphql(A, headers={"authorization": f"Apikey {KEY}"}).status == 200

    assert KEY.encode() not in received[0]


def test_denied_field_is_as_one_that_is_not_there(tmp_path: Path) -> None:
    with served(tmp_path, access(rule("secret", "false")) + IDENTITY) as (function, received):
        denied = function.graphql({"query": "{ secret }"})
        unknown = function.graphql({"query": "{ secrex }"})
        assert (denied.status, denied.body) == (unknown.status, unknown.body.replace(b"secrex", b"secret"))
        assert received == []
        assert function.graphql({"query": "{ secret }"}, headers=HOLDER).status == 200


def test_endpoint_of_which_nothing_is_open_answers_nothing(tmp_path: Path) -> None:
    with served(tmp_path, access(default="false")) as (function, received):
        for query in ("{ a }", "{ __typename }", "{ __schema { queryType { name } } }"):
            assert function.graphql({"query": query}).status == 400
    assert received == []


# Introspection


REFUSED = {
    name: {
        "message": f"Cannot query field '{name}' on type 'Query'.",
        "locations": [{"line": 1, "column": 3}],
        "extensions": {"code": "document-refused"},
    }
    for name in ("__schema", "__type")
}


@pytest.mark.parametrize(
    ("policy", "refused"),
    [
        (access(), []),
        (access(rule("a", "true"), default="false"), ["__schema", "__type"]),
        (access(rule("a, __schema, __type", "true"), default="false"), []),
        (access(rule("a, __type", "true"), default="false"), ["__schema"]),
        (access(rule("__schema", "false")), ["__schema"]),
        (access(rule("__schema, __type", "false")), ["__schema", "__type"]),
    ],
)
def test_introspection_of_the_endpoint_follows_the_policy_of_query(
    tmp_path: Path, policy: str, refused: list[str]
) -> None:
    with served(tmp_path, policy + IDENTITY) as (function, received):
        for name, query in (("__schema", SCHEMA_QUERY), ("__type", TYPE_QUERY)):
            anonymous, holder = function.graphql(query), function.graphql(query, headers=HOLDER)

            assert anonymous.json == ({"errors": [REFUSED[name]]} if name in refused else anonymous.json)
            assert anonymous.status == (400 if name in refused else 200)
            assert holder.status == 200
        assert function.graphql({"query": "{ a __typename }"}).status == 200
    assert len(received) == 1


@pytest.mark.parametrize(
    "query",
    [
        "{ s: __schema { types { name } } }",
        "{ ... { __schema { types { name } } } }",
        "{ ... on Query { ...F } } fragment F on Query { x: __schema { types { name } } }",
        '{ __type(name: "Query") { name } __schema { types { name } } }',
        "query A { __schema { types { name } } } query B { a }",
    ],
)
def test_no_form_of_introspection_slips_past_the_policy(tmp_path: Path, query: str) -> None:
    with served(tmp_path, access(rule("__schema", "false"))) as (function, _):
        refused = function.graphql({"query": query, "operationName": "A" if "query A" in query else None})

    assert refused.status == 400
    assert refused.json["errors"][0]["message"] == "Cannot query field '__schema' on type 'Query'."


def test_introspection_of_a_tool_is_answered_from_its_view_whatever_the_policy_says(tmp_path: Path) -> None:
    policy = access(rule("a", "true"), default="false")
    with served(tmp_path, policy, index=TOOL % EVERYTHING + SCHEMA) as (function, received):
        told = function.graphql(TYPE_QUERY, "/tools/t/graphql").json

    assert told == {"data": {"__type": {"fields": [{"name": "a"}]}}}
    assert received == []


def test_introspection_of_the_endpoint_tells_of_the_callers_view_alone(tmp_path: Path) -> None:
    with served(tmp_path, access(rule("secret", "false")) + IDENTITY) as (function, _):
        anonymous, holder = (
            [field["name"] for field in function.graphql(TYPE_QUERY, headers=headers).json["data"]["__type"]["fields"]]
            for headers in ({}, HOLDER)
        )

    assert (anonymous, holder) == (["a"], ["a", "secret"])


def test_field_of_introspection_in_two_rules_is_a_problem(tmp_path: Path) -> None:
    twice = access(f"{rule('__schema', 'true')}, {rule('__schema', 'false')}")

    (line,) = reported(tmp_path, {"index.graphql": SCHEMA, "config.yaml": twice})
    assert line == 'duplicate-rule: "__schema"'


# Federation's fields


@pytest.mark.parametrize("headers", [{}, HOLDER], ids=["anonymous", "holder of a key"])
@pytest.mark.parametrize("path", ["/graphql", "/tools/t/graphql"])
def test_federations_fields_are_hidden_where_nobody_names_them(
    tmp_path: Path, path: str, headers: Mapping[str, str]
) -> None:
    with served(tmp_path, OPEN + IDENTITY, index=TOOL % EVERYTHING + SCHEMA) as (function, received):
        for query in (SERVICE_QUERY, {"query": '{ _entities(representations: ["x"]) }'}):
            assert function.graphql(query, path, headers=headers).status == 400
        assert function.query("t", "{ _service { sdl } }").result["isError"] is True
        assert "_service" not in str(function.request("tools/list").result)
    assert received == []


def test_rule_that_names_them_opens_them_at_the_endpoint_by_its_condition(tmp_path: Path) -> None:
    for condition, statuses in (("true", (200, 200)), ("false", (400, 200))):
        policy = access(rule("_service", condition)) + IDENTITY
        with served(tmp_path / condition, policy, index=TOOL % EVERYTHING + SCHEMA) as (function, _):
            asked = (function.graphql(SERVICE_QUERY), function.graphql(SERVICE_QUERY, headers=HOLDER))
            tool = function.graphql(SERVICE_QUERY, "/tools/t/graphql")

        assert tuple(answer.status for answer in asked) == statuses
        assert tool.status == 400


@pytest.mark.parametrize("pattern", ["_service", "a|_service"])
def test_pattern_that_names_them_literally_opens_them_in_its_tool_alone(tmp_path: Path, pattern: str) -> None:
    exposed = f'{{expose: true, types: "Query", fields: "{pattern}"}}'
    with served(tmp_path, OPEN, index=TOOL % exposed + SCHEMA) as (function, _):
        assert function.graphql(SERVICE_QUERY, "/tools/t/graphql").status == 200
        assert function.graphql(SERVICE_QUERY).status == 400


@pytest.mark.parametrize("pattern", [".*", "_.*", "_[a-z]+", "_serv.ce"])
def test_pattern_that_only_matches_them_does_not(tmp_path: Path, pattern: str) -> None:
    exposed = f'[{{expose: true, types: "Query", fields: "{pattern}"}}, {{expose: true, types: "Query", fields: "a"}}]'
    with served(tmp_path, OPEN, index=TOOL % exposed + SCHEMA) as (function, _):
        assert function.graphql(SERVICE_QUERY, "/tools/t/graphql").status == 400


def test_pattern_hides_them_without_naming_them(tmp_path: Path) -> None:
    patterns = '[{expose: true, types: "Query", fields: "a|_service"}, {expose: false, types: "Query", fields: "_.*"}]'
    with served(tmp_path, OPEN, index=TOOL % patterns + SCHEMA) as (function, _):
        assert function.graphql(SERVICE_QUERY, "/tools/t/graphql").status == 400


def test_field_of_another_type_that_has_such_a_name_is_like_any_other(tmp_path: Path) -> None:
    index = TOOL % EVERYTHING + "type Query { a: B } type B { _service: Int }"
    with served(tmp_path, OPEN, index=index) as (function, _):
        assert function.graphql({"query": "{ a { _service } }"}, "/tools/t/graphql").status == 200
        assert function.graphql({"query": "{ a { _service } }"}).status == 200


# StepZen's simpleABACSample: "The default policy for fields not covered by the above policies is to allow access, no
# JWT required."
STEPZEN = """
upstream: {url: 'URL'}
deployment: {identity: {keys: [{algorithm: HS256, key: development-only}]}}
access:
  policies:
    - type: Query
      policyDefault: {condition: DEFAULT}
      rules:
        - {name: secrets, fields: [secret], condition: "?$jwt && $jwt.roles:String has \\"reader\\""}
"""


@contextmanager
def stepzen_project(folder: Path, default: str) -> Iterator[Function]:
    def script(peer: Peer) -> None:
        while peer.read_request():
            peer.send(answer(b'{"data": {"a": 1}}', content_type="application/json"))

    with running_server(script) as server:
        files = {
            "index.graphql": SCHEMA,
            "config.yaml": STEPZEN.replace("URL", server.url).replace("DEFAULT", default),
            "stepzen.config.json": '{"endpoint": "api/customers"}',
        }
        with running_function(compiled(folder, files)) as running:
            yield running


def test_anonymous_caller_of_a_stepzen_project_gets_what_its_policies_open_and_no_more(tmp_path: Path) -> None:
    with stepzen_project(tmp_path, "true") as function:
        assert function.graphql(A).json["data"] == {"a": 1}
        assert function.graphql(A, "/__graphql").json["data"] == {"a": 1}
        assert function.get(A).json["data"] == {"a": 1}
        assert function.graphql(SCHEMA_QUERY).status == 200
        secret = function.graphql({"query": "{ secret }"})
        assert (secret.status, "secret" in secret.json.get("data", {})) == (400, False)
        assert function.graphql(SERVICE_QUERY).status == 400
        (tool,) = function.request("tools/list").result["tools"]
        assert "secret" not in str(tool)
        assert function.query(tool["name"], "{ a }").text == '{"data":{"a":1}}'
        assert function.query(tool["name"], "{ secret }").result["isError"]
        assert function.graphql(A, headers={"authorization": "Bearer a.b.c"}).status == 401


@pytest.mark.parametrize("default", ["false", '"?$jwt"'])
def test_anonymous_caller_of_a_stepzen_project_is_challenged_where_its_policies_open_nothing(
    tmp_path: Path, default: str
) -> None:
    with stepzen_project(tmp_path, default) as function:
        answers = [function.graphql(A), function.get(A), function.graphql(SCHEMA_QUERY), function.request("tools/list")]

    assert [answer.status for answer in answers] == [401] * 4


def test_built_in_page_of_a_stepzen_project_is_told_by_introspection(tmp_path: Path) -> None:
    files = {
        "index.graphql": "type Query { things: Things } type Things { pageInfo: PageInfo! }",
        "config.yaml": OPEN.replace("]}", "], hide: [PageInfo.endCursor]}"),
        "stepzen.config.json": '{"endpoint": "api/customers"}',
    }
    with running_function(compiled(tmp_path, files)) as function:
        told = function.graphql({"query": '{ __type(name: "PageInfo") { fields { name } } }'}).json["data"]
        refused = function.graphql({"query": "{ things { pageInfo { endCursor } } }"})

    assert [each["name"] for each in told["__type"]["fields"]] == ["hasNextPage", "hasPreviousPage", "startCursor"]
    assert (refused.status, "endCursor" in str(refused.json["errors"][0]["message"])) == (400, True)
