from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handler.bundle import GraphQLTool
from handler.bundle_json import KINDS
from handler.commands.callers import add_caller_argument
from handler.commands.compiling import compile_all, complain_about
from handler.commands.console import complain, say, show_json, show_table
from handler.commands.folders import add_folder_arguments
from handler.commands.local import local_endpoint
from handler.compiler.access import Rule
from handler.compiler.compile import Compiled
from handler.compiler.declaration import MadeTool
from handler.graph.view import print_view
from handler.policy import OPEN, Judgement, Mask, union_of
from handler.server.endpoint import Endpoint
from handler.server.principal import Principal

HELP = "Say what a caller sees of endpoint folders, and which rule hides the rest."

OWN_GRAPHQL = "/graphql"
"""How the endpoint's own GraphQL is called among the views."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    add_caller_argument(parser)
    parser.add_argument("--tool", metavar="TOOL", help="of this tool alone")
    parser.add_argument("--json", action="store_true", help="print JSON for another program")


def run(options: argparse.Namespace) -> int:
    outcomes = compile_all(options.folder, stage=options.stage)
    complain_about(outcomes)
    if any(outcome.problems for outcome in outcomes):
        return 1
    compiled = {outcome.folder: outcome.compiled for outcome in outcomes if outcome.compiled}
    found = [_Explanation(folder, each, options.caller, tool=options.tool) for folder, each in compiled.items()]
    if options.tool and not any(each.tools for each in found):
        names = sorted(made.tool.name for each in compiled.values() for made in each.made)
        complain(f'There is no tool "{options.tool}". There are: {", ".join(names)}')
        return 2
    told = [each for each in found if each.tools or not options.tool]
    if options.json:
        show_json({"endpoints": [each.plain() for each in told]})
        return 0
    for each in told:
        _show(each)
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """A tool, and why its caller does not have it, or not all of it."""

    name: str
    kind: str
    listed: str
    because: tuple[str, ...]


class _Explanation:
    """What one caller sees of one endpoint."""

    def __init__(self, folder: Path, compiled: Compiled, principal: Principal, *, tool: str | None) -> None:
        self._folder = folder
        self._compiled = compiled
        self._endpoint: Endpoint = local_endpoint(compiled)
        self._principal = principal
        self._judgement: Judgement = self._endpoint.judgement_of(principal)
        self._made = [made for made in compiled.made if tool in (None, made.tool.name, *made.tool.options.aliases)]
        self._whole = tool is None
        self.name = compiled.bundle.endpoint
        self.tools = [self._seen(made) for made in self._made]

    @property
    def caller(self) -> str:
        """Who it is, in words."""
        match self._principal.kind:
            case "anonymous" if self._compiled.bundle.access.anonymous != "allow":
                return "a caller without a credential, who is asked for one first"
            case "anonymous":
                return "a caller without a credential"
            case "development":
                return "a caller who skips policies"
            case _:
                return f"a caller with the claims of {self._principal.name}"

    def views(self) -> Iterator[tuple[str, str]]:
        """Each GraphQL tool with the SDL that the caller sees, and the endpoint's own GraphQL if it is open."""
        for made in self._made:
            if isinstance(made.tool, GraphQLTool):
                yield made.tool.name, self._sdl(made.tool)
        if self._whole and self._compiled.bundle.graphql.mode == "on":
            yield OWN_GRAPHQL, self._sdl(None)

    def hidden(self) -> dict[str, tuple[str, ...]]:
        """Coordinate -> why the caller does not have it, for all that is guarded anywhere in the endpoint."""
        return self._reasons(self._compiled.bundle.guards)

    def hidden_by_patterns(self) -> Iterator[tuple[str, list[str]]]:
        """Each GraphQL tool with what its own patterns hide beside that."""
        for made in self._made:
            if isinstance(made.tool, GraphQLTool):
                guards = self._compiled.bundle.guards
                own = [each for each, mask in made.tool.guards.items() if not mask <= guards.get(each, OPEN)]
                yield made.tool.name, own

    def plain(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {
            "endpoint": self.name,
            "caller": self.caller,
            "tools": [
                {"name": tool.name, "kind": tool.kind, "listed": tool.listed, "because": list(tool.because)}
                for tool in self.tools
            ],
            "views": dict(self.views()),
            "hidden": {coordinate: list(because) for coordinate, because in self.hidden().items()},
            "hidden_by_patterns": dict(self.hidden_by_patterns()),
        }

    def _seen(self, made: MadeTool) -> _Seen:
        tool = made.tool
        usable = self._endpoint.entry(tool, self._judgement) is not None
        listed = "no" if not usable else "hidden" if tool.options.hidden else "yes"
        reasons = {} if usable else self._reasons(self._guards_of(made))
        because = tuple(f"{coordinate}: {why}" for coordinate, each in reasons.items() for why in each)
        if not usable and not because:
            because = ("nothing is left of it",)
        return _Seen(name=tool.name, kind=KINDS[type(tool)], listed=listed, because=because)

    def _guards_of(self, made: MadeTool) -> Mapping[str, Mask]:
        guards = self._compiled.bundle.guards
        return {coordinate: union_of(guards, [coordinate]) for coordinate in made.uses}

    def _sdl(self, tool: GraphQLTool | None) -> str:
        conditions = (tool or self._compiled.bundle.graphql).conditions
        return print_view(self._endpoint.view(tool, self._judgement.outcome(conditions)))

    def _reasons(self, guards: Mapping[str, Mask]) -> dict[str, tuple[str, ...]]:
        found = {coordinate: mask - self._judgement.outcome(mask) for coordinate, mask in guards.items()}
        return {coordinate: tuple(self._rules(coordinate, missing)) for coordinate, missing in found.items() if missing}

    def _rules(self, coordinate: str, missing: Mask) -> Iterator[str]:
        """The rules that hide a coordinate: those that name it, else those from which it follows."""
        responsible = [rule for rule in self._compiled.rules if rule.mask & missing]
        own = [rule for rule in responsible if coordinate in rule.coordinates]
        for rule in own or responsible:
            yield f"{'' if own else 'follows from '}{self._place(rule)}{rule.text}"

    def _place(self, rule: Rule) -> str:
        return f"{(self._folder / rule.place.file).as_posix()}:{rule.place.line}: " if rule.place else ""


def _show(explanation: _Explanation) -> None:
    say(f"{explanation.name}, for {explanation.caller}", "bold")
    rows = [(tool.name, tool.kind, tool.listed, _some(tool.because)) for tool in explanation.tools]
    show_table("What is listed", ("tool", "kind", "listed", "because"), rows)
    for name, sdl in explanation.views():
        say(f"The schema of {name}" if sdl else f"{name}: nothing is left of its schema", "bold")
        say(sdl)
    hidden = explanation.hidden()
    if hidden:
        rows_of_hidden = [(coordinate, "; ".join(because)) for coordinate, because in hidden.items()]
        show_table("What is hidden, and by what", ("coordinate", "because"), rows_of_hidden)
    for name, coordinates in explanation.hidden_by_patterns():
        if coordinates:
            say(f"The patterns of {name} hide beside that: {', '.join(coordinates)}")


def _some(reasons: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(reasons))
