"""A made-up schema as large as the largest published ones: 1,600 types, wide and recursive where those are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product

THINGS = (
    *("Account", "Address", "Asset", "Basket", "Branch", "Campaign", "Carrier", "Charge", "Comment", "Contract"),
    *("Coupon", "Customer", "Delivery", "Device", "Discussion", "Document", "Event", "Gateway", "Invoice", "Issue"),
    *("Label", "Listing", "Location", "Member", "Message", "Milestone", "Order", "Package", "Payment", "Person"),
    *("Policy", "Product", "Project", "Receipt", "Refund", "Release", "Report", "Repository", "Review", "Session"),
)
PARTS = ("", "Audit", "Draft", "External", "Group", "History", "Legacy", "Partner", "Setting", "Template")
"""In front of each thing: 400 object types, with as many connections, edges and filters."""

COLOURS = 600
WIDE_FILTER = 200
"""Fields of the filter that contains itself."""

DESCRIPTION = "It is described in as many words as published schemas spend on one of their fields, a sentence or two."


def names() -> list[str]:
    """The names of the ordinary object types."""
    return [f"{part}{thing}" for part, thing in product(PARTS, THINGS)]


def work_sdl() -> str:
    """The SDL. The same each time."""
    return "\n".join(
        [
            *_roots(names()),
            *_interfaces(),
            *(part for place, name in enumerate(names()) for part in _family(place, name)),
            *_unions(names()),
            *_inputs(),
        ]
    )


def _roots(ordinary: Sequence[str]) -> Iterator[str]:
    singles = [f"{_lower(name)}(id: ID!): {name}" for name in ordinary]
    pages = [
        f"{_lower(name)}s(where: {name}Filter, first: Int, after: String): {name}Connection!" for name in ordinary[:200]
    ]
    own = [
        "node(id: ID!): Node",
        "everything(where: WideFilter, colors: [Color!], ids: [Int!], matrix: [[Int]], json: JSON): [Anything!]",
        "search(text: String!, colors: [Color!]): [Found!]!",
        "loose: JSON",
        "cubes: [[[Int]]]",
        "self: Query",
    ]
    yield _block("type Query", [*own, *singles, *pages])
    writes = [f"{verb}{name}(input: {name}Input!): {name}" for verb in ("add", "change") for name in ordinary[:150]]
    yield _block("type Mutation", [*writes, "self: Query"])


def _interfaces() -> Iterator[str]:
    yield _block("interface Node", ["id: ID!"])
    for number in range(20):
        yield _block(f"interface Kind{number} implements Node", ["id: ID!", "name: String!", "parent: Node"])


def _family(place: int, name: str) -> Iterator[str]:
    """An object type with what is made for each: connection, edge, filter, and an enum or an input for some."""
    others = [names()[(place * 7 + step * 13) % len(names())] for step in range(8)]
    fields = [
        *("id: ID!", "name: String!", "parent: Node", "createdAt: Moment!", "color: Color", "amounts: [Float!]!"),
        *(f"{_lower(other)}: {other}" for other in dict.fromkeys(others)),
        *(f"{_lower(other)}s(where: {other}Filter, first: Int): {other}Connection!" for other in dict.fromkeys(others)),
    ]
    yield _block(f"type {name} implements Kind{place % 20} & Node", fields)
    yield _block(f"type {name}Connection", [f"edges: [{name}Edge!]", "total: Int!"])
    yield _block(f"type {name}Edge", [f"node: {name}", "cursor: String!"])
    filtered = [f"name{end}: String" for end in ("", "Not", "In", "Contains", "StartsWith")]
    yield _block(f"input {name}Filter", [*filtered, f"and: [{name}Filter!]", f"or: [{name}Filter!]"])
    if place < 150:
        yield _block(f"input {name}Input", ["name: String!", "colors: [Color!]", f"parts: [{name}Input!]"])


def _unions(ordinary: Sequence[str]) -> Iterator[str]:
    yield f"union Anything = {' | '.join(ordinary)}"
    yield f"union Found = {' | '.join(ordinary[::4])}"


def _inputs() -> Iterator[str]:
    fields = islice((f"{_lower(name)}{end}: String" for name in names() for end in ("", "In")), WIDE_FILTER - 3)
    yield _block("input WideFilter", ["and: [WideFilter!]", "not: WideFilter", "colors: [Color!]", *fields])
    yield _block("enum Color", [f"SHADE_{number}_OF_{THINGS[number % 40].upper()}" for number in range(COLOURS)])
    yield "scalar JSON\nscalar Moment"


def _block(head: str, members: Sequence[str]) -> str:
    described = "\n".join(f'  """{DESCRIPTION}"""\n  {member}' for member in members)
    return f'"""{DESCRIPTION}"""\n{head} {{\n{described}\n}}'


def _lower(name: str) -> str:
    return name[:1].lower() + name[1:]
