"""One caller's view of one endpoint: tools with their reasons, hidden parts with their rules, and schemas."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from handler.audience.closing_rules import hidden_by_patterns, hidden_parts, rules_of
from handler.audience.entrances import OWN_GRAPHQL, Entrance
from handler.audience.reach import Reach, Visitor
from handler.commands.explain_wording import (
    caller_in_words,
    place_in_words,
    reasons,
    show_line,
    show_rules,
    standing_in_words,
)
from handler.commands.terminal.console import OUT, say, show_table
from handler.compiler.access.policies import INTROSPECTION
from handler.graph.sdl import print_view
from handler.policy.evaluation import Mask
from handler.text.sentences import counted, some

FEDERATION = f"gives all there is, and no rule names it (at {OWN_GRAPHQL})"
"""The reason for hiding Federation's fields."""

NOTHING_LEFT = "nothing is left of it"


class OneCaller:
    """One caller's view of one endpoint. ``tool``: of this tool alone."""

    def __init__(self, folder: Path, reach: Reach, visitor: Visitor, *, tool: str | None) -> None:
        self._folder = folder
        self._reach = reach
        self._visitor = visitor
        self._whole = tool is None
        # Policies explain even what a 401 keeps from everybody.
        self._past = reach.visitor_of(visitor.principal, visitor.label)
        self._tools = [
            entrance
            for entrance in reach.entrances
            if entrance.tool is not None and tool in (None, entrance.name, *entrance.tool.options.aliases)
        ]

    def plain(self) -> dict[str, Any]:
        """Return the view as JSON."""
        return {
            "endpoint": self._reach.compiled.bundle.endpoint,
            "as": self._visitor.label,
            "caller": caller_in_words(self._visitor),
            "tools": [self._plain_tool(entrance) for entrance in self._tools],
            "views": dict(self._views()),
            "hidden": {coordinate: list(because) for coordinate, because in self._hidden().items()},
            "hidden_by_patterns": {
                entrance.name: hidden_by_patterns(self._reach, entrance, self._past)
                for entrance in self._tools
                if entrance.view_of
            },
        }

    def show(self, *, full: bool) -> None:
        """Print a summary, or everything."""
        say(f"{self._reach.compiled.bundle.endpoint}, for {caller_in_words(self._visitor)}", "bold")
        self._show_tools(full=full)
        self._show_hidden(full=full)
        if full:
            for name, sdl in self._views():
                say(f"The schema of {name}" if sdl else f"{name}: {NOTHING_LEFT} of its schema", "bold")
                say(sdl.rstrip("\n"))
        elif OUT.is_terminal:
            say("--full adds every hidden part and the schemas.", "dim")

    def _show_tools(self, *, full: bool) -> None:
        found = [(entrance, self._reach.standing(entrance, self._past)) for entrance in self._tools]
        rows = [(entrance.name, entrance.kind, standing_in_words(standing, entrance)) for entrance, standing in found]
        if rows:
            show_table("Tools", ("tool", "kind", "for this caller"), rows)
        for entrance, standing in found:
            self._show_scopes(entrance)
            if standing.note and standing.verdict not in ("401", "403"):
                show_line(f"{entrance.name}: {standing.note}")
            causes = (
                rules_of(self._reach, entrance, self._past) if standing.verdict in ("no", "call", "refused") else {}
            )
            if causes and standing.verdict == "no":
                show_line(f"{entrance.name} is not for this caller:")
            elif standing.verdict == "no":
                show_line(f"{entrance.name}: {NOTHING_LEFT}")
            show_rules(causes, self._folder, full=full)

    def _show_scopes(self, entrance: Entrance) -> None:
        scopes = entrance.tool.options.scopes if entrance.tool else ()
        if scopes:
            lacking = self._lacking(entrance)
            otherwise = "is not asked for them" if self._visitor.principal.claims is None else "has them"
            has = f"lacks {' '.join(lacking)}" if lacking else otherwise
            show_line(f"{entrance.name} asks for the scopes {' '.join(scopes)}: this caller {has}")

    def _lacking(self, entrance: Entrance) -> list[str]:
        """Return the scopes for which a call is refused; an empty list if the caller needs no scopes."""
        scopes = entrance.tool.options.scopes if entrance.tool else ()
        principal = self._visitor.principal
        return [] if principal.unrestricted else [each for each in scopes if each not in principal.scopes]

    def _show_hidden(self, *, full: bool) -> None:
        shown = self._whole or full or any(entrance.view_of for entrance in self._tools)
        causes = hidden_parts(self._reach, self._past) if shown else {}
        if causes:
            say(f"Hidden: {counted(len(causes), 'part')}", "bold")
            show_rules(causes, self._folder, full=full)
        for coordinate, because in self._hidden_at_graphql().items() if self._whole else ():
            show_line(f"{coordinate}: {'; '.join(because)}", indent=2)
        for entrance in self._tools:
            beyond = hidden_by_patterns(self._reach, entrance, self._past)
            if beyond:
                at = place_in_words(entrance.place, self._folder, end="")
                names = some(beyond, most=len(beyond) if full else 5)
                show_line(f"Hidden by the patterns of {entrance.name}{f' ({at})' if at else ''}: {names}")

    def _plain_tool(self, entrance: Entrance) -> dict[str, Any]:
        tool = entrance.tool
        standing = self._reach.standing(entrance, self._past)
        closed = standing.verdict == "no"
        causes = reasons(rules_of(self._reach, entrance, self._past), self._folder) if closed else {}
        because = [f"{coordinate}: {why}" for coordinate, each in causes.items() for why in each]
        return {
            "name": entrance.name,
            "kind": entrance.kind,
            "listed": "no" if closed else "hidden" if tool and tool.options.hidden else "yes",
            "verdict": standing.verdict,
            "note": standing.note,
            "fields": list(standing.fields) if standing.fields else None,
            "because": because or ([NOTHING_LEFT] if closed else []),
            "at": place_in_words(entrance.place, self._folder, end=""),
            "scopes": list(tool.options.scopes) if tool else [],
            "lacking": self._lacking(entrance),
        }

    def _views(self) -> Iterator[tuple[str, str]]:
        """Yield each GraphQL tool with the caller's SDL, and the endpoint's own GraphQL if it is on."""
        for entrance in (
            *self._tools,
            *(each for each in self._reach.entrances if each.kind == "route" and self._whole),
        ):
            if entrance.takes_documents:
                yield entrance.name, print_view(self._reach.view(entrance, self._past))

    def _hidden(self) -> dict[str, tuple[str, ...]]:
        """Return hidden coordinate -> reasons, for all guarded coordinates of the endpoint."""
        found = reasons(hidden_parts(self._reach, self._past), self._folder)
        if self._whole and self._reach.compiled.bundle.graphql.mode != "off":
            for coordinate, because in self._hidden_at_graphql().items():
                found[coordinate] = (*found.get(coordinate, ()), *because)
        return found

    def _hidden_at_graphql(self) -> dict[str, tuple[str, ...]]:
        """Return the coordinates hidden only at the endpoint's own GraphQL, as policies name them, with the reasons."""
        compiled = self._reach.compiled
        if compiled.bundle.graphql.mode == "off":
            return {}
        found: dict[str, tuple[str, ...]] = {}
        for name, mask in compiled.bundle.graphql.guards.items():
            if name not in INTROSPECTION:
                found[name] = (FEDERATION,)
            elif not self._past.evaluation.meets(mask):
                found |= self._rules_of(name, mask)
        return found

    def _rules_of(self, name: str, mask: Mask) -> dict[str, tuple[str, ...]]:
        """Return the coordinate of an introspection field with its rules."""
        found: dict[str, tuple[str, ...]] = {}
        for rule in self._reach.compiled.rules:
            for coordinate in rule.coordinates:
                if coordinate.partition(".")[2] == name and not self._past.evaluation.meets(rule.mask & mask):
                    said = f"{place_in_words(rule.place, self._folder)}{rule.text} (at {OWN_GRAPHQL})"
                    found[coordinate] = (*found.get(coordinate, ()), said)
        return found
