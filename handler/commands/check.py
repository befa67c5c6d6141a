"""``stile check``: the problems and warnings of endpoint folders, the cost of their tools and their callers."""

from __future__ import annotations

import argparse
import gc
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from handler.bundle.content import FileResource
from handler.bundle.model import Bundle
from handler.bundle.tools import CatalogTool, CompanionTool
from handler.commands.command_line import DONE, REFUSED, current_answer
from handler.commands.console import plain_problem, problem_line, say, show_json, show_table
from handler.commands.folders.endpoint_records import EndpointRecords
from handler.commands.folders.endpoints import Outcome, Record, add_folder_arguments, compile_all
from handler.commands.folders.tool_costs import sentences_on_tools, tool_list, tool_rows
from handler.commands.folders.user_secret import user_cache
from handler.commands.publishing.checks import (
    address_faults,
    check_warnings,
    publish_rules,
    with_sealed_cursors,
)
from handler.compiler.access.propagation import TakenAlong
from handler.compiler.codes import CODES
from handler.compiler.source.files import QUESTIONS
from handler.errors.meanings import REQUEST_CODES
from handler.text.sentences import counted, did_you_mean, some

EXAMPLES = (
    "stile check endpoints --strict",
    "stile check --explain untitled-tool",
)
EXIT_CODES = {REFUSED: "an endpoint has problems; with --strict, also if there are warnings"}

HEADINGS = ("tool", "kind", "runs", "types", "bytes", "~tokens", "listed", "anonymous")

MAX_ROWS = 30
"""Tools that have a line each, as many as a screen has room for. ``--full`` and ``--json`` have all of them."""

TOTALS = ("tools", "bytes", "~tokens", "listed")

MAX_GROUPS = 5
MAX_NAMED = 8
"""The limits of each printed list of coordinates that hiding takes along. ``--json`` has all coordinates."""

YOUNG_OBJECTS = 2_000_000
"""New objects before a collection: a check ends with most of what it makes, so scanning that would only cost time."""

Sentence = tuple[str, str]
"""A sentence for a person, with its style."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    parser.add_argument("--strict", action="store_true", help="fail on warnings too")
    parser.add_argument(
        "--min-recall",
        type=_share,
        metavar="SHARE",
        help="fail if models find the answers of a smaller share of questions.yaml, as 0.8",
    )
    parser.add_argument("--full", action="store_true", help=f"print a line for each tool, also of more than {MAX_ROWS}")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")
    parser.add_argument("--explain", metavar="CODE", action=_Explain, help="explain a code and its remedy")


def _share(text: str) -> float:
    """Parse a number from 0 to 1 for argparse."""
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number from 0 to 1")
    return share


class _Explain(argparse.Action):
    """Print the meaning of a code, whatever the folder is."""

    def __call__(
        self, parser: argparse.ArgumentParser, _namespace: argparse.Namespace, value: Any, _option: str | None = None
    ) -> None:
        code = str(value).strip("[]")  # messages have the code in brackets
        codes = [*CODES, *REQUEST_CODES]
        if code not in codes:
            raise argparse.ArgumentError(self, f'there is no code "{code}"{did_you_mean(code, codes)}')
        diagnostic = CODES.get(code)
        kind = "error of a request"
        if diagnostic:
            kind = "warning" if diagnostic.is_warning else "error"
        meaning, remedy = (diagnostic.meaning, diagnostic.remedy) if diagnostic else REQUEST_CODES[code]
        if current_answer():  # --json may stand behind this option
            show_json({"code": code, "kind": kind, "meaning": meaning, "remedy": remedy})
        else:
            say(f"{code} ({kind})")
            say(f"  {meaning}")
            say(f"  What to do: {remedy}")
            if kind == "warning" and code != "unused-ignore":
                say(f"  To silence it: checks: {{ignore: [{{code: {code}, reason: …}}]}} in config.yaml")
        parser.exit()


def run(options: argparse.Namespace) -> int:
    gc.set_threshold(YOUNG_OBJECTS)
    records = EndpointRecords("check", options, os.environ)
    outcomes = compile_all(
        options.folder,
        stage=options.stage,
        endpoint=options.endpoint,
        tested=True,
        schemas=user_cache(options.folder, os.environ),  # not held below: it has schemas
        find_record=records.find,
    )
    checks = [_checked(with_sealed_cursors(outcome)) for outcome in outcomes]
    records.keep(checks)
    warnings = sum(len(record["report"]["warnings"]) for _, record in checks)
    refused = options.strict and warnings > 0
    recall = min((record["recall"] for _, record in checks), default=1.0)
    missed = f"; recall {recall:.2f}, below {options.min_recall:g}" if recall < (options.min_recall or 0) else ""
    if options.json:
        show_json({"endpoints": [record["report"] for _, record in checks]})
    else:
        for _, record in checks:
            _show(record, is_full=options.full)
        _sum_up([outcome for outcome, _ in checks], warnings=warnings, refused=refused, missed=missed)
    return REFUSED if refused or missed or any(outcome.problems for outcome, _ in checks) else DONE


def _checked(outcome: Outcome) -> tuple[Outcome, Record]:
    """Return the outcome with all problems, and all that is printed about the endpoint: its report, and its lines.

    The modules that search are imported only for endpoints that need them.

    Raises:
        SettingsError: an environment variable that does not fit.
    """
    compiled, folder = outcome.compiled, outcome.folder
    if compiled is None:
        return outcome, outcome.record or {"report": _report(outcome), "rows": None, "recall": 1.0}
    warnings, reading, trial = check_warnings(compiled, folder), None, None
    bundle, rows, tools = compiled.bundle, tool_rows(compiled), tool_list(compiled)
    sentences: list[Sentence] = [(sentence, "") for sentence in sentences_on_tools(rows, tools)]
    sentences += [(sentence, "yellow") for sentence in _on_consequences(compiled.taken_along)]
    sentences += _on_contents(bundle)
    if any(isinstance(tool, CatalogTool | CompanionTool) for tool in bundle.tools):
        from handler.commands.find import reading_costs, reading_sentences

        reading = reading_costs(compiled)
        sentences += [(sentence, "") for sentence in reading_sentences(reading)] if reading else []
    if (folder / QUESTIONS).exists():
        from handler.commands.find import try_questions

        trial = try_questions(compiled, folder)
        outcome = replace(outcome, problems=(*outcome.problems, *trial.problems))
        sentences += trial.sentences()
    faults = address_faults(bundle, publish_rules())
    sentences += [(f"`stile publish` will refuse {fault}.", "yellow") for fault in faults]
    report = {
        **_report(outcome),
        "tools": [asdict(row) for row in rows],
        "toolList": tools,
        "warnings": [plain_problem(warning, folder) for warning in warnings],
        "questions": [each.plain() for each in trial.answered] if trial else [],
        "reading": reading,
    }
    return outcome, {
        "endpoint": bundle.endpoint,
        "report": report,
        "recall": trial.recall if trial else 1.0,
        "warnings": [problem_line(warning, folder, kind="warning: ") for warning in warnings],
        "rows": [row.cells() for row in rows],
        "sentences": sentences,
    }


def _report(outcome: Outcome) -> dict[str, Any]:
    """Return the members of ``--json``, of which an endpoint with problems has no more."""
    compiled = outcome.compiled
    bundle = compiled.bundle if compiled else None
    return {
        "folder": outcome.folder.as_posix(),
        "endpoint": bundle.endpoint if bundle else None,
        "tools": [],
        "toolList": None,
        "graphql": bundle.graphql.mode if bundle else None,
        "prompts": [prompt.name for prompt in bundle.prompts] if bundle else [],
        "resources": [str(each.entry.get("uri") or each.entry["uriTemplate"]) for each in bundle.resources]
        if bundle
        else [],
        "skills": [skill.name for skill in bundle.skills] if bundle else [],
        "instructionsBytes": len(bundle.instructions.encode()) if bundle else 0,
        "documents": [
            {"file": document.file, "documentId": document.id, "operations": list(document.operations)}
            for document in (compiled.documents if compiled else ())
        ],
        "takenAlong": [asdict(each) for each in compiled.taken_along] if compiled else [],
        "problems": [plain_problem(problem, outcome.folder) for problem in outcome.problems],
        "warnings": [],
        "questions": [],
        "reading": None,
    }


def _show(record: Record, *, is_full: bool) -> None:
    rows = record["rows"]
    if rows is None:
        return
    for warning in record["warnings"]:
        say(warning, "yellow")
    if is_full or len(rows) <= MAX_ROWS:
        show_table(record["endpoint"], HEADINGS, rows)
    else:
        _show_kinds(record["endpoint"], rows)
    for sentence, style in record["sentences"]:
        say(sentence, style)
    say("")


def _show_kinds(endpoint: str, rows: Sequence[Sequence[Any]]) -> None:
    """Print the number and cost of the tools of each kind, and the names of the largest."""
    tools = [dict(zip(HEADINGS, row, strict=True)) for row in rows]
    groups: dict[str, list[dict[str, Any]]] = {}
    for tool in tools:
        groups.setdefault(tool["kind"], []).append({**tool, "tools": 1, "listed": int(tool["listed"] == "yes")})
    totals = [(kind, *(sum(each[name] for each in group) for name in TOTALS)) for kind, group in groups.items()]
    show_table(endpoint, ("kind", *TOTALS), totals)
    by_size = sorted(tools, key=lambda each: -each["bytes"])
    largest = ", ".join(f"{each['tool']} ({each['bytes']} bytes)" for each in by_size[:MAX_GROUPS])
    say(f"The largest are {largest}. --full prints a line for each of the {len(rows)} tools.")


def _on_consequences(groups: Sequence[TakenAlong]) -> Iterator[str]:
    """Yield sentences on fields that hiding takes along, largest losses first, with the lines that restore them."""
    by_losses = sorted(groups, key=lambda group: (-len(group.lost), group))
    for group in by_losses[:MAX_GROUPS]:
        guarded, lost = some(group.guarded, most=MAX_NAMED), some(group.lost, most=MAX_NAMED)
        yield f"Hiding {guarded} also hides {lost}, because their inputs contain its name. To keep them:"
        more = f" and {len(group.show) - MAX_NAMED} more" if len(group.show) > MAX_NAMED else ""
        yield f"  access.show: {json.dumps(group.show[:MAX_NAMED])}{more}"
    rest = sum(len(group.lost) for group in by_losses[MAX_GROUPS:])
    if rest:
        yield f"{rest} more fields are hidden with others: stile check --json lists them as takenAlong."


def sentence_on_callers(bundle: Bundle) -> Sentence:
    """Return the sentence on the callers that an endpoint admits."""
    identity = bundle.identity
    counts = (
        (identity.api_keys, "API key"),
        (identity.issuers, "token issuer"),
        (identity.trusted_apis, "trusted API"),
    )
    callers = [counted(len(members), noun) for members, noun in counts if members]
    callers += ["anonymous callers"] if bundle.access.anonymous == "allow" else []
    if callers:
        return f"Who gets in: {_listed(callers)}.", ""
    remedy = "add a key or an issuer to identity in config.yaml, or anonymous: allow to access"
    return f"Nobody gets in once this is published: {remedy}.", "yellow"


def _on_contents(bundle: Bundle) -> Iterator[Sentence]:
    """Yield sentences on the callers of an endpoint, its GraphQL, and its contents beside tools."""
    yield sentence_on_callers(bundle)
    modes = {
        "on": "any request within the policies",
        "persisted": counted(len(bundle.graphql.documents), "persisted document"),
        "off": "off",
    }
    yield f"GraphQL over HTTP: {modes[bundle.graphql.mode]}.", ""
    contents = [counted(len(bundle.prompts), "prompt")] if bundle.prompts else []
    if bundle.resources:
        # Of files only: each caller has a schema of their own.
        size = sum(resource.entry["size"] for resource in bundle.resources if isinstance(resource, FileResource))
        contents.append(f"{counted(len(bundle.resources), 'resource')} ({size} bytes of files)")
    if bundle.skills:
        contents.append(counted(len(bundle.skills), "skill"))
    if bundle.instructions:
        contents.append(f"instructions of {len(bundle.instructions.encode())} bytes")
    if contents:
        yield f"Beside tools: {_listed(contents)}.", ""
    for kit in bundle.code:
        if kit.per_caller:
            yield f"{kit.use} decides its content for each caller, so its module loads when tools are listed.", ""


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _sum_up(outcomes: Sequence[Outcome], *, warnings: int, refused: bool, missed: str) -> None:
    for outcome in outcomes:
        for problem in outcome.problems:
            say(problem_line(problem, outcome.folder), "red")
    problems = sum(len(outcome.problems) for outcome in outcomes)
    endpoints = counted(len(outcomes), "endpoint")
    faulty = f"{sum(bool(outcome.problems) for outcome in outcomes)} of {endpoints}"
    result = f"{counted(problems, 'problem')} in {faulty}" if problems else f"No problems in {endpoints}"
    beside = f"; {counted(warnings, 'warning')}" if warnings else ""
    strict = ", which --strict refuses" if refused else ""
    say(f"{result}{beside}{strict}{missed}", "red" if problems or refused or missed else "green")
