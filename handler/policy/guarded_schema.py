"""Filter JSON Schemas by the caller's satisfied conditions.

Beside ``properties`` and ``enum`` the compiler writes the masks of their names: ``{"stile:guards": {name: mask}}``. A
name without a mask is open to all. ``name=`` has the mask of a default: a caller without it has to give the property.
No caller sees a guard, so a name hidden from a caller is an unknown name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handler.lru import Lru
from handler.policy.evaluation import DEFAULT, Mask
from handler.strict_json import objects_in

GUARDS = "stile:guards"

MAX_SEEN_DEFINITIONS = 2_000
SEEN_DEFINITION_BYTES = 16_000  # with the type that is read of it: see json_schema/input_types.py


_Definition = tuple[Any, tuple[str, ...]]
"""A definition without hidden names, and the names of the definitions that it refers to."""


def guarded(schema: dict[str, Any], guards: Mapping[str, Mask]) -> dict[str, Any]:
    """Return a schema with the masks of the names that it defines."""
    masks = {name: sorted(mask) for name, mask in guards.items() if mask}
    return {**schema, GUARDS: masks} if masks else schema


class GuardedSchemas:
    """Schemas that share definitions. Each definition is filtered once for each outcome of its own conditions.

    The schemas must live as long as this object.
    """

    def __init__(self) -> None:
        self._conditions: dict[int, Mask] = {}  # by the identity of a definition
        self._definitions: Lru[tuple[int, Mask], _Definition] = Lru(most=MAX_SEEN_DEFINITIONS)

    @property
    def cost_bytes(self) -> int:
        """The approximate memory of the cached definitions."""
        return len(self._definitions) * SEEN_DEFINITION_BYTES

    def seen_by(self, schema: dict[str, Any], outcome: Mask) -> dict[str, Any]:
        """Return a schema as callers with this outcome see it, without definitions that only hidden names refer to."""
        view: dict[str, Any] = _seen({key: value for key, value in schema.items() if key != "$defs"}, outcome)
        definitions = schema.get("$defs", {})
        needed: dict[str, Any] = {}
        waiting = _references(view)
        while waiting:
            name = waiting.pop()
            if name in definitions and name not in needed:
                definition = self._definition(definitions[name], outcome)
                needed[name], references = definition
                waiting += references
        ordered = {name: needed[name] for name in definitions if name in needed}
        return {**view, "$defs": ordered} if ordered else view

    def conditions_in(self, schema: dict[str, Any]) -> Mask:
        """Return all conditions that the visible part of a schema depends on."""
        own = _conditions_in({key: value for key, value in schema.items() if key != "$defs"})
        return own.union(*map(self._conditions_of, schema.get("$defs", {}).values()))

    def _definition(self, definition: Any, outcome: Mask) -> _Definition:
        def make() -> _Definition:
            view = _seen(definition, outcome)
            return view, tuple(_references(view))

        return self._definitions.use_or_make((id(definition), outcome & self._conditions_of(definition)), make)

    def _conditions_of(self, definition: Any) -> Mask:
        if id(definition) not in self._conditions:
            self._conditions[id(definition)] = _conditions_in(definition)
        return self._conditions[id(definition)]


def _seen(schema: Any, outcome: Mask) -> Any:
    match schema:
        case {"stile:guards": guards}:
            hidden = {name for name, mask in guards.items() if not outcome.issuperset(mask)}
            view = {key: _seen(value, outcome) for key, value in schema.items() if key != GUARDS}
            if "properties" in view:
                view["properties"] = {name: below for name, below in view["properties"].items() if name not in hidden}
                needed = [name for name in view["properties"] if f"{name}{DEFAULT}" in hidden]
                for name in needed:
                    below = view["properties"][name]
                    view["properties"][name] = {key: part for key, part in below.items() if key != "default"}
                view |= {"required": [*view.get("required", ()), *needed]} if needed else {}
            for key in view.keys() & {"enum", "required"}:
                view[key] = [name for name in view[key] if name not in hidden]
            return view
        case dict():
            return {key: _seen(value, outcome) for key, value in schema.items()}
        case list():
            return [_seen(value, outcome) for value in schema]
    return schema


def _conditions_in(schema: Any) -> Mask:
    return frozenset(number for each in objects_in(schema) for mask in each.get(GUARDS, {}).values() for number in mask)


def _references(schema: Any) -> list[str]:
    """Return the names of the definitions that any part of a schema refers to."""
    return [each["$ref"].rpartition("/")[2] for each in objects_in(schema) if isinstance(each.get("$ref"), str)]
