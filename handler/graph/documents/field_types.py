"""The types of fields and arguments that the plan of an answer needs, of a view or of a whole schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from handler.cold.records import record
from handler.graph.view import View


@record(frozen=True, slots=True)
class TypedField:
    """A field's printed type, and those of its arguments."""

    type: str
    arguments: Mapping[str, str]


class FieldTypes(Protocol):
    """The types that a plan needs of a schema or of a view."""

    def kind(self, name: str) -> str: ...

    def field(self, type_name: str, name: str) -> TypedField | None: ...

    def inputs(self, name: str) -> Mapping[str, str]: ...


class ViewTypes:
    """The types of a view."""

    def __init__(self, view: View) -> None:
        self._view = view

    def kind(self, name: str) -> str:
        """Return a type's kind; that of a leaf for a type that the API may have and the view has not."""
        return self._view.index.kind(name) if name in self._view.index else "scalar"

    def field(self, type_name: str, name: str) -> TypedField | None:
        """Return a visible field with its visible arguments."""
        if name not in self._view.members.get(type_name, ()) or self.kind(type_name) not in ("object", "interface"):
            return None
        arguments = {each: value.type for each, value in self._view.arguments(type_name, name).items()}
        return TypedField(self._view.index[type_name].fields[name].type, arguments)

    def inputs(self, name: str) -> Mapping[str, str]:
        """Return the visible fields of an input object."""
        if name not in self._view.index or self.kind(name) != "input":
            return {}
        visible = self._view.members.get(name, ())
        return {each: value.type for each, value in self._view.index[name].inputs.items() if each in visible}
