"""``stile pull``: an endpoint folder's schema, renewed, and the problems that the new one makes."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from handler.commands.command_line import REFUSED, CommandRefused, UsageRefused
from handler.commands.console import plain_problem, problem_line, say, show_json, slow_work
from handler.commands.folders.atomic_writes import replace_text
from handler.commands.folders.endpoints import add_folder_arguments, find_endpoints
from handler.commands.schema_source.schema_file import are_equal, compare_schemas
from handler.commands.schema_source.schema_reading import read_sdl
from handler.commands.schema_source.source_options import (
    RequestHeaders,
    SchemaSource,
    SourceRefused,
    add_header_argument,
    add_source_argument,
    add_timeout_argument,
    joined_headers,
    parse_source,
    url_in,
    with_heading,
    without_heading,
)
from handler.compiler.compile_context import read_context
from handler.compiler.source.files import MAX_FILE_BYTES, SCHEMA_FILE
from handler.errors.authoring import Problem
from handler.strict_json import JSONObject
from handler.text.sentences import counted, some

EXAMPLES = ("stile pull shop/products --check",)
EXIT_CODES = {REFUSED: "no schema was read, or the new schema breaks the endpoint"}

MAX_SHOWN = 20
"""Types and fields of each kind that are printed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    add_source_argument(
        parser, meaning="the URL of the API, or a file (default: the URL that schema.graphql names, or upstream.url)"
    )
    add_header_argument(parser)
    add_timeout_argument(parser)
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")


def run(options: argparse.Namespace) -> int:
    folders = list(find_endpoints(options.folder))
    if len(folders) > 1:
        raise UsageRefused(f"{options.folder.as_posix()} has {len(folders)} endpoints: name the folder of one")
    folder = folders[0]
    headers = joined_headers(options.headers)
    try:
        file = folder / SCHEMA_FILE
        if not file.is_file():
            cause = "there is no such file: expected the schema that `stile init` keeps apart"
            raise SourceRefused(file.as_posix(), cause)
        with file.open("rb") as content:
            old = content.read(MAX_FILE_BYTES + 1).decode("utf-8-sig", errors="replace")
        source = options.source or _source_of(folder, old, options, headers)
        with slow_work(f"Reading the schema of {source.shown}"):
            source, sdl = read_sdl(source, headers=headers, timeout_s=options.timeout, old=old)
        return _renew(folder, old, sdl, source, options)
    except OSError as exc:
        raise CommandRefused(f"{folder.as_posix()}: {exc.strerror or exc}") from exc


def _renew(folder: Path, old: str, sdl: str, source: SchemaSource, options: argparse.Namespace) -> int:
    """Show the changes, then write the schema unless it is only checked. Return the exit code."""
    file = folder / SCHEMA_FILE
    facts: JSONObject = {"folder": folder.as_posix(), "source": source.shown}
    if are_equal(without_heading(old), sdl):
        if options.json:
            show_json({**facts, "changed": False, "written": False})
        else:
            say(f"{file.as_posix()}: the schema of {source.shown} has not changed", "green")
        return 0
    text = with_heading(sdl, source)
    with slow_work("Compiling the endpoint with both schemas"):
        changes, problems, warnings = compare_schemas(
            folder, text, source, stage=options.stage, endpoint=options.endpoint
        )
    breaks = bool(problems or changes["tools"]["removed"])
    if not options.json:
        say(f"{folder.as_posix()}: the schema of {source.shown} has changed", "bold")
        _show(folder, changes, problems, warnings)
    if not options.check:
        replace_text(file, text)
    if options.json:
        facts |= {"changed": True, "written": not options.check, "breaks": breaks, **changes}
        plain = [[plain_problem(each, folder) for each in some] for some in (problems, warnings)]
        show_json({**facts, "problems": plain[0], "warnings": plain[1]})
    else:
        say("Nothing was written (--check)." if options.check else f"Wrote {file.as_posix()}.")
    return 1 if breaks else 0


def _source_of(folder: Path, text: str, options: argparse.Namespace, headers: RequestHeaders) -> SchemaSource:
    """Return the API that the folder names.

    Raises:
        SourceRefused: the folder names none, or two of different origins and there are headers for one of them.
    """
    origin = url_in(text)
    # Only the settings: a folder with problems in its operations names its API, too.
    upstream = read_context(folder, stage=options.stage, endpoint=options.endpoint, environ=os.environ).config.upstream
    configured = "" if upstream.tenant else upstream.url  # each tenant has an address of its own
    if not origin and not configured:
        raise SourceRefused(folder.as_posix(), "it names no API: --from says where the schema comes from")
    if origin and configured and headers and urlsplit(origin.lower())[:2] != urlsplit(configured.lower())[:2]:
        cause = f"the schema is from {origin}, and upstream.url is {configured}: --from says which gets the headers"
        raise SourceRefused(folder.as_posix(), cause)
    try:
        return parse_source(origin or configured)
    except argparse.ArgumentTypeError as exc:
        raise SourceRefused(folder.as_posix(), f"upstream.url: {exc}") from None


def _show(folder: Path, changes: JSONObject, problems: Sequence[Problem], warnings: Sequence[Problem]) -> None:
    for sign, names, style in (("+", changes["added"], "green"), ("-", changes["removed"], "yellow")):
        for name in names[:MAX_SHOWN]:
            say(f"  {sign} {name}", style)
        if len(names) > MAX_SHOWN:
            say(f"  {sign} and {len(names) - MAX_SHOWN} more", style)
    for problem in problems:
        say(problem_line(problem, folder), "red")
    for warning in warnings:
        say(problem_line(warning, folder, kind="warning: "), "yellow")
    tools = changes["tools"]
    for name in tools["added"]:
        say(f"tool {name}: new", "green")
    for name in tools["removed"]:
        say(f"tool {name}: lost", "red")
    for name, parts in tools["changed"].items():
        say(f"tool {name}: {', '.join(parts)} changed", "yellow")
    decided = [(coordinate, rules) for coordinate, rules in changes["policies"].items() if rules]
    for coordinate, rules in decided[:MAX_SHOWN]:
        places = "; ".join(f"{folder.as_posix()}/{rule}" if rule.partition(":")[2] else rule for rule in rules)
        say(f"new {coordinate}: {places}", "yellow")
    if len(decided) > MAX_SHOWN:
        say(f"and {len(decided) - MAX_SHOWN} more under these rules", "yellow")
    undecided = [coordinate for coordinate, rules in changes["policies"].items() if not rules]
    if undecided:
        say(f"no policy is for the new {some(undecided, most=MAX_SHOWN)}", "yellow")
    faults = [counted(len(problems), "problem")] if problems else []
    faults += [f"{counted(len(tools['removed']), 'tool')} lost"] if tools["removed"] else []
    if faults:
        say(f"This breaks the endpoint: {', '.join(faults)}.", "red")
    else:
        say("This breaks nothing in the endpoint.", "green")
