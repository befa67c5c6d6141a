"""Words of ``stile explain`` for callers, rules, standings and classes, and lines that fit a terminal."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from handler.audience.classes import UNNAMED, CallerClass
from handler.audience.entrances import Entrance
from handler.audience.operation_standing import Standing
from handler.audience.reach import Visitor
from handler.commands.terminal.console import OUT, one_line, say
from handler.compiler.problems import Place
from handler.compiler.provenance import Cause
from handler.text.sentences import some

MAX_NAMES = 5
"""Coordinates that a line names if not everything is asked for."""


def caller_in_words(visitor: Visitor) -> str:
    """Return a caller in words, with the reason if the function answers 401."""
    principal = visitor.principal
    refused = f", who is answered 401 everywhere ({visitor.refusal}); policies alone would leave them this"
    tail = refused if visitor.refusal else ""
    match principal.kind:
        case "anonymous":
            return f"a caller without a credential{tail}"
        case "development":
            return "a caller who skips policies"
        case "api_key":
            skips = ", who skips policies" if principal.unrestricted else ""
            return f"the holder of the API key {principal.name}{skips}{tail}"
        case _:
            return f"a caller with the claims of {principal.name}"


def class_in_words(found: CallerClass, *, most: int = 2) -> str:
    """Return the witnesses of a class in words."""
    shown = [_witness(each) for each in found.witnesses[:most]]
    more = len(found.witnesses) - len(shown)
    return " or ".join(shown) + (f" or {more} more" if more else "")


def _witness(visitor: Visitor) -> str:
    if visitor.label != UNNAMED:
        return visitor.label or "no policies"
    claims = visitor.principal.claims or {}
    return f"token {json.dumps(claims, ensure_ascii=False)}" if claims else "any token"


def rule_in_words(cause: Cause, folder: Path) -> str:
    """Return a rule with its place."""
    return f"{place_in_words(cause.rule.place, folder)}{cause.rule.text}"


def place_in_words(place: Place | None, folder: Path, *, end: str = ": ") -> str:
    """Return ``file:line`` and an end; empty string if there is no place."""
    return f"{(folder / place.file).as_posix()}:{place.line}{end}" if place and place.line else ""


def reasons(causes: Mapping[str, Iterable[Cause]], folder: Path) -> dict[str, tuple[str, ...]]:
    """Return coordinate -> its rules in words."""
    return {
        coordinate: tuple(f"{'' if cause.own else 'follows from '}{rule_in_words(cause, folder)}" for cause in each)
        for coordinate, each in causes.items()
    }


def standing_in_words(standing: Standing, entrance: Entrance) -> str:
    """Return a cell of a table."""
    if standing.fields:
        seen, all_of_them = standing.fields
        return f"part ({seen} of {all_of_them})"
    words = "-" if standing.verdict == "no" else standing.verdict
    unlisted = entrance.tool is not None and entrance.tool.options.hidden and standing.verdict in ("yes", "call")
    return f"{words}, not listed" if unlisted else words


def show_rules(causes: Mapping[str, Sequence[Cause]], folder: Path, *, full: bool) -> None:
    """Print each rule once, with the coordinates that it hides, by name or as a consequence."""
    by_rule: dict[str, tuple[list[str], list[str]]] = {}
    for coordinate, each in causes.items():
        for cause in each:
            own, others = by_rule.setdefault(rule_in_words(cause, folder), ([], []))
            (own if cause.own else others).append(coordinate)
    for words, (own, others) in by_rule.items():
        show_line(words, indent=2)
        most = len(causes) if full else MAX_NAMES
        named = [some(own, most=most)] if own else []
        named += [f"with {'it' if len(own) == 1 else 'them'}: {some(others, most=most)}"] if own and others else []
        named += [f"as a consequence: {some(others, most=most)}"] if others and not own else []
        show_line("; ".join(named), indent=4)


def show_line(text: str, *, indent: int = 0, style: str = "") -> None:
    """Print a line, wrapped between words on a terminal: a path or a coordinate stays whole."""
    text = one_line(text)
    if not OUT.is_terminal:
        say(f"{' ' * indent}{text}", style)
        return
    start, below = " " * indent, " " * (indent + 4)
    lines = textwrap.wrap(
        text,
        max(OUT.width, 20),
        initial_indent=start,
        subsequent_indent=below,
        break_long_words=False,
        break_on_hyphens=False,
    )
    for line in lines or [""]:
        say(line, style)
