"""The differences of types in the schema, for documents that callers or models write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from handler.commands.changes.change import Change
from handler.graph.index import Field, InputValue, SchemaIndex, TypeSlice

COST = "it counts differently against max_cost"


class _Typed(NamedTuple):
    """A coordinate with its code, and the sentence on both of its types."""

    code: str
    words: str
    coordinate: str


def document_type_changes(
    before: SchemaIndex | None, after: SchemaIndex | None, *, seen: Iterable[str], ways: tuple[str, ...]
) -> Iterator[Change]:
    """Yield the differences of types of the coordinates ``seen`` by somebody in the version after, in any of the ways.

    Coordinates that differ by the same words are one difference.
    """
    if before is None or after is None or before is after:
        return
    found: dict[tuple[str, str], list[str]] = {}
    for coordinate in seen:
        for each in _of(coordinate, before, after):
            found.setdefault((each.code, each.words), []).append(each.coordinate)
    if ways and before.description != after.description:
        about = ", ".join(ways)
        yield Change(code="text-changed", about=about, sentence="the schema has another description", ways=ways)
    for (code, words), coordinates in found.items():
        more = f" and {len(coordinates) - 1:,} more" if len(coordinates) > 1 else ""
        yield Change(
            code=code,
            about=", ".join(ways),
            sentence=f"{coordinates[0]}{more}: {words}",
            coordinates=tuple(coordinates),
            ways=ways,
        )


def _of(coordinate: str, before: SchemaIndex, after: SchemaIndex) -> Iterator[_Typed]:
    if coordinate.startswith("@"):
        yield from _of_directive(coordinate, before, after)
        return
    owner, _, rest = coordinate.partition(".")
    member, _, argument = rest.removesuffix(":)").partition("(")
    if owner not in before or owner not in after:
        return
    old, new = before[owner], after[owner]
    yield from _of_texts(coordinate, _texts(old, member, argument), _texts(new, member, argument))
    if not member:
        yield from _of_type(owner, before, after)
    elif argument:
        if member in old.fields and member in new.fields:
            yield from _of_input(coordinate, argument, old.fields[member].arguments, new.fields[member].arguments)
    elif after.kind(owner) == "input" == before.kind(owner):
        yield from _of_input(coordinate, member, old.inputs, new.inputs)
    elif member in old.fields and member in new.fields:
        yield from _of_field(coordinate, old.fields[member], new.fields[member])


def _of_directive(coordinate: str, before: SchemaIndex, after: SchemaIndex) -> Iterator[_Typed]:
    name, _, argument = coordinate.removeprefix("@").removesuffix(":)").partition("(")
    old, new = before.directives.get(name), after.directives.get(name)
    if old is None or new is None:
        return
    if argument:
        yield from _of_input(coordinate, argument, old.arguments, new.arguments)
        parts = [of.arguments.get(argument) for of in (old, new)]
        texts = [(part.description, part.directives) if part else None for part in parts]
        yield from _of_texts(coordinate, *texts)
        return
    yield from _of_texts(coordinate, (old.description,), (new.description,))
    was, now = (
        {*old.on, *(["repeated"] if old.repeatable else [])},
        {*new.on, *(["repeated"] if new.repeatable else [])},
    )
    if was - now:
        yield _Typed("directive-narrowed", f"no longer allowed: {', '.join(sorted(was - now))}", coordinate)
    if now - was:
        yield _Typed("directive-widened", f"also allowed: {', '.join(sorted(now - was))}", coordinate)


def _of_field(coordinate: str, old: Field, new: Field) -> Iterator[_Typed]:
    if old.type != new.type:
        code = "field-required" if _is_stricter(new.type, old.type) else "field-type"
        yield _Typed(code, f"type {new.type}, and was {old.type}", coordinate)
    if (old.size, old.weight) != (new.size, new.weight):
        yield _Typed("cost-changed", COST, coordinate)


def _of_type(name: str, before: SchemaIndex, after: SchemaIndex) -> Iterator[_Typed]:
    old, new = before.interfaces(name), after.interfaces(name)
    for interface in [each for each in old if each not in new and each in after]:
        yield _Typed("interface-left", f"no longer implements {interface}", name)
    for interface in [each for each in new if each not in old and each in before]:
        yield _Typed("interface-joined", f"implements {interface}, too", name)
    if before.weight(name) != after.weight(name):
        yield _Typed("cost-changed", COST, name)


def _of_texts(coordinate: str, old: Sequence[str] | None, new: Sequence[str] | None) -> Iterator[_Typed]:
    if old is not None and new is not None and old != new:
        yield _Typed("text-changed", "the schema has another description or other directives", coordinate)


def _texts(of: TypeSlice, member: str, argument: str) -> Sequence[str] | None:
    """Return the description and the directives of a type or of one of its parts; ``None`` if there is no such part."""
    if not member:
        return of.description, of.directives
    if argument:
        part = of.fields[member].arguments.get(argument) if member in of.fields else None
        return (part.description, part.directives) if part else None
    value = of.values.get(member)
    found = of.fields.get(member) or of.inputs.get(member)
    return (found.description, found.directives) if found else value


def _of_input(
    coordinate: str, name: str, before: Mapping[str, InputValue], after: Mapping[str, InputValue]
) -> Iterator[_Typed]:
    new, old = after.get(name), before.get(name)
    if new is None:
        return
    if old is None:
        if new.required:
            yield _Typed("input-required", f"new and required, of type {new.type}", coordinate)
        return
    if new.type != old.type:
        wider = _is_stricter(old.type, new.type)
        code = "input-optional" if wider else "input-required"
        yield _Typed(code, f"type {new.type}, and was {old.type}", coordinate)
    elif new.required != old.required:
        code = "input-required" if new.required else "input-optional"
        yield _Typed(code, "required" if new.required else "may be left out", coordinate)
    if new.default != old.default and not old.required:
        yield _Typed("input-default", f"default {new.default or 'none'}, and was {old.default or 'none'}", coordinate)


def _is_stricter(one: str, other: str) -> bool:
    """Return whether a type is another one with further ``!``, and so takes or gives fewer values."""
    if one.replace("!", "") != other.replace("!", ""):
        return False
    return _marks(one) > _marks(other)


def _marks(type_: str) -> frozenset[int]:
    """Return the depths at which a type is not null."""
    plain = 0
    found = set()
    for character in type_:
        if character == "!":
            found.add(plain)
        else:
            plain += 1
    return frozenset(found)
