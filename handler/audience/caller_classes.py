"""The classes of callers of two versions of an endpoint: those whom all conditions of both judge alike.

Each class is one bit. Tokens differ by their claims. Conditions on different claims are independent, so the
classes of tokens are the combinations of what each group of conditions says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice, product
from math import prod
from random import Random
from typing import Any

from handler.audience.claims import OF_NO_TYPE, ClaimValues
from handler.bundle.model import Bundle
from handler.policy.predicates import Predicate
from handler.server.auth.principal import ANONYMOUS, SCOPE_CLAIMS, Principal, principal_of_key

MAX_CLASSES = 4_096
"""Classes of tokens that are looked at. With more, some are, and coordinates of which nothing is known are listed."""

MOST_WORDS = 3
"""Witnesses that a sentence names."""

EVERYBODY = 1
"""The class of callers without a credential, which is the first. All callers can be of it: they leave theirs out."""

Claims = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    """Something that decides about callers by their claims, in the version ``side`` or in both.

    ``paths`` are the claims that it reads, and ``read`` returns its value for the principal of a caller.
    """

    key: Hashable
    paths: tuple[tuple[str, ...], ...]
    read: Callable[[Principal], Hashable]
    predicate: Predicate | None = None
    values: tuple[tuple[tuple[str, ...], tuple[Any, ...]], ...] = ()  # values of claims worth trying


@dataclass(frozen=True, slots=True)
class OutcomeClass:
    """A class with its witness: the principal in each version, ``None`` if the version does not admit it."""

    name: str
    principals: tuple[Principal | None, Principal | None]
    vector: tuple[int, ...] | None = None  # of a token: the place in each group of traits
    meets: bool | None = None  # nobody real: meets every condition, or none; ``None``: a real caller

    @property
    def kind(self) -> str:
        """The kind of credential, if it has claims of its own; else empty."""
        return self.name if self.vector is not None else ""

    @property
    def words(self) -> str:
        """The witness in words."""
        principal = self.principals[0] or self.principals[1]
        if self.vector is None or principal is None:
            return self.name
        return f"{self.name} {json.dumps(principal.claims, ensure_ascii=False)}"


class CallerClasses:
    """The classes of callers of two versions. ``complete``: these are all.

    ``unissued``: with bearers of tokens although no version names an issuer.
    """

    def __init__(
        self,
        before: Bundle,
        after: Bundle,
        traits: Iterable[Trait],
        *,
        most: int = MAX_CLASSES,
        unissued: bool = False,
    ) -> None:
        self._groups = [_Group(each) for each in _independent({each.key: each for each in traits}.values())]
        self._group_of = {
            trait.key: (place, group) for place, group in enumerate(self._groups) for trait in group.traits
        }
        tokens = bool(before.identity.issuers) or unissued, bool(after.identity.issuers) or unissued
        authorized = bool(before.identity.trusted_apis), bool(after.identity.trusted_apis)
        kinds = [(kind, sides) for kind, sides in (("token", tokens), ("authorizer", authorized)) if any(sides)]
        self.total = prod(len(group.claims) for group in self._groups) if kinds else 1
        self.complete = not kinds or (self.total <= most and all(group.complete for group in self._groups))
        vectors = list(_vectors(self._groups, most)) if kinds else []
        self.classes: list[OutcomeClass] = [*_fixed(before, after), *self._tokens(kinds, vectors)]
        if not self.complete:
            self.classes += _extremes(kinds)
        self._words = [each.words for each in self.classes]
        self._admitted = (self.admitted(0) | self.admitted(1)) & self.real
        self.everybody = (1 << len(self.classes)) - 1

    def tokens(self) -> list[tuple[int, Principal]]:
        """Return the places of classes with claims of their own, the smallest first, and the latest principals."""
        places = ((place, each.principals[1]) for place, each in enumerate(self.classes) if each.vector is not None)
        found = [(place, principal) for place, principal in places if principal is not None]
        return sorted(found, key=lambda token: len(token[1].claims or ()))

    @property
    def real(self) -> int:
        """The classes of real callers."""
        return sum(1 << place for place, each in enumerate(self.classes) if each.meets is None)

    def extreme(self, *, meets: bool) -> int:
        """Return the class of nobody real who meets every condition, or none; 0 if all classes are known."""
        return sum(1 << place for place, each in enumerate(self.classes) if each.meets is meets)

    def admitted(self, side: int) -> int:
        """Return the classes that a version admits."""
        return sum(1 << place for place, each in enumerate(self.classes) if each.principals[side] is not None)

    def bits(self, trait: Trait, holds: Callable[[Any], bool], side: int) -> int:
        """Return the classes for which a trait has one of some values in a version."""
        place, group = self._group_of[trait.key]
        good = [holds(value) for value in group.values_of(trait.key)]
        found = 0
        for number, each in enumerate(self.classes):
            principal = each.principals[side]
            if principal is None:
                continue
            if each.meets is not None:
                holds_for_it = each.meets
            else:
                holds_for_it = good[each.vector[place]] if each.vector is not None else holds(trait.read(principal))
            found |= holds_for_it << number
        return found

    def of(self, side: int, holds: Callable[[Principal], bool]) -> int:
        """Return the admitted classes whose principal fits, for what does not depend on claims."""
        return sum(
            1 << place
            for place, each in enumerate(self.classes)
            if (principal := each.principals[side]) is not None and each.meets is not False and holds(principal)
        )

    def words(self, bits: int) -> tuple[str, ...]:
        """Return the witnesses of all of some classes in words: anonymous callers, whole kinds, tokens, then keys."""
        whole = self._whole_kinds(bits)
        named = (place for place, each in enumerate(self.classes) if bits >> place & 1 and each.kind not in whole)
        found = [*(f"any {kind}" for kind in whole), *(self._words[place] for place in named)]
        order = ("anonymous", "any ", "token ", "claims ", "key:")
        return tuple(sorted(found, key=lambda each: ([not each.startswith(one) for one in order], len(each))))

    def sentence(self, bits: int, *, gained: bool) -> str:
        """Return some witnesses of classes as a part of a sentence. What anonymous callers gain, everybody gains."""
        is_whole = self.complete and bits == self._admitted
        if bits & EVERYBODY and (gained or is_whole):
            return "everybody"
        if is_whole and bits.bit_count() > 1:
            return "every caller"
        words = self.words(bits)
        more = len(words) - MOST_WORDS
        rest = [f"{more} more class{'es' if more > 1 else ''} of callers"] if more > 0 else []
        return " or ".join([*words[:MOST_WORDS], *rest])

    def _whole_kinds(self, bits: int) -> set[str]:
        """Return the kinds of credentials whose classes are all among some: any token is."""
        lacking = {each.kind for place, each in enumerate(self.classes) if not bits >> place & 1}
        return {each.kind for each in self.classes if each.kind not in lacking} - {""} if self.complete else set()

    def _tokens(
        self, kinds: Sequence[tuple[str, tuple[bool, bool]]], vectors: Sequence[tuple[int, ...]]
    ) -> Iterator[OutcomeClass]:
        for kind, admitted in kinds:
            for vector in vectors:
                claims: dict[str, Any] = {}
                for group, place in zip(self._groups, vector, strict=True):
                    claims |= group.claims[place]  # groups share no names
                principal = Principal(kind=kind, claims=claims)
                yield OutcomeClass(
                    "token" if kind == "token" else "claims of an authorizer",
                    (principal if admitted[0] else None, principal if admitted[1] else None),
                    vector,
                )


class _Group:
    """Traits that read the same claims, with one set of claims for each combination of their values."""

    def __init__(self, traits: Sequence[Trait]) -> None:
        self.traits = traits
        values = ClaimValues()
        judged = {path[0] for trait in traits if trait.predicate is not None for path in trait.paths if path}
        # If conditions read a claim with scopes, the other one may hold the scopes, whatever the former has.
        free = [name for name in SCOPE_CLAIMS if name not in judged] or SCOPE_CLAIMS
        for trait in traits:
            if trait.predicate is not None:
                values.add_predicate(trait.predicate)
            for path, tried in trait.values:
                for name in free if path[0] in judged and path[0] in SCOPE_CLAIMS else path[:1]:
                    values.add((name, *path[1:]), *tried, OF_NO_TYPE)
        tried_claims, self.complete = values.claims(most=MAX_CLASSES)
        found: dict[tuple[Hashable, ...], Claims] = {}
        for claims in tried_claims:
            principal = Principal(kind="token", claims=claims)
            found.setdefault(tuple(trait.read(principal) for trait in traits), claims)
        self.claims = list(found.values())
        self._values = {trait.key: [row[place] for row in found] for place, trait in enumerate(traits)}

    def values_of(self, key: Hashable) -> Sequence[Hashable]:
        """Return a trait's value for each set of claims."""
        return self._values[key]


def _independent(traits: Iterable[Trait]) -> list[list[Trait]]:
    """Return the traits in groups that read no claim in common."""
    groups: list[tuple[set[str], list[Trait]]] = []
    for trait in traits:
        # A claim of another path may share the beginning of a path: claims decide which dots separate.
        roots = {re.split(r"[./]", path[0])[0] if path else "" for path in trait.paths}
        members = [trait]
        apart = []
        for group in groups:
            if group[0].isdisjoint(roots):
                apart.append(group)
            else:
                roots |= group[0]
                members = [*group[1], *members]
        groups = [*apart, (roots, members)]
    return [members for _, members in groups]


def _fixed(before: Bundle, after: Bundle) -> Iterator[OutcomeClass]:
    def anonymous(bundle: Bundle) -> Principal | None:
        return ANONYMOUS if bundle.access.anonymous == "allow" else None

    yield OutcomeClass("anonymous", (anonymous(before), anonymous(after)))
    keys = [{key.name: principal_of_key(key) for key in bundle.identity.api_keys} for bundle in (before, after)]
    for name in {**keys[0], **keys[1]}:
        yield OutcomeClass(f"key:{name}", (keys[0].get(name), keys[1].get(name)))


def _extremes(kinds: Sequence[tuple[str, tuple[bool, bool]]]) -> Iterator[OutcomeClass]:
    sides = tuple(any(admitted[side] for _, admitted in kinds) for side in (0, 1))
    principal = Principal(kind="token", claims={})
    for meets in (False, True):
        yield OutcomeClass("", (principal if sides[0] else None, principal if sides[1] else None), None, meets)


def _vectors(groups: Sequence[_Group], most: int) -> Iterator[tuple[int, ...]]:
    """Yield a place in each group: all combinations, or if there are too many, some that differ much."""
    sizes = [len(group.claims) for group in groups]
    if prod(sizes) <= most:
        yield from product(*map(range, sizes))
        return
    random = Random("classes")  # noqa: S311 - the same classes in each run
    drawn = (tuple(random.randrange(size) for size in sizes) for _ in range(most))
    yield from islice(dict.fromkeys(chain(_near_the_ends(sizes, most // 2), drawn)), most)


def _near_the_ends(sizes: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """Yield vectors that differ from the first or the last one in at most two groups."""
    places = [(group, place) for group, size in enumerate(sizes) for place in range(size)]
    ends = [tuple(0 for _ in sizes), tuple(size - 1 for size in sizes)]
    chosen: Iterator[Sequence[tuple[int, int]]] = chain([()], combinations(places, 1), combinations(places, 2))
    for some in islice(chosen, most // 2):
        for end in ends:
            vector = list(end)
            for group, place in some:
                vector[group] = place
            yield tuple(vector)
