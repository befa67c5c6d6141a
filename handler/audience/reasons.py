"""The rules and conditions for which callers reach a coordinate in one version and not in the other."""

from __future__ import annotations

from collections.abc import Sequence

from handler.audience.caller_classes import CallerClasses
from handler.audience.condition_bits import mask_in_words
from handler.audience.view_paths import resolve_in
from handler.audience.ways import Published, Way
from handler.errors.authoring import UnknownCoordinate
from handler.policy.evaluation import OPEN, Mask
from handler.server.auth.principal import Principal
from handler.server.endpoints.endpoint import Endpoint
from handler.storage.local import MemoryStorage

MOST_RULES = 3

NOT_OWN = "no condition of its own"

SKIPS = "such callers skip policies"

Pair = tuple[Way | None, Way | None]


class Reasons:
    """The reasons of differences between two versions."""

    def __init__(self, versions: tuple[Published, Published], classes: CallerClasses) -> None:
        self._versions = versions
        self._classes = classes
        self._endpoints = [Endpoint(version.bundle, MemoryStorage()) for version in versions]

    def of(self, coordinate: str, bits: int, *, gained: bool, ways: Sequence[Pair]) -> tuple[str, ...]:
        """Return the rule that closes a coordinate in one version, and its condition in the other one.

        Empty for a coordinate without a condition of its own: what leads there decides.
        """
        closed, opened = (0, 1) if gained else (1, 0)
        said = {0: "before", 1: "now"}
        way = ways[0][closed] or ways[0][opened]
        found = [f"{said[closed]}: {each}" for each in self._closing(coordinate, bits, closed, way)]
        principal = self._principal(bits, opened)
        skips = principal is not None and principal.unrestricted
        condition = SKIPS if skips else self._condition_of(coordinate, opened, ways[0][opened])
        if found == [f"{said[closed]}: {NOT_OWN}"]:
            return () if condition == NOT_OWN else (f"{said[opened]}: {condition}",)
        return tuple(found) if condition == NOT_OWN else (*found, f"{said[opened]}: {condition}")

    def condition(self, way: Way, side: int) -> str:
        """Return the condition of an operation."""
        return mask_in_words(way.mask, self._versions[side].bundle.conditions)

    def conditions(self, coordinate: str, ways: Pair) -> tuple[str, ...]:
        """Return the conditions of a coordinate in both versions."""
        return tuple(
            f"{said}: {self._condition_of(coordinate, side, ways[side])}" for side, said in enumerate(("before", "now"))
        )

    def _principal(self, bits: int, side: int) -> Principal | None:
        """Return the caller of the first of some classes."""
        return self._classes.classes[(bits & -bits).bit_length() - 1].principals[side]

    def _closing(self, coordinate: str, bits: int, side: int, way: Way | None) -> list[str]:
        version = self._versions[side]
        principal = self._principal(bits, side)
        if principal is None:
            return ["such callers are not admitted"]
        if not self._exists(coordinate, side):
            return ["the schema does not have it"]
        if version.provenance is not None:
            evaluation = self._endpoints[side].evaluation_of(principal)
            tool = way.view_of.name if way and way.view_of else ""
            causes = version.provenance.causes(coordinate, evaluation.meets, tool=tool)
            folder = version.folder.as_posix()
            found = [
                f"{folder}/{cause.rule.place.file}:{cause.rule.place.line}: {cause.rule.text}"
                if cause.rule.place
                else cause.rule.text
                for cause in causes
            ]
            if found:
                return found[:MOST_RULES]
        return [self._condition_of(coordinate, side, way)]

    def _exists(self, coordinate: str, side: int) -> bool:
        index = self._versions[side].index
        if index is None or coordinate.startswith(("@", "$")):
            return index is not None
        try:
            return bool(resolve_in(index, coordinate))
        except UnknownCoordinate:
            return False

    def _condition_of(self, coordinate: str, side: int, way: Way | None) -> str:
        bundle = self._versions[side].bundle
        if way is None:
            return "there is no such tool"
        own: Mask = bundle.guards.get(coordinate, OPEN) | way.mask
        if way.view_of is not None:
            own |= way.view_of.guards.get(coordinate, OPEN) | way.view_of.mask
        elif way.kind == "route":
            own |= bundle.graphql.guards.get(coordinate, OPEN)
        return mask_in_words(own, bundle.conditions) if own else NOT_OWN
