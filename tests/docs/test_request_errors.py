"""The page of error codes has every code of an error that reaches a caller, and each error has a code."""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from collections.abc import Iterator
from types import ModuleType

import pytest

from handler.__main__ import main
from handler.code_tools import boundary
from handler.cold import artefact
from handler.compiler.codes import CODES
from handler.errors import (
    StileError,
    access,
    authoring,
    calls,
    consent_errors,
    cursor_errors,
    infrastructure,
    protocol,
    upstream,
)
from handler.errors.meanings import ACCESS, CALLS, HTTP, PROTOCOL, REQUEST_CODES, Meanings
from handler.errors.upstream import FAILURE_CODES
from handler.server.asgi.response_size import ANSWER_TOO_LARGE
from handler.server.asgi.responses import STATUS_OF_REFUSAL
from handler.server.denials import STATUSES
from handler.server.mcp.jsonrpc import OWN_CODE, STILE_CODES
from handler.server.mcp.route import EXCEEDED
from handler.server.other_events import HTTP_ANSWERS
from tests.conftest import ROOT
from tests.docs.reference import cells, first_codes, page, tables

CODELESS = {
    # Never raised: each error is of a class below.
    access.AccessError,
    calls.NotFound,
    calls.CallError,
    # The log's word for the failure decides, or the number of JSON-RPC.
    upstream.UpstreamFailure,
    protocol.McpError,
    protocol.InvalidParams,
    # OAuth has codes of its own.
    access.OAuthRefused,
    access.RedirectRefused,
    access.AssertionRefused,
}
MCP_ALONE = {
    *("answer-misfit", "api-errors", "client-cannot-ask", "code-changed", "code-failed", "consent-declined"),
    *("consent-too-long", "cursor-past-end", "cursor-refused", "not-in-catalog", "other-catalog-call"),
    *("result-too-large", "state-unavailable", "tool-error", "unknown-task"),
}
"""Codes of calls that no GraphQL route gives."""

SECTIONS: dict[str, Meanings] = {
    "## Calls": CALLS,
    "## Credentials": ACCESS,
    "## JSON-RPC": PROTOCOL,
    "## HTTP": HTTP,
}
PAGE = page("reference/request-errors")


def classes(*modules: ModuleType) -> Iterator[type[StileError]]:
    """The errors that these modules define."""
    for module in modules:
        for each in vars(module).values():
            if inspect.isclass(each) and issubclass(each, StileError) and each.__module__ == module.__name__:
                yield each


REACHING = [*classes(access, calls, consent_errors, cursor_errors, upstream, protocol)]


@pytest.mark.parametrize("error", REACHING)
def test_every_error_that_reaches_a_caller_has_a_code_of_its_own(error: type[StileError]) -> None:
    assert ("stile_code" in vars(error) and bool(error.stile_code)) == (error not in CODELESS)


def test_no_code_is_given_twice() -> None:
    own = [
        each for each in classes(boundary) if each is not boundary.Expired
    ]  # its code is that of the passed deadline
    given = [each.stile_code for each in [*REACHING, *own] if each not in CODELESS]
    others = [*STILE_CODES.values(), *FAILURE_CODES.values(), *STATUS_OF_REFUSAL, ANSWER_TOO_LARGE, EXCEEDED, OWN_CODE]

    twice = {code for code, times in Counter([*given, *others]).items() if times > 1}
    assert twice == {calls.EndpointNotFound.stile_code}  # an error of storage, and the refusal of its request
    assert boundary.Expired.stile_code == calls.DeadlinePassed.stile_code


def test_errors_that_reach_no_caller_have_the_code_of_an_internal_error() -> None:
    unseen = [*classes(infrastructure, authoring)]

    assert unseen
    assert {each.stile_code for each in unseen} == {StileError.stile_code} == {STILE_CODES[-32603]}


def test_classes_without_a_code_are_not_raised() -> None:
    source = "\n".join(path.read_text("utf-8") for path in (ROOT / "handler").rglob("*.py"))

    for error in (access.AccessError, calls.NotFound, calls.CallError):
        assert not re.search(rf"\braise {error.__name__}\b", source), error


def test_every_word_for_a_failure_of_the_api_has_a_code() -> None:
    folder = ROOT / "handler" / "server" / "upstream"
    sources = [(folder / name).read_text("utf-8") for name in ("failures.py", "graphql_client.py")]
    words = {word for source in sources for word in re.findall(r'"((?:Upstream|CallerToken)[A-Z]\w+)"', source)}

    assert words == FAILURE_CODES.keys()


def test_every_code_of_a_refusal_is_raised() -> None:
    found = (ast.walk(ast.parse(path.read_text("utf-8"))) for path in (ROOT / "handler").rglob("*.py"))
    raised = {
        node.args[0].value
        for nodes in found
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Refused"
        and isinstance(node.args[0], ast.Constant)
    }

    raised |= {code for code, _ in HTTP_ANSWERS.values()}

    assert raised | {calls.EndpointNotFound.stile_code} == STATUS_OF_REFUSAL.keys()


def test_meanings_are_those_of_the_codes_of_their_kind() -> None:
    of_rejections: set[type[StileError]] = {protocol.StateRefused, protocol.AuthenticationRequired}
    of_rejections |= {each for each in classes(calls) if issubclass(each, calls.NotFound) and each not in CODELESS}
    of_protocol = {each.stile_code for each in of_rejections}
    of_calls = {each.stile_code for each in REACHING if issubclass(each, calls.CallError) and each not in CODELESS}
    of_access = {each.stile_code for each in classes(access)} - {StileError.stile_code}

    assert CALLS.keys() == of_calls | {*FAILURE_CODES.values(), boundary.AuthorFailed.stile_code}
    assert ACCESS.keys() == of_access
    assert PROTOCOL.keys() == {*STILE_CODES.values(), *of_protocol, ANSWER_TOO_LARGE, EXCEEDED, OWN_CODE}
    assert HTTP.keys() == {*STATUS_OF_REFUSAL, calls.DocumentNotFound.stile_code, "malformed-request", artefact.CODE}


def test_codes_are_in_kebab_case_and_none_is_a_code_of_the_compiler() -> None:
    assert [code for code in REQUEST_CODES if not re.fullmatch(r"[a-z]+(-[a-z]+)+", code)] == []
    assert REQUEST_CODES.keys() & CODES.keys() == set()
    assert len(REQUEST_CODES) == sum(map(len, SECTIONS.values()))


@pytest.mark.parametrize("heading", SECTIONS)
def test_rows_of_the_page_are_the_codes_with_their_meanings(heading: str) -> None:
    written = [cells(line) for line in PAGE.section(heading).splitlines() if line.startswith("| `")]

    assert [(row[0], *row[-2:]) for row in written] == [
        (f"`{code}`", meaning, remedy) for code, (meaning, remedy) in sorted(SECTIONS[heading].items())
    ]


def test_statuses_of_the_page_are_those_of_the_routes() -> None:
    by_code = {each.stile_code: _status(each) for each in REACHING if each not in CODELESS}
    by_code |= dict.fromkeys(FAILURE_CODES.values(), _status(upstream.UpstreamFailure))
    of_calls = {row[0].strip("`"): row[1] for row in _rows("## Calls")}
    of_access = {row[0].strip("`"): row[1] for row in _rows("## Credentials")}
    of_http = {row[0].strip("`"): row[1] for row in _rows("## HTTP")}

    assert of_calls == {code: "–" if code in MCP_ALONE else str(by_code[code]) for code in CALLS}
    assert of_access == {code: str(by_code[code]) for code in ACCESS}
    own = {"malformed-request": "400", artefact.CODE: "503", "document-not-found": str(by_code["document-not-found"])}
    assert of_http == {code: str(status) for code, status in STATUS_OF_REFUSAL.items()} | own


def test_numbers_of_the_page_are_those_of_json_rpc() -> None:
    numbers = {row[0].strip("`"): row[1] for row in _rows("## JSON-RPC")}

    assert {code: numbers[code] for code in STILE_CODES.values()} == {
        code: str(number) for number, code in STILE_CODES.items()
    }


@pytest.mark.parametrize("code", REQUEST_CODES)
def test_every_code_is_explained_by_the_command(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    ended = main(["check", "--explain", code])

    meaning, remedy = REQUEST_CODES[code]
    assert ended == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{code} (error of a request)",
        f"  {meaning}",
        f"  What to do: {remedy}",
    ]


def _rows(heading: str) -> list[list[str]]:
    return [row for rows in tables(PAGE.section(heading)) for row in rows[1:] if first_codes([row])]


def _status(error: type[StileError]) -> int:
    return next(STATUSES[each] for each in error.__mro__ if each in STATUSES)
