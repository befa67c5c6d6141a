"""The answers to the page of ``stile dev`` as JSON: endpoints, problems, tools, and the reasons of rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from handler.audience.closing_rules import rules_of
from handler.audience.reach import Entrance, Reach, Visitor
from handler.audience.ways import Standing
from handler.commands.folders.tool_costs import ToolRow
from handler.commands.local.dev_session import Workbench
from handler.commands.local.listening import client_lines
from handler.commands.local.local_endpoint import local_settings
from handler.commands.local.local_secrets import unset_secrets
from handler.commands.local.upstream_words import shown_url
from handler.commands.page.personas import Persona
from handler.commands.page.served import ServedEndpoint, visitor_of
from handler.commands.terminal.console import plain_problem
from handler.compiler.problems import Place
from handler.compiler.provenance import Cause
from handler.errors.authoring import Problem
from handler.server.asgi.responses import Refused
from handler.text.sentences import some

USABLE = ("yes", "call")
"""Verdicts of tools that a call of the caller may succeed with."""

MAX_REASONS = 200
"""Reasons of one answer: a rule may hide every field of a large schema."""

Reason = dict[str, Any]


def plain_endpoint(served: ServedEndpoint, url: str, *, personas: bool) -> dict[str, Any]:
    """Return an endpoint as JSON."""
    bundle = served.compiled.bundle
    name = bundle.endpoint
    return {
        "name": name,
        "title": " ".join(word for part in name.split("/") for word in part.replace("_", "-").split("-") if word),
        "description": bundle.instructions,
        "mcpUrl": url,
        "upstream": shown_url(bundle.upstream.url),
        "folder": served.folder.as_posix(),
        "served": True,
        "tools": len(bundle.tools),
        "problems": 0,
        "warnings": len(served.warnings),
        "unset": unset_secrets(served.compiled, local_settings()),
        "personas": [each.plain(bundle) for each in served.personas] if personas else [],
        "clients": [
            {"client": client, "line": line}
            for client, line in client_lines(name.replace("/", "-"), url, with_token=not personas)
        ],
    }


def plain_unserved(name: str, folder: Path) -> dict[str, Any]:
    """Return an endpoint that never compiled as JSON: its name and its folder, and nothing that a bundle says."""
    nothing = {"title": "", "description": "", "mcpUrl": "", "upstream": "", "tools": 0, "warnings": 0}
    return {"name": name, "folder": folder.as_posix(), "served": False, "problems": 0, **nothing} | {
        "unset": [],
        "personas": [],
        "clients": [],
    }


def plain_problems(workbench: Workbench, served: Iterable[ServedEndpoint]) -> list[dict[str, Any]]:
    """Return all problems, then the warnings about served endpoints."""
    of_folder = {each.folder: each for each in served}
    names = workbench.unserved | {folder: each.name for folder, each in of_folder.items()}
    problems = [
        _plain_problem(problem, outcome.folder, severity="error", endpoint=names.get(outcome.folder, ""))
        for outcome in workbench.outcomes
        for problem in outcome.problems
    ]
    failing = {outcome.folder for outcome in workbench.outcomes if outcome.problems}
    warnings = [
        _plain_problem(warning, folder, severity="warning", endpoint=each.name)
        for folder, each in of_folder.items()
        if folder not in failing
        for warning in each.warnings
    ]
    return [*problems, *warnings]


def _plain_problem(problem: Problem, folder: Path, *, severity: str, endpoint: str) -> dict[str, Any]:
    told = plain_problem(problem, folder)
    return {
        "code": told["code"],
        "message": told["sentence"],
        "place": {"file": told["file"], "line": told["line"], "column": told["column"]},
        "severity": severity,
        "endpoint": endpoint,
        "about": told["coordinates"],
    }


def plain_tools(served: ServedEndpoint, persona: Persona) -> list[dict[str, Any]]:
    """Return all tools of an endpoint with their standing for a persona."""
    reach = served.reach
    visitor = visitor_of(reach, persona)
    rows = {row.name: row for row in served.rows}
    return [
        _plain_tool(served, entrance, rows[entrance.name], reach.standing(entrance, visitor, counted=False))
        for entrance in reach.entrances
        if entrance.tool is not None
    ]


def _plain_tool(served: ServedEndpoint, entrance: Entrance, row: ToolRow, standing: Standing) -> dict[str, Any]:
    tool = entrance.tool
    file, line = shown_place(entrance.place, served.folder)
    return {
        "name": row.name,
        "title": tool.entry.get("title", "") if tool else "",
        "kind": row.kind,
        "runs": row.runs,
        "file": file,
        "line": line,
        "tokens": row.tokens,
        "bytes": row.bytes,
        "types": row.types,
        "listed": row.listed,
        "hidden": bool(tool and tool.options.hidden),
        "confirm": tool.options.confirm if tool else "",
        "condition": row.condition,
        "scopes": list(tool.options.scopes) if tool else [],
        "anonymous": row.anonymous,
        "usable": standing.verdict in USABLE,
        "verdict": standing.verdict,
        "note": standing.note,
        "warnings": [each.sentence for each in served.warnings if _concerns(each, served, entrance)],
    }


def _concerns(warning: Problem, served: ServedEndpoint, entrance: Entrance) -> bool:
    """Tell if a warning is about a tool: it names the tool, or names none and is at the tool's declaration.

    Tools in Python that a loop makes have one place.
    """
    if not served.tool_names.isdisjoint(warning.about):
        return entrance.name in warning.about
    place = entrance.place
    return place is not None and place.line > 0 and (warning.file, warning.line) == (place.file, place.line)


def why_not_tool(served: ServedEndpoint, persona: Persona, name: str) -> dict[str, Any]:
    """Return the reasons for a tool's standing for a persona.

    Raises:
        Refused: 400, there is no such tool.
    """
    reach = served.reach
    entrance = _tool_of(reach, name)
    visitor = visitor_of(reach, persona)
    # Policies explain even what a 401 keeps from everybody.
    standing = reach.standing(entrance, _past(reach, visitor), counted=False)
    told = [*_refusals(visitor), *_scopes(entrance, visitor)]
    if standing.note and standing.verdict not in ("401", "403"):
        told.append(reason(f"{name}: {standing.note}"))
    if standing.verdict in ("no", "call", "refused"):
        explained = served.explained
        past = _past(explained, visitor_of(explained, persona))
        told += plain_causes(rules_of(explained, _tool_of(explained, name), past), served.folder)
    if standing.verdict == "no" and not told:
        told.append(reason(f"{name}: nothing is left of it for this caller"))
    verdict = "401" if visitor.refusal else standing.verdict
    return {"tool": name, "verdict": verdict, **_limited(told)}


def _tool_of(reach: Reach, name: str) -> Entrance:
    found = next((each for each in reach.entrances if each.tool is not None and each.name == name), None)
    if found is None:
        raise Refused("bad-request", "the endpoint has no tool of this name: /-/tools lists them")
    return found


def _past(reach: Reach, visitor: Visitor) -> Visitor:
    """Return a visitor whom the endpoint answers no 401."""
    return reach.visitor_of(visitor.principal, visitor.label)


def _refusals(visitor: Visitor) -> Iterator[Reason]:
    if visitor.refusal:
        yield reason(f"the endpoint answers this caller 401: {visitor.refusal}", rule=visitor.refusal)


def _scopes(entrance: Entrance, visitor: Visitor) -> Iterator[Reason]:
    scopes = entrance.tool.options.scopes if entrance.tool else ()
    if visitor.principal.unrestricted:
        return
    lacking = [each for each in scopes if each not in visitor.principal.scopes]
    if lacking:
        sentence = f"{entrance.name} asks for the scopes {' '.join(scopes)}: this caller lacks {' '.join(lacking)}"
        yield reason(sentence, rule=f"scopes of {entrance.name}")


def reason(text: str, *, rule: str = "", file: str = "", line: int = 0) -> Reason:
    """Return a reason as JSON."""
    return {"text": text, "rule": rule, "file": file, "line": line}


def plain_causes(causes: Mapping[str, Sequence[Cause]], folder: Path) -> list[Reason]:
    """Return the rules behind hidden coordinates, each with the coordinates that it hides."""
    by_rule: dict[tuple[str, str, int, bool], list[str]] = {}
    for coordinate, each in causes.items():
        for cause in each:
            file, line = shown_place(cause.rule.place, folder)
            by_rule.setdefault((cause.rule.text, file, line, cause.own), []).append(coordinate)
    return [
        {
            **reason(_hides(coordinates, rule, own=own), rule=rule, file=file, line=line),
            "coordinates": coordinates[:MAX_REASONS],
            "own": own,
        }
        for (rule, file, line, own), coordinates in by_rule.items()
    ]


def _hides(coordinates: Sequence[str], rule: str, *, own: bool) -> str:
    names = some(list(coordinates), most=5)
    return f"{names}: {'' if own else 'follows from '}{rule}"


def _limited(told: list[Reason]) -> dict[str, Any]:
    more = max(0, len(told) - MAX_REASONS)
    return {"reasons": told[:MAX_REASONS], **({"more": more} if more else {})}


def shown_place(place: Place | None, folder: Path) -> tuple[str, int]:
    """Return the file, as a path from the current folder, and the line of a place; empty and 0 if there is none."""
    return ((folder / place.file).as_posix(), place.line) if place and place.line else ("", 0)
