"""The classes of callers of two versions of an endpoint: callers of one class meet the same conditions of both.

The conditions of one version follow: each as the classes for which it holds, and as its author writes it.

Each class is one bit. Tokens differ by their claims. Conditions on different claims are independent, so the classes of
tokens are the combinations of the values of each group of conditions, with one set of claims for each value.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from itertools import chain, combinations, islice, pairwise, product, zip_longest
from math import prod
from operator import and_, or_
from random import Random
from typing import Any

from handler.bundle.model import Bundle
from handler.compiler.schema.name_graph import closure
from handler.policy.evaluation import HIDDEN, KNOWN, NEVER, OWN_TOKEN, Mask, alternatives_of
from handler.policy.predicates import HOLDS, MAY_HOLD, SURELY_HOLDS, UNKNOWN, Predicate, compile_predicate
from handler.server.auth.principal import ANONYMOUS, SCOPE_CLAIMS, Principal, principal_of_key
from handler.server.endpoints.endpoint import WITHOUT_TOKEN
from handler.strict_json import objects_in

MAX_CLASSES = 4_096
"""Classes of tokens that are looked at. With more, some are, and coordinates of which nothing is known are listed."""

MOST_WORDS = 3
"""Witnesses that a sentence names."""

MOST_ITEMS = 9
"""Items of a list of which all sets are tried."""

EVERYBODY = 1
"""The class of callers without a credential, which is the first. All callers can be of it: they leave theirs out."""

OF_NO_TYPE: Mapping[str, Any] = {}
"""A value that exists, and that no comparison takes."""

SAMPLES: Mapping[str, Any] = {"String": "x", "Int": 1, "Float": 1.5, "Boolean": True}
"""A value of each type, for a claim that no constant is compared with."""

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    """A property of callers by their claims, on which a version decides.

    ``paths`` are the claims that it reads, and ``read`` returns its value for the principal of a caller.
    """

    key: Hashable
    paths: tuple[Path, ...]
    read: Callable[[Principal], Hashable]
    predicate: Predicate | None = None
    values: tuple[tuple[Path, tuple[Any, ...]], ...] = ()  # values of claims worth trying


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
        bundles = (before, after)
        admitted = {
            "token": [bool(bundle.identity.issuers) or unissued for bundle in bundles],
            "claims of an authorizer": [bool(bundle.identity.trusted_apis) for bundle in bundles],
        }
        kinds = {kind: sides for kind, sides in admitted.items() if any(sides)}
        sizes = [len(group.claims) for group in self._groups]
        self.complete = not kinds or (prod(sizes) <= most and all(group.complete for group in self._groups))
        open_to_all = [bundle.access.anonymous == "allow" for bundle in bundles]
        self.classes = [OutcomeClass("anonymous", _of_sides(ANONYMOUS, open_to_all))]
        keys = [{key.name: principal_of_key(key) for key in bundle.identity.api_keys} for bundle in bundles]
        for name in {**keys[0], **keys[1]}:
            self.classes.append(OutcomeClass(f"key:{name}", (keys[0].get(name), keys[1].get(name))))
        vectors = list(_vectors(sizes, most)) if kinds else []
        for kind, sides in kinds.items():
            for vector in vectors:
                claims: dict[str, Any] = {}
                for group, place in zip(self._groups, vector, strict=True):
                    claims |= group.claims[place]  # groups share no names
                principal = Principal(kind="token" if kind == "token" else "authorizer", claims=claims)
                self.classes.append(OutcomeClass(kind, _of_sides(principal, sides), vector))
        if not self.complete:
            sides = [any(each[side] for each in kinds.values()) for side in (0, 1)]
            extremes = _of_sides(Principal(kind="token", claims={}), sides)
            self.classes += [OutcomeClass("", extremes, None, meets) for meets in (False, True)]
        self._words = [each.words for each in self.classes]
        self._admitted = (self.admitted(0) | self.admitted(1)) & self.real
        self.everybody = (1 << len(self.classes)) - 1

    def tokens(self) -> list[tuple[int, Principal]]:
        """Return the places of classes with claims of their own, the smallest first, and the latest principals."""
        places = ((place, each.principals[1]) for place, each in enumerate(self.classes) if each.vector is not None)
        tokens = [(place, principal) for place, principal in places if principal is not None]
        return sorted(tokens, key=lambda token: len(token[1].claims or ()))

    def _where(self, fits: Callable[[OutcomeClass], bool]) -> int:
        return sum(1 << place for place, each in enumerate(self.classes) if fits(each))

    @property
    def real(self) -> int:
        """The classes of real callers."""
        return self._where(lambda each: each.meets is None)

    def extreme(self, *, meets: bool) -> int:
        """Return the class of nobody real who meets every condition, or none; 0 if all classes are known."""
        return self._where(lambda each: each.meets is meets)

    def admitted(self, side: int) -> int:
        """Return the classes that a version admits."""
        return self._where(lambda each: each.principals[side] is not None)

    def bits(self, trait: Trait, holds: Callable[[Any], bool], side: int) -> int:
        """Return the classes for which a trait has one of some values in a version."""
        place, group = self._group_of[trait.key]
        of_vector = [holds(value) for value in group.values_of(trait.key)]

        def has_value(each: OutcomeClass) -> bool:
            principal = each.principals[side]
            if principal is None or each.meets is not None:
                return principal is not None and each.meets is True
            return of_vector[each.vector[place]] if each.vector is not None else holds(trait.read(principal))

        return self._where(has_value)

    def of(self, side: int, holds: Callable[[Principal], bool]) -> int:
        """Return the admitted classes whose principal fits, if claims do not decide."""

        def fits(each: OutcomeClass) -> bool:
            principal = each.principals[side]
            return principal is not None and each.meets is not False and holds(principal)

        return self._where(fits)

    def words(self, bits: int) -> tuple[str, ...]:
        """Return the witnesses of all of some classes in words: anonymous callers, whole kinds, tokens, then keys."""
        lacking = {each.kind for place, each in enumerate(self.classes) if not bits >> place & 1}
        # A kind of credential is whole if all of its classes are among these, and no other exists.
        whole = {each.kind for each in self.classes if each.kind not in lacking} - {""} if self.complete else set()
        others = (place for place, each in enumerate(self.classes) if bits >> place & 1 and each.kind not in whole)
        words = [*(f"any {kind}" for kind in whole), *(self._words[place] for place in others)]
        order = ("anonymous", "any ", "token ", "claims ", "key:")
        return tuple(sorted(words, key=lambda each: ([not each.startswith(one) for one in order], len(each))))

    def sentence(self, bits: int, *, gained: bool) -> str:
        """Return some witnesses of classes as a part of a sentence. A gain of anonymous callers is everybody's."""
        is_whole = self.complete and bits == self._admitted
        if bits & EVERYBODY and (gained or is_whole):
            return "everybody"
        if is_whole and bits.bit_count() > 1:
            return "every caller"
        words = self.words(bits)
        more = len(words) - MOST_WORDS
        rest = [f"{more} more class{'es' if more > 1 else ''} of callers"] if more > 0 else []
        return " or ".join([*words[:MOST_WORDS], *rest])


def _of_sides(principal: Principal, admitted: Sequence[bool]) -> tuple[Principal | None, Principal | None]:
    return principal if admitted[0] else None, principal if admitted[1] else None


class _Group:
    """Traits that read the same claims, with one set of claims for each combination of their values."""

    def __init__(self, traits: Sequence[Trait]) -> None:
        self.traits = traits
        values = ClaimValues()
        of_conditions = {path[0] for trait in traits if trait.predicate is not None for path in trait.paths if path}
        # If conditions read a claim with scopes, the other one may hold the scopes, whatever the former has.
        free = [name for name in SCOPE_CLAIMS if name not in of_conditions] or SCOPE_CLAIMS
        for trait in traits:
            if trait.predicate is not None:
                values.add_predicate(trait.predicate)
            for path, samples in trait.values:
                for name in free if path[0] in of_conditions and path[0] in SCOPE_CLAIMS else path[:1]:
                    values.add((name, *path[1:]), *samples, OF_NO_TYPE)
        trials, self.complete = values.claims(most=MAX_CLASSES)
        rows: dict[tuple[Hashable, ...], Mapping[str, Any]] = {}
        for claims in trials:
            principal = Principal(kind="token", claims=claims)
            rows.setdefault(tuple(trait.read(principal) for trait in traits), claims)
        self.claims = list(rows.values())
        self._values = {trait.key: [row[place] for row in rows] for place, trait in enumerate(traits)}

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


def _vectors(sizes: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """Yield a place in each group: all combinations, or if there are too many, some that differ much."""
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
    changes: Iterator[Sequence[tuple[int, int]]] = chain([()], combinations(places, 1), combinations(places, 2))
    for some in islice(changes, most // 2):
        for end in ends:
            vector = list(end)
            for group, place in some:
                vector[group] = place
            yield tuple(vector)


class ClaimValues:
    """Values worth trying for each claim that predicates, bindings and scopes name.

    Among them are values of a type that no predicate expects, values between each two constants, and all sets of items
    of a list. Claims that are compared with each other have the same values.
    """

    def __init__(self) -> None:
        self._values: dict[Path, list[Any]] = {}
        self._compared: list[set[Path]] = []  # sets of claims that are compared with each other
        self._holding: set[Path] = set()  # lists that are asked for the value of another claim

    def add(self, path: Sequence[str], *values: Any) -> None:
        """Add values of a claim. A claim without values has any one."""
        present = self._values.setdefault(tuple(path), [])
        present[:] = _distinct([*present, *values])

    def add_predicate(self, predicate: Predicate) -> None:
        """Add the values for which a predicate may hold or fail."""
        match predicate:
            case {"and": parts} | {"or": parts}:
                for part in parts:
                    self.add_predicate(part)
            case {"not": part}:
                self.add_predicate(part)
            case {"exists": {"jwt": [_, *_] as path}}:
                self.add(path)
            case {"compare": _, "left": left, "right": right}:
                for operand, other in ((left, right), (right, left)):
                    if "jwt" in operand:
                        value = other.get("value", SAMPLES.get(operand.get("type", ""), "x"))
                        self.add(operand["jwt"], value, *([not value] if isinstance(value, bool) else []), OF_NO_TYPE)
                self._compare({tuple(each["jwt"]) for each in (left, right) if "jwt" in each})
            case {"has": {"jwt": path, "type": type_}, "value": value}:
                constant = value.get("value", SAMPLES.get(type_, "x"))
                # An empty list: a claim without the value is not a missing claim.
                self.add(path, [constant], [], constant, OF_NO_TYPE)
                if "jwt" in value:
                    self.add(value["jwt"], constant, OF_NO_TYPE)
                    self._holding.add(tuple(path))
                    self._compare({tuple(path), tuple(value["jwt"])})

    def _compare(self, paths: set[Path]) -> None:
        joined = paths.union(*(each for each in self._compared if not each.isdisjoint(paths)))
        self._compared = [*(each for each in self._compared if each.isdisjoint(paths)), joined]

    def claims(self, *, most: int) -> tuple[list[dict[str, Any]], bool]:
        """Return sets of claims, the smallest first, and whether these are all combinations of the values.

        With more combinations than ``most``, only sets of at most two claims are among them.
        """
        values = self._with_values_between()
        lists = {path: _with_lists(each or ["x"]) for path, each in values.items()}
        whole = prod(len(each) + 1 for each in lists.values()) <= most
        sizes = range(len(lists) + 1 if whole else 3)
        trials = (
            dict(zip(paths, row, strict=True))
            for size in sizes
            for paths in combinations(lists, size)
            for row in product(*(lists[path] for path in paths))
        )
        claims = (_claims_of(each) for each in trials)
        complete = whole and all(len(_items(each)) <= MOST_ITEMS for each in values.values())
        return list(islice((each for each in claims if each is not None), most)), complete

    def _with_values_between(self) -> dict[Path, list[Any]]:
        """Return the values of each claim; those of compared claims together, with others between them."""
        values = dict(self._values)
        for paths in self._compared:
            lists = chain.from_iterable(self._values[each] for each in self._values if each in paths)
            constants = _distinct(chain.from_iterable(each if isinstance(each, list) else [each] for each in lists))
            trials = [*constants, *_beside(constants, len(paths))]
            for path in paths:
                one_item = [[each] for each in trials if each != OF_NO_TYPE] if path in self._holding else []
                values[path] = _distinct([*self._values[path], *trials, *one_item])
        return values


def _claims_of(values: Mapping[Path, Any]) -> dict[str, Any] | None:
    """Return claims with values at paths; ``None`` if a claim stands in the way of another."""
    claims: dict[str, Any] = {}
    for (*above, last), value in values.items():
        place = claims
        for name in above:
            inner = place.setdefault(name, {})
            if not isinstance(inner, dict) or inner is OF_NO_TYPE:
                return None
            place = inner
        if last in place:
            return None
        place[last] = value
    return claims


def _distinct(values: Iterable[Any]) -> list[Any]:
    """Return the values without repetitions: 1, 1.0 and true are three values."""
    distinct: list[Any] = []
    for value in values:
        if not any(type(value) is type(each) and value == each for each in distinct):
            distinct.append(value)
    return distinct


def _beside(values: Sequence[Any], count: int) -> Iterator[Any]:
    """Yield so many numbers, and so many texts, between each two values next to each other, and beyond them."""
    numbers = sorted({each for each in values if isinstance(each, int | float) and not isinstance(each, bool)})
    if numbers:
        yield from (math.floor(numbers[-1]) + place for place in range(1, count + 1))
        yield from (math.ceil(numbers[0]) - place for place in range(1, count + 1))
    for low, high in pairwise(numbers):
        whole = [math.floor(low) + place for place in range(1, count + 1)]
        parts = [low + (high - low) * place / (count + 1) for place in range(1, count + 1)]
        yield from islice((each for each in (*whole, *parts) if low < each < high), count)
    texts = sorted({each for each in values if isinstance(each, str)})
    for first, second in zip_longest(texts, texts[1:]):
        after = (f"{first}{sign * place}" for sign in ("x", " ", "\0") for place in range(1, count + 1))
        yield from islice((each for each in after if second is None or each < second), count)
    below = ("\0" * length for length in range(count)) if texts else ()
    yield from (each for each in below if each < texts[0])


def _with_lists(values: Sequence[Any]) -> list[Any]:
    """Add lists of several items: a caller may have some of them at once. Up to ``MOST_ITEMS``, add all sets."""
    items = _items(values)
    if len(items) > MOST_ITEMS:
        return [*values, items]
    return [*values, *(list(each) for size in range(2, len(items) + 1) for each in combinations(items, size))]


def _items(values: Sequence[Any]) -> list[Any]:
    return [each[0] for each in values if isinstance(each, list) and each]


class ConditionBits:
    """The classes that meet masks of one version."""

    def __init__(self, bundle: Bundle, classes: CallerClasses, side: int) -> None:
        self.bundle = bundle
        self.classes = classes
        self.side = side
        self.admitted = classes.admitted(side)
        self._cache: dict[tuple[int, int, frozenset[str] | None], int] = {}

    def surely(self, mask: Mask) -> int:
        """Return the classes that meet a mask for any values of variables."""
        return self._of(mask, SURELY_HOLDS, None)

    def may(self, mask: Mask, variables: Collection[str]) -> int:
        """Return the classes that meet a mask for some values of these variables."""
        return self._of(mask, SURELY_HOLDS, None) | self._of(mask, MAY_HOLD, frozenset(variables))

    def _of(self, mask: Mask, fact: int, variables: frozenset[str] | None) -> int:
        return reduce(and_, (self._condition(number, fact, variables) for number in mask), self.admitted)

    def _condition(self, number: int, fact: int, variables: frozenset[str] | None) -> int:
        """Return the classes of a condition. For those that it is made of, take the greatest fixed point."""
        if (number, fact, variables) in self._cache:
            return self._cache[number, fact, variables]
        conditions = self.bundle.conditions
        numbers = [*_made_of(conditions, [number])]
        alternatives = {each: ways for each in numbers if (ways := alternatives_of(conditions, each)) is not None}
        bits = {each: self.admitted if each in alternatives else self._leaf(each, fact, variables) for each in numbers}
        changed = True
        while changed:
            changed = False
            for each, ways in alternatives.items():
                holds = reduce(or_, (reduce(and_, (bits[other] for other in way), self.admitted) for way in ways), 0)
                if holds & bits[each] != bits[each]:
                    bits[each] &= holds
                    changed = True
        self._cache.update({(each, fact, variables): of_condition for each, of_condition in bits.items()})
        return bits[number]

    def _leaf(self, number: int, fact: int, variables: frozenset[str] | None) -> int:
        conditions = self.bundle.conditions
        predicate = conditions[number] if 0 <= number < len(conditions) else NEVER
        if predicate == NEVER:
            return 0
        if predicate == OWN_TOKEN:
            return self.classes.of(
                self.side,
                lambda caller: caller.kind not in WITHOUT_TOKEN and (caller.unrestricted or caller.claims is not None),
            )
        trait = predicate_trait(predicate, variables)
        return self.classes.bits(trait, lambda truth: bool(truth & fact), self.side)


def predicate_trait(predicate: Predicate, variables: frozenset[str] | None) -> Trait:
    """Return the trait of a predicate. Of its variables, those in ``variables`` are unknown (``None``: all)."""
    names = frozenset(variables_in(predicate))
    unknown = None if variables is None or variables >= names else variables & names
    return _trait(json.dumps(predicate, sort_keys=True), unknown)


@cache
def _trait(text: str, unknown: frozenset[str] | None) -> Trait:
    predicate = json.loads(text)
    evaluate = compile_predicate(predicate)
    values: dict[str, Any] | None = None if unknown is None else dict.fromkeys(unknown, UNKNOWN)

    def read(principal: Principal) -> int:
        claims = principal.claims
        return HOLDS if principal.unrestricted else evaluate(None if claims is None else dict(claims), values)

    return Trait(key=("predicate", text, unknown), paths=tuple(paths_in(predicate)), read=read, predicate=predicate)


def leaves_of(conditions: Sequence[Predicate], mask: Mask | None = None) -> Iterator[Predicate]:
    """Yield the predicates on claims and variables that a mask is made of; ``None``: all."""
    for number in _made_of(conditions, reversed(list(range(len(conditions)) if mask is None else mask))):
        if alternatives_of(conditions, number) is None and conditions[number] not in (NEVER, OWN_TOKEN):
            yield conditions[number]


def _made_of(conditions: Sequence[Predicate], numbers: Iterable[int]) -> Iterator[int]:
    """Yield the numbers of conditions and of all conditions that they are made of."""
    return closure(numbers, lambda each: chain(*alternatives_of(conditions, each) or ()))


def variables_in(predicate: Predicate) -> Iterator[str]:
    """Yield the variables that a predicate names."""
    return (each["variables"][0] for each in objects_in(predicate) if each.get("variables"))


def paths_in(predicate: Predicate) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the claims that a predicate names."""
    return (tuple(each["jwt"]) for each in objects_in(predicate) if each.get("jwt"))


NOBODY_MEETS = "nobody"
MAX_CHARS = 300


def mask_in_words(mask: Mask, conditions: Sequence[Predicate]) -> str:
    """Return the conditions of a mask, all of which have to hold."""
    if not mask:
        return "no condition"
    if not mask.isdisjoint(HIDDEN):
        return NOBODY_MEETS
    text = " && ".join(sorted(_of_number(number, conditions, frozenset()) for number in mask))
    return text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS]}…"


def _of_number(number: int, conditions: Sequence[Predicate], inside: frozenset[int]) -> str:
    alternatives = alternatives_of(conditions, number)
    if alternatives is None:
        return predicate_in_words(conditions[number] if 0 <= number < len(conditions) else {})
    if number in inside or len(inside) > 2:
        return "…"
    inside |= {number}
    ways = [" && ".join(_of_number(each, conditions, inside) for each in way) or "true" for way in alternatives]
    return f"any of ({' or '.join(dict.fromkeys(ways))})"


def predicate_in_words(predicate: Any) -> str:
    """Return a predicate as an author writes it."""
    if predicate in (KNOWN, OWN_TOKEN):
        return "?$jwt" if predicate == KNOWN else "a token of the caller's own"
    match predicate:
        case {"not": part}:
            return f"!({predicate_in_words(part)})"
        case {"and": parts}:
            return " && ".join(f"({predicate_in_words(each)})" for each in parts)
        case {"or": parts}:
            return " || ".join(f"({predicate_in_words(each)})" for each in parts)
        case {"literal": value}:
            return "true" if value else "false"
        case {"exists": operand}:
            return f"?{_operand(operand)}"
        case {"compare": sign, "left": left, "right": right}:
            return f"{_operand(left)} {sign} {_operand(right)}"
        case {"has": operand, "value": value}:
            return f"{_operand(operand)} has {_operand(value)}"
        case _:
            return NOBODY_MEETS


def _operand(operand: Any) -> str:
    match operand:
        case {"value": value}:
            return json.dumps(value, ensure_ascii=False)
        case {"jwt": path} | {"variables": path}:
            source = "$jwt" if "jwt" in operand else "$variables"
            return ".".join([source, *path]) + (f":{operand['type']}" if "type" in operand else "")
        case _:
            return "?"
