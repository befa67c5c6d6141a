"""``stile check``: the problems and warnings of endpoint folders, the cost of their tools and their callers."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from handler.bundle.content import FileResource, Resource
from handler.bundle.model import Bundle
from handler.commands.finding.report import SearchReport, search_report, share
from handler.commands.folders.cache_folder import user_cache
from handler.commands.folders.endpoint_folders import add_folder_arguments
from handler.commands.folders.endpoints import Outcome, compile_all
from handler.commands.folders.taken_along import told_of
from handler.commands.folders.tool_costs import told_of_tools, tool_list, tool_rows
from handler.commands.publishing.checks import (
    address_faults,
    check_warnings,
    publish_rules,
    with_sealed_cursors,
)
from handler.commands.terminal.command_line import current_answer
from handler.commands.terminal.console import located, plain_problem, say, show_json, show_table
from handler.commands.terminal.exit_codes import DONE, REFUSED
from handler.compiler.codes import CODES
from handler.compiler.operations.author_operations import AuthorDocument
from handler.errors.meanings import REQUEST_CODES
from handler.text.sentences import counted, did_you_mean

EXAMPLES = (
    "stile check endpoints --strict",
    "stile check --explain untitled-tool",
)
EXIT_CODES = {REFUSED: "an endpoint has problems; with --strict, also if there are warnings"}

HEADINGS = ("tool", "kind", "runs", "types", "bytes", "~tokens", "listed", "anonymous")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    parser.add_argument("--strict", action="store_true", help="fail on warnings too")
    parser.add_argument(
        "--min-recall",
        type=share,
        metavar="SHARE",
        help="fail if models find the answers of a smaller share of questions.yaml, as 0.8",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")
    parser.add_argument("--explain", metavar="CODE", action=_Explain, help="explain a code and its remedy")


class _Explain(argparse.Action):
    """Print the meaning of a code, whatever the folder is."""

    def __call__(
        self, parser: argparse.ArgumentParser, _namespace: argparse.Namespace, value: Any, _option: str | None = None
    ) -> None:
        code = str(value).strip("[]")  # messages have the code in brackets
        known = [*CODES, *REQUEST_CODES]
        if code not in known:
            raise argparse.ArgumentError(self, f'there is no code "{code}"{did_you_mean(code, known)}')
        if current_answer():  # --json may stand behind this option
            show_json(_facts(code))
        else:
            for line in _explanation(**_facts(code)):
                say(line)
        parser.exit()


def _facts(code: str) -> dict[str, str]:
    diagnostic = CODES.get(code)
    is_warning = diagnostic is not None and diagnostic.is_warning
    kind = "warning" if is_warning else "error" if diagnostic else "error of a request"
    meaning, remedy = (diagnostic.meaning, diagnostic.remedy) if diagnostic else REQUEST_CODES[code]
    return {"code": code, "kind": kind, "meaning": meaning, "remedy": remedy}


def _explanation(*, code: str, kind: str, meaning: str, remedy: str) -> Iterator[str]:
    yield f"{code} ({kind})"
    yield f"  {meaning}"
    yield f"  What to do: {remedy}"
    if kind == "warning" and code != "unused-ignore":
        yield f"  To silence it: checks: {{ignore: [{{code: {code}, reason: …}}]}} in config.yaml"


def run(options: argparse.Namespace) -> int:
    schemas = user_cache(options.folder, os.environ)
    outcomes = compile_all(options.folder, stage=options.stage, endpoint=options.endpoint, tested=True, schemas=schemas)
    searches = [search_report(with_sealed_cursors(outcome)) for outcome in outcomes]
    outcomes = [search.outcome for search in searches]
    warnings = sum(len(check_warnings(each.compiled, each.folder)) for each in outcomes if each.compiled)
    refused = options.strict and warnings > 0
    recall = min((search.recall for search in searches), default=1.0)
    missed = f"; recall {recall:.2f}, below {options.min_recall:g}" if recall < (options.min_recall or 0) else ""
    if options.json:
        show_json({"endpoints": [{**_report(search.outcome), **search.plain()} for search in searches]})
    else:
        for search in searches:
            _show(search.outcome, search)
        _sum_up(outcomes, warnings=warnings, refused=refused, missed=missed)
    return REFUSED if refused or missed or any(outcome.problems for outcome in outcomes) else DONE


def _show(outcome: Outcome, search: SearchReport) -> None:
    if outcome.compiled is None:
        return
    for warning in check_warnings(outcome.compiled, outcome.folder):
        say(located(warning, outcome.folder, kind="warning: "), "yellow")
    bundle = outcome.compiled.bundle
    rows = tool_rows(outcome.compiled)
    show_table(bundle.endpoint, HEADINGS, [row.cells() for row in rows])
    for sentence in told_of_tools(rows, tool_list(outcome.compiled)):
        say(sentence)
    for sentence in told_of(outcome.compiled.taken_along):
        say(sentence, "yellow")
    say(*_who_gets_in(bundle))
    say(_graphql(bundle))
    if bundle.prompts or bundle.resources or bundle.instructions:
        say(_content(bundle))
    for sentence, style in (*_code(bundle), *search.sentences()):
        say(sentence, style)
    for fault in address_faults(bundle, publish_rules()):
        say(f"`stile publish` will refuse {fault}.", "yellow")
    say("")


def _sum_up(outcomes: Sequence[Outcome], *, warnings: int, refused: bool, missed: str) -> None:
    for outcome in outcomes:
        for problem in outcome.problems:
            say(located(problem, outcome.folder), "red")
    problems = sum(len(outcome.problems) for outcome in outcomes)
    endpoints = counted(len(outcomes), "endpoint")
    wrong = f"{sum(bool(outcome.problems) for outcome in outcomes)} of {endpoints}"
    found = f"{counted(problems, 'problem')} in {wrong}" if problems else f"No problems in {endpoints}"
    beside = f"; {counted(warnings, 'warning')}" if warnings else ""
    strict = ", which --strict refuses" if refused else ""
    say(f"{found}{beside}{strict}{missed}", "red" if problems or refused or missed else "green")


def _report(outcome: Outcome) -> dict[str, Any]:
    bundle = outcome.compiled.bundle if outcome.compiled else None
    warnings = check_warnings(outcome.compiled, outcome.folder) if outcome.compiled else []
    return {
        "folder": outcome.folder.as_posix(),
        "endpoint": bundle.endpoint if bundle else None,
        "tools": [asdict(row) for row in tool_rows(outcome.compiled)] if outcome.compiled else [],
        "toolList": tool_list(outcome.compiled).plain() if outcome.compiled else None,
        "graphql": bundle.graphql.mode if bundle else None,
        "prompts": [prompt.name for prompt in bundle.prompts] if bundle else [],
        "resources": [_uri(resource) for resource in bundle.resources] if bundle else [],
        "skills": [skill.name for skill in bundle.skills] if bundle else [],
        "instructionsBytes": len(bundle.instructions.encode()) if bundle else 0,
        "documents": [_document(document) for document in outcome.compiled.documents] if outcome.compiled else [],
        "takenAlong": [asdict(each) for each in outcome.compiled.taken_along] if outcome.compiled else [],
        "problems": [plain_problem(problem, outcome.folder) for problem in outcome.problems],
        "warnings": [plain_problem(warning, outcome.folder) for warning in warnings],
    }


def _document(document: AuthorDocument) -> dict[str, Any]:
    return {"file": document.file, "documentId": document.id, "operations": list(document.operations)}


def _who_gets_in(bundle: Bundle) -> tuple[str, str]:
    identity = bundle.identity
    counts = (
        (identity.api_keys, "API key"),
        (identity.issuers, "token issuer"),
        (identity.trusted_apis, "trusted API"),
    )
    who = [counted(len(found), what) for found, what in counts if found]
    who += ["anonymous callers"] if bundle.access.anonymous == "allow" else []
    if who:
        return f"Who gets in: {_listed(who)}.", ""
    remedy = "add a key or an issuer to identity in config.yaml, or anonymous: allow to access"
    return f"Nobody gets in once this is published: {remedy}.", "yellow"


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _graphql(bundle: Bundle) -> str:
    match bundle.graphql.mode:
        case "on":
            return "GraphQL over HTTP: any request within the policies."
        case "persisted":
            return f"GraphQL over HTTP: {counted(len(bundle.graphql.documents), 'persisted document')}."
        case _:
            return "GraphQL over HTTP: off."


def _content(bundle: Bundle) -> str:
    """Count prompts, resources and instructions. The size is of files only: each caller has a schema of their own."""
    said = []
    if bundle.prompts:
        said.append(counted(len(bundle.prompts), "prompt"))
    if bundle.resources:
        size = sum(resource.entry["size"] for resource in bundle.resources if isinstance(resource, FileResource))
        said.append(f"{counted(len(bundle.resources), 'resource')} ({size} bytes of files)")
    if bundle.skills:
        said.append(counted(len(bundle.skills), "skill"))
    if bundle.instructions:
        said.append(f"instructions of {len(bundle.instructions.encode())} bytes")
    return f"Beside tools: {_listed(said)}."


def _uri(resource: Resource) -> str:
    return str(resource.entry.get("uri") or resource.entry["uriTemplate"])


def _code(bundle: Bundle) -> Iterator[tuple[str, str]]:
    """Yield sentences on toolkits that decide for each caller."""
    for kit in bundle.code:
        if kit.per_caller:
            sentence = f"{kit.use} decides its content for each caller, so its module loads when tools are listed."
            yield sentence, ""
