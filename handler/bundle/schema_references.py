"""References in the schemas of a bundle. The compiler writes references to the ``$defs`` of the same schema alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from handler.bundle.model import Bundle
from handler.bundle.tools import CodeTool, GraphQLTool, PrescribedTool
from handler.errors.infrastructure import BundleError

REFERRING = frozenset({"$ref", "$dynamicRef", "$id"})
IN_PLACE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else"})
NOT_WALKED = frozenset({"$defs", "const", "default", "enum", "examples"})
OF_NAMES = frozenset({"dependentSchemas", "patternProperties", "properties"})


def require_own_references(bundle: Bundle) -> None:
    """Refuse schemas that refer to another document or to nothing, and definitions of which one is defined by itself.

    A definition may have members or items of itself. Schemas of tools in Python are their authors', and not read here.

    Raises:
        BundleError: with the path of the schema's tool or persisted operation.
    """
    check = _Check()
    for number, tool in enumerate(bundle.tools):
        enforced = isinstance(tool, PrescribedTool | GraphQLTool)
        schemas = [tool.arguments, getattr(tool, "bound", None)] if enforced else [tool.entry.get("inputSchema")]
        schemas.append(tool.entry.get("outputSchema"))
        check.require([] if isinstance(tool, CodeTool) else schemas, f"tools[{number}]")
    for place, document in enumerate(bundle.graphql.documents):
        for number, operation in enumerate(document.operations):
            check.require([operation.variables, operation.bound], f"graphql.documents[{place}].operations[{number}]")


class _Check:
    """The check of one bundle. Definitions that schemas share are walked once; the bundle keeps their identities."""

    def __init__(self) -> None:
        self._walked: dict[int, tuple[frozenset[str], frozenset[str]]] = {}
        self._names: dict[tuple[tuple[str, ...], tuple[int, ...]], frozenset[str]] = {}

    def require(self, schemas: Sequence[Any], path: str) -> None:
        for schema in schemas:
            definitions = schema.get("$defs", {}) if isinstance(schema, dict) else {}
            if not isinstance(definitions, dict):
                raise BundleError("$defs: expected an object", path=path)
            key = tuple(definitions), tuple(map(id, definitions.values()))
            try:
                names = self._names[key] = self._names.get(key) or self._names_of(definitions)
                _require_known(frozenset(_references(schema)), names)
            except BundleError as exc:
                raise exc.inside(path) from exc

    def _names_of(self, definitions: Mapping[str, Any]) -> frozenset[str]:
        """Return the references that definitions allow, which are all that they have themselves."""
        names = frozenset(f"#/$defs/{name}" for name in definitions)
        left: dict[str, frozenset[str]] = {}
        for name, schema in definitions.items():
            if id(schema) not in self._walked:
                in_place = frozenset(_references(schema, in_place=True))
                self._walked[id(schema)] = frozenset(_references(schema)), in_place
            references, left[f"#/$defs/{name}"] = self._walked[id(schema)]
            _require_known(references, names)
        while ends := [name for name, references in left.items() if references.isdisjoint(left)]:
            for name in ends:
                del left[name]
        if left:
            raise BundleError(f"{next(iter(left))!r} is defined by itself")
        return names


def _require_known(references: frozenset[str], names: frozenset[str]) -> None:
    for reference in sorted(references - names):
        raise BundleError(f"{reference!r} is not one of the definitions of the schema")


def _references(schema: Any, *, in_place: bool = False) -> Iterator[str]:
    """Yield the references of a schema but for its definitions; with ``in_place`` those that hold for its own value."""
    parts, seen = [schema], set()
    for part in parts:
        if id(part) in seen:  # a shared part, which may stand in itself many times
            continue
        seen.add(id(part))
        if type(part) is list:
            parts += part
        for keyword, value in part.items() if type(part) is dict else ():
            if keyword in REFERRING:
                yield value if type(value) is str else repr(value)
            elif type(value) in (dict, list) and (keyword in IN_PLACE if in_place else keyword not in NOT_WALKED):
                parts += value.values() if keyword in OF_NAMES and type(value) is dict else (value,)
