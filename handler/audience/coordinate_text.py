"""The coordinates that a schema index has, as authors write them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from handler.audience.reach import Reach
from handler.errors.authoring import UnknownCoordinate
from handler.graph.index import SchemaIndex
from handler.text.sentences import cut, did_you_mean

USUAL_ROOTS = {"Query": "query", "Mutation": "mutation"}
FORM = re.compile(r"(@?)(\w+)(?:\.(\w+))?(?:\((\w+):\))?", re.ASCII)
EXPECTED = (
    "expected Type, Type.field, Type.field(argument:), Input.field, Enum.VALUE, @directive or @directive(argument:)"
)


def known_coordinate(reaches: Sequence[Reach], text: str) -> tuple[dict[Reach, str], list[Reach]]:
    """Return the coordinate that a text names at each endpoint that has it, and these endpoints.

    Raises:
        UnknownCoordinate: no endpoint has it; the message is of the first with a schema.
    """
    found: dict[Reach, str] = {}
    refusal: UnknownCoordinate | None = None
    for reach in reaches:
        if reach.index is None:
            continue
        try:
            found[reach] = resolve_in(reach.index, text)
        except UnknownCoordinate as exc:
            refusal = refusal or UnknownCoordinate(f'--field "{cut(text)}": {exc}')
    if not found:
        raise refusal or UnknownCoordinate(f'--field "{cut(text)}": no endpoint here has a schema')
    return found, list(found)


def resolve_in(index: SchemaIndex, text: str) -> str:
    """Return the coordinate of a schema that a text names. ``Query`` and ``Mutation`` mean the root types.

    Raises:
        UnknownCoordinate: the schema does not have it, or the text is not a coordinate.
    """
    form = FORM.fullmatch(text)
    if form is None:
        raise UnknownCoordinate(f"not a coordinate: {EXPECTED}")
    at, name, member, argument = form.groups()
    if at:
        if name not in index.directives:
            raise UnknownCoordinate(
                f'the schema has no directive "@{name}" for requests{_meant(name, index.directives)}'
            )
        if argument:
            _require(argument, index.directives[name].arguments, "argument", f"@{name}")
        return f"@{name}({argument}:)" if argument else f"@{name}"
    owner = name if name in index else index.roots.get(USUAL_ROOTS.get(name, ""), name)
    if owner not in index:
        raise UnknownCoordinate(f'the schema has no type "{name}"{_meant(name, list(index))}')
    if member is None:
        return owner
    _require(member, index.members(owner), "value" if index.kind(owner) == "enum" else "field", owner)
    if argument is None:
        return f"{owner}.{member}"
    fields = index[owner].fields
    _require(argument, fields[member].arguments if member in fields else (), "argument", f"{owner}.{member}")
    return f"{owner}.{member}({argument}:)"


def _require(name: str, known: Collection[str], kind: str, owner: str) -> None:
    if name not in known:
        raise UnknownCoordinate(f'"{owner}" has no {kind} "{name}"{_meant(name, known)}')


def _meant(name: str, known: Collection[str]) -> str:
    return did_you_mean(name, known)
