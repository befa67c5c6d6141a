from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handler.bundle.tools import CodeTool, GraphQLTool, Tool
from handler.commands.console import complain, say, show_json, show_table, show_verbatim
from handler.commands.exit_codes import REFUSED, USAGE
from handler.commands.folders.endpoint_folders import add_folder_arguments
from handler.commands.folders.endpoints import compile_all, complain_about
from handler.commands.local.callers import add_caller_argument
from handler.commands.local.local_server import local_endpoint
from handler.compiler.access.policies import INTROSPECTION, Rule
from handler.compiler.compile import Compiled
from handler.compiler.problems import where
from handler.compiler.tools.declaration import CompiledTool
from handler.errors.access import AccessError
from handler.graph.sdl import print_view
from handler.policy.evaluation import OPEN, Evaluation, Mask, union_of
from handler.server.auth.principal import Principal
from handler.server.auth.scopes import require_scopes
from handler.server.endpoints.endpoint import Endpoint

EXAMPLES = ("stile explain endpoints --as anonymous",)
EXIT_CODES = {REFUSED: "an endpoint has problems", USAGE: "the command line is not valid, or the tool does not exist"}

OWN_GRAPHQL = "/graphql"
"""The key of the endpoint's own GraphQL among the views."""

FEDERATION = f"gives all there is, and no rule names it (at {OWN_GRAPHQL})"
"""The reason for hiding Federation's fields."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    add_caller_argument(parser)
    parser.add_argument("--tool", metavar="TOOL", help="of this tool alone")
    parser.add_argument("--json", action="store_true", help="print JSON for another program")


def run(options: argparse.Namespace) -> int:
    outcomes = compile_all(options.folder, stage=options.stage, endpoint=options.endpoint)
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
    """A tool for one caller, with the reasons if the caller may not use it."""

    name: str
    kind: str
    listed: str
    because: tuple[str, ...]
    at: str  # file:line of the declaration; empty string if the tool is not declared
    scopes: tuple[str, ...]
    lacking: tuple[str, ...]  # the missing scopes for which a call by this caller is refused

    def plain(self) -> dict[str, Any]:
        """Return the tool as JSON."""
        listed = {"name": self.name, "kind": self.kind, "listed": self.listed, "because": list(self.because)}
        return {**listed, "at": self.at, "scopes": list(self.scopes), "lacking": list(self.lacking)}


class _Explanation:
    """One caller's view of one endpoint."""

    def __init__(self, folder: Path, compiled: Compiled, principal: Principal, *, tool: str | None) -> None:
        self._folder = folder
        self._compiled = compiled
        self._endpoint: Endpoint = local_endpoint(compiled)
        self._principal = principal
        self._evaluation: Evaluation = self._endpoint.evaluation_of(principal)
        self._made = [made for made in compiled.made if tool in (None, made.tool.name, *made.tool.options.aliases)]
        self._whole = tool is None
        self.name = compiled.bundle.endpoint
        self.tools = [self._seen(made) for made in self._made]

    @property
    def caller(self) -> str:
        """The caller in words."""
        match self._principal.kind:
            case "anonymous" if self._compiled.bundle.access.anonymous != "allow":
                refused = "is answered 401 everywhere (access.anonymous is challenge)"
                return f"a caller without a credential, who {refused}; policies alone would leave them this"
            case "anonymous":
                return "a caller without a credential"
            case "development":
                return "a caller who skips policies"
            case _:
                return f"a caller with the claims of {self._principal.name}"

    def views(self) -> Iterator[tuple[str, str]]:
        """Yield each GraphQL tool with the caller's SDL, and the endpoint's own GraphQL if it is on."""
        for made in self._made:
            if isinstance(made.tool, GraphQLTool):
                yield made.tool.name, self._sdl(made.tool)
        if self._whole and self._compiled.bundle.graphql.mode == "on":
            yield OWN_GRAPHQL, self._sdl(None)

    def hidden(self) -> dict[str, tuple[str, ...]]:
        """Return hidden coordinate -> reasons, for all guarded coordinates of the endpoint."""
        found = self._reasons(self._compiled.bundle.guards, self._compiled.rules)
        if self._whole and self._compiled.bundle.graphql.mode != "off":
            for coordinate, because in self._hidden_at_graphql():
                found[coordinate] = (*found.get(coordinate, ()), *because)
        return found

    def hidden_by_patterns(self) -> Iterator[tuple[_Seen, list[str]]]:
        """Yield each GraphQL tool with the coordinates that its own patterns hide beyond the policies."""
        for made, seen in zip(self._made, self.tools, strict=True):
            if isinstance(made.tool, GraphQLTool):
                guards = self._compiled.bundle.guards
                yield seen, [each for each, mask in made.tool.guards.items() if not mask <= guards.get(each, OPEN)]

    def scopes(self) -> Iterator[str]:
        """Yield a sentence for each tool that requires scopes."""
        otherwise = "is not asked for them" if self._principal.claims is None else "has them"
        for tool in self.tools:
            if tool.scopes:
                has = f"lacks {' '.join(tool.lacking)}" if tool.lacking else otherwise
                yield f"{tool.name} asks for the scopes {' '.join(tool.scopes)}: this caller {has}"

    def plain(self) -> dict[str, Any]:
        """Return the view as JSON."""
        return {
            "endpoint": self.name,
            "caller": self.caller,
            "tools": [tool.plain() for tool in self.tools],
            "views": dict(self.views()),
            "hidden": {coordinate: list(because) for coordinate, because in self.hidden().items()},
            "hidden_by_patterns": {tool.name: coordinates for tool, coordinates in self.hidden_by_patterns()},
        }

    def _seen(self, made: CompiledTool) -> _Seen:
        tool = made.tool
        usable = self._endpoint.is_visible(tool, self._evaluation)
        listed = "no" if not usable else "hidden" if tool.options.hidden else "yes"
        reasons = {} if usable else self._reasons(*self._guards_of(made))
        because = tuple(f"{coordinate}: {why}" for coordinate, each in reasons.items() for why in each)
        if not usable and not because:
            because = ("nothing is left of it",)
        place = where(made.at)
        return _Seen(
            name=tool.name,
            kind=tool.KIND,
            listed=listed,
            because=because,
            at=f"{(self._folder / place.file).as_posix()}:{place.line}" if place.line else "",
            scopes=tool.options.scopes,
            lacking=self._lacking(tool),
        )

    def _lacking(self, tool: Tool) -> tuple[str, ...]:
        """Return the scopes for which a call is refused; an empty tuple if the caller needs no scopes."""
        try:
            require_scopes(tool.name, tool.options.scopes, self._principal)
        except AccessError:
            return tuple(scope for scope in tool.options.scopes if scope not in self._principal.scopes)
        return ()

    def _hidden_at_graphql(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the coordinates hidden only at the endpoint's own GraphQL, as policies name them, with the reasons."""
        guards = self._compiled.bundle.graphql.guards
        ruled = [coordinate for rule in self._compiled.rules for coordinate in rule.coordinates]
        named = {name: coordinate for coordinate in ruled if (name := coordinate.partition(".")[2]) in INTROSPECTION}
        introspection = {named[name]: mask for name, mask in guards.items() if name in INTROSPECTION}
        for coordinate, because in self._reasons(introspection, self._compiled.rules).items():
            yield coordinate, tuple(f"{why} (at {OWN_GRAPHQL})" for why in because)
        for coordinate in guards:
            if coordinate not in INTROSPECTION:
                yield coordinate, (FEDERATION,)

    def _guards_of(self, made: CompiledTool) -> tuple[Mapping[str, Mask], Sequence[Rule]]:
        """Return the guards of the coordinates that a tool needs, and the rules behind the guards."""
        if isinstance(made.tool, CodeTool):
            of_kit = next(kit.mask for kit in self._compiled.bundle.code if kit.use == made.tool.kit)
            own = made.tool.mask - of_kit
            return {made.tool.kit: of_kit, f"tool {made.tool.name}": own}, self._compiled.kit_rules
        guards = self._compiled.bundle.guards
        return {coordinate: union_of(guards, [coordinate]) for coordinate in made.uses}, self._compiled.rules

    def _sdl(self, tool: GraphQLTool | None) -> str:
        conditions = (tool or self._compiled.bundle.graphql).conditions
        return print_view(self._endpoint.schema.view(tool, self._evaluation.outcome(conditions)))

    def _reasons(self, guards: Mapping[str, Mask], rules: Sequence[Rule]) -> dict[str, tuple[str, ...]]:
        found = {coordinate: mask - self._evaluation.outcome(mask) for coordinate, mask in guards.items()}
        return {
            coordinate: tuple(self._rules(rules, coordinate, missing))
            for coordinate, missing in found.items()
            if missing
        }

    def _rules(self, rules: Sequence[Rule], coordinate: str, missing: Mask) -> Iterator[str]:
        """Yield the rules that name a hidden coordinate, or if there are none, the rules that it follows from."""
        lacking = missing.union(*(self._unmet_by(number) for number in missing))
        responsible = [rule for rule in rules if rule.mask & lacking]
        own = [rule for rule in responsible if coordinate in rule.coordinates]
        for rule in own or responsible:
            yield f"{'' if own else 'follows from '}{self._place(rule)}{rule.text}"

    def _unmet_by(self, number: int) -> Mask:
        """Return the unmet conditions behind a condition, itself included: rules have only the authors' conditions."""
        conditions = self._compiled.bundle.conditions
        found: set[int] = {number}
        waiting = [number]
        while waiting:
            ways = conditions[waiting.pop()].get("any", ())
            new = {each for way in ways for each in way} - found
            found |= new
            waiting += new
        return frozenset(found) - self._evaluation.outcome(frozenset(found))

    def _place(self, rule: Rule) -> str:
        return f"{(self._folder / rule.place.file).as_posix()}:{rule.place.line}: " if rule.place else ""


def _show(explanation: _Explanation) -> None:
    say(f"{explanation.name}, for {explanation.caller}", "bold")
    rows = [(tool.name, tool.kind, tool.listed, _some(tool.because)) for tool in explanation.tools]
    show_table("What is listed", ("tool", "kind", "listed", "because"), rows)
    for sentence in explanation.scopes():
        say(sentence)
    for name, sdl in explanation.views():
        say(f"The schema of {name}" if sdl else f"{name}: nothing is left of its schema", "bold")
        show_verbatim(sdl)
    hidden = explanation.hidden()
    if hidden:
        rows_of_hidden = [(coordinate, "; ".join(because)) for coordinate, because in hidden.items()]
        show_table("Hidden parts, and the rules that hide them", ("coordinate", "because"), rows_of_hidden)
    for tool, coordinates in explanation.hidden_by_patterns():
        if coordinates:
            at = f" ({tool.at})" if tool.at else ""
            say(f"The patterns of {tool.name}{at} hide beside that: {', '.join(coordinates)}")


def _some(reasons: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(reasons))
