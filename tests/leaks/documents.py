"""Random documents for a random schema: most of them ask in some way for what their caller is denied."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.leaks.api import Api
from tests.leaks.oracle import Denied
from tests.leaks.schemas import LEAVES, Field, Input, named

MOODS = ("denied", "denied", "told", "told", "told", "allowed", "allowed", "misspelt", "carried", "carried")
"""What a document is after: denied fields, inputs that tell them, neither of both, or suggestions for wrong names.

One that is after ``carried`` tells them by directives alone, so that nothing else of it has to be refused.
"""

INTROSPECTION = """
{ __schema { description queryType { name } types { kind name description interfaces { name } possibleTypes { name }
  fields(includeDeprecated: true) { name description args { name description defaultValue } type { name } }
  inputFields { name description defaultValue } enumValues { name description } } } }
"""
ONE_TYPE = """
{ __type(name: %s) { name description fields { name description args { name description defaultValue } }
  inputFields { name description } enumValues { name description } possibleTypes { name } } }
"""


class Name(str):
    """An enum value, which stands without quotes in a document."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Document:
    """The text of one operation, and its variables: what each is for, a value, and the default that it may have."""

    text: str
    inputs: Mapping[str, Input] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)


def random_document(
    api: Api, denied: Denied, random: Random, *, name: str = "Q", mood: str = "", directives: str = ""
) -> Document:
    """A document that is after ``mood``, or after what chance says; some ask for the schema."""
    if not mood and random.random() < 0.08:
        type_ = random.choice(sorted(api.schema.types))
        return Document(random.choice([INTROSPECTION, ONE_TYPE % json.dumps(type_)]).strip())
    variables = 0.3 if name == "Q" else 0.6
    return _Writer(api, denied, random, mood or random.choice(MOODS), variables=variables).document(name, directives)


def random_values(document: Document, api: Api, denied: Denied, random: Random) -> dict[str, Any]:
    """Other values for the variables of a document."""
    writer = _Writer(api, denied, random, random.choice(["told", "told", "allowed"]))
    given = {
        name: asked
        for name, asked in document.inputs.items()
        if random.random() < (0.5 if name in document.defaults else 0.9) or _is_needed(asked, name in document.defaults)
    }
    return {name: writer.value(asked, (), depth=2) for name, asked in given.items()}


def _is_needed(asked: Input, has_default: bool) -> bool:
    return asked.type.endswith("!") and not has_default


class _Writer:
    """Writes one document. ``mood`` says which of several things to choose."""

    def __init__(self, api: Api, denied: Denied, random: Random, mood: str, *, variables: float = 0) -> None:
        self._api = api
        self._schema = api.schema
        self._denied = denied
        self._random = random
        self._mood = mood
        self._variables = variables  # the share of arguments that variables fill
        self._inputs: dict[str, Input] = {}
        self._values: dict[str, Any] = {}
        self._fragments: list[str] = []

    def document(self, name: str, directives: str) -> Document:
        kind = "mutation" if self._chance(0.12) else "query"
        root = self._schema.query if kind == "query" else self._schema.mutation
        body, carried = self._selections(root, depth=3), self._carried((), share=1 if self._mood == "carried" else 0.6)
        defaults = {each: value for each, value in self._values.items() if self._chance(0.3)}
        declared = ", ".join(
            f"${each}: {asked.type}" + (f" = {literal(defaults[each])}" if each in defaults else "")
            for each, asked in self._inputs.items()
        )
        values = {each: value for each, value in self._values.items() if each not in defaults or self._chance(0.5)}
        head = f"{kind} {name}{f'({declared})' if declared else ''}{directives}{carried}"
        text = "\n".join([f"{head} {body}", *self._fragments])
        return Document(text, self._inputs, values, defaults)

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _choose(self, coordinates: Mapping[str, bool], *, after: str) -> str:
        """One of several: those that are denied (``True``) above all where the document is after them, or never."""
        tells = after == "told" and self._mood == "carried"
        weight = {after: 8, "allowed": 0.001, "carried": 8 if tells else 0.001}.get(self._mood, 0.5)
        return self._random.choices(list(coordinates), [weight if each else 1 for each in coordinates.values()])[0]

    def _selections(self, type_: str, *, depth: int) -> str:
        made = self._schema.types[type_]
        if made.kind == "union":
            return f"{{ __typename {' '.join(self._fragment(each, depth=depth) for each in made.above)} }}"
        fields = {name: each for name, each in made.fields.items() if depth or named(each.type) in LEAVES}
        parts = ["__typename"] if not fields or self._chance(0.2) else []
        if "id" in fields and (self._mood not in ("allowed", "carried") or not self._is_denied(type_, "id")):
            parts.append("id")
        for _ in range(self._random.randint(1, 2) if fields else 0):
            name = self._choose({each: self._is_denied(type_, each) for each in fields}, after="denied")
            parts.append(self._field(type_, name, fields[name], depth))
        if made.kind == "interface" and depth and self._schema.possible(type_):
            parts.append(self._fragment(self._random.choice(self._schema.possible(type_)), depth=depth))
        if self._mood == "misspelt" and made.fields and self._chance(0.5):
            parts.append(self._misspelt(self._random.choice(list(made.fields))))
        return f"{{ {' '.join(dict.fromkeys(parts))} }}"

    def _is_denied(self, type_: str, name: str) -> bool:
        return any(f"{each}.{name}" in self._denied.fields for each in self._schema.possible(type_))

    def _fragment(self, on: str, *, depth: int) -> str:
        body = self._selections(on, depth=depth)
        if self._chance(0.8):
            return f"... on {on} {body}"
        self._fragments.append(f"fragment F{len(self._fragments)} on {on} {body}")
        return f"...F{len(self._fragments) - 1}"

    def _field(self, type_: str, name: str, made: Field, depth: int) -> str:
        about = self._schema.possible(named(made.type).removesuffix("Connection"))
        given = {
            each: self._given(asked, about)
            for each, asked in made.inputs.items()
            if asked.type.endswith("!") or self._wants(f"{type_}.{name}({each}:)", asked)
        }
        if self._mood == "misspelt" and given and self._chance(0.3):
            given = {self._misspelt(each): value for each, value in given.items()}
        arguments = f"({', '.join(f'{each}: {value}' for each, value in given.items())})" if given else ""
        alias = f"a{self._random.randrange(10**6, 10**7)}: " if given or self._chance(0.1) else ""
        directive = self._random.choice([" @include(if: true)", " @skip(if: false)"]) if self._chance(0.05) else ""
        below = "" if named(made.type) in LEAVES else " " + self._selections(named(made.type), depth=max(depth - 1, 0))
        carried = self._carried(about, share=0.2) if below else ""
        return f"{alias}{name}{arguments}{directive}{carried}{below}"

    def _carried(self, about: Sequence[str], *, share: float) -> str:
        """Directives of the API, with what is wanted of their arguments."""
        found = ""
        for name, inputs in self._schema.directives.items():
            wanted = [each for each in inputs if self._wants(f"@{name}({each}:)", inputs[each])]
            if wanted and self._chance(share):
                denied = {each: f"@{name}({each}:)" in self._denied.inputs for each in wanted}
                one = self._choose(denied, after="told")  # one alone: what several choose is often nothing
                found += f" @{name}({one}: {self._given(inputs[one], about)})"
        return found

    def _wants(self, coordinate: str, asked: Input) -> bool:
        if self._mood == "carried" and not coordinate.startswith("@"):
            return False
        if coordinate in self._denied.inputs:
            return self._chance({"told": 0.8, "carried": 0.8, "allowed": 0}.get(self._mood, 0.2))
        return self._chance(
            0.7 if self._mood in ("told", "carried") and asked.op in ("where", "order", "order_by") else 0.2
        )

    def _given(self, asked: Input, about: Sequence[str]) -> str:
        value = self.value(asked, about, depth=2)
        if not self._chance(self._variables):
            return literal(value)
        name = f"v{len(self._inputs)}"
        self._inputs[name], self._values[name] = asked, value
        return f"${name}"

    def value(self, asked: Input, about: Sequence[str], *, depth: int) -> Any:
        """A value for an input: where it is compared with others, one that parts these."""
        match asked.op:
            case "where" | "not" | "nested":
                return self._filter(named(asked.type), about if asked.op != "nested" else (), depth=depth)
            case "and":
                return [self._filter(named(asked.type), about, depth=depth)]
            case "order":
                values = self._one_of(named(asked.type))
                return [values] if asked.type.startswith("[") else values
            case "order_by":
                field_ = self._schema.types[asked.type].inputs["field"].type
                return {"field": self._one_of(named(field_)), "direction": Name(self._random.choice(["ASC", "DESC"]))}
            case "first":
                return self._random.randint(1, 5)
            case "none":
                return self._ignored(named(asked.type))
            case op:
                return self._compared(op, asked, about)

    def _filter(self, type_: str, about: Sequence[str], *, depth: int) -> dict[str, Any]:
        inputs = {
            name: asked
            for name, asked in self._schema.types[type_].inputs.items()
            if depth or asked.op not in ("and", "not", "nested")
        }
        if not inputs:
            return {}
        name = self._choose({each: f"{type_}.{each}" in self._denied.inputs for each in inputs}, after="told")
        value = self.value(inputs[name], about, depth=depth - 1)
        return {self._misspelt(name) if self._mood == "misspelt" and self._chance(0.3) else name: value}

    def _one_of(self, enum: str) -> Name:
        values = {each: f"{enum}.{each}" in self._denied.inputs for each in self._schema.types[enum].inputs}
        name = self._choose(values, after="told")
        return Name(self._misspelt(name) if self._mood == "misspelt" and self._chance(0.3) else name)

    def _ignored(self, type_: str) -> Any:
        if type_ in self._schema.types and self._schema.types[type_].kind == "input":
            return {"nickname": "x", "salary": 7}
        return 7 if type_ == "Int" else "x"

    def _compared(self, op: str, asked: Input, about: Sequence[str]) -> Any:
        rows = [row for name in about or self._api.rows for row in self._api.rows[name] if asked.noun in row.values]
        rows = rows or [row for same in self._api.rows.values() for row in same if asked.noun in row.values]
        type_ = named(asked.type)
        if not rows:
            return _as_asked(asked, 5 if type_ == "Int" else Name("A") if type_ == "Grade" else "x")
        first, second = self._random.choice(rows).values[asked.noun]
        if isinstance(first, list):
            first, second = first[0], second[0]
        if type_ == "Int" and op not in ("eq", "in"):
            return (first + second) // 20 * 10 + 5
        return _as_asked(asked, Name(first) if type_ == "Grade" else first)

    def _misspelt(self, name: str) -> str:
        """A name with a letter more or less, which is near enough for a suggestion."""
        place = self._random.randrange(len(name))
        return self._random.choice([f"{name}x", name[:place] + name[place + 1 :] or "x"])


def _as_asked(asked: Input, value: Any) -> Any:
    return [value] if asked.type.startswith("[") else value


def literal(value: Any) -> str:
    """A value as GraphQL writes it."""
    match value:
        case Name():
            return str(value)
        case dict():
            return "{" + ", ".join(f"{name}: {literal(each)}" for name, each in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(literal, value)) + "]"
        case _:
            return json.dumps(value)
