"""Tools in Python, called through the function."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.tools import ToolOptions
from handler.bundle.upstream import BearerAuth, HeaderAuth, NoAuth, PassthroughAuth, SecretText, UpstreamAuth
from handler.compiler.compile import Compiled
from handler.policy.evaluation import HIDDEN
from handler.server.auth.sealed_state import RequestStates
from handler.server.mcp.jsonrpc import OWN_CODE, STILE_CODES
from tests.code_tools.cases import case
from tests.support.codes import rpc_error, unknown_tool
from tests.support.endpoints import compiled
from tests.support.function import META, Answer, Context, Function, running_function
from tests.support.identities import HOLDER, identified
from tests.support.kits import MODULES, OPTIONS, TOOLS, changed_tool, with_kit
from tests.support.secrecy import SESSION
from tests.support.upstream import Upstream

STATE_KEY = SESSION.keep("a key of states", "kP4v9Xq2Zc7Lr1Tb6Wn8Kd3Hf5Jp0GsU")
CLAIMS = {"iss": "https://idp.example", "sub": "ada", "scope": "things:read orders", "tenant": "acme"}
EMAIL = "elif.nunez@example.com"

FILES = {
    "index.graphql": """
type Query { customer(email: String!): Customer, customers: Page, secret: Int }
type Mutation { placeOrder(customerId: ID!): Customer }
type Customer { id: ID! name: String! email: String orders(first: Int): Page }
type Page { totalCount: Int! }
""",
    "operations/customer.graphql": "query CustomerByEmail($email: String!) { customer(email: $email) { name email } }",
    "operations/mine.graphql": """
query Mine($email: String! @mcpBind(claim: "email")) @mcpTool(name: "mine", scopes: ["orders:mine"]) {
  customer(email: $email) { name }
}
""",
    "operations/secret.graphql": "query Secret { secret }",
    "config.yaml": """
upstream: {{url: '{url}'}}
graphql: {mode}
access:
  anonymous: {anonymous}
  policies:
    - {{type: Query, rules: [{{condition: false, fields: [secret, __schema]}}], policyDefault: {{condition: true}}}}
    - {{type: Mutation, policyDefault: {{condition: true}}}}
""",
}
ORDER = 'mutation Order($id: ID!) @mcpTool(name: "order", confirm: advisory) { placeOrder(customerId: $id) { id } }'


def files(url: str, *, anonymous: str = "allow", mode: str = "persisted", **more: str) -> dict[str, str]:
    config = FILES["config.yaml"].format(url=url, anonymous=anonymous, mode=mode)
    return {**FILES, "config.yaml": config, **more}


@pytest.fixture
def endpoint(tmp_path: Path, upstream: Upstream) -> Compiled:
    upstream.clear()
    return with_kit(identified(compiled(tmp_path, files(upstream.url)), CLAIMS), TOOLS)


@pytest.fixture
def function(endpoint: Compiled) -> Iterator[Function]:
    with serving(endpoint) as running:
        yield running


def serving(endpoint: Compiled, **services: Any) -> Any:
    states = RequestStates([STATE_KEY])
    return running_function(endpoint, **{"code_modules": MODULES, "states": states, **services})


def called(function: Function, tool: str, arguments: Any = None, **more: Any) -> Answer:
    """Call a tool as a modern client does."""
    params = {"name": tool, "arguments": {} if arguments is None else arguments}
    return function.request("tools/call", params, modern=True, **more)


def reason(function: Function) -> tuple[Any, ...]:
    line = function.lines[-1]
    return tuple(line.get(name) for name in ("tool", "kind", "decision", "outcome", "reason"))


def test_tool_in_python_is_listed_and_called(function: Function) -> None:
    listed = {entry["name"]: entry for entry in function.request("tools/list").result["tools"]}

    assert listed["echo"]["inputSchema"]["properties"] == {"text": {"type": "string"}}
    answer = called(function, "echo", {"text": "hi"})
    assert answer.result["structuredContent"] == {"said": "hi", "tool_version": "1.2.0"}
    assert answer.text == '{"said":"hi","tool_version":"1.2.0"}'
    assert answer.result["resultType"] == "complete"
    assert reason(function) == ("echo", "code", "allowed", "ok", None)


def test_alias_is_callable_and_errors_say_it(function: Function) -> None:
    assert "say" not in [entry["name"] for entry in function.request("tools/list").result["tools"]]
    assert function.call("say", {"text": "hi"}).result["structuredContent"]["said"] == "hi"
    assert function.call("say", {}).text == "Invalid arguments for tool say: /text: required, but missing"
    assert reason(function) == ("say", "code", "refused", "tool_error", "InvalidArguments")


def test_hidden_tool_is_callable_and_not_listed(function: Function) -> None:
    assert "unlisted" not in [entry["name"] for entry in function.request("tools/list").result["tools"]]
    assert function.call("unlisted", {}).text == "found"


@case("X-005")
def test_tool_whose_mask_is_not_met_is_unknown(endpoint: Compiled) -> None:
    with serving(changed_tool(endpoint, "echo", mask=HIDDEN)) as function:
        answer = called(function, "echo", {"text": "hi"}, headers=HOLDER)

        assert answer.status == 400
        assert answer.json["error"] == unknown_tool("echo")
        assert "echo" not in [entry["name"] for entry in function.request("tools/list").result["tools"]]


def test_scopes_are_asked_for_before_the_module_is_imported(endpoint: Compiled) -> None:
    elsewhere = changed_tool(endpoint, "scoped", kit="tests.support.acme_broken:kit")
    with serving(elsewhere) as function:
        answer = called(function, "scoped", headers=HOLDER)

        assert answer.status == 403
        assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]
        assert 'scope="things:write orders things:read"' in answer.headers["www-authenticate"]
        assert "tests.support.acme_broken" not in sys.modules


def test_scopes_that_only_the_code_asks_for_are_asked_for_too(endpoint: Compiled) -> None:
    with serving(changed_tool(endpoint, "scoped", options=OPTIONS)) as function:
        assert called(function, "scoped", headers=HOLDER).status == 403
        assert called(function, "scoped").status == 401


def test_who_has_no_claims_is_not_asked_for_scopes(tmp_path: Path, endpoint: Compiled) -> None:
    with serving(identified(endpoint, None)) as function:
        assert called(function, "scoped", headers=HOLDER).text == "done"


@pytest.mark.parametrize(
    ("options", "form"),
    [
        (replace(OPTIONS, output="text"), (1, None)),
        (replace(OPTIONS, output="structured"), (0, "hi")),
        (replace(OPTIONS, output="both"), (1, "hi")),
    ],
)
def test_result_has_the_form_that_the_bundle_says(endpoint: Compiled, options: ToolOptions, form: Any) -> None:
    with serving(changed_tool(endpoint, "echo", options=options)) as function:
        result = called(function, "echo", {"text": "hi"}).result

    assert (len(result["content"]), result.get("structuredContent", {}).get("said")) == form


def test_metadata_of_the_bundle_and_of_the_result_both_come(endpoint: Compiled) -> None:
    options = replace(OPTIONS, meta={"tool_version": "2", "trace": "of the bundle"})
    with serving(changed_tool(endpoint, "with_meta", options=options)) as function:
        meta = function.call("with_meta", {}).result["_meta"]

    assert meta == {"tool_version": "2", "trace": "abc"}


def test_tool_that_changed_since_it_was_published_says_so_and_does_not_run(endpoint: Compiled) -> None:
    with serving(changed_tool(endpoint, "customer_name", digest="0" * 64)) as function:
        answer = called(function, "customer_name", {"email": EMAIL})

        assert (answer.code, answer.result["isError"]) == ("code-changed", True)
        assert reason(function)[2:] == ("refused", "tool_error", "CodeChanged")


def test_tool_that_is_gone_from_its_kit_has_changed(endpoint: Compiled) -> None:
    with serving(changed_tool(endpoint, "echo", name="gone")) as function:
        assert called(function, "gone").code == "code-changed"


@pytest.mark.lambda_alone
@pytest.mark.parametrize(
    ("kit", "modules"),
    [
        ("tests.support.acme_broken:kit", MODULES),
        ("tests.support.acme_exit:kit", ("tests.support.acme_exit",)),
        ("tests.support.acme_nowhere:kit", ("tests.support",)),
        ("tests.support.acme_tools:CUSTOMER", MODULES),
        (TOOLS, ()),
    ],
    ids=["raises", "exits", "is not there", "is no toolkit", "may not be imported"],
)
def test_module_that_cannot_be_loaded_fails_its_calls_and_nothing_else(
    endpoint: Compiled, kit: str, modules: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    with serving(changed_tool(endpoint, "echo", kit=kit), code_modules=modules) as function:
        answer = called(function, "echo", {"text": "hi"})

        assert (answer.text, answer.result["isError"]) == ("Tool execution failed", True)
        assert b"boom" not in answer.body
        assert answer.result["_meta"]["request_id"] == Context.aws_request_id
        assert f"tool echo failed in request {Context.aws_request_id}" in caplog.text
        assert function.request("tools/list").status == 200


@pytest.mark.lambda_alone
def test_exception_of_a_tool_is_in_the_log_and_not_in_the_answer(
    function: Function, caplog: pytest.LogCaptureFixture
) -> None:
    for tool in ("boom", "quit_it"):
        answer = called(function, tool)
        assert (answer.text, answer.result["isError"]) == ("Tool execution failed", True)
        assert b"/home/author" not in answer.body
    assert "boom at /home/author" in caplog.text
    assert f"tool boom failed in request {Context.aws_request_id}" in caplog.text
    assert reason(function) == ("quit_it", "code", "allowed", "tool_error", "AuthorFailed")
    assert called(function, "echo", {"text": "still"}).result["structuredContent"]["said"] == "still"


def test_tool_error_is_the_sentence_that_its_author_wrote(function: Function) -> None:
    answer = called(function, "refuse")

    assert (answer.text, answer.result["isError"]) == ("try again with flag=true", True)
    assert reason(function)[2:] == ("allowed", "tool_error", "ToolError")


@pytest.mark.parametrize(("code", "status"), [(1001, 200), (-32603, 200), (-32602, 400), (-32601, 404), (-32600, 400)])
def test_protocol_error_of_a_tool_has_its_code_and_the_status_of_the_revision(
    function: Function, code: int, status: int
) -> None:
    modern, legacy = called(function, "error", {"code": code}), function.call("error", {"code": code})

    assert (modern.status, legacy.status) == (status, 200)
    assert modern.json["error"] == legacy.json["error"]
    assert modern.json["error"] == rpc_error(code, "custom", STILE_CODES.get(code, OWN_CODE), x=1)
    assert reason(function)[3] == "rejected"


def test_protocol_error_in_a_batch_has_its_data_too(function: Function) -> None:
    calls = [{"name": "error", "arguments": {"code": 1001}}, {"name": "nope", "arguments": {}}]
    items = [{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": each} for each in calls]

    custom, unknown = (item["error"] for item in function.post(items, headers=HOLDER).json)

    assert custom == rpc_error(1001, "custom", "own-error", x=1)
    assert unknown == unknown_tool("nope")


@pytest.mark.parametrize("kind", ["object", "large"])
def test_protocol_error_that_cannot_be_sent_is_a_failure_of_its_call_alone(function: Function, kind: str) -> None:
    answer = called(function, "error_with", {"kind": kind})

    assert (answer.status, answer.text, answer.result["isError"]) == (200, "Tool execution failed", True)
    params = {"name": "error_with", "arguments": {"kind": kind}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    failed, alive = function.post([call, {"jsonrpc": "2.0", "id": 2, "method": "ping"}]).json
    assert (failed["result"]["isError"], alive["result"]) == (True, {})


def test_result_that_is_too_large_is_an_error_that_says_so(function: Function) -> None:
    assert function.call("large", {"chars": 3_000_000}).status == 200
    answer = function.call("large", {"chars": 7_000_000})

    assert (answer.text, answer.result["isError"]) == (
        "The result is larger than an answer may be. Ask for fewer rows or fields.",
        True,
    )


@pytest.mark.lambda_alone
def test_context_tells_who_asks_and_no_credential(function: Function) -> None:
    headers = {**HOLDER, "x-tenant": "acme", "cookie": "a=b", "x-amzn-oidc-data": "jwt", "x-authorization": "t"}
    told = called(function, "surroundings", headers=headers).result["structuredContent"]

    assert told["auth"] == CLAIMS
    assert told["scopes"] == ["orders", "things:read"]
    assert told["headers"]["x-tenant"] == "acme"
    assert not {"x-api-key", "cookie", "authorization", "x-amzn-oidc-data", "x-authorization"} & set(told["headers"])
    assert told["protocol_version"] == "2026-07-28"
    assert told["client_info"] == {"name": "tests", "version": "1"}
    assert told["request_id"] == Context.aws_request_id
    legacy = function.call("surroundings", {}).result["structuredContent"]
    assert (legacy["auth"], legacy["scopes"], legacy["client_capabilities"]) == (None, [], {})


def test_log_level_of_the_request_reaches_the_tool(function: Function) -> None:
    for meta, expected in (({**META, "io.modelcontextprotocol/logLevel": "warning"}, "warning"), (META, None)):
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "surroundings", "_meta": meta}}
        headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "surroundings"}
        answer = function.post(message, headers=headers)
        assert answer.result["structuredContent"]["log_level"] == expected


def test_tool_asks_the_api_as_its_caller_may(function: Function, upstream: Upstream) -> None:
    assert called(function, "customer_name", {"email": EMAIL}).text == "Elif Núñez"
    (request,) = upstream.requests()
    assert "authorization" not in request["headers"]


def test_denied_field_fails_as_one_that_does_not_exist(function: Function, upstream: Upstream) -> None:
    denied = called(function, "ask_graphql", {"query": "{ secret }"})
    unknown = called(function, "ask_graphql", {"query": "{ secreu }"})

    assert denied.result["isError"]
    assert denied.text.replace("secret", "secreu") == unknown.text
    assert upstream.requests() == []


def test_introspection_is_no_way_around_the_policy_of_query(function: Function) -> None:
    assert (
        "Cannot query field '__schema'"
        in called(function, "ask_graphql", {"query": "{ __schema { queryType { name } } }"}).text
    )


def test_what_the_api_says_is_wrong_reaches_the_author_with_what_came(function: Function) -> None:
    fails = f'customer(email: "{EMAIL}") {{ orders(first: 0) {{ totalCount }} }}'
    query = f'{{ good: customer(email: "{EMAIL}") {{ name }} bad: {fails} }}'

    told = called(function, "what_came", {"query": query}).result["structuredContent"]
    assert told == {
        "errors": ["first: expected 1 to 100, got 0"],
        "partial": {"good": {"name": "Elif Núñez"}, "bad": None},
    }
    uncaught = called(function, "ask_graphql", {"query": query})
    assert (uncaught.text, uncaught.result["isError"]) == ("The API reported: first: expected 1 to 100, got 0", True)
    assert "structuredContent" not in uncaught.result


def test_one_call_sends_a_bounded_number_of_requests(function: Function) -> None:
    assert called(function, "ask_often", {"times": 50}).result["structuredContent"] == {"result": 50}
    answer = called(function, "ask_often", {"times": 51})

    assert answer.text == "One call may send 50 GraphQL requests, and this one sent them."


def test_operation_runs_by_its_name(function: Function) -> None:
    answer = called(function, "run_operation", {"name": "CustomerByEmail", "variables": {"email": EMAIL}})

    assert answer.result["structuredContent"] == {"data": {"customer": {"name": "Elif Núñez", "email": EMAIL}}}


@pytest.mark.parametrize(
    ("name", "variables", "expected"),
    [
        ("CustomerByEmail", {}, "Invalid arguments for tool CustomerByEmail: /email: required, but missing"),
        (
            "CustomerByEmail",
            {"email": EMAIL, "emial": 1},
            "operation CustomerByEmail: it has no variable emial to give",
        ),
        ("Nothing", {}, "There is no operation Nothing"),
        ("Secret", {}, "There is no operation Secret"),
        ("", {}, "There is no operation "),
    ],
)
def test_operation_that_cannot_run_says_why(
    function: Function, upstream: Upstream, name: str, variables: dict[str, Any], expected: str
) -> None:
    answer = called(function, "run_operation", {"name": name, "variables": variables})

    assert (answer.text, answer.result["isError"]) == (expected, True)
    assert upstream.requests() == []


def test_operation_asks_for_the_scopes_of_its_tool(function: Function) -> None:
    answer = called(function, "run_operation", {"name": "Mine"}, headers=HOLDER)

    assert answer.status == 403
    assert 'scope="orders:mine orders things:read"' in answer.headers["www-authenticate"]
    assert called(function, "run_operation", {"name": "Mine"}).status == 401


def test_bound_variable_comes_from_the_claims_and_from_nothing_else(endpoint: Compiled, upstream: Upstream) -> None:
    claims = {**CLAIMS, "scope": "orders:mine", "email": EMAIL}
    with serving(identified(endpoint, claims)) as function:
        given = called(function, "run_operation", {"name": "Mine", "variables": {"email": "other"}}, headers=HOLDER)
        filled = called(function, "run_operation", {"name": "Mine"}, headers=HOLDER)

    assert given.text == "operation Mine: it has no variable email to give"
    assert filled.result["structuredContent"] == {"data": {"customer": {"name": "Elif Núñez"}}}


def test_no_tool_in_python_is_a_way_around_consent(tmp_path: Path, upstream: Upstream) -> None:
    upstream.clear()
    own = compiled(tmp_path, files(upstream.url, **{"operations/order.graphql": ORDER}))
    with serving(with_kit(own, TOOLS)) as function:
        by_name = called(function, "run_operation", {"name": "Order", "variables": {"id": "1"}})
        by_text = called(function, "ask_graphql", {"query": 'mutation { placeOrder(customerId: "1") { id } }'})

        assert "operation Order asks for consent" in by_name.text
        assert "writing needs consent at this endpoint" in by_text.text
        assert upstream.requests() == []


@case("U-002")
def test_tool_that_needs_a_credential_sends_whoever_may_get_one_to_sign_in(endpoint: Compiled) -> None:
    issued = identified(endpoint, None, issuers=["https://idp.example"])
    with serving(issued) as function:
        for answer in (called(function, "needs_token"), function.call("needs_token", {})):
            assert answer.status == 401
            assert answer.json["error"] == rpc_error(-32600, "Authentication required", "authentication-required")
            challenge = answer.headers["www-authenticate"]
            assert "/.well-known/oauth-protected-resource/api/things/mcp" in challenge
            assert reason(function)[1:4] == ("code", "allowed", "rejected")


def test_tool_that_needs_a_credential_says_so_where_no_signing_in_helps(
    function: Function,
) -> None:
    for answer in (called(function, "needs_token"), function.call("needs_token", {})):
        assert answer.json["error"] == rpc_error(-32600, "Authentication required", "authentication-required")
        assert answer.status in (400, 200)
        assert "www-authenticate" not in answer.headers


@pytest.mark.lambda_alone
def test_tool_ends_in_time_to_be_answered(function: Function) -> None:
    hurried = replace(function, context=Context(remaining_ms=800))

    assert called(hurried, "surroundings").result["structuredContent"]["in_time"]
    answer = called(hurried, "slow")
    assert answer.text.startswith("Tool timed out after 0.")
    assert answer.result["isError"]
    assert reason(function)[2:] == ("allowed", "tool_error", "Expired")


API_KEY = SESSION.keep("a key of an API", "Xq4Zc7Lr1Tb6Wn8Kd3Hf5Jp0Gs")


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def credential_of(endpoint: Compiled, auth: UpstreamAuth, **changes: Any) -> dict[str, Any]:
    changed = replace(endpoint.bundle, upstream=replace(endpoint.bundle.upstream, auth=auth, **changes))
    with serving(replace(endpoint, bundle=changed), secrets={"KEY": API_KEY}) as function:
        found: dict[str, Any] = called(function, "credential").result["structuredContent"]
        return found


@case("U-006")
def test_tool_has_the_credential_that_requests_to_its_api_carry(endpoint: Compiled) -> None:
    bearer = {"authorization": digest(f"Bearer {API_KEY}")}
    told = {"x-client": "stile"}

    assert credential_of(endpoint, NoAuth()) == {"strategy": "none", "token": None, "headers": {}}
    assert credential_of(endpoint, NoAuth(), headers=told) == {
        "strategy": "custom",
        "token": None,
        "headers": {"x-client": digest("stile")},
    }
    assert credential_of(endpoint, BearerAuth(token=SecretText("env:KEY"))) == {
        "strategy": "bearer",
        "token": digest(API_KEY),
        "headers": bearer,
    }
    assert credential_of(endpoint, HeaderAuth(header="x-api-key", value=SecretText("env:KEY")), headers=told) == {
        "strategy": "api_key",
        "token": digest(API_KEY),
        "headers": {"x-client": digest("stile"), "x-api-key": digest(API_KEY)},
    }
    passed_on = credential_of(endpoint, PassthroughAuth(audience="https://api.example"))
    assert passed_on == {"strategy": "none", "token": None, "headers": {}}  # nobody came with a token


def test_credential_that_cannot_be_got_fails_who_needs_it_and_nobody_else(endpoint: Compiled) -> None:
    auth = BearerAuth(token=SecretText("env:MISSING"))
    changed = replace(endpoint.bundle, upstream=replace(endpoint.bundle.upstream, auth=auth))
    with serving(identified(replace(endpoint, bundle=changed))) as function:
        needed = called(function, "needs_token", headers=HOLDER)
        assert needed.text.startswith("The credential for the API was not available")
        assert needed.result["isError"]
        assert called(function, "credential").result["structuredContent"]["strategy"] == "none"


def test_tool_that_needs_a_credential_runs_with_one(endpoint: Compiled) -> None:
    auth = BearerAuth(token=SecretText("env:KEY"))
    changed = replace(endpoint.bundle, upstream=replace(endpoint.bundle.upstream, auth=auth))
    with serving(identified(replace(endpoint, bundle=changed)), secrets={"KEY": API_KEY}) as function:
        assert called(function, "needs_token", headers=HOLDER).text == f"a token of {len(API_KEY)} characters"


@case("X-006")
def test_missing_name_is_a_protocol_error(function: Function) -> None:
    answer = function.request("tools/call", {"arguments": {}})

    assert answer.json["error"]["code"] == -32602


@case("S-011")
def test_progress_comes_in_order_before_the_result_in_one_stream(function: Function) -> None:
    answer = counted(function, accept="application/json, text/event-stream", progressToken="t")

    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-accel-buffering"] == "no"
    events = [json.loads(line.removeprefix("data: ")) for line in answer.body.decode().splitlines() if "data: " in line]
    assert [each["params"]["progress"] for each in events[:-1]] == [1, 2, 3]
    assert {each["params"]["progressToken"] for each in events[:-1]} == {"t"}
    assert events[-1]["result"]["content"] == [{"type": "text", "text": "done"}]


def test_client_that_asks_for_no_progress_gets_json(function: Function) -> None:
    assert counted(function, accept="application/json, text/event-stream").text == "done"
    assert counted(function, accept="application/json", progressToken="t").text == "done"


def counted(function: Function, *, accept: str, **meta: Any) -> Answer:
    params = {"name": "count", "arguments": {"to": 3}, "_meta": {**META, **meta}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    routing = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "count"}
    return function.post(message, headers={**routing, "accept": accept})


def test_operation_runs_where_the_endpoint_serves_no_graphql(tmp_path: Path, upstream: Upstream) -> None:
    code = f'code: [{{use: "{TOOLS}", condition: true}}]\n'
    written = files(upstream.url, mode="off")
    written["config.yaml"] += code
    environ = {"STILE_CODE_MODULES": ",".join(MODULES)}
    with serving(compiled(tmp_path, written, **environ)) as function:
        answer = called(function, "run_operation", {"name": "CustomerByEmail", "variables": {"email": EMAIL}})
        assert answer.result["structuredContent"]["data"]["customer"]["name"] == "Elif Núñez"
        document = sha256(FILES["operations/customer.graphql"].encode()).hexdigest()
        assert function.graphql({"documentId": f"sha256:{document}"}).status == 404
