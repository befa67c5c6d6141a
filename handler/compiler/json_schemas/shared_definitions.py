"""The definitions of types in the schemas of an endpoint's tools."""

from __future__ import annotations

import json
from typing import Any

from handler.strict_json import JSONObject


class SharedDefinitions:
    """Keeps one object of all equal definitions: memory and the work of later steps do not grow with tools times types.

    Nothing may change a schema that it has returned.
    """

    def __init__(self) -> None:
        self._definitions: dict[str, Any] = {}  # by their JSON
        self._groups: dict[tuple[tuple[str, int], ...], JSONObject] = {}  # by names and identities of definitions

    def shared(self, schema: JSONObject) -> JSONObject:
        """Return an equal schema whose ``$defs`` are the objects that equal schemas have."""
        if "$defs" not in schema:
            return schema
        found = {name: self._definitions.setdefault(json.dumps(each), each) for name, each in schema["$defs"].items()}
        key = tuple((name, id(each)) for name, each in found.items())
        return {**schema, "$defs": self._groups.setdefault(key, found)}
