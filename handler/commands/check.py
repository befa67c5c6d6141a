from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from handler.bundle import Bundle, GraphQLTool, PrescribedTool, Tool, to_json_bytes
from handler.commands.compiling import Outcome, compile_all
from handler.commands.console import located, place_of, say, show_json, show_table
from handler.commands.folders import add_folder_arguments
from handler.errors import Problem
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
    if options.json:
        show_json({"endpoints": [_report(outcome) for outcome in outcomes]})
    else:
        for outcome in outcomes:
            _show(outcome)
        _sum_up(outcomes)
    return 1 if any(outcome.problems for outcome in outcomes) else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """What a tool is and costs: the bytes of its ``tools/list`` entry, and roughly the tokens a model pays for it."""

    name: str
    kind: str
    runs: str
    bytes: int
    tokens: int
    anonymous: bool


def _show(outcome: Outcome) -> None:
    if outcome.compiled is None:
        return
    for warning in outcome.compiled.warnings:
        say(located(warning, outcome.folder, kind="warning: "), "yellow")
    bundle = outcome.compiled.bundle
    rows = [
        (row.name, row.kind, row.runs, row.bytes, row.tokens, "yes" if row.anonymous else "no") for row in _rows(bundle)
    ]
    show_table(bundle.endpoint, ("tool", "kind", "runs", "bytes", "~tokens", "anonymous"), rows)
    say(*_who_gets_in(bundle))
    say("")


def _sum_up(outcomes: Sequence[Outcome]) -> None:
    wrong = [outcome for outcome in outcomes if outcome.problems]
    for outcome in wrong:
        for problem in outcome.problems:
            say(located(problem, outcome.folder), "red")
    if wrong:
        problems = _counted(sum(len(outcome.problems) for outcome in wrong), "problem")
        say(f"{problems} in {len(wrong)} of {_counted(len(outcomes), 'endpoint')}", "red")
    else:
        say(f"No problems in {_counted(len(outcomes), 'endpoint')}", "green")


def _report(outcome: Outcome) -> dict[str, Any]:
    bundle = outcome.compiled.bundle if outcome.compiled else None
    warnings = outcome.compiled.warnings if outcome.compiled else ()
    return {
        "folder": outcome.folder.as_posix(),
        "endpoint": bundle.endpoint if bundle else None,
        "tools": [asdict(row) for row in _rows(bundle)] if bundle else [],
        "problems": [_plain(problem, outcome.folder) for problem in outcome.problems],
        "warnings": [_plain(warning, outcome.folder) for warning in warnings],
    }


def _plain(problem: Problem, folder: Path) -> dict[str, Any]:
    file, line, column = place_of(problem, folder)
    return {"file": file, "line": line, "column": column, "sentence": problem.sentence}


def _rows(bundle: Bundle) -> list[_Row]:
    everything = list_entries(bundle, outcome_of(bundle.conditions, unrestricted=True))
    sizes = {entry["name"]: len(to_json_bytes(entry)) for entry in everything}
    anonymous = list_entries(bundle, outcome_of(bundle.conditions, unrestricted=False))
    seen = {entry["name"] for entry in anonymous if bundle.access.anonymous == "allow"}
    rows = []
    for tool in bundle.tools:
        kind, runs = _what_runs(tool)
        size = sizes.get(tool.name, 0)  # 0: patterns hide all of it from everybody
        tokens = size // BYTES_PER_TOKEN
        rows.append(_Row(name=tool.name, kind=kind, runs=runs, bytes=size, tokens=tokens, anonymous=tool.name in seen))
    return rows


def _what_runs(tool: Tool) -> tuple[str, str]:
    match tool:
        case PrescribedTool():
            return "prescribed", f"{tool.operation.kind} {tool.operation.name}"
        case GraphQLTool():
            return "graphql", "requests the model writes"


def _who_gets_in(bundle: Bundle) -> tuple[str, str]:
    keys = len(bundle.access.api_keys)
    who = [_counted(keys, "API key")] if keys else []
    who += ["anonymous callers"] if bundle.access.anonymous == "allow" else []
    if who:
        return f"Who gets in: {' and '.join(who)}.", ""
    return (
        "Nobody gets in once this is published: add an access section or identity.api_keys to config.yaml.",
        "yellow",
    )


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
