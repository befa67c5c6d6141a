"""``stile find``: the answers that a model finds in an endpoint with a question."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from handler.commands.finding.model_answers import Finder, finder_for
from handler.commands.folders.endpoint_folders import add_folder_arguments
from handler.commands.folders.endpoints import compile_or_complain
from handler.commands.local.callers import add_caller_argument
from handler.commands.terminal.console import complain, say, show_json
from handler.commands.terminal.exit_codes import REFUSED, USAGE
from handler.compiler.compile import Compiled
from handler.errors.access import AccessError
from handler.errors.authoring import UnknownCaller

EXAMPLES = ('stile find endpoints "which orders are late" --as claims.json',)
EXIT_CODES = {
    REFUSED: "an endpoint has problems, or nothing was found",
    USAGE: "the command line is not valid, or the endpoint has no such caller",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    parser.add_argument("question", metavar="QUESTION", help="a question in words")
    add_caller_argument(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")


def run(options: argparse.Namespace) -> int:
    compiled = compile_or_complain(options.folder, stage=options.stage, endpoint=options.endpoint)
    if not compiled:
        return 1
    if not options.question.strip():
        complain("expected a question in words")
        return 2
    reports = []
    try:
        for each in compiled:
            with finder_for(each, options.caller) as finder:
                reports.append(_report(each, finder, options.question))
    except UnknownCaller as exc:
        complain(str(exc))
        return 2
    except AccessError as exc:
        complain(f"The endpoint does not let this caller in: {exc}")
        return 1
    if options.json:
        show_json({"question": options.question, "endpoints": reports})
    else:
        for report in reports:
            _show(report)
    return 0 if any(_has_found(report) for report in reports) else 1


def _report(compiled: Compiled, finder: Finder, question: str) -> dict[str, Any]:
    tools = finder.among_tools(question)
    return {
        "endpoint": compiled.bundle.endpoint,
        "schemas": [
            {
                "tool": answer.tool,
                "by": answer.by,
                "matches": [
                    {"coordinate": match.coordinate, "score": match.score, "paths": match.paths}
                    for match in answer.matches
                ],
                "text": answer.text,
                "tokens": answer.tokens,
            }
            for answer in finder.in_schema(question)
        ],
        "tools": {"by": tools.by, "names": tools.names, "text": tools.text, "tokens": tools.tokens},
    }


def _has_found(report: dict[str, Any]) -> bool:
    return bool(report["tools"]["names"]) or any(each["matches"] for each in report["schemas"])


def _show(report: dict[str, Any]) -> None:
    say(report["endpoint"], "bold")
    for sentence in _sentences(report):
        say(sentence)


def _sentences(report: dict[str, Any]) -> Iterator[str]:
    for each in report["schemas"]:
        by = each["by"] or f"no companion: {each['tool']} shows its whole schema"
        yield f"\nSchema of {each['tool']}, about {each['tokens']} tokens ({by}):\n"
        yield each["text"]
    tools = report["tools"]
    if tools["names"]:
        by = tools["by"] or "no catalog: all tools are listed"
        yield f"\nTools, about {tools['tokens']} tokens ({by}):\n"
        yield from (f"  {place}. {name}" for place, name in enumerate(tools["names"], start=1))
    elif not report["schemas"]:
        yield "No tool answers the question, among those that the caller may use."
