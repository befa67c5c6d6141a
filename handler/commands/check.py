from __future__ import annotations

import argparse
from typing import Any

from handler.bundle import Bundle, GraphQLTool, PrescribedTool, Tool, to_json_bytes
from handler.commands.compiling import Outcome, add_folder_arguments, compile_all, no_endpoint
from handler.commands.console import complain, say, show_json, show_problems, show_table
from handler.policy import outcome_of
from handler.server.tools import list_entries

HELP = "Say what is wrong with endpoint folders, and what their tools cost and who sees them."

BYTES_PER_TOKEN = 4
"""A rule of thumb for English text and JSON; vendors' tokenizers differ."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")


def run(options: argparse.Namespace) -> int:
    outcomes = compile_all(options.folder, stage=options.stage)
    if not outcomes:
        complain(no_endpoint(options.folder))
        return 2
    if options.json:
        show_json({"endpoints": [_report(outcome) for outcome in outcomes]})
    else:
        for outcome in outcomes:
            _show(outcome)
    return 1 if any(outcome.problems for outcome in outcomes) else 0


def _show(outcome: Outcome) -> None:
    show_problems(outcome.problems, outcome.folder)
    if outcome.compiled is None:
        return
    show_problems(outcome.compiled.warnings, outcome.folder, style="yellow", prefix="warning: ")
    bundle = outcome.compiled.bundle
    headings = ("tool", "kind", "runs", "bytes", "~tokens", "anonymous")
    rows = [[str(row[heading]) for heading in headings] for row in _tool_rows(bundle)]
    show_table(bundle.endpoint, headings, rows)
    say(_who_gets_in(bundle))


def _report(outcome: Outcome) -> dict[str, Any]:
    bundle = outcome.compiled.bundle if outcome.compiled else None
    return {
        "folder": str(outcome.folder),
        "endpoint": bundle.endpoint if bundle else None,
        "tools": _tool_rows(bundle) if bundle else [],
        "problems": [_problem(problem) for problem in outcome.problems],
        "warnings": [_problem(problem) for problem in (outcome.compiled.warnings if outcome.compiled else ())],
    }


def _problem(problem: Any) -> dict[str, Any]:
    return {name: getattr(problem, name) for name in ("file", "line", "column", "sentence")}


def _tool_rows(bundle: Bundle) -> list[dict[str, Any]]:
    everybody = outcome_of(bundle.conditions, unrestricted=False)
    anonymous = {entry["name"] for entry in list_entries(bundle, everybody)}
    allowed = bundle.access.anonymous == "allow"
    rows = []
    for tool in bundle.tools:
        kind, runs = _what_runs(tool)
        size = len(to_json_bytes(_full_entry(bundle, tool)))
        rows.append(
            {
                "tool": tool.name,
                "kind": kind,
                "runs": runs,
                "bytes": size,
                "~tokens": size // BYTES_PER_TOKEN,
                "anonymous": "yes" if allowed and tool.name in anonymous else "no",
            }
        )
    return rows


def _what_runs(tool: Tool) -> tuple[str, str]:
    match tool:
        case PrescribedTool():
            return "prescribed", f"{tool.operation.kind} {tool.operation.name}"
        case GraphQLTool():
            return "graphql", "requests the model writes"


def _full_entry(bundle: Bundle, tool: Tool) -> Any:
    entries = list_entries(bundle, outcome_of(bundle.conditions, unrestricted=True))
    return next((entry for entry in entries if entry["name"] == tool.name), None)


def _who_gets_in(bundle: Bundle) -> str:
    keys = len(bundle.access.api_keys)
    who = [f"{keys} API key{'s' if keys != 1 else ''}"] if keys else []
    who += ["anonymous callers"] if bundle.access.anonymous == "allow" else []
    if not who:
        return "Nobody gets in once this is published: add an access section or identity.api_keys to config.yaml."
    return f"Who gets in: {' and '.join(who)}."
