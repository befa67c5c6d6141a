"""The standing of schema coordinates for one caller: reached, hidden by a rule, or in no tool of the caller."""

from __future__ import annotations

from functools import cached_property
from typing import Literal, NamedTuple

from handler.commands.reach.closing_rules import hidden_parts
from handler.commands.reach.entrances import asks_for_its_caller
from handler.commands.reach.reach import OPEN_VERDICTS, Reach, Visitor
from handler.commands.reach.view_paths import is_visible
from handler.compiler.operations.operation_paths import coordinates_named, names_of
from handler.compiler.provenance import Cause
from handler.graph.index import SchemaIndex
from handler.graph.index_types import named
from handler.graph.view import View

StandingWord = Literal["reached", "ruled", "unasked"]
"""``unasked``: no rule hides the coordinate, and no tool of the caller leads there (patterns, or no operation)."""

BEHIND = "behind hidden parts"


class CoordinateStanding(NamedTuple):
    """A coordinate's standing, and if rules hide it, the place of the first rule and how many more there are."""

    standing: StandingWord
    place: str = ""  # file:line, relative to the endpoint's folder
    more: int = 0
    text: str = ""  # the first rule


class CoordinateStandings:
    """The standings of coordinates for one caller, through all entrances that are open to the caller."""

    def __init__(self, reach: Reach, index: SchemaIndex, visitor: Visitor) -> None:
        self._reach = reach
        self._index = index
        self._visitor = visitor
        # Policies explain even what a 401 keeps from everybody.
        self._past = reach.visitor_of(visitor.principal, visitor.label)
        self._open = [
            each for each in reach.entrances if reach.standing(each, visitor, counted=False).verdict in OPEN_VERDICTS
        ]
        self._fixed = [each for each in self._open if each.fixed is not None]
        self._known: dict[str, CoordinateStanding] = {}

    def of(self, coordinate: str) -> CoordinateStanding:
        """Return the standing of a type, a member, an argument or a directive."""
        found = self._known.get(coordinate)
        if found is None:
            found = self._known[coordinate] = self._of(coordinate)
        return found

    def is_reached(self, coordinate: str) -> bool:
        """Tell if the caller reaches a coordinate through an entrance."""
        return self.of(coordinate).standing == "reached"

    def _of(self, coordinate: str) -> CoordinateStanding:
        if self._is_reached(coordinate):
            return CoordinateStanding("reached")
        causes = self._causes(coordinate)
        if causes:
            rule = causes[0].rule
            place = f"{rule.place.file}:{rule.place.line}" if rule.place and rule.place.line else rule.text
            return CoordinateStanding("ruled", place, len(causes) - 1, rule.text)
        if is_visible(self._allowed, coordinate):
            return CoordinateStanding("unasked")
        return CoordinateStanding("ruled", BEHIND)

    def _is_reached(self, coordinate: str) -> bool:
        if any(is_visible(view, coordinate) for view in self._views):
            return True
        if not self._uses.isdisjoint(names_of(self._index, coordinate)):
            return True
        owner = coordinate.partition(".")[0]
        fillable = owner in self._index and self._index.kind(owner) in ("input", "enum", "scalar")
        return fillable and any(self._reach.passage(each, coordinate, self._visitor).is_open for each in self._fixed)

    @cached_property
    def _allowed(self) -> View:
        """The view that policies leave to the caller."""
        conditions = self._reach.compiled.bundle.graphql.conditions
        return self._reach.endpoint.schema.view(None, self._past.evaluation.outcome(conditions))

    @cached_property
    def _views(self) -> list[View]:
        views = [self._reach.view(each, self._past) for each in self._open if each.takes_documents]
        return [*views, *([self._allowed] if any(map(asks_for_its_caller, self._open)) else [])]

    @cached_property
    def _uses(self) -> set[str]:
        """The coordinates that operations behind open entrances name."""
        found = {name for each in self._fixed if each.made for name in each.made.uses}
        for author in (each.author for each in self._fixed if each.author and not each.made):
            found |= coordinates_named(author, self._index)
        return found

    @cached_property
    def _hidden(self) -> dict[str, list[Cause]]:
        return hidden_parts(self._reach, self._past)

    def _causes(self, coordinate: str) -> list[Cause]:
        """Return the rules that hide a coordinate, its own first, else those of its field, its types and its owner."""
        owner, _, rest = coordinate.partition(".")
        field = coordinate.partition("(")[0]
        tried = [coordinate, field, *self._targets(owner, rest), owner]
        return next((self._hidden[each] for each in tried if self._hidden.get(each)), [])

    def _targets(self, owner: str, rest: str) -> list[str]:
        member, _, argument = rest.removesuffix(":)").partition("(")
        if not member or owner not in self._index:
            return []
        found = [target for name, of, target in self._index.references(owner) if (name, of) == (member, argument)]
        return [named(each) for each in found]
