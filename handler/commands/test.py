"""``stile test``: the calls of ``tools.test.yaml``, answered from a recording or by the API."""

from __future__ import annotations

import argparse
import asyncio
import time
from contextlib import closing, nullcontext
from dataclasses import replace
from typing import Any

from handler.bundle.tools import CompanionTool, GraphQLTool, PrescribedTool, only_reads
from handler.bundle.upstream import NoAuth
from handler.cold.records import replaced
from handler.commands.call import call_result, refusal_sentence
from handler.commands.command_line import DONE, REFUSED
from handler.commands.console import complain_of, plain_problem, say, show_document, slow_work, warn
from handler.commands.folders.endpoints import Outcome, add_folder_arguments, compile_all
from handler.commands.folders.recording import RECORDING, RecordedHttp, Recording, offline, write_recording
from handler.commands.folders.tool_tests import ToolTest, read_tool_tests
from handler.commands.local.author_view import show_authors_frames, told_to_author
from handler.commands.local.local_endpoint import local_endpoint, local_settings, stored
from handler.commands.local.local_server import local_services, observed
from handler.compiler.compile import Compiled
from handler.compiler.problems import Problems
from handler.compiler.source.files import TOOL_TESTS
from handler.errors.access import AccessError
from handler.errors.calls import ToolNotFound
from handler.errors.protocol import McpError
from handler.server.context import Caller
from handler.server.mcp.jsonrpc import Rejected
from handler.strict_json import JSONObject
from handler.text.sentences import counted

EXAMPLES = ("stile test endpoints", "stile test endpoints --record")
EXIT_CODES = {REFUSED: "an endpoint has problems, or a test does not hold"}

MAX_MISSES = 5
"""Differences of one answer that are printed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--live", action="store_true", help="ask the API instead of the recording")
    way.add_argument("--record", action="store_true", help="ask the API, and write its answers if all tests hold")
    parser.add_argument("--allow-mutations", action="store_true", help="also make calls that may change something")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")


def run(options: argparse.Namespace) -> int:
    show_authors_frames(whole=False)
    outcomes = compile_all(options.folder, stage=options.stage, endpoint=options.endpoint)
    reports = [_report(outcome, options) for outcome in outcomes]
    tests = [test for report in reports for test in report["tests"]]
    code = REFUSED if any(report["problems"] for report in reports) else DONE
    recorded = "; a failed test leaves the recording as it was" if code else ", and the answers are recorded"
    if tests:
        result = f"{sum(test['passed'] for test in tests)} of {counted(len(tests), 'test')} passed"
        say(f"{result}{recorded if options.record else ''}", "red" if code else "green")
    elif not code:
        warn(f"No tests: no endpoint here has a {TOOL_TESTS}")
    return show_document({"endpoints": reports}, code) if options.json else code


def _report(outcome: Outcome, options: argparse.Namespace) -> dict[str, Any]:
    """Make the calls of an endpoint, print its problems, and return both as JSON. The recording may be written."""
    folder, compiled, problems, rows = outcome.folder, outcome.compiled, Problems(), []
    if compiled:
        asks = options.live or options.record
        tests, answers = read_tool_tests(folder, compiled, problems, stage=options.stage, recorded=not asks)
        if not asks:  # no secret is read for requests that are not sent
            upstream = replaced(compiled.bundle.upstream, auth=NoAuth())
            compiled = replace(compiled, bundle=replaced(compiled.bundle, upstream=upstream))
        with slow_work(f"Testing {compiled.bundle.endpoint}"):
            for test in [] if problems.errors else tests:
                misses = _misses(test, compiled, None if options.live else answers, options)
                for sentence in misses[:MAX_MISSES]:
                    text = f"{test.tool} as {test.caller.text}: {sentence}"
                    problems.add(test.at, text, code="unmet-expectation")
                rows.append({"tool": test.tool, "as": test.caller.text, "line": test.at.line, "passed": not misses})
        if options.record and rows and not problems.errors:
            write_recording(compiled.env_file.with_name(RECORDING), answers)
    every = (*outcome.problems, *problems.error().problems)
    for problem in every:
        complain_of(problem, folder)
    return {
        "folder": folder.as_posix(),
        "endpoint": compiled.bundle.endpoint if compiled else None,
        "tests": rows,
        "problems": [plain_problem(problem, folder) for problem in every],
    }


def _misses(test: ToolTest, compiled: Compiled, recording: Recording | None, options: argparse.Namespace) -> list[str]:
    """Make a call, and return a sentence for each difference from the expected answer."""
    tool, facts = local_endpoint(compiled).tools.get(test.tool), dict[str, Any]()
    asks, may_write = options.live or options.record, options.allow_mutations
    destroys = tool is not None and tool.entry.get("annotations", {}).get("destructiveHint") is True
    is_code = not isinstance(tool, PrescribedTool | GraphQLTool | CompanionTool)
    if is_code and not may_write and not (tool and only_reads(tool.entry)):
        return ["its code may change something, and is not called: --allow-mutations calls it"]
    may_send = (lambda request: may_write or (request.repeatable and not destroys)) if asks else None
    http = RecordedHttp(recording, compiled, test.caller, may_send)
    with closing(http), observed() as exchanges, nullcontext() if asks else offline(http.troubles):
        result = asyncio.run(_result(test, compiled, http, facts))
        reasons = told_to_author(str(facts.get("reason", "")), exchanges, compiled, local_settings())
    return http.troubles or [" ".join([each, *reasons]) for each in test.misses(result)]


async def _result(test: ToolTest, compiled: Compiled, http: RecordedHttp, facts: dict[str, Any]) -> JSONObject:
    """Return the result of a call by the code of the function. A refusal is a result with ``isError``."""
    endpoint = local_endpoint(compiled)
    try:
        principal = test.caller.admitted(compiled.bundle, now=time.time())
        caller = Caller(
            endpoint=endpoint,
            principal=principal,
            evaluation=endpoint.evaluation_of(principal),
            services=local_services(stored(compiled), http, find=lambda _: compiled),
            facts=facts,
        )
        return await call_result(caller, test.tool, test.arguments, agreed=test.agrees)
    except (AccessError, ToolNotFound) as exc:
        words = refusal_sentence(exc)
    except (McpError, Rejected) as exc:
        words = f"the function answers {exc.code}, {exc}"
    return {"content": [{"type": "text", "text": words}], "isError": True}
