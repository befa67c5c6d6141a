"""``stile explain``: the parts of endpoints that callers reach, and the rules that hide the rest."""

from __future__ import annotations

import argparse
import gc
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from handler.audience.reach import Reach, Visitor
from handler.audience.view_paths import resolve_in
from handler.commands.command_line import REFUSED, USAGE
from handler.commands.console import ERR, complain, located, show_json, show_verbatim, track
from handler.commands.explaining import FieldReach, OneCaller, show_side_by_side
from handler.commands.folders.endpoint_folders import add_folder_arguments, find_endpoints
from handler.commands.local.callers import NOTATION, SKIPS_POLICIES, NamedCaller, caller_argument
from handler.compiler.compile import compile_explained
from handler.errors.authoring import CompileError, UnknownCaller, UnknownCoordinate
from handler.text.sentences import cut, did_you_mean

EXAMPLES = (
    "stile explain endpoints --as anonymous --as claims.json",
    "stile explain endpoints --field Order.total --mermaid",
)
EXIT_CODES = {
    REFUSED: "an endpoint has problems",
    USAGE: "the command line is not valid, or the tool, caller or coordinate does not exist",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    parser.add_argument(
        "--as",
        dest="callers",
        metavar="CALLER",
        action="append",
        type=caller_argument,
        default=[],
        help=f"{NOTATION}; repeat it for several callers side by side; without it, a caller who skips policies",
    )
    parser.add_argument("--tool", metavar="TOOL", help="explain one tool")
    parser.add_argument(
        "--field",
        metavar="COORDINATE",
        help="show which callers reach a part of the schema, such as Employee.salary or EmployeeFilter.salaryGt",
    )
    parser.add_argument("--mermaid", action="store_true", help="with --field: print the ways as a Mermaid flowchart")
    parser.add_argument("--full", action="store_true", help="print every hidden part and the schemas")
    parser.add_argument("--json", action="store_true", help="print JSON for another program")


def run(options: argparse.Namespace) -> int:
    if options.mermaid and (options.field is None or options.json):
        complain("--mermaid: expected --field with the part to draw, and no --json")
        return 2
    gc.disable()  # the syntax trees of schemas stay until the end, and scanning them takes long
    try:
        return _explain(options)
    except (UnknownCaller, UnknownCoordinate) as exc:
        complain(str(exc))
        return 2
    finally:
        gc.enable()


def _explain(options: argparse.Namespace) -> int:
    found = _read(options)
    if found is None:
        return 1
    if options.tool and not any(
        entrance.tool and entrance.name == options.tool for _, each in found for entrance in each.entrances
    ):
        with_alias = [
            each for each in found if any(_is_called(entrance.tool, options.tool) for entrance in each[1].entrances)
        ]
        if not with_alias:
            names = sorted(entrance.name for _, each in found for entrance in each.entrances if entrance.tool)
            meant = did_you_mean(options.tool, names) or "."
            complain(f'There is no tool "{options.tool}"{meant} There are: {", ".join(names)}')
            return 2
        found = with_alias
    if options.field is not None:
        return _explain_field(found, options)
    named = options.callers or [SKIPS_POLICIES]
    endpoints = [
        (folder, reach)
        for folder, reach in found
        if not options.tool or any(_is_called(entrance.tool, options.tool) for entrance in reach.entrances)
    ]
    visitors = _visitors([reach for _, reach in endpoints], named)
    if options.json:
        views = [
            OneCaller(folder, reach, visitor, tool=options.tool)
            for (folder, reach), of_endpoint in zip(endpoints, visitors, strict=True)
            for visitor in of_endpoint
        ]
        show_json({"endpoints": [view.plain() for view in views]})
        return 0
    for (folder, reach), of_endpoint in zip(endpoints, visitors, strict=True):
        if len(of_endpoint) == 1:
            OneCaller(folder, reach, of_endpoint[0], tool=options.tool).show(full=options.full)
        elif of_endpoint:
            show_side_by_side(folder, reach, of_endpoint, tool=options.tool, full=options.full)
    return 0


def _read(options: argparse.Namespace) -> list[tuple[Path, Reach]] | None:
    """Compile the endpoints at or below a folder; ``None`` after printing their problems."""
    found: list[tuple[Path, Reach]] = []
    problems = 0
    folders = list(find_endpoints(options.folder))
    for folder in track(folders, "Compiling", ERR, name=Path.as_posix):
        try:
            made = compile_explained(folder, stage=options.stage, endpoint=options.endpoint, environ=os.environ)
            found.append((folder, Reach(*made)))
        except CompileError as exc:
            problems += len(exc.problems)
            for problem in exc.problems:
                complain(located(problem, folder))
    return None if problems else found


def _explain_field(found: Sequence[tuple[Path, Reach]], options: argparse.Namespace) -> int:
    """Explain who reaches a coordinate, at each endpoint that has it."""
    coordinate, having = _known_coordinate([reach for _, reach in found], options.field)
    endpoints = [(folder, reach) for folder, reach in found if reach in having]
    visitors = _visitors([reach for _, reach in endpoints], options.callers)
    views = [
        FieldReach(folder, reach, coordinate[reach], visitors=of_endpoint)
        for (folder, reach), of_endpoint in zip(endpoints, visitors, strict=True)
    ]
    if options.json:
        show_json({"field": options.field, "endpoints": [view.plain() for view in views]})
        return 0
    if options.mermaid:
        lines = [line for number, view in enumerate(views) for line in view.mermaid(f"e{number}")]
        show_verbatim("\n".join(["flowchart LR", *lines]))
        return 0
    for view in views:
        view.show(full=options.full)
    return 0


def _known_coordinate(reaches: Sequence[Reach], text: str) -> tuple[dict[Reach, str], list[Reach]]:
    """Return the coordinate that a text names at each endpoint that has it, and these endpoints.

    Raises:
        UnknownCoordinate: no endpoint has it; the message is of the first with a schema.
    """
    found: dict[Reach, str] = {}
    refusal: UnknownCoordinate | None = None
    for reach in reaches:
        if reach.index is None:
            continue
        try:
            found[reach] = resolve_in(reach.index, text)
        except UnknownCoordinate as exc:
            refusal = refusal or UnknownCoordinate(f'--field "{cut(text)}": {exc}')
    if not found:
        raise refusal or UnknownCoordinate(f'--field "{cut(text)}": no endpoint here has a schema')
    return found, list(found)


def _visitors(reaches: Sequence[Reach], callers: Sequence[NamedCaller]) -> list[list[Visitor]]:
    """Return the callers at each endpoint. An endpoint without a named API key leaves its holder out.

    Raises:
        UnknownCaller: no endpoint has an API key of the name.
    """
    found: list[list[Visitor]] = [[] for _ in reaches]
    for caller in callers:
        refusal: UnknownCaller | None = None
        known = False
        for reach, visitors in zip(reaches, found, strict=True):
            try:
                visitors.append(reach.visitor(caller))
                known = True
            except UnknownCaller as exc:
                refusal = refusal or exc
        if refusal and not known:
            raise refusal
    return found


def _is_called(tool: Any, name: str) -> bool:
    return tool is not None and name in (tool.name, *tool.options.aliases)
