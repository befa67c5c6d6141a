"""The page of incidents: the model's words for each incident, and the one row that the line of the log leads to."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from handler.server.asgi.request_log import level_of
from tests.docs.reference import codes, page, tables
from tests.docs.test_links import anchors
from tests.infra.cloudformation import read_template
from tests.operate.test_alarms import INCIDENTS as PROVOKED
from tests.server.outgoing.serving import PROVIDER, asking, endpoint, with_token
from tests.support.api import Reply, running_api
from tests.support.endpoints import compiled
from tests.support.function import Answer, Context, running_function
from tests.support.issuers import issuer_of
from tests.support.kits import TOOLS, with_kit
from tests.support.moto import Moto
from tests.support.secrecy import SESSION
from tests.support.started import logged, started_function

PAGE = page("operate/incidents")
HEAD = ["incident", "the model reads", "the log has", "alarm", "do"]
ROWS = [row for rows in tables(PAGE.text) if rows[0] == HEAD for row in rows[1:]]
TOKEN = SESSION.keep("a secret of an API", "s3cr3t-of-the-api-0123456789")


def row_of(line: dict[str, Any]) -> str:
    """The incident of the row that a line leads to, by its reason or else its message: the longest code that fits."""
    for name in ("reason", "message"):
        text = str(line.get(name, ""))
        fits = {
            row[0]: len(code)
            for row in ROWS
            for code in codes(row[2])
            if re.search(rf"{re.escape(code)}(?![\w-])", text)
        }
        longest = [incident for incident, length in fits.items() if length == max(fits.values())]
        if longest:
            assert len(longest) == 1, longest
            return longest[0]
    (incident,) = [row[0] for row in ROWS for code in codes(row[2]) if code in line]  # by a fact
    return incident


@dataclass
class Seen:
    """What an incident brings: the answer to the caller, and the lines of the log."""

    answer: Answer
    lines: list[dict[str, Any]]


def of_api(reply: Reply, *, more: str = "", **services: Any) -> Callable[[Path], Seen]:
    """An incident of an API that answers so."""

    def seen(folder: Path) -> Seen:
        with running_api(lambda _: reply) as api:
            return called(folder, f"{{url: '{api.url}'{more}}}", **services)

    return seen


def called(folder: Path, upstream: str, *, times: int = 1, **services: Any) -> Seen:
    with asking(folder, upstream, **services) as function:
        answers = [function.call("Me", {}, headers=with_token(sub="ada")) for _ in range(times)]
        return Seen(answers[-1], [{"level": level_of(line), **line} for line in function.lines])


def hanging(folder: Path) -> Seen:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return called(folder, f"{{url: 'http://127.0.0.1:{server.getsockname()[1]}/', timeout_s: 0.2}}")


def unreachable(folder: Path) -> Seen:
    return called(folder, "{url: 'http://127.0.0.1:9/', timeout_s: 1}", times=6)


def kit_of(tool: str, arguments: dict[str, Any]) -> Callable[[Path], Seen]:
    """An incident of a tool in Python."""

    def seen(folder: Path) -> Seen:
        files = {"index.graphql": "type Query { a: Int }", "config.yaml": "access: {anonymous: allow}"}
        made = with_kit(compiled(folder, files), TOOLS)
        with running_function(made, code_modules=(TOOLS.partition(":")[0],)) as function:
            short = replace(function, context=Context(remaining_ms=1_500))
            answer = short.call(tool, arguments)
            return Seen(answer, [{"level": level_of(line), **line} for line in function.lines])

    return seen


def key_set_away(folder: Path) -> Seen:
    made = endpoint(folder, "{url: 'http://127.0.0.1:9/'}")
    issuer = issuer_of(PROVIDER, jwks_url="http://127.0.0.1:9/keys")
    made = replace(made, bundle=replace(made.bundle, identity=replace(made.bundle.identity, issuers=(issuer,))))
    with running_function(made) as function:
        answer = function.call("Me", {}, headers=with_token(sub="ada"))
        return Seen(answer, [{"level": level_of(line), **line} for line in function.lines])


def refused(folder: Path) -> Seen:
    with asking(folder, "{url: 'http://127.0.0.1:9/'}") as function:
        answer = function.call("Me", {}, headers={"x-api-key": SESSION.keep("a withdrawn key", "withdrawn-key-0123")})
        return Seen(answer, [{"level": level_of(line), **line} for line in function.lines])


def missing(folder: Path) -> Seen:
    with asking(folder, "{url: 'http://127.0.0.1:9/'}") as function:
        answer = replace(function, path="/api/gone/mcp").call("Me", {})
        return Seen(answer, [{"level": level_of(line), **line} for line in function.lines])


def leak(_: Path) -> Seen:
    line = {"message": "request", "endpoint": "api/things", "tool": "leak", "memory_mb": 950, "memory_percent": 92}
    return Seen(Answer(502, {}, b"Internal Server Error"), [{"level": level_of(line), **line}])


def graphql(code: str, *, data: Any = None) -> Reply:
    return Reply({"data": data, "errors": [{"message": "no", "path": ["me"], "extensions": {"code": code}}]})


PAGE_OF_PROXY = Reply(b"<!doctype html><html>", headers={"content-type": "text/html"})
BEARER = ", auth: {bearer: 'env:TOKEN'}"
OWN: dict[str, Any] = {"more": BEARER, "secrets": {"TOKEN": TOKEN}}
GONE = Reply(
    {"errors": [{"message": 'Cannot query field "me" on type "Query".', "locations": [{"line": 1, "column": 3}]}]}, 400
)

INCIDENTS: list[tuple[str, Callable[[Path], Seen]]] = [
    ("it answers with an error status, or with a page", of_api(Reply({"message": "no"}, status=503))),
    ("it answers with an error status, or with a page", of_api(PAGE_OF_PROXY)),
    ("it breaks connections off", unreachable),
    ("it hangs", hanging),
    ("it refuses the endpoint's credential by status", of_api(Reply({"message": "no"}, status=401), **OWN)),
    ("it refuses the endpoint's credential by status", of_api(Reply({"message": "no"}, status=403), **OWN)),
    ("it refuses the credential in GraphQL, with status 200", of_api(graphql("UNAUTHENTICATED"), **OWN)),
    ("its resolvers fail, and there is no data", of_api(graphql("INTERNAL_SERVER_ERROR"))),
    ("it limits requests", of_api(Reply({"message": "no"}, status=429, headers={"retry-after": "30"}))),
    ("a field of it is gone", of_api(GONE)),
    ("it breaks its own schema", of_api(Reply({"data": {"me": {"not": "a text"}}}))),
    ("an endpoint is not there", missing),
    ("the endpoint's secret is missing", of_api(Reply(), more=BEARER)),
    ("the issuer's keys cannot be read", key_set_away),
    ("all callers are refused", refused),
    ("a tool raises an exception", kit_of("boom", {})),
    ("a tool takes too long", kit_of("slow", {})),
    ("a tool needs all memory, or ends its instance", leak),
]
BY_CALLERS = {"an endpoint is not there"}
"""Incidents whose lines have the level ``INFO``, because callers bring such lines by themselves."""


@pytest.mark.parametrize(
    ("incident", "seen_in"), INCIDENTS, ids=[f"{name} {n}" for n, (name, _) in enumerate(INCIDENTS)]
)
def test_line_of_an_incident_leads_to_its_row_and_the_model_reads_the_words_of_the_row(
    tmp_path: Path, incident: str, seen_in: Callable[[Path], Seen]
) -> None:
    seen = seen_in(tmp_path)
    (row,) = [row for row in ROWS if row[0] == incident]
    line = seen.lines[0]

    assert {row_of(each) for each in seen.lines} == {incident}
    assert line["level"] == ("INFO" if incident in BY_CALLERS else "WARNING")
    assert incident == "an endpoint is not there" or line["endpoint"] == "api/things"
    for words in re.findall(r'"([^"]+)"', row[1]):
        assert words.encode() in seen.answer.body or incident == "it breaks connections off", words
    assert all(int(status) == seen.answer.status for status in re.findall(r"^HTTP (\d+)", row[1]))


@pytest.mark.parametrize("bucket", ["away", "none"])
def test_storage_that_fails_leads_to_its_row(bucket: str, moto: Moto, capsys: pytest.CaptureFixture[str]) -> None:
    away = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"} if bucket == "away" else {}
    role = moto.add_user("function", {"Action": "s3:*", "Resource": "*"})
    with started_function("s3://bucket-that-is-not-there/endpoints", **{**role, **away}) as function:
        answer = function.call("Me", {})
    (line, _) = logged(capsys)

    assert answer.status == 503
    assert (line["level"], line["endpoint"]) == ("ERROR", "api/things")
    assert row_of(line) == ("storage cannot be reached" if bucket == "away" else "the bucket is gone")


def test_there_are_the_incidents_of_the_page_and_each_names_a_section_of_the_runbook() -> None:
    sections = anchors(page("operate/runbook").text)
    linked = {row[0]: re.findall(r"runbook\.md#([a-z-]+)", row[3]) for row in ROWS}

    assert {row[0] for row in ROWS} - {name for name, _ in INCIDENTS} == {
        *("it is slow, within its limit", "few calls come, and all fail", "the bucket is gone"),
        *("Lambda has no instance left", "API Gateway throttles", "storage cannot be reached"),
        "the account runs out of instances",
    }
    assert len(ROWS) == 23
    assert {each for names in linked.values() for each in names} <= sections
    assert all(row[4] for row in ROWS)


OF_ALARMS = {
    "it answers with an error status, or with a page": ["API answers 503"],
    "it breaks connections off": ["API breaks connections"],
    "it is slow, within its limit": ["API is slow within its limit"],
    "it refuses the endpoint's credential by status": ["credential rotated, HTTP 401"],
    "it refuses the credential in GraphQL, with status 200": ["credential rotated, GraphQL with 200"],
    "its resolvers fail, and there is no data": ["resolvers fail, GraphQL with 200"],
    "it limits requests": ["API limits, HTTP 429", "API limits, GraphQL with 200"],
    "a field of it is gone": ["field dropped"],
    "it breaks its own schema": ["null where the schema has none"],
    "few calls come, and all fail": ["four calls, all fail"],
    "storage cannot be reached": ["storage unreachable at a cold start"],
    "the bucket is gone": ["bucket gone"],
    "an endpoint is not there": ["prefix wrong, nothing published", "endpoint gone that was served"],
    "the endpoint's secret is missing": ["secret of the endpoint missing"],
    "the issuer's keys cannot be read": ["key set of the issuer unreachable"],
    "all callers are refused": ["all callers refused"],
    "a tool raises an exception": ["tool in Python raises"],
    "a tool takes too long": ["tool outlives the deadline"],
    "a tool needs all memory, or ends its instance": ["tool leaks", "tool ends its instance"],
    "Lambda has no instance left": ["Lambda throttles"],
    "API Gateway throttles": ["API Gateway throttles"],
    "the account runs out of instances": ["account runs out of instances"],
}
"""The row of the page -> the incidents for which alarms are computed. An API that hangs rings a second alarm later."""


def test_alarms_of_the_page_are_those_that_ring() -> None:
    resources = read_template("infra/observability.yaml")["Resources"]
    names = {
        name: set(re.findall(r"#([a-z-]+)", str(each["Properties"]["AlarmDescription"])))
        for name, each in resources.items()
        if each["Type"] == "AWS::CloudWatch::Alarm"
    }
    told = {row[0]: set(re.findall(r"runbook\.md#([a-z-]+)", row[3])) for row in ROWS}

    assert set(PROVOKED) - {name for each in OF_ALARMS.values() for name in each} == {"API hangs"}
    for row, incidents in OF_ALARMS.items():
        rings = {anchor for name in incidents for alarm in PROVOKED[name].rings for anchor in names[alarm]}
        assert told[row] == rings, row
    assert set(OF_ALARMS) == set(told) - {"it hangs"}
