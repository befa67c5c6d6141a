"""The pages below docs/operate: queries find the lines that they are for, words are those of the log, commands run."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks import load, money
from handler.bundle.stored import FORMAT_VERSION, READABLE_VERSIONS, bundle_key
from handler.server.asgi.request_log import level_of
from handler.server.log import FAILURES, FAULTS, METRICS, values_of
from handler.storage.local import MemoryStorage
from tests.commands.test_serve import LOCAL, serving
from tests.conftest import ROOT
from tests.docs.pages import blocks
from tests.docs.reference import Page, codes, first_codes, page, table, tables, write_demo
from tests.docs.test_links import anchors
from tests.infra.cloudformation import read_template
from tests.operate.insights import condition_of, found_by, names_of
from tests.operate.share import for_make_operate
from tests.server.outgoing.serving import asking
from tests.support.api import Reply, running_api
from tests.support.endpoints import READABLE, compiled
from tests.support.function import Function, running_function
from tests.support.upstream import Upstream

RUNBOOK, WORDS, MONEY, SNAPSTART, LOAD, UPGRADE = (
    page(f"operate/{name}") for name in ("runbook", "log-words", "money", "snapstart", "load-test", "upgrade")
)
LOG = page("reference/log")
ALARMS = [heading for heading in re.findall(r"^## (.+)$", RUNBOOK.text, re.MULTILINE) if heading.startswith("Alarm: ")]


def queries(text: str) -> list[str]:
    """The blocks without a language, which are queries."""
    return re.findall(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


# The runbook


def sections_that_alarms_name() -> set[str]:
    """The anchors that descriptions of alarms end in."""
    found = set[str]()
    for resource in read_template("infra/observability.yaml")["Resources"].values():
        if resource["Type"] == "AWS::CloudWatch::Alarm":
            found |= set(re.findall(r"#([a-z-]+)", json.dumps(resource["Properties"]["AlarmDescription"])))
    return found


@pytest.mark.skipif(not (ROOT / "infra" / "observability.yaml").exists(), reason="the stack has no template of alarms")
def test_each_alarm_has_its_section_and_each_section_its_alarm() -> None:
    sections = {anchor for anchor in anchors(RUNBOOK.text) if anchor.startswith("alarm-")}

    assert sections == sections_that_alarms_name()


@pytest.mark.parametrize("alarm", ALARMS)
def test_section_of_an_alarm_says_all_that_is_needed(alarm: str) -> None:
    section = RUNBOOK.section(f"## {alarm}")

    for part in ("**It means** ", "**Look", "**Likely causes,** in order:", "**It is over** when"):
        assert part in section
    assert queries(section)


@pytest.mark.parametrize("query", queries(RUNBOOK.text))
def test_query_names_facts_of_the_log(query: str) -> None:
    facts = set(first_codes(table(LOG.text, "fact", "of", "says")))
    access_log = read_template("template.yaml")["Resources"]["HttpApi"]["Properties"]["AccessLogSettings"]["Format"]

    assert names_of(query) <= facts or names_of(query) <= set(re.findall(r'"(\w+)":', access_log))


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Lines of a good call, of failures of the API, of refused callers, and of a fault of ours."""
    found: list[dict[str, Any]] = []
    with running_api() as api, asking(tmp_path_factory.mktemp("good"), f"{{url: '{api.url}'}}") as function:
        function.call("Me", {})
        function.call("Nobody", {})
        function.request("tools/list", headers={"authorization": "Bearer a.b.c"})
        function.send("GET", "/health")
        api.answer = lambda _: Reply({"message": "no"}, status=503)
        function.call("Me", {})
        found += lines_of(function)
    with asking(tmp_path_factory.mktemp("away"), "{url: 'http://127.0.0.1:9/', timeout_s: 1}") as function:
        function.call("Me", {})
        found += lines_of(function)
    found.append(
        {"level": "ERROR", "message": "endpoint not loaded", "endpoint": "api/things", "reason": "access denied"}
    )
    found.append({"message": "request", "outcome": "ok", "memory_percent": 93, "level": "WARNING"})
    for reason in ("UpstreamLimit: 429", "Drift: Query.me", "answer_schema"):
        found.append({"message": reason, "reason": reason, "level": "WARNING"})
    found.append({"message": "no data", "reason": "GraphQLErrors: INTERNAL_SERVER_ERROR", "no_data": True})
    found.append({"message": "refused", "reason": "unknown_api_key", "callers_refused": 1})
    found += [
        {"message": f"gateway {status}", "status": status, "path": "/a/b/mcp"} for status in ("200", "429", "503")
    ]
    found.append({"message": "request", "level": "ERROR", "outcome": "failed", "route": "mcp", "request_id": "r"})
    found.append({"level": "WARNING", "message": "endpoint missing", "endpoint": "api/things", "reason": "no bundle"})
    with running_function() as function:
        function.request("tools/list")
        found += lines_of(function)
    return found


def lines_of(function: Function) -> list[dict[str, Any]]:
    """The lines of a function as its logger writes them."""
    return [{"level": level_of(line), "message": "request", "memory_mb": 90, **line} for line in function.lines]


FOUND = {
    "Alarm: errors": [{"endpoint not loaded", "failed"}, {"Task timed out"}],
    "Alarm: throttles": [{"ok", "tool_error", "denied", "failed", "rejected"}],
    "Alarm: duration": [{"ok", "tool_error", "denied", "rejected"}, {"ok", "tool_error"}],
    "Alarm: upstream failures": [{"tool_error"}],
    "Alarm: API errors": [{"no data"}],
    "Alarm: upstream limits": [{"UpstreamLimit: 429"}],
    "Alarm: schema drift": [{"Drift: Query.me", "answer_schema"}],
    "Alarm: callers refused": [{"refused"}],
    "Alarm: gateway": [{"gateway 429", "gateway 503"}],
    "Alarm: concurrency": [{"ok", "tool_error", "denied", "rejected"}],
    "Alarm: missing endpoints": [{"endpoint missing"}, {"rejected"}],
    "Alarm: memory": [{"ok"}, {"ok", "tool_error", "denied", "rejected"}],
    "Alarm: bundle age": [{"endpoint not loaded"}],
}
"""The outcomes or messages of the lines that each query of a section finds."""


@pytest.mark.parametrize("alarm", ALARMS)
def test_queries_find_the_lines_that_they_are_for(lines: list[dict[str, Any]], alarm: str) -> None:
    known = [*lines, {"text": "2026-11-23T00:00:00Z Task timed out after 29.00 seconds"}, {"text": "START RequestId"}]
    found = [found_by(query, known) for query in queries(RUNBOOK.section(f"## {alarm}"))]

    assert [{told(line) for line in each} for each in found] == FOUND[alarm]


def told(line: Mapping[str, Any]) -> str:
    """A word for a line."""
    return str(line.get("outcome") or line.get("message") or ("Task timed out" if "Task" in line["text"] else "other"))


def test_lines_of_failing_apis_are_those_of_the_endpoint_and_reason(lines: list[dict[str, Any]]) -> None:
    (query,) = queries(RUNBOOK.section("## Alarm: upstream failures"))
    reasons = {str(line["reason"]).partition(":")[0] for line in found_by(query, lines)}

    assert reasons == {"UpstreamStatus", "UpstreamUnreachable"}


@pytest.mark.parametrize(
    ("alarm", "metric", "words"),
    [
        ("Alarm: errors", "errors", {*FAULTS, "key_set", "secret", "no_verifier"}),
        ("Alarm: upstream failures", "upstream_failures", FAILURES),
    ],
)
def test_query_of_an_alarm_finds_all_that_its_metric_counts(alarm: str, metric: str, words: set[str]) -> None:
    query = queries(RUNBOOK.section(f"## {alarm}"))[0]
    for word in words:
        refused = word in ("key_set", "secret", "no_verifier")
        outcome = {"outcome": "denied", "status": 503} if refused else {"outcome": "tool_error", "decision": "allowed"}
        item = {"route": "mcp", "method": "tools/call", "status": 200, "reason": word, **outcome}
        batch = {"route": "mcp", "method": "batch", "status": item["status"], "calls": [item, item]}
        for line in (item, batch):
            told = {"message": "request", **line, "level": level_of(line), **values_of(line)}
            assert metric in told, word
            assert found_by(query, [told]), word


def test_filters_are_read_as_they_are_written() -> None:
    line = {"a": "x", "n": 5, "t": "one two"}

    for text, holds in {
        'a = "x" and n > 4': True, 'a = "x" and n > 5': False, 'a = "y" or n < 6': True, "not ispresent(b)": True,
        "t like /one|three/": True, 't like "two"': True, 't like "three"': False, 'a != "x"': False,
        'ispresent(b) or (a = "x" and not n < 5)': True,
    }.items():  # fmt: skip
        assert condition_of(text)(line) is holds, text
    with pytest.raises(AssertionError, match="not read"):
        condition_of('a ~ "x"')


# Words of the log


def words_by_section(of: Page, above: str) -> dict[str, list[str]]:
    """The words of the tables of each section."""
    found = {}
    for heading in ("The API", "Credentials", "Requests", "Sign-in through an OAuth proxy"):
        rows = [row for rows in tables(of.section(f"{above} {heading}")) for row in rows[1:]]
        found[heading] = sorted(word for row in rows for word in codes(row[0]))
    return found


def test_every_word_of_the_log_has_a_remedy_and_every_remedy_a_word() -> None:
    of_the_log = words_by_section(LOG, "###")
    of_the_log["Requests"].remove("Not Found")  # the example of a sentence

    assert words_by_section(WORDS, "##") == of_the_log


def test_every_word_of_the_runbook_is_one_of_the_log() -> None:
    known = set(re.findall(r"\w+", LOG.text))
    rows = table(RUNBOOK.text, "the reason begins with", "do")

    assert set(first_codes(rows)) <= known


# Money


def test_sessions_of_the_page_print_their_output(capsys: pytest.CaptureFixture[str]) -> None:
    texts = [block.text for of in (MONEY, SNAPSTART) for block in blocks(of.text) if block.language == "console"]
    sessions = [shown for text in texts for shown in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]]
    priced = [shown.partition("\n") for shown in sessions if shown.startswith("python -m benchmarks.money")]
    assert len(priced) == 5
    for command, _, expected in priced:
        money.main(command.split()[3:])
        assert capsys.readouterr().out == expected


def test_sums_in_words_are_about_those_of_the_table_and_pages_of_times_and_the_readme_lead_to_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    money.main([])
    parts = {name: float(usd) for usd, name in re.findall(r"([\d.]+)  (\S+)", capsys.readouterr().out)}
    readme = (ROOT / "README.md").read_text("utf-8")
    cost = readme.partition("\n## Cost\n")[2].partition("\n## ")[0]
    (all_, due) = re.findall(r"about (\d+)", MONEY.text)[:2]

    assert abs(parts["US"] - int(all_)) < 2
    assert abs(parts["metrics,"] + parts["secrets,"] - int(due)) < 2
    assert f"cost about {all_} US dollars: [money](docs/operate/money.md)" in cost
    assert "(operate/money.md)" in page("costs").text[:300]


def test_mode_of_the_page_is_the_default_of_the_template_and_fixed_parts_are_those_that_it_has() -> None:
    template = read_template("template.yaml")
    made = [each for each in template["Resources"].values() if each["Type"] == "AWS::SecretsManager::Secret"]
    modes = {name: money.monthly(money.read_prices(money.PRICES), endpoints=5_000, mode=name) for name in money.MODES}
    sums = {
        name: sum(usd for part, usd in parts.items() if part.startswith("metrics")) for name, parts in modes.items()
    }

    (mode,) = (row[1] for row in table(MONEY.text, "option", "default", "is") if codes(row[0]) == ["--metrics"])

    assert template["Parameters"]["Metrics"]["Default"] == mode
    assert len(made) == money.SECRETS
    assert sums["off"] == 0 < sums["function"] < sums["endpoint"]
    by_endpoint = 5_000 * sum(each.by_endpoint for each in METRICS)
    assert sums["endpoint"] == pytest.approx(10_000 * 0.3 + (by_endpoint + len(METRICS) - 10_000) * 0.1)


def test_options_of_the_page_have_their_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    options = {codes(row[0])[0]: row[1].strip("`") for row in table(MONEY.text, "option", "default", "is")}
    money.main([])
    plain = capsys.readouterr().out
    given = [part for name, value in options.items() for part in (name, value)]
    money.main([part.replace("benchmarks/prices.toml", str(money.PRICES)) for part in given])

    assert capsys.readouterr().out == plain


@pytest.mark.parametrize("missing", ["date", "source", "per"])
def test_price_without_a_date_or_source_is_refused(tmp_path: Path, missing: str) -> None:
    members = {"usd": "1.0", "per": "1", "date": '"2026-01-01"', "source": '"here"'}
    text = "\n".join(f"{name} = {value}" for name, value in members.items() if name != missing)
    file = tmp_path / "prices.toml"
    file.write_text(f"[log_gb]\n{text}\n", encoding="utf-8")

    with pytest.raises(SystemExit, match="log_gb: expected date, per, source, usd"):
        money.read_prices(file)


def test_measured_durations_are_those_of_the_named_row() -> None:
    text = "| function | cold, ms | x floor | gate | warm, µs over floor |\n| a call | 300 | 3.9 | 5.7 | 2000 |\n"

    assert money.measured(text, "a call") == (300.0, 2.0)
    with pytest.raises(SystemExit, match="there is no row 'another'"):
        money.measured(text, "another")


# Load


def test_recipe_runs_on_loopback(
    workplace: Path, upstream: Upstream, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for_make_operate()
    (command,) = (shlex.split(block.text) for block in blocks(LOAD.text) if block.language == "sh")
    (shown,) = (block.text for block in blocks(LOAD.text) if block.language == "console")
    write_demo(workplace, upstream)
    monkeypatch.setenv("STILE_KEY", "of-nobody-00000000")
    with serving("examples/endpoints", **LOCAL) as served:
        url = f"http://127.0.0.1:{served.port}/api/customers/mcp"
        asked = [url, *command[4:-2], "--calls", "40", "--at-once", "4"]
        codes_of = [load.main(asked), load.main([*asked, "--arguments", "{}"]), load.main([*asked, *command[-2:]])]
    printed = capsys.readouterr().out

    assert codes_of == [0, 1, 1]
    assert [line for line in printed.splitlines() if line.startswith("40  ")] == [
        "40  result", "40  isError", "40  status 401",
    ]  # fmt: skip
    assert forms(printed)[:3] == forms(shown)


def forms(text: str) -> list[str]:
    """Lines with the same mark for each number."""
    return [re.sub(r"[\d.]+", "0", line) for line in text.splitlines()]


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (200, b'{"result": {}}', "result"),
        (200, b'{"result": {"isError": true}}', "isError"),
        (200, b'{"error": {"code": -32602}}', "error -32602"),
        (200, b"<html>", "not an answer of MCP"),
        (200, b"[]", "not an answer of MCP"),
        (200, b'{"result": null}', "not an answer of MCP"),
        (429, b"{}", "status 429"),
    ],
)
def test_outcome_of_an_answer_is_a_word(status: int, body: bytes, outcome: str) -> None:
    assert load.outcome_of(status, body) == outcome


def test_command_of_the_load_test_has_options_of_the_program() -> None:
    (block,) = (block.text for block in blocks(LOAD.text) if block.language == "sh")
    words = set(re.findall(r" (--?[\w-]+)", block))

    assert words == {"--tool", "--arguments", "--calls", "--at-once", "-H", "-m"}


# Upgrade


def test_formats_of_the_page_are_those_of_the_code() -> None:
    (now, before) = table(UPGRADE.text, "release", "writes", "its function asks for", "reads under that key")

    assert now[1:] == [
        f"format {FORMAT_VERSION}",
        f"`{bundle_key('a/b').rpartition('/')[2]}`",
        f"formats {' and '.join(map(str, READABLE_VERSIONS))}",
    ]
    assert before[1:3] == [f"format {FORMAT_VERSION - 1}", f"`bundle.v{FORMAT_VERSION - 1}.json`"]


def test_function_that_finds_only_another_format_answers_404(tmp_path: Path) -> None:
    made = compiled(tmp_path, {"index.graphql": "type Query { a: Int }", "config.yaml": READABLE})
    storage = MemoryStorage()
    for key, content in made.objects():
        storage.write(key.replace(f"bundle.v{FORMAT_VERSION}", f"bundle.v{FORMAT_VERSION - 1}"), content)
    with running_function(storage=storage) as function:
        answer = function.request("tools/list", headers={})
        there = function.send("POST", "/api/things/mcp", body="{}", headers={"content-type": "application/json"})

    assert (answer.status, there.status) == (404, 404)
