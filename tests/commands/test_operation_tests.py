"""``tools.test.yaml`` and ``stile test``: calls answered by an API on loopback, then by its recording alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from graphql import build_schema, graphql_sync

from handler.commands.folders.tool_tests import KEYS
from tests.commands.running import Ran, Stile
from tests.docs.reference import first_codes, page, table
from tests.support.api import Api, Asked, Reply, running_api
from tests.support.endpoints import write_endpoint
from tests.support.modules import Modules, modules

__all__ = ["modules"]

SCHEMA = """
type Query { orders(first: Int! = 10): [Order!]!  mine(owner: String!): Order  me: User  boom: Int }
type Mutation { cancel(number: String!): Order  wipe: Int }
type Order { number: String! total: Float! margin: Float }
type User { name: String apiKey: String note: String nextToken: String tree: [[String]] }
"""
OPERATIONS = """
query Orders($first: Int! = 5) @mcpTool(name: "list_orders", aliases: ["orders"]) {
  orders(first: $first) { number total }
}
query Margins @mcpTool(name: "margins") { orders(first: 1) { margin } }
query Mine($owner: String! @mcpBind(claim: "sub")) @mcpTool(name: "mine") { mine(owner: $owner) { number } }
query Me @mcpTool(name: "me") { me { name note nextToken } }
query Tree @mcpTool(name: "tree") { me { tree } }
query Key @mcpTool(name: "key") { me { apiKey } }
query Alias @mcpTool(name: "alias") { me { harmless: apiKey } }
query Boom @mcpTool(name: "boom") { boom }
query Risky @mcpTool(name: "risky", annotations: {destructiveHint: true}) { orders(first: 1) { number } }
mutation Cancel($number: String!) @mcpTool(name: "cancel", confirm: required) { cancel(number: $number) { number } }
mutation Wipe @mcpTool(name: "wipe") { wipe }
"""
CONFIG = """\
upstream: {{url: "{url}", auth: {{bearer: secret:API}}, headers: {{x-plain: shop}}}}
identity:
  api_keys:
    - {{name: partner, sha256: 5d8ba18e0a5bb0e4b9c8c0b8b7d0f0f0d8d7f0b2b0c4d1a9e3f2a1b0c9d8e7f6, claims: {{role: hr}}}}
access:
  anonymous: allow
  policies:
    - {{type: Query, policyDefault: {{condition: true}}}}
    - {{type: Mutation, policyDefault: {{condition: "?$jwt"}}}}
    - type: Order
      policyDefault: {{condition: true}}
      rules: [{{condition: '$jwt.role:String == "hr"', fields: [margin]}}]
"""
SECRET = "s3cr3t-of-the-api-5f2c"
ORDERS = (
    "- {tool: list_orders, as: anonymous, arguments: {first: 2}, holds: {data: {orders: [{number: n1}, {total: 7}]}}}\n"
)
TOKEN = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.c2ln"


@pytest.fixture
def api() -> Iterator[Api]:
    schema, values = build_schema(SCHEMA), {"note": "plain", "apiKey": "k"}
    values |= {"name": "Ada", "nextToken": "page-2"}
    root = {
        "orders": lambda _, first: [{"number": f"n{n}", "total": n * 3.5, "margin": n} for n in range(1, first + 1)],
        "mine": lambda _, owner: {"number": f"of {owner}"},
        "me": values,
        "cancel": lambda _, number: {"number": number},
        "wipe": 1,
    }

    def answer(asked: Asked) -> Reply:
        done = graphql_sync(schema, asked.json["query"], root, variable_values=asked.json.get("variables"))
        return Reply({**done.formatted, "extensions": {"trace": "internal"}}, headers={"set-cookie": "session=1"})

    with running_api(answer) as api:
        api.values = values  # type: ignore[attr-defined]
        yield api


@pytest.fixture
def folder(workplace: Path, api: Api, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STILE_SECRET_API", SECRET)
    files = {"index.graphql": SCHEMA, "operations/all.graphql": OPERATIONS, "config.yaml": CONFIG.format(url=api.url)}
    claims = json.dumps({"sub": "ada-7731", "role": "hr"})
    return write_endpoint(workplace, {**files, "hr.json": claims, "tools.test.yaml": ORDERS})


def tried(stile: Stile, folder: Path, tests: str, *options: str) -> Ran:
    (folder / "tools.test.yaml").write_text(tests, encoding="utf-8")
    return stile("test", ".", *options)


def recorded(folder: Path) -> str:
    return (folder / "tools.recording.json").read_text(encoding="utf-8")


def down(folder: Path, api: Api) -> None:
    """Let the endpoint ask a port at which nothing listens, and forget the requests so far."""
    config = (folder / "config.yaml").read_text("utf-8").replace(api.url, "http://127.0.0.1:9/graphql")
    (folder / "config.yaml").write_text(config, encoding="utf-8")
    api.asked.clear()


def test_recording_answers_when_the_api_is_down(folder: Path, stile: Stile, api: Api) -> None:
    assert stile("test", ".", "--record").out == "1 of 1 test passed, and the answers are recorded\n"
    down(folder, api)

    done = stile("test", ".")

    assert (done.code, done.out, done.err) == (0, "1 of 1 test passed\n", "")
    assert api.asked == []


def test_recording_has_no_header_credential_extension_or_claim(folder: Path, stile: Stile, api: Api) -> None:
    tests = ORDERS + '- {tool: mine, as: hr.json, holds: {data: {mine: {number: "of ada-7731"}}}}\n'

    done = tried(stile, folder, tests, "--record")

    assert (done.code, done.err) == (0, "")
    assert api.asked[-1].json["variables"] == {"owner": "ada-7731"}
    (mine, orders) = json.loads(recorded(folder))
    assert mine["request"]["variables"] == {"owner": "$jwt[1]"}
    assert mine["request"]["query"][0] == "query Mine($owner: String!) {"
    assert set(orders) == {"as", "request", "status", "answer"}
    for word in (SECRET, "Bearer", "x-plain", "cookie", "trace", "internal", '"hr"'):
        assert word not in recorded(folder)


def test_no_secret_is_read_and_nothing_is_sent_with_a_recording(
    folder: Path, stile: Stile, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stile("test", ".", "--record").code == 0
    api.asked.clear()
    monkeypatch.delenv("STILE_SECRET_API")

    assert stile("test", ".").code == 0
    assert api.asked == []
    assert stile("test", ".", "--live").code == 1  # it needs the secret


def test_recording_is_written_in_one_order(folder: Path, stile: Stile) -> None:
    tests = [
        ORDERS,
        ORDERS.replace("first: 2", "first: 3").replace("{total: 7}", "{}, {}").replace("{}", "{total: 7}", 1),
    ]
    tests[1] = "- {tool: margins, as: hr.json, holds: {data: {orders: [{margin: 1}]}}}\n"
    assert tried(stile, folder, "".join(tests), "--record").code == 0
    first = recorded(folder)

    assert tried(stile, folder, "".join(reversed(tests)), "--record").code == 0

    assert recorded(folder) == first


def test_request_without_a_recorded_answer_names_the_command(folder: Path, stile: Stile, api: Api) -> None:
    assert stile("test", ".", "--record").code == 0
    api.asked.clear()

    done = tried(stile, folder, ORDERS.replace("first: 2", "first: 3"))

    assert done.code == 1
    assert done.err.startswith("api/things/tools.test.yaml:1:")
    assert 'no answer to Orders with {"first": 3} is recorded: `stile test FOLDER --record`' in done.err
    assert api.asked == []


def test_missing_answer_is_not_the_failure_that_a_test_expects(folder: Path, stile: Stile) -> None:
    done = tried(stile, folder, '- {tool: boom, as: anonymous, fails: "The API"}\n')

    assert done.code == 1
    assert "no answer to Boom" in done.err


def test_a_change_of_the_operation_or_schema_is_seen(folder: Path, stile: Stile) -> None:
    assert stile("test", ".", "--record").code == 0
    index = folder / "index.graphql"
    index.write_text(index.read_text("utf-8").replace("total: Float!", "total: String!"), encoding="utf-8")

    done = stile("test", ".")

    assert done.code == 1
    assert "total" in done.err  # the recorded answer does not fit the schema
    index.write_text(index.read_text("utf-8").replace("total: String!", "sum: Float!"), encoding="utf-8")
    assert "[unknown-field]" in stile("test", ".").err


UNMET = [
    ("{tool: list_orders, as: anonymous, holds: ^{data: {orders: [{number: n1}]}}}", "/data/orders: "),
    (
        "{tool: orders, as: anonymous, arguments: {first: 1}, holds: ^{data: {orders: [{number: n9}]}}}",
        "/data/orders/0/number",
    ),
    (
        '{tool: orders, as: anonymous, arguments: {first: 1}, holds: ^{data: {orders: [{total: "3.5"}]}}}',
        "/data/orders/0/total",
    ),
    ("{tool: orders, as: anonymous, arguments: {first: 1}, holds: ^{data: {orders: [{sum: 1}]}}}", "sum"),
    ("{tool: orders, as: anonymous, arguments: {first: 1}, holds: ^{data: {orders: true}}}", "/data/orders"),
    ("{tool: orders, as: anonymous, arguments: {first: 1}, holds: ^n9}", 'expected "n9", but it is answered'),
    ("{tool: orders, as: anonymous, fails: ^sorry}", 'expected "sorry", but it is answered'),
    (
        "{tool: margins, as: anonymous, holds: ^{data: {}}}".replace("{}", "{orders: []}"),
        "but it fails: the function answers",
    ),
    ("{tool: cancel, as: hr.json, arguments: {number: x}, holds: ^{data: {cancel: {number: x}}}}", "but the tool asks"),
    ("{tool: boom, as: anonymous, fails: ^other}", 'expected "other"'),
]


@pytest.mark.parametrize(("entry", "sentence"), UNMET)
def test_each_difference_has_its_place_and_what_came(folder: Path, stile: Stile, entry: str, sentence: str) -> None:
    column = f"- {entry}".index("^") + 1

    done = tried(stile, folder, f"- {entry.replace('^', '')}\n", "--live")

    assert done.code == 1
    assert done.err.startswith(f"api/things/tools.test.yaml:1:{column}: ")
    assert sentence in done.err
    assert "[unmet-expectation]" in done.err


MET = [
    "{tool: orders, as: anonymous, arguments: {first: 2}, holds: {data: {orders: [{total: 3.5}, {total: 7}]}}}",
    "{tool: orders, as: anonymous, arguments: {first: 2}, holds: n2}",
    "{tool: margins, as: 'key:partner', holds: {data: {orders: [{margin: 1.0}]}}}",
    "{tool: margins, as: anonymous, fails: a credential is required}",
    "{tool: me, as: anonymous, holds: {data: {me: {nextToken: page-2}}}}",
    "{tool: mine, as: anonymous, fails: claim}",
    "{tool: boom, as: anonymous, holds: {data: {boom: null}}}",
    "{tool: orders, as: anonymous, arguments: {first: many}, fails: first}",
    "{tool: cancel, as: hr.json, arguments: {number: x}, fails: cancel}",
    "{tool: cancel, as: anonymous, arguments: {number: x}, fails: the function answers 401}",
]


@pytest.mark.parametrize("entry", MET)
def test_answers_are_those_of_the_caller(folder: Path, stile: Stile, entry: str) -> None:
    live = tried(stile, folder, f"- {entry}\n", "--record")
    again = stile("test", ".")

    assert (live.code, live.err) == (0, "")
    assert (again.code, again.err) == (0, "")


@pytest.mark.parametrize("way", ["--live", "--record"])
def test_mutations_are_sent_with_the_switch_alone(folder: Path, stile: Stile, api: Api, way: str) -> None:
    entry = (
        "- {tool: cancel, as: hr.json, arguments: {number: x}, agrees: true, holds: {data: {cancel: {number: x}}}}\n"
    )
    entry += "- {tool: risky, as: anonymous, holds: {data: {orders: [{number: n1}]}}}\n"

    done = tried(stile, folder, entry, way)

    assert (done.code, done.out.partition(";")[0].strip()) == (1, "0 of 2 tests passed")
    assert done.err.count("--allow-mutations sends it") == 2
    assert api.asked == []
    assert not (folder / "tools.recording.json").exists()
    assert stile("test", ".", way, "--allow-mutations").code == 0
    assert len(api.asked) == 2
    if way == "--record":
        down(folder, api)
        assert stile("test", ".").code == 0  # nothing is sent, so no switch is needed


def test_mutation_of_an_unmet_expectation_is_not_repeated_as_a_success(folder: Path, stile: Stile) -> None:
    tests = ORDERS + "- {tool: wipe, as: hr.json, holds: {data: {wipe: 2}}}\n"

    done = tried(stile, folder, tests, "--record", "--allow-mutations")

    assert (done.code, done.out) == (1, "1 of 2 tests passed; a failed test leaves the recording as it was\n")
    assert not (folder / "tools.recording.json").exists()


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("key", "k"),
        ("alias", "k"),
        ("me", TOKEN),
        ("me", "AKIAIOSFODNN7EXAMPLE"),
        ("me", "-----BEGIN PRIVATE KEY-----"),
        ("tree", "AKIAIOSFODNN7EXAMPLE"),
    ],
)
def test_answer_that_looks_secret_is_not_recorded(folder: Path, stile: Stile, api: Api, tool: str, text: str) -> None:
    api.values |= {"note": text, "tree": [[text]]}  # type: ignore[attr-defined]

    done = tried(stile, folder, f"- {{tool: {tool}, as: anonymous, holds: me}}\n", "--record")

    assert done.code == 1
    assert "looks like a secret" in done.err
    assert text not in done.err or len(text) == 1
    assert not (folder / "tools.recording.json").exists()
    assert stile("test", ".", "--live").code == 0


def test_credential_that_the_api_repeats_is_not_in_the_file(folder: Path, stile: Stile, api: Api) -> None:
    api.values["name"] = f"it came with {SECRET}"  # type: ignore[attr-defined]

    assert tried(stile, folder, "- {tool: me, as: anonymous, holds: it came with …}\n", "--record").code == 0
    assert SECRET not in recorded(folder)
    assert stile("test", ".").code == 0


def test_secret_in_a_variable_is_not_in_the_file(folder: Path, stile: Stile) -> None:
    entry = f"- {{tool: cancel, as: hr.json, arguments: {{number: {SECRET}}}, agrees: true, holds: data}}\n"
    done = tried(stile, folder, entry, "--record", "--allow-mutations")

    assert (done.code, SECRET in done.err) == (1, False)
    assert "a variable has a secret of this machine" in done.err
    assert not (folder / "tools.recording.json").exists()


@pytest.mark.parametrize("escape", ["\\/", "\\u002F", "\\u002f"])
def test_credential_that_the_api_repeats_with_escapes_is_not_in_the_file(
    folder: Path, stile: Stile, api: Api, monkeypatch: pytest.MonkeyPatch, escape: str
) -> None:
    monkeypatch.setenv("STILE_SECRET_API", "s3cr3t/of-the/api")
    repeated = '{"data": {"me": {"name": "s3cr3t/of-the/api", "note": "", "nextToken": ""}}}'.replace("/", escape)
    api.answer = lambda _: Reply(repeated.encode())

    assert tried(stile, folder, "- {tool: me, as: anonymous, holds: {data: {me: {name: …}}}}\n", "--record").err == ""
    assert "s3cr3t" not in recorded(folder)


def test_check_refuses_a_secret_in_the_file_with_its_place(folder: Path, stile: Stile) -> None:
    assert stile("test", ".", "--record").code == 0
    text = recorded(folder).replace('"n1"', f'"{TOKEN}"')
    (folder / "tools.recording.json").write_text(text, encoding="utf-8")
    line = text[: text.index(TOKEN)].count("\n") + 1

    for command in ("check", "test"):
        done = stile(command, ".")
        assert done.code == 1
        assert f"tools.recording.json:{line}:" in done.out + done.err
        assert "[invalid-recording]" in done.out + done.err
        assert TOKEN not in done.out + done.err


ENTRY = {"as": "anonymous", "request": {"query": ["{a}"], "variables": {}}, "status": 200, "answer": {"data": None}}
BROKEN = {
    "not JSON": "[\n  {]",
    "an object": "{}",
    "a text": '"x"',
    "an unknown member": json.dumps([{**ENTRY, "headers": {}}]),
    "a member that lacks": json.dumps([{"as": "anonymous"}]),
    "a status of no answer": json.dumps([{**ENTRY, "status": 99}]),
    "a document that is a text": json.dumps([{**ENTRY, "request": {"query": "{a}"}}]),
    "two answers": json.dumps([ENTRY, {**ENTRY, "answer": {}}]),
    "deep": "[" * 50_000,
    "deep answer": json.dumps([ENTRY]).replace("null", "[" * 200 + "]" * 200),
    "NaN": "[NaN]",
    "a large file": "[" + " " * 2_000_001 + "]",
    "a merge": "[\n<<<<<<< HEAD\n]",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_recording_that_is_broken_by_hand_is_a_problem_with_a_remedy(folder: Path, stile: Stile, text: str) -> None:
    (folder / "tools.recording.json").write_text(text, encoding="utf-8")

    for command in ("check", "test"):
        done = stile(command, ".")
        assert done.code == 1
        assert re.search(
            r"tools\.recording\.json:\d+:\d+: .*\[(invalid-recording|unreadable-file)\]", done.out + done.err
        )
    assert stile("test", ".", "--record").code == 0
    assert stile("check", ".").code == 0


def test_control_characters_of_an_api_are_escaped_in_the_file_and_in_messages(
    folder: Path, stile: Stile, api: Api
) -> None:
    api.values["name"] = "a\x1b[31m\u202e\ud800b"  # type: ignore[attr-defined]
    tests = "- {tool: me, as: anonymous, holds: {data: {me: {nextToken: page-2}}}}\n"

    assert tried(stile, folder, tests, "--record").code == 0
    assert not any(each in recorded(folder) for each in "\x1b\u202e\ud800")
    assert stile("test", ".").code == 0
    failed = tried(stile, folder, tests.replace("page-2", "x") + tests.replace("nextToken: page-2", 'name: "\\e"'))
    assert failed.code == 1
    assert not any(each in failed.err for each in "\x1b\u202e")


@pytest.mark.parametrize("name", ["tools.recording.json", "tools.test.yaml"])
def test_links_out_of_the_folder_are_neither_read_nor_written(folder: Path, stile: Stile, name: str) -> None:
    outside = folder.parents[1] / "outside.json"
    outside.write_text(ORDERS, encoding="utf-8")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(outside)

    assert "lies outside the endpoint folder" in stile("check", ".").out
    assert stile("test", ".", "--record").code == 1
    assert outside.read_text("utf-8") == ORDERS


MISTAKES = [
    (
        "{tol: ^x, as: anonymous, holds: x}".replace("^", "").replace("tol", "^tol"),
        "unknown-key",
        'unknown key "tests[0].tol"',
    ),
    ("{tool: ^list_order, as: anonymous, holds: x}", "unknown-expectation", "did you mean list_orders?"),
    ("{tool: orders, as: ^nobody.json, holds: x}", "unknown-caller", "nobody.json: cannot be read"),
    ("{tool: orders, as: ^key:partnr, holds: x}", "unknown-caller", "did you mean partner?"),
    ("{tool: orders, as: ^{claims: {}}, holds: x}", "invalid-value", "expected anonymous, a JSON file"),
    ("^{tool: orders, holds: x}", "invalid-value", "expected anonymous, a JSON file"),
    (
        "{tool: orders, as: anonymous, arguments: ^{first: many}, holds: x}",
        "unknown-expectation",
        "/first: expected integer",
    ),
    ("{tool: orders, as: anonymous, arguments: ^{frist: 1}, holds: x}", "unknown-expectation", "frist"),
    ("{tool: orders, as: anonymous, arguments: ^[1], holds: x}", "invalid-value", "expected a mapping"),
    ("^{tool: orders, as: anonymous}", "invalid-value", "either holds, with a part of the answer, or fails"),
    ("{tool: orders, as: anonymous, holds: x, fails: ^x}", "invalid-value", "either holds"),
    ("{tool: orders, as: anonymous, holds: ^{}}", "invalid-value", "either holds"),
    ("{tool: orders, as: anonymous, holds: x, agrees: ^maybe}", "invalid-value", "expected true or false"),
    ("{tool: orders, as: anonymous, holds: x, stages: [^prdo]}", "unknown-expectation", 'there is no stage "prdo"'),
    ("{tool: orders, as: anonymous, holds: {a: ^.inf}}", "invalid-value", "a number that JSON can hold"),
]


@pytest.mark.parametrize(("entry", "code", "sentence"), MISTAKES)
def test_check_finds_mistakes_and_sends_nothing(
    folder: Path, stile: Stile, api: Api, entry: str, code: str, sentence: str
) -> None:
    column = f"- {entry}".index("^") + 1
    (folder / "tools.test.yaml").write_text(f"- {entry.replace('^', '')}\n", encoding="utf-8")

    problems = json.loads(stile("check", ".", "--json").out)["endpoints"][0]["problems"]

    (mine,) = [each for each in problems if each["code"] == code and sentence in each["sentence"]]
    assert (mine["file"], mine["line"], mine["column"]) == ("api/things/tools.test.yaml", 1, column)
    assert "{claims" not in mine["sentence"]  # a recording has no claims
    done = stile("test", ".", "--live")
    assert (done.code, "passed" in done.out) == (1, False)
    assert api.asked == []


BOMB = "- &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"- &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{tool: orders}",
        "- &a {tool: orders, as: anonymous, holds: *a}",
        "- {tool: orders, as: anonymous, holds: {a: " + "[" * 40 + "]" * 40 + "}}",
        BOMB + "- {tool: orders, as: anonymous, holds: {a: *j}}\n",
        "- {tool: orders, as: anonymous, holds: x\x07}",
        "- {tool: orders, as: anonymous, holds: x}\n" * 30_000,
        "\t- a",
    ],
    ids=["empty", "no entry", "a mapping", "circle", "deep", "bomb", "control character", "large", "tab"],
)
def test_hostile_yaml_is_refused_with_a_place(folder: Path, stile: Stile, api: Api, text: str) -> None:
    (folder / "tools.test.yaml").write_text(text, encoding="utf-8")

    done = stile("check", ".")

    assert done.code == 1
    assert "tools.test.yaml:" in done.out
    assert api.asked == []


def test_a_folder_without_tests_says_so(folder: Path, stile: Stile) -> None:
    (folder / "tools.test.yaml").unlink()

    done = stile("test", ".")

    assert (done.code, done.out) == (0, "No tests: no endpoint here has a tools.test.yaml\n")


def test_json_has_each_test_and_the_problems(folder: Path, stile: Stile) -> None:
    (endpoint,) = json.loads(stile("test", ".", "--json").out)["endpoints"]

    assert endpoint["tests"] == [{"tool": "list_orders", "as": "anonymous", "line": 1, "passed": False}]
    assert [each["code"] for each in endpoint["problems"]] == ["unmet-expectation"]
    assert stile("test", ".", "--live", "--record").code == 2


def test_an_api_that_gives_no_answer_leaves_the_recording_as_it_was(folder: Path, stile: Stile, api: Api) -> None:
    assert stile("test", ".", "--record").code == 0
    before = recorded(folder)
    api.answer = lambda _: Reply(b"<html>", 502, {"content-type": "text/html"})

    done = tried(stile, folder, ORDERS + '- {tool: boom, as: anonymous, fails: "API"}\n', "--record")

    assert done.code == 1
    assert "the API answers 502, and not GraphQL" in done.err
    assert recorded(folder) == before


def test_keys_of_the_page_are_those_of_an_entry() -> None:
    assert tuple(first_codes(table(page("operation-tests").text, "key", "meaning"))) == KEYS


KIT = """
import os
import socket
import subprocess
from pathlib import Path

from stile import Context, Toolkit

kit = Toolkit()


@kit.tool(annotations={{"read_only_hint": True}})
async def total(ctx: Context) -> int:
    answer = await ctx.graphql("query Sum {{ orders(first: 2) {{ total }} }}")
    return int(sum(each["total"] for each in answer["orders"]))


@kit.tool(annotations={{"read_only_hint": True}})
def calls() -> str:
    try:
        socket.create_connection(("127.0.0.1", {port}), timeout=5).close()
    except OSError:
        return "hidden"
    return "connected"


@kit.tool(annotations={{"read_only_hint": True}})
def starts() -> str:
    try:
        subprocess.run(["true"], check=False)
    except OSError:
        pass
    return "done"


@kit.tool
def writes() -> str:
    Path("written").touch()
    return "written"
"""


@pytest.fixture
def kit(folder: Path, modules: Modules, api: Api, monkeypatch: pytest.MonkeyPatch) -> Path:
    modules.write("tested_kit.py", KIT.format(port=api.url.split(":")[2].partition("/")[0]))
    monkeypatch.setenv("STILE_CODE_MODULES", modules.environ["STILE_CODE_MODULES"])
    config = folder / "config.yaml"
    config.write_text(
        config.read_text("utf-8") + "code: [{use: 'tested_kit:kit', condition: true}]\n", encoding="utf-8"
    )
    return folder


def test_requests_of_tools_in_python_are_recorded(kit: Path, stile: Stile, api: Api) -> None:
    assert tried(stile, kit, '- {tool: total, as: anonymous, holds: "10"}\n', "--record").err == ""
    down(kit, api)

    assert stile("test", ".").code == 0


@pytest.mark.parametrize("tool", ["calls", "starts"])
def test_tools_in_python_have_no_network_and_no_programs_with_a_recording(kit: Path, stile: Stile, tool: str) -> None:
    done = tried(stile, kit, f"- {{tool: {tool}, as: anonymous, holds: d}}\n")

    assert done.code == 1
    assert "code in Python uses the network or a program" in done.err
    assert stile("test", ".", "--live").code == 0


@pytest.mark.parametrize("way", [(), ("--live",), ("--record",)])
def test_tool_in_python_that_may_write_is_called_with_the_switch_alone(
    kit: Path, stile: Stile, way: tuple[str, ...]
) -> None:
    done = tried(stile, kit, "- {tool: writes, as: anonymous, holds: written}\n", *way)

    assert done.code == 1
    assert "--allow-mutations calls it" in done.err
    assert not Path("written").exists()
    assert stile("test", ".", *way, "--allow-mutations").code == 0
    assert Path("written").exists()


def test_check_sees_changes_of_the_tests_although_the_endpoint_is_the_same(
    folder: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder.parents[1] / "cache"))
    assert stile("check", ".").code == 0
    (folder / "tools.test.yaml").write_text(ORDERS.replace("list_orders", "list"), encoding="utf-8")

    assert stile("check", ".").code == 1
