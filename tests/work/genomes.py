"""Requests as they are searched: a genome of counted genes, which a family makes a request of."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

MAX_BODY_BYTES = 1_048_576
MAX_HEAD_BYTES = 10_240
"""What API Gateway lets through of a request's line and headers."""

MAX_ANSWER_BYTES = 5_000_000
"""What ``upstream.max_bytes`` lets through of an API's answer, unless its author says something else."""

MAX_JSON_BYTES = 4 * MAX_ANSWER_BYTES
"""What is written of JSON before it is looked at whether it may arrive."""

MAX_COUNT = 2_000_000
MAX_GENES = 8


@dataclass(frozen=True)
class Gene:
    """Something that stands in a request so many times. ``variant``: which form of it."""

    kind: str
    count: int = 1
    variant: int = 0

    def __str__(self) -> str:
        return f"{self.count:,} {self.kind}/{self.variant}"


Genome = tuple[Gene, ...]


@dataclass(frozen=True)
class Case:
    """One HTTP request, and what the API answers if it is asked."""

    verb: str = "POST"
    path: str = "/api/things/mcp"
    query_string: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    answer: bytes = b""  # the body; empty: the usual one
    answer_headers: Mapping[str, str] = field(default_factory=lambda: {"content_type": "application/json"})

    @property
    def size(self) -> int:
        """The bytes of the request."""
        return len(self.body) + self.head

    @property
    def head(self) -> int:
        return len(self.path) + len(self.query_string) + sum(map(len, [*self.headers, *self.headers.values()]))

    @property
    def fits(self) -> bool:
        """Whether it may arrive, and the answer to it, too."""
        small = self.head <= MAX_HEAD_BYTES and len(self.answer) <= MAX_ANSWER_BYTES
        return small and len(self.body) < MAX_BODY_BYTES

    def event(self) -> dict[str, Any]:
        """The event that API Gateway would make of it (payload format 2.0)."""
        domain = "abc123.execute-api.us-east-1.amazonaws.com"
        http = {"method": self.verb, "path": self.path, "protocol": "HTTP/1.1", "sourceIp": "203.0.113.7"}
        try:
            body, is_binary = self.body.decode(), False
        except UnicodeDecodeError:
            body, is_binary = base64.b64encode(self.body).decode(), True
        return {
            "version": "2.0",
            "routeKey": "$default",
            "rawPath": self.path,
            "rawQueryString": self.query_string,
            "headers": {"host": domain, "content-type": "application/json", **self.headers},
            "requestContext": {"domainName": domain, "http": http, "stage": "$default"},
            "body": body,
            "isBase64Encoded": is_binary,
        }


@dataclass(frozen=True)
class Family:
    """Requests of one sort. ``build`` makes one of any genome of these ``kinds``."""

    name: str
    kinds: Sequence[str]
    build: Callable[[Genome], Case]
    variants: int = 6


@dataclass(frozen=True)
class Shape:
    """A genome of a family: what is measured, and what others are made of."""

    family: Family
    genome: Genome

    def __str__(self) -> str:
        return f"{self.family.name}: {', '.join(map(str, self.genome))}"

    def case(self) -> Case:
        return self.family.build(self.genome)


class TooLong(Exception):
    """JSON that is far longer than what may arrive."""


def json_of(value: Any, **options: Any) -> bytes:
    """The JSON of a value. One list may stand in a value a million times, so its length is known before it is written.

    Raises:
        TooLong: the JSON would be several times as long as what may arrive.
    """
    if _least_length(value) > MAX_JSON_BYTES:
        raise TooLong
    return json.dumps(value, **{"ensure_ascii": False, **options}).encode(errors="surrogatepass")


def _least_length(value: Any) -> int:
    """Less than the length of a value's JSON, counted once for each list and object, however often it stands there."""
    known: dict[int, int] = {}
    waiting = [value]
    while waiting:
        each = waiting[-1]
        parts = [*each, *each.values()] if isinstance(each, dict) else each if isinstance(each, list) else ()
        different = {id(part): part for part in parts}
        inner = [part for key, part in different.items() if isinstance(part, dict | list) and key not in known]
        if inner:
            waiting += inner
            continue
        known |= {key: len(part) if isinstance(part, str) else 1 for key, part in different.items() if key not in known}
        times = Counter(map(id, parts))
        known[id(each)] = sum((1 + known[key]) * count for key, count in times.items())
        waiting.pop()
    return known[id(value)] if isinstance(value, dict | list) else len(str(value))


def random_shape(family: Family, chance: Random) -> Shape:
    """A shape to begin with."""
    genes = tuple(_random_gene(family, chance) for _ in range(chance.randint(1, 4)))
    return fitted(Shape(family, genes))


def mutated(shape: Shape, chance: Random) -> Shape:
    """The shape with one to three things changed, most often grown."""
    genes = list(shape.genome)
    for _ in range(chance.randint(1, 3)):
        place = chance.randrange(len(genes))
        match chance.choice(("grow", "grow", "grow", "shrink", "variant", "variant", "add", "drop", "swap")):
            case "grow":
                genes[place] = replace(
                    genes[place], count=min(genes[place].count * chance.choice((2, 3, 10)), MAX_COUNT)
                )
            case "shrink":
                genes[place] = replace(genes[place], count=max(genes[place].count // chance.choice((2, 3, 10)), 1))
            case "variant":
                genes[place] = replace(genes[place], variant=chance.randrange(shape.family.variants))
            case "add" if len(genes) < MAX_GENES:
                genes.insert(place, _random_gene(shape.family, chance))
            case "drop" if len(genes) > 1:
                del genes[place]
            case _:
                chance.shuffle(genes)
    return fitted(Shape(shape.family, tuple(genes)))


def fitted(shape: Shape) -> Shape:
    """The shape with its largest counts cut until its request may arrive."""
    genes = list(shape.genome)
    while not _fits(Shape(shape.family, tuple(genes))):
        place = max(range(len(genes)), key=lambda each: genes[each].count)
        if genes[place].count == 1:
            del genes[place]
        else:
            genes[place] = replace(genes[place], count=genes[place].count // 2)
    return Shape(shape.family, tuple(genes))


def _fits(shape: Shape) -> bool:
    try:
        return shape.case().fits
    except TooLong:
        return False


def _random_gene(family: Family, chance: Random) -> Gene:
    count = int(10 ** chance.uniform(0, 5))
    return Gene(chance.choice(family.kinds), count, chance.randrange(family.variants))
