"""The pages for operators: what they show is done, and their figures are those of the code."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from handler.bundle.upstream import SECRET_SOURCES, SIGNED_SERVICES, HeaderAuth, SecretText, UpstreamAuth
from handler.graph.documents.used_fields import MAX_IMPLEMENTERS
from handler.json_schema.answer_check import MAX_STEPS
from handler.server import health
from handler.server.auth.own_secrets import TTL_S
from handler.server.context import MAX_BODY_BYTES
from handler.server.mcp.jsonrpc import MAX_BATCH
from handler.server.mcp.logged_call import MAX_VALUE_CHARS
from handler.server.outgoing.circuit_breaker import MAX_FAILURES, PAUSE_S
from handler.server.upstream.credentials import MARGIN_S, MAX_S
from tests.commands.running import Stile
from tests.conftest import ROOT
from tests.docs.reference import codes, first_codes, page, table, tables, write_files
from tests.infra.cloudformation import read_template
from tests.support.api import running_api
from tests.support.endpoints import READABLE, compiled, graphql_tool, reported
from tests.support.function import Function, running_function

UPSTREAM, LIMITS, DEPLOY, OPERATE = map(page, ("upstream", "limits", "deploy", "operate"))


# The API


def test_modes_of_the_page_are_all_there_are_and_its_example_is_read(tmp_path: Path) -> None:
    modes = [row[0].strip("`{}").split(":")[0] for row in table(UPSTREAM.text, "`auth:`", "the API gets")]
    references = [each.partition(":")[0] for each in first_codes(table(UPSTREAM.text, "reference", "where it is"))]

    files = {"index.graphql": "type Query { a: Int }", "config.yaml": UPSTREAM.yaml("upstream")}
    made = compiled(tmp_path, files).bundle

    assert sorted(modes) == sorted(auth.KIND for auth in get_args(UpstreamAuth))
    assert sorted(references) == sorted(SECRET_SOURCES)
    assert made.upstream.auth == HeaderAuth(header="x-hasura-admin-secret", value=SecretText("secret:HASURA"))
    assert made.upstream.claim_headers == {"x-hasura-role": "role", "x-hasura-org-id": "org.id"}


def test_figures_of_the_page_are_those_of_the_code() -> None:
    text = " ".join(UPSTREAM.text.split())

    assert f"{', '.join(f'`{each}`' for each in SIGNED_SERVICES[:-1])} and `{SIGNED_SERVICES[-1]}`" in text
    assert f"left alone for {PAUSE_S:g} seconds" in text
    assert f"until {MARGIN_S:g} s before its end" in text
    assert (MAX_FAILURES, TTL_S, MAX_S) == (5, 300, 3_600)  # which the text has in words


def test_stepzen_project_of_the_page_has_the_name_that_it_says(tmp_path: Path, stile: Stile) -> None:
    write_files(tmp_path, page("stepzen").files)

    (endpoint,) = json.loads(stile("check", str(tmp_path), "--json").out)["endpoints"]

    assert (endpoint["endpoint"], endpoint["graphql"], endpoint["problems"]) == ("shop/orders", "on", [])


# Limits


def test_limits_of_one_tool_are_laid_over_those_of_the_endpoint(tmp_path: Path) -> None:
    (block,) = (block.text for block in LIMITS.blocks if block.kind == "graphql")
    sdl = f"{block}\ntype Query {{ orders: [Int] }}"
    tool = graphql_tool(compiled(tmp_path, {"index.graphql": sdl, "config.yaml": READABLE}), "order-search")

    assert (tool.limits.max_depth, tool.limits.max_cost, tool.limits.max_fields) == (4, 500, 200)


def test_sizes_of_the_page_are_those_of_the_code() -> None:
    told = {row[0]: row[1] for row in table(LIMITS.text, "limit", "size")}

    assert told["the body of one request"].startswith(f"{MAX_BODY_BYTES:,} bytes")
    assert told["values of one answer"].startswith(f"{MAX_STEPS:,};")
    assert told["a batch of MCP 2025-03-26"].startswith(f"{MAX_BATCH} messages")


# Deploying and operating


def test_health_answers_what_the_page_shows(function: Function) -> None:
    (shown,) = (json.loads(block.text) for block in OPERATE.blocks if '"oldestCheckS"' in block.text)
    told = {codes(row[0])[0]: int(row[1]) for row in table(OPERATE.text, "status", "HTTP", "when")}

    assert set(function.send("GET", "/health").json) == set(shown)
    assert told == health.STATUS_OF_REPORT


def test_outputs_and_parameters_that_the_pages_name_are_in_the_template() -> None:
    template = read_template("template.yaml")
    known = {*template["Parameters"], *template["Outputs"]}
    named = {
        name
        for each in ("deploy", "front-doors", "operate")
        for name in re.findall(r"`([A-Z][a-z]+[A-Z]\w+)`", page(each).text)
    }

    assert {"BundleLocation", "RefreshSeconds", "SecretArns"} <= named
    assert named - known - set(re.findall(r"\w+", page("reference/log").text)) == set()


def test_schedule_of_the_page_is_an_event_of_sam() -> None:
    (block,) = (block.text for block in page("front-doors").blocks if block.kind == "yaml")
    warm: dict[str, Any] = yaml.safe_load(block)["Events"]["Warm"]

    assert warm["Type"] == "ScheduleV2"
    assert json.loads(warm["Properties"]["Input"]) == {"stile": "warm"}


def test_throttle_of_the_checklist_is_that_of_the_template() -> None:
    rate = read_template("template.yaml")["Parameters"]["ThrottleRate"]["Default"]

    assert f"{rate} requests per second" in page("security/checklist").text


def test_page_about_snapshots_has_the_memory_of_the_template_and_its_share_of_a_processor() -> None:
    default = read_template("template.yaml")["Parameters"]["MemorySize"]["Default"]
    text = " ".join(page("operate/snapstart").text.split())
    whole = int(re.search(r"one vCPU at ([\d,]+) MB", text)[1].replace(",", ""))  # type: ignore[index]

    assert f"The default of `MemorySize`, {default} MB, has {default / whole:.2f} of one." in text


# Troubleshooting

OTHERS = {
    "a text that begins with ? needs quotes": (
        "config.yaml",
        "access: {policies: [{type: Query, policyDefault: {condition: ?$jwt}}]}",
    ),
    "a tab is not allowed here": ("config.yaml", "upstream:\n\turl: x"),
    "this is the JSON of an introspection": ("index.graphql", '{"__schema": {}}'),
}
"""Messages with changing words -> the file that brings them."""

SYMPTOMS = [
    code for rows in tables(page("troubleshooting").text) for code in first_codes(rows[1:]) if code.count(" ") > 1
]


@pytest.mark.parametrize("message", OTHERS)
def test_message_comes_for_its_cause(tmp_path: Path, message: str) -> None:
    name, text = OTHERS[message]
    files = {"index.graphql": "type Query { a: Int }", name: text}

    assert message in SYMPTOMS
    assert any(message in problem for problem in reported(tmp_path, files))


@pytest.mark.parametrize("message", [each for each in SYMPTOMS if each not in OTHERS])
def test_message_of_the_page_is_one_of_the_code(message: str) -> None:
    assert [part for part in re.split("…", message) if part.strip() and part.strip() not in _texts()] == []


@cache
def _texts() -> str:
    """Every text of the product; the values in one are left out."""
    trees = (ast.parse(path.read_text("utf-8")) for path in (ROOT / "handler").rglob("*.py"))
    nodes = (node for tree in trees for node in ast.walk(tree))
    return "\n".join(text for node in nodes if (text := _text(node)))


def _text(node: ast.AST) -> str:
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr():
            return "".join(_text(value) for value in node.values)
    return ""


# The log of calls


def test_query_of_the_page_finds_who_read_the_field_and_the_page_has_the_figures_of_the_code(tmp_path: Path) -> None:
    text = OPERATE.section("## Find the readers of a field")
    (pattern,) = re.findall(r"filter @message like /(.*)/ or", text)
    fields = {name.strip().partition(".")[0] for name in re.findall(r"^fields (.*)$", text, re.MULTILINE)[0].split(",")}
    files = {
        "index.graphql": "type Query { employee: Employee } type Employee { name: String salary(year: Int): Int }",
        "operations/my_pay.graphql": "query my_pay($year: Int) @mcpTool { employee { salary(year: $year) } }",
        "operations/name.graphql": "query name @mcpTool { employee { name } }",
    }
    with running_api() as api:
        config = f"upstream: {{url: '{api.url}'}}\n{READABLE}{OPERATE.yaml('log')}"
        with running_function(compiled(tmp_path, {**files, "config.yaml": config})) as function:
            for arguments in ({"year": 2025}, {"year": "x"}):
                function.call("my_pay", arguments)
            function.call("name", {})
    lines = [json.dumps(line, separators=(",", ":"), default=str) for line in function.lines]

    assert [bool(re.search(pattern, line)) for line in lines] == [True, True, False]
    assert function.lines[0]["arguments"] == {"year": 2025}
    assert fields - {"@timestamp", "endpoint", "who", "tool", "decision"} == {
        "coordinates",
        "coordinates_refused",
        "arguments",
    }
    assert f"if these are {MAX_IMPLEMENTERS} at most" in " ".join(text.split())
    assert f"a text of {MAX_VALUE_CHARS} characters at most" in page("reference/log").text
