"""The classes of callers who reach a coordinate alike, each with its smallest claims as witnesses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from handler.audience.caller_classes import CallerClasses
from handler.audience.endpoint_version import version_of
from handler.audience.entrances import Entrance
from handler.audience.operation_standing import VERDICTS
from handler.audience.reach import Passage, Reach, Visitor
from handler.audience.ways import Ways, is_bound, standing_trait, traits_of
from handler.bundle.tools import CodeTool, GraphQLTool
from handler.commands.local.callers import KEY, NOBODY, read_caller
from handler.compiler.operations.operation_paths import find_path, find_variable
from handler.policy.evaluation import OPEN
from handler.server.auth.scopes import has_scopes

UNNAMED = "token"
"""The label of witnesses that nobody has named: bearers of a token with some claims."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerClass:
    """Callers who reach a coordinate alike.

    The first of ``witnesses`` stands for all: anonymous, the holder of an API key, or the bearer of a token with some
    claims.
    """

    witnesses: tuple[Visitor, ...]
    passages: tuple[Passage, ...]  # through the entrances that lead to the coordinate for anybody

    @property
    def ways(self) -> list[Passage]:
        """The open ones among the passages."""
        return [each for each in self.passages if each.is_open]


def find_classes(reach: Reach, coordinate: str) -> tuple[list[CallerClass], bool]:
    """Return the classes of callers, and whether all combinations of conditions were looked at.

    Anonymous callers come first, then each API key, then tokens, the smallest claims first.
    """
    version = version_of(reach.compiled)
    classes = CallerClasses(version.bundle, version.bundle, traits_of(version), unissued=True)
    ways = Ways(version, classes, 0, cache={})
    entrances = entrances_to(reach, coordinate)
    facts = [bits for each in entrances for bits in _deciding(reach, ways, each, coordinate)]
    alike: dict[tuple[int, ...], list[Visitor]] = {}
    for place, principal in classes.tokens():
        label = UNNAMED if principal.kind == "token" else classes.classes[place].words
        alike.setdefault(tuple(bits >> place & 1 for bits in facts), []).append(reach.visitor_of(principal, label))
    joined: dict[tuple[tuple[str, str], ...], CallerClass] = {}
    for visitors in alike.values():
        token = class_of(reach, entrances, coordinate, visitors[0])
        key = tuple((each.verdict, each.note) for each in token.passages)
        first = joined.setdefault(key, replace(token, witnesses=()))
        joined[key] = replace(first, witnesses=_smallest((*first.witnesses, *visitors)))
    names = (NOBODY, *(f"{KEY}{key.name}" for key in version.bundle.identity.api_keys))
    named = (class_of(reach, entrances, coordinate, reach.visitor(read_caller(name))) for name in names)
    return [*named, *joined.values()], classes.complete


def entrances_to(reach: Reach, coordinate: str) -> list[Entrance]:
    """Return the entrances that lead to a coordinate for any caller, and tools in Python, which may ask for it."""
    return [each for each in reach.entrances if each.kind == "code" or reach.names(each, coordinate)]


def class_of(reach: Reach, entrances: Sequence[Entrance], coordinate: str, visitor: Visitor) -> CallerClass:
    """Return the class of one caller."""
    passages = tuple(reach.passage(each, coordinate, visitor) for each in entrances)
    return CallerClass(witnesses=(visitor,), passages=passages)


def _deciding(reach: Reach, ways: Ways, entrance: Entrance, coordinate: str) -> Iterator[int]:
    """Yield sets of classes: those that are in the same ones pass an entrance alike."""
    classes, version, bits, fixed = ways.classes, ways.version, ways.bits, entrance.fixed
    for scope in entrance.scopes:
        yield classes.of(0, partial(has_scopes, (scope,)))
    if fixed is None:
        yield bits.surely(entrance.tool.mask if isinstance(entrance.tool, GraphQLTool | CodeTool) else OPEN)
        yield ways.views(entrance.view_of).get(coordinate, 0)
        return
    yield bits.surely(fixed.mask)
    yield bits.may(fixed.mask, fixed.operation.variables)
    if is_bound(version, fixed):
        trait = standing_trait(version, reach.endpoint, fixed)
        for verdict in VERDICTS:
            yield classes.bits(trait, verdict.__eq__, 0)
    if entrance.author and reach.index and not find_path(entrance.author, reach.index, coordinate):
        inputs: set[str] = set()

        def is_input(name: str) -> bool:
            inputs.add(name)
            return True

        find_variable(entrance.author, reach.index, "", usable=is_input)
        for mask in {version.bundle.guards.get(each, OPEN) - fixed.mask for each in inputs}:
            yield bits.surely(mask)


def _smallest(visitors: Sequence[Visitor]) -> tuple[Visitor, ...]:
    """Return the callers without those whose claims contain the claims of another one, which add nothing."""
    kept: list[Visitor] = []
    for each in sorted(visitors, key=lambda visitor: len(visitor.principal.claims or ())):
        claims = (each.principal.claims or {}).items()
        if not any(all(item in claims for item in (other.principal.claims or {}).items()) for other in kept):
            kept.append(each)
    return tuple(kept)
