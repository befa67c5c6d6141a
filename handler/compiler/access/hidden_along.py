"""Fields that are hidden because an input that they require has the name of a guarded field."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from handler.compiler.schema.name_graph import Graph, reachable
from handler.policy.evaluation import OPEN, Mask


@dataclass(frozen=True, slots=True, order=True)
class TakenAlong:
    """Fields that are ``lost`` with ``guarded`` ones. Naming the ``show`` inputs in ``access.show`` restores them."""

    guarded: tuple[str, ...]
    lost: tuple[str, ...]
    show: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Losses:
    """The record of fields that were lost with inputs while guards spread."""

    _causes: dict[str, set[str]] = field(default_factory=dict)  # input -> guarded fields that it names
    _lost: dict[str, set[str]] = field(default_factory=dict)  # input -> fields that cannot be used without it

    def add(
        self, named: Mapping[str, Collection[str]], *, needs: Graph, fields: Collection[str], before: Mapping[str, Mask]
    ) -> None:
        """Record the fields that ``named`` inputs take along, unless they had a mask ``before`` for another reason."""
        for coordinate, causes in named.items():
            lost = {each for each in reachable([coordinate], needs) if each in fields and not before.get(each, OPEN)}
            if lost and coordinate not in before:
                self._causes.setdefault(coordinate, set()).update(causes)
                self._lost.setdefault(coordinate, set()).update(lost)

    def grouped(self) -> Iterator[TakenAlong]:
        """Yield all lost fields, grouped by the guarded fields that they are lost with."""
        groups: dict[tuple[str, ...], set[str]] = {}
        for coordinate, causes in self._causes.items():
            groups.setdefault(tuple(sorted(causes)), set()).add(coordinate)
        for guarded, show in sorted(groups.items()):
            lost = set().union(*(self._lost[each] for each in show))
            yield TakenAlong(guarded, tuple(sorted(lost)), tuple(sorted(show)))
