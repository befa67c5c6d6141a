from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from handler.errors.upstream import CredentialUnavailable
from tests.commands.running import CONFIG, FILES, Stile
from tests.conftest import DEMO
from tests.support.api import Reply, running_api
from tests.support.endpoints import write_endpoint
from tests.support.modules import Modules, modules
from tests.support.raw_http import RawServer, answer, answering, running_server
from tests.support.upstream import Upstream

__all__ = ["modules"]


@pytest.fixture
def demo(workplace: Path, upstream: Upstream) -> str:
    """The folder of the demo's endpoint, asking the running API."""
    files = {path.relative_to(DEMO).as_posix(): path.read_text("utf-8") for path in DEMO.rglob("*") if path.is_file()}
    files["config.yaml"] = files["config.yaml"].replace("http://127.0.0.1:8001/graphql", upstream.url)
    write_endpoint(workplace, files, name="api/customers")
    upstream.clear()
    return "api"


def test_a_nested_tool_gets_its_variables(demo: str, stile: Stile, upstream: Upstream) -> None:
    (row,) = upstream.query_rows("SELECT name, email FROM customers ORDER BY id LIMIT 1")

    done = stile("call", demo, "customer-by-email", f"email={row['email']}")

    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["data"]["customer"]["name"] == row["name"]


def test_a_flat_tool_gets_numbers_as_numbers_and_enum_values_as_texts(
    demo: str, stile: Stile, upstream: Upstream
) -> None:
    (row,) = upstream.query_rows("SELECT email FROM customers ORDER BY id LIMIT 1")

    done = stile("call", demo, "list_orders", f"email={row['email']}", "first=1", "status=SHIPPED")

    assert done.code == 0
    (request,) = upstream.requests()
    assert json.loads(request["body"])["variables"] == {"email": row["email"], "first": 1, "status": "SHIPPED"}


def test_an_input_object_is_json(workplace: Path, stile: Stile) -> None:
    files = {
        "index.graphql": "type Query { find(filter: Filter, ids: [ID!]): String }\n"
        "input Filter { name: String, n: Int }",
        "operations/f.graphql": 'query F($filter: Filter, $ids: [ID!]) @mcpTool(name: "find") '
        "{ find(filter: $filter, ids: $ids) }",
    }
    with running_server(answering(answer(b'{"data": {"find": "x"}}', content_type="application/json"))) as api:
        write_endpoint(workplace, {**files, "config.yaml": f"upstream: {{url: '{api.url}'}}"})

        done = stile("call", ".", "find", 'filter={"name": "a=b", "n": 2}', 'ids=["1", "2"]')

    assert (done.code, done.err) == (0, "")
    (request,) = api.requests
    variables = json.loads(request.partition(b"\r\n\r\n")[2])["variables"]
    assert variables == {"filter": {"name": "a=b", "n": 2}, "ids": ["1", "2"]}


def test_a_text_that_looks_like_json_stays_a_text_where_the_tool_takes_one(demo: str, stile: Stile) -> None:
    done = stile("call", demo, "customer-by-email", "email=12", "--json")

    assert done.code == 0
    assert json.loads(json.loads(done.out)["content"][0]["text"]) == {"data": {"customer": None}}


def test_a_graphql_tool_takes_its_query(demo: str, stile: Stile) -> None:
    query = 'query={ employee(id: "empl_01") { name } }'

    done = stile("call", demo, "employee-lookup", query)

    assert done.code == 0
    assert json.loads(done.out)["data"]["employee"]["name"]


def test_json_is_the_whole_mcp_result(demo: str, stile: Stile) -> None:
    result = json.loads(stile("call", demo, "customer-by-email", "email=nobody@example.com", "--json").out)

    assert result["structuredContent"] == {"data": {"customer": None}}
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


def test_arguments_that_do_not_fit_are_exit_1_and_reach_nobody(demo: str, stile: Stile, upstream: Upstream) -> None:
    done = stile("call", demo, "list_orders", "email=a@b", "first=many", "frist=1")

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("Invalid arguments for tool list_orders: ")
    assert "/first" in done.err
    assert "frist" in done.err
    assert upstream.requests() == []


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "[" * 5_000])
def test_what_python_alone_reads_as_json_is_a_text_that_the_tool_refuses(
    demo: str, stile: Stile, upstream: Upstream, value: str
) -> None:
    run = stile("call", demo, "list_orders", "email=a@example.com", f"first={value}")

    assert run.code == 1
    assert "/first: expected integer, got string" in run.err
    assert upstream.requests() == []


def test_argument_is_given_once(demo: str, stile: Stile, upstream: Upstream) -> None:
    run = stile("call", demo, "list_orders", "email=a@example.com", "email=b@example.com")

    assert (run.code, run.err) == (2, '"email" is given twice: expected K=V once for each name.\n')
    assert upstream.requests() == []


def test_an_error_with_json_is_exit_1_and_still_json(demo: str, stile: Stile) -> None:
    done = stile("call", demo, "list_orders", "--json")

    assert (done.code, done.err) == (1, "")
    assert json.loads(done.out)["isError"] is True


def test_an_api_that_is_down_is_exit_1_and_a_sentence_with_the_cause(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, FILES)

    done = stile("call", ".", "a")

    assert (done.code, done.out) == (1, "")
    cause, sentence = done.err.splitlines()
    assert cause == "UpstreamUnreachable: POST https://things.example/graphql: name not resolved: correct upstream.url"
    assert sentence == "The API cannot be reached at the moment, so nothing was sent. Try later."


def test_an_unknown_tool_lists_those_there_are(demo: str, stile: Stile) -> None:
    done = stile("call", demo, "customer")

    assert (done.code, done.out) == (2, "")
    assert done.err == (
        'There is no tool "customer". There are: customer-by-email, customer-lookup, customers-in-state, '
        "employee-lookup, list_orders, place_order\n"
    )


def test_a_name_of_two_endpoints_asks_for_the_folder_of_one(workplace: Path, stile: Stile) -> None:
    for name in ("api/one", "api/two"):
        write_endpoint(workplace, FILES, name=name)

    done = stile("call", ".", "a")

    assert done.code == 2
    assert done.err == '"a" is a tool of several endpoints: api/one, api/two. Name the folder of one.\n'


@pytest.mark.parametrize("word", ["email", "=x"])
def test_an_argument_that_is_no_pair_is_wrong_usage(demo: str, stile: Stile, word: str) -> None:
    done = stile("call", demo, "customer-by-email", word)

    assert done.code == 2
    assert f"'{word}': expected K=V" in done.err


def test_a_mistake_in_another_endpoint_does_not_matter(workplace: Path, stile: Stile) -> None:
    with running_server(answering(answer(b'{"data": {"a": "yes"}}', content_type="application/json"))) as api:
        write_endpoint(workplace, {**FILES, "config.yaml": CONFIG.replace("https://things.example/graphql", api.url)})
        write_endpoint(workplace, {"index.graphql": "no schema"}, name="api/wrong")

        done = stile("call", ".", "a")

    assert (done.code, json.loads(done.out)) == (0, {"data": {"a": "yes"}})


def test_a_mistake_in_the_endpoint_is_shown(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, {**FILES, "config.yaml": "upstrem: {}"})

    done = stile("call", ".", "a")

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("api/things/config.yaml:1:1: ")


OPTIONS = {
    "index.graphql": """
    extend schema @tool(name: "nested", prescribed: "N", confirm: advisory)
    type Query { find(any: JSON!): String } type Mutation { set(b: Int!): Int } scalar JSON
    """,
    "operations/f.graphql": """
    query F($any: JSON!) @mcpTool(name: "f", aliases: ["old"], output: structured) { find(any: $any) }
    """,
    "operations/n.graphql": "mutation N($b: Int!) { set(b: $b) }",
}


@pytest.mark.parametrize("name", ["f", "old"])
@pytest.mark.parametrize(("text", "value"), [('{"a": 1}', {"a": 1}), ("12", 12), ("word", "word")])
def test_a_tool_answers_by_its_alias_too_and_its_structured_result_is_shown(
    workplace: Path, stile: Stile, name: str, text: str, value: object
) -> None:
    with running_server(answering(answer(b'{"data": {"find": "x"}}', content_type="application/json"))) as api:
        write_endpoint(workplace, {**OPTIONS, "config.yaml": f"upstream: {{url: '{api.url}'}}"})

        done = stile("call", ".", name, f"any={text}")

    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == {"data": {"find": "x"}}
    (request,) = api.requests
    assert json.loads(request.partition(b"\r\n\r\n")[2])["variables"] == {"any": value}


def test_a_call_that_has_to_be_confirmed_can_be(workplace: Path, stile: Stile) -> None:
    with running_server(answering(answer(b'{"data": {"set": 1}}', content_type="application/json"))) as api:
        write_endpoint(workplace, {**OPTIONS, "config.yaml": f"upstream: {{url: '{api.url}'}}"})

        asked = stile("call", ".", "nested", "b=1")
        done = stile("call", ".", "nested", "b=1", "confirm=true")

    assert asked.code == 1
    assert '"confirm": true' in asked.err
    assert (done.code, done.err) == (0, "")
    (request,) = api.requests
    assert json.loads(request.partition(b"\r\n\r\n")[2])["variables"] == {"b": 1}


def test_a_call_that_asks_its_user_shows_the_question_and_takes_a_yes(workplace: Path, stile: Stile) -> None:
    index = OPTIONS["index.graphql"].replace("confirm: advisory", "confirm: required")
    with running_server(answering(answer(b'{"data": {"set": 1}}', content_type="application/json"))) as api:
        config = f"upstream: {{url: '{api.url}'}}"
        write_endpoint(workplace, {**OPTIONS, "index.graphql": index, "config.yaml": config})

        asked = stile("call", ".", "nested", "b=1")
        assert api.requests == []
        done = stile("call", ".", "nested", "b=1", "--yes")

    assert (asked.code, asked.out) == (1, "")
    assert asked.err.startswith("nested would send this to api/things:\n\nmutation N(")
    assert asked.err.endswith("Nothing was done yet: repeat the call with --yes to agree.\n")
    assert (done.code, done.err) == (0, "")
    assert len(api.requests) == 1


AS_SOMEBODY = {
    "index.graphql": """
    extend schema @tool(name: "asks", graphql: {expose: true, types: "Query", fields: ".*"}, scopes: ["a:b", "c"])
    type Query { open: Int shut: Int }
    """,
    "operations/o.graphql": """
    query Open @mcpTool(name: "open", aliases: ["opened"]) { open }
    query Scoped @mcpTool(name: "scoped", scopes: ["a:b", "c"]) { open }
    query Shut @mcpTool(name: "shut", scopes: ["a:b"]) { shut }
    """,
    "config.yaml": """
    access:
      anonymous: ANONYMOUS
      policies: [{type: Query, policyDefault: {condition: true}, rules: [{condition: false, fields: [shut]}]}]
    """,
}
CLAIMS = {"enough.json": {"scope": "c a:b d"}, "lacking.json": {"scope": "c"}, "nothing.json": {}}
KEYS = f"identity: {{api_keys: [{{name: ci, sha256: {'0' * 64}}}]}}\n"


@pytest.fixture
def api(workplace: Path) -> Iterator[RawServer]:
    """An API that answers every request; the files of claims lie in the current folder."""
    for name, claims in CLAIMS.items():
        (workplace / name).write_text(json.dumps(claims), encoding="utf-8")
    reply = answer(b'{"data": {"open": 1}}', content_type="application/json")
    with running_server(answering(reply)) as running:
        yield running


def write_for(workplace: Path, url: str, *, anonymous: str = "allow", identity: str = "") -> None:
    config = dedent(AS_SOMEBODY["config.yaml"]).replace("ANONYMOUS", anonymous)
    write_endpoint(workplace, {**AS_SOMEBODY, "config.yaml": f"upstream: {{url: '{url}'}}\n{identity}{config}"})


@pytest.mark.parametrize("tool", ["scoped", "asks"])
def test_claims_without_the_scopes_of_a_tool_are_refused_as_the_function_does(
    workplace: Path, stile: Stile, api: RawServer, tool: str
) -> None:
    write_for(workplace, api.url)

    for claims in ("lacking.json", "nothing.json"):
        query = ["query={ open }"] if tool == "asks" else []
        done = stile("call", ".", tool, *query, "--as", claims)

        assert (done.code, done.out) == (1, "")
        assert done.err == (
            f'"{tool}" is not for this caller: the function answers 403, {tool} needs a token with the scopes a:b c. '
            "`stile explain` says why\n"
        )
    assert api.requests == []


@pytest.mark.parametrize("caller", [["--as", "enough.json"], []])
def test_claims_with_the_scopes_of_a_tool_may_call_it_and_so_may_who_skips_policies(
    workplace: Path, stile: Stile, api: RawServer, caller: list[str]
) -> None:
    write_for(workplace, api.url, anonymous="challenge")

    assert stile("call", ".", "scoped", *caller).code == 0
    assert stile("call", ".", "asks", "query={ open }", *caller).code == 0
    assert len(api.requests) == 2


@pytest.mark.parametrize(
    ("anonymous", "identity", "tool", "answered"),
    [
        ("challenge", "", "open", "401, a credential is required"),
        ("challenge", KEYS, "shut", "401, a credential is required"),
        ("allow", "", "scoped", "401, a credential is required, with the scopes a:b c"),
        ("allow", "", "shut", "-32602, Unknown tool: shut"),
        ("allow", KEYS, "shut", "401, a credential is required"),
    ],
)
def test_nobody_in_particular_is_refused_as_the_function_does(
    workplace: Path, stile: Stile, api: RawServer, anonymous: str, identity: str, tool: str, answered: str
) -> None:
    write_for(workplace, api.url, anonymous=anonymous, identity=identity)

    done = stile("call", ".", tool, "--as", "anonymous")

    assert (done.code, done.out) == (1, "")
    sentence = f'"{tool}" is not for this caller: the function answers {answered}. `stile explain` says why\n'
    assert done.err == sentence
    assert api.requests == []


@pytest.mark.parametrize("name", ["open", "opened"])
def test_nobody_in_particular_may_call_what_is_open(workplace: Path, stile: Stile, api: RawServer, name: str) -> None:
    write_for(workplace, api.url, identity=KEYS)

    done = stile("call", ".", name, "--as", "anonymous")

    assert (done.code, done.err) == (0, "")
    assert len(api.requests) == 1


KIT = """
from stile import Context, Elicit, Image, InputRequired, McpError, ResourceLink, Toolkit

kit = Toolkit()


@kit.tool
def double(number: int) -> int:
    return number * 2


@kit.tool
async def ask_a(ctx: Context) -> str:
    return str((await ctx.graphql("{ a }"))["a"])


@kit.tool
def book(room: str) -> InputRequired:
    form = {"type": "object", "properties": {"nights": {"type": "integer"}}}
    return InputRequired({"nights": Elicit(f"How long in {room}?", form), "page": Elicit("Sign in", url="https://a.b")})


@kit.tool
def picture() -> list:
    return [Image(b"123456", mime_type="image/png"), ResourceLink("docs://a", name="a")]


@kit.tool
def custom() -> str:
    raise McpError(1001, "not today")


@kit.tool
def broken() -> str:
    raise RuntimeError("the reason")


class Plugins:
    def tools(self, ctx):
        return [{"name": "plugin"}]

    def call(self, name, arguments, ctx):
        return {"called": name, **arguments}


plugins = Toolkit()
plugins.add_provider(Plugins())
"""


@pytest.fixture
def shop(workplace: Path, modules: Modules, monkeypatch: pytest.MonkeyPatch) -> Iterator[RawServer]:
    modules.write("call_shop.py", KIT)
    for name, value in modules.environ.items():
        monkeypatch.setenv(name, value)
    with running_server(answering(answer(b'{"data": {"a": "from the API"}}', content_type="application/json"))) as api:
        code = 'code: ["call_shop:kit", "call_shop:plugins"]\n'
        write_endpoint(workplace, {**FILES, "config.yaml": f"upstream: {{url: '{api.url}'}}\n{code}"})
        yield api


def test_a_tool_in_python_is_called_and_asks_the_api(shop: RawServer, stile: Stile) -> None:
    doubled, asked = stile("call", ".", "double", "number=21"), stile("call", ".", "ask_a")

    assert (doubled.code, json.loads(doubled.out), doubled.err) == (0, 42, "")
    assert (asked.code, asked.out) == (0, "from the API\n")


def test_what_a_tool_in_python_asks_is_shown(shop: RawServer, stile: Stile) -> None:
    asked = stile("call", ".", "book", "room=7")

    assert (asked.code, asked.out) == (1, "")
    assert asked.err.splitlines() == [
        "nights: elicitation/create",
        "  How long in 7?",
        "  to fill in: nights (integer)",
        "page: elicitation/create",
        "  Sign in",
        "  to open: https://a.b",
        "The tool asks its user this first. A client that speaks MCP 2026-07-28 answers it.",
    ]
    assert json.loads(stile("call", ".", "book", "room=7", "--json").out)["resultType"] == "input_required"


def test_what_is_no_text_is_named(shop: RawServer, stile: Stile) -> None:
    assert stile("call", ".", "picture").out.splitlines() == ["[image, image/png, 6 bytes]", "[docs://a]"]


def test_a_tool_that_fails_says_so(shop: RawServer, stile: Stile, caplog: pytest.LogCaptureFixture) -> None:
    custom, broken = stile("call", ".", "custom"), stile("call", ".", "broken")

    assert (custom.code, custom.err) == (1, "The function answers 1001, not today\n")
    assert (broken.code, broken.err) == (1, "Tool execution failed\n")
    assert "the reason" in caplog.text


def test_a_tool_that_its_kit_alone_knows_is_called(shop: RawServer, stile: Stile) -> None:
    done, missing = stile("call", ".", "plugin", "n=1"), stile("call", ".", "nothing")

    assert (done.code, json.loads(done.out)) == (0, {"called": "plugin", "n": 1})
    assert (missing.code, missing.out) == (1, "")
    assert "the function answers -32602, Unknown tool: nothing" in missing.err


@pytest.mark.parametrize("reference", ["env:API_KEY", "secret:API.KEY", "ssm:API-KEY"])
def test_secret_comes_from_the_env_file_or_the_environment_which_wins(
    workplace: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch, reference: str
) -> None:
    files = {"index.graphql": "type Query { me: String }", "operations/m.graphql": "query Me @mcpTool { me }"}
    with running_api() as api:
        config = f"upstream: {{url: '{api.url}', auth: {{header: x-api-key, value: '{reference}'}}}}"
        write_endpoint(workplace, {**files, "config.yaml": config, ".env": "STILE_SECRET_API_KEY='of the file'\n"})

        assert stile("call", ".", "Me").code == 0
        monkeypatch.setenv("STILE_SECRET_API_KEY", "of the environment")
        assert stile("call", ".", "Me").code == 0

        assert [each.headers["x-api-key"] for each in api.asked] == ["of the file", "of the environment"]


API_KEY_ARN = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:stile/API_KEY-AbC123"


@pytest.mark.parametrize("variable", ["STILE_SECRET_API_KEY", "STILE_SECRET_ARNS"])
def test_secret_whose_arn_is_in_the_environment_is_read_with_ones_own_credentials(
    workplace: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    files = {"index.graphql": "type Query { me: String }", "operations/m.graphql": "query Me @mcpTool { me }"}
    with running_api() as api, running_api(lambda _: Reply({"SecretString": "of AWS\n"}), takes_secrets=True) as aws:
        config = f"upstream: {{url: '{api.url}', auth: {{header: x-api-key, value: 'env:API_KEY'}}}}"
        write_endpoint(workplace, {**files, "config.yaml": config})
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "of-the-author")
        monkeypatch.setenv("AWS_ENDPOINT_URL", aws.url)
        monkeypatch.setenv(variable, API_KEY_ARN)

        assert stile("call", ".", "Me").code == 0
        aws.answer = lambda _: Reply({"__type": "AccessDeniedException"}, status=400)
        refused = stile("call", ".", "Me")

        assert [each.headers["x-api-key"] for each in api.asked] == ["of AWS"]
        assert {each.json["SecretId"] for each in aws.asked} == {API_KEY_ARN}
    assert refused.code == 1
    assert f"{variable}, {API_KEY_ARN}: AccessDeniedException: who reads it needs" in " ".join(refused.err.split())


def test_malformed_arn_is_an_error_of_the_command(
    workplace: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"index.graphql": "type Query { me: String }", "operations/m.graphql": "query Me @mcpTool { me }"}
    write_endpoint(workplace, {**files, "config.yaml": "upstream: {url: 'http://127.0.0.1:1/'}"})
    monkeypatch.setenv("STILE_SECRET_API_KEY", API_KEY_ARN[:-7])

    done = stile("call", ".", "Me")

    assert done.code == 2
    assert "STILE_SECRET_API_KEY='…': expected a secret, or arn:aws:secretsmanager:" in " ".join(done.err.split())


@pytest.mark.parametrize("env", [None, "", "OTHER=a\n", "STILE_SECRET_API_KEY=\n"])
def test_secret_that_is_nowhere_is_an_error_and_nothing_is_sent(workplace: Path, stile: Stile, env: str | None) -> None:
    files = {"index.graphql": "type Query { me: String }", "operations/m.graphql": "query Me @mcpTool { me }"}
    files |= {} if env is None else {".env": env}
    with running_api() as api:
        config = f"upstream: {{url: '{api.url}', auth: {{bearer: env:API_KEY}}}}"
        write_endpoint(workplace, {**files, "config.yaml": config})

        done = stile("call", ".", "Me")

        assert api.asked == []
    assert done.code == 1
    reason, sentence = done.err.splitlines()[0], " ".join(done.err.splitlines()[1:])
    assert reason == (
        "CredentialUnavailable: upstream.auth: STILE_SECRET_API_KEY is not set here: set it in the environment, or in "
        "api/things/.env. The function reads env:API_KEY from its own variable STILE_SECRET_API_KEY"
    )
    assert sentence == str(CredentialUnavailable("any"))


def test_env_file_outside_of_the_folder_is_not_read_for_the_message_either(
    workplace: Path, stile: Stile, tmp_path: Path
) -> None:
    files = {"index.graphql": "type Query { me: String }", "operations/m.graphql": "query Me @mcpTool { me }"}
    elsewhere = tmp_path / "elsewhere.env"
    elsewhere.write_text('STILE_SECRET_API_KEY="one\ntwo"\n')
    with running_api() as api:
        config = f"upstream: {{url: '{api.url}', auth: {{bearer: env:API_KEY}}}}"
        (write_endpoint(workplace, {**files, "config.yaml": config}) / ".env").symlink_to(elsewhere)

        done = stile("call", ".", "Me")

        assert api.asked == []
    assert "or in api/things/.env, which is a link to " in done.err
    assert "several lines" not in done.err


def test_coordinate_that_drifted_is_told_to_the_author(workplace: Path, stile: Stile) -> None:
    unknown = {"message": 'Cannot query field "me" on type "Query". Did you mean "us"?', "locations": [{"line": 1}]}
    files = {"index.graphql": "type Query { me: String }", "operations/m.graphql": "query Me @mcpTool { me }"}
    with running_api(lambda _: Reply({"errors": [unknown]}, status=400)) as api:
        write_endpoint(workplace, {**files, "config.yaml": f"upstream: {{url: '{api.url}'}}"})

        done = stile("call", ".", "Me")

    assert done.code == 1
    assert done.err.splitlines()[:2] == [
        f'Drift: Query.me: POST {api.url} answered 400 with application/json: "{unknown["message"]}"',
        "Drift: Query.me: the API's schema has changed there: `stile pull` shows how",
    ]
    assert "us" not in done.err.split()
    assert "its schema has changed since" in done.out + done.err


def test_cause_of_a_failure_is_told_to_the_author(workplace: Path, stile: Stile) -> None:
    files = {"index.graphql": "type Query { me: String }", "operations/m.graphql": "query Me @mcpTool { me }"}
    write_endpoint(workplace, {**files, "config.yaml": "upstream: {url: 'http://127.0.0.1:1/'}"})

    said = "UpstreamUnreachable: POST http://127.0.0.1:1/: connection refused: start the API, or correct upstream.url"
    assert stile("call", ".", "Me").err.splitlines()[0] == said


@pytest.mark.parametrize("place", ["outside", "pipe"])
def test_env_file_outside_of_its_folder_or_that_is_no_file_is_not_read(
    workplace: Path, stile: Stile, place: str
) -> None:
    files = {"index.graphql": "type Query { me: String }", "operations/m.graphql": "query Me @mcpTool { me }"}
    with running_api() as api:
        folder = write_endpoint(workplace, {**files, "config.yaml": CONFIG_WITH_KEY.format(url=api.url)})
        other = workplace / "other.env"
        other.write_text("STILE_SECRET_API_KEY=of-somebody-else\n", encoding="utf-8")
        env_file = folder / ".env"
        env_file.symlink_to(other) if place == "outside" else os.mkfifo(env_file)
        done = stile("call", ".", "Me")

    assert done.code != 0
    assert api.asked == []
    assert ".env" in done.err
    assert "of-somebody-else" not in done.out + done.err


CONFIG_WITH_KEY = "upstream: {{url: '{url}', auth: {{header: x-api-key, value: 'secret:API_KEY'}}}}"
