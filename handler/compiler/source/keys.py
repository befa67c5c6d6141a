"""The rows of a table of keys, as ``config.yaml`` has one: a key's kind, bounds, default and meaning.

``Section`` reads a value by its row; editors get a JSON Schema of it, the reference page a line. In YAML, scalars are
read as texts: ``5`` and ``"5"`` are equal.

Source: JSON Schema draft-07, which editors' language servers read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from handler.strict_json import JSONObject

NAME = re.compile(r"STEPZEN_[A-Za-z0-9_]+")
"""The name of a variable. A value in config.yaml that is only such a name stands for the variable's value."""

BOOLEANS = {"true": True, "false": False}

NUMBER = r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?"

SCALAR: JSONObject = {"type": ["string", "number", "boolean", "null"]}

LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
"""A link in Markdown, which editors do not follow."""


Fault = Callable[[str], str]
"""Returns why a text is not valid, as a sentence; an empty string if it is. A missing text is an empty one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key. ``meaning``, ``form`` and ``missing`` are Markdown of the reference page."""

    meaning: str
    form: str  # of the values
    missing: str = "none"  # the effect of a missing key
    schema: JSONObject  # JSON Schema of the values
    default: Any = None
    least: float = 0
    most: float = 0
    known: tuple[str, ...] = ()  # the only texts
    keys: Mapping[str, Key] = field(default_factory=dict)  # of the mapping, or of each mapping in the list
    item: Key | None = None  # of each value in a mapping whose keys are an author's own
    is_list: bool = False
    short: str = ""  # the key of a text that stands for a mapping in the list
    offered: bool = True  # by the problem of an unknown key
    like: str = ""  # the section that has the same keys
    is_old: bool = False  # an old name, which the page leaves out
    owner: str = ""  # the key that this one belongs to: it is taken beside that key alone
    fault: Fault | None = None
    code: str = ""  # of a fault; "invalid-value" shows the value, unless it may be a secret

    @property
    def json_schema(self) -> JSONObject:
        """The JSON Schema of the key, for editors."""
        return {"description": LINK.sub(r"\1", self.meaning), **self.schema}

    def checked(self, fault: Fault, code: str) -> Key:
        """Return the row of a text, or of texts, that a check reports."""
        return replace(self, fault=fault, code=code)

    def expecting(self, expected: str, fits: Callable[[str], object], *, code: str = "invalid-value") -> Key:
        """Return the row of a text, or of texts, that fit."""
        return self.checked(lambda text: "" if fits(text) else f"expected {expected}", code)

    def beside(self, name: str) -> Key:
        """Return the row of a key that is taken beside another one."""
        return replace(self, owner=name)

    def hidden(self) -> Key:
        """Return the row of a key that is taken, and that no problem offers."""
        return replace(self, offered=False)

    def old(self, name: str, *, new: str) -> Key:
        """Return the row of an old key."""
        note = {"deprecated": True, "deprecationMessage": f"{name} is the old name of {new}"}
        return replace(self, schema={**self.schema, **note}, offered=False, is_old=True)


Keys = Mapping[str, Key]

ONE = "identity"
"""A section whose keys are named without ``[]``: one mapping is the usual form."""


def rows(keys: Keys, above: str = "") -> Iterator[tuple[str, Key]]:
    """Yield the rows of a table with their paths, a section before its keys, as ``access.policies[].type``."""
    for name, key in keys.items():
        if not key.is_old:
            yield f"{above}{name}", key
        if not key.is_old and not key.like:
            yield from rows(key.keys, f"{above}{name}{'[]' * (key.is_list and name != ONE)}.")
            yield from rows(key.item.keys if key.item else {}, f"{above}{name}.NAME.")


def text(meaning: str, form: str = "text", missing: str = "none") -> Key:
    """Return the row of a text."""
    return Key(meaning=meaning, form=form, missing=missing, schema=SCALAR)


def condition(meaning: str, missing: str = "none") -> Key:
    """Return the row of a condition on callers."""
    return Key(meaning=meaning, form="condition", missing=missing, schema={"type": ["string", "boolean"]})


def boolean(meaning: str, missing: str = "", *, default: bool = False) -> Key:
    """Return the row of a Boolean."""
    form, schema = "Boolean", _one_of(*BOOLEANS.values(), *BOOLEANS)
    missing = missing or _code(str(default).lower())
    return Key(meaning=meaning, form=form, missing=missing, schema=schema, default=default)


def choice(meaning: str, known: Sequence[str], default: str = "", *, missing: str = "") -> Key:
    """Return the row of one of some texts."""
    *others, last = map(_code, known)
    return Key(
        meaning=meaning,
        form=f"{', '.join(others)} or {last}" if others else last,
        missing=missing or (_code(default) if default else "none"),
        schema=_one_of(*known),
        default=default,
        known=tuple(known),
    )


def number(meaning: str, default: float, least: float, most: float, *, form: str = "", missing: str = "") -> Key:
    """Return the row of a number between two bounds, both included."""
    return Key(
        meaning=meaning,
        form=form or f"number, {least} to {most}",
        missing=missing or str(default),
        schema={
            "type": ["number", "string"],
            "minimum": least,
            "maximum": most,
            "pattern": f"^({NUMBER}|{NAME.pattern})$",
        },
        default=default,
        least=least,
        most=most,
    )


def integer(meaning: str, default: int, least: int, most: int, *, form: str = "", missing: str = "") -> Key:
    """Return the row of a whole number between two bounds, both included."""
    key = number(meaning, default, least, most, form=form or f"integer, {least} to {most}", missing=missing)
    return replace(key, schema={**key.schema, "multipleOf": 1})


def texts(meaning: str, form: str = "", missing: str = "none", *, known: Sequence[str] = ()) -> Key:
    """Return the row of a list of texts, or of one text. ``known`` are the only ones; empty: any."""
    form = form or (f"list of {', '.join(map(_code, known))}" if known else "list of texts")
    item = _one_of(*known) if known else SCALAR
    schema = {"anyOf": [item, {"type": "array", "items": item}]}
    return Key(meaning=meaning, form=form, missing=missing, schema=schema, known=tuple(known))


def section(meaning: str, keys: Keys, missing: str = "none") -> Key:
    """Return the row of a mapping with these keys."""
    return Key(meaning=meaning, form="mapping", missing=missing, schema=schema_of_mapping(keys), keys=keys)


def section_or(scalar: Key, keys: Keys, *, form: str) -> Key:
    """Return the row of a scalar, or of a mapping in its place."""
    schema = {"anyOf": [scalar.schema, {**schema_of_mapping(keys), "type": "object"}]}
    return replace(scalar, form=form, schema=schema, keys=keys)


def sections(meaning: str, keys: Keys, form: str = "list of mappings", *, short: str = "", like: str = "") -> Key:
    """Return the row of a list of mappings, or of one mapping. With ``short``, a text may stand for that key alone."""
    mapping = {**schema_of_mapping(keys), "type": "object"}
    item = {"anyOf": [SCALAR, mapping]} if short else mapping
    schema = {"anyOf": [item, {"type": "array", "items": item}, {"type": "null"}]}
    form = f"as `{like}`" if like else form
    return Key(meaning=meaning, form=form, schema=schema, keys=keys, is_list=True, short=short, like=like)


def mapping_of(meaning: str, item: Key, form: str = "mapping", missing: str = "none") -> Key:
    """Return the row of a mapping whose keys are an author's own."""
    schema = {"type": ["object", "null"], "additionalProperties": item.json_schema}
    return Key(meaning=meaning, form=form, missing=missing, schema=schema, item=item)


def anything(meaning: str, form: str = "any") -> Key:
    """Return the row of a value that is not read."""
    return Key(meaning=meaning, form=form, schema={})


def schema_of_mapping(keys: Keys) -> JSONObject:
    """Return the JSON Schema of a mapping with these keys."""
    properties = {name: key.json_schema for name, key in keys.items()}
    return {"type": ["object", "null"], "properties": properties, "additionalProperties": False}


def _one_of(*known: object) -> JSONObject:
    return {"anyOf": [{"enum": list(known)}, {"type": "string", "pattern": f"^{NAME.pattern}$"}]}


def _code(word: str) -> str:
    return f"`{word}`"
