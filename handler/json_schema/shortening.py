"""Shorten an advertised input schema to a number of bytes, without a rule that the enforced schema does not have.

Each type of the arguments is written out as far as it fits, level by level: types of required members before those of
optional ones, described members before others. A type that does not fit is an object or a text that takes anything,
and names the type; the object has its first members, as far as they fit, because some vendors take an object without
members for an empty one. Descriptions inside types come after the types.

A reference that leads to itself breaks clients that resolve references. A type within itself is therefore another
copy of the type, or an open object. Some vendors refuse any reference, so a schema has none if it fits without.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from functools import partial
from heapq import heappop, heappush
from math import inf
from typing import Any, NamedTuple

from handler.json_schema.fast_path import REFERENCE
from handler.json_schema.input_types import (
    InputType,
    SharedTypes,
    Use,
    each_below,
    leaves_first,
    plain,
    reached,
    schemas_below,
    uses_in,
)
from handler.strict_json import JSONObject, to_json_bytes
from handler.text.sentences import some

MAX_COPIES = 6
"""Copies of a type within each other."""

SHARE_OF_COPIES = 6
"""Copies take a part of the limit, one of so many: filters rarely nest deeply, and a list is read at every turn."""

MAX_INLINE_LEVELS = 8
"""Types nested deeper than this are references: any JSON parser must be able to read the schema."""

MAX_NAMED = 6
"""Members that an open type names, if there is room."""

LEAST_BYTES = len('{"type":"null"}')

_REFERENCE = len('{"$ref":"#/$defs/"}') + len("_2")
_IN_REFERENCE = len(REFERENCE) + len("_2")
_DEFINITION = len('"_2":,')


def shorten_schema(
    schema: JSONObject,
    *,
    max_bytes: int,
    recursive: bool = False,
    inline: bool = False,
    shown_by: Mapping[str, str] | None = None,
    shared: SharedTypes | None = None,
) -> JSONObject:
    """Return an advertised schema, in which types are named, as clients see it: in ``max_bytes``, if arguments fit.

    ``recursive``: a reference may lead to itself. ``inline``: there is no reference if only further copies of types
    are lost by that. ``shown_by``: type -> the way to see all of it, in a few words. ``shared``: the types of schemas
    with the same definitions.
    """
    listed = plain(schema)
    fits = schema_bytes(listed) <= max_bytes
    if fits and (recursive or "$defs" not in schema):
        return listed
    arguments, types = (shared or SharedTypes()).types_in(schema)
    users: dict[str, set[str]] = {name: set() for name in types}  # type -> the types that refer to it
    for name, each in types.items():
        for use in each.uses:
            users[use.type].add(name)
    make = partial(_Choice, arguments, types, users=users, recursive=recursive, shown_by=shown_by or {})
    if fits and not any(name in reached(name, users) for name in types):
        result, forms = listed, {name: type_.schema for name, type_ in types.items() if type_.can_be_open}
    else:
        choice, result = _filled(make, max_bytes)
        forms = choice.forms
    if inline and not recursive and "$defs" in result:
        choice, inlined = _filled(partial(make, inline=True), max_bytes)
        is_short = schema_bytes(inlined) <= max_bytes and "$defs" not in inlined
        if is_short and forms.items() <= choice.forms.items():
            return inlined
    return result


def _filled(make: Callable[[], _Choice], max_bytes: int) -> tuple[_Choice, JSONObject]:
    limit = max_bytes
    while True:
        choice = make()
        choice.fill(limit)
        result = choice.written()
        too_many = schema_bytes(result) - max_bytes
        if too_many <= 0 or not choice.whole:
            return choice, result
        limit -= too_many  # sizes are estimates where a type is nested too deeply to be inlined


def schema_bytes(schema: Any) -> int:
    """Return the bytes of a schema's JSON."""
    return len(to_json_bytes(schema))


class _Key(NamedTuple):
    """One copy of a type. A copy refers to copies after it only, so that no reference leads to itself."""

    copy: int
    rank: int  # of the type, breadth first
    type: str


class _Choice:
    """The form of each copy of a type, and the size of the schema with these forms."""

    def __init__(
        self,
        arguments: JSONObject,
        types: Mapping[str, InputType],
        *,
        users: Mapping[str, set[str]],
        recursive: bool,
        shown_by: Mapping[str, str],
        inline: bool = False,
    ) -> None:
        self._arguments = arguments
        self._types = types
        self._users = users
        self._recursive = recursive
        self._inline = inline
        self._shown_by = shown_by
        self._places: dict[str, tuple[str, ...]] = {}
        self._ranks = {name: rank for rank, name in enumerate(self._breadth_first())}
        self._circles: dict[str, set[str]] = {}  # type -> the types that lead to it
        self._forms: dict[_Key, JSONObject] = {}
        self._sizes: dict[_Key, int] = {}
        self._uses: Counter[_Key] = Counter()  # with ``inline``: the places of a copy
        self.whole: dict[_Key, None] = {}  # the copies that are written out
        self._used: dict[_Key, tuple[Use, ...]] = {}  # by the form of a copy
        self._listed: dict[_Key, JSONObject] = {}  # the members of open objects
        self._bytes = schema_bytes(arguments) + len(',"$defs":{}')
        self._max_places = 0
        self._waiting: list[_Key] = []

    @property
    def forms(self) -> dict[str, JSONObject]:
        """The types that are written out, without their further copies."""
        return {key.type: self._forms[key] for key in self.whole if not key.copy}

    def fill(self, max_bytes: int) -> None:
        """Write out as much as fits: types, then descriptions, then further copies."""
        arguments = tuple(uses_in(self._arguments))
        self._max_places = max(len(arguments), max_bytes // LEAST_BYTES)
        self._bytes += len(arguments) * _IN_REFERENCE + self._growth(None, arguments)
        if self._bytes > max_bytes:
            before = schema_bytes(self._arguments)
            self._arguments = with_fewer_descriptions(self._arguments, self._bytes - max_bytes)
            self._bytes += schema_bytes(self._arguments) - before
        self._add(None, arguments)
        self._write_out(0, max_bytes)
        self._list_members(0, min(max_bytes, self._bytes + max_bytes // SHARE_OF_COPIES))
        for key in sorted(self._forms):  # descriptions of the types that are written out, and members of the others
            form = self._types[key.type].schema if key in self.whole else self._open(key, members=True)
            self._put(key, form, (), max_bytes)
        most = min(max_bytes, self._bytes + max_bytes // SHARE_OF_COPIES)
        for copy in range(1, MAX_COPIES):
            self._write_out(copy, most)
        self._list_members(MAX_COPIES, most)

    def written(self) -> JSONObject:
        """Return the schema."""
        waiting: list[_Key] = []
        schema = self._resolved(self._arguments, None, waiting, level=0)
        definitions: dict[str, JSONObject] = {}
        while waiting:
            key = waiting.pop()
            if self._name(key) not in definitions:
                definitions[self._name(key)] = self._resolved(self._forms[key], key, waiting, level=0)
        return {**schema, **({"$defs": leaves_first(definitions)} if definitions else {})}

    def _breadth_first(self) -> list[str]:
        """Return the types in the order in which they are written out. Note the place of the first use of each."""
        level: list[tuple[Use, tuple[str, ...]]] = [(use, ()) for use in uses_in(self._arguments)]
        while level:
            level.sort(key=lambda each: (not each[0].required, not each[0].described))
            new: dict[str, tuple[str, ...]] = {}
            for use, place in level:
                if use.type not in self._places:
                    self._places[use.type] = new[use.type] = (*place, *use.place)
            level = [(use, place) for name, place in new.items() for use in self._types[name].uses]
        return list(self._places)

    def _write_out(self, copy: int, max_bytes: int) -> None:
        """Write out the waiting copies of this number that fit, and those that they refer to."""
        while self._waiting and self._waiting[0].copy <= copy:
            key = heappop(self._waiting)
            type_ = self._types[key.type]
            if self._put(key, type_.bare, type_.uses, max_bytes):
                self.whole[key] = None

    def _list_members(self, copy: int, max_bytes: int) -> None:
        """List the first members of open objects that fit, without those whose types are not written out."""
        for key in sorted(key for key in self._forms.keys() - self.whole.keys() if key.copy <= copy):
            type_ = self._types[key.type]
            members = type_.bare.get("properties", {})
            names = [name for name, each in members.items() if all(self._is_known(key, use) for use in uses_in(each))]
            names.sort(key=lambda name: name not in type_.schema.get("required", ()))
            while names and key not in self._listed:
                self._listed[key] = {name: members[name] for name in names}
                form = self._open(key, members=True)
                if not self._put(key, form, tuple(uses_in(form)), max_bytes):
                    del self._listed[key]
                    names = names[: len(names) // 2]

    def _is_known(self, within: _Key, use: Use) -> bool:
        key = self._target(within, use.type)
        return key in self.whole or (key in self._forms and "properties" not in self._types[key.type].schema)

    def _put(self, key: _Key, form: JSONObject, uses: tuple[Use, ...], max_bytes: int) -> bool:
        """Give a copy a form, which brings these further references, if it fits. Return whether it does."""
        used = (*self._used.get(key, ()), *uses)
        growth = schema_bytes(form) + len(used) * _IN_REFERENCE - self._sizes[key]
        more = growth * self._instances(key) + self._growth(key, uses)
        if self._bytes + more > max_bytes:
            return False
        self._forms[key] = form
        self._sizes[key] += growth
        self._bytes += more
        self._used[key] = used
        self._add(key, uses)
        return True

    def _instances(self, key: _Key | None) -> int:
        return self._uses[key] if key and self._inline else 1

    def _further(self, within: _Key | None, uses: tuple[Use, ...]) -> Counter[_Key]:
        """Return the further uses that references of one type bring. It stops after more than can fit."""
        further: Counter[_Key] = Counter()
        waiting, places = [self._target(within, use.type) for use in uses], 0
        while waiting and (places <= self._max_places or not self._inline):
            key = waiting.pop()
            places += 1
            further[key] += self._instances(within)
            if self._inline:
                waiting += [self._target(key, use.type) for use in self._used.get(key, ())]
        return further

    def _growth(self, within: _Key | None, uses: tuple[Use, ...]) -> int:
        """Return the bytes that references of one type add."""
        further = self._further(within, uses)
        if self._inline and further.total() > self._max_places:
            return sys.maxsize
        return sum(
            self._share(key, self._uses[key] + count) - self._share(key, self._uses[key])
            for key, count in further.items()
        )

    def _share(self, key: _Key, uses: int) -> int:
        """Return the bytes of a type beside its references: inlined if it is used once, else a definition."""
        if not uses:
            return 0
        size = self._sizes[key] if key in self._sizes else schema_bytes(self._open(key))
        inlined = size - _REFERENCE - len(key.type)
        return inlined * uses if uses == 1 or self._inline else size + _DEFINITION + len(key.type)

    def _add(self, within: _Key | None, uses: tuple[Use, ...]) -> None:
        for key, count in self._further(within, uses).items():
            self._uses[key] += count
            if key not in self._forms:
                self._forms[key] = self._open(key)
                self._sizes[key] = schema_bytes(self._forms[key])
                if key.copy < MAX_COPIES and self._types[key.type].can_be_open:
                    heappush(self._waiting, key)

    def _target(self, within: _Key | None, name: str) -> _Key:
        """Return the copy of a type to which a copy of another type refers."""
        copy, rank = 0, self._ranks[name]
        if within and not self._recursive:
            if within.type not in self._circles:
                self._circles[within.type] = reached(within.type, self._users)
            if name in self._circles[within.type]:
                copy = within.copy + (rank <= within.rank)
        return _Key(copy, rank, name)

    def _open(self, key: _Key, *, members: bool = False) -> JSONObject:
        """Return the form of a type that takes any object or text, and names the type."""
        type_ = self._types[key.type]
        if not type_.can_be_open:
            return type_.schema
        listed = self._listed.get(key, {})
        needed = [name for name in type_.schema.get("required", ()) if name in listed]
        form = {
            "type": type_.schema["type"],
            **({"properties": listed} if listed else {}),
            **({"required": needed} if needed else {}),
            **({"additionalProperties": True} if type_.schema["type"] == "object" else {}),
        }
        if key.copy and _Key(0, key.rank, key.type) in self.whole:
            line = f"{key.type}, as {'.'.join(self._places[key.type])}"
        else:
            others = [name for name in type_.members if name not in listed]
            names = f"{', also' if listed else ''} with {some(others, most=MAX_NAMED)}" if members and others else ""
            way = self._shown_by.get(key.type, "")
            line = f"{key.type}{names}: see {way}" if way else f"{key.type}{names}"
        return {**form, "description": line}

    def _resolved(self, schema: JSONObject, within: _Key | None, defined: list[_Key], *, level: int) -> JSONObject:
        """Return a schema with inlined types and references to definitions, and add those to ``defined``."""
        if "$ref" not in schema:
            return _flat(each_below(schema, lambda below: self._resolved(below, within, defined, level=level)))
        key = self._target(within, schema["$ref"])
        of_place = {name: value for name, value in schema.items() if name != "$ref"}
        if (self._uses[key] > 1 and not self._inline) or level == MAX_INLINE_LEVELS:
            defined.append(key)
            return {"$ref": REFERENCE + self._name(key), **of_place}
        form = self._resolved(self._forms[key], key, defined, level=level + 1)
        texts = [each["description"] for each in (of_place, form) if "description" in each]
        if key in self.whole:
            texts = texts[:1]
        return {**form, **of_place, **({"description": "\n".join(texts)} if texts else {})}

    def _name(self, key: _Key) -> str:
        name = f"{key.type}_{key.copy + 1}" if key.copy else key.type
        while key.copy and name in self._types:
            name += "_"
        return name


def _flat(schema: JSONObject) -> JSONObject:
    """Return a schema without a choice within a choice."""
    nested = next((each for each in schema.get("anyOf", ()) if "anyOf" in each), None)
    if nested is None:
        return schema
    return {**nested, **schema, "anyOf": [one for each in schema["anyOf"] for one in each.get("anyOf", [each])]}


def with_fewer_descriptions(schema: JSONObject, too_many: float, *, kept: Set[str] = frozenset()) -> JSONObject:
    """Leave out the longest descriptions, of this many bytes together, but none that is ``kept``."""
    left_out: set[str] = set()
    uses = Counter(_descriptions(schema) if too_many < inf else ())
    for text in sorted(uses.keys() - kept, key=lambda each: (len(each), each), reverse=True):
        if too_many > 0:
            left_out.add(text)
            too_many -= uses[text] * schema_bytes({"description": text})
    shorter: JSONObject = _without(schema, left_out.__contains__ if too_many < inf else lambda text: text not in kept)
    return shorter


def _descriptions(schema: Any) -> Iterator[str]:
    parts = [schema]
    for part in parts:
        if isinstance(part, dict):
            parts += [*schemas_below(part), *part.get("$defs", {}).values()]
            if isinstance(part.get("description"), str):
                yield part["description"]


def _without(schema: Any, is_left_out: Callable[[str], bool]) -> Any:
    if not isinstance(schema, dict):
        return schema
    changed = each_below(schema, lambda below: _without(below, is_left_out))
    if "description" in changed and is_left_out(changed["description"]):
        del changed["description"]
    return changed
