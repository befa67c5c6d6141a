"""The answers to the page of ``stile dev`` as JSON: endpoints, problems, tools, parts of the schema, and reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from handler.audience.reach import OPEN_VERDICTS, Entrance, Passage, Reach, rules_of
from handler.audience.view_paths import resolve_in
from handler.audience.ways import Standing, lacking_scopes
from handler.bundle.tools import PrescribedTool
from handler.commands.check import sentence_on_callers
from handler.commands.console import plain_problem
from handler.commands.explain import FieldReach
from handler.commands.local.author_view import describe_exchange, shown_url
from handler.commands.local.dev_session import Workbench
from handler.commands.local.local_endpoint import local_settings
from handler.commands.local.local_server import ObservedExchange, local_http, unset_secrets
from handler.commands.page.served import Persona, ServedEndpoint, visitor_of
from handler.compiler.problems import Place
from handler.compiler.provenance import Cause
from handler.errors.authoring import Problem, UnknownCoordinate
from handler.errors.infrastructure import HttpError
from handler.graph.documents.used_fields import fields_in, parse
from handler.graph.index import SchemaIndex
from handler.http.client import HttpRequest
from handler.server.asgi.responses import Refused
from handler.text.sentences import some

MAX_REASONS = 200
"""Reasons of one answer: a rule may hide every field of a large schema."""

CONNECT_S = 3.0
"""The time in which the server of an API takes a connection."""

MAX_MATCHES = 50
MAX_TEXT_CHARS = 500
"""Characters of the text that is looked for; a coordinate has two names of the schema."""

Reason = dict[str, Any]


def plain_endpoint(served: ServedEndpoint, url: str, *, personas: bool) -> dict[str, Any]:
    """Return an endpoint as JSON."""
    bundle = served.compiled.bundle
    name = bundle.endpoint
    return {
        "name": name,
        "description": bundle.instructions,
        "mcpUrl": url,
        "upstream": shown_url(bundle.upstream.url),
        "folder": served.folder.as_posix(),
        "served": True,
        "tools": len(bundle.tools),
        "callers": sentence_on_callers(bundle)[0],
        "problems": 0,
        "warnings": len(served.warnings),
        "unset": unset_secrets(served.compiled, local_settings()),
        "personas": [each.plain(bundle) for each in served.personas] if personas else [],
    }


def plain_unserved(name: str, folder: Path) -> dict[str, Any]:
    """Return an endpoint that never compiled as JSON: its name and its folder, and nothing that a bundle says."""
    nothing = {"description": "", "mcpUrl": "", "upstream": "", "tools": 0, "callers": "", "warnings": 0}
    lists: dict[str, Any] = {"unset": [], "personas": []}
    return {"name": name, "folder": folder.as_posix(), "served": False, "problems": 0, **nothing, **lists}


def plain_api(served: ServedEndpoint) -> dict[str, Any]:
    """Return whether the server of an endpoint's API takes connections, and the cause if not. It gets no request."""
    upstream = served.compiled.bundle.upstream
    if not upstream.url or upstream.tenant:
        return {"reached": None, "said": ""}
    try:
        with closing(local_http()) as http:
            http.open(upstream.url, timeout_s=CONNECT_S, guarded=True)
    except HttpError as exc:
        request = HttpRequest(method="POST", url=upstream.url, timeout_s=CONNECT_S, max_bytes=0)
        exchange = ObservedExchange(request=request, failure=exc, duration_ms=0)
        return {"reached": False, "said": describe_exchange(exchange, served.compiled)}
    return {"reached": True, "said": ""}


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
    plain = plain_problem(problem, folder)
    return {
        "code": plain["code"],
        "message": plain["sentence"],
        "place": {"file": plain["file"], "line": plain["line"], "column": plain["column"]},
        "severity": severity,
        "endpoint": endpoint,
        "about": plain["coordinates"],
    }


def plain_tools(served: ServedEndpoint, persona: Persona) -> list[dict[str, Any]]:
    """Return all tools of an endpoint with their standing for a persona."""
    reach = served.reach
    visitor = visitor_of(reach, persona)
    standings = [(each, reach.standing(each, visitor, counted=False)) for each in reach.entrances if each.tool]
    return [_plain_tool(served, entrance, standing) for entrance, standing in standings]


def _plain_tool(served: ServedEndpoint, entrance: Entrance, standing: Standing) -> dict[str, Any]:
    row, tool = served.rows[entrance.name], entrance.tool
    file, line = _place_of(entrance.place, served.folder)

    def is_concerned(warning: Problem) -> bool:
        # It names the tool, or no tool and is at the tool's declaration: tools in Python of a loop have one place.
        if not served.rows.keys().isdisjoint(warning.about):
            return entrance.name in warning.about
        place = entrance.place
        return place is not None and place.line > 0 and (warning.file, warning.line) == (place.file, place.line)

    return {
        "name": row.name,
        "title": tool.entry.get("title", "") if tool else "",
        "kind": row.kind,
        "file": file,
        "line": line,
        "tokens": row.tokens,
        "listed": row.listed,
        "confirm": tool.options.confirm if tool else "",
        "cancels": isinstance(tool, PrescribedTool) and bool(tool.task and tool.task.cancel),
        "usable": standing.verdict in OPEN_VERDICTS,
        "warnings": [warning.sentence for warning in served.warnings if is_concerned(warning)],
    }


def why_not_tool(served: ServedEndpoint, persona: Persona, name: str) -> dict[str, Any]:
    """Return the reasons for a tool's standing for a persona.

    Raises:
        Refused: 400, there is no such tool.
    """
    reach = served.reach
    entrance = _tool_of(reach, name)
    visitor = visitor_of(reach, persona)
    # Policies explain even tools that a 401 keeps from everybody.
    standing = reach.standing(entrance, replace(visitor, refusal=""), counted=False)
    reasons = [_refusal(visitor.refusal)] if visitor.refusal else []
    scopes = entrance.tool.options.scopes if entrance.tool else ()
    lacking = lacking_scopes(scopes, visitor.principal)
    if lacking:
        sentence = f"{name} asks for the scopes {' '.join(scopes)}: this caller lacks {' '.join(lacking)}"
        reasons.append(_reason(sentence, f"scopes of {name}"))
    if standing.note and standing.verdict not in ("401", "403"):
        reasons.append(_reason(f"{name}: {standing.note}"))
    if standing.verdict in ("no", "call", "refused"):
        explained = served.explained
        past = replace(visitor_of(explained, persona), refusal="")
        reasons += _plain_causes(rules_of(explained, _tool_of(explained, name), past), served.folder)
    if standing.verdict == "no" and not reasons:
        reasons.append(_reason(f"{name}: nothing is left of it for this caller"))
    verdict = "401" if visitor.refusal else standing.verdict
    more = len(reasons) - MAX_REASONS
    limited = {"reasons": reasons[:MAX_REASONS], **({"more": more} if more > 0 else {})}
    return {"tool": name, "verdict": verdict, **limited}


def _tool_of(reach: Reach, name: str) -> Entrance:
    for entrance in reach.entrances:
        if entrance.tool is not None and entrance.name == name:
            return entrance
    raise Refused("bad-request", "the endpoint has no tool of this name: /-/tools lists them")


def _refusal(reason: str) -> Reason:
    return _reason(f"the endpoint answers this caller 401: {reason}", reason)


def _reason(text: str, rule: str = "", file: str = "", line: int = 0) -> Reason:
    """Return a reason as JSON."""
    return {"text": text, "rule": rule, "file": file, "line": line}


def _plain_causes(causes: Mapping[str, Sequence[Cause]], folder: Path) -> list[Reason]:
    """Return the rules behind hidden coordinates, each with the coordinates that it hides."""
    by_rule: dict[tuple[str, str, int, bool], list[str]] = {}
    for coordinate, each in causes.items():
        for cause in each:
            file, line = _place_of(cause.rule.place, folder)
            by_rule.setdefault((cause.rule.text, file, line, cause.own), []).append(coordinate)
    return [
        {
            **_reason(f"{some(names, most=5)}: {'' if own else 'follows from '}{rule}", rule, file, line),
            "coordinates": names[:MAX_REASONS],
            "own": own,
        }
        for (rule, file, line, own), names in by_rule.items()
    ]


def _place_of(place: Place | None, folder: Path) -> tuple[str, int]:
    """Return the file, as a path from the current folder, and the line of a place; empty and 0 if there is none."""
    return ((folder / place.file).as_posix(), place.line) if place and place.line else ("", 0)


def reach_of_field(served: ServedEndpoint, personas: Sequence[Persona], text: str) -> dict[str, Any]:
    """Return the parts of the schema that a text may mean, and the personas that reach the part that it names."""
    reach = served.reach
    if reach.index is None:
        return {"field": None, "matches": [], "personas": [], "note": "the endpoint has no schema"}
    coordinate, note = _resolved(reach.index, text)
    matches, more = _matches_of(reach.index, text)
    if coordinate is None and len(matches) == 1 and not more:
        coordinate, note = matches[0]["coordinate"], ""
    return {
        "field": coordinate,
        "note": note,
        "matches": matches,
        "more": more,
        "personas": [_plain_persona(served, each, coordinate) for each in personas] if coordinate else [],
    }


def why_not_field(served: ServedEndpoint, persona: Persona, text: str) -> dict[str, Any]:
    """Return the rules that keep a persona from a part of the schema.

    Raises:
        Refused: 400, the schema has no such part.
    """
    index = served.reach.index
    coordinate, note = _resolved(index, text) if index else (None, "the endpoint has no schema")
    if coordinate is None:
        raise Refused("bad-request", note)
    plain = _plain_persona(served, persona, coordinate)
    return {"field": coordinate, "verdict": "yes" if plain["reached"] else "no", "reasons": plain["reasons"]}


def _resolved(index: SchemaIndex, text: str) -> tuple[str | None, str]:
    """Return the coordinate that a text names; ``None`` and the reason if it names none."""
    try:
        return resolve_in(index, text[:MAX_TEXT_CHARS].strip()), ""
    except UnknownCoordinate as exc:
        return None, str(exc)


def _matches_of(index: SchemaIndex, text: str) -> tuple[list[dict[str, Any]], int]:
    """Return the types and members whose names have a text, and the number of further ones.

    The whole name comes first, then names that begin with the text, then names with the text inside.
    """
    part = text[:MAX_TEXT_CHARS].strip().lower()
    if not part:
        return [], 0
    of_owner, dot, of_member = part.rpartition(".")
    index.read_all(list(index))
    ranked: list[tuple[int, int, str]] = []
    for owner in index:
        if not dot and part in owner.lower():
            ranked.append((_rank(owner, part), len(owner), owner))
        if index.kind(owner) == "union" or (dot and of_owner not in owner.lower()):
            continue
        for member in index.members(owner):
            if of_member in member.lower():
                name = f"{owner}.{member}"
                of_other = dot != "" and owner.lower() != of_owner
                ranked.append((_rank(member, of_member) + of_other, len(name), name))
    matches = []
    for _, _, name in sorted(ranked)[:MAX_MATCHES]:
        owner, _, member = name.partition(".")
        definition = index[owner].fields.get(member) or index[owner].inputs.get(member)
        type_ = definition.type if definition else ""
        matches.append({"coordinate": name, "kind": index.kind(owner), "type": type_})
    return matches, max(0, len(ranked) - MAX_MATCHES)


def _rank(name: str, wanted: str) -> int:
    lower = name.lower()
    return 0 if lower == wanted else 2 if lower.startswith(wanted) else 4


def _plain_persona(served: ServedEndpoint, persona: Persona, coordinate: str) -> dict[str, Any]:
    reach = served.reach
    visitor = visitor_of(reach, persona)
    (of_class,) = FieldReach(served.folder, reach, coordinate, visitors=[visitor]).classes
    reached = bool(of_class.ways) and not visitor.refusal
    return {
        "id": persona.id,
        "label": persona.label,
        "kind": persona.kind,
        "refused": visitor.refusal,
        "reached": reached,
        "through": [_plain_passage(served, reach, each) for each in of_class.passages if each.verdict != "no"],
        "reasons": [] if reached else _reasons(served, persona, coordinate),
    }


def _reasons(served: ServedEndpoint, persona: Persona, coordinate: str) -> list[Reason]:
    """Return the rules that keep a persona from a coordinate, through the entrances closed to it."""
    refusal = visitor_of(served.reach, persona).refusal
    if refusal:
        return [_refusal(refusal)]
    reach = served.explained
    visitor = visitor_of(reach, persona)
    view = FieldReach(served.folder, reach, coordinate, visitors=[visitor])
    (of_class,) = view.classes
    reasons = _plain_causes(view.causes(of_class), served.folder)
    refused = [each for each in of_class.passages if each.verdict in ("401", "403", "refused") and each.note]
    reasons += [_reason(f"{each.entrance.name}: {each.note}") for each in refused]
    if not reasons and not of_class.ways:
        reasons.append(_reason("no tool of the endpoint leads there, and no rule hides it"))
    return reasons


def _plain_passage(served: ServedEndpoint, reach: Reach, passage: Passage) -> dict[str, Any]:
    entrance, path, index = passage.entrance, passage.path, reach.index
    file, line = _place_of(entrance.place, served.folder)
    if index is not None and passage.document:  # it has one way
        steps = [(owner, node.name.value) for owner, node in fields_in(parse(passage.document), index)]
        path = " -> ".join(f"{owner}.{name}" for owner, name in steps if owner in index and name in index[owner].fields)
    return {
        "tool": entrance.name,
        "kind": entrance.kind,
        "verdict": passage.verdict,
        "note": passage.note,
        "path": path,
        "document": passage.document,
        "file": file,
        "line": line,
    }
