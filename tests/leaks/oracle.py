"""Who may not see what, from what an author said, field by field. It shares no code with the product.

It says less than the product may hide: only what holds a value that a caller must not learn, and the inputs that would
tell it. What can merely not be reached any more is nobody's secret.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from tests.leaks.api import MAX_STEPS
from tests.leaks.policies import NEVER, Access, Caller, Condition, Facts, Pattern
from tests.leaks.schemas import Input, Schema, named


@dataclass(frozen=True, slots=True)
class Denied:
    """What one caller must not learn through one tool, or without one.

    ``fields`` of object types hold what is secret, ``inputs`` would tell it. ``excepted`` are secret fields that inputs
    tell by their author's leave.
    """

    fields: frozenset[str]
    inputs: frozenset[str]
    excepted: frozenset[str]
    types: frozenset[str]  # of which nothing is left


class Oracle:
    """The rules over one schema and what one author says."""

    def __init__(self, schema: Schema, access: Access) -> None:
        self._schema = schema
        self._access = access
        self._asked = {name: self._asked_by(name) for name, type_ in schema.types.items() if type_.inputs}
        self._reads = {coordinate: set(self._read_by(coordinate)) for coordinate, _ in schema.inputs()}

    def denied(self, caller: Caller, patterns: Sequence[Pattern] | None, facts: Facts) -> Denied:
        """``patterns`` are those of a GraphQL tool; ``None``: without one. ``facts``: the caller's claims, and more."""
        fields = [coordinate for coordinate, _ in self._schema.fields()]
        own = {each for each in fields if self._is_closed(each, caller, facts) or self._is_hidden(each, patterns)}
        gone = self._followed(own | set(self._access.hide))
        secret = {each for each in fields if each in gone and self._holds(each)}
        told = {each: reads & secret for each, reads in self._reads.items() if reads & secret}
        excepted = set().union(*(told.pop(each) for each in self._access.show if each in told))
        inputs = {each for each, _ in self._schema.inputs() if self._is_hidden(each, None)}
        types = frozenset(gone & self._schema.types.keys())
        return Denied(frozenset(secret), frozenset({*told, *inputs}), frozenset(excepted), types)

    def may_ask(self, caller: Caller, name: str) -> bool:
        """Whether the policy of ``Query`` lets a caller ask for ``__schema`` or ``__type`` where there is no tool."""
        return not self._is_closed(f"{self._schema.query}.{name}", caller, Facts(caller.claims))

    def is_shut(self, patterns: Sequence[Pattern]) -> bool:
        """Whether no caller with whatever claims has a field to begin with in a GraphQL tool of these patterns."""
        roots = [each for each, _ in self._schema.fields() if each.partition(".")[0] in self._schema.roots]
        left = [each for each in roots if not self._is_hidden(each, patterns)]
        return all(self._condition(*each.split(".")) is NEVER for each in left)

    def _holds(self, coordinate: str) -> bool:
        return self._schema.types[coordinate.partition(".")[0]].kind == "object"

    def _is_hidden(self, coordinate: str, patterns: Sequence[Pattern] | None) -> bool:
        """Whether ``access.hide`` or a tool's patterns hide it from everybody."""
        owner, _, name = coordinate.partition(".")
        if not {coordinate, owner}.isdisjoint(self._access.hide):
            return True
        if patterns is None:
            return False
        usual = self._usual(owner)
        matching = [
            pattern
            for pattern in patterns
            if any(re.fullmatch(pattern.types, each) for each in (owner, usual)) and re.fullmatch(pattern.fields, name)
        ]
        return not (matching[-1].expose if matching else owner not in self._schema.roots)

    def _usual(self, owner: str) -> str:
        return {self._schema.query: "Query", self._schema.mutation: "Mutation"}.get(owner, owner)

    def _is_closed(self, coordinate: str, caller: Caller, facts: Facts) -> bool:
        """Whether the policy of its type closes it to a caller."""
        owner, _, name = coordinate.partition(".")
        condition = self._condition(owner, name)
        return not caller.skips_policies and condition is not None and not condition.holds(facts)

    def _condition(self, owner: str, name: str) -> Condition | None:
        """What has to hold for a field; ``None``: nothing."""
        policies = [policy for policy in self._access.policies if policy.type in (owner, self._usual(owner))]
        if not policies:
            return NEVER if owner in self._schema.roots else None
        return policies[0].rules.get(name, policies[0].default) or NEVER

    def _followed(self, own: set[str]) -> set[str]:
        """With the implementers of interfaces, and what returns a type of which nothing is left."""
        gone = set(own)
        for name, type_ in self._schema.types.items():
            for interface in type_.above if type_.kind == "object" else ():
                gone |= {f"{name}.{each}" for each in type_.fields if f"{interface}.{each}" in own}
        while True:
            more = {each for each in self._schema.types if self._is_empty(each, gone)}
            more |= {each for each, made in self._schema.fields() if named(made.type) in gone}
            more |= {each for each, _ in self._schema.fields() if self._lacks_argument(each, gone)}
            if more <= gone:
                return gone
            gone |= more

    def _is_empty(self, name: str, gone: set[str]) -> bool:
        type_ = self._schema.types[name]
        match type_.kind:
            case "object" | "interface":
                return name not in self._schema.roots and all(f"{name}.{each}" in gone for each in type_.fields)
            case "union":
                return all(member in gone for member in type_.above)
            case _:
                return False

    def _lacks_argument(self, coordinate: str, gone: Collection[str]) -> bool:
        owner, _, name = coordinate.partition(".")
        inputs = self._schema.types[owner].fields[name].inputs
        return any(value.type.endswith("!") and f"{coordinate}({each}:)" in gone for each, value in inputs.items())

    def _read_by(self, coordinate: str) -> Iterator[str]:
        """The fields that an input reads where it can stand. What only gives a mutation its data reads none."""
        owner, _, member = coordinate.partition(".")
        name, _, argument = member.removesuffix(":)").partition("(")
        if coordinate.startswith("@"):
            directive, _, argument = coordinate.removeprefix("@").removesuffix(":)").partition("(")
            yield from self._targets(self._schema.directives[directive][argument], self._every_row())
        elif argument:
            made = self._schema.types[owner].fields[name]
            yield from self._targets(made.inputs[argument], self._rows(made.type))
        else:
            asked = self._schema.types[owner].inputs[name]
            yield from self._targets(asked, self._asked[owner])

    def _asked_by(self, input_type: str) -> set[str]:
        """The objects that a type of inputs can be about."""
        found: set[str] = set()
        seen: set[tuple[str, frozenset[str]]] = set()
        waiting = [
            (value, self._rows(made.type)) for _, made in self._schema.fields() for value in made.inputs.values()
        ]
        every = self._every_row()
        waiting += [(value, every) for inputs in self._schema.directives.values() for value in inputs.values()]
        while waiting:
            value, rows = waiting.pop()
            name = named(value.type)
            if name not in self._schema.types or (name, frozenset(rows)) in seen:
                continue
            seen.add((name, frozenset(rows)))
            found |= rows if name == input_type else set()
            for below in self._schema.types[name].inputs.values():
                waiting.append((below, self._through(rows, below.link) if below.op == "nested" else rows))
        return found

    def _every_row(self) -> set[str]:
        """The objects that a directive can be about: those that any field returns."""
        return {row for _, made in self._schema.fields() for row in self._rows(made.type)}

    def _rows(self, type_: str) -> set[str]:
        return set(self._schema.possible(named(type_).removesuffix("Connection").removesuffix("Touched")))

    def _through(self, rows: set[str], link: str) -> set[str]:
        fields = [self._schema.types[row].fields for row in rows]
        return {each for made in fields if link in made for each in self._rows(made[link].type)}

    def _targets(self, asked: Input, rows: set[str]) -> Iterator[str]:
        if asked.op == "nested" or asked.link:
            yield from (f"{row}.{asked.link}" for row in rows if asked.link in self._schema.types[row].fields)
        if asked.op not in ("gt", "lt", "eq", "has", "in", "sort"):
            return
        near = self._through(rows, asked.link) if asked.link else rows
        for _ in range(1 if asked.link else MAX_STEPS + 1):
            having = {row for row in near if asked.noun in self._schema.types[row].fields}
            yield from (f"{row}.{asked.noun}" for row in having)
            # A row that has such a field is asked for it, whatever its links lead to.
            links = [made.type for row in near - having for made in self._schema.types[row].fields.values()]
            near = {below for type_ in links for below in self._rows(type_)}
