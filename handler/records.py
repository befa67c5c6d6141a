"""``dataclass`` for what loads at a cold start: the same, but that its methods are shared.

The standard library writes and compiles six functions for each frozen dataclass, and looks into each of its fields. For
the eighty classes of a cold start that takes longer than all else that is imported of ours, so what it knows of fields
is made when ``dataclasses`` asks for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool, slots: bool, kw_only: bool = False) -> Callable[[type], type]:
        """``dataclasses.dataclass(frozen=True, slots=True, kw_only=...)``, of which every annotation is a field."""
        if not (frozen and slots):
            raise TypeError("only frozen dataclasses with slots share their methods")
        return lambda plain: _decorated(plain, kw_only=kw_only)


def _decorated(plain: type, *, kw_only: bool) -> type:
    declared = {name: plain.__dict__.get(name, dataclasses.MISSING) for name in plain.__annotations__}
    above: dict[str, _Place] = {place[0]: place for place in getattr(plain, "__layout__", ())}
    kept = {name: value for name, value in plain.__dict__.items() if name not in declared and name not in _OF_INSTANCES}
    positional = (*getattr(plain, "__positional__", ()), *(() if kw_only else declared))
    standard = {name: _Standard(plain, kw_only=kw_only) for name in ("__dataclass_fields__", "__dataclass_params__")}
    slots = tuple(name for name in declared if name not in above)
    namespace = {**_METHODS, **kept, **standard, "__slots__": slots, "__match_args__": positional}
    cls: Any = type(plain)(plain.__name__, plain.__bases__, namespace)
    cls.__qualname__ = plain.__qualname__
    own = {name: (name, getattr(cls, name).__set__, _default(value)) for name, value in declared.items()}
    uncompared = {
        name for name, value in declared.items() if isinstance(value, dataclasses.Field) and not value.compare
    }
    cls.__positional__ = positional
    cls.__layout__ = tuple((above | own).values())
    cls.__uncompared__ = getattr(plain, "__uncompared__", frozenset()) - declared.keys() | uncompared
    compared = [name for name, _, _ in cls.__layout__ if name not in cls.__uncompared__]
    cls.__compared__ = attrgetter(*compared) if compared else _nothing
    return cls  # type: ignore[no-any-return]


class _Standard:
    """What ``dataclasses`` keeps of a class, made of the class as it was declared."""

    def __init__(self, plain: type, *, kw_only: bool) -> None:
        self._plain = plain
        self._kw_only = kw_only

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    def __get__(self, _: object, owner: type) -> Any:
        if self._name not in self._plain.__dict__:
            dataclasses.dataclass(self._plain, init=False, repr=False, eq=False, kw_only=self._kw_only)
        return getattr(self._plain, self._name)


_Place = tuple[str, Callable[[Any, Any], None], Callable[[], Any] | None]
"""A field's name, what puts its value into an instance, and what makes one that is not given."""

_OF_INSTANCES = ("__dict__", "__weakref__")
"""What a class without slots has for its instances."""

_REQUIRED = object()


def _default(declared: Any) -> Callable[[], Any] | None:
    """What makes the value of a field that is not given; nothing: it has to be."""
    if isinstance(declared, dataclasses.Field):
        if declared.default_factory is not dataclasses.MISSING:
            return declared.default_factory
        declared = declared.default
    return None if declared is dataclasses.MISSING else lambda: declared


def _nothing(_: object) -> tuple[()]:
    return ()


class _Shared:
    """The methods, for any class that has a layout."""

    __layout__: tuple[_Place, ...]
    __positional__: tuple[str, ...]
    __compared__: Callable[[Any], Any]
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def __init__(self, /, *positional: Any, **given: Any) -> None:
        cls = type(self)
        if positional:
            given |= _by_name(cls, positional, given)
        unknown = len(given)
        for name, put, default in cls.__layout__:
            value = given.get(name, _REQUIRED)
            if value is not _REQUIRED:
                unknown -= 1
            elif default is not None:
                value = default()
            else:
                raise TypeError(f"{cls.__name__} needs {name}")
            put(self, value)
        if unknown:
            names = given.keys() - {name for name, _, _ in cls.__layout__}
            raise TypeError(f"{cls.__name__} has no {', '.join(sorted(names))}")

    def __repr__(self) -> str:
        shown = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        cls = type(self)
        if type(other) is not cls:
            return NotImplemented
        return bool(cls.__compared__(self) == cls.__compared__(other))

    def __hash__(self) -> int:
        return hash(type(self).__compared__(self))

    def __setattr__(self, name: str, _: object) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def __getstate__(self) -> list[Any]:
        return [getattr(self, name) for name, _, _ in type(self).__layout__]

    def __setstate__(self, state: list[Any]) -> None:
        for (_, put, _), value in zip(type(self).__layout__, state, strict=True):
            put(self, value)


def _by_name(cls: type[_Shared], positional: tuple[Any, ...], given: dict[str, Any]) -> dict[str, Any]:
    named = dict(zip(cls.__positional__, positional, strict=False))
    if len(named) < len(positional) or named.keys() & given.keys():
        raise TypeError(f"{cls.__name__} takes {len(cls.__positional__)} positional arguments, each of them once")
    return named


_METHODS = {name: method for name, method in vars(_Shared).items() if callable(method)}
