"""``Field`` for authors: bounds, texts and defaults of an argument, without pydantic until something reads more of it.

Loading pydantic takes as long as an empty function's whole cold start. The cold path reads the options of our fields
by itself (``plain_hints.py``). pydantic takes the same object for a ``FieldInfo`` of its own: see ``LightField``.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo


PYDANTIC_FIELDS = "pydantic.fields"

LIGHT: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("default", "default_factory"), (object,)),
    **dict.fromkeys(("title", "description", "pattern"), (str,)),
    **dict.fromkeys(("gt", "ge", "lt", "le", "multiple_of"), (int, float)),
    **dict.fromkeys(("min_length", "max_length"), (int,)),
    "examples": (list,),
}
"""The options of a field that needs no pydantic, and the types of their values."""

BOUNDS: Mapping[str, str] = {
    "Gt": "gt",
    "Ge": "ge",
    "Lt": "lt",
    "Le": "le",
    "MultipleOf": "multiple_of",
    "MinLen": "min_length",
    "MaxLen": "max_length",
}
"""The classes of bounds in a ``FieldInfo``, each with its option."""

MISSING = (
    "Field is pydantic's, which is missing: install the wheel of Stile with its packages, or run "
    "`make setup` in a clone"
)


def Field(*default: Any, **options: Any) -> Any:  # noqa: N802 - pydantic's name
    """Make a field as ``pydantic.Field`` does. Only options in ``LIGHT`` can be read without pydantic.

    Raises:
        ModuleNotFoundError: the field needs pydantic, which is missing.
    """
    merged = {**dict(zip(("default",), default, strict=False)), **options}
    if PYDANTIC_FIELDS in sys.modules or len(merged) < len(default) + len(options) or not _is_light(merged):
        return _pydantics_field(*default, **options)
    return LightField(merged)


def _is_light(options: Mapping[str, Any]) -> bool:
    if "default_factory" in options and ("default" in options or not callable(options["default_factory"])):
        return False
    return all(isinstance(value, LIGHT.get(name, ())) for name, value in options.items())


def _pydantics_field(*default: Any, **options: Any) -> Any:
    try:
        return import_module("pydantic").Field(*default, **options)
    except ModuleNotFoundError as exc:
        if exc.name != "pydantic":
            raise
        raise ModuleNotFoundError(MISSING, name=exc.name) from exc


class LightField:
    """A field that becomes pydantic's ``FieldInfo`` when pydantic asks for an attribute, a copy, or its class.

    An annotation may be read long before pydantic is loaded, and it is then in a class that pydantic reads alone.
    """

    __slots__ = ("_info", "options")

    options: Mapping[str, Any]
    """The options, as the author wrote them."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        object.__setattr__(self, "options", options)
        object.__setattr__(self, "_info", None)

    @property  # type: ignore[misc] # typeshed has a class that can be set
    def __class__(self) -> type:
        return getattr(sys.modules.get(PYDANTIC_FIELDS), "FieldInfo", LightField)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # protocols of Python and of typing, asked of any object
            raise AttributeError(name)
        return getattr(pydantic_field(self), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(pydantic_field(self), name, value)

    def __copy__(self) -> Any:
        return copy.copy(pydantic_field(self))

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return copy.deepcopy(pydantic_field(self), memo)

    def __repr__(self) -> str:
        return f"Field({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"


def pydantic_field(value: Any) -> Any:
    """Return the ``FieldInfo`` of a light field, one for each, and any other value as it is."""
    if type(value) is not LightField:
        return value
    info: FieldInfo | None = object.__getattribute__(value, "_info")
    if info is None:
        info = _pydantics_field(**value.options)
        object.__setattr__(value, "_info", info)
    return info


def options_of(value: Any) -> Mapping[str, Any] | None:
    """Return the options of a field of either kind; ``None`` if the value is not a field, or not a light one."""
    if type(value) is LightField:
        return value.options
    if type(value) is not getattr(sys.modules.get(PYDANTIC_FIELDS), "FieldInfo", None):
        return None
    options = {**getattr(value, "_attributes_set", {"unknown": None})}
    for each in getattr(value, "metadata", ()):
        name = BOUNDS.get(type(each).__name__, "pattern")
        options[name] = getattr(each, name, None)
        if name == "pattern" and vars(each).keys() != {"pattern"}:
            return None
    return options if not getattr(value, "_final", False) and _is_light(options) else None


def is_field(value: Any) -> bool:
    """Return whether a value is a field of either kind."""
    return type(value) is LightField or isinstance(value, getattr(sys.modules.get(PYDANTIC_FIELDS), "FieldInfo", ()))
