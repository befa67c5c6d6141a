"""Both GraphQL routes: who may ask what, with which statuses, and what reaches the API. Source: GraphQL over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from handler.compiler.compile import Compiled
from handler.server.context import MAX_BODY_BYTES
from tests.audit.routes import audited_endpoint
from tests.support.codes import graphql_errors
from tests.support.endpoints import compiled
from tests.support.function import Function, running_function
from tests.support.raw_http import Peer, answer, running_server
from tests.support.upstream import Upstream

CUSTOMERS = "/tools/customer-lookup/graphql"
EMPLOYEES = "/tools/employee-lookup/graphql"
ROUTES = ["/graphql", "/__graphql", CUSTOMERS]

EMAIL = {"email": "elif.nunez@example.com"}
CUSTOMER = "query C($email: String!) { customer(email: $email) { name } }"
ELIF = {"data": {"customer": {"name": "Elif Núñez"}}}

JSON = {"accept": "application/json"}


@pytest.fixture(scope="module")
def open_demo(upstream: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """The demo endpoint, whose own GraphQL takes any request."""
    return audited_endpoint(tmp_path_factory.mktemp("open"), upstream.url)


@pytest.fixture
def open_function(open_demo: Compiled, upstream: Upstream) -> Iterator[Function]:
    """Serves it to anonymous callers; nothing has reached the API."""
    with running_function(open_demo) as running:
        upstream.clear()
        yield running


@pytest.mark.parametrize("path", ROUTES)
def test_query_is_answered_by_post_and_by_get(open_function: Function, path: str) -> None:
    posted = open_function.graphql({"query": CUSTOMER, "variables": EMAIL}, path)
    got = open_function.get({"query": CUSTOMER, "variables": json.dumps(EMAIL)}, path)

    assert (posted.status, posted.json) == (got.status, got.json) == (200, ELIF)
    assert posted.headers["content-type"] == "application/graphql-response+json; charset=utf-8"


def test_chosen_operation_alone_reaches_the_api_without_the_callers_extensions(
    open_function: Function, upstream: Upstream
) -> None:
    two = CUSTOMER + " query Other { employees { name } }"
    extensions = {"persistedQuery": {"version": 1, "sha256Hash": "0" * 64}, "tracing": True}

    answer = open_function.graphql(
        {"query": two, "operationName": "C", "variables": {**EMAIL, "undeclared": 1}, "extensions": extensions},
        headers={"authorization2": "x", "x-trace": "y"},
    )

    assert answer.json == ELIF
    (request,) = upstream.requests()
    sent = json.loads(request["body"])
    assert set(sent) == {"query", "operationName", "variables"}
    assert "Other" not in sent["query"]
    assert sent["variables"] == EMAIL
    assert not {"authorization2", "x-trace"} & set(request["headers"])


def test_empty_operation_name_is_absent(open_function: Function) -> None:
    assert open_function.graphql({"query": CUSTOMER, "operationName": "", "variables": EMAIL}).json == ELIF
    assert open_function.get({"query": "{ __typename }", "operationName": ""}).json == {"data": {"__typename": "Query"}}


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"query": "{"}, "Syntax Error: Expected Name, found <EOF>."),
        ({"query": "{ nothing }"}, "Cannot query field 'nothing' on type 'Query'."),
        (
            {"query": "query A { __typename } query B { __typename }"},
            "it has several operations: name one in operationName",
        ),
        ({"query": CUSTOMER, "variables": {"email": None}}, "Variable '$email' has invalid value"),
        ({"query": "subscription { a }"}, "subscriptions are not supported: send a query"),
    ],
    ids=["syntax", "validation", "operation", "variables", "subscription"],
)
@pytest.mark.parametrize("path", ["/graphql", CUSTOMERS])
def test_request_that_cannot_run_is_400_in_the_new_media_type_and_200_in_the_old(
    open_function: Function, upstream: Upstream, path: str, request_: dict[str, Any], message: str
) -> None:
    new = open_function.graphql(request_, path)
    old = open_function.graphql(request_, path, headers=JSON)

    assert (new.status, old.status) == (400, 200)
    assert new.json == old.json
    assert list(new.json) == ["errors"]
    assert new.json["errors"][0]["message"].startswith(message)
    assert upstream.requests() == []


def test_error_says_where_in_the_document_it_is(open_function: Function) -> None:
    (error,) = open_function.graphql({"query": '{ customer(email: "") {\n  nothing } }'}).json["errors"]

    assert error == {
        "message": "Cannot query field 'nothing' on type 'Customer'.",
        "locations": [{"line": 2, "column": 3}],
        "extensions": {"code": "document-refused"},
    }


def test_errors_after_the_tenth_are_mentioned(open_function: Function) -> None:
    errors = open_function.graphql({"query": "{" + " ".join(f"a{n}" for n in range(30)) + "}"}).json["errors"]

    assert len(errors) == 11
    assert errors[-1]["message"] == "and more"
    assert {each["extensions"]["code"] for each in errors} == {"document-refused"}


@pytest.mark.parametrize("accept", ["application/json", "application/graphql-response+json"])
@pytest.mark.parametrize("path", ["/graphql", CUSTOMERS])
def test_what_is_no_graphql_request_is_400_whatever_is_accepted(
    open_function: Function, path: str, accept: str
) -> None:
    for body in (b"{", {"qeury": "{ a }"}, {"query": ["{ a }"]}, [{"query": "{ __typename }"}]):
        answer = open_function.graphql(body, path, headers={"accept": accept})

        assert answer.status == 400
        assert answer.headers["content-type"] == f"{accept}; charset=utf-8"
        assert [list(error) for error in answer.json["errors"]] == [["message", "extensions"]]
        assert answer.code == "malformed-request"


def test_batch_is_refused_with_a_sentence_and_runs_nothing(open_function: Function, upstream: Upstream) -> None:
    answer = open_function.graphql([{"query": CUSTOMER, "variables": EMAIL}] * 2)

    assert answer.json == graphql_errors("batches are not supported: send each request by itself", "malformed-request")
    assert upstream.requests() == []


def test_media_types_that_do_not_fit_are_refused(open_function: Function) -> None:
    no_answer = open_function.graphql({"query": "{ __typename }"}, headers={"accept": "text/html"})
    no_body = open_function.graphql({"query": "{ __typename }"}, headers={"content-type": "text/plain"})

    assert (no_answer.status, no_body.status) == (406, 415)
    assert (no_answer.code, no_body.code) == ("not-acceptable", "unsupported-media-type")


def test_body_over_a_mebibyte_is_413(open_function: Function) -> None:
    answer = open_function.graphql({"query": "{ __typename }" + " " * MAX_BODY_BYTES})

    assert answer.status == 413
    assert list(answer.json) == ["errors"]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "HEAD", "OPTIONS"])
def test_other_methods_than_get_and_post_are_405(open_function: Function, method: str) -> None:
    answer = open_function.send(method, "/api/customers/graphql")

    assert answer.status == 405
    assert answer.headers["allow"] == "GET, POST"


@pytest.mark.parametrize("accept", ["application/json", "application/graphql-response+json"])
@pytest.mark.parametrize("path", ROUTES)
def test_slash_too_many_is_404_as_a_graphql_response(open_function: Function, path: str, accept: str) -> None:
    for answered in (
        open_function.graphql({"query": "{ __typename }"}, f"{path}//", headers={"accept": accept}),
        open_function.get({"query": "{ __typename }"}, f"{path}//", headers={"accept": accept}),
    ):
        assert answered.status == 404
        assert answered.headers["content-type"] == f"{accept}; charset=utf-8"
        assert answered.json == graphql_errors("Not Found", "not-found")


@pytest.mark.parametrize("path", ["/graphql/x", "/tools/graphql/", "/mcp//", "/tools/a/b/graphql"])
def test_other_paths_answer_plain_json(open_function: Function, path: str) -> None:
    answered = open_function.graphql({"query": "{ __typename }"}, path)

    assert (answered.status, answered.json) == (404, {"error": "Not Found", "code": "not-found"})


MUTATION = 'mutation { placeOrder(input: {customerId: "1", lines: []}) { id } }'


@pytest.mark.parametrize("accept", ["application/json", "application/graphql-response+json"])
@pytest.mark.parametrize("path", ["/graphql", CUSTOMERS])
@pytest.mark.parametrize(
    "parameters",
    [
        {"query": "mutation { __typename }"},
        {"query": MUTATION},
        {"query": f"query A {{ __typename }} {MUTATION.replace('mutation', 'mutation M')}", "operationName": "M"},
    ],
)
def test_mutation_by_get_is_405_and_never_sent(
    open_demo: Compiled, upstream: Upstream, parameters: dict[str, str], path: str, accept: str
) -> None:
    upstream.clear()
    for development in (False, True):  # a caller who may not write, and one who may
        with running_function(open_demo, development=development) as function:
            answer = function.get(parameters, path, headers={"accept": accept})

        assert answer.status == 405
        assert answer.headers["allow"] == "POST"
        assert "send it by POST" in answer.json["errors"][0]["message"]
    assert upstream.requests() == []


def test_query_beside_a_mutation_is_answered_by_get(open_demo: Compiled) -> None:
    document = "query A { __typename } mutation M { __typename }"

    with running_function(open_demo, development=True) as function:
        answer = function.get({"query": document, "operationName": "A"})

    assert answer.json == {"data": {"__typename": "Query"}}


def test_malformed_document_by_get_is_no_mutation(open_function: Function) -> None:
    assert open_function.get({"query": "mutation {"}).status == 400


def test_mutation_is_sent_by_post_where_the_caller_may_write(open_demo: Compiled, upstream: Upstream) -> None:
    with running_function(open_demo, development=True) as function:
        may = function.graphql({"query": "mutation { __typename }"})
    with running_function(open_demo) as function:
        may_not = function.graphql({"query": "mutation { __typename }"})

    assert (may.status, may.json) == (200, {"data": {"__typename": "Mutation"}})
    assert may_not.status == 400


def test_tools_route_is_no_more_than_the_tool(open_function: Function, upstream: Upstream) -> None:
    salary = '{ employee(id: "empl_01") { name salary } }'

    assert open_function.graphql({"query": salary}).status == 200  # the endpoint hides it from nobody
    upstream.clear()
    refused = open_function.graphql({"query": salary}, EMPLOYEES)

    assert refused.json["errors"][0]["message"] == "Cannot query field 'salary' on type 'Employee'."
    assert open_function.graphql({"query": CUSTOMER, "variables": EMAIL}, EMPLOYEES).status == 400
    assert upstream.requests() == []


TOOLS = """
extend schema
  @tool(name: "plain", graphql: {expose: true, types: "Query", fields: "a"}, aliases: ["old.name"])
  @tool(name: "unlisted", graphql: {expose: true, types: "Query", fields: "a"}, hidden: true)
  @tool(name: "scoped", graphql: {expose: true, types: "Query", fields: "a"}, scopes: ["a:read"])
  @tool(name: "closed", graphql: {expose: true, types: "Query", fields: "secret"})
  @tool(name: "careful", graphql: {expose: true, types: "Query|Mutation", fields: ".*"}, confirm: advisory)
  @tool(name: "ready", prescribed: "O")
  @sdl(executables: {document: "o.graphql", persist: true})
type Query { a: Int secret: Int }
type Mutation { set(a: Int): Int }
"""
TOOLS_ACCESS = """
access:
  anonymous: allow
  policies:
    - type: Query
      rules: [{condition: false, fields: secret}]
      policyDefault: {condition: true}
    - {type: Mutation, policyDefault: {condition: true}}
"""


@pytest.fixture
def tools_function(tmp_path: Path) -> Iterator[Function]:
    """Tools of every kind; the API answers 1."""

    def script(peer: Peer) -> None:
        while peer.read_request():
            peer.send(answer(b'{"data": {"a": 1}}', content_type="application/json"))

    with running_server(script) as server:
        config = f"upstream: {{url: '{server.url}graphql'}}\n{TOOLS_ACCESS}"
        files = {"index.graphql": TOOLS, "o.graphql": "query O { a }", "config.yaml": config}
        with running_function(compiled(tmp_path, files)) as running:
            yield running


@pytest.mark.parametrize("tool", ["plain", "old.name", "unlisted"])
def test_hidden_tools_and_aliases_have_a_route_too(tools_function: Function, tool: str) -> None:
    answered = tools_function.graphql({"query": "{ a }"}, f"/tools/{tool}/graphql")

    assert answered.json == {"data": {"a": 1}}


@pytest.mark.parametrize("tool", ["ready", "closed", "no-such-tool", "%2e%2e"])
def test_prescribed_invisible_and_unknown_tools_have_none(tools_function: Function, tool: str) -> None:
    answered = tools_function.graphql({"query": "{ a }"}, f"/tools/{tool}/graphql")

    assert answered.status == 404
    assert answered.json == graphql_errors("there is no such tool", "tool-not-found")


def test_tool_with_scopes_asks_anonymous_callers_for_a_credential(tools_function: Function) -> None:
    answered = tools_function.graphql({"query": "{ a }"}, "/tools/scoped/graphql")

    assert answered.status == 401
    assert answered.headers["www-authenticate"] == 'Bearer realm="api/things", scope="a:read"'


def test_mutation_of_a_tool_that_asks_for_consent_waits_for_it(tools_function: Function) -> None:
    mutation = {"query": "mutation { set(a: 1) }"}

    refused = tools_function.graphql(mutation, "/tools/careful/graphql")
    agreed = tools_function.graphql({**mutation, "extensions": {"confirm": True}}, "/tools/careful/graphql")

    assert refused.status == 403
    assert refused.json["errors"][0]["message"].endswith('repeat it with "extensions": {"confirm": true}.')
    assert agreed.status == 200
    assert tools_function.graphql({"query": "{ a }"}, "/tools/careful/graphql").status == 200


def test_document_id_is_not_for_tools(tools_function: Function) -> None:
    answered = tools_function.graphql({"documentId": "sha256:0"}, "/tools/plain/graphql")

    assert (answered.status, answered.json) == (
        400,
        graphql_errors("a tool has no persisted documents: send query", "malformed-request"),
    )


@pytest.mark.parametrize("path", ["/graphql", CUSTOMERS])
def test_unknown_endpoint_is_404(open_function: Function, path: str) -> None:
    assert open_function.send("GET", f"/api/nobody{path}?query={{a}}").status == 404
    assert open_function.send("GET", f"/0/nobody{path}?query={{a}}").code == "endpoint-not-found"


def test_upstream_that_fails_is_502_in_the_new_media_type_and_200_in_the_old(tmp_path: Path) -> None:
    config = f"upstream: {{url: 'http://127.0.0.1:9/graphql'}}\ngraphql: on\n{TOOLS_ACCESS}"
    files = {"index.graphql": TOOLS, "o.graphql": "query O { a }", "config.yaml": config}
    with running_function(compiled(tmp_path, files)) as function:
        new = function.graphql({"query": "{ a }"})
        old = function.graphql({"query": "{ a }"}, headers=JSON)

    assert (new.status, old.status) == (502, 200)
    assert new.json == old.json
    assert new.code == "upstream-unreachable"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x" * 6_300_000, "The result is larger than an answer may be. Ask for fewer rows or fields."),
        ('"' * 1_500_000, None),
        ('"' * 1_600_000, "The result is larger than an answer may be. Ask for fewer rows or fields."),
    ],
    ids=["long", "quotes that fit", "quotes that do not"],
)
def test_answer_that_lambda_would_not_take_is_refused(tmp_path: Path, text: str, message: str | None) -> None:
    def script(peer: Peer) -> None:
        while peer.read_request():
            peer.send(answer(json.dumps({"data": {"a": text}}).encode(), content_type="application/json"))

    with running_server(script) as server:
        config = f"upstream: {{url: '{server.url}', max_bytes: 50000000}}\ngraphql: on\n{TOOLS_ACCESS}"
        files = {"index.graphql": TOOLS, "o.graphql": "query O { a }", "config.yaml": config}
        with running_function(compiled(tmp_path, files)) as function:
            answered = function.graphql({"query": "{ a }"})

    if message is None:
        assert answered.json == {"data": {"a": text}}
    else:
        assert (answered.status, answered.json) == (502, graphql_errors(message, "upstream-too-large"))


def test_errors_beside_data_stay_beside_it(tmp_path: Path) -> None:
    def script(peer: Peer) -> None:
        while peer.read_request():
            body = {"data": {"a": None}, "errors": [{"message": "no a", "path": ["a"]}], "extensions": {"cost": 1}}
            peer.send(answer(json.dumps(body).encode(), content_type="application/json"))

    with running_server(script) as server:
        config = f"upstream: {{url: '{server.url}'}}\ngraphql: on\n{TOOLS_ACCESS}"
        files = {"index.graphql": TOOLS, "o.graphql": "query O { a }", "config.yaml": config}
        with running_function(compiled(tmp_path, files)) as function:
            answered = function.graphql({"query": "{ a }"})

    assert (answered.status, answered.json) == (
        200,
        {"data": {"a": None}, "errors": [{"message": "no a", "path": ["a"]}]},
    )
    assert function.lines[-1]["outcome"] == "errors"


def test_unforeseen_is_500_with_a_fixed_sentence_and_its_cause_in_the_log(tmp_path: Path) -> None:
    def broken_clock() -> float:
        raise ZeroDivisionError

    files = {"index.graphql": TOOLS, "o.graphql": "query O { a }", "config.yaml": TOOLS_ACCESS}
    with running_function(compiled(tmp_path, files), clock=broken_clock) as function:
        answered = function.graphql({"query": "{ a }"}, headers=JSON)

    assert (answered.status, answered.json) == (500, graphql_errors("Internal error", "internal-error"))
    assert isinstance(function.lines[-1]["failure"], ZeroDivisionError)


def test_one_line_a_request_says_what_was_done_and_holds_nothing_of_it(open_function: Function) -> None:
    open_function.graphql({"query": CUSTOMER, "variables": EMAIL})
    open_function.graphql({"query": CUSTOMER, "variables": EMAIL}, CUSTOMERS)
    open_function.graphql({"query": "{ verySecretName }", "variables": {"card": "4711"}}, CUSTOMERS)
    open_function.get({"query": "mutation { __typename }"})
    open_function.graphql(b"{")

    keys = ("route", "tool", "operation", "outcome", "reason", "status")
    assert [tuple(line.get(key) for key in keys) for line in open_function.lines] == [
        ("graphql", None, "query", "ok", None, 200),
        ("tool", "customer-lookup", "query", "ok", None, 200),
        ("tool", "customer-lookup", None, "refused", "DocumentRefused", 400),
        ("graphql", None, None, "rejected", "a mutation cannot be sent by GET: send it by POST", 405),
        ("graphql", None, None, "rejected", "malformed", 400),
    ]
    assert not any(word in str(open_function.lines) for word in ("elif", "Secret", "4711", "__typename"))
